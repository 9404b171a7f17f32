"""The demo: a flow that starves, what cures it, what that costs; what the README shows of it."""

from __future__ import annotations

import re
import subprocess
import sys

import airfair
import pytest

from examples import demo
from tests.support import ROOT

WIDTH = 80


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output of the whole demo, as `make demo` prints it."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_demo_shows_a_starving_flow_its_cure_and_the_price(printed: str) -> None:
    starving = re.search(r"the flow (\S+) starves: it has ([\d.]+) % of the\n([\d.]+) kbit/s", printed)
    assert starving
    assert starving[1] == "two-hop"
    assert float(starving[2]) < 1
    fair = {flow["id"]: flow["max_min_bps"] for flow in airfair.optimum(demo.SCENARIO)["flows"]}
    assert float(starving[3]) == pytest.approx(fair["two-hop"] / 1000, abs=0.5)
    for name in (
        "goodput of two-hop",
        "goodput of one-hop",
        "total",
        "99 % of packets within",
        "control traffic",
    ):
        assert re.search(rf"^{name} .*\S", printed, re.MULTILINE), name
    assert re.search(r"The price: [\d.]+ % less in total\.$", printed, re.MULTILINE)
    goodputs = re.findall(r"^goodput of two-hop +([\d.]+) ± [\d.]+ kbit/s +([\d.]+) ±", printed, re.MULTILINE)
    assert float(goodputs[0][1]) > 10 * float(goodputs[0][0])


def test_the_demo_fits_in_a_terminal_of_eighty_columns(printed: str) -> None:
    assert [line for line in printed.splitlines() if len(line) > WIDTH] == []
    assert len(printed.splitlines()) <= 24, "one screen"


def test_the_readme_shows_what_the_demo_prints(printed: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```text not-run: output of `make demo`\n(.*?)```", readme, re.DOTALL)
    assert block
    assert block[1] == printed, "see `make which-scheme`"


def test_the_names_of_the_demo_are_those_of_its_scenario() -> None:
    scenario = airfair.Scenario.read(demo.SCENARIO)
    for name in (*scenario.nodes, *scenario.flows):
        assert re.search(rf"\b{name}\b", demo.INTRODUCTION), name

"""Maps of real networks: what the command writes, says and refuses, and the same from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import airfair
import pytest
from airfair import InputError, Scenario

from tests.support import ROOT
from tests.support import airfair as command

MAPS = ROOT / "crates" / "scenario" / "tests" / "import"
MESH = MAPS / "meshviewer.json"


def groups(report: Any) -> dict[str, int]:  # noqa: ANN401 - JSON
    """How many records were rejected, by reason."""
    return {group["reason"]: group["count"] for group in report["rejected"]}


def test_a_map_becomes_a_scenario_that_runs(tmp_path: Path) -> None:
    file = tmp_path / "mesh.toml"
    done = command("import", MESH, "-o", file, "--flows", "2")
    assert (done.returncode, done.stdout) == (0, "")
    assert "read: 11 links, 6 nodes; 5 ids; 7 pairs of 5 nodes linked" in done.stderr
    assert "    link m0 - m3: 28 km; longest is 20 km\n" in done.stderr
    assert command("check", file).stderr == ""
    result = json.loads(command("run", file, "--set", "duration=3 s", "--json").stdout)
    assert result["warnings"] == []
    assert [flow["dst"] for flow in result["flows"]] == ["m0", "m0"]
    assert result["aggregate_goodput_bps"] > 0


def test_a_date_that_is_none_or_of_no_use_is_refused() -> None:
    olsr = MAPS / "olsr-jsoninfo.json"
    assert "not the beginning of a date" in command("import", olsr, "--since", "yesterday").stderr
    done = command("import", olsr, "--since", "2031")
    assert done.returncode == 2
    assert "records of olsr-jsoninfo have no date" in done.stderr


def test_the_scenario_goes_to_standard_output_and_the_report_does_not() -> None:
    done = command("import", MESH)
    assert done.returncode == 0
    assert done.stdout.startswith("# Imported from meshviewer.json (meshviewer), data of 2031-05-01")
    assert Scenario.parse(done.stdout).name == "meshviewer"
    assert "rejected:" in done.stderr


def test_the_report_as_json(tmp_path: Path) -> None:
    file, stored = tmp_path / "mesh.toml", tmp_path / "report.json"
    done = command("import", MESH, "-o", file, "--report", stored, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert json.loads(stored.read_text()) == report
    assert (report["format"], report["link_model"]) == ("meshviewer", "delivery")
    assert report["read"] == {"links": 11, "nodes": 6}
    assert report["missing_ids"] == {"m9": 1}
    assert groups(report)["duplicate_link"] == 2
    (too_long,) = (group for group in report["rejected"] if group["reason"] == "too_long")
    assert too_long["records"] == [{"record": "link m0 - m3", "detail": "28 km; longest is 20 km"}]


def test_verbose_names_every_record(tmp_path: Path) -> None:
    links = ", ".join(f'{{"source": "a", "target": "x{i}"}}' for i in range(9))
    file = tmp_path / "map.json"
    good = '{"source": "a", "target": "b"}'
    file.write_text(f'{{"nodes": [{{"id": "a"}}, {{"id": "b"}}], "links": [{good}, {links}]}}')
    short = command("import", file, "-o", tmp_path / "out.toml").stderr
    assert "    and 4 more\n" in short
    assert "link a - x8" not in short
    assert "    link a - x8: no node x8\n" in command("import", file, "--verbose").stderr


def test_parts_of_a_network_are_found_beside_one_of_them() -> None:
    folder = command("import", MAPS / "nycmesh", "--gateway", "4")
    beside = command("import", MAPS / "nycmesh" / "links.json", "--gateway", "4")
    assert folder.returncode == beside.returncode == 0
    assert folder.stdout == beside.stdout
    assert "missing: 3 ids without a record: 97, 98, 99" in beside.stderr


BAD_INPUT: list[tuple[list[str | Path], str]] = [
    (["nowhere.json"], "nowhere.json: cannot be read"),
    ([MAPS / "bad" / "unknown.txt"], "no known format; it is text that begins with"),
    ([MAPS / "bad" / "cut.json"], "cut.json: not JSON: EOF while parsing"),
    ([MAPS / "bad" / "nyc-links-only" / "links.json"], "expected nodes.json beside it"),
    ([MESH, "--format", "netjsn"], 'format: "netjsn": no such choice; did you mean "netjson"?'),
    ([MESH, "--format", "graphml"], "not XML"),
    ([MESH, "--link-model", "best"], "link-model"),
    ([MESH, "--gateway", "m7"], 'gateway: "m7": no such node; did you mean "m0"?'),
    ([MESH, "--flows", "many"], 'flows: "many": expected a whole number'),
    ([MESH, "--flows", "100"], "only 3 nodes reach"),
    ([MESH, "--longest", "20"], "the unit is missing"),
    ([MESH, "--json"], "needs -o"),
    ([], "FILE"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD_INPUT, ids=lambda value: " ".join(map(str, value))[-60:]
)
def test_bad_input(arguments: list[str | Path], message: str) -> None:
    done = command("import", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_from_python() -> None:
    toml, report = airfair.import_network(MESH, link_model="distance", radio_only=True, flows=1)
    assert Scenario.parse(toml).flows == ["flow-0"]
    assert report["written"]["wired_links"] == 0
    assert report["gateway"] == "m0"
    with pytest.raises(InputError, match='did you mean "flows"'):
        airfair.import_network(MESH, flow=1)

"""The JSON Schema of scenarios: what it accepts and refuses, and what editors make of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from airfair import InputError, Scenario, _core, reference
from jsonschema import Draft202012Validator

from tests.support import ROOT, SCENARIOS
from tests.tombi import Editor

BAD = ROOT / "crates" / "scenario" / "tests" / "bad"
SCHEMA: dict[str, Any] = json.loads(reference.schema())
VALIDATOR = Draft202012Validator(SCHEMA)
PROGRAMS = Path(sys.executable).parent
KNOWABLE = (
    "02",
    "03",
    "04",
    "05",
    "06",
    "07-negative",
    "09-out-of-range-a",
    "10-unknown-choice-a",
    "10-unknown-choice-c",
    "10-unknown-choice-d",
    "19",
    "23-no-nodes-a",
    "25-link-ends-b",
    "26-position-a",
    "27-not-finite-b",
    "28-unknown-scheme",
    "29",
    "34-random-flows-b",
    "35",
    "36",
    "38-not-a-number",
    "39-gain-b",
    "42-inherited-a",
    "43",
    "46",
    "47",
    "48-windows-a",
    "48-windows-b",
    "48-windows-e",
    "50",
    "52",
    "53-tcp-header-b",
    "55-file-sizes-c",
    "56-list-d",
    "57-inherited-tcp-b",
)
"""Mistakes of the reader's own tests that hang on one key alone."""


def mistakes() -> list[Path]:
    """Scenarios with a mistake that a schema can know."""
    return sorted(file for file in BAD.glob("*.toml") if file.name.startswith(KNOWABLE))


def problems(text: str) -> list[str]:
    """The schema's errors for a scenario."""
    return [error.message for error in VALIDATOR.iter_errors(tomllib.loads(text))]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def good() -> list[Path]:
    """Every scenario of the project."""
    return sorted([*SCENARIOS.glob("*.toml"), *(ROOT / "python" / "airfair_papers").rglob("*.toml")])


@pytest.mark.parametrize("file", good(), ids=lambda file: file.stem)
def test_every_scenario_fits(file: Path) -> None:
    assert problems(file.read_text()) == []
    assert problems(Scenario.read(file).resolved) == [], "with every default filled in"


def test_the_examples_of_the_reference_fit() -> None:
    sections = json.loads(_core.reference())["sections"]
    assert problems("".join(section["example"] for section in sections)) == []


@pytest.mark.parametrize("file", mistakes(), ids=lambda file: file.stem)
def test_a_mistake_does_not_fit(file: Path) -> None:
    assert problems(file.read_text())


def test_what_does_not_fit_is_an_error_of_the_reader_too() -> None:
    """Here only those mistakes are listed that the schema knows; it must not refuse what the reader takes."""
    assert len(mistakes()) > 50
    for file in BAD.glob("*.toml"):
        with pytest.raises(InputError):
            Scenario.read(file)


TEXTS = [
    "5 s",
    "5s",
    "5",
    "",
    "s",
    "5 S",
    " 5 s ",
    "1_000 ms",
    "0.5 s",
    ".5 s",
    "5. s",
    "1e-3 s",
    "1e3s",
    "+5 s",
    "1_0__0 s",
    "_1 s",
    "1_ s",
    "1_.5 s",
    "1._5 s",
    "1.5_0 s",
]
TEXTS += ["-5 s", "5 m", "5 min", "5 mins", "5 s s", "five s", "1.2.3 s", "5\ts", "1e s", "0x5 s", "5 Mbit/s"]


@pytest.mark.parametrize("text", TEXTS)
def test_the_pattern_of_times_takes_what_the_reader_takes(text: str) -> None:
    pattern = SCHEMA["properties"]["warmup"]["pattern"]
    try:
        _core.parse_time(text)
    except InputError:
        assert not re.search(pattern, text)
    else:
        assert re.search(pattern, text)


def test_the_pattern_of_signed_quantities_takes_a_sign() -> None:
    power = SCHEMA["$defs"]["radio"]["properties"]["tx_power"]["pattern"]
    assert re.search(power, "-3.5 dBm")
    assert re.search(power, "+3.5 dBm")
    assert not re.search(power, "-3.5 dB")


def test_taplo_reads_the_schema_that_a_file_names(tmp_path: Path) -> None:
    """As the editor extension "Even Better TOML" does: the first line of a scenario names its schema."""
    (tmp_path / "scenario.schema.json").write_text(reference.schema())
    text = (SCENARIOS / "three-pairs.toml").read_text()
    wrong = text.replace("queue_packets", "queue_packet")
    for name, content, status in (("right", text, 0), ("wrong", wrong, 1)):
        file = tmp_path / f"{name}.toml"
        file.write_text(f"#:schema ./scenario.schema.json\n{content}")
        command = [str(PROGRAMS / "taplo"), "lint", "--no-auto-config", str(file)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == status, done.stderr
    assert "queue_packet" in done.stderr


def test_editors_complete_keys_and_values(tmp_path: Path) -> None:
    (tmp_path / "scenario.schema.json").write_text(reference.schema())
    with Editor(PROGRAMS / "tombi", tmp_path) as editor:
        first = "#:schema ./scenario.schema.json\n"
        assert {"radio", "node", "flow", "schemes", "duration"} <= set(editor.complete(f"{first}|\n"))
        radio = editor.complete(f"{first}[radio]\n|\n")
        assert "Rate of unicast data frames." in radio["data_rate"]
        assert {"max_p", "gentle"} <= set(editor.complete(f"{first}[schemes.red]\n|\n"))
        kinds = editor.complete(f"{first}[[flow]]\ntraffic = {{ kind = | }}\n")
        assert {'"constant"', '"ftp"', '"web"'} <= set(kinds)
        keys = editor.complete(f'{first}[[flow]]\ntraffic = {{ kind = "web", | }}\n')
        assert {"size", "distribution", "pause", "start"} <= set(keys)

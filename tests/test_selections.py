"""Selections of schemes: one form on the command line, in Python, in studies and in results."""

import json
from pathlib import Path

import airfair
import pytest
from airfair import InputError, Scenario, Study, tables
from rich.console import Console

from .support import SCENARIOS, json_of
from .support import airfair as command

THREE_PAIRS = SCENARIOS / "three-pairs.toml"
SHORT = ["duration=2 s", "warmup=100 ms"]
SELECTION = "cubic+red[rts; red.min_th=4]"
SAME = {"radio.rts_threshold": "0 B", "red.min_th": 4}


@pytest.fixture(name="scenario", scope="module")
def scenario_() -> Scenario:
    return Scenario.read(THREE_PAIRS, SHORT)


def goodputs(result: airfair.RunResult) -> list[float]:
    return [flow["goodput_bps"] for flow in result["flows"]]


def test_a_selection_is_the_scenario_with_its_changes(scenario: Scenario) -> None:
    """CUBIC's law in every flow and RED's queue, by keys of the file, is the same run."""
    laws = {f"flow.{flow}.transport": "tcp-cubic" for flow in scenario.flows}
    same = airfair.run(scenario.edited({**SAME, **laws}), scheme="red")
    run = airfair.run(scenario, scheme=SELECTION)
    assert run["scheme"] == SELECTION
    assert goodputs(run) == goodputs(same)
    assert goodputs(run) != goodputs(airfair.run(scenario, scheme="red"))


def test_each_way_to_a_run_reads_selections(scenario: Scenario, tmp_path: Path) -> None:
    run = airfair.run(scenario, scheme=SELECTION)
    recording = airfair.record(scenario, scheme=SELECTION)
    assert goodputs(recording.result) == goodputs(run)
    (row,) = airfair.compare(scenario, schemes=[SELECTION], seeds=[1])
    assert [flow["goodput_bps"]["mean"] for flow in row["flows"]] == goodputs(run)
    assert row["scheme"] == SELECTION
    on_line = json_of("run", THREE_PAIRS, "--scheme", SELECTION, "--set", SHORT[0], "--set", SHORT[1])
    assert goodputs(on_line) == goodputs(run)
    assert airfair.explain(scenario, scheme=SELECTION)["scheme"] == SELECTION
    assert any("RTS" in line for line in airfair.trace(scenario, scheme=SELECTION, until="20 ms"))
    study = Study(
        name="s", scenario=scenario, schemes=["droptail", " red+cubic[rts ;red.min_th=4]"], seeds=[1]
    )
    assert study.schemes == ["droptail", SELECTION]
    (cell,) = airfair.sweep(study, out=tmp_path / "out").summary()
    assert [flow["goodput_bps"]["mean"] for flow in cell["rows"][1]["flows"]] == goodputs(run)


def test_a_recorded_run_has_the_scenario_of_its_selection(scenario: Scenario, tmp_path: Path) -> None:
    """The scenario in the folder, run again with the scheme that stands beside it, is the same run."""
    folder = tmp_path / "run"
    airfair.record(scenario, scheme=SELECTION, out=folder)
    kept = json.loads((folder / "run.json").read_text())
    again = Scenario.parse(kept["resolved_scenario"])
    assert "rts_threshold" in kept["resolved_scenario"]
    for scheme in (None, kept["scheme"]):
        assert goodputs(airfair.run(again, scheme=scheme)) == goodputs(
            airfair.run(scenario, scheme=SELECTION)
        )


def test_the_same_selection_twice_is_refused(scenario: Scenario) -> None:
    for schemes in (["red", "red "], ["cubic+red", "red+cubic"], ["red[rts]", "red[ rts ]"]):
        with pytest.raises(InputError, match=r'schemes: ".*" stands twice'):
            airfair.compare(scenario, schemes=schemes, seeds=[1])


def test_several_selections_in_one_text_are_refused(scenario: Scenario) -> None:
    with pytest.raises(InputError, match=r'expected a list: \["red\[rts; queue=5\]", "droptail"\]'):
        airfair.compare(scenario, schemes=["red[rts; queue=5], droptail"], seeds=[1])


def test_faults_stand_before_the_first_run(tmp_path: Path) -> None:
    for scheme, problem in (
        ("red+nred", 'scheme "red+nred": red and nred do not go together: both fill the place "aqm"'),
        ("red:paper", '"paper": red has no such preset; expected "default"'),
        ("red[rtz]", 'scheme "red[rtz]": "rtz" is no short change; did you mean "rts"?'),
        (
            "red[radio.chanel=6]",
            'scheme "red[radio.chanel=6]": radio.chanel: unknown key; did you mean "channel"?',
        ),
    ):
        for arguments in (
            ("run", THREE_PAIRS, "--scheme", scheme),
            ("compare", THREE_PAIRS, "--schemes", scheme),
        ):
            done = command(*arguments)
            assert (done.returncode, done.stdout, done.stderr) == (2, "", problem + "\n")
        study = tmp_path / "study.toml"
        study.write_text(
            f"name = 's'\nscenario = '{THREE_PAIRS}'\nschemes = ['droptail',\n  '{scheme}']\nseeds = [1]\n"
        )
        done = command("sweep", study, "--out", tmp_path / "out")
        assert done.returncode == 2
        assert done.stderr.startswith(f"{study}:4: schemes: ")
        assert done.stderr.rstrip().endswith(problem.removeprefix("schemes: "))


def test_a_change_for_a_scheme_that_does_not_run_is_reported(scenario: Scenario) -> None:
    warned = scenario.unused_settings(["droptail[red.max_p=0.5]", "nred"])
    assert warned == [
        'scheme "droptail[red.max_p=0.5]": red.max_p: no node runs red here; did you mean nred.max_p?'
    ][:1] or warned == ['scheme "droptail[red.max_p=0.5]": red.max_p: no node runs red here']


def test_long_names_of_rows_are_letters_where_there_is_no_room(scenario: Scenario) -> None:
    long = "fq-codel[radio.queue_packets=100; window=4]"
    rows = airfair.compare(scenario, schemes=["droptail", long], seeds=[1])
    short, legend = tables.short_named(rows, Console(width=80))
    assert [row["scheme"] for row in short] == ["droptail", "(a)"]
    assert legend == [f"(a) {long}"]
    assert tables.short_named(rows, Console(width=200)) == (rows, [])
    assert rows[1]["scheme"] == long

"""Sweeps: what is run, what is kept, how it is read back."""

from __future__ import annotations

import io
import json
import multiprocessing
import re
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import airfair
import pandas as pd
import pyarrow.dataset as ds
import pytest
from airfair import InputError, Scenario, Study, Sweep
from airfair.sweeping import dataset
from airfair.sweeping.drive import Progress
from airfair.sweeping.show import short, show_sweep
from airfair.sweeping.study import as_toml
from airfair.tables import OF_FLOWS
from rich.console import Console

from tests.support import ROOT, SCENARIOS, json_of
from tests.support import airfair as command
from tests.sweeps import PARAMETERS, TINY, Here, as_toml_file, assert_once_each, rows, study, sweep_here, tiny


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    folder = tmp_path_factory.mktemp("undisturbed")
    return sweep_here(study(folder), folder / "out")[0]


def test_a_row_is_what_a_run_gives(undisturbed: Sweep, tmp_path: Path) -> None:
    file = tiny(tmp_path)
    assert len(undisturbed.runs) == undisturbed.total == 16
    for row in undisturbed.runs.to_dict("records"):
        overrides = [f"{path}={as_toml(row[path])}" for path in PARAMETERS]
        run = airfair.run(file, scheme=row["scheme"], seed=row["seed"], overrides=overrides)
        assert row["study"] == "tiny"
        for name in ("scenario", "version", "duration_s", "jain_index", "log_utility", "starved_flows"):
            assert row[name] == run[name]
        assert dict(row["drops"]) == run["drops"]
        assert row["made_packets"] == run["ends"]["made"]
        assert (row["control_bps"], row["messages"]) == (0.0, 0)  # schemes without messages
        assert row["perf_events"] == run["perf"]["events"]
        flows = undisturbed.flows[undisturbed.flows["run"] == row["run"]].set_index("id")
        assert list(flows.index) == ["ab", "cb"]
        for flow in run["flows"]:
            for name in ("src", "goodput_bps", "delivered_bytes", "mean_delay_s"):
                assert flows.loc[flow["id"], name] == flow[name]  # type: ignore[literal-required]
            assert flows.loc[flow["id"], "radio.queue_packets"] == row["radio.queue_packets"]
    assert (undisturbed.runs["drops"].map(len) > 0).any(), "else the queue decides nothing"


def test_any_reader_of_parquet_opens_the_folders(undisturbed: Sweep) -> None:
    runs = pd.read_parquet(undisturbed.folder / "runs")
    assert sorted(runs["run"]) == sorted(undisturbed.runs["run"])
    assert runs["radio.queue_packets"].dtype == "int64"
    assert set(runs["flow.ab.traffic.rate"]) == {"500 kbit/s", "4 Mbit/s"}
    flows = ds.dataset(undisturbed.folder / "flows").to_table(filter=ds.field("radio.queue_packets") == 2)
    assert flows.num_rows == 16
    assert (undisturbed.folder / "journal.jsonl").read_bytes() == b""


def test_the_summary_is_that_of_compare(undisturbed: Sweep, tmp_path: Path) -> None:
    file = tiny(tmp_path)
    cases = list(undisturbed.summary())
    assert len(cases) == 4
    for case in cases:
        overrides = [f"{path}={as_toml(value)}" for path, value in case["parameters"].items()]
        expected = airfair.compare(file, schemes=["droptail", "red"], seeds=[1, 2], overrides=overrides)
        for row, other in zip(case["rows"], expected, strict=True):
            del other["drops"], other["channel"]  # the dataset has no radios
            assert {**row, "perf": None} == {**other, "perf": None}


def test_the_command_line(tmp_path: Path) -> None:
    file = as_toml_file(tmp_path, seeds=3)
    told = json_of("sweep", file, "--out", tmp_path / "out")
    assert list(told) == [
        "format", "study", "folder", "schemes", "seeds", "runs", "finished", "failed", "cases",
    ]  # fmt: skip
    assert (told["runs"], told["finished"], told["failed"], told["seeds"]) == (24, 24, [], [1, 2, 3])
    assert [len(case["rows"]) for case in told["cases"]] == [2] * 4
    assert told["cases"][0]["parameters"] == {
        "radio.queue_packets": 2, "flow.ab.traffic.rate": "500 kbit/s", "duration": "50 ms",
    }  # fmt: skip
    again = command("sweep", file, "--out", tmp_path / "out")
    assert (again.returncode, again.stderr) == (0, "")
    for text in (
        "24 of 24 runs",
        "3 seeds",
        "duration 50 ms",
        "radio.queue_packets",
        "±",
        "No scheme differs from droptail in any of these numbers",
    ):
        assert text in again.stdout
    assert_once_each(
        airfair.load_sweep(tmp_path / "out"), sweep_here(Study.read(file), tmp_path / "other")[0]
    )


def test_each_flow_has_its_delay(undisturbed: Sweep) -> None:
    """A row for each of two flows, with two schemes, in four cases: the numbers of the summary."""
    plain, whole = (io.StringIO() for _ in range(2))
    for out, flows in ((plain, False), (whole, True)):
        show_sweep(undisturbed, Console(file=out, width=200), flows=flows)
    before, _, table = whole.getvalue().partition("\nEach flow\n")
    assert before == plain.getvalue()
    head, _, *lines = table.splitlines()
    assert head.split("  ")[-1].strip() == "loss"
    assert [column in head for column in ("flow", "goodput", "mean delay", "99 % delay")] == [True] * 4
    flows_of = [flow for case in undisturbed.summary() for row in case["rows"] for flow in row["flows"]]
    assert len(lines) == len(flows_of) == 16
    for line, flow in zip(lines, flows_of, strict=True):
        assert flow["id"] in line.split()
        for column in OF_FLOWS:
            assert column.cell(flow) in line


def test_the_example_runs(tmp_path: Path) -> None:
    file = Study.read(SCENARIOS / "studies" / "queue.toml")
    file.parameters |= {"duration": ["300 ms"], "warmup": ["0 s"]}
    file.seeds = [1]
    done = airfair.sweep(file, out=tmp_path / "out", jobs=2)
    assert (len(done.runs), done.failed) == (6, [])


def test_cases_are_zipped_and_parameters_are_crossed(tmp_path: Path) -> None:
    tiny(tmp_path)
    file = tmp_path / "study.toml"
    file.write_text(
        """
        name = "zipped"
        scenario = "tiny.toml"
        seeds = [7, 9]
        [parameters]
        "duration" = ["50 ms", "60 ms"]
        [[case]]
        id = "short and slow"
        radio.queue_packets = 2
        radio.data_rate = "1 Mbit/s"
        [[case]]
        radio.queue_packets = 40
        """
    )
    done, runs = sweep_here(Study.read(file), tmp_path / "out")
    assert runs == len(done.runs) == 8
    frame = done.runs
    assert set(frame["scheme"]) == {"droptail"}, "the scenario's own"
    assert set(frame["seed"]) == {7, 9}
    first, second = frame[frame["case"] == "short and slow"], frame[frame["case"] == "2"]
    assert set(first["radio.queue_packets"]) == {2}
    assert set(second["radio.queue_packets"]) == {40}
    assert set(first["radio.data_rate"]) == {"1 Mbit/s"}
    assert second["radio.data_rate"].isna().all()
    assert sorted(first["duration_s"]) == sorted(second["duration_s"]) == [0.05, 0.05, 0.06, 0.06]


def test_a_study_that_grew_keeps_what_is_finished(tmp_path: Path) -> None:
    """A cell more, a seed more, a parameter more: each brings its own runs and repeats none."""
    out = tmp_path / "out"
    assert sweep_here(study(tmp_path, parameters={}), out)[1] == 4
    queue: dict[str, Any] = {"radio.queue_packets": [20, 4]}  # 20 is what the scenario says
    done, runs = sweep_here(study(tmp_path, parameters=queue), out)
    assert (runs, sorted(done.runs["radio.queue_packets"])) == (4, [4] * 4 + [20] * 4)
    assert sweep_here(study(tmp_path, parameters=queue, seeds=3), out)[1] == 4
    mixed: dict[str, Any] = {"radio.queue_packets": [20, 4, "30"], "radio.rts_threshold": ["0 B", "2347 B"]}
    done, runs = sweep_here(study(tmp_path, parameters=mixed, seeds=3), out)
    assert runs == 24, "2347 B is the default: half of 36 less what is there"
    assert set(done.runs["radio.queue_packets"]) == {"20", "4", "30"}, "texts, since one of them is"
    assert_once_each(done, sweep_here(study(tmp_path, parameters=mixed, seeds=3), tmp_path / "new")[0])
    # A study that became smaller: what is not asked for any more stays, marked.
    done, runs = sweep_here(study(tmp_path, parameters=queue, seeds=2), out)
    assert (runs, len(done.runs)) == (0, 8)
    everything = airfair.load_sweep(out, earlier=True)
    assert everything.runs["in_study"].sum() == 8
    assert everything.flows["in_study"].sum() == 16
    assert len(everything.runs) == 36
    assert sorted(pd.read_parquet(out / "runs")["run"]) == sorted(everything.runs["run"])


def test_another_scenario_under_the_same_parameters_is_another(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first, _ = sweep_here(study(tmp_path), out)
    tiny(tmp_path, TINY.replace('"1 Mbit/s", packet', '"900 kbit/s", packet'))
    second, runs = sweep_here(study(tmp_path), out)
    assert runs == 16
    assert not set(first.runs["run"]) & set(second.runs["run"])
    tiny(tmp_path, f"# only a comment\n{TINY}")
    back, runs = sweep_here(study(tmp_path), out)
    assert runs == 0
    assert_once_each(back, first)


def test_a_scenario_that_changes_meanwhile_ends_the_sweep(tmp_path: Path) -> None:
    asked = study(tmp_path)

    def change(progress: Any) -> None:  # noqa: ANN401
        if progress.finished == 4:
            tiny(tmp_path, TINY.replace("100 m", "101 m"))

    with pytest.raises(InputError, match=r"tiny\.toml: was changed while the sweep went on"):
        airfair.sweep(asked, out=tmp_path / "out", executor=Here(), on_run=change)
    tiny(tmp_path)
    left = 16 - len(airfair.load_sweep(tmp_path / "out").runs)
    assert 0 < left < 16
    assert sweep_here(asked, tmp_path / "out")[1] == left


@pytest.mark.parametrize("kind", ["threads", "processes", "dask"])
def test_any_executor(kind: str, tmp_path: Path, undisturbed: Sweep) -> None:
    asked, out = study(tmp_path), tmp_path / "out"
    if kind == "threads":
        with ThreadPoolExecutor(3) as executor:
            assert_once_each(airfair.sweep(asked, out=out, executor=executor), undisturbed)
    elif kind == "processes":
        with ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as executor:
            assert_once_each(airfair.sweep(asked, out=out, executor=executor), undisturbed)
    else:
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address=None, processes=True
        ) as cluster:
            assert_once_each(airfair.sweep(asked, out=out, dask=cluster.scheduler_address), undisturbed)


def test_no_more_is_handed_out_than_can_be_done(tmp_path: Path) -> None:
    class Counting(ThreadPoolExecutor):
        out = most = 0
        guard = threading.Lock()

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
            with self.guard:
                self.out += 1
                self.most = max(self.most, self.out)
            future = super().submit(fn, *args, **kwargs)
            future.add_done_callback(lambda _: self.ended())
            return future

        def ended(self) -> None:
            with self.guard:
                self.out -= 1

    with Counting(3) as executor:
        done = airfair.sweep(study(tmp_path, seeds=10), out=tmp_path / "out", executor=executor)
    assert len(done.runs) == 80
    assert 3 <= executor.most <= 6


def test_a_run_that_fails_is_named_and_the_others_go_on(tmp_path: Path, undisturbed: Sweep) -> None:
    def run(text: str, scheme: str, seed: int, *rest: Any) -> Any:  # noqa: ANN401
        if (scheme, seed, "queue_packets = 2\n" in text) == ("red", 2, True):
            raise MemoryError("no room")
        return dataset_run(text, scheme, seed, *rest)

    from airfair.sweeping.worker import run_one as dataset_run

    done = airfair.sweep(study(tmp_path), out=tmp_path / "out", executor=Here(run))
    assert [(f.scheme, f.seed, f.error) for f in done.failed] == [("red", 2, "MemoryError: no room")] * 2
    assert done.failed[0].cell == "radio.queue_packets=2, flow.ab.traffic.rate=500 kbit/s"
    assert len(done.runs) == 14
    assert [row["seeds"] for row in next(done.summary())["rows"]] == [[1], [1]], "seeds that both have"
    again, runs = sweep_here(study(tmp_path), tmp_path / "out")
    assert runs == 2
    assert_once_each(again, undisturbed)


def test_a_version_that_differs_is_refused(tmp_path: Path) -> None:
    class Old(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401, ARG002
            future: Future[Any] = Future()
            future.set_result("0.0.1")
            return future

    with pytest.raises(airfair.SweepError, match=r"a worker has Airfair 0\.0\.1, this is"):
        airfair.sweep(study(tmp_path), out=tmp_path / "out", executor=Old())


def test_readers_check_the_version_first(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep_here(study(tmp_path), out)
    whole = json.loads((out / "study.json").read_text())
    assert whole["cells"][0]["sha256"] == dataset.about(out)["cells"][0]["sha256"]
    assert Scenario.parse(whole["scenario"]).name == "tiny"
    for change, problem in [
        ({"format": 99}, "format 99, from a newer Airfair; expected at most 1"),
        ({"format": None}, "no format version"),
    ]:
        (out / "study.json").write_text(json.dumps(whole | change))
        with pytest.raises(InputError, match=problem):
            airfair.load_sweep(out)
        with pytest.raises(InputError, match=problem):
            sweep_here(study(tmp_path), out)
    with pytest.raises(InputError, match="expected the folder of a sweep"):
        airfair.load_sweep(tmp_path)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "x.jpg").write_text("")
    with pytest.raises(InputError, match="photos: is not the folder of a sweep"):
        sweep_here(study(tmp_path), tmp_path / "photos")
    sweep_here(study(tmp_path), tmp_path / "out")
    with pytest.raises(
        InputError, match='out: has the study "tiny"; expected a new folder, or that of "other"'
    ):
        sweep_here(study(tmp_path, name="other"), tmp_path / "out")
    (tmp_path / "out" / "runs" / "part-000001.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"runs/part-000001\.parquet: cannot be read: .*remove .* and "):
        airfair.load_sweep(tmp_path / "out")


ERRORS: dict[str, list[str]] = {
    'name = "x"\nscenario = "tiny.toml"\nsheme = "red"\n[parameters]\nradio.queue_packets = 5': [
        'study.toml:3: sheme: unknown key; did you mean "schemes"?',
        "study.toml:5: parameters.radio.queue_packets: 5; expected a list of values such as [16, 64]",
    ],
    'name = "x"\nscenario = "tiny.toml"\nschemes = ["red", "redd"]\n[parameters]\n'
    'radio.queue_packets = [4,\n  -1]\n"radio.data_rat" = ["2 Mbit/s"]': [
        'study.toml:3: schemes: there is no scheme "redd"; did you mean "red"?',
        "study.toml:6: parameters.radio.queue_packets: -1",
        'study.toml:7: parameters.radio.data_rat: unknown key; did you mean "data_rate"?',
    ],
    'scenario = "tyni.toml"\nseeds = 0\n[[case]]\nid = ""\n[[case]]\nscheme = "red"': [
        "study.toml:1: name: missing; expected a text",
        "study.toml:1: scenario: tyni.toml: no such file; expected the file of a scenario",
        "study.toml:2: seeds: 0; expected how many seeds, 1 to 1000000, or a list of them",
        'study.toml:4: case.1.id: "": expected 1 to 64 characters',
        "study.toml:6: case.2.scheme: a scheme is no parameter",
    ],
    'name = "x"\nscenario = "tiny.toml"\n[parameters]\nduration = ["1 s", "1000 ms"]': [
        "study.toml:4: parameters.duration: duration=1000 ms: the same scenario as duration=1 s",
    ],
    'name = "x"\nscenario = "tiny.toml"\n[parameters]\nduration = ["1 s"]\n[[case]]\nduration = "2 s"': [
        "study.toml:6: case.1.duration: is one of [parameters] too",
    ],
    'name = "x"\nscenario = "tiny.toml"\nseeds = 2026-01-01': [
        "study.toml:3: seeds: 2026-01-01 is a date; expected another kind of value",
    ],
    'name = "x"\nscenario = "tiny.toml"\nseeds = 0\nseed_from = -1\nsheme = 1\n'
    "[[case]]\nradio.queue_packets = 4\n[[case]]\nradio.queue_packets = 4": [
        "study.toml:3: seeds: 0; expected how many seeds, 1 to 1000000, or a list of them",
        "study.toml:4: seed_from: -1; expected a seed",
        'study.toml:5: sheme: unknown key; did you mean "schemes"?',
        "study.toml:9: case.2.radio.queue_packets: case 2, radio.queue_packets=4: the same scenario as",
    ],
    'name = "x"\nscenario = "tiny.toml"\nseeds = [3, 3]\nseed_from = "one"': [
        "study.toml:3: seeds: 3 stands twice; expected each seed once",
        'study.toml:4: seed_from: "one"; expected a seed',
        "study.toml:4: seed_from: goes with a number of seeds",
    ],
    "name = [\n": ["study.toml:1: not TOML"],
    'name = "x/y"\nscenario = "tiny.toml"\nsheme = "red"\nschemes = ["redd", "nred"]\nseeds = [1, -1]\n'
    '[parameters]\nversion = [1]\nradio.queue_packets = [4, -1, nan]\nradio.data_rat = ["2 Mbit/s"]\n'
    'nred.max_p = [0.1, "x"]\nduration = "-1 s"\n[[case]]\nid = "c"\nradio.queue_packets = 3\n'
    'radio.rts_threshold = "7 x"': [
        'study.toml:1: name: "x/y": expected 1 to 64 characters',
        'study.toml:3: sheme: unknown key; did you mean "schemes"?',
        'study.toml:4: schemes: there is no scheme "redd"; did you mean "red"?',
        "study.toml:5: seeds: -1; expected a seed",
        "study.toml:7: parameters.version: a column of the results has this name",
        "study.toml:8: parameters.radio.queue_packets: nan; expected a finite number",
        "study.toml:8: parameters.radio.queue_packets: -1",
        'study.toml:9: parameters.radio.data_rat: unknown key; did you mean "data_rate"?',
        'study.toml:10: parameters.nred.max_p: "x": a text stands here;',
        'study.toml:11: parameters.duration: "-1 s"; expected a list of values such as [16, 64]',
        'study.toml:11: parameters.duration: "-1 s": `-1 s` is negative; expected a time',
        "study.toml:14: case.c.radio.queue_packets: is one of [parameters] too",
        "study.toml:15: case.c.radio.rts_threshold: \"7 x\": `x` is not a unit for this; expected a size",
    ],
}  # fmt: skip


@pytest.mark.parametrize("text", ERRORS, ids=[lines[0][:40] for lines in ERRORS.values()])
def test_errors_say_where_and_what(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny(tmp_path)
    Path("study.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        airfair.sweep("study.toml", out="out")
    lines = str(caught.value).splitlines()
    assert len(lines) == len(ERRORS[text]), lines
    for expected, line in zip(ERRORS[text], lines, strict=True):
        assert line.startswith(expected)
    assert not Path("out").exists()


def test_errors_of_a_program_and_of_options(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('name = "x"')
    done = command("sweep", "study.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "study.toml:1: scenario: missing; expected a text\n"
    done = command("sweep", "-", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "-: what a study names is found from its folder; expected the file of a study\n"
    with pytest.raises(InputError, match=r"^parameters\.radio\.queue_packets: 2 stands twice"):
        study(tmp_path, parameters={"radio.queue_packets": [2, 2]})
    with pytest.raises(InputError, match="seeds: 1 stands twice; expected each seed once"):
        study(tmp_path, seeds=[1, 1])
    with pytest.raises(
        InputError, match=r'(?s)^name: "x/y": .*parameters\.radio\.queue_packets: -1: out of range; expected'
    ):
        study(tmp_path, name="x/y", parameters={"radio.queue_packets": [2, -1]})
    with pytest.raises(InputError, match=r"--set radio\.queue_packets: is a parameter of the study"):
        airfair.sweep(study(tmp_path), out=tmp_path / "out", overrides=["radio.queue_packets=5"])
    with pytest.raises(InputError, match=r"--set radio\.queue_packets: is a parameter of the study"):
        airfair.sweep(study(tmp_path), out=tmp_path / "out", overrides={"radio.queue_packets": 5})
    with pytest.raises(InputError, match="expected no other"):
        airfair.sweep(study(tmp_path), out=tmp_path / "out", dask="tcp://127.0.0.1:1", jobs=2)
    with pytest.raises(InputError, match="at least 1"):
        airfair.sweep(study(tmp_path), out=tmp_path / "out", jobs=0)


def test_a_scenario_of_a_program(tmp_path: Path) -> None:
    scenario = Scenario.read(tiny(tmp_path))
    done, _ = sweep_here(study(tmp_path, scenario=scenario), tmp_path / "out")
    assert_once_each(done, sweep_here(study(tmp_path), tmp_path / "other")[0])


def test_a_list_of_files_travels_with_the_scenario(tmp_path: Path) -> None:
    """Workers get texts: what the scenario names by file is in them."""
    (tmp_path / "files.csv").write_text("start_s,bytes\n0,2000\n0.01,3000\n")
    listed = TINY.replace(
        'traffic = { kind = "poisson", rate = "1 Mbit/s", packet = "500 B" }',
        'transport = "tcp-newreno"\ntraffic = { kind = "list", file = "files.csv" }',
        1,
    )
    tiny(tmp_path, listed)
    asked = study(tmp_path, parameters={"radio.queue_packets": [5, 9]}, seeds=1)
    done = airfair.sweep(asked, out=tmp_path / "out", jobs=1)
    assert done.failed == []
    flows = done.flows[done.flows["id"] == "ab"]
    assert set(flows["files_started"]) == {2}
    # Another list is another scenario.
    (tmp_path / "files.csv").write_text("start_s,bytes\n0,2000\n0.01,4000\n")
    assert sweep_here(asked, tmp_path / "out")[1] == 4


def test_an_interruption_while_runs_are_told_counts_each_once(tmp_path: Path) -> None:
    """Control-C comes anywhere, also between two runs that were finished together."""
    tiny(tmp_path)
    told: list[Progress] = []

    def interrupt_once(progress: Progress) -> None:
        first = all(seen.finished < 2 for seen in told)
        told.append(replace(progress))
        if progress.finished == 2 and first:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        airfair.sweep(study(tmp_path, seeds=2), out=tmp_path / "out", executor=Here(), on_run=interrupt_once)
    kept = len(airfair.load_sweep(tmp_path / "out").runs)
    assert [progress.finished for progress in told] == list(range(kept + 1))
    assert kept >= 2


def test_what_forwarders_have_sent_is_in_rows(tmp_path: Path) -> None:
    """The same numbers as of a run; null of flows that routes carry."""
    tiny(tmp_path)
    asked = study(tmp_path, parameters={"duration": ["1 s"]}, schemes=["droptail", "more"], seeds=1)
    done = airfair.sweep(asked, out=tmp_path / "out", jobs=1)
    assert done.failed == []
    run = airfair.run(tmp_path / "tiny.toml", scheme="more", overrides=["duration=1 s"])
    carried = {flow["id"]: flow["forwarding"] for flow in run["flows"] if "forwarding" in flow}
    assert any(of["broadcasts"] for of in carried.values())
    for row in done.flows.to_dict("records"):
        of = carried.get(row["id"]) if row["scheme"] == "more" else None
        for name in ("broadcasts", "late", "innovative", "batches"):
            value = row[f"forwarding_{name}"]
            assert pd.isna(value) if of is None else value == of[name]
    (case,) = done.summary()
    file, short = tmp_path / "tiny.toml", ["duration=1 s"]
    compared = airfair.compare(file, schemes=["droptail", "more"], seeds=[1], overrides=short)
    for ours, other in zip(case["rows"], compared, strict=True):
        assert ours["flows"] == other["flows"]
        told = {flow["id"] for flow in ours["flows"] if flow.get("broadcasts_per_packet")}
        assert told == (set(carried) if ours["scheme"] == "more" else set())


def test_a_script_without_a_guard_is_told(tmp_path: Path) -> None:
    tiny(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(
        "import airfair\n"
        "airfair.sweep(airfair.Study(name='x', scenario='tiny.toml', seeds=2), out='out', jobs=2)\n"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    guard = 'a script calls airfair.sweep below `if __name__ == "__main__":`'
    lines = done.stderr.splitlines()
    assert lines[-1].startswith(f"airfair.SweepError: {guard}")
    assert [line for line in lines if re.match(r"[\w.]+(Error|Exception|Pool)\b", line)] == lines[-1:]
    assert len(lines) < 20, "one traceback, of the script itself"


def test_rows_do_not_hang_on_how_they_were_made(tmp_path: Path, undisturbed: Sweep) -> None:
    """In parts or in one, from a journal or from tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "JOURNAL_RUNS", 3)
        patch.setattr(dataset, "PART_RUNS", 5)
        done, _ = sweep_here(study(tmp_path), tmp_path / "out")
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 2
    assert_once_each(done, undisturbed)
    assert list(rows(done)["run"]) == sorted(undisturbed.runs["run"])


def test_schemes_written_in_python(tmp_path: Path) -> None:
    """Worker processes load them too; another code is another run."""
    twin = tmp_path / "twin.py"
    twin.write_text((ROOT / "examples" / "schemes" / "droptail.py").read_text())
    file = as_toml_file(tmp_path, seeds=2, schemes='["droptail", "py-droptail"]')
    arguments: list[str | Path] = ["sweep", file, "--schemes-from", twin, "--out", tmp_path / "out"]
    done = json_of(*arguments)
    assert done["finished"] == done["runs"] == 16
    for case in done["cases"]:
        ours, theirs = (row["aggregate_goodput_bps"] for row in case["rows"])
        assert ours == theirs
    twin.write_text(twin.read_text() + "\n# Changed.\n")
    json_of(*arguments)
    runs = airfair.load_sweep(tmp_path / "out", earlier=True).runs
    assert runs.groupby("scheme").size().to_dict() == {"droptail": 8, "py-droptail": 16}


BUGGY = """
import airfair
from airfair.scheme import Aqm


class Looks(Aqm):
    def on_enqueue(self, packet, queue, context):
        return queue.packet


@airfair.register
class Buggy(airfair.Scheme):
    \"\"\"Has a mistake.\"\"\"

    name = "buggy"
    origin = "a test"

    def aqm(self):
        return Looks()
"""


def test_a_mistake_in_a_scheme_is_told_with_its_line(tmp_path: Path) -> None:
    source = tmp_path / "buggy.py"
    source.write_text(BUGGY)
    file = as_toml_file(tmp_path, seeds=1, schemes='["droptail", "buggy"]')
    done = command("sweep", file, "--schemes-from", source, "--out", tmp_path / "out", "--jobs", "1")
    assert done.returncode == 1
    (told, *others) = [line for line in done.stderr.splitlines() if line.startswith("airfair: failed: ")]
    assert len(others) == 3
    assert (
        "buggy, seed 1: AttributeError: 'QueueView' object has no attribute 'packet'; in scheme buggy" in told
    )
    assert told.endswith(f"; {source}:8, in on_enqueue")
    assert "Differences to droptail" not in done.stdout, "there are none"
    assert "droptail" in done.stdout


def test_the_summary_fits_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parameters and two schemes at 80 columns: more than a number in a table, and no path in each."""
    file = as_toml_file(tmp_path, seeds=2, schemes='["droptail", "fq-codel"]')
    arguments = ("sweep", file, "--out", tmp_path / "out")
    monkeypatch.setenv("COLUMNS", "")  # readline may have set it behind our back
    wide = command(*arguments).stdout
    for width in ("80", "120"):
        monkeypatch.setenv("COLUMNS", width)
        told = command(*arguments).stdout
        lines = told.splitlines()
        assert len(lines) <= 75
        assert all(len(line) <= int(width) for line in lines if "\N{BOX DRAWINGS LIGHT HORIZONTAL}" in line)
        assert told.count("radio.queue_packets") == told.count("flow.ab.traffic.rate") == 1
        for words in ("Jain's index", "mean delay", "Differences to droptail", "500 kbit/s", "fq-codel"):
            assert words in told
        assert "runs " not in "".join(lines[2:]), "as many in each row as the title says"
    assert len(wide.splitlines()) <= 45


def test_the_last_parts_of_paths_tell_them_apart() -> None:
    assert short(["radio.queue_packets", "flow.voice.traffic.rate"]) == ["queue_packets", "rate"]
    assert short(["flow.a.traffic.rate", "flow.b.traffic.rate"]) == ["a.traffic.rate", "b.traffic.rate"]
    assert short(["duration"]) == ["duration"]
    assert short([]) == []


def test_a_sweep_says_what_it_is(undisturbed: Sweep) -> None:
    told = f"<airfair.Sweep 'tiny' in '{undisturbed.folder}': 16 of 16 runs; droptail, red; 2 seeds>"
    assert repr(undisturbed) == told


def test_a_scheme_of_this_process_only(tmp_path: Path) -> None:
    code = (ROOT / "examples" / "schemes" / "droptail.py").read_text()
    call = "import airfair\nif __name__ == '__main__':\n    airfair.sweep('study.toml', out='out')\n"
    script = tmp_path / "script.py"
    script.write_text(f"{code}\n\n{call}")
    as_toml_file(tmp_path, seeds=1, schemes='["py-droptail"]')
    words = [sys.executable, str(script)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert 'scheme "py-droptail": is known in this process only' in done.stderr


def test_rows_do_not_depend_on_who_was_first(tmp_path: Path) -> None:
    """The same tables with one worker, with three, and in two goes; only what a run cost differs."""
    tables = []
    for name, jobs in (("one", 1), ("three", 3), ("parts", 2)):
        folder = tmp_path / name
        folder.mkdir()
        file = study(folder)
        if name == "parts":
            airfair.sweep(study(folder, seeds=1), out=folder / "out", jobs=jobs)
        done = airfair.sweep(file, out=folder / "out", jobs=jobs)
        cost = [column for column in map(str, done.runs) if column.startswith("perf_")]
        of_disk = {table: pd.read_parquet(folder / "out" / table) for table in ("runs", "flows")}
        for read in (of_disk["runs"], done.runs):
            tables.append((read.drop(columns=cost), of_disk["flows"]))
        pd.testing.assert_frame_equal(done.flows, of_disk["flows"])
    for runs, flows in tables[1:]:
        pd.testing.assert_frame_equal(runs, tables[0][0])
        pd.testing.assert_frame_equal(flows, tables[0][1])
    assert tables[0][0]["seed"].tolist() == [1, 2] * 8

"""A run with what happened over time: tables, and the folder of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import airfair
import pyarrow.parquet as pq
import pytest
from airfair import InputError, Recording, Scenario
from airfair.recording import TABLES

from tests.support import SCENARIOS, THREE_PAIRS, json_of
from tests.support import airfair as command

OVERRIDES = ["duration=3300 ms", "warmup=1 s"]


@pytest.fixture(scope="module")
def recorded() -> Recording:
    return airfair.record(Scenario.read(THREE_PAIRS, OVERRIDES), seed=4)


def test_reading_over_time_changes_nothing(recorded: Recording) -> None:
    plain = airfair.run(THREE_PAIRS, seed=4, overrides=OVERRIDES)
    assert recorded.result == {**plain, "perf": recorded.result["perf"]}
    assert recorded.result["perf"]["events"] == plain["perf"]["events"]


def test_rows_are_intervals(recorded: Recording) -> None:
    series = recorded.pandas("flow_series")
    assert list(series["end_s"].unique()) == [1.0, 2.0, 3.0, 3.3]
    assert list(series["flow"][:3]) == ["left", "middle", "right"]
    last = series[series["end_s"] == 3.3]
    assert last["goodput_bps"].to_list() == pytest.approx(list(last["delivered_bytes"] * 8 / 0.3))
    counted = series[series["end_s"] > 1].groupby("flow", observed=True)["delivered_bytes"].sum()
    assert dict(counted) == {flow["id"]: flow["delivered_bytes"] for flow in recorded.result["flows"]}
    assert dict(recorded.pandas("flows").set_index("id")["delivered_bytes"]) == dict(counted)


def test_radio_states_fill_the_interval(recorded: Recording) -> None:
    channel = recorded.pandas("channel")
    states = channel[["transmit_s", "receive_s", "busy_s", "nav_s", "idle_s"]].sum(axis=1)
    assert states.to_list() == pytest.approx([1.0] * 18 + [0.3] * 6)
    assert set(channel["node"]) == {"a1", "a2", "a3", "b1", "b2", "b3"}
    queues = recorded.pandas("queues")
    assert queues["packets"].max() <= 66
    assert queues[queues["node"] == "a1"]["left_packets"].sum() > 100


def test_wires_and_radios_stand_side_by_side() -> None:
    scenario = Scenario.read(SCENARIOS / "access-point.toml", ["duration=2 s", "warmup=0 s"])
    queues = airfair.record(scenario, interval="500 ms").pandas("queues")
    first = queues[queues["end_s"] == 0.5]
    told = airfair.run(scenario)["queues"]
    assert list(zip(first["node"], first["towards"], strict=True)) == [
        (queue["node"], queue["towards"]) for queue in told
    ]


def test_columns_share_memory(recorded: Recording) -> None:
    column = recorded.arrow("channel")["transmit_s"].chunk(0)
    assert column.null_count == 0
    column.to_numpy(zero_copy_only=True)


def test_a_folder_is_whole_or_not_there(recorded: Recording, tmp_path: Path) -> None:
    folder = recorded.save(tmp_path / "deep" / "run")
    assert sorted(p.name for p in folder.iterdir()) == sorted(["run.json", *(f"{t}.parquet" for t in TABLES)])
    assert [p.name for p in folder.parent.iterdir()] == ["run"], "nothing half-written is left"
    again = Recording.load(folder)
    assert again.result == recorded.result
    assert again.scenario == recorded.scenario
    for table in TABLES:
        assert again.arrow(table).equals(recorded.arrow(table))
    with pytest.raises(InputError, match="exists already"):
        recorded.save(folder)
    Scenario.parse(again.scenario)


def test_a_folder_that_cannot_be_written_leaves_nothing(recorded: Recording, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        recorded.save(tmp_path / "file" / "run")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_readers_check_the_version_first(recorded: Recording, tmp_path: Path) -> None:
    whole = recorded.save(tmp_path / "run")

    def changed(name: str, **keys: object) -> Path:
        folder = tmp_path / name
        shutil.copytree(whole, folder)
        about = json.loads((folder / "run.json").read_text()) | keys
        (folder / "run.json").write_text(json.dumps(about))
        return folder

    with pytest.raises(InputError, match="format 99, from a newer Airfair; expected at most 1"):
        Recording.load(changed("newer", format=99))
    with pytest.raises(InputError, match="no format version"):
        Recording.load(changed("other", format=None))
    with pytest.raises(InputError, match=r"nowhere/run\.json: No such file"):
        Recording.load(tmp_path / "nowhere")
    torn = changed("torn")
    (torn / "queues.parquet").unlink()
    with pytest.raises(InputError, match="torn: not a whole result"):
        Recording.load(torn)
    (torn / "run.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        Recording.load(torn)


@pytest.mark.parametrize(
    ("interval", "problem"),
    [("0 s", "an interval of 0 s"), ("1", "expected"), ("1 ns", "rows; expected at most")],
)
def test_a_senseless_interval_is_refused(interval: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        airfair.record(Scenario.read(THREE_PAIRS, OVERRIDES), interval=interval)


def test_an_unknown_table_is_refused(recorded: Recording) -> None:
    with pytest.raises(InputError, match='there is no table "flow"; expected one of flows, flow_series'):
        recorded.pandas("flow")


def test_the_command_line_writes_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    options = [option for override in OVERRIDES for option in ("--set", override)]
    result = json_of("run", THREE_PAIRS, *options, "--out", folder, "--interval", "100 ms")
    assert result == Recording.load(folder).result
    assert len(pq.read_table(folder / "flow_series.parquet")) == 33 * 3
    refused = command("run", THREE_PAIRS, "--out", folder)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"{folder}: exists already; expected a new folder, or --force")
    for arguments, problem in [
        (("--interval", "1 s"), "--interval goes with --out"),
        (("--out", tmp_path / "x", "--realtime"), "--out and --realtime do not go together"),
    ]:
        refused = command("run", THREE_PAIRS, *arguments)
        assert refused.returncode == 2
        assert problem in refused.stderr


def test_inner_values_of_agents_are_a_table(tmp_path: Path) -> None:
    scenario = Scenario.read(THREE_PAIRS, ['duration="3 s"', "warmup=0 s"])
    folder = tmp_path / "out"
    recorded = airfair.record(scenario, scheme="nred", interval="500 ms", out=folder)
    agents = recorded.pandas("agents")
    names = ["avg", "avg_tx", "avg_rx", "p_b", "normalized_p_b"]
    assert list(agents.columns) == ["end_s", "node", "radio", *names]
    assert len(agents) == 6 * 6
    assert (agents["avg"] >= agents["avg_tx"] + agents["avg_rx"] - 1e-9).all()
    highest = agents.groupby("node")["avg"].max()
    assert highest.between(200, 250).all()  # the channel is full; 250 is W/C
    assert airfair.Recording.load(folder).pandas("agents").equals(agents)
    assert "agents" not in airfair.record(scenario, scheme="droptail").tables


def test_a_script_that_loads_a_folder_ends_well(recorded: Recording, tmp_path: Path) -> None:
    recorded.save(tmp_path / "run")
    script = "import sys, airfair; airfair.Recording.load(sys.argv[1])"
    for _ in range(6):
        done = subprocess.run(
            [sys.executable, "-c", script, tmp_path / "run"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")

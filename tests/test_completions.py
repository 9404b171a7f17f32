"""Files that were done, one by one: a table that is written as the run goes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import airfair
import pyarrow.parquet as pq
import pytest
from airfair import Recording, Scenario
from airfair.recording import _Completions

from tests.support import THREE_PAIRS

DUMBBELL = """
name = "files"
duration = "40 s"
node = [{ id = "a" }, { id = "b" }]
link = [{ ends = ["a", "b"], rate = "10 Gbit/s", delay = "1 ms", queue_packets = 1000 }]
"""


def transfers(*traffic: str, duration: str = "40 s") -> Scenario:
    """Flows `0`, `1`, ... over one fast wire."""
    flows = "".join(
        f'[[flow]]\nid = "{i}"\nfrom = "a"\nto = "b"\ntransport = "tcp"\ntraffic = {{ {t} }}\n'
        for i, t in enumerate(traffic)
    )
    return Scenario.parse(DUMBBELL + flows, "files.toml", [f"duration={duration}"])


def arrivals(count: int, size: str = "1 kB") -> str:
    """So many small files, 100,000 a second."""
    return f'kind = "arrivals", per_second = 100000, size = "{size}", count = {count}'


def test_a_row_is_a_file() -> None:
    listed = (
        'kind = "list", files = [["1 s", "1 kB"], ["1 s", "50 kB"], ["2 s", "2 kB"], ["39.9999 s", "3 kB"]]'
    )
    one = 'kind = "file", size = "1 MB", start = "3 s"'
    scenario = transfers(listed, one, 'kind = "constant", rate = "1 Mbit/s", packet = "1 kB"')
    recording = airfair.record(scenario, interval="40 s")
    rows = recording.pandas("completions")
    # The small file of the first second overtakes the large one; the last one was not done at the end.
    assert rows[["flow", "file", "start_s", "bytes"]].to_numpy().tolist() == [
        ["0", 0, 1.0, 1000],
        ["0", 1, 1.0, 50000],
        ["0", 2, 2.0, 2000],
        ["1", 0, 3.0, 1_000_000],
    ]
    # 2 ms for the set-up, 2 ms and some microseconds for one segment and its acknowledgement.
    assert rows["completion_s"][0] == pytest.approx(0.004, abs=2e-5)
    listed_flow, single, _ = recording.result["flows"]
    assert listed_flow["files"]["started"] == 4
    assert listed_flow["files"]["mean_completion_s"] == pytest.approx(rows["completion_s"][:3].mean())
    assert single["completion_s"] == rows["completion_s"][3]
    assert rows["timeouts"].sum() == rows["retransmissions"].sum() == 0


def test_each_connection_counts_its_own_repairs() -> None:
    scenario = transfers(arrivals(2000, "20 kB")).edited({"link.0.loss": 0.01})
    recording = airfair.record(scenario, interval="40 s")
    rows, flow = recording.pandas("completions"), recording.result["flows"][0]
    assert len(rows) == flow["files"]["finished"] == 2000
    assert sorted(rows["file"]) == list(range(2000))
    assert rows["retransmissions"].sum() == flow["retransmissions"] > 100
    assert (rows["completion_s"][rows["timeouts"] == 0] < 0.2).all()
    # A lost SYN costs a second, lost data 200 ms or more: nothing else takes long.
    assert (rows["completion_s"][rows["timeouts"] > 0] > 0.2).all()
    assert 0 < (rows["timeouts"] > 0).sum() < 1000


def test_blocks_do_not_hang_on_steps(tmp_path: Path) -> None:
    scenario = transfers(arrivals(70_000), arrivals(1000), duration="2 s")
    folders = [tmp_path / name for name in ("coarse", "fine")]
    whole = airfair.record(scenario, interval="2 s", out=folders[0])
    airfair.record(scenario, interval="3 ms", out=folders[1])
    files = [folder / "completions.parquet" for folder in folders]
    assert files[0].read_bytes() == files[1].read_bytes()
    about = pq.read_metadata(files[0])
    assert [about.row_group(i).num_rows for i in range(about.num_row_groups)] == [65_536, 5_464]
    loaded = Recording.load(folders[0])
    assert loaded.tables == whole.tables == ("flows", "flow_series", "queues", "channel", "completions")
    kept = airfair.record(scenario, interval="2 s")
    assert kept.pandas("completions").equals(loaded.pandas("completions"))
    ends = loaded.pandas("completions")[["start_s", "completion_s"]].sum(axis=1)
    assert ends.is_monotonic_increasing or (ends.diff().dropna() > -1e-9).all()


def test_without_files_there_is_no_table(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    scenario = Scenario.read(THREE_PAIRS, ["duration=1 s", "warmup=0 s"])
    assert "completions" not in airfair.record(scenario, out=folder).tables
    assert not (folder / "completions.parquet").exists()
    # Flows that send files, and none was done: the table is there and empty.
    none = airfair.record(transfers('kind = "file", size = "1 GB"', duration="10 ms"), out=tmp_path / "none")
    assert len(none.arrow("completions")) == 0


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_completions: _Completions, _columns: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_Completions, "append", full)
    with pytest.raises(OSError, match="No space left"):
        airfair.record(transfers(arrivals(70_000)), interval="40 s", out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


PEAK = """
import json, resource, sys
import airfair
from airfair import Scenario
scenario = Scenario.parse(sys.argv[1])
recording = airfair.record(scenario, interval="10 s", out=sys.argv[2])
finished = recording.result["flows"][0]["files"]["finished"]
print(json.dumps([finished, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""


def test_memory_does_not_grow_with_files(tmp_path: Path) -> None:
    """A row is 56 B where it is kept: 200,000 more of them would be 11 MB."""

    def peak(files: int) -> int:
        scenario = transfers(arrivals(files, "100 B"), duration="10 s").text
        command = [sys.executable, "-c", PEAK, scenario, str(tmp_path / str(files))]
        finished, peak = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        assert finished == files
        return int(peak)

    grown = peak(300_000) - peak(100_000)
    assert grown < 6e6, f"{grown} B for 200,000 files"

"""Captures against Wireshark's own reading of them, and the table of frames against the run's counters."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import airfair
import pandas as pd
import pytest
from airfair import Capture, InputError, Recording, Scenario
from airfair.capture import Spool
from airfair.results import RunResult, StationResult

from tests.support import SCENARIOS, THREE_PAIRS
from tests.support import airfair as command

# The names of frames in 802.11, by the names that the run counts them under.
SUBTYPES = {"0x001b": "RTS", "0x001c": "CTS", "0x001d": "ACK"}

SENT = "frame.packet_flags_direction == 2"

WIRED = """
name = "pair"
duration = "30 s"
[tcp]
profile = "linux"
ecn = true
[headers]
wired = "18 B"
[[node]]
id = "a"
[[node]]
id = "r"
[[node]]
id = "b"
[[link]]
ends = ["a", "r"]
rate = "100 Mbit/s"
delay = "5 ms"
[[link]]
ends = ["r", "b"]
rate = "2 Mbit/s"
delay = "5 ms"
queue_packets = 200
loss = {loss}
[[flow]]
id = "f"
from = "a"
to = "b"
transport = "tcp-newreno"
traffic = {{ kind = "file", size = "1 MB" }}
"""


@pytest.fixture(scope="session", autouse=True)
def _tshark() -> None:
    """Where it can be installed (`make test` as root does it) it must be there."""
    if shutil.which("tshark") is None:
        problem = "tshark reads the captures here and is not installed: apt-get install tshark"
        if os.geteuid() == 0 or "CI" in os.environ:
            pytest.fail(problem)
        pytest.skip(problem)


def tshark(file: Path, *fields: str, only: str = "", prefs: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """These fields of every packet, every checksum checked."""
    checks = [f"{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp", "wlan")]
    command = ["tshark", "-n", "-r", str(file), "-T", "fields"]
    command += [part for pref in (*checks, *prefs) for part in ("-o", pref)]
    command += ["-Y", only] if only else []
    command += [part for field in fields for part in ("-e", field)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def check_whole(file: Path, protocol: str) -> None:
    """No packet is malformed and no checksum wrong or left out; `protocol` is that of every IP packet."""
    fields = ("_ws.malformed", "frame.encap_type", "wlan.fcs.status", "ip.proto")
    rows = tshark(file, *fields, "ip.checksum.status", f"{protocol}.checksum.status")
    assert len(rows) > 20
    for malformed, link, fcs, ip, ip_sum, sum_ in rows:
        assert (malformed, fcs) == ("", "1" if link == "23" else "")
        assert (ip_sum, sum_) == (("1", "1") if ip else ("", ""))


def station(result: RunResult, node: str) -> StationResult:
    return next(station for station in result["stations"] if station["node"] == node)


def check_sent(recording: Recording, node: str) -> pd.DataFrame:
    """The frames of a radio in Wireshark are those that the medium was charged with. Returns those rows."""
    frames = recording.pandas("frames")
    ours = frames[(frames["event"] == "sent") & (frames["node"] == node)]
    fields = ("frame.time_epoch", "wlan.fc.type_subtype", "frame.len", "radiotap.length")
    more = ("wlan_radio.duration", "wlan_radio.data_rate", "wlan.fc.retry", "wlan.seq", "wlan.duration")
    rows = tshark(recording.captures[node], *fields, *more, only=SENT)
    kinds = ours["kind"].replace({"BROADCAST": "DATA"})
    seen = pd.DataFrame(rows, columns=[*fields, *more])
    assert [int(time.replace(".", "")) for time in seen["frame.time_epoch"]] == list(ours["time_ns"])
    assert [SUBTYPES.get(kind, "DATA") for kind in seen["wlan.fc.type_subtype"]] == list(kinds)
    assert list(seen["frame.len"].astype(int) - seen["radiotap.length"].astype(int)) == list(ours["bytes"])
    assert list(seen["wlan_radio.duration"].astype(int) * 1000) == list(ours["duration_ns"])
    assert list(seen["wlan_radio.data_rate"].astype(float) * 1e6) == list(ours["rate_bps"])
    assert list(seen["wlan.duration"].astype(int) * 1000) == list(ours["nav_ns"])
    assert list(seen["wlan.fc.retry"] == "1") == list(ours["retry"].eq(True))
    first = [
        int(row["wlan.seq"]) for _, row in seen.iterrows() if row["wlan.seq"] and row["wlan.fc.retry"] == "0"
    ]
    assert all((b - a) % 4096 == 1 for a, b in pairwise(first)), "no number is left out"
    counted = station(recording.result, node)["sent"]
    assert Counter(ours["kind"].astype(str)) == {kind: n for kind, n in counted.items() if n}
    return ours


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """TCP behind RTS and CTS."""
    scenario = Scenario.read(THREE_PAIRS, ["duration=2 s", "warmup=0 s"])
    out = tmp_path_factory.mktemp("pairs") / "run"
    return airfair.record(
        scenario, seed=2, out=out, capture=Capture(pcap=["a1", "b1"], snaplen=0, trace=True)
    )


def test_tcp_behind_rts_and_cts(pairs: Recording) -> None:
    assert set(pairs.captures) == {"a1", "b1"}
    for node in ("a1", "b1"):
        check_whole(pairs.captures[node], "tcp")
        sent = check_sent(pairs, node)
        assert set(sent["kind"]) == {"RTS", "CTS", "DATA", "ACK"}
        assert set(sent[sent["kind"] == "DATA"]["rate_bps"]) == {2e6}
        assert set(sent[sent["kind"] != "DATA"]["rate_bps"]) == {1e6}


def test_signal_and_silence_are_those_of_the_scenario(pairs: Recording) -> None:
    """By hand: 24.5 dBm + 40 log10(1.5 m / 200 m) = -60.5 dBm over flat ground, a SIFS of 10 us, 1.3 us of
    propagation there and back, all in whole microseconds."""
    fields = ("wlan.fc.type_subtype", "wlan.ra", "wlan.ta", "wlan_radio.signal_dbm", "wlan_radio.frequency")
    rows = tshark(pairs.captures["a1"], *fields, "wlan_radio.ifs")
    from_b1 = {row[3:5] for row in rows if row[2] == "02:00:00:00:00:04" and row[3]}
    assert from_b1 <= {("-60", "2412"), ("-61", "2412")}
    assert from_b1
    answers = [
        int(row[5])
        for before, row in pairwise(rows)
        if (before[0], row[0]) == ("0x001b", "0x001c") and before[2] == row[1]
    ]
    assert len(answers) > 100
    assert set(answers) <= {10, 11, 12}


def test_rows_are_what_the_run_has_counted(pairs: Recording) -> None:
    frames, result = pairs.pandas("frames"), pairs.result
    counts = Counter(frames["event"].astype(str))
    assert counts["sent"] == result["perf"]["transmissions"]
    assert counts["delivered"] == result["ends"]["delivered"]
    assert counts["dropped"] == sum(result["ends"]["dropped"].values())
    for event, counter in (("no-cts", "no_cts"), ("no-ack", "no_ack"), ("given-up", "given_up")):
        assert counts[event] == sum(station[counter] for station in result["stations"])  # type: ignore[literal-required]
    for node in ("a1", "a2"):
        mine = frames[frames["node"] == node]
        lost = Counter(mine[mine["event"] == "lost"]["cause"].astype(str))
        assert lost == {cause: n for cause, n in station(result, node)["lost"].items() if n}
        received = Counter(mine[mine["event"] == "received"]["kind"].astype(str))
        assert received == {kind: n for kind, n in station(result, node)["received"].items() if n}
    assert frames["time_ns"].is_monotonic_increasing
    left = frames[(frames["event"] == "sent") & (frames["flow"] == "left") & (frames["content"] == "data")]
    assert set(left["from"]) == {"a1"}
    assert list(left["sequence"])[:3] == [1, 513, 1025], "segments of 512 bytes"


def test_the_folder_tells_what_is_there(pairs: Recording) -> None:
    again = Recording.load(pairs.captures["a1"].parent)
    assert again.captures == pairs.captures
    assert again.result == pairs.result
    assert again.tables == pairs.tables == ("flows", "flow_series", "queues", "channel", "frames")
    assert again.arrow("frames").equals(pairs.arrow("frames"))
    copy = again.save(pairs.captures["a1"].parent.parent / "copy")
    assert sorted(p.name for p in copy.iterdir()) == sorted(
        p.name for p in again.captures["a1"].parent.iterdir()
    )
    (copy / "a1.pcapng").unlink()
    with pytest.raises(InputError, match=r"copy: not a whole result: there is no a1\.pcapng"):
        Recording.load(copy)


def test_looking_changes_nothing(pairs: Recording, tmp_path: Path) -> None:
    plain = airfair.run(THREE_PAIRS, seed=2, overrides=["duration=2 s", "warmup=0 s"])
    assert pairs.result == {**plain, "perf": pairs.result["perf"]}
    assert pairs.result["perf"]["events"] == plain["perf"]["events"]
    scenario = Scenario.read(SCENARIOS / "access-point.toml", ["duration=2 s", "warmup=0 s"])
    plain = airfair.run(scenario)
    watched = [
        airfair.record(scenario, out=tmp_path / str(n), capture=Capture(pcap="all", errors=True, trace=True))
        for n in (1, 2)
    ]
    assert watched[0].result == {**plain, "perf": watched[0].result["perf"]}
    for node, file in watched[0].captures.items():
        assert file.read_bytes() == watched[1].captures[node].read_bytes(), "the same bytes every time"
    # Without a folder the rows stay in memory.
    in_memory = airfair.record(scenario, capture=Capture(trace=True))
    # As values: a file lists the names of a column in the order of the format, a table in memory as they
    # came.
    assert in_memory.arrow("frames").to_pydict() == watched[0].arrow("frames").to_pydict()


def test_hidden_senders_and_frames_with_errors(tmp_path: Path) -> None:
    overrides = ["duration=1 s", "warmup=0 s", "radio.rts_threshold=2347 B"]
    scenario = Scenario.read(SCENARIOS / "hidden-terminal.toml", overrides)
    recording = airfair.record(
        scenario, out=tmp_path / "run", capture=Capture(pcap=["1", "2"], errors=True, snaplen=0, trace=True)
    )
    check_whole(recording.captures["1"], "udp")
    sent = check_sent(recording, "1")
    assert sent["retry"].sum() > 10
    # 512 B, UDP 8, IP 20, LLC 8, MAC and FCS 28.
    assert set(sent["bytes"]) == {576}
    fields = ("ip.id", "wlan.fc.retry", "radiotap.data_retries")
    packets = tshark(recording.captures["1"], *fields, only=f"{SENT} && udp")
    fresh = [int(number, 16) for number, retry, _ in packets if retry == "0"]
    assert fresh == list(range(len(fresh))), "packets of UDP are numbered"
    assert all((retry == "1") == (int(retries) > 0) for _, retry, retries in packets)
    # A frame that failed to its end is there with a wrong FCS and a flag that says so.
    bad = tshark(recording.captures["2"], "wlan.ra", "wlan.fcs.status", only="radiotap.flags.badfcs == 1")
    assert {status for _, status in bad} == {"0"}
    lost = station(recording.result, "2")["lost"]
    mine = [row for row in bad if row[0] == "02:00:00:00:00:02"]
    assert len(mine) == lost["interference"] + lost["noise"] + lost["too-weak"]
    assert len(mine) > 10
    good = tshark(recording.captures["2"], "wlan.fcs.status", only="radiotap.flags.badfcs == 0")
    assert set(good) == {("1",)}


def test_arp_and_cut_frames(tmp_path: Path) -> None:
    overrides = ["duration=300 ms", "warmup=0 s", "arp.prefilled=false"]
    scenario = Scenario.read(SCENARIOS / "hidden-terminal.toml", overrides)
    recording = airfair.record(scenario, out=tmp_path / "run", capture=Capture(pcap=["1"], trace=True))
    file = recording.captures["1"]
    fields = ("arp.opcode", "arp.src.hw_mac", "arp.src.proto_ipv4", "arp.dst.proto_ipv4", "wlan.ra")
    assert tshark(file, *fields, only="arp") == [
        ("1", "02:00:00:00:00:01", "10.0.0.1", "10.0.0.2", "ff:ff:ff:ff:ff:ff"),
        ("2", "02:00:00:00:00:02", "10.0.0.2", "10.0.0.1", "02:00:00:00:00:01"),
    ]
    check_sent(recording, "1")
    rows = tshark(file, "_ws.malformed", "frame.cap_len", "frame.len", "udp.length", only="udp")
    assert len(rows) > 10
    assert all(
        (malformed, kept, udp) == ("", "160", "520") and int(whole) > 600
        for malformed, kept, whole, udp in rows
    )


def test_wireshark_counts_the_retransmissions_that_tcp_has_made(tmp_path: Path) -> None:
    """At the sender's wire nothing has been lost yet: each segment that goes out again is there.

    Wireshark takes a segment that is repeated a second time for one out of order.
    """
    scenario = Scenario.parse(WIRED.format(loss=0.02))
    recording = airfair.record(scenario, out=tmp_path / "run", capture=Capture(pcap=["a", "r:b"], snaplen=0))
    check_whole(recording.captures["a"], "tcp")
    (flow,) = recording.result["flows"]
    repeated = "tcp.analysis.retransmission || tcp.analysis.out_of_order"
    again = tshark(recording.captures["a"], "frame.number", only=repeated)
    assert len(again) == flow["retransmissions"] > 10
    payload = tshark(recording.captures["a"], "tcp.len", only=f"{SENT} && tcp.len > 0")
    assert len(payload) == flow["sent_packets"]
    options = tshark(recording.captures["a"], "tcp.options.sack.count", "tcp.options.timestamp.tsval")
    assert any(blocks for blocks, _ in options)
    assert all(stamp for _, stamp in options)
    (syn,) = tshark(
        recording.captures["a"],
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        only=f"{SENT} && tcp.flags.syn == 1",
    )
    assert syn == ("1460", "7")
    # The router's far side alone: data go out, acknowledgements come in, and each hop has cost a TTL.
    ttl = tshark(recording.captures["r"], "ip.ttl", "frame.interface_name", only=SENT)
    assert set(ttl) == {("63", "r:b")}


def test_marks_and_their_echo(tmp_path: Path) -> None:
    overrides = ["schemes.red.ecn=true", "schemes.red.max_th=80", "schemes.red.max_p=0.02"]
    # With acknowledgements of single segments slow start overshoots, and RED drops.
    overrides += ["tcp.push=false", "tcp.window_tuning=false"]
    scenario = Scenario.parse(WIRED.format(loss=0), overrides=overrides)
    recording = airfair.record(
        scenario, scheme="red", out=tmp_path / "run", capture=Capture(pcap="all", snaplen=0)
    )
    assert recording.result["drops"] == {}
    check_whole(recording.captures["r"], "tcp")
    rows = tshark(recording.captures["r"], "ip.dsfield.ecn", "frame.interface_name", only=SENT)
    marks = sum(recording.result["marks"].values())
    assert rows.count(("3", "r:b")) == marks > 3
    assert rows.count(("3", "r:a")) == 0
    flags = ("tcp.flags.ece", "tcp.flags.cwr", "frame.packet_flags_direction")
    seen = Counter(tshark(recording.captures["a"], *flags, only="tcp.flags.syn == 0"))
    assert seen[("1", "0", "0x00000001")] >= marks, "echoed until the sender answers"
    assert seen[("0", "1", "0x00000002")] > 0


def test_saturated_ofdm_and_wires_in_one_file(tmp_path: Path) -> None:
    scenario = Scenario.read(SCENARIOS / "wired.toml", ["duration=1 s", "warmup=0 s"])
    recording = airfair.record(scenario, out=tmp_path / "run", capture=Capture(pcap=["ap"], snaplen=0))
    check_whole(recording.captures["ap"], "udp")
    fields = ("frame.interface_name", "frame.encap_type", "wlan_radio.phy", "wlan_radio.data_rate")
    seen = Counter(tshark(recording.captures["ap"], *fields))
    # Raw IP without framing on the wire; 802.11g, which Wireshark calls PHY 6, in the air.
    assert set(seen) == {
        ("ap:server", "129", "", ""),
        *(("ap:default", "23", "6", rate) for rate in ("54", "24")),
    }
    assert seen[("ap:default", "23", "6", "54")] == station(recording.result, "ap")["sent"]["DATA"]


def test_names_that_are_no_file_names(tmp_path: Path) -> None:
    text = (
        THREE_PAIRS.read_text()
        .replace('"a1"', '"up/down"')
        .replace('"a2"', '"up_down"')
        .replace('"a3"', '"ü:é"')
    )
    scenario = Scenario.parse(text, overrides=["duration=100 ms", "warmup=0 s"])
    captured = Capture(pcap=["up/down", "up_down", "ü:é:default"])
    recording = airfair.record(scenario, out=tmp_path / "run", capture=captured)
    files = {node: file.name for node, file in recording.captures.items()}
    assert files == {"up/down": "up_down.pcapng", "up_down": "up_down-2.pcapng", "ü:é": "ü:é.pcapng"}
    assert set(tshark(recording.captures["ü:é"], "frame.interface_name")) == {("ü:é:default",)}
    # Names go with the packets that show their addresses.
    named = subprocess.run(
        [
            "tshark",
            "-N",
            "n",
            "-r",
            str(recording.captures["up/down"]),
            "-Y",
            "ip",
            "-T",
            "fields",
            "-e",
            "ip.src_host",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "up/down" in named.stdout.splitlines()


def test_a_run_that_fails_leaves_nothing(tmp_path: Path) -> None:
    scenario = Scenario.read(THREE_PAIRS, ["duration=2 s", "warmup=0 s"])
    for options, problem in [
        ({"pcap": ["a7"]}, 'there is no interface "a7"; did you mean "a1"'),
        ({"pcap": ["a1:defualt"]}, 'did you mean "a1:default"'),
        ({"pcap": ["a1"], "snaplen": 10}, "snaplen: 10; expected 0"),
        ({"trace": True, "node": "a7"}, 'there is no node "a7"'),
        ({"trace": True, "start": "2 s"}, "from 2 s until 2 s has no time in it"),
        ({"node": "a1"}, "expected a trace"),
    ]:
        with pytest.raises(InputError, match=problem):
            airfair.record(scenario, out=tmp_path / "run", capture=Capture(**cast(Any, options)))
    with pytest.raises(InputError, match="captures are files"):
        airfair.record(scenario, capture=Capture(pcap="all"))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_spool: Spool, _node: str, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Spool, "on_capture", full)
    scenario = Scenario.read(THREE_PAIRS, ["duration=10 h"])
    with pytest.raises(OSError, match="No space left"):
        airfair.record(
            scenario, interval="1 h", out=tmp_path / "run", capture=Capture(pcap="all", trace=True)
        )
    assert list(tmp_path.iterdir()) == []


def test_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "run"
    short = ("--set", "duration=500 ms", "--set", "warmup=0 s")
    cut = ("--from", "100 ms", "--until", "200 ms", "--node", "a1")
    done = command(
        "run", THREE_PAIRS, *short, "--out", out, "--pcap", "a1", "--pcap", "b1:default", "--trace", *cut
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((out / "run.json").read_text())["captures"] == {"a1": "a1.pcapng", "b1": "b1.pcapng"}
    frames = pd.read_parquet(out / "frames.parquet")
    assert frames["time_ns"].between(100_000_000, 199_999_999).all()
    assert len(frames) > 50
    told = command("trace", THREE_PAIRS, *short, *cut).stdout
    assert len(frames) == len(told.splitlines()), "a row for each line"
    times = [float(time) for (time,) in tshark(out / "a1.pcapng", "frame.time_epoch")]
    assert len(times) > 20
    assert all(0.1 <= time < 0.2 for time in times)
    for arguments, problem in [
        (("--pcap", "a1"), "--pcap goes with --out"),
        (("--trace",), "--trace goes with --out"),
        (("--out", tmp_path / "x", "--snaplen", "100"), "--snaplen goes with --pcap"),
        (("--out", tmp_path / "x", "--node", "a1"), "--node goes with --trace"),
        (("--out", tmp_path / "x", "--from", "1 s"), "--from goes with --pcap or --trace"),
        (("--out", tmp_path / "x", "--trace", "--from", "1"), "--from: "),
    ]:
        refused = command("run", THREE_PAIRS, *arguments)
        assert refused.returncode == 2
        assert problem in refused.stderr
    assert not (tmp_path / "x").exists()


CHAIN = """
name = "chain"
duration = "40 s"
[radio]
data_rate = "2 Mbit/s"
propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }
[nodes]
kind = "chain"
count = 4
spacing = "200 m"
"""

AODV = f"""{CHAIN}
[routing]
protocol = "aodv"
[[node]]
id = "away"
position = ["2 km", "2 km"]
[[flow]]
id = "f"
from = "0"
to = "3"
traffic = {{ kind = "constant", rate = "40 kbit/s" }}
[[flow]]
id = "lost"
from = "1"
to = "away"
start = "15 s"
start_jitter = "0 s"
traffic = {{ kind = "constant", rate = "10 kbit/s" }}
"""


def test_aodv_as_wireshark_reads_it(tmp_path: Path) -> None:
    """By hand: 0 looks for 3 (10.0.0.4) with 1 hop, then with 3; 3 answers over 2 and 1."""
    whole = Capture(pcap="all", snaplen=0, trace=True)
    recording = airfair.record(
        Scenario.parse(AODV, overrides=["duration=20 s"]), out=tmp_path / "run", capture=whole
    )
    for node in ("0", "1", "2", "3"):
        check_whole(recording.captures[node], "udp")
        check_sent(recording, node)
    fields = ("ip.src", "ip.dst", "ip.ttl", "udp.srcport", "udp.dstport", "aodv.type", "aodv.hopcount")
    more = ("aodv.dest_ip", "aodv.orig_ip", "wlan.ra")
    early = f"{SENT} && aodv && frame.time_relative < 10"
    all_of_them = "ff:ff:ff:ff:ff:ff"

    def request(node: int, ttl: int) -> tuple[str, ...]:
        ends = (f"10.0.0.{node + 1}", "255.255.255.255", str(ttl), "654", "654", "1", str(node))
        return (*ends, "10.0.0.4", "10.0.0.1", all_of_them)

    def reply(node: int) -> tuple[str, ...]:
        ends = (f"10.0.0.{node + 1}", f"10.0.0.{node}", "35", "654", "654", "2", str(3 - node))
        return (*ends, "10.0.0.4", "10.0.0.1", f"02:00:00:00:00:0{node}")

    sent = {node: tshark(recording.captures[str(node)], *fields, *more, only=early) for node in (0, 1, 2, 3)}
    assert sent == {
        0: [request(0, 1), request(0, 3)],
        1: [request(1, 2), reply(1)],
        2: [request(2, 1), reply(2)],
        3: [reply(3)],
    }
    # Broadcasts at the basic rate, without RTS and without an answer; what the run counts is what is there.
    rates = tshark(
        recording.captures["0"], "wlan_radio.data_rate", only=f"{early} && wlan.ra == {all_of_them}"
    )
    assert set(rates) == {("1",)}
    for number, file in ((node, recording.captures[str(node)]) for node in sent):
        rows = tshark(file, "aodv.type", only=f"{SENT} && aodv && wlan.fc.retry == 0")
        routing = station(recording.result, str(number))["routing"]
        counted = {"1": routing["rreq"], "2": routing["rrep"], "3": routing["rerr"]}
        assert Counter(row[0] for row in rows) == {kind: n for kind, n in counted.items() if n}
    # 1 looks for the node that nobody reaches with 1, 3, 5, 7 hops, and everywhere after 1.92 and 4.72 s.
    own = f"{SENT} && aodv.orig_ip == 10.0.0.2 && aodv.type == 1"
    away = tshark(recording.captures["1"], "ip.ttl", only=own)
    assert away == [("1",), ("3",), ("5",), ("7",), ("35",), ("35",)]
    assert recording.result["ends"]["awaiting_route"] > 0


OLSR = f"""{CHAIN}
[routing]
protocol = "olsr"
[olsr]
metric = "METRIC"
[[flow]]
id = "f"
from = "0"
to = "3"
start = "35 s"
traffic = {{ kind = "constant", rate = "40 kbit/s" }}
"""


DSDV = """
name = "dsdv"
duration = "20 s"

[radio]
standard = "802.11b"
propagation = { model = "two-ray", range = "250 m" }

[nodes]
kind = "chain"
count = 3
spacing = "200 m"

[routing]
protocol = "dsdv"

[dsdv]
period_jitter = "0 s"

[[flow]]
id = "f"
from = "0"
to = "2"
traffic = { kind = "constant", rate = "2 kbit/s", packet = "100 B" }
"""


def test_dsdv_as_bytes(tmp_path: Path) -> None:
    """By hand: the second full dump of an end of the chain has its own number 4, and all three destinations.

    Each entry is an address, hops from the receiver and a number; the sender's own comes first."""
    whole = Capture(pcap="all", snaplen=0, trace=True)
    recording = airfair.record(Scenario.parse(DSDV), out=tmp_path / "run", capture=whole)
    for number in range(3):
        file = recording.captures[str(number)]
        check_whole(file, "udp")
        check_sent(recording, str(number))
        fields = (
            "ip.src",
            "ip.dst",
            "ip.ttl",
            "udp.srcport",
            "udp.dstport",
            "wlan.ra",
            "wlan_radio.data_rate",
        )
        sent = f"{SENT} && udp.port == 269"
        ends = (f"10.0.0.{number + 1}", "255.255.255.255", "1", "269", "269", "ff:ff:ff:ff:ff:ff", "1")
        routing = station(recording.result, str(number))["routing"]
        assert tshark(file, *fields, only=sent) == [ends] * routing["datagrams"]
        assert routing["datagrams"] == routing["full"] + routing["incremental"]
        lengths = tshark(file, "ip.len", only=sent)
        assert sum(int(length) for (length,) in lengths) == routing["ip_bytes"]
    late = f"{SENT} && udp.port == 269 && udp.length == {8 + 36} && frame.time_relative > 10"
    payloads = tshark(recording.captures["0"], "udp.payload", only=late)
    entries = [bytes.fromhex(payload.replace(":", "")) for (payload,) in payloads]
    full = next(entry for entry in entries if entry[:12] == bytes([10, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4]))
    about = [(full[i + 3], int.from_bytes(full[i + 4 : i + 8]), full[i + 11] % 2) for i in (0, 12, 24)]
    assert about == [(1, 1, 0), (2, 2, 0), (3, 3, 0)]


@pytest.mark.parametrize("text", [AODV, DSDV, OLSR.replace("METRIC", "etx"), OLSR.replace("METRIC", "hops")])
def test_routing_messages_have_names(text: str, tmp_path: Path) -> None:
    """The table of frames has as many messages of each kind as the nodes have counted; the trace has too."""
    scenario = Scenario.parse(text)
    recording = airfair.record(scenario, out=tmp_path / "run", capture=Capture(trace=True))
    frames = recording.pandas("frames")
    sent = frames[(frames["event"] == "sent") & (frames["retry"] == 0)].astype({"content": str})
    sent = sent[sent["content"].str.match("aodv|dsdv|olsr")]
    datagrams = 0
    for of_node in recording.result["stations"]:
        routing = of_node["routing"]
        contents = Counter(sent[sent["node"] == of_node["node"]]["content"])
        datagrams += contents.total()
        messages: Counter[str] = Counter()
        for content, count in contents.items():
            for name in content.partition("-")[2].split("+"):
                messages[name] += count
        for name in ("rreq", "rrep", "rerr", "hello"):
            assert messages[name] == routing.get(name, 0), name
        if "full" in routing:
            assert messages == {"update": routing["full"] + routing["incremental"]}
        if "tc" in routing:
            # Several that are forwarded may be in one datagram.
            assert bool(messages["tc"]) == bool(routing["tc"] + routing["forwarded"])
            assert messages["tc"] <= routing["tc"] + routing["forwarded"]
            assert contents.total() == routing["datagrams"]
    assert datagrams >= 19
    lines = [line for line in airfair.trace(scenario) if " sends " in line and " again" not in line]
    named = Counter(
        m.group(1) for line in lines if (m := re.search(r"#\d+ \(((?:AODV|DSDV|OLSR) \S+)\) to ", line))
    )
    assert named == Counter(content.replace("-", " ", 1).upper() for content in sent["content"])
    assert "packet" not in set(frames[frames["kind"] == "BROADCAST"]["content"])


@pytest.mark.parametrize(("metric", "hello", "tc"), [("hops", "1", "2"), ("etx", "201", "202")])
def test_olsr_as_wireshark_reads_it(tmp_path: Path, metric: str, hello: str, tc: str) -> None:
    """By hand: HELLO is valid for 6 s, TC for 15 s; 1 and 2 are relays, and forward each other's TCs."""
    whole = Capture(pcap="all", snaplen=0, trace=True)
    scenario = Scenario.parse(OLSR.replace("METRIC", metric))
    recording = airfair.record(scenario, out=tmp_path / "run", capture=whole)
    messages: dict[str, Counter[str]] = {}
    for number in range(4):
        file = recording.captures[str(number)]
        check_whole(file, "udp")
        check_sent(recording, str(number))
        assert tshark(file, "frame.number", only="olsr.data.misaligned || olsr.not_enough_bytes") == []
        fields = (
            "ip.src",
            "ip.dst",
            "ip.ttl",
            "udp.srcport",
            "udp.dstport",
            "wlan.ra",
            "wlan_radio.data_rate",
        )
        packets = tshark(file, *fields, only=f"{SENT} && olsr")
        ends = (f"10.0.0.{number + 1}", "255.255.255.255", "1", "698", "698", "ff:ff:ff:ff:ff:ff", "1")
        routing = station(recording.result, str(number))["routing"]
        assert packets == [ends] * routing["datagrams"]
        kinds = tshark(file, "olsr.message_type", only=f"{SENT} && olsr")
        messages[str(number)] = Counter(kind for (row,) in kinds for kind in row.split(","))
        sent = {hello: routing["hello"], tc: routing["tc"] + routing["forwarded"]}
        assert messages[str(number)] == {kind: n for kind, n in sent.items() if n}
        lengths = tshark(file, "ip.len", only=f"{SENT} && olsr")
        assert sum(int(length) for (length,) in lengths) == routing["ip_bytes"]
    # Near the end, one message to a packet: what 1 states about 0, 2 and its interval.
    about = (
        "olsr.neighbor_addr",
        "olsr.vtime",
        "olsr.htime",
        "olsr.willingness",
        "olsr.ttl",
        "olsr.hop_count",
    )
    only = (
        f"{SENT} && olsr.message_type == {hello} && !(olsr.message_type == {tc}) && frame.time_relative > 25"
    )
    assert set(tshark(recording.captures["1"], *about, only=only)) == {
        ("10.0.0.1,10.0.0.3", "6", "2", "3", "1", "0")
    }
    if metric == "etx":
        rates = tshark(recording.captures["1"], "olsr.lq", "olsr.nlq", only=only)
        assert set(rates) == {("255,255", "255,255")}
    # TCs of 1 (10.0.0.2), its own and as 2 forwards them.
    about_tc = ("olsr.origin_addr", "olsr.vtime", "olsr.ttl", "olsr.hop_count")
    tcs = f"{SENT} && olsr.message_type == {tc} && !(olsr.message_type == {hello})"
    only = f"{tcs} && olsr.origin_addr == 10.0.0.2"
    single = [row for row in tshark(recording.captures["1"], *about_tc, only=only) if "," not in row[0]]
    assert set(single) == {("10.0.0.2", "15", "255", "0")}
    single = [row for row in tshark(recording.captures["2"], *about_tc, only=only) if "," not in row[0]]
    assert set(single) == {("10.0.0.2", "15", "254", "1")}
    assert recording.result["flows"][0]["hops"] == 3

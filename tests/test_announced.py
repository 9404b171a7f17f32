"""Queue sizes that packets announce (DiffQ): in captures, tables, traces, explanations and plots."""

from __future__ import annotations

import copy
import io
import re
import subprocess
from collections import Counter
from pathlib import Path

import airfair
import numpy as np
import pyarrow.parquet as pq
import pytest
from airfair import Capture, InputError, Recording, Scenario, plots
from airfair.capture import ANNOUNCED, SCHEMA
from airfair.explaining import show
from airfair.explaining.advice import advice
from airfair.explaining.result import Explanation, Hop
from airfair.explaining.words import at_levels, reasons
from rich.console import Console

from tests.support import SCENARIOS, THREE_PAIRS
from tests.support import airfair as command

TEXT = """
name = "crossing"
duration = "16 s"
warmup = "0 s"
flow = [
  { id = "1", from = "A", to = "D", transport = "tcp-newreno", traffic = { kind = "ftp" } },
  { id = "2", from = "E", to = "F", start = "4 s", transport = "tcp-newreno", traffic = { kind = "ftp" } },
  { id = "3", from = "G", to = "H", start = "8 s", transport = "tcp-newreno", traffic = { kind = "ftp" } },
]
node = [
  { id = "A", position = ["0 m", "0 m"] },
  { id = "B", position = ["16 m", "0 m"] },
  { id = "C", position = ["32 m", "0 m"] },
  { id = "D", position = ["48 m", "0 m"] },
  { id = "E", position = ["16 m", "22 m"] },
  { id = "F", position = ["16 m", "36 m"] },
  { id = "G", position = ["16 m", "-22 m"] },
  { id = "H", position = ["16 m", "-36 m"] },
]
[radio]
standard = "802.11b"
data_rate = "11 Mbit/s"
categories = "diffq"
tx_power = "19 dBm"
error_model = "per-chunk"
preamble_detect = "-96 dBm"
propagation = { model = "log-distance", exponent = 3.0, reference_loss = "68 dB" }
[routing]
metric = "etx"
"""
"""A path of three hops between two of one, after figure 2 of the paper: A, B and C sense E and G, which
do not sense each other."""

CHAIN = SCENARIOS / "chain.toml"

DOCS = SCENARIOS.parent / "docs"

SHORT = ["duration=100 ms", "warmup=0 s"]

OVERHEAD = 8 + 26 + 4
"""Bytes of LLC, of the MAC's header with QoS Control, and of the FCS."""


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Scenario.parse(TEXT, "crossing")


@pytest.fixture(scope="module")
def recorded(scenario: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    out = tmp_path_factory.mktemp("announced") / "run"
    airfair.record(scenario, scheme="diffq:paper", capture=Capture(trace=True, pcap="B", snaplen=0), out=out)
    return Recording.load(out)


@pytest.fixture(scope="module")
def told(scenario: Scenario) -> Explanation:
    return airfair.explain(scenario, scheme="diffq:paper", flow="1")


def test_frames_have_the_announced_queue(recorded: Recording, tmp_path: Path) -> None:
    names = recorded.arrow("frames").column_names
    assert names == [*SCHEMA.names, "category", *ANNOUNCED.names]
    frames = recorded.pandas("frames")
    sent = frames[(frames["event"] == "sent") & (frames["kind"] == "DATA") & frames["flow"].notna()]
    ends = {"1": {"A", "D"}, "2": {"E", "F"}, "3": {"G", "H"}}
    assert len(sent) > 5000
    assert sent["announced_packets"].between(0, 100).all()
    assert all(to in ends[flow] for flow, to in zip(sent["flow"], sent["announced_for"], strict=True))
    others = frames[frames["kind"] != "DATA"]
    assert others["announced_packets"].isna().all()
    # No such column where nothing announces a queue, with rows or without.
    scenario = Scenario.read(THREE_PAIRS, SHORT)
    plain = airfair.record(scenario, capture=Capture(trace=True), out=tmp_path / "plain")
    assert plain.arrow("frames").column_names == SCHEMA.names
    late = Capture(trace=True, start="8.999999999 s", node="A")
    empty = airfair.record(Scenario.parse(TEXT, "x", ["duration=9 s"]), scheme="diffq:paper", capture=late)
    assert not empty.arrow("frames").num_rows
    assert empty.arrow("frames").column_names == names


def test_wireshark_sees_ip_around_all_of_it(recorded: Recording) -> None:
    fields = ("-e", "ip.proto", "-e", "ip.len", "-e", "data.data", "-e", "wlan.fc.retry", "-e", "wlan.seq")
    only = "frame.packet_flags_direction == 2 && ip && !_ws.malformed"
    file = str(recorded.captures["B"])
    options = ("-o", "ip.check_checksum:TRUE", "-T", "fields", "-E", "separator=/t")
    done = subprocess.run(
        ["tshark", "-n", "-r", file, *options, "-Y", only, *fields],
        capture_output=True,
        text=True,
        check=True,
    )
    frames = recorded.pandas("frames")
    ours = frames[(frames["event"] == "sent") & (frames["node"] == "B") & frames["announced_packets"].notna()]
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(rows) == len(ours) > 1000
    for (proto, length, data, *_), announced, size in zip(
        rows, ours["announced_packets"], ours["bytes"], strict=True
    ):
        trailer = bytes.fromhex(data.replace(":", ""))[-16:]
        # Data or an acknowledgement, at the second writer or the third.
        assert (proto, trailer[0]) in {("254", 0x11), ("254", 0x12)}
        assert trailer[1] in (2, 3)
        assert int.from_bytes(trailer[2:4], "big") == announced
        assert int(length) + OVERHEAD == size


def test_wireshark_sees_the_trailer_by_a_script(recorded: Recording, tmp_path: Path) -> None:
    """TCP before it is whole, with its checksum; a packet that was cut shows TCP, and no trailer."""
    script = f"lua_script:{DOCS / 'how-to' / 'diffq.lua'}"
    fields = ("tcp.srcport", "tcp.checksum.status", "diffq.type", "diffq.queue", "diffq.written")

    def seen(file: Path) -> list[tuple[str, ...]]:
        command = ["tshark", "-n", "-X", script, "-o", "tcp.check_checksum:TRUE", "-r", str(file)]
        only = "frame.packet_flags_direction == 2 && ip"
        command += ["-T", "fields", "-Y", f"{only} && !_ws.malformed"]
        command += [part for field in fields for part in ("-e", field)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]

    frames = recorded.pandas("frames")
    ours = frames[(frames["event"] == "sent") & (frames["node"] == "B") & frames["announced_packets"].notna()]
    rows = seen(recorded.captures["B"])
    assert len(rows) == len(ours)
    sizes = ours["announced_packets"]
    for (port, checksum, kind, queue, written), announced in zip(rows, sizes, strict=True):
        assert port == "9" or int(port) >= 49152
        assert (checksum, kind in "12", int(queue), written in "23") == ("1", True, announced, True)
    short = Scenario.parse(TEXT, "crossing", ["duration=1 s"])
    cut = airfair.record(short, scheme="diffq:paper", capture=Capture(pcap="B"), out=tmp_path / "cut")
    kinds = Counter((port == "9", kind) for port, _, kind, *_ in seen(cut.captures["B"]))
    assert kinds[False, ""] > 10 < kinds[True, "2"]


def test_the_trace_tells_the_queue(scenario: Scenario, recorded: Recording) -> None:
    frames = recorded.pandas("frames")
    announced = frames[frames["event"] == "sent"].set_index("frame")["announced_packets"]
    pattern = re.compile(
        r"(\w) +sends DATA #(\d+)( again)? in (\d) \(queue (\d+) of (\w)\) to (\w): \d+ B at"
    )
    found = 0
    for line in airfair.trace(scenario, scheme="diffq:paper", start="5 s", until="5.5 s"):
        match = pattern.search(line)
        assert bool(match) == (" sends DATA " in line)
        if match is not None:
            assert announced[int(match[2])] == int(match[5])
            found += 1
    assert found > 200


def test_recordings_have_the_values_of_queues(recorded: Recording) -> None:
    gauges = recorded.pandas("queue_gauges")
    assert list(gauges)[:3] == ["end_s", "node", "towards"]
    assert set(gauges["node"]) == set("ABCDEFGH")
    last = gauges[gauges["end_s"] == 16].set_index("node")["differential"].to_dict()
    assert last["A"] > last["C"]
    assert gauges["level"].between(0, 7).sum() > 100
    first = gauges[(gauges["end_s"] == 1) & (gauges["node"] == "G")]
    assert first["differential"].isna().all()
    assert "queue_gauges" not in airfair.record(Scenario.read(THREE_PAIRS, SHORT)).tables


def test_the_hop_of_the_largest_differential_is_named(told: Explanation) -> None:
    ahead = [hop for hop in told["hops"] if hop["forward"]]
    means = [hop["differential"]["mean_packets"] for hop in ahead]
    assert means == sorted(means, reverse=True)
    assert means[0] > means[1] + 5
    for hop in told["hops"]:
        differential = hop["differential"]
        levels = differential["levels"]
        assert 0 <= differential["packets"] - sum(level["packets"] for level in levels) <= 1
        names = [int(level["level"] or 0) for level in levels]
        assert names == sorted(names, reverse=True)
        busy = sum(level["higher_ns"] + level["others_ns"] for level in levels)
        assert 0 < busy <= hop["own_turn_ns"]["busy"]
    (text,) = [reason for reason in told["reasons"] if "differential" in reason]
    assert re.match(
        r"Its packets leave A \(to B\) with a queue \d+ packets longer than at B on average, the largest "
        r"differential of its path; \d+ % at level \d",
        text,
    )
    out = io.StringIO()
    show.show(told, Console(file=out, width=200))
    (title,) = re.findall(r"Queue differentials.*\n.*", out.getvalue())
    assert "frames of higher levels" in title
    packets = ahead[0]["differential"]["packets"]
    assert re.search(rf"^A → B +{packets} +{means[0]:.1f} ", out.getvalue(), re.M)


def test_words_on_levels(told: Explanation) -> None:
    def hop(mean: float, *levels: tuple[str | None, int, int]) -> Hop:
        found = next(hop for hop in told["hops"] if hop["forward"])
        of = [{"level": name, "packets": n, "higher_ns": ns, "others_ns": 0} for name, n, ns in levels]
        differential = {"packets": sum(n for _, n, _ in levels), "mean_packets": mean, "levels": of}
        return {**found, "src": "x", "dst": "y", "observed_ns": 100, "differential": differential}  # type: ignore[typeddict-item]

    def said(*hops: Hop) -> str:
        bare: Explanation = {**told, "hops": list(hops)}
        return next(reason for reason in reasons(bare) if "differential" in reason or "longer" in reason)

    low = hop(0.4, ("1", 30, 0), ("0", 70, 40))
    assert said(low) == (
        "Its packets leave x (to y) with a queue 0.4 packets longer than at y on average; 70 % at level 0 "
        "and 30 % at level 1; 40 % of the time one waits at level 0 while others send at higher levels."
    )
    one = hop(12.0, (None, 5, 0))
    assert at_levels(one) == ""
    assert said(low, one) == (
        "Its packets leave x (to y) with a queue 12 packets longer than at y on average, the largest "
        "differential of its path."
    )


def test_advice_is_diffqs_own(told: Explanation) -> None:
    """B sends acknowledgements before the data: no other queue is advised, and the advice helps."""
    (acks,) = [text for text in told["advice"] if "acknowledgements" in text]
    words, highest, fewer = acks.split("\n")
    assert words.startswith("Its packets wait at B behind its own acknowledgements: let these leave first")
    assert (highest, fewer) == (
        "--set 'schemes.diffq.acks=\"highest\"'",
        "--set 'tcp.window_limit=\"4 segments\"'",
    )
    assert not any("fq-codel" in text or "dscp" in text for text in told["advice"])
    better = airfair.run(Scenario.parse(TEXT, "crossing", [highest[7:-1]]), scheme="diffq:paper")
    assert better["flows"][0]["goodput_bps"] > 1.1 * told["goodput_bps"]
    # The flow's rate is the scheme's, whose pacing is no choice of TCP.
    assert any("it sends at the rate that diffq:paper sets" in text for text in told["reasons"])


def test_what_a_queue_holds_back_is_no_back_off(told: Explanation) -> None:
    """The wait for a shorter queue at the next hop has its own share, reason and colour."""
    changes = ['radio.categories="diffq"', 'schemes.diffq.serve="positive"', "schemes.diffq.threshold=5"]
    held = airfair.explain(CHAIN, scheme="diffq:paper", overrides=changes)
    first = held["hops"][0]
    assert first["own_turn_ns"]["address"] == 0
    waits = first["own_turn_ns"]["held"] / first["observed_ns"]
    assert waits > 0.2
    (text,) = [reason for reason in held["reasons"] if "holds its packets back" in reason]
    assert re.match(r"\d+ % of the time the queue of \w+ holds its packets back, as that of \w+ is as", text)
    out = io.StringIO()
    show.show(held, Console(file=out, width=200), everything=True)
    (head,) = re.findall(r"^hop +with packets.*", out.getvalue(), re.M)
    row = next(line for line in out.getvalue().splitlines() if line.startswith(f"{first['src']} → "))
    cells = dict(zip(re.split(r"  +", head), re.split(r"  +", row), strict=True))
    assert cells["held back"] == f"{100 * waits:.0f} %"
    legend = airfair.explanation_figure(held).get_axes()[0].get_legend()
    names = [text.get_text() for text in legend.get_texts()] if legend is not None else []
    assert "held back by its queue" in names
    assert "waits for ARP" not in names
    # Few packets are under way then: a window is no advice.
    held_too = copy.deepcopy(told)
    held_too["hops"][0]["own_turn_ns"]["held"] = told["hops"][0]["observed_ns"] // 4
    assert not any("window_limit" in text for text in advice(held_too))
    plain = airfair.explain(THREE_PAIRS, flow="middle", overrides=SHORT)
    assert all("held" not in hop["own_turn_ns"] for hop in plain["hops"])


def test_no_advice_that_the_defaults_have_already() -> None:
    """DiffQ's queues wait by default, and its source's threshold is 0."""
    chain = airfair.explain(CHAIN, scheme="diffq")
    assert any(drop["reason"] == "queue-full" for drop in chain["drops"])
    assert not any("serve" in text or "threshold" in text for text in chain["advice"])


def test_advice_at_full_queues_of_diffq() -> None:
    """Over UDP, which TCP's window does not limit, a relay's queue is full: its own scheme mends that."""
    changes = ['radio.categories="diffq"']
    chain = airfair.explain(CHAIN, scheme="diffq:paper", overrides=changes)
    assert any(drop["reason"] == "queue-full" for drop in chain["drops"])
    assert [text.split("\n")[1:] for text in chain["advice"]] == [
        ["--set 'schemes.diffq.serve=\"positive\"'"],
        ["--set schemes.diffq.threshold=5", "--set 'schemes.diffq.serve=\"positive\"'"],
    ]
    changes += ['schemes.diffq.serve="positive"', "schemes.diffq.threshold=5"]
    better = airfair.explain(CHAIN, scheme="diffq:paper", overrides=changes)
    assert not any(drop["reason"] == "queue-full" for drop in better["drops"])
    assert (better["p99_delay_s"] or 9) < 0.2 * (chain["p99_delay_s"] or 0)
    # Only the scheme that takes turns has no queue that waits.
    turns = airfair.explain(CHAIN, scheme="diffq-rc", overrides=changes[:1])
    assert not any("serve" in text or "fq-codel" in text for text in turns["advice"])


def test_a_plain_flow_has_no_differentials() -> None:
    """Beside DiffQ its packets pass the same queues: they are not compared, and no other queue is advised."""
    plain = Scenario.parse(
        TEXT, "x", ["duration=6 s", 'flow.1.transport="tcp-newreno"', 'flow.1.scheme="newreno"']
    )
    told = airfair.explain(plain, scheme="diffq:paper", flow="1")
    assert "differentials" not in told["timeline"]
    assert all(hop["queue"].get("labelled_by") == "diffq:paper" for hop in told["hops"])
    assert not any("fq-codel" in text or "diffq" in text for text in told["advice"])
    out = io.StringIO()
    show.show(told, Console(file=out, width=200))
    assert "No packet of it left a queue that compares itself" in out.getvalue()
    texts = [text.get_text() for axes in airfair.explanation_figure(told).axes for text in axes.texts]
    assert "No packet of it left a queue that compares itself with that of the next hop" in texts


def test_differentials_over_time_are_explained(told: Explanation) -> None:
    line = told["timeline"]
    assert [of["hop"] for of in line["differentials"]] == [0, 1, 2]
    for of in line["differentials"]:
        assert len(of["mean_packets"]) == len(line["end_s"])
        means = np.array([m for m in of["mean_packets"] if m is not None])
        assert (
            means.min() - 0.01
            <= told["hops"][of["hop"]]["differential"]["mean_packets"]
            <= means.max() + 0.01
        )
    later = airfair.explain(Scenario.parse(TEXT, "x", ["warmup=8 s"]), scheme="diffq:paper", flow="1")[
        "timeline"
    ]
    in_warmup = sum(end <= 8 for end in later["end_s"])
    for of in later["differentials"]:
        assert set(of["mean_packets"][:in_warmup]) == {None}
    figure = airfair.explanation_figure(told)
    (axes,) = [axes for axes in figure.axes if axes.get_title(loc="left").startswith("Queue differentials")]
    assert axes.get_legend_handles_labels()[1] == ["A → B", "B → C", "C → D"]
    without = airfair.explain(THREE_PAIRS, overrides=SHORT)
    titles = [axes.get_title(loc="left") for axes in airfair.explanation_figure(without).axes]
    assert len(titles) == len(figure.axes) - 1
    assert "differentials" not in without["timeline"]


def test_differentials_are_drawn(recorded: Recording, tmp_path: Path) -> None:
    figure = plots.differentials(recorded, "1")
    axes = figure.axes[0]
    named = {str(line.get_label()): np.asarray(line.get_ydata()) for line in axes.get_lines()}
    hops = ["A → B", "B → C", "C → D"]
    assert [name for name in named if "→" in name] == hops
    assert all(len(named[hop]) == 16 for hop in hops)
    # By hand: what B announced for D, a size from one frame to the next.
    frames = recorded.pandas("frames")
    sent = frames[(frames["event"] == "sent") & (frames["announced_for"] == "D")]
    sizes = {}
    for node in "ABC":
        of = sent[sent["from"] == node]
        at = np.searchsorted(of["time_ns"], np.arange(10_000_000_000, 11_000_000_000, 100_000), "right") - 1
        sizes[node] = of["announced_packets"].to_numpy(float)[at].mean()
    expected = [sizes["A"] - sizes["B"], sizes["B"] - sizes["C"], sizes["C"]]
    assert [named[hop][10] for hop in hops] == pytest.approx(expected, abs=0.1)
    least = min(recorded.result["flows"], key=lambda flow: flow["goodput_bps"])["id"]
    title = plots.differentials(recorded).axes[0].get_title(loc="left")
    assert title == f"crossing, diffq:paper, seed 1: flow {least}"
    file = next(iter(recorded.captures.values())).parent
    done = command("plot", file, "--kind", "differentials", "--flow", "2", "-o", tmp_path / "d.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert "E → F" in (tmp_path / "d.svg").read_text()


def test_what_has_no_differentials_is_said(recorded: Recording, scenario: Scenario) -> None:
    plain = airfair.record(Scenario.read(THREE_PAIRS, SHORT), capture=Capture(trace=True))
    with pytest.raises(InputError, match="no frame announces a queue; expected a run with a scheme such as"):
        plots.differentials(plain)
    with pytest.raises(InputError, match='there is no table "frames"'):
        plots.differentials(airfair.record(Scenario.read(THREE_PAIRS, SHORT)))
    with pytest.raises(InputError, match='flow: there is no "4"'):
        plots.differentials(recorded, "4")
    early = airfair.record(
        Scenario.parse(TEXT, "x", ["duration=9 s"]),
        scheme="diffq:paper",
        capture=Capture(trace=True, until="7 s"),
    )
    near = airfair.record(scenario, scheme="diffq:paper", capture=Capture(trace=True, node="A"))
    with pytest.raises(InputError, match='no hop of flow "1" has frames of both of its nodes'):
        plots.differentials(near, "1")
    with pytest.raises(InputError, match='no frame with a packet of flow "3" announces a queue'):
        plots.differentials(early, "3")


@pytest.mark.parametrize(("scheme", "there"), [("diffq", False), ("droptail", True)])
def test_one_queue_has_no_wait_of_a_category(scheme: str, *, there: bool, tmp_path: Path) -> None:
    """With DiffQ one queue serves all categories; with other schemes each has its own."""
    (tmp_path / "x.toml").write_text(TEXT)
    changes = ("--scheme", scheme, "--set", "duration=9 s")
    printed = command("run", tmp_path / "x.toml", *changes).stdout
    assert "Access categories in the whole run\nnode  category  frames" in printed
    assert ("mean wait" in printed) == there
    report = tmp_path / "x.html"
    compared = ("--schemes", scheme, "--seeds", "1", "--set", "duration=9 s", "--report", str(report))
    assert command("compare", tmp_path / "x.toml", *compared).returncode == 0
    assert ('<th scope="col">mean wait</th>' in report.read_text()) == there


def test_folders_of_recordings_are_whole(recorded: Recording, tmp_path: Path) -> None:
    saved = recorded.save(tmp_path / "copy")
    assert pq.read_table(saved / "queue_gauges.parquet").num_rows == 8 * 16
    assert Recording.load(saved).pandas("queue_gauges").equals(recorded.pandas("queue_gauges"))

"""The command line's contract: exit status, what is printed where, the keys and types of the JSON."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from airfair import Scenario, _core, run

from tests.support import ROOT, SCENARIOS, SHORT, THREE_PAIRS, airfair, json_of, usual_signals

NUMBER = (int, float)
OPTIONAL = (int, float, type(None))
RUN_KEYS: dict[str, Any] = {
    "scenario": str,
    "scheme": str,
    "seed": int,
    "version": str,
    "duration_s": float,
    "warmup_s": float,
    "flows": list,
    "jain_index": float,
    "log_utility": float,
    "aggregate_goodput_bps": float,
    "min_goodput_bps": float,
    "starved_flows": int,
    "flows_below_1kbps": int,
    "mean_delay_s": float,
    "p99_delay_s": float,
    "rtt_s": float,
    "retransmissions": int,
    "loss_ratio": float,
    "completion_s": type(None),
    "drops": dict,
    "channel_utilisation": dict,
    "warnings": list,
    "ends": dict,
    "marks": dict,
    "queues": list,
    "stations": list,
    "perf": dict,
}
FLOW_KEYS: dict[str, Any] = {
    "id": str,
    "src": str,
    "dst": str,
    "goodput_bps": float,
    "delivered_bytes": int,
    "sent_packets": int,
    "retransmissions": int,
    "fallbacks": int,
    "mean_delay_s": (float, type(None)),
    "p99_delay_s": (float, type(None)),
    "completion_s": (float, type(None)),
    "hops": (int, type(None)),
    "delivered_packets": int,
    "dropped_packets": int,
    "loss_ratio": (float, type(None)),
    "rtt_s": (float, type(None)),
    "offered_bytes": (int, type(None)),
}
PERF_KEYS: dict[str, Any] = {"events": int, "transmissions": int, "wall_s": float, "peak_rss_bytes": int}
ESTIMATES = (
    *("jain_index", "log_utility", "aggregate_goodput_bps", "min_goodput_bps", "starved_flows"),
    *("mean_delay_s", "p99_delay_s", "rtt_s", "retransmissions", "loss_ratio"),
)


def has_types(value: dict[str, Any], types: dict[str, Any]) -> None:
    """The keys, in this order, each with its type."""
    assert list(value) == list(types)
    for key, expected in types.items():
        assert isinstance(value[key], expected), key


def test_run_prints_the_contract() -> None:
    result = json_of("run", THREE_PAIRS, *SHORT)
    has_types(result, RUN_KEYS)
    assert (result["scenario"], result["scheme"], result["seed"]) == ("three-pairs", "droptail", 1)
    assert (result["duration_s"], result["warmup_s"]) == (2.0, 0.2)
    assert [flow["id"] for flow in result["flows"]] == ["left", "middle", "right"]
    for flow in result["flows"]:
        has_types(flow, FLOW_KEYS)
    has_types(result["perf"], PERF_KEYS)
    assert all(value > 0 for value in result["perf"].values())
    assert set(result["channel_utilisation"]) == {"a1", "a2", "a3", "b1", "b2", "b3"}


def test_the_numbers_of_a_run_fit_together() -> None:
    result = json_of("run", SCENARIOS / "grid-64.toml", "--set", "duration=5 s")
    ends = result["ends"]
    inside = ends["queued"] + ends["in_mac"] + ends["on_wire"] + ends["awaiting_arp"]
    assert ends["made"] == ends["delivered"] + sum(ends["dropped"].values()) + inside
    for station in result["stations"]:
        assert sum(station["airtime_ns"].values()) == 5_000_000_000
    assert sum(sum(s["sent"].values()) for s in result["stations"]) == result["perf"]["transmissions"]
    assert result["aggregate_goodput_bps"] == pytest.approx(sum(f["goodput_bps"] for f in result["flows"]))
    for flow in result["flows"]:
        assert flow["goodput_bps"] == pytest.approx(flow["delivered_bytes"] * 8 / 5, rel=0.25), (
            "starts by 0.95 s"
        )


def test_the_middle_pair_starves() -> None:
    left, middle, right = json_of("run", THREE_PAIRS, "--set", "duration=20 s", "--set", "warmup=2 s")[
        "flows"
    ]
    assert middle["goodput_bps"] < 0.2 * min(left["goodput_bps"], right["goodput_bps"])
    assert left["goodput_bps"] == pytest.approx(right["goodput_bps"], rel=0.1), "the scene is symmetric"


def test_compare_prints_the_contract() -> None:
    rows = json_of(
        "compare", THREE_PAIRS, "--schemes", "droptail", "--seeds", "3", "--seed-from", "5", *SHORT
    )
    assert [row["scheme"] for row in rows] == ["droptail"]
    (row,) = rows
    assert (row["runs"], row["seeds"], row["baseline"]) == (3, [5, 6, 7], "droptail")
    for estimates in (row, row["difference"]):
        for key in ESTIMATES:
            assert list(estimates[key]) == ["mean", "ci95"]
            assert all(isinstance(value, NUMBER) for value in estimates[key].values())
    assert all(row["difference"][key] == {"mean": 0.0, "ci95": 0.0} for key in ESTIMATES)
    assert [flow["id"] for flow in row["flows"]] == ["left", "middle", "right"]
    runs = [json_of("run", THREE_PAIRS, "--seed", str(seed), *SHORT) for seed in (5, 6, 7)]
    totals = [run["aggregate_goodput_bps"] for run in runs]
    assert row["aggregate_goodput_bps"]["mean"] == pytest.approx(sum(totals) / 3)


def test_one_seed_has_no_interval() -> None:
    (row,) = json_of("compare", THREE_PAIRS, "--seeds", "1", *SHORT)
    assert row["jain_index"]["ci95"] is None
    done = airfair("compare", THREE_PAIRS, "--seeds", "1", *SHORT)
    assert done.returncode == 0
    assert "±" not in done.stdout.partition("\n")[2]


def test_schemes() -> None:
    listed = json_of("schemes")
    assert "droptail" in [scheme["name"] for scheme in listed]
    for scheme in listed:
        assert list(scheme) == [
            *("name", "about", "source", "places", "params", "presets", "brings"),
            *("wants", "wants_with"),
        ]
        for param in scheme["params"]:
            assert list(param) == ["name", "doc", "role", "kind", "default", "range"]
            assert param["role"] in ("paper", "operator", "reading")
            assert (param["range"] is None) == (param["kind"] in ("flag", "choice"))
    assert "red.max_p = 0.1 (0 to 1)\n" in airfair("schemes", "red", "nred").stdout
    told = airfair("schemes", "nred").stdout
    assert [f"nred.{name} = " in told for name in ("max_p", "ecn", "obey_own")] == [True, True, False]
    assert "18 readings and additions of ours: airfair schemes nred --readings" in told
    apart = airfair("schemes", "nred", "--readings").stdout
    listed_apart = re.findall(r"^  nred\.(\w+) = ", apart, re.MULTILINE)
    assert listed_apart == [
        *("theta", "silence", "recovery", "trial", "enough", "rest", "most_sufferers", "spare", "evenness"),
        *("little", "lasting", "cell", "answered"),
        *("memory", "set_up", "obey_own", "rx_all", "broadcast"),
    ]
    lines = airfair("schemes").stdout.splitlines()
    end = lines.index("")
    assert [line.split()[0] for line in lines[:end]] == [scheme["name"] for scheme in listed]
    assert all(line.endswith(scheme["about"]) for line, scheme in zip(lines, listed, strict=False))
    assert lines[end + 1] == "Parameters, presets, sources and places of one: airfair schemes NAME"
    assert "  NAME[window=4]    segments in flight of a TCP connection, at most" in lines


def test_tables_show_the_numbers_and_keep_progress_to_terminals() -> None:
    done = airfair("compare", THREE_PAIRS, "--schemes", "droptail", "--seeds", "2", *SHORT)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: 2 seeds are too few: ")
    for name in ("droptail", "left", "middle", "right", "Jain's index", "±", "kbit/s"):
        assert name in done.stdout
    done = airfair("run", THREE_PAIRS, *SHORT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "middle" in done.stdout


def test_many_flows_are_cut_to_the_worst(tmp_path: Path) -> None:
    text = (SCENARIOS / "grid-64.toml").read_text()
    extra = '[[flow]]\nid = "good"\nfrom = "0"\nto = "1"\ntraffic = { kind = "saturating" }\n'
    file = tmp_path / "more.toml"
    file.write_text(text + extra)
    done = airfair("run", file, "--set", "duration=3 s")
    assert "the 20 worst of 21 flows" in done.stdout
    assert not re.search(r"^good ", done.stdout, re.MULTILINE)


def test_set_changes_results() -> None:
    plain = json_of("run", THREE_PAIRS, *SHORT)
    faster = json_of("run", THREE_PAIRS, *SHORT, "--set", "radio.data_rate=11 Mbit/s")
    assert faster["aggregate_goodput_bps"] > 1.2 * plain["aggregate_goodput_bps"]
    one = json_of("run", THREE_PAIRS, *SHORT, "--set", "flow.left.tcp.mss=100 B")
    assert one["flows"][0]["goodput_bps"] < plain["flows"][0]["goodput_bps"]


BAD_INPUT = [
    (["run", "nowhere.toml"], "nowhere.toml: cannot be read"),
    (["run", "."], "cannot be read"),
    (["run", THREE_PAIRS, "--set", "radio.datarate=2 Mbit/s"], '"data_rate"'),
    (["run", THREE_PAIRS, "--set", "radio.data_rate=2 Mbps"], "expected a rate"),
    (["run", THREE_PAIRS, "--set", "radio"], "expected path=value"),
    (["run", THREE_PAIRS, "--scheme", "droptial"], 'there is no scheme "droptial"; did you mean "droptail"?'),
    (["run", THREE_PAIRS, "--seed", "-1"], "--seed"),
    (["run", THREE_PAIRS, "--seed", str(2**64)], "--seed"),
    (["run", THREE_PAIRS, "--speed", "2"], "--realtime"),
    (["run", THREE_PAIRS, "--realtime", "--speed", "0"], "speed 0"),
    (["run", THREE_PAIRS, "--realtime", "--speed", "nan"], "speed NaN"),
    (["run", THREE_PAIRS, "--jsn"], "--json"),
    (["run"], "FILE"),
    (["rnu"], "rnu"),
    (["compare", THREE_PAIRS, "--schemes", "droptail,droptial"], 'did you mean "droptail"'),
    (["compare", THREE_PAIRS, "--schemes", "droptail,droptail"], "each scheme once"),
    (["compare", THREE_PAIRS, "--schemes", ""], "no scheme"),
    (["compare", THREE_PAIRS, "--seeds", "0"], "--seeds"),
    (["compare", THREE_PAIRS, "--seeds", "2", "--seed-from", str(2**64 - 1)], "seed: 18446744073709551616"),
    (["compare", THREE_PAIRS, "--jobs", "0"], "--jobs"),
    (["trace", THREE_PAIRS, "--node", "a9"], 'there is no node "a9"; did you mean "a'),
    (["trace", THREE_PAIRS, "--from", "3"], '--from: "3": the unit is missing'),
    (["trace", THREE_PAIRS, "--from", "2 s", "--until", "1 s"], "no time in it"),
    (["trace", THREE_PAIRS, "--from", "2 h"], "no time in it"),
    (["check", "nowhere.toml"], "cannot be read"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD_INPUT, ids=lambda value: " ".join(map(str, value))[-60:]
)
def test_bad_input(arguments: list[str | Path], message: str) -> None:
    done = airfair(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_everything_wrong_with_a_file_is_told_at_once(tmp_path: Path) -> None:
    text = THREE_PAIRS.read_text().replace("queue_packets", "queue_packet").replace('to = "b2"', 'to = "b9"')
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    done = airfair("check", file)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert re.fullmatch(
        rf'{re.escape(str(file))}:\d+: radio.queue_packet: unknown key; did you mean "queue_packets"\?',
        lines[0],
    )
    assert re.match(rf"{re.escape(str(file))}:\d+: flow", lines[1])


def test_output_that_cannot_be_written_is_a_failure() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "airfair", "run", str(THREE_PAIRS), *SHORT, "--json"]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (1, "airfair: standard output: No space left on device\n")


WITHOUT_LIMIT = {"building-46"}
"""Scenarios whose sources may fill the queue of their node, as those of the testbed did: a warning."""


def _other_warnings(name: str, warnings: list[str]) -> list[str]:
    """Warnings of a scenario, but for those of sources that have no limit by intention."""
    return [w for w in warnings if name not in WITHOUT_LIMIT or "may starve flows that" not in w]


def test_check() -> None:
    for file in SCENARIOS.glob("*.toml"):
        done = airfair("check", file)
        warnings = _other_warnings(file.stem, done.stderr.splitlines())
        assert (done.returncode, done.stdout, warnings) == (0, "", []), file


DOUBTFUL = """
name = "doubtful"
duration = "1 s"

[radio]
standard = "802.11g"
propagation = { model = "two-ray", range = "300 m" }

[[node]]
id = "a"
position = ["0 m", "0 m"]

[[node]]
id = "b"
position = ["290 m", "0 m"]

[[node]]
id = "far"
position = ["2 km", "0 m"]

[[flow]]
id = "near"
from = "a"
to = "b"
traffic = { kind = "saturating" }

[[flow]]
id = "lost"
from = "a"
to = "far"
traffic = { kind = "saturating" }
"""


def test_check_warns_of_what_run_warns_of(tmp_path: Path) -> None:
    file = tmp_path / "doubtful.toml"
    file.write_text(DOUBTFUL)
    done = airfair("check", file)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == airfair("run", file).stderr
    assert "warning: flow lost: no route from a to far" in done.stderr
    assert "warning: 54 Mbit/s from a to b arrives with -76.5 dBm and needs -72.1 dBm" in done.stderr
    # Without the range the rate decides, and says the same in another way.
    by_rate = airfair("check", file, "--set", 'radio.propagation={ model = "two-ray" }')
    assert "warning: flow near: no route from a to b" in by_rate.stderr
    ranges = airfair("check", file, "--resolved").stdout
    assert "hop_limit = 64" in ranges
    assert "# data at 54 Mbit/s up to 300.0 m, preambles 300.0 m (preamble_detect)" in ranges


def test_equal_warnings_are_one() -> None:
    """The 19 flows of a building that may fill a queue which carries others, and flows without a route."""
    scenario = Scenario.read(SCENARIOS / "building-46.toml", ["duration=100 ms"])
    (warning,) = scenario.check()
    assert warning.startswith(
        "19 flows may starve flows that their sources forward, such as flow flow-30 at 8:"
    )
    assert "flow-0 (at 8), flow-1 (at 33), flow-3 (at 35)" in warning
    assert warning.count(" (at ") == 19
    assert run(scenario)["warnings"] == [warning]
    more = "".join(
        f'[[flow]]\nid = "lost-{i}"\nfrom = "a"\nto = "far"\ntraffic = {{ kind = "saturating" }}\n'
        for i in range(3)
    )
    lost = Scenario.parse(DOUBTFUL + more, "doubtful").check()
    assert lost[0] == (
        "4 flows have no route: lost (a to far), lost-0 (a to far), lost-1 (a to far), lost-2 (a to far)"
    )
    assert sum("route" in warning for warning in lost) == 1


def test_check_and_run_warn_of_flows_that_do_not_count() -> None:
    """As of one that starts too late, so of one that stops too early: both have no number."""
    for change, told in (
        (
            "flow.left.stop=200 ms",
            'flow "left" stops by the end of the warm-up, 200 ms: what it sends is not counted',
        ),
        ("flow.left.start=3 s", 'flow "left" starts after the end of the run'),
    ):
        for verb in ("check", "run"):
            done = airfair(verb, THREE_PAIRS, *SHORT, "--set", change)
            assert (done.returncode, done.stderr) == (0, f"warning: {told}\n")
    assert airfair("check", THREE_PAIRS, *SHORT, "--set", "flow.left.stop=201 ms").stderr == ""


def test_check_and_run_warn_of_a_route_that_packets_do_not_outlive(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    nodes = "".join(f'[[node]]\nid = "n{i}"\nradios = []\n' for i in range(67))
    links = "".join(
        f'[[link]]\nends = ["n{i}", "n{i + 1}"]\nrate = "10 Mbit/s"\ndelay = "1 us"\n' for i in range(66)
    )
    flows = "".join(
        f'[[flow]]\nid = "to-{to}"\nfrom = "n0"\nto = "n{to}"\nstop = "800 ms"\n'
        'traffic = { kind = "constant", rate = "80 kbit/s", packet = "1000 B" }\n'
        for to in (64, 66)
    )
    file.write_text(f'name = "long"\nduration = "1 s"\n{nodes}{links}{flows}')
    done = airfair("check", file)
    assert done.returncode == 0
    assert done.stderr == (
        "warning: flow to-66: no packet is delivered: the route from n0 to n66 has 66 hops, and the hop "
        "limit is 64; expected a greater routing.hop_limit\n"
    )
    result = json.loads(airfair("run", file, "--json").stdout)
    assert [f"warning: {warning}\n" for warning in result["warnings"]] == [done.stderr]
    near, far = result["flows"]
    assert near["delivered_packets"] == near["sent_packets"] > 0
    assert result["drops"] == {"hop-limit": far["sent_packets"]}
    further = airfair("check", file, "--set", "routing.hop_limit=66")
    assert (further.returncode, further.stderr) == (0, "")
    refused = airfair("check", file, "--set", "routing.hop_limit=0")
    assert refused.returncode == 2
    assert "routing.hop_limit" in refused.stderr


def test_a_law_without_a_flow_that_follows_it_is_told() -> None:
    done = airfair("compare", SCENARIOS / "chain.toml", "--schemes", "droptail,cubic", "--seeds", "2", *SHORT)
    assert "scheme cubic is a window law, and no flow runs TCP: it does nothing" in done.stderr
    assert "2 seeds are too few" in done.stderr


def test_more_runs_than_memory_holds_are_refused_at_once() -> None:
    began = time.monotonic()
    done = airfair("compare", THREE_PAIRS, "--seeds", "100000000")
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected at most 100000 runs" in done.stderr
    assert time.monotonic() - began < 30


def test_a_world_that_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "crowd.toml"
    nodes = '[nodes]\nkind = "grid"\nrows = 200\ncolumns = 200\nspacing = "1 m"\n'
    file.write_text(f'name = "crowd"\nduration = "1 s"\n[radio]\n{nodes}')
    # Below this the interpreter with its libraries does not start; the pairs would take a hundred times more.
    limited = f"ulimit -v 1500000; exec {sys.executable} -m airfair check {file}"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "40000 radios hear each other in some 1600 million pairs" in done.stderr
    assert "expected at most 4000 MB (memory_limit)" in done.stderr


def test_packets_that_fill_a_wire_end_the_run(tmp_path: Path) -> None:
    """A wire that would hold 4 x 10^15 packets: 230 a microsecond for ten hours."""
    file = tmp_path / "wire.toml"
    file.write_text(
        'name = "wire"\nduration = "2 s"\nmemory_limit = "100 MB"\n'
        '[[node]]\nid = "a"\nradios = []\n[[node]]\nid = "b"\nradios = []\n'
        '[[link]]\nends = ["a", "b"]\nrate = "1000 Gbit/s"\ndelay = "10 h"\n'
        '[[flow]]\nid = "f"\nfrom = "a"\nto = "b"\ntransport = "udp"\n'
        'traffic = { kind = "saturating", packet = "512 B" }\n'
    )
    done = airfair("run", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    # 450 bytes a packet: room for 222,222, looked at after every 4096 events, each of which makes a packet.
    assert done.stderr.startswith(
        "225280 packets are on wires, 225280 of them from a to b, and no more fit into"
    )
    assert "100 MB (memory_limit): a lower rate or delay of a link" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_resolved_scenario_is_the_same_scenario(tmp_path: Path) -> None:
    done = airfair("check", THREE_PAIRS, "--resolved", *SHORT)
    assert (done.returncode, done.stderr) == (0, "")
    file = tmp_path / "resolved.toml"
    file.write_text(done.stdout)
    again = json_of("run", file)
    first = json_of("run", THREE_PAIRS, *SHORT)
    assert again.pop("perf")
    assert first.pop("perf")
    assert again == first


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.toml")), ids=lambda file: file.stem)
def test_every_scenario_runs(file: Path) -> None:
    # Changes of gains after the end of a run are warned of.
    duration = "46 s" if file.stem == "mesh-olsr" else "8 s"
    result = json_of("run", file, "--set", f"duration={duration}", "--set", "warmup=1 s")
    assert _other_warnings(file.stem, result["warnings"]) == []
    assert result["aggregate_goodput_bps"] > 0
    # Some scenarios are about flows that starve.
    delivered = [flow["delivered_packets"] for flow in result["flows"]]
    assert sum(count > 0 for count in delivered) > len(delivered) / 3


def test_trace_tells_of_one_node_and_one_time() -> None:
    done = airfair("trace", THREE_PAIRS, "--node", "a1", "--from", "1 s", "--until", "1.2 s")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) > 5
    assert all(re.search(r"\ba1\b", line) for line in lines)
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)
    assert times[0] >= 1.0
    assert times[-1] < 1.2


def test_a_trace_without_events_says_so() -> None:
    done = airfair("trace", THREE_PAIRS, "--node", "a2", "--from", "1 s", "--until", "1.000001 s")
    assert (done.returncode, done.stdout) == (0, "")
    said = "airfair: no event of a2 from 1 s until 1.000001 s; the next one is at "
    assert done.stderr.startswith(said)
    following = done.stderr.removeprefix(said).strip()
    later = airfair("trace", THREE_PAIRS, "--node", "a2", "--from", following, "--until", "1.5 s").stdout
    ns = _core.parse_time(following)
    assert round(float(later.split()[0]) * 1e9) == ns
    before = airfair("trace", THREE_PAIRS, "--node", "a2", "--from", "1 s", "--until", f"{ns} ns")
    assert (before.stdout, before.stderr.endswith(f"the next one is at {following}\n")) == ("", True)
    silent = ("--set", "duration=1.2 s", "--set", "warmup=0 s", "--set", 'flow.middle.stop="1 us"')
    done = airfair("trace", THREE_PAIRS, *silent, "--node", "a2", "--from", "1.1 s", "--until", "1.1001 s")
    assert done.stderr.endswith("; no event follows\n")
    done = airfair("trace", THREE_PAIRS, *silent, "--node", "a2", "--from", "1.1 s")
    assert done.stderr == "airfair: no event of a2 from 1.1 s until the end of the run\n"


def test_a_trace_can_be_cut_off_by_its_reader() -> None:
    command = f"{sys.executable} -m airfair trace {THREE_PAIRS} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


TELLS_WHEN_IT_BEGINS = """
import sys
from airfair import cli

whole = cli.cli.main

def main(**keywords):
    print("begins", file=sys.stderr, flush=True)
    return whole(**keywords)

cli.cli.main = main
cli.main()
"""
"""The command line; all is imported when it says so, and an interrupt is heeded from then on."""


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", THREE_PAIRS, "--set", "duration=10 h"),
        ("run", THREE_PAIRS, "--realtime"),
        ("compare", THREE_PAIRS, "--seeds", "100", "--set", "duration=10 h"),
        ("trace", THREE_PAIRS, "--set", "duration=10 h", "--from", "9 h"),
    ],
    ids=["run", "realtime", "compare", "trace"],
)
def test_control_c_ends_a_long_run(arguments: tuple[str | Path, ...]) -> None:
    command = [sys.executable, "-c", TELLS_WHEN_IT_BEGINS, *map(str, arguments)]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=usual_signals
    )
    try:
        assert child.stderr is not None
        assert child.stderr.readline() == "begins\n"
        time.sleep(1.0)  # enough to be in the midst of the run, if the machine is not busy
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)  # to its end the run would take minutes
    finally:
        child.kill()
    assert (child.returncode, out, err.strip()) == (130, "", "airfair: interrupted")


def test_version() -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert version
    assert airfair("--version").stdout == f"airfair, version {version[1]}\n"
    assert airfair().returncode == 2


def test_paced_run_is_the_same_run_and_tells_how_late_it_was() -> None:
    paced = json_of("run", THREE_PAIRS, *SHORT, "--realtime", "--speed", "1000")
    lateness = paced.pop("perf")["lateness"]
    plain = json_of("run", THREE_PAIRS, *SHORT)
    assert plain.pop("perf")
    assert json.dumps(paced) == json.dumps(plain)
    assert lateness["steps"] == sum(
        count for name, count in lateness.items() if name not in ("steps", "worst_s", "p50_s", "p99_s")
    )
    assert lateness["steps"] > 1000
    assert 0 < lateness["p50_s"] <= lateness["p99_s"] <= lateness["worst_s"]
    done = airfair("run", THREE_PAIRS, *SHORT, "--realtime", "--speed", "1000")
    assert "paced by the clock" in done.stdout


def test_receivers_of_routing_messages_are_traced_with_their_content() -> None:
    lines = airfair("trace", SCENARIOS / "mesh-olsr.toml", "--until", "3 s").stdout.splitlines()
    frame = re.compile(r"BROADCAST (#\d+) \((OLSR [A-Z+]+)\) (?:to|from)")
    sending = (frame.search(line) for line in lines if " sends " in line)
    sent = {found[1]: found[2] for found in sending if found is not None}
    heard = [line for line in lines if " BROADCAST " in line and " sends " not in line]
    assert len(heard) > len(sent) > 4
    for line in heard:
        found = frame.search(line)
        assert found is not None, line
        assert sent[found[1]] == found[2]


def test_a_run_prints_what_its_routing_has_done(tmp_path: Path) -> None:
    """By hand: two nodes, HELLOs every 2 s, of 28 + 4 + 12 + 4 + 8 B with the neighbour in them."""
    scenario = tmp_path / "pair.toml"
    scenario.write_text(
        'name = "pair"\nduration = "60 s"\nwarmup = "20 s"\n[routing]\nprotocol = "olsr"\n'
        '[olsr]\nmax_jitter = "0 s"\n[[node]]\nid = "a"\n[[node]]\nid = "b"\n'
        '[[link]]\nends = ["a", "b"]\nrate = "1 Mbit/s"\n[[flow]]\nid = "f"\nfrom = "a"\nto = "b"\n'
        'traffic = { kind = "constant", rate = "40 kbit/s" }\n'
    )
    done = airfair("run", scenario)
    assert done.returncode == 0
    line = "OLSR: 28 B of packets per node and second; 0 routes lost in the tables of all nodes "
    assert f"{line}no flow has lost its route; a broken route counts" in " ".join(done.stdout.split())
    routing = json_of("run", scenario)["routing"]
    assert (routing["datagrams"], routing["ip_bytes"], routing["mac_bytes"]) == (40, 2240, 2240)
    assert routing["flows"] == [{"id": "f", "lost": 0, "without_s": 0.0, "path": ["a", "b"]}]

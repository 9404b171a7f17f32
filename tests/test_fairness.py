"""The numbers of fairness, delay and loss in scenes whose answer is known without a simulator."""

from __future__ import annotations

import json
from pathlib import Path

import airfair
import pytest
from airfair import Scenario

from tests.support import SCENARIOS, json_of
from tests.support import airfair as command


def _two(name: str, duration: str, distance: int, flows: str) -> str:
    """Two nodes with radios that reach 250 m, `distance` m apart."""
    return f"""
name = "{name}"
duration = "{duration}"
[radio]
standard = "802.11b"
propagation = {{ model = "two-ray", range = "250 m", carrier_sense = "550 m" }}
[[node]]
id = "a"
position = ["0 m", "0 m"]
[[node]]
id = "b"
position = ["{distance} m", "0 m"]
{flows}
"""


def _flow(name: str, start: str, end: str, traffic: str, more: str = "") -> str:
    return f'[[flow]]\nid = "{name}"\nfrom = "{start}"\nto = "{end}"\n{more}traffic = {{ {traffic} }}\n'


SATURATING = 'kind = "saturating"'
FAR = _two(
    "far",
    "2 s",
    2000,
    _flow("f", "a", "b", SATURATING) + _flow("g", "b", "a", 'kind = "ftp"', 'transport = "tcp"\n'),
)
VOICE = 'kind = "constant", rate = "20 kbit/s", packet = "160 B"'
CELL = _two("cell", "5 s", 100, _flow("voice", "a", "b", VOICE) + _flow("bulk", "b", "a", SATURATING))

WIRE = """
name = "wire"
duration = "10 s"
[headers]
udp = "8 B"
ip = "20 B"
tcp = "20 B"
wired = "2 B"
[[node]]
id = "a"
[[node]]
id = "b"
[[link]]
ends = ["a", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
queue_packets = 10
[[flow]]
id = "f"
from = "a"
to = "b"
"""

# The same behind a wire of 10 Mbit/s: the queue is not the source's own, so it drops.
BEHIND = (
    WIRE.replace('"b"', '"m"', 2)
    .replace(
        "[[flow]]",
        """[[node]]
id = "b"
[[link]]
ends = ["m", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
queue_packets = 10
[[flow]]""",
    )
    .replace('"1 Mbit/s"', '"10 Mbit/s"', 1)
)

SLOW = 'traffic = { kind = "constant", rate = "100 kbit/s", packet = "970 B", start_jitter = "0 s" }'
FAST = 'traffic = { kind = "constant", rate = "2 Mbit/s", packet = "970 B", start_jitter = "0 s" }'
KEYS = ("mean_delay_s", "p99_delay_s", "rtt_s", "retransmissions", "loss_ratio", "completion_s")


def run(text: str, *overrides: str) -> airfair.RunResult:
    scenario = Scenario.parse(text, overrides=list(overrides))
    return airfair.run(scenario)


def test_nothing_delivered_has_no_index(tmp_path: Path) -> None:
    file = tmp_path / "far.toml"
    file.write_text(FAR)
    result = run(FAR)
    assert result["jain_index"] is None
    assert (result["starved_flows"], result["flows_below_1kbps"], result["log_utility"]) == (2, 2, 0.0)
    assert "Jain's index -   total 0 kbit/s" in command("run", file).stdout
    done = command("compare", file, "--schemes", "droptail,red", "--seeds", "2", "--json")
    for row in json.loads(done.stdout):
        assert row["jain_index"] is None
        assert row["difference"]["jain_index"] is None
        assert row["starved_flows"]["mean"] == 2
        assert row["mean_delay_s"] is row["rtt_s"] is row["completion_s"] is None
    table = command("compare", file, "--seeds", "2").stdout
    assert "NaN" not in table
    assert "null" not in table


def test_a_sweep_of_dead_cells_is_not_fair(tmp_path: Path) -> None:
    (tmp_path / "far.toml").write_text(FAR)
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "dead"\nscenario = "far.toml"\nseeds = 2\n[parameters]\nduration = ["1 s", "2 s"]\n'
    )
    done = airfair.sweep(study, out=tmp_path / "out", jobs=1)
    assert done.runs["jain_index"].isna().all()
    assert (done.runs["starved_flows"] == 2).all()
    assert all(row["jain_index"] is None for case in done.summary() for row in case["rows"])


def test_a_flow_that_gets_what_it_asks_for_is_not_starved() -> None:
    result = run(CELL)
    voice, bulk = result["flows"]
    assert voice["goodput_bps"] < 0.01 * (voice["goodput_bps"] + bulk["goodput_bps"]) / 2
    assert voice["goodput_bps"] == pytest.approx(20_000, rel=0.02)
    # A packet every 64 ms, from a start within the first 64 ms on.
    assert voice["offered_bytes"] in (78 * 160, 79 * 160)
    assert bulk["offered_bytes"] is None
    assert result["starved_flows"] == 0


def test_a_source_that_is_held_up_offers_all_the_same() -> None:
    """2 Mbit/s into a wire of 1 Mbit/s, before whose full queue the source waits: it gets half."""
    flow = run(WIRE + FAST)["flows"][0]
    assert flow["offered_bytes"] == pytest.approx(2e6 * 10 / 8, rel=0.01)
    assert flow["delivered_bytes"] == pytest.approx(0.97e6 * 10 / 8, rel=0.01)


@pytest.mark.parametrize("traffic", ['{ kind = "saturating" }', '{ kind = "ftp" }'])
def test_a_flow_that_is_switched_off_does_not_count(traffic: str) -> None:
    transport = 'transport = "tcp"\n' if "ftp" in traffic else ""
    off = f'[[flow]]\nid = "off"\nfrom = "a"\nto = "b"\n{transport}traffic = {traffic}\n'
    # A file that ends within the warm-up has no traffic after it.
    file = (
        '[[flow]]\nid = "file"\nfrom = "a"\nto = "b"\ntransport = "tcp"\n'
        'traffic = { kind = "file", size = "3 kB" }\n'
    )
    both = CELL.replace('"constant", rate = "20 kbit/s", packet = "160 B"', '"saturating"')
    plain = run(both, "warmup=1 s")
    result = run(both + off + file, 'flow.off.stop="1 us"', "warmup=1 s")
    assert [flow["offered_bytes"] for flow in result["flows"]] == [None, None, 0, 0]
    assert result["jain_index"] == pytest.approx(1, abs=0.01)
    assert plain["jain_index"] == pytest.approx(1, abs=0.01)
    assert (result["starved_flows"], result["flows_below_1kbps"]) == (0, 0)
    assert result["min_goodput_bps"] > 1e6
    told = airfair.explain(Scenario.parse(both + off, overrides=['flow.off.stop="1 us"']), flow="off")
    assert told["standing"] == "silent"
    # Who is not asked for is not the worst.
    assert airfair.explain(Scenario.parse(both + off, overrides=['flow.off.stop="1 us"']))["flow"] != "off"


@pytest.mark.parametrize(
    "name", ["three-pairs", "exposed-terminal", "gateway", "access-point", "wired", "short-flows"]
)
def test_run_and_explain_agree(name: str) -> None:
    overrides = ["duration=4 s", "warmup=1 s"]
    scenario = Scenario.read(SCENARIOS / f"{name}.toml", overrides)
    result = airfair.run(scenario)
    told = {
        flow["id"]: airfair.explain(scenario, flow=flow["id"])["standing"] for flow in result["flows"][:5]
    }
    if len(told) == len(result["flows"]):
        assert result["starved_flows"] == sum(s in ("starved", "unreachable") for s in told.values())
    for flow in result["flows"][:5]:
        assert (told[flow["id"]] == "silent") == (flow["offered_bytes"] == 0)


def test_delays_of_a_wire_by_hand() -> None:
    """970 + 28 + 2 bytes take 8 ms at 1 Mbit/s, and the way 10 ms."""
    result = run(WIRE + SLOW)
    flow = result["flows"][0]
    assert flow["mean_delay_s"] == pytest.approx(0.018)
    assert result["mean_delay_s"] == pytest.approx(0.018)
    assert result["p99_delay_s"] == pytest.approx(0.018, rel=0.01)
    assert (result["rtt_s"], result["retransmissions"], result["completion_s"]) == (None, 0, None)
    assert flow["loss_ratio"] == result["loss_ratio"] == 0


def test_loss_of_a_wire_by_hand() -> None:
    """2 Mbit/s are 257.7 packets of 970 B in a second; the second wire carries 125 of 8 ms."""
    result = run(BEHIND + FAST)
    flow = result["flows"][0]
    assert result["loss_ratio"] == pytest.approx(1 - 125 / 257.7, abs=0.01)
    assert flow["dropped_packets"] == sum(result["drops"].values())
    ended = flow["dropped_packets"] + flow["delivered_packets"]
    assert flow["loss_ratio"] == flow["dropped_packets"] / ended


def test_round_trips_of_a_wire_by_hand() -> None:
    """A window of one segment: packets of 1000 B and ACKs of 42 B, 8.336 ms on the wire, 20 ms on the way."""
    file = 'transport = "tcp"\ntraffic = { kind = "file", size = "9580 B" }\n'
    tcp = ('mss="958 B"', 'window_limit="1 segments"', 'initial_window="1 segments"', "timestamps=false")
    result = run(WIRE + file, *(f"tcp.{key}" for key in tcp), 'tcp.delayed_ack="off"')
    assert result["rtt_s"] == pytest.approx(0.028336)
    flow = result["flows"][0]
    assert flow["rtt_s"] == result["rtt_s"]
    # SYN and SYN-ACK of 42 B: 0.672 ms and 20 ms; then ten round trips.
    assert result["completion_s"] == pytest.approx(0.020672 + 10 * 0.028336, rel=0.01)
    assert result["completion_s"] == flow["completion_s"]


def test_every_number_of_a_comparison_has_a_paired_difference(tmp_path: Path) -> None:
    file = tmp_path / "wire.toml"
    file.write_text(BEHIND + FAST)
    rows = json_of("compare", file, "--schemes", "droptail,codel", "--seeds", "3")
    for row in rows:
        for key in KEYS:
            assert key in row["difference"]
            assert key in row["flows"][0]
            assert key in row["flows"][0]["difference"]
    # A queue of ten packets of 8 ms, always full: 0.8 + (10 + 1) x 8 + 20 ms; CoDel holds it near 5 ms.
    assert rows[0]["mean_delay_s"]["mean"] == pytest.approx(0.1088, rel=0.03)
    assert rows[1]["difference"]["mean_delay_s"]["mean"] < -0.01
    assert rows[1]["rtt_s"] is None


def test_how_many_runs_have_a_number(tmp_path: Path) -> None:
    """A file that starts at a random moment near the end is finished in some of the runs."""
    file = tmp_path / "wire.toml"
    traffic = '{ kind = "file", size = "10 kB", start = "9 s", start_jitter = "2 s" }'
    file.write_text(f'{WIRE}transport = "tcp"\ntraffic = {traffic}\n')
    single = [json_of("run", file, "--seed", str(seed))["completion_s"] for seed in range(1, 9)]
    have = [value for value in single if value is not None]
    assert 2 <= len(have) < 8
    row = json_of("compare", file, "--seeds", "8")[0]
    assert row["completion_s"]["runs"] == len(have)
    assert row["completion_s"]["mean"] == pytest.approx(sum(have) / len(have))
    assert "runs" not in row["aggregate_goodput_bps"]
    assert f"({len(have)} runs)" in command("compare", file, "--seeds", "8").stdout
    # All of them count for the half-width of what is asked for.
    asked = ("--until-halfwidth", "50%", "--statistic", "mean_delay_s", "--seeds", "10", "--max-seeds", "20")
    assert "mean_delay_s" in json_of("compare", file, *asked)[0]["precision"]["relative_ci95"]

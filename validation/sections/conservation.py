"""Conservation of time, packets and energy, and symmetry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from airfair import RunResult, Scenario, World

from ..report import Context, Row, holds, within
from ..runs import SCENARIOS, mean_of, run_all, seeds

TITLE = "Conservation and symmetry"
ABOUT = """
Every nanosecond of a station is in exactly one state and every packet ends in exactly one place, whatever
the scenario. Two symmetric stations have the same mean goodput: the 99 % interval of their paired
difference over 100 seeds contains 0.

The sums of received power are integers inside the simulator and cannot be seen from Python. Their return to
exactly zero is checked by the Rust test `nothing_is_lost_and_nothing_is_left`
(`crates/sim/tests/invariants.rs`) in random worlds. Its visible consequence is checked here: after the last
packet every station is idle for the whole rest of a run.
"""

SECTION = "conservation"
SOURCE = "must hold by definition"


def rows(context: Context) -> Iterable[Row]:
    """Sums over all example scenarios, then silence, then symmetry."""
    yield from _sums(context)
    yield from _silence()
    yield from _symmetry(context)


def _sums(context: Context) -> Iterator[Row]:
    files = sorted(SCENARIOS.glob("*.toml"))
    scenarios = [Scenario.read(file) for file in files]
    chosen = list(seeds(context, 2 if context.quick else 5))
    results = run_all(context, [(scenario, seed) for scenario in scenarios for seed in chosen])
    for i, (file, scenario) in enumerate(zip(files, scenarios, strict=True)):
        mine = results[i * len(chosen) : (i + 1) * len(chosen)]
        yield from _sums_of(file.name, scenario, mine)


def _sums_of(name: str, scenario: Scenario, results: list[RunResult]) -> Iterator[Row]:
    stations = [station for result in results for station in result["stations"]]
    sums = [
        a["transmit"] + a["receive"] + a["busy"] + a["nav"] + a["idle"]
        for a in (station["airtime_ns"] for station in stations)
    ]
    yield within(
        SECTION,
        f"{name}: radio states less the run, largest of {len(sums)} stations",
        SOURCE,
        expected=0,
        measured=max((abs(total - scenario.duration_ns) for total in sums), default=0),
        unit="ns",
        absolute=0,
    )
    made = sum(result["ends"]["made"] for result in results)
    ended = sum(
        e["delivered"] + sum(e["dropped"].values()) + e["queued"] + e["in_mac"] + e["on_wire"]
        for e in (result["ends"] for result in results)
    ) + sum(result["ends"]["awaiting_arp"] for result in results)
    yield within(
        SECTION,
        f"{name}: packets that are in no named place, or in two, of {made}",
        SOURCE,
        expected=0,
        measured=made - ended,
        absolute=0,
    )


def _silence() -> Iterator[Row]:
    for file in ("chain", "hidden-terminal", "three-pairs"):
        text = (SCENARIOS / f"{file}.toml").read_text().replace('to = "', 'stop = "10 s"\nto = "')
        scenario = Scenario.parse(text, file, ["duration=30 s", "warmup=0 s"])
        world = World(scenario)
        world.advance("20 s")
        before: RunResult = json.loads(world.result())
        world.advance()
        after: RunResult = json.loads(world.result())
        idle = [
            late["airtime_ns"]["idle"] - early["airtime_ns"]["idle"]
            for early, late in zip(before["stations"], after["stations"], strict=True)
        ]
        left = after["ends"]["queued"] + after["ends"]["in_mac"]
        yield holds(
            SECTION,
            f"{file}.toml with flows that stop at 10 s: every station idle from 20 s to 30 s, no packet left",
            SOURCE,
            expected="10000000000 ns; 0 packets",
            measured=f"{min(idle)} ns; {left} packets",
            ok=set(idle) == {10_000_000_000} and left == 0,
        )


def _pair(name: str, flows: tuple[tuple[str, str], tuple[str, str]]) -> Scenario:
    nodes = "".join(f'[[node]]\nid = "{i + 1}"\nposition = ["{350 * i} m", "0 m"]\n' for i in range(4))
    sources = "".join(
        f'[[flow]]\nid = "{source}"\nfrom = "{source}"\nto = "{sink}"\n'
        'traffic = { kind = "saturating", packet = "512 B" }\n'
        for source, sink in flows
    )
    return Scenario.parse(
        f"""name = "{name}"
duration = "30 s"
warmup = "5 s"
[radio]
standard = "802.11b"
data_rate = "2 Mbit/s"
basic_rates = ["1 Mbit/s"]
rts_threshold = "0 B"
tx_power = "24.5 dBm"
propagation = {{ model = "two-ray", frequency = "914 MHz", range = "367 m", carrier_sense = "670 m" }}
{nodes}{sources}""",
        name,
    )


def _symmetry(context: Context) -> Iterator[Row]:
    for name, flows in (
        ("hidden terminals, 1 -> 2 and 4 -> 3", (("1", "2"), ("4", "3"))),
        ("exposed pair, 2 -> 1 and 3 -> 4", (("2", "1"), ("3", "4"))),
    ):
        scenario = _pair("pair", flows)
        results = run_all(context, [(scenario, seed) for seed in seeds(context, 100)])
        goodputs = [{f["id"]: f["goodput_bps"] / 1e3 for f in result["flows"]} for result in results]
        left, right = flows[0][0], flows[1][0]
        difference = mean_of([goodput[left] - goodput[right] for goodput in goodputs])
        mean = mean_of([goodput[left] for goodput in goodputs]).mean
        yield within(
            SECTION,
            f"{name}: difference of the flows (the first gets {mean:.0f} kbit/s), 99 % interval of 100 seeds",
            "symmetry of the scene",
            expected=0,
            measured=difference.mean,
            unit="kbit/s",
            absolute=difference.half_width,
        )

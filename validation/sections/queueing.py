"""A wired link against queueing theory and against arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from airfair import RunResult, Scenario, World

from .. import queueing
from ..report import Context, Row, holds, inside, within
from ..runs import mean_of, run_all, seeds

TITLE = "Queues"
ABOUT = """
A Poisson source at one end of a wired link, all headers 0 bytes, a queue that never fills. The mean wait is
the mean delay minus the propagation delay and the mean service time of the arriving packets, over
independent runs whose first packets are omitted.

Exponential sizes are rounded to whole bytes, at least one. For a mean of 4000 B that changes their mean and
their squared coefficient of variation by less than one part in a million, so the theory of the rows is that
of M/M/1. The theoretical value has to be inside the 99 % interval, whose half-width has to be at most 1 %.

On a link that stays busy the fractions of a nanosecond are carried over from packet to packet, so the k-th
packet's last bit is sent at k times the exact duration, rounded down: no drift.
"""

SECTION = "queueing"
SOURCE = "Pollaczek-Khinchine (Kleinrock, Queueing Systems 1, 1975)"
MEAN_BYTES = 4000
RATE_BPS = 32_000_000
PROPAGATION_NS = 3_000
CUSTOMERS = {0.5: 4_000_000, 0.8: 16_000_000, 0.9: 48_000_000}
"""Load: packets of all runs together, for an interval of less than 1 % with M/M/1."""
RUNS = 32


def rows(context: Context) -> Iterable[Row]:
    """Queues, then the link."""
    for sizes in ("exponential", "fixed"):
        for load in (0.5, 0.8) if context.quick else CUSTOMERS:
            yield from _queue(context, sizes, load)
    yield from _serialisation()


def _scenario(sizes: str, load: float) -> Scenario:
    service_ms = MEAN_BYTES * 8 / RATE_BPS * 1e3
    measured = CUSTOMERS[load] / RUNS * service_ms / load
    return Scenario.parse(
        f"""name = "queue"
duration = "{round(measured) + 5000} ms"
warmup = "5 s"
[headers]
udp = "0 B"
ip = "0 B"
[[node]]
id = "a"
[[node]]
id = "b"
[[link]]
ends = ["a", "b"]
rate = "{RATE_BPS} bit/s"
delay = "{PROPAGATION_NS} ns"
queue_packets = 1000000
[[flow]]
id = "f"
from = "a"
to = "b"
traffic = {{ kind = "poisson", rate = "{round(RATE_BPS * load)} bit/s", packet = "{MEAN_BYTES} B", \
sizes = "{sizes}" }}
""",
        "queue",
    )


def _wait_s(result: RunResult) -> float:
    (flow,) = result["flows"]
    if flow["mean_delay_s"] is None or result["drops"]:
        raise ValueError(f"a packet was dropped, or none arrived: {result['drops']}")
    service = flow["delivered_bytes"] * 8 / RATE_BPS / flow["delivered_packets"]
    return flow["mean_delay_s"] - service - PROPAGATION_NS / 1e9


def _queue(context: Context, sizes: str, load: float) -> Iterator[Row]:
    scenario = _scenario(sizes, load)
    results = run_all(context, [(scenario, seed) for seed in seeds(context, RUNS)])
    interval = mean_of([1e6 * _wait_s(result) for result in results])
    arrivals = RATE_BPS * load / (8 * MEAN_BYTES)
    served = RATE_BPS / (8 * MEAN_BYTES)
    name, wait = ("M/D/1", queueing.md1_wait) if sizes == "fixed" else ("M/M/1", queueing.mm1_wait)
    expected = 1e6 * wait(arrivals, served)
    yield within(
        SECTION,
        f"{name}, load {load}: mean wait, theory inside the 99 % interval",
        SOURCE,
        expected=expected,
        measured=interval.mean,
        unit="us",
        absolute=interval.half_width,
    )
    yield inside(
        SECTION,
        f"{name}, load {load}: half-width of that interval",
        "1 % of the mean",
        low=0,
        high=1,
        measured=100 * interval.half_width / interval.mean,
        unit="%",
    )


def _serialisation() -> Iterator[Row]:
    """Three packets over one link, the last of which crosses a second one."""
    for rate, delay, size in (
        (100_000_000, 10_000_000, 1500),
        (1_000_000_000, 1, 64),
        (3_000_000, 0, 1000),
        (7_777_777, 12_345, 1471),
    ):
        scenario = Scenario.parse(
            f"""name = "wire"
duration = "10 s"
[[node]]
id = "a"
[[node]]
id = "b"
[[node]]
id = "c"
[[link]]
ends = ["a", "b"]
rate = "{rate} bit/s"
delay = "{delay} ns"
[[link]]
ends = ["b", "c"]
rate = "{2 * rate} bit/s"
delay = "{delay} ns"
""",
            "wire",
        )
        world = World(scenario)
        start = 1_000_001
        for tag, destination in enumerate("bbc"):
            world.inject("a", destination, size, tag, f"{start} ns")
        world.advance()
        measured = {out.tag: out.time_ns - start for out in world.drain_outputs() if out.arrived}
        # The last bit's exact time since the link became busy, rounded down to a nanosecond.
        bits = 8 * size * 10**9
        first = [packets * bits // rate + delay for packets in (1, 2, 3)]
        expected = {0: first[0], 1: first[1], 2: first[2] + bits // (2 * rate) + delay}
        yield holds(
            SECTION,
            f"{size} B at {rate} bit/s, delay {delay} ns: two over a link, a third over one more",
            "by hand",
            expected=", ".join(str(expected[tag]) for tag in range(3)) + " ns",
            measured=", ".join(str(measured.get(tag)) for tag in range(3)) + " ns",
            ok=measured == expected,
        )

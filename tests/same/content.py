"""The text of a run that is hashed, its hash, and six numbers of the run."""

from __future__ import annotations

import json
import struct
import tempfile
import time
from collections.abc import Generator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from airfair import InputError, Scenario, World, _core

from .scenes import Case, scenario_of, schemes, watched

LENGTH = 12
"""Hexadecimal digits of a hash that are kept."""

WORDS = ("perf", "version", "warnings")
"""Keys that are no number of a result, or differ from run to run."""

REFUSED = "refused"
"""In place of a hash: the pair of scene and scheme, or the way of looking, has no result."""

PACES = 1e6
"""So many times as fast as the clock."""

STEP_NS = 333_333_331
"""Between two looks at a world that goes step by step; the end of no interval of anything."""

OUTSIDE = 200
"""Packets that a stepped world is given from outside."""


Text = Generator[str, None, "Numbers"]
"""The parts of the text that is hashed, and at their end the numbers of the run."""


class Numbers(NamedTuple):
    """Six numbers of a run, as they are recorded: they show by how much results differ.

    Goodputs, Jain's index and the mean delay of packets to five digits; frames of all stations.
    Empty: the run has no such number.
    """

    total_kbps: str = ""
    least_kbps: str = ""
    jain: str = ""
    frames: str = ""
    drops: str = ""
    delay_ms: str = ""


class Hashed(NamedTuple):
    """A case, its hash, and the numbers of its run."""

    name: str
    value: str
    numbers: Numbers
    cpu_s: float


def hashed(case: Case) -> Hashed:
    """Run a case. A refused or failing case has the reason in place of a hash, and no numbers."""
    before = time.process_time()
    digest, numbers = sha256(), Numbers()
    text = told(case)
    try:
        while True:
            digest.update(next(text).encode())
            digest.update(b"\n")
    except StopIteration as end:
        numbers = end.value
        value = digest.hexdigest()[:LENGTH]
    except InputError:
        value = REFUSED
    except Exception as error:  # the other cases go on
        value = f"failed:{type(error).__name__}"
    return Hashed(str(case), value, numbers, time.process_time() - before)


def told(case: Case) -> Text:
    """The text that is hashed, in parts. Raises `InputError` for what is refused."""
    schemes()
    return (yield from _LOOK[case.way](scenario_of(case), case))


def canonical(text: str) -> str:
    """A result as JSON with sorted keys, without words."""
    value: dict[str, Any] = json.loads(text)
    for key in WORDS:
        value.pop(key, None)
    return json.dumps(value, sort_keys=True, indent=1)


def numbers_of(text: str) -> Numbers:
    """The numbers of a result."""
    result: dict[str, Any] = json.loads(text)

    def scaled(key: str, factor: float) -> str:
        return "" if result[key] is None else format(result[key] * factor, ".5g")

    return Numbers(
        total_kbps=scaled("aggregate_goodput_bps", 1e-3),
        least_kbps=scaled("min_goodput_bps", 1e-3),
        jain=scaled("jain_index", 1),
        frames=str(sum(sum(station["sent"].values()) for station in result["stations"])),
        drops=str(sum(result["drops"].values())),
        delay_ms=scaled("mean_delay_s", 1e3),
    )


def _run(scenario: Scenario, case: Case) -> Text:
    result = scenario.run(case.scheme, case.seed)
    yield canonical(result)
    return numbers_of(result)


def _wire_check(scenario: Scenario, case: Case) -> Text:
    result = scenario.run(case.scheme, case.seed, wire_check=True)
    yield canonical(result)
    return numbers_of(result)


def _paced(scenario: Scenario, case: Case) -> Text:
    result = _core.run_paced(scenario, case.scheme, case.seed, PACES)[0]
    yield canonical(result)
    return numbers_of(result)


def _explain(scenario: Scenario, case: Case) -> Text:
    for flow in (None, scenario.flows[0]):
        yield canonical(scenario.explain(flow, case.scheme, case.seed))
    return numbers_of(scenario.run(case.scheme, case.seed))


def _network(scenario: Scenario, case: Case) -> Text:
    yield canonical(scenario.network(case.seed))
    return Numbers()


def _steps(scenario: Scenario, case: Case) -> Text:
    world = World(scenario, case.scheme, case.seed)
    world.keep_completions()
    nodes = scenario.nodes
    for tag in range(OUTSIDE if len(nodes) > 1 else 0):
        ends = nodes[tag * 7 % len(nodes)], nodes[(tag * 7 + 1 + tag % (len(nodes) - 1)) % len(nodes)]
        world.inject(*ends, 60 + 7 * tag, tag, f"{world.end_ns // OUTSIDE * tag} ns")
    looks = 0
    while world.now_ns < world.end_ns:
        world.advance(f"{world.now_ns + STEP_NS} ns")
        outputs = [(output.time_ns, output.tag, output.dropped) for output in world.drain_outputs()]
        yield json.dumps([outputs, world.take_completions()])
        looks += 1
        if looks in (3, 9, 30):
            # For a while by the moments of what happens next, which are no result themselves.
            then = min(world.now_ns + STEP_NS // 2, world.end_ns)
            for _ in range(50):
                at = world.next_deadline_ns()
                if at is None or at >= then:
                    break
                world.advance(f"{at + 1} ns")
            world.advance(f"{then} ns")
            yield canonical(world.result())
    result = world.result()
    yield canonical(result)
    return numbers_of(result)


def _record(scenario: Scenario, case: Case) -> Text:
    start, until = watched(case.scene)
    options = {"pcap": "all", "errors": True, "start": start, "until": until}
    return (yield from _recorded(scenario, case, options, interval="500 ms", windows=["1 s"]))


def _one_node(scenario: Scenario, case: Case) -> Text:
    nodes = scenario.nodes
    node = nodes[len(nodes) // 2]
    start = f"{scenario.duration_ns // 2} ns"
    options = {"pcap": [node], "snaplen": 0, "node": node, "start": start}
    return (yield from _recorded(scenario, case, options, interval="70 ms"))


def _recorded(
    scenario: Scenario,
    case: Case,
    captured: dict[str, Any],
    **options: Any,  # noqa: ANN401
) -> Text:
    """The files in the folder of a run."""
    from airfair import Capture, record  # brings pandas

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        capture = Capture(**captured, trace=True)
        done = record(scenario, scheme=case.scheme, seed=case.seed, out=out, capture=capture, **options)
        result = json.dumps(done.result)
        yield canonical(result)
        for name in sorted(done.tables):
            yield f"table {name}"
            yield from rows(done.arrow(name))
        for node, file in sorted(done.captures.items()):
            yield f"capture {node}"
            yield from (block.hex() for block in blocks(file.read_bytes()))
    return numbers_of(result)


_LOOK = {
    "run": _run,
    "record": _record,
    "one-node": _one_node,
    "explain": _explain,
    "steps": _steps,
    "paced": _paced,
    "wire-check": _wire_check,
    "network": _network,
}


def rows(table: pa.Table) -> Iterator[str]:
    """The names of the columns, then the rows, as JSON."""
    yield json.dumps(table.column_names)
    columns = [table.column(name).to_pylist() for name in table.column_names]
    yield from (json.dumps(row) for row in zip(*columns, strict=True))


def blocks(capture: bytes) -> Iterator[bytes]:
    """The blocks of a capture file (pcapng, low byte first) but its first: that names the program."""
    at = 0
    while at < len(capture):
        (length,) = struct.unpack_from("<I", capture, at + 4)
        if at > 0:
            yield capture[at : at + length]
        at += length

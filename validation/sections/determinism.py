"""The same scenario, scheme, seed and version give the same bytes, in every kind of run."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from typing import Any

import airfair
from airfair import InputError, Scenario, World

from ..order import SCENES, by_name, shuffled, with_idle_node
from ..report import Context, Row, holds
from ..runs import ROOT, SCENARIOS, parallel, seeds

TITLE = "Determinism"
ABOUT = """
Bytes are those of the JSON result without `perf`; a digest stands for them. If nodes or flows have another
order, or there is one more node far away, the lists of the result are compared by name.
"""

SECTION = "determinism"
SOURCE = "promise of the simulator"
SHORT = ["duration=10 s", "warmup=1 s"]


def rows(context: Context) -> Iterable[Row]:
    """Each way of making a run."""
    yield from _seeds(context)
    yield from _order(context)
    yield from _far_node(context)
    yield from _with_each_scheme(context)
    yield from _threads(context)
    yield from _stepping(context)
    yield from _builds(context)


def _plain(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text)
    del result["perf"]
    return result


def _digest(text: str) -> str:
    """Digest of a result's bytes without `perf`."""
    return hashlib.sha256(json.dumps(_plain(text)).encode()).hexdigest()[:16]


def _by_name(text: str, *, without: str = "", sums: bool = True) -> str:
    """Digest of a result whose lists are sorted by name, one node left out, with or without the sums over
    flows."""
    result = _plain(text)
    result["flows"].sort(key=lambda flow: flow["id"])
    result["stations"] = sorted(
        (station for station in result["stations"] if station["node"] != without),
        key=lambda station: (station["node"], station["radio"]),
    )
    result["queues"] = sorted(
        (queue for queue in result["queues"] if queue["node"] != without),
        key=lambda queue: (queue["node"], queue["towards"]),
    )
    result["channel_utilisation"].pop(without, None)
    if not sums:
        for key in ("jain_index", "log_utility", "aggregate_goodput_bps"):
            del result[key]
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:16]


def _equal(name: str, expected: str, measured: str, *, differ: bool = False) -> Row:
    return holds(
        SECTION,
        name,
        SOURCE,
        expected=f"not {expected}" if differ else expected,
        measured=measured,
        ok=(expected == measured) != differ,
    )


def _seeds(context: Context) -> Iterator[Row]:
    for file in sorted(SCENARIOS.glob("*.toml")):
        first, again = (_digest(Scenario.read(file, SHORT).run(None, context.seed)) for _ in range(2))
        other = _digest(Scenario.read(file, SHORT).run(None, context.seed + 1))
        yield _equal(f"{file.name}: the same seed again", first, again)
        seedless = {"seed": 0}
        results = [
            _plain(Scenario.read(file, SHORT).run(None, context.seed + i)) | seedless for i in range(2)
        ]
        yield holds(
            SECTION,
            f"{file.name}: another seed",
            SOURCE,
            expected=f"not {first}",
            measured=other,
            ok=results[0] != results[1],
        )


def _order(context: Context) -> Iterator[Row]:
    for name in ("three-pairs", "hidden-terminal", "grid-64", "saturation", "wired"):
        text = (SCENARIOS / f"{name}.toml").read_text()
        first = Scenario.parse(text, name, SHORT).run(None, context.seed)
        for turn in range(2):
            changed = Scenario.parse(shuffled(text, turn), name, SHORT).run(None, context.seed)
            for words, sums in (("every flow and station", False), ("and the sums over flows", True)):
                yield _equal(
                    f"{name}.toml: blocks shuffled, {turn + 1} of 2, {words}",
                    _by_name(first, sums=sums),
                    _by_name(changed, sums=sums),
                )


def _far_node(context: Context) -> Iterator[Row]:
    for name in ("three-pairs", "hidden-terminal", "saturation"):
        text = (SCENARIOS / f"{name}.toml").read_text()
        expected = _by_name(Scenario.parse(text, name, SHORT).run(None, context.seed))
        far = '\n[[node]]\nid = "0-far"\nposition = ["900 km", "0 m"]\n'
        measured = _by_name(Scenario.parse(text + far, name, SHORT).run(None, context.seed), without="0-far")
        yield _equal(f"{name}.toml: one more node, 900 km away, without traffic", expected, measured)


def _categories_for(scheme: str, text: str) -> list[str]:
    """Changes of a scene without which the scheme refuses to run: radios have too few access categories."""
    try:
        Scenario.parse(text).check_scheme(scheme)
    except InputError as error:
        if "radio.categories" not in str(error):
            raise
        return ['radio.categories="diffq"']
    return []


def _with_each_scheme(context: Context) -> Iterator[Row]:
    """The scenes of `validation.order`, shuffled and with an idle node, under every scheme that there is."""
    turns = 2 if context.quick else 5
    about = f"{turns} orders and seeds"
    for name, text in SCENES.items():

        def differs(scheme: str, text: str = text) -> tuple[bool, bool]:
            shuffling = idle = False
            changes = _categories_for(scheme, text)
            for turn in range(turns):
                seed = 1000 * context.seed + turn
                as_it_is, in_disorder, with_one_more = (
                    by_name(Scenario.parse(form, "scene", changes).run(scheme, seed))
                    for form in (text, shuffled(text, turn), with_idle_node(text))
                )
                shuffling |= in_disorder != as_it_is
                idle |= with_one_more != as_it_is
            return shuffling, idle

        schemes = [info["name"] for info in airfair.schemes()]
        found = parallel(context, differs, schemes)
        whats = ("tables and ends of links shuffled", "an idle node 900 km away, written first")
        for check, what in enumerate(whats):
            other = [scheme for scheme, differ in zip(schemes, found, strict=True) if differ[check]]
            yield holds(
                SECTION,
                f"{name}: {what}, {about}, with each of the {len(schemes)} schemes",
                SOURCE,
                expected="equal rows",
                measured=f"others with {', '.join(other)}" if other else "equal rows",
                ok=not other,
            )


def _threads(context: Context) -> Iterator[Row]:
    scenario = Scenario.read(SCENARIOS / "grid-64.toml", SHORT)
    chosen = list(seeds(context, 8))

    def together(workers: int) -> str:
        own = dataclasses.replace(context, workers=workers, figures=[])
        digests = parallel(own, lambda seed: _digest(scenario.run(None, seed)), chosen)
        return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]

    yield _equal("grid-64.toml: eight seeds, 1 thread and 2 threads", together(1), together(2))


def _stepping(context: Context) -> Iterator[Row]:
    for name in ("three-pairs", "hidden-terminal", "grid-64", "wired"):
        scenario = Scenario.read(SCENARIOS / f"{name}.toml", SHORT)
        world = World(scenario, None, context.seed)
        while (deadline := world.next_deadline_ns()) is not None and deadline < world.end_ns:
            world.advance(f"{deadline + 1} ns")
        world.advance()
        yield _equal(
            f"{name}.toml: from deadline to deadline, and to the end at once",
            _digest(scenario.run(None, context.seed)),
            _digest(world.result()),
        )


def _builds(context: Context) -> Iterator[Row]:
    cargo = shutil.which("cargo")
    for name in ("grid-64", "three-pairs"):
        if cargo is None:
            yield holds(
                SECTION,
                f"{name}.toml: debug and release build",
                SOURCE,
                expected="the same line",
                measured="skipped: there is no cargo",
                ok=True,
            )
            continue
        file = str(SCENARIOS / f"{name}.toml")
        arguments = ["--", file, "--seed", str(context.seed)]
        debug, release = (
            subprocess.run(
                [
                    cargo,
                    "run",
                    "--quiet",
                    "--locked",
                    "-p",
                    "airfair-bench",
                    "--bin",
                    "bench-run",
                    *kind,
                    *arguments,
                ],
                cwd=ROOT,
                check=True,
                capture_output=True,
                text=True,
            ).stdout.strip()
            for kind in ([], ["--release"])
        )
        yield _equal(f"{name}.toml: debug and release build", debug, release)

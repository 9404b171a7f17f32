"""The cases: scenes, schemes, seeds, and the ways of looking at a run."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from airfair import InputError, Scenario, _core, load_schemes, paper

from validation.order import SCENES as OF_ORDER

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

SEEDS = (1, 2, 3)

PYTHON = "py-"
"""How names of schemes in Python begin."""

WRITTEN_IN_PYTHON = (
    *(ROOT / "examples" / "schemes" / f"{name}.py" for name in ("droptail", "newreno", "red")),
    HERE / "schemes.py",
)

SECONDS = {
    "lbm/cell": (8, 0, 4),
    "nred/fig6": (75, 0, 35),
    "qfcp/fig1": (3, 0, 1),
    "qfcp/wires": (10, 0, 4),
    "drive-by": (36, 2, 5),
    "mesh-olsr": (32, 5, 8),
    "wired": (8, 2, 4),
    "building": (3, 1, 2),
    "grid-64": (8, 0, 2),
    "grid-64-tcp": (6, 0, 2),
    "grid-64/aodv": (4, 0, 2),
    "saturation": (8, 2, 3),
    "short-flows": (2, 1, 2),
}
"""How long a run lasts, its warm-up, and how long a run of schemes in Python and of all ways but to its end,
where it is not `USUAL`: enough for what a scene is about, and for a tenth of a second of CPU."""

USUAL = (15, 3, 5)

STARTED = (30, 0, 13)
"""The same of scenes of papers whose flows start after 10 s."""

LARGER = (
    "nodes.rows=104",
    "nodes.columns=104",
    "flow=[]",
    'flows={kind="random", count=40, seed=3, traffic={kind="constant", rate="60 kbit/s", packet="1000 B"}}',
    "duration=1 s",
    "warmup=0 s",
)

FASTER = (
    'node.car.movement={repeat=true, waypoints=[{to=["400 m", "15 m"], speed="540 km/h"}, '
    '{to=["-200 m", "15 m"], speed="540 km/h", pause="1 s"}]}'
)

LARGE = ("grid-64/large",)
"""Scenes of thousands of nodes: with one seed, and to their end only."""

AODV = 'routing={protocol="aodv"}'

SERIES = 8
"""Of an experiment so many forms of its scenario are run, from the first to the last at even distances."""

SCHEMES_OF_A_SCENE, SCENES_OF_A_SCHEME, SERIES_OF_AN_EXPERIMENT = 6, 10, 4
"""So many are recorded at least, where there are so many."""

WATCHED = {
    "nred/": ("10 s", "12 s"),
    "lbm/": ("1 s", "2 s"),
    "fig1": ("0 s", "500 ms"),
    "short-flows": ("0 s", "500 ms"),
}
"""From when to when frames and captures are kept, where it is not the first second: by the scene's name
or a part of it."""

LEVELS = ("diffq", "diffq-liar", "diffq-more", "diffq-exor", "diffq-occupancy")
"""Schemes that need radios with eight access categories: a scene's that have fewer get DiffQ's."""

EXPLICIT = ("qfcp", "xcp", "xcp-b", "rcp", "c3l")
"""Schemes whose headers become bytes in one of their runs."""


class Case(NamedTuple):
    """A run and how it is looked at.

    `way` is "run" (to its end), "record" (over time, with frames and captures of all), "one-node" (with
    frames and whole packets of one node from the middle on), "explain", "steps" (with packets from outside,
    and with what the result was on the way), "paced" (by the wall clock), "wire-check" (headers become bytes)
    or "network" (what is built).
    """

    scene: str
    scheme: str
    seed: int
    way: str

    def __str__(self) -> str:
        return " ".join(map(str, self))


class Scene(NamedTuple):
    """A scenario, as what is put over a file or text."""

    source: Path | str
    overrides: tuple[str, ...] = ()

    def read(self, lasting: tuple[str, ...] = ()) -> Scenario:
        """The scenario. Raises `InputError`."""
        overrides = (*lasting, *self.overrides)
        if isinstance(self.source, Path):
            return Scenario.read(self.source, overrides)
        return Scenario.parse(self.source, overrides=overrides)


@cache
def scenes() -> dict[str, Scene]:
    """Scenes that run with every scheme, by name."""
    found: dict[str, Scene] = {}
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        found[file.stem] = Scene(file)
    for file in sorted((ROOT / "papers").glob("*/*.toml")):
        found[f"{file.parent.name}/{file.stem}"] = Scene(file)
    for name, text in OF_ORDER.items():
        found[f"order/{_word(name)}"] = Scene(text)
    for file in sorted(HERE.glob("*.toml")):
        found[f"same/{file.stem}"] = Scene(file)
    grid, cell = ROOT / "scenarios" / "grid-64.toml", ROOT / "scenarios" / "access-point.toml"
    return found | {
        "grid-64/aodv": Scene(grid, (AODV,)),
        "grid-64/large": Scene(grid, LARGER),
        "chain/ns-3": Scene(ROOT / "scenarios" / "chain.toml", ('radio.profile="ns-3"',)),
        "drive-by/fast": Scene(
            ROOT / "scenarios" / "drive-by.toml",
            ("movement.refresh_interval=10 ms", FASTER),
        ),
        "access-point/aodv": Scene(cell, (AODV,)),
        "access-point/rts": Scene(cell, ("radio.rts_threshold=0 B",)),
    }


def _lasting(name: str, *, short: bool) -> tuple[str, str]:
    usual = STARTED if name.startswith("nred/") else USUAL
    duration, warmup, little = SECONDS.get(name, usual)
    return f"duration={little if short else duration} s", f"warmup={min(warmup, little // 2)} s"


@cache
def series_of_papers() -> dict[str, tuple[Scene, str, int]]:
    """Forms of scenes that experiments of papers run, each with its scheme and first seed, by name."""
    found = {}
    for identity in paper.identities():
        loaded = paper.load(identity)
        for one in _spread(loaded.series, SERIES):
            # As the tests of papers shorten runs: warm-ups of minutes have no place in them.
            warm = ('warmup="5 s"',) if any(o.startswith("warmup=") for o in one.overrides) else ()
            drawn = one.by_seed or loaded.by_seed
            by_seed = () if drawn is None else drawn(loaded.first_seed)
            preset = paper.of_preset(one.preset)
            changes = (*preset, *one.overrides, *by_seed, *warm, 'duration="13 s"', *loaded.small)
            name = f"{identity}:{_word(one.name)}"
            found[name] = (Scene(one.scenario or loaded.scenario, changes), one.scheme, loaded.first_seed)
    return found


def _spread(items: Sequence[paper.Series], most: int) -> list[paper.Series]:
    step = max(1.0, (len(items) - 1) / (most - 1))
    return [items[round(i * step)] for i in range(min(most, len(items)))]


def _word(text: str) -> str:
    return re.sub(r"[\s,]+", "_", text)


@cache
def schemes() -> list[str]:
    """Names of the schemes, those in Python included; they are loaded here.

    A process of its own lists them: tests may have registered others in this one.
    """
    for file in WRITTEN_IN_PYTHON:
        load_schemes(file)
    code = "import sys, airfair; [airfair.load_schemes(file) for file in sys.argv[1:]]; "
    code += "print(*(name for one in airfair.schemes() for name in (one['name'], *(one['name'] + ':default' "
    code += "for preset in one['presets'] if preset['name'] == 'paper' and preset['values']))))"
    command = [sys.executable, "-c", code, *map(str, WRITTEN_IN_PYTHON)]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()


def _drawn(scene: str, way: str, names: Sequence[str]) -> str:
    """A scheme for a way of looking at a scene; other scenes and a new scheme leave nearly all choices."""
    return min(names, key=lambda name: crc32(f"{scene} {way} {name}".encode()))


def cases() -> Iterator[Case]:
    """Every case; `covering` has those that are recorded."""
    names = schemes()
    for scene in scenes():
        if scene in LARGE:
            several = [name for name in names if not name.startswith(PYTHON)]
            yield from (Case(scene, scheme, 1, "run") for scheme in several)
            continue
        for scheme in names:
            yield from (Case(scene, scheme, seed, "run") for seed in SEEDS)
            if scheme in EXPLICIT:
                yield Case(scene, scheme, 1, "wire-check")
        for way in ("record", "explain", "steps"):
            # Each with the scheme that does nothing, with one that has agents, and with one that differs from
            # scene to scene.
            chosen = {"droptail", "nred", _drawn(scene, way, names)}
            yield from (Case(scene, scheme, 1, way) for scheme in names if scheme in chosen)
        yield Case(scene, _drawn(scene, "one-node", names), 1, "one-node")
        yield from (Case(scene, "droptail", 1, way) for way in ("paced", "network"))
    for name, (_, scheme, first) in series_of_papers().items():
        yield from (Case(name, scheme, first + seed - 1, "run") for seed in SEEDS)


def scenario_of(case: Case) -> Scenario:
    """The scenario of a case. Raises `InputError`, also if there is no such scene."""
    if case.scene in series_of_papers():
        return _with_flows(series_of_papers()[case.scene][0].read())
    if case.scene not in scenes():
        near = _core.nearest(case.scene, [*scenes(), *series_of_papers()])
        raise InputError(f"there is no scene {case.scene!r}" + (f"; did you mean {near!r}?" if near else ""))
    short = case.way != "run" or case.scheme.startswith(PYTHON)
    scene, lasting = scenes()[case.scene], _lasting(case.scene, short=short)
    # A scheme without a preset has that of its paper: `nred` is NRED as published, `nred:default` is what an
    # operator takes.
    overrides = (*paper.of_preset(paper.PAPER), *lasting)
    scenario = scene.read(overrides)
    levels = _levels(scenario) if case.scheme in LEVELS else []
    return _with_flows(scene.read((*overrides, *levels)) if levels else scenario)


def _with_flows(scenario: Scenario) -> Scenario:
    """The scenario, in which flows that would start after its shortened end start after a quarter of it."""
    late = [
        flow["id"]
        for flow in tomllib.loads(scenario.resolved)["flow"]
        if _nanoseconds(flow) >= scenario.duration_ns
    ]
    start = f"{scenario.duration_ns // 4} ns"
    changes = [f'flow."{flow}".start="{start}"' for flow in late]
    return Scenario.parse(scenario.resolved, overrides=changes) if changes else scenario


def _nanoseconds(flow: dict[str, Any]) -> float:
    number, unit = flow["start"].split()
    return float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]


def _levels(scenario: Scenario) -> list[str]:
    """Changes that give the radios with fewer than eight access categories those of DiffQ."""
    resolved = tomllib.loads(scenario.resolved)
    radios = {"radio": resolved.get("radio", {})}
    radios |= {f'radios."{name}"': radio for name, radio in resolved.get("radios", {}).items()}

    def has_eight(radio: dict[str, Any]) -> bool:
        categories = radio["categories"]
        return categories == "diffq" if isinstance(categories, str) else len(categories) == 8

    changes = []
    for path, radio in radios.items():
        if radio and not has_eight(radio):
            changes.append(f'{path}.categories="diffq"')
            # Words for DSCPs name the four of EDCA.
            changes += [f'{path}.dscp_categories="lowest"'] if "dscp_categories" in radio else []
    return changes


def watched(scene: str) -> tuple[str, str]:
    """From when to when frames and captures of that scene are kept."""
    return next((times for part, times in WATCHED.items() if part in scene), ("0 s", "1 s"))


def covering(every: Iterable[Case]) -> list[Case]:
    """The cases that are recorded: of every scene six schemes, of every scheme ten scenes, one seed each.

    Beside these, each other way of looking at a scene with one scheme, headers as bytes in ten scenes for
    each scheme that has a header, and a few series of every experiment. Draws by name choose, so that a new
    scene or scheme changes few choices.
    """
    of_scene, of_scheme, of_way, of_experiment = (defaultdict[Any, list[Case]](list) for _ in range(4))
    for case in every:
        scene, scheme, seed, way = case
        experiment, series, _ = scene.partition(":")
        if series:
            of_experiment[experiment].append(case)
        elif way == "run" and seed == SEEDS[0]:
            of_scene[scene].append(case)
            of_scheme[scheme].append(case)
        elif way == "wire-check":
            of_scheme[scheme, way].append(case)
        elif way != "run":
            of_way[scene, way].append(case)
    first_seeds = {name: first for name, (_, _, first) in series_of_papers().items()}
    chosen: set[Case] = set()
    for group in of_scene.values():
        chosen.update(_lowest(group, SCHEMES_OF_A_SCENE))
    for group in of_scheme.values():
        chosen.update(_lowest(group, SCENES_OF_A_SCHEME))
    for group in of_way.values():
        chosen.update(_lowest(group, 1))
    for group in of_experiment.values():
        first = [case for case in group if case.seed == first_seeds[case.scene]]
        chosen.update(_lowest(first, SERIES_OF_AN_EXPERIMENT))
    return sorted(chosen)


def _lowest(cases: Iterable[Case], count: int) -> list[Case]:
    return sorted(cases, key=lambda case: crc32(str(case).encode()))[:count]

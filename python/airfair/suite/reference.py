"""The reference of a scene: the max-min rates of its file, and the part of them that constant rates carry."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict, cast

from .. import _core
from .._core import InputError, Scenario, Stop
from ..experiment import each
from ..optimal.yardstick import yardstick
from ..output import write_atomically
from ..sweeping.plan import digest, identity
from ..versioned import read_versioned
from .carried import carried
from .scenes import Scene

FORMAT = 1
"""Version of the files' format."""


class Reference(TypedDict):
    """The rates that a scene is judged by: the same for all rows, whatever settings they have."""

    format: int
    version: str
    """Version of Airfair that computed it."""
    max_min_bps: dict[str, float]
    """Max-min rates of the flows of the scene's file, with one access category."""
    assumed: list[str]
    """Assumptions of the rates, such as "one access category"."""
    carried: float
    """The part of these rates that constant rates carry (`carried`)."""
    arrives: float
    """Share that arrives of what constant rates at the whole optimum offer together."""


def references(
    scenes: Sequence[Scene],
    folder: Path,
    jobs: int | None = None,
    on_scene: Callable[[], object] | None = None,
) -> dict[str, Reference]:
    """The references of the scenes that are judged by an optimum, kept in `folder` under the digest of the
    scenario. Raises `InputError` where there is no optimum, `OSError` if the folder cannot be written."""

    def one(scene: Scene, stop: Stop) -> Reference:
        return _reference(scene, folder, stop)

    judged = [scene for scene in scenes if scene.judged == "optimum"]
    found = each(judged, one, jobs=jobs, on_run=on_scene)
    return {scene.identity: reference for scene, reference in zip(judged, found, strict=True)}


def _reference(scene: Scene, folder: Path, stop: Stop) -> Reference:
    scenario = scene.scenario()
    file = folder / f"{_digest(scenario)}.json"
    if file.exists():
        return cast(Reference, read_versioned(file, "suite", FORMAT, set(Reference.__annotations__)))
    try:
        best = yardstick(scenario)
    except InputError as error:
        raise InputError(f"{scene.identity}: {error}") from error
    if not best.optimum["complete"]:
        raise InputError(f"{scene.identity}: there is no optimum: too many cliques of links to list them all")
    constant = carried(scenario, best.max_min_bps, stop=stop)
    reference: Reference = {
        "format": FORMAT,
        "version": _core.__version__,
        "max_min_bps": best.max_min_bps,
        "assumed": list(best.assumed),
        "carried": constant.part,
        "arrives": constant.arrives[1.0].total,
    }
    write_atomically(file, json.dumps(reference).encode())
    return reference


def _digest(scenario: Scenario) -> str:
    """The name of a scenario's file: another scenario, or another version of Airfair, has another one."""
    return identity(digest(scenario.resolved), "", 0)

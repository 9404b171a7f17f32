"""The file of a suite: scenes, how each is judged, and where schemes claim to help."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from .. import _core
from .._core import InputError, Scenario, ScenarioError
from ..arguments import hint
from ..placed import Placed, Value
from . import heldout

JudgedBy = Literal["optimum", "droptail", "voice"]
"""Max-min rates of the air, drop-tail, or the delay of calls."""

KEYS = ("name", "description", "scene", "take_it_when")
SCENE_KEYS = ("id", "file", "about", "judged", "calls")


class Scene(NamedTuple):
    """A scene of a suite."""

    identity: str
    """Name of the scene, and of the folder of its results."""
    source: Path | Callable[[], Scenario]
    """The scenario's file, or what draws the scenario."""
    about: str
    """One sentence."""
    judged: JudgedBy
    calls: tuple[str, ...] = ()
    """Flows that are calls; only of a scene that is judged by voice."""

    def scenario(self) -> Scenario:
        """The scenario as its file has it. Raises `InputError`."""
        return Scenario.read(self.source) if isinstance(self.source, Path) else self.source()


@dataclass(frozen=True)
class Suite:
    """Scenes, and the scenes in which each scheme claims to help."""

    name: str
    scenes: Sequence[Scene]
    take_it_when: Mapping[str, Sequence[str]]
    """Scenes by the name of the scheme."""

    def only(self, identities: Sequence[str]) -> Suite:
        """The suite with these scenes, in its own order. Raises `InputError` for an unknown one."""
        known = [scene.identity for scene in self.scenes]
        for identity in identities:
            if identity not in known:
                scenes = hint(identity, known) or f"; the suite has {', '.join(known)}"
                raise InputError(f'there is no scene "{identity}"{scenes}')
        return Suite(self.name, [s for s in self.scenes if s.identity in identities], self.take_it_when)


def held_out() -> Suite:
    """The worlds that nobody tunes on."""
    scenes = [
        Scene(name, lambda number=number: heldout.world(number), "A world drawn at random", "optimum")  # type: ignore[misc]
        for number, name in enumerate(heldout.names(), 1)
    ]
    return Suite("heldout", scenes, {})


def read_suite(file: Path) -> Suite:
    """Read a suite. Raises `InputError` with everything that is wrong, a line each."""
    try:
        document = _core.read_toml(file)
    except ScenarioError as error:
        raise InputError(str(error)) from None
    return _Reader(file).read(document)


class _Reader(Placed):
    def read(self, document: Mapping[str, Value]) -> Suite:
        self.unknown(document, KEYS, "")
        name = self.text(document, "name", "name", 1)
        if "description" in document:
            self.text(document, "description", "description", 1)
        scenes = self.scenes(document.get("scene"))
        wanted = self.take_it_when(document.get("take_it_when"), [scene.identity for scene in scenes])
        self.finish()
        return Suite(name, scenes, wanted)

    def text(self, table: Mapping[str, Value], key: str, shown: str, line: int) -> str:
        line, value = table.get(key, (line, None))
        if isinstance(value, str) and value:
            return value
        self.error(line, shown, f"{'missing' if value is None else 'no text'}; expected a text")
        return ""

    def texts(self, placed: Value, shown: str) -> list[tuple[int, str]]:
        line, values = placed
        if not isinstance(values, list) or not all(isinstance(value, str) for _, value in values):
            self.error(line, shown, "expected a list of texts")
            return []
        return cast(list[tuple[int, str]], values)

    def scenes(self, placed: Value | None) -> list[Scene]:
        line, blocks = (1, None) if placed is None else placed
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for _, block in blocks):
            self.error(line, "scene", "expected [[scene]] blocks, each with id, file, about and judged")
            return []
        scenes: list[Scene] = []
        for number, (at, block) in enumerate(cast(list[tuple[int, dict[str, Value]]], blocks), 1):
            scene = self.scene(at, block, f"scene.{number}.")
            if scene.identity in [other.identity for other in scenes]:
                self.error(at, f"scene.{number}.id", f'"{scene.identity}" stands twice; expected each once')
            scenes.append(scene)
        return scenes

    def scene(self, at: int, block: Mapping[str, Value], above: str) -> Scene:
        self.unknown(block, SCENE_KEYS, above)
        values = {key: self.text(block, key, above + key, at) for key in ("id", "file", "about", "judged")}
        if "/" in values["id"] or values["id"].startswith("."):
            self.error(block["id"][0], f"{above}id", "expected a name without / that begins with no dot")
        file = self.file.parent / values["file"]
        if values["file"] and not file.is_file():
            self.error(block["file"][0], f"{above}file", f"{file}: no such file; expected a scenario")
        judged, known = values["judged"], get_args(JudgedBy)
        if judged and judged not in known:
            expected = hint(judged, known) or f"; expected one of {', '.join(known)}"
            self.error(block["judged"][0], f"{above}judged", f'"{judged}"{expected}')
        given = self.texts(block["calls"], f"{above}calls") if "calls" in block else []
        calls = tuple(value for _, value in given)
        if bool(calls) != (judged == "voice"):
            line = block["calls"][0] if "calls" in block else at
            self.error(line, f"{above}calls", 'expected the ids of calls exactly where judged = "voice"')
        return Scene(values["id"], file, values["about"], cast(JudgedBy, judged), calls)

    def take_it_when(self, placed: Value | None, scenes: Sequence[str]) -> dict[str, list[str]]:
        if placed is None:
            return {}
        line, table = placed
        if not isinstance(table, dict):
            self.error(line, "take_it_when", "expected a table of schemes with lists of scenes")
            return {}
        wanted: dict[str, list[str]] = {}
        for scheme, values in cast(dict[str, Any], table).items():
            wanted[scheme] = []
            for at, name in self.texts(values, f"take_it_when.{scheme}"):
                wanted[scheme].append(name)
                if name not in scenes:
                    problem = f'there is no scene "{name}"{hint(name, scenes)}'
                    self.error(at, f"take_it_when.{scheme}", problem)
        return wanted

"""Studies: a scenario, schemes, seeds, and values of parameters."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, cast

from .. import _core
from .._core import InputError, Scenario, ScenarioError
from ..arguments import SEED_LIMIT, Texts, as_ordered, as_path, as_schemes, hint
from ..notebook import listed, page

Value = str | int | float | bool | list[Any] | dict[str, Any]
"""A value of a parameter: what may stand after the equals sign of `--set`."""

MOST_SEEDS = 1_000_000
"""Most seeds of a study."""

KEYS = ("name", "description", "scenario", "schemes", "seeds", "seed_from", "parameters", "case")
SCENARIO_BLOCKS = ("node", "flow", "radio")
"""Keys of most files of scenarios, which no study has."""
SHOWN = 20
"""Most errors that are shown; the rest is counted."""


class Case:
    """A combination that was picked by hand: values for some paths."""

    def __init__(self, name: str, values: dict[str, Value], lines: dict[str, int]) -> None:
        """`lines` are those of the values in the study's file."""
        self.name = name
        self.values = values
        self.lines = lines


class Study:
    """A scenario and the runs of it that a sweep does: every case with every combination of the parameters'
    values, every scheme and every seed."""

    name: str
    """Name of the study."""
    description: str
    """Description of the study; may be empty."""
    scenario: Path | Scenario
    """The scenario, or its file."""
    schemes: list[str]
    """In the order of the study; the first is the baseline of differences. Empty: the scenario's own."""
    seeds: list[int]
    """Seeds of the runs of each cell."""
    parameters: dict[str, list[Value]]
    """Values by path, as in `--set`."""
    cases: list[Case]
    """None: one case without a name."""
    origin: str
    """The file, as it was given."""
    lines: dict[tuple[str, int], int]
    """Lines of the parameters' values, by path and number; of the schemes, by "schemes" and number."""
    errors: list[str]
    """Errors of the study itself, where it was read by `read_study`; the other attributes hold the valid
    part."""
    left_out: bool
    """True if a value that distinguishes cells is wrong and left out."""

    def __init__(
        self,
        *,
        name: str,
        scenario: Scenario | str | os.PathLike[str],
        schemes: Texts | None = None,
        seeds: int | Iterable[int] = 10,
        seed_from: int = 1,
        parameters: Mapping[str, Sequence[Value]] | None = None,
        cases: Sequence[Mapping[str, Value]] = (),
        description: str = "",
    ) -> None:
        """Make a study; keys, checks and messages are those of a file.

        `seeds` is their number from `seed_from` on, or a list of them. `parameters` are paths as in
        `--set`, each with its values; `cases` are values by path, and an optional `id`. A scenario that was
        read before takes parameters as its resolved text does. Names of schemes and of parameters, and the
        values of parameters, are checked by `airfair.sweep`. Raises `InputError`.
        """
        given: dict[str, Any] = {"name": name, "description": description}
        if type(seed_from) is not int or seed_from != 1:
            given["seed_from"] = seed_from
        given["seeds"] = _listed(seeds)
        if parameters is not None:
            given["parameters"] = (
                {path: _listed(values) for path, values in parameters.items()}
                if isinstance(parameters, Mapping)
                else parameters
            )
        if schemes is not None:
            as_ordered("schemes", schemes)
            given["schemes"] = [schemes] if isinstance(schemes, str) else _listed(schemes)
        if not isinstance(cases, Sequence) or len(cases):
            given["case"] = _listed(cases)
        given["scenario"] = (
            "scenario"
            if isinstance(scenario, Scenario)
            else as_path("scenario", scenario, "a Scenario or the path of a file")
        )
        _Reader(self, "", Path()).read(
            {key: (0, _lineless(value)) for key, value in given.items()},
            scenario if isinstance(scenario, Scenario) else None,
        )
        self._refuse()

    def __repr__(self) -> str:
        """The scenario, and the schemes, seeds and parameters that it is run with."""
        known = (f"{name} {text}" for name, text in self._properties().items() if text)
        return f"<airfair.Study {self.name!r}: {'; '.join(known)}>"

    def _repr_html_(self) -> str:
        return page(f"Study {self.name}", {"description": self.description, **self._properties()})

    def _properties(self) -> dict[str, str]:
        return {
            "scenario": self.scenario.name if isinstance(self.scenario, Scenario) else str(self.scenario),
            "schemes": listed(self.schemes),
            "seeds": listed([str(seed) for seed in self.seeds]),
            **{path: listed([as_toml(v) for v in values]) for path, values in self.parameters.items()},
            "cases": listed([case.name for case in self.cases]),
        }

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a study's file. Raises `InputError` with everything that is wrong with it."""
        study = cls.__new__(cls)
        _fill(study, Path(as_path("path", path)))
        study._refuse()
        return study

    def _refuse(self) -> None:
        """Raise `InputError` if something is wrong with the study, and with what is wrong with its cells."""
        if self.errors:
            from .plan import Plan

            Plan(self)

    @property
    def paths(self) -> list[str]:
        """Every path that the study gives values to."""
        return list(dict.fromkeys([*self.parameters, *(path for case in self.cases for path in case.values)]))

    def place(self, line: int, key: str) -> str:
        """The place of a value, at the beginning of messages."""
        return f"{self.origin}:{line}: {key}" if line else key

    def resolved(self) -> dict[str, Any]:
        """The study for JSON."""
        return {
            "name": self.name,
            "description": self.description,
            "scenario": "" if isinstance(self.scenario, Scenario) else str(self.scenario),
            "schemes": self.schemes,
            "seeds": self.seeds,
            "parameters": self.parameters,
            "cases": [{"id": case.name, **case.values} for case in self.cases],
        }


def as_toml(value: Value, *, inside: bool = False) -> str:
    """A value in the notation of `--set`: a text stands as it is, but quoted inside of a list or table."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False) if inside else value
        case list():
            return f"[{', '.join(as_toml(item, inside=True) for item in value)}]"
        case dict():
            pairs = (
                f"{json.dumps(k, ensure_ascii=False)} = {as_toml(v, inside=True)}" for k, v in value.items()
            )
            return "{ " + ", ".join(pairs) + " }"
        case _:
            return repr(value)


def read_study(path: str | os.PathLike[str]) -> Study:
    """A study's file as far as it is sound: `errors` has what is not, for a `Plan` to raise together with
    what is wrong with the cells. Raises `InputError` if it is not TOML."""
    study = Study.__new__(Study)
    _fill(study, Path(as_path("study", path, "a Study or the path of a file")))
    return study


def refuse(errors: Sequence[str]) -> None:
    """Raise `InputError` if there are errors, one line each."""
    if errors:
        more = [f"... and {len(errors) - SHOWN} more"] if len(errors) > SHOWN else []
        raise InputError("\n".join([*errors[:SHOWN], *more]))


_Placed = tuple[int, object]
"""A line and what stands there, as `_core.read_toml` gives them; line 0 is a value that stands in no file."""


def _fill(study: Study, file: Path) -> None:
    try:
        document = _core.read_toml(file)
    except ScenarioError as error:
        raise InputError(str(error)) from None
    if "scenario" not in document and not document.keys().isdisjoint(SCENARIO_BLOCKS):
        raise InputError(f"{file}: a scenario; expected a study, in which `scenario` names such a file")
    _Reader(study, str(file), file.parent).read(document, None)


class _Reader:
    """A reader that fills a study from keys with lines, leaves out wrong values, and collects errors."""

    def __init__(self, study: Study, origin: str, folder: Path) -> None:
        self.study = study
        self.folder = folder
        self.errors: list[tuple[int, str]] = []
        from .columns import RESULTS

        self.taken = RESULTS
        study.origin = origin
        study.lines = {}
        study.left_out = False

    def error(self, line: int, key: str, problem: str) -> None:
        self.errors.append((line, f"{self.study.place(line, key)}: {problem}"))
        self.study.left_out |= key.partition(".")[0] in ("parameters", "case")

    def read(self, document: Mapping[str, _Placed], scenario: Scenario | None) -> None:
        study = self.study
        for key, (line, _) in document.items():
            if key not in KEYS:
                self.error(line, key, f"unknown key{hint(key, KEYS)}")
        study.name = self.text(document, "name", required=True)
        if study.name and not _is_name(study.name):
            self.error(document["name"][0], "name", f"{_shown(study.name)}: {NAME}")
        study.description = self.text(document, "description")
        file = self.text(document, "scenario", required=True)
        study.scenario = self.folder / file if scenario is None else scenario
        if file and isinstance(study.scenario, Path) and not study.scenario.is_file():
            problem = f"{study.scenario}: no such file; expected the file of a scenario"
            self.error(document["scenario"][0], "scenario", problem)
        study.schemes = self.schemes(document.get("schemes"))
        study.seeds = self.seeds(document)
        study.parameters = self.parameters(document.get("parameters"))
        study.cases = self.cases(document.get("case"))
        study.errors = [text for _, text in sorted(self.errors, key=lambda error: error[0])]

    def text(self, document: Mapping[str, _Placed], key: str, *, required: bool = False) -> str:
        if key not in document:
            if required:
                self.error(1 if self.study.origin else 0, key, "missing; expected a text")
            return ""
        line, value = document[key]
        if not isinstance(value, str) or (required and not value):
            self.error(line, key, f"{_shown(value)}; expected a text")
            return ""
        return value

    def schemes(self, placed: _Placed | None) -> list[str]:
        if placed is None:
            return []
        line, value = placed
        if not isinstance(value, list) or not value:
            self.error(
                line, "schemes", f'{_shown(value)}; expected a list of schemes such as ["droptail", "red"]'
            )
            return []
        names: list[str] = []
        for at, name in cast(list[_Placed], value):
            if not isinstance(name, str):
                self.error(at, "schemes", f"{_shown(name)}; expected the name of a scheme")
                continue
            try:
                (known,) = as_schemes([name])
            except InputError as error:
                self.error(at, "schemes", str(error).removeprefix("schemes: "))
                continue
            if known in names:
                self.error(at, "schemes", f'"{known}" stands twice; expected each scheme once')
            else:
                self.study.lines["schemes", len(names)] = at
                names.append(known)
        return names

    def seeds(self, document: Mapping[str, _Placed]) -> list[int]:
        line, seeds = document.get("seeds", (0, 10))
        from_line, first = document.get("seed_from", (0, 1))
        before = len(self.errors)
        if not _is_count(first, 0, SEED_LIMIT - 1):
            self.error(from_line, "seed_from", f"{_shown(first)}; expected a seed, 0 to {SEED_LIMIT - 1}")
            first = 0
        if isinstance(seeds, list):
            values = [seed for _, seed in cast(list[_Placed], seeds)]
            for at, seed in cast(list[_Placed], seeds):
                if not _is_count(seed, 0, SEED_LIMIT - 1):
                    self.error(at, "seeds", f"{_shown(seed)}; expected a seed, 0 to {SEED_LIMIT - 1}")
            if not values:
                self.error(line, "seeds", "none; expected at least one seed")
            before_it: set[str] = set()
            for at, seed in cast(list[_Placed], seeds):
                if repr(seed) in before_it:
                    self.error(at, "seeds", f"{_shown(seed)} stands twice; expected each seed once")
                before_it.add(repr(seed))
            if "seed_from" in document:
                self.error(from_line, "seed_from", "goes with a number of seeds, not with a list of them")
            return sorted(cast(list[int], values)) if len(self.errors) == before else []
        if not _is_count(seeds, 1, min(MOST_SEEDS, SEED_LIMIT - cast(int, first))):
            self.error(
                line,
                "seeds",
                f"{_shown(seeds)}; expected how many seeds, 1 to {MOST_SEEDS}, or a list of them",
            )
        if len(self.errors) > before:
            return []
        return list(range(cast(int, first), cast(int, first) + cast(int, seeds)))

    def parameters(self, placed: _Placed | None) -> dict[str, list[Value]]:
        if placed is None:
            return {}
        line, table = placed
        if not isinstance(table, dict):
            self.error(line, "parameters", f"{_shown(table)}; expected a table of paths with lists of values")
            return {}
        read: dict[str, list[Value]] = {}
        for path, at, values in _flat(table):
            key = f"parameters.{path}"
            if not self.path(at, key, path):
                continue
            if path in read:
                self.error(at, key, "stands twice")
                continue
            if not isinstance(values, list) or not values:
                self.error(at, key, f"{_shown(values)}; expected a list of values such as [16, 64]")
                # A single value is read as one all the same: more may be wrong with it.
                values = [] if isinstance(values, list) else [(at, values)]
            kept = [
                (value_at, plain)
                for value_at, plain in ((at, _plain(value)) for at, value in cast(list[_Placed], values))
                if self.value(value_at, key, plain)
            ]
            sound: list[Value] = []
            for value_at, plain in kept:
                if plain in sound and as_toml(plain) in map(as_toml, sound):
                    self.error(value_at, key, f"{_shown(plain)} stands twice; expected each value once")
                    continue
                self.study.lines[path, len(sound)] = value_at
                sound.append(plain)
            if sound:
                read[path] = sound
        return read

    def cases(self, placed: _Placed | None) -> list[Case]:
        if placed is None:
            return []
        line, blocks = placed
        if not isinstance(blocks, list) or not all(
            isinstance(b, dict) for _, b in cast(list[_Placed], blocks)
        ):
            self.error(line, "case", "expected [[case]] blocks, each with paths and their values")
            return []
        cases: list[Case] = []
        for i, (at, block) in enumerate(cast(list[_Placed], blocks)):
            name, values, lines = str(i + 1), {}, {}
            for path, value_at, value in _flat(cast(dict[str, _Placed], block)):
                if path == "id":
                    name = self.name(value_at, f"case.{i + 1}.id", value) or name
                    continue
                key = f"case.{name}.{path}"
                plain = _plain(value)
                if path in self.study.parameters:
                    self.error(value_at, key, "is one of [parameters] too; expected it in one of the places")
                elif self.path(value_at, key, path) and self.value(value_at, key, plain):
                    values[path], lines[path] = plain, value_at
            if name in [case.name for case in cases]:
                self.error(at, f"case.{name}", "another case has this id; expected each once")
            cases.append(Case(name, values, lines))
        return cases

    def name(self, line: int, key: str, value: object) -> str | None:
        if isinstance(value, str) and _is_name(value):
            return value
        self.error(line, key, f"{_shown(value)}: {NAME}")
        return None

    def path(self, line: int, key: str, path: str) -> bool:
        """True if this may be the path of a parameter."""
        if path == "scheme":
            self.error(line, key, 'a scheme is no parameter; expected schemes = ["droptail", "red"] above')
        elif path in self.taken:
            self.error(line, key, "a column of the results has this name; it cannot be a parameter")
        else:
            return True
        return False

    def value(self, line: int, key: str, value: Value) -> bool:
        """True if this may be a value of a parameter."""
        if isinstance(value, float) and not math.isfinite(value):
            self.error(line, key, f"{value}; expected a finite number")
            return False
        if not isinstance(value, str | int | float | list | dict):
            self.error(
                line, key, f"{_shown(value)}; expected a text, a number, true or false, a list or a table"
            )
            return False
        return True


NAME = "expected 1 to 64 characters without control characters, / and space around them"


def _is_name(text: str) -> bool:
    return (
        1 <= len(text) <= 64
        and text == text.strip()
        and text.isprintable()
        and "/" not in text
        and text[0] != "."
    )


def _is_count(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _flat(table: Mapping[str, _Placed], above: str = "") -> Iterable[tuple[str, int, object]]:
    """Every path with its line and value: `a.b = ...`, `"a.b" = ...` and `b` in a table `a` are the same."""
    for key, (line, value) in table.items():
        # Below the first part a dot belongs to the name.
        path = f'{above}."{key}"' if above and "." in key else f"{above}.{key}" if above else key
        if isinstance(value, dict):
            yield from _flat(value, path)
        else:
            yield path, line, value


def _plain(value: object) -> Value:
    """A value without lines."""
    if isinstance(value, list):
        return [_plain(item) for _, item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, (_, item) in value.items()}
    return cast(Value, value)


def _listed(value: object) -> object:
    """Several values from a program as a list; what is one value stays."""
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return list(cast(Iterable[object], value)) if several else value


def _lineless(value: object) -> object:
    """A value from a program as if it stood at line 0. Numbers of other libraries become Python's."""
    if isinstance(value, (list, tuple)):
        return [(0, _lineless(item)) for item in value]
    if isinstance(value, Mapping):
        return {str(key): (0, _lineless(item)) for key, item in value.items()}
    item = getattr(value, "item", None)  # numpy
    return item() if callable(item) else value


def _shown(value: object) -> str:
    match value:
        case str():
            return json.dumps(value if len(value) <= 60 else value[:60] + "...", ensure_ascii=False)
        case bool():
            return str(value).lower()
        case list():
            return "[...]" if value else "[]"
        case dict():
            return "{...}"
        case _:
            return str(value)

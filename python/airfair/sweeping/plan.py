"""Every run of a study, checked and named before the first one starts."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .. import _core, selections
from .._core import InputError, Scenario
from ..arguments import Overrides, as_overrides, refuse_own
from .study import SHOWN, Case, Study, Value, as_toml, refuse
from .written import code_of

AT_A_TIME = 256
"""Scenarios that are checked together."""


class Cell(NamedTuple):
    """A case of the study and a value of each parameter, by their numbers; -1 is no case."""

    case: int
    values: tuple[int, ...]


class Run(NamedTuple):
    """One run: the number of its cell, and its identity."""

    cell: int
    scheme: str
    seed: int
    identity: str


@dataclass(slots=True)
class Checked:
    """A checked cell."""

    sha256: str
    scheme: str
    warnings: list[str]


class Plan:
    """The cells of a study and the runs of each.

    A cell's scenario is read when it is needed: a plan of 100,000 cells holds their digests, not their texts.
    """

    def __init__(
        self,
        study: Study,
        overrides: Overrides = (),
        on_check: Callable[[int, int], object] | None = None,
    ) -> None:
        """Check every cell. `overrides` replace values of every scenario; `on_check` is called with the
        numbers of checked cells and of all. Raises `InputError` with everything that is wrong."""
        self.study = study
        overrides = as_overrides(overrides)
        refuse_own(overrides)
        if isinstance(overrides, Mapping):
            overrides = [f"{path}={as_toml(value)}" for path, value in overrides.items()]
        self.overrides = list(overrides)
        errors = list(study.errors)
        for path in (override.partition("=")[0].strip() for override in self.overrides):
            if path in study.paths:
                errors.append(f"--set {path}: is a parameter of the study; change it there")
            elif path == "scheme":
                errors.append("--set scheme: schemes are named by the study; change them there")
        self.cells = [
            Cell(case, values)
            for case in (range(len(study.cases)) if study.cases else [-1])
            for values in itertools.product(*(range(len(v)) for v in study.parameters.values()))
        ]
        self._checked = self._check(on_check, errors)
        self.schemes = study.schemes or [self._checked[0].scheme]
        self._code = {scheme: _code_of(scheme) for scheme in self.schemes}
        self.resolved = lru_cache(2)(self._resolved)

    @property
    def warnings(self) -> list[str]:
        """Warnings to consider before using the results."""
        return list(dict.fromkeys(warning for checked in self._checked for warning in checked.warnings))

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.cells) * len(self.schemes) * len(self.study.seeds)

    def __iter__(self) -> Iterator[Run]:
        """Every run, all of a cell before the next."""
        for cell, scheme, seed in itertools.product(range(len(self.cells)), self.schemes, self.study.seeds):
            sha256 = self._checked[cell].sha256
            yield Run(cell, scheme, seed, identity(sha256, scheme, seed, self._code[scheme]))

    def case(self, cell: int) -> Case | None:
        """The case that a cell belongs to."""
        number = self.cells[cell].case
        return None if number < 0 else self.study.cases[number]

    def parameters(self, cell: int) -> dict[str, Value]:
        """The parameters of a cell: paths and values."""
        case = self.case(cell)
        pairs = zip(self.study.parameters.items(), self.cells[cell].values, strict=True)
        return {path: values[i] for (path, values), i in pairs} | ({} if case is None else case.values)

    def sha256(self, cell: int) -> str:
        """Digest of a cell's resolved scenario."""
        return self._checked[cell].sha256

    def describe(self, cell: int) -> str:
        """A cell in words."""
        case = self.case(cell)
        words = [] if case is None else [f"case {case.name}"]
        words += [f"{path}={as_toml(value)}" for path, value in self.parameters(cell).items()]
        return ", ".join(words) or "the scenario as it is"

    def scenario(self, cell: int) -> Scenario:
        """A cell's scenario. Raises `ScenarioError`."""
        overrides = self.overrides + [f"{path}={as_toml(v)}" for path, v in self.parameters(cell).items()]
        source = self.study.scenario
        if isinstance(source, Path):
            return Scenario.read(source, overrides)
        return Scenario.parse(source.resolved, source.name, overrides)

    def _resolved(self, cell: int) -> str:
        """A cell's resolved scenario, made anew. Raises `InputError` if it is another one by now."""
        text = self.scenario(cell).resolved
        if digest(text) != self._checked[cell].sha256:
            raise InputError(f"{self.study.scenario}: was changed while the sweep went on")
        return text

    def _check(self, on_check: Callable[[int, int], object] | None, before: Sequence[str]) -> list[Checked]:
        """The checked cells. Raises `InputError` with what was wrong `before` and is wrong here."""
        checked: list[Checked] = []
        errors: dict[str, None] = dict.fromkeys(before)
        twins: dict[str, int] = {}
        source = self.study.scenario
        # Without its scenario nothing more can be known of a study.
        cells = len(self.cells) if isinstance(source, Scenario) or source.is_file() else 0
        with ThreadPoolExecutor() as threads:
            for start in range(0, cells, AT_A_TIME):
                some = range(start, min(start + AT_A_TIME, cells))
                for cell, result in zip(some, threads.map(self._check_one, some), strict=True):
                    if isinstance(result, list):
                        errors.update(dict.fromkeys(result))
                        continue
                    other = twins.setdefault(result.sha256, cell)
                    # The values that were left out may be the only difference.
                    if other != cell and not self.study.left_out:
                        twin = f"{self.describe(cell)}: the same scenario as {self.describe(other)}"
                        errors[f"{self._at(cell)}{twin}"] = None
                    checked.append(result)
                if on_check is not None:
                    on_check(some.stop, cells)
                if len(errors) > 10 * SHOWN:
                    break
        refuse(sorted(errors, key=self._line))
        return checked

    def _line(self, error: str) -> float:
        """The line of the study that an error names; errors of other files come last."""
        line = error.removeprefix(f"{self.study.origin}:").partition(":")[0]
        return int(line) if line.isdecimal() else math.inf

    def _check_one(self, cell: int) -> Checked | list[str]:
        """Read a cell's scenario; what is wrong is placed where the study says it."""
        try:
            scenario = self.scenario(cell)
        except InputError as error:
            return [self._place(line, cell) for line in str(error).splitlines()]
        errors = []
        for i, scheme in enumerate(self.study.schemes):
            try:
                scenario.check_scheme(scheme)
            except InputError as error:  # its parameters are wrong, or the network lacks what it needs
                errors.append(f"{self.study.place(self.study.lines['schemes', i], 'schemes')}: {error}")
        if not self.study.schemes:
            try:
                scenario.check_scheme(scenario.scheme)
            except InputError as error:
                errors.append(f"{self._at(cell)}{error}")
        if errors:
            return errors
        unused = scenario.unused_settings(self.study.schemes or [scenario.scheme])
        warnings = [*scenario.warnings, *(self._place(warning, cell) for warning in unused)]
        return Checked(digest(scenario.resolved), scenario.scheme, warnings)

    def _place(self, line: str, cell: int) -> str:
        """`--set PATH: ...` of a parameter becomes `study.toml:LINE: parameters.PATH: ...`."""
        for path in self.parameters(cell):
            rest = line.removeprefix(f"--set {path}: ")
            if rest != line:
                return f"{self._of(path, cell)}: {rest}"
        return line

    def _of(self, path: str, cell: int) -> str:
        case = self.case(cell)
        if case is not None and path in case.values:
            return self.study.place(case.lines[path], f"case.{case.name}.{path}")
        number = self.cells[cell].values[list(self.study.parameters).index(path)]
        return self.study.place(self.study.lines[path, number], f"parameters.{path}")

    def _at(self, cell: int) -> str:
        paths = list(self.parameters(cell))
        return f"{self._of(paths[-1], cell)}: " if paths else ""


def _code_of(selection: str) -> str:
    """Digests of the files in which schemes of a selection are written; empty if none is."""
    return "".join(map(code_of, selections.read(selection).schemes))


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def identity(sha256: str, scheme: str, seed: int, code: str = "") -> str:
    """The identity of a run: the digest of its resolved scenario, its scheme (and that of its
    `code`, if it is written in Python), its seed, and the version of Airfair. The same identity gives the
    same bytes, so that a finished run is never repeated."""
    parts = [_core.__version__, sha256, scheme, str(seed)] + ([code] if code else [])
    return digest("\0".join(parts))[:32]

"""The results of the suite from which the page is made: a file beside the page, a line for each row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict, cast

from airfair.suite.judging import Judgement, Row
from airfair.suite.settings import BASELINE

FILE = Path(__file__).resolve().parent.parent / "which-scheme.json"

DIGITS = 4
"""Significant digits that are stored: more than the page shows, and fewer than a float has."""


class Table(TypedDict):
    """The object that `airfair suite --json` prints."""

    suite: str
    schemes: list[str]
    seeds: list[int]
    set: list[str]
    scenes: list[Judgement]


def read(file: Path = FILE) -> Table:
    """The stored results."""
    return cast(Table, json.loads(file.read_text(encoding="utf-8")))


def encoded(table: Table) -> str:
    """The results as JSON with few digits, a line for each row, so that a diff shows what has moved."""
    short = cast(Table, _rounded(table))
    head = [f"{_json(key)}: {_json(value)}," for key, value in short.items() if key != "scenes"]
    scenes = ",\n".join(_scene(scene) for scene in short["scenes"])
    return "\n".join(["{", *head, '"scenes": [', scenes, "]", "}", ""])


def _scene(scene: Judgement) -> str:
    head = _json({key: value for key, value in scene.items() if key != "rows"})
    rows = ",\n".join(_json(row) for row in scene["rows"])
    return f'{head[:-1]}, "rows": [\n{rows}\n]}}'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rounded(value: object) -> object:
    """The value with every number as short as it is stored."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


class Cell:
    """A selection on a scene, beside drop-tail. Every row of a suite has its numbers where it is judged."""

    def __init__(self, scene: Judgement, row: Row) -> None:
        self.scene = scene["scene"]
        self.row = row
        self.baseline = baseline(scene)

    @property
    def verdict(self) -> str:
        """`help`, `pass`, `unclear` or `harm`."""
        return self.row["verdict"]

    @property
    def change(self) -> float:
        """Change of the least share."""
        return mean(self.row, "change")

    @property
    def lower(self) -> float:
        """The lower end of the interval of this change."""
        change = self.row["change"]
        return self.change - ((change and change["ci95"]) or 0.0)

    @property
    def least(self) -> tuple[float, float]:
        """The least share with drop-tail, and with the selection."""
        return mean(self.baseline, "least"), mean(self.row, "least")

    @property
    def kept(self) -> float:
        """The total as a part of drop-tail's."""
        return mean(self.row, "total") / mean(self.baseline, "total")


def mean(row: Row, key: str) -> float:
    """The mean of an estimate that every row of its kind has."""
    estimate = row[key]  # type: ignore[literal-required]
    if estimate is None:
        raise ValueError(f"{row['scheme']}: no {key}")
    return float(estimate["mean"])


def baseline(scene: Judgement) -> Row:
    """The row of drop-tail."""
    return next(row for row in scene["rows"] if row["scheme"] == BASELINE)


def cells(table: Table, selection: str, scenes: Sequence[str]) -> Iterator[Cell]:
    """The selection on those of the scenes that the table has, in their order."""
    by_name = {scene["scene"]: scene for scene in table["scenes"]}
    for name in scenes:
        for row in by_name[name]["rows"] if name in by_name else []:
            if row["scheme"] == selection:
                yield Cell(by_name[name], row)

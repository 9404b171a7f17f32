"""Comparison of the runs of both worlds: limits, and lines of a table.

A run is a mapping of measures to numbers: `goodput left` in kbit/s, `ping` in ms, and so on. No files and no
runs here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Run = Mapping[str, float]


@dataclass(frozen=True)
class Limit:
    """A limit of the mean of the emulated runs: `relative` and `absolute` distance from the simulated mean,
    and bounds of its own. Of both distances the larger counts; none: no distance is asked."""

    relative: float | None = None
    absolute: float | None = None
    least: float | None = None
    most: float | None = None

    def holds(self, simulated: float | None, emulated: float) -> bool:
        """True if the mean is within the limit. NaN never is."""
        if math.isnan(emulated):
            return False
        near = True
        if self.relative is not None or self.absolute is not None:
            if simulated is None:
                return False
            distance = max((self.relative or 0) * abs(simulated), self.absolute or 0)
            near = abs(emulated - simulated) <= distance
        over = self.least is None or emulated >= self.least
        return near and over and (self.most is None or emulated <= self.most)

    def text(self, unit: str) -> str:
        """For the table: `± 5 %, at least 300`."""
        found = []
        if self.relative is not None:
            found.append(f"± {100 * self.relative:.3g} %")
        if self.absolute is not None:
            found.append(f"± {self.absolute:.3g} {unit}".rstrip())
        if self.least is not None and self.least == self.most:
            found.append(f"exactly {self.least:g}")
        elif self.least is not None and self.most is not None:
            found.append(f"{self.least:g} to {self.most:g}")
        elif self.least is not None:
            found.append(f"at least {self.least:g}")
        elif self.most is not None:
            found.append(f"at most {self.most:g}")
        return ", ".join(found)


@dataclass(frozen=True)
class Check:
    """A line of the table: the sum of measures, less those of `less`, in per cent of those of `share_of` if
    there are any. `alone`: the simulator has no such number."""

    label: str
    measures: tuple[str, ...]
    limit: Limit
    unit: str = "kbit/s"
    less: tuple[str, ...] = ()
    share_of: tuple[str, ...] = ()
    alone: bool = False

    def value(self, run: Run) -> float:
        """The number of a run; NaN where the run lacks a measure."""
        value = total(run, self.measures) - total(run, self.less)
        if not self.share_of:
            return value
        whole = total(run, self.share_of)
        return 100 * value / whole if whole > 0 else math.nan


@dataclass(frozen=True)
class Line:
    """A judged check."""

    row: str
    check: Check
    simulated: tuple[float, ...]
    emulated: tuple[float, ...]
    receivers: tuple[float, ...]
    """The same by the reports of the receiving programs, where they have one."""
    ok: bool

    def difference(self) -> str:
        """Of the means, in per cent, or in the unit where that says nothing."""
        if not self.simulated or not self.emulated:
            return "–"
        old, new = mean(self.simulated), mean(self.emulated)
        if self.check.unit == "kbit/s" and old > 0:
            return f"{100 * (new / old - 1):+.1f} %"
        return f"{new - old:+.3g} {self.check.unit}".rstrip()


def judged(row: str, check: Check, simulated: Sequence[Run], emulated: Sequence[Run]) -> Line:
    """A check on the runs of both worlds. Without an emulated run it does not hold."""
    old = () if check.alone else tuple(check.value(run) for run in simulated)
    new = tuple(check.value(run) for run in emulated)
    reported = tuple(
        check.value({name.removeprefix("received "): value for name, value in run.items()})
        for run in (
            {name: value for name, value in run.items() if name.startswith("received ")} for run in emulated
        )
    )
    ok = bool(new) and check.limit.holds(mean(old) if old else None, mean(new))
    return Line(row, check, old, new, tuple(value for value in reported if not math.isnan(value)), ok)


def total(run: Run, names: Sequence[str]) -> float:
    """The sum of measures; NaN where one is missing."""
    return math.fsum(run.get(name, math.nan) for name in names)


def mean(values: Sequence[float]) -> float:
    """The mean; NaN without values."""
    return math.fsum(values) / len(values) if values else math.nan


def span(values: Sequence[float]) -> str:
    """Least to largest value, as a reader needs them."""
    if not values:
        return "–"
    least, largest = shown(min(values)), shown(max(values))
    return least if least == largest else f"{least} to {largest}"


def shown(value: float) -> str:
    """A number with the digits that matter."""
    return "none" if math.isnan(value) else f"{value:.0f}" if abs(value) >= 30 else f"{value:.3g}"


HEAD = (
    "measure",
    "simulate",
    "emulate",
    "difference",
    "limit",
    "by the receivers",
    "holds?",
)


def cells(line: Line) -> list[str]:
    """The cells of a line of the table, in the order of `HEAD`."""
    unit = line.check.unit
    return [
        f"{line.check.label}{f', {unit}' if unit else ''}",
        span(line.simulated),
        span(line.emulated),
        line.difference(),
        line.check.limit.text(unit),
        span(line.receivers),
        "yes" if line.ok else "**no**",
    ]

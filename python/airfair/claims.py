"""What a paper claims, as rows of data, and whether measurements bear it out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from . import _core, tables
from .results import CompareRow, Estimate


class MeasuredRow(CompareRow):
    """A series over its seeds."""

    total_share: Estimate
    """Its total goodput as a share of that of the series that its differences are to, seed by seed."""
    numbers: dict[str, Estimate]
    """What the experiment reads out of each run."""
    number_differences: dict[str, Estimate]
    """To the same series, paired by seed."""
    number_ratios: dict[str, Estimate]
    """The same as ratios."""
    number_values: Mapping[str, Sequence[float]]
    """Seed by seed; NaN where a run has no such number."""
    curves: Mapping[str, Sequence[float]]
    """Of the first seed."""


Measured = Mapping[str, MeasuredRow]
"""What was measured, by the name of the series."""


@dataclass(frozen=True)
class Statistic:
    """A number of a series, with its interval."""

    name: str
    of: Callable[[MeasuredRow], Estimate]
    signed: bool = False
    """Whether it is a difference."""
    rate: bool = True
    """Whether it is in bit/s; otherwise a number without a unit, or with one in its name."""
    each: Callable[[MeasuredRow], Sequence[float]] | None = None
    """The same seed by seed, NaN where a run has none; for claims that pair seeds."""

    def show(self, estimate: Estimate) -> str:
        if self.rate:
            return tables.rate_of(estimate, sign=self.signed)
        return tables.significant(estimate, sign=self.signed)

    def show_value(self, value: float) -> str:
        return tables.rate(value) if self.rate and value else f"{value:g}"


def goodput(flow: str) -> Statistic:
    """Goodput of a flow, bit/s."""

    def of(row: MeasuredRow) -> Estimate:
        return next(f["goodput_bps"] for f in row["flows"] if f["id"] == flow)

    return Statistic(f"goodput of {flow}", of)


def goodput_gain(flow: str) -> Statistic:
    """Difference of a flow's goodput, paired by seed, bit/s."""

    def of(row: MeasuredRow) -> Estimate:
        return next(f["difference"] for f in row["flows"] if f["id"] == flow)

    return Statistic(f"difference of the goodput of {flow}, paired by seed", of, signed=True)


def least_goodput(flows: Sequence[str]) -> Statistic:
    """Goodput of that flow of several whose interval reaches lowest, bit/s."""

    def of(row: MeasuredRow) -> Estimate:
        return min((goodput(flow).of(row) for flow in flows), key=lower)

    return Statistic(f"least goodput of {', '.join(flows)}", of)


total_gain = Statistic(
    "difference of the total goodput, paired by seed",
    lambda row: row["difference"]["aggregate_goodput_bps"],
    signed=True,
)


total = Statistic("total goodput", lambda row: row["aggregate_goodput_bps"])

total_share = Statistic(
    "share of the other's total goodput, seed by seed", lambda row: row["total_share"], rate=False
)

minimum = Statistic("goodput of the flow with the least", lambda row: row["min_goodput_bps"])

minimum_gain = Statistic(
    "difference of the least goodput, paired by seed",
    lambda row: row["difference"]["min_goodput_bps"],
    signed=True,
)

jain = Statistic("Jain's index", lambda row: row["jain_index"], rate=False)

jain_gain = Statistic(
    "difference of Jain's index, paired by seed",
    lambda row: row["difference"]["jain_index"],
    signed=True,
    rate=False,
)


def number(name: str) -> Statistic:
    """A number that the experiment reads out of each run."""
    return Statistic(
        name, lambda row: row["numbers"][name], rate=False, each=lambda row: row["number_values"][name]
    )


def number_gain(name: str) -> Statistic:
    """Its difference to the series that this one is compared with, paired by seed."""
    return Statistic(
        f"difference of {name}, paired by seed",
        lambda row: row["number_differences"][name],
        signed=True,
        rate=False,
    )


def number_ratio(name: str) -> Statistic:
    """Its ratio to that of the series that this one is compared with, seed by seed."""
    return Statistic(f"ratio of {name}, seed by seed", lambda row: row["number_ratios"][name], rate=False)


@dataclass(frozen=True)
class Claim:
    """`statistic` of `series` is above or below `factor` times `bound`, or above or below `value`."""

    text: str
    """What the paper says, in our words."""
    where: str
    """Its place in the paper."""
    series: str
    baseline: str
    """The series where the claim must be false, or it shows nothing."""
    statistic: Statistic
    comparison: Literal["above", "below"]
    bound: Statistic | None = None
    factor: float = 1.0
    value: float = 0.0
    """Where there is no other statistic as bound."""
    bound_series: str | tuple[str, ...] | None = None
    """The series that the bound is taken from, whatever `statistic` is taken from; None: the same. Several:
    it holds only if it does against each of them, but for the one that is judged."""
    paired: bool = False
    """Whether the interval is that of the differences to the bound, seed by seed: runs of one seed have the
    same luck, such as the same load. Both statistics need `each`."""

    @property
    def comparison_text(self) -> str:
        """Statistic, comparison and bound in words."""
        bound = self.statistic.show_value(self.value) if self.bound is None else self.bound.name
        times = "" if self.factor == 1 else f"{self.factor:g} times the "
        series = self.bound_series
        of = "" if series is None else f" of {series if isinstance(series, str) else ', '.join(series)}"
        return f"{self.statistic.name}, {self.comparison} {times}{bound}{of}{', seed by seed' * self.paired}"

    def others(self, series: str) -> list[str]:
        """The series whose bound counts when `series` is judged."""
        if isinstance(self.bound_series, tuple):
            return [other for other in self.bound_series if other != series]
        return [self.bound_series or series]

    def measured(self, rows: Measured, series: str) -> str:
        """What is compared, as a reader sees it."""
        row = rows[series]
        text = self.statistic.show(self.statistic.of(row))
        if self.bound is None:
            return f"{text} against {self.statistic.show_value(self.value)}" if self.value else text
        bounds = [self.bound.show(self.bound.of(rows[other])) for other in self.others(series)]
        times = "" if self.factor == 1 else f"{self.factor:g} × "
        return f"{text} against " + ", ".join(f"{times}({b})" if times else b for b in bounds)

    def holds(self, rows: Measured, series: str) -> bool:
        """Whether the whole 95 % interval lies on the claimed side, of the whole interval of the bound.

        Where the bound has an interval of its own this is stricter than a test of the difference.
        """
        return all(self._holds(rows[series], rows[other]) for other in self.others(series))

    def _holds(self, row: MeasuredRow, other: MeasuredRow) -> bool:
        value, bound = self.statistic.of(row), Estimate(mean=self.value, ci95=0.0)
        if self.bound is not None and self.paired:
            value, bound = self._difference(row, other), Estimate(mean=0.0, ci95=0.0)
        elif self.bound is not None:
            bound = self.bound.of(other)
        if self.comparison == "below":
            return upper(value) < self.factor * lower(bound)
        return lower(value) > self.factor * upper(bound)

    def _difference(self, row: MeasuredRow, other: MeasuredRow) -> Estimate:
        """To `factor` times the bound, over the seeds where both are there."""
        if self.bound is None or self.statistic.each is None or self.bound.each is None:
            raise ValueError(f"{self.statistic.name}: no value for each seed")
        pairs = zip(self.statistic.each(row), self.bound.each(other), strict=True)
        differences = [a - self.factor * b for a, b in pairs if not math.isnan(a - b)]
        if not differences:
            return {"mean": math.nan, "ci95": None}
        mean, ci95 = _core.estimate(differences)
        return {"mean": mean, "ci95": ci95}


def lower(estimate: Estimate) -> float:
    """Lower end of the interval; one seed says nothing."""
    return -math.inf if estimate["ci95"] is None else estimate["mean"] - estimate["ci95"]


def upper(estimate: Estimate) -> float:
    """Upper end of the interval; one seed says nothing."""
    return math.inf if estimate["ci95"] is None else estimate["mean"] + estimate["ci95"]


class ClaimRow(TypedDict):
    """A claim in `paper ID --json`."""

    text: str
    where: str
    statistic: str
    measured: str
    holds: bool
    baseline_holds: bool


def judge(claim: Claim, rows: Measured) -> ClaimRow:
    """The claim on its own series and on its baseline."""
    return {
        "text": claim.text,
        "where": claim.where,
        "statistic": claim.comparison_text,
        "measured": claim.measured(rows, claim.series),
        "holds": claim.holds(rows, claim.series),
        "baseline_holds": claim.holds(rows, claim.baseline),
    }

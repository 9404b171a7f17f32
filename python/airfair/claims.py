"""Claims of a paper as data, and their test by measurements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict, cast, get_args

from . import _core, quantities
from .results import CompareRow, Estimate

Source = Literal["paper", "ours", "calibration"]
"""The source of a claim: the paper, in its words or figures; we; or a value that was set by this very
measurement."""

MAIN = "main"
"""The reading of a paper by which all its figures are judged."""


class Interval(Estimate, total=False):
    """An estimate whose interval need not lie alike on both sides; then `ci95` is the greater distance."""

    low: float
    high: float


class MeasuredRow(CompareRow):
    """A series over its seeds."""

    against: str | None
    """The series that its differences are to; None: itself."""
    run_values: Mapping[str, Sequence[float]]
    """Numbers of the result of each run, seed by seed: by the names of `compare --statistic`, `flow.ID` for
    the goodput of a flow in bit/s; NaN where a run has no such number."""
    against_values: Mapping[str, Sequence[float]]
    """The same of the series that its differences are to; its own where there is none."""
    total_share: Estimate
    """The total goodput as a share of that of the series that the differences are to, seed by seed."""
    numbers: dict[str, Estimate]
    """Numbers that the experiment reads from each run."""
    number_differences: dict[str, Estimate]
    """To the same series, paired by seed."""
    number_difference_values: Mapping[str, Sequence[float]]
    """The same seed by seed; NaN where one of the runs has no such number."""
    number_ratios: dict[str, Estimate]
    """Ratios to the same series, paired by seed."""
    number_values: Mapping[str, Sequence[float]]
    """Seed by seed; NaN where a run has no such number."""
    curves: Mapping[str, Sequence[float]]
    """Of the first seed."""


Measured = Mapping[str, MeasuredRow]
"""Measurements by the name of the series."""


@dataclass(frozen=True)
class Statistic:
    """A number of a series, with its interval."""

    name: str
    of: Callable[[MeasuredRow], Estimate]
    signed: bool = False
    """True if it is a difference."""
    ratio: bool = False
    """True if it is a ratio."""
    rate: bool = True
    """True if it is in bit/s; otherwise a number without a unit, or with one in its name."""
    each: Callable[[MeasuredRow], Sequence[float]] | None = None
    """The same seed by seed, NaN where a run has none; for claims that pair seeds."""

    def show(self, estimate: Estimate) -> str:
        if "low" in estimate:
            ends = (self.show({"mean": end(estimate), "ci95": None}) for end in (lower, upper))
            return f"{self.show({'mean': estimate['mean'], 'ci95': None})} ({' to '.join(ends)})"
        if self.rate:
            return quantities.rate_of(estimate, sign=self.signed)
        return quantities.significant(estimate, sign=self.signed)

    def show_value(self, value: float) -> str:
        return quantities.rate(value) if self.rate and value else f"{value:g}"


def estimate(values: Iterable[float]) -> Estimate:
    """Mean and 95 % interval (Student's t) over the runs that have such a number, those that are not NaN."""
    there = [value for value in values if not math.isnan(value)]
    if not there:
        return {"mean": math.nan, "ci95": None}
    mean, ci95 = _core.estimate(there)
    return {"mean": mean, "ci95": ci95}


def _interval(value: float, ends: tuple[float, float] | None) -> Interval:
    if ends is None:
        return {"mean": value, "ci95": None}
    low, high = ends
    return {"mean": value, "ci95": max(value - low, high - value), "low": low, "high": high}


def goodput(flow: str) -> Statistic:
    """Goodput of a flow, bit/s."""

    def of(row: MeasuredRow) -> Estimate:
        return next(f["goodput_bps"] for f in row["flows"] if f["id"] == flow)

    return Statistic(f"goodput of {flow}", of, each=lambda row: row["run_values"][f"flow.{flow}"])


def share_of_mean(flow: str) -> Statistic:
    """A flow's goodput as a share of the mean of all flows of its run; NaN where nothing was delivered."""

    def each(row: MeasuredRow) -> list[float]:
        flows = [row["run_values"][f"flow.{f['id']}"] for f in row["flows"]]
        means = [sum(run) / len(run) for run in zip(*flows, strict=True)]
        own = row["run_values"][f"flow.{flow}"]
        return [value / mean if mean else math.nan for value, mean in zip(own, means, strict=True)]

    return Statistic(
        f"goodput of {flow} as a share of the run's mean",
        lambda row: estimate(each(row)),
        rate=False,
        each=each,
    )


def median(of: Statistic) -> Statistic:
    """The median over the runs, with the interval between order statistics: for what is not spread about a
    mean. Runs without the number take no part; below six there is no interval."""

    def middle(row: MeasuredRow) -> Interval:
        there = [value for value in _seed_by_seed(of, row) if not math.isnan(value)]
        return _interval(*_core.median(there)) if there else _interval(math.nan, None)

    return Statistic(f"median of {of.name}", middle, signed=of.signed, ratio=of.ratio, rate=of.rate)


def share_of_runs(of: Statistic, comparison: Literal["above", "below"], value: float) -> Statistic:
    """The share of the runs in which a number is above or below a value, with Wilson's interval: for what
    "usually" happens. Runs without the number take no part."""

    def share(row: MeasuredRow) -> Interval:
        there = [v for v in _seed_by_seed(of, row) if not math.isnan(v)]
        hits = sum(v > value if comparison == "above" else v < value for v in there)
        return _interval(*_core.share(hits, len(there))) if there else _interval(math.nan, None)

    name = f"share of the runs with {of.name} {comparison} {of.show_value(value)}"
    return Statistic(name, share, rate=False)


def _seed_by_seed(of: Statistic, row: MeasuredRow) -> Sequence[float]:
    if of.each is None:
        raise ValueError(f"{of.name}: no value for each seed")
    return of.each(row)


def goodput_gain(flow: str) -> Statistic:
    """Difference of a flow's goodput, paired by seed, bit/s."""

    def of(row: MeasuredRow) -> Estimate:
        return next(f["difference"]["goodput_bps"] for f in row["flows"] if f["id"] == flow)

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


total = Statistic(
    "total goodput",
    lambda row: row["aggregate_goodput_bps"],
    each=lambda row: row["run_values"]["aggregate_goodput_bps"],
)

total_share = Statistic(
    "share of the other's total goodput, seed by seed", lambda row: row["total_share"], rate=False, ratio=True
)

minimum = Statistic("goodput of the flow with the least", lambda row: row["min_goodput_bps"])

minimum_gain = Statistic(
    "difference of the least goodput, paired by seed",
    lambda row: row["difference"]["min_goodput_bps"],
    signed=True,
)


def known(estimate: Estimate | None) -> Estimate:
    """An estimate; where no run has the number, one about which no claim holds."""
    return {"mean": math.nan, "ci95": None} if estimate is None else estimate


jain = Statistic(
    "Jain's index",
    lambda row: known(row["jain_index"]),
    rate=False,
    each=lambda row: row["run_values"]["jain_index"],
)

jain_gain = Statistic(
    "difference of Jain's index, paired by seed",
    lambda row: known(row["difference"]["jain_index"]),
    signed=True,
    rate=False,
)


def number(name: str) -> Statistic:
    """A number that the experiment reads out of each run."""
    return Statistic(
        name, lambda row: row["numbers"][name], rate=False, each=lambda row: row["number_values"][name]
    )


def number_gain(name: str) -> Statistic:
    """The difference of a number to the series that this one is compared with, paired by seed."""
    return Statistic(
        f"difference of {name}, paired by seed",
        lambda row: row["number_differences"][name],
        signed=True,
        rate=False,
        each=lambda row: row["number_difference_values"][name],
    )


def number_ratio(name: str) -> Statistic:
    """The ratio of a number to that of the series that this one is compared with, seed by seed."""
    return Statistic(
        f"ratio of {name}, seed by seed", lambda row: row["number_ratios"][name], rate=False, ratio=True
    )


@dataclass(frozen=True)
class Claim:
    """`statistic` of `series` is above or below `factor` times `bound`, or above or below `value`."""

    text: str
    """The statement of the paper, in our words."""
    where: str
    """The place of the claim in the paper."""
    series: str
    baseline: str | None
    """The series where the claim must be false, or it shows nothing: the same scene without what gains; of a
    gain what it is a gain over. None for a claim about a baseline, such as that flows starve with drop-tail
    queues."""
    statistic: Statistic
    comparison: Literal["above", "below"]
    source: Source = field(kw_only=True)
    bound: Statistic | None = None
    factor: float = 1.0
    value: float = 0.0
    """The bound as a number, where it is no statistic."""
    least: float = 0.0
    """The margin: the least effect that matters."""
    bound_series: str | tuple[str, ...] | None = None
    """The series that the bound is taken from, whatever `statistic` is taken from; None: the same. Several:
    it holds only if it does against each of them, but for the one that is judged."""
    paired: bool = False
    """True if the interval is that of the differences to the bound, seed by seed: runs of one seed have the
    same luck, such as the same load. Both statistics need `each`."""
    reading: str = MAIN
    """The reading of the paper in which it is judged. Claims of one text are the same claim."""
    about: tuple[str, ...] = ()
    """Keys of the scenario, beside schemes and their parameters, that the claim is about: only in these may
    the baseline differ from the series. `flow` stands for all keys below it."""

    def __post_init__(self) -> None:
        if self.statistic.signed and self.baseline is None:
            raise ValueError(f"{self.text}: a claim of a gain needs the series where it must be false")

    @property
    def comparison_text(self) -> str:
        """Statistic, comparison and bound in words."""
        bound = self.statistic.show_value(self.value) if self.bound is None else self.bound.name
        times = "" if self.factor == 1 else f"{self.factor:g} times the "
        series = self.bound_series
        of = "" if series is None else f" of {series if isinstance(series, str) else ', '.join(series)}"
        least = f" by {self.statistic.show_value(self.least)} and more" if self.least else ""
        paired = ", seed by seed" * self.paired
        return f"{self.statistic.name}, {self.comparison} {times}{bound}{of}{least}{paired}"

    def others(self, series: str) -> list[str]:
        """The series whose bound counts when `series` is judged."""
        if isinstance(self.bound_series, tuple):
            return [other for other in self.bound_series if other != series]
        return [self.bound_series or series]

    def measured(self, rows: Measured, series: str) -> str:
        """The compared numbers, in words."""
        row = rows[series]
        text = self.statistic.show(self.statistic.of(row))
        if self.bound is None:
            return f"{text} against {self.statistic.show_value(self.value)}" if self.value else text
        bounds = [self.bound.show(self.bound.of(rows[other])) for other in self.others(series)]
        times = "" if self.factor == 1 else f"{self.factor:g} × "
        return f"{text} against " + ", ".join(f"{times}({b})" if times else b for b in bounds)

    def holds(self, rows: Measured, series: str) -> bool:
        """True if the whole 95 % interval lies on the claimed side, of the whole interval of the bound.

        Where the bound has an interval of its own this is stricter than a test of the difference.
        """
        return all(self._holds(rows[series], rows[other]) for other in self.others(series))

    def on_baseline(self, rows: Measured) -> bool | None:
        """True if the claim holds on its baseline. None where there is no baseline, or where the baseline
        would be compared with itself: a gain over the baseline is zero there whatever was measured, which
        shows nothing.
        """
        if self.baseline is None:
            return None
        to_itself = (self.statistic.signed or self.statistic.ratio) and rows[self.baseline]["against"] is None
        alike = self.bound is not None and self.bound.name == self.statistic.name
        if to_itself or (alike and self.others(self.baseline) == [self.baseline]):
            return None
        return self.holds(rows, self.baseline)

    def _holds(self, row: MeasuredRow, other: MeasuredRow) -> bool:
        value, bound = self.statistic.of(row), Estimate(mean=self.value, ci95=0.0)
        if self.bound is not None and self.paired:
            value, bound = self._difference(row, other), Estimate(mean=0.0, ci95=0.0)
        elif self.bound is not None:
            bound = self.bound.of(other)
        if self.comparison == "below":
            return upper(value) < self.factor * lower(bound) - self.least
        return lower(value) > self.factor * upper(bound) + self.least

    def _difference(self, row: MeasuredRow, other: MeasuredRow) -> Estimate:
        """To `factor` times the bound, over the seeds where both are there."""
        if self.bound is None:
            raise ValueError(f"{self.text}: paired, but nothing to pair with")
        pairs = zip(_seed_by_seed(self.statistic, row), _seed_by_seed(self.bound, other), strict=True)
        return estimate(a - self.factor * b for a, b in pairs)


def lower(estimate: Estimate) -> float:
    """Lower end of the interval; one seed says nothing."""
    if "low" in estimate:
        return cast(Interval, estimate)["low"]
    return -math.inf if estimate["ci95"] is None else estimate["mean"] - estimate["ci95"]


def upper(estimate: Estimate) -> float:
    """Upper end of the interval; one seed says nothing."""
    if "high" in estimate:
        return cast(Interval, estimate)["high"]
    return math.inf if estimate["ci95"] is None else estimate["mean"] + estimate["ci95"]


class ClaimRow(TypedDict):
    """A claim in `paper ID --json`."""

    text: str
    where: str
    source: Source
    reading: str
    statistic: str
    measured: str
    holds: bool
    baseline_holds: bool | None
    """None for a claim that has no baseline, and for a gain over the baseline itself."""


class Count(TypedDict):
    """The number of claims of a source that hold and are false on their baselines."""

    claims: int
    hold: int
    """In the main reading."""
    hold_in_a_reading: int
    """In at least one of the readings that are measured."""


def judge(claim: Claim, rows: Measured) -> ClaimRow:
    """The claim on its own series and on its baseline."""
    return {
        "text": claim.text,
        "where": claim.where,
        "source": claim.source,
        "reading": claim.reading,
        "statistic": claim.comparison_text,
        "measured": claim.measured(rows, claim.series),
        "holds": claim.holds(rows, claim.series),
        "baseline_holds": claim.on_baseline(rows),
    }


def main_reading(readings: Iterable[str]) -> str:
    """The main one of the readings of an experiment's claims: the first, where none is called so."""
    every = list(readings)
    return MAIN if MAIN in every or not every else every[0]


def count(judged: Sequence[ClaimRow]) -> dict[Source, Count]:
    """Counts by source, without sources that have no claim; claims of one text in several readings count
    once."""
    counts: dict[Source, Count] = {}
    main = main_reading(row["reading"] for row in judged)
    for source in get_args(Source):
        readings: dict[str, dict[str, bool]] = {}
        for row in judged:
            if row["source"] == source:
                shown = row["holds"] and not row["baseline_holds"]
                held = readings.setdefault(row["text"], {})
                if row["reading"] in held:
                    raise ValueError(f"{row['text']}: two claims in the reading {row['reading']}")
                held[row["reading"]] = shown
        if readings:
            counts[source] = {
                "claims": len(readings),
                "hold": sum(shown.get(main, False) for shown in readings.values()),
                "hold_in_a_reading": sum(any(shown.values()) for shown in readings.values()),
            }
    return counts

"""Plots of several runs: distributions, means with their intervals, one number against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from .._core import InputError
from ..arguments import as_type, unsuitable
from ..dataframes import ROWS, as_rows, is_row, is_run
from ..results import CompareRow, Estimate, RunResult
from . import style

Numbers: TypeAlias = Sequence[float | None] | np.ndarray
Runs: TypeAlias = RunResult | Sequence[RunResult]
VALUES = "numbers, or results of airfair.run"
POINTS = "rows of airfair.compare, or results of airfair.run"
Rows: TypeAlias = Sequence[CompareRow] | Mapping[str, CompareRow]


def cdf(
    values: Numbers | Runs | Mapping[str, Numbers | Runs],
    quantity: str = "goodput_bps",
    *,
    log: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """Share of values that do not exceed x.

    `values` are numbers in the unit of `quantity`, or results of `airfair.run`: then `quantity` is a key of
    their flows (all flows of all runs count) or of the runs themselves, and runs of each scheme make a curve.
    A mapping makes a curve of each of its values. What has no number (None), such as the completion time of a
    file that was not completed, counts as larger than any: the curve ends below one. Raises `InputError`.
    """
    as_type("quantity", quantity, str, "a key of a result as a text")
    curves = _curves(values, quantity)
    finite = {name: np.sort(_numbers(numbers)) for name, numbers in curves.items()}
    if not any(len(numbers) for numbers in finite.values()):
        raise InputError("cdf: no values")
    about = style.quantity(quantity)
    unit = about.unit(max((float(numbers[-1]) for numbers in finite.values() if len(numbers)), default=0.0))
    with style.canvas(ax, "") as axes:
        for look, (name, numbers) in zip(style.looks_of_schemes(list(finite)), finite.items(), strict=True):
            total = len(curves[name])
            missing = f" ({total - len(numbers)} of {total} have none)" if len(numbers) < total else ""
            axes.step(
                np.concatenate([numbers[:1], numbers]) * unit.factor,
                (np.arange(len(numbers) + 1) / total)[: 1 + len(numbers) if len(numbers) else 0],
                where="post",
                color=look.colour,
                linestyle=look.dash,
                marker=look.marker,
                markevery=max(1, len(numbers) // 8),
                label=f"{name}{missing}",
            )
        if log:
            axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(about.label(unit))
        axes.set_ylabel("share of values up to this")
        if list(finite) != [""]:
            style.legend(axes)
        return style.figure_of(axes)


MOST_FLOWS = 50
"""Most flows with bars of their own; of more, some at either end have them, and the others one for their
mean."""

DWARFED = 30.0
"""A bar that is shorter than the longest by this factor cannot be read on a linear axis."""


def bars(
    rows: Rows,
    quantity: str = "goodput_bps",
    *,
    difference: bool = False,
    log: bool | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Means over the seeds with their 95 % intervals: of each flow for `goodput_bps`, else one a scheme.

    `rows` are those of `airfair.compare`, or such rows by name. `quantity` is a key of them, or `flow.KEY`
    for a number of each flow, such as `flow.mean_delay_s`. With `difference` it is the difference to the
    first scheme, paired by seed. Of more than fifty flows those with the least and the most have bars of
    their own, and the others one for their mean. What no run has leaves a gap.

    The axis is logarithmic where one flow has more than thirty times as much as another: `log` says so, or
    that it is linear. A bar that is 0 has a 0 beside it there. Raises `InputError`.
    """
    as_type("quantity", quantity, str, "a key of a row as a text")
    named = _named(rows)
    shown = {
        name: row for name, row in named.items() if not (difference and row["baseline"] == row["scheme"])
    }
    if not shown:
        raise InputError("bars: nothing to draw; expected a scheme beside the one that others differ from")
    looks = dict(zip(named, style.looks_of_schemes(list(named)), strict=True))
    of_flows = "goodput_bps" if quantity == "goodput_bps" else quantity.removeprefix("flow.")
    if of_flows == "goodput_bps" or of_flows != quantity:
        groups, estimates = _of_flows(named, shown, of_flows, difference)
        quantity = of_flows
    else:
        groups = [""]
        estimates = {name: [_estimate(row, quantity, difference)] for name, row in shown.items()}
    about = style.quantity(quantity)
    reach = [abs(e["mean"]) + (e["ci95"] or 0.0) for row in estimates.values() for e in row if e is not None]
    if not reach:
        raise InputError(f"bars: no run has a number {quantity!r}")
    unit = about.unit(max(reach))
    thickness = 0.8 / len(shown)
    means_of = [e["mean"] for row in estimates.values() for e in row if e is not None]
    if log is None:
        log = len(groups) > 1 and not difference and _dwarfs(means_of)
    elif log and (difference or not any(mean > 0 for mean in means_of)):
        raise InputError("log: a difference, or nothing above 0; expected numbers above 0")
    runs = {row["runs"] for row in named.values()}
    heading = f"{min(runs)} seeds, 95 % intervals" if max(runs) > 1 else "one seed"
    with style.canvas(ax, heading, height=_height(len(groups), len(shown))) as axes:
        start = 0.0
        if log:
            axes.set_xscale("log")
            least = min(mean for mean in means_of if mean > 0) * unit.factor
            start = float(10.0 ** np.floor(np.log10(least) - 0.2))
        for number, (name, row) in enumerate(estimates.items()):
            here = [(place, e) for place, e in enumerate(row) if e is not None]
            places = [place + (number - (len(shown) - 1) / 2) * thickness for place, _ in here]
            means = [e["mean"] * unit.factor for _, e in here]
            arms = [(e["ci95"] or 0.0) * unit.factor for _, e in here]
            axes.barh(
                places,
                [max(mean - start, 0.0) if log else mean for mean in means],
                height=0.92 * thickness,
                left=start,
                color=looks[name].colour,
                hatch=looks[name].hatch,
                edgecolor="white",
                linewidth=0.0,
                label=name,
                xerr=_arms(means, arms, start) if any(e["ci95"] is not None for _, e in here) else None,
                error_kw={
                    "ecolor": style.INK,
                    "elinewidth": 1.2,
                    "capsize": 3 if len(groups) <= style.MOST else 1.5,
                },
            )
            for at, mean in zip(places, means, strict=True):
                if log and mean <= 0:
                    axes.annotate(
                        "0",
                        (0, at),
                        xycoords=("axes fraction", "data"),
                        xytext=(2, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=7,
                        color=looks[name].colour,
                    )
        axes.set_yticks(range(len(groups)) if groups != [""] else [], groups if groups != [""] else [])
        if len(groups) > style.MOST:
            axes.tick_params(axis="y", labelsize=8)
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        if difference:
            axes.axvline(0, color=style.INK, linewidth=0.8)
            baseline = next(iter(shown.values()))["baseline"]
            axes.set_xlabel(f"difference to {baseline}: {about.label(unit)}")
        elif log:
            axes.set_xlim(left=start)
            axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.10g}"))
            axes.set_xlabel(f"{about.label(unit)}, logarithmic")
        else:
            # No number of a result is negative: of an interval that reaches below 0 that part means nothing.
            axes.set_xlim(left=0)
            axes.set_xlabel(about.label(unit))
        style.legend(axes)
        return style.figure_of(axes)


def scatter(
    points: Rows | Sequence[RunResult],
    x: str = "aggregate_goodput_bps",
    y: str = "jain_index",
    *,
    ax: Axes | None = None,
) -> Figure:
    """One number against another: by default the total against its fairness.

    Rows of `airfair.compare` (or such rows by name) make a point each, with the 95 % interval of both
    numbers; results of `airfair.run` make a point each in the look of their scheme. Raises `InputError`.
    """
    clouds = {name: cloud for name, cloud in _clouds(points, x, y).items() if cloud}
    if not clouds:
        raise InputError(f"scatter: no run has both {x!r} and {y!r}")
    quantities = (style.quantity(x), style.quantity(y))
    most = [max(abs(p[k]["mean"]) for cloud in clouds.values() for p in cloud) for k in (0, 1)]
    units = [quantity.unit(size) for quantity, size in zip(quantities, most, strict=True)]
    with style.canvas(ax, "") as axes:
        for look, (name, cloud) in zip(style.looks_of_schemes(list(clouds)), clouds.items(), strict=True):
            centre = [np.array([p[k]["mean"] for p in cloud]) * units[k].factor for k in (0, 1)]
            arms = [np.array([p[k]["ci95"] or 0.0 for p in cloud]) * units[k].factor for k in (0, 1)]
            known = any(p[0]["ci95"] is not None for p in cloud)
            axes.errorbar(
                centre[0],
                centre[1],
                xerr=arms[0] if known else None,
                yerr=arms[1] if known else None,
                linestyle="none",
                marker=look.marker,
                markersize=7,
                color=look.colour,
                markeredgecolor="white",
                ecolor=look.colour,
                capsize=3,
                label=name,
            )
        axes.set_xlabel(quantities[0].label(units[0]))
        axes.set_ylabel(quantities[1].label(units[1]))
        axes.margins(0.12)
        for get, put in ((axes.get_xlim, axes.set_xlim), (axes.get_ylim, axes.set_ylim)):
            put(max(get()[0], 0.0), None)
        style.legend(axes)
        return style.figure_of(axes)


def _curves(values: object, quantity: str) -> dict[str, list[float | None]]:
    """The values of each curve; those of a single list have the empty name."""
    if is_run(values):
        values = [values]
    if isinstance(values, Mapping):
        curves = {str(name): _curves(part, quantity) for name, part in values.items()}
        return {name: [v for part in parts.values() for v in part] for name, parts in curves.items()}
    items: list[Any] = list(cast(Sequence[Any], as_type("values", values, Sequence | np.ndarray, VALUES)))
    if not all(is_run(item) for item in items):
        if not all(_numeric(item) for item in items):
            raise unsuitable("values", values, VALUES)
        return {"": items}
    found: dict[str, list[float | None]] = {}
    for run in items:
        found.setdefault(run["scheme"], []).extend(_of_run(run, quantity))
    return found


def _of_run(run: RunResult, quantity: str) -> list[float | None]:
    """A number of every flow of a run, or of the run itself."""
    whole = cast(Mapping[str, Any], run)
    flows = [cast(Mapping[str, Any], flow) for flow in run["flows"]]
    if flows and _numeric(flows[0].get(quantity, "")):
        return [flow[quantity] for flow in flows]
    if _numeric(whole.get(quantity, "")):
        return [whole[quantity]]
    raise InputError(f'cdf: a result has no number "{quantity}"; expected one such as "goodput_bps"')


def _numeric(value: object) -> bool:
    return value is None or isinstance(value, int | float | np.number)


def _numbers(values: Sequence[float | None]) -> np.ndarray:
    numbers = np.array([np.nan if value is None else value for value in values], float)
    finite: np.ndarray = numbers[np.isfinite(numbers)]
    return finite


def _named(rows: Rows) -> dict[str, CompareRow]:
    if isinstance(rows, Mapping):
        named = dict(rows)
        if named and all(is_row(row) for row in named.values()):
            return named
        raise unsuitable("rows", rows, ROWS)
    return {row["scheme"]: row for row in as_rows(rows)}


def _estimate(row: CompareRow, quantity: str, difference: bool = False) -> Estimate | None:
    if not isinstance(quantity, str) or quantity not in row["difference"]:
        known = ", ".join(row["difference"])
        raise InputError(f'no estimate "{quantity}"; expected one of goodput_bps, {known}')
    return cast(Mapping[str, Estimate | None], row["difference"] if difference else row)[quantity]


def _of_flows(
    named: Mapping[str, CompareRow], shown: Mapping[str, CompareRow], quantity: str, difference: bool
) -> tuple[list[str], dict[str, list[Estimate | None]]]:
    """Names of the flows to draw, and what each scheme got in them; a gap has neither."""
    first = next(iter(named.values()))["flows"]
    every = list(range(len(first)))
    order = sorted(every, key=lambda i: (first[i]["goodput_bps"]["mean"], i))
    half = MOST_FLOWS // 2
    others = order[half:-half] if len(first) > MOST_FLOWS else []
    flows: list[str | None] = [first[i]["id"] for i in (order if len(first) > style.MOST else every)]
    if others:
        flows = [*flows[:half], None, *flows[-half:]]
    keys = list(first[0]["difference"]) if first else []
    if first and quantity not in keys:
        raise InputError(f'a flow has no estimate "{quantity}"; expected one of {", ".join(keys)}')
    estimates: dict[str, list[Estimate | None]] = {}
    for name, row in shown.items():
        of: dict[str | None, Estimate | None] = {
            flow["id"]: cast(Mapping[str, Estimate | None], flow["difference"] if difference else flow)[
                quantity
            ]
            for flow in row["flows"]
        }
        of[None] = _mean([of.get(first[i]["id"]) for i in others])
        estimates[name] = [of.get(flow) for flow in flows]
    return [f"mean of {len(others):,} others" if flow is None else flow for flow in flows], estimates


def _mean(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """The mean of several means; it has no interval, as these are not independent."""
    known = [e["mean"] for e in estimates if e is not None]
    return {"mean": sum(known) / len(known), "ci95": None} if known else None


def _arms(means: Sequence[float], arms: Sequence[float], start: float) -> np.ndarray:
    """Arms of intervals to both sides; on a logarithmic axis, which has a start, none ends before that."""
    lower = [
        min(arm, max(mean - start, 0.0)) if start else arm for mean, arm in zip(means, arms, strict=True)
    ]
    return np.array([lower, arms])


def _dwarfs(means: Sequence[float]) -> bool:
    """True if one of these is so much larger than another that a linear axis does not show both."""
    above = [mean for mean in means if mean > 0]
    return bool(above) and min(means) >= 0 and max(above) > DWARFED * min(above)


def _height(groups: int, schemes: int) -> float:
    """Inches for bars in groups: many groups are thinner."""
    return 0.9 + groups * (0.22 * (schemes + 0.5) if groups <= style.MOST else 0.08 + 0.12 * schemes)


def _clouds(points: Rows | Sequence[RunResult], x: str, y: str) -> dict[str, list[tuple[Estimate, Estimate]]]:
    if not isinstance(points, Mapping) and all(
        is_run(p) for p in as_type("points", points, Sequence, POINTS)
    ):
        clouds: dict[str, list[tuple[Estimate, Estimate]]] = {}
        for run in cast(Sequence[RunResult], points):
            numbers = cast(Mapping[str, Any], run)
            for key in (x, y):
                if not isinstance(key, str) or not _numeric(numbers.get(key, "")):
                    raise InputError(
                        f'scatter: a result has no number "{key}"; expected one such as "jain_index"'
                    )
            clouds.setdefault(run["scheme"], [])
            if numbers[x] is None or numbers[y] is None:
                continue
            at: tuple[Estimate, Estimate] = (
                {"mean": numbers[x], "ci95": None},
                {"mean": numbers[y], "ci95": None},
            )
            clouds[run["scheme"]].append(at)
        if clouds:
            return clouds
    named = _named(cast(Rows, points))
    pairs = {name: (_estimate(row, x), _estimate(row, y)) for name, row in named.items()}
    return {name: [(a, b)] for name, (a, b) in pairs.items() if a is not None and b is not None}

"""Plots of comparisons over time, over windows of time, by cause, by radio."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from .. import _core
from .._core import InputError
from ..dataframes import as_rows
from ..results import CompareRow, Estimate
from . import style
from .radio import STATES
from .style import Look

BARS = 48
"""About so many bars of radio states are drawn; with more, those of the radios with the least idle time."""


def goodput_bands(
    ends_s: Sequence[float],
    flows: Mapping[str, Sequence[Estimate]],
    *,
    looks: Sequence[Look] | None = None,
    warmup_s: float = 0.0,
    top_bps: float | None = None,
    others: Sequence[Sequence[float]] = (),
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Goodput of flows over time: means over the seeds, with their 95 % intervals as bands.

    `flows` holds an estimate (bit/s) for each interval, whose ends are `ends_s`. `top_bps` is where the axis
    ends: figures that stand side by side share it. `others` are means of further flows, drawn in grey without
    names. Raises `InputError`.
    """
    if not flows or not ends_s:
        raise InputError("goodput_bands: nothing to draw; expected flows and intervals")
    edges = np.concatenate([[0.0], np.asarray(ends_s, float)])
    most = top_bps or max(e["mean"] + (e["ci95"] or 0.0) for values in flows.values() for e in values)
    unit = style.rate_unit(most)
    with style.canvas(ax, title, height=2.4) as axes:
        if len(others):
            corners = np.repeat(edges, 2)[1:-1]
            steps = [np.repeat(np.asarray(means, float) * unit.factor, 2) for means in others]
            axes.add_collection(
                LineCollection(
                    [np.column_stack([corners, step]) for step in steps],
                    colors=style.FAINT,
                    linewidths=0.7,
                    zorder=1,
                    rasterized=len(others) > style.MOST_DRAWN,
                    label=f"{len(others):,} others",
                )
            )
        for look, (name, values) in zip(looks or style.looks(range(len(flows))), flows.items(), strict=True):
            means = np.array([e["mean"] for e in values]) * unit.factor
            arms = np.array([e["ci95"] or 0.0 for e in values]) * unit.factor
            if arms.any():
                axes.fill_between(
                    edges,
                    np.append(np.maximum(means - arms, 0.0), 0.0),
                    np.append(means + arms, 0.0),
                    step="post",
                    color=look.colour,
                    alpha=0.2,
                    linewidth=0,
                )
            axes.stairs(
                means, edges, baseline=None, color=look.colour, linestyle=look.dash, linewidth=1.4, label=name
            )
        if warmup_s > 0:
            axes.axvspan(0, warmup_s, color="#ececec", zorder=0, linewidth=0, label="warm-up")
        axes.set_xlim(0, edges[-1])
        axes.set_ylim(0, most * unit.factor * 1.05 or 1.0)
        axes.set_xlabel("time (s)")
        axes.set_ylabel(f"goodput ({unit.name})")
        style.legend(axes)
        return style.figure_of(axes)


def fairness(rows: Sequence[CompareRow], *, measured: str | None = None, ax: Axes | None = None) -> Figure:
    """Jain's index against the length of the window in which it is taken, with 95 % intervals.

    `measured` is the measured time of the run, such as "50 s", at which the index of the whole run is drawn.
    Raises `InputError` for rows of runs without windows.
    """
    rows = as_rows(rows)
    measured_s = None if measured is None else _core.parse_time(measured) / 1e9
    if not any(window["jain_index"] for row in rows for window in row.get("window_jain", [])):
        raise InputError("fairness: no index in windows; expected rows of a comparison with windows")
    with style.canvas(ax, "", height=2.6) as axes:
        for look, row in zip(style.looks_of_schemes([row["scheme"] for row in rows]), rows, strict=True):
            points = [
                (w["window_s"], w["jain_index"]) for w in row["window_jain"] if w["jain_index"] is not None
            ]
            whole = row["jain_index"]
            if measured_s is not None and whole is not None:
                points = [*(p for p in points if p[0] < measured_s), (measured_s, whole)]
            axes.errorbar(
                [length for length, _ in points],
                [e["mean"] for _, e in points],
                yerr=[e["ci95"] or 0.0 for _, e in points] if row["runs"] > 1 else None,
                color=look.colour,
                linestyle=look.dash,
                marker=look.marker,
                capsize=3,
                label=row["scheme"],
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda length, _: f"{length:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("length of the window (s)")
        axes.set_ylabel("Jain's index")
        style.legend(axes)
        return style.figure_of(axes)


def drops(rows: Sequence[CompareRow], *, ax: Axes | None = None) -> Figure:
    """Packets dropped in a run, by reason: means over the seeds with their 95 % intervals.

    Raises `InputError` if nothing was dropped.
    """
    rows = as_rows(rows)
    reasons = list(dict.fromkeys(reason for row in rows for reason in row.get("drops", {})))
    if not reasons:
        raise InputError("drops: nothing was dropped")
    # A reason has a bar for each scheme that knows it: red-early is red's alone.
    places: list[dict[int, float]] = []
    middles: list[float] = []
    end = 0.0
    for reason in reasons:
        there = [number for number, row in enumerate(rows) if reason in row["drops"]]
        places.append({number: end + k for k, number in enumerate(there)})
        middles.append(end + (len(there) - 1) / 2)
        end += len(there) + 0.7
    with style.canvas(ax, "", height=0.8 + 0.2 * end) as axes:
        looks = style.looks_of_schemes([row["scheme"] for row in rows])
        for number, (look, row) in enumerate(zip(looks, rows, strict=True)):
            found = [
                (at[number], row["drops"][r]) for at, r in zip(places, reasons, strict=True) if number in at
            ]
            axes.barh(
                [place for place, _ in found],
                [e["mean"] for _, e in found],
                height=0.9,
                color=look.colour,
                hatch=look.hatch,
                edgecolor="white",
                linewidth=0.0,
                label=row["scheme"],
                xerr=[e["ci95"] or 0.0 for _, e in found] if found and row["runs"] > 1 else None,
                error_kw={"ecolor": style.INK, "elinewidth": 1.2, "capsize": 3},
            )
        axes.set_yticks(middles, reasons)
        axes.set_ylim(end - 0.2, -0.7)
        axes.set_xlim(left=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("packets dropped in a run")
        style.legend(axes)
        return style.figure_of(axes)


def channel_shares(rows: Sequence[CompareRow], *, ax: Axes | None = None) -> Figure:
    """Share of time that each radio spent in each of the five radio states, a bar for each scheme.

    Of many radios those with the least idle time under the first scheme. Raises `InputError` without radios.
    """
    rows = as_rows(rows)
    if not rows[0].get("channel"):
        raise InputError("channel_shares: the scenario has no radio")
    shown = shown_radios(rows)
    first = rows[0]["channel"]
    several = Counter(station["node"] for station in first)
    labels, places, shares = [], [], []
    for number, i in enumerate(shown):
        station = first[i]
        name = station["node"] if several[station["node"]] == 1 else f"{station['node']} ({station['radio']})"
        for place, row in enumerate(rows):
            scheme = f"  {row['scheme']}" if len(rows) > 1 else ""
            labels.append(f"{name}{scheme}" if place == 0 else row["scheme"])
            places.append(number * (len(rows) + 0.6 * (len(rows) > 1)) + place)
            states = cast(Mapping[str, Estimate], row["channel"][i])
            shares.append([states[state]["mean"] for state in STATES])
    with style.canvas(ax, "", height=0.7 + 0.2 * (places[-1] + 1)) as axes:
        left = np.zeros(len(places))
        for (word, colour, hatch), share in zip(STATES.values(), np.array(shares).T, strict=True):
            axes.barh(
                places,
                share,
                left=left,
                height=0.86,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.3,
                label=word,
            )
            left += share
        axes.set_yticks(places, labels)
        axes.set_ylim(places[-1] + 0.7, -0.7)
        axes.grid(visible=False)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_xlabel("share of time")
        style.legend(axes)
        return style.figure_of(axes)


def shown_radios(rows: Sequence[CompareRow]) -> list[int]:
    """Indices of the radios that `channel_shares` draws."""
    stations = rows[0]["channel"]
    count = max(4, BARS // len(rows))
    if len(stations) <= count:
        return list(range(len(stations)))
    return sorted(sorted(range(len(stations)), key=lambda i: (stations[i]["idle"]["mean"], i))[:count])

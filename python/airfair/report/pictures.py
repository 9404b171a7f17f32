"""The pictures of a report, each with the words for those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from .. import _core, quantities
from ..experiment import Repeated, Run
from ..optimal.model import Optimum, binding_cliques
from ..plots import seeds as over_seeds
from ..plots import statistics, style, world
from ..results import CompareRow, Estimate, Network, RunResult
from .svg import inline


@dataclass(frozen=True)
class Picture:
    """A picture of the page."""

    id: str
    svg: Markup
    alt: str


def draw(network: Network, rows: Sequence[CompareRow], first: RunResult, repeated: Repeated) -> list[Picture]:
    """Those that there is something to draw in. `time-0` is goodput over time of the first scheme."""
    with mpl.rc_context({"text.parse_math": False}):  # names may have dollar signs
        found = _draw(network, rows, first, repeated.runs)
        if repeated.optimum is not None and binding_cliques(repeated.optimum):
            found.append(_cliques(network, repeated.optimum))
        return found


def _cliques(network: Network, optimum: Optimum) -> Picture:
    words = f"Map of the network with the links of {_many(binding_cliques(optimum), 'clique')}; see the list."
    return _picture("optimum", world.network(network, optimum=optimum), words)


def _draw(
    network: Network, rows: Sequence[CompareRow], first: RunResult, runs: Sequence[Sequence[Run]]
) -> list[Picture]:
    schemes = ", ".join(row["scheme"] for row in rows)
    words = f"Map of the network: {_many(network['nodes'], 'node')} and {_many(network['flows'], 'flow')}."
    found = [_picture("network", world.network(network, result=first), words)]
    if first["flows"]:
        bars = statistics.bars(rows)
        _untitled(bars)
        got = "; ".join(f"{row['scheme']}: {_goodputs(row)}" for row in rows)
        found.append(_picture("flows", bars, f"Goodput of each flow. {got}."))
        if len(rows) > 1:
            differences = statistics.bars(rows, difference=True)
            _untitled(differences)
            words = (
                f"Differences of each flow's goodput to {rows[0]['scheme']}, paired by seed; see the table."
            )
            found.append(_picture("differences", differences, words))
        found += _over_time(rows, first, runs)
    if any(w["jain_index"] is not None for row in rows for w in row.get("window_jain", [])):
        curve = over_seeds.fairness(rows, measured=f"{first['duration_s'] - first['warmup_s']:.9f} s")
        words = f"Jain's index against the length of the window, for {schemes}; see the table."
        found.append(_picture("fairness", curve, words))
    if any(row["drops"] for row in rows):
        words = f"Packets dropped by reason, for {schemes}; see the table."
        found.append(_picture("drops", over_seeds.drops(rows), words))
    if rows[0]["channel"]:
        words = f"Share of time of each radio in each of the five radio states, for {schemes}; see the table."
        found.append(_picture("channel", over_seeds.channel_shares(rows), words))
    return found


def _many(things: Sequence[object], noun: str) -> str:
    return f"{len(things)} {quantities.plural(len(things), noun)}"


def _untitled(figure: Figure) -> None:
    """The page says it already."""
    figure.axes[0].set_title("", loc="left")


def _picture(name: str, figure: Figure, alt: str) -> Picture:
    return Picture(name, inline(figure, name), alt)


def _goodputs(row: CompareRow, most: int = 8) -> str:
    flows = [f"{flow['id']} {quantities.rate_of(flow['goodput_bps'])}" for flow in row["flows"][:most]]
    return ", ".join(flows) + (", and more" if len(row["flows"]) > most else "")


def _over_time(rows: Sequence[CompareRow], first: RunResult, runs: Sequence[Sequence[Run]]) -> list[Picture]:
    """Goodput over time, a picture for each scheme, all with the same flows and axes."""
    names = [flow["id"] for flow in first["flows"]]
    found = style.choose([flow["goodput_bps"]["mean"] for flow in rows[0]["flows"]])
    chosen, others = found.named, found.others
    ends: list[float] = []
    every: list[dict[str, list[Estimate]]] = []
    grey: list[np.ndarray] = []
    for of_scheme in runs:
        read = [run.over_time for run in of_scheme if run.over_time is not None]
        if len(read) < len(of_scheme):
            return []
        ends = list(np.frombuffer(read[0][0]))
        lengths = np.diff(ends, prepend=0.0)[:, None]
        # Intervals, flows, seeds.
        whole = [8 * np.frombuffer(d, np.int64).reshape(-1, len(names)) / lengths for _, d in read]
        bps = np.stack([of_run[:, chosen] for of_run in whole], -1)
        grey.append(np.mean([of_run[:, others] for of_run in whole], axis=0).T)
        every.append({names[i]: [_estimate(v) for v in bps[:, k]] for k, i in enumerate(chosen)})
    values = [e for flows in every for of_flow in flows.values() for e in of_flow]
    means = max(e["mean"] for e in values)
    # Wide bands, which few seeds give, must not press the means to the ground.
    top = min(max(e["mean"] + (e["ci95"] or 0.0) for e in values), 1.4 * means)
    pictures = []
    for number, (row, flows, rest) in enumerate(zip(rows, every, grey, strict=True)):
        figure = over_seeds.goodput_bands(
            ends,
            flows,
            looks=style.looks(chosen),
            warmup_s=first["warmup_s"],
            top_bps=top or 1.0,
            others=rest.tolist(),
            title=row["scheme"],
        )
        words = f"Goodput of the flows over time with {row['scheme']}."
        pictures.append(_picture(f"time-{number}", figure, words))
    return pictures


def _estimate(values: np.ndarray) -> Estimate:
    mean, ci95 = _core.estimate(values.tolist())
    return {"mean": mean, "ci95": ci95}

"""Arrows between nodes of a map, several beside each other where they join the same two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from .style import Look


@dataclass(frozen=True)
class Bundle:
    """Arrows of one look with one line in the legend; each is two indices of nodes, from and to."""

    look: Look
    words: str
    hops: Sequence[tuple[int, int]]


def draw(
    axes: Axes,
    places: np.ndarray,
    bundles: Sequence[Bundle],
    *,
    step: float,
    gap: float,
    width: float = 2.0,
    last_only: bool = False,
) -> np.ndarray:
    """Draw bundles: arrows beside each other are a `step` apart and end `gap` points from a node's middle;
    lines have a `width` in points.
    With `last_only` all hops of a bundle but the last are lines without a head.

    Returns for each node on which side of it arrows lie, shape (n, 2).
    """
    beside = np.zeros_like(places)
    used: Counter[tuple[int, int]] = Counter()
    for bundle in bundles:
        look = bundle.look
        for a, b in bundle.hops:
            used[a, b] += 1
            # On the right-hand side, so that two directions do not cover each other.
            right = np.array([places[b][1] - places[a][1], places[a][0] - places[b][0]])
            aside = right / max(np.hypot(*right), 1e-12) * step * used[a, b]
            beside[[a, b]] += aside
            ends = places[a] + aside, places[b] + aside
            if last_only and (a, b) != bundle.hops[-1]:
                axes.plot(
                    *np.transpose(ends), color=look.colour, linewidth=width, linestyle=look.dash, zorder=4
                )
            else:
                axes.add_patch(_arrow(*ends, look, gap, width))
        axes.plot([], [], color=look.colour, linewidth=2.0, linestyle=look.dash, label=bundle.words)
    return beside


def _arrow(start: np.ndarray, end: np.ndarray, look: Look, gap: float, width: float) -> FancyArrowPatch:
    return FancyArrowPatch(
        (float(start[0]), float(start[1])),
        (float(end[0]), float(end[1])),
        arrowstyle="-|>",
        mutation_scale=5.5 * width,
        shrinkA=gap - 1,
        shrinkB=gap,
        linewidth=width,
        linestyle=look.dash,
        color=look.colour,
        zorder=4,
    )

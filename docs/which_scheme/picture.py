"""The picture: scenes by selections, who helps, who passes, who harms."""

from __future__ import annotations

from collections.abc import Sequence

from airfair.plots import style
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from .columns import COLUMNS, HEADINGS, KINDS
from .table import Table, baseline, cells, mean

HELP, HARM, PASS = style.COLOURS[0], style.COLOURS[1], style.FAINT
"""The colours of the verdicts, *unclear* that of harm; shapes say the same."""

ROW = 0.235
"""Height of a row, inches."""

HEAD = 1.35
"""Height of the names of the columns and of the legend, inches."""

SQUARE = 190
"""Area of the square of a selection that helps, points squared."""

PALEST = 0.35
"""Opacity of the square of the smallest gain."""


def picture(table: Table) -> Figure:
    """One row for each scene of the results, a column for drop-tail and one for each selection."""
    there = {scene["scene"]: scene for scene in table["scenes"]}
    kinds = [(kind, [name for name in names if name in there]) for kind, names in KINDS.items()]
    kinds = [(kind, names) for kind, names in kinds if names]
    lines = len(there) + len(kinds)
    with style.canvas(None, "", height=HEAD + ROW * lines) as axes:
        axes.grid(visible=False)
        y, ticks, labels = 0, [], []
        for kind, names in kinds:
            axes.text(-0.45, y, HEADINGS[kind], fontsize=9, style="italic", va="center")
            for name in names:
                y += 1
                ticks.append(y)
                labels.append(name)
                own = f"{mean(baseline(there[name]), 'least'):.2f}"
                axes.text(0, y, own, ha="center", va="center", fontsize=9)
            y += 1
        _verdicts(axes, table, dict(zip(labels, ticks, strict=True)))
        axes.set_xlim(-0.5, len(COLUMNS) + 0.5)
        axes.set_ylim(y - 0.5, -0.6)
        axes.set_yticks(ticks, labels)
        axes.set_xticks(
            range(len(COLUMNS) + 1),
            ["drop-tail", *(column.label for column in COLUMNS)],
            rotation=45,
            ha="left",
            rotation_mode="anchor",
        )
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        style.legend(axes, below=6)
        return style.figure_of(axes)


def _verdicts(axes: Axes, table: Table, places: dict[str, int]) -> None:
    """A mark for each cell, all of a verdict in one collection."""
    found = [
        (x, places[cell.scene], cell)
        for x, column in enumerate(COLUMNS, 1)
        for cell in cells(table, column.selection, list(places))
    ]
    helps = [(x, y, cell.change) for x, y, cell in found if cell.verdict == "help"]
    if helps:
        most = max(change for _, _, change in helps)
        axes.scatter(
            [x for x, _, _ in helps],
            [y for _, y, _ in helps],
            s=SQUARE,
            c=[to_rgba(HELP, PALEST + (1 - PALEST) * change / most) for _, _, change in helps],
            marker="s",
            linewidths=0,
        )
        for x, y, change in helps:
            pale = change < most / 2
            axes.text(
                x,
                y,
                _gain(change),
                ha="center",
                va="center",
                fontsize=9,
                color=style.INK if pale else "white",
            )
    axes.scatter([], [], s=60, c=HELP, marker="s", linewidths=0, label="helps: gain of the least flow")
    marks = (("pass", "o", PASS, 8), ("unclear", "_", HARM, 36), ("harm", "x", HARM, 36))
    for verdict, marker, colour, size in marks:
        of_verdict: Sequence[tuple[int, int]] = [(x, y) for x, y, cell in found if cell.verdict == verdict]
        axes.scatter(
            [x for x, _ in of_verdict],
            [y for _, y in of_verdict],
            s=size,
            c=colour,
            marker=marker,
            linewidths=0 if marker == "o" else 1.6,
            label={"pass": "passes", "unclear": "unclear", "harm": "harms"}[verdict],
        )


def _gain(change: float) -> str:
    """A gain in three letters."""
    shown = f"{change:.2f}".removeprefix("0")
    return shown if shown.startswith(".") else f"{change:.1f}"

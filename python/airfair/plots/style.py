"""The style of all plots: figures, colours, units, legends, files, independent of their content."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from .._core import InputError
from ..arguments import as_path, as_type
from ..experiment import schemes
from ..output import write_atomically

INK = "#222222"
"""Text and axes."""

FAINT = "#a0a0a0"
"""The colour of the background: flows that have no name in the legend, relations without frames."""

WIDTH = 5.0
"""Inches. With letters of 10 points this can be read at the width of a phone."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a4b12", "#333333")
"""Okabe and Ito's colours, which most colour-blind people tell apart; a brown for their yellow."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)))
MARKERS = "osD^vPX*"
HATCHES = ("", "////", "\\\\\\\\", "xxxx", "----", "||||", "++++", "//--")
"""Lines only: an SVG holds a path for every dot."""

MOST = 8
"""Most flows, queues or schemes with a name and a colour each; of more, some at either end have them."""

ENDS = 3
"""Named flows at either end, the least and the greatest, where there are too many."""

ATTEMPTS = 3

SETTINGS = {
    "font.size": 10,
    "axes.labelsize": 10,
    "axes.titlesize": 10,
    "legend.fontsize": 9,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.borderaxespad": 0.2,
    "legend.handlelength": 2.4,
}
"""Matplotlib's settings while a plot is made."""

FILES = {"svg.fonttype": "none", "svg.hashsalt": "airfair", "pdf.fonttype": 42}
"""While it is written: text stays text, and the same plot gives the same bytes."""


class Plot(Figure):
    """A figure of matplotlib that notebooks show by itself, and whose files hold text as text.

    No pyplot takes part: nothing has to be closed, and no display is needed.
    """

    def savefig(self, fname: Any, **options: Any) -> None:  # noqa: ANN401 - as matplotlib has it
        """Write it, as `Figure.savefig` does; the same plot gives the same bytes."""
        with mpl.rc_context(cast(Any, FILES)):
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        return encoded(self, "png", dpi=150)


def encoded(figure: Figure, form: str, dpi: float = 200) -> bytes:
    """The bytes of a file of that form: svg, png or pdf."""
    buffer = io.BytesIO()
    undated = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}.get(form)
    with mpl.rc_context(cast(Any, FILES)):
        figure.savefig(buffer, format=form, dpi=dpi, metadata=undated)
    return buffer.getvalue()


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure, whole or not at all: .svg, .png or .pdf. Raises `InputError`, `OSError`."""
    target = Path(as_path("path", path))
    as_type("figure", figure, Figure, "a figure of matplotlib")
    write_atomically(target, encoded(figure, form_of(target)))
    return target


def form_of(path: Path) -> str:
    """The form of a file by its ending. Raises `InputError`."""
    form = path.suffix.removeprefix(".").lower()
    if form not in {"svg", "png", "pdf"}:
        raise InputError(f"{path}: expected a name that ends in .svg, .png or .pdf")
    return form


@contextmanager
def canvas(ax: Axes | None, title: str, height: float = 2.8, width: float = WIDTH) -> Iterator[Axes]:
    """Axes to draw into, the caller's or those of a new figure, under this module's settings."""
    with mpl.rc_context(cast(Any, SETTINGS)):
        if ax is not None:
            yield as_type("ax", ax, Axes, "axes of matplotlib")
            return
        figure = Plot(figsize=(width, height), layout="constrained")
        new = figure.subplots()
        new.set_title(title)
        yield new
        # The place of legends depends on the size of the axes, and the reverse: the layout needs some
        # iterations.
        engine = figure.get_layout_engine()
        for _ in range(ATTEMPTS if engine is not None else 0):
            cast(Any, engine).execute(figure)


def figure_of(ax: Axes) -> Figure:
    """The figure that axes belong to, also from within a subfigure."""
    figure = ax.figure
    while not isinstance(figure, Figure):
        figure = figure.figure
    return figure


@dataclass(frozen=True)
class Look:
    """The colour, dash, marker and hatch of a flow or a scheme, the same in every plot."""

    colour: str
    dash: Any
    marker: str
    hatch: str

    @classmethod
    def number(cls, place: int) -> Look:
        """The look of the flow that has this place in its scenario."""
        return cls(
            COLOURS[place % len(COLOURS)],
            DASHES[(place + place // len(COLOURS)) % len(DASHES)],
            MARKERS[place % len(MARKERS)],
            HATCHES[place % len(HATCHES)],
        )


def looks(places: Sequence[int]) -> list[Look]:
    """The looks of these places. One whose colour is taken by an earlier one gets the next that is free."""
    taken: set[int] = set()
    found = []
    for place in places:
        free = (p for p in range(place, place + len(COLOURS)) if p % len(COLOURS) not in taken)
        chosen = next(free, place)
        taken.add(chosen % len(COLOURS))
        found.append(Look.number(chosen))
    return found


def looks_of_schemes(names: Sequence[str]) -> list[Look]:
    """A look for each: a scheme keeps its own wherever it is drawn."""
    known = {scheme["name"]: place for place, scheme in enumerate(schemes())}
    return looks([known.get(name, number) for number, name in enumerate(names)])


MOST_DRAWN = 200
"""More lines than these are one picture inside an SVG, not a path each."""


@dataclass(frozen=True)
class Chosen:
    """Which of many have a name in a plot, by their places; the others are grey."""

    named: list[int]
    others: list[int]


def choose(sizes: Sequence[float], least: int = ENDS, greatest: int = ENDS) -> Chosen:
    """All if they are few; of many those with the least and the greatest sizes. Both lists are in order."""
    count = len(sizes)
    if count <= MOST:
        return Chosen(list(range(count)), [])
    order = sorted(range(count), key=lambda i: (sizes[i], i))
    named = {*order[:least], *order[count - greatest :]}
    return Chosen(sorted(named), [i for i in range(count) if i not in named])


@dataclass(frozen=True)
class Unit:
    """A unit in which numbers of an axis are short: `factor` of them make one of the result's."""

    factor: float
    name: str


def rate_unit(most: float) -> Unit:
    """For rates of up to `most` bit/s."""
    return _unit(most, "bit/s", ["", "k", "M", "G"])


def bytes_unit(most: float) -> Unit:
    """For sizes of up to `most` bytes."""
    return _unit(most, "B", ["", "k", "M", "G"])


def time_unit(most: float) -> Unit:
    """For spans of up to `most` seconds."""
    if most >= 1:
        return Unit(1.0, "s")
    return Unit(1e3, "ms") if most >= 1e-3 else Unit(1e6, "µs")


def _unit(most: float, name: str, prefixes: Sequence[str]) -> Unit:
    step = 0
    while most >= 1000 and step + 1 < len(prefixes):
        most, step = most / 1000, step + 1
    return Unit(1000.0**-step, prefixes[step] + name)


@dataclass(frozen=True)
class Quantity:
    """A number of a result: its label on an axis, and its units."""

    words: str
    unit: Callable[[float], Unit]

    def label(self, unit: Unit) -> str:
        return f"{self.words} ({unit.name})" if unit.name else self.words


def _plain(_: float) -> Unit:
    return Unit(1.0, "")


_WORDS: Mapping[str, str] = {
    "goodput_bps": "goodput",
    "aggregate_goodput_bps": "total goodput",
    "min_goodput_bps": "least goodput",
    "jain_index": "Jain's index",
    "log_utility": "log utility",
    "starved_flows": "starved flows",
    "mean_delay_s": "mean delay",
    "p99_delay_s": "99 % delay",
    "mean_flow_delay_s": "mean delay over flows",
    "p99_flow_delay_s": "99 % delay over flows",
    "mean_flow_loss_ratio": "share of packets lost, over flows",
    "rtt_s": "round-trip time",
    "loss_ratio": "share of packets lost",
    "completion_s": "completion time",
    "broadcasts_per_packet": "broadcasts per packet",
    "late_share": "share of late broadcasts",
    "optimum_share": "share of the max-min rate",
    "optimum_share_min": "least share of a max-min rate",
    "optimum_share_total": "share of the sum of max-min rates",
}


def quantity(name: str) -> Quantity:
    """The words and unit of a key of a result; the ending of the key is the unit."""
    words = _WORDS.get(
        name, name.removesuffix("_bps").removesuffix("_s").removesuffix("_bytes").replace("_", " ")
    )
    if name.endswith("_bps"):
        return Quantity(words, rate_unit)
    if name.endswith("_s"):
        return Quantity(words, time_unit)
    if name.endswith("_bytes"):
        return Quantity(words, bytes_unit)
    return Quantity(words, _plain)


def legend(
    ax: Axes, below: float = 36, most: int = 60, entries: Sequence[tuple[Artist, str]] | None = None
) -> None:
    """A legend so many points below the axes, in as many columns as `most` letters hold: of what has a label
    in the axes, or of these entries.

    A figure of ours grows by it; the axes keep their height.
    """
    handles, labels = ax.get_legend_handles_labels()
    if entries is not None:
        handles, labels = [handle for handle, _ in entries], [label for _, label in entries]
    if not handles:
        return
    columns = max(1, min(len(labels), most // (max(len(label) for label in labels) + 7)))
    figure = figure_of(ax)
    if isinstance(figure, Plot):
        figure.set_figheight(figure.get_figheight() + 0.2 * -(-len(labels) // columns) + 0.1)
    down = ScaledTranslation(0, -below / 72, figure.dpi_scale_trans)
    ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + down,
        ncols=columns,
        columnspacing=1.2,
    )

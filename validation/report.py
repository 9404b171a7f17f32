"""Rows, figures and the report that is made of them.

A section yields `Row`s and adds `Figure`s to its `Context`; it knows neither files nor Markdown nor
matplotlib. `Report.write` writes the report and the numbers of its figures, each file whole or not at all;
`read_figures` and `draw` make pictures of the numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from airfair.output import write_atomically
from airfair.reference import wrapped

from .queueing import Mean

Value = float | str
Style = Literal["line", "dashed", "points"]


@dataclass(frozen=True)
class Row:
    """One comparison: the value of an outside source, the measured value, and whether both agree."""

    section: str
    name: str
    source: str
    """The origin of `expected`."""
    expected: Value
    tolerance: str
    """The allowed difference, as printed: `± 0.35 %`, `≤ 7`, `exact`."""
    measured: Value
    unit: str
    ok: bool


def within(
    section: str,
    name: str,
    source: str,
    *,
    expected: float,
    measured: float,
    unit: str = "",
    relative: float | None = None,
    absolute: float | None = None,
) -> Row:
    """A row that passes within `relative` (a fraction of `expected`) or `absolute` (in `unit`): name exactly
    one."""
    if (relative is None) == (absolute is None):
        raise ValueError(f"{section}/{name}: give either relative or absolute")
    if relative is not None:
        allowed, shown = abs(relative * expected), f"± {100 * relative:.3g} %"
    else:
        assert absolute is not None
        allowed, shown = absolute, f"± {absolute:.3g}" if absolute else "exact"
    # A NaN compares false, so it fails.
    return Row(section, name, source, expected, shown, measured, unit, abs(measured - expected) <= allowed)


def inside(
    section: str, name: str, source: str, *, low: float, high: float, measured: float, unit: str = ""
) -> Row:
    """A row that passes where `low <= measured <= high`; either bound may be infinite."""
    if math.isinf(high):
        expected = f"≥ {low:.5g}"
    elif math.isinf(low):
        expected = f"≤ {high:.5g}"
    else:
        expected = f"{low:.5g} to {high:.5g}"
    return Row(section, name, source, expected, "inside", measured, unit, low <= measured <= high)


def holds(section: str, name: str, source: str, *, expected: str, measured: str, ok: bool) -> Row:
    """A row about something that is no number: equal bytes, an order, a refusal."""
    return Row(section, name, source, expected, "exact", measured, "", ok)


@dataclass(frozen=True)
class Series:
    """One line or set of points of a figure; `error` is a symmetric bar."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Style = "line"
    error: Sequence[float] | None = None

    @classmethod
    def of_means(
        cls, label: str, x: Sequence[float], means: Sequence[Mean], style: Style = "points"
    ) -> Series:
        """Means over seeds with their confidence intervals."""
        return cls(label, x, [mean.mean for mean in means], style, [mean.half_width for mean in means])


@dataclass(frozen=True)
class Figure:
    """A plot of the report: its numbers are a line of `<output>/validation/figures.json`."""

    section: str
    name: str
    caption: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    x_names: Sequence[str] = ()
    """Names at x = 1, 2, ... instead of numbers."""

    @property
    def file(self) -> str:
        """Name of the picture inside the folder of figures."""
        return f"{self.section}-{self.name}.svg"


@dataclass
class Context:
    """The arguments of a section: length of runs, seed, processes, and the list for its figures."""

    quick: bool = False
    """Shorter runs, for a first impression; the tolerances stay."""
    seed: int = 1
    workers: int = 1
    figures: list[Figure] = field(default_factory=list)

    def figure(self, figure: Figure) -> None:
        """Add a figure to the report."""
        self.figures.append(figure)


@dataclass
class Report:
    """All rows and figures of a run, by section, in the order in which the sections ran."""

    titles: dict[str, tuple[str, str]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def add(
        self, section: str, title: str, about: str, rows: Iterable[Row], figures: Iterable[Figure] = ()
    ) -> list[Row]:
        """Add one section; returns its rows. A row that names another section is an error of the section."""
        new = list(rows)
        for row in new:
            if row.section != section:
                raise ValueError(f"section {section!r} yielded a row of {row.section!r}: {row.name}")
        self.titles[section] = (title, about)
        self.rows += new
        self.figures += figures
        return new

    @property
    def ok(self) -> bool:
        """True if there are rows and all of them pass."""
        return bool(self.rows) and all(row.ok for row in self.rows)

    def markdown(self) -> str:
        """The report as Markdown; the same rows give the same bytes."""
        failed = [row for row in self.rows if not row.ok]
        lines = [
            "# Validation",
            "",
            "Written by `python -m validation`; do not edit. Each check compares a measurement with a source",
            "outside the simulator: a published table, an independent model, a peer, or arithmetic by hand.",
            "Checks are listed by source, each with the measured value, the expected value and tolerance.",
            "",
            f"**{len(self.rows) - len(failed)} of {len(self.rows)} checks pass.**",
            "",
            "| section | passed | checks |",
            "|---|---|---|",
        ]
        for section, (title, _) in self.titles.items():
            rows = [row for row in self.rows if row.section == section]
            lines.append(f"| [{_cell(title)}](#{section}) | {sum(row.ok for row in rows)} | {len(rows)} |")
        if failed:
            links = "; ".join(f"[{row.section}](#{row.section}): {row.name}" for row in failed)
            lines += [
                "",
                wrapped(f"Failing: {links}."),
            ]
        for section, (title, about) in self.titles.items():
            lines += ["", f'<a id="{section}"></a>', "", f"## {title}", "", about.strip(), ""]
            lines += entries([row for row in self.rows if row.section == section])
            for figure in self.figures:
                if figure.section == section:
                    lines += [
                        "",
                        f"![{_cell(figure.caption)}](validation/{figure.file})",
                        "",
                        wrapped(f"*{figure.caption}*"),
                    ]
        return "\n".join(lines) + "\n"

    def write(self, folder: Path) -> Path:
        """Write `validation.md` and `validation/figures.json` into `folder`; returns the path of the former.

        The figures come first and the text last, each by an atomic rename, so the text never names a missing
        figure.
        """
        lines = ",\n".join(
            json.dumps(_rounded(asdict(figure)), ensure_ascii=False) for figure in self.figures
        )
        write_atomically(folder / "validation" / FIGURES, f"[\n{lines}\n]\n".encode())
        path = folder / "validation.md"
        write_atomically(path, self.markdown().encode())
        return path


FIGURES = "figures.json"


def _rounded(value: Any) -> Any:  # noqa: ANN401
    """Every number of a structure with six digits, which is more than a picture shows."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


def read_figures(folder: Path) -> list[Figure]:
    """The figures of a report that `Report.write` wrote into `folder`."""
    figures = json.loads((folder / "validation" / FIGURES).read_text(encoding="utf-8"))
    return [
        Figure(
            **figure
            | {
                "series": [Series(**series) for series in figure["series"]],
                "x_names": tuple(figure["x_names"]),
            }
        )
        for figure in figures
    ]


def entries(rows: Iterable[Row]) -> list[str]:
    """The lines of one section's checks: consecutive checks of one source are a list below that source."""
    lines = []
    for source, group in groupby(rows, lambda row: row.source):
        lines += ["", *wrapped(f"Source: {source}." if source else "Checks:").splitlines(), ""]
        lines += [line for row in group for line in _entry(row).splitlines()]
    return lines[1:]


def _entry(row: Row) -> str:
    measured = f"{_number(row.measured)} {row.unit}".rstrip()
    expected = _number(row.expected)
    if row.tolerance not in ("exact", "inside"):
        expected += f" {row.tolerance}"
    verdict = "" if row.ok else "**FAILS** "
    return wrapped(f"- {verdict}{row.name}: {measured} (expected {expected})", "  ")


def _number(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.5g}"


def _cell(text: str) -> str:
    """Text that cannot break out of its cell."""
    return " ".join(text.split()).replace("|", "\\|")


def draw(figure: Figure) -> bytes:
    """The figure as SVG, without date or random ids."""
    import io

    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    looks = {"line": "-", "dashed": "--", "points": "o"}
    with plt.rc_context(
        {"svg.hashsalt": "airfair", "svg.fonttype": "none", "axes.grid": True, "grid.alpha": 0.3}
    ):
        canvas, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
        for series in figure.series:
            look = looks[series.style]
            if series.error is None:
                axes.plot(series.x, series.y, look, label=series.label, markersize=4)
            else:
                axes.errorbar(
                    series.x,
                    series.y,
                    yerr=series.error,
                    fmt=look,
                    label=series.label,
                    markersize=4,
                    capsize=3,
                )
        if figure.x_names:
            axes.set_xticks(range(1, len(figure.x_names) + 1), figure.x_names, rotation=40, ha="right")
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
        axes.legend(fontsize="small")
        buffer = io.BytesIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(canvas)
    return buffer.getvalue()

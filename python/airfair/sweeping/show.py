"""The summary of a sweep on a terminal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import cast

from rich.console import Console
from rich.markup import escape

from ..results import CompareRow, Differences, Estimate, FlowRow
from ..tables import DELAYS, FAIRNESS, GOODPUT, LOSS, OF_FLOWS, Column, columns_of
from ..terminal import Table, plain_table
from .reading import CaseSummary, Sweep
from .study import as_toml

MOST_CASES = 40
"""Most cases that a table shows."""

MOST_FLOWS = 200
"""Most rows of the table of flows."""

Row = tuple[CaseSummary, CompareRow, CompareRow | Differences]
"""A case, a scheme of it, and numbers."""

RowOfFlow = tuple[CaseSummary, CompareRow, FlowRow]
"""A case, a scheme of it, and the numbers of a flow."""


def show_sweep(sweep: Sweep, out: Console, *, flows: bool = False) -> None:
    """Every case and scheme: the numbers of the whole, then the differences to the first scheme; with `flows`
    goodput, delay and loss of each flow."""
    study, cells = sweep.about["study"], sweep.about["cells"]
    texts: dict[str, set[str]] = {}
    for cell in cells:
        for path, value in cell["parameters"].items():
            texts.setdefault(path, set()).add(as_toml(value))
    everywhere = [path for path in texts if all(path in cell["parameters"] for cell in cells)]
    constant = [path for path in everywhere if len(texts[path]) == 1]
    varied = [path for path in texts if path not in constant]
    seeds = study["seeds"]
    head = [f"[bold]{escape(study['name'])}[/bold]", f"{sweep.arrow('runs').num_rows} of {sweep.total} runs"]
    head += [f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"]
    head += [escape(f"{path} {text}") for path in constant for text in texts[path]]
    out.print(f"{', '.join(head)}: means ± half the width of the 95 % confidence interval")
    shown = list(itertools.islice(sweep.summary(), MOST_CASES))
    shown_tables = _Tables(shown, varied, len(seeds), out)
    shown_tables.show(study["schemes"][0])
    if flows:
        shown_tables.show_flows()
    if len(cells) > len(shown):
        out.print(f"[dim]the first {len(shown)} of {len(cells)} cases; all of them with --json[/dim]")


def short(paths: Sequence[str]) -> list[str]:
    """The last parts of paths, as many as tell one from the others."""
    parts = [path.split(".") for path in paths]
    for few in range(1, max(map(len, parts), default=0) + 1):
        names = [".".join(of[-few:]) for of in parts]
        if len(set(names)) == len(names):
            return names
    return list(paths)


class _Tables:
    """The tables of a sweep. `varied` are the paths whose values tell the cases apart, or do not."""

    def __init__(self, cases: Sequence[CaseSummary], varied: Sequence[str], seeds: int, out: Console) -> None:
        self.cases = cases
        self.out = out
        self.names = short(varied)
        self.varied = varied
        rows = [row for case in cases for row in case["rows"]]
        self.count_runs = any(row["runs"] != seeds for row in rows)
        self.named = any(case["case"] is not None for case in cases)
        columns = columns_of(rows)
        kept = FAIRNESS[:2]  # shown in any case
        same = [column for column in columns if column not in kept and _is_same(rows, column)]
        self.same = same if len(rows) > 1 else []
        self.shown_columns = [column for column in columns if column not in self.same]
        self.numbered = False

    def show(self, baseline: str) -> None:
        whole: list[Row] = [(case, row, row) for case in self.cases for row in case["rows"]]
        others: list[Row] = [
            (case, row, row["difference"]) for case in self.cases for row in case["rows"][1:]
        ]
        goodputs, delays = (
            [column for column in self.shown_columns if column in of] for of in (FAIRNESS, DELAYS)
        )
        if whole and self.varied:
            # Cases have numbers where all that tells them apart would leave little room.
            room = self.out.width
            plain = self._table(whole, goodputs).parts(room)
            self.numbered = True
            self.numbered = self._table(whole, goodputs).parts(room) < plain
            if self.numbered:
                self.out.print(self._cases())
            if self.names != list(self.varied):
                heads = (f"{a}: {b}" for a, b in zip(self.names, self.varied, strict=True) if a != b)
                self.out.print(f"[dim]{escape(', '.join(heads))}[/dim]")
            if self.numbered:
                self.out.print()
        differences = [row[2] for row in others]
        changing = [column for column in self.shown_columns if not _is_same(differences, column, 0)]
        for title, columns in (("", goodputs), ("Delay and loss", delays)):
            self._print(title, whole, columns)
            differing = [column for column in columns if column in changing]
            self._print(f"Differences to {baseline}, paired by seed", others, differing, sign=True)
        if others and not changing:
            self.out.print(f"\nNo scheme differs from {escape(baseline)} in any of these numbers")
        if self.same:
            row = next(row for case in self.cases for row in case["rows"])
            cells = (f"{column.head} {column.cell(row)}" for column in self.same)
            self.out.print(f"\nThe same in every case: {escape(', '.join(cells))}")

    def show_flows(self) -> None:
        """Every flow of every case and scheme."""
        every: list[RowOfFlow] = [
            (case, row, flow) for case in self.cases for row in case["rows"] for flow in row["flows"]
        ]
        if every:
            self.out.print("\nEach flow")
            self.out.print(self._table(every[:MOST_FLOWS], [GOODPUT, *OF_FLOWS, LOSS]))
        if len(every) > MOST_FLOWS:
            self.out.print(f"[dim]the first {MOST_FLOWS} of {len(every)} rows; all of them with --json[/dim]")

    def _print(
        self, title: str, rows: Sequence[Row], columns: Sequence[Column], *, sign: bool = False
    ) -> None:
        if not rows or (not columns and title):
            return
        if title:
            self.out.print(f"\n{escape(title)}")
        self.out.print(self._table(rows, columns, sign=sign))

    def _labels(self) -> list[str]:
        return [*(["case"] if self.named else []), *self.names]

    def _values(self, case: CaseSummary) -> list[str]:
        values = [case["case"] or ""] if self.named else []
        set_here = case["parameters"]
        return values + [as_toml(set_here[path]) if path in set_here else "" for path in self.varied]

    def _cases(self) -> Table:
        table = plain_table("no.", *self._labels())
        for number, case in enumerate(self.cases, 1):
            table.add_row(str(number), *map(escape, self._values(case)))
        return table

    def _table(
        self, rows: Sequence[Row | RowOfFlow], columns: Sequence[Column], *, sign: bool = False
    ) -> Table:
        labels = ["no."] if self.numbered else self._labels()
        right = [*(["runs"] if self.count_runs else []), *(column.head for column in columns)]
        flows = ["flow"] if any("id" in of for _, _, of in rows) else []
        table = plain_table(*labels, "scheme", *flows, right=right)
        numbers = {id(case): number for number, case in enumerate(self.cases, 1)}
        before: tuple[CaseSummary | None, CompareRow | None] = (None, None)
        for case, row, of in rows:
            values = [str(numbers[id(case)])] if self.numbered else self._values(case)
            table.add_row(
                *(escape(value) if case is not before[0] else "" for value in values),
                escape(row["scheme"]) if row is not before[1] else "",
                *(escape(cast(FlowRow, of)["id"]) for _ in flows),
                *([str(row["runs"])] if self.count_runs else []),
                *(column.cell(of, sign=sign) for column in columns),
            )
            before = (case, row)
        return table


def _is_same(rows: Sequence[CompareRow | Differences], column: Column, only: float | None = None) -> bool:
    """True if all rows have the same number without any spread: `only` this one, if it is given."""
    estimates = [cast("Estimate | None", row[column.key]) for row in rows]  # type: ignore[literal-required]
    if any(estimate is None or estimate["ci95"] for estimate in estimates):
        return False
    means = {estimate["mean"] for estimate in estimates if estimate is not None}
    return len(means) == 1 and (only is None or means == {only})

"""Tables of verdicts on comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import rich.console
from rich.markup import escape

from . import tables, terminal
from .quantities import part
from .results import CompareRow
from .verdicts import Judged, Unjudged, comparison_lines, is_equal

HEADS = ("flows win", "lose", "unclear", "of its total")


def table_of(rows: Sequence[CompareRow], judged: Judged | Unjudged | None) -> terminal.Table | None:
    """The counts of flows, and the shares of what the air allows; None where there is neither."""
    compared = any("beside" in row for row in rows)
    shares = judged.rows if isinstance(judged, Judged) else []
    columns = tables.columns_of(shares, tables.OF_OPTIMUM)
    if not compared and not columns:
        return None
    heads = [*(HEADS if compared else ()), *(column.head for column in columns)]
    table = terminal.plain_table("scheme", right=heads)
    for number, row in enumerate(rows):
        cells = counts(row) if compared else []
        cells += [column.cell(cast("Mapping[str, object]", shares[number])) for column in columns]
        table.add_row(escape(row["scheme"]), *cells)
    return table


def counts(row: CompareRow) -> list[str]:
    """Cells for `HEADS`: dashes for the baseline; a scheme that changes nothing equals it."""
    if "beside" not in row:
        return ["-"] * len(HEADS)
    if is_equal(row):
        return [f"= {row['baseline']}", *["-"] * (len(HEADS) - 1)]
    beside = row["beside"]
    whole = "-" if beside["total_share"] is None else part(beside["total_share"])
    return [str(beside["won"]), str(beside["lost"]), str(beside["even"]), whole]


def title(rows: Sequence[CompareRow], judged: Judged | Unjudged | None) -> str:
    """The title of the table of counts and shares."""
    once = " in one run of each" if rows[0]["runs"] == 1 else ""
    parts = [f"Flows against {rows[0]['scheme']}{once}"] if len(rows) > 1 else []
    if isinstance(judged, Judged):
        parts.append(f"shares of the max-min rates that the air allows ({judged.words})")
    text = ", and ".join(parts)
    return text[:1].upper() + text[1:]


def show_verdict(
    rows: Sequence[CompareRow], judged: Judged | Unjudged | None, out: rich.console.Console
) -> None:
    """Print the verdict on a comparison."""
    table = table_of(rows, judged)
    if table is not None:
        out.print(f"\n{escape(title(rows, judged))}")
        out.print(table)
    for line in comparison_lines(rows, judged):
        out.print(escape(line))

"""The summary of a sweep on a terminal."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape

from ..results import CompareRow, Differences
from ..tables import columns_of, plain_table
from .reading import CaseSummary, Sweep
from .study import as_toml

MOST_CASES = 40
"""Most cases that a table shows."""


def show_sweep(sweep: Sweep, out: Console) -> None:
    """Every case and scheme: the numbers of the whole, then the differences to the first scheme."""
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
    _table(shown, varied, ((case, row, row, False) for case in shown for row in case["rows"]), out)
    if len(study["schemes"]) > 1:
        out.print(f"\nDifferences to {escape(study['schemes'][0])}, paired by seed")
        others = ((case, row, row["difference"], True) for case in shown for row in case["rows"][1:])
        _table(shown, varied, others, out)
    if len(cells) > len(shown):
        out.print(f"[dim]the first {len(shown)} of {len(cells)} cases; all of them with --json[/dim]")


def _table(
    cases: Sequence[CaseSummary],
    paths: Sequence[str],
    rows: Iterable[tuple[CaseSummary, CompareRow, CompareRow | Differences, bool]],
    out: Console,
) -> None:
    """`paths` and each row's case, scheme and numbers, with signs or without."""
    named = any(case["case"] is not None for case in cases)
    labels = [*(["case"] if named else []), *paths, "scheme"]
    columns = columns_of([row for case in cases for row in case["rows"]])
    table = plain_table(*labels, right=["runs", *(column.head for column in columns)])
    before: CaseSummary | None = None
    for case, row, numbers, sign in rows:
        values = [case["case"] or ""] if named else []
        values += [as_toml(case["parameters"][path]) if path in case["parameters"] else "" for path in paths]
        table.add_row(
            *(escape(value) if case is not before else "" for value in values),
            escape(row["scheme"]),
            str(row["runs"]),
            *(column.cell(numbers, sign=sign) for column in columns),
        )
        before = case
    out.print(table)

"""HTML of values for notebooks: a heading, properties, a small table. All texts are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from .quantities import plural

if TYPE_CHECKING:
    import pandas as pd

    from ._core import Scenario

MOST_NAMES = 8
"""Most names that a list shows."""

MOST_ROWS, MOST_COLUMNS = 12, 12
"""Most rows and columns that a table shows; of more the middle ones are left out."""


def page(heading: str, properties: Mapping[str, str], table: pd.DataFrame | None = None) -> str:
    """HTML of a value: its heading, its properties (without empty ones), and some rows of a table."""
    left = 'style="text-align: left"'
    rows = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(text)}</td></tr>"
        for name, text in properties.items()
        if text
    )
    shown = ""
    if table is not None:
        shown = table.to_html(max_rows=MOST_ROWS, max_cols=MOST_COLUMNS, border=0, index=False, escape=True)
    return f"<div><strong>{escape(heading)}</strong><table>{rows}</table>{shown}</div>"


def listed(names: Sequence[str]) -> str:
    """Names with commas; of many the first, and how many there are."""
    more = f", ... ({len(names)})" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def counted(count: int, what: str) -> str:
    """A number with its noun."""
    return f"{count:,} {plural(count, what)}"


def of_scenario(scenario: Scenario) -> str:
    """HTML of a scenario."""
    properties = {
        "description": scenario.description,
        "scheme": scenario.scheme,
        "duration": f"{scenario.duration_ns / 1e9:g} s",
        "warm-up": f"{scenario.warmup_ns / 1e9:g} s",
        "nodes": listed(scenario.nodes),
        "flows": listed(scenario.flows),
        "warnings": "\n".join(scenario.warnings),
    }
    return page(f"Scenario {scenario.name}", properties)

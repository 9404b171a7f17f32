"""The sections of the report, a file each.

A section is a module with `TITLE` (a heading), `ABOUT` (a paragraph of Markdown) and `rows(context: Context)
-> Iterable[Row]`. A new file here is found by its name; `ORDER` says where it stands in the report.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..report import Context, Row

ORDER = (
    "models",
    "saturation",
    "edca",
    "chains",
    "tcp_chains",
    "tcp_grid",
    "unfairness",
    "optimum",
    "routing",
    "gateway",
    "wlan",
    "queueing",
    "mathis",
    "response",
    "dumbbell",
    "kernel",
    "tfrc",
    "short_flows",
    "conservation",
    "determinism",
)


@dataclass(frozen=True)
class Section:
    """One loaded section."""

    name: str
    title: str
    about: str
    rows: Callable[[Context], Iterable[Row]]


def names() -> list[str]:
    """Names of the sections that exist: those of `ORDER` first, then the others by name."""
    found = {module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")}
    return [name for name in ORDER if name in found] + sorted(found.difference(ORDER))


def load(name: str) -> Section:
    """Import the section of this name."""
    module = importlib.import_module(f"{__name__}.{name}")
    return Section(name, module.TITLE, module.ABOUT, module.rows)

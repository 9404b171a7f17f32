"""The page of an advice: one HTML file with the advice, its flows, and all sets that were tried."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

import jinja2

from .. import _core, quantities
from .._core import InputError
from ..inputs import refuse_inputs
from ..output import check_writable, write_atomically
from ..results import Advice, Estimate
from . import show


def check(path: Path, file: Path) -> None:
    """Raise `InputError` or `OSError` unless a page may be written there."""
    refuse_inputs(path, [file])
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a report is a page; expected a name that ends in .html")
    check_writable(path)


def write(path: Path, advice: Advice) -> None:
    """Write the page, whole or not at all. Raises `OSError`."""
    write_atomically(path, page(advice).encode())


def page(advice: Advice) -> str:
    """The advice as HTML."""
    return (
        _environment()
        .get_template("page.html")
        .render(
            advice=advice,
            lines=show.lines(advice),
            css=resources.files("airfair.report").joinpath("page.css").read_text(encoding="utf-8"),
            version=_core.__version__,
        )
    )


def _number(by: Estimate, sign: bool = False) -> str:
    return quantities.number_of(by, 3, sign=sign)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("airfair.advising", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    return environment

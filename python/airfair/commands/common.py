"""Parts that commands share: reading scenarios, messages, progress, files that are written first."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .. import _core, experiment
from .._core import InputError, Scenario
from ..options import CheckedCommand

T = TypeVar("T")

subcommand = partial(click.command, cls=CheckedCommand)
"""A command of the program, which checks that its options go together."""


def read_scenario(file: Path, overrides: Sequence[str]) -> Scenario:
    """The scenario in a file; `-` is standard input."""
    if str(file) == "-":
        return Scenario.parse(read_standard_input(), "standard input", list(overrides))
    return Scenario.read(file, overrides)


def read_standard_input() -> str:
    """The whole standard input. Raises `InputError` if it is not UTF-8."""
    content = sys.stdin.buffer.read()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"standard input:{line}: not UTF-8; send it as UTF-8") from None


def run_progress() -> Progress:
    """A bar on standard error that counts runs, where that is a terminal."""
    errors = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=errors,
        speed_estimate_period=3600,
        transient=True,
        disable=not errors.is_terminal,
    )


def given(option: str, text: str, read: Callable[[str], T]) -> T:
    """The value of an option's text. Raises `InputError`, which names the option."""
    try:
        return read(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from error


def time(option: str, text: str) -> None:
    """Check a time that was given to an option. Raises `InputError`, which names the option."""
    given(option, text, _core.parse_time)


def warn(warnings: list[str]) -> None:
    """Print warnings to consider before using a result."""
    for warning in warnings:
        print_message(f"warning: {warning}")


def warn_unused(scenario: Scenario, schemes: Sequence[str]) -> None:
    """Warn of `--set` for parameters of schemes that none of the runs has."""
    warn(scenario.unused_settings(list(schemes)))


def print_message(text: str) -> None:
    """Print to standard error; a terminal shows lines that are wider than itself folded at spaces."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(_folded(line, width) for line in text.split("\n"))
    print(text, file=sys.stderr)


def _folded(line: str, width: int) -> str:
    """A line in lines of this width, the further ones indented; a word stays whole."""
    return textwrap.fill(
        line,
        max(width, 20),
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        expand_tabs=False,
    )


@contextmanager
def written_first(path: Path | None, write: Callable[[Path], object]) -> Iterator[None]:
    """Write a file before the output is printed, since a closed pipe may end the program; a failure is
    raised at the end."""
    failed = None
    if path is not None:
        try:
            write(path)
        except Exception as error:  # the output comes first, whatever is wrong with the page
            failed = error
    yield
    if failed is not None:
        sys.stdout.flush()
        raise failed


def write_report(path: Path, scenario: Scenario, done: experiment.Repeated) -> None:
    """Write the report, with the command line."""
    from .. import report as reports

    reports.write(path, scenario, done, ["airfair", *sys.argv[1:]])

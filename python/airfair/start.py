"""The entry of the command line: small, so that signals and closed streams are in order before the rest,
which takes some tenths of a second to load."""

from __future__ import annotations

from typing import NoReturn

from . import ending


def main() -> NoReturn:
    """Run the command line and exit."""
    ending.leave_at_once()
    ending.open_streams()
    from .cli import main as command_line

    command_line()

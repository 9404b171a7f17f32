"""`airfair check`: errors of a scenario, and the complete scenario."""

from __future__ import annotations

from pathlib import Path

import click

from ..options import file_argument, schemes_from_option, set_option
from .common import read_scenario, subcommand, warn


@subcommand()
@file_argument
@schemes_from_option
@set_option
@click.option(
    "--resolved",
    is_flag=True,
    help="Print the complete scenario with every default, and the ranges of its radios.",
)
def check(file: Path, overrides: tuple[str, ...], resolved: bool) -> None:
    """Check the scenario in FILE: print nothing, or every error.

    Warnings are those of a run before it starts. With --resolved the command also prints the complete
    scenario, with the ranges of data, preambles and carrier sense in comments.

    \b
    Example:
      airfair check scenarios/three-pairs.toml --resolved
    """
    scenario = read_scenario(file, overrides)
    if resolved:
        print(scenario.resolved, end="", flush=True)
    warn(scenario.check())

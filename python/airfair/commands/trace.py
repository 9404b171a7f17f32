"""`airfair trace`: the events of a run."""

from __future__ import annotations

from pathlib import Path

import click

from .. import _core
from ..options import (
    Choice,
    choice_options,
    file_argument,
)
from .common import print_message, read_scenario, subcommand, time, warn_unused


@subcommand()
@file_argument
@choice_options
@click.option("--node", metavar="ID", help="Only events that concern this node.")
@click.option(
    "--from", "start", metavar="TIME", default="0 s", show_default=True, help="Time of the first event."
)
@click.option("--until", metavar="TIME", help="Only events before this time; by default the end of the run.")
def trace(
    file: Path,
    choice: Choice,
    node: str | None,
    start: str,
    until: str | None,
) -> None:
    """Print the events of a run of the scenario in FILE.

    Events are frames, losses with their causes, drops and deliveries. Of a frame with a trailer (DiffQ) the
    line says how many packets for a destination are in the sender's queue.

    \b
    Example:
      airfair trace scenarios/three-pairs.toml --node a2 \\
        --from "1 s" --until "1.1 s"
    """
    scenario = read_scenario(file, choice.overrides)
    for option, moment in (("--from", start), ("--until", until)):
        if moment is not None:
            time(option, moment)
    lines = _core.trace(scenario, choice.scheme, choice.seed, node, start, until)
    warn_unused(scenario, [choice.scheme or scenario.scheme])
    printed = False
    for line in lines:
        print(line)
        printed = True
    if not printed:
        of_node = "" if node is None else f" of {node}"
        before = "the end of the run" if until is None else until
        rest = ""
        if until is not None:
            following = lines.following()
            rest = "; no event follows" if following is None else f"; the next one is at {following}"
        print_message(f"airfair: no event{of_node} from {start} until {before}{rest}")

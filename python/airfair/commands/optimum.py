"""`airfair optimum`: the best rates that the air allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import click

from .. import terminal
from ..options import NumberRange, file_argument, json_option, set_option
from .common import read_scenario, run_progress, subcommand


@subcommand()
@file_argument
@set_option
@click.option(
    "--factor",
    metavar="W",
    type=NumberRange(1, 100),
    help="Factor of an inhibitor's air time; by default 1.38 where a handshake of the inhibited link stops "
    "the inhibitor, else 1.75, and by their frames and windows for two hidden senders without RTS.",
)
@click.option(
    "--clique-limit",
    metavar="N",
    type=click.IntRange(0),
    help="Cliques after which no more are searched, but for those that are needed to cover every link and "
    "every conflict; by default 1000000.",
)
@click.option(
    "--search",
    "searched",
    is_flag=True,
    help="Search the rates of up to four flows in the simulator, over UDP, beside the model.",
)
@json_option
def optimum(
    file: Path,
    overrides: tuple[str, ...],
    factor: float | None,
    clique_limit: int | None,
    searched: bool,
    as_json: bool,
) -> None:
    """Estimate the best rates that the air allows the flows in FILE.

    Max-min and proportionally fair rates under the constraints of cliques: links of which only one can be
    used at a time. What binds each flow is named. Nothing is run, unless with --search.

    \b
    Example:
      airfair optimum scenarios/three-pairs.toml
      airfair optimum scenarios/hidden-terminal.toml --search
    """
    from ..optimal import model, search, show

    scenario = read_scenario(file, overrides)
    if searched:
        if factor is not None or clique_limit is not None:
            raise click.UsageError("--search has no --factor and no --clique-limit")
        progress = run_progress()
        with progress:
            task = progress.add_task("runs", total=None)
            found = search.search_optimum(scenario, on_run=lambda runs: progress.update(task, completed=runs))
        if as_json:
            print(json.dumps(found))
        else:
            show.show_found(found, terminal.console())
        return
    text = scenario.optimum(factor, clique_limit)
    if as_json:
        print(text)
    else:
        show.show(cast(model.Optimum, json.loads(text)), terminal.console())

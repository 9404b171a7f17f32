"""`airfair paper`: experiments of papers, with claims and figures."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from .. import paper, terminal
from ..claims import Measured
from ..options import json_option
from .common import run_progress, subcommand, warn, written_first


@subcommand(name="paper")
@click.argument("identities", metavar="[ID]...", nargs=-1)
@click.option(
    "--quick", is_flag=True, help="Fewer seeds: the number that the experiment declares for this option."
)
@click.option("--seeds", type=click.IntRange(2), help="Number of seeds.")
@click.option(
    "--readings",
    is_flag=True,
    help="With --quick: print the other readings of a paper's claims too, as without --quick.",
)
@json_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/paper"),
    show_default=True,
    help="Folder of the figures; the figure of an experiment is ID.svg in this folder.",
)
def run_paper(
    identities: tuple[str, ...], quick: bool, seeds: int | None, readings: bool, as_json: bool, out: Path
) -> None:
    """Repeat experiments of a paper: claims and figure.

    Without ID the command lists all experiments. Several experiments share the runs that they have in common;
    with --json each is a line. A claim that does not hold is a result, not a failure: the exit status is 0.

    \b
    Example:
      airfair paper nred/fig2 --quick
      airfair paper diffq/fig1 diffq/fig9 diffq/fig11
    """
    if not identities:
        if as_json:
            print(json.dumps(paper.listed()))
        else:
            paper.show_list(terminal.console())
        return
    if quick and seeds is not None:
        raise click.UsageError("--quick and --seeds both say how many seeds: give one of them")
    loaded = {identity: paper.load(identity) for identity in identities}
    if len(loaded) < len(identities):
        raise click.UsageError("an ID stands twice: expected each once")
    kept: paper.Kept | None = {} if len(loaded) > 1 else None
    counts = {
        identity: seeds or (chosen.quick_seeds if quick else chosen.seeds)
        for identity, chosen in loaded.items()
    }
    for identity, chosen in list(loaded.items())[1:]:  # the first one is checked by its own runs
        paper.planned(chosen, range(chosen.first_seed, chosen.first_seed + counts[identity]))
    for identity, chosen in loaded.items():
        rows = _measured(chosen, counts[identity], kept)
        figure = out / f"{identity}.svg"
        with written_first(figure, partial(paper.draw, chosen, rows)):
            if as_json:
                print(json.dumps(paper.result(identity, chosen, rows)), flush=True)
            else:
                every = readings or not quick
                paper.show(identity, chosen, rows, terminal.console(), readings=every)
            warn(list(dict.fromkeys(warning for row in rows.values() for warning in row["warnings"])))
        if not as_json:
            print(f"\nfigure: {figure}")


def _measured(chosen: paper.Experiment, count: int, kept: paper.Kept | None) -> Measured:
    """The runs of an experiment, with a bar of progress."""
    first = chosen.first_seed
    progress = run_progress()
    with progress:
        task = progress.add_task("runs", total=len(chosen.series) * count)
        return paper.measure(
            chosen,
            seeds=range(first, first + count),
            kept=kept,
            on_run=lambda: progress.advance(task),
        )

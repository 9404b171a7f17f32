"""`airfair sweep` and `airfair paper`: many runs, which a file describes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from .. import paper, terminal
from ..claims import Measured
from ..options import json_option, schemes_from_option, set_option
from .common import run_progress, subcommand, warn, written_first


@subcommand()
@click.argument("file", metavar="STUDY", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the results, by default out/sweep/NAME. Runs that are finished there are not repeated.",
)
@click.option("--jobs", type=click.IntRange(1), help="Number of processes; by default the number of cores.")
@schemes_from_option
@click.option(
    "--dask", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler, an address or its file."
)
@click.option("--flows", is_flag=True, help="Print goodput, delay and loss of each flow, too.")
@set_option
@json_option
def sweep(
    file: Path,
    out: Path | None,
    jobs: int | None,
    dask: str | None,
    flows: bool,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run a study: all its parameters, schemes and seeds.

    The results are a folder of Parquet tables. The same command continues after any interruption, and does
    the runs that were added to the study. Runs that fail are named and make the exit status 1; the others
    are done.

    \b
    Example:
      airfair sweep scenarios/studies/queue.toml --out out/queue
    """
    from ..sweeping import command  # brings pyarrow

    status = command.sweep(
        file, out=out, jobs=jobs, dask=dask, overrides=overrides, flows=flows, as_json=as_json
    )
    click.get_current_context().exit(status)


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

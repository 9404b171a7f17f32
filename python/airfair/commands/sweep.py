"""`airfair sweep`: the runs of a study, which a file describes."""

from __future__ import annotations

from pathlib import Path

import click

from ..options import json_option, schemes_from_option, set_option
from .common import subcommand


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

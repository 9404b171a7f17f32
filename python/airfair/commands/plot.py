"""`airfair plot`: a figure of a run, a scenario or a comparison."""

from __future__ import annotations

from pathlib import Path

import click

from ..options import (
    Chart,
    chart_options,
    set_option,
)
from .common import subcommand, time

PLOTS = (
    "network",
    "throughput",
    "windows",
    "queues",
    "differentials",
    "batches",
    "channel",
    "timeline",
    "cdf",
    "bars",
    "scatter",
)


@subcommand()
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(PLOTS),
    metavar="KIND",
    help=f"Kind: {', '.join(PLOTS)}; by default `throughput` of a folder, `network` of a scenario, `bars` of "
    "a comparison.",
)
@click.option("--node", metavar="ID", help="With `channel`: plot this node over time.")
@click.option("--flow", metavar="ID", help="With `differentials`, `batches`: plot this flow.")
@click.option(
    "--quantity",
    metavar="KEY",
    help="With `bars` and `cdf`: key of the result to plot; by default goodput_bps.",
)
@chart_options
@set_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="File to write: .svg, .png or .pdf.",
)
def plot(
    source: Path,
    kind: str | None,
    node: str | None,
    flow: str | None,
    quantity: str | None,
    chart: Chart,
    overrides: tuple[str, ...],
    output: Path,
) -> None:
    """Draw a run, a scenario or a comparison.

    SOURCE is the folder of a run, a scenario, or a file with the output of `run --json` or `compare --json`.

    \b
    Example:
      airfair plot scenarios/three-pairs.toml -o network.svg
      airfair plot out/pairs --kind throughput -o throughput.svg
      airfair plot out/pairs --timeline --from "20 s" -o timeline.svg
    """
    for option, moment in (("--from", chart.start), ("--until", chart.until)):
        if moment is not None:
            time(option, moment)
    from ..plots import command  # loading matplotlib takes longer than most commands take

    command.plot(
        source,
        "timeline" if chart.timeline else kind,
        output,
        node=node,
        flow=flow,
        quantity=quantity,
        chart=chart,
        overrides=overrides,
    )

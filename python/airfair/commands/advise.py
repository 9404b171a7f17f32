"""`airfair advise`: changes that help, measured."""

from __future__ import annotations

import json
from pathlib import Path

import click

from .. import terminal
from ..options import file_argument, json_option, schemes_from_option, set_option
from .common import read_scenario, run_progress, subcommand, written_first


@subcommand()
@file_argument
@click.option(
    "--for",
    "goal",
    type=click.Choice(["fair", "total", "delay", "voice"]),
    default="fair",
    show_default=True,
    help="What is made better: the least share of a flow (`fair`), the total, the delay of all flows, of "
    "calls (`voice`).",
)
@click.option(
    "--budget", metavar="TIME", default="60 s", show_default=True, help="Wall time that the runs may take."
)
@click.option(
    "--runs",
    type=click.IntRange(8),
    help="Runs of the race instead of a budget; the same number gives the same answer.",
)
@schemes_from_option
@set_option
@json_option
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a page with all sets that were tried: one HTML file.",
)
@click.option(
    "--jobs", type=click.IntRange(1), help="Number of runs at a time; by default the number of cores."
)
def advise(
    file: Path,
    goal: str,
    budget: str,
    runs: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
    report: Path | None,
    jobs: int | None,
) -> None:
    """Try changes of the network in FILE, and print which help.

    FILE is a scenario (.toml) or a map of a real network, as of `airfair import`; on a map without traffic
    flows are drawn. Radio settings, windows, queues, window laws and schemes are tried, alone and together,
    and those that lead are confirmed with fresh seeds. What is printed first is measured to help, or nothing
    does.

    \b
    Example:
      airfair advise scenarios/gateway.toml
      airfair advise scenarios/gateway.toml --for delay --budget "20 s"
    """
    from ..advising import advise as find
    from ..advising import page, show

    if report is not None:
        page.check(report, file)
    piped = str(file) == "-"
    progress = run_progress()
    with progress:
        task = progress.add_task("runs", total=None)
        advice = find(
            read_scenario(file, overrides) if piped else file,
            goal=goal,
            budget=budget,
            runs=runs,
            overrides=() if piped else overrides,
            jobs=jobs,
            on_run=lambda: progress.advance(task),
        )
    with written_first(report, lambda path: page.write(path, advice)):
        if as_json:
            print(json.dumps(advice), flush=True)
            return
        out = terminal.console()
        for line in show.lines(advice):
            out.print(line, markup=False)
    if report is not None:
        print(f"\nreport: {report}")

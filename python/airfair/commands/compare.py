"""`airfair compare`: schemes over the same seeds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

import click

from .. import experiment, selections, sequential, tables, terminal, verdict_tables
from ..options import (
    Seeds,
    file_argument,
    json_option,
    optimum_option,
    report_option,
    schemes_from_option,
    seeds_options,
    set_option,
    window_option,
)
from ..results import CompareRow
from ..sequential import Until
from .common import (
    given,
    read_scenario,
    run_progress,
    subcommand,
    time,
    warn,
    warn_unused,
    write_report,
    written_first,
)


@subcommand()
@file_argument
@click.option(
    "--schemes",
    metavar="A,B",
    help="Schemes, with commas; by default that of the scenario. The first is the baseline of differences. "
    "A window law and a queue: cubic+fq-codel. A preset: diffq:paper. Changes for the runs of one: c3l[rts], "
    "fq-codel[radio.queue_packets=100; window=4] (`airfair schemes` lists short ones).",
)
@schemes_from_option
@seeds_options(sequential.STATISTICS, sequential.MAX_SEEDS)
@set_option
@window_option
@json_option
@report_option
@optimum_option
@click.option(
    "--jobs", type=click.IntRange(1), help="Number of runs at a time; by default the number of cores."
)
def compare(
    file: Path,
    schemes: str | None,
    seeds: Seeds,
    overrides: tuple[str, ...],
    windows: Sequence[str],
    as_json: bool,
    report: Path | None,
    optimum: bool,
    jobs: int | None,
) -> None:
    """Compare schemes in the scenario in FILE, over several seeds.

    Every scheme runs with the same seeds; differences to the first scheme are paired by seed.

    \b
    Example:
      airfair compare scenarios/three-pairs.toml \\
        --schemes droptail,red,nred --report out/pairs.html
    """
    until = None
    if seeds.until_halfwidth is not None:
        until = Until(
            given("--until-halfwidth", seeds.until_halfwidth, sequential.share),
            seeds.statistics or sequential.STATISTICS,
            seeds.max_seeds or sequential.MAX_SEEDS,
        )
    for window in windows:
        time("--window", window)
    scenario = read_scenario(file, overrides)
    found = selections.read_all(scenario.scheme if schemes is None else schemes)
    names = [selection.name for selection in found]
    windows_given = bool(windows)
    interval = None
    if report is not None:
        from .. import report as reports  # loading matplotlib takes longer than most commands take

        windows, interval = reports.prepare(report, scenario, windows)
    progress = run_progress()
    with progress:
        task = progress.add_task("runs", total=None)
        done = experiment.repeat(
            scenario,
            schemes=names,
            seeds=range(seeds.seed_from, seeds.seed_from + seeds.seeds),
            windows=windows,
            until=until,
            optimum=optimum,
            interval=interval,
            judged=report is not None or not as_json,
            jobs=jobs,
            on_run=lambda: progress.advance(task),
            on_plan=lambda total: progress.update(task, total=total),
        )
    warn_unused(scenario, names)
    with written_first(report, lambda path: write_report(path, scenario, done)):
        if as_json:
            print(done.rows, flush=True)
            return
        rows = cast(list[CompareRow], json.loads(done.rows))
        if not windows_given:  # a report has windows of its own
            for row in rows:
                row.pop("window_jain", None)
        console = terminal.console()
        short, _ = tables.short_named(rows, console)
        show_verdict = partial(verdict_tables.show_verdict, short, done.judged)
        tables.show_comparison(scenario.name, rows, console, show_verdict)
        warn(tables.warnings_of(rows))
        if done.optimum is not None:
            from ..optimal import show

            warn([*filter(None, [show.caution(done.optimum)])])
    if report is not None:
        print(f"\nreport: {report}")

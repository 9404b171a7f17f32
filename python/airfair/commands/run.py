"""`airfair run`: one run, printed, into a folder or with a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click

from .. import _core, experiment, tables, terminal, verdicts
from .._core import Scenario
from ..options import (
    Choice,
    Folder,
    Pace,
    choice_options,
    file_argument,
    folder_options,
    json_option,
    pace_options,
    report_option,
    verdict_option,
    window_option,
)
from ..results import RunResult
from .common import read_scenario, subcommand, time, warn, warn_unused, write_report, written_first


@subcommand()
@file_argument
@choice_options
@window_option
@json_option
@report_option
@verdict_option
@folder_options
@click.option("--node", metavar="ID", help="With --trace or --states: only what concerns this node.")
@click.option(
    "--wire-check",
    is_flag=True,
    help="Turn headers of explicit-rate schemes into bytes and back at every hop; the results are the same.",
)
@pace_options
def run(
    file: Path,
    choice: Choice,
    windows: tuple[str, ...],
    as_json: bool,
    report: Path | None,
    optimum: bool,
    folder: Folder,
    node: str | None,
    wire_check: bool,
    pace: Pace,
) -> None:
    """Run the scenario in FILE once.

    Goodputs are judged by the best rates that the air allows where computing these takes less work than the
    run, or with --optimum.

    \b
    Example:
      airfair run scenarios/three-pairs.toml --seed 2 --set duration="20 s"
      airfair run scenarios/three-pairs.toml --out out/pairs --pcap a2 --trace
    """
    scenario = read_scenario(file, choice.overrides)
    warn_unused(scenario, [choice.scheme or scenario.scheme])
    if choice.scheme is not None:
        scenario = scenario.selected(choice.scheme)
    for window in windows:
        time("--window", window)
    if report is not None:
        scheme = choice.scheme or scenario.scheme
        run_for_report(report, scenario, scheme, choice.seed, windows, as_json=as_json, optimum=optimum)
        return
    if folder.out is not None:
        text = json.dumps(run_into(folder, node, scenario, choice, windows, optimum=optimum))
    elif pace.realtime:
        speed = 1.0 if pace.speed is None else pace.speed
        text, _ = _core.run_paced(scenario, choice.scheme, choice.seed, speed)
    else:
        text = scenario.run(choice.scheme, choice.seed, windows=windows, wire_check=wire_check)
    if as_json and not optimum:
        print(text)
        return
    result = cast(RunResult, json.loads(text))
    judged = judge_run(scenario, result, optimum=optimum)
    if as_json:
        print(json.dumps(result))
        return
    console = terminal.console()
    tables.show_run(result, console, judged.lines, scenario.own_schemes)
    if "lateness" in result["perf"]:
        tables.show_lateness(result["perf"]["lateness"], console)
    warn(result["warnings"])


def judge_run(scenario: Scenario, result: RunResult, *, optimum: bool) -> verdicts.RunJudged:
    """The verdict on a run, which is part of the result if it is asked for: the output for a program does not
    depend on what is cheap."""
    if not optimum:
        return verdicts.judge_run_if_cheap(scenario, result)
    if "verdict" in result:
        return verdicts.RunJudged(verdicts.run_lines(result["verdict"]), result["verdict"])
    judged = verdicts.judge_run(scenario, result)
    if judged.verdict is not None:
        result["verdict"] = judged.verdict
    return judged


def run_into(
    folder: Folder,
    node: str | None,
    scenario: Scenario,
    choice: Choice,
    windows: Sequence[str],
    *,
    optimum: bool,
) -> RunResult:
    """Run once into a folder; `node`: the one that the tables of frames and states concern."""
    from .. import capture, recording

    for option, moment in (
        ("--interval", folder.interval),
        ("--from", folder.start),
        ("--until", folder.until),
    ):
        if moment is not None:
            time(option, moment)
    return recording.record(
        scenario,
        scheme=choice.scheme,
        seed=choice.seed,
        windows=windows,
        interval="1 s" if folder.interval is None else folder.interval,
        out=folder.out,
        force=folder.force,
        capture=capture.Capture(node=node, **folder.capture()),
        optimum=optimum,
    ).result


def run_for_report(
    path: Path,
    scenario: Scenario,
    scheme: str,
    seed: int,
    windows: Sequence[str],
    *,
    as_json: bool,
    optimum: bool,
) -> None:
    """Run once, print the result, and write a report of it."""
    from .. import report as reports

    windows_given = bool(windows)
    windows, interval = reports.prepare(path, scenario, windows)
    done = experiment.repeat(scenario, schemes=[scheme], seeds=[seed], windows=windows, interval=interval)
    text = done.runs[0][0].result
    result = cast(RunResult, json.loads(text))
    judged = judge_run(scenario, result, optimum=optimum)
    with written_first(path, lambda path: write_report(path, scenario, reports.of_run(done, judged))):
        if as_json:
            print(json.dumps(result) if optimum else text, flush=True)
            return
        if not windows_given:
            result.pop("window_jain", None)
        tables.show_run(result, terminal.console(), judged.lines, scenario.own_schemes)
        warn(result["warnings"])
    print(f"\nreport: {path}")

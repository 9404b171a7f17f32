"""The command line.

Exit status: 0 done, 2 bad input, 1 a failure, 130 interrupted, 143 terminated (128 and the number of the
signal). Errors and progress go to standard error.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar, cast

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from . import (
    _core,
    ending,
    experiment,
    explaining,
    importing,
    paper,
    reference,
    sequential,
    tables,
    verdict_tables,
    verdicts,
)
from ._core import InputError, Scenario, SchemeError
from .arguments import hint, of_schemes
from .claims import Measured
from .inputs import of_map, refuse_inputs
from .options import (
    Chart,
    CheckedCommand,
    Choice,
    Folder,
    NumberRange,
    Pace,
    Seeds,
    chart_options,
    choice_options,
    file_argument,
    folder_options,
    json_option,
    optimum_option,
    own_set_option,
    pace_options,
    report_option,
    schemes_from_option,
    seeds_options,
    set_option,
    verdict_option,
    window_option,
)
from .output import write_atomically
from .results import CompareRow, RunResult
from .sequential import Until

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

T = TypeVar("T")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(_core.__version__, prog_name="airfair")
def cli() -> None:
    """Airfair: packets over shared air, the same every time.

    \b
    Example:
      airfair compare scenarios/three-pairs.toml --schemes droptail,red,nred
    """


cli.command_class = CheckedCommand


@cli.command()
@file_argument
@choice_options
@window_option
@json_option
@report_option
@verdict_option
@folder_options
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
    for window in windows:
        time("--window", window)
    if report is not None:
        scheme = choice.scheme or scenario.scheme
        run_for_report(report, scenario, scheme, choice.seed, windows, as_json=as_json, optimum=optimum)
        return
    if folder.out is not None:
        text = json.dumps(run_into(folder, scenario, choice, windows, optimum=optimum))
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
    console = tables.console()
    tables.show_run(result, console, judged.lines)
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
    folder: Folder, scenario: Scenario, choice: Choice, windows: Sequence[str], *, optimum: bool
) -> RunResult:
    """Run once into a folder."""
    from . import capture, recording

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
        capture=capture.Capture(**folder.capture()),
        optimum=optimum,
    ).result


@cli.command()
@file_argument
@click.option(
    "--schemes",
    metavar="A,B",
    help="Schemes, with commas; by default that of the scenario. The first is the baseline of differences.",
)
@schemes_from_option
@seeds_options(sequential.STATISTICS, sequential.MAX_SEEDS)
@own_set_option
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
    common, own = of_schemes(overrides)
    if own and str(file) == "-":
        raise click.UsageError("--set SCHEME:PATH=VALUE needs a file: standard input is read once")
    scenario = read_scenario(file, cast(Sequence[str], common))
    names = [scenario.scheme] if schemes is None else [name.strip() for name in schemes.split(",")]
    forms = experiment.own_forms(
        names, common, own, lambda more: read_scenario(file, cast(Sequence[str], more)), "--set "
    )
    windows_given = bool(windows)
    interval = None
    if report is not None:
        from . import report as reports  # loading matplotlib takes longer than most commands take

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
            forms=forms,
            judged=report is not None or not as_json,
            jobs=jobs,
            on_run=lambda: progress.advance(task),
            on_plan=lambda total: progress.update(task, total=total),
        )
    with written_first(report, lambda path: write_report(path, scenario, done)):
        if as_json:
            print(done.rows, flush=True)
            return
        rows = cast(list[CompareRow], json.loads(done.rows))
        if not windows_given:  # a report has windows of its own
            for row in rows:
                row.pop("window_jain", None)
        show_verdict = partial(verdict_tables.show_verdict, rows, done.judged)
        tables.show_comparison(scenario.name, rows, tables.console(), show_verdict)
        warn(tables.warnings_of(rows))
        if done.optimum is not None:
            from .optimal import show

            warn([*filter(None, [show.caution(done.optimum)])])
    if report is not None:
        print(f"\nreport: {report}")


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
    from . import report as reports

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
        tables.show_run(result, tables.console(), judged.lines)
        warn(result["warnings"])
    print(f"\nreport: {path}")


def write_report(path: Path, scenario: Scenario, done: experiment.Repeated) -> None:
    """Write the report, with the command line."""
    from . import report as reports

    reports.write(path, scenario, done, ["airfair", *sys.argv[1:]])


@contextmanager
def written_first(path: Path | None, write: Callable[[Path], object]) -> Iterator[None]:
    """Write a file before the output is printed, since a closed pipe may end the program; a failure is
    raised at the end."""
    failed = None
    if path is not None:
        try:
            write(path)
        except Exception as error:  # the output comes first, whatever is wrong with the page
            failed = error
    yield
    if failed is not None:
        sys.stdout.flush()
        raise failed


@cli.command()
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
    from .sweeping import command  # brings pyarrow

    status = command.sweep(
        file, out=out, jobs=jobs, dask=dask, overrides=overrides, flows=flows, as_json=as_json
    )
    click.get_current_context().exit(status)


@cli.command(name="paper")
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
            paper.show_list(tables.console())
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
                paper.show(identity, chosen, rows, tables.console(), readings=every)
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


@cli.command()
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
    from .plots import command  # loading matplotlib takes longer than most commands take

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


@cli.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@schemes_from_option
@json_option
def schemes(names: tuple[str, ...], as_json: bool) -> None:
    """List the schemes, or print the parameters of some.

    Without NAME the command prints a line for each scheme. With --json it prints all that is known of them.

    \b
    Example:
      airfair schemes
      airfair schemes red nred
    """
    known = experiment.schemes()
    known_names = [scheme["name"] for scheme in known]
    unknown = [name for name in names if name not in known_names]
    if unknown:
        raise InputError(
            "\n".join(f'there is no scheme "{name}"{hint(name, known_names)}' for name in unknown)
        )
    shown = [scheme for scheme in known if not names or scheme["name"] in names]
    if as_json:
        print(json.dumps(shown, separators=(",", ":"), ensure_ascii=False))
    elif names:
        tables.show_schemes(shown, tables.console())
    else:
        tables.list_schemes(shown, tables.console())


@cli.command()
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


@cli.command()
@file_argument
@click.option(
    "--flow",
    metavar="ID",
    help="The flow to explain; by default the flow with the smallest part of its share.",
)
@choice_options
@json_option
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("out/explain.svg"),
    show_default=True,
    help="File of the picture: .svg, .png or .pdf.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Print all of long lists: every hop, node, cause and piece of advice.",
)
def explain(
    file: Path,
    flow: str | None,
    everything: bool,
    choice: Choice,
    as_json: bool,
    out: Path,
) -> None:
    """Explain the goodput of a flow, in words and in a picture.

    The explanation is made of counters of the run: how the flow's senders spend their time, which nodes
    keep them waiting, why their attempts fail, what TCP waits for. Of a flow that forwarders carry by
    broadcasts (MORE, ExOR) the command tells what they have sent, without a picture.

    \b
    Example:
      airfair explain scenarios/three-pairs.toml --flow middle
    """
    from .explaining import forwarded, show

    show.check_format(out)
    scenario = read_scenario(file, choice.overrides)
    refuse_inputs(out, scenario.files)
    try:
        explanation = explaining.explain(scenario, flow=flow, scheme=choice.scheme, seed=choice.seed)
    except InputError:
        if flow is not None and flow not in scenario.flows:
            raise
        result = experiment.run(scenario, scheme=choice.scheme, seed=choice.seed)
        carried = forwarded.chosen(result, flow)
        if carried is None:
            raise
        if as_json:
            print(json.dumps(forwarded.facts(result, carried)), flush=True)
        else:
            for line in forwarded.words(result, carried):
                tables.console().print(escape(line))
            print(f"\n{forwarded.commands(result, carried)}")
        warn(result["warnings"])
        return
    with written_first(out, lambda path: show.save(explanation, path)):
        if as_json:
            print(json.dumps(explanation), flush=True)
        else:
            show.show(explanation, tables.console(), everything=everything)
        warn(explanation["warnings"])
    if not as_json:
        print(f"\npicture: {out}")


@cli.command()
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
    from .optimal import model, search, show

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
            show.show_found(found, tables.console())
        return
    text = scenario.optimum(factor, clique_limit)
    if as_json:
        print(text)
    else:
        show.show(cast(model.Optimum, json.loads(text)), tables.console())


@cli.command()
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


@cli.command(name="import")
@file_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the scenario; by default standard output.",
)
@click.option(
    "--format",
    metavar="NAME",
    help="Format of the map; by default recognised from the content. Needed where a file may be of two.",
)
@click.option(
    "--link-model",
    metavar="NAME",
    help="Source of the received powers: `delivery`, `probe`, `signal`, `distance` or `positions`; by "
    "default that of the format.",
)
@click.option(
    "--standard",
    metavar="NAME",
    help="Standard of the radios: 802.11a, 802.11b or 802.11g; by default 802.11a for maps of 5 GHz "
    "networks, else 802.11g.",
)
@click.option(
    "--data-rate", metavar="RATE", help="Rate of data frames; by default 24 Mbit/s, with 802.11b 11 Mbit/s."
)
@click.option(
    "--margin", metavar="DB", help='Power of a link without losses above what it needs; by default "10 dB".'
)
@click.option(
    "--antenna", metavar="DB", help='Antenna gain at each end of a link, with `distance`; by default "20 dB".'
)
@click.option(
    "--longest",
    metavar="LENGTH",
    help='Length from which radio links are left out as errors of the map; by default "20 km".',
)
@click.option("--range", metavar="LENGTH", help='Range of reception, with `positions`; by default "250 m".')
@click.option(
    "--since", metavar="TIME", help="Leave out records with an older date than this, such as 2020-03-02."
)
@click.option("--planned", is_flag=True, help="Include links that are planned or being built.")
@click.option(
    "--untold",
    metavar="WHAT",
    help="Treatment of links of unknown medium: `drop` (default), `radio` or `wire`.",
)
@click.option("--radio-only", is_flag=True, help="Leave out wired links.")
@click.option("--largest", is_flag=True, help="Keep only the largest component.")
@click.option("--wire-rate", metavar="RATE", help='Rate of cables and fibres; by default "1 Gbit/s".')
@click.option("--tunnel-rate", metavar="RATE", help='Rate of tunnels; by default "50 Mbit/s".')
@click.option(
    "--flows",
    metavar="N",
    help="Number of TCP flows, each from a node drawn at random to its nearest gateway; by default 0.",
)
@click.option(
    "--gateway",
    metavar="ID",
    multiple=True,
    help="Gateway of these flows; may be repeated. By default all gateways that the map marks, else the node "
    "that reaches most nodes.",
)
@click.option(
    "--one-gateway",
    is_flag=True,
    help="Of the gateways that the map marks, only the one that reaches most nodes.",
)
@click.option("--seed", metavar="N", help="Seed of the draw of the nodes that send; by default 1.")
@click.option("--duration", metavar="TIME", help='Duration of the run; by default "60 s".')
@click.option("--name", metavar="NAME", help="Name of the scenario; by default the name of the file.")
@click.option("--verbose", is_flag=True, help="Name every record that was left out, not only the first five.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write the report as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and nothing else; needs -o.")
def import_map(
    file: Path,
    output: Path | None,
    verbose: bool,
    report: Path | None,
    as_json: bool,
    **options: str | int | tuple[str, ...] | None,
) -> None:
    """Make a scenario from FILE, the map of a real network.

    FILE may be a folder with the parts of a map. Formats: NetJSON (olsrd2's too), NetworkX, Meshviewer,
    Freifunk's nodes.json with graph.json, OpenWifiMap, LibreMap, AREDN sysinfo, OLSR jsoninfo and txtinfo,
    batman-adv vis and batadv-vis, BMX6, guifi.net CNML, GraphML with ETX, NYC Mesh, matrices in dBm, ns-2
    scripts with their flows, ns-2 and BonnMotion movements, TopoHub. What was read, written and left out,
    and why, goes to standard error.

    \b
    Example:
      airfair import map.json -o map.toml --flows 10
    """
    if as_json and output is None:
        raise click.UsageError("--json needs -o: standard output has room for one of them")
    for target in filter(None, (output, report)):
        refuse_inputs(target, of_map(file))
    if output is not None and report is not None and output.resolve() == report.resolve():
        raise click.UsageError("-o and --report name the same file: give each one of its own")
    given = {key: value for key, value in options.items() if value is not None}
    toml, account, text = _core.import_network(file, importing.texts(given), sys.maxsize if verbose else 5)
    if report is not None:
        write_atomically(report, account.encode() + b"\n")
    if output is not None:
        write_atomically(output, toml.encode())
    if as_json:
        print(account)
        return
    print(text, end="", file=sys.stderr)
    if output is None:
        print(toml, end="")


@cli.command(name="reference")
@click.option(
    "--schema", is_flag=True, help="The JSON Schema instead, with which editors complete scenarios."
)
def show_reference(schema: bool) -> None:
    """Print the reference of scenario files, as Markdown.

    The reference has every table and key with type, default and meaning.

    \b
    Example:
      airfair reference --schema
    """
    print(reference.schema() if schema else reference.scenario_page(), end="")


def read_scenario(file: Path, overrides: Sequence[str]) -> Scenario:
    """The scenario in a file; `-` is standard input."""
    if str(file) == "-":
        return Scenario.parse(read_standard_input(), "standard input", list(overrides))
    return Scenario.read(file, overrides)


def read_standard_input() -> str:
    """The whole standard input. Raises `InputError` if it is not UTF-8."""
    content = sys.stdin.buffer.read()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"standard input:{line}: not UTF-8; send it as UTF-8") from None


def run_progress() -> Progress:
    """A bar on standard error that counts runs, where that is a terminal."""
    errors = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=errors,
        speed_estimate_period=3600,
        transient=True,
        disable=not errors.is_terminal,
    )


def given(option: str, text: str, read: Callable[[str], T]) -> T:
    """The value of an option's text. Raises `InputError`, which names the option."""
    try:
        return read(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from error


def time(option: str, text: str) -> None:
    """Check a time that was given to an option. Raises `InputError`, which names the option."""
    given(option, text, _core.parse_time)


def warn(warnings: list[str]) -> None:
    """Print warnings to consider before using a result."""
    for warning in warnings:
        print_message(f"warning: {warning}")


def print_message(text: str) -> None:
    """Print to standard error; a terminal shows lines that are wider than itself folded at spaces."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(_folded(line, width) for line in text.split("\n"))
    print(text, file=sys.stderr)


def _folded(line: str, width: int) -> str:
    """A line in lines of this width, the further ones indented; a word stays whole."""
    return textwrap.fill(
        line,
        max(width, 20),
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        expand_tabs=False,
    )


def main() -> NoReturn:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")  # names of files need not be UTF-8
    # A letter that matplotlib's font lacks: a viewer of SVG draws it with another font, other formats show
    # a box.
    warnings.filterwarnings("ignore", message="Glyph .* missing from")
    status = 0
    try:
        ending.raise_signals()
        status = cli.main(standalone_mode=False) or 0
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except InputError as error:
        print_message(str(error))
        status = 2
    except SchemeError as error:
        print_message(_mistake(error) or f"airfair: {error}")
        status = 1
    except (KeyboardInterrupt, click.Abort) as error:
        ending.leave_at_once()
        status = ending.status(error)
        print(ending.word(status), file=sys.stderr)
    except BrokenPipeError:  # `airfair trace FILE | head` ends in silence
        _write_no_more()
        status = 1
    except Exception as error:
        message = _mistake(error)
        if message is None and isinstance(error, OSError | MemoryError):
            message = f"airfair: {_failure(error)}"
            _write_no_more()
        if message is None:
            raise
        print_message(message)
        status = 1
    ending.leave_at_once()
    sys.exit(status)


def _write_no_more() -> None:
    """Discard standard output, so that the interpreter does not try to write the rest when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _mistake(error: BaseException) -> str | None:
    """A mistake in the code of a user's scheme, in words."""
    from .scheme.mistakes import mistake

    return mistake(error)


def _failure(error: OSError | MemoryError) -> str:
    """The error of the operating system, with its path."""
    if isinstance(error, MemoryError):
        return str(error) or "out of memory"
    where = error.filename
    if where is None and error.errno in (errno.ENOSPC, errno.EIO):
        where = "standard output"
    reason = error.strerror or str(error)
    return reason if where is None else f"{os.fspath(where)}: {reason}"

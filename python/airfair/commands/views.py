"""Commands that show one thing: a plot, schemes, the events of a run, the goodput of a flow."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.markup import escape

from .. import _core, experiment, explaining, tables, terminal
from .._core import InputError
from ..arguments import hint
from ..inputs import refuse_inputs
from ..options import (
    Chart,
    Choice,
    chart_options,
    choice_options,
    file_argument,
    json_option,
    schemes_from_option,
    set_option,
)
from .common import print_message, read_scenario, subcommand, time, warn, written_first

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


@subcommand()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--readings",
    is_flag=True,
    help="Only the parameters that choose how an open text of the scheme's source is read.",
)
@schemes_from_option
@json_option
def schemes(names: tuple[str, ...], readings: bool, as_json: bool) -> None:
    """List the schemes, or print the parameters of some.

    Without NAME the command prints a line for each scheme. With NAME it prints the parameters of the paper
    and of the operator; with --readings those that choose how an open text of the paper is read. With --json
    it prints all that is known of the schemes.

    \b
    Example:
      airfair schemes
      airfair schemes red nred
      airfair schemes c3l --readings
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
    elif names or readings:
        tables.show_schemes(shown, terminal.console(), readings=readings)
    else:
        tables.list_schemes(shown, terminal.console())


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


@subcommand()
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
    from ..explaining import forwarded, show

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
                terminal.console().print(escape(line))
            print(f"\n{forwarded.commands(result, carried)}")
        warn(result["warnings"])
        return
    with written_first(out, lambda path: show.save(explanation, path)):
        if as_json:
            print(json.dumps(explanation), flush=True)
        else:
            show.show(explanation, terminal.console(), everything=everything)
        warn(explanation["warnings"])
    if not as_json:
        print(f"\npicture: {out}")

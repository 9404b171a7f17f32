"""Commands about scenarios without a run: their check, their best rates, maps that become scenarios, the
reference."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import cast

import click

from .. import _core, importing, reference, terminal
from .._core import InputError
from ..inputs import of_map, refuse_inputs
from ..options import NumberRange, file_argument, json_option, schemes_from_option, set_option
from ..output import write_atomically
from .common import print_message, read_scenario, run_progress, subcommand, warn


@subcommand()
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


@subcommand(name="import")
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
@click.option("--force", is_flag=True, help="With -o: replace the file if it exists.")
@click.option("--verbose", is_flag=True, help="Name every record that was left out, not only the first five.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write the report as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and nothing else; needs -o.")
def import_map(
    file: Path,
    output: Path | None,
    force: bool,
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
    if output is not None and output.is_file() and not force:
        raise InputError(f"{output}: exists already; expected a new file, or --force to replace the scenario")
    given = {key: value for key, value in options.items() if value is not None}
    toml, account, text = _core.import_network(file, importing.texts(given), sys.maxsize if verbose else 5)
    if report is not None:
        write_atomically(report, account.encode() + b"\n")
    if output is not None:
        write_atomically(output, toml.encode())
    if as_json:
        print(account)
        return
    print_message(text.removesuffix("\n"))
    if output is None:
        print(toml, end="")


@subcommand(name="reference")
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

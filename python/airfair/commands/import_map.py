"""`airfair import`: a scenario from the map of a real network."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .. import _core, importing
from .._core import InputError
from ..inputs import of_map, refuse_inputs
from ..options import file_argument
from ..output import write_atomically
from .common import print_message, subcommand


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

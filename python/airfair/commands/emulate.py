"""`airfair emulate`: programs on real Linux stacks over the scenario's air."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TypedDict, cast

import click
from rich.console import Console

from .. import _core, experiment
from .._core import InputError
from ..options import Choice, choice_options, file_argument, json_option
from ..quantities import plural
from .common import read_scenario, subcommand, warn_unused

RUNNING = 124
"""The exit status where a program was still running at the end of the scenario, as `timeout` has it."""

INTERRUPTED = 130
"""The exit status after Ctrl-C."""

FELL_BEHIND = 1
"""The exit status with --strict."""


class Program(TypedDict):
    """A program with its exit status; None: it was running at the end."""

    node: str
    command: str
    status: int | None


class LateDeliveries(TypedDict):
    """Lateness of deliveries, from the time at which the air delivers a frame to its device, seconds."""

    deliveries: int
    p50_s: float
    p99_s: float
    p999_s: float
    worst_s: float


class Frames(TypedDict):
    """Frames of the stacks. `dropped`: by the scenario's queues and air; `too_many`, `not_written`: by faults
    of the emulation."""

    read: int
    to_groups: int
    written: int
    marked: int
    unknown_station: int
    refused: int
    too_many: int
    not_written: int
    dropped: dict[str, int]


class Emulation(TypedDict):
    """A run. `kept_up`: its numbers are those of the scenario."""

    wall_s: float
    set_up_s: float
    kept_up: bool
    faults: int
    lateness: LateDeliveries
    frames: Frames
    device_drops: int
    looks: int
    refused_looks: int
    no_priority: str | None
    interrupted: bool
    programs: list[Program]


@subcommand()
@file_argument
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--node", metavar="NAME", help="The node in which the command after -- runs.")
@click.option(
    "--beside",
    nargs=2,
    metavar="NAME COMMAND",
    multiple=True,
    help="A program in another node, which ends with the run. Repeatable.",
)
@choice_options
@click.option("--flows", is_flag=True, help="Simulate the scenario's flows beside the programs.")
@click.option(
    "--own-routing", is_flag=True, help="Set no routes: programs in the nodes, such as babeld, find them."
)
@click.option(
    "--congestion-control",
    metavar="NAME",
    help="TCP's congestion control in all nodes; by default the kernel's.",
)
@click.option("--ecn", is_flag=True, help="TCP of all nodes asks for ECN.")
@click.option("--strict", is_flag=True, help="Exit with 1 if the run did not keep up with the wall clock.")
@json_option
def emulate(
    file: Path,
    command: tuple[str, ...],
    node: str | None,
    beside: tuple[tuple[str, str], ...],
    choice: Choice,
    flows: bool,
    own_routing: bool,
    congestion_control: str | None,
    ecn: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Run programs on real Linux stacks over the air of FILE.

    Each node is a network namespace, each of its interfaces a TAP device. The run ends when COMMAND has
    ended, with its exit status; without one at the end of the scenario or with Ctrl-C.

    \b
    Example:
      airfair emulate scenarios/three-pairs.toml --node a1 -- ping -c 5 b1
      airfair emulate scenarios/chain.toml --beside n3 "iperf3 -s" --node n0 -- iperf3 -c n3
    """
    if (node is None) != (not command):
        raise InputError("--node NAME and a command after -- belong together: --node a1 -- ping -c 5 b1")
    lacks = _core.emulation_lacks()
    if lacks is not None:
        raise InputError(f"no emulation here: {lacks}")
    scenario = read_scenario(file, choice.overrides)
    warn_unused(scenario, [choice.scheme or scenario.scheme])
    for line in not_carried(choice.scheme or scenario.scheme):
        print(f"airfair: {line}", file=sys.stderr)
    programs = [(name, shlex.split(text), False) for name, text in beside]
    if node is not None:
        programs.insert(0, (node, list(command), True))
    text = scenario.emulate(
        programs,
        choice.scheme,
        choice.seed,
        flows=flows,
        own_routing=own_routing,
        congestion_control=congestion_control,
        ecn=ecn,
    )
    answer = json.loads(text)
    if "error" in answer:
        raise InputError(answer["error"])
    run = cast(Emulation, answer)
    if as_json:
        print(text)
    else:
        show(run, Console(stderr=True, highlight=False, emoji=False))
    first = run["programs"][0]["status"] if node is not None else 0
    if first is None:
        first = INTERRUPTED if run["interrupted"] else RUNNING
    sys.exit(first if first or not strict or run["kept_up"] else FELL_BEHIND)


OF_STACKS = ("source", "receiver", "hop", "forwarder", "controller")
"""Places of schemes that would need their code, or their headers, in the stacks."""


def not_carried(selection: str) -> list[str]:
    """Lines on the schemes of a selection of which parts do not act here. Raises `InputError` for a selection
    of which nothing would act."""
    places = {scheme["name"]: scheme["places"] for scheme in experiment.schemes()}
    names = [name for _, of in _core.selections(selection) for name in of]
    lacking = {name: [of for of in places.get(name, ()) if of in OF_STACKS] for name in names}
    if all(lacking[name] and len(lacking[name]) == len(places[name]) for name in names):
        raise InputError(
            f"no emulation of {selection}: it acts as {' and '.join(lacking[names[0]])}, and that is the "
            "stacks' own here; `airfair run` simulates it"
        )
    return [
        f"{name} acts here without its {', '.join(of)}: these would be part of the stacks"
        for name, of in lacking.items()
        if of
    ]


def show(run: Emulation, out: Console) -> None:
    """The verdict and the counts, for a terminal."""
    frames, late = run["frames"], run["lateness"]
    lost = sum(frames["dropped"].values())
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(frames["dropped"].items()))
    out.print(
        f"{frames['read']} frames of the stacks in {run['wall_s']:.1f} s: {frames['written']} delivered, "
        f"{lost} lost in the scenario{f' ({reasons})' if reasons else ''}, {frames['marked']} marked",
        markup=False,
    )
    if frames["unknown_station"]:
        out.print(f"{frames['unknown_station']} to stations that no node has", markup=False)
    out.print(
        f"lateness of deliveries: {1e6 * late['p50_s']:.0f} us in the median, "
        f"{1e6 * late['p99_s']:.0f} us for 99 %, {1e3 * late['worst_s']:.1f} ms the worst",
        markup=False,
    )
    for line in verdict(run):
        out.print(line, markup=False)


def verdict(run: Emulation) -> list[str]:
    """The verdict on a run, and what to change."""
    if run["kept_up"]:
        return ["kept up: the numbers are those of the scenario"]
    found = []
    if run["faults"]:
        found.append(f"{run['faults']} {plural(run['faults'], 'frame')} lost by the emulation itself")
    if run["refused_looks"]:
        found.append("more than 50 ms behind at times, when frames had to wait")
    if run["lateness"]["p99_s"] > 0.001:
        found.append("more than one delivery in a hundred later than 1 ms")
    remedy = (
        f"no priority before other processes ({run['no_priority']}): run it as root with CAP_SYS_NICE"
        if run["no_priority"]
        else "fewer nodes or flows, a slower radio, or a quieter machine"
    )
    return [f"fell behind: {'; '.join(found)}", f"to change: {remedy}"]

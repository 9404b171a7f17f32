"""`airfair emulate`, `airfair exec`, `airfair shell`: programs on real stacks over the scenario's air."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from .. import _core
from .._core import InputError
from ..emulating.programs import Program, read_script
from ..emulating.verdict import lines
from ..inputs import refuse_inputs
from ..options import (
    Choice,
    Folder,
    choice_options,
    file_argument,
    folder_options,
    json_option,
    report_option,
)
from ..results import Emulation
from .common import read_scenario, subcommand, time, warn, warn_unused

RUNNING = 124
"""The exit status where a program was still running at the end of the run, as `timeout` has it."""

INTERRUPTED = 130
"""The exit status after Ctrl-C."""

NOT_STARTED = 126
"""The exit status where a program could not be started, as a shell has it."""

FELL_BEHIND = 1
"""The exit status with --strict."""

ROWS = 12
"""Flows of the stacks that are listed at most."""


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
@click.option(
    "--script", type=click.Path(path_type=Path), metavar="FILE", help="Programs with their times, in TOML."
)
@click.option(
    "--for", "duration", metavar="TIME", help="End of the run; without a command by default the scenario's."
)
@choice_options
@click.option("--flows", is_flag=True, help="Simulate the scenario's flows beside the programs.")
@click.option(
    "--own-routing", is_flag=True, help="Set no routes: programs in the nodes, such as babeld, find them."
)
@click.option("--congestion-control", metavar="NAME", help="TCP's in all nodes; by default the kernel's own.")
@click.option("--ecn", is_flag=True, help="TCP of all nodes asks for ECN.")
@click.option(
    "--live",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the state of the run into FILE every second, a line of JSON.",
)
@click.option(
    "--metrics",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Answer Prometheus at this port of 127.0.0.1.",
)
@click.option(
    "--driver-fault",
    type=click.Choice(["freeze", "reset", "wrap", "omit"]),
    help="Give the counters of radios that programs in nodes read a fault of real drivers.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 if the run did not keep up with the wall clock.")
@folder_options
@report_option
@json_option
def emulate(
    file: Path,
    command: tuple[str, ...],
    node: str | None,
    beside: tuple[tuple[str, str], ...],
    script: Path | None,
    duration: str | None,
    choice: Choice,
    flows: bool,
    own_routing: bool,
    congestion_control: str | None,
    ecn: bool,
    live: Path | None,
    metrics: int | None,
    driver_fault: str | None,
    strict: bool,
    folder: Folder,
    report: Path | None,
    as_json: bool,
) -> None:
    """Run programs on real Linux stacks over the air of FILE.

    Each node is a network namespace, each of its interfaces a TAP device. The run ends when COMMAND has
    ended, with its exit status; without one at the end of the scenario or with Ctrl-C. `airfair shell NODE`
    opens a shell in a node from another terminal.

    \b
    Example:
      airfair emulate scenarios/three-pairs.toml --node a1 -- ping -c 5 b1
      airfair emulate scenarios/chain.toml --beside 3 "iperf3 -s" \\
        --node 0 -- sh -c "sleep 1; iperf3 -c n3"
    """
    from ..capture import Capture
    from ..emulating import api
    from ..explaining import prose

    if (node is None) != (not command):
        raise InputError(
            "--node NAME and a command after -- belong together: --node a1 -- ping -c 5 b1 "
            "(a time with its unit is one word: --for '10 s')"
        )
    for option, moment in (("--for", duration), ("--interval", folder.interval)):
        if moment is not None:
            time(option, moment)
    scenario = read_scenario(file, choice.overrides)
    warn_unused(scenario, [choice.scheme or scenario.scheme])
    if live is not None:
        refuse_inputs(live, [*scenario.files, *([] if script is None else [script])])
    programs = [Program(name, text) for name, text in beside]
    programs += [] if script is None else read_script(script)
    if node is not None:
        programs.insert(0, Program(node, list(command), ends_run=True))
    if report is not None:
        from ..emulating import page

        if folder.out is not None and report.absolute().is_relative_to(folder.out.absolute()):
            raise InputError(f"--report {report}: lies in the folder of --out; expected another place")
        page.check(report, scenario)
    for line in api.not_carried(choice.scheme or scenario.scheme):
        prose.say(f"airfair: {line}", Console(stderr=True, highlight=False), hanging=2)
    # The output of programs is no part of the result.
    output = os.dup(1) if as_json else None
    if output is not None:
        sys.stdout.flush()
        os.dup2(2, 1)
    try:
        recording = api.emulate(
            scenario,
            programs,
            scheme=choice.scheme,
            seed=choice.seed,
            flows=flows,
            own_routing=own_routing,
            congestion_control=congestion_control,
            ecn=ecn,
            duration=duration,
            live=live,
            metrics=metrics,
            driver_fault=driver_fault,
            interval=folder.interval or "1 s",
            out=folder.out,
            force=folder.force,
            capture=Capture(**folder.capture()),
        )
    finally:
        if output is not None:
            os.dup2(output, 1)
            os.close(output)
    run = recording.result["emulation"]
    if as_json:
        print(json.dumps(recording.result))
    else:
        out = Console(stderr=True, highlight=False, emoji=False)
        show(run, recording.result["warmup_s"], out)
        warn(recording.result["warnings"])
    if report is not None:
        # After the result, which must not be lost to a page that cannot be drawn.
        sys.stdout.flush()
        page.write(report, scenario, recording, ["airfair", *sys.argv[1:]])
        print(f"report: {report}", file=sys.stderr)
    sys.exit(status(run, [program.ends_run for program in programs], strict=strict))


def status(run: Emulation, ends_run: Sequence[bool], *, strict: bool) -> int:
    """The exit status: the first of the programs with which the run ends that is not 0."""
    first = 0
    for program, ends in zip(run["programs"], ends_run, strict=True):
        if ends and first == 0:
            ended = NOT_STARTED if program["error"] is not None else program["status"]
            first = (INTERRUPTED if run["interrupted"] else RUNNING) if ended is None else ended
    return FELL_BEHIND if strict and not first and run["verdict"] == "fell behind" else first


def show(run: Emulation, warmup_s: float, out: Console) -> None:
    """The verdict and the counts, for a terminal."""

    def line(text: str) -> None:
        out.print(text, markup=False)

    frames, late = run["frames"], run["lateness"]
    for program in run["programs"]:
        if program["error"] is not None:
            line(f"not started: {program['error']}")
        elif program["status"] is None and not run["interrupted"]:
            line(f"node {program['node']}: {program['command']} was running at the end")
        elif program["status"] not in (0, None):
            line(f"node {program['node']}: {program['command']} has ended with {program['status']}")
    # Those that carry data, the largest first.
    order = sorted(
        run["flows"], key=lambda flow: (flow["protocol"] not in ("tcp", "udp"), -flow["arrived_bytes"])
    )
    for flow in order[:ROWS]:
        marks = f", {flow['marked_packets']} marked" if flow["marked_packets"] else ""
        length = (flow["last_s"] or flow["first_s"]) - flow["first_s"]
        goodput = f"{flow['arrived_bytes']} bytes"
        if length >= 1 and flow["arrived_bytes"]:
            goodput = f"{8e-3 * flow['arrived_bytes'] / length:.0f} kbit/s in {length:.1f} s"
        packets = f"{flow['arrived_packets']} of {flow['sent_packets']} packets{marks}"
        line(f"{flow['id']}: {goodput}, {packets}")
    if len(run["flows"]) > ROWS:
        line(f"and {len(run['flows']) - ROWS} more flows (--json, --out)")
    if run["wall_s"] < warmup_s:
        line(
            f"it ended before the warm-up, {warmup_s:g} s: nothing of it is measured (--set warmup='\"0 s\"')"
        )
    lost = sum(frames["dropped"].values())
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(frames["dropped"].items()))
    line(
        f"{frames['read']} frames of the stacks in {run['wall_s']:.1f} s: {frames['written']} delivered, "
        f"{lost} lost in the scenario{f' ({reasons})' if reasons else ''}, {frames['marked']} marked"
    )
    if frames["device_down"]:
        line(f"{frames['device_down']} to devices that programs have set down")
    if frames["unknown_station"]:
        line(f"{frames['unknown_station']} to stations that no node has")
    line(
        f"lateness of deliveries: {1e6 * late['p50_s']:.0f} us in the median, "
        f"{1e6 * late['p99_s']:.0f} us for 99 %, {1e3 * late['worst_s']:.1f} ms the worst; "
        f"{100 * run['cpu_s'] / max(run['wall_s'], 1e-9):.0f} % of a processor"
    )
    for text in lines(run):
        line(text)


run_option = click.option(
    "--run", metavar="NUMBER", type=int, help="The process of the emulation, where several run."
)


def control_socket(run: int | None) -> Path:
    """The socket of an emulation that runs. Raises `InputError` without one, or with several."""
    sockets = dict(_core.emulations())
    if run is None and len(sockets) == 1:
        return next(iter(sockets.values()))
    if run in sockets:
        return sockets[run]
    if not sockets:
        raise InputError("no emulation of yours runs; `airfair emulate FILE` begins one")
    known = ", ".join(f"{number}{_begun_as(number)}" for number in sockets)
    problem = f"--run {run}: no such emulation" if run is not None else "several emulations run"
    raise InputError(f"{problem}; expected --run with one of {known}")


def _begun_as(process: int) -> str:
    """The arguments of the command that has begun an emulation, in brackets, as far as they can be read."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    given = " ".join(words[words.index("emulate") + 1 :]) if "emulate" in words else ""
    shown = "".join(letter for letter in given.strip() if letter.isprintable())
    return f" ({shown[:37] + '...' if len(shown) > 40 else shown})" if shown else ""


def enter(run: int | None, node: str, command: list[str]) -> None:
    """Run a command in a node, and exit with its status."""
    path = control_socket(run)
    # Ctrl-C is the command's: a handler, unlike what is ignored, is not inherited.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGQUIT, lambda *_: None)
    sys.stdout.flush()
    sys.exit(_core.execute_in(path, node, command))


@subcommand("exec")
@click.argument("node")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@run_option
def execute(node: str, command: tuple[str, ...], run: int | None) -> None:
    """Run COMMAND in NODE of an emulation that runs.

    Exits as the command does. `mgmt` is the hub of the management network.

    \b
    Example:
      airfair exec a1 -- ping -c 3 b1
    """
    enter(run, node, list(command))


@subcommand()
@click.argument("node")
@run_option
def shell(node: str, run: int | None) -> None:
    """Open a shell in NODE of an emulation that runs.

    \b
    Example:
      airfair shell a1
    """
    enter(run, node, [os.environ.get("SHELL", "/bin/sh")])

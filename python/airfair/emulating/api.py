"""`airfair.emulate`: a scenario between real Linux stacks, on the wall clock."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from .. import _core, experiment, recording
from .._core import InputError, Scenario
from ..arguments import Overrides, as_flag, as_path, as_scenario, as_type, as_whole
from ..capture import Capture
from .programs import Program

PROGRAMS = "programs"
"""The folder, in that of a run, of what programs have written."""

OF_STACKS = ("source", "receiver", "hop", "forwarder", "controller")
"""Places of schemes that would need their code, or their headers, in the stacks."""


def emulate(
    scenario: Scenario | str | os.PathLike[str],
    programs: Sequence[Program] = (),
    *,
    scheme: str | None = None,
    seed: int = 1,
    overrides: Overrides = (),
    flows: bool = False,
    own_routing: bool = False,
    congestion_control: str | None = None,
    ecn: bool = False,
    duration: str | None = None,
    live: str | os.PathLike[str] | None = None,
    metrics: int | None = None,
    driver_fault: str | None = None,
    interval: str = "1 s",
    stop: _core.Stop | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    capture: Capture = Capture(),  # noqa: B008 - it never changes
) -> recording.Recording:
    """Run programs on real Linux stacks over the air of a scenario: each node is a network namespace, and the
    run takes as long as it says.

    The run ends when the programs that end it have ended, by default of `duration` after a day; without such
    programs with the scenario. With `flows` the scenario's flows are simulated beside the programs; with
    `own_routing` the nodes have no routes. `congestion_control` is TCP's in all nodes (the kernel's own by
    default), with `ecn` it asks for ECN. Ctrl-C, and `stop`, end it like its end.

    While it runs, the file `live` gets a line of JSON every second, and the port `metrics` of 127.0.0.1
    answers Prometheus. With `driver_fault` the counters of radios that programs in nodes read have a fault
    of real drivers in the second half of each 20 s: "freeze", "reset", "omit", or always: "wrap".

    Returns the recording, as `airfair.record` does, with `result["emulation"]`: the verdict whether it kept
    up with the wall clock, programs with their exit status, and flows of the stacks. Raises `InputError`,
    also where the machine or the user lacks something (`airfair.emulation_lacks`).
    """
    scenario = as_scenario(scenario, overrides)
    for name, flag in (("flows", flows), ("own_routing", own_routing), ("ecn", ecn)):
        as_flag(name, flag)
    if congestion_control is not None:
        as_type("congestion_control", congestion_control, str, "the name of a congestion control")
    if driver_fault is not None:
        as_type("driver_fault", driver_fault, str, "the name of a fault")
    given = list(as_type("programs", programs, Sequence, "a list of airfair.Program"))
    for program in given:
        as_type("programs", program, Program, "a list of airfair.Program")
    not_carried(scheme or scenario.scheme)
    lacks = _core.emulation_lacks()
    if lacks is not None:
        raise InputError(f"no emulation here: {lacks}")
    if scheme is not None:
        scenario = scenario.selected(scheme)

    def run(folder: Path | None, watch: _core.Watch | None) -> _core.Recorded:
        output = None if folder is None else folder / PROGRAMS
        if output is not None and any(program.name for program in given):
            output.mkdir()
        request = {
            "programs": [program.request(output) for program in given],
            "flows": flows,
            "own_routing": own_routing,
            "congestion_control": congestion_control,
            "ecn": ecn,
            "live": None if live is None else as_path("live", live),
            "driver_fault": driver_fault,
            "metrics": None if metrics is None else as_whole("metrics", metrics, 1, 65535),
            "duration_s": None if duration is None else _core.parse_time(duration, "duration") / 1e9,
        }
        return scenario.emulate(json.dumps(request), interval, scheme, seed, stop, watch)

    return recording.write(scenario, run, capture=capture, out=out, force=force)


def not_carried(selection: str) -> list[str]:
    """Lines on the schemes of a selection that say which parts are the kernel's, or do not act here. Raises
    `InputError` for a selection of which nothing would act, or whose forwarders would carry packets."""
    places = {scheme["name"]: scheme["places"] for scheme in experiment.schemes()}
    names = [name for _, of in _core.selections(selection) for name in of]
    edge = _core.sources_at_edge()
    lacking = {
        name: [] if name in edge else [of for of in places.get(name, ()) if of in OF_STACKS] for name in names
    }
    forwards = any("forwarder" in of for of in lacking.values())
    if forwards or all(lacking[name] and len(lacking[name]) == len(places[name]) for name in names):
        parts = next(of for of in lacking.values() if of)
        raise InputError(
            f"no emulation of {selection}: it acts as {' and '.join(parts)}, and that is the "
            "stacks' own here; `airfair run` simulates it"
        )
    lines = []
    for name, of in lacking.items():
        if name in edge:
            lines.append(
                f"{name}: its sources act at the edge of the stacks, over TCP; the repair of losses, and a "
                "window below the scheme's, are the kernel's"
            )
        elif of:
            lines.append(f"{name} acts here without its {', '.join(of)}: these would be part of the stacks")
    return lines

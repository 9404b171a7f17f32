"""The report of an emulation: the page of a run, with the flows of the stacks and the verdict."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _core
from .._core import Scenario
from ..experiment import Repeated, Run
from ..inputs import refuse_page
from ..output import check_writable, write_atomically
from ..results import FlowResult
from .verdict import lines

if TYPE_CHECKING:
    from ..recording import Recording


def check(path: Path, scenario: Scenario) -> None:
    """Raise `InputError` or `OSError`, before the run, for a file that could not be written."""
    refuse_page(path, scenario)
    check_writable(path)


def write(
    path: str | os.PathLike[str],
    scenario: Scenario,
    recording: Recording,
    command: Sequence[str] = (),
) -> Path:
    """Write the report of an emulation, whole or not at all; `command` is what was called. Raises
    `OSError`."""
    from .. import report

    result = json.dumps(recording.result)
    rows = _core.summarise([[result]], settings=[[]])
    series = recording.arrow("flow_series")
    ends = series["end_s"].unique().to_numpy()
    over_time = (ends.tobytes(), series["delivered_bytes"].to_numpy().tobytes())
    run = Run(result, over_time if recording.result["flows"] else None)
    done = Repeated(rows, [[run]], verdict=lines(recording.result["emulation"]))
    carried = carrying(recording.scenario, recording.result["flows"])
    target = Path(path)
    write_atomically(target, report.page(scenario, done, command, network_of=carried).encode())
    return target


def carrying(resolved: str, flows: Sequence[FlowResult]) -> Scenario:
    """The scenario with these flows instead of its own, for their routes."""
    tables = tomllib.loads(resolved)
    tables.pop("flow", None)
    traffic = {"kind": "saturating", "packet": "1000 B"}
    tables["flow"] = [
        {"id": flow["id"], "from": flow["src"], "to": flow["dst"], "traffic": traffic} for flow in flows
    ]
    return Scenario.from_dict(tables)

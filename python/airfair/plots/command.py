"""`airfair plot`: plots of files and folders."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from matplotlib.figure import Figure

from .. import plots
from .._core import InputError, Scenario
from ..commands.common import read_standard_input
from ..inputs import read_regular, refuse_inputs
from ..options import Chart
from ..recording import Recording
from ..results import CompareRow, RunResult
from . import style

Source: TypeAlias = Recording | Scenario | RunResult | list[CompareRow]

FOLDER, SCENARIO = "the folder of a run (airfair run --out)", "a scenario"
RUN, ROWS = "a result (airfair run --json)", "a comparison (airfair compare --json)"

WHOLE = Chart(timeline=False, start=None, until=None, stations=None, states=False)
"""Options of a timeline, none of which was given."""

DONE = "--set goes with a scenario: a run does not change any more"

TAKES: Mapping[str, Sequence[str]] = {
    "throughput": (FOLDER,),
    "windows": (FOLDER,),
    "queues": (FOLDER,),
    "differentials": (FOLDER,),
    "batches": (FOLDER,),
    "channel": (FOLDER, RUN),
    "timeline": (FOLDER,),
    "cdf": (FOLDER, RUN),
    "network": (SCENARIO, FOLDER),
    "bars": (ROWS,),
    "scatter": (ROWS, RUN),
}
"""The sources of each kind of plot. The first kind with a source is its default."""


def plot(
    path: Path,
    kind: str | None,
    output: Path,
    *,
    node: str | None = None,
    flow: str | None = None,
    quantity: str | None = None,
    chart: Chart = WHOLE,
    overrides: Sequence[str] = (),
) -> None:
    """Draw what is at `path` and write it. Raises `InputError`, `OSError`."""
    style.form_of(output)  # before anything that takes long
    what, source = read(path, overrides)
    refuse_inputs(output, source.files if isinstance(source, Scenario) else [path])
    kind = kind or next(kind for kind, takes in TAKES.items() if what in takes)
    if what not in TAKES[kind]:
        raise InputError(f"{path}: {what}; --kind {kind} expects {' or '.join(TAKES[kind])}")
    given = [
        ("--node", node is not None, ("channel",)),
        ("--flow", flow is not None, ("differentials", "batches")),
        ("--quantity", quantity is not None, ("bars", "cdf")),
    ]
    windows = ("--from", "--until")
    timed = {
        option: ("timeline", "batches") if option in windows else ("timeline",) for option in chart.given()
    }
    given += [(option, there, timed[option]) for option, there in chart.given().items()]
    for option, there, takers in given:
        if there and kind not in takers:
            raise InputError(f"{option} goes with --kind {' or '.join(takers)}, not with {kind}")
    style.save(draw(kind, source, node, flow, quantity or "goodput_bps", chart), output)


def read(path: Path, overrides: Sequence[str] = ()) -> tuple[str, Source]:
    """The kind and the value of a path's content; `-` is standard input. Raises `InputError`."""
    if str(path) == "-":
        return read_text(read_standard_input(), overrides)
    if overrides and (path.is_dir() or path.suffix == ".json"):
        raise InputError(DONE)
    if path.is_dir():
        if (path / "study.json").exists():
            raise InputError(
                f"{path}: the folder of a sweep; expected {FOLDER}, or draw its tables yourself: "
                "airfair.load_sweep(FOLDER).runs"
            )
        return FOLDER, Recording.load(path)
    if path.suffix.lower() in (".html", ".htm"):
        raise InputError(f"{path}: a page in HTML; expected {SCENARIO}, {FOLDER}, {RUN} or {ROWS}")
    if path.suffix != ".json":
        return SCENARIO, Scenario.read(path, overrides)
    try:
        value: Any = json.loads(read_regular(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    return read_json(value, str(path))


def read_text(text: str, overrides: Sequence[str] = ()) -> tuple[str, Source]:
    """The kind and the value of a text from standard input. Raises `InputError`."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return SCENARIO, Scenario.parse(text, "standard input", list(overrides))
    if overrides:
        raise InputError(DONE)
    return read_json(value, "standard input")


def read_json(value: Any, origin: str) -> tuple[str, Source]:  # noqa: ANN401 - JSON
    """The kind of a value that was printed as JSON. Raises `InputError`."""
    if isinstance(value, dict) and {"flows", "stations", "seed"} <= value.keys():
        return RUN, cast(RunResult, value)
    if isinstance(value, list) and value and all(isinstance(row, dict) and "seeds" in row for row in value):
        return ROWS, cast(list[CompareRow], value)
    raise InputError(f"{origin}: expected {RUN} or {ROWS}")


def draw(
    kind: str, source: Source, node: str | None, flow: str | None, quantity: str, chart: Chart = WHOLE
) -> Figure:
    """The plot of a source that fits the kind."""
    recording = cast(Recording, source)
    match kind:
        case "throughput":
            return plots.throughput(recording)
        case "windows":
            return plots.windows(recording)
        case "queues":
            return plots.queues(recording)
        case "differentials":
            return plots.differentials(recording, flow)
        case "batches":
            return plots.batches(recording, flow, chart.start, chart.until)
        case "channel":
            return plots.channel(cast(Recording | RunResult, source), node=node)
        case "timeline":
            stations = None if chart.stations is None else chart.stations.split(",")
            return plots.timeline(recording, chart.start, chart.until, stations=stations, states=chart.states)
        case "cdf":
            run = source.result if isinstance(source, Recording) else cast(RunResult, source)
            return plots.cdf(run, quantity)
        case "bars":
            return plots.bars(cast(list[CompareRow], source), quantity)
        case "scatter":
            return plots.scatter(cast(Any, [source] if isinstance(source, dict) else source))
    if isinstance(source, Recording):
        return plots.network(
            Scenario.parse(source.scenario), seed=source.result["seed"], result=source.result
        )
    return plots.network(cast(Scenario, source))

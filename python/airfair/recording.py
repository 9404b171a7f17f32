"""Recordings: a run with its series over time, as tables of Arrow or pandas, and as a folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from . import _core, notebook
from ._core import InputError, Scenario
from .arguments import Overrides, Texts, as_flag, as_path, as_scenario, as_type
from .capture import FRAMES, STATES, Capture, Spool, has_categories
from .capture import watch as watching
from .inputs import refuse_folder
from .output import remove_left_over, whole_folder
from .results import FlowResult, RunResult, StackFlow
from .rows import NAMES, Columns, Rows, typed
from .verdicts import judge_run
from .versioned import read_versioned

FORMAT = 1
"""Version of the folder's format, which a reader checks first."""

TABLES = ("flows", "flow_series", "queues", "channel")
"""Tables of every recording; in a folder, files with the ending `.parquet`."""

AGENTS, CONTROLLERS, HOPS, QUEUE_GAUGES = "agents", "controllers", "hops", "queue_gauges"
"""Tables of a recording whose scheme has agents, controllers, router code, or queues with inner values."""
STACK_FLOWS = "stack_flows"
"""The table of the flows of real stacks, in the recording of an emulation."""

GAUGES = (AGENTS, CONTROLLERS, HOPS, QUEUE_GAUGES, STACK_FLOWS)

COMPLETIONS = "completions"
"""The table of completed files, in a recording with flows that send files."""

COMPLETION_SCHEMA = pa.schema(
    [
        ("flow", NAMES),
        ("file", pa.int64()),
        ("start_s", pa.float64()),
        ("bytes", pa.int64()),
        ("completion_s", pa.float64()),
        ("timeouts", pa.int64()),
        ("retransmissions", pa.int64()),
    ]
)
"""The columns of the table."""

FLOWS = tuple(name for name in FlowResult.__annotations__ if name not in ("files", "forwarding", "feedback"))
"""Columns of the table "flows": all of `FlowResult` but the counts of files, forwarders and feedback."""

GROWING = (COMPLETIONS, FRAMES, STATES)
"""Tables of unlimited length: written during the run, and read on demand."""


class Recording:
    """A run with its series over time. Tables, units in the names of the columns; a row of those after the
    first is an interval that ends at `end_s` (seconds since the start of the run, warm-up included), the
    last interval may be shorter:

    - `flows`: a row a flow, the numbers of `result["flows"]`;
    - `flow_series`: flow, goodput, packets, retransmitted segments, congestion window and smoothed round-trip
      time at the end of the interval (null where there is none);
    - `queues`: node and target of a queue, packets in the queue at the end of the interval, packets that
      left it in the interval and their mean waiting time; of a radio also the packets of flows that the
      next hop's MAC has acknowledged, and the mean and standard deviation of their times from the arrival
      in the queue to that;
    - `channel`: node and radio, time in each of the five radio states, frames, answers that were not
      received, packets given up, packets in the MAC at the end of the interval;
    - `agents`, if the scheme has agents with inner values: node and radio, a column for each value, as it is
      at the end of the interval (NRED: its averages and probabilities);
    - `controllers`, if the scheme has controllers with inner values: node and start of the controller, a
      column for each value, as it is at the end of the interval, null while the controller does not run;
    - `hops`, if the scheme has router code with inner values: node and target of the interface, a column for
      each value, as it is at the end of the interval (QFCP: capacity, fair share, number of flows);
    - `queue_gauges`, if the scheme has queues with inner values: node and target of the queue, a column for
      each value, as it is at the end of the interval (DiffQ: of the packet that left last its queue
      `differential` and `level`, null before the first; the numbers of destinations with packets and of
      known sizes of neighbours' queues);
    - `stack_flows`, of an emulation: a row for each flow of the nodes' stacks, the numbers of
      `result["emulation"]["flows"]`;
    - `completions`, if a flow sends files: a row for each completed file, in the order of their ends: flow,
      number in the flow (from 0, in the order of arrivals), start (since the start of the run), size,
      completion time; of its connection the time-outs (the SYN's included) and the retransmitted segments;
    - `frames`, with `Capture(trace=True)`: a row for each transmission, reception, loss with its cause,
      drop and delivery (`docs/how-to/captures.md`);
    - `states`, with `Capture(states=True)`: a row for each back-off, NAV and EIFS of a station.

    `captures` are the capture files by node.
    """

    def __init__(
        self,
        result: RunResult,
        scenario: str,
        tables: dict[str, pa.Table],
        files: Mapping[str, Path] | None = None,
        captures: Mapping[str, Path] | None = None,
    ) -> None:
        """Use `airfair.record` or `Recording.load`. `scenario` is the resolved one, `files` are tables that
        are read on demand."""
        self.result = result
        """The result of the run, as `airfair.run` returns it."""
        self.scenario = scenario
        """The resolved scenario, as TOML."""
        self.captures = dict(captures or {})
        """Capture files by node."""
        self._tables = tables
        self._files = dict(files or {})

    def __repr__(self) -> str:
        """The scenario, scheme and seed, and the tables."""
        flows = notebook.counted(len(self.result["flows"]), "flow")
        about = f"{self._title()}: {flows}, {self.result['duration_s']:g} s, tables {', '.join(self.tables)}"
        return f"<airfair.Recording {about}>"

    def _repr_html_(self) -> str:
        properties = {
            "duration": f"{self.result['duration_s']:g} s, of which {self.result['warmup_s']:g} s warm-up",
            "tables": ", ".join(self.tables),
            "captures": notebook.listed([str(file) for file in self.captures.values()]),
            "warnings": "\n".join(self.result["warnings"]),
        }
        return notebook.page(f"Recording {self._title()}", properties, self.pandas("flows"))

    def _title(self) -> str:
        return f"{self.result['scenario']}, {self.result['scheme']}, seed {self.result['seed']}"

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables."""
        return (*self._tables, *self._files)

    def arrow(self, table: str) -> pa.Table:
        """A table of Arrow; columns of numbers are not copied. Raises `InputError`."""
        as_type("table", table, str, "the name of a table")
        if table in self._tables:
            return self._tables[table]
        if table in self._files:
            return _read(self._files[table])
        if table == FRAMES:
            raise InputError('there is no table "frames": the run was recorded without a trace')
        if table == STATES:
            raise InputError('there is no table "states": the run was recorded without states')
        expected = ", ".join(self.tables)
        raise InputError(f'there is no table "{table}"; expected one of {expected}')

    def pandas(self, table: str) -> pd.DataFrame:
        """A table as a data frame of pandas. Raises `InputError`."""
        return cast(pd.DataFrame, self.arrow(table).to_pandas(ignore_metadata=True))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write `run.json` and the tables as Parquet into a new folder: all of it or nothing.

        Raises `InputError` if there is such a folder already, `OSError` if it cannot be written.
        """
        target = Path(as_path("folder", folder))
        check_new(target)
        with whole_folder(target) as part:
            for name, file in self._files.items():
                shutil.copyfile(file, part / f"{name}.parquet")
            for file in self.captures.values():
                shutil.copyfile(file, part / file.name)
            self._write(part)
        return target

    def _write(self, folder: Path) -> None:
        """Write the tables that are in memory, and `run.json`."""
        about: dict[str, object] = {"format": FORMAT, "status": "finished", **self.result}
        about["resolved_scenario"] = self.scenario
        if self.captures:
            about["captures"] = {node: file.name for node, file in self.captures.items()}
        (folder / "run.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        for name, table in self._tables.items():
            with (folder / f"{name}.parquet").open("wb") as file:
                pq.write_table(table, file)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a folder that `save` or `airfair run --out` wrote. Raises `InputError` if it is incomplete
        or of a newer Airfair."""
        source = Path(as_path("folder", folder))
        about = read_about(source)
        tables = {name: _read(source / f"{name}.parquet") for name in TABLES}
        for name in GAUGES:
            if (source / f"{name}.parquet").exists():
                tables[name] = _read(source / f"{name}.parquet")
        captures = {node: source / Path(name).name for node, name in about.pop("captures", {}).items()}
        for file in captures.values():
            if not file.is_file():
                raise InputError(f"{source}: not a whole result: there is no {file.name}")
        scenario = about.pop("resolved_scenario")
        del about["format"], about["status"]
        growing = {name: source / f"{name}.parquet" for name in GROWING}
        files = {name: file for name, file in growing.items() if file.exists()}
        return cls(cast(RunResult, about), scenario, tables, files, captures)


def _read(file: Path) -> pa.Table:
    """A table of a folder. Raises `InputError`."""
    try:
        with file.open("rb") as source:
            # `pq.read_table` leaves threads behind, with which a short script may abort as it ends.
            return pq.ParquetFile(source).read(use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{file.parent}: not a whole result: {error}") from error


def check_new(folder: Path, *, force: bool = False) -> None:
    """Raise `InputError` if the path exists: before a run, not after it. With `force` it may be the folder
    of a run that holds no other files.
    """
    remove_left_over(folder)
    if not (folder.exists() or folder.is_symlink()):
        return
    is_run = folder.is_dir() and not folder.is_symlink() and (folder / "run.json").is_file()
    if not is_run:
        raise InputError(f"{folder}: exists already; expected a new folder")
    if not force:
        raise InputError(f"{folder}: exists already; expected a new folder, or --force to replace that run")
    strange = sorted(file.name for file in folder.iterdir() if not _is_of_run(file.name))
    if strange:
        raise InputError(f"{folder}: has {strange[0]}, which is not of a run; expected a new folder")


def _is_of_run(name: str) -> bool:
    """True if a run writes a file of that name."""
    tables = {f"{table}.parquet" for table in (*TABLES, *GAUGES, *GROWING)}
    return name in tables or name in ("run.json", "programs") or name.endswith(".pcapng")


def read_about(folder: Path) -> dict[str, Any]:
    """The `run.json` of a folder, its version checked. Raises `InputError`."""
    return read_versioned(folder / "run.json", "run", FORMAT, {"resolved_scenario", "flows"})


def record(
    scenario: Scenario | str | os.PathLike[str],
    *,
    scheme: str | None = None,
    seed: int = 1,
    overrides: Overrides = (),
    interval: str = "1 s",
    windows: Texts = (),
    stop: _core.Stop | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    capture: Capture = Capture(),  # noqa: B008 - it never changes
    optimum: bool = False,
) -> Recording:
    """Run a scenario, or the file of one with `overrides`, and record its series, a row every `interval`
    ("100 ms").

    With `out` everything is written into that new folder, whole or not at all, as `Recording.save` would;
    with `force` it may be the folder of an older run, which is replaced when this one is done.
    With `capture`, such as `airfair.Capture(pcap="all", trace=True)`, packets are captured into files of
    `out`, and the table `frames` is made: into `out` during the run, otherwise in memory.

    The result is that of `airfair.run` with the same `windows` and `optimum`: observation changes nothing.
    Raises `InputError`, and `OSError` if the folder cannot be written.
    """
    scenario = as_scenario(scenario, overrides)
    if scheme is not None:
        scenario = scenario.selected(scheme)
    as_flag("optimum", optimum)

    def run(folder: Path | None, watch: _core.Watch | None) -> _core.Recorded:
        with closing(_Completions(folder)) as completions:
            recorded = scenario.record(interval, scheme, seed, stop, windows, watch, completions.append)
        if folder is None and (sent := completions.table()) is not None:
            kept[COMPLETIONS] = sent
        return recorded

    def judge(result: RunResult) -> None:
        if optimum and (found := judge_run(scenario, result).verdict) is not None:
            result["verdict"] = found

    kept: dict[str, pa.Table] = {}
    recording = write(scenario, run, capture=capture, out=out, force=force, judge=judge)
    recording._tables |= kept
    return recording


def write(
    scenario: Scenario,
    run: Callable[[Path | None, _core.Watch | None], _core.Recorded],
    *,
    capture: Capture,
    out: str | os.PathLike[str] | None,
    force: bool,
    judge: Callable[[RunResult], None] = lambda _: None,
) -> Recording:
    """Record what `run` does, which is given the folder, if there is one, and what is observed. `judge` may
    add to the result."""
    as_type("capture", capture, Capture, "an airfair.Capture")
    as_flag("force", force)
    if capture.pcap and out is None:
        raise InputError("pcap: captures are files; expected a folder for them (out)")
    target = None if out is None else Path(as_path("out", out, "the path of a folder"))
    if target is not None:
        check_new(target, force=force)
        refuse_folder(target, scenario)
    with nullcontext() if target is None else whole_folder(target, replace=force) as folder:
        with _spool(folder, capture, scenario) as spool:
            recorded = run(folder, watching(spool, capture))
        tables = _tables(recorded)
        result = cast(RunResult, json.loads(recorded.result))
        judge(result)
        if target is None or folder is None:
            return Recording(result, scenario.resolved, tables | spool.tables())
        there = [name for name in GROWING if (folder / f"{name}.parquet").exists()]
        files = {name: target / f"{name}.parquet" for name in there}
        captures = {name: target / file for name, file in spool.captures.items()}
        recording = Recording(result, scenario.resolved, tables, files, captures)
        recording._write(folder)
    return recording


class _Completions:
    """The table of completed files. A run without flows that send files gives no block, not even an empty
    one."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._rows: Rows | None = None

    def append(self, columns: Columns) -> None:
        """Append files."""
        if self._rows is None:
            self._rows = Rows(COMPLETIONS, COMPLETION_SCHEMA, self._folder)
        self._rows.append(columns)

    def close(self) -> None:
        """Close the file; to be called also after a failure."""
        if self._rows is not None:
            self._rows.close()

    def table(self) -> pa.Table | None:
        """The table, if a flow sends files."""
        return None if self._rows is None else self._rows.table()


@contextmanager
def _spool(folder: Path | None, capture: Capture, scenario: Scenario) -> Iterator[Spool]:
    categories = (capture.trace or capture.states) and has_categories(scenario.resolved)
    spool = Spool(folder, trace=capture.trace, states=capture.states, categories=categories)
    try:
        yield spool
    finally:
        spool.close()


def _tables(recorded: _core.Recorded) -> dict[str, pa.Table]:
    """The series of a run, as tables."""
    result = cast(RunResult, json.loads(recorded.result))
    columns = recorded.tables()
    ends = np.frombuffer(columns["time"]["end_s"][1])
    flows = [flow["id"] for flow in result["flows"]]
    tables = {
        "flows": _flows(result),
        "flow_series": _table(ends, {"flow": flows}, columns["flow_series"]),
        "queues": _table(ends, _pairs(recorded.queues, "node", "towards"), columns["queues"]),
        "channel": _table(ends, _pairs(recorded.stations, "node", "radio"), columns["channel"]),
    }
    if recorded.agents:
        speaking = _pairs([recorded.stations[station] for station in recorded.agents], "node", "radio")
        tables[AGENTS] = _table(ends, speaking, columns[AGENTS])
    if recorded.controllers:
        ran = [result["controllers"][place] for place in recorded.controllers]
        table = _table(ends, {"node": [each["node"] for each in ran]}, columns[CONTROLLERS])
        starts = np.tile([each["start_s"] for each in ran], len(ends))
        tables[CONTROLLERS] = table.add_column(2, "start_s", pa.array(starts))
    if recorded.hops:
        speaking = _pairs([recorded.queues[queue] for queue in recorded.hops], "node", "towards")
        tables[HOPS] = _table(ends, speaking, columns[HOPS])
    if recorded.queue_gauges:
        speaking = _pairs([recorded.queues[queue] for queue in recorded.queue_gauges], "node", "towards")
        tables[QUEUE_GAUGES] = _table(ends, speaking, columns[QUEUE_GAUGES])
    if "emulation" in result:
        schema = pa.schema(typed(StackFlow, tuple(StackFlow.__annotations__)))
        tables[STACK_FLOWS] = pa.Table.from_pylist(list(result["emulation"]["flows"]), schema)
    delivered = np.frombuffer(columns["flow_series"]["delivered_bytes"][1], np.int64)
    lengths = np.repeat(np.diff(ends, prepend=0.0), len(flows))
    series = tables["flow_series"]
    tables["flow_series"] = series.add_column(2, "goodput_bps", pa.array(8 * delivered / lengths))
    return tables


def _numbers(column: tuple[str, bytes]) -> pa.Array:
    """A column around the simulator's bytes; NaN becomes null."""
    kind, data = column
    values = np.frombuffer(data, kind)
    return pa.array(values, from_pandas=kind == "float64" and bool(np.isnan(values).any()))


def _table(ends: np.ndarray, names: dict[str, list[str]], columns: dict[str, tuple[str, bytes]]) -> pa.Table:
    """Every interval has a row for each of the names."""
    times = pa.array(np.repeat(ends, len(next(iter(names.values())))))
    labels = {name: _labels(values, len(ends)) for name, values in names.items()}
    return pa.table({"end_s": times, **labels, **{name: _numbers(c) for name, c in columns.items()}})


def _labels(values: list[str], times: int) -> pa.DictionaryArray:
    """The values so many times over, each stored once."""
    codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
    each = np.array([codes[value] for value in values], np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(np.tile(each, times)), pa.array(codes, pa.string()))


def _pairs(pairs: Sequence[tuple[str, str]], first: str, second: str) -> dict[str, list[str]]:
    return {first: [a for a, _ in pairs], second: [b for _, b in pairs]}


def _flows(result: RunResult) -> pa.Table:
    """The flows of a result without the classes of their files."""
    schema = pa.schema(typed(FlowResult, FLOWS))
    rows = [{name: value for name, value in flow.items() if name in schema.names} for flow in result["flows"]]
    return pa.Table.from_pylist(rows, schema)

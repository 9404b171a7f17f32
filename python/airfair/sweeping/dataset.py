"""The folder of a sweep: tables that any reader of Parquet opens, every finished run in them exactly once.

    study.json           the study; the format version, which readers check first
    journal.jsonl        finished runs that are not in the tables yet
    runs/part-N.parquet  a row a run
    flows/part-N.parquet a row a flow of each of these runs

A run is finished when its line stands in the journal. From time to time the journal is moved into the tables:
the last part is written anew with its rows added (a new part begins when it is full), `flows` first, then
`runs`, each by renaming a complete file, then the journal is emptied. So a run belongs to the tables from the
moment at which `runs/part-N.parquet` has it: flows of other runs in `flows/part-N.parquet` and lines of the
journal that `runs` has already are left over by a crash, are never read, and go away with the next move.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .. import _core
from .._core import InputError, Scenario
from ..output import write_atomically
from ..versioned import read_versioned
from . import columns, journal
from .journal import Journal, sync_folder
from .lock import Lock
from .plan import Plan

FORMAT = 1
"""Version of the folder's format, which a reader checks first."""

JOURNAL_RUNS = 1000
JOURNAL_BYTES = 16 << 20
JOURNAL_SECONDS = 60.0
"""The journal is moved into the tables when it has so much, or when so much time has passed."""

PART_RUNS = 10_000
PART_FLOWS = 1_000_000
"""A part that has so many rows is full."""


class Dataset:
    """The folder of a sweep, open for writing."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        """Make the folder, or bring what is in it up to date with the study.

        Raises `InputError` if the folder is something else or another sweep writes there, `OSError` if it
        cannot be written.
        """
        self.folder = folder
        self._plan = plan
        _check_folder(folder, plan)
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(folder)
        try:
            self._kinds = _kinds(plan, about(folder)["columns"] if (folder / "study.json").exists() else {})
            _remove_halves(folder)
            _write_about(folder, plan, self._kinds)
            for table in columns.TABLES:
                (folder / table).mkdir(exist_ok=True)
            self._journal = Journal(folder / "journal.jsonl")
        except BaseException:
            self._lock.release()
            raise
        self._moved = time.monotonic()
        self._committed: set[str] = set()
        """Runs in the tables."""
        self.finished: set[str] = set()
        """Runs of this study that are finished."""
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def append(self, runs: Sequence[tuple[int, str, str]]) -> None:
        """Keep finished runs: cell, identity, row. All of them or, with `OSError`, none."""
        self._journal.append([self._entry(*run) for run in runs])
        self.finished.update(identity for _, identity, _ in runs)

    def tend(self) -> None:
        """Move the journal into the tables if it is time."""
        long = time.monotonic() - self._moved > JOURNAL_SECONDS and self._journal.lines
        if long or self._journal.lines >= JOURNAL_RUNS or self._journal.length >= JOURNAL_BYTES:
            self.move()

    def move(self) -> None:
        """Move the journal into the tables."""
        self._moved = time.monotonic()
        entries = {entry["run"]: entry for entry in journal.read(self._journal.path)}
        fresh = [entry for run, entry in entries.items() if run not in self._committed]
        if fresh:
            self._add(fresh)
        if self._journal.length:
            self._journal.clear()

    def finish(self) -> None:
        """Move the journal into the tables, and put the rows of the only part into the order of the study."""
        self.move()
        all_parts = parts(self.folder)
        if len(all_parts) != 1:
            return
        runs, flows = read_both(all_parts[0])
        ordered = in_order(runs, flows, about(self.folder))
        for table, new, old in (("flows", ordered[1], flows), ("runs", ordered[0], runs)):
            if not new.equals(old):
                _write_part(self.folder / table / all_parts[0].name, new)

    def close(self) -> None:
        """Release the lock of the folder."""
        self._journal.close()
        self._lock.release()

    def _entry(self, cell: int, identity: str, row: str) -> str:
        """A line of the journal. The row is JSON already."""
        case = self._plan.case(cell)
        labels = {
            "run": identity,
            "case": None if case is None else case.name,
            "parameters": self._plan.parameters(cell),
            "study": self._plan.study.name,
            "scenario_sha256": self._plan.sha256(cell),
        }
        return f'{json.dumps(labels, ensure_ascii=False)[:-1]}, "row": {row}}}'

    def _begin(self) -> None:
        """Read the runs of an earlier driver, and update all rows to the study as it is now."""
        planned = {run.identity: run.cell for run in self._plan}
        for runs in parts(self.folder):
            self._committed.update(run_ids(read_part(runs, ["run"])))
        self.move()
        for flows in sorted((self.folder / "flows").glob("part-*.parquet")):
            if not (self.folder / "runs" / flows.name).exists():
                flows.unlink()
        for runs in parts(self.folder):
            self._relabel(runs, planned)
        self.finished = {run for run in self._committed if run in planned}

    def _add(self, entries: list[dict[str, Any]]) -> None:
        last = parts(self.folder)[-1:]
        name = f"part-{1 if not last else _number(last[0]) + 1:06d}.parquet"
        tables = {table: columns.schema(table, self._kinds).empty_table() for table in columns.TABLES}
        if last:
            runs, flows = read_both(last[0])
            if len(runs) < PART_RUNS and len(flows) < PART_FLOWS:
                name = last[0].name
                tables = {"runs": runs, "flows": flows}
        rows = rows_of(entries, self._kinds)
        for table in ("flows", "runs"):  # the second is the moment at which they count
            wanted = columns.schema(table, self._kinds)
            whole = pa.concat_tables([columns.fit(tables[table], wanted), rows[table]])
            _write_part(self.folder / table / name, whole)
        self._committed.update(entry["run"] for entry in entries)

    def _relabel(self, part: Path, planned: Mapping[str, int]) -> None:
        """Give the rows of a part the columns and labels of the study as it is; flows first."""
        runs = read_part(part)
        new = self._labelled(columns.fit(runs, columns.schema("runs", self._kinds)), "runs", planned)
        if new.equals(runs):
            return
        flows = columns.fit(read_both(part)[1], columns.schema("flows", self._kinds))
        _write_part(self.folder / "flows" / part.name, self._labelled(flows, "flows", planned))
        _write_part(part, new)

    def _labelled(self, table: pa.Table, name: str, planned: Mapping[str, int]) -> pa.Table:
        """A table whose rows have the labels of the study; rows of other runs are marked and keep theirs."""
        ids = table["run"].to_pylist()
        cells = {run: planned[run] for run in dict.fromkeys(ids) if run in planned}
        labels: dict[int, dict[str, Any]] = {}
        for cell in dict.fromkeys(cells.values()):
            case = self._plan.case(cell)
            values = self._plan.parameters(cell)
            labels[cell] = {"case": None if case is None else case.name} | {
                path: columns.put(values.get(path), kind) for path, kind in self._kinds.items()
            }
        wanted = columns.schema(name, self._kinds)
        flags = pa.array([run in cells for run in ids], columns.FLAG)
        table = table.set_column(table.schema.get_field_index("in_study"), "in_study", flags)
        for column in ("case", *self._kinds):
            old = table[column].to_pylist()
            new = [
                labels[cells[run]][column] if run in cells else kept
                for run, kept in zip(ids, old, strict=True)
            ]
            field = wanted.field(column)
            table = table.set_column(table.schema.get_field_index(column), field, pa.array(new, field.type))
        return table.cast(wanted)


def about(folder: Path) -> dict[str, Any]:
    """The `study.json` of a folder, its version checked. Raises `InputError`."""
    return read_versioned(folder / "study.json", "sweep", FORMAT, {"study", "columns", "cells"})


def parts(folder: Path) -> list[Path]:
    """The parts of `runs`, in the order in which they were begun."""
    return sorted((folder / "runs").glob("part-*.parquet"))


def read_part(path: Path, some: list[str] | None = None) -> pa.Table:
    """A part of a table, or some of its columns. Raises `InputError`."""
    try:
        return pq.ParquetFile(path).read(some)
    except (OSError, pa.ArrowException) as error:
        both = " and ".join(str(path.parent.parent / table / path.name) for table in columns.TABLES)
        raise InputError(
            f"{path}: cannot be read: {error}; remove {both} to have these runs done again"
        ) from error


def read_both(runs: Path) -> tuple[pa.Table, pa.Table]:
    """A part of `runs`, and the flows of these runs. Raises `InputError`.

    In this order: a driver that goes on meanwhile writes flows first.
    """
    rows = read_part(runs)
    flows = read_part(runs.parent.parent / "flows" / runs.name)
    return rows, flows.filter(pc.is_in(flows["run"], value_set=rows["run"].combine_chunks()))


def in_order(runs: pa.Table, flows: pa.Table, description: Mapping[str, Any]) -> tuple[pa.Table, pa.Table]:
    """Both tables in the order of the study `description` (`study.json`), whenever the runs were finished.

    By cell, scheme and seed; runs of earlier editions come last. Flows stand as their runs do.
    """
    cells = {cell["sha256"]: place for place, cell in reversed(list(enumerate(description["cells"])))}
    schemes = {name: place for place, name in enumerate(description["study"]["schemes"])}
    last = len(cells) + len(description["cells"])

    def key(row: Mapping[str, Any]) -> tuple[bool, int, int, str, int, str]:
        cell = cells.get(row["scenario_sha256"], last)
        scheme = schemes.get(row["scheme"], len(schemes))
        return not row["in_study"], cell, scheme, row["scheme"], row["seed"], row["run"]

    rows = runs.select(["in_study", "scenario_sha256", "scheme", "seed", "run"]).to_pylist()
    order = sorted(range(len(rows)), key=lambda i: key(rows[i]))
    rank = {rows[i]["run"]: place for place, i in enumerate(order)}
    of_flows = [rank[run] for run in run_ids(flows)]
    flow_order = sorted(range(len(of_flows)), key=of_flows.__getitem__)
    # The type matters where there is no run yet: an empty list has none.
    return runs.take(pa.array(order, pa.int64())), flows.take(pa.array(flow_order, pa.int64()))


def run_ids(table: pa.Table) -> list[str]:
    """The identities of the runs in a table."""
    return cast(list[str], table["run"].to_pylist())


def rows_of(entries: Iterable[Mapping[str, Any]], kinds: Mapping[str, str]) -> dict[str, pa.Table]:
    """The rows of finished runs, by table. `kinds` are the parameters' paths and types."""
    runs: list[dict[str, Any]] = []
    flows: list[dict[str, Any]] = []
    for entry in entries:
        row = entry["row"]
        head = {"run": entry["run"], "in_study": True, "case": entry["case"]}
        head |= {path: columns.put(entry["parameters"].get(path), kind) for path, kind in kinds.items()}
        head |= {"scheme": row["scheme"], "seed": row["seed"]}
        maps = {name: list(row[name].items()) for name in ("drops", "marks")}
        runs.append(
            {name: value for name, value in row.items() if name != "flows"}
            | {"study": entry["study"], "scenario_sha256": entry["scenario_sha256"]}
            | maps
            | head
        )
        flows.extend(flow | head for flow in row["flows"])
    return {
        "runs": pa.Table.from_pylist(runs, columns.schema("runs", kinds)),
        "flows": pa.Table.from_pylist(flows, columns.schema("flows", kinds)),
    }


def _number(part: Path) -> int:
    return int(part.stem.removeprefix("part-"))


def _write_part(path: Path, table: pa.Table) -> None:
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression="zstd")
    write_atomically(path, buffer.getvalue().to_pybytes())
    sync_folder(path.parent)


def _remove_halves(folder: Path) -> None:
    """Remove files that were being written when a driver was killed."""
    for place in (folder, folder / "runs", folder / "flows"):
        for half in place.glob(".*.*.*"):
            half.unlink()


def _check_folder(folder: Path, plan: Plan) -> None:
    """Raise `InputError` for a folder that is not a sweep, or is another one."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: is a file; expected a new folder, or that of this study")
    names = {path.name for path in folder.iterdir()} - {".lock"}
    if all(name.startswith(".study.json.") for name in names):
        return
    if "study.json" not in names:
        raise InputError(
            f"{folder}: is not the folder of a sweep; expected a new folder, or that of this study"
        )
    name = about(folder)["study"]["name"]
    if name != plan.study.name:
        raise InputError(
            f'{folder}: has the study "{name}"; expected a new folder, or that of "{plan.study.name}"'
        )


def _kinds(plan: Plan, before: Mapping[str, str]) -> dict[str, str]:
    """The type of each parameter's column: wide enough for what stands in it and for what comes."""
    values: dict[str, list[Any]] = {path: list(given) for path, given in plan.study.parameters.items()}
    for case in plan.study.cases:
        for path, value in case.values.items():
            values.setdefault(path, []).append(value)
    kinds = {path: columns.kind_of(given, before.get(path)) for path, given in values.items()}
    return kinds | {path: kind for path, kind in before.items() if path not in kinds}


def _write_about(folder: Path, plan: Plan, kinds: Mapping[str, str]) -> None:
    study = plan.study
    source = study.scenario
    description = {
        "format": FORMAT,
        "version": _core.__version__,
        "study": study.resolved() | {"schemes": plan.schemes},
        "set": plan.overrides,
        "columns": kinds,
        "scenario": source.resolved if isinstance(source, Scenario) else source.read_text(encoding="utf-8"),
        "cells": [
            {
                "case": None if (case := plan.case(cell)) is None else case.name,
                "parameters": plan.parameters(cell),
                "sha256": plan.sha256(cell),
            }
            for cell in range(len(plan.cells))
        ],
    }
    text = json.dumps(description, indent=1, ensure_ascii=False) + "\n"
    path = folder / "study.json"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text.encode())
        sync_folder(folder)


def every(folder: Path, kinds: Mapping[str, str]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Every finished run once: runs and their flows, part by part. A driver may go on meanwhile.

    `kinds` are the parameters' paths and types.
    """
    # First the journal: what is moved meanwhile is then seen twice, not missed.
    waiting = {entry["run"]: entry for entry in journal.read(folder / "journal.jsonl")}
    for part in parts(folder):
        runs, flows = read_both(part)
        for run in run_ids(runs):
            waiting.pop(run, None)
        yield (
            columns.fit(runs, columns.schema("runs", kinds)),
            columns.fit(flows, columns.schema("flows", kinds)),
        )
    if waiting:
        rows = rows_of(waiting.values(), kinds)
        yield rows["runs"], rows["flows"]

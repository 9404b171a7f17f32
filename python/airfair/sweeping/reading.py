"""A sweep read back: its runs and flows, and the summary of each case."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

import pyarrow as pa

from .. import _core
from ..arguments import as_flag, as_path, as_type
from ..notebook import MOST_NAMES, counted, listed, page
from ..results import CompareRow, FlowDifferences, always
from . import columns
from .columns import TABLES
from .dataset import about, every, in_order
from .drive import Failure
from .study import Value, as_toml
from .worker import FORWARDING, SCALARS

if TYPE_CHECKING:
    import pandas as pd


SUMMARISED = ("id", "offered_bytes", "delivered_bytes", *always(FlowDifferences))
"""Keys of a flow that a summary needs."""


class CaseSummary(TypedDict):
    """The schemes in one case of a study, over the seeds that all of them have."""

    case: str | None
    parameters: dict[str, Value]
    rows: list[CompareRow]
    """Rows as of `airfair compare`; empty if the schemes have no seed in common yet."""


class Sweep:
    """The runs and flows of a sweep, as they were in its folder when it was read.

    - `runs`: a row a run, with the study, its parameters (columns by their paths, null where the scenario's
      own value stands), scheme, seed, and the numbers of the whole;
    - `flows`: a row a flow of each run, with the run's parameters, scheme and seed, and the flow's numbers.

    Column `run` joins them. Units are in the names of the columns.
    """

    def __init__(self, folder: Path, about: dict[str, Any], runs: pa.Table, flows: pa.Table) -> None:
        """Use `airfair.load_sweep`."""
        self.folder = folder
        """Folder of the sweep."""
        self.about = about
        """`study.json`: format, version, the study, its cells with the digests of their scenarios."""
        self._tables = {"runs": runs, "flows": flows}
        self.failed: list[Failure] = []
        """Runs that failed, if `airfair.sweep` returned this."""

    def __repr__(self) -> str:
        """The study, the folder, how many runs are done and how many failed."""
        study = self.about["study"]
        what = f"{listed(study['schemes'])}; {counted(len(study['seeds']), 'seed')}"
        return f"<airfair.Sweep {study['name']!r} in {str(self.folder)!r}: {self._progress()}; {what}>"

    def _repr_html_(self) -> str:
        study = self.about["study"]
        failed = [f"{f.scheme}, seed {f.seed}, {f.cell}: {f.error}" for f in self.failed[:MOST_NAMES]]
        properties = {
            "folder": str(self.folder),
            "runs": self._progress(),
            "schemes": listed(study["schemes"]),
            "seeds": listed([str(seed) for seed in study["seeds"]]),
            **{path: listed([as_toml(v) for v in values]) for path, values in study["parameters"].items()},
            "cases": listed([case["id"] for case in study["cases"]]),
            "failed": "\n".join(failed),
        }
        return page(f"Sweep {study['name']}", properties, self.runs)

    def _progress(self) -> str:
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        return f"{self._tables['runs'].num_rows:,} of {counted(self.total, 'run')}{failed}"

    @property
    def total(self) -> int:
        """The number of runs of the study."""
        study = self.about["study"]
        return len(self.about["cells"]) * len(study["schemes"]) * len(study["seeds"])

    @property
    def runs(self) -> pd.DataFrame:
        """A row a run, as a data frame of pandas."""
        return self.pandas("runs")

    @property
    def flows(self) -> pd.DataFrame:
        """A row a flow of each run, as a data frame of pandas."""
        return self.pandas("flows")

    def arrow(self, table: str) -> pa.Table:
        """Table "runs" or "flows", as Arrow. Raises `InputError`."""
        if as_type("table", table, str, "the name of a table") not in TABLES:
            raise _core.InputError(f'there is no table "{table}"; expected one of {", ".join(TABLES)}')
        return self._tables[table]

    def pandas(self, table: str) -> pd.DataFrame:
        """Table "runs" or "flows", as a data frame of pandas. Raises `InputError`."""
        return cast("pd.DataFrame", self.arrow(table).to_pandas(ignore_metadata=True))

    def summary(self) -> Iterator[CaseSummary]:
        """Case by case, means with 95 % intervals and differences to the first scheme, paired by seed."""
        schemes = self.about["study"]["schemes"]
        cases = self.results()
        for cell in self.about["cells"]:
            done = cases.get(cell["sha256"], {})
            yield {"case": cell["case"], "parameters": cell["parameters"], "rows": _rows(done, schemes)}

    def results(self) -> dict[str, dict[str, dict[int, str]]]:
        """By digest of the scenario, scheme and seed: results of runs (JSON) with the keys that a summary
        needs."""
        runs = self._tables["runs"]
        runs = runs.filter(runs["in_study"])
        flows = _flows_by_run(self._tables["flows"])
        # In a case of the study, rows differ in scheme and seed only.
        cases: dict[str, dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
        names = [
            *SCALARS,
            "warnings",
            "run",
            "scenario_sha256",
            *(n for n in runs.column_names if _is_perf(n)),
        ]
        for batch in runs.select(names).to_batches(max_chunksize=1000):
            for row in batch.to_pylist():
                text = _as_result(row, flows.get(row["run"], []))
                cases[row["scenario_sha256"]][row["scheme"]][row["seed"]] = text
        return cases


def load_sweep(folder: str | os.PathLike[str], *, earlier: bool = False) -> Sweep:
    """Read the folder of a sweep, finished or not, also during the sweep.

    Only runs of the study as it is now are read; with `earlier` also those of earlier editions of the study,
    of the scenario or of Airfair, which the column `in_study` marks. Rows stand in the order of the study:
    by cell, scheme and seed, whatever was finished first. Raises `InputError` for a folder that
    is not a sweep, or is from a newer Airfair.
    """
    as_flag("earlier", earlier)
    source = Path(as_path("folder", folder))
    description = about(source)
    tables = [columns.schema(name, description["columns"]).empty_table() for name in ("runs", "flows")]
    chunks = [tuple(tables), *every(source, description["columns"])]
    both = [pa.concat_tables(chunk[i] for chunk in chunks) for i in range(2)]
    if not earlier:
        both = [table.filter(table["in_study"]) for table in both]
    return Sweep(source, description, *in_order(both[0], both[1], description))


def _is_perf(column: str) -> bool:
    return column.startswith("perf_")


def _as_result(row: dict[str, Any], flows: list[dict[str, Any]]) -> str:
    """A row as the result of a run, with the keys that `_core.summarise` reads."""
    result = {name: row[name] for name in (*SCALARS, "warnings")}
    perf = {name.removeprefix("perf_"): value for name, value in row.items() if _is_perf(name)}
    return json.dumps(result | {"flows": flows, "perf": perf})


def _flows_by_run(flows: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """The flows of each run with the keys that a summary needs, in the order of the scenario."""
    grouped: dict[str, list[dict[str, Any]]] = defaultdict(list)
    files = "files_mean_completion_s"
    forwarding = [f"forwarding_{name}" for name in FORWARDING]
    for batch in flows.select(["run", *SUMMARISED, files, *forwarding]).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            parts: dict[str, Any] = {"files": {"mean_completion_s": row.pop(files)}}
            counts = [row.pop(name) for name in forwarding]
            if None not in counts:
                parts["forwarding"] = dict(zip(FORWARDING, counts, strict=True))
            grouped[row.pop("run")].append(row | parts)
    return grouped


def _rows(done: dict[str, dict[int, str]], schemes: Sequence[str]) -> list[CompareRow]:
    """The rows of a case: of the schemes that have runs, over the seeds that these have in common."""
    there = [done[scheme] for scheme in schemes if scheme in done]
    common = sorted(set.intersection(*map(set, there))) if there else []
    if not common:
        return []
    rows = json.loads(_core.summarise([[runs[seed] for seed in common] for runs in there]))
    return cast(list[CompareRow], rows)

"""Results as data frames of pandas, and which values are results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from .arguments import as_flag, unsuitable
from .results import CompareRow, Estimate, RunResult

if TYPE_CHECKING:
    import pandas as pd

ROWS = "rows of airfair.compare"
RESULTS = "results of airfair.run, or rows of airfair.compare"


def is_run(value: object) -> TypeGuard[RunResult]:
    """True if a value is a result of `airfair.run`."""
    return isinstance(value, dict) and {"scheme", "seed", "flows", "stations", "ends"} <= value.keys()


def is_row(value: object) -> TypeGuard[CompareRow]:
    """True if a value is a row of `airfair.compare`, or of a sweep's summary."""
    return isinstance(value, dict) and {"scheme", "seeds", "flows", "difference"} <= value.keys()


def as_rows(rows: object) -> list[CompareRow]:
    """Rows of `airfair.compare`, at least one. Raises `InputError`."""
    found = list(rows) if isinstance(rows, Sequence) else []
    if not found or not all(map(is_row, found)):
        raise unsuitable("rows", rows, ROWS)
    return found


def frame(
    results: RunResult | Sequence[RunResult] | Sequence[CompareRow], *, flows: bool = False
) -> pd.DataFrame:
    """Results as a data frame of pandas: a row a run or scheme, or with `flows` a row for each flow of each.

    - Results of `airfair.run`: columns `scenario`, `scheme`, `seed` (with `flows` also `flow`, `src`, `dst`),
      then the numbers of the run or of the flow.
    - Rows of `airfair.compare`: columns `scheme`, `runs` (with `flows` also `flow`), then four for each
      number: `NAME` is the mean over the seeds, `NAME_ci95` the half-width of its 95 % confidence interval,
      `NAME_difference` the mean difference to the first scheme, paired by seed, and `NAME_difference_ci95`
      its half-width.

    Names and units are those of the results: `_bps` is bit/s, `_s` seconds, `_bytes` bytes; what has no unit
    is a count or a ratio. A number that a run does not have is NaN. Numbers of nodes, queues and radios are
    not there: `airfair.record` has them. Raises `InputError`.
    """
    import pandas as pd

    as_flag("flows", flows)
    given: Sequence[Any] = [results] if isinstance(results, dict) else cast(Sequence[Any], results)
    if not isinstance(given, Sequence) or not given:
        raise unsuitable("results", results, RESULTS)
    if all(map(is_run, given)):
        records = [record for run in given for record in _of_run(run, flows)]
    elif all(map(is_row, given)):
        records = [record for row in given for record in _of_row(row, flows)]
    else:
        raise unsuitable("results", results, RESULTS)
    table = pd.DataFrame.from_records(records)
    numbers = [name for name in table if name not in LABELS and table[name].dtype == object]
    return table.astype(dict.fromkeys(numbers, float))


LABELS = ("scenario", "scheme", "version", "flow", "src", "dst")
"""Columns of texts."""


def _of_run(run: RunResult, flows: bool) -> list[dict[str, Any]]:
    labels = {name: cast(Mapping[str, Any], run)[name] for name in ("scenario", "scheme", "seed")}
    if not flows:
        return [labels | _scalars(run)]
    return [{**labels, "flow": flow["id"], **_scalars(flow, "id")} for flow in run["flows"]]


def _scalars(result: Mapping[str, Any], *but: str) -> dict[str, Any]:
    """The values that are neither lists nor dicts."""
    return {name: v for name, v in result.items() if name not in but and not isinstance(v, list | dict)}


def _of_row(row: CompareRow, flows: bool) -> list[dict[str, Any]]:
    labels = {"scheme": row["scheme"], "runs": row["runs"]}
    if not flows:
        return [labels | _estimates(row)]
    return [{**labels, "flow": flow["id"], **_estimates(flow)} for flow in row["flows"]]


def _estimates(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Four columns for each number of a row or of one of its flows."""
    columns: dict[str, float | None] = {}
    for name, difference in cast(Mapping[str, Estimate | None], row["difference"]).items():
        for column, estimate in ((name, row[name]), (f"{name}_difference", difference)):
            columns[column] = None if estimate is None else estimate["mean"]
            columns[f"{column}_ci95"] = None if estimate is None else estimate["ci95"]
    return columns

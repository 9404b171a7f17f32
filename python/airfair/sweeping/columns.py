"""The columns of a sweep's two tables, units in their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from ..results import Files, FlowResult, Forwarding, Perf, RunResult
from ..rows import typed
from .study import Value, as_toml
from .worker import FILES, FLOW, FORWARDING, PERF, SCALARS

TEXT, WHOLE, REAL, FLAG = pa.string(), pa.int64(), pa.float64(), pa.bool_()

HEAD = [
    ("run", TEXT),  # identity of the run: joins the tables
    ("in_study", FLAG),  # false: of an earlier edition of the study or of Airfair
    ("case", TEXT),
]
TAIL = [("scheme", TEXT), ("seed", pa.uint64())]
RUN = [
    ("study", TEXT),
    ("scenario", TEXT),
    ("scenario_sha256", TEXT),  # of the resolved scenario
    *typed(RunResult, (name for name in SCALARS if name not in ("scenario", "scheme", "seed"))),
    ("made_packets", WHOLE),
    ("delivered_packets", WHOLE),
    ("drops", pa.map_(TEXT, WHOLE)),
    ("marks", pa.map_(TEXT, WHOLE)),
    ("control_bps", REAL),  # messages of the scheme that are counted by kind, with MAC headers
    ("messages", WHOLE),  # messages of the scheme's agents, over the whole run
    ("warnings", pa.list_(TEXT)),
    *typed(Perf, PERF, "perf_"),
]
OF_FLOW = [
    *typed(FlowResult, FLOW),
    *typed(Files, FILES, "files_"),
    *typed(Forwarding, FORWARDING, "forwarding_"),
]
TABLES = {"runs": RUN, "flows": OF_FLOW}

KINDS = {"bool": FLAG, "int64": WHOLE, "double": REAL, "string": TEXT}
"""Types of parameters' columns, by the names that `study.json` gives them."""


def schema(table: str, kinds: Mapping[str, str]) -> pa.Schema:
    """The columns of a table; `kinds` are the parameters' paths and types."""
    return pa.schema([*HEAD, *((path, KINDS[kind]) for path, kind in kinds.items()), *TAIL, *TABLES[table]])


RESULTS = frozenset(name for columns in (HEAD, TAIL, RUN, OF_FLOW) for name, _ in columns)
"""Names of columns that no parameter can have."""


def kind_of(values: Iterable[Value], before: str | None = None) -> str:
    """The type of a column for these values and for those of type `before` that stand in it."""
    kinds = {before} if before is not None else set()
    for value in values:
        match value:
            case bool():
                kinds.add("bool")
            case int() if -(2**63) <= value < 2**63:
                kinds.add("int64")
            case float():
                kinds.add("double")
            case _:
                kinds.add("string")
    if len(kinds) == 1:
        return kinds.pop()
    return "double" if kinds == {"int64", "double"} else "string"


def put(value: Value | None, kind: str) -> Any:  # noqa: ANN401 - what pyarrow takes
    """A value converted to its column's type."""
    if value is None:
        return None
    if kind == "string":
        return as_toml(value)
    return float(value) if kind == "double" else value  # type: ignore[arg-type]


def fit(table: pa.Table, wanted: pa.Schema) -> pa.Table:
    """A table with these columns: nulls where it has none of the name, and wider types."""
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in wanted
    ]
    return pa.table(columns, schema=wanted)

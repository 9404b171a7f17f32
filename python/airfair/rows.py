"""Tables that are written during a run, so that their rows need not fit into memory together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .results import scalars

NAMES = pa.dictionary(pa.int32(), pa.string())
"""The type of a column of names."""

ARROW = {str: pa.string(), int: pa.int64(), float: pa.float64()}
"""Types of columns, by those of results."""

GROUP = 1 << 16
"""Rows of a row group, the last of a file apart. The times at which the simulator passes rows on depend on
the machine's speed; the file does not."""

Columns = Mapping[str, tuple[str, bytes, Sequence[str] | None]]
"""Rows from the simulator: kind, values as bytes, and the names that the values are indices of."""


def typed(kind: type, names: Iterable[str], prefix: str = "") -> list[tuple[str, pa.DataType]]:
    """Columns for these texts and numbers of a result of that kind (a class of `airfair.results`)."""
    types = scalars(kind)
    return [(f"{prefix}{name}", ARROW[types[name]]) for name in names]


class Rows:
    """A table that grows by blocks of rows, in `NAME.parquet` of a folder, or in memory without a folder."""

    def __init__(
        self, name: str, schema: pa.Schema, folder: Path | None, optional: pa.Schema | None = None
    ) -> None:
        """With a folder the file is created at once, empty. The first rows, which may be none, decide which
        of the `optional` columns there are."""
        self._schema = schema
        self._optional = optional
        self._batches: list[pa.Table] = []
        self._waiting = 0
        # An open file: a library that opens it by name would want the name in UTF-8.
        self._file = None if folder is None else (folder / f"{name}.parquet").open("wb")
        self._writer: pq.ParquetWriter | None = None
        if optional is None:
            self._begin()

    def _begin(self) -> None:
        """The columns are known."""
        self._optional = None
        if self._file is not None:
            self._writer = pq.ParquetWriter(self._file, self._schema)

    def append(self, columns: Columns) -> None:
        """Append rows; those that do not fill a row group of the file stay in memory."""
        if self._optional is not None:
            for field in self._optional:
                self._schema = self._schema.append(field) if field.name in columns else self._schema
            self._begin()
        names = self._schema.names
        rows = pa.Table.from_arrays([_column(*columns[name]) for name in names], names).cast(self._schema)
        if not rows.num_rows:
            return
        self._batches.append(rows)
        self._waiting += rows.num_rows
        if self._writer is not None and self._waiting >= GROUP:
            there = self.table()
            while self._waiting >= GROUP:
                self._writer.write_table(_group(there.slice(0, GROUP)))
                there = there.slice(GROUP)
                self._waiting -= GROUP
            self._batches = [there]

    def close(self) -> None:
        """Write the rest and close the file; to be called also after a failure."""
        if self._writer is not None:
            if self._waiting:
                self._writer.write_table(_group(self.table()))
            self._writer.close()
        if self._file is not None:
            self._file.close()

    def table(self) -> pa.Table:
        """The rows that stay in memory, as one block."""
        rows = pa.concat_tables([self._schema.empty_table(), *self._batches])
        return rows.unify_dictionaries().combine_chunks()


def _group(rows: pa.Table) -> pa.Table:
    """Rows as they are written: each column of names has those names that occur in it, in the order of the
    rows. A block from the simulator has also names of rows that it was passed with by chance."""

    def names(column: pa.ChunkedArray) -> pa.ChunkedArray:
        return column.cast(pa.string()).dictionary_encode()

    columns = [names(column) if column.type == NAMES else column for column in rows.columns]
    return pa.Table.from_arrays(columns, rows.schema.names).cast(rows.schema).combine_chunks()


def _column(kind: str, data: bytes, labels: Sequence[str] | None) -> pa.Array:
    """A column around the simulator's bytes: -1 and NaN are missing values."""
    values = np.frombuffer(data, kind)
    if kind == "float64":
        return pa.array(values, from_pandas=True)
    nothing = values == -1
    if labels is None:
        return pa.array(values, mask=nothing)
    codes = pa.array(values.astype(np.int32), mask=nothing)
    return pa.DictionaryArray.from_arrays(codes, pa.array(labels, pa.string()))

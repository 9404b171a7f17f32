"""Tables that grow: how their rows come does not show in the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from airfair.rows import GROUP, NAMES, Rows

SCHEMA = pa.schema([("time_s", pa.float64()), ("node", NAMES), ("frame", pa.int64())])
LABELS = ["a", "b", "c"]
ALL = 2 * GROUP + 1000


def written(folder: Path, ends: list[int]) -> bytes:
    """The file of rows that are handed over up to each of the ends."""
    draw = np.random.default_rng(7)
    times, nodes, frames = (draw.random(ALL), draw.integers(-1, 3, ALL), draw.integers(-1, 1000, ALL))
    folder.mkdir()
    rows = Rows("t", SCHEMA, folder)
    for begin, end in zip([0, *ends], [*ends, ALL], strict=True):
        rows.append(
            {
                "time_s": ("float64", times[begin:end].tobytes(), None),
                "node": ("int64", nodes[begin:end].tobytes(), LABELS),
                "frame": ("int64", frames[begin:end].tobytes(), None),
            }
        )
    rows.close()
    table = pq.read_table(folder / "t.parquet")
    np.testing.assert_array_equal(table["time_s"].to_numpy(), times)
    names = [None if code < 0 else LABELS[code] for code in nodes]
    assert table["node"].to_pylist() == names
    return (folder / "t.parquet").read_bytes()


@pytest.mark.parametrize("ends", [[10], [GROUP - 1, GROUP, GROUP + 1], [GROUP, 2 * GROUP], [ALL - 1], [0, 0]])
def test_how_rows_come_does_not_show_in_the_file(tmp_path: Path, ends: list[int]) -> None:
    assert written(tmp_path / "once", []) == written(tmp_path / "parts", ends)


def test_row_groups_are_alike(tmp_path: Path) -> None:
    written(tmp_path / "x", [3, GROUP + 5])
    groups = pq.ParquetFile(tmp_path / "x" / "t.parquet").metadata
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [GROUP, GROUP, 1000]

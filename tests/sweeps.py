"""Parts that the tests of sweeps share: a tiny scenario, studies of it, rows without `perf`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import airfair
import pandas as pd
from airfair import Study, Sweep
from airfair.sweeping.study import Value

TINY = """
name = "tiny"
duration = "50 ms"

[radio]
standard = "802.11b"
data_rate = "2 Mbit/s"
queue_packets = 20
backpressure = false
propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }

[[node]]
id = "a"
position = ["0 m", "0 m"]

[[node]]
id = "b"
position = ["100 m", "0 m"]

[[node]]
id = "c"
position = ["0 m", "100 m"]

[[flow]]
id = "ab"
from = "a"
to = "b"
traffic = { kind = "poisson", rate = "1 Mbit/s", packet = "500 B" }

[[flow]]
id = "cb"
from = "c"
to = "b"
traffic = { kind = "poisson", rate = "1 Mbit/s", packet = "500 B" }
"""

PARAMETERS: dict[str, Sequence[Value]] = {
    "radio.queue_packets": [2, 20],
    "flow.ab.traffic.rate": ["500 kbit/s", "4 Mbit/s"],
}


def tiny(folder: Path, text: str = TINY) -> Path:
    """The tiny scenario as a file."""
    file = folder / "tiny.toml"
    file.write_text(text)
    return file


def study(folder: Path, **changes: Any) -> Study:  # noqa: ANN401 - keywords of Study
    """Four cells, two schemes, two seeds: 16 runs."""
    given: dict[str, Any] = {
        "name": "tiny",
        "scenario": tiny(folder) if not (folder / "tiny.toml").exists() else folder / "tiny.toml",
        "schemes": ["droptail", "red"],
        "seeds": 2,
        "parameters": PARAMETERS,
    }
    return Study(**(given | changes))


def as_toml_file(
    folder: Path, *, seeds: int, duration: str = "50 ms", schemes: str = '["droptail", "red"]'
) -> Path:
    """The same study as a file."""
    tiny(folder)
    file = folder / "study.toml"
    file.write_text(
        f'name = "tiny"\nscenario = "tiny.toml"\nschemes = {schemes}\nseeds = {seeds}\n'
        "[parameters]\nradio.queue_packets = [2, 20]\n"
        f'flow.ab.traffic.rate = ["500 kbit/s", "4 Mbit/s"]\nduration = ["{duration}"]\n'
    )
    return file


def rows(sweep: Sweep, table: str = "runs") -> pd.DataFrame:
    """Rows in one order, without what a run costs."""
    frame = sweep.pandas(table)
    frame = frame[[name for name in frame.columns if not name.startswith("perf_")]]
    by = ["run", "id"] if table == "flows" else ["run"]
    return frame.sort_values(by, ignore_index=True)


def assert_once_each(sweep: Sweep, undisturbed: Sweep) -> None:
    """Every run of the study is there once, and equal to that of a sweep that nothing disturbed."""
    assert sweep.arrow("runs").num_rows == sweep.total
    assert sweep.runs["run"].is_unique
    for table in ("runs", "flows"):
        pd.testing.assert_frame_equal(rows(sweep, table), rows(undisturbed, table))


class Here(Executor):
    """Does everything at once in this thread, and counts."""

    def __init__(self, instead: Callable[..., Any] | None = None) -> None:
        self.done = 0
        self._max_workers = 1  # what a sweep looks at, for how much it may hand out
        self.instead = instead

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        future: Future[Any] = Future()
        try:
            if len(args) >= 3:
                self.done += 1
                if self.instead is not None:
                    fn = self.instead
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def sweep_here(study: Study, out: Path) -> tuple[Sweep, int]:
    """A sweep in this thread, and how many runs it did."""
    executor = Here()
    return airfair.sweep(study, out=out, executor=executor), executor.done

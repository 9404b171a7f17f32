"""`airfair.sweep`: a study, run on processes, on any executor or on a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import _core
from .._core import InputError
from ..arguments import Overrides, as_function, as_path, as_type, as_whole
from . import worker
from .drive import AHEAD, GUARD, Progress, SweepError, drive
from .plan import Plan
from .reading import Sweep, load_sweep
from .study import Study, read_study

__all__ = ["Progress", "Study", "Sweep", "SweepError", "load_sweep", "sweep"]

LOOK_SECONDS = 5.0
"""Time between two queries of a cluster's size."""


def sweep(
    study: Study | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    overrides: Overrides = (),
    on_run: Callable[[Progress], object] | None = None,
) -> Sweep:
    """Do every run of a study that its folder does not have yet.

    Runs go to `executor` (any of `concurrent.futures`' kind), or to the Dask cluster whose scheduler is at
    the address `dask` (or has written that file), or else to `jobs` processes, one for each core by default.
    `out` is the folder of the results, `out/sweep/NAME` by default. `overrides`, as of `airfair.run`,
    replace values of every run's scenario. `on_run` is called in this thread, with the progress of
    the sweep, before the first run and after each.

    A script calls this function below `if __name__ == "__main__":`, since worker processes load the script,
    too.

    Runs that fail are listed in `Sweep.failed`; the same call tries them again. After any interruption,
    also Ctrl-C or a kill, the same call does the runs that are missing. Raises `InputError`, `OSError` if
    the folder cannot be written, `SweepError` if there are no workers.
    """
    # A worker process marks itself while it loads the script, to start no processes of its own.
    # (`multiprocessing.parent_process()` is known only later.)
    # It ends without a traceback: the process that started it reports the reason.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(f"airfair: {GUARD}")
    if not isinstance(study, Study):
        study = read_study(study)
    return run_plan(Plan(study, overrides), out=out, executor=executor, jobs=jobs, dask=dask, on_run=on_run)


def run_plan(
    plan: Plan,
    *,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    on_run: Callable[[Progress], object] | None = None,
) -> Sweep:
    """Like `sweep`, for a study that is checked already."""
    folder = folder_of(plan, out)
    if executor is not None:
        as_type("executor", executor, Executor, "an executor of concurrent.futures' kind")
    if jobs is not None:
        jobs = as_whole("jobs", jobs, 1)
    as_function("on_run", on_run)
    if dask is not None:
        as_type("dask", dask, str, "the address of a scheduler as a text")
        if executor is not None or jobs is not None:
            raise InputError("dask is an executor of its own: expected no other, and no number of jobs")
        with cluster(dask) as (executor, window):
            done = drive(plan, folder, executor=executor, window=window, on_run=on_run)
    else:
        done = drive(plan, folder, executor=executor, jobs=jobs, on_run=on_run)
    result = load_sweep(folder)
    result.failed = done.failed
    return result


def folder_of(plan: Plan, out: str | os.PathLike[str] | None) -> Path:
    """The folder of a plan's results."""
    return (
        Path("out") / "sweep" / plan.study.name
        if out is None
        else Path(as_path("out", out, "the path of a folder"))
    )


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """An executor on a Dask cluster, and how many runs it should have at a time."""
    try:
        import distributed
    except ImportError as error:
        raise InputError("--dask needs the package distributed: pip install 'airfair[dask]'") from error
    connect: Any = distributed.Client
    try:
        client = connect(scheduler_file=address) if Path(address).is_file() else connect(address)
    except ValueError as error:
        raise InputError(f"--dask {address}: {error}; expected an address such as tcp://host:8786") from error
    except OSError as error:  # no answer in time
        raise SweepError(f"no Dask scheduler at {address}: {error}") from error
    try:
        others = {
            f"{where}: {version}"
            for where, version in client.run(worker.hello, on_error="return").items()
            if version != _core.__version__
        }
        if others:
            raise SweepError(f"workers without Airfair {_core.__version__}: {', '.join(sorted(others))}")
        size, asked = 0, -LOOK_SECONDS

        def window() -> int:
            nonlocal size, asked
            if time.monotonic() - asked > LOOK_SECONDS:
                size, asked = AHEAD * sum(client.nthreads().values()), time.monotonic()
            return max(1, size)

        yield client.get_executor(), window
    finally:
        client.close()

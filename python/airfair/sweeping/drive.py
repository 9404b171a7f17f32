"""Execution of a plan: runs are submitted a few at a time, and their results are kept at once."""

from __future__ import annotations

import itertools
import os
import queue
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .. import _core, selections
from .._core import InputError
from . import worker
from .dataset import Dataset
from .plan import Plan, Run
from .pool import Processes
from .worker import Outcome
from .written import check_elsewhere, sources

DEATHS = 3
"""A run whose worker dies so often is given up."""
GUARD = 'a script calls airfair.sweep below `if __name__ == "__main__":`, since worker processes load it too'
AHEAD = 2
"""Runs submitted at a time for each worker of a given executor."""


class Failure(NamedTuple):
    """A run that failed."""

    cell: str
    """The parameters of its cell, in words."""
    scheme: str
    seed: int
    error: str


@dataclass
class Progress:
    """The progress of a sweep."""

    total: int
    """Runs of the study."""
    finished: int = 0
    """Of these, earlier ones included."""
    failed: list[Failure] = field(default_factory=list)


class SweepError(RuntimeError):
    """A sweep that cannot go on; what is finished is kept."""

    __module__ = "airfair"


def drive(
    plan: Plan,
    folder: Path,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    window: Callable[[], int] | None = None,
    on_run: Callable[[Progress], object] | None = None,
) -> Progress:
    """Do every run of the plan that the folder does not have.

    `executor` gets at most `window()` runs at a time; without one, `jobs` processes do them. `on_run` is
    called in this thread: before the first run, and after each.

    The result lists runs that fail; the others are done. Raises `InputError`, `OSError` if the folder
    cannot be written, `SweepError` if the executor fails, and `KeyboardInterrupt`: after any of them
    finished runs are kept, and the same call does the rest.
    """
    if jobs is not None and executor is not None:
        raise InputError("jobs goes with processes of the sweep's own: an executor was given")
    dataset = Dataset(folder, plan)
    own = Processes(jobs or len(os.sched_getaffinity(0))) if executor is None else None
    try:
        progress = Progress(len(plan), len(dataset.finished))
        driver = _Driver(plan, dataset, own or executor, window, progress, on_run)
        try:
            driver.run()
        finally:
            driver.stop.set()
            driver.cancel()
            if own is not None:
                own.shutdown()
            driver.keep()
            dataset.finish()
        return progress
    finally:
        dataset.close()


class _Driver:
    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        executor: Executor | None,
        window: Callable[[], int] | None,
        progress: Progress,
        on_run: Callable[[Progress], object] | None,
    ) -> None:
        assert executor is not None
        self.window = self.usual_window if window is None else window
        """Most runs that may be submitted at a time."""
        self.plan = plan
        self.sources = sources()
        if not isinstance(executor, ThreadPoolExecutor):
            check_elsewhere([name for scheme in plan.schemes for name in selections.read(scheme).schemes])
        self.dataset = dataset
        self.executor = executor
        self.own = isinstance(executor, Processes)
        self.progress = progress
        self.on_run = on_run
        self.stop = _core.Stop()
        self.waiting: deque[Run] = deque()
        """Runs whose worker died."""
        self.deaths: Counter[str] = Counter()
        self.out: dict[Future[Outcome], Run] = {}
        self.back: queue.SimpleQueue[Future[Outcome]] = queue.SimpleQueue()
        self.unsaved: list[tuple[int, str, str]] = []

    def usual_window(self) -> int:
        if isinstance(self.executor, Processes):
            return self.executor.count
        workers = getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1
        return AHEAD * int(workers)

    def run(self) -> None:
        """Execute the plan."""
        self.report()
        runs: Iterator[Run] = (run for run in self.plan if run.identity not in self.dataset.finished)
        first = next(runs, None)
        if first is None:
            return
        self.greet()
        runs = itertools.chain([first], runs)
        while self.fill(runs) or self.out:
            self.take(self.back.get())
            with suppress(queue.Empty):
                while True:
                    self.take(self.back.get_nowait())
            self.keep()
            self.dataset.tend()

    def greet(self) -> None:
        """See that a worker starts, and that it has this version of Airfair, before runs are lost to it."""
        for attempt in range(DEATHS):
            try:
                self.check(self.executor.submit(worker.hello).result())
                return
            except BrokenExecutor as error:
                if not self.own:
                    raise self.broken(error) from error
                if attempt == DEATHS - 1:
                    raise SweepError(f"{GUARD}: the worker processes do not start ({error})") from None

    def check(self, version: str) -> None:
        if version != _core.__version__:
            raise SweepError(
                f"a worker has Airfair {version}, this is {_core.__version__}; expected the same everywhere"
            )

    def fill(self, runs: Iterator[Run]) -> bool:
        """Submit runs as long as there is room; whether any is running."""
        room = self.window() - len(self.out)
        while room > 0:
            # Those whose worker died come last: others first find out whether the machine is well.
            run = next(runs, None) or (self.waiting.popleft() if self.waiting else None)
            if run is None:
                break
            text = self.plan.resolved(run.cell)
            # Only a thread can be given what stops it.
            stop = self.stop if isinstance(self.executor, ThreadPoolExecutor) else None
            try:
                future = self.executor.submit(worker.run_one, text, run.scheme, run.seed, stop, self.sources)
            except BrokenExecutor as error:
                raise self.broken(error) from error
            self.out[future] = run
            future.add_done_callback(self.back.put)
            room -= 1
        return bool(self.out)

    def take(self, future: Future[Outcome]) -> None:
        """Handle finished runs."""
        run = self.out.pop(future)
        try:
            outcome = future.result()
        except CancelledError as error:
            raise SweepError(
                "the executor dropped a run: it was shut down, or has lost its cluster"
            ) from error
        except BrokenExecutor as error:
            if not self.own:
                raise self.broken(error) from error
            self.deaths[run.identity] += 1
            if self.deaths[run.identity] < DEATHS:
                self.waiting.append(run)
            else:
                self.fail(run, f"its worker process died {DEATHS} times (killed, or out of memory)")
            return
        except Exception as error:  # an executor's own way to fail
            self.fail(run, f"{type(error).__name__}: {error}")
            return
        self.check(outcome.version)
        if outcome.row is None:
            self.fail(run, outcome.error or "unknown")
        else:
            self.unsaved.append((run.cell, run.identity, outcome.row))

    def fail(self, run: Run, error: str) -> None:
        self.progress.failed.append(Failure(self.plan.describe(run.cell), run.scheme, run.seed, error))
        self.report()

    def keep(self) -> None:
        """Write finished runs to the journal, and tell of each.

        An interruption may come anywhere here, and then this is called once more: a run that is written twice
        is read once, and runs are counted by what was written.
        """
        if self.unsaved:
            self.dataset.append(self.unsaved)
            self.unsaved = []
        while self.progress.finished < len(self.dataset.finished):
            self.progress.finished += 1
            self.report()

    def cancel(self) -> None:
        """Cancel submitted runs, and keep those that have finished."""
        for future in list(self.out):
            future.cancel()
        with suppress(queue.Empty):
            while True:
                future = self.back.get_nowait()
                run = self.out.pop(future)
                if not future.cancelled() and future.exception() is None and future.result().row is not None:
                    self.unsaved.append((run.cell, run.identity, str(future.result().row)))

    def report(self) -> None:
        if self.on_run is not None:
            self.on_run(self.progress)

    def broken(self, error: BaseException) -> SweepError:
        return SweepError(f"the executor is broken: {error or type(error).__name__}")


def as_words(failed: Sequence[Failure]) -> list[str]:
    """Failures, a line each."""
    return [f"{f.cell}, {f.scheme}, seed {f.seed}: {f.error}" for f in failed]

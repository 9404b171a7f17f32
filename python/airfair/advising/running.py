"""Runs within a budget of wall time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import NamedTuple

from .._core import InputError, Scenario, Stop

FEWEST_RUNS = 8
"""Runs that have to fit in a budget, or the runs are made shorter."""

AIMED_RUNS = 24
"""Runs that fit when they are made shorter."""

DEARER = 1.5
"""A run with a scheme takes so much longer than one of today, at most in the mean."""

SHORTEST_MEASURED = 0.1
"""Part of the measured time that a shorter run keeps, at least."""

PROBE = 0.1
"""Part of the measured time of the run by which the cost is estimated."""

Cell = tuple[str, int]
"""Selection, seed."""


class Clock:
    """The wall time since the start, and the part of a budget that it is."""

    def __init__(self, budget_s: float | None) -> None:
        self.budget_s = budget_s
        self._start = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def until(self, part: float) -> float | None:
        """Seconds until this part of the budget is spent; None without a budget."""
        return None if self.budget_s is None else part * self.budget_s - self.elapsed_s


class Runner:
    """Runs of a scenario, several at a time."""

    def __init__(
        self, scenario: Scenario, clock: Clock, jobs: int | None, on_run: Callable[[], object] | None
    ) -> None:
        self.scenario = scenario
        self.clock = clock
        self.jobs = jobs or len(os.sched_getaffinity(0))
        self._on_run = on_run

    def texts(
        self, cells: Sequence[Cell], part: float, scenarios: Sequence[Scenario] | None = None
    ) -> list[str]:
        """The results (JSON) of these runs, until this part of the budget is spent: those of the first cells,
        without a gap, so that their number alone says which. `scenarios`: of each cell, if not the
        runner's."""
        left = self.clock.until(part)
        if left is not None and left <= 0:
            return []
        stop = Stop()
        pool = ThreadPoolExecutor(self.jobs)
        try:
            futures = [
                pool.submit((self.scenario if scenarios is None else scenarios[i]).run, scheme, seed, stop)
                for i, (scheme, seed) in enumerate(cells)
            ]
            done, _ = wait(futures, left, FIRST_EXCEPTION)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
        found = []
        for future in futures:
            if future not in done:
                break
            found.append(future.result())
            if self._on_run is not None:
                self._on_run()
        return found


class Length(NamedTuple):
    """The scenario that is run, and how it was made shorter."""

    scenario: Scenario
    whole_s: float | None = None
    """The scenario's own duration, if that was too long for the budget."""


def fitting(scenario: Scenario, scheme: str, clock: Clock, jobs: int | None) -> Length:
    """The scenario, made shorter if fewer than eight of its runs fit in what is left of the budget. Raises
    `InputError` if even the shortest do not."""
    left = clock.until(1.0)
    if left is None:
        return Length(scenario)
    measured = scenario.duration_ns - scenario.warmup_ns
    short = _shortened(scenario, PROBE)
    start = time.monotonic()
    short.run(scheme, 1)
    took = time.monotonic() - start
    whole_s = took * scenario.duration_ns / short.duration_ns
    slots = jobs or len(os.sched_getaffinity(0))
    left = clock.until(1.0) or 0.0
    fit = slots * left / (DEARER * whole_s) if whole_s > 0 else FEWEST_RUNS
    if fit >= FEWEST_RUNS:
        return Length(scenario)
    wanted = left * slots / (AIMED_RUNS * DEARER) / whole_s * scenario.duration_ns
    part = (wanted - scenario.warmup_ns) / measured
    if part < SHORTEST_MEASURED:
        seconds = FEWEST_RUNS * DEARER * whole_s / slots + clock.elapsed_s
        raise InputError(
            f"a run takes about {whole_s:.0f} s: fewer than {FEWEST_RUNS} fit in {clock.budget_s:.0f} s, "
            f"also if they are much shorter; --budget '{seconds:.0f} s' has room for {FEWEST_RUNS}"
        )
    return Length(_shortened(scenario, part), scenario.duration_ns / 1e9)


def _shortened(scenario: Scenario, part: float) -> Scenario:
    """The scenario with this part of its measured time, in whole milliseconds. Raises `InputError` if flows
    or changes of links come later."""
    measured = scenario.duration_ns - scenario.warmup_ns
    duration = scenario.warmup_ns + max(1_000_000, round(part * measured) // 1_000_000 * 1_000_000)
    return scenario.edited({"duration": f"{min(duration, scenario.duration_ns)} ns"})

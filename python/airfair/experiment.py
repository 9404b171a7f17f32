"""One run, and many runs side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import cast

from . import _core
from ._core import InputError, Scenario
from .results import CompareRow, Network, RunResult, SchemeInfo

SEED_LIMIT = 2**64
"""Seeds lie below this."""


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    scheme: str | None = None,
    seed: int = 1,
    overrides: Sequence[str] = (),
) -> RunResult:
    """Run a scenario, or the file of one with `path=value` overrides, to its end.

    Raises `InputError` for what the caller can put right.
    """
    scenario = _scenario(scenario, overrides)
    _check_seeds([seed])
    return cast(RunResult, json.loads(scenario.run(scheme, seed)))


def compare(
    scenario: Scenario | str | os.PathLike[str],
    *,
    schemes: Sequence[str],
    seeds: Iterable[int] = range(1, 11),
    overrides: Sequence[str] = (),
    jobs: int | None = None,
    on_run: Callable[[], object] | None = None,
) -> list[CompareRow]:
    """Run every scheme with every seed; one row a scheme, differences to the first, paired by seed.

    `jobs` runs go at a time (as many as there are cores by default); `on_run` is called in this thread after
    each. The rows do not depend on `jobs`. Raises `InputError` for what the caller can put right.
    """
    scenario = _scenario(scenario, overrides)
    text = compare_json(scenario, schemes=schemes, seeds=seeds, jobs=jobs, on_run=on_run)
    return cast(list[CompareRow], json.loads(text))


def compare_json(
    scenario: Scenario,
    *,
    schemes: Sequence[str],
    seeds: Iterable[int],
    jobs: int | None = None,
    on_run: Callable[[], object] | None = None,
) -> str:
    """Like `compare`, but the rows as the simulator wrote them."""
    seeds = sorted(seeds)
    _check_seeds(seeds)
    if not schemes or len(set(schemes)) != len(schemes):
        raise InputError(f"schemes {','.join(schemes)!r}: expected at least one, each once")
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs {jobs}: expected at least 1")
    for scheme in schemes:
        scenario.check_scheme(scheme)  # before hours of runs with another one
    cells = [(scenario, scheme, seed) for scheme in schemes for seed in seeds]
    runs = iter(run_all(cells, jobs=jobs, on_run=on_run))
    return _core.summarise([[next(runs) for _ in seeds] for _ in schemes])


def run_all(
    cells: Sequence[tuple[Scenario, str, int]],
    *,
    jobs: int | None = None,
    on_run: Callable[[], object] | None = None,
) -> list[str]:
    """One run for each scenario, scheme and seed, in their order, as JSON; `on_run` is called in this thread
    after each. If one fails, or the caller is interrupted, the others are stopped."""
    stop = _core.Stop()
    # The simulator lets go of the interpreter while it runs, so threads use every core.
    pool = ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)))
    try:
        runs = [pool.submit(scenario.run, scheme, seed, stop) for scenario, scheme, seed in cells]
        for done in as_completed(runs):
            done.result()
            if on_run is not None:
                on_run()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    return [run.result() for run in runs]


def schemes() -> list[SchemeInfo]:
    """Every scheme with its parameters."""
    return cast(list[SchemeInfo], json.loads(_core.schemes()))


def network(scenario: Scenario | str | os.PathLike[str], *, seed: int = 1) -> Network:
    """Nodes, radios, who can decode or sense whom, wired links and routes of a scenario.

    It is what the simulator builds for a run; the seed matters where propagation has shadowing. Raises
    `InputError`.
    """
    scenario = _scenario(scenario, ())
    _check_seeds([seed])
    return cast(Network, json.loads(scenario.network(seed)))


def _scenario(scenario: Scenario | str | os.PathLike[str], overrides: Sequence[str]) -> Scenario:
    if not isinstance(scenario, Scenario):
        return Scenario.read(scenario, list(overrides))
    if overrides:
        raise InputError(
            "overrides go with a file; expected `scenario.edited({...})` for a scenario that was read"
        )
    return scenario


def _check_seeds(seeds: Sequence[int]) -> None:
    if not seeds or len(set(seeds)) != len(seeds):
        raise InputError("seeds: expected at least one, each once")
    for seed in seeds:
        if not 0 <= seed < SEED_LIMIT:
            raise InputError(f"seed {seed}: expected 0 to {SEED_LIMIT - 1}")

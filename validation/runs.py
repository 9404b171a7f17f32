"""Runs of the simulator for the sections: many at a time, and their means with intervals.

The models of this package do not import this module; only sections that look at the simulator do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import airfair
from airfair import RunResult, Scenario

from .queueing import Mean, student_t_quantile
from .report import Context

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "scenarios"

Item = TypeVar("Item")
Done = TypeVar("Done")


def parallel(context: Context, work: Callable[[Item], Done], items: Iterable[Item]) -> list[Done]:
    """`work` on each item, in their order; the simulator lets go of the interpreter, so threads do."""
    with ThreadPoolExecutor(context.workers) as pool:
        return list(pool.map(work, items))


def run_all(context: Context, cells: Sequence[tuple[Scenario, int]]) -> list[RunResult]:
    """One run for each pair of scenario and seed."""
    return parallel(context, lambda cell: airfair.run(cell[0], seed=cell[1]), cells)


def seeds(context: Context, count: int) -> range:
    """The seeds of a section: other ones for another `--seed`."""
    return range(1000 * context.seed, 1000 * context.seed + count)


def jain_of(result: RunResult) -> float:
    """Jain's index of a run; raises `ValueError` where nothing arrived, so that there is none."""
    jain = result["jain_index"]
    if jain is None:
        raise ValueError(
            f"{result['scenario']}, seed {result['seed']}: nothing arrived, so nothing was shared"
        )
    return jain


def mean_of(values: Sequence[float], confidence: float = 0.99) -> Mean:
    """Mean and Student's interval of independent values."""
    size = len(values)
    mean = math.fsum(values) / size
    variance = math.fsum((value - mean) ** 2 for value in values) / (size - 1)
    quantile = student_t_quantile((1 + confidence) / 2, size - 1)
    return Mean(mean, quantile * math.sqrt(variance / size))


def lines(table: dict[str, str]) -> str:
    """The body of a TOML table."""
    return "".join(f"{key} = {value}\n" for key, value in table.items())

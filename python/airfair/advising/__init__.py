"""Advice: sets of changes that an operator can make, raced against each other in the simulator, and which of
them helps whom by how much.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .. import _core
from .._core import InputError, Scenario
from ..arguments import Overrides, as_function, as_scenario, as_scenario_path, as_type, as_whole, refuse_own
from ..results import Advice
from .engine import Order
from .engine import advise as _advise
from .goals import GOALS
from .reading import Read, read
from .running import FEWEST_RUNS

__all__ = ["Advice", "advise"]


def advise(
    scenario: Scenario | str | os.PathLike[str],
    *,
    goal: str = "fair",
    budget: str = "60 s",
    runs: int | None = None,
    overrides: Overrides = (),
    jobs: int | None = None,
    on_run: Callable[[], object] | None = None,
) -> Advice:
    """Try changes of a scenario, or of a map of a real network, and measure which help.

    `goal` is "fair" (the least share of a flow, with a total of at least 0.7 of the reference), "total",
    "delay" or "voice"; `budget` the wall time, or `runs` the number of runs of the race, with which the
    answer is the same every time. `overrides` need a file. Shares are those of the max-min rates of
    `airfair.optimum`, or of equal parts of drop-tail's total where there are none. Raises `InputError`.
    """
    if as_type("goal", goal, str, "a text") not in GOALS:
        raise InputError(f"goal: {goal!r}; expected one of {', '.join(GOALS)}")
    budget_s = _core.parse_time(as_type("budget", budget, str, 'a time such as "60 s"'), "budget") / 1e9
    if budget_s <= 0:
        raise InputError(f'budget: "{budget}"; expected more than no time')
    if runs is not None:
        runs = as_whole("runs", runs, FEWEST_RUNS)
    if jobs is not None:
        jobs = as_whole("jobs", jobs, 1)
    as_function("on_run", on_run)
    if isinstance(scenario, Scenario):
        found = Read(as_scenario(scenario, overrides), [])
    else:
        path = as_scenario_path(scenario)
        refuse_own(overrides)
        found = read(Path(path), overrides)
    order = Order(goal=goal, budget_s=budget_s, runs=runs, jobs=jobs, drawn=found.drawn, on_run=on_run)
    return _advise(found.scenario, order)

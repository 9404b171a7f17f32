"""`python -m validation.advise [--budget "60 s"] [SCENE ...]`: the choice of `airfair advise` beside the best
of an exhaustive search, on seeds that neither tuning nor the advice has used.

For each scene of the suite the advice is asked for as an operator would. Then every scheme runs with every
radio setting and every window: on a few of the seeds, and the best of them, the choice and today's network on
all. The value of a set is the least share of a flow in the mean over the seeds, or nothing where it breaks
the limit of the total. Of the exhaustive winner's value the choice has to have 0.9 in the median of the
scenes, and 0.75 in each, within 1.1 of the budget.

Results are kept in `out/validate-advise`, a file for each scene; finished ones are not repeated. Exit status:
0 when the choice is good enough, 1 when it is not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from airfair import InputError, Scenario, _core, advise
from airfair.advising.goals import Goal, Run, read_run
from airfair.experiment import each
from airfair.output import write_atomically
from airfair.suite.scenes import read_suite

SUITE = Path("scenarios/suite/suite.toml")
OUT = Path("out") / "validate-advise"

SEEDS = range(101, 121)
SCREEN = 3
"""Seeds of all sets of the search."""
KEPT = 8
"""Sets of the search that run on all seeds."""

IN_MEDIAN, IN_EACH = 0.9, 0.75

MOST_SPENT = 1.1
"""Part of the budget that an advice may take."""

SCHEMES = ("droptail", "fq-codel", "codel", "red", "cubic", "nred", "c3l", "diffq", "qfcp", "lbm")
RADIOS = ("", "rts", "rts; retries=50", "retries=50")
WINDOWS = ("", "window=4", "window=8", "window=16")
MARKING = ("red", "lbm")
"""Schemes that run with ECN."""

NOTHING = 1e-3
"""A winner with less gives every flow as good as nothing, and a part of that says nothing."""


def main() -> int:
    """Search, print a line for each scene, and judge; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--budget", default="60 s")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    suite = read_suite(SUITE)
    scenes = suite.only(options.scenes).scenes if options.scenes else suite.scenes
    parts: list[float] = []
    late: list[str] = []
    for scene in scenes:
        file = options.out / f"{scene.identity}.json"
        if file.exists():
            found = json.loads(file.read_text(encoding="utf-8"))
        else:
            found = of_scene(scene.scenario(), options.budget)
            write_atomically(file, json.dumps(found, indent=1).encode())
        parts.append(found["part"])
        if found["wall_s"] > MOST_SPENT * _core.parse_time(options.budget) / 1e9:
            late.append(scene.identity)
        print(
            f"{scene.identity:22} {found['part']:.2f}  choice {found['choice']}: {found['value']:.3f}; "
            f"winner {found['winner']}: {found['best']:.3f}; today {found['today']:.3f}; "
            f"{found['wall_s']:.0f} s",
            flush=True,
        )
    if late:
        print(f"more than {MOST_SPENT} of the budget: {', '.join(late)}")
    good = not late and median(parts) >= IN_MEDIAN and min(parts) >= IN_EACH
    verdict = "holds" if good else "does not hold"
    print(
        f"median {median(parts):.2f}, least {min(parts):.2f}: {verdict} ({IN_MEDIAN} and {IN_EACH} expected)"
    )
    return 0 if good else 1


def of_scene(scenario: Scenario, budget: str) -> dict[str, Any]:
    """The advice on a scene, and the winner of the search."""
    advice = advise(scenario, budget=budget)
    first = next((row["selection"] for row in advice["advised"] if row["helps"]), advice["today"])
    runs = _runs(scenario, possible(scenario), SEEDS[:SCREEN], advice["reference_bps"])
    goal = Goal("fair").limited(runs[advice["today"]])
    ranked = sorted(runs, key=lambda name: -_value(goal, runs[name], advice["today"] == name))
    names = list(dict.fromkeys([advice["today"], first, *ranked[:KEPT]]))
    whole = _runs(scenario, names, SEEDS, advice["reference_bps"])
    goal = Goal("fair").limited(whole[advice["today"]])
    values = {name: _value(goal, whole[name], advice["today"] == name) for name in names}
    winner = max(values, key=lambda name: values[name])
    best = values[winner]
    return {
        "choice": first,
        "value": values[first],
        "total": sum(run.total for run in whole[first]) / len(SEEDS),
        "winner": winner,
        "best": best,
        "part": values[first] / best if best > NOTHING else 1.0,
        "today": values[advice["today"]],
        "values": values,
        "runs": advice["runs"],
        "wall_s": advice["wall_s"],
    }


def possible(scenario: Scenario) -> list[str]:
    """Every selection of the search that can run; the scenario's own scheme first."""
    found = [scenario.scheme]
    for scheme, radio, window in product(SCHEMES, RADIOS, WINDOWS):
        changes = "; ".join(filter(None, (radio, window, "ecn" if scheme in MARKING else "")))
        name = f"{scheme}[{changes}]" if changes else scheme
        try:
            scenario.check_scheme(name)
        except InputError:
            continue
        found.append(name)
    return list(dict.fromkeys(found))


def _runs(
    scenario: Scenario, names: Sequence[str], seeds: Sequence[int], reference: Mapping[str, float]
) -> dict[str, list[Run]]:
    cells = list(product(names, seeds))
    done = iter(each(cells, lambda cell, stop: read_run(scenario.run(*cell, stop), reference, [])))
    return {name: [next(done) for _ in seeds] for name in names}


def _value(goal: Goal, runs: Sequence[Run], today: bool) -> float:
    """The least share in the mean; nothing where the mean total is below the limit."""
    total = sum(run.total for run in runs) / len(runs)
    if not today and total < goal.least_total:
        return 0.0
    return sum(run.least for run in runs) / len(runs)


if __name__ == "__main__":
    sys.exit(main())

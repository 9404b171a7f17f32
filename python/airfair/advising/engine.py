"""The engine of advice: today's runs, the race, the confirmation with fresh seeds, half of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from .._core import InputError, Scenario
from ..optimal.yardstick import yardstick
from ..results import Advice, Advised, HalfAdvised, Tried
from ..selections import read
from . import goals, half, options
from .asks import needed
from .candidate import Candidate, Option, Space
from .goals import Goal, Run, estimate
from .race import Race, Racer
from .running import Cell, Clock, Runner, fitting

BUDGET_S = 60.0

MOST_CLIQUES = 20_000
"""Most cliques of the optimum: with more its rates would take much of the budget."""

RACE, CONFIRMED, ALL = 0.62, 0.82, 0.95
"""Parts of the budget after which the race, the confirmation and the runs with half of the nodes end."""

REFERENCE_SEEDS = (1, 2, 3)
"""Seeds of drop-tail's runs where there are no max-min rates."""

FRESH_SEEDS = range(11, 31)
"""Seeds of the confirmation, which the race does not use."""

CONFIRM_SEEDS = 10
"""Seeds of the confirmation where the number of runs is given instead of a budget."""

FEWEST_FRESH = 3
"""Fewer fresh seeds have intervals too wide to say anything: then those of the race count, too."""

RUNS_PER_FINALIST = 12
"""After a short race fewer sets are confirmed, over more seeds."""

MOST_NAMED = 4
"""Sets named by the caller that are confirmed."""

NEARLY = 0.03
"""A set that asks less comes first if its number is behind the best by less than this part of it."""

HALF_SEEDS = 6
"""Seeds of the runs with half of the nodes."""


class Reference(NamedTuple):
    """Rates by flow that shares are parts of, and where they are from."""

    rates: dict[str, float]
    assumed: list[str] = []  # noqa: RUF012 - a default that nobody changes
    reason: str | None = None


class Order(NamedTuple):
    """A request to the engine."""

    goal: str = "fair"
    budget_s: float | None = BUDGET_S
    runs: int | None = None
    jobs: int | None = None
    drawn: Sequence[str] = ()
    """Flows that were drawn."""
    more: Sequence[Option] = ()
    """Options that are tried before all others."""
    on_run: Callable[[], object] | None = None


def advise(scenario: Scenario, order: Order) -> Advice:
    """Try sets of changes in a scenario, and say which help. Raises `InputError`."""
    clock = Clock(None if order.runs is not None else order.budget_s)
    goal, calls = goals.goal_of(order.goal, scenario)
    if not scenario.flows:
        raise InputError("the scenario has no flow, and nothing to make better; expected [[flow]] blocks")
    today = read(scenario.scheme).name
    length = fitting(scenario, today, clock, order.jobs)
    runner = Runner(length.scenario, clock, order.jobs, order.on_run)
    reference = _reference(scenario, runner)
    measure = _Measure(runner, reference.rates, calls)
    space, refused = options.space(length.scenario, today, order.more)
    first = measure.runs([(space.today, 1)], 1.0)
    if not first:
        raise InputError(f"no run ends within {order.budget_s:.0f} s; expected a larger --budget")
    race = _race(length.scenario, space, goal, measure, first, order)
    fresh, seeds = _confirm(race, measure, order)
    before, advised = _judged(length.scenario, race, fresh, seeds, calls)
    half_runs = 0
    if advised and advised[0][1]["helps"]:
        found = _half(length.scenario, advised[0][0], race, fresh, seeds, measure)
        advised[0][1]["half"] = found
        half_runs = found["runs"]
    return {
        "scenario": scenario.name,
        "goal": order.goal,
        "today": today,
        "by": "droptail" if reference.reason else "optimum",
        "assumed": reference.assumed,
        "reason": reference.reason,
        "reference_bps": reference.rates,
        "calls": calls,
        "drawn": list(order.drawn),
        "duration_s": length.scenario.duration_ns / 1e9,
        "shortened_from_s": length.whole_s,
        "budget_s": clock.budget_s,
        "wall_s": clock.elapsed_s,
        "runs": {
            "race": race.count,
            "confirmation": sum(map(len, fresh.values())),
            "half": half_runs,
        },
        "before": before,
        "advised": [row for _, row in advised],
        "tried": [_tried(racer, race) for racer in race.ranked()],
        "not_tried": [{"selection": name, "reason": reason} for name, reason in refused],
    }


class _Measure:
    """Runs of candidates as the numbers that goals use."""

    def __init__(self, runner: Runner, reference: Mapping[str, float], calls: Sequence[str]) -> None:
        self._runner = runner
        self._reference = reference
        self._calls = calls

    def runs(
        self,
        cells: Sequence[tuple[Candidate, int]],
        part: float,
        scenarios: Sequence[Scenario] | None = None,
    ) -> list[Run]:
        """The runs of these cells, as many as fit. `scenarios`: of each one that has the candidate
        already."""
        named: list[Cell] = [
            (candidate.text if scenarios is None else scenarios[i].scheme, seed)
            for i, (candidate, seed) in enumerate(cells)
        ]
        texts = self._runner.texts(named, part, scenarios)
        return [goals.read_run(text, self._reference, self._calls) for text in texts]


def _reference(scenario: Scenario, runner: Runner) -> Reference:
    """Max-min rates of the scenario, or equal parts of drop-tail's total where there are none."""
    try:
        best = yardstick(scenario, clique_limit=MOST_CLIQUES)
        rates = {flow: rate for flow, rate in best.max_min_bps.items() if rate > 0}
        if rates:
            return Reference(rates, list(best.assumed))
        reason = "no flow has a max-min rate"
    except InputError as error:
        reason = str(error)
    found = runner.texts([("droptail", seed) for seed in REFERENCE_SEEDS], RACE)
    if not found:
        raise InputError("no run ends within the budget; expected a larger --budget")
    goodputs = goals.goodputs_of(found)
    total = sum(goodputs.values())
    if not total:
        raise InputError(f"drop-tail delivers nothing; there is nothing to compare with ({reason})")
    return Reference(dict.fromkeys(goodputs, total / len(goodputs)), reason=reason)


def _race(
    scenario: Scenario, space: Space, goal: Goal, measure: _Measure, first: Sequence[Run], order: Order
) -> Race:
    refusals: dict[Candidate, bool] = {}

    def refused(candidate: Candidate) -> bool:
        if candidate not in refusals:
            refusals[candidate] = options.refusal(scenario, candidate) is not None
        return refusals[candidate]

    race = Race(
        space,
        goal.limited(first),
        refused,
        lambda cells: measure.runs(cells, RACE),
        first,
        order.runs,
    )
    race.run_to_end()
    return race


def _confirm(race: Race, measure: _Measure, order: Order) -> tuple[dict[Candidate, list[Run]], list[int]]:
    """Runs of today and of the finalists with fresh seeds, the same for all."""
    finalists = _finalists(race, order.more)
    found: dict[Candidate, list[Run]] = {candidate: [] for candidate in (race.today.candidate, *finalists)}
    seeds: list[int] = []
    if not finalists:
        return found, seeds
    most = CONFIRM_SEEDS if order.runs is not None else len(FRESH_SEEDS)
    for seed in FRESH_SEEDS[:most]:
        runs = measure.runs([(candidate, seed) for candidate in found], CONFIRMED)
        if len(runs) < len(found):
            break
        for of_candidate, run in zip(found.values(), runs, strict=True):
            of_candidate.append(run)
        seeds.append(seed)
    return found, seeds


def _finalists(race: Race, more: Sequence[Option]) -> list[Candidate]:
    """The best set, the best one without a scheme that routers do not have yet, one that asks least of those
    near the best, the schemes of the best without its settings, the second best, the best single change, and
    those that the caller has named, as these are to be judged."""
    helpful = [racer.candidate for racer in race.helpful()]
    least = [min(race.near(2 * NEARLY), key=lambda candidate: candidate.burden)] if helpful else []
    plain = [candidate for candidate in helpful if not _has_new_scheme(candidate)]
    bare = [best for best in (_without_settings(helpful[0]),) if best in helpful] if helpful else []
    alone = [candidate for candidate in helpful if len(candidate.options) == 1]
    named = [race.today.candidate.having(option) for option in more[:MOST_NAMED]]
    ran = [candidate for candidate in named if candidate in race.racers]
    found = list(dict.fromkeys([*helpful[:1], *plain[:1], *least, *bare, *helpful[1:2], *alone[:1], *ran]))
    return found[: max(1, race.count // RUNS_PER_FINALIST)]


def _without_settings(candidate: Candidate) -> Candidate:
    """The set with no more than its schemes."""
    return replace(candidate, options=frozenset(o for o in candidate.options if o.scheme))


def _has_new_scheme(candidate: Candidate) -> bool:
    """True if a set needs a scheme that routers do not have yet."""
    system = candidate.of("system")
    return system is not None and system.name != options.NO_SCHEME


def _judged(
    scenario: Scenario,
    race: Race,
    fresh: Mapping[Candidate, Sequence[Run]],
    seeds: Sequence[int],
    calls: Sequence[str],
) -> tuple[Advised, list[tuple[Candidate, Advised]]]:
    """Today and the finalists, those that help first, of these first the one that asks least of the best."""
    today = race.today.candidate
    enough = len(seeds) >= FEWEST_FRESH

    def runs_of(candidate: Candidate) -> tuple[list[Run], list[Run], list[int]]:
        """The runs of a set, those of today, their seeds."""
        if enough:
            return list(fresh[candidate]), list(fresh[today]), list(seeds)
        raced = min(len(race.racers[candidate].runs), len(race.today.runs))
        one = [*race.racers[candidate].runs[:raced], *fresh[candidate]]
        two = [*race.today.runs[:raced], *fresh[today]]
        return one, two, [*range(1, raced + 1), *seeds]

    # The limits follow from what today has over the same seeds.
    goal = race.goal.limited(runs_of(today)[0])
    rows = [
        (candidate, _advised(scenario, candidate, goal, *runs_of(candidate), enough, calls))
        for candidate in fresh
    ]
    before, found = rows[0][1], rows[1:]
    found.sort(key=lambda row: (not row[1]["helps"], -row[1]["score"]["mean"]))
    if found and found[0][1]["helps"]:
        best = found[0][1]["score"]["mean"]
        near = [r for r in found if r[1]["helps"] and r[1]["score"]["mean"] >= best - NEARLY * abs(best)]
        least = min(near, key=lambda row: row[0].burden)
        found.remove(least)
        found.insert(0, least)
    return before, found


def _advised(
    scenario: Scenario,
    candidate: Candidate,
    goal: Goal,
    runs: Sequence[Run],
    today: Sequence[Run],
    seeds: list[int],
    fresh: bool,
    calls: Sequence[str],
) -> Advised:
    pairs = list(zip(runs, today, strict=True))
    change = estimate([goal.score(one) - goal.score(two) for one, two in pairs])
    broken = goal.broken(runs) if candidate.options else None
    lower = change["mean"] - (change["ci95"] or 0.0)
    flows = list(runs[0].shares)
    found = needed(candidate)
    return {
        "selection": candidate.text,
        "settings": scenario.settings(candidate.text),
        "seeds": seeds,
        "fresh": fresh,
        "score": estimate([goal.score(run) for run in runs]),
        "change": change,
        "least": estimate([run.least for run in runs]),
        "total": estimate([run.total for run in runs]),
        "p99_s": estimate([run.p99_s for run in runs]),
        "call_s": estimate([run.call_s for run in runs]) if calls else None,
        "helps": broken is None and change["ci95"] is not None and lower > 0,
        "broken": broken,
        "flows": [
            {
                "id": flow,
                "before": estimate([two.shares[flow] for _, two in pairs]),
                "after": estimate([one.shares[flow] for one, _ in pairs]),
                "change": estimate([one.shares[flow] - two.shares[flow] for one, two in pairs]),
            }
            for flow in flows
        ],
        "routers": found.routers,
        "hosts": found.hosts,
        "new_scheme": _has_new_scheme(candidate),
        "half": None,
    }


def _half(
    scenario: Scenario,
    candidate: Candidate,
    race: Race,
    fresh: Mapping[Candidate, Sequence[Run]],
    seeds: Sequence[int],
    measure: _Measure,
) -> HalfAdvised:
    """The first advice at half of the nodes, over seeds that today has, too."""
    today = race.today
    usable = list(seeds) or list(range(1, len(today.runs) + 1))
    paired = fresh[today.candidate] if seeds else today.runs
    none: HalfAdvised = {
        "runs": 0,
        "score": None,
        "least": None,
        "change": None,
        "reason": None,
    }
    try:
        scenarios = [half.halved(scenario, candidate, seed) for seed in usable[:HALF_SEEDS]]
        for halved in scenarios[:1]:
            halved.check()
    except InputError as error:
        return {**none, "reason": str(error).splitlines()[0]}
    runs = measure.runs([(candidate, seed) for seed in usable[:HALF_SEEDS]], ALL, scenarios)
    if not runs:
        return {**none, "reason": "no time was left"}
    goal = race.goal
    changes = [goal.score(one) - goal.score(two) for one, two in zip(runs, paired, strict=False)]
    return {
        "runs": len(runs),
        "score": estimate([goal.score(run) for run in runs]),
        "least": estimate([run.least for run in runs]),
        "change": estimate(changes),
        "reason": None,
    }


def _tried(racer: Racer, race: Race) -> Tried:
    goal = race.goal
    scores = [goal.score(run) for run in racer.runs]
    pairs = zip(racer.runs, race.today.runs, strict=False)
    state = racer.out or "raced"
    if racer is not race.today and state != "same":
        state = goal.broken(racer.runs) or state
    return {
        "selection": racer.candidate.text,
        "runs": len(racer.runs),
        "score": sum(scores) / len(scores),
        "change": estimate([goal.score(one) - goal.score(two) for one, two in pairs]),
        "total": sum(run.total for run in racer.runs) / len(racer.runs),
        "state": state,
    }

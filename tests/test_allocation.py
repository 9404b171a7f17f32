"""Fair rates compared with solvers: HiGHS for linear programs, Clarabel for a conic one."""

from __future__ import annotations

import math
import random
from itertools import combinations

import clarabel
import highspy
import numpy as np
import pytest
from airfair import InputError, _core
from scipy import sparse

Flow = tuple[float, float | None, list[tuple[int, float]]]
Row = tuple[dict[int, float], float]
"""Coefficients by column, and an upper bound of their sum."""


def network(draw: random.Random) -> tuple[list[float], list[Flow]]:
    """Up to 8 resources and 10 flows; numbers are often equal, so that several resources fill at once."""

    def number() -> float:
        return draw.choice([1.0, 2.0, draw.uniform(0.1, 10.0)])

    capacities = [number() for _ in range(draw.randint(1, 8))]
    flows: list[Flow] = []
    for _ in range(draw.randint(1, 10)):
        used = draw.sample(range(len(capacities)), draw.randint(1, min(4, len(capacities))))
        demand = number() / 4 if draw.random() < 0.3 else None
        weight = number() if draw.random() < 0.3 else 1.0
        flows.append((weight, demand, [(q, number()) for q in used]))
    return capacities, flows


def leximin(rows: list[Row], flows: list[Flow], more: int) -> list[float]:
    """Max-min fair rates by linear programs.

    Columns are the level, the rates, and `more` others. Each program maximises the level; flows that have a
    price then have stopped.
    """
    n = len(flows)
    rows = [*rows, *(({0: weight, 1 + f: -1.0}, 0.0) for f, (weight, _, _) in enumerate(flows))]
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(tolerance, 1e-10)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = 1 + n + more, len(rows)
    program.col_cost_ = np.array([-1.0] + [0.0] * (n + more))
    program.col_lower_ = np.zeros(1 + n + more)
    demands = [math.inf if demand is None else demand for _, demand, _ in flows]
    program.col_upper_ = np.array([math.inf, *demands, *([math.inf] * more)])
    program.row_lower_ = np.full(len(rows), -math.inf)
    program.row_upper_ = np.array([bound for _, bound in rows])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.cumsum([0, *(len(row) for row, _ in rows)])
    program.a_matrix_.index_ = np.array([column for row, _ in rows for column in row])
    program.a_matrix_.value_ = np.array([value for row, _ in rows for value in row.values()])
    solver.passModel(program)
    rates: dict[int, float] = {}
    while len(rates) < n:
        solver.run()
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        solution = solver.getSolution()
        level, prices = solution.col_value[0], solution.row_dual[len(rows) - n :]
        stopped = [f for f in range(n) if f not in rates and abs(prices[f]) > 1e-8]
        assert stopped
        for f in stopped:
            rates[f] = flows[f][0] * level
            solver.changeColBounds(1 + f, rates[f], rates[f])
            solver.changeRowBounds(len(rows) - n + f, -math.inf, math.inf)
    return [rates[f] for f in range(n)]


def test_max_min_rates_are_those_of_linear_programs() -> None:
    draw = random.Random(1)
    for _ in range(1000):
        capacities, flows = network(draw)
        rows: list[Row] = [({}, capacity) for capacity in capacities]
        for f, (_, _, costs) in enumerate(flows):
            for q, cost in costs:
                rows[q][0][1 + f] = cost
        rates, bindings = _core.max_min_rates(capacities, flows)
        assert rates == pytest.approx(leximin(rows, flows, 0), rel=1e-9)
        for rate, binding, (_, demand, costs) in zip(rates, bindings, flows, strict=True):
            assert rate == demand if binding is None else binding in dict(costs)


def test_rates_of_schedules_are_those_of_linear_programs() -> None:
    draw = random.Random(2)
    for _ in range(150):
        links = draw.randint(1, 8)
        edges = [pair for pair in combinations(range(links), 2) if draw.random() < 0.4]
        capacities = [draw.choice([1.0, draw.uniform(0.5, 2.0)]) for _ in range(links)]
        _, flows = network(draw)
        flows = [
            (weight, demand, [(q % links, cost) for q, cost in costs]) for weight, demand, costs in flows
        ]
        free = [
            members
            for bits in range(1, 1 << links)
            if not any(bits >> a & bits >> b & 1 for a, b in edges)
            for members in [[link for link in range(links) if bits >> link & 1]]
        ]
        rows: list[Row] = [({}, 0.0) for _ in capacities]
        for f, (_, _, costs) in enumerate(flows):
            for q, cost in costs:
                rows[q][0][1 + f] = rows[q][0].get(1 + f, 0.0) + cost
        for i, members in enumerate(free):
            for link in members:
                rows[link][0][1 + len(flows) + i] = -capacities[link]
        rows.append(({1 + len(flows) + i: 1.0 for i in range(len(free))}, 1.0))
        rates, schedule = _core.time_shared_rates(capacities, edges, flows)
        assert rates == pytest.approx(leximin(rows, flows, len(free)), rel=1e-8)
        assert sum(share for _, share in schedule) <= 1 + 1e-9
        assert all(members in free for members, _ in schedule)


def conic(capacities: list[float], flows: list[Flow]) -> tuple[list[float], float]:
    """Proportionally fair rates, and the sum of weight times ln(rate).

    By an exponential cone for each flow: (u, 1, r) with exp(u) ≤ r.

    Columns are the rates r, then the logarithms u.
    """
    n = len(flows)
    limits = [(f, demand) for f, (_, demand, _) in enumerate(flows) if demand is not None]
    entries = [(q, f, cost) for f, (_, _, costs) in enumerate(flows) for q, cost in costs]
    entries += [(len(capacities) + i, f, 1.0) for i, (f, _) in enumerate(limits)]
    first = len(capacities) + len(limits)
    bounds = [*capacities, *(demand for _, demand in limits)]
    for f in range(n):
        entries += [(first + 3 * f, n + f, -1.0), (first + 3 * f + 2, f, -1.0)]
        bounds += [0.0, 1.0, 0.0]
    rows, columns, values = zip(*entries, strict=True)
    matrix = sparse.csc_matrix((values, (rows, columns)), shape=(len(bounds), 2 * n))
    objective = np.array([0.0] * n + [-weight for weight, _, _ in flows])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(first), *(clarabel.ExponentialConeT() for _ in range(n))]
    nothing = sparse.csc_matrix((2 * n, 2 * n))
    found = clarabel.DefaultSolver(nothing, objective, matrix, np.array(bounds), cones, settings).solve()
    assert found.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    return list(found.x[:n]), -found.obj_val


def assert_proportional(capacities: list[float], flows: list[Flow]) -> None:
    rates, prices, gap = _core.proportional_rates(capacities, flows)
    assert gap <= 1e-12
    assert len(prices) == len(capacities)
    # Near the optimum the sum changes with the square of the rates' error, which is therefore larger.
    expected, best = conic(capacities, flows)
    weights = [weight for weight, _, _ in flows]
    mine = sum(weight * math.log(rate) for weight, rate in zip(weights, rates, strict=True))
    assert mine == pytest.approx(best, abs=1e-7 * sum(weights))
    assert rates == pytest.approx(expected, rel=1e-3)


def test_proportional_rates_are_those_of_a_conic_program() -> None:
    draw = random.Random(3)
    for _ in range(300):
        assert_proportional(*network(draw))


def test_a_large_problem_is_solved() -> None:
    draw = random.Random(4)
    used = [draw.sample(range(2000), draw.randint(20, 400)) for _ in range(100)]
    flows: list[Flow] = [(1.0, None, [(q, draw.choice([1.0, 2.0, 5.5])) for q in row]) for row in used]
    assert_proportional([1.0] * 2000, flows)


def test_cliques_and_their_limit() -> None:
    # Moon and Moser: a vertex of each of five parts of three, 3^5.
    edges = [(a, b) for a, b in combinations(range(15), 2) if a // 3 != b // 3]
    cliques, complete = _core.maximal_cliques(15, edges)
    assert complete
    assert cliques == sorted(cliques)
    assert len(cliques) == len(set(map(tuple, cliques))) == 3**5
    some, complete = _core.maximal_cliques(15, edges, limit=10)
    assert not complete
    assert 10 <= len(some) < 3**5
    assert all(clique in cliques for clique in some)
    assert {pair for clique in some for pair in combinations(clique, 2)} == set(edges)


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match=r"^edge 1: there is no vertex 3$"):
        _core.maximal_cliques(3, [(0, 1), (1, 3)])
    with pytest.raises(InputError, match="60000 vertices; expected at most 50000"):
        _core.maximal_cliques(60_000, [])
    with pytest.raises(InputError, match="flow 0: cost -1e0; expected a number from 1e-60 to 1e60, or 0"):
        _core.max_min_rates([1.0], [(1.0, None, [(0, -1.0)])])
    with pytest.raises(InputError, match="flow 0: no allocation gives a rate above 0"):
        _core.proportional_rates([0.0], [(1.0, None, [(0, 1.0)])])
    with pytest.raises(InputError, match="13 links; expected at most 12"):
        _core.time_shared_rates([1.0] * 13, [], [])

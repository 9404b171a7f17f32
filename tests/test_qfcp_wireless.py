"""QFCP in a cell of 802.11: the claims of its experiments that a few seeds show."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest
from airfair import claims, paper
from airfair.claims import ClaimRow
from airfair_papers.qfcp.common.cell import for_good, jain


def judged(identity: str, series: Collection[str], seeds: int) -> list[ClaimRow]:
    """The claims of an experiment about some of its series, with so many seeds."""
    loaded = paper.load(identity)
    chosen = tuple(replace(s, against=None) for s in loaded.series if s.name in series)
    assert len(chosen) == len(series)
    rows = paper.measure(replace(loaded, series=chosen), seeds=range(1, seeds + 1))
    about = [
        c
        for c in loaded.claims
        if c.series in rows and (c.baseline is None or c.baseline in rows) and c.bound_series is None
    ]
    return [claims.judge(claim, rows) for claim in about]


@pytest.mark.parametrize(
    ("identity", "series", "seeds", "count"),
    [
        ("qfcp/cell", ("QFCP, 12 mixed", "QFCP, one direction, 12 mixed"), 4, 2),
        ("qfcp/cell", ("QFCP, 6 uploads", "QFCP, one direction, 6 uploads"), 4, 1),
        ("qfcp/fig2", ("QFCP, queue 150", "TCP Reno, queue 150"), 4, 6),
        ("qfcp/fig3", ("QFCP, 0.01, Linux", "XCP-b, 0.01, Linux"), 12, 5),
        ("qfcp/fig3", ("XCP-b, 0.01", "TCP Reno, 0.01"), 4, 2),
    ],
)
def test_claims_hold_and_are_false_on_their_baselines(
    identity: str, series: Collection[str], seeds: int, count: int
) -> None:
    found = judged(identity, series, seeds)
    assert len(found) == count
    for claim in found:
        assert claim["holds"], claim
        assert not claim["baseline_holds"], claim


def test_the_index_of_each_second() -> None:
    rows = np.array([[1.0, 1.0, 1.0, 1.0], [4.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [3.0, 1.0, 0.0, 0.0]])
    index = jain(rows)
    assert index[:2].tolist() == [1.0, 0.25]
    assert np.isnan(index[2])
    assert index[3] == pytest.approx(16 / 40)


@pytest.mark.parametrize(
    ("index", "after"),
    [
        ([1.0, 1.0], 0),
        ([0.5, 0.96, 0.96], 1),
        ([0.96, 0.5, 0.96], 2),
        ([0.96, np.nan, 1.0], 2),
        ([1.0, 0.5], 2),
    ],
)
def test_an_index_is_good_from_the_last_time_that_it_was_not(index: list[float], after: float) -> None:
    assert for_good(np.array(index), 0.95) == after

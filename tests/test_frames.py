"""Results as data frames."""

from __future__ import annotations

from typing import Any, cast

import airfair
import pandas as pd
import pytest
from airfair import CompareRow, InputError, RunResult, Scenario

from tests.support import THREE_PAIRS

LATE = ["duration=1 s", "warmup=0 s", "flow.middle.start=900 ms", "flow.middle.stop=900.001 ms"]
"""The middle flow delivers nothing: it has no delay."""


@pytest.fixture(scope="module")
def rows() -> list[CompareRow]:
    return airfair.compare(THREE_PAIRS, schemes=["droptail", "red"], seeds=[1, 2, 3], overrides=LATE)


@pytest.fixture(scope="module")
def runs() -> list[RunResult]:
    scenario = Scenario.read(THREE_PAIRS, LATE)
    return [
        airfair.run(scenario, scheme=scheme, seed=seed) for scheme in ("droptail", "red") for seed in (1, 2)
    ]


def test_a_row_of_a_frame_is_a_scheme(rows: list[CompareRow]) -> None:
    table = airfair.frame(rows)
    assert list(table.columns[:6]) == [
        "scheme",
        "runs",
        "jain_index",
        "jain_index_ci95",
        "jain_index_difference",
        "jain_index_difference_ci95",
    ]
    assert list(table["scheme"]) == ["droptail", "red"]
    assert list(table["runs"]) == [3, 3]
    red = rows[1]
    assert table["aggregate_goodput_bps"][1] == red["aggregate_goodput_bps"]["mean"]
    assert (
        table["aggregate_goodput_bps_difference_ci95"][1]
        == red["difference"]["aggregate_goodput_bps"]["ci95"]
    )
    assert table["completion_s"].isna().all()
    assert all(pd.api.types.is_numeric_dtype(table[name]) for name in table.columns[1:])


def test_a_row_of_a_frame_of_flows_is_a_scheme_and_flow(rows: list[CompareRow]) -> None:
    table = airfair.frame(rows, flows=True).set_index(["scheme", "flow"])
    assert list(table.index) == [(s, f) for s in ("droptail", "red") for f in ("left", "middle", "right")]
    left = rows[1]["flows"][0]
    assert table["goodput_bps_difference"]["red", "left"] == left["difference"]["goodput_bps"]["mean"]
    assert table["goodput_bps"]["red", "left"] == left["goodput_bps"]["mean"]
    assert table["mean_delay_s"].isna().to_list() == [False, True, False] * 2


def test_a_row_of_a_frame_is_a_run(runs: list[RunResult]) -> None:
    table = airfair.frame(runs)
    assert list(zip(table["scheme"], table["seed"], strict=True)) == [
        ("droptail", 1),
        ("droptail", 2),
        ("red", 1),
        ("red", 2),
    ]
    assert list(table["jain_index"]) == [run["jain_index"] for run in runs]
    assert table["retransmissions"].dtype == "int64"
    assert not any(isinstance(value, list | dict) for value in table.iloc[0])
    assert airfair.frame(runs[0]).equals(airfair.frame(runs[:1]))


def test_a_row_of_a_frame_of_flows_is_a_run_and_flow(runs: list[RunResult]) -> None:
    table = airfair.frame(runs, flows=True)
    assert list(table.columns[:6]) == ["scenario", "scheme", "seed", "flow", "src", "dst"]
    assert list(table["goodput_bps"]) == [flow["goodput_bps"] for run in runs for flow in run["flows"]]
    assert table.groupby("flow")["mean_delay_s"].count().to_dict() == {"left": 4, "middle": 0, "right": 4}


def test_what_is_no_result_is_no_frame(runs: list[RunResult], rows: list[CompareRow]) -> None:
    wrongs: tuple[object, ...] = ([], [*runs, *rows], [{}], {"flows": []}, 3)
    for wrong in wrongs:
        with pytest.raises(InputError, match="expected results of"):
            airfair.frame(cast(Any, wrong))

"""Explicit-rate schemes as a user meets them: the check of headers, recordings, silent routers."""

from __future__ import annotations

import airfair
import pytest
from airfair import Scenario

from .support import SCENARIOS, json_of
from .support import airfair as command_line

DUMBBELL = SCENARIOS / "dumbbell.toml"
SHORT = ["duration=5 s", "warmup=2 s"]
SCHEMES = ["qfcp", "xcp", "xcp-b", "rcp"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_headers_become_bytes_and_nothing_changes(scheme: str) -> None:
    changes = [part for change in SHORT for part in ("--set", change)]
    plain, checked = (
        json_of("run", DUMBBELL, "--scheme", scheme, *changes, *check) for check in ([], ["--wire-check"])
    )
    assert plain.pop("perf") != checked.pop("perf")
    assert plain == checked
    assert plain["aggregate_goodput_bps"] > 0


def test_the_check_is_of_plain_runs() -> None:
    done = command_line("run", DUMBBELL, "--wire-check", "--out", "nowhere")
    assert done.returncode == 2
    assert "--out and --wire-check do not go together" in done.stderr


@pytest.mark.parametrize("scheme", SCHEMES)
def test_recordings_tell_what_hops_know(scheme: str) -> None:
    scenario = Scenario.read(DUMBBELL, SHORT)
    run = airfair.record(scenario, scheme=scheme)
    hops = run.pandas("hops")
    queues = run.pandas("queues")
    assert len(hops) == len(queues), "a row for each interface and second"
    assert set(zip(hops["node"], hops["towards"], strict=True)) == set(
        zip(queues["node"], queues["towards"], strict=True)
    )
    assert (hops["input_bps"] >= 0).all()
    assert (hops["interval_s"] > 0).all()
    assert "hops" not in airfair.record(scenario, scheme="droptail").tables


def test_qfcp_tells_capacity_and_share() -> None:
    run = airfair.record(Scenario.read(DUMBBELL, SHORT), scheme="qfcp")
    last = run.pandas("hops").groupby(["node", "towards"], observed=True).last()
    assert (last["fair_share_bps"] <= last["capacity_bps"] + 8).all()
    assert (last["flows"] >= 1).all()


def test_a_silent_router_is_told() -> None:
    scenario = Scenario.read(DUMBBELL, SHORT)
    result = airfair.run(scenario, scheme="qfcp")
    assert [flow["fallbacks"] for flow in result["flows"]] == [0] * len(result["flows"])
    assert not result["warnings"]
    router = next(link for link in scenario.to_dict()["link"] if "delay" in link)["ends"][0]
    silent = Scenario.read(DUMBBELL, [*SHORT, f'node.{router}.scheme="droptail"'])
    told = airfair.run(silent, scheme="qfcp")
    met = [flow["fallbacks"] for flow in told["flows"]]
    assert sum(met) > 0
    assert len(told["warnings"]) == sum(met)
    assert all("do not support its scheme" in warning for warning in told["warnings"])

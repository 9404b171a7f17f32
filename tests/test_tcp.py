"""TCP as a user meets it: flows, files, laws and queues on the command line."""

from __future__ import annotations

import json
import re

import pytest
from airfair import Scenario

from .support import SCENARIOS, THREE_PAIRS, airfair

SHORT = ("duration=6 s", "warmup=2 s")


def dumbbell(scheme: str, *overrides: str) -> dict[str, float]:
    scenario = Scenario.read(SCENARIOS / "dumbbell.toml", [*SHORT, *overrides])
    result = json.loads(scenario.run(scheme, seed=3))
    queue = max(result["queues"], key=lambda queue: queue["mean_packets"])
    return {"goodput": result["aggregate_goodput_bps"], "queue": queue["mean_wait_s"]}


@pytest.mark.parametrize("law", ["reno", "newreno", "vegas", "cubic", "bbr"])
def test_every_law_fills_the_bottleneck(law: str) -> None:
    # 1448 of 1502 bytes on 10 Mbit/s.
    assert dumbbell(law)["goodput"] == pytest.approx(9.64e6, rel=0.05)


@pytest.mark.parametrize("queue", ["red", "codel", "fq-codel"])
def test_a_managed_queue_is_shorter_than_drop_tails(queue: str) -> None:
    # RED's thresholds of 1993 are meant for slower links than this one.
    red = ("red.min_th=15", "red.max_th=45", "red.max_p=0.02", "red.gentle=true") if queue == "red" else ()
    plain, managed = dumbbell("droptail"), dumbbell(queue, *red)
    assert managed["queue"] < 0.6 * plain["queue"]
    assert managed["goodput"] > 0.9 * plain["goodput"]


def test_a_starved_flows_story_can_be_read() -> None:
    done = airfair("trace", THREE_PAIRS, "--node", "a2", "--from", "10 s", "--until", "40 s")
    assert done.returncode == 0
    story = re.findall(r"a2 +TCP of middle: (TIME-OUT|LOSS).* for byte (\d+), window (\d+) B", done.stdout)
    assert any(cause == "TIME-OUT" and int(window) == 512 for cause, _, window in story), story
    assert re.search(r"a2 +receives no CTS from b2 in time \(\d failed\)", done.stdout)
    assert re.search(r"a2 +delivers ACK \d+ of middle", done.stdout)


def test_files_are_grouped_and_not_listed() -> None:
    scenario = Scenario.read(SCENARIOS / "short-flows.toml", ["duration=4 s", "warmup=0 s"])
    result = json.loads(scenario.run(seed=1))
    (flow,) = result["flows"]
    files = flow["files"]
    # 563 files a second at this load.
    assert 1900 < files["started"] < 2600
    assert 0.8 * files["started"] < files["finished"] <= files["started"]
    assert sum(group["finished"] for group in files["by_size"]) == files["finished"]
    # A file of up to 960 bytes takes the set-up and one round trip.
    times = [group["mean_completion_s"] for group in files["by_size"]]
    assert times == sorted(times) or min(times) == times[0]
    assert times[0] > 0.2

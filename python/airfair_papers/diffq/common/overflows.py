"""Packets that full queues drop, by node and flow, which a result does not have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import airfair

if TYPE_CHECKING:
    from airfair.recording import Recording


def overflows(recording: Recording) -> Counter[tuple[str, str]]:
    """Counted in the trace of the same run, which is made once more if there are any."""
    result = recording.result
    if not result["drops"].get("queue-full"):
        return Counter()
    scenario = airfair.Scenario.parse(recording.scenario)
    counted: Counter[tuple[str, str]] = Counter()
    for line in airfair.trace(scenario, scheme=result["scheme"], seed=result["seed"]):
        if line.endswith("queue-full"):
            words = line.split()
            counted[words[2], words[-2].rstrip(":")] += 1
    return counted

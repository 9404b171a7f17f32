"""The goals of advice: what is made as large as it can be, and what it may not cost."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from .. import _core
from .._core import InputError, Scenario
from ..results import Estimate

For = Literal["fair", "total", "delay", "voice"]
"""The least share of a flow, the total, the delay of all flows, the delay of calls."""

GOALS: tuple[str, ...] = get_args(For)

LEAST_TOTAL = 0.7
"""Least part of the reference's total that a change may leave."""

KEPT_TOTAL = 0.95
"""Where today's total is below `LEAST_TOTAL`: the part of it that a change may leave."""

ROUNDING = 1e-9
"""A mean that is below a limit by less is not below it."""

MOST_LOST = 0.05
"""Most that the least share may lose for another goal."""

FASTEST_CALL_BPS = 200e3
"""A constant stream over UDP of at most this rate is a call."""

LOST_CALL_S = 1.0
"""A call of which more than 1 % is lost counts as late as this: of its packets no 99 % arrive."""


class Run(NamedTuple):
    """The numbers of a run that goals use."""

    least: float
    """Share of its rate in the reference of the flow that has least of it."""
    total: float
    """Share of the sum of these rates."""
    spread: float
    """Mean over the flows of their shares, each counted up to 1: tells sets apart that starve a flow."""
    p99_s: float
    """Delay that 99 % of a flow's packets stay below, in the mean over the flows."""
    call_s: float
    """The same of the slowest call; 0 without calls."""
    shares: dict[str, float]
    """Shares of the flows of the reference."""
    goodputs: dict[str, float]
    """Goodputs of all flows, bit/s."""


def read_run(text: str, reference: Mapping[str, float], calls: Sequence[str]) -> Run:
    """The numbers of a run (JSON)."""
    result = json.loads(text)
    flows = {flow["id"]: flow for flow in result["flows"]}
    by_flow = {name: flows[name]["goodput_bps"] / rate for name, rate in reference.items()}
    shares = by_flow.values()
    # A flow that delivers nothing is as late as the run is long.
    delays = [result["duration_s"] if f["p99_delay_s"] is None else f["p99_delay_s"] for f in flows.values()]
    return Run(
        least=min(shares),
        total=sum(flows[name]["goodput_bps"] for name in reference) / sum(reference.values()),
        spread=sum(min(share, 1.0) for share in shares) / len(shares),
        p99_s=sum(delays) / len(delays),
        call_s=max((_call_s(flows[name]) for name in calls), default=0.0),
        shares=by_flow,
        goodputs={name: flow["goodput_bps"] for name, flow in flows.items()},
    )


def goodputs_of(texts: Sequence[str]) -> dict[str, float]:
    """Goodputs by flow in the mean over runs (JSON)."""
    found: dict[str, float] = {}
    for text in texts:
        for flow in json.loads(text)["flows"]:
            found[flow["id"]] = found.get(flow["id"], 0.0) + flow["goodput_bps"] / len(texts)
    return found


def _call_s(flow: Mapping[str, Any]) -> float:
    lost = flow["loss_ratio"] is None or flow["loss_ratio"] > 0.01
    return LOST_CALL_S if lost or flow["p99_delay_s"] is None else float(flow["p99_delay_s"])


def calls_of(scenario: Scenario) -> list[str]:
    """The flows that are calls: constant streams over UDP of a low rate."""
    found = []
    for flow in Scenario.parse(scenario.resolved).to_dict()["flow"]:
        traffic = flow["traffic"]
        if flow["transport"] == "udp" and traffic["kind"] == "constant":
            number, unit = traffic["rate"].split()
            factor = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}[unit]
            if float(number) * factor <= FASTEST_CALL_BPS:
                found.append(flow["id"])
    return found


@dataclass(frozen=True)
class Goal:
    """A goal, with the limits that follow from what the network has today."""

    name: For
    least_total: float = 0.0
    """Least total, as a share of the reference."""
    least_share: float = -math.inf
    """Least share of the flow that has least."""

    def score(self, run: Run) -> float:
        """The number that is to be large."""
        return {"fair": run.least, "total": run.total, "delay": -run.p99_s, "voice": -run.call_s}[self.name]

    def limited(self, today: Sequence[Run]) -> Goal:
        """The goal with its limits, beside runs of today."""
        total = sum(run.total for run in today) / len(today)
        least = sum(run.least for run in today) / len(today)
        share = -math.inf if self.name == "fair" else least - MOST_LOST
        return Goal(self.name, min(LEAST_TOTAL, KEPT_TOTAL * total), share)

    def broken(self, runs: Sequence[Run], doubt: bool = False) -> str | None:
        """The limit that runs break; None if they keep all. A mean counts less its standard error, so that
        chance does not lift a set over a limit. With `doubt` it counts more by that: a set that may keep the
        limit is worth another run."""
        sign = 1 if doubt else -1
        for name, limit, values in (
            ("total", self.least_total, [run.total for run in runs]),
            ("least share", self.least_share, [run.least for run in runs]),
        ):
            mean, error = _mean_and_error(values)
            if mean + sign * error < limit - ROUNDING:
                return name
        return None


def _mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


def goal_of(name: str, scenario: Scenario) -> tuple[Goal, list[str]]:
    """The goal of this name, and the flows that are calls. Raises `InputError`."""
    calls = calls_of(scenario)
    if name == "voice" and not calls:
        raise InputError(
            "--for voice: no flow is a call; expected one over UDP with constant traffic "
            "of at most 200 kbit/s"
        )
    return Goal(name), calls  # type: ignore[arg-type]


def estimate(values: Sequence[float]) -> Estimate:
    """The mean and its 95 % interval."""
    mean, ci95 = _core.estimate(list(values))
    return {"mean": mean, "ci95": ci95}

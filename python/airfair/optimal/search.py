"""The max-min optimum of up to four flows, searched in the simulator itself.

The model of `airfair.optimum` knows pairs of links; the simulator knows everything that happens on the air.
The search offers traffic to the network and observes which rates arrive; a source may send more than its
rate, to replace what is lost. As in water filling, the rates of all flows rise together until they no longer
arrive; a flow whose rate cannot rise, the others unchanged, keeps its rate, and the rest rise on. The result
is the max-min optimum if every smaller vector of rates can arrive too, to which sources with random gaps come
close. Strictly periodic ones do not: hidden senders with equal gaps can fall into step, and then both
exchanges succeed at once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypedDict

from .._core import InputError, Scenario
from ..arguments import as_function, as_scenario, as_type
from .model import Optimum, optimum

MOST_FLOWS = 4
"""Most flows: the number of runs grows with their square."""

STEP = 0.02
"""Ratio of neighbouring rates, minus 1."""

SHORTFALL = 0.01
"""Share of a rate by which goodput may fall short of it."""

OVERHEAD = 1.5
"""Most that a source sends, as a multiple of the rate that is to arrive: more than what is lost, it replaces
nothing."""

ROUNDS = 4
"""Times that sources raise what they send, by what has not arrived."""

HIGHEST = 1.5
"""Highest rate that is tried, as a multiple of the model's rate without the factor of inhibitors."""

LOWEST = 0.02
"""Lowest rate that is tried, as a part of that."""


class FoundFlow(TypedDict):
    """A flow of a search."""

    id: str
    max_min_bps: float
    """Highest rate that the search has found, bit/s of payload."""
    model_bps: float
    """Rate by the model, an inhibitor counted with its factor."""
    model_without_factor_bps: float
    """Rate by the model, an inhibitor counted as it is."""
    model_over_tcp_bps: float | None
    """Rate by the model of a flow over TCP, with acknowledgements; None for a flow over UDP."""


class Found(TypedDict):
    """The result of a search."""

    scenario: str
    step: float
    runs: int
    flows: list[FoundFlow]


class Setting(NamedTuple):
    """How each vector of rates is tried."""

    seeds: Sequence[int] = (1, 2)
    """Seeds; a rate counts as delivered by the mean of its runs."""
    warmup_s: float = 5.0
    measured_s: float = 20.0


def search_optimum(
    scenario: Scenario, setting: Setting | None = None, on_run: Callable[[int], object] | None = None
) -> Found:
    """Search the max-min optimum of the scenario's flows, all sent over UDP at constant rates.

    A flow over TCP becomes one over UDP with packets of its maximum segment size; acknowledgements are left
    out, in the search as in the model's rates beside it. `on_run` gets the number of runs after each of
    them. Raises `InputError` for more than `MOST_FLOWS` flows, and where the model does not apply.
    """
    scenario = as_scenario(scenario)
    setting = Setting() if setting is None else as_type("setting", setting, Setting, "a Setting")
    as_function("on_run", on_run)
    given = optimum(scenario, proportional=False)
    scenario = without(scenario, given["inactive"])
    count = len(given["flows"])
    if not 1 <= count <= MOST_FLOWS:
        raise InputError(f"the search varies the rates of 1 to {MOST_FLOWS} flows; the scenario has {count}")
    model = optimum(as_constant(scenario, {}), proportional=False)
    document = Scenario.parse(scenario.resolved).to_dict()
    tcp = {flow["id"] for flow in document.get("flow", []) if flow["transport"].startswith("tcp")}
    over_tcp = {flow["id"]: flow["max_min_bps"] for flow in given["flows"] if flow["id"] in tcp}
    searched = _Search(scenario, setting, model, on_run)
    rates = searched.water_filling()
    found: list[FoundFlow] = [
        {
            "id": flow["id"],
            "max_min_bps": rates[flow["id"]],
            "model_bps": flow["max_min_bps"],
            "model_without_factor_bps": flow["without_factor"]["max_min_bps"],
            "model_over_tcp_bps": over_tcp.get(flow["id"]),
        }
        for flow in model["flows"]
    ]
    return {"scenario": model["scenario"], "step": STEP, "runs": searched.runs, "flows": found}


def without(scenario: Scenario, flows: Sequence[str]) -> Scenario:
    """The scenario without these flows."""
    if not flows:
        return scenario
    document = Scenario.parse(scenario.resolved).to_dict()
    document["flow"] = [flow for flow in document.get("flow", []) if flow["id"] not in flows]
    return Scenario.from_dict(document)


def as_constant(scenario: Scenario, rates: Mapping[str, float]) -> Scenario:
    """The scenario with each flow over UDP for the whole run: at its rate, bit/s, or with its demand, or
    saturating without any."""
    document = Scenario.parse(scenario.resolved).to_dict()
    segment = document.get("tcp", {}).get("mss")
    for flow in document.get("flow", []):
        own = flow.pop("tcp", {}).get("mss", segment)
        for key in ("scheme", "start_jitter"):
            flow.pop(key, None)
        traffic = flow["traffic"]
        packet = traffic.get("packet", own)
        if flow["id"] in rates:
            rate = f"{max(1, round(rates[flow['id']]))} bit/s"
            traffic = {"kind": "constant", "packet": packet, "rate": rate, "gap_jitter": 1.0}
        elif "rate" in traffic:
            traffic = {"kind": "constant", "packet": packet, "rate": traffic["rate"]}
        else:
            traffic = {"kind": "saturating", "packet": packet}
        flow |= {"transport": "udp", "traffic": traffic, "start": "0 s", "stop": "end"}
    return Scenario.from_dict(document)


class _Search:
    def __init__(
        self, scenario: Scenario, setting: Setting, model: Optimum, on_run: Callable[[int], object] | None
    ) -> None:
        self.scenario, self.setting, self.on_run = scenario, setting, on_run
        self.limits = {flow["id"]: flow["without_factor"]["max_min_bps"] for flow in model["flows"]}
        self.demands = {flow["id"]: flow["demand_bps"] or math.inf for flow in model["flows"]}
        self.runs = 0
        self.known: dict[tuple[float, ...], dict[str, float]] = {}

    def goodput(self, offered: Mapping[str, float]) -> dict[str, float]:
        """Goodput of each flow at these offered rates, bit/s, by the mean over the seeds."""
        setting = self.setting
        tried = as_constant(self.scenario, offered).edited(
            {
                "duration": f"{setting.warmup_s + setting.measured_s} s",
                "warmup": f"{setting.warmup_s} s",
            }
        )
        mean = dict.fromkeys(offered, 0.0)
        for seed in setting.seeds:
            for flow in json.loads(tried.run("droptail", seed=seed))["flows"]:
                if flow["id"] in offered:
                    mean[flow["id"]] += flow["goodput_bps"] / len(setting.seeds)
            self.runs += 1
            if self.on_run is not None:
                self.on_run(self.runs)
        return mean

    def delivered(self, rates: Mapping[str, float]) -> dict[str, float]:
        """The share of each rate that arrives when sources send more by what is lost."""
        key = tuple(rates.values())
        if key not in self.known:
            offered, best = dict(rates), dict.fromkeys(rates, 0.0)
            for _ in range(ROUNDS):
                goodput = self.goodput(offered)
                shares = {flow: goodput[flow] / rates[flow] for flow in rates}
                if min(shares.values()) > min(best.values()):
                    best = shares
                if min(best.values()) >= 1 - SHORTFALL:
                    break
                offered = {
                    flow: min(offered[flow] * max(1.0, 1 / max(shares[flow], 1 / OVERHEAD)), OVERHEAD * rate)
                    for flow, rate in rates.items()
                }
            self.known[key] = best
        return self.known[key]

    def sustained(self, rates: Mapping[str, float]) -> bool:
        """True if the network can deliver these rates."""
        return min(self.delivered(rates).values()) >= 1 - SHORTFALL

    def water_filling(self) -> dict[str, float]:
        """The rate of each flow. Raises `InputError` if not even the lowest rates arrive."""
        kept: dict[str, float] = {}
        rising = list(self.limits)
        level = LOWEST * min(self.limits.values())
        if not self.sustained(self.rates(kept, level)):
            raise InputError(
                f"not even {level / 1e3:.3g} kbit/s of each flow arrive, a part of the model's rates"
            )
        while rising:
            level = self.highest(level, kept)
            base = self.rates(kept, level)
            met = [flow for flow in rising if self.demands[flow] <= level]
            stopped = met or [
                flow for flow in rising if not self.sustained({**base, flow: level * (1 + STEP) ** 2})
            ]
            if not stopped:
                # Together they cannot rise, although each could alone: the one that suffers most stops.
                shares = self.delivered(self.rates(kept, level * (1 + STEP)))
                stopped = [min(rising, key=lambda flow: shares[flow])]
            kept |= {flow: base[flow] for flow in stopped}
            rising = [flow for flow in rising if flow not in stopped]
        return kept

    def rates(self, kept: Mapping[str, float], level: float) -> dict[str, float]:
        """The rates of flows that have stopped, and for all others the same rate or their demand."""
        return {flow: kept.get(flow, min(level, self.demands[flow])) for flow in self.limits}

    def highest(self, low: float, kept: Mapping[str, float]) -> float:
        """The highest common rate, of a grid that begins with `low`, that is delivered; `low` is assumed to
        be."""
        rising = [self.demands[flow] for flow in self.limits if flow not in kept]
        most = max(low, min(HIGHEST * sum(self.limits.values()), max(rising)))
        below, above = 0, math.ceil(math.log(most / low) / math.log1p(STEP))
        while above - below > 1:
            middle = (below + above) // 2
            if self.sustained(self.rates(kept, low * (1 + STEP) ** middle)):
                below = middle
            else:
                above = middle
        return low * (1 + STEP) ** below

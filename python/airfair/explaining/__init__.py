"""Explanations of a flow's goodput: the numbers of the simulator, in words and in one picture. The
simulator assigns every nanosecond of every hop to one state, and a cause to every failed attempt; this
package only puts them into words. `docs/how-to/explain.md` defines each share.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

from .. import _core
from .._core import InputError, Scenario
from ..arguments import Overrides, as_scenario, as_type, unsuitable
from .advice import advice
from .limit import add_baseline, add_optimum
from .result import Explanation
from .settings import accepted, add_radios
from .words import reasons, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPECTED = "a result of airfair.explain"

__all__ = ["Explanation", "explain", "explanation_figure"]


def explain(
    scenario: Scenario | str | os.PathLike[str],
    *,
    flow: str | None = None,
    scheme: str | None = None,
    seed: int = 1,
    overrides: Overrides = (),
    stop: _core.Stop | None = None,
) -> Explanation:
    """Run a scenario, or the file of one with overrides, and explain the goodput of `flow`.

    By default (with two runs) the flow with the smallest ratio of goodput to fair share is explained, where
    the share is the mean of the flows, or the offered load if that is less. The run is that of
    `airfair.run`. Times are in ns and add up: see `Explanation`. Raises `InputError`.
    """
    scenario = as_scenario(scenario, overrides)
    explained = json.loads(scenario.explain(flow, scheme, seed, stop))
    if scenario.links_vary:
        explained["links_vary"] = scenario.links_vary
    if "route" in explained:
        tables = scenario.to_dict()
        protocol = tables["routing"]["protocol"]
        metric = tables.get("olsr", {}).get("metric", "hops") if protocol == "olsr" else None
        explained["route"] |= {"protocol": protocol, "metric": metric}
    explained["asked"] = flow is not None
    explanation = cast(Explanation, explained)
    add_optimum(explanation, scenario)
    add_baseline(explanation, scenario, stop)
    add_radios(explanation, scenario)
    explanation["reasons"] = reasons(explanation)
    explanation["verdict"] = verdict(explanation)
    explanation["advice"] = accepted(advice(explanation), scenario)
    return explanation


def explanation_figure(explanation: Explanation) -> Figure:
    """Draw an explanation: the states of each hop, the senders that keep it waiting, causes of failures,
    all over time.

    Raises `InputError`.
    """
    if not ({"hops", "timeline", "verdict"} <= as_type("explanation", explanation, dict, EXPECTED).keys()):
        raise unsuitable("explanation", explanation, EXPECTED)
    hop = explanation["timeline"]["hop"]
    if hop is not None and hop >= len(explanation["hops"]):
        raise InputError(f"explanation: its timeline is of hop {hop}; expected that hop among its hops")
    from .figure import draw

    return draw(explanation)

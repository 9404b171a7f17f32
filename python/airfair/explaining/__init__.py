"""Why a flow gets what it gets: the numbers of the simulator, in words and in one picture.

The simulator gives every nanosecond of every hop to one state and names what every failed attempt met; here
it is only put into words. `docs/how-to/explain.md` says what each share means.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

from .. import _core
from .._core import Scenario
from ..arguments import Overrides, as_scenario, as_type, unsuitable
from .result import Explanation
from .words import advice, reasons, verdict

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
    """Run a scenario, or the file of one with overrides, and tell why `flow` gets what it gets.

    Without a flow that one is explained (two runs) which gets the least of what is due to it: the mean of the
    flows, or what it asks for if that is less. The run is that of `airfair.run`.
    Times are in ns and add up: see `Explanation`. Raises `InputError` for what the caller can put right.
    """
    told = json.loads(as_scenario(scenario, overrides).explain(flow, scheme, seed, stop))
    told["asked"] = flow is not None
    explanation = cast(Explanation, told)
    explanation["verdict"] = verdict(explanation)
    explanation["reasons"] = reasons(explanation)
    explanation["advice"] = advice(explanation)
    return explanation


def explanation_figure(explanation: Explanation) -> Figure:
    """Draw it: what each hop does with its time, who keeps it waiting, why attempts fail, and when.

    Raises `InputError`.
    """
    if not ({"hops", "timeline", "verdict"} <= as_type("explanation", explanation, dict, EXPECTED).keys()):
        raise unsuitable("explanation", explanation, EXPECTED)
    from .figure import draw

    return draw(explanation)

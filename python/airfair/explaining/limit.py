"""The rate that the air allows a flow: its max-min rate by the model of `airfair.optimum`, and what binds
it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from .. import _core
from .._core import InputError, Scenario
from ..optimal.model import Link, Optimum, OptimumFlow, Wire
from ..optimal.show import bound_in_words, caution, link_name
from ..optimal.yardstick import MOST_CLIQUES, yardstick
from ..quantities import plural, rate
from ..verdicts import BASELINE, unjudged
from .result import BestRate, Explanation, LinkEnds
from .words import listed, percent

MOST_LINKS = 6
"""Most links of a clique that the sentence names."""


def add_optimum(explanation: Explanation, scenario: Scenario) -> None:
    """Add `optimum` and `optimum_reason`."""
    explanation["optimum"] = explanation["optimum_reason"] = None
    try:
        by = yardstick(scenario, clique_limit=MOST_CLIQUES)
    except InputError as error:
        explanation["optimum_reason"] = str(error)
        return
    best = by.optimum
    found = next((flow for flow in best["flows"] if flow["id"] == explanation["flow"]), None)
    if found is None:
        inactive = explanation["flow"] in best["inactive"]
        why = "is not active in the measured time" if inactive else "has no route"
        explanation["optimum_reason"] = f"there is no optimum: the flow {why}"
    else:
        explanation["optimum"] = _best_rate(explanation, best, found, by.assumed)


def unjudged_line(explanation: Explanation) -> str:
    """The reason why the flow has no max-min rate, and what it has with drop-tail where that was run."""
    beside = ""
    if "baseline" in explanation:
        before = explanation["baseline"]
        has, of_all = rate(before["goodput_bps"]), rate(before["total_bps"])
        beside = f"with {before['scheme']} the flow has {has}, all flows together {of_all}"
    line = unjudged(explanation["optimum_reason"] or "", beside)
    return f"{line[:1].upper()}{line[1:]}."


def add_baseline(explanation: Explanation, scenario: Scenario, stop: _core.Stop | None) -> None:
    """Add `baseline` where the flow has about as much as the others, there is no max-min rate, and another
    scheme than drop-tail has run."""
    alike = explanation["standing"] == "fair"
    if not alike or explanation["optimum"] is not None or explanation["scheme"] == BASELINE:
        return
    result = json.loads(scenario.run(BASELINE, explanation["seed"], stop))
    flow = next(flow for flow in result["flows"] if flow["id"] == explanation["flow"])
    explanation["baseline"] = {
        "scheme": BASELINE,
        "goodput_bps": flow["goodput_bps"],
        "total_bps": result["aggregate_goodput_bps"],
    }


def _best_rate(
    explanation: Explanation, best: Optimum, flow: OptimumFlow, assumed: Sequence[str]
) -> BestRate:
    bound = flow["bound"]
    clique = None if bound["clique"] is None else best["cliques"][bound["clique"]]
    links: list[LinkEnds] = [] if clique is None else [_ends(best["links"][link]) for link in clique["links"]]
    wire = None if bound["wire"] is None else _ends(best["wires"][bound["wire"]])
    share = explanation["goodput_bps"] / flow["max_min_bps"] if flow["max_min_bps"] else 1.0
    return {
        "max_min_bps": flow["max_min_bps"],
        "share": share,
        "assumed": list(assumed),
        "sends_files": flow["sends_files"],
        "bound": bound["kind"],
        "clique": bound["clique"],
        "senders": None if clique is None else clique["senders"],
        "links": links,
        "wire": wire,
        "words": f"{_could_have(flow, share, assumed)}{_holder(explanation, best, flow)}.",
        "caution": _caution(explanation, best, [] if clique is None else clique["links"]),
    }


def _caution(explanation: Explanation, best: Optimum, clique: Sequence[int]) -> str | None:
    """The caution of `airfair optimum`, where a link of the flow, or of the clique that binds it, is one of
    those that it is about."""
    rough = {
        inhibition["link"]
        for inhibition in best["inhibitions"]
        if not best["links"][inhibition["link"]]["rts"]
    }
    own = any(_is_own(explanation, best["links"][link]) for link in rough)
    text = caution(best) if own or not rough.isdisjoint(clique) else None
    return None if text is None else f"{text[0].upper()}{text[1:]}."


def _ends(link: Link | Wire) -> LinkEnds:
    return {"src": link["src"], "dst": link["dst"]}


def _could_have(flow: OptimumFlow, share: float, assumed: Sequence[str]) -> str:
    busy = " if it always had data" if flow["sends_files"] else ""
    what = f", with {listed(assumed)}," if assumed else ""
    return (
        f"By the model of `airfair optimum`{what} the flow could have {rate(flow['max_min_bps'])}{busy} "
        f"(it has {percent(share)} of this)"
    )


def _holder(explanation: Explanation, best: Optimum, flow: OptimumFlow) -> str:
    bound = flow["bound"]
    if bound["clique"] is None:
        return ", all that it offers" if bound["kind"] == "demand" else f", by {bound_in_words(best, bound)}"
    clique = best["cliques"][bound["clique"]]
    others = [link for link in clique["links"] if not _is_own(explanation, best["links"][link])]
    senders = f"{clique['senders']} {plural(clique['senders'], 'sender')}"
    if not others:
        return f"; only one of its own links can send at a time ({senders})"
    names = listed((link_name(best, link) for link in others), MOST_LINKS)
    return f"; its links share the air with {names}, of which one can be used at a time ({senders})"


def _is_own(explanation: Explanation, link: Link) -> bool:
    """True if a hop of the flow uses this link."""
    return any(
        _is_of(link["src"], hop["src"]) and _is_of(link["dst"], hop["dst"]) for hop in explanation["hops"]
    )


def _is_of(station: str, node: str) -> bool:
    """True if a station is one of this node: the first has the node's name, others that of the radio, too."""
    return station == node or station.startswith(f"{node}/")

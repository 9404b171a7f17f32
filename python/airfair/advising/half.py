"""What a change is worth that half of the nodes have: the same scenario with another half for each seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import InputError, Scenario
from ..experiment import schemes as all_schemes
from ..results import SchemeInfo
from .candidate import Candidate, Option

KIND = "half"
"""Prefix of the kinds of radio that the half has."""

SOURCES = {"source", "receiver"}
"""Places of a scheme at the ends of flows."""

Tables = dict[str, Any]


def halved(scenario: Scenario, candidate: Candidate, seed: int) -> Scenario:
    """The scenario with the candidate's changes at half of its nodes, drawn by the seed: radio settings, queues
    and schemes at these nodes, windows and laws of the flows that begin there. Raises `InputError` for a change
    that is one of the whole network."""
    tables = Scenario.parse(scenario.resolved).to_dict()  # generated nodes and flows, each on its own
    chosen = draw([node["id"] for node in tables["node"]], seed)
    radio: Tables = {}
    for option in candidate.sorted:
        if option.scheme:
            radio |= _add_scheme(option.scheme, tables, chosen)
        for change in option.changes:
            radio |= _add_change(change, tables, chosen)
    if radio:
        _set_radios(tables, chosen, radio)
    return Scenario.from_dict(tables)


def draw(nodes: Sequence[str], seed: int) -> set[str]:
    """Half of the nodes, rounded up."""
    random, left = _core.Random(seed, "half of the nodes"), list(nodes)
    return {left.pop(random.below(len(left))) for _ in range((len(nodes) + 1) // 2)}


def _add_scheme(name: str, tables: Tables, chosen: set[str]) -> Tables:
    """Give these nodes a scheme, and the flows that begin there its source; the keys of radios that it
    brings."""
    scheme = _info(name)
    places = set(scheme["places"])
    if not places <= SOURCES:
        for node in tables["node"]:
            if node["id"] in chosen:
                node["scheme"] = name
    if "source" in places:
        _set_flows(tables, chosen, lambda flow: flow.update(scheme=name))
    brings = {path: value.strip('"') for path, value in scheme["brings"].items()}
    return {path.removeprefix("radio."): v for path, v in brings.items() if path.startswith("radio.")}


def _info(name: str) -> SchemeInfo:
    return next(scheme for scheme in all_schemes() if scheme["name"] == name)


def _add_change(change: str, tables: Tables, chosen: set[str]) -> Tables:
    """Make a change for the flows that begin at these nodes; the keys of radios that it has."""
    name, _, value = change.partition("=")
    if name == "window":
        limit = f"{value} segments"
        _set_flows(tables, chosen, lambda flow: flow.setdefault("tcp", {}).update(window_limit=limit))
    elif name == "ecn":
        _set_flows(tables, chosen, lambda flow: flow.setdefault("tcp", {}).update(ecn=True))
    elif name == "rts":
        return {"rts_threshold": "0 B"}
    elif name == "retries":
        return {"short_retry_limit": int(value), "long_retry_limit": int(value)}
    elif name == "queue":
        return {"queue_packets": int(value)}
    else:
        raise InputError(f"{change} is a change of the whole network")
    return {}


def _set_flows(tables: Tables, chosen: set[str], change: Callable[[Tables], object]) -> None:
    for flow in tables["flow"]:
        if flow["from"] in chosen and flow["transport"].startswith("tcp"):
            change(flow)


def _set_radios(tables: Tables, chosen: set[str], keys: Mapping[str, Any]) -> None:
    """Give the radios of these nodes a kind of their own, which inherits all else."""
    kinds = tables.setdefault("radios", {})
    for node in tables["node"]:
        if node["id"] in chosen:
            names = list(node.get("radios", []))
            for name in names:
                kinds.setdefault(f"{KIND}-{name}", {**kinds.get(name, {}), **keys})
            node["radios"] = [f"{KIND}-{name}" for name in names]

"""Changes that half of the nodes have: the same scenario with another half for each seed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import InputError, Scenario
from .candidate import Candidate

KIND = "half"
"""Prefix of the kinds of radio that the half has."""

Tables = dict[str, Any]


def halved(scenario: Scenario, candidate: Candidate, seed: int) -> Scenario:
    """The scenario with the candidate's changes at half of its nodes, drawn by the seed: radio settings,
    queues and schemes at these nodes, windows and laws of the flows that begin there. Its scheme is that of
    the candidate, and the other half is as it is today: so a scheme has its controller. Raises `InputError`
    for a change that is one of the whole network."""
    tables = Scenario.parse(scenario.resolved).to_dict()  # generated nodes and flows, each on its own
    chosen = draw([node["id"] for node in tables["node"]], seed)
    if any(option.scheme for option in candidate.options):
        _keep_others(candidate.own, tables, chosen)
        tables["scheme"] = "+".join(option.scheme for option in candidate.sorted if option.scheme)
    radio: Tables = {}
    for option in candidate.sorted:
        if option.scheme:
            radio |= _brought(scenario, option.scheme)
        for change in option.changes:
            radio |= _add_change(change, tables, chosen)
    if radio:
        _set_radios(tables, chosen, radio)
    return Scenario.from_dict(tables)


def draw(nodes: Sequence[str], seed: int) -> set[str]:
    """Half of the nodes, rounded up."""
    random, left = _core.Random(seed, "half of the nodes"), list(nodes)
    return {left.pop(random.below(len(left))) for _ in range((len(nodes) + 1) // 2)}


def _keep_others(own: str, tables: Tables, chosen: set[str]) -> None:
    """Leave the other nodes their scheme, and the flows that begin there their window law."""
    for node in tables["node"]:
        if node["id"] not in chosen:
            node.setdefault("scheme", own)
    for flow in tables["flow"]:
        if flow["from"] not in chosen:
            law = flow["transport"].removeprefix("tcp").removeprefix("-")
            flow.setdefault("scheme", "none" if flow["transport"] == "udp" else law or "newreno")


def _brought(scenario: Scenario, name: str) -> Tables:
    """The keys of radios that a scheme brings to this scenario."""
    settings = (setting.partition("=") for setting in scenario.settings(name))
    keys = ((path.removeprefix("radio."), value) for path, _, value in settings if path.startswith("radio."))
    return {key: tomllib.loads(f"value = {value}")["value"] for key, value in keys}


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
    elif name == "rts_from":
        return {"rts_from_attempt": int(value)}
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

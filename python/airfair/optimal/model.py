"""Estimates of the best rates that the air allows a scenario's flows, by a model of cliques."""

from __future__ import annotations

import json
import os
from typing import Literal, TypedDict, cast

from .._core import Scenario
from ..arguments import Overrides, as_scenario


class Bound(TypedDict):
    """The reason why a flow has no higher rate. Numbers are places in the lists of the `Optimum`."""

    kind: Literal["demand", "clique", "wire"]
    clique: int | None
    inhibited_link: int | None
    """The link of the clique for whose sake the air time of its inhibitors counts with their factor."""
    wire: int | None


class PlainRates(TypedDict):
    """Rates where the air time of an inhibitor counts as it is."""

    max_min_bps: float
    proportional_bps: float | None
    bound: Bound


class OptimumFlow(TypedDict):
    """A flow that has a route. Rates are in bit/s of payload."""

    id: str
    src: str
    dst: str
    demand_bps: float | None
    """Rate that the application offers; None if it always has data, or sends files."""
    sends_files: bool
    """Files decide what the application offers; the rates are those of a flow that always has data."""
    max_min_bps: float
    """Max-min fair rate, where the air time of an inhibitor counts with its factor."""
    proportional_bps: float | None
    """Proportionally fair rate; None if not wanted, for more than 2000 flows, or if the method finds none."""
    bound: Bound
    without_factor: PlainRates
    scheduled_bps: float | None
    """Max-min fair rate of a schedule that lets sets of links take turns; None for more than 12 links."""


class Link(TypedDict):
    """A directed radio link that flows use."""

    src: str
    """Sending station: its node, and its radio where the node has several."""
    dst: str
    rts: bool


class Wire(TypedDict):
    """One direction of a wired link that flows use."""

    src: str
    dst: str
    rate_bps: float


class Conflict(TypedDict):
    """Two radio links that cannot be used at the same time; lists of two begin with the first link."""

    links: list[int]
    shared_station: bool
    defers: list[bool]
    """The link's sender waits while the other link is used."""
    data_lost: list[bool]
    """The link's data are lost, or not asked for, while the other link is used."""
    answers_lost: list[bool]
    """The link's CTS and ACK are lost while the other link is used."""


class Inhibition(TypedDict):
    """A link whose attempts fail while another link is used, since its sender does not wait."""

    link: int
    by: int
    factor: float
    """Factor of the air time of the inhibitor (C3L's W_FACTOR)."""


class Additive(TypedDict):
    """A link whose data are lost under several other links together, which the rates do not consider."""

    link: int
    by: list[int]


class Clique(TypedDict):
    """A maximal clique of the conflict graph: links that share the time of the air."""

    links: list[int]
    senders: int


class ActiveSet(TypedDict):
    """Links and wires that a schedule uses together, and the set's share of the time."""

    links: list[int]
    wires: list[int]
    share: float


class Optimum(TypedDict):
    """The result of `optimum`. All lists are in the order of names."""

    scenario: str
    """Name of the scenario."""
    flows: list[OptimumFlow]
    """Flows that have a route."""
    routeless: list[str]
    """Flows without a route."""
    inactive: list[str]
    """Flows that stop before the end of the warm-up, or start after the run; they take no air."""
    links: list[Link]
    """Radio links that the flows use."""
    wires: list[Wire]
    """Directions of wired links that the flows use."""
    conflicts: list[Conflict]
    """Pairs of radio links that cannot be used at the same time."""
    inhibitions: list[Inhibition]
    """Links whose attempts fail while others are used."""
    additive: list[Additive]
    """Links that lose data only under several others together."""
    cliques: list[Clique]
    """Maximal cliques of the links that conflict."""
    complete: bool
    """False if there are more cliques than these: then the least of the max-min rates is a bound."""
    schedule: list[ActiveSet] | None
    """A schedule that reaches `scheduled_bps`; None for more than 12 links."""


def optimum(
    scenario: Scenario | str | os.PathLike[str],
    *,
    overrides: Overrides = (),
    factor: float | None = None,
    clique_limit: int | None = None,
    proportional: bool = True,
) -> Optimum:
    """The max-min and proportionally fair rates of a scenario's flows, by a model of the links that conflict.

    `factor`: air time of an inhibitor of a link, as a multiple of what it is, in the cliques of that link;
    by default 1.38 where a handshake of the inhibited link stops the inhibitor, else 1.75, and by their
    frames and windows for two hidden senders without RTS. After `clique_limit` cliques of the conflict
    graph, by default 1,000,000, no more are searched, but for those that are needed to cover every link and
    every conflict. `overrides` need a file, as in `run`. Without `proportional` there are no proportionally
    fair rates, which cost most where there are thousands of cliques. Raises `InputError` where the network
    has something that the model cannot describe.
    """
    return cast(
        Optimum, json.loads(as_scenario(scenario, overrides).optimum(factor, clique_limit, proportional))
    )


def binding_cliques(optimum: Optimum) -> list[int]:
    """The cliques that bind flows, those of the flows with the least rates first."""
    flows = sorted(optimum["flows"], key=lambda flow: flow["max_min_bps"])
    bound = (flow["bound"]["clique"] for flow in flows)
    return list(dict.fromkeys(clique for clique in bound if clique is not None))

"""The base scene, the places of nodes and flows, the protocols, and what the paper leaves open.

A series is a place, a protocol and a reading, each of them a tuple of overrides of `base.toml`.

Readings that all experiments share. **C3L's flows** are UDP: reliability is "separate" (section V); its
sources are saturated. **ATP, EXACT and C3L** have two series each in figures 3, 4, 9 to 11, 16 and 17:
*reliable* over the transport with a rate, which sends again what was lost, and *unreliable* over UDP, where
the goodput is what arrived once; elsewhere C3L is unreliable. **Probes** have 7 dB more power than data, not
the paper's 3: "a node can communicate directly with interfering neighbors" (section III-B) is what they are
for, and where the lowest rate reaches no farther than the highest, as in this radio model, 3 dB do not reach
the 1.5 times of the sense range. **Routing** is DSDV with ns-2's values where flows have several hops
(section IV); static routes are the other reading. Where all flows have one hop, routes are static. **Time**:
flows start at 60 s, when routes and neighbours are known (a saturating flow from the start keeps DSDV from
ever finding a route that its packets disturb); then 120 s of warm-up, and 300 s measured.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from airfair.claims import MAIN
from airfair.paper import Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BASE = Path(__file__).parent.with_name("base.toml")
TESTBED = BASE.with_name("testbed.toml")
"""802.11a, where the paper measured with four nodes (section IV-E)."""

START = 60
"""Seconds."""
SMALL = (f'duration="{START + 6} s"', f'warmup="{START + 2} s"')
"""A run that only shows that it works."""

LONE = 1394.0
"""Goodput of a lone saturated link of the base scene, kbit/s."""


class Protocol(NamedTuple):
    """How a run speaks it."""

    scheme: str
    overrides: tuple[str, ...] = ()
    udp: bool = False
    """Saturating sources over UDP instead of TCP's transfers without end."""
    rate: str = ""
    """The law of the transport with a rate, if that carries the transfers."""


RENO, NEWRENO, SACK, VEGAS = "TCP Reno", "TCP NewReno", "TCP SACK", "TCP Vegas"
UDP, CUBIC, NRED = "UDP", "CUBIC", "NRED"
C3L, RELIABLE = "C3L, unreliable", "C3L, reliable"
LOCAL, OVER_TCP = "C3L, local estimates", "C3L over TCP"
ATP, ATP_UDP = "ATP, reliable", "ATP, unreliable"
EXACT, EXACT_UDP = "EXACT, reliable", "EXACT, unreliable"

PROBES = "c3l.probe_power=7"
OTHERS: Mapping[str, Protocol] = {
    RENO: Protocol("reno"),
    NEWRENO: Protocol("newreno"),
    SACK: Protocol("newreno", ("tcp.sack=true",)),
    VEGAS: Protocol("vegas"),
    UDP: Protocol("droptail", udp=True),
}
"""The paper's but for ATP and EXACT, and UDP."""
RIVALS: Mapping[str, Protocol] = {
    ATP: Protocol("atp", rate="atp"),
    ATP_UDP: Protocol("atp", udp=True),
    EXACT: Protocol("exact", rate="exact"),
    EXACT_UDP: Protocol("exact", udp=True),
}
"""The paper's that are paced by a rate, as C3L is."""
BESIDE: Mapping[str, Protocol] = {CUBIC: Protocol("cubic"), NRED: Protocol("nred")}
"""Not in the paper."""
OWN: Mapping[str, Protocol] = {
    C3L: Protocol("c3l", (PROBES,), udp=True),
    RELIABLE: Protocol("c3l", (PROBES,), rate="c3l"),
    LOCAL: Protocol("c3l-local", udp=True),
    OVER_TCP: Protocol("c3l", (PROBES,)),
}
"""`c3l-local` is the first bar of figure 12. C3L over TCP is ours: it has TCP's retransmissions, and no
window."""
PROTOCOLS: Mapping[str, Protocol] = {**OTHERS, **BESIDE, **RIVALS, **OWN}
TCPS = (RENO, NEWRENO, SACK, VEGAS)

DSDV = (
    'routing.protocol="dsdv"',
    'dsdv.period="11.25 s"',
    'dsdv.period_jitter="3.75 s"',
    "dsdv.hold_periods=4",
    'dsdv.start_jitter="2 s"',
    'dsdv.settling_time="12 s"',
    "dsdv.settle_all=true",
    "dsdv.trigger_on_new_number=false",
    "dsdv.answer_broken=true",
    'dsdv.trigger_interval="1 s"',
    "dsdv.full_dump_share=0.3333",
    'dsdv.update_jitter="10 ms"',
)
"""ns-2's."""
STATIC, HELD, NS3 = "static routes", "routes held for 12 periods", "ns-3's DSDV"
ROUTES: Mapping[str, tuple[str, ...]] = {
    MAIN: DSDV,
    STATIC: (),
    HELD: tuple(value.replace("periods=4", "periods=12") for value in DSDV),
    NS3: DSDV[:1],
}
"""Of networks in which flows have several hops."""
DRAWN_ROUTES = (MAIN, STATIC)
"""Of networks that are drawn."""

LIMIT = "local limit"
LIMITED: Mapping[str, tuple[str, ...]] = {LIMIT: ('radio.local_limit="8 ms"', "radio.backpressure=true")}
"""A node's own flows keep short queues, as in Linux; C3L's are exempt. For the others only."""

READINGS: Mapping[str, tuple[str, ...]] = {
    "probes 3 dB": ("c3l.probe_power=3",),
    "reach of interference": ("c3l.reach=interference",),
    "hidden senders only": ("c3l.hider=sender",),
    "conflict by receivers": ("c3l.conflict=receivers",),
    "local loop off": ("c3l.local_factor=1",),
    "local loop at 0.3 of the queue": ("c3l.local_threshold=0.3",),
    "epoch 0.5 s": ('c3l.epoch="500 ms"',),
    "epoch 2 s": ('c3l.epoch="2 s"',),
    "cycle 4 s": ('c3l.cycle="4 s"',),
    "cycle 16 s": ('c3l.cycle="16 s"',),
    "overload from 0.1 of the queue": ("c3l.overload_threshold=0.1",),
    "overload from 0.5 of the queue": ("c3l.overload_threshold=0.5",),
    "capacities grow in any case": ("c3l.used=0",),
    "default_part 1": ("c3l.default_part=1",),
    "default_part 0.05": ("c3l.default_part=0.05",),
    "arrivals": ("c3l.sending=arrivals",),
    "W 1": ("c3l.w_factor=1",),
    "W in the allocation": ("c3l.w_in_allocation=true",),
    "W in the allocation, reach of interference": ("c3l.w_in_allocation=true", "c3l.reach=interference"),
    "all cliques lose": ("c3l.decrease=all",),
    "no re-estimation": ("c3l.reestimate=false",),
    "C_max is the rate of frames": ("c3l.c_max=rate", 'c3l.default_goodput="2 Mbit/s"'),
    "r counts retransmissions": ("c3l.repeats=retransmissions",),
    "increment 0.02": ("c3l.increment=0.02",),
    "increment 0.1": ("c3l.increment=0.1",),
}
"""Readings of C3L, one changed at a time, and C3L with parts switched off."""


class Place(NamedTuple):
    """Nodes and flows."""

    nodes: Mapping[str, tuple[float, float]]
    """Metres."""
    flows: Mapping[str, tuple[str, str]]
    best: Sequence[float] = ()
    """The max-min optimum by flow, kbit/s, which a search of sending rates over UDP found in the simulator
    (as the paper's: "exhaustively trying out various sending rate combinations")."""
    hops: int = 1
    """Of its longest flow."""
    file: Path = BASE
    packet: int = 1000
    """Payload of UDP packets, bytes."""
    own: tuple[str, ...] = ()
    """Further changes to its file."""


LINE = {"1": (0.0, 0.0), "2": (200.0, 0.0), "3": (400.0, 0.0), "4": (600.0, 0.0)}
FAR_LINE = {"1": (0.0, 0.0), "2": (200.0, 0.0), "3": (500.0, 0.0), "4": (700.0, 0.0), "5": (350.0, 100.0)}
"""The fifth node connects the halves: without it no controller could tell both."""
PAIRS = {"F1": ("1", "2"), "F2": ("3", "4")}
CELL = {
    "A": (0.0, 0.0),
    "B1": (100.0, -60.0),
    "B2": (120.0, 0.0),
    "B3": (100.0, 60.0),
    "C": (0.0, 150.0),
    "D": (120.0, 150.0),
}
SPACE = {"F1": ("A", "B1"), "F2": ("A", "B2"), "F3": ("A", "B3"), "F4": ("C", "D")}
GATEWAY = {"A": (0.0, 0.0), "C": (100.0, 170.0), "G": (200.0, 0.0)}

HIDDEN, FAR, HOPS, MIDDLE, SHARED, COMMON = (
    "hidden",
    "hidden, far",
    "hops",
    "hops, middle",
    "space",
    "space, common receiver",
)
ALONE = "hidden, F2 alone"
WIDE, SENSED, RELAY = "hidden, sensed to 550 m", "hidden, standard radio", "space, common relay"
HOPS_WIDE = "hops, sensed to 550 m"
ROUTERS, CARDS = "routers, hidden", "routers, space"
MACS: Mapping[str, tuple[tuple[float, float], tuple[str, ...]]] = {
    "7 attempts": ((3667, 3815), ("radio.short_retry_limit=7",)),
    "50 attempts": ((3740, 3740), ("radio.short_retry_limit=50",)),
    "standard window": ((3387, 3387), ("radio.short_retry_limit=1000000", "radio.cw_max=1023")),
    "standard window, 7 attempts": ((3455, 3594), ("radio.short_retry_limit=7", "radio.cw_max=1023")),
}
"""Other MACs for figure 16, with the optimum that `airfair optimum --search` finds with each."""
PLACES: Mapping[str, Place] = {
    HIDDEN: Place(LINE, PAIRS, (586, 586)),
    ALONE: Place(LINE, {"F2": ("3", "4")}),
    FAR: Place(FAR_LINE, PAIRS, (508, 508)),
    HOPS: Place(LINE, {"F1": ("1", "4"), "F2": ("1", "2")}, (320, 327), hops=3),
    MIDDLE: Place(LINE, {"F1": ("1", "4"), "F2": ("2", "3")}, (327, 340), hops=3),
    SHARED: Place(CELL, SPACE, (350,) * 4),
    COMMON: Place(
        GATEWAY, {"F1": ("A", "G"), "F2": ("A", "G"), "F3": ("A", "G"), "F4": ("C", "G")}, (350,) * 4
    ),
    WIDE: Place(
        {"1": (0.0, 0.0), "2": (240.0, 0.0), "3": (560.0, 0.0), "4": (760.0, 0.0)},
        PAIRS,
        own=('radio.propagation.carrier_sense="550 m"',),
    ),
    HOPS_WIDE: Place(
        LINE,
        {"F1": ("1", "4"), "F2": ("1", "2")},
        (348, 348),
        hops=3,
        own=('radio.propagation.carrier_sense="550 m"',),
    ),
    SENSED: Place(LINE, PAIRS, (586, 586), own=('radio.profile="standard"',)),
    RELAY: Place(
        {"A": (0.0, 0.0), "C": (0.0, 150.0), "M": (200.0, 75.0), "R": (400.0, 0.0), "S": (400.0, 150.0)},
        {"F1": ("A", "R"), "F2": ("A", "R"), "F3": ("A", "R"), "F4": ("C", "S")},
        hops=2,
    ),
    ROUTERS: Place(
        LINE, PAIRS, (3730, 3800), file=TESTBED, packet=1460, own=("radio.short_retry_limit=1000000",)
    ),
    **{
        f"{ROUTERS}, {mac}": Place(LINE, PAIRS, best, file=TESTBED, packet=1460, own=own)
        for mac, (best, own) in MACS.items()
    },
    CARDS: Place(CELL, SPACE, (2405,) * 4, file=TESTBED, packet=1460, own=('radio.rts_threshold="2347 B"',)),
}
"""Figure 1 (a), and with the inhibitor's flow alone; the same with its inhibitor out of reception range of
the inhibited receiver, but near enough to spoil a reception; (b) with the one-hop flow on the first hop, and
in the middle; (c), and with one receiver. Beside them (a) and (b) with ns-2's ranges, (a) with the rules of
802.11 instead of ns-2's, (c) through one relay. Figures 16 and 17: (a) and (c) at 12 Mbit/s. By hand are the
optima of the last and of (b) with ns-2's ranges, C/4: as many flows and hops are in one clique."""


def nodes(places: Mapping[str, tuple[float, float]]) -> str:
    """Nodes at these places."""
    each = (f'{{id="{node}", position=["{x:g} m", "{y:g} m"]}}' for node, (x, y) in places.items())
    return f"node=[{', '.join(each)}]"


def flows(
    pairs: Mapping[str, tuple[str, str]], *, udp: bool, rate: str = "", packet: int = 1000, own: str = ""
) -> str:
    """Flows without end between these nodes, over UDP, a rate or TCP. `own`: further keys of each."""
    sent = (
        f'transport="udp", traffic={{kind="saturating", packet="{packet} B"}}'
        if udp
        else f'transport="{f"rate-{rate}" if rate else "tcp-newreno"}", traffic={{kind="ftp"}}'
    )
    each = (
        f'{{id="{flow}", from="{a}", to="{b}", start="{START} s", {sent}{own}}}'
        for flow, (a, b) in pairs.items()
    )
    return f"flow=[{', '.join(each)}]"


def name(place: str, protocol: str, reading: str = MAIN) -> str:
    """The name of a series."""
    return f"{place}: {protocol}" if reading == MAIN else f"{place}: {protocol}, {reading}"


def overrides(place: str, protocol: str, reading: Iterable[str] = ()) -> tuple[str, ...]:
    """A protocol at a place, as changes to the base scene. With several hops `reading` names the routing."""
    where, spoken = PLACES[place], PROTOCOLS[protocol]
    sent = flows(where.flows, udp=spoken.udp, rate=spoken.rate, packet=where.packet)
    drawn = (nodes(where.nodes), sent)
    return (f'name="{place}"', *where.own, *drawn, *spoken.overrides, *reading)


def series(
    place: str,
    protocol: str,
    reading: str = MAIN,
    changes: Iterable[str] = (),
    against: str | None = None,
) -> Series:
    """A protocol at a place, in a reading that consists of these changes; where flows of the place have
    several hops, with DSDV, or with the routes that the reading names."""
    route = next((named for named in ROUTES if named in reading), MAIN)
    routed = ROUTES[route] if PLACES[place].hops > 1 else ()
    made = overrides(place, protocol, (*routed, *changes))
    scheme, file = PROTOCOLS[protocol].scheme, PLACES[place].file
    return Series(name(place, protocol, reading), scheme, made, against, None if file == BASE else file)


def told(*parts: str) -> str:
    """A reading with several parts; those that are as in the main one are left out."""
    return ", ".join(part for part in parts if part and part != MAIN) or MAIN

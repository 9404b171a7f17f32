"""The selections that the page compares, and the kinds of scenes. No number of a result stands here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Column(NamedTuple):
    """A selection beside drop-tail, a column of the picture."""

    selection: str
    label: str
    """Short name in the picture."""
    words: str
    """The same in words, within a sentence."""


class Section(NamedTuple):
    """A section of the page: one selection or several of one kind."""

    title: str
    about: str
    """The idea, and what it asks of routers and hosts; Markdown."""
    columns: Sequence[Column]


FQ_CODEL = Column("fq-codel", "fq-codel", "the queue fq-codel in every router")
PATIENT = Column(
    "droptail[rts; retries=50]",
    "RTS, retries",
    "RTS/CTS and many attempts for every frame",
)
WINDOW = Column("droptail[window=4]", "window", "a small TCP window")
TOGETHER = Column(
    "fq-codel[rts; retries=50; window=4]",
    "all of these",
    "fq-codel, RTS/CTS, many attempts for every frame and a small TCP window together",
)

SETTINGS = (FQ_CODEL, PATIENT, WINDOW, TOGETHER)
"""Settings that any router and host has, without new software."""

NRED = Column("nred", "nred", "NRED, with which neighbours of a node that suffers drop packets")
DIFFQ = Column("diffq", "diffq", "DiffQ, with which packets wait for the queue of the next hop")
C3L = Column("c3l", "c3l", "C3L, with a controller that gives links and flows their shares of the air")
QFCP = Column("qfcp", "qfcp", "QFCP, with which access points and routers write rates into packets")
LBM = Column("lbm", "lbm", "LBM, with which access points mark packets, and ECN at hosts")

AIRTIME = Column(
    "airtime",
    "airtime",
    "the airtime allocator, with which pairs of routers share the time of the air",
)
ATP = Column("atp", "atp", "ATP, a transport that the slowest node of a path paces")
EXACT = Column("exact", "exact", "EXACT, a transport whose rates routers write into packets")

SYSTEMS = (NRED, DIFFQ, C3L, QFCP, LBM)
"""The five systems, which claim to help in scenes of the suite."""

SCHEMES = (*SYSTEMS, AIRTIME, ATP, EXACT)
"""The five systems, and their rivals."""

COLUMNS = (*SETTINGS, *SCHEMES)

SECTIONS = (
    Section(
        "A better queue: fq-codel in place of drop-tail",
        "Drop-tail is the queue of a router on which nothing was set. [FQ-CoDel](schemes/fq-codel.md) "
        "has a queue for each flow. It shares one router's queue fairly, and not the air between "
        "routers. Linux has it: `tc qdisc replace dev DEV root fq_codel`.",
        (FQ_CODEL,),
    ),
    Section(
        "Settings of radios and hosts: RTS/CTS, retries, a small window",
        "RTS/CTS before every data frame and many attempts for each are settings of a radio; a TCP "
        "window of few segments is a setting of a host or of its route. "
        "[how-to/advise.md](how-to/advise.md) has the commands of Linux. *All of these* is FQ-CoDel "
        "with these three settings.",
        (PATIENT, WINDOW, TOGETHER),
    ),
    Section(
        "NRED",
        "A node that suffers notifies its neighbours, and they drop packets in proportion to their "
        "share of the air ([NRED](schemes/nred.md)). Asks of routers: the scheme. Hosts stay as they "
        "are.",
        (NRED,),
    ),
    Section(
        "DiffQ",
        "A packet waits while the next hop has a longer queue, and a source looks at the queue in "
        "front of it ([DiffQ](schemes/diffq.md)). Asks of routers: the scheme, and a trailer in each "
        "packet. Asks of hosts: its senders.",
        (DIFFQ,),
    ),
    Section(
        "C3L",
        "A controller knows who hears whom, and gives each link and each flow its share of the air "
        "([C3L](schemes/c3l.md)). Asks of routers: the scheme, and a controller at one of them. Asks "
        "of hosts: its senders.",
        (C3L,),
    ),
    Section(
        "QFCP",
        "Routers and access points write the rate of a flow into its packets "
        "([QFCP](schemes/qfcp.md)). Asks of routers: the scheme, and a header in each packet. Asks of "
        "hosts: its senders and receivers.",
        (QFCP,),
    ),
    Section(
        "LBM",
        "An access point marks the packets of both directions by the load of its channel "
        "([LBM](schemes/lbm.md)). Asks of the access point: the scheme. Asks of hosts: TCP with ECN.",
        (LBM,),
    ),
    Section(
        "The airtime allocator",
        "Each pair of neighbours that exchange packets has a share of the time of the air, by what its "
        "nodes hear of the pairs around ([the airtime allocator](schemes/airtime.md)). Asks of routers: "
        "the scheme. Hosts stay as they are.",
        (AIRTIME,),
    ),
    Section(
        "ATP",
        "Routers write into each packet how long the slowest of them takes for one, and sources send at "
        "that rate ([ATP](schemes/atp.md)); flows over TCP are carried by it. Asks of routers: a header in "
        "each packet. Asks of hosts: a transport in place of TCP at both ends.",
        (ATP,),
    ),
    Section(
        "EXACT",
        "Routers measure the bandwidth to each neighbour, divide it among flows, and write the rate into "
        "packets ([EXACT](schemes/exact.md)); flows over TCP are carried by it. Asks of routers: the scheme, "
        "and a header in each packet. Asks of hosts: a transport in place of TCP at both ends.",
        (EXACT,),
    ),
)

KINDS: Mapping[str, Sequence[str]] = {
    "mesh": (
        "three-pairs",
        "exposed-terminal",
        "gateway",
        "grid-64-tcp",
        "four-gateways",
        "building-46",
        "moving",
        "nycmesh",
        "leipzig",
    ),
    "cell": ("access-point", "cell", "mixed-path", "voice-beside-bulk"),
    "other": ("hidden-terminal", "cables-beside-radio", "bielefeld"),
}
"""The scenes by kind of network. A test compares them with those of the suite."""

HEADINGS = {
    "mesh": "meshes and links side by side",
    "cell": "cells: access points with stations",
    "other": "hidden senders that share fairly, and cables",
}
"""The kinds, in words of a heading."""

PLACES = {"mesh": "in meshes", "cell": "in cells", "other": "elsewhere"}
"""The kinds, within a sentence."""

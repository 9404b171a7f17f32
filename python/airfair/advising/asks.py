"""What a change asks of routers and of hosts, in words of an operator."""

from __future__ import annotations

from typing import NamedTuple

from ..experiment import schemes as all_schemes
from ..results import SchemeInfo
from .candidate import Candidate

ROUTERS_OF = {
    "rts": "RTS/CTS at all radios (`iw phy PHY set rts 0`)",
    "retries": "{} attempts for each frame (`iw phy PHY set retry`)",
    "queue": "queues of {} packets (`txqueuelen`)",
    "olsr.metric": "OLSR with the metric {}",
    "routing.protocol": "fixed routes",
}
"""By change: what routers have to be set to."""

HOSTS_OF = {
    "window": "TCP windows of at most {} segments (`ip route change ... window`)",
    "ecn": "ECN at both ends (`net.ipv4.tcp_ecn=1`)",
}
"""By change: what hosts have to be set to."""

ROUTERS_OF_SCHEME = {
    "fq-codel": "a queue for each flow (`tc qdisc ... fq_codel`)",
    "codel": "CoDel (`tc qdisc ... codel`)",
    "red": "RED (`tc qdisc ... red`)",
}
"""By scheme that every Linux has: what routers have to be set to."""

SOURCES = {"source", "receiver"}


class Asks(NamedTuple):
    """What has to be changed, a text for each thing."""

    routers: list[str]
    hosts: list[str]


def asks(candidate: Candidate) -> Asks:
    """What a set of changes asks."""
    found = Asks([], [])
    known = {scheme["name"]: scheme for scheme in all_schemes()}
    for option in candidate.sorted:
        if option.scheme:
            _of_scheme(known[option.scheme], found)
        for change in option.changes:
            name, _, value = change.partition("=")
            value = value.strip("\"'")
            if name in HOSTS_OF:
                found.hosts.append(HOSTS_OF[name].format(value))
            elif name.startswith("tcp."):
                found.hosts.append(change)
            else:
                found.routers.append(ROUTERS_OF.get(name, change).format(value))
    return found


def _of_scheme(scheme: SchemeInfo, found: Asks) -> None:
    name, places = scheme["name"], set(scheme["places"])
    if name in ROUTERS_OF_SCHEME:
        found.routers.append(ROUTERS_OF_SCHEME[name])
    elif places <= SOURCES:
        found.hosts.append(f"the law {name} at senders (`net.ipv4.tcp_congestion_control`)")
    else:
        sees = [want["words"] for want in scheme["wants"]]
        more = f", which needs: {', '.join(sees)}" if sees else ""
        found.routers.append(f"the scheme {name} at each router{more}")
        if places & SOURCES:
            found.hosts.append(f"senders of {name} in place of TCP's law")

"""Settings that a change needs at routers and at hosts, in words of an operator."""

from __future__ import annotations

from typing import NamedTuple

from ..experiment import schemes as all_schemes
from .candidate import Candidate

ROUTERS_OF = {
    "rts": "RTS/CTS",
    "retries": "{} attempts per frame",
    "queue": "queues of {} packets",
    "olsr.metric": "OLSR's metric {}",
    "routing.protocol": "{} routes",
}
"""By change: what routers have to be set to."""

HOSTS_OF = {"window": "TCP windows of {} segments", "ecn": "ECN at both ends"}
"""By change: what hosts have to be set to."""

LINUX = {"fq-codel": "fq_codel", "codel": "codel", "red": "red"}
"""By scheme: the queue discipline of Linux."""

SOURCES = {"source", "receiver"}
"""Places of a scheme at hosts."""


class Asks(NamedTuple):
    """Settings of routers and of hosts, a text for each."""

    routers: list[str]
    hosts: list[str]


def needed(candidate: Candidate) -> Asks:
    """The settings that a set of changes needs."""
    found = Asks([], [])
    for option in candidate.sorted:
        if option.scheme:
            _of_scheme(option.scheme, found)
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


def _of_scheme(name: str, found: Asks) -> None:
    places = next(set(scheme["places"]) for scheme in all_schemes() if scheme["name"] == name)
    if name == "droptail":
        found.routers.append("no scheme")
    elif name in LINUX:
        found.routers.append(f"the queue {LINUX[name]}")
    elif places <= SOURCES:
        found.hosts.append(f"TCP's law {name}")
    else:
        found.routers.append(f"the scheme {name} (in no firmware yet)")
        if places & SOURCES:
            found.hosts.append(f"senders of {name}")

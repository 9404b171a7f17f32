"""The protocols that are compared, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Protocol(NamedTuple):
    """How a run speaks it: flows of "tcp-reno" under a scheme without sources are TCP Reno."""

    scheme: str
    overrides: tuple[str, ...] = ()
    header: int = 0
    """Bytes of the protocol's header in each packet beyond TCP's."""


CLOCK = 'tcp.tick="1 us"'
"""The clock of a scheme that multiplies rates by round-trip times. ns-2's TCP counts ticks of 10
ms, rounded up: a round trip of 12 ms would be 20, and the window by so much too large."""

FOUR: Mapping[str, Protocol] = {
    "TCP Reno": Protocol("droptail"),
    "XCP": Protocol("xcp", (CLOCK,), 20),
    "RCP": Protocol("rcp", (CLOCK,), 16),
    "QFCP": Protocol("qfcp", (CLOCK,), 16),
}
"""Those of figure 1."""

XCP_B: Mapping[str, Protocol] = {"XCP-b": Protocol("xcp-b", (CLOCK,), 20)}
"""XCP for links of unknown capacity (figure 3)."""

PROBED: Mapping[str, Protocol] = {
    "QFCP, probed": Protocol("qfcp", (CLOCK, 'qfcp.capacity="probed"'), 16),
}
"""QFCP that is not told the capacity of any link."""

LEAST: Mapping[str, Protocol] = {"QFCP, least RTT": Protocol("qfcp", (CLOCK, 'qfcp.rtt="least"'), 16)}
"""QFCP with the least round-trip time in equation (3), so that a queue does not make windows larger, which
make the queue longer. The paper has "the sender's estimation", which the simulator takes for the smoothed
one."""

DIVISORS: Mapping[str, str] = {
    "R in force": 'qfcp.divisor="in-force"',
    "R before": 'qfcp.divisor="previous"',
}
"""The other readings of R(t - T) in equation (1): the share in force while y was measured, and the share one
interval earlier. The scheme's own is the mean of both (reasons in `docs/schemes/qfcp.md`)."""

BY_DIVISOR: Mapping[str, Protocol] = {
    f"QFCP, {name}": Protocol("qfcp", (CLOCK, change), 16) for name, change in DIVISORS.items()
}
"""QFCP in these readings."""

PACED: Mapping[str, Protocol] = {"QFCP, paced": Protocol("qfcp", (CLOCK, "qfcp.paced=true"), 16)}
"""QFCP whose segments leave at the granted rate; the paper's senders adjust a window and no more."""

COLOURS: Mapping[str, str] = {
    "TCP Reno": "C7",
    "XCP": "C0",
    "XCP-b": "C9",
    "RCP": "C1",
    "QFCP": "C3",
    "QFCP, paced": "C6",
    "QFCP, probed": "C4",
    "QFCP, least RTT": "C2",
    "QFCP, SACK": "C8",
    "QFCP, no SACK": "C5",
    "QFCP, R in force": "maroon",
    "QFCP, R before": "darkorange",
    "RCP, alpha 0.1": "gold",
    "RCP, alpha 0.1, T = d": "olive",
}
"""The same in all pictures."""

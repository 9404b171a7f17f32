"""Wired networks of routers as overrides of a scenario: links between routers, and flows with hosts of
their own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from airfair_papers.qfcp.common.sharing import Wish, max_min

PACKET = 1000
"""Bytes on the wire."""
HEADERS = 40
"""TCP's and IP's."""
HOST = 'rate="1 Gbit/s", queue_packets=10000'
"""The link of a host: no bottleneck."""


def payload_share(header: int) -> float:
    """How much of a packet is payload, with a scheme's header of so many bytes."""
    return (PACKET - HEADERS - header) / PACKET


@dataclass(frozen=True)
class Bundle:
    """Connections along one path that count as one flow, with a weight of as many as they are."""

    path: Sequence[str]
    """Routers."""
    delay_ms: float = 1.0
    """Of the link between its source and the first router, one way."""
    limit: float = math.inf
    """The most that all of them send, Mbit/s on the wire."""
    connections: int = 1
    own: str = ""
    """Further keys of its flows, such as `scheme="cubic"`."""
    jitter_s: float = 0.5
    """A connection starts within this time."""

    @property
    def links(self) -> list[str]:
        return [f"{a}-{b}" for a, b in pairwise(self.path)]


@dataclass(frozen=True)
class Network:
    """Routers, and what crosses them."""

    rates: Mapping[str, float]
    """Mbit/s of each link, named "a-b" by its routers in the direction of the flows."""
    bundles: Mapping[str, Bundle]
    delay_ms: float = 5.0
    """Of each link between routers."""
    queue_ms: float = 100.0
    """The size of the queue of such a link, at least 20 packets."""
    host: str = HOST
    schemes: Mapping[str, str] = field(default_factory=dict)
    """Of routers that do not have the run's."""
    own: str = ""
    """Further keys of the links between routers."""

    def shares(self) -> dict[str, float]:
        """The max-min fair rate of each bundle, Mbit/s on the wire."""
        wishes = {
            name: Wish(bundle.links, bundle.limit, bundle.connections)
            for name, bundle in self.bundles.items()
        }
        return max_min(self.rates, wishes)

    def queue_packets(self, rate: float) -> int:
        """Room in the queue of a link between routers, of so many Mbit/s."""
        return max(20, round(rate * 1e3 * self.queue_ms / (8 * PACKET)))

    def overrides(self, header: int) -> tuple[str, ...]:
        """It, for flows of TCP Reno or of a scheme with a header of so many bytes."""
        routers = dict.fromkeys(router for link in self.rates for router in link.split("-"))
        links = [
            f'{{ends={_pair(*link.split("-"))}, rate="{rate} Mbit/s", delay="{self.delay_ms} ms", '
            f"queue_packets={self.queue_packets(rate)}{f', {self.own}' * bool(self.own)}}}"
            for link, rate in self.rates.items()
        ]
        hosts, flows = [], []
        for name, bundle in self.bundles.items():
            hosts += [f"{name}-from", f"{name}-to"]
            delay = f'delay="{bundle.delay_ms} ms"'
            links += [
                f"{{ends={_pair(f'{name}-from', bundle.path[0])}, {self.host}, {delay}}}",
                f"{{ends={_pair(bundle.path[-1], f'{name}-to')}, {self.host}}}",
            ]
            flows += [_flow(name, bundle, k, header) for k in range(bundle.connections)]
        nodes = ", ".join(
            f'{{id="{node}", scheme="{self.schemes[node]}"}}' if node in self.schemes else f'{{id="{node}"}}'
            for node in (*routers, *hosts)
        )
        return (f"node=[{nodes}]", f"link=[{', '.join(links)}]", f"flow=[{', '.join(flows)}]")


def _pair(a: str, b: str) -> str:
    return f'["{a}", "{b}"]'


def _flow(name: str, bundle: Bundle, number: int, header: int) -> str:
    """One of its connections: without end, or as much as the limit allows."""
    traffic = 'kind="ftp"'
    if bundle.limit < math.inf:
        payload = bundle.limit * 1e6 / bundle.connections * payload_share(header)
        traffic = f'kind="constant", rate="{payload:.0f} bit/s", packet="{PACKET - HEADERS - header} B"'
    own = f", {bundle.own}" if bundle.own else ""
    return (
        f'{{id="{name}.{number}", from="{name}-from", to="{name}-to", transport="tcp-reno", '
        f'start_jitter="{bundle.jitter_s} s", traffic={{{traffic}}}{own}}}'
    )

"""Flooding in Python: each node sends each packet of a flow over UDP once, by a broadcast.

    airfair run scenario.toml --schemes-from examples/schemes/flood.py --scheme py-flood

A packet costs as many transmissions as the network has nodes, less one; MORE and ExOR do with fewer.
"""

from __future__ import annotations

import struct

from airfair.scheme import (
    AgentSetup,
    Context,
    Forwarder,
    HeardBroadcast,
    Made,
    NativePacket,
    Scheme,
    integer,
    register,
)


class Flood(Forwarder):
    """The header of a broadcast has the flow, the number of the packet, and its destination."""

    def __init__(self, most: int = 50) -> None:
        self.most = most
        self.known: set[bytes] = set()
        self.waiting: list[tuple[bytes, int]] = []

    def on_start(self, setup: AgentSetup, context: Context) -> None:
        self.node = setup.node

    def room(self, flow: int, destination: int) -> int:
        return max(0, self.most - len(self.waiting))

    def on_packet(self, packet: NativePacket, context: Context) -> None:
        header = struct.pack("!III", packet.flow, packet.number, packet.destination)
        self.known.add(header)
        self.waiting.append((header, packet.bytes))

    def on_heard(self, heard: HeardBroadcast, context: Context) -> None:
        if len(heard.header) != 12 or heard.header in self.known:
            return
        self.known.add(heard.header)
        flow, number, destination = struct.unpack("!III", heard.header)
        if destination == self.node:
            context.deliver(flow, number)
        elif len(self.waiting) < self.most:
            self.waiting.append((heard.header, heard.content))

    def ready(self, now: int) -> int | None:
        return 0 if self.waiting else None

    def make(self, context: Context) -> Made | None:
        if not self.waiting:
            return None
        header, content = self.waiting.pop(0)
        return Made(struct.unpack("!I", header[:4])[0], header, content)


@register
class FloodScheme(Scheme):
    """each node sends each packet once"""

    name = "py-flood"
    origin = "an example"
    most = integer(50, "packets that a node stores", low=1, high=10_000)

    def forwarder(self) -> Forwarder:
        return Flood(self.most)

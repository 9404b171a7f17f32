"""Drop-tail in Python: first in, first out, refuses what arrives when it is full.

    airfair run scenarios/three-pairs.toml --schemes-from examples/schemes/droptail.py --scheme py-droptail

It gives the results of `droptail`, byte for byte.
"""

from __future__ import annotations

from collections import deque

from airfair.scheme import Context, Drop, Packet, Queue, Scheme, register


class DropTail(Queue):
    """A first-in first-out queue of bounded length."""

    def __init__(self, limit_packets: int) -> None:
        self.packets: deque[Packet] = deque()
        self.limit_packets = limit_packets

    def enqueue(self, packet: Packet, context: Context) -> Drop | None:
        if len(self.packets) >= self.limit_packets:
            return Drop("queue-full")
        self.packets.append(packet)
        return None

    def peek(self, context: Context) -> Packet | None:
        return self.packets[0] if self.packets else None

    def commit(self) -> Packet:
        return self.packets.popleft()


@register
class DropTailScheme(Scheme):
    """first in, first out; what arrives at a full queue is dropped"""

    name = "py-droptail"
    origin = "baseline of all five papers"

    def queue(self, limit_packets: int) -> Queue:
        return DropTail(limit_packets)

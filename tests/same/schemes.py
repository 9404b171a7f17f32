"""A scheme in Python that uses what the examples leave out: timers, pacing, random draws, marks and drops of
packets that are stored already, displaced packets."""

from __future__ import annotations

from collections import deque

from airfair.scheme import (
    Acked,
    Allowance,
    Congestion,
    Context,
    Displaced,
    Drop,
    FlowSetup,
    Idle,
    Packet,
    Queue,
    Scheme,
    Sent,
    Source,
    integer,
    register,
)

TICK = 50_000_000


class Pacer(Source):
    """A window that grows by a timer, and is halved at congestion; paced over the last round-trip time."""

    def __init__(self, segments: int) -> None:
        self.segments = segments
        self.mss, self.window, self.rtt = 0, 0, 1

    def on_start(self, setup: FlowSetup, context: Context) -> None:
        self.mss = setup.mss
        self.limit = setup.window_limit
        self.window = min(self.segments * setup.mss, setup.window_limit)
        self.rtt = setup.rtt or 100_000_000
        context.set_timer(1, context.now + TICK + context.random.below(TICK))

    def on_timer(self, timer: int, context: Context) -> None:
        self.window = min(self.window + self.mss, self.limit)
        context.set_timer(timer, context.now + TICK + context.random.below(TICK))

    def on_sent(self, sent: Sent, context: Context) -> None:
        if sent.retransmission:
            self.window = max(self.window - self.mss // 4, 2 * self.mss)

    def on_acked(self, acked: Acked, context: Context) -> None:
        if acked.rtt is not None:
            self.rtt = acked.rtt

    def on_congestion(self, congestion: Congestion, context: Context) -> None:
        self.window = max(congestion.in_flight // 2, 2 * self.mss)

    def on_idle(self, idle: Idle, context: Context) -> None:
        self.window = 2 * self.mss

    def allowance(self, now: int) -> Allowance:
        rate = max(2 * 8_000_000_000 * self.window // self.rtt, 8_000)
        return Allowance(window=self.window, rate=rate, quantum=2 * self.mss)


class Scatter(Queue):
    """Acknowledgements first. A full queue pushes out a packet that is drawn; packets that it stores are now
    and then marked or dropped."""

    def __init__(self, limit_packets: int) -> None:
        self.limit_packets = limit_packets
        self.acks: deque[Packet] = deque()
        self.others: deque[Packet] = deque()
        self.marked: set[int] = set()

    def enqueue(self, packet: Packet, context: Context) -> Drop | Displaced | None:
        queue = self.acks if packet.kind == "ack" else self.others
        if len(self.acks) + len(self.others) >= self.limit_packets:
            if not self.others or context.random.uniform() < 0.5:
                return Drop("refused")
            at = context.random.below(len(self.others))
            out = self.others[at]
            del self.others[at]
            self.marked.discard(out.id)
            queue.append(packet)
            return Displaced(out, "pushed-out")
        # Only of what is stored already: not of the packet that arrives.
        draw = context.random.below(64)
        if draw == 0 and len(self.others) > 3:
            out = self.others.pop()
            self.marked.discard(out.id)
            context.drop(out.id, "scattered")
        elif draw < 4 and self.others and self.others[-1].ecn == "ect":
            last = self.others[-1].id
            if last not in self.marked:
                self.marked.add(last)
                context.mark(last, "scattered")
        queue.append(packet)
        return None

    def peek(self, context: Context) -> Packet | None:
        return self.acks[0] if self.acks else self.others[0] if self.others else None

    def commit(self) -> Packet:
        packet = self.acks.popleft() if self.acks else self.others.popleft()
        self.marked.discard(packet.id)
        return packet


@register
class ScatterScheme(Scheme):
    """for comparing results; no good for anything else"""

    name = "py-scatter"
    origin = "a test"

    segments = integer(4, "first window", low=1, high=100)

    def source(self) -> Source:
        return Pacer(self.segments)

    def queue(self, limit_packets: int) -> Queue:
        return Scatter(limit_packets)

"""RED in Python: drops at random before the queue is full, more often the longer its average length.

    airfair compare scenarios/three-pairs.toml --schemes-from examples/schemes/red.py --schemes red,py-red

Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993,
figure 2. The law of `crates/schemes/red` with its usual settings (no `gentle`, `wait`, `ecn`): the results of
`red`, byte for byte. All of it is fixed point with 32 binary places, as there.
"""

from __future__ import annotations

from airfair.scheme import Aqm, Context, Drop, Packet, ParamError, QueueView, Scheme, number, register, time

ONE = 1 << 32
"""1 with 32 binary places."""


def fixed(value: float) -> int:
    """The nearest number with 32 binary places."""
    return int(value * ONE + 0.5)


def power(base: int, exponent: int) -> int:
    """`base` to the power of `exponent` by repeated squaring; both `base` and the result are at most 1."""
    result = ONE
    while exponent > 0:
        if exponent % 2 == 1:
            result = result * base >> 32
        base = base * base >> 32
        exponent //= 2
    return result


class Red(Aqm):
    """RED at one queue. Lengths and probabilities have 32 binary places."""

    def __init__(self, scheme: RedScheme) -> None:
        self.min_th = fixed(scheme.min_th)
        self.max_th = fixed(scheme.max_th)
        self.weight = fixed(scheme.weight)
        self.max_p = fixed(scheme.max_p)
        self.mean_packet_time = scheme.mean_packet_time
        self.average = 0
        self.count: int | None = None  # arrivals since the last early drop; None is the paper's -1
        self.idle_since: int | None = None  # as far as the average does not know of it

    def observe(self, packets: int, now: int) -> None:
        """Take the queue that a packet finds into the average."""
        if packets > 0:
            self.average = ((ONE - self.weight) * self.average + self.weight * (packets << 32)) >> 32
        elif self.idle_since is not None:
            missed = (now - self.idle_since) // self.mean_packet_time
            self.average = self.average * power(ONE - self.weight, missed) >> 32
            self.idle_since += missed * self.mean_packet_time

    def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | None:
        self.observe(queue.packets, context.now)
        if self.average < self.min_th:
            self.count = None
            return None
        if self.average >= self.max_th:
            self.count = 0
            return Drop("red-forced")
        base = (self.average - self.min_th) * self.max_p // (self.max_th - self.min_th)
        count = 0 if self.count is None else self.count + 1
        left = ONE - count * base
        spread = min((base << 32) // left, ONE) if left > 0 else ONE
        if context.random.next_u32() >= spread:
            self.count = count
            return None
        self.count = 0
        return Drop("red-early")

    def on_dequeue(self, packet: Packet, queue: QueueView, context: Context) -> None:
        if queue.packets <= 1:
            self.idle_since = context.now


@register
class RedScheme(Scheme):
    """drops at random, more often the longer the average queue"""

    name = "py-red"
    origin = "Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993"

    min_th = number(5, "average queue (packets) below which every packet passes", low=0, high=1e6)
    max_th = number(15, "average queue (packets) from which every packet is dropped", low=0, high=1e6)
    weight = number(0.002, "w of the moving average, for each arrival", low=1e-6, high=1)
    max_p = number(0.1, "probability at max_th", low=0, high=1)
    mean_packet_time = time("4 ms", "how long a typical packet takes to send", low="1 us", high="10 s")

    def check(self) -> None:
        if fixed(self.max_th) <= fixed(self.min_th):
            raise ParamError("max_th", "expected a threshold above min_th")

    def aqm(self) -> Aqm:
        return Red(self)

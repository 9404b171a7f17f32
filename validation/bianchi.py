"""Bianchi's model of a saturated DCF cell, solved exactly.

Source: G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function", IEEE JSAC
18(3), March 2000. Equation numbers below are those of that paper, the formulas in our own words.

The model takes the collision probability p of an attempt as constant. A station then attempts in a slot with
a probability tau that follows from p, W and m (eq. 7), and p is the chance that one of the n-1 others
attempts too (eq. 9). The pair has one solution, found here by bisection to the last bit. Throughput is
payload per mean length of a slot (eq. 13).

Two refinements, which ns-3's tables use, are switches of `phy.Settings` (from the family of I. Tinnirello, G.
Bianchi, Y. Xiao, "Refinements on IEEE 802.11 DCF modeling approaches", IEEE TVT 59(3), 2010):
`resend_after_success` (a winner sends again at once with probability B = 1/(CWmin+1), so that a success
stands for 1/(1-B) exchanges), and `extra_slot` (a frozen station cannot send in the first slot after a busy
period).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .phy import Durations, ExtraSlot, Settings


@dataclass(frozen=True)
class Solution:
    """The model's solution for a cell of `n` stations."""

    n: int
    tau: float
    """Probability that a station attempts in a slot."""
    collision_probability: float
    """Probability that an attempt collides."""
    throughput_mbps: float
    """Payload of all stations, Mbit/s."""
    idle_slots: float
    """Mean number of empty slots between two busy periods."""


def attempt_probability(p: float, window: int, stages: int) -> float:
    """Return tau for a collision probability `p` (eq. 7, the quotient as a sum, so that p = 1/2 is harmless).

    `window` is W = CWmin + 1, `stages` is m, the number of doublings; retries are endless.
    """
    doublings = sum((2 * p) ** i for i in range(stages))
    return 2 / (1 + window + p * window * doublings)


def fixed_point(n: int, window: int, stages: int) -> tuple[float, float]:
    """The pair (tau, p) of `n` stations (eq. 7 and 9). Exact to the last bits; no iteration limit to tune."""
    if n < 1 or window < 1 or stages < 0:
        raise ValueError(f"need n >= 1, W >= 1, m >= 0; got n={n}, W={window}, m={stages}")
    low, high = 0.0, 1.0
    while True:
        tau = (low + high) / 2
        if tau in (low, high):
            return tau, collision_probability(tau, n)
        if attempt_probability(collision_probability(tau, n), window, stages) > tau:
            low = tau
        else:
            high = tau


def collision_probability(tau: float, n: int) -> float:
    """Probability that one of the other n-1 stations attempts in the same slot (eq. 9)."""
    return 1 - (1 - tau) ** (n - 1)


def throughput_mbps(
    tau: float, n: int, times: Durations, *, resend: float = 0.0, extra_slot: ExtraSlot = "none"
) -> float:
    """Payload per time when each of `n` stations attempts with probability `tau` (eq. 10 to 13), Mbit/s.

    `resend` is B, the probability that the winner sends again at once after a success.
    """
    busy = 1 - (1 - tau) ** n
    success = n * tau * (1 - tau) ** (n - 1)
    success_us = times.success_us / (1 - resend) + (times.slot_us if extra_slot != "none" else 0.0)
    collision_us = times.collision_us + (times.slot_us if extra_slot == "every" else 0.0)
    mean_us = (1 - busy) * times.slot_us + success * success_us + (busy - success) * collision_us
    return success * times.payload_bits / (1 - resend) / mean_us


def solve(settings: Settings, n: int) -> Solution:
    """Bianchi's answer for `n` saturated stations under `settings`, basic access or RTS/CTS."""
    window = settings.phy.cw_min + 1
    tau, p = fixed_point(n, window, settings.stages)
    resend = 1 / window if settings.resend_after_success else 0.0
    busy = 1 - (1 - tau) ** n
    return Solution(
        n=n,
        tau=tau,
        collision_probability=p,
        throughput_mbps=throughput_mbps(
            tau, n, settings.durations(), resend=resend, extra_slot=settings.extra_slot
        ),
        idle_slots=(1 - busy) / busy,
    )


def paper_durations(*, rts: bool) -> Durations:
    """The numerical example of the 2000 paper (its Table II): 1 Mbit/s, so a bit is a microsecond.

    Payload 8184 bits, MAC header 272, PHY header 128, ACK 112 + 128, RTS 160 + 128, CTS 112 + 128, slot 50
    us, SIFS 28 us, DIFS 128 us, propagation 1 us a frame; exchanges as in eq. 14 (basic) and 17 (RTS/CTS).
    """
    payload, header, ack, request, clear = 8184.0, 272.0 + 128.0, 240.0, 288.0, 240.0
    sifs, difs, delay, slot = 28.0, 128.0, 1.0, 50.0
    data = header + payload + sifs + delay + ack + difs + delay
    if not rts:
        return Durations(slot, data, header + payload + difs + delay, payload)
    return Durations(
        slot, request + sifs + delay + clear + sifs + delay + data, request + difs + delay, payload
    )


def paper_throughput(n: int, window: int, stages: int, *, rts: bool) -> float:
    """Normalised saturation throughput of the 2000 paper: fraction of time that carries payload bits."""
    tau, _ = fixed_point(n, window, stages)
    return throughput_mbps(tau, n, paper_durations(rts=rts))


def paper_maximum(n: int, *, rts: bool) -> float:
    """The largest normalised throughput that any common attempt probability reaches (the paper's section V),
    by search."""
    times = paper_durations(rts=rts)
    golden = (math.sqrt(5) - 1) / 2
    low, high = 0.0, 1.0 / n + 0.1
    while high - low > 1e-9:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if throughput_mbps(left, n, times) > throughput_mbps(right, n, times):
            high = right
        else:
            low = left
    return throughput_mbps((low + high) / 2, n, times)


def paper_k() -> float:
    """The paper's K for basic access (eq. 28): square root of half a collision in slots. The optimal tau is
    near 1/(n K)."""
    times = paper_durations(rts=False)
    return math.sqrt(times.collision_us / times.slot_us / 2)

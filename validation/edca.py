"""A slot-exact stochastic model of saturated EDCA: counters, windows, AIFS and TXOPs of several categories.

The model plays the rules of IEEE 802.11-2016, 10.22.2, for stations that all hear each other equally loud.
After the medium becomes idle, a category of a station sends at AIFS + counter slots. Of several categories
of one station that would send at the same time the highest one sends, and the others count a failed attempt:
an internal collision. Stations that start within `sensing_us` of each other collide, and all their frames
are lost.

A counter that is frozen when another station starts has counted the slot boundaries since the end of its
AIFS. With `countdown="standard"` the boundary at the end of AIFS counts, as in 10.22.2.4 (and in ns-3); with
"dcf" only whole slots count, as for DCF in 10.3.4.3.

The senders of a collision wait for their ACK time-out before AIFS, the others do not. The model knows no
EIFS. Frames within a TXOP limit follow SIFS after each ACK, while they fit; then a CF-End closes the TXOP if
it fits, otherwise the NAV of the others lasts to the limit.

Nothing here uses the simulator. `validation/tests/test_edca.py` compares the model with ns-3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .phy import ACK_BYTES, DSSS, OFDM, Phy

REPLICAS = 100
NEVER = 1 << 60

Countdown = Literal["standard", "dcf"]


@dataclass(frozen=True)
class Category:
    """An access category; `txop_us` 0 allows one frame."""

    aifsn: int
    cw_min: int
    cw_max: int
    txop_us: int = 0


CATEGORIES: dict[str, tuple[Category, ...]] = {
    "802.11a": (
        Category(7, 15, 1023),
        Category(3, 15, 1023),
        Category(2, 7, 15, 4096),
        Category(2, 3, 7, 2080),
    ),
    "802.11b": (
        Category(7, 31, 1023),
        Category(3, 31, 1023),
        Category(2, 15, 31, 6016),
        Category(2, 7, 15, 3264),
    ),
}
"""The standard's four categories (table 9-137, ns-3's limits): AC_BK, AC_BE, AC_VI, AC_VO."""

DIFFQ = tuple(
    Category(aifsn, 2**low - 1, 2**high - 1)
    for aifsn, low, high in zip(
        (7, 6, 6, 6, 3, 3, 3, 2), (5, 5, 5, 5, 4, 3, 2, 1), (10, 9, 8, 7, 5, 4, 3, 3), strict=True
    )
)
"""DiffQ's eight levels (table 1 of the paper), from the lowest priority to the highest."""


@dataclass(frozen=True)
class Timing:
    """Durations of a cell in us."""

    slot: float
    sifs: float
    data: float
    ack: float
    ack_timeout: float
    cf_end: float
    payload_bits: int

    @staticmethod
    def of(
        phy: Phy, data_mbps: float, control_mbps: float, payload_bytes: int, overhead_bytes: int
    ) -> Timing:
        """A frame of `payload_bytes` and `overhead_bytes`, ACK and CF-End (20 bytes) at the control rate.

        The ACK time-out is SIFS, a slot and the time until a PHY has announced a frame: preamble and header.
        """
        header_us = 192 if phy.modulation == "dsss" else 20
        return Timing(
            phy.slot_us,
            phy.sifs_us,
            phy.frame_us(payload_bytes + overhead_bytes, data_mbps),
            phy.frame_us(ACK_BYTES, control_mbps),
            phy.sifs_us + phy.slot_us + header_us,
            phy.frame_us(20, control_mbps),
            8 * payload_bytes,
        )

    def burst(self, category: Category) -> tuple[int, float, float]:
        """Frames of a TXOP without losses, their time with the last ACK and CF-End, and how much longer the
        NAV of others lasts: to the TXOP limit if no CF-End fits."""
        exchange = self.data + self.sifs + self.ack
        frames = max(1, math.floor((category.txop_us + self.sifs) / (exchange + self.sifs)))
        used = frames * exchange + (frames - 1) * self.sifs
        closing = self.sifs + self.cf_end
        if self.cf_end and category.txop_us and used + closing <= category.txop_us:
            used += closing
        elif category.txop_us:
            return frames, used, max(0, category.txop_us - used)
        return frames, used, 0


def ns3_timing(standard: str) -> Timing:
    """The cell of `peers/ns3/edca.cc`: 1000 bytes of payload in an MPDU of 1066, its rates, CF-End sent."""
    if standard == "802.11a":
        return Timing.of(OFDM, 24, 6, 1000, 66)
    return Timing.of(DSSS, 11, 1, 1000, 66)


@dataclass(frozen=True)
class Shares:
    """The model's counts, by station and category."""

    mbps: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    """Payload, Mbit/s."""
    frames: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    """Share of the delivered frames."""
    error: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    """Standard error of `frames`, from independent replicas."""

    def by_category(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Share of the delivered frames of each category, all stations together."""
        return np.asarray(self.frames.sum(axis=0))


def simulate(
    categories: Sequence[Category],
    stations: Sequence[Sequence[int]],
    timing: Timing,
    *,
    countdown: Countdown = "standard",
    retry_limit: int = 7,
    sensing_us: float = 4,
    busy_periods: int = 200_000,
    seed: int = 1,
) -> Shares:
    """Play `busy_periods` busy periods of saturated stations, each with the categories named by index.

    `sensing_us`: stations that start within this time of each other collide; detecting a preamble takes 4 us.
    `retry_limit`: attempts after which a frame is dropped.
    """
    active = np.zeros((len(stations), len(categories)), dtype=bool)
    for station, indices in enumerate(stations):
        active[station, list(indices)] = True
    if not active.any(axis=1).all() or busy_periods < REPLICAS or retry_limit < 1:
        raise ValueError(f"impossible cell: {stations}, {busy_periods} busy periods, {retry_limit} attempts")
    rng = np.random.default_rng([seed, *map(len, stations), len(categories)])
    slot = round(1000 * timing.slot)
    aifs = np.array([round(1000 * (timing.sifs + c.aifsn * timing.slot)) for c in categories])
    low = np.array([c.cw_min + 1 for c in categories])
    high = np.array([c.cw_max + 1 for c in categories])
    bursts = [timing.burst(c) for c in categories]
    burst_frames = np.array([frames for frames, _, _ in bursts])
    burst_us = np.array([used for _, used, _ in bursts])
    nav = np.array([round(1000 * rest) for _, _, rest in bursts])
    timeout = round(1000 * timing.ack_timeout)
    sensing = round(1000 * sensing_us)

    shape = (REPLICAS, *active.shape)
    window = np.broadcast_to(low, shape).copy()
    counter = np.where(active, np.floor(rng.random(shape) * window).astype(np.int64), 0)
    failures = np.zeros(shape, dtype=np.int64)
    offset = np.zeros((REPLICAS, len(stations)), dtype=np.int64)
    delivered = np.zeros(shape)
    elapsed_us = np.zeros(REPLICAS)
    boundary = 1 if countdown == "standard" else 0
    periods = -(-busy_periods // REPLICAS)
    warm = 200 + 20 * int(active.sum())
    rank = np.arange(len(categories))
    for period in range(warm + periods):
        aifs_end = offset[:, :, None] + aifs
        start = np.where(active, aifs_end + counter * slot, NEVER)
        first = start.min(axis=2)
        wait = first.min(axis=1)
        sending = first <= wait[:, None] + sensing
        due = (start == first[:, :, None]) & sending[:, :, None]
        # Of the categories of a station that are due the highest one sends.
        best = np.where(due, rank, -1).max(axis=2)
        sends = due & (rank == best[:, :, None])
        alone = sending.sum(axis=1) == 1
        since = wait[:, None, None] - aifs_end
        passed = np.where(since >= 0, since // slot + boundary, 0)
        counter = np.where(due, counter, np.maximum(counter - passed, 0))
        # Categories that were due draw anew: from CWmin after a success or a drop, from twice the window
        # otherwise.
        won = sends & alone[:, None, None]
        failures = np.where(due, np.where(won, 0, failures + 1), failures)
        dropped = failures >= retry_limit
        failures[dropped] = 0
        renewed = np.where(won | dropped, low, np.minimum(2 * window, high))
        window = np.where(due, renewed, window)
        drawn = np.floor(rng.random(shape) * window).astype(np.int64)
        counter = np.where(due, drawn, counter)
        winner = best.max(axis=1)
        last = np.where(sending, first, 0).max(axis=1)
        if period >= warm:
            delivered += won * burst_frames
            elapsed_us += last / 1000 + np.where(alone, burst_us[winner], timing.data)
        # The senders of a collision start after their ACK time-out; others when their NAV ends.
        after_txop = np.where(sending, 0, nav[winner][:, None])
        after_collision = np.where(sending, timeout + first - last[:, None], 0)
        offset = np.where(alone[:, None], after_txop, after_collision)
    total = delivered.sum(axis=(1, 2))
    each = delivered / total[:, None, None]
    return Shares(
        mbps=delivered.sum(axis=0) * timing.payload_bits / elapsed_us.sum(),
        frames=delivered.sum(axis=0) / total.sum(),
        error=each.std(axis=0, ddof=1) / math.sqrt(REPLICAS),
    )

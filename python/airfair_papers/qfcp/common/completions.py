"""Completion times of files over a bottleneck, by size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from airfair_papers.qfcp.common.sharing import Floats, processor_sharing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airfair.claims import Measured
    from airfair.recording import Recording
    from airfair.results import Estimate
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

PAYLOAD = 960
"""Bytes of a packet of TCP without its headers."""
HEADERS = 40
"""TCP's and IP's."""


class Sizes(NamedTuple):
    """A class of sizes in packets, both ends included."""

    least: int
    most: int

    @property
    def name(self) -> str:
        if self.least == self.most:
            return f"{self.least} packets"
        return f"{self.least}+ packets" if self.most >= 10**9 else f"{self.least}-{self.most} packets"

    @property
    def middle(self) -> float:
        return math.sqrt(self.least * min(self.most, 3 * self.least))


def _classes(*bounds: int) -> tuple[Sizes, ...]:
    """Classes that begin at these sizes."""
    return tuple(Sizes(a, b - 1) for a, b in zip(bounds, (*bounds[1:], 10**9 + 1), strict=True))


GROUPS = _classes(6, 13, 20, 100, 1000)
"""Those that claims are about. The least file of the distribution has a byte more than five packets."""
FINE = _classes(
    *range(6, 32), 37, 43, 52, 62, 75, 90, 108, 130, 156, 187, 270, 387, 557, 802, 1155, 2400, 5000, 10_000
)
"""Each size up to 30 packets, then classes in proportion."""


class Files(NamedTuple):
    """The files of a run that were done at its end, in the order of their arrivals."""

    start_s: Floats
    bytes: NDArray[np.int64]
    took_s: Floats

    @property
    def packets(self) -> NDArray[np.int64]:
        return -(-self.bytes // PAYLOAD)

    @property
    def stop_s(self) -> float:
        """When the last one arrives."""
        return float(self.start_s.max()) if len(self.start_s) else 0.0

    @property
    def stopped(self) -> NDArray[np.bool_]:
        """Those that were done then."""
        return self.start_s + self.took_s <= self.stop_s

    def inside(self, sizes: Sizes) -> NDArray[np.bool_]:
        packets = self.packets
        return (packets >= sizes.least) & (packets <= sizes.most)

    def wire_bytes(self, header: int = 0) -> NDArray[np.int64]:
        """With the headers of each packet, of which the scheme's is so long."""
        return self.bytes + -(-self.bytes // (PAYLOAD - header)) * (HEADERS + header)

    def load(self, rate_bps: float, header: int = 0) -> float:
        """The offered load up to the last arrival, as a part of the wire's capacity."""
        return float(8 * self.wire_bytes(header).sum() / (rate_bps * self.stop_s)) if self.stop_s else 0.0


def files(recording: Recording) -> Files:
    """Those of a recording."""
    rows = recording.pandas("completions").sort_values(["start_s", "file"])
    return Files(
        rows["start_s"].to_numpy(float), rows["bytes"].to_numpy(int), rows["completion_s"].to_numpy(float)
    )


def means(some: Files, classes: Sequence[Sizes]) -> dict[str, float]:
    """Mean completion time of each class, s; NaN where there is none. What is not done at the stop is left
    out."""
    stopped = some.stopped
    found = {}
    for sizes in classes:
        took = some.took_s[some.inside(sizes) & stopped]
        found[f"{sizes.name} (s)"] = float(took.mean()) if len(took) else float("nan")
    return found


def drained(some: Files, classes: Sequence[Sizes]) -> dict[str, float]:
    """The same of all that are done when the run ends, long after the stop."""
    found = {}
    for sizes in classes:
        took = some.took_s[some.inside(sizes)]
        found[f"drained, {sizes.name} (s)"] = float(took.mean()) if len(took) else float("nan")
    return found


def unfinished(some: Files, started: int, classes: Sequence[Sizes]) -> dict[str, float]:
    """How many files of each class were under way at the stop, and how many were not done at the run's
    end."""
    late = ~some.stopped
    found = {f"unfinished, {sizes.name}": float((some.inside(sizes) & late).sum()) for sizes in classes}
    return found | {"unfinished at the end": float(started - len(some.start_s))}


LARGEST_SMOOTHED = 1000


def unevenness(some: Files) -> float:
    """How far the mean of each size lies from a smooth curve, rms of the logarithm; NaN of too few files.

    The curve is a cubic of the logarithm of the size, fitted to the logarithm of the means, each size
    weighted by its files; what is left is weighted alike, over sizes up to 1000 packets."""
    chosen = some.stopped & (some.packets <= LARGEST_SMOOTHED)
    sizes, at, counts = np.unique(some.packets[chosen], return_inverse=True, return_counts=True)
    if len(sizes) < 10:
        return float("nan")
    mean = np.bincount(at, some.took_s[chosen]) / counts
    x, y = np.log(sizes), np.log(mean)
    # Of a polynomial of the centred logarithm: conditioned well.
    x = (x - x.mean()) / x.std()
    rest = y - np.polyval(np.polyfit(x, y, 3, w=np.sqrt(counts)), x)
    return float(np.sqrt(np.average(rest**2, weights=counts)))


def ideal(some: Files, rate_bps: float, round_trip_s: float) -> Files:
    """The same files at a server that shares its rate equally, from the first moment.

    To the time of processor sharing come a round trip for the connection's set-up and one for the first
    byte and its acknowledgement."""
    work = 8 * some.wire_bytes() / rate_bps
    return some._replace(took_s=processor_sharing(some.start_s, work) + 2 * round_trip_s)


def formula(sizes: Floats, load: float, rate_bps: float, round_trip_s: float) -> Floats:
    """Mean time of processor sharing with Poisson arrivals, by size in packets: x / (C (1 - load)), and two
    round trips (L. Kleinrock, "Queueing Systems", vol. 2, section 4.4; the RCP paper draws the same
    bound)."""
    return 8 * sizes * (PAYLOAD + HEADERS) / (rate_bps * (1 - load)) + 2 * round_trip_s


def curve(
    axes: Axes, numbers: Mapping[str, Estimate], label: str, colour: str | None, style: str = "-"
) -> None:
    """Mean completion time by size, with the interval over the lists."""
    there = [
        (sizes.middle, numbers[f"{sizes.name} (s)"])
        for sizes in FINE
        if f"{sizes.name} (s)" in numbers and not np.isnan(numbers[f"{sizes.name} (s)"]["mean"])
    ]
    at = [middle for middle, _ in there]
    mean = np.array([estimate["mean"] for _, estimate in there])
    half = np.array([estimate["ci95"] or 0.0 for _, estimate in there])
    axes.plot(at, mean, style, color=colour, label=label, linewidth=1.2)
    # Of a logarithmic axis: where an interval reaches zero it goes down to the edge.
    axes.fill_between(at, np.maximum(mean - half, 1e-3), mean + half, color=colour, alpha=0.2, linewidth=0)


def loads(rows: Measured, series: str) -> Estimate:
    """The load that was offered to a series."""
    return rows[series]["numbers"]["offered load"]

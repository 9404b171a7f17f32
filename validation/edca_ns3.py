"""ns-3's saturated access categories: `data/edca-ns3.csv`, means of three runs of `peers/ns3/edca.cc`.

    for seed in 1 2 3: edca --standard=S --txop=T --bk=N --be=N --vi=N --vo=N --all4=N --seed=SEED

Source: ns-3.37, Debian's package, run for this project, November 2026.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from .edca import CATEGORIES, Category

DATA = Path(__file__).resolve().parent / "data" / "edca-ns3.csv"
NAMES = ("bk", "be", "vi", "vo")


@dataclass(frozen=True)
class Row:
    """A configuration: stations with one category each and stations with all four; Mbit/s of payload by
    category in the order of `NAMES`."""

    standard: str
    limits: bool
    """True if TXOP limits are the standard's; if not, all are 0."""
    single: tuple[int, ...]
    with_all: int
    mbps: tuple[float, ...]
    total_mbps: float
    with_all_mbps: tuple[float, ...]
    """Of `mbps`, the part of the stations with all four categories."""
    deviation_mbps: tuple[float, ...]
    """Standard deviation between the runs."""

    @property
    def name(self) -> str:
        """A short name: `802.11a 2 be 2 vi, limits`."""
        counts = [f"{n} {name}" for n, name in zip(self.single, NAMES, strict=True) if n]
        counts += [f"{self.with_all} with all"] * (self.with_all > 0)
        return f"{self.standard} {' '.join(counts)}{', limits' * self.limits}"

    def categories(self) -> tuple[Category, ...]:
        """The four categories."""
        found = CATEGORIES[self.standard]
        return found if self.limits else tuple(replace(category, txop_us=0) for category in found)

    def stations(self) -> list[tuple[int, ...]]:
        """The categories of each station, as indices."""
        single = [(category,) for category, n in enumerate(self.single) for _ in range(n)]
        return [*single, *[(0, 1, 2, 3)] * self.with_all]

    def shares(self) -> list[float]:
        """Share of each category in the total."""
        return [mbps / self.total_mbps for mbps in self.mbps]


def rows() -> list[Row]:
    """All configurations."""
    with DATA.open() as file:
        return [
            Row(
                f"802.11{line['standard']}",
                line["txop"] == "default",
                tuple(int(line[f"n_{name}"]) for name in NAMES),
                int(line["n_all4"]),
                tuple(float(line[f"mbps_{name}"]) for name in NAMES),
                float(line["mbps_total"]),
                tuple(float(line[f"all4_mbps_{name}"]) for name in NAMES),
                tuple(float(line[f"sd_{name}"]) for name in NAMES),
            )
            for line in csv.DictReader(file)
        ]

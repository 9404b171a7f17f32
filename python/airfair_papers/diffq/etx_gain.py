"""MORE and ETX routing on pairs of nodes of the building, one flow alone (ours).

For each pair: broadcasts per packet until the destination decodes, attempts of the MAC per packet of UDP over
the best path by ETX, and what delivery ratios promise, the sum of z and path ETX (forward only, as MORE has
it). Where the sum of z is at least a tenth below path ETX MORE has to send less than ETX routing, elsewhere
at most 5 % more. Beside it the gain in goodput over the best path, of which Chachulski and others (SIGCOMM
2007) publish a median of 95 %, and over ExOR one of 22 %.

**Attempts of UDP** are counted twice: with a source that always has packets, as MORE's has (its hidden
senders collide, and what a relay drops was sent in vain), and with a packet each 112 ms, each alone on the
air: that is path ETX itself, and the stricter of the two.

**Variants** tell why a pair fails: batches of 128 (what a batch of 32 hears beyond the average is sent in
vain), no forwarder left out, DiffQ's slower sources; for both schemes a building in which all nodes sense
each other, without hidden senders, and one in which they hardly ever begin in one slot either.

Pairs: all 183 where z promises a tenth, and 217 of the others in a drawn order that is always the same, by
turns; or all 2070 with `--seeds 2070`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from airfair.claims import MAIN, Claim, Measured, Statistic
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common.deliveries import testbed
from airfair_papers.diffq.common.multipath import VALUES
from airfair_papers.diffq.common.parts import LISTED
from airfair_papers.diffq.common.single import (
    GOODPUT,
    RUN,
    SATURATING,
    SLOW,
    TCP,
    TRANSMISSIONS,
    drawn,
    flow,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from airfair.claims import MeasuredRow
    from airfair.results import Estimate
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

WHERE = "ours; Chachulski and others, section 5"
EXOR = "ExOR"
ETX, ONE_BY_ONE, BEST_TCP = "ETX routing", "ETX routing, one by one", "ETX routing, TCP"
BUILDINGS: Mapping[str, tuple[str, ...]] = {
    "": (),
    "all sense": ("radio.energy_detect=-140 dBm",),
    "no collisions": (
        'duration="60 s"',
        "radio.energy_detect=-140 dBm",
        "radio.categories=dcf",
        "radio.cw_min=1023",
    ),
}
"""As it is; without hidden senders; and with a window in which two seldom draw the same slot, for longer, as
that is slow."""
PROMISED = 0.9
"""Part of path ETX that the sum of z must not exceed where MORE is to send less."""
ELSEWHERE = 1.05
PUBLISHED = 1.95
PUBLISHED_EXOR = 1.22


@dataclass(frozen=True)
class Variant:
    """Opportunistic forwarding in one form."""

    scheme: str = "more"
    values: tuple[str, ...] = ()
    building: str = ""
    """That of ETX routing too."""

    @property
    def overrides(self) -> tuple[str, ...]:
        """Values and scene."""
        return (*RUN, *BUILDINGS[self.building], *(f"{self.scheme}.{value}" for value in self.values))


VARIANTS = {
    "MORE": Variant(),
    "MORE, batch 128": Variant(values=("batch=128",)),
    "MORE, all forwarders": Variant(values=("prune=0",)),
    EXOR: Variant("exor"),
    "DiffQ-MORE, threshold 0": Variant("diffq-more", VALUES["threshold 0"]),
    "MORE, all sense": Variant(building="all sense"),
    "MORE, no collisions": Variant(building="no collisions"),
    "MORE, no collisions, batch 128": Variant(values=("batch=128",), building="no collisions"),
}
READINGS = {name: MAIN if name == "MORE" else name.removeprefix("MORE, ") for name in VARIANTS}


def routed(kind: str, building: str) -> str:
    """The series of ETX routing in a building."""
    return f"{kind}, {building}" if building else kind


def against(variant: str, *, one_by_one: bool) -> str:
    """The series of a variant that is compared with ETX routing's packets, back to back or one by one."""
    return f"{variant}, over one by one" if one_by_one else variant


@lru_cache(maxsize=1)
def ordered() -> tuple[tuple[str, str], ...]:
    """All pairs, those where z promises a tenth and the others by turns, as long as there are both."""
    promised: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for one in drawn():
        etx, z = promise(*one)
        (promised if z <= PROMISED * etx else others).append(one)
    turns = [one for both in zip(promised, others, strict=False) for one in both]
    fewer = min(len(promised), len(others))
    return (*turns, *promised[fewer:], *others[fewer:])


def path(seed: int, *, keys: str) -> tuple[str, ...]:
    """The flow of a seed."""
    return flow(ordered()[seed - 1], keys)


def series() -> list[Series]:
    """Each variant twice, beside each of ETX routing's."""
    found = []
    for building, changes in BUILDINGS.items():
        kinds = {ETX: SATURATING, ONE_BY_ONE: SLOW, **({} if building else {BEST_TCP: TCP})}
        for kind, keys in kinds.items():
            by_seed = partial(path, keys=keys)
            found.append(Series(routed(kind, building), "droptail", (*RUN, *changes), by_seed=by_seed))
    for name, variant in VARIANTS.items():
        for one_by_one in (False, True):
            found.append(
                Series(
                    against(name, one_by_one=one_by_one),
                    variant.scheme,
                    variant.overrides,
                    against=routed(ONE_BY_ONE if one_by_one else ETX, variant.building),
                    by_seed=partial(path, keys=SATURATING),
                )
            )
    return found


@lru_cache(maxsize=10_000)
def promise(source: str, destination: str) -> tuple[float, float]:
    """Path ETX, forward only, and the sum of z."""
    found = testbed()
    return found.distances(destination)[source], sum(found.forwarders(source, destination).values())


def promises(row: MeasuredRow) -> tuple[Values, Values]:
    """Path ETX and sum of z, pair by pair."""
    etx, z = np.array([promise(*ordered()[seed - 1]) for seed in row["seeds"]]).T
    return etx, z


def ratios(row: MeasuredRow, name: str) -> Values:
    """A number over that of the series that this one is compared with, pair by pair; of what is compared with
    itself 1. Infinite where nothing arrived that has a number."""
    own = np.array(row["number_values"][name])
    other = own - np.array(row["number_difference_values"][name])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isnan(own), math.inf, own / other)


def of_pairs(told: str, of: Callable[[Values], float], name: str, *, where: bool | None = None) -> Statistic:
    """A number of the ratios of the pairs where z promises a gain, or does not, or of all. It is one of these
    pairs, and has no interval."""

    def value(row: MeasuredRow) -> Estimate:
        etx, z = promises(row)
        chosen = ratios(row, name)
        if where is not None:
            chosen = chosen[(z <= PROMISED * etx) == where]
        chosen = chosen[~np.isnan(chosen)]
        return {"mean": of(chosen) if len(chosen) else math.nan, "ci95": 0.0}

    return Statistic(told, value, rate=False)


def largest(values: Values) -> float:
    return float(values.max())


def median(values: Values) -> float:
    return float(np.median(values))


def share_below(limit: float, values: Values) -> float:
    return float((values < limit).mean())


LARGEST_PROMISED = of_pairs(
    "largest ratio of transmissions where z promises a tenth", largest, TRANSMISSIONS, where=True
)
FEWER = of_pairs(
    "share of pairs with fewer transmissions where z promises a tenth",
    partial(share_below, 1.0),
    TRANSMISSIONS,
    where=True,
)
LARGEST_ELSEWHERE = of_pairs("largest ratio of transmissions elsewhere", largest, TRANSMISSIONS, where=False)
WITHIN = of_pairs(
    "share of pairs with at most 5 % more transmissions elsewhere",
    partial(share_below, ELSEWHERE),
    TRANSMISSIONS,
    where=False,
)
GAIN = of_pairs("median ratio of goodputs where z promises a tenth", median, GOODPUT, where=True)
GAIN_ELSEWHERE = of_pairs("median ratio of goodputs elsewhere", median, GOODPUT, where=False)


def claims(name: str) -> list[Claim]:
    """On every pair, on nearly all, and in goodput. ETX routing is as much as itself."""
    found = []

    def add(
        text: str,
        statistic: Statistic,
        comparison: Literal["above", "below"],
        value: float,
        *,
        gain: bool,
        one_by_one: bool,
    ) -> None:
        base = routed(ONE_BY_ONE if one_by_one else ETX, VARIANTS[name].building)
        reading = READINGS[name]
        found.append(
            Claim(
                text=text,
                where=WHERE,
                source="ours",
                series=against(name, one_by_one=one_by_one),
                baseline=base if gain else None,
                statistic=statistic,
                comparison=comparison,
                value=value,
                reading=f"{reading}, one by one" if one_by_one else reading,
            )
        )

    for one_by_one in (False, True):
        for text, statistic, comparison, value, gain in (
            (
                "Fewer transmissions on every pair where z promises a tenth",
                LARGEST_PROMISED,
                "below",
                1.0,
                True,
            ),
            ("Fewer transmissions on 95 % of these pairs", FEWER, "above", 0.95, True),
            (
                "At most 5 % more transmissions on every other pair",
                LARGEST_ELSEWHERE,
                "below",
                ELSEWHERE,
                False,
            ),
            ("At most 5 % more transmissions on 95 % of the others", WITHIN, "above", 0.95, False),
        ):
            add(
                text,
                statistic,
                "below" if comparison == "below" else "above",
                value,
                gain=gain,
                one_by_one=one_by_one,
            )
    for text, gained, value in (
        ("More goodput than over the best path on the median pair where z promises a tenth", GAIN, 1.0),
        ("More goodput than over the best path on the median pair elsewhere", GAIN_ELSEWHERE, 1.0),
        ("1.95 times that goodput on the median pair where z promises a tenth", GAIN, PUBLISHED),
    ):
        add(text, gained, "above", value, gain=True, one_by_one=False)
    return found


def draw(rows: Measured, figure: Figure) -> None:
    """Transmissions over what z promises, and goodputs over path ETX."""
    figure.set_size_inches(13.0, 8.0)
    (top, bottom) = figure.subplots(2, 3)
    shown = ("MORE", "MORE, all sense", "MORE, no collisions, batch 128")
    for upper, lower, name in zip(top, bottom, shown, strict=True):
        row = rows[against(name, one_by_one=True)]
        etx, z = promises(row)
        upper.plot(z / etx, ratios(row, TRANSMISSIONS), ".", markersize=3, label="packets one by one")
        saturated = rows[against(name, one_by_one=False)]
        upper.plot(z / etx, ratios(saturated, TRANSMISSIONS), ".", markersize=3, label="saturating")
        upper.plot([0.6, 1.05], [0.6, 1.05], "k:", linewidth=1, label="as promised")
        upper.axhline(1, color="0.7", linestyle=":")
        upper.axvline(PROMISED, color="0.7", linestyle=":")
        upper.set_ylim(0, 3)
        upper.set_xlabel("sum of z over path ETX")
        upper.set_ylabel("transmissions, of ETX routing's")
        upper.set_title(name, fontsize="small")
        gains = 100 * (ratios(saturated, GOODPUT) - 1)
        lower.plot(etx, gains, ".", markersize=3)
        lower.axhline(100 * (PUBLISHED - 1), color="k", linestyle="--", label="published, over the best path")
        lower.axhline(100 * (PUBLISHED_EXOR - 1), color="k", linestyle=":", label="published, over ExOR")
        lower.axhline(0, color="0.7", linestyle=":")
        lower.set_ylim(-100, 200)
        lower.set_xlabel("path ETX")
        lower.set_ylabel("gain in goodput over the best path (%)")
    top[0].legend(fontsize="x-small")
    bottom[0].legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="MORE and ETX routing on pairs of nodes: transmissions and goodput",
    scenario=LISTED,
    series=tuple(series()),
    claims=tuple(claim for name in VARIANTS for claim in claims(name)),
    draw=draw,
    seeds=400,
    quick_seeds=20,
    read=read,
    interval="20 s",
    small=('duration="2 s"', 'warmup="0 s"'),
)

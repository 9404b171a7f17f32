"""Table 2: MORE and TCP-SACK, and (ours) ExOR and plain UDP, alone over paths of one to four hops.

The paper: MORE 1.87, 1.25, 0.94 and 0.62 Mbit/s, TCP 4.25, 2.29, 1.45 and 1.25. MORE is "lower than TCP"
because the paper's codes in user space on 266 MHz, which is not modelled: its nodes code in no time. What is
left is the order of hops, and TCP's printed values, read as within a third. Twenty drawn pairs of nodes for
each number of hops of the static routes, 20 s each.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common.multipath import STATIC
from airfair_papers.diffq.common.parts import LISTED
from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.single import (
    GOODPUT,
    INNOVATIVE,
    RUN,
    SATURATING,
    TCP,
    flow,
    pair,
    read,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.1, table 2"
HOPS = (1, 2, 3, 4)
PRINTED = {"MORE": (1.87, 1.25, 0.94, 0.62), "TCP": (4.25, 2.29, 1.45, 1.25)}
MORE, EXOR, SACK, UDP = "MORE", "ExOR", "TCP", "UDP"
PROTOCOLS = {
    MORE: ("more", SATURATING),
    EXOR: ("exor", SATURATING),
    SACK: ("droptail", TCP),
    UDP: ("droptail", SATURATING),
}
FORWARDING = (MORE, EXOR)
LEVELS = {STATIC: (), f"{STATIC}, DCF": ("radio.categories=dcf",)}


def name(protocol: str, hops: int, reading: str) -> str:
    """The name of a series."""
    return f"{protocol}, {hops} hop{'s' if hops > 1 else ''}{'' if reading == STATIC else ', DCF'}"


def path(seed: int, *, hops: int, keys: str) -> tuple[str, ...]:
    """The flow of a seed."""
    return flow(pair(seed, hops), keys)


def claims(reading: str) -> list[Claim]:
    """The order of hops, and printed values."""
    found = []

    def add(
        text: str,
        series: str,
        comparison: Literal["above", "below"],
        *,
        value: float = 0.0,
        than: str | None = None,
        statistic: str = GOODPUT,
        paired: bool = False,
        ours: bool = False,
        told: str = "",
    ) -> None:
        of = number(statistic)
        found.append(
            Claim(
                text=text,
                where=WHERE,
                source="ours" if ours else "paper",
                series=series,
                baseline=None,
                statistic=of,
                comparison=comparison,
                value=value,
                bound=of if than else None,
                bound_series=than,
                paired=paired,
                reading=f"{reading}{told}",
            )
        )

    for protocol in (*FORWARDING, SACK):
        countings = {GOODPUT: "", **({INNOVATIVE: ", innovative"} if protocol == MORE else {})}
        for fewer, more in pairwise(HOPS):
            for statistic, told in countings.items():
                add(
                    f"{protocol}: less over {more} hops than over {fewer}",
                    name(protocol, more, reading),
                    "below",
                    than=name(protocol, fewer, reading),
                    statistic=statistic,
                    ours=protocol not in PRINTED,
                    told=told,
                )
    for hops, printed in zip(HOPS, PRINTED[SACK], strict=True):
        one = name(SACK, hops, reading)
        text = f"TCP over {hops} hop{'s' if hops > 1 else ''}"
        add(f"{text}: above two thirds of {printed:g} Mbit/s", one, "above", value=printed * 2 / 3)
        add(f"{text}: below four thirds of {printed:g} Mbit/s", one, "below", value=printed * 4 / 3)
    for hops in HOPS:
        add(
            f"MORE has less than TCP over {hops} hop{'s' if hops > 1 else ''}",
            name(MORE, hops, reading),
            "below",
            than=name(SACK, hops, reading),
            paired=True,
        )
        add(
            f"MORE has more than saturating UDP over {hops} hop{'s' if hops > 1 else ''}",
            name(MORE, hops, reading),
            "above",
            than=name(UDP, hops, reading),
            paired=True,
            ours=True,
        )
    return found


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs by hops, level 0 and DCF, beside the printed ones."""
    for axes, reading in zip(figure.subplots(1, len(LEVELS)), LEVELS, strict=True):
        groups = {
            protocol: [number(GOODPUT).of(rows[name(protocol, hops, reading)]) for hops in HOPS]
            for protocol in PROTOCOLS
        }
        bars(axes, list(map(str, HOPS)), groups, along="hops")
        for (protocol, values), marker in zip(PRINTED.items(), "x*", strict=True):
            axes.plot(range(len(HOPS)), values, f"k{marker}", label=f"{protocol}, printed")
        axes.set_ylabel("goodput (Mbit/s)")
        axes.set_title("level 0" if reading == STATIC else "DCF")
        axes.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="MORE, TCP and UDP alone by the number of hops",
    scenario=LISTED,
    series=tuple(
        Series(
            name(protocol, hops, reading),
            scheme,
            (*RUN, *changes),
            by_seed=partial(path, hops=hops, keys=keys),
        )
        for reading, changes in LEVELS.items()
        for protocol, (scheme, keys) in PROTOCOLS.items()
        for hops in HOPS
    ),
    claims=tuple(claim for reading in LEVELS for claim in claims(reading)),
    draw=draw,
    read=read,
    interval="20 s",
    small=('duration="2 s"', 'warmup="0 s"'),
)

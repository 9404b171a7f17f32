"""Figures 9 to 11: C3L and the others in networks of one kind; what is claimed of them.

**Readings.** Main: DSDV on the air, as the paper says (section IV); *static routes*. *Local limit*: a node's
own flows keep short queues, as Linux has it, for all but C3L. *All cliques lose*, *W in the allocation*: what
Algorithm 1 does not say (docs/schemes/c3l.md). *Arrivals*: nodes take what arrives of a flow for its sending
rate (section III-E), not what its source states in the header.

**Comparable** averages are read as four fifths and more of the other's. *By hops*: of each flow's rate times
its hops, since the paper's reason for a smaller average is that flows of more hops, which C3L gives more,
take more of the radios; "comparable" then says that as much is sent in the network. The figure of rates by
flow (11) has kbit/s: in *kbit/s* the largest flow is compared as it stands, otherwise by the mean. **No flow
is starved** as fewer than one in ten networks with a flow below 1 kbit/s.

**ATP, EXACT and C3L** have a reliable and an unreliable series each (`common.rivals`), and are compared with
those of the same kind. A claim that C3L has more or is fairer than a rival must be false of TCP NewReno in
its place; that no flow starves must be false of the rival, and that a rival starves flows of C3L. Beside TCP,
C3L is unreliable in the main reading (section V), and *reliable* in another one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured, number

from airfair_papers.c3l.common import networks, rivals
from airfair_papers.c3l.common.networks import (
    BELOW_TENTH,
    BY_HOPS,
    JAIN,
    LARGEST,
    LEAST,
    MEAN,
    MOST,
    STARVING,
    TOTAL_SHARE,
    name,
)
from airfair_papers.c3l.common.scenes import (
    BESIDE,
    C3L,
    DRAWN_ROUTES,
    LIMIT,
    LIMITED,
    NEWRENO,
    OTHERS,
    READINGS,
    RELIABLE,
    STATIC,
    TCPS,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from airfair.paper import Series
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COMPARABLE = 0.8
HOPS, BITS = "by hops", "kbit/s"
"""Further readings of the average and of the largest flow."""
CHANGED = {
    reading: READINGS[reading]
    for reading in (
        "all cliques lose",
        "W in the allocation",
        "arrivals",
        "C_max is the rate of frames",
        "r counts retransmissions",
    )
}
"""Readings of C3L that are judged, against the others with the routes of the main one."""
BY_READING: dict[str, tuple[str, str]] = {
    MAIN: (MAIN, MAIN),
    STATIC: (STATIC, STATIC),
    LIMIT: (MAIN, LIMIT),
    **{reading: (reading, MAIN) for reading in CHANGED},
}
"""Of each reading the ends of the names of C3L's series and of the others'."""


def all_series(kind: str) -> tuple[Series, ...]:
    """Every protocol over both kinds of routes, the others also with short local queues, C3L changed."""
    everyone = (*OTHERS, *BESIDE, *rivals.LAWS)
    return (
        *(networks.series(kind, protocol, routes) for routes in DRAWN_ROUTES for protocol in everyone),
        *(networks.series(kind, protocol, LIMIT, LIMITED[LIMIT]) for protocol in TCPS),
        *(networks.series(kind, C3L, reading, changes) for reading, changes in CHANGED.items()),
        *(
            networks.series(kind, rival, reading, rivals.READINGS[rival][reading])
            for rival, reading in rivals.CHANGED
        ),
    )


def claim(
    text: str,
    where: str,
    statistic: str,
    comparison: Literal["above", "below"],
    reading: str,
    *,
    factor: float = 1.0,
    gain: bool = True,
    also: str = MAIN,
) -> Claim:
    """C3L against each TCP, network by network. `also`: a reading of the statistic."""
    own, theirs = BY_READING[reading]
    return Claim(
        text=text,
        where=where,
        source="paper",
        series=name(C3L, own),
        baseline=name(NEWRENO, theirs) if gain else None,
        statistic=number(statistic),
        comparison=comparison,
        bound=number(statistic),
        bound_series=tuple(name(tcp, theirs) for tcp in TCPS),
        factor=factor,
        paired=True,
        reading=told(reading, also),
        about=("routing", "dsdv", "radio.local_limit", "radio.backpressure", "tcp.sack"),
    )


BESIDE_RIVALS = [
    *((rival, routes, MAIN) for rival in rivals.PARTNER for routes in DRAWN_ROUTES),
    *((rival, MAIN, law) for rival, law in rivals.CHANGED),
]
"""Each rival, over both kinds of routes, and in the readings of its law."""


def reliable(claims: Iterable[Claim]) -> list[Claim]:
    """Those of C3L beside TCP that are about C3L as it is, of the reliable one."""
    return [
        replace(one, series=name(RELIABLE, routes), reading=told("reliable", one.reading))
        for one in claims
        for routes in DRAWN_ROUTES
        if one.series == name(C3L, routes) and LIMIT not in one.reading
    ]


def than_rival(
    text: str,
    where: str,
    statistic: str,
    comparison: Literal["above", "below"],
    shown: tuple[str, str, str],
    *,
    factor: float = 1.0,
    gain: bool = True,
    also: str = MAIN,
) -> Claim:
    """C3L against a rival, over some routes and in a reading of its law; false of NewReno. `{}` in the text
    stands for C3L, and a second one for the rival."""
    rival, routes, law = shown
    own = rivals.PARTNER[rival]
    return Claim(
        text=text.format(own, rival),
        where=where,
        source="paper",
        series=name(own, routes),
        baseline=name(NEWRENO, routes) if gain else None,
        statistic=number(statistic),
        comparison=comparison,
        bound=number(statistic),
        bound_series=name(rival, told(routes, law)),
        factor=factor,
        paired=True,
        reading=told(routes, law, also),
        about=("routing", "dsdv"),
    )


def starved(
    text: str,
    where: str,
    series: str,
    baseline: str,
    statistic: str,
    comparison: Literal["above", "below"],
    value: float,
    reading: str,
) -> Claim:
    """A claim about the flows that starve, of one of C3L and a rival, and false of the other."""
    return Claim(
        text=text,
        where=where,
        source="paper",
        series=series,
        baseline=baseline,
        statistic=number(statistic),
        comparison=comparison,
        value=value,
        reading=reading,
        about=("routing", "dsdv"),
    )


def beside_rivals(where: str) -> list[Claim]:
    """Of the three histograms of figures 9 and 10, C3L with ATP and EXACT."""
    made = []
    for shown in BESIDE_RIVALS:
        rival, routes, law = shown
        own, reading = rivals.PARTNER[rival], told(routes, law)
        ours, theirs = name(own, routes), name(rival, reading)
        none = f"no flow is starved with {own}, and some are with {rival}"
        mean = "the mean with {} is comparable to that with {}"
        made += [
            than_rival("{} is fairer than {}", where, JAIN, "above", shown),
            than_rival("the least flow has more with {} than with {}", where, LEAST, "above", shown),
            starved(none, where, ours, theirs, STARVING, "below", 0.1, reading),
            starved(f"{rival} starves flows", where, theirs, ours, STARVING, "above", 1.0, reading),
            *(
                than_rival(mean, where, of, "above", shown, factor=COMPARABLE, gain=False, also=also)
                for of, also in ((MEAN, MAIN), (BY_HOPS, HOPS))
            ),
        ]
    return made


def distribution_beside_rivals(where: str, flows: int) -> list[Claim]:
    """Of figure 11, C3L with ATP and EXACT; a rival starves some if more than one of the flows has less than
    a tenth of the mean."""
    made = []
    for shown in BESIDE_RIVALS:
        rival, routes, law = shown
        reading = told(routes, law)
        ours, theirs = name(rivals.PARTNER[rival], routes), name(rival, reading)
        few = "{} has fewer flows below a tenth of the mean than {}"
        large = "the largest flow of {} is smaller than that of {}"
        some = f"{rival} leaves more than one flow below a tenth of the mean"
        made += [
            than_rival(few, where, BELOW_TENTH, "below", shown),
            *(
                than_rival(large, where, of, "below", shown, also=also)
                for of, also in ((LARGEST, MAIN), (MOST, BITS))
            ),
            than_rival("{} is more uniform than {}", where, JAIN, "above", shown),
            starved(some, where, theirs, ours, BELOW_TENTH, "above", 1 / flows, reading),
        ]
    return made


def fairness(where: str, reading: str) -> list[Claim]:
    """Of the three histograms of figures 9 and 10."""
    own, theirs = BY_READING[reading]
    return [
        claim("C3L is fairer than each TCP", where, JAIN, "above", reading),
        claim("the least flow has more with C3L than with each TCP", where, LEAST, "above", reading),
        Claim(
            text="with C3L no flow is starved",
            where=where,
            source="paper",
            series=name(C3L, own),
            baseline=name(NEWRENO, theirs),
            statistic=number(STARVING),
            comparison="below",
            value=0.1,
            reading=reading,
            about=("routing", "dsdv", "radio.local_limit", "radio.backpressure"),
        ),
        *(
            claim(
                "the mean with C3L is comparable",
                where,
                statistic,
                "above",
                reading,
                factor=COMPARABLE,
                gain=False,
                also=also,
            )
            for statistic, also in ((MEAN, MAIN), (BY_HOPS, HOPS))
        ),
        *(
            Claim(
                text=f"{tcp} starves flows",
                where=where,
                source="paper",
                series=name(tcp, theirs),
                baseline=None,
                statistic=number(STARVING),
                comparison="above",
                value=1.0,
                reading=reading,
            )
            for tcp in TCPS
            if reading not in CHANGED
        ),
    ]


def distribution(where: str, reading: str) -> list[Claim]:
    """Of figure 11."""
    return [
        claim("C3L has the fewest flows below a tenth of the mean", where, BELOW_TENTH, "below", reading),
        *(
            claim("C3L has the smallest largest flow", where, statistic, "below", reading, also=also)
            for statistic, also in ((LARGEST, MAIN), (MOST, BITS))
        ),
        claim("C3L is the most uniform", where, JAIN, "above", reading),
    ]


SHOWN = (MAIN, STATIC, LIMIT)


def bars(axes: Axes, rows: Measured, statistic: str, best: str = "") -> None:
    """A number of each protocol, over both kinds of routes and with short local queues; a line is the
    optimum's."""
    protocols = (*OTHERS, *BESIDE, *rivals.LAWS)
    for i, reading in enumerate(SHOWN):
        there = [protocol for protocol in protocols if name(protocol, reading) in rows]
        values = [number(statistic).of(rows[name(protocol, reading)]) for protocol in there]
        axes.bar(
            [protocols.index(protocol) + 0.27 * (i - 1) for protocol in there],
            [value["mean"] for value in values],
            width=0.25,
            yerr=[value["ci95"] or 0 for value in values],
            capsize=1,
            label="DSDV" if reading == MAIN else reading,
        )
    if best:
        mean = number(best).of(rows[name(C3L)])["mean"]
        axes.axhline(mean, color="black", linestyle=":", linewidth=1)
    axes.set_xticks(range(len(protocols)), protocols, rotation=40, ha="right", fontsize="x-small")
    axes.set_ylabel(statistic)


def draw(rows: Measured, figure: Figure) -> None:
    """The three histograms, and the share of the optimum."""
    figure.set_size_inches(15.0, 9.0)
    plots: Sequence[Axes] = figure.subplots(2, 2).flatten()
    of = ((JAIN, networks.BEST_JAIN), (LEAST, networks.BEST_LEAST), (MEAN, ""), (TOTAL_SHARE, ""))
    for axes, (statistic, best) in zip(plots, of, strict=True):
        bars(axes, rows, statistic, best)
    plots[0].legend(fontsize="x-small")

"""Figure 1: many flows over MORE collapse, and many over TCP-SACK share unfairly.

MORE (a): "over 50%" of 32 flows starve (section 2), "almost 50%" (section 6.2), read as 40 % and more; "over
90%" of them have less than 100 kbit/s; the total "substantially reduces", read as below two thirds of that of
4 flows, and of 8. A flow counts by its decoded batches, and in a second reading by innovative packets.

TCP (b): section 2 gives two statements of totals: that of figure 1 (c) is drawn, and in words "the maximum
throughput that TCP flows achieve is almost invariant of the number of concurrent flows". Of these the
goodput of the largest flow is flat here; the total grows, since 46 nodes have room for parallel
transmissions. Both are judged.

The share of starved flows is that of static routes; with OLSR fewer starve (docs/building-46.md has the
reason).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT, multipath
from airfair_papers.diffq.common.multipath import MORE, OF_MORE
from airfair_papers.diffq.common.pictures import bars, distributions
from airfair_papers.diffq.common.testbed import (
    BASELINES,
    BELOW_100,
    COUNTS,
    LARGEST,
    ROUTES,
    SCENE,
    STARVED,
    TCP,
    TOTAL,
    name,
    read,
    series,
    sets,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 2, figure 1 (b), (c)"
FEW, MANY = COUNTS[0], COUNTS[-1]
DCF = {MAIN: "DCF", "static routes": "static routes, DCF"}


def claims(reading: str) -> list[Claim]:
    """The paper's words; "about" 30 to 40 % is read as 25 to 45 %, "almost invariant" as within a third."""
    many, few = name(TCP, MANY, reading), name(TCP, FEW, reading)

    def claim(text: str, statistic: str, comparison: str, value: float = 0.0, factor: float = 0.0) -> Claim:
        of = number(statistic)
        return Claim(
            text=text,
            where=WHERE,
            source="paper",
            series=many,
            baseline=None,
            statistic=of,
            comparison="above" if comparison == "above" else "below",
            value=value,
            bound=of if factor else None,
            bound_series=few if factor else None,
            factor=factor or 1.0,
            reading=reading,
        )

    return [
        claim("Of 32 flows 25 % and more starve", STARVED, "above", 0.25),
        claim("Of 32 flows 45 % and less starve", STARVED, "below", 0.45),
        claim(
            "The largest of 32 flows has at least two thirds of the largest of 4", LARGEST, "above", 0, 2 / 3
        ),
        claim("The largest of 32 flows has at most a third more than that of 4", LARGEST, "below", 0, 4 / 3),
        claim("The total of 32 flows is not below that of 4", TOTAL, "above", 0, 1.0),
    ]


def of_more() -> list[Claim]:
    """The paper's words about MORE; there is no claim of a gain, so none has a baseline."""
    where = "section 2, figure 1 (a), (c)"

    def claim(
        text: str,
        statistic: str,
        comparison: Literal["above", "below"],
        value: float = 0.0,
        *,
        than: int | None = None,
        factor: float = 1.0,
    ) -> list[Claim]:
        return multipath.claims(
            text,
            where,
            (MORE, MANY),
            statistic,
            comparison,
            value=value,
            than=None if than is None else (MORE, than),
            factor=factor,
            readings=OF_MORE,
        )

    return [
        *claim("MORE: of 32 flows 40 % and more starve", STARVED, "above", 0.4),
        *claim("MORE: of 32 flows 90 % have less than 100 kbit/s", BELOW_100, "above", 0.9),
        *claim("MORE: of 32 flows a larger share starves than of 4", STARVED, "above", than=FEW),
        *claim(
            "MORE: the total of 32 flows is below two thirds of that of 4",
            TOTAL,
            "below",
            than=FEW,
            factor=2 / 3,
        ),
        *claim(
            "MORE: the total of 32 flows is below two thirds of that of 8",
            TOTAL,
            "below",
            than=COUNTS[1],
            factor=2 / 3,
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs and totals, with the paper's routes above and with static ones below."""
    figure.set_size_inches(13.0, 7.0)
    for (more, tcp, totals), reading in zip(figure.subplots(2, 3), ROUTES, strict=True):
        routes = "OLSR" if reading == MAIN else reading
        distributions(
            more, rows, {f"{count} flows": multipath.name(MORE, count, reading) for count in multipath.COUNTS}
        )
        more.set_title(f"{MORE}, {routes}")
        distributions(tcp, rows, {f"{count} flows": name(TCP, count, reading) for count in COUNTS})
        tcp.set_title(f"{TCP}, {routes}")
        levels = ((reading, "level 0"), (DCF[reading], "DCF"))
        groups = {
            f"{protocol}, {told}": [number(TOTAL).of(rows[of(protocol, count, at)]) for count in COUNTS]
            for protocol, of in ((MORE, multipath.name), (TCP, name))
            for at, told in levels
            if not (protocol == MORE and at == "DCF")
        }
        bars(totals, [str(count) for count in COUNTS], groups)
        totals.set_ylabel("total (Mbit/s)")
        totals.legend(fontsize="x-small")


EXPERIMENT = Experiment(
    title="MORE and TCP by the number of flows on a testbed of 46 nodes: who starves",
    scenario=SCENE,
    series=(*series({TCP: BASELINES}), *multipath.series({MORE: OF_MORE})),
    claims=(*(claim for reading in BASELINES for claim in claims(reading)), *of_more()),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)

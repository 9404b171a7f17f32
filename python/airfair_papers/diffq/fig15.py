"""Figure 15: queue overflows at intermediate nodes by the length of the path, and log utility; DiffQ-UDP
whole and in parts, sixteen flows, two minutes.

Parts: rate control only (round robin over the destination queues, everything at level 0), and rate control
with scheduling by differential (level 0). The paper has one set of flows with a path of eight hops; here are
the first twenty sets (`SETS`) that have one on static routes. Overflows at a flow's own source do not count.
Flows of one hop have no intermediate node, so that their zero is true by definition. Packets given up by the
MAC are beside: a scheme that overflows nothing may lose more there. Path lengths are those of the static
routes by ETX; with OLSR the routes change under load.

With queues that wait relays hardly overflow by design, with scheduling alone too: the claims that credit
levels then hold without them as well, and the log utilities show what levels add. Round robin has no
differentials to wait for: rate control alone differs by its threshold only.

The paper: some 2,500 overflows, 70 % of them on the path of eight hops; more than 70,000 with either part,
somewhat fewer with scheduling; none of flows of one and two hops under rate control alone; log utilities in
the same order.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import airfair
import numpy as np
from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common import STARVED_BPS
from airfair_papers.diffq.common.overflows import overflows
from airfair_papers.diffq.common.pictures import bars
from airfair_papers.diffq.common.testbed import (
    LOG,
    PACKETS,
    READINGS,
    ROUTES,
    SCENE,
    SLOW,
    STARVED,
    TOTAL,
    UDP,
    UTILITY,
    WAITS,
    Protocol,
    log_utility,
)

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

WHERE = "section 6.4, figure 15"
COUNT = 16
IN = (*ROUTES, *SLOW, WAITS[1], PACKETS[1])
"""Queues that wait are asked with static routes alone."""
LONGEST = 8
SETS = (23, 29, 49, 83, 132, 159, 162, 166, 198, 212, 219, 220, 225, 246, 255, 257, 259, 271, 284, 296)
"""Seeds of the first twenty sets with a path of eight hops."""

WHOLE, SCHEDULED, RATE, NONE = "DiffQ-UDP", "rate control and scheduling", "rate control only", "UDP"
LOG_WHOLE = "DiffQ-UDP, log"
PARTS = {
    WHOLE: ("diffq", ()),
    SCHEDULED: ("diffq-rc-sched", ()),
    RATE: ("diffq-rc", ()),
    LOG_WHOLE: ("diffq", (LOG,)),
    NONE: ("droptail", ()),
}

OVERFLOWS = "overflows at intermediate nodes"
LONG_SHARE = "of them on the path of 8 hops (share)"
AT_SOURCES = "overflows at sources"
RETRIES = "packets given up by the MAC"


def by_length(hops: int) -> str:
    """The number of overflows of paths of a length."""
    return f"overflows, {hops} hops"


def name(part: str, reading: str = MAIN) -> str:
    """The name of a series."""
    return part if reading == MAIN else f"{part}, {reading}"


def sets(seed: int) -> tuple[str, ...]:
    """The set of flows of a seed."""
    return (f"flows.seed={SETS[(seed - 1) % len(SETS)]}",)


@lru_cache(maxsize=100)
def lengths(seed: int) -> dict[str, int]:
    """Hops of the static routes of a set."""
    changes = (f"flows.count={COUNT}", *sets(seed))
    network = airfair.network(airfair.Scenario.read(SCENE, changes))
    return {flow["id"]: len(flow["path"] or "") - 1 for flow in network["flows"]}


def read(recording: Recording) -> dict[str, float]:
    """Overflows by the length of the path, the other losses, goodputs."""
    result = recording.result
    rates = np.array([flow["goodput_bps"] for flow in result["flows"]])
    hops = lengths(result["seed"])
    sources = {flow["id"]: flow["src"] for flow in result["flows"]}
    counted: Counter[int] = Counter()
    at_sources = 0
    for (node, flow), packets in overflows(recording).items():
        if sources.get(flow) == node:
            at_sources += packets
        elif flow in hops:
            counted[hops[flow]] += packets
    between = sum(counted.values())
    return {
        OVERFLOWS: float(between),
        **{by_length(n): float(counted[n]) for n in range(1, LONGEST + 1)},
        LONG_SHARE: counted[LONGEST] / between if between else float("nan"),
        AT_SOURCES: float(at_sources),
        RETRIES: float(result["drops"].get("retry-limit", 0)),
        UTILITY: log_utility(rates, 1e3),
        TOTAL: float(rates.sum()) / 1e6,
        STARVED: float((rates < STARVED_BPS).mean()),
    }


def claims(reading: str) -> list[Claim]:
    """Of the text. A ratio to one part must be false of the part that lacks what it credits: of whole DiffQ
    without levels, of scheduling without control."""

    def claim(
        text: str,
        own: str,
        statistic: str,
        comparison: Literal["above", "below"],
        *,
        than: str | None = None,
        factor: float = 1.0,
        value: float = 0.0,
        baseline: str | None = None,
        source: Literal["paper", "ours"] = "paper",
    ) -> Claim:
        return Claim(
            text=text,
            where=WHERE,
            source=source,
            series=name(own, reading),
            baseline=None if baseline is None else name(baseline, reading),
            statistic=number(statistic),
            comparison=comparison,
            bound=number(statistic) if than else None,
            bound_series=name(than, reading) if than else None,
            factor=factor,
            value=value,
            paired=than is not None,
            reading=reading,
        )

    return [
        claim(
            "Whole DiffQ overflows a tenth of rate control alone",
            WHOLE,
            OVERFLOWS,
            "below",
            than=RATE,
            factor=0.1,
            baseline=SCHEDULED,
        ),
        claim(
            "Whole DiffQ overflows a tenth of both parts without levels",
            WHOLE,
            OVERFLOWS,
            "below",
            than=SCHEDULED,
            factor=0.1,
            baseline=RATE,
        ),
        claim(
            "Scheduling has somewhat fewer overflows than rate control alone",
            SCHEDULED,
            OVERFLOWS,
            "below",
            than=RATE,
            baseline=NONE,
        ),
        claim(
            "Half of whole DiffQ's overflows and more are on the path of 8 hops",
            WHOLE,
            LONG_SHARE,
            "above",
            value=0.5,
            baseline=NONE,
        ),
        claim("Rate control alone: more than 10,000 overflows", RATE, OVERFLOWS, "above", value=1e4),
        claim(
            "Rate control alone: no flow of 2 hops overflows anything",
            RATE,
            by_length(2),
            "below",
            value=0.5,
            baseline=NONE,
        ),
        claim(
            "Log utility: whole DiffQ above both parts without levels",
            WHOLE,
            UTILITY,
            "above",
            than=SCHEDULED,
            baseline=RATE,
        ),
        claim(
            "Log utility: scheduling above rate control alone",
            SCHEDULED,
            UTILITY,
            "above",
            than=RATE,
            baseline=NONE,
        ),
        claim(
            "Log utility: whole DiffQ above UDP without control",
            WHOLE,
            UTILITY,
            "above",
            than=NONE,
            source="ours",
        ),
        claim(
            "Log law: a larger log utility than UDP without control",
            LOG_WHOLE,
            UTILITY,
            "above",
            than=NONE,
            source="ours",
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Overflows by path length and log utilities: OLSR, static routes, and these with queues that wait."""
    figure.set_size_inches(10.0, 13.0)
    for line, reading in zip(
        figure.subplots(4, 2, width_ratios=(3, 1)), (*ROUTES, WAITS[1], PACKETS[1]), strict=True
    ):
        overflows, utilities = line
        groups = {
            part: [rows[name(part, reading)]["numbers"][by_length(n)] for n in range(1, LONGEST + 1)]
            for part in PARTS
        }
        bars(overflows, [str(n) for n in range(1, LONGEST + 1)], groups)
        overflows.set_xlabel("hops")
        overflows.set_ylabel("overflows at intermediate nodes")
        overflows.set_yscale("symlog", linthresh=10)
        overflows.set_ylim(bottom=0)
        overflows.set_title("OLSR" if reading == MAIN else reading)
        overflows.legend(fontsize="x-small")
        values = [rows[name(part, reading)]["numbers"][UTILITY] for part in PARTS]
        utilities.bar(range(len(PARTS)), [v["mean"] for v in values], yerr=[v["ci95"] or 0 for v in values])
        utilities.set_xticks(range(len(PARTS)), list(PARTS), rotation=60, ha="right", fontsize="x-small")
        utilities.set_ylabel(UTILITY)


EXPERIMENT = Experiment(
    title="Parts of DiffQ: queue overflows by the length of the path, log utility",
    scenario=SCENE,
    series=tuple(
        Series(
            name(part, reading),
            scheme,
            (
                f"flows.count={COUNT}",
                'duration="150 s"',
                *READINGS[reading].changes(Protocol(scheme, (*UDP, *changes), own=scheme != "droptail")),
            ),
        )
        for reading in IN
        for part, (scheme, changes) in PARTS.items()
    ),
    claims=tuple(claim for reading in IN for claim in claims(reading)),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=("flows.start=3 s", 'duration="6 s"', 'warmup="3 s"'),
)

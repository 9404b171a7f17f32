"""Figure 14: goodputs of 32 flows in a particular run, all single-path protocols, reliable and not.

The paper draws one run, in which TCP and TCP-FeW starve up to 60 % of the flows, TFRC-ECN more than 40 %,
DiffQ few. One run proves little: judged are all sets. A run like the paper's exists if TCP starves half of
the flows in some set. "TFRC-ECN can significantly reduce the number of starved flows, but more than 40 %".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN, Claim, Measured, number, share_of_runs
from airfair.paper import Experiment

from airfair_papers.diffq.common import SHORT
from airfair_papers.diffq.common.pictures import distribution
from airfair_papers.diffq.common.testbed import (
    BASELINES,
    DIFFQ_TCP,
    DIFFQ_UDP,
    FEW,
    JUDGED,
    LEVELS,
    OWN,
    OWN_UDP,
    PACKETS,
    ROUTES,
    SCENE,
    STARVED,
    TCP,
    TCP_8,
    TFRC,
    name,
    read,
    series,
    sets,
    times,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 6.3, figure 14"
MANY = 32
ALL = (TCP, FEW, TFRC, DIFFQ_TCP, DIFFQ_UDP)


def of_baselines(reading: str) -> list[Claim]:
    """The text's claims about the others in the run."""

    def some_run(protocol: str, share: float) -> Claim:
        return Claim(
            text=f"{protocol} starves more than {100 * share:.0f} % of the flows in some set",
            where=WHERE,
            source="paper",
            series=name(protocol, MANY, reading),
            baseline=None,
            statistic=share_of_runs(number(STARVED), "above", share),
            comparison="above",
            reading=reading,
        )

    return [
        some_run(TCP, 0.5),
        some_run(FEW, 0.5),
        some_run(TFRC, 0.4),
        *times(
            "TFRC-ECN starves fewer flows than TCP",
            WHERE,
            TFRC,
            MANY,
            STARVED,
            1.0,
            below=True,
            readings=(reading,),
        ),
    ]


def claims() -> list[Claim]:
    """The text's claims about DiffQ."""
    return [
        claim
        for own, other in ((DIFFQ_TCP, TCP), (DIFFQ_TCP, FEW), (DIFFQ_TCP, TFRC), (DIFFQ_UDP, TFRC))
        for claim in times(
            f"{own} starves at most half as many flows as {other}",
            WHERE,
            own,
            MANY,
            STARVED,
            0.5,
            than=other,
            below=True,
            readings=JUDGED,
        )
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """The set in which TCP starves most flows; DiffQ also by packets."""
    for axes, reading, counted in zip(figure.subplots(1, 2), ROUTES, PACKETS, strict=True):
        run = int(np.argmax(rows[name(TCP, MANY, reading)]["number_values"][STARVED]))
        drawn = [(protocol, reading) for protocol in ALL] + [(own, counted) for own in (DIFFQ_TCP, DIFFQ_UDP)]
        for protocol, of in drawn:
            row = rows[name(protocol, MANY, of)]
            flows = [values[run] for key, values in row["run_values"].items() if key.startswith("flow.")]
            distribution(axes, protocol if of == reading else f"{protocol}, packets", flows)
        axes.legend(fontsize="x-small")
        seed = rows[name(TCP, MANY, reading)]["seeds"][run]
        axes.set_title(f"{'OLSR' if reading == MAIN else reading}, set {seed}")


EXPERIMENT = Experiment(
    title="Goodputs of 32 flows in one run, all single-path protocols",
    scenario=SCENE,
    series=series(
        {TCP: JUDGED, FEW: JUDGED, TFRC: LEVELS, DIFFQ_TCP: OWN, DIFFQ_UDP: OWN_UDP, TCP_8: ROUTES}, [MANY]
    ),
    claims=(
        *(claim for reading in JUDGED if reading in BASELINES for claim in of_baselines(reading)),
        *claims(),
    ),
    draw=draw,
    quick_seeds=3,
    by_seed=sets,
    read=read,
    interval="60 s",
    small=SHORT,
)

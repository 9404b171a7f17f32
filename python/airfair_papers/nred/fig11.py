"""Figures 9 and 11: the exposed terminal, with and without NRED, for max_p from 0.01 to 0.3.

The flows are 1 -> 2 and 3 -> 4, as in figure 9: node 2 is exposed and must answer node 1. The
mirror-symmetric pair 2 -> 1 and 3 -> 4, which the term brings to mind, is measured too; it can have no
fixed winner.
"""

from __future__ import annotations

from pathlib import Path

from airfair.claims import Claim, goodput
from airfair.paper import Experiment, Series

from airfair_papers.nred import by_max_p

WHERE = "section 6.2, figure 11"

MIRRORED = ('flow.1.from="2"', 'flow.1.to="1"')

EXPERIMENT = Experiment(
    title="Exposed terminal: the first transfer starves without NRED, both share with it",
    scenario=Path(__file__).with_suffix(".toml"),
    series=(
        *by_max_p.all_series(),
        Series("droptail, 2 -> 1", "droptail", MIRRORED),
        Series("nred 0.14, 2 -> 1", "nred", (*MIRRORED, "nred.max_p=0.14"), against="droptail, 2 -> 1"),
    ),
    claims=(
        Claim(
            text="Without NRED transfer 2 always wins: transfer 1 has less than a tenth of it",
            where=WHERE,
            series="droptail",
            baseline="droptail, 2 -> 1",
            statistic=goodput("1"),
            comparison="below",
            bound=goodput("2"),
            factor=0.1,
        ),
        *by_max_p.fair(WHERE, above=0.14),
        *by_max_p.falls(WHERE),
    ),
    draw=by_max_p.draw,
    read=by_max_p.read,
)

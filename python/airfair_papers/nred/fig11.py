"""Figures 9 and 11: the exposed terminal, with and without NRED, for max_p from 0.01 to 0.3.

The flows are 1 -> 2 and 3 -> 4, as in figure 9: node 2 is exposed and must answer node 1. The
mirror-symmetric pair 2 -> 1 and 3 -> 4, which the term brings to mind, is measured too; it can have no
fixed winner.

**It is not as fair here.** At max_p 0.14 Jain's index is 0.59 +- 0.03 with the scene's TCP, 0.76 +- 0.06
with QualNet's, and 0.86 +- 0.06 with that and a notification every 100 ms; at 0.30 that is 0.91 +- 0.04 (20
seeds). NRED works as written: node 2 has p_b of 0.11, speaks, node 3 drops 15 % of its data and 9 % of its
ACKs. What the packets show: a window of two or three segments still fills the channel of one hop, so the
winner yields only while it waits for a time-out; the RTS of node 1 comes through only in such a pause (2 of
43 otherwise), and its TCP has to try just then. Time-outs of 200 ms are too short for that, BSD's of a
second are not. In some runs the very first SYN meets a full channel: then node 2 has seen no packet of a
flow, and condition (ii) keeps it silent until one comes through, up to 100 s later.
"""

from __future__ import annotations

from pathlib import Path

from airfair.claims import Claim, share_of_mean
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import STARVED, by_max_p

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
            text="Without NRED transfer 2 always wins: transfer 1 starves",
            where=WHERE,
            source="paper",
            series="droptail",
            baseline=None,
            statistic=share_of_mean("1"),
            comparison="below",
            value=STARVED,
        ),
        *by_max_p.fair(WHERE, above=0.14),
        *by_max_p.falls(WHERE),
    ),
    draw=by_max_p.draw,
    read=by_max_p.read,
)

"""Figures 9 and 11: the exposed terminal, with and without NRED, for max_p from 0.01 to 0.3.

The flows are 1 -> 2 and 3 -> 4, as in figure 9: node 2 is exposed and must answer node 1. The
mirror-symmetric pair 2 -> 1 and 3 -> 4, which the term suggests, is measured too; it can have no fixed
winner. Outcomes: `docs/papers/nred.md`.

**What decides.** Node 2 is in reach of node 3 and cannot answer the RTS of node 1 while node 3 sends. A
window of two or three segments still fills the channel of one hop, so the winner yields only while it waits
for a time-out; the RTS comes through only in such a pause, and the TCP of node 1 has to send at that time.
Time-outs of 200 ms are too short for that, those of a second are not.

If the first SYN at node 2 were lost in a full channel, node 2 would send no notification unless a flow
counts from its set-up on (`nred.set_up`).
"""

from __future__ import annotations

from pathlib import Path

from airfair.claims import MAIN, Claim, share_of_mean
from airfair.paper import Experiment, Series

from airfair_papers.nred.common import STARVED, by_max_p
from airfair_papers.nred.common.readings import READINGS

WHERE = "section 6.2, figure 11"

MIRRORED = ('flow.1.from="2"', 'flow.1.to="1"')

EXPERIMENT = Experiment(
    title="Exposed terminal: the first transfer starves without NRED, both share with it",
    scenario=Path(__file__).with_suffix(".toml"),
    series=(
        *by_max_p.all_series(),
        Series("droptail, 2 -> 1", "droptail", (*READINGS[MAIN], *MIRRORED)),
        Series("nred 0.14, 2 -> 1", "nred", (*READINGS[MAIN], *MIRRORED), against="droptail, 2 -> 1"),
        Series("nred 0.20, no set_up", "nred", (*READINGS[MAIN], "nred.max_p=0.2", "nred.set_up=false")),
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
        by_max_p.falls(WHERE),
    ),
    draw=by_max_p.draw,
    seeds=by_max_p.SEEDS,
    quick_seeds=by_max_p.QUICK_SEEDS,
    read=by_max_p.read,
)

"""Figures 8 and 10: the hidden terminal, with and without NRED, for max_p from 0.01 to 0.3.

Which of the two transfers wins is chance, so the claims are about the lesser and the greater of each run.

"Close to 1" has no number in the paper. Here: above 0.95, the number that it gives for figure 11.

**It is not as fair here.** At max_p 0.14 Jain's index is 0.80 +- 0.09 with the scene's TCP, 0.94 +- 0.04
with QualNet's, and 0.95 +- 0.04 with that and a notification every 100 ms (20 seeds). What the packets
show: the loser sits in exponential back-off and sends a segment every few seconds; it comes through if the
winner pauses just then. NRED makes the winner lose a tenth of its packets, and a NewReno sender whose
shortest time-out is 200 ms is back before the loser tries again. With BSD's time-outs of a second both wait
about as long, and the channel changes hands.
"""

from __future__ import annotations

from pathlib import Path

from airfair.claims import Claim, number
from airfair.paper import Experiment

from airfair_papers.nred.common import by_max_p

WHERE = "section 6.2, figure 10"

EXPERIMENT = Experiment(
    title="Hidden terminal: one of two transfers starves without NRED, they share with it",
    scenario=Path(__file__).with_suffix(".toml"),
    series=by_max_p.all_series(),
    claims=(
        Claim(
            text="Without NRED one transfer has more than 700 kbit/s",
            where=WHERE,
            source="paper",
            series="droptail",
            baseline=None,
            statistic=number("greater_kbps"),
            comparison="above",
            value=700,
        ),
        Claim(
            text="Without NRED the other has less than 100 kbit/s",
            where=WHERE,
            source="paper",
            series="droptail",
            baseline=None,
            statistic=number("lesser_kbps"),
            comparison="below",
            value=100,
        ),
        *by_max_p.fair(WHERE, above=0.1),
        *by_max_p.falls(WHERE),
    ),
    draw=by_max_p.draw,
    read=by_max_p.read,
)

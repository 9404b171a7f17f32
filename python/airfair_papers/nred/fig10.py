"""Figures 8 and 10: the hidden terminal, with and without NRED, for max_p from 0.01 to 0.3.

Which of the two transfers wins is chance: without NRED one "usually" has more than 700 kbit/s and the other
less than 100. The judged number is the share of the runs, more than a half. "Close to 1" has no number in
the paper. Here: Jain's index above 0.95, the paper's number for figure 11.

**The duration of time-outs decides.** The loser is in exponential back-off and sends a segment every few
seconds; which arrives if the winner pauses at that time. NRED makes the winner lose a tenth of its packets,
and a sender whose shortest time-out is 200 ms resumes before the loser tries again. With time-outs of a
second both wait about as long, and the flows alternate. 4.4BSD's timer lies between. Outcomes:
`docs/papers/nred.md`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from airfair.claims import Claim, number, share_of_runs
from airfair.paper import Experiment

from airfair_papers.nred.common import by_max_p

WHERE = "section 6.2, figure 10"


def usually(text: str, what: str, comparison: Literal["above", "below"], kbps: float) -> Claim:
    """That drop-tail does something in more than half of the runs."""
    return Claim(
        text=text,
        where=WHERE,
        source="paper",
        series="droptail",
        baseline=None,
        statistic=share_of_runs(number(what), comparison, kbps),
        comparison="above",
        value=0.5,
    )


EXPERIMENT = Experiment(
    title="Hidden terminal: one of two transfers starves without NRED, they share with it",
    scenario=Path(__file__).with_suffix(".toml"),
    series=by_max_p.all_series(),
    claims=(
        usually("Without NRED one transfer usually has more than 700 kbit/s", "greater_kbps", "above", 700),
        usually("Without NRED the other usually has less than 100 kbit/s", "lesser_kbps", "below", 100),
        *by_max_p.fair(WHERE, above=0.1),
        by_max_p.falls(WHERE),
    ),
    draw=by_max_p.draw,
    seeds=by_max_p.SEEDS,
    quick_seeds=by_max_p.QUICK_SEEDS,
    read=by_max_p.read,
)

"""Section 5.2: a notification that is unicast to a random neighbour and overheard reaches more neighbours
than one that is broadcast, "with more than 20 % improvement".

A neighbour is whoever can decode the sender when nothing else is on the air. The paper names neither scene
nor measure. Where a broadcast reaches more than 0.83 of them no share can be 1.2 times as large, so that an
improvement is read as fewer misses: less than 0.8 times as many as with broadcast. The share that is
reached, more than 1.2 times as large, is the other reading. A broadcast is sent once, without RTS; a unicast
is sent again until it is acknowledged, and each attempt may be overheard.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import MAIN, Claim, Measured, number_ratio
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common import pictures
from airfair_papers.nred.common.readings import READINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCENES = {
    "three pairs": "fig2",
    "hidden terminal": "fig10",
    "exposed terminal": "fig11",
    "grid": "fig16",
}
EXCHANGE_US = 272 + 248 + 480 + 248 + 3 * 10
"""RTS, CTS, a notification of 72 B, ACK, all at 2 Mbit/s, three SIFS."""


def read(recording: Recording) -> dict[str, float]:
    """Share of neighbours reached; messages per second; the least share of the time that they take."""
    told = [s["messages"] for s in recording.result["stations"] if "messages" in s]
    sent, missed, heard = (sum(m[key] for m in told) for key in ("sent", "missed", "heard"))
    duration = recording.result["duration_s"]
    return {
        "reached_share": heard / (heard + missed) if heard + missed else float("nan"),
        "missed_share": missed / (heard + missed) if heard + missed else float("nan"),
        "messages_per_s": sent / duration,
        "least_airtime_share": sent * EXCHANGE_US / 1e6 / duration,
    }


def draw(rows: Measured, figure: Figure) -> None:
    """Shares of neighbours reached."""
    axes = figure.subplots()
    groups = {
        way: [rows[f"{scene}, {way}"]["numbers"]["reached_share"] for scene in SCENES]
        for way in ("unicast", "broadcast")
    }
    pictures.bars(axes, list(SCENES), groups)
    axes.set_ylabel("share of neighbours reached")
    axes.set_ylim(0, 1)


def improvement(scene: str, reading: str) -> Claim:
    """By more than 20 %, in misses or in the share that is reached."""
    misses = reading == MAIN
    return Claim(
        text=f"{scene}: notifications reach neighbours better by more than 20 %",
        where="section 5.2",
        source="paper",
        series=f"{scene}, unicast",
        baseline=f"{scene}, broadcast",
        statistic=number_ratio("missed_share" if misses else "reached_share"),
        comparison="below" if misses else "above",
        value=0.8 if misses else 1.2,
        reading=reading,
    )


SHARES = "share reached"
FIG2 = Path(__file__).with_name("fig2.toml")

EXPERIMENT = Experiment(
    title="Notifications: unicast and overheard against broadcast",
    scenario=FIG2,
    series=tuple(
        Series(
            f"{scene}, {way}",
            "nred",
            (
                *READINGS[MAIN],
                f"nred.broadcast={str(way == 'broadcast').lower()}",
            ),
            against=f"{scene}, broadcast",
            scenario=FIG2.with_name(f"{file}.toml"),
        )
        for scene, file in SCENES.items()
        for way in ("broadcast", "unicast")
    ),
    claims=tuple(improvement(scene, reading) for reading in (MAIN, SHARES) for scene in SCENES),
    draw=draw,
    read=read,
)

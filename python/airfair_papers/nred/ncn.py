"""Section 5.2: a notification that is unicast to a random neighbour and overheard reaches more neighbours
than one that is broadcast, by "more than 20 %".

A neighbour is whoever can decode the sender when nothing else is on the air. The claim is about the share
of neighbours reached, in each of the paper's scenes: more than 1.2 times that of broadcast. A broadcast is
sent once, at the rate that all know, without RTS; a unicast is sent again until it is acknowledged, and
each attempt may be overheard.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number_ratio
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common import pictures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCENES = {
    "three pairs": "fig2",
    "hidden terminal": "fig10",
    "exposed terminal": "fig11",
    "grid": "fig16",
}
EXCHANGE_US = 352 + 304 + 480 + 304 + 3 * 10
"""RTS, CTS, a notification of 72 B at 2 Mbit/s, ACK, three SIFS."""


def read(recording: Recording) -> dict[str, float]:
    """Share of neighbours reached; messages per second; the least share of the time that they take."""
    told = [s["messages"] for s in recording.result["stations"] if "messages" in s]
    sent, missed, heard = (sum(m[key] for m in told) for key in ("sent", "missed", "heard"))
    duration = recording.result["duration_s"]
    return {
        "reached_share": heard / (heard + missed) if heard + missed else float("nan"),
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


def relative_gain(scene: str) -> Claim:
    name = f"{scene}, unicast"
    return Claim(
        text=f"{scene}: more than 1.2 times as many neighbours are reached",
        where="section 5.2",
        source="paper",
        series=name,
        baseline=f"{scene}, broadcast",
        statistic=number_ratio("reached_share"),
        comparison="above",
        value=1.2,
    )


FIG2 = Path(__file__).with_name("fig2.toml")

EXPERIMENT = Experiment(
    title="Notifications: unicast and overheard against broadcast",
    scenario=FIG2,
    series=tuple(
        Series(
            f"{scene}, {way}",
            "nred",
            (f"nred.broadcast={str(way == 'broadcast').lower()}",),
            against=f"{scene}, broadcast",
            scenario=FIG2.with_name(f"{file}.toml"),
        )
        for scene, file in SCENES.items()
        for way in ("broadcast", "unicast")
    ),
    claims=tuple(relative_gain(scene) for scene in SCENES),
    draw=draw,
    read=read,
)

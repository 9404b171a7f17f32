"""Figures 15 and 16: six transfers of four hops in a grid with several congested neighbourhoods.

The lines of the transfers are not stated. Here they lie side by side, so that the middle ones have
transfers on both sides. Without transfers 3 and 6 ("one side") 2 and 5 have others on one side only, as
have 1 and 4.

"Starve" has no number in the paper. Here: each below a tenth of the mean (`common.STARVED`). Outcomes:
`docs/papers/nred.md`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, goodput_gain, jain_gain, number, share_of_mean
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common import STARVED, pictures
from airfair_papers.nred.common.readings import BY_TCP, READINGS, SCENE, suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (*BY_TCP, SCENE)
WHERE = "section 7.1, figure 16"
MIDDLE = ("2", "5")
ONE_SIDE = tuple(
    f'flow.{flow}.traffic={{ kind = "list", files = [["1000 s", "1 B"]] }}' for flow in ("3", "6")
)
"""Transfers 3 and 6 never begin."""


def read(recording: Recording) -> dict[str, float]:
    """Goodput of the middle transfers, as a share of the mean of the others."""
    silent = [flow["id"] for flow in recording.result["flows"] if flow["sent_packets"] == 0]
    of = {flow["id"]: flow["goodput_bps"] for flow in recording.result["flows"]}
    others = [rate for flow, rate in of.items() if flow not in (*MIDDLE, *silent)]
    middle = [of[flow] for flow in MIDDLE]
    return {"share_of_middle": (sum(middle) / len(middle)) / (sum(others) / len(others))}


def claims(reading: str) -> list[Claim]:
    end = suffix(reading)
    droptail, nred = f"droptail{end}", f"nred{end}"
    return [
        *(
            Claim(
                text=f"Without NRED transfer {flow} starves",
                where=WHERE,
                source="paper",
                series=droptail,
                baseline=None,
                statistic=share_of_mean(flow),
                comparison="below",
                reading=reading,
                value=STARVED,
            )
            for flow in MIDDLE
        ),
        *(
            Claim(
                text=f"Transfer {flow} gains with NRED",
                where=WHERE,
                source="paper",
                series=nred,
                baseline=droptail,
                statistic=goodput_gain(flow),
                comparison="above",
                reading=reading,
            )
            for flow in MIDDLE
        ),
        Claim(
            text="With NRED they still get less than the others",
            where=WHERE,
            source="paper",
            series=nred,
            baseline=f"nred, one side{end}",
            about=("flow",),
            statistic=number("share_of_middle"),
            comparison="below",
            reading=reading,
            value=1.0,
        ),
        Claim(
            text="Fairness grows",
            where=WHERE,
            source="paper",
            series=nred,
            baseline=droptail,
            statistic=jain_gain,
            comparison="above",
            reading=reading,
        ),
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodput of each flow with and without NRED, in each reading."""
    for axes, reading in zip(figure.subplots(1, len(SHOWN), sharey=True), SHOWN, strict=True):
        pictures.goodputs(
            axes, rows, {f"{scheme}{suffix(reading)}": scheme for scheme in ("droptail", "nred")}
        )
        axes.set_xlabel(f"flow{suffix(reading)}")
        axes.label_outer()


def _series(end: str, overrides: tuple[str, ...]) -> list[Series]:
    """Drop-tail and NRED, and both with transfers on one side only."""
    one_side = (*overrides, *ONE_SIDE)
    return [
        Series(f"droptail{end}", "droptail", overrides),
        Series(f"nred{end}", "nred", overrides, against=f"droptail{end}"),
        Series(f"droptail, one side{end}", "droptail", one_side),
        Series(f"nred, one side{end}", "nred", one_side, against=f"droptail, one side{end}"),
    ]


EXPERIMENT = Experiment(
    title="Six transfers of four hops in a grid: those between others starve, and gain with NRED",
    scenario=Path(__file__).with_suffix(".toml"),
    series=tuple(series for reading in SHOWN for series in _series(suffix(reading), READINGS[reading])),
    claims=tuple(claim for reading in SHOWN for claim in claims(reading)),
    draw=draw,
    read=read,
)

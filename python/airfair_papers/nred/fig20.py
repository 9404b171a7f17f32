"""Figure 20: random networks, random transfers, routes by AODV.

The paper draws one "typical" run of several; here every seed is another network with other pairs, and the
claims are about all of them. Which transfers starve differs from run to run: looked at are the one of the
five that gets least in its run, and the two that get least ("flow 2 and flow 3" of the paper's run).

**Baseline.** The claims are differences to drop-tail on the same network; drop-tail gains nothing on itself.

**What does not come out.** The least transfer gains, the two least together do not for sure; with QualNet's
TCP they rather lose, as all do. That is the price: NRED takes a fifth of the total, there half of it.

The series with static routes show what AODV adds: a link on which the MAC gives up a packet counts as broken
although nobody moves, and its routes are looked for anew. NRED does not make these breaks rarer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, jain_gain, minimum_gain, number_gain
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common import pictures
from airfair_papers.nred.common.stacks import QUALNET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 7.3, figure 20"
FLOWS = 5
STATIC = ('routing.protocol="static"',)
FORMS: dict[str, tuple[str, ...]] = {"": (), ", QualNet's TCP": QUALNET, ", static routes": STATIC}
CLAIMED = ("", ", QualNet's TCP")


def by_seed(seed: int) -> Sequence[str]:
    """Another network, and other pairs."""
    return (f"nodes.seed={seed}", f"flows.seed={seed}")


def read(recording: Recording) -> dict[str, float]:
    """Goodputs in ascending order, and what AODV had to do (zeros with static routes)."""
    rates = sorted(flow["goodput_bps"] / 1000 for flow in recording.result["flows"])
    counts = [station["routing"] for station in recording.result["stations"] if "routing" in station]
    return {
        **{f"rank_{i + 1}_kbps": rate for i, rate in enumerate(rates)},
        "lesser_two_kbps": sum(rates[:2]),
        "broken_links": float(sum(count["breaks"] for count in counts)),
        "requests": float(sum(count["rreq"] for count in counts)),
        "errors": float(sum(count["rerr"] for count in counts)),
    }


def claims(suffix: str) -> list[Claim]:
    """Those of one form."""
    texts = {
        jain_gain: "Fairness grows",
        minimum_gain: "The transfer that gets least gains",
        number_gain("lesser_two_kbps"): "The two that get least gain",
    }
    return [
        Claim(
            text=f"{text}{suffix}",
            where=WHERE,
            source="paper",
            series=f"nred{suffix}",
            baseline=f"droptail{suffix}",
            statistic=statistic,
            comparison="above",
        )
        for statistic, text in texts.items()
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs of the transfers from the least to the greatest of each run, in every form."""
    for axes, suffix in zip(figure.subplots(1, len(FORMS), sharey=True), FORMS, strict=True):
        groups = {
            scheme: [rows[f"{scheme}{suffix}"]["numbers"][f"rank_{n + 1}_kbps"] for n in range(FLOWS)]
            for scheme in ("droptail", "nred")
        }
        pictures.bars(axes, ["least", "", "", "", "greatest"], groups)
        axes.set_xlabel(f"AODV{suffix}" if suffix in CLAIMED else suffix.removeprefix(", "))
    figure.axes[0].set_ylabel("goodput (kbit/s)")


EXPERIMENT = Experiment(
    title="Five random transfers in random networks with AODV: fairer with NRED, those that starve gain",
    scenario=Path(__file__).with_suffix(".toml"),
    series=tuple(
        series
        for suffix, form in FORMS.items()
        for series in (
            Series(f"droptail{suffix}", "droptail", form),
            Series(f"nred{suffix}", "nred", form, against=f"droptail{suffix}"),
        )
    ),
    claims=tuple(claim for suffix in CLAIMED for claim in claims(suffix)),
    draw=draw,
    read=read,
    by_seed=by_seed,
)

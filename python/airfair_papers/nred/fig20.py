"""Figure 20: random networks, random transfers, routes by AODV.

The paper draws one "typical" run of several and claims that NRED improves fairness, "especially reflected
by throughput of flow 2 and flow 3", which starve without it. Here each pair of seeds is another network
with other pairs of nodes, and the claims are about all of them. A transfer starves (`common.STARVED`) in
one run with drop-tail, and its gain is that of the other run of the same network: a gain in the run that
showed it starving would be its return to the mean. In most networks no transfer starves.

**Baseline.** The claims are differences to drop-tail on the same network; drop-tail gains nothing on
itself.

The series with static routes show what AODV adds: a link on which the MAC gives up a packet counts as
broken although no node moves, and a new route is sought. NRED does not make these breaks rarer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import (
    MAIN,
    Claim,
    Measured,
    MeasuredRow,
    Statistic,
    estimate,
    jain_gain,
    minimum_gain,
)
from airfair.paper import Experiment, Series
from airfair.recording import Recording

from airfair_papers.nred.common import STARVED, pictures
from airfair_papers.nred.common.readings import BY_TCP, READINGS, SCENE, suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHERE = "section 7.3, figure 20"
FLOWS = 5
STATIC = ('routing.protocol="static"',)
FORMS: dict[str, tuple[str, ...]] = {
    **{reading: READINGS[reading] for reading in (*BY_TCP, SCENE)},
    "static routes": (*READINGS[MAIN], *STATIC),
}
CLAIMED = (*BY_TCP, SCENE)


def by_seed(seed: int) -> Sequence[str]:
    """Another network, and other pairs, for each two seeds."""
    network = (seed + 1) // 2
    return (f"nodes.seed={network}", f"flows.seed={network}")


def gains_of_the_starved(row: MeasuredRow) -> list[float]:
    """Gain (kbit/s) of each transfer that starves in the other run of its network with drop-tail."""
    droptail = [row["against_values"][f"flow.{flow['id']}"] for flow in row["flows"]]
    own = [row["run_values"][f"flow.{flow['id']}"] for flow in row["flows"]]
    gains = []
    for i, seed in enumerate(row["seeds"]):
        other = i + 1 if seed % 2 else i - 1
        if not 0 <= other < len(row["seeds"]):
            continue
        mean = sum(flow[other] for flow in droptail) / len(droptail)
        gains += [
            (with_nred[i] - without[i]) / 1000
            for with_nred, without in zip(own, droptail, strict=True)
            if without[other] < STARVED * mean
        ]
    return gains


starved_gain = Statistic(
    "gain of the transfers that starve in the other run of their network (kbit/s)",
    lambda row: estimate(gains_of_the_starved(row)),
    signed=True,
    rate=False,
)


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


def claims(reading: str) -> list[Claim]:
    """Those of one reading."""
    texts = {
        jain_gain: "Fairness grows",
        starved_gain: "The transfers that starve gain",
        minimum_gain: "The transfer that gets least gains",
    }
    return [
        Claim(
            text=text,
            where=WHERE if statistic is not minimum_gain else "ours",
            source="paper" if statistic is not minimum_gain else "ours",
            series=f"nred{suffix(reading)}",
            baseline=f"droptail{suffix(reading)}",
            statistic=statistic,
            comparison="above",
            reading=reading,
        )
        for statistic, text in texts.items()
    ]


def draw(rows: Measured, figure: Figure) -> None:
    """Goodputs of the transfers from the least to the greatest of each run, in every form."""
    for axes, form in zip(figure.subplots(1, len(FORMS), sharey=True), FORMS, strict=True):
        groups = {
            scheme: [rows[f"{scheme}{suffix(form)}"]["numbers"][f"rank_{n + 1}_kbps"] for n in range(FLOWS)]
            for scheme in ("droptail", "nred")
        }
        pictures.bars(axes, ["least", "", "", "", "greatest"], groups)
        axes.set_xlabel(form)
    figure.axes[0].set_ylabel("goodput (kbit/s)")


EXPERIMENT = Experiment(
    title="Five random transfers in random networks with AODV: fairer with NRED, those that starve gain",
    scenario=Path(__file__).with_suffix(".toml"),
    series=tuple(
        series
        for form, overrides in FORMS.items()
        for series in (
            Series(f"droptail{suffix(form)}", "droptail", overrides),
            Series(f"nred{suffix(form)}", "nred", overrides, against=f"droptail{suffix(form)}"),
        )
    ),
    claims=tuple(claim for reading in CLAIMED for claim in claims(reading)),
    draw=draw,
    read=read,
    by_seed=by_seed,
    seeds=60,
    quick_seeds=20,
)

"""Figure 2(b): fairness by the loss on the air, 20 flows, RTT 20 ms.

The text claims that the gain in fairness is larger for smaller loss, and that LBM with rho_0 = 0.2 carries
as much as drop-tail ("identical": here within 5 %). The paper does not list its losses; here 0.001 to 0.1
of the data frames, before the MAC's retries, of which four or more in a row lose a packet: even at 0.1
hardly any is lost, and the loss takes capacity only. "The MAC performs retransmission" (section 3), so that
is the main reading; in the other one packets are lost that the MAC has acknowledged, which TCP sees.

**Baselines.** The gain is evaluated at the largest loss itself. That LBM carries as much is judged on LBM
with a slope of 20 too, which marks every packet at a load above 0.25 and has to carry less, or the claim
would hold for any marking at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number_gain
from airfair.paper import Experiment, Series

from airfair_papers.lbm.common.cell import (
    CELL,
    INTERVAL,
    SCHEMES,
    back_to_back,
    lines,
    one_file,
    read,
    reading,
    together,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNT = 20
LOSSES = (0.001, 0.01, 0.03, 0.1)
ABOVE = "one file each, lost above the MAC"
ABOVE_ACKS = f"{ABOVE}, marks on acknowledgements"
FORMS = {
    "one file each": one_file(COUNT),
    "back to back": back_to_back(COUNT),
    ABOVE: one_file(COUNT),
    ABOVE_ACKS: (*one_file(COUNT), "lbm.mark_acks=true"),
}
SEEDS = 60
"""The differences of gains are 0.04 and their spread is 0.08."""
RTT = 'link.1.delay="9 ms"'
STATED = 0.01
LEAST = 0.01
"""Of the index: what is less is no gain, however sure."""
SAME_MBPS = 0.115
"""5 % of the 2.3 Mbit/s that the cell carries."""
STEEP = "LBM 0.2, slope 20"
WHERE = "section 3.1, figure 2(b)"


def point(form: str, loss: float) -> str:
    """The end of a series' name."""
    return f"loss {loss:g}, {form}"


def larger_for_smaller(form: str, scheme: str) -> Claim:
    """That the gain at the smallest loss is larger than at the largest."""
    least, most = (f"{scheme}, {point(form, loss)}" for loss in (LOSSES[0], LOSSES[-1]))
    return Claim(
        text=f"{scheme} gains more fairness at a loss of {LOSSES[0]:g} than at {LOSSES[-1]:g}",
        where=WHERE,
        source="paper",
        series=least,
        baseline=most,
        about=("radio.frame_loss", "radio.packet_loss"),
        statistic=number_gain("fairness"),
        comparison="above",
        bound=number_gain("fairness"),
        bound_series=most,
        paired=True,
        least=LEAST,
        reading=reading(form),
    )


def carries_as_much(form: str, loss: float) -> Claim:
    """That LBM's throughput is not lower than drop-tail's by 5 % or more."""
    return Claim(
        text=f"LBM 0.2 carries as much as drop-tail (within 5 %) at a loss of {loss:g}",
        where="section 3.1",
        source="paper",
        series=f"LBM 0.2, {point(form, loss)}",
        baseline=f"{STEEP}, {point(form, loss)}",
        statistic=number_gain("throughput_mbps"),
        comparison="above",
        value=-SAME_MBPS,
        reading=reading(form),
    )


def draw(rows: Measured, figure: Figure) -> None:
    """The index by the loss; one panel a reading of the traffic."""
    for form, axes in zip(FORMS, figure.subplots(1, len(FORMS)), strict=True):
        series = {scheme: [f"{scheme}, {point(form, loss)}" for loss in LOSSES] for scheme in SCHEMES}
        lines(axes, rows, series, LOSSES, "fairness")
        axes.set_xscale("log")
        axes.set_title(form)
        axes.set_xlabel("share of data frames lost on the air")
        axes.set_ylabel("fairness index")
        axes.legend()


def _overrides(form: str, loss: float) -> tuple[str, ...]:
    if form in (ABOVE, ABOVE_ACKS):
        return (*FORMS[form], RTT, "radio.frame_loss=0", f"radio.packet_loss={loss}")
    return (*FORMS[form], RTT, f"radio.frame_loss={loss}")


def _steep(form: str) -> Series:
    name = point(form, STATED)
    overrides = (*_overrides(form, STATED), "lbm.rho0=0.2", "lbm.alpha=20")
    return Series(f"{STEEP}, {name}", "lbm", overrides, f"drop-tail, {name}")


EXPERIMENT = Experiment(
    title="LBM's gain in fairness by the loss on the air; what it carries",
    scenario=CELL,
    series=(
        *(
            series
            for form in FORMS
            for loss in LOSSES
            for series in together(point(form, loss), _overrides(form, loss))
        ),
        *(_steep(form) for form in FORMS),
    ),
    claims=tuple(
        claim
        for form in FORMS
        for claim in (
            *(larger_for_smaller(form, scheme) for scheme in ("LBM 0.15", "LBM 0.2")),
            carries_as_much(form, STATED),
        )
    ),
    draw=draw,
    seeds=SEEDS,
    read=read,
    interval=INTERVAL,
    small=('duration="3 s"', 'warmup="1 s"'),
)

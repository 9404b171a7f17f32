"""Acknowledgements of batches are lost, up to half of them (ours).

`lost_acks.toml`: a diamond whose source loses what is sent to it, acknowledgements alone. The destination
sends one again while it hears more of the batch (`again`), and until it hears of a later one (`repeat`). Half
of the acknowledgements lost must leave MORE four fifths of its goodput; without `repeat` it must not: relays
that have passed an acknowledgement on are silent, so that the destination hears no more of the batch. "Seven
attempts" has those of the MAC, as all other experiments have.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from airfair.claims import Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.diffq.common.multipath import DIFFQ_MORE, MORE, PROTOCOLS
from airfair_papers.diffq.common.single import DELAY, GOODPUT, LATE, TRANSMISSIONS, read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSSES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
FORWARDING = (MORE, DIFFQ_MORE)
AS_IT_IS, SOON, HEARS, SEVEN = "as it is", "again after 10 ms", "only when it hears more", "seven attempts"
FORMS: dict[str, tuple[str, ...]] = {AS_IT_IS: (), SOON: ("again=10 ms",), HEARS: ("repeat=0 s",)}
KEPT = 0.8


def name(protocol: str, form: str, loss: float) -> str:
    """The name of a series."""
    return f"{protocol}, {form}, loss {loss:g}"


def series() -> list[Series]:
    """Each forwarding in each form; with seven attempts as it is."""
    found = []
    for protocol in FORWARDING:
        scheme = PROTOCOLS[protocol].scheme
        for form in (*FORMS, SEVEN):
            values = tuple(f"{scheme}.{value}" for value in FORMS.get(form, ()))
            attempts = ("radio.short_retry_limit=7",) if form == SEVEN else ()
            for loss in LOSSES:
                changes = (f"radios.source.frame_loss={loss}", *attempts, *values)
                found.append(Series(name(protocol, form, loss), scheme, changes))
    return found


def claim(protocol: str, form: str) -> Claim:
    """The part of the goodput without losses that half of the acknowledgements leave."""
    goodput = number(GOODPUT)
    return Claim(
        text=f"{protocol}: four fifths of the goodput with half of the acknowledgements lost",
        where="ours",
        source="ours",
        series=name(protocol, form, LOSSES[-1]),
        baseline=name(protocol, HEARS, LOSSES[-1]) if form in FORMS else None,
        statistic=goodput,
        comparison="above",
        bound=goodput,
        bound_series=name(protocol, AS_IT_IS, 0.0),
        factor=KEPT,
        reading=form,
    )


def draw(rows: Measured, figure: Figure) -> None:
    """Goodput and transmissions after decoding by the loss."""
    for axes, statistic in zip(figure.subplots(1, 3), (GOODPUT, TRANSMISSIONS, LATE), strict=True):
        for protocol in FORWARDING:
            for form in (*FORMS, SEVEN):
                values = [rows[name(protocol, form, loss)]["numbers"][statistic]["mean"] for loss in LOSSES]
                axes.plot(LOSSES, values, "o-", markersize=3, label=f"{protocol}, {form}")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("acknowledgements lost (share of attempts)")
        axes.set_ylabel(statistic)
    figure.axes[0].legend(fontsize="xx-small")


SHOWN = (GOODPUT, DELAY, TRANSMISSIONS, LATE)

EXPERIMENT = Experiment(
    title="Acknowledgements of batches are lost",
    scenario=Path(__file__).with_name("lost_acks.toml"),
    series=tuple(series()),
    claims=tuple(claim(protocol, form) for protocol in FORWARDING for form in (AS_IT_IS, SOON, SEVEN)),
    draw=draw,
    read=read,
    interval="30 s",
    small=('duration="2 s"',),
)

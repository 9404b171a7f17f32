"""Uploads: where the rule of both directions (section 2.2) matters. Ours; the paper has downloads only.

Ten stations upload file after file; then five upload and five download. 802.11 gives the access point no
more turns than each station, so its queue is full of acknowledgements (and of the downloads' packets) and
drops most of them. Lost acknowledgements hardly hurt an upload, lost packets stop a download. The packets
that could be marked are the uploads', which the access point receives. Compared: LBM; LBM that measures and
marks only packets that the access point sends (`downlink only`), the rule that section 2.2 argues against;
FQ-CoDel at every interface, the stations' too, as in Linux, with the common queue of 50 packets, and with
1000; FQ-CoDel at the access point alone. Outcomes: `docs/papers/lbm.md`, `docs/schemes/lbm.md`.

Judged: with the rule of both directions the access point's own packets wait less than with drop-tail, the
uploads share the air more fairly, and downloads beside them get more. Each claim is evaluated on `downlink
only` with the same threshold or target, where it must be false. With a fixed threshold that is drop-tail:
its load, of acknowledgements, hardly ever reaches the threshold. The target's delay is that of the access
point's own packets, which are acknowledgements where flows upload, and is effective all the same.

**Why FQ-CoDel does not help** although it is best among downloads alone: it shares bytes between the flows
of a queue, and a turn of 1514 B is one packet of a download or 37 acknowledgements of an upload. The access
point gets some 200 turns on the air a second, and the acknowledgements take nearly all of them. Marks count
packets of data, in whichever queue they waited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from airfair.claims import Claim, Measured, number_gain
from airfair.paper import Experiment, Series

from airfair_papers.lbm.common.cell import (
    BACK_TO_BACK,
    CELL,
    INTERVAL,
    SCHEMES,
    SEEDS,
    WARMUP,
    access_point,
    delay_ms,
    fairness,
    flow,
    flows,
    gauges,
    rates,
    stations,
    throughput_mbps,
    together,
)

if TYPE_CHECKING:
    from airfair.recording import Recording
    from matplotlib.figure import Figure

COUNT = 10


def _cell(downloads: int) -> tuple[str, ...]:
    """So many downloads, the rest uploads."""
    each = [flow(n, up=n > downloads, traffic=BACK_TO_BACK) for n in range(1, COUNT + 1)]
    return (WARMUP, flows(each))


MIXED = "5 uploads, 5 downloads"
FORMS = {"10 uploads": _cell(0), MIXED: _cell(COUNT // 2)}
LBM = ("LBM 0.15", "LBM 0.2", "LBM target")
ONE_WAY = {
    "LBM 0.15, downlink only": ("lbm.rho0=0.15", "lbm.downlink_only=true"),
    "LBM 0.2, downlink only": ("lbm.rho0=0.2", "lbm.downlink_only=true"),
    "LBM target, downlink only": ("lbm.adapt=true", "lbm.downlink_only=true"),
}
MEASURES = {
    "LBM by packets": ('lbm.measure="packets"', "lbm.rho0=0.3"),
    "LBM by access delay": ('lbm.measure="access"', "lbm.rho0=0.15"),
}
"""The paper's other measures (section 4), with thresholds at some 70 % of what they are in a full cell."""
TODAY: dict[str, tuple[str, tuple[str, ...]]] = {
    "FQ-CoDel, queue 1000": ("fq-codel", ("radio.queue_packets=1000",)),
    "FQ-CoDel at the access point only": ("droptail", ('node.ap.scheme="fq-codel"',)),
}


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    up, up_deviation = delay_ms(stations(recording))
    windows = access_point(recording)
    values = rates(recording)
    numbers = {
        "upload_delay_ms": up,
        "upload_delay_deviation_ms": up_deviation,
        "access_point_delay_ms": delay_ms(windows)[0],
        "fairness": fairness(values),
        "throughput_mbps": throughput_mbps(recording),
        "marked_packets": float(sum(recording.result["marks"].values())),
        "queue_full_drops": float(recording.result["drops"].get("queue-full", 0)),
    }
    sent_up = [flow["dst"] == "host" for flow in recording.result["flows"]]
    ups = [rate for rate, up in zip(values, sent_up, strict=True) if up]
    numbers["uploads_share"] = sum(ups) / sum(values) if sum(values) else float("nan")
    return numbers | gauges(recording, windows)


def _better(form: str, scheme: str, what: str, number: str, comparison: Literal["above", "below"]) -> Claim:
    return Claim(
        text=f"Marking both directions ({scheme}): {what} than with drop-tail, {form}",
        where="ours; section 2.2",
        source="ours",
        series=f"{scheme}, {form}",
        baseline=f"{scheme}, downlink only, {form}",
        statistic=number_gain(number),
        comparison=comparison,
    )


def _claims(form: str, scheme: str) -> list[Claim]:
    claims = [
        _better(form, scheme, "the access point's packets wait less", "access_point_delay_ms", "below"),
        _better(form, scheme, "the flows share more fairly", "fairness", "above"),
    ]
    if form == MIXED:
        claims.append(_better(form, scheme, "the uploads' share is smaller", "uploads_share", "below"))
    return claims


NAMES = (*SCHEMES, *TODAY, *ONE_WAY, *MEASURES)


def draw(rows: Measured, figure: Figure) -> None:
    """Delay of the access point's packets and fairness, a bar a scheme."""
    panels = {
        "access_point_delay_ms": "delay of the access point's packets (ms)",
        "fairness": "fairness index",
    }
    for axes, (name, label) in zip(figure.subplots(1, 2, sharey=True), panels.items(), strict=True):
        for k, form in enumerate(FORMS):
            values = [rows[f"{scheme}, {form}"]["numbers"][name] for scheme in NAMES]
            axes.barh(
                [i + 0.4 * (k - 0.5) for i in range(len(NAMES))],
                [v["mean"] for v in values],
                height=0.4,
                xerr=[v["ci95"] or 0 for v in values],
                capsize=2,
                label=form,
            )
        axes.set_yticks(range(len(NAMES)), NAMES)
        axes.set_xlabel(label)
    axes.invert_yaxis()
    axes.legend(loc="lower left")


def _others(form: str, overrides: tuple[str, ...]) -> list[Series]:
    against = f"drop-tail, {form}"
    return [
        *(
            Series(f"{name}, {form}", scheme, (*overrides, *changes), against)
            for name, (scheme, changes) in TODAY.items()
        ),
        *(
            Series(f"{name}, {form}", "lbm", (*overrides, *changes), against)
            for name, changes in (ONE_WAY | MEASURES).items()
        ),
    ]


EXPERIMENT = Experiment(
    title="Uploads through an access point: marking both directions against marking one",
    scenario=CELL,
    series=tuple(
        series
        for form, overrides in FORMS.items()
        for series in (*together(form, overrides), *_others(form, overrides))
    ),
    claims=tuple(claim for form in FORMS for scheme in LBM for claim in _claims(form, scheme)),
    draw=draw,
    seeds=SEEDS,
    read=read,
    interval=INTERVAL,
    small=('duration="3 s"', 'warmup="1 s"'),
)

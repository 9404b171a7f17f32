"""Completion times by size of 60,000 files over one bottleneck (section III-A): TCP Reno, XCP, RCP, QFCP.

The paper: mean completion times with QFCP are "significantly shorter"; XCP's are the longest for short
flows; TCP's are "very oscillatory against the flow size"; RCP comes next to QFCP. Outcomes:
`docs/papers/qfcp.md`.

Readings, beside those in `fig1.toml`:

- *The list*: sizes are drawn in bytes, a packet is 960 B of payload, sizes are rounded up to packets. All
  four protocols of a seed get the same files at the same times: the draw depends on the seed and the flow's
  name.
- *The load*: the paper's 1 is that of the distribution. The sample mean of so heavy a tail differs from
  list to list (`offered load`, including headers), and at 1 no protocol has a steady state. Nominal loads
  of 0.5, 0.7 and 0.9 are the same sizes at a lower rate of arrivals. A scheme's header adds its bytes: 1.7
  % with QFCP's and RCP's 16 B, 2.1 % with XCP's 20 B.
- *The stop*: files that are unfinished when the last file arrives do not count, as in the paper. This omits
  long files, and more of them the slower a protocol is: `unfinished` counts them, `drained` has the means
  of all.
- *The start*: every protocol sets up its connection first and knows its rate, or its first window, one
  round trip later. No window is cut by the window of a SYN/ACK (`syn_window` of profile "ns-2").
- *The bound*: `processor sharing` is computed for each list, the rate shared equally from the first moment,
  plus two round trips (set-up, first byte and its acknowledgement). For loads below 1 its mean over all
  lists is size / (C (1 - load)) plus the two round trips (dotted). `processor sharing` and `offered load`
  count the files that are finished at the end of the run, 104 s after the last arrival.

Judged: QFCP's mean is the lowest in each group of sizes; it is below TCP's and XCP's; RCP's is too; XCP's
is the longest; TCP's means are the least even over sizes (`unevenness`, the rms distance of the mean of
each size from a smooth curve). Claims of the paper are those at its load of 1, those of RCP and of the
longest means for short files, below 100 packets, which the paper discusses; the others are ours.
Comparisons are seed by seed, since lists differ.

Why RCP is faster than QFCP for short files: both grant a new flow nearly all of the link, but RCP's rate
falls with the present queue, QFCP's with the least queue of an interval, and RCP's senders pace. With files
that end, equations (1) and (2) are an integrator with a gain of 1 an interval. `RCP, alpha 0.1` has the
constant of the paper of 2005 that the paper cites; later scripts of RCP have 0.4.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN, Claim, Measured, number
from airfair.paper import Experiment, Series

from airfair_papers.qfcp.common import completions
from airfair_papers.qfcp.common.completions import FINE, GROUPS
from airfair_papers.qfcp.common.protocols import BY_DIVISOR, CLOCK, COLOURS, FOUR, LEAST, PACED, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airfair.recording import Recording
    from matplotlib.figure import Figure

RATE_BPS = 150e6
ROUND_TRIP_S = 0.1
FLOWS = 60_000
LOADS = (0.5, 0.7, 0.9, 1.0)
IDEAL = "processor sharing"
VARIANTS: Mapping[str, Protocol] = {
    **BY_DIVISOR,
    **LEAST,
    **PACED,
    "RCP, alpha 0.1": Protocol("rcp", (CLOCK, "rcp.alpha=0.1"), 16),
    "RCP, alpha 0.1, T = d": Protocol("rcp", (CLOCK, "rcp.alpha=0.1", 'rcp.slot="10 s"'), 16),
}
"""Other readings, at the paper's load: of QFCP, and RCP with the constant of the paper of 2005 that the
paper cites, also with the rate set once a round trip, as QFCP does it."""
PAPERS = 1.0
"""The paper's load."""
SHORT = 100
"""Packets: files below this are short."""
EVENNESS = "unevenness over sizes"


def _point(name: str, load: float) -> str:
    return f"{name}, load {load:g}"


def _arrivals(load: float) -> tuple[str, ...]:
    """So much of the bottleneck, and time to drain."""
    per_second = 625 * load
    return (f"flow.files.traffic.per_second={per_second}", f'duration="{FLOWS / per_second + 104:.0f} s"')


FAST = (
    f'name="{IDEAL}"',
    "tcp.mss=60000 B",
    'link=[{ends=["source", "sink"], rate="100 Gbit/s", queue_packets=1000000}]',
)
"""A wire that nothing fills, for the list alone."""


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    files = completions.files(recording)
    result = recording.result
    if result["scenario"] == IDEAL:
        shared = completions.ideal(files, RATE_BPS, ROUND_TRIP_S)
        return {"offered load": files.load(RATE_BPS), **_times(shared, len(files.start_s))}
    header = FOUR[next(name for name, p in FOUR.items() if p.scheme == result["scheme"])].header
    series, queues = recording.pandas("flow_series"), recording.pandas("queues")
    until = series["end_s"] <= files.stop_s
    middle = (queues["node"] == "left") & (queues["towards"] == "right") & (queues["end_s"] <= files.stop_s)
    carried = float(series[until]["delivered_bytes"].sum()) * 8 / max(files.stop_s, 1e-9)
    return {
        "offered load": files.load(RATE_BPS, header),
        "delivered, of C": carried / RATE_BPS,
        "queue (packets)": float(queues[middle]["packets"].mean()),
        "queue-full drops": float(result["drops"].get("queue-full", 0)),
        "time-outs": float(recording.pandas("completions")["timeouts"].sum()),
        **_times(files, result["flows"][0]["files"]["started"]),
    }


def _times(files: completions.Files, started: int) -> dict[str, float]:
    stopped = files.took_s[files.stopped]
    return {
        EVENNESS: completions.unevenness(files),
        "mean (s)": float(stopped.mean()) if len(stopped) else float("nan"),
        **completions.means(files, tuple(dict.fromkeys((*GROUPS, *FINE)))),
        **completions.drained(files, GROUPS),
        **completions.unfinished(files, started, GROUPS),
    }


def _claims(load: float, reading: str = MAIN, variant: str = "") -> list[Claim]:
    """At a load; in another reading the claims that its variant takes part in, those of the paper."""
    names = tuple(variant if variant.startswith(name) else name for name in FOUR)
    all_four = tuple(_point(name, load) for name in names)
    tcp, xcp, rcp, qfcp = all_four

    def claim(
        text: str,
        series: str,
        baseline: str | None,
        name: str,
        comparison: str,
        than: tuple[str, ...],
        *,
        said: bool = True,
    ) -> Claim:
        papers = said and load == PAPERS
        return Claim(
            text=f"{text}, load {load:g}",
            where="section III-A, figure 1" if papers else "figure 1 at a lower load",
            source="paper" if papers else "ours",
            reading=reading,
            series=series,
            baseline=baseline,
            statistic=number(name),
            comparison="below" if comparison == "below" else "above",
            bound=number(name),
            bound_series=than,
            paired=True,
        )

    made = []
    for group in GROUPS:
        name, short = f"{group.name} (s)", group.most < SHORT
        made.append(claim(f"QFCP's mean is the lowest, {group.name}", qfcp, xcp, name, "below", all_four))
        made.append(
            claim(
                f"RCP's is below TCP's and XCP's, {group.name}",
                rcp,
                None,
                name,
                "below",
                (tcp, xcp, rcp),
                said=short,
            )
        )
        made.append(
            claim(
                f"QFCP's is below TCP's and XCP's, {group.name}", qfcp, xcp, name, "below", (tcp, xcp, qfcp)
            )
        )
        if short:
            made.append(claim(f"XCP's is the longest, {group.name}", xcp, None, name, "above", all_four))
    made.append(claim("TCP's means are the least even over sizes", tcp, None, EVENNESS, "above", all_four))
    part = _point(variant, load)
    return [one for one in made if not variant or (one.source == "paper" and part in _about(one))]


def _about(claim: Claim) -> tuple[str, ...]:
    """The series that a claim compares."""
    return (claim.series, *(claim.bound_series or ()))


def draw(rows: Measured, figure: Figure) -> None:
    """Mean completion time by size, a panel a load."""
    figure.set_size_inches(11.0, 7.5)
    for axes, load in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, LOADS, strict=True):
        for name in FOUR:
            completions.curve(axes, rows[_point(name, load)]["numbers"], name, COLOURS[name])
        for name in VARIANTS if load == PAPERS else ():
            completions.curve(axes, rows[_point(name, load)]["numbers"], name, COLOURS[name], ":")
        bound = rows[_point(IDEAL, load)]["numbers"]
        completions.curve(axes, bound, f"{IDEAL}, these lists", "black", "--")
        if load < 1:
            sizes = np.geomspace(6, 10_000, 50)
            # Of the distribution: 40 B of headers with 960 B of payload.
            ideal = completions.formula(sizes, load, RATE_BPS, ROUND_TRIP_S)
            axes.plot(sizes, ideal, ":", color="black", linewidth=1, label=f"{IDEAL}, formula")
        offered = completions.loads(rows, _point("TCP Reno", load))
        half = "" if offered["ci95"] is None else f" ± {offered['ci95']:.2f}"
        axes.set_title(f"nominal load {load:g}, offered by these lists {offered['mean']:.2f}{half}")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(0.15, 100)
        axes.grid(visible=True, which="major", alpha=0.3)
    for axes in figure.axes[2:]:
        axes.set_xlabel("size (packets of 960 B)")
    for axes in figure.axes[::2]:
        axes.set_ylabel("mean completion time (s)")
    handles, labels = figure.axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)


EXPERIMENT = Experiment(
    title="60,000 files over a bottleneck: completion times by size under four protocols",
    scenario=Path(__file__).with_suffix(".toml"),
    series=tuple(
        series
        for load in LOADS
        for series in (
            *(
                Series(_point(name, load), p.scheme, (*_arrivals(load), *p.overrides), _point("QFCP", load))
                for name, p in {**FOUR, **(VARIANTS if load == PAPERS else {})}.items()
            ),
            Series(_point(IDEAL, load), "droptail", (*_arrivals(load), *FAST), _point("QFCP", load)),
        )
    ),
    claims=(
        *(claim for load in reversed(LOADS) for claim in _claims(load)),
        *(claim for variant in VARIANTS for claim in _claims(PAPERS, variant, variant)),
    ),
    draw=draw,
    read=read,
    interval="500 ms",
    small=('duration="5 s"',),
)

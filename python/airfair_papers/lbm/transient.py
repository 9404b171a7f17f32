"""How fast rho_0 follows a sudden change of load: promised in section 3.2, not shown there.

Three flows send file after file from the beginning; five more start at 120 s and stop at 220 s. Eight flows
can just be kept at 15 ms (`lbm/table2`). Measured are the time in which rho_0 comes within 0.02 of its
final value, after the load has started and after it has stopped, and the mean delay in the 20 s after its
start. Outcomes: `docs/papers/lbm.md`.

In the paper the step and the width of the target decide the speed. Judged: with a step of 0.05 rho_0
settles sooner than with 0.01, after the start of the load and after its end. A claim is evaluated on the
step of 0.01 itself. With 0.05 rho_0 swings so much with three flows that it never settles, and the delay
with it.

A cell with a little load is the worst case: its delay is below the target, so that rho_0 rises to its
bound. `light load first` has only a call of 100 kbit/s before 120 s. From a bound of 1 rho_0 needs long to
fall when load starts; from the default of 0.25, just above the capacity of the air, the way is short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import Claim, Measured, number, number_gain
from airfair.paper import Experiment, Series

from airfair_papers.lbm.common.cell import (
    BACK_TO_BACK,
    CELL,
    INTERVAL,
    SEEDS,
    WARMUP,
    access_point,
    delay_ms,
    flow,
    flows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airfair.recording import Recording
    from matplotlib.figure import Figure

COME_S, GO_S, END_S = 120, 220, 320
FEW, MORE = 3, 5
NEAR = 0.02
CROWD_S = 20.0

TARGET = ("lbm.adapt=true",)
WHERE = "section 3.2, promised there"


CALL = '{id="call", from="host", to="s20", traffic={kind="constant", rate="100 kbit/s", packet="500 B"}}'


def _load(*, light_first: bool = False) -> tuple[str, ...]:
    """The flows: some from the beginning, or a call only; more for 100 s."""
    first = f'start="{COME_S} s"' if light_first else 'start_jitter="5 s"'
    always = [flow(n, traffic=BACK_TO_BACK, times=first) for n in range(1, FEW + 1)]
    if light_first:
        always.append(CALL)
    crowd = [
        flow(n, traffic=BACK_TO_BACK, times=f'start="{COME_S} s", stop="{GO_S} s"')
        for n in range(FEW + 1, FEW + MORE + 1)
    ]
    return (WARMUP, f'duration="{END_S} s"', flows([*always, *crowd]))


VARIANTS: dict[str, tuple[str, ...]] = {
    "step 0.01": TARGET,
    "step 0.02": (*TARGET, "lbm.step=0.02"),
    "step 0.05": (*TARGET, "lbm.step=0.05"),
    "step 0.01, each 2 s": (*TARGET, "lbm.adapt_windows=4"),
    "step 0.01, each 5 s": (*TARGET, "lbm.adapt_windows=10"),
    "target 10 to 30 ms": (*TARGET, 'lbm.max_delay="30 ms"'),
    "fixed 0.2": (),
}
LOOSE = "light load first, max_rho0 1"
LIGHT: dict[str, tuple[str, ...]] = {
    "light load first": TARGET,
    LOOSE: (*TARGET, "lbm.max_rho0=1"),
}


def _mean(values: np.ndarray, ends: np.ndarray, first: float, last: float) -> float:
    """Of the windows between two moments; NaN if there are none."""
    there = values[(ends > first) & (ends <= last)]
    return float(there.mean()) if there.size else float("nan")


def settling_s(rho0: np.ndarray, ends: np.ndarray, change: float, until: float) -> float:
    """Time after a change until rho_0 first is within `NEAR` of its mean in the 30 s before `until`."""
    rest = _mean(rho0, ends, until - 30, until)
    after = ends > change
    near = np.flatnonzero(np.abs(rho0[after] - rest) <= NEAR)
    return float(ends[after][near[0]] - change) if near.size else until - change


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    windows = access_point(recording)
    crowd = windows[(windows["end_s"] > COME_S) & (windows["end_s"] <= COME_S + CROWD_S)]
    numbers = {
        "delay_when_they_come_ms": delay_ms(crowd)[0],
        "delay_with_them_ms": delay_ms(windows[windows["end_s"].between(COME_S + CROWD_S, GO_S)])[0],
    }
    if "agents" not in recording.tables:
        return numbers
    agents = recording.pandas("agents")
    ends, rho0 = agents["end_s"].to_numpy(), agents["rho0"].to_numpy()
    return numbers | {
        "settled_after_coming_s": settling_s(rho0, ends, COME_S, GO_S),
        "settled_after_going_s": settling_s(rho0, ends, GO_S, END_S),
        "rho0_before": _mean(rho0, ends, COME_S - 30, COME_S),
        "rho0_with_them": _mean(rho0, ends, GO_S - 30, GO_S),
    }


def curves(recording: Recording) -> dict[str, list[float]]:
    """Delay and rho_0 of one run over time."""
    windows = access_point(recording)
    told = {
        "delay_end_s": windows["end_s"].tolist(),
        "delay_ms": (1000 * windows["mean_link_delay_s"]).tolist(),
    }
    if "agents" in recording.tables:
        agents = recording.pandas("agents")
        told |= {"end_s": agents["end_s"].tolist(), "rho0": agents["rho0"].tolist()}
    return told


def draw(rows: Measured, figure: Figure) -> None:
    """rho_0 and, smoothed over 5 s, the delay of one run."""
    thresholds, delays = figure.subplots(1, 2)
    for name in ("step 0.01", "step 0.05", "step 0.01, each 5 s", *LIGHT):
        told: Mapping[str, Sequence[float]] = rows[name]["curves"]
        thresholds.plot(told["end_s"], told["rho0"], linewidth=1, label=name)
    for name in ("step 0.01", "step 0.05", "fixed 0.2", "drop-tail", "FQ-CoDel"):
        told = rows[name]["curves"]
        ends, values = told["delay_end_s"], told["delay_ms"]
        smooth = np.convolve(values, np.ones(10) / 10, mode="valid")
        delays.plot(ends[9:], smooth, linewidth=1, label=name)
    for axes, label in ((thresholds, "rho_0"), (delays, "delay over the wireless link (ms), mean of 5 s")):
        axes.axvspan(COME_S, GO_S, color="0.93")
        axes.set_xlabel("time (s)")
        axes.set_ylabel(label)
        axes.legend(fontsize=6)


def _faster(series: str, baseline: str, what: str, number_: str) -> Claim:
    return Claim(
        text=what,
        where=WHERE,
        source="ours",
        series=series,
        baseline=baseline,
        statistic=number_gain(number_),
        comparison="below",
    )


BASE = "step 0.01"

EXPERIMENT = Experiment(
    title="How fast LBM's threshold follows a sudden change of load",
    scenario=CELL,
    series=(
        Series("drop-tail", "droptail", _load()),
        Series("FQ-CoDel", "fq-codel", _load()),
        *(Series(name, "lbm", (*_load(), *changes), BASE) for name, changes in VARIANTS.items()),
        *(
            Series(name, "lbm", (*_load(light_first=True), *changes), LOOSE)
            for name, changes in LIGHT.items()
        ),
    ),
    claims=(
        Claim(
            text="rho_0 is lower while there are more flows",
            where=WHERE,
            source="ours",
            series=BASE,
            baseline="fixed 0.2",
            statistic=number("rho0_with_them"),
            comparison="below",
            bound=number("rho0_before"),
        ),
        _faster("step 0.05", BASE, "A larger step follows a coming load faster", "settled_after_coming_s"),
        _faster("step 0.05", BASE, "A larger step follows a going load faster", "settled_after_going_s"),
        _faster(
            "light load first",
            LOOSE,
            "After a light load a bound at what the air can carry keeps the delay lower when more comes",
            "delay_when_they_come_ms",
        ),
    ),
    draw=draw,
    seeds=SEEDS,
    read=read,
    curves=curves,
    interval=INTERVAL,
)

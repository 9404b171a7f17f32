"""Parts that LBM's experiments share: forms of the cell, schemes, and what is read out of a run.

**Traffic.** The paper has "ftp flows that transfer files". Three readings are measured side by side:

- *one file each* (`cell.toml`): a flow is one file, its rate is its size over its completion time;
- *back to back*: each flow sends file after file, each over a new connection, for 300 s after 30 s of
  warm-up; its rate is what it delivered.

- *files with pauses*: the same with a pause of 5 s on average before each next file.

The first is the nearer one: the paper's standard deviations over its ten runs are those of single files (5
to 20 ms; files back to back give 0.3 to 1.3 ms), and so are its delays and its throughput at five flows
(`lbm/table1`). The second is a cell that is busy without a pause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from airfair.claims import MAIN
from airfair.paper import Series

if TYPE_CHECKING:
    import pandas as pd
    from airfair.claims import Measured
    from airfair.recording import Recording
    from matplotlib.axes import Axes

CELL = Path(__file__).parent.with_name("cell.toml")
FLOWS = (5, 10, 15, 20)
SEEDS = 10
"""As many as the paper's runs."""

INTERVAL = "500 ms"
"""t_avg: a row of a recording is a window of LBM's length."""

FILES = 'size="500 kB", distribution="pareto", shape=1.5'
ONE_FILE = f'{{kind="arrivals", per_second=1000, count=1, {FILES}}}'
BACK_TO_BACK = f'{{kind="web", pause="0 s", {FILES}}}'

PAUSES = f'{{kind="web", pause="5 s", {FILES}}}'

WARMUP = 'warmup="30 s"'

SCHEMES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "drop-tail": ("droptail", ()),
    "LBM 0.15": ("lbm", ("lbm.rho0=0.15",)),
    "LBM 0.2": ("lbm", ("lbm.rho0=0.2",)),
    "LBM target": ("lbm", ("lbm.adapt=true",)),
    "FQ-CoDel": ("fq-codel", ()),
}
"""With two fixed thresholds, and with the target of 10 to 15 ms."""

COLOURS = {name: f"C{i}" for i, name in enumerate(SCHEMES)}


def flow(number: int, *, up: bool = False, traffic: str = ONE_FILE, times: str = 'start_jitter="5 s"') -> str:
    """A flow between the host and a station, as a scenario has it."""
    ends = f'from="s{number}", to="host"' if up else f'from="host", to="s{number}"'
    return f'{{id="f{number}", {ends}, transport="tcp-newreno", {times}, traffic={traffic}}}'


def flows(each: Iterable[str]) -> str:
    """The flows of a series, in place of the scenario's."""
    return f"flow=[{', '.join(each)}]"


WINDOWS = 'tcp.window_limit="1000 segments"'
"""More than the access point's queue holds; ns-2's default is 20 segments."""


def one_file(count: int) -> tuple[str, ...]:
    """So many flows of one file."""
    return (flows(flow(n) for n in range(1, count + 1)),)


def back_to_back(count: int) -> tuple[str, ...]:
    """So many flows of file after file."""
    return (WARMUP, flows(flow(n, traffic=BACK_TO_BACK) for n in range(1, count + 1)))


def with_pauses(count: int) -> tuple[str, ...]:
    """So many flows of file after file, with pauses."""
    return (WARMUP, flows(flow(n, traffic=PAUSES) for n in range(1, count + 1)))


def changed(form: Callable[[int], tuple[str, ...]], *changes: str) -> Callable[[int], tuple[str, ...]]:
    """A form with other values."""
    return lambda count: (*form(count), *changes)


FORMS = {"one file each": one_file, "back to back": back_to_back, "files with pauses": with_pauses}
"""The readings of the traffic; the first is the main one."""


def reading(form: str) -> str:
    """As claims name it."""
    return MAIN if form == next(iter(FORMS)) else form


def point(form: str, count: int) -> str:
    """The end of a series' name."""
    return f"{count} flows, {form}"


def together(
    suffix: str, overrides: tuple[str, ...], schemes: Sequence[str] = tuple(SCHEMES)
) -> list[Series]:
    """Schemes in one form of the cell, each against drop-tail; a series is named `scheme, suffix`."""
    return [
        Series(f"{name}, {suffix}", SCHEMES[name][0], (*overrides, *SCHEMES[name][1]), f"drop-tail, {suffix}")
        for name in schemes
    ]


def access_point(recording: Recording) -> pd.DataFrame:
    """The queue of the access point's radio from the end of the warm-up on, windows with packets only."""
    return _radios(recording, ["ap"])


def stations(recording: Recording) -> pd.DataFrame:
    """The same of the stations that send files."""
    senders = {flow["src"] for flow in recording.result["flows"]} - {"host"}
    return _radios(recording, sorted(senders))


def _radios(recording: Recording, nodes: list[str]) -> pd.DataFrame:
    queues = recording.pandas("queues")
    here = queues["node"].isin(nodes) & (queues["towards"] == "default")
    measured = queues["end_s"] > recording.result["warmup_s"]
    return queues[here & measured & (queues["acknowledged_packets"] > 0)]


def delay_ms(windows: pd.DataFrame) -> tuple[float, float]:
    """Mean and standard deviation of the packets' delay over the wireless link, ms; NaN without packets."""
    if windows.empty:
        return float("nan"), float("nan")
    packets = windows["acknowledged_packets"].to_numpy()
    means = windows["mean_link_delay_s"].to_numpy()
    squares = windows["link_delay_deviation_s"].to_numpy() ** 2 + means**2
    mean = float(np.average(means, weights=packets))
    variance = float(np.average(squares, weights=packets)) - mean**2
    return 1000 * mean, 1000 * max(variance, 0.0) ** 0.5


def rates(recording: Recording) -> list[float]:
    """x_i, bit/s: of a single file its size over its completion time, else the goodput."""
    result = recording.result
    found = []
    for flow in result["flows"]:
        files = flow.get("files")
        if result["warmup_s"] == 0 and files is not None and files["mean_completion_s"] is not None:
            found.append(8 * flow["delivered_bytes"] / files["mean_completion_s"])
        else:
            found.append(flow["goodput_bps"])
    return found


def fairness(values: Sequence[float]) -> float:
    """The paper's fairness index, (sum x)^2 / (N sum x^2)."""
    squares = sum(x * x for x in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else float("nan")


def throughput_mbps(recording: Recording) -> float:
    """Goodput of all flows from the end of the warm-up to the last byte, Mbit/s."""
    series = recording.pandas("flow_series")
    warmup = recording.result["warmup_s"]
    delivered = series[series["end_s"] > warmup].groupby("end_s")["delivered_bytes"].sum()
    busy = delivered[delivered > 0]
    return 0.0 if busy.empty else float(8e-6 * busy.sum() / (busy.index.max() - warmup))


def read(recording: Recording) -> dict[str, float]:
    """The numbers of a run."""
    windows = access_point(recording)
    mean, deviation = delay_ms(windows)
    numbers = {
        "delay_ms": mean,
        "delay_deviation_ms": deviation,
        "window_deviation_ms": 1000 * float(windows["mean_link_delay_s"].std(ddof=0)),
        "fairness": fairness(rates(recording)),
        "throughput_mbps": throughput_mbps(recording),
        "queue_full_drops": float(recording.result["drops"].get("queue-full", 0)),
        "marked_packets": float(sum(recording.result["marks"].values())),
    }
    return numbers | gauges(recording, windows)


def gauges(recording: Recording, windows: pd.DataFrame) -> dict[str, float]:
    """Means of LBM's inner values over the windows with packets."""
    if "agents" not in recording.tables:
        return {}
    agents = recording.pandas("agents")
    here = agents[agents["end_s"].isin(windows["end_s"])]
    names = {"rho": "rho", "rho0": "rho0", "probability": "marking_probability"}
    return {shown: float(here[name].mean()) for name, shown in names.items()}


def lines(
    axes: Axes, rows: Measured, series: Mapping[str, Sequence[str]], at: Sequence[float], number: str
) -> None:
    """A line with intervals for each entry of `series`, a label and the names of its points."""
    for label, names in series.items():
        points = [rows[name]["numbers"][number] for name in names]
        axes.errorbar(
            at,
            [p["mean"] for p in points],
            yerr=[p["ci95"] or 0 for p in points],
            fmt="o-",
            capsize=3,
            color=COLOURS.get(label),
            label=label,
        )

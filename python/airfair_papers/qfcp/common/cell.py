"""Parts that the experiments in a cell of 802.11 share: transfers up and down, protocols, numbers.

Transfer i runs between a host h(i) on wires and a station s(i) of one access point; each has a round trip
of its own. Goodputs are taken over whole seconds, as in figure 2(c).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    from airfair.recording import Recording

Floats = NDArray[np.float64]

SEEDS = 20
MSS = 1000
"""Bytes; a window is shown in segments of this size."""
SETTLING_S = 3.0
""""2-3 seconds" (section III-B): what comes later is judged."""

CLOCK = 'tcp.tick="1 us"'
"""The clock of schemes that multiply rates by round-trip times. ns-2's TCP counts ticks of 10 ms."""
SACK = "tcp.sack=true"


class Protocol(NamedTuple):
    """How a run speaks it: flows of "tcp-reno" under a scheme without sources are TCP Reno."""

    scheme: str
    overrides: tuple[str, ...] = ()


PROTOCOLS: Mapping[str, Protocol] = {
    "QFCP": Protocol("qfcp", (CLOCK,)),
    "TCP Reno": Protocol("droptail"),
    "QFCP, paced": Protocol("qfcp", (CLOCK, "qfcp.paced=true")),
    "QFCP, SACK": Protocol("qfcp", (CLOCK, SACK)),
    "XCP-b": Protocol("xcp-b", (CLOCK,)),
    "XCP": Protocol("xcp", (CLOCK,)),
    "RCP": Protocol("rcp", (CLOCK,)),
    "TCP Reno, SACK": Protocol("droptail", (SACK,)),
}
"""XCP and RCP take the rate of data frames for the capacity of a radio: it is all that an interface knows."""

COLOURS = {
    "QFCP": "C3",
    "TCP Reno": "C7",
    "QFCP, paced": "C6",
    "QFCP, SACK": "C8",
    "XCP-b": "C9",
    "XCP": "C0",
    "RCP": "C1",
}


def flow(number: int, *, up: bool, own: str = "") -> str:
    """A transfer without end, from time 0 on."""
    ends = f'from="s{number}", to="h{number}"' if up else f'from="h{number}", to="s{number}"'
    traffic = 'traffic={kind="ftp", start_jitter="0 s"}'
    return f'{{id="f{number}", {ends}, transport="tcp-reno", {traffic}{f", {own}" if own else ""}}}'


def flows(count: int, ups: Collection[int], own: Mapping[int, str] | None = None) -> str:
    """So many, in place of the scenario's; those named in `ups` upload, `own` are further keys of a flow."""
    each = [flow(n, up=n in ups, own=(own or {}).get(n, "")) for n in range(1, count + 1)]
    return f"flow=[{', '.join(each)}]"


def uploads(recording: Recording) -> NDArray[np.bool_]:
    """Which of the flows come from a station, in the order of the flows."""
    return np.array([flow["src"].startswith("s") for flow in recording.result["flows"]])


def per_second(recording: Recording) -> Floats:
    """Goodput (bit/s) in each whole second: a row a second, a column a flow. Intervals divide a second."""
    series = recording.pandas("flow_series")
    count = len(recording.result["flows"])
    delivered = series["delivered_bytes"].to_numpy(float).reshape(-1, count)
    rows = round(1 / float(series["end_s"].iloc[0]))
    whole = len(delivered) // rows
    bits: Floats = 8 * delivered[: whole * rows].reshape(whole, rows, count).sum(axis=1)
    return bits


def jain(goodputs: Floats) -> Floats:
    """Jain's index of each row; NaN where nothing was delivered."""
    squares = (goodputs**2).sum(axis=-1) * goodputs.shape[-1]
    there = squares > 0
    index: Floats = np.where(there, goodputs.sum(axis=-1) ** 2 / np.where(there, squares, 1.0), np.nan)
    return index


def for_good(index: Floats, least: float) -> float:
    """When, s, an index of each second is `least` or more and stays so; the end if never."""
    short = np.flatnonzero(~(index >= least))
    return float(short[-1] + 1) if short.size else 0.0


def windows(recording: Recording) -> tuple[Floats, Floats]:
    """Ends of the intervals (s), and windows (segments): a row an interval, a column a flow."""
    series = recording.pandas("flow_series")
    count = len(recording.result["flows"])
    ends = series["end_s"].to_numpy(float).reshape(-1, count)[:, 0]
    return ends, series["window_bytes"].to_numpy(float).reshape(-1, count) / MSS


def at_access_point(recording: Recording, table: str) -> pd.DataFrame:
    """Rows of the access point's radio, one an interval: its queue, or its router code's values."""
    rows = recording.pandas(table)
    return rows[(rows["node"] == "ap") & (rows["towards"] != "router")]


def of_cell(recording: Recording, since: float = SETTLING_S) -> dict[str, float]:
    """Numbers of the flows from `since` on: index, share of the downloads, total, the access point's
    queue.
    """
    each = per_second(recording)
    index = jain(each)
    late = each[int(since) :]
    up = uploads(recording)
    queue = at_access_point(recording, "queues")
    total = float(late.sum())
    return {
        "index of a second": _mean(index[int(since) :]),
        "seconds with 0.95 or more (share)": float((index[int(since) :] >= 0.95).mean()),
        "index of the whole": float(jain(late.sum(axis=0))),
        "downloads' share": float(late[:, ~up].sum()) / total if total and up.any() else float("nan"),
        "total (Mbit/s)": 1e-6 * float(late.sum(axis=1).mean()),
        "access point's queue (packets)": float(queue[queue["end_s"] > since]["packets"].mean()),
        "dropped (%)": 100
        * _drops(recording)
        / max(1, sum(f["sent_packets"] for f in recording.result["flows"])),
    }


def probing(recording: Recording, since: float = SETTLING_S) -> dict[str, float]:
    """The course of the capacity gauge of an access point with router code."""
    if "hops" not in recording.tables:
        return {}
    hops = at_access_point(recording, "hops")
    if "capacity_bps" not in hops:
        return {}
    ends, capacity = hops["end_s"].to_numpy(float), 1e-6 * hops["capacity_bps"].to_numpy(float)
    found = _mean(capacity[ends > since])
    near = np.flatnonzero(capacity >= 0.8 * found)
    numbers = {
        "capacity (Mbit/s)": found,
        "capacity, standard deviation (Mbit/s)": float(capacity[ends > since].std()),
        "capacity found after (s)": float(ends[near[0]]) if near.size else float(ends[-1]),
    }
    if "interval_s" in hops:
        numbers["T (s)"] = _mean(hops["interval_s"].to_numpy(float)[ends > since])
    return numbers


def _drops(recording: Recording) -> int:
    return sum(count for reason, count in recording.result["drops"].items() if reason == "queue-full")


def _mean(values: Floats) -> float:
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else float("nan")


def cell(rtts_ms: Sequence[int]) -> tuple[str, str]:
    """Nodes and links of a cell with a station for each round trip, in place of the scenario's."""
    count = len(rtts_ms)
    angles = 2 * np.pi * np.arange(count) / count
    stations = [
        f'{{id="s{n}", position=["{10 * np.cos(a):.2f} m", "{10 * np.sin(a):.2f} m"]}}'
        for n, a in enumerate(angles, 1)
    ]
    hosts = [f'{{id="h{n}", radios=[]}}' for n in range(1, count + 1)]
    fixed = ['{id="ap", position=["0 m", "0 m"], radios=["access-point"]}', '{id="router", radios=[]}']
    wire = 'rate="100 Mbit/s", queue_packets=1000'
    links = [
        f'{{ends=["ap", "router"], delay="1 ms", {wire}}}',
        *(
            f'{{ends=["router", "h{n}"], delay="{rtt / 2 - 1:g} ms", {wire}}}'
            for n, rtt in enumerate(rtts_ms, 1)
        ),
    ]
    return f"node=[{', '.join([*fixed, *stations, *hosts])}]", f"link=[{', '.join(links)}]"

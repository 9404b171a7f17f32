"""Goodputs and queues over time, out of a recording of wired flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from airfair.recording import Recording

    from airfair_papers.qfcp.common.sharing import Floats


def goodputs(recording: Recording) -> tuple[Floats, Floats]:
    """The ends of the intervals (s), and of each a row of the flows' goodputs (bit/s)."""
    series = recording.pandas("flow_series")
    ends = series["end_s"].unique()
    return ends, series["goodput_bps"].to_numpy(float).reshape(len(ends), -1)


def queue(recording: Recording, node: str, towards: str) -> pd.DataFrame:
    """The intervals of an output interface."""
    queues = recording.pandas("queues")
    return queues[(queues["node"] == node) & (queues["towards"] == towards)]


def smoothed(values: Floats, intervals: int) -> Floats:
    """Means over so many intervals from each one on; a row a beginning, fewer than `values` has."""
    if len(values) < intervals:
        return values[:0]
    sums = np.cumsum(np.concatenate([np.zeros_like(values[:1]), values]), axis=0)
    means: Floats = (sums[intervals:] - sums[:-intervals]) / intervals
    return means


def settled(good: np.ndarray, step_s: float, hold: int) -> float:
    """When, s from the first row, `good` begins to hold for so many rows; all the time there is if never."""
    run = 0
    for row, holds in enumerate(good.tolist()):
        run = run + 1 if holds else 0
        if run == hold:
            return (row + 1 - hold) * step_s
    return len(good) * step_s


def for_good(good: np.ndarray, step_s: float) -> float | None:
    """When, s from the first row, `good` begins to hold to the end; None if it does not in the last row."""
    away = np.flatnonzero(~good)
    first = int(away[-1]) + 1 if len(away) else 0
    return first * step_s if first < len(good) else None

"""Goodput over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airfair.recording import Recording
    from pandas import DataFrame


def goodputs(recording: Recording) -> DataFrame:
    """Goodput in kbit/s: a row an interval (its end, s), a column a flow."""
    series = recording.pandas("flow_series")
    return series.pivot(index="end_s", columns="flow", values="goodput_bps") / 1000

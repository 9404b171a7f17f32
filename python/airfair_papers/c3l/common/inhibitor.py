"""An inhibited link that is saturated, beside an inhibitor whose load is swept: figures 5 and 7."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from airfair.claims import MAIN
from airfair.paper import Series

from airfair_papers.c3l.common.scenes import FAR_LINE, LINE, LONE, START, nodes

if TYPE_CHECKING:
    from airfair.recording import Recording

LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Of what a lone saturated link delivers."""
HALF = tuple(load for load in LOADS if load <= 0.5)
BELOW = tuple(load for load in LOADS if load < 1)

NEAR, POISSON, NEAR_POISSON, BACK = "near", "Poisson", "near, Poisson", "near, inhibitor's receiver near"
READINGS = (MAIN, NEAR, POISSON, NEAR_POISSON, BACK)
"""The main one: an inhibitor beyond reception range of the inhibited receiver, with a packet at a time."""
TIMES = (f'duration="{START + 100} s"', f'warmup="{START + 10} s"')
"""Loads are constant: nothing here needs long."""

INHIBITED, INHIBITOR = "inhibited (of C)", "inhibitor (of C)"
W = "W"


def name(load: float, reading: str = MAIN) -> str:
    """The name of a series."""
    text = f"inhibitor at {load:g} C"
    return text if reading == MAIN else f"{text}, {reading}"


ALONE = "inhibited link alone"


def _flows(load: float, kind: str, *, back: bool) -> str:
    a, b = ("4", "3") if back else ("3", "4")
    jitter = ", gap_jitter=0.5" if kind == "constant" else ""
    rate = f'kind="{kind}", rate="{load * LONE:.1f} kbit/s", packet="1000 B"{jitter}'
    sent = 'kind="saturating", packet="1000 B"' if load == 1.0 else rate
    inhibitor = f', {{id="F2", from="{a}", to="{b}", start="{START} s", transport="udp", traffic={{{sent}}}}}'
    return (
        f'flow=[{{id="F1", from="1", to="2", start="{START} s", transport="udp", '
        f'traffic={{kind="saturating", packet="1000 B"}}}}{inhibitor * (load > 0)}]'
    )


def overrides(load: float, reading: str) -> tuple[str, ...]:
    """The scene with an inhibitor of this load, in packets a second of a lone link; 1: it is saturated."""
    line = FAR_LINE if reading in (MAIN, POISSON) else LINE
    kind = "poisson" if reading in (POISSON, NEAR_POISSON) else "constant"
    return (*TIMES, 'name="inhibitor"', nodes(line), _flows(load, kind, back=reading == BACK))


def all_series() -> tuple[Series, ...]:
    """The inhibited link alone, and beside each load in each reading."""
    return (
        Series(ALONE, "droptail", overrides(0.0, MAIN)),
        *(
            Series(name(load, reading), "droptail", overrides(load, reading))
            for reading in READINGS
            for load in LOADS
        ),
    )


def read(recording: Recording) -> dict[str, float]:
    """Goodputs as parts of C, and W: (C - inhibited) / inhibitor."""
    rates = [flow["goodput_bps"] / 1e3 / LONE for flow in recording.result["flows"]]
    inhibited, inhibitor = (*rates, 0.0)[:2]
    return {
        INHIBITED: inhibited,
        INHIBITOR: inhibitor,
        W: (1 - inhibited) / inhibitor if inhibitor else math.nan,
    }

"""One run of a sweep, in any process: the scenario arrives as text, the row returns as text. This module
imports little, and shares only a pipe or the network with the driver.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

from .. import _core
from .._core import Scenario
from ..results import Forwarding, Perf, RunResult, scalars

KEPT = 4
"""Scenarios that a worker keeps: the seeds and schemes of a case follow each other."""


class Outcome(NamedTuple):
    """The outcome of a run: its row as JSON, or its error. The version is that of the worker."""

    version: str
    row: str | None
    error: str | None


def hello() -> str:
    """The version of Airfair in a worker."""
    return _core.__version__


def run_one(
    text: str, scheme: str, seed: int, stop: _core.Stop | None = None, sources: tuple[str, ...] = ()
) -> Outcome:
    """Run the resolved scenario `text`. `sources` are files and modules with schemes in Python.

    An error is an outcome too: not every exception survives a pipe.
    """
    try:
        if sources:
            from ..scheme import load_schemes

            for source in sources:
                load_schemes(source)
        row = _row(json.loads(_scenario(text).run(scheme, seed, stop)))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the simulator is no Exception
        from ..scheme.mistakes import in_a_line

        return Outcome(_core.__version__, None, in_a_line(error))
    return Outcome(_core.__version__, json.dumps(row, separators=(",", ":")), None)


@lru_cache(KEPT)
def _scenario(text: str) -> Scenario:
    return Scenario.parse(text)


SCALARS = tuple(scalars(RunResult))
"""Keys of a result that a row has unchanged."""

FLOW = (
    "id",
    "src",
    "dst",
    "goodput_bps",
    "delivered_bytes",
    "sent_packets",
    "delivered_packets",
    "dropped_packets",
    "loss_ratio",
    "retransmissions",
    "mean_delay_s",
    "p99_delay_s",
    "rtt_s",
    "completion_s",
    "hops",
    "offered_bytes",
)
"""Keys of a flow that its row has unchanged."""

FILES = ("started", "finished", "mean_completion_s", "p95_completion_s")
"""Keys of a flow's files that its row has, with `files_` before the name."""
FORWARDING = tuple(Forwarding.__annotations__)
"""Keys of what forwarders have sent for a flow, with `forwarding_` before the name."""


PERF = tuple(scalars(Perf))
"""Keys of a run's cost that its row has, with `perf_` before the name."""


def _row(result: dict[str, Any]) -> dict[str, Any]:
    """The row of a result: the numbers of the run and of the flows, not those of the nodes."""
    ends = result["ends"]
    flows = [
        {name: flow[name] for name in FLOW}
        | {f"files_{name}": flow.get("files", {}).get(name) for name in FILES}
        | {f"forwarding_{name}": flow.get("forwarding", {}).get(name) for name in FORWARDING}
        for flow in result["flows"]
    ]
    return {
        **{name: result[name] for name in SCALARS},
        "made_packets": ends["made"],
        "delivered_packets": ends["delivered"],
        "drops": result["drops"],
        "marks": result["marks"],
        "control_bps": sum(kind["bps"] or 0.0 for kind in result.get("control", [])),
        "messages": sum(radio.get("messages", {}).get("sent", 0) for radio in result["stations"]),
        "warnings": result["warnings"],
        **{f"perf_{name}": result["perf"][name] for name in PERF},
        "flows": flows,
    }

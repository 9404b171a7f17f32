"""The verdict on an emulation in words: whether it kept up with the wall clock, and what to change."""

from __future__ import annotations

from ..quantities import plural
from ..results import Emulation


def lines(run: Emulation) -> list[str]:
    """The verdict on a run, and what to change."""
    pauses = run["pauses"]
    if run["verdict"] == "kept up":
        return ["kept up: the numbers are those of the scenario"]
    count = f"{pauses['count']} {plural(pauses['count'], 'pause')} of the machine"
    longest = f"{1e3 * pauses['longest_s']:.0f} ms the longest"
    if run["verdict"] == "kept up but for pauses":
        return [f"kept up but for {count}, {longest}"]
    behind = run["behind_from_s"]
    found = []
    if run["faults"]:
        found.append(f"{run['faults']} {plural(run['faults'], 'frame')} lost by the emulation itself")
    if run["refused_looks"]:
        found.append("more than 50 ms behind at times, when frames had to wait")
    if run["lateness"]["p99_s"] > 0.001:
        found.append("more than one delivery in a hundred later than 1 ms")
    if pauses["count"]:
        found.append(f"{count}, {longest}")
    remedy = "fewer nodes or flows, a slower radio, or a quieter machine"
    if run["no_priority"]:
        remedy = f"no priority before others ({run['no_priority']}): run it as root with CAP_SYS_NICE"
    at = "" if behind is None else f" at {behind:.1f} s"
    return [f"fell behind{at}: {'; '.join(found)}", f"to change: {remedy}"]

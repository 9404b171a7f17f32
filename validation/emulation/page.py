"""The page that `make validate-emulate` writes."""

from __future__ import annotations

import os
import platform
import textwrap
from collections.abc import Sequence

from .judge import HEAD, cells, judged, shown
from .rows import Row
from .runs import TRIES, Kept

ABOUT = """
Written by `make validate-emulate`; do not edit. Each row is a network that was run by `airfair run` and by
`airfair emulate`, the latter with the kernel's TCP and traffic of `airfair-load`. Numbers of emulated runs
are the emulator's own, after the warm-up; beside them those of the receiving programs. All
these programs come before the machine's other work (nice -15).
"""

RUNS = """
Runs: up to {count} of {seconds} s after a warm-up in each world, other seeds each. Kernel: Linux {kernel},
{machine}, {cores} cores, shared with other work: a load average of {least:.1f} to {most:.1f}. Lateness of
deliveries, 99 %: {median:.0f} us in the median of the runs, {worst:.0f} us in the worst.
"""

HOSTS = """
TCP: cubic in both worlds, segments of 1448 B, an initial window of ten segments, a time-out at least 200 ms
beyond the smoothed round-trip time. The simulator: `tcp.profile = "linux"`, and of radios
`local_limit = "off"` and `backpressure = false`, since a TAP device holds no stack back: where the queue is
full, it drops.
"""


class Judged:
    """A row that was run: its lines, and its runs."""

    def __init__(self, row: Row, simulated: list[Kept], emulated: list[Kept]) -> None:
        self.row = row
        self.emulated = emulated
        counted = [run.measures for run in emulated if run.counts]
        old = [run.measures for run in simulated]
        self.lines = [judged(row.name, check, old, counted) for check in row.checks]

    def remarks(self) -> list[str]:
        """Facts about the runs that a reader needs."""
        behind = sum(not run.counts for run in self.emulated)
        again = sum(len(run.verdicts) > 1 for run in self.emulated if run.counts)
        paused = sum(run.verdicts[-1] == "kept up but for pauses" for run in self.emulated)
        found = [f"{self.row.name}: {note}" for run in self.emulated for note in run.notes]
        for count, text in (
            (behind, f"fell behind or started late {TRIES} times and are not used"),
            (again, "fell behind or started late and were repeated"),
            (paused, "had pauses of the machine"),
        ):
            if count:
                found.append(f"{self.row.name}: {count} of {len(self.emulated)} runs {text}")
        return found


def page(done: Sequence[Judged], skipped: Sequence[str], count: int, seconds: int) -> str:
    """The text of the page."""
    lines = [line for of in done for line in of.lines]
    every = [run for of in done for run in of.emulated]
    loads = [run.load for run in every]
    late = sorted(1e3 * run.late_p99_ms for run in every) or [0.0]
    runs = RUNS.format(
        count=count,
        seconds=seconds,
        kernel=platform.release().split("-")[0],
        machine=platform.machine(),
        cores=os.cpu_count(),
        least=min(loads, default=0),
        most=max(loads, default=0),
        median=late[len(late) // 2],
        worst=late[-1],
    )
    held = sum(line.ok for line in lines)
    parts = [ABOUT, f"**{held} of {len(lines)} checks hold.**", runs, HOSTS]
    text = "# Emulation beside simulation\n\n"
    text += "".join(textwrap.fill(" ".join(part.split()), 118) + "\n\n" for part in parts)
    text += "| row | " + " | ".join(HEAD) + " |\n" + "|---" * (len(HEAD) + 1) + "|\n"
    text += "".join(f"| {line.row} | " + " | ".join(cells(line)) + " |\n" for line in lines)
    remarks = [*skipped, *(remark for of in done for remark in of.remarks())]
    gaps = [run.measures["longest gap"] for run in every if "longest gap" in run.measures]
    if gaps:
        remarks.append(f"routing: no answer to the ping over the relay for {', '.join(map(shown, gaps))} s")
    if remarks:
        text += "\n## Runs\n\n" + "".join(item(remark) for remark in remarks)
    return text + "\n## Rows\n\n" + "".join(item(f"**{of.row.name}**: {of.row.about}") for of in done)


def item(text: str) -> str:
    """An item of a list, wrapped."""
    return textwrap.fill(text, 118, initial_indent="- ", subsequent_indent="  ") + "\n"

"""`python -m validation.live [--row NAME] [--runs N] [--seconds S]`: airfaird beside its schemes.

Runs are kept in `out/validate-live`, and those that are there are not run again. The table goes to the
terminal, and with all rows to `docs/validation-live.md`. Exit status: 0 when all rows hold, 1 when one does
not, 2 for bad input.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from airfair import _core
from airfair.output import write_atomically

from ..emulation import runs
from ..emulation.__main__ import allow_cubic, say
from ..emulation.judge import Check, mean, span
from ..emulation.page import item
from ..emulation.worlds import LOAD
from ..runs import ROOT
from .worlds import DAEMON, KEPT, Row, rows

PAGE = ROOT / "docs" / "validation-live.md"

HEAD = ("row", "measure", "simulate", "emulate", "airfaird", "limit", "holds?")

ABOUT = """
Written by `make validate-live`; do not edit. Each row is a network with a scheme three times: in
`airfair run`, in `airfair emulate` (real stacks, the scheme in the emulator), and with `airfaird` in the
emulated nodes, where the emulator has drop-tail and serves counters as a driver would. The scheme has the
preset `live` in all three. The mean of airfaird's runs is to be within the limit of the emulated mean.
"""


@dataclass(frozen=True)
class Line:
    """A judged check."""

    row: str
    check: Check
    simulated: list[float]
    emulated: list[float]
    live: list[float]

    @property
    def holds(self) -> bool:
        """True if the daemon's mean is within the limit of the emulated one."""
        if not self.live or not self.emulated:
            return False
        return self.check.limit.holds(mean(self.emulated), mean(self.live))

    def cells(self) -> list[str]:
        """The cells of the table."""
        unit = self.check.unit
        label = f"{self.check.label}, {unit}" if unit else self.check.label
        spans = [span(values) for values in (self.simulated, self.emulated, self.live)]
        return [self.row, label, *spans, self.check.limit.text(unit), "yes" if self.holds else "**no**"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and judge; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m validation.live")
    parser.add_argument("--row", action="append", help="only this row; may be repeated")
    parser.add_argument("--runs", type=int, default=3, help="runs of each row and world (default 3)")
    parser.add_argument("--seconds", type=int, default=40, help="their length after the warm-up (default 40)")
    options = parser.parse_args(arguments)
    every = rows()
    wrong = [name for name in options.row or () if name not in [row.name for row in every]]
    if wrong or options.runs < 1 or options.seconds < 20:
        known = ", ".join(row.name for row in every)
        parser.error(f"expected rows of {known}, at least one run, at least 20 s")
    lacks = _core.emulation_lacks()
    if lacks is not None:
        say(f"SKIPPED, all rows: no emulation here: {lacks}")
        return 0
    for program in (LOAD, DAEMON):
        if not program.exists():
            parser.error(f"no {program}: cargo build --release -p airfair-load -p airfair-live")
    allow_cubic()
    lines: list[Line] = []
    loads: list[float] = []
    for row in every:
        if not options.row or row.name in options.row:
            lines += run(row, options.runs, options.seconds, loads)
            for line in lines[-len(row.checks) :]:
                say("  " + "; ".join(f"{head} {cell}" for head, cell in zip(HEAD, line.cells(), strict=True)))
    if not options.row:
        text = page(every, lines, (options.runs, options.seconds), loads)
        write_atomically(PAGE, text.encode())
        say(f"written: {PAGE.relative_to(ROOT)}")
    return 0 if all(line.holds for line in lines) else 1


def run(row: Row, count: int, seconds: int, loads: list[float]) -> list[Line]:
    """The lines of a row, whose runs are kept."""
    scheme, daemon = row.of_scheme(), row.of_daemon()
    of_simulation, of_emulation = runs.digests(scheme, seconds)
    _, of_daemon = runs.digests(daemon, seconds)
    # Another build of the daemon is another world: its kept runs say nothing of this one.
    of_daemon += f"-{hashlib.sha256(DAEMON.read_bytes()).hexdigest()[:8]}"
    found: dict[str, list[runs.Kept]] = {"simulate": [], "emulate": [], "airfaird": []}
    for number in range(1, count + 1):
        for kind, digest, made in (
            ("simulate", of_simulation, partial(runs.simulate, scheme, seconds, number)),
            ("emulate", of_emulation, partial(runs.emulate, scheme, seconds, number, say)),
            ("airfaird", of_daemon, partial(runs.emulate, daemon, seconds, number, say)),
        ):
            file = KEPT / row.name / f"{kind}-{seconds}s-{digest}-{number}.json"
            say(f"{row.name}, {kind}: run {number} of {count}{', kept' if file.exists() else ''}")
            found[kind].append(runs.kept(file, made))
    loads += [of.load for of in (*found["emulate"], *found["airfaird"])]
    values = {
        kind: [[check.value(of.measures) for of in kept if of.counts] for check in row.checks]
        for kind, kept in found.items()
    }
    return [
        Line(row.name, check, values["simulate"][at], values["emulate"][at], values["airfaird"][at])
        for at, check in enumerate(row.checks)
    ]


def page(every: Sequence[Row], lines: Sequence[Line], of: tuple[int, int], loads: Sequence[float]) -> str:
    """The text of the page."""
    held = sum(line.holds for line in lines)
    kernel = platform.release().split("-")[0]
    machine = f"""
        Runs: {of[0]} of {of[1]} s after a warm-up in each world, other seeds each. Kernel: Linux {kernel},
        {platform.machine()}, {os.cpu_count()} cores, shared with other work: a load average of
        {min(loads):.1f} to {max(loads):.1f}. TCP: cubic, `tcp.profile = "linux"` in the simulator.
    """
    parts = [ABOUT, f"**{held} of {len(lines)} checks hold.**", machine]
    text = "# airfaird beside its schemes\n\n"
    text += "".join(textwrap.fill(" ".join(part.split()), 118) + "\n\n" for part in parts)
    text += "| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|\n"
    text += "".join("| " + " | ".join(line.cells()) + " |\n" for line in lines)
    return text + "\n## Rows\n\n" + "".join(item(f"**{row.name}**: {row.about}") for row in every)


if __name__ == "__main__":
    sys.exit(main())

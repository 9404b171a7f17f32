"""`python -m validation.live [--row NAME] [--runs N] [--seconds S]`: airfaird beside its schemes.

Runs are kept in `out/validate-live`, and those that are there are not run again. The table goes to the
terminal, and with all rows to `docs/validation-live.md`. Exit status: 0 when all rows hold, 1 when one does
not, 2 for bad input.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import platform
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from airfair import _core
from airfair.output import write_atomically

from ..emulation import runs
from ..emulation.__main__ import allow_cubic, say
from ..emulation.judge import Check, Limit, mean, span
from ..emulation.page import item
from ..emulation.runs import PARTS
from ..emulation.worlds import LOAD
from ..runs import ROOT
from .worlds import DAEMON, KEPT, Row, rows

PAGE = ROOT / "docs" / "validation-live.md"

HEAD = ("row", "measure", "simulate", "emulate", "airfaird", "limit", "holds?")

ABOUT = """
Written by `make validate-live`; do not edit. Each row is a network with a scheme three times: in
`airfair run`, in `airfair emulate` (real stacks, the scheme in the emulator), and with `airfaird` in the
emulated nodes, where the emulator has drop-tail and serves counters as a driver would. The scheme has the
same preset in all three. The mean of airfaird's runs is to be within the limit of the emulated mean. "By
quarters": the same for each quarter of the runs, by what the receivers have counted; the largest difference.
"""


@dataclass(frozen=True)
class Line:
    """A judged check."""

    row: str
    check: Check
    simulated: list[float]
    emulated: list[float]
    live: list[float]
    of_quarters: bool = False
    """The only number is the largest difference of the means of a quarter."""

    @property
    def holds(self) -> bool:
        """True if the daemon's mean is within the limit of the emulated one."""
        if not self.live or not self.emulated:
            return False
        if self.of_quarters:
            return self.check.limit.holds(0.0, self.live[0])
        return self.check.limit.holds(mean(self.emulated), mean(self.live))

    def cells(self) -> list[str]:
        """The cells of the table."""
        unit = self.check.unit
        label = f"{self.check.label}, {unit}" if unit else self.check.label
        if self.of_quarters:
            spans = ["–", "–", f"{self.live[0]:.1f}" if self.live else "–"]
            return [self.row, label, *spans, self.check.limit.text(unit), "yes" if self.holds else "**no**"]
        spans = [span(values) for values in (self.simulated, self.emulated, self.live)]
        return [self.row, label, *spans, self.check.limit.text(unit), "yes" if self.holds else "**no**"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and judge; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m validation.live")
    parser.add_argument("--row", action="append", help="only this row; may be repeated")
    parser.add_argument("--runs", type=int, default=5, help="runs of each row and world (default 5)")
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
            for line in (line for line in lines if line.row == row.name):
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
    lines = [
        Line(row.name, check, values["simulate"][at], values["emulate"][at], values["airfaird"][at])
        for at, check in enumerate(row.checks)
    ]
    measures = {kind: [of.measures for of in kept if of.counts] for kind, kept in found.items()}
    return [*lines, *by_quarters(row, measures["emulate"], measures["airfaird"])]


def by_quarters(
    row: Row, emulated: Sequence[Mapping[str, float]], live: Sequence[Mapping[str, float]]
) -> list[Line]:
    """A line for each share of the row: the largest distance of the means of a quarter."""
    found = []
    for check in row.checks:
        if not check.share_of:
            continue
        distances = []
        for part in range(1, PARTS + 1):
            of_part = replace(
                check,
                measures=tuple(f"part {part} {name}" for name in check.measures),
                share_of=tuple(f"part {part} {name}" for name in check.share_of),
            )
            old, new = ([of_part.value(run) for run in runs] for runs in (emulated, live))
            distances.append(abs(mean(new) - mean(old)) if old and new else math.nan)
        limit = Limit(absolute=check.limit.absolute)
        named = replace(check, label=f"{check.label}, by quarters", limit=limit)
        worst = max(distances) if not any(math.isnan(distance) for distance in distances) else math.nan
        found.append(Line(row.name, named, [], [worst], [worst], of_quarters=True))
    return found


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

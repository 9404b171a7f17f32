"""`python -m validation.emulation [--row NAME] [--runs N] [--seconds S]`: both worlds beside each other.

Runs are kept in `out/validate-emulate`, and those that are there are not run again. The table goes to the
terminal, and with all rows to `docs/validation-emulate.md`. Exit status: 0 when all rows hold, 1 when one
does not, 2 for bad input.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from airfair import _core
from airfair.output import write_atomically
from rich.console import Console
from rich.table import Table

from ..runs import ROOT
from . import routing, runs
from .judge import HEAD, Line, cells
from .page import Judged, page
from .rows import Row, rows
from .worlds import LOAD

KEPT = ROOT / "out" / "validate-emulate"
PAGE = ROOT / "docs" / "validation-emulate.md"
ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and judge; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m validation.emulation")
    parser.add_argument("--row", action="append", help="only this row; may be repeated")
    parser.add_argument("--runs", type=int, default=5, help="runs of each row and world (default 5)")
    parser.add_argument("--seconds", type=int, default=30, help="their length after the warm-up (default 30)")
    parser.add_argument("--kept", action="store_true", help="only judge the runs that are kept")
    options = parser.parse_args(arguments)
    every = rows(KEPT)
    wrong = [name for name in options.row or () if name not in [row.name for row in every]]
    if wrong or options.runs < 1 or options.seconds < 20:
        known = ", ".join(row.name for row in every)
        parser.error(f"expected rows of {known}, at least one run, at least 20 s")
    lacks = _core.emulation_lacks()
    if lacks is not None:
        say(f"SKIPPED, all rows: no emulation here: {lacks}")
        return 0
    if not LOAD.exists():
        parser.error(f"no {LOAD}: cargo build --release -p airfair-load")
    allow_cubic()
    done: list[Judged] = []
    skipped: list[str] = []
    for row in every:
        if options.row and row.name not in options.row:
            continue
        missing = [program for program in row.needs if shutil.which(program) is None]
        if missing:
            skipped.append(f"{row.name}: SKIPPED, no {' and no '.join(missing)} here")
            say(skipped[-1])
            continue
        done.append(run(row, options.runs, options.seconds, only_kept=options.kept))
        if not done[-1].emulated:
            done.pop()
            skipped.append(f"{row.name}: not run yet")
            continue
        for line in done[-1].lines:
            say("  " + "; ".join(f"{head} {cell}" for head, cell in zip(HEAD, cells(line), strict=True)))
    show([line for of in done for line in of.lines])
    for text in [*skipped, *(remark for of in done for remark in of.remarks())]:
        say(text)
    if not options.row:
        write_atomically(PAGE, page(done, skipped, options.runs, options.seconds).encode())
        say(f"written: {PAGE.relative_to(ROOT)}")
    return 0 if all(line.ok for of in done for line in of.lines) else 1


def run(row: Row, count: int, seconds: int, *, only_kept: bool = False) -> Judged:
    """All runs of a row, those that are kept included; with `only_kept` no new ones between stacks."""
    simulated: list[runs.Kept] = []
    emulated: list[runs.Kept] = []
    world = None if row.world is None else row.world()
    of_old, of_new = ("", "routing") if world is None else runs.digests(world, seconds)
    for number in range(1, count + 1):
        file = KEPT / row.name / f"emulate-{seconds}s-{of_new}-{number}.json"
        if only_kept and not file.exists():
            continue
        say(f"{row.name}: run {number} of {count}{', kept' if file.exists() else ''}")
        if world is None:
            emulated.append(runs.kept(file, partial(routing.emulate, row.daemon or "", KEPT, number, say)))
        else:
            old = KEPT / row.name / f"simulate-{seconds}s-{of_old}-{number}.json"
            simulated.append(runs.kept(old, partial(runs.simulate, world, seconds, number)))
            emulated.append(runs.kept(file, partial(runs.emulate, world, seconds, number, say)))
    return Judged(row, simulated, emulated)


def allow_cubic() -> None:
    """Let namespaces use cubic, where this user may."""
    names = ALLOWED.read_text().split()
    if "cubic" not in names:
        ALLOWED.write_text(" ".join([*names, "cubic"]))
        say(f"net.ipv4.tcp_allowed_congestion_control: cubic was added to {' '.join(names)}")


def say(text: str) -> None:
    """A line of progress."""
    print(text, flush=True)


def show(lines: Sequence[Line]) -> None:
    """The table, for a terminal."""
    table = Table("row", *HEAD)
    for line in lines:
        table.add_row(*(cell.replace("**", "") for cell in (line.row, *cells(line))))
    table.columns[0].no_wrap = True
    Console(width=170).print(table)


if __name__ == "__main__":
    sys.exit(main())

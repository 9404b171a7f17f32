"""`python -m validation [SECTION ...]`: compare, print, write the report.

Exit status: 0 when every row passes, 1 when one fails or a section breaks, 2 for bad input.
"""

from __future__ import annotations

import argparse
import difflib
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from . import sections
from .report import Context, Report, entries, holds

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named sections (all by default); returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m validation", description="Compare the simulator with the world."
    )
    known = sections.names()
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"any of: {', '.join(known)} (default: all)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="shorter runs, for a look; no report unless --output"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of every section (default 1)")
    parser.add_argument("--workers", type=int, default=1, help="processes a section may use (default 1)")
    parser.add_argument(
        "--output",
        type=Path,
        help="folder of validation.md (default: docs, and only when all sections ran in full, so that a "
        "look at one section does not replace the whole report)",
    )
    options = parser.parse_args(arguments)
    for name in options.sections:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            print(f"unknown section {name!r}: expected one of {', '.join(known)}{hint}", file=sys.stderr)
            return 2
    if options.workers < 1 or options.seed < 0:
        print("--workers must be at least 1 and --seed at least 0", file=sys.stderr)
        return 2
    chosen = [name for name in known if name in options.sections] or known
    folder: Path | None = options.output
    if folder is None and chosen == known and not options.quick:
        folder = DOCS
    report = Report()
    for name in chosen:
        run_section(name, options.quick, options.seed, options.workers, report)
    if folder is not None:
        try:
            print(f"report: {report.write(folder)}", file=sys.stderr)
        except OSError as error:
            print(f"the report was not written: {error}", file=sys.stderr)
            return 1
    failed = sum(not row.ok for row in report.rows)
    print(f"{len(report.rows) - failed} of {len(report.rows)} checks pass")
    return 0 if report.ok else 1


def run_section(name: str, quick: bool, seed: int, workers: int, report: Report) -> None:
    """Run one section into `report` and print its checks; a section that breaks becomes a failing row."""
    started = time.monotonic()
    context = Context(quick=quick, seed=seed, workers=workers)
    title, about = name, ""
    rows = []
    try:
        section = sections.load(name)
        title, about = section.title, section.about
        for row in section.rows(context):
            rows.append(row)
    except Exception as error:  # One broken section must not hide the others' results.
        traceback.print_exc()
        rows.append(
            holds(
                name, "the section runs to its end", "", expected="it does", measured=f"{error!r}", ok=False
            )
        )
    report.add(name, title, about, rows, context.figures)
    print("\n".join([f"## {title}", *entries(rows), ""]))
    print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

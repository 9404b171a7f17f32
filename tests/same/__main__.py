"""Compare results with the recorded ones, or with another build: `python -m tests.same`, or `make same`.

    python -m tests.same                        the recorded cases, on all cores
    python -m tests.same --only 'grid-64 * run' cases whose name contains or matches this pattern
    python -m tests.same --record               record anew, and list the changes
    python -m tests.same --wide --against DIR   every case, compared with the build in that other checkout
    python -m tests.same --show 'wired nred 1 run' the text that is hashed: for a diff of two builds

A case is a scene, a scheme, a seed and a way of looking at the run: its name. The hash is over numbers: the
result without `perf`, `version` and `warnings`, the rows of frames, flows, queues and all other tables over
time, the bytes of capture files behind their first block, the numbers of `explain`. A refused case has
"refused" instead of a hash. Beside each hash stand six numbers of the run, which show by how much a case has
changed. Exit status: 0 all are the same, 1 some differ, 2 bad input.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple, TextIO

from airfair import InputError

from .content import Hashed, Numbers, hashed, told
from .scenes import HERE, ROOT, Case, cases, covering

FILE = HERE / "recorded.csv"

HEADER = ("case", "hash", *Numbers._fields)

SHOWN = 40
"""More names of cases are only counted."""


class Recorded(NamedTuple):
    """A hash and the numbers beside it."""

    value: str
    numbers: Numbers


def read(lines: Iterable[str]) -> dict[str, Recorded]:
    """Rows of a table of cases by the cases' names."""
    rows = csv.reader(lines)
    assert tuple(next(rows)) == HEADER
    return {name: Recorded(value, Numbers(*numbers)) for name, value, *numbers in rows}


def recorded() -> dict[str, Recorded]:
    """The recorded cases by name."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return read(file)


def write(found: Mapping[str, Recorded], file: TextIO) -> None:
    """A table of cases, sorted by name."""
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(HEADER)
    for name, (value, numbers) in sorted(found.items()):
        rows.writerow((name, value, *numbers))


def run(chosen: Iterable[Case], jobs: int) -> Iterator[Hashed]:
    """Hash the cases, in their order."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(hashed, chosen, chunksize=4)


def other_build(folder: Path, arguments: Iterable[str]) -> dict[str, Recorded]:
    """The same cases by the build in another checkout. Scenes and ways of looking are those of this one.

    Raises `InputError` if nothing is built there.
    """
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        raise InputError(f"{folder}: a checkout in which `make build` has run was expected: no {python}")
    command = [str(python), "-m", "tests.same", "--print", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return read(done.stdout.splitlines())


def differing(found: Mapping[str, Recorded], known: Mapping[str, Recorded]) -> list[str]:
    """Names of the cases whose hash is another, or is not known."""
    return [name for name, one in found.items() if name not in known or known[name].value != one.value]


def difference(before: Recorded | None, now: Recorded) -> str:
    """The change of a case, for people: the numbers that are others, with their ratios."""
    if before is None:
        return "new"
    if "refused" in (before.value, now.value) or now.value.startswith("failed"):
        return f"{before.value} -> {now.value}"
    changes = []
    for name, old, new in zip(Numbers._fields, before.numbers, now.numbers, strict=True):
        if old != new:
            by = f" ({float(new) / float(old) - 1:+.2%})" if old and new and float(old) else ""
            changes.append(f"{name} {old or '-'} -> {new or '-'}{by}")
    return ", ".join(changes) or "its numbers are the same to five digits"


def _named(pattern: str, name: str) -> bool:
    return pattern in name or fnmatch.fnmatchcase(name, pattern)


def _list(names: Iterable[str]) -> None:
    all_ = sorted(names)
    for name in all_[:SHOWN]:
        print(f"  {name}")
    if len(all_) > SHOWN:
        print(f"  and {len(all_) - SHOWN} more")


def _show(every: Iterable[Case], name: str) -> int:
    case = next((case for case in every if str(case) == name), None)
    if case is None:
        print(f"there is no case {name!r}; recorded are those of {FILE}", file=sys.stderr)
        return 2
    try:
        for part in told(case):
            print(part)
    except InputError as error:
        print(f"refused: {error}")
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.same", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", metavar="PATTERN", default="", help="only cases with this in their name")
    parser.add_argument("--wide", action="store_true", help="every case, also those that are not recorded")
    parser.add_argument("--against", metavar="DIR", type=Path, help="compare with the build in this checkout")
    parser.add_argument("--record", action="store_true", help="record the results anew")
    parser.add_argument("--print", action="store_true", dest="prints", help="print the table of results only")
    parser.add_argument("--show", metavar="CASE", help="print the text that is hashed of one case")
    parser.add_argument("--times", action="store_true", help="list the cases that took longest")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args()
    if options.wide and options.against is None and not options.prints:
        parser.error("--wide needs --against: not all cases are recorded")
    if options.record and (options.wide or options.against is not None):
        parser.error("--record goes with neither --wide nor --against")
    every = list(cases())
    if options.show is not None:
        return _show(every, options.show)
    selected = every if options.wide else covering(every)
    chosen = [case for case in selected if _named(options.only, str(case))]
    if not chosen:
        print(f"no case is like {options.only!r}; recorded are those of {FILE}", file=sys.stderr)
        return 2
    if options.prints:
        write({one.name: Recorded(one.value, one.numbers) for one in run(chosen, options.jobs)}, sys.stdout)
        return 0
    if options.against is not None:
        arguments = ["--only", options.only, "--jobs", str(options.jobs)]
        arguments += ["--wide"] if options.wide else []
        try:
            known = other_build(options.against, arguments)
        except (InputError, subprocess.CalledProcessError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    else:
        known = recorded()
    done = []
    for result in run(chosen, options.jobs):
        done.append(result)
        now, before = Recorded(result.value, result.numbers), known.get(result.name)
        if not options.record and (before is None or before.value != now.value):
            print(f"differs: {result.name}: {difference(before, now)}", file=sys.stderr)
    found = {one.name: Recorded(one.value, one.numbers) for one in done}
    if options.times:
        for cost in sorted(done, key=lambda cost: -cost.cpu_s)[:SHOWN]:
            print(f"{cost.cpu_s:8.2f} s  {cost.name}")
        print(f"{sum(cost.cpu_s for cost in done):8.2f} s  all")
    whole = len(chosen) == len(selected)
    return _conclude(found, known, whole=whole, record=options.record, against=options.against)


def _conclude(
    found: Mapping[str, Recorded],
    known: Mapping[str, Recorded],
    *,
    whole: bool,
    record: bool,
    against: Path | None,
) -> int:
    differ = differing(found, known)
    gone = sorted(known.keys() - found.keys()) if whole or against is not None else []
    changes = [f"{name}: {difference(known.get(name), found[name])}" for name in differ]
    if record:
        kept = {} if whole else known
        with FILE.open("w", encoding="utf-8", newline="") as file:
            write({**kept, **found}, file)
        print(
            f"{len(found)} cases recorded; {len(differ)} are new or other than before, {len(gone)} are gone"
        )
        _list([*changes, *(f"{name} (gone)" for name in gone)])
        return 0
    source = FILE.name if against is None else str(against)
    if not differ and not gone:
        print(f"{len(found)} cases, all as in {source}")
        return 0
    print(f"{len(differ)} of {len(found)} cases differ from {source}:")
    _list([*changes, *(f"{name} (in {source} only)" for name in gone)])
    for name in differ[:3]:
        print(f"The whole difference: python -m tests.same --show '{name}', with both builds")
    return 1


if __name__ == "__main__":
    sys.exit(main())

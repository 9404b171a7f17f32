"""Compare what runs give with what was recorded: `python -m tests.same`, or `make same`.

    python -m tests.same                        all cases, on all cores
    python -m tests.same --only 'grid-64 * run' cases whose name has this in it, or is matched by it
    python -m tests.same --subset               those that `make test` runs
    python -m tests.same --record               write the hashes anew, tell what changed
    python -m tests.same --show 'wired nred 1 run' what is hashed, as text: for a diff of two builds

A case is a scene, a scheme, a seed and a way of looking at the run: its name. What is hashed are
numbers: the result without `perf`, `version` and `warnings`, the rows of frames, flows, queues and all
other tables over time, the bytes of capture files behind their first block, the numbers of `explain`. A
refused case has "refused" instead of a hash. Exit status: 0 all are the same, 1 some differ, 2 bad input.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor

from airfair import InputError

from .content import Hashed, hashed, told
from .scenes import HERE, Case, cases, subset

FILE = HERE / "hashes.txt"

SHOWN = 40
"""More names of cases are only counted."""


def recorded() -> dict[str, str]:
    """Hashes by the names of their cases."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return dict(line.rsplit(" ", 1) for line in lines)


def run(chosen: Iterable[Case], jobs: int) -> Iterator[Hashed]:
    """Hash them, in their order."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(hashed, chosen, chunksize=4)


def differing(found: Mapping[str, str], known: Mapping[str, str]) -> list[str]:
    """Names of the cases whose hash is another, or is not known."""
    return [name for name, value in found.items() if known.get(name) != value]


def _named(pattern: str, name: str) -> bool:
    return pattern in name or fnmatch.fnmatchcase(name, pattern)


def _list(names: Iterable[str]) -> None:
    all_ = sorted(names)
    for name in all_[:SHOWN]:
        print(f"  {name}")
    if len(all_) > SHOWN:
        print(f"  and {len(all_) - SHOWN} more")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.same", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", metavar="PATTERN", default="", help="only cases with this in their name")
    parser.add_argument("--subset", action="store_true", help="the cases of `make test`")
    parser.add_argument("--record", action="store_true", help="write the hashes anew")
    parser.add_argument("--show", metavar="CASE", help="print what is hashed of one case")
    parser.add_argument("--times", action="store_true", help="tell what took longest")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args()
    every = list(cases())
    if options.show is not None:
        one = [case for case in every if str(case) == options.show]
        if not one:
            print(f"there is no case {options.show!r}; their names are those of {FILE}", file=sys.stderr)
            return 2
        try:
            for part in told(one[0]):
                print(part)
        except InputError as error:
            print(f"refused: {error}")
        except BrokenPipeError:  # whoever reads has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    chosen = [
        case for case in (subset(every) if options.subset else every) if _named(options.only, str(case))
    ]
    if not chosen:
        print(f"no case is like {options.only!r}; their names are those of {FILE}", file=sys.stderr)
        return 2
    known = recorded()
    done = []
    for result in run(chosen, options.jobs):
        done.append(result)
        if not options.record and known.get(result.name) != result.value:
            print(f"differs: {result.name}", file=sys.stderr)
    found = {one.name: one.value for one in done}
    if options.times:
        for cost in sorted(done, key=lambda cost: -cost.cpu_s)[:SHOWN]:
            print(f"{cost.cpu_s:8.2f} s  {cost.name}")
        print(f"{sum(cost.cpu_s for cost in done):8.2f} s  all")
    whole = len(chosen) == len(every)
    differ = differing(found, known)
    gone = sorted(known.keys() - found.keys()) if whole else []
    if options.record:
        kept = {} if whole else known
        lines = [f"{name} {value}\n" for name, value in sorted((kept | found).items())]
        FILE.write_text("".join(lines), encoding="utf-8")
        print(
            f"{len(found)} cases recorded; {len(differ)} are new or other than before, {len(gone)} are gone"
        )
        _list([*differ, *(f"{name} (gone)" for name in gone)])
        return 0
    if not differ and not gone:
        print(f"{len(found)} cases, all as recorded")
        return 0
    print(f"{len(differ)} of {len(found)} cases differ from {FILE.name}:")
    _list([*differ, *(f"{name} (recorded, but there is no such case)" for name in gone)])
    for name in differ[:3]:
        print(f"What it is: python -m tests.same --show '{name}', with this build and with one from before")
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""`make which-scheme`: run what is missing of the suite, then write the results, the page and the picture,
and what the README has of them and of the demo.

Runs are kept in a folder for each build of the simulator, so that an interrupted command continues and a new
build begins anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import cast

from airfair import _core
from airfair.output import write_atomically

from .columns import COLUMNS
from .files import DOCS, README, files
from .table import FILE, Table, encoded, read

ROOT = DOCS.parent
SUITE = ROOT / "scenarios" / "suite" / "suite.toml"
BLOCK = re.compile(r"(```text not-run: output of `make demo`\n)(.*?)(```\n)", re.DOTALL)
"""The output of the demo in the README."""
GATE = ("three-pairs", "gateway", "access-point", "cell", "hidden-terminal", "voice-beside-bulk")
"""Six scenes of which the results are the stored ones as long as nothing that decides them has changed."""


def main(arguments: list[str]) -> int:
    """Run and write; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.which_scheme", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds (10)")
    parser.add_argument("--out", type=Path, help="folder of the runs (out/which-scheme/BUILD)")
    parser.add_argument(
        "--check", action="store_true", help="write nothing: are six scenes as they are stored? 1 if not"
    )
    options = parser.parse_args(arguments)
    if options.check:
        return check(read(), options.out or ROOT / "out" / "suite-gate" / build())
    folder = options.out or ROOT / "out" / "which-scheme" / build()
    table = run(SUITE, options.seeds, folder)
    if isinstance(table, int):
        return table
    write_atomically(FILE, encoded(table).encode())
    for name, make in files().items():
        write_atomically((DOCS / name).resolve(), make().encode())
        print(f"written: {(DOCS / name).resolve().relative_to(ROOT)}")
    shown = subprocess.run(
        [sys.executable, "examples/demo.py"], stdout=subprocess.PIPE, text=True, cwd=ROOT, check=False
    )
    if shown.returncode:
        return shown.returncode
    readme = (DOCS / README).resolve()
    write_atomically(readme, demonstrated(readme.read_text(encoding="utf-8"), shown.stdout).encode())
    return 0


def check(stored: Table, folder: Path) -> int:
    """Run the scenes of the gate with the stored seeds, and print each row that is other than the stored one;
    1 if one is, or the exit status of the suite.
    """
    table = run(SUITE, len(stored["seeds"]), folder, GATE)
    if isinstance(table, int):
        return table
    lines = differences(stored, cast(Table, json.loads(encoded(table))))
    print("\n".join(lines) or f"{', '.join(GATE)}: as stored in {FILE.relative_to(ROOT)}")
    return 1 if lines else 0


def differences(stored: Table, table: Table) -> list[str]:
    """A line for each row of the table that differs from the stored one of the same scene and selection."""
    known = {(found["scene"], row["scheme"]): row for found in stored["scenes"] for row in found["rows"]}
    lines = []
    for found in table["scenes"]:
        for row in found["rows"]:
            before = known.get((found["scene"], row["scheme"]))
            if before != row:
                shares = [f"{r['least']['mean']:.3f} {r['verdict']}" if r and r["least"] else "nothing"
                          for r in (before, row)]  # fmt: skip
                lines.append(f"{found['scene']}, {row['scheme']}: {shares[0]}, now {shares[1]}")
    return lines


def demonstrated(readme: str, output: str) -> str:
    """The page with the output of the demo in its block."""
    return BLOCK.sub(lambda found: f"{found[1]}{output}{found[3]}", readme, count=1)


def run(suite: Path, seeds: int, folder: Path, scenes: tuple[str, ...] = ()) -> Table | int:
    """The results of the suite, or of some of its scenes, after the runs that are missing in the folder; or
    the exit status."""
    command = [sys.executable, "-m", "airfair", "suite", str(suite), "--json", "--seeds", str(seeds)]
    command += ["--schemes", ", ".join(column.selection for column in COLUMNS), "--out", str(folder)]
    command += ["--scenes", ",".join(scenes)] if scenes else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode or cast(Table, json.loads(done.stdout))


def build() -> str:
    """The name of this build of the simulator: other bytes may have other results."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

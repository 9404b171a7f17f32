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
from .table import FILE, Table, encoded

ROOT = DOCS.parent
SUITE = ROOT / "scenarios" / "suite" / "suite.toml"
BLOCK = re.compile(r"(```text not-run: output of `make demo`\n)(.*?)(```\n)", re.DOTALL)
"""The output of the demo in the README."""


def main(arguments: list[str]) -> int:
    """Run and write; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.which_scheme", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds (10)")
    parser.add_argument("--out", type=Path, help="folder of the runs (out/which-scheme/BUILD)")
    options = parser.parse_args(arguments)
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


def demonstrated(readme: str, output: str) -> str:
    """The page with the output of the demo in its block."""
    return BLOCK.sub(lambda found: f"{found[1]}{output}{found[3]}", readme, count=1)


def run(suite: Path, seeds: int, folder: Path) -> Table | int:
    """The results of the suite, after the runs that are missing in the folder; or the exit status."""
    command = [sys.executable, "-m", "airfair", "suite", str(suite), "--json", "--seeds", str(seeds)]
    command += ["--schemes", ", ".join(column.selection for column in COLUMNS), "--out", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode or cast(Table, json.loads(done.stdout))


def build() -> str:
    """The name of this build of the simulator: other bytes may have other results."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

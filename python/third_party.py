"""Licences of the crates that are linked into the wheel, as `THIRD-PARTY.txt`.

`third_party.py --write` makes the file anew; without `--write` it says whether the file is what `Cargo.lock`
says now. Names and texts come from the sources that cargo has fetched; macros and build scripts run while
compiling and are not linked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "THIRD-PARTY.txt"
PACKAGE = "airfair-python"
NAMES = ("LICEN", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE")
HEAD = """\
Airfair is compiled together with these crates; their licences follow. With them comes the Rust standard
library (MIT OR Apache-2.0, copyright The Rust Project contributors).
Written by python/third_party.py; do not edit.
"""


def text() -> str:
    """The whole file. Raises `LookupError` for a crate without a licence in its sources."""
    crates = sorted(linked(), key=lambda crate: (crate["name"], crate["version"]))
    lines = [HEAD]
    lines += [f"{crate['name']} {crate['version']}: {crate['license']}" for crate in crates]
    texts: dict[str, list[str]] = {}
    for crate in crates:
        for licence in licences(crate):
            texts.setdefault(licence, []).append(crate["name"])
    for licence, names in texts.items():
        lines += ["", "-" * 100, f"{', '.join(dict.fromkeys(names))}:", "", licence]
    return "\n".join(lines) + "\n"


def linked() -> Iterator[dict[str, Any]]:
    """Crates that are linked into the package and do not belong to the project."""
    command = ["cargo", "metadata", "--quiet", "--format-version", "1", "--locked"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    crates = {crate["id"]: crate for crate in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    waiting = [crate["id"] for crate in found["packages"] if crate["name"] == PACKAGE]
    seen: set[str] = set()
    while waiting:
        identity = waiting.pop()
        crate = crates[identity]
        if identity in seen or any("proc-macro" in target["kind"] for target in crate["targets"]):
            continue
        seen.add(identity)
        normal = (d for d in nodes[identity]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"]))
        waiting += [dependency["pkg"] for dependency in normal]
        if crate["source"] is not None:
            yield crate


def licences(crate: dict[str, Any]) -> list[str]:
    """The texts of the licences in a crate's sources, without spaces at the ends of lines."""
    folder = Path(crate["manifest_path"]).parent
    files = sorted(
        file for file in folder.iterdir() if file.name.upper().startswith(NAMES) and file.is_file()
    )
    if not files:
        raise LookupError(f"{crate['name']} {crate['version']}: no licence in {folder}")
    return ["\n".join(line.rstrip() for line in file.read_text().strip().splitlines()) for file in files]


def main(arguments: list[str]) -> int:
    """Write the file, or fail if it is stale."""
    made = text()
    if arguments == ["--write"]:
        FILE.write_text(made)
    elif not FILE.is_file() or FILE.read_text() != made:
        print(f"{FILE.name} is not what Cargo.lock says now, see `make pages`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

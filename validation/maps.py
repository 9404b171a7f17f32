"""`python -m validation.maps FOLDER`: the suite on maps whose licence forbids copies, where they are at hand.

The maps of FunkFeuer Graz and ninux (GraphML with ETX, GPL-3.0) lie in FOLDER, or below it, under the names
of their publication. Each is imported as an operator would, with twelve TCP flows, and then stands beside the
scenes of the suite: the same rule, the same table. What is not there is named and skipped.

Exit status: 0 when the rule holds, or nothing is there; 1 when it does not; 2 for bad input.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import airfair
from airfair.output import write_atomically

OUT = Path("out") / "maps"

MAPS = {
    "graz": ("FFGraz50.graphml", "FunkFeuer Graz: 155 nodes, twelve uploads over up to nine hops"),
    "ninux": ("ninux0.graphml", "ninux, Rome: 140 nodes, twelve uploads to the node with most neighbours"),
}
"""By scene: the file of the map, and a sentence."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Import what is there, and run the suite on it; the exit status."""
    folder, *options = sys.argv[1:] if arguments is None else arguments
    blocks = []
    for name, (file, about) in MAPS.items():
        found = sorted(Path(folder).rglob(file)) if folder else []
        if not found:
            print(f"{name} skipped: no {file} in {folder or 'MAPS, which is empty'}", file=sys.stderr)
            continue
        toml, _ = airfair.import_network(found[0], largest=True, flows=12, name=name)
        write_atomically(OUT / f"{name}.toml", toml.encode())
        blocks.append(
            f'[[scene]]\nid = "{name}"\nfile = "{name}.toml"\nabout = "{about}"\njudged = "optimum"\n'
        )
    if not blocks:
        print("no map is there: make validate-maps MAPS=FOLDER", file=sys.stderr)
        return 0
    suite = OUT / "suite.toml"
    write_atomically(suite, "\n".join(['name = "maps"\n', *blocks]).encode())
    words = [sys.executable, "-m", "airfair", "suite", str(suite), "--check", "--out", str(OUT / "runs")]
    return subprocess.run([*words, *options], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

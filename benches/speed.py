"""What a frame costs: instructions, time a hearer, memory a node. Prints Markdown.

    python benches/speed.py path/to/bench-run

Instructions are counted by valgrind's callgrind (left out where it is not installed) and repeat exactly;
times are the best of seven runs of a machine that may be busy. The large network is the reference grid of 64
nodes laid side by side 169 times: 10,816 nodes at the same density, each tile with the same twenty flows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

GRID = Path(__file__).parent.parent / "scenarios" / "grid-64.toml"
CELL = Path(__file__).parent.parent / "papers" / "lbm" / "cell.toml"
SCHEMES = {"nred": GRID, "lbm": CELL}
"""What a scheme costs beside drop-tail, where it acts."""

SIDE = 8
REPEATS = 7
TILES = 13
"""Tiles of the large network in each direction."""
WITHIN_SENSE = 2.75
"""Carrier-sense range of the grid in steps of its spacing."""


@dataclass(frozen=True)
class Run:
    """One run of a scenario."""

    transmissions: int
    cpu_s: float
    peak_kb: int


def tiled(tiles: int, seconds: int) -> str:
    """The reference grid, `tiles` times in each direction, as a scenario."""
    text = GRID.read_text(encoding="utf-8")
    head = text.split("[[flow]]", 1)[0]
    head = re.sub(r"^name = .*$", f'name = "tiles-{tiles}"', head, flags=re.MULTILINE)
    head = re.sub(r"^duration = .*$", f'duration = "{seconds} s"', head, flags=re.MULTILINE)
    head = re.sub(r"^(rows|columns) = .*$", rf"\1 = {SIDE * tiles}", head, flags=re.MULTILINE)
    flows = tomllib.loads(text)["flow"]
    parts = [head]
    for row in range(tiles):
        for column in range(tiles):

            def place(node: str, row: int = row, column: int = column) -> int:
                y, x = divmod(int(node), SIDE)
                return (row * SIDE + y) * SIDE * tiles + column * SIDE + x

            parts += [
                f'[[flow]]\nid = "{row}.{column}.{flow["id"]}"\nfrom = "{place(flow["from"])}"\n'
                f'to = "{place(flow["to"])}"\nstart = "{flow["start"]}"\nstart_jitter = "0 s"\n'
                'traffic = { kind = "constant", rate = "92 kbit/s", packet = "1460 B" }\n'
                for flow in flows
            ]
    return "\n".join(parts)


def hearers(tiles: int) -> float:
    """Mean number of nodes within carrier sense of a node of the grid."""
    n = SIDE * tiles
    reach = int(WITHIN_SENSE)
    near = [
        (dx, dy)
        for dx in range(-reach, reach + 1)
        for dy in range(-reach, reach + 1)
        if 0 < dx * dx + dy * dy <= WITHIN_SENSE**2
    ]
    return sum((n - abs(dx)) * (n - abs(dy)) for dx, dy in near) / n**2


def run(binary: str, scenario: Path, *options: str) -> Run:
    """Run a scenario once; CPU time and memory are the child's own."""
    process = subprocess.Popen([binary, str(scenario), *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{binary} {scenario} failed")
    found = re.search(r"transmissions (\d+)", output)
    assert found is not None
    return Run(int(found[1]), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def best(binary: str, scenario: Path, repeats: int) -> Run:
    """The quickest of several runs, less the quickest without traffic."""
    runs = [run(binary, scenario) for _ in range(repeats)]
    idle = min(run(binary, scenario, "--idle").cpu_s for _ in range(repeats))
    quickest = min(runs, key=lambda r: r.cpu_s)
    return Run(quickest.transmissions, quickest.cpu_s - idle, quickest.peak_kb)


def instructions(binary: str, scenario: Path = GRID, scheme: str = "droptail") -> float | None:
    """Instructions per frame transmission, start-up and reading left out."""
    if shutil.which("valgrind") is None:
        return None
    of_scheme = ("--scheme", scheme)

    def count(*options: str) -> int:
        command = [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            binary,
            str(scenario),
            *of_scheme,
            *options,
        ]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        found = re.search(r"Collected : (\d+)", text)
        assert found is not None
        return int(found[1])

    return (count() - count("--idle")) / run(binary, scenario, *of_scheme).transmissions


def main() -> None:
    """Measure and print."""
    binary = sys.argv[1]
    print("| what | measured |\n|---|---|")
    cost = instructions(binary)
    if cost is None:
        print("| instructions per frame transmission, 64-node grid | valgrind is not installed |")
    else:
        print(f"| instructions per frame transmission, 64-node grid | {cost:.0f} |")
        for scheme, scenario in SCHEMES.items():
            own, plain = instructions(binary, scenario, scheme), instructions(binary, scenario)
            assert own is not None
            assert plain is not None
            more = f"{own:.0f}, drop-tail {plain:.0f}: {own / plain - 1:+.1%}"
            print(f"| the same, {scheme} on {scenario.name} | {more} |")
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.toml", Path(folder) / "large.toml"
        small.write_text(tiled(1, 400), encoding="utf-8")
        large.write_text(tiled(TILES, 10), encoding="utf-8")
        few, many = best(binary, small, REPEATS), best(binary, large, REPEATS)
        per = [1e9 * r.cpu_s / r.transmissions / hearers(t) for r, t in ((few, 1), (many, TILES))]
        print(f"| CPU time of a transmission, 64 nodes | {1e9 * few.cpu_s / few.transmissions:.0f} ns |")
        print(f"| CPU time of a hearer's reception, 64 nodes | {per[0]:.1f} ns |")
        print(f"| the same, 10,816 nodes at the same density | {per[1]:.1f} ns |")
        print(f"| ratio | {per[1] / per[0]:.2f} |")
        memory = many.peak_kb / (SIDE * TILES) ** 2
        print(f"| peak memory, 10,816 nodes | {memory:.1f} kB a node |")
        speed = few.transmissions / few.cpu_s / 1e6
        print(f"| transmissions per second of CPU, 64 nodes | {speed:.2f} million |")


if __name__ == "__main__":
    main()

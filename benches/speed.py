"""The cost of a frame and of a wired packet: instructions, time a hearer, memory a node. Prints Markdown.

    python benches/speed.py path/to/bench-run
    python benches/speed.py --check

Instructions are counted by valgrind's callgrind (left out where it is not installed) and repeat exactly.
Times are the best of seven runs of a machine that may be busy. The large network is the reference grid of 64
nodes laid side by side 169 times: 10,816 nodes at the same density, each tile with the same twenty flows.

With `--check` the instructions of the compiled package are compared with `instructions.toml`: it is there
already. It counts some 10 more for a transmission than `bench-run`, since it writes results, and repeats to a
tenth of a per cent.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict, cast

ROOT = Path(__file__).parent.parent
GRID = ROOT / "scenarios" / "grid-64.toml"
GRID_TCP = ROOT / "scenarios" / "grid-64-tcp.toml"
SHORT_FLOWS = ROOT / "scenarios" / "short-flows.toml"
CELL = ROOT / "papers" / "lbm" / "cell.toml"
STORED = Path(__file__).with_name("instructions.toml")
BUILDING = ROOT / "scenarios" / "building-46.toml"
OPPORTUNISTIC = ("more", "diffq-more", "exor", "diffq-exor")
"""Schemes over forwarders, whose cost beside drop-tail is told for a data transmission: broadcasts have no
acknowledgements, which are transmissions too."""

SCHEMES = {
    "nred": (GRID, ""),
    "lbm": (CELL, ""),
    "diffq": (GRID, "diffq"),
    "c3l": (GRID, ""),
    "airtime": (GRID_TCP, ""),
    "atp": (GRID_TCP, ""),
    "exact": (GRID_TCP, ""),
}
"""Scenes for the cost of a scheme beside drop-tail; access categories of both, if needed."""

WIRED_TIME = "10 s"
"""Of simulated time: some 128,000 packets."""

SIDE = 8
REPEATS = 7
TILES = 13
"""Tiles of the large network in each direction."""
WITHIN_SENSE = 2.75
"""Carrier-sense range of the grid in steps of its spacing."""


Program = Sequence[str]
"""A program that runs a scenario as `bench-run` does."""


@dataclass(frozen=True)
class Run:
    """One run of a scenario."""

    transmissions: int
    delivered: int
    data: int | None
    """Transmissions of data, where the program tells them."""

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


def run(program: Program, scenario: Path, *options: str) -> Run:
    """Run a scenario once; CPU time and memory are the child's own."""
    process = subprocess.Popen([*program, str(scenario), *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{program[0]} {scenario} failed")
    found = re.search(r"transmissions (\d+) events \d+ delivered (\d+)(?: data (\d+))?", output)
    assert found is not None
    data = int(found[3]) if found[3] else None
    return Run(int(found[1]), int(found[2]), data, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def best(program: Program, scenario: Path, repeats: int, scheme: str = "droptail") -> Run:
    """The quickest of several runs, less the quickest without traffic."""
    options = ("--scheme", scheme)
    runs = [run(program, scenario, *options) for _ in range(repeats)]
    idle = min(run(program, scenario, *options, "--idle").cpu_s for _ in range(repeats))
    quickest = min(runs, key=lambda r: r.cpu_s)
    return replace(quickest, cpu_s=quickest.cpu_s - idle)


def there() -> bool:
    """True if instructions can be counted."""
    return shutil.which("valgrind") is not None


def counted(program: Program, scenario: Path, scheme: str) -> int:
    """Instructions of a run, start-up and reading left out."""

    def count(*options: str) -> int:
        command = [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            *program,
            str(scenario),
            "--scheme",
            scheme,
            *options,
        ]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        found = re.search(r"Collected : (\d+)", text)
        assert found is not None
        return int(found[1])

    return count() - count("--idle")


def with_categories(scenario: Path, categories: str, folder: Path) -> Path:
    """The scenario with access categories, in a file of this folder."""
    text = scenario.read_text(encoding="utf-8")
    file = folder / f"{scenario.stem}-{categories}.toml"
    file.write_text(text.replace("[radio]\n", f'[radio]\ncategories = "{categories}"\n'), encoding="utf-8")
    return file


def over_udp(scenario: Path, folder: Path) -> Path:
    """Twenty seconds of a scenario with saturated flows over UDP, in a file of this folder."""
    text = scenario.read_text(encoding="utf-8")
    for key, value in (
        ("duration", '"20 s"'),
        ("transport", '"udp"'),
        ("traffic", '{ kind = "saturating", packet = "1400 B" }'),
    ):
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
    file = folder / f"{scenario.stem}-udp.toml"
    file.write_text(text, encoding="utf-8")
    return file


def per_data_transmission(program: Program, scenario: Path, scheme: str) -> float:
    """Instructions per transmission of data, acknowledgements of the MAC and all else included."""
    data = run(program, scenario, "--scheme", scheme).data
    assert data is not None
    return counted(program, scenario, scheme) / data


def instructions(program: Program, scenario: Path = GRID, scheme: str = "droptail") -> float:
    """Instructions per frame transmission."""
    return counted(program, scenario, scheme) / run(program, scenario, "--scheme", scheme).transmissions


def wired_instructions(program: Program) -> float:
    """Instructions per data packet over three wires and its acknowledgement, with TCP: files of all sizes
    over a bottleneck that is 90 % busy, as in `scenarios/short-flows.toml`, for a few seconds."""
    text = SHORT_FLOWS.read_text(encoding="utf-8")
    for key, value in (("duration", WIRED_TIME), ("warmup", "0 s")):
        text = re.sub(rf"^{key} = .*$", f'{key} = "{value}"', text, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wired.toml"
        file.write_text(text, encoding="utf-8")
        return counted(program, file, "droptail") / run(program, file).delivered


SCENES: Mapping[str, tuple[str, Callable[[Program], float]]] = {
    "grid": ("a frame transmission, 64-node grid", instructions),
    "grid-tcp": (
        "a frame transmission, 64-node grid with 20 long TCP flows",
        lambda program: instructions(program, GRID_TCP),
    ),
    "wired": ("a wired data packet and its acknowledgement, TCP over three links", wired_instructions),
}
"""Runs whose instructions are counted, by the names of `instructions.toml`."""


def package() -> Program:
    """The compiled package of this interpreter."""
    found = find_spec("airfair")
    assert found is not None
    library = [
        file for folder in found.submodule_search_locations or () for file in Path(folder).glob("_core*.so")
    ]
    return [sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("package.py")), str(library[0])]


class Stored(TypedDict):
    """`instructions.toml`: values by compiler, limits whatever is stored, and how much more is let pass."""

    tolerance: float
    limits: dict[str, int]
    rustc: dict[str, dict[str, int]]


def read_stored() -> Stored:
    """The stored counts for comparison."""
    return cast(Stored, tomllib.loads(STORED.read_text(encoding="utf-8")))


def compiler() -> str:
    """The version of rustc."""
    text = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout
    return text.split()[1]


def check(program: Program) -> int:
    """Count, compare with what is stored for this compiler and with the limits; the exit status.

    Another compiler makes other code: for one that is not there what was measured is told, and nothing fails.
    """
    if not there():
        print("valgrind is not installed: instructions are not compared", file=sys.stderr)
        return 0
    version, stored = compiler(), read_stored()
    known = stored["rustc"].get(version)
    measured = {name: count(program) for name, (_, count) in SCENES.items()}
    problems = []
    for name, value in measured.items():
        line = f"{value:.0f} instructions for {SCENES[name][0]}; limit {stored['limits'][name]}"
        if value > stored["limits"][name]:
            problems.append(
                f"{name}: {value:.0f} instructions are more than the limit {stored['limits'][name]}"
            )
        if known is not None:
            change = value / known[name] - 1
            line += f"; {known[name]} stored, {change:+.1%}"
            if change > stored["tolerance"]:
                problems.append(f"{name}: {value:.0f} instructions, {change:+.1%} on what is stored")
        print(line)
    values = "".join(f"{name} = {value:.0f}\n" for name, value in measured.items())
    store = f'in {STORED.name}:\n\n[rustc."{version}"]\n{values}'
    if known is None:
        print(f"Nothing is stored for rustc {version}. What was measured, to be stored {store}")
        return 0
    if problems:
        print("\n".join(problems), file=sys.stderr)
        print(f"If it is worth that, store it {store}", file=sys.stderr)
        return 1
    if any(value < (1 - stored["tolerance"]) * known[name] for name, value in measured.items()):
        print(f"Cheaper than what is stored. Store it {store}")
    return 0


def main() -> None:
    """Measure and print."""
    if sys.argv[1:] == ["--check"]:
        sys.exit(check(package()))
    program = sys.argv[1:2]
    print("| what | measured |\n|---|---|")
    if not there():
        print("| instructions | valgrind is not installed |")
    else:
        for what, count in SCENES.values():
            print(f"| instructions for {what} | {count(program):.0f} |")
        for scheme, (scenario, categories) in SCHEMES.items():
            with tempfile.TemporaryDirectory() as folder:
                file = with_categories(scenario, categories, Path(folder)) if categories else scenario
                own, plain = instructions(program, file, scheme), instructions(program, file)
            more = f"{own:.0f}, drop-tail {plain:.0f}: {own / plain - 1:+.1%}"
            under = f" with categories {categories}" if categories else ""
            print(f"| the same for a transmission, {scheme} on {scenario.name}{under} | {more} |")
        with tempfile.TemporaryDirectory() as folder:
            file = with_categories(over_udp(BUILDING, Path(folder)), "diffq", Path(folder))
            plain = per_data_transmission(program, file, "droptail")
            for scheme in OPPORTUNISTIC:
                own = per_data_transmission(program, file, scheme)
                more = f"{own:.0f}, drop-tail {plain:.0f}: {own / plain:.2f} times"
                print(f"| instructions for a data transmission, {scheme} on {BUILDING.name} | {more} |")
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.toml", Path(folder) / "large.toml"
        small.write_text(tiled(1, 400), encoding="utf-8")
        large.write_text(tiled(TILES, 10), encoding="utf-8")
        few, many = best(program, small, REPEATS), best(program, large, REPEATS)
        building = with_categories(BUILDING, "diffq", Path(folder))
        mesh, flows = best(program, building, REPEATS, "diffq"), best(program, GRID_TCP, REPEATS)
        times = f"{mesh.cpu_s / flows.cpu_s:.2f}"
        print(f"| CPU time of 46 nodes with 32 DiffQ flows, 60 s, over that of {GRID_TCP.name} | {times} |")
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

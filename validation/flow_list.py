"""The 60,000 files of `data/short-flows.csv.xz`: read by the section `short_flows`, raced in `peers`."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path

FLOWS = Path(__file__).resolve().parent / "data" / "short-flows.csv.xz"
PAYLOAD = 960
"""Bytes of a packet."""
STOP_S = 95.468
"""Just after the last arrival."""


def flows() -> Iterator[tuple[int, int]]:
    """Start in ns and packets of each flow."""
    now = 0
    with lzma.open(FLOWS, "rt", encoding="ascii") as file:
        next(file)
        for line in file:
            gap, packets = line.split(",")
            now += int(gap)
            yield now, int(packets)


def write(path: Path, some: Iterable[tuple[int, int]]) -> None:
    """Flows as scenarios and ns-2's script read them: `start_s,bytes`."""
    with path.open("w", encoding="ascii") as file:
        file.write("start_s,bytes\n")
        for start, packets in some:
            file.write(f"{start // 10**9}.{start % 10**9:09d},{packets * PAYLOAD}\n")


def overrides(path: Path, duration_s: float) -> list[str]:
    """Overrides that make `scenarios/short-flows.toml` send the written flows and run for so long."""
    return [
        f"duration={duration_s} s",
        "warmup=0 s",
        f'flow.files.traffic={{ kind = "list", file = {json.dumps(str(path))} }}',
    ]

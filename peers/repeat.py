"""A peer's run with several seeds: means with their 95 % intervals.

    python -m peers.repeat --seeds 5 peers/ns3/build/mesh --scenario=hidden --transport=tcp --seed=SEED
    python -m peers.repeat --seeds 5 ns peers/ns2/chain.tcl -hops 5 -seed SEED

In the command SEED stands for 1, 2, 3 and so on.
"""

# SPDX-License-Identifier: MIT OR Apache-2.0

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from validation.runs import mean_of

from .programs import PeerError, read_json, run


def jain(shares: Sequence[float]) -> float:
    """Jain's index; 1 when nobody got anything."""
    squares = math.fsum(share * share for share in shares)
    return math.fsum(shares) ** 2 / len(shares) / squares if squares else 1.0


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """A row for each flow, then the sums."""
    kbps = [[flow["goodput_bps"] / 1e3 for flow in result["flows"]] for result in results]
    rows = [
        (f"{flow['src']} -> {flow['dst']}, kbit/s", [run[i] for run in kbps])
        for i, flow in enumerate(results[0]["flows"])
    ]
    rows.append(("total, kbit/s", [math.fsum(run) for run in kbps]))
    rows.append(("packets", [result["delivered_packets"] for result in results]))
    rows.append(("Jain's index", [jain(run) for run in kbps]))
    lines = []
    for name, values in rows:
        mean = mean_of(values, 0.95)
        digits = 3 if name == "Jain's index" else 1
        lines.append(
            f"{name:18} {mean.mean:9.{digits}f} ± {mean.half_width:<8.{digits}f} "
            f"{min(values):.{digits}f} to {max(values):.{digits}f}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m peers.repeat", description=(__doc__ or "").split("\n", maxsplit=1)[0]
    )
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds, from 1 on (default 5)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="with SEED where the seed belongs")
    args = parser.parse_args()
    try:
        if args.seeds < 2:
            raise PeerError("--seeds is at least 2: one value has no interval")
        if not any("SEED" in part for part in args.command):
            raise PeerError("the command has to contain SEED")
        results = []
        for seed in range(1, args.seeds + 1):
            command = [part.replace("SEED", str(seed)) for part in args.command]
            results.append(read_json(run(command).output, command))
        print(table(results))
    except PeerError as error:
        print(f"repeat: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

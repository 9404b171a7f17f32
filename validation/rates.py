"""`python -m validation.rates [--seeds N]`: ATP and EXACT against what their laws say of chains and a node.

The first table has the goodput over chains of one to eight hops, and its part of that over one hop, beside
the ideal part: 1/n up to four hops, which are all within sensing range, and a quarter beyond; drop-tail's
flow is one of TCP. The second has the two readings of EXACT's division of a node between a good and a lossy
link. Exit status: 0 when ATP's parts are between half of the ideal and a quarter above it, EXACT carries at
least three quarters of what TCP does, and each reading divides what its name says, within a quarter.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import airfair

HOPS = range(1, 9)
SCHEMES = ("droptail", "atp", "exact")
WITHIN = 0.25


def main() -> int:
    """Run, print both tables, and judge them; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(1, 1 + parser.parse_args().seeds)
    good = chains(seeds)
    good &= readings(seeds)
    print("holds" if good else "does not hold")
    return 0 if good else 1


def chains(seeds: range) -> bool:
    """The table of chains; true if ATP's parts are near the ideal and EXACT carries nearly as much as TCP."""
    print(f"{'hops':8}{'ideal':>8}" + "".join(f"{scheme:>20}" for scheme in SCHEMES))
    alone: dict[str, float] = {}
    good = True
    for hops in HOPS:
        ideal = 1 / min(hops, 4)
        rates = {scheme: mean(chain(hops), scheme, seeds)["end-to-end"] for scheme in SCHEMES}
        parts = {scheme: rate / alone.setdefault(scheme, rate) for scheme, rate in rates.items()}
        cells = (f"{rates[scheme] / 1e3:.0f} kbit/s{parts[scheme]:6.2f}" for scheme in SCHEMES)
        print(f"{hops:<8}{ideal:8.2f}" + "".join(f"{cell:>20}" for cell in cells))
        good &= ideal / 2 <= parts["atp"] <= ideal * (1 + WITHIN)
        good &= rates["exact"] >= (1 - WITHIN) * rates["droptail"]
    return good


def chain(hops: int) -> dict[str, str | int]:
    """Overrides of scenarios/chain.toml for a chain of this length, with data without end."""
    return {
        "nodes.count": hops + 1,
        "flow.end-to-end.to": str(hops),
        "flow.end-to-end.transport": "tcp",
        "duration": "120 s",
        "warmup": "30 s",
    }


def readings(seeds: range) -> bool:
    """The table of the two readings; true if `time` halves each link and `rate` gives equal rates."""
    path = Path("scenarios") / "two-bandwidths.toml"
    late = {"to-good": "flow.to-lossy.start", "to-lossy": "flow.to-good.start"}
    alone = {flow: mean({key: "59 s"}, "exact:paper", seeds, path)[flow] for flow, key in late.items()}
    found = {share: mean({}, f"exact:paper[exact.share={share}]", seeds, path) for share in ("time", "rate")}
    print(f"{'share':8}" + "".join(f"{flow:>32}" for flow in alone))
    for share, rates in found.items():
        cells = (
            f"{rates[flow] / 1e3:.0f} kbit/s, {rates[flow] / alone[flow]:.2f} of it alone" for flow in alone
        )
        print(f"{share:8}" + "".join(f"{cell:>32}" for cell in cells))
    halves = [found["time"][flow] / alone[flow] for flow in alone]
    one, other = found["rate"].values()
    return all(abs(half / 0.5 - 1) < WITHIN for half in halves) and abs(one / other - 1) < WITHIN


def mean(
    overrides: dict[str, str | int], scheme: str, seeds: range, path: Path = Path("scenarios") / "chain.toml"
) -> dict[str, float]:
    """The mean goodput of each flow over the seeds, bit/s."""
    runs = [airfair.run(path, scheme=scheme, seed=seed, overrides=overrides) for seed in seeds]
    flows = [flow["id"] for flow in runs[0]["flows"]]
    return {
        flow: sum(run["flows"][at]["goodput_bps"] for run in runs) / len(runs)
        for at, flow in enumerate(flows)
    }


if __name__ == "__main__":
    sys.exit(main())

"""`python -m validation.airtime [--seeds N]`: the least rate of a flow under the airtime allocator beside its
max-min rate, on the four topologies of mesh studies and on twenty meshes drawn at random, with TCP.

A row has the mean over the seeds of the least share: as the files have it, and with many attempts for each
frame. Exit status: 0 when the mean of the rows is at least 0.88, the figure of the paper's abstract, 1 when
not.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import product
from pathlib import Path

from airfair import Scenario
from airfair.experiment import each
from airfair.optimal.yardstick import yardstick
from airfair.suite.heldout import mesh

TOPOLOGIES = ("stack", "diamond", "half-diamond", "chain-cross")
MESHES = 20
SELECTIONS = ("droptail", "airtime:paper", "airtime", "airtime[retries=50]")
EXPECTED = 0.88
"""Within 12 % of max-min: the abstract of Jang, Psounis and Govindan, CoNEXT 2010."""

FIRST_SEED = 101
"""Lower seeds were used to choose the default."""


def main() -> int:
    """Run, print a row for each scene, and judge the best column; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(FIRST_SEED, FIRST_SEED + parser.parse_args().seeds)
    scenes = [Scenario.read(Path("scenarios") / f"{name}.toml") for name in TOPOLOGIES]
    scenes += [mesh(f"airtime-{number:02d}") for number in range(1, MESHES + 1)]
    print(f"{'':16}" + "".join(f"{name:>22}" for name in SELECTIONS))
    rows = [least_shares(scene, seeds) for scene in scenes]
    for scene, row in zip(scenes, rows, strict=True):
        print(f"{scene.name:16}" + "".join(f"{share:22.2f}" for share in row), flush=True)
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    print(f"{'mean':16}" + "".join(f"{mean:22.3f}" for mean in means))
    good = max(means) >= EXPECTED
    print(f"{EXPECTED} expected: {'holds' if good else 'does not hold'}")
    return 0 if good else 1


def least_shares(scene: Scenario, seeds: range) -> list[float]:
    """For each selection the mean over the seeds of the least share of a flow's max-min rate."""
    fair = {flow: rate for flow, rate in yardstick(scene).max_min_bps.items() if rate > 0}
    cells = list(product(SELECTIONS, seeds))
    found = dict.fromkeys(SELECTIONS, 0.0)
    for (selection, _), text in zip(
        cells, each(cells, lambda cell, stop: scene.run(*cell, stop)), strict=True
    ):
        goodputs = {flow["id"]: flow["goodput_bps"] for flow in json.loads(text)["flows"]}
        found[selection] += min(goodputs[flow] / rate for flow, rate in fair.items()) / len(seeds)
    return list(found.values())


if __name__ == "__main__":
    sys.exit(main())

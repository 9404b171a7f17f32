"""Where C3L's least flow loses against the optimum of its scene: `python validation/c3l_budget.py FILE...`.

A row adds one part to those before it, from the paper's settings to the mended ones. The last rows replace
the scheme by an oracle: each flow is given a part of its max-min rate from the start, by a source that never
sends more, so what is missing there is the transport's and the air's, not the controller's. The share of a
scene is that of the flow which has least of its own max-min rate, the mean over seeds, in per cent.
"""

from __future__ import annotations

import argparse
from statistics import mean
from typing import TYPE_CHECKING

import airfair

if TYPE_CHECKING:
    from collections.abc import Mapping

Edits = dict[str, object]

PARTS: list[tuple[str, Edits]] = [
    ("the paper's", {}),
    (
        "a window over TCP, no limit without radio or controller",
        {
            "tcp_window": "newreno",
            "least_window": 4,
            "doubles_timer": False,
            "own_queue": False,
            "unstamped": True,
            "unled": "5 s",
        },
    ),
    ("acknowledgements have a share", {"answers": True, "used_rate": "arrivals"}),
    ("probes reach as far as signals are sensed", {"probe_reach": "sense", "probe_power": 10.0}),
    ("repetitions count, inhibitors do not", {"repeats_cost": True, "w_factor": 1.0}),
    (
        "capacities from 0.7 to 0.95, a node reacts",
        {
            "first_capacity": 0.7,
            "most_capacity": 0.95,
            "used": 0.0,
            "local_threshold": 0.2,
            "local_factor": 0.8,
            "local_again": "1 s",
            "local_floor": 0.3,
        },
    ),
    ("short first cycles", {"cycle": "4 s", "first_cycle": "1 s", "hello_interval": "2 s"}),
]
"""Each part of the scheme with the parameters that mend it."""


def least(result: Mapping[str, object], rates: Mapping[str, float]) -> float:
    """The share of the flow that has least of its max-min rate."""
    flows = result["flows"]
    assert isinstance(flows, list)
    return min(float(flow["goodput_bps"]) / rates[flow["id"]] for flow in flows)


def shares(scenario: airfair.Scenario, seeds: int, part: Edits) -> float:
    """The mean share over seeds with these parameters of C3L."""
    rates = {flow["id"]: flow["max_min_bps"] for flow in airfair.optimum(scenario)["flows"]}
    edited = scenario.edited({f"schemes.c3l.{name}": value for name, value in part.items()})
    return mean(
        least(airfair.run(edited, scheme="c3l:paper", seed=seed), rates) for seed in range(1, seeds + 1)
    )


def given(scenario: airfair.Scenario, seeds: int, part: float, packet: str) -> float:
    """The mean share where each flow is given this part of its rate; no table of random flows."""
    optimum = airfair.optimum(scenario)["flows"]
    rates = {flow["id"]: flow["max_min_bps"] for flow in optimum}
    traffic = [
        {
            "id": flow["id"],
            "from": flow["src"],
            "to": flow["dst"],
            "transport": "tcp-newreno",
            "start_jitter": "1 s",
            "traffic": {
                "kind": "constant",
                "rate": f"{int(part * flow['max_min_bps'])} bit/s",
                "packet": packet,
                "gap_jitter": 0.5,
            },
        }
        for flow in optimum
    ]
    edited = scenario.edited({"flow": traffic})
    return mean(
        least(airfair.run(edited, scheme="droptail", seed=seed), rates) for seed in range(1, seeds + 1)
    )


def main() -> None:
    """Print the budget of each scene."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--packet", default="1460 B", help="payload of a packet at given rates")
    parser.add_argument("--no-oracle", action="store_true", help="for scenes with random flows")
    args = parser.parse_args()
    for file in args.files:
        scenario = airfair.Scenario.read(file)
        print(file)
        so_far: Edits = {}
        before = 0.0
        for name, part in PARTS:
            so_far |= part
            share = shares(scenario, args.seeds, so_far)
            print(f"  {100 * share:5.0f} %  {100 * (share - before):+5.0f}  {name}", flush=True)
            before = share
        for part_of in () if args.no_oracle else (0.6, 0.8, 0.95):
            share = given(scenario, args.seeds, part_of, args.packet)
            print(f"  {100 * share:5.0f} %         given {part_of:g} of the optimum", flush=True)


if __name__ == "__main__":
    main()

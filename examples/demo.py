"""`make demo`: a flow that starves at the gateway of a mesh, what cures it best, and what that costs.

The cure is found by a race of changes (`airfair.advise`), and measured on seeds that the race has not used.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import airfair
from airfair.quantities import dash_or, digits, part, rate, rate_of, time_of
from airfair.results import Advice, Advised, CompareRow
from airfair.selections import read_all

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "gateway.toml"

WIDTH = 80
"""Columns of the narrowest terminal."""

RUNS = 120
"""Runs of the race: the same number gives the same answer."""

INTRODUCTION = """\
A mesh gateway G, a node A beside it, a node B behind A. Each sends one TCP
transfer to G: one-hop (A to G) and two-hop (B to A to G). B and G do not hear
each other (scenarios/gateway.toml)."""


def main(arguments: Sequence[str]) -> int:
    """Search, measure, print; the exit status."""
    parser = argparse.ArgumentParser(prog="demo.py", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of the race ({RUNS})")
    options = parser.parse_args(arguments)
    print(INTRODUCTION, flush=True)
    advice = airfair.advise(SCENARIO, runs=options.runs)
    print(f"\n{starving(advice)}")
    cure = advice["advised"][0] if advice["advised"] else None
    if cure is None or not cure["helps"]:
        print("Nothing that was tried helps by more than chance.")
        return 1
    schemes = [advice["today"], cure["selection"]]
    rows = airfair.compare(SCENARIO, schemes=schemes, seeds=cure["seeds"], optimum=True)
    print("\n".join([*asked(advice, cure), "", *table(rows, control(schemes, cure["seeds"]))]))
    print(costs(rows))
    print("For your own network: airfair advise MAP. Who helps where: docs/which-scheme.md")
    return 0


def starving(advice: Advice) -> str:
    """The flow that has least of its fair rate today."""
    flow = min(advice["advised"][0]["flows"], key=lambda flow: flow["before"]["mean"])
    fair = rate(advice["reference_bps"][flow["id"]])
    return (
        f"Today the flow {flow['id']} starves: it has {part(flow['before']['mean'])} of the\n"
        f"{fair} that fair shares of the air would give it."
    )


def asked(advice: Advice, cure: Advised) -> list[str]:
    """The best set of changes, what its schemes are, what it needs, and the best without a new scheme."""
    tried = len(advice["tried"])
    best = f"Of {tried} sets of changes that were tried this cures it best: {cure['selection']}"
    lines = textwrap.wrap(best, WIDTH)
    names = {name for selection in read_all(cure["selection"]) for name in selection.schemes}
    for scheme in airfair.schemes():
        if scheme["name"] in names:
            lines += folded(f"{scheme['name']}: {scheme['about']}")
    for who in ("routers", "hosts"):
        if cure[who]:
            lines += folded(f"It asks of {who}: {', '.join(cure[who])}")
    plain = next((row for row in advice["advised"] if row["helps"] and not is_new(row)), None)
    if plain is not None and plain is not cure:
        share = part(plain["least"]["mean"])
        lines += folded(f"The best without new software: {plain['selection']}, {share}")
    return lines


def folded(text: str) -> list[str]:
    """The text in lines of the terminal, indented."""
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def is_new(row: Advised) -> bool:
    """True if routers or hosts need software that they do not have today."""
    return any("the scheme" in text for text in row["routers"])


def control(schemes: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """The messages of each selection, in the mean over the seeds: their rate where they are counted by kind,
    else their number."""
    words = []
    for scheme in schemes:
        results = [airfair.run(SCENARIO, scheme=scheme, seed=seed) for seed in seeds]
        bps = mean(sum(kind["bps"] or 0.0 for kind in result.get("control", [])) for result in results)
        sent = mean(
            sum(radio["messages"]["sent"] for radio in result["stations"] if "messages" in radio)
            / result["duration_s"]
            for result in results
        )
        words.append(rate(bps) if bps else f"{digits(sent)} messages/s" if sent else "none")
    return words


def table(rows: Sequence[CompareRow], messages: Sequence[str]) -> list[str]:
    """Flows, total, delay and control traffic, a column for each selection."""
    lines = [["", f"today ({rows[0]['scheme']})", "with the best"]]
    for flows in zip(*(row["flows"] for row in rows), strict=True):
        lines.append([f"goodput of {flows[0]['id']}", *(dash_or(f["goodput_bps"], rate_of) for f in flows)])
    lines.append(["total", *(dash_or(row["aggregate_goodput_bps"], rate_of) for row in rows)])
    lines.append(["99 % of packets within", *(dash_or(row["p99_flow_delay_s"], time_of) for row in rows)])
    lines.append(["control traffic", *messages])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    shown = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
    return [shown[0], "─" * len(shown[0]), *shown[1:]]


def costs(rows: Sequence[CompareRow]) -> str:
    """The gain of the least flow, and the price in total."""
    before, after = (row["aggregate_goodput_bps"] for row in rows)
    least = rows[1]["optimum_share_min"]
    assert before and after and least  # noqa: PT018 - every run delivers
    change = after["mean"] / before["mean"] - 1
    price = f"{part(abs(change))} {'less' if change < 0 else 'more'} in total"
    return f"The least flow now has {part(least['mean'])} of its fair rate. The price: {price}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

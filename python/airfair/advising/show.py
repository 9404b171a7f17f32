"""Advice in ten lines."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ..quantities import part, plural, time, time_of
from ..results import Advice, Advised, AdvisedFlow, Estimate, HalfAdvised

WIDTH = 80
"""Columns of a line; what is longer is cut, and whole in `--json` and in the report."""

MOST_LINES = 10

MOST_ASKED = 2
"""Lines of what a set asks of routers, and of hosts."""

NO_HELP = "No help: "

SEEN = 0.05
"""A change of a flow's share by less than this is not counted as help or cost."""

SHARES_OF = {
    "optimum": "of its fair rate",
    "droptail": "of an equal part of drop-tail's total",
}
"""Rates that the share of a flow is a part of."""


def lines(advice: Advice) -> list[str]:
    """The advice, at most ten lines of eighty columns."""
    helping = [row for row in advice["advised"] if row["helps"]]
    found = [*_head(advice), *(_first(advice, helping[0]) if helping else _nothing(advice))]
    rest = [*_usual(advice, helping), *_others(advice), _work(advice)]
    if len(found) + len(rest) > MOST_LINES:
        rest = [line for line in rest if not line.startswith(NO_HELP)]
    room = max(0, MOST_LINES - len(found) - len(rest))
    found += [_set(advice, n, row) for n, row in enumerate(helping[1:], 2)][:room]
    return [_cut(line) for line in [*found, *rest]]


def _head(advice: Advice) -> list[str]:
    before, flows = advice["before"], len(advice["reference_bps"])
    least = f"least of {flows} flows" if flows > 1 else "the flow"
    shares = f"{least} {_share(before['least'])} {SHARES_OF[advice['by']]}"
    if advice["goal"] in ("delay", "voice"):
        shares = _number(advice, before)
    found = [f"Today ({advice['today']}): {shares}, total {_share(before['total'])}"]
    if advice["drawn"]:
        count = len(advice["drawn"])
        found.append(
            f"The map has no traffic: {count} TCP {plural(count, 'flow')} to its gateways were drawn."
        )
    return found


def _first(advice: Advice, row: Advised) -> list[str]:
    found = [_set(advice, 1, row), f"   {_flows(row['flows'])}"]
    asked = [f"routers: {', '.join(row['routers'])}"] if row["routers"] else []
    asked += [f"hosts: {', '.join(row['hosts'])}"] if row["hosts"] else []
    together = f"   {'; '.join(asked)}"
    if len(together) <= WIDTH:
        found.append(together)
    else:
        for line in asked:
            found += textwrap.wrap(line, WIDTH, initial_indent="   ", subsequent_indent="      ")[:MOST_ASKED]
    return [*found, f"   at half of the nodes: {_half(advice, row['half'])}"]


def _half(advice: Advice, half: HalfAdvised | None) -> str:
    if half is None or half["score"] is None or half["least"] is None:
        return f"not run: {'' if half is None else half['reason']}"
    if advice["goal"] in ("delay", "voice"):
        return f"within {time(-half['score']['mean'])}"
    return (
        f"least flow {_share(half['least'])}{_half_width(half['least'])}"
        if advice["goal"] == "fair"
        else f"total {_share(half['score'])}{_half_width(half['score'])}"
    )


def _half_width(by: Estimate) -> str:
    return "" if by["ci95"] is None else f" ± {_points(by['ci95'])}"


def _set(advice: Advice, number: int, row: Advised) -> str:
    return f"{number}. {row['selection']}: {_number(advice, row)} ({_change(advice, row)})" + (
        f", total {_share(row['total'])}" if advice["goal"] != "total" else ""
    )


def _number(advice: Advice, row: Advised) -> str:
    """The goal's number in words."""
    if advice["goal"] == "fair":
        return f"least flow {_share(row['least'])}"
    if advice["goal"] == "total":
        return f"total {_share(row['total'])}"
    if advice["goal"] == "delay":
        return f"99 % of packets within {time(row['p99_s']['mean'])}"
    call = row["call_s"]
    return f"99 % of a call within {time(None if call is None else call['mean'])}"


def _change(advice: Advice, row: Advised) -> str:
    if advice["goal"] in ("delay", "voice"):
        return time_of(_negative(row["change"]), sign=True)
    by = row["change"]
    return f"{100 * by['mean']:+.{0 if abs(by['mean']) >= 0.0995 else 1}f}{_half_width(by)}"


def _points(share: float) -> str:
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}"


def _negative(by: Estimate) -> Estimate:
    return {"mean": -by["mean"], "ci95": by["ci95"]}


def _share(by: Estimate) -> str:
    return part(by["mean"])


def _flows(flows: Sequence[AdvisedFlow]) -> str:
    """The flows that it helps, and those that pay."""
    seen = [flow for flow in flows if _is_clear(flow)]
    up = sorted((f for f in seen if f["change"]["mean"] > 0), key=lambda flow: -flow["change"]["mean"])
    down = sorted((f for f in seen if f["change"]["mean"] < 0), key=lambda flow: flow["change"]["mean"])
    words = [
        f"{verb} {len(of)} (most {_from_to(of[0])})" for verb, of in (("helps", up), ("costs", down)) if of
    ]
    return ", ".join(words) or "no single flow changes by much"


def _is_clear(flow: AdvisedFlow) -> bool:
    by = flow["change"]
    return abs(by["mean"]) >= SEEN and abs(by["mean"]) > (by["ci95"] or 0.0)


def _from_to(flow: AdvisedFlow) -> str:
    return f"{flow['id']}: {part(flow['before']['mean']).removesuffix(' %')} to {part(flow['after']['mean'])}"


def _nothing(advice: Advice) -> list[str]:
    """No set helps by more than chance, within the limits."""
    found = ["Nothing tried helps by more than chance within the limits of the goal."]
    best = advice["advised"][0] if advice["advised"] else None
    if best is not None:
        broken = "" if best["broken"] is None else f"; breaks the limit of the {best['broken']}"
        found.append(
            f"   nearest: {best['selection']}: {_number(advice, best)} ({_change(advice, best)}){broken}"
        )
    return found


def _usual(advice: Advice, helping: Sequence[Advised]) -> list[str]:
    """The best set for routers as they are, where the first advice asks for a new scheme."""
    if not helping or not helping[0]["new_scheme"]:
        return []
    usual = [
        row
        for row in advice["advised"]
        if not row["new_scheme"] and row["broken"] is None and row["change"]["mean"] > 0
    ]
    doubt = "" if usual and usual[0]["helps"] else ", not clear"
    return [f"As routers are{doubt}: {_change(advice, row)} by {row['selection']}" for row in usual[:1]]


def _others(advice: Advice) -> list[str]:
    """Single changes that do not help, and those that were not tried."""
    shown = {row["selection"] for row in advice["advised"] if row["helps"]} | {advice["today"]}
    alone = [
        row
        for row in advice["tried"]
        if _is_alone(row["selection"], advice["today"]) and row["selection"] not in shown
    ]
    worse = [row["selection"] for row in alone if row["change"]["mean"] <= 0]
    found = [f"{NO_HELP}{', '.join(worse)}"] if worse else []
    return [*found, f"Not tried: {', '.join(row['selection'] for row in advice['not_tried'])}"]


def _is_alone(selection: str, today: str) -> bool:
    """True of a single change: of a scheme without settings, or of one setting beside today's scheme."""
    schemes, _, changes = selection.partition("[")
    return ";" not in changes if schemes == today else not changes and "+" not in schemes


def _work(advice: Advice) -> str:
    runs = advice["runs"]
    whole = sum((runs["race"], runs["confirmation"], runs["half"]))
    shorter = advice["shortened_from_s"]
    of = f"{advice['duration_s']:.4g} s" + (f" in place of {shorter:.4g} s" if shorter is not None else "")
    seeds = advice["before"]["seeds"]
    tried = f"{len(advice['tried'])} sets, intervals of {len(seeds)} {plural(len(seeds), 'seed')}"
    return f"{whole} runs of {of} in {advice['wall_s']:.0f} s: {tried}"


def _cut(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return indent + textwrap.shorten(line.strip(), WIDTH - len(indent), placeholder=" ...")

"""The rule of the suite: the price of a scheme on a scene, and its gain where it claims to help."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, cast

from .. import _core
from .._core import InputError
from ..results import CompareRow, Estimate
from .reference import Reference
from .scenes import JudgedBy, Scene, Suite
from .settings import BASELINE
from .work import Control, Runs

MOST_LOST = 0.05
"""Most by which the least share may fall below drop-tail's, at the lower end of the 95 % interval."""

HELPS = 0.1
"""A rise of the least share from which on it may cost some of the total."""

CLAIMED = 0.2
"""By so much the least share has to rise where a scheme claims to help."""

LEAST_TOTAL = 0.7
"""Least part of the max-min total where the least share rises."""

STARVED, LEAST_TOTAL_OF_STARVED = 0.02, 0.5
"""The same where drop-tail leaves less than this to the least flow: more has to change hands there."""

KEPT_TOTAL = 0.95
"""Least part of drop-tail's total where the least share does not rise."""

LONGEST_CALL_S = 0.150
"""One-way delay up to which a call is good (ITU-T G.114): a delay counts as a part of this."""

WORLDS_THAT_PASS = 0.9
"""Part of the worlds drawn at random on which a scheme has to keep the rule."""


Limit = Literal["least", "total", "call"]
"""A limit of the rule: of the least share, of the total, of the delay of calls."""


class Row(TypedDict):
    """A scheme on a scene. Shares are those of the scene's reference."""

    scheme: str
    runs: int
    """Number of seeds."""
    least: Estimate | None
    """Share of the flow that has least of its rate."""
    total: Estimate | None
    """Share of the sum of the rates."""
    change: Estimate | None
    """Change of the least share against drop-tail, paired by seed; None for drop-tail itself."""
    p99_s: Estimate | None
    """Delay that 99 % of the packets stay below: the mean over the flows, or of the calls the longest."""
    p99_change_s: Estimate | None
    """Change of a call's delay against drop-tail, paired by seed; None without calls."""
    control_bps: float
    """Messages of the scheme that are counted by kind (C3L's), with MAC headers, bits per second."""
    messages_per_s: float
    """Messages of the scheme's agents, all nodes together."""
    won: int
    """Flows with more goodput than with drop-tail."""
    lost: int
    """Flows with less."""
    verdict: Literal["baseline", "help", "pass", "unclear", "harm"]
    """*Unclear*: only the ends of intervals break limits, and more seeds may tell; a total is judged by its
    mean alone."""
    breaks: list[Limit]
    """The limits that it breaks."""
    reasons: list[str]
    """The same in words, in this order."""
    claim: NotRequired[bool]
    """True if the scheme helps as much as it claims; only where it claims to help."""


class Judgement(TypedDict):
    """A scene with its rows."""

    scene: str
    about: str
    judged: JudgedBy
    reference_bps: dict[str, float]
    """Rates that shares are parts of, by flow: max-min rates, or equal parts of drop-tail's total."""
    carried: float | None
    """The part of the max-min rates that constant rates carry; None without max-min rates."""
    assumed: list[str]
    """Assumptions of the max-min rates."""
    rows: list[Row]
    """Rows of the schemes, drop-tail first."""


def judge(
    suite: Suite, schemes: Sequence[str], runs: Mapping[str, Runs], references: Mapping[str, Reference]
) -> list[Judgement]:
    """Every scene of the suite with a row for each scheme, over the seeds that all of them have."""
    return [
        _of_scene(scene, schemes, runs[scene.identity], references.get(scene.identity), suite.take_it_when)
        for scene in suite.scenes
    ]


def _of_scene(
    scene: Scene,
    schemes: Sequence[str],
    runs: Runs,
    reference: Reference | None,
    claims: Mapping[str, Sequence[str]],
) -> Judgement:
    there = {scheme: runs.results[scheme] for scheme in schemes if scheme in runs.results}
    common = sorted(set.intersection(*map(set, there.values()))) if there else []
    if BASELINE not in there or not common:
        raise InputError(f"{scene.identity}: no seed with which every scheme has a run")
    results = [[by_seed[seed] for seed in common] for by_seed in there.values()]
    rates = _equal_parts(scene, results[0]) if reference is None else reference["max_min_bps"]
    found = cast(list[CompareRow], json.loads(_core.summarise(results, max_min_bps=rates)))
    rows = [_row(scene, row, runs.control[row["scheme"]]) for row in found]
    for row in rows[1:]:
        apply_rule(scene, row, rows[0])
        if scene.identity in claims.get(row["scheme"], ()):
            change = row["change"]
            row["claim"] = change is not None and change["mean"] >= CLAIMED
    return {
        "scene": scene.identity,
        "about": scene.about,
        "judged": scene.judged,
        "reference_bps": dict(rates),
        "carried": None if reference is None else reference["carried"],
        "assumed": [] if reference is None else reference["assumed"],
        "rows": rows,
    }


def _equal_parts(scene: Scene, baseline: Sequence[str]) -> dict[str, float]:
    """The reference of a scene without max-min rates: for each flow, calls excepted, an equal part of the
    total of drop-tail, in the mean over the seeds. So a flow that drop-tail starves has a share, too."""
    goodputs: dict[str, float] = {}
    for text in baseline:
        for flow in json.loads(text)["flows"]:
            if flow["id"] not in scene.calls:
                goodputs[flow["id"]] = goodputs.get(flow["id"], 0.0) + flow["goodput_bps"] / len(baseline)
    total = sum(goodputs.values())
    if not total:
        raise InputError(f"{scene.identity}: drop-tail delivers nothing; there is nothing to compare with")
    return dict.fromkeys(goodputs, total / len(goodputs))


def _row(scene: Scene, row: CompareRow, control: Control) -> Row:
    """The numbers of a scheme, not judged yet."""
    baseline = row["scheme"] == BASELINE
    p99, p99_change = row["p99_flow_delay_s"], None
    if scene.calls:
        p99, p99_change = _of_calls(scene, row)
    beside = row.get("beside")
    return {
        "scheme": row["scheme"],
        "runs": row["runs"],
        "least": row["optimum_share_min"],
        "total": row["optimum_share_total"],
        "change": None if baseline else row["difference"]["optimum_share_min"],
        "p99_s": p99,
        "p99_change_s": None if baseline else p99_change,
        "control_bps": control.bps,
        "messages_per_s": control.messages_per_s,
        "won": 0 if beside is None else beside["won"],
        "lost": 0 if beside is None else beside["lost"],
        "verdict": "baseline",
        "breaks": [],
        "reasons": [],
    }


def _of_calls(scene: Scene, row: CompareRow) -> tuple[Estimate | None, Estimate | None]:
    """The delay of the call with the longest, and the largest change of a call at the upper end of its
    interval. None where a call has lost everything."""
    flows = [flow for flow in row["flows"] if flow["id"] in scene.calls]
    delays = [flow["p99_delay_s"] for flow in flows]
    changes = [flow["difference"]["p99_delay_s"] for flow in flows]
    return _largest(delays), _worst(changes)


def _worst(changes: Sequence[Estimate | None]) -> Estimate | None:
    """Of the changes whose means are above the limit, or else of all, the largest at its upper end."""
    sure = [change for change in changes if change and change["mean"] > MOST_LOST * LONGEST_CALL_S]
    return _largest(sure if sure and None not in changes else changes)


def _largest(estimates: Sequence[Estimate | None]) -> Estimate | None:
    known = [estimate for estimate in estimates if estimate is not None]
    return max(known, key=_upper) if len(known) == len(estimates) else None


def apply_rule(scene: Scene, row: Row, baseline: Row) -> None:
    """Put the verdict into a row, and the limits that it breaks."""
    least, total, change = row["least"], row["total"], row["change"]
    before, total_before = baseline["least"], baseline["total"]
    assert least and total and change and before and total_before  # noqa: PT018 - all of a scene, or none

    found: list[tuple[Limit, str, bool]] = []
    """Broken limits, each with the reason, and true if the mean breaks it."""
    # No share is below zero: what drop-tail does not give cannot be lost, however wide the interval.
    lost = min(-_lower(change), before["mean"])
    if lost > MOST_LOST:
        reason = f"the least share may fall by {lost:.2f}, more than {MOST_LOST}"
        found.append(("least", reason, change["mean"] < -MOST_LOST))
    if change["mean"] >= HELPS:
        starved = before["mean"] < STARVED
        limit = LEAST_TOTAL_OF_STARVED if starved else LEAST_TOTAL
        if total["mean"] < limit:
            reason = f"the total is {total['mean']:.2f} of the reference, less than {limit}"
            found.append(("total", reason, True))
    elif total["mean"] < KEPT_TOTAL * total_before["mean"]:
        kept = total["mean"] / total_before["mean"]
        found.append(("total", f"the total is {kept:.2f} of drop-tail's, less than {KEPT_TOTAL}", True))
    if scene.calls:
        later, most = row["p99_change_s"], MOST_LOST * LONGEST_CALL_S
        if later is None:
            found.append(("call", "a call loses all of its packets", True))
        elif _upper(later) > most:
            reason = (
                f"the delay of a call may rise by {1e3 * _upper(later):.1f} ms, more than {1e3 * most:.1f} ms"
            )
            found.append(("call", reason, later["mean"] > most))
    row["breaks"] = [limit for limit, _, _ in found]
    row["reasons"] = [reason for _, reason, _ in found]
    if found:
        row["verdict"] = "harm" if any(by_mean for _, _, by_mean in found) else "unclear"
    elif change["mean"] >= HELPS and _lower(change) > 0:
        row["verdict"] = "help"
    else:
        row["verdict"] = "pass"


def _lower(estimate: Estimate) -> float:
    return estimate["mean"] - (estimate["ci95"] or 0.0)


def _upper(estimate: Estimate) -> float:
    return estimate["mean"] + (estimate["ci95"] or 0.0)


def failures(judgements: Sequence[Judgement], suite: Suite) -> list[str]:
    """Lines about what breaks the rule: harm, and help that is claimed and missing. On a tenth of the worlds
    drawn at random a scheme may break it."""
    lines = [
        f"{judgement['scene']}, {row['scheme']}: {reason}"
        for judgement in judgements
        for row in judgement["rows"]
        for reason in row["reasons"]
    ]
    if suite.name == "heldout":
        return [*lines, *_of_worlds(judgements)] if _of_worlds(judgements) else []
    return lines + [
        f"{judgement['scene']}, {row['scheme']}: claims to help, and the least share changes by "
        f"{row['change']['mean']:+.2f}, less than +{CLAIMED}"
        for judgement in judgements
        for row in judgement["rows"]
        if row.get("claim") is False and row["change"] is not None
    ]


def _of_worlds(judgements: Sequence[Judgement]) -> list[str]:
    """Schemes that break the rule on more worlds than they may."""
    lines = []
    for scheme in [row["scheme"] for row in judgements[0]["rows"][1:]]:
        verdicts = [row["verdict"] for j in judgements for row in j["rows"] if row["scheme"] == scheme]
        passed = sum(verdict not in ("harm", "unclear") for verdict in verdicts)
        if passed < WORLDS_THAT_PASS * len(verdicts):
            least = f"fewer than {100 * WORLDS_THAT_PASS:.0f} %"
            lines.append(f"{scheme}: keeps the rule on {passed} of {len(verdicts)} worlds, {least}")
    return lines

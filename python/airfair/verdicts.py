"""Verdicts on results: how many flows gain and lose, and how much of what the air allows they get.

Jain's index and shares of a run's mean call a collapse fair, as all flows get the same little. A verdict
compares with something outside the run: the max-min rates of `airfair optimum`, or another scheme.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, cast

from . import _core
from ._core import InputError, LimitError, Scenario
from .optimal.yardstick import Yardstick, affordable, source, yardstick
from .quantities import number_of, part, plural
from .results import BesideRow, CompareRow, Estimate, RunResult, RunVerdict

BASELINE = "droptail"
"""The scheme that a run without an optimum is compared with: no scheme at all."""

LITTLE = 0.5
"""A smaller share of its max-min rate is less than a flow's share, whatever the others get."""

WITHOUT_RATES = "they have no route, no traffic, or send files"

NO_RATES = "no flow has a max-min rate that it can reach: it has no route, no traffic, or sends files"


class Judged(NamedTuple):
    """Rows of a comparison with their shares of the max-min rates, and where these are from."""

    rows: Sequence[CompareRow]
    words: str


class Unjudged(NamedTuple):
    """The reason why a comparison has no such shares, in a line."""

    words: str


class RunJudged(NamedTuple):
    """A verdict on a run in lines; where it was asked for also as numbers, and with the rates that they are
    parts of."""

    lines: list[str]
    verdict: RunVerdict | None = None
    by: Yardstick | None = None


def judge(results: Sequence[Sequence[str]], by: Yardstick) -> Judged:
    """Shares of groups of runs (JSON) in the max-min rates of a yardstick. Raises `InputError` where no flow
    has one."""
    rows = cast(list[CompareRow], json.loads(_core.summarise(results, max_min_bps=by.max_min_bps)))
    if all(row["optimum_share_min"] is None for row in rows):
        raise InputError(NO_RATES)
    return Judged(rows, by.words)


def judge_if_cheap(results: Sequence[Sequence[str]], scenario: Scenario) -> Judged | Unjudged:
    """The same, if the max-min rates take less work than the runs did; the reason otherwise."""
    events = sum(json.loads(run)["perf"]["events"] for runs in results for run in runs)
    try:
        return judge(results, affordable(scenario, events))
    except LimitError:
        return Unjudged(unjudged("their rates take more work than the runs", "--optimum computes them"))
    except InputError as error:
        alone = len(results) == 1
        return Unjudged(unjudged(str(error), "--schemes takes others to compare with" if alone else ""))


def judge_run(scenario: Scenario, result: RunResult) -> RunJudged:
    """A run beside the max-min rates of its scenario, or beside a run with drop-tail where there are none."""
    try:
        by = yardstick(scenario)
        found = _of_run(result, by)
    except InputError as error:
        found = _beside_baseline(scenario, result, str(error))
        return RunJudged(run_lines(found), found)
    return RunJudged(run_lines(found), found, by)


def judge_run_if_cheap(scenario: Scenario, result: RunResult) -> RunJudged:
    """A run beside the max-min rates, if these take less work than the run did; otherwise a line that says
    why it is not judged, and how it would be. No other run is made for it."""
    try:
        by = affordable(scenario, result["perf"]["events"])
        found = _of_run(result, by)
    except LimitError:
        return RunJudged([unjudged("the best rates take more work than the run", "--optimum computes them")])
    except InputError as error:
        advice = f"--optimum compares with a run of {BASELINE}"
        return RunJudged([unjudged(str(error), OF_BASELINE if result["scheme"] == BASELINE else advice)])
    return RunJudged(run_lines(found))


OF_BASELINE = f"airfair compare FILE --schemes {BASELINE},SCHEME compares a scheme with this one"


def _of_run(result: RunResult, by: Yardstick) -> RunVerdict:
    """A run beside the max-min rates. Raises `InputError` where no flow has one."""
    (row,) = judge([[json.dumps(result)]], by).rows
    shares = [flow["optimum_share"] for flow in row["flows"]]
    known = [share["mean"] for share in shares if share is not None]
    least, total = row["optimum_share_min"], row["optimum_share_total"]
    assert least is not None and total is not None  # noqa: PT018 - both or neither
    return {
        "by": "optimum",
        "assumed": list(by.assumed),
        "reason": None,
        "flows_judged": len(known),
        "flows_left_out": len(shares) - len(known),
        "below_half": sum(share < LITTLE for share in known),
        "optimum_share_min": least["mean"],
        "optimum_share_total": total["mean"],
    }


def _beside_baseline(scenario: Scenario, result: RunResult, reason: str) -> RunVerdict:
    """A run beside one with drop-tail, and the reason why it is not beside max-min rates."""
    if result["scheme"] == BASELINE:
        return {"by": None, "reason": reason}
    before = scenario.run(BASELINE, result["seed"])
    # That run has no windows of time.
    whole = {key: value for key, value in result.items() if key != "window_jain"}
    rows = cast(list[CompareRow], json.loads(_core.summarise([[before], [json.dumps(whole)]])))
    return {"by": "droptail", "reason": reason, "beside": rows[1]["beside"]}


def run_lines(found: RunVerdict) -> list[str]:
    """A verdict on a run in words."""
    if found["by"] == "optimum":
        return [_of_optimum(found)]
    if found["by"] is None:
        return [unjudged(found["reason"] or "", OF_BASELINE)]
    beside = found["beside"]
    whole = "" if beside["total_share"] is None else f"{part(beside['total_share'])} of its total; "
    collapsed = "the whole collapses; " if beside["collapsed"] else ""
    lines = [unjudged(found["reason"] or "")]
    return [*lines, f"beside {BASELINE}, one run of each: {collapsed}{whole}{_counts(beside, BASELINE)}"]


def _of_optimum(found: RunVerdict) -> str:
    flows, few = found["flows_judged"], found["below_half"]
    parts = [f"the least flow has {part(found['optimum_share_min'])} of its max-min rate"]
    if few:
        parts.append(
            f"{few} of {flows} {plural(flows, 'flow')} {'has' if few == 1 else 'have'} less than half"
        )
    # Flows near a gateway use the air better: a run that starves the others has a larger total.
    beyond = ", as some flows have more than their fair rates" if found["optimum_share_total"] > 1.005 else ""
    parts.append(f"the total is {part(found['optimum_share_total'])} of the fair one{beyond}")
    left_out = found["flows_left_out"]
    if left_out:
        why = "it has no route, no traffic, or sends files" if left_out == 1 else WITHOUT_RATES
        whole = f"{left_out} of {flows + left_out} flows"
        parts.append(f"{whole} {'is' if left_out == 1 else 'are'} not counted: {why}")
    return f"of what the air allows ({source(found['assumed'])}): {'; '.join(parts)}"


def unjudged(reason: str, advice: str = "") -> str:
    """A line that says why nothing is said of what the air allows, and what to do about it."""
    why = reason.removeprefix("there is no optimum: ")
    return f"not judged by what the air allows: {why}{advice and f'; {advice}'}"


def _counts(beside: BesideRow, baseline: str) -> str:
    """The flows that lose and win."""
    flows, won = number_of_flows(beside), beside["won"]
    win = f", {won} {'wins' if won == 1 else 'win'}" if won else ""
    return f"{beside['lost']} of {flows} {plural(flows, 'flow')} lose against {baseline}{win}"


def comparison_lines(rows: Sequence[CompareRow], judged: Judged | Unjudged | None = None) -> list[str]:
    """Facts that means and indices of a comparison hide, in words."""
    lines = [line for row in rows[1:] if "beside" in row for line in _losses(row)]
    lines += (line for row in rows[1:] for line in _starved(row))
    lines += (line for row in rows[1:] if "beside" in row for line in _delays(row))
    return [*lines, judged.words] if isinstance(judged, Unjudged) else lines


def _losses(row: CompareRow) -> list[str]:
    beside, scheme, baseline = row["beside"], row["scheme"], row["baseline"]
    lose = f"{_counts(beside, baseline)}{_once(row)}"
    if beside["collapsed"]:
        whole = part(beside["total_share"] or 0.0)
        fewer = row["difference"]["starved_flows"]
        if fewer["mean"] < 0 and _is_clear(fewer, row["runs"]):
            falls = f"the total falls to {whole} of that of {baseline}, {_change_of_starved(fewer)}"
            return [f"{scheme}: {falls}; {lose}"]
        return [f"{scheme}: the whole collapses, to {whole} of the total of {baseline}; {lose}"]
    return [f"{scheme}: {lose}"] if 2 * beside["lost"] > number_of_flows(beside) else []


def _starved(row: CompareRow) -> list[str]:
    """More flows starve than with the first scheme: a flow that starves with both is neither won nor lost."""
    more = row["difference"]["starved_flows"]
    if more["mean"] <= 0 or not _is_clear(more, row["runs"]):
        return []
    starve = _change_of_starved(more)
    return [f"{row['scheme']}: {starve} than with {row['baseline']}{_once(row)}"]


def _change_of_starved(by: Estimate) -> str:
    """How many more or fewer flows starve."""
    word = "more" if by["mean"] > 0 else "fewer"
    if by["ci95"] is not None:
        size: Estimate = {**by, "mean": abs(by["mean"])}
        return f"{number_of(size, 1)} {word} flows starve"
    count = abs(round(by["mean"]))
    return f"{count} {word} {plural(count, 'flow')} {'starves' if count == 1 else 'starve'}"


def is_equal(row: CompareRow) -> bool:
    """True if every number of every flow, in every run, is that of the baseline."""
    found = [row["difference"], *(flow["difference"] for flow in row["flows"])]
    estimates = cast("list[Estimate | None]", [number for numbers in found for number in numbers.values()])
    return all(by is None or (by["mean"] == 0.0 and not by["ci95"]) for by in estimates)


def _once(row: CompareRow) -> str:
    """A single pair of runs has no interval, and may be a matter of chance."""
    return " in one run of each" if row["runs"] == 1 else ""


def _is_clear(difference: Estimate, runs: int) -> bool:
    """True if the interval of a difference does not hold zero. Where of several runs a single pair has the
    number there is no interval, and nothing is clear."""
    if difference["ci95"] is None:
        return runs == 1
    return abs(difference["mean"]) > difference["ci95"]


def _delays(row: CompareRow) -> list[str]:
    """The mean over packets has another sign than the change of every flow: the shares of the packets have
    changed."""
    beside, packets = row["beside"], row["difference"]["mean_delay_s"]
    count = beside["delay_fell"] + beside["delay_rose"] + beside["delay_even"]
    if count < 2 or packets is None or not _is_clear(packets, row["runs"]):
        return []
    scheme, baseline = row["scheme"], row["baseline"]
    # A flow that delivers nothing has no delay.
    whole = count == number_of_flows(beside)
    each = "every flow" if whole else f"each of the {count} flows that deliver with both"
    if beside["delay_fell"] == count and packets["mean"] > 0:
        more = f"rises, as more of the packets are those of slow flows than with {baseline}"
        return [f"{scheme}: the mean delay of {each} falls; that over packets {more}{_once(row)}"]
    if beside["delay_rose"] == count and packets["mean"] < 0:
        more = f"falls, as more of the packets are those of fast flows than with {baseline}"
        return [f"{scheme}: the mean delay of {each} rises; that over packets {more}{_once(row)}"]
    return []


def number_of_flows(beside: BesideRow) -> int:
    """All flows that are counted."""
    return beside["won"] + beside["lost"] + beside["even"]

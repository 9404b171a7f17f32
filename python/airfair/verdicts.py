"""Verdicts on results: how many flows gain and lose, and how much of what the air allows they get.

Jain's index and shares of a run's mean call a collapse fair, as all flows get the same little. A verdict
compares with something outside the run: the max-min rates of `airfair optimum`, or another scheme.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, cast

from . import _core
from ._core import InputError, Scenario
from .optimal.yardstick import Yardstick, affordable, yardstick
from .results import BesideRow, CompareRow, RunResult, RunVerdict

BASELINE = "droptail"
"""The scheme that a run without an optimum is compared with: no scheme at all."""

LITTLE = 0.5
"""A smaller share of its max-min rate is less than a flow's share, whatever the others get."""


class Judged(NamedTuple):
    """Rows of a comparison with their shares of the max-min rates, and where these are from."""

    rows: Sequence[CompareRow]
    words: str


def judge(results: Sequence[Sequence[str]], by: Yardstick) -> Judged:
    """Shares of groups of runs (JSON) in the max-min rates of a yardstick."""
    rows = json.loads(_core.summarise(results, max_min_bps=by.max_min_bps))
    return Judged(cast(list[CompareRow], rows), by.words)


def judge_if_cheap(results: Sequence[Sequence[str]], scenario: Scenario) -> Judged | None:
    """The same, if the max-min rates take less work than the runs did; None otherwise."""
    by = affordable(scenario, sum(json.loads(run)["perf"]["events"] for runs in results for run in runs))
    return None if by is None else judge(results, by)


def of_run(result: RunResult, by: Yardstick) -> RunVerdict:
    """A run beside the max-min rates."""
    (row,) = judge([[json.dumps(result)]], by).rows
    shares = [flow["optimum_share"] for flow in row["flows"]]
    known = [share["mean"] for share in shares if share is not None]
    least, total = row["optimum_share_min"], row["optimum_share_total"]
    return {
        "by": "optimum",
        "assumed": list(by.assumed),
        "reason": None,
        "flows": len(known),
        "below_half": sum(share < LITTLE for share in known),
        "optimum_share_min": None if least is None else least["mean"],
        "optimum_share_total": None if total is None else total["mean"],
    }


def verdict(scenario: Scenario, result: RunResult, *, asked: bool) -> RunVerdict | None:
    """A run beside the max-min rates of its scenario; None if these take more work than the run did, unless
    they were asked for. Then a run with drop-tail takes their place where the model does not apply."""
    if not asked:
        by = affordable(scenario, result["perf"]["events"])
        return None if by is None else of_run(result, by)
    try:
        return of_run(result, yardstick(scenario))
    except InputError as error:
        reason = str(error)
    if result["scheme"] == BASELINE:
        return {"by": None, "reason": reason}
    before = scenario.run(BASELINE, result["seed"])
    # That run has no windows of time.
    whole = {key: value for key, value in result.items() if key != "window_jain"}
    return {"by": "droptail", "reason": reason, "beside": against([before], [json.dumps(whole)])}


def against(before: Sequence[str], now: Sequence[str]) -> BesideRow:
    """Flows of runs (JSON) beside those of others with the same seeds."""
    return cast(list[CompareRow], json.loads(_core.summarise([before, now])))[1]["beside"]


def run_lines(found: RunVerdict) -> list[str]:
    """A verdict on a run in words."""
    if found["by"] == "optimum":
        return _of_optimum(found)
    if found["by"] is None:
        return [found["reason"] or ""]
    beside = found["beside"]
    whole = "" if beside["total_share"] is None else f": {percent(beside['total_share'])} of its total"
    collapsed = "; the whole run has collapsed" if beside["collapsed"] else ""
    count = (
        f"{beside['lost']} of {_flows(number_of_flows(beside))} lose against {BASELINE}, {beside['won']} win"
    )
    return [f"{found['reason']}; so beside {BASELINE}{whole}; {count}{collapsed}"]


def _of_optimum(found: RunVerdict) -> list[str]:
    least, total = found["optimum_share_min"], found["optimum_share_total"]
    source = f"airfair optimum{''.join(f', with {what}' for what in found['assumed'])}"
    if least is None or total is None:
        return []
    flows, few = found["flows"], found["below_half"]
    parts = [f"the least flow has {percent(least)} of its max-min rate"]
    if few:
        parts.append(f"{few} of {_flows(flows)} {'has' if few == 1 else 'have'} less than half")
    # A run that starves flows can exceed their total: the others use what a fair division would not give
    # them.
    parts.append(f"the total is {percent(total)} of the fair one")
    return [f"of what the air allows ({source}): {'; '.join(parts)}"]


def comparison_lines(rows: Sequence[CompareRow]) -> list[str]:
    """Facts that means and indices of a comparison hide, in words."""
    lines = [line for row in rows[1:] if "beside" in row for line in _losses(row)]
    return [*lines, *(line for row in rows[1:] if "beside" in row for line in _delays(row))]


def _losses(row: CompareRow) -> list[str]:
    beside, scheme, baseline = row["beside"], row["scheme"], row["baseline"]
    win = f", {beside['won']} {'wins' if beside['won'] == 1 else 'win'}" if beside["won"] else ""
    lose = f"{beside['lost']} of {_flows(number_of_flows(beside))} lose against {baseline}{win}"
    if beside["collapsed"]:
        part = percent(beside["total_share"] or 0.0)
        return [f"{scheme}: the whole collapses, to {part} of the total of {baseline}; {lose}"]
    return [f"{scheme}: {lose}"] if 2 * beside["lost"] > number_of_flows(beside) else []


def _delays(row: CompareRow) -> list[str]:
    """The mean over packets has another sign than the change of every flow: the shares of the packets have
    changed."""
    beside, packets = row["beside"], row["difference"]["mean_delay_s"]
    count = beside["delay_fell"] + beside["delay_rose"] + beside["delay_even"]
    if count < 2 or packets is None or abs(packets["mean"]) <= (packets["ci95"] or 0.0):
        return []
    scheme, baseline = row["scheme"], row["baseline"]
    # A flow that delivers nothing has no delay.
    whole = count == number_of_flows(beside)
    each = "every flow" if whole else f"each of the {count} flows that deliver with both"
    if beside["delay_fell"] == count and packets["mean"] > 0:
        more = "rises, as more of the packets are those of slow flows"
        return [f"{scheme}: the mean delay of {each} falls; that over packets {more} than with {baseline}"]
    if beside["delay_rose"] == count and packets["mean"] < 0:
        more = "falls, as more of the packets are those of fast flows"
        return [f"{scheme}: the mean delay of {each} rises; that over packets {more} than with {baseline}"]
    return []


def number_of_flows(beside: BesideRow) -> int:
    """All flows that are counted."""
    return beside["won"] + beside["lost"] + beside["even"]


def _flows(count: int) -> str:
    return f"{count} {'flow' if count == 1 else 'flows'}"


def percent(share: float) -> str:
    """A share with two digits, so that half a per cent is not 0 or 1 %."""
    shown = f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.2g}"
    return f"{shown} %"

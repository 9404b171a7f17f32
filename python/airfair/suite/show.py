"""The table of a suite on a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from ..quantities import dash_or, digits, number_of, plural, rate, time_of
from ..results import Estimate
from ..terminal import plain_table
from .judging import Judgement, Row
from .scenes import Suite
from .settings import Settings

BY = {"optimum": "max-min rates", "droptail": "drop-tail", "voice": "drop-tail, delay of calls"}
"""How a scene is judged, in words."""

MEANING = (
    "help: the least share rises by 0.1 or more; pass: no limit is broken, and nothing is cured;\n"
    "unclear: only the end of an interval breaks a limit; harm: a limit is broken (--check says which)"
)
"""The verdicts in words."""

VERDICTS = ("help", "pass", "unclear", "harm")
"""The verdicts that are counted."""


def show(suite: Suite, settings: Settings, judgements: Sequence[Judgement], out: Console) -> None:
    """Print the scenes, one table of all schemes on all scenes, and the verdicts of each scheme."""
    seeds = len(settings.seeds)
    more = "".join(f", {escape(override)}" for override in settings.common)
    out.print(
        f"[bold]{escape(suite.name)}[/bold], {len(judgements)} {plural(len(judgements), 'scene')}, "
        f"{seeds} {plural(seeds, 'seed')}{more}: means ± half the width of the 95 % confidence interval"
    )
    _show_scenes(judgements, out)
    _show_rows(judgements, out)
    _show_counts(judgements, out)


def _show_scenes(judgements: Sequence[Judgement], out: Console) -> None:
    table = plain_table("scene", "judged by", right=["flows", "least rate", "total", "constant rates carry"])
    for judgement in judgements:
        rates = judgement["reference_bps"].values()
        carried = judgement["carried"]
        table.add_row(
            f"[bold]{escape(judgement['scene'])}[/bold]",
            BY[judgement["judged"]],
            str(len(rates)),
            rate(min(rates)),
            rate(sum(rates)),
            "-" if carried is None else f"{carried:.2f}",
        )
    out.print("\nWhat shares are parts of")
    out.print(table)


def _show_rows(judgements: Sequence[Judgement], out: Console) -> None:
    heads = ["least", "total", "least, change", "99 % delay", "control", "win", "lose"]
    table = plain_table("scene", "scheme", "verdict", right=heads)
    for judgement in judgements:
        for row in judgement["rows"]:
            compared = row["verdict"] != "baseline"
            table.add_row(
                f"[bold]{escape(judgement['scene'])}[/bold]",
                escape(row["scheme"]),
                _verdict(row),
                dash_or(row["least"], _share),
                dash_or(row["total"], _share),
                dash_or(row["change"], _change),
                dash_or(row["p99_s"], time_of),
                _control(row),
                str(row["won"]) if compared else "-",
                str(row["lost"]) if compared else "-",
            )
    out.print("\nSchemes: shares of these rates, and flows that win and lose against drop-tail")
    out.print(table)


def _show_counts(judgements: Sequence[Judgement], out: Console) -> None:
    table = plain_table("scheme", right=[*VERDICTS, "claims kept"])
    for scheme in [row["scheme"] for row in judgements[0]["rows"][1:]]:
        rows = [row for judgement in judgements for row in judgement["rows"] if row["scheme"] == scheme]
        claims = [row["claim"] for row in rows if "claim" in row]
        counts = (str(sum(row["verdict"] == verdict for row in rows)) for verdict in VERDICTS)
        kept = f"{sum(claims)} of {len(claims)}" if claims else "-"
        table.add_row(f"[bold]{escape(scheme)}[/bold]", *counts, kept)
    out.print("\nScenes by verdict")
    out.print(table)
    out.print(MEANING)


def _control(row: Row) -> str:
    """The messages of a scheme: their rate where they are counted by kind, else their number."""
    if row["control_bps"]:
        return rate(row["control_bps"])
    return f"{digits(row['messages_per_s'])} messages/s" if row["messages_per_s"] else "-"


def _verdict(row: Row) -> str:
    if row["verdict"] == "baseline":
        return "-"
    return f"{row['verdict']}, below its claim" if row.get("claim") is False else row["verdict"]


def _share(estimate: Estimate) -> str:
    return number_of(estimate, 3)


def _change(estimate: Estimate) -> str:
    return number_of(estimate, 3, sign=True)


def as_json(
    suite: Suite, settings: Settings, judgements: Sequence[Judgement], broken: Sequence[str] | None
) -> str:
    """The table as one object; `broken` are the lines of the check, where it was asked for."""
    result = {
        "suite": suite.name,
        "schemes": settings.rows,
        "seeds": list(settings.seeds),
        "set": list(settings.common),
        "scenes": judgements,
    }
    return json.dumps(result if broken is None else result | {"broken": broken})

"""Sentences about selections, made from verdicts and numbers of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from airfair.quantities import digits, rate, time
from airfair.suite.judging import MOST_LOST

from .columns import COLUMNS, KINDS, PLACES, SCHEMES, SETTINGS, Column
from .table import Cell, Table, baseline, cells, mean

STARVING = 0.1
"""Part of the fair rate below which a scene is one where something is to be cured."""

SLOWER = 1.1
"""From this factor on a delay is said to rise."""

ALL = tuple(scene for scenes in KINDS.values() for scene in scenes)


def starving(table: Table, kind: str) -> list[str]:
    """The scenes of a kind in which drop-tail leaves a flow less than this part of its fair rate."""
    return [
        scene["scene"]
        for scene in table["scenes"]
        if scene["scene"] in KINDS[kind] and mean(baseline(scene), "least") < STARVING
    ]


def best(table: Table, columns: Sequence[Column], scenes: Sequence[str]) -> Column:
    """The selection that helps in most scenes more than it harms; of several the one that is unclear in
    fewest; then that with the largest sum of rises of the least share where it does not harm."""

    def value(column: Column) -> tuple[int, int, float]:
        found = list(cells(table, column.selection, scenes))
        gains = sum(cell.change for cell in found if cell.verdict in ("help", "pass"))
        return len(of(found, "help")) - len(of(found, "harm")), -len(of(found, "unclear")), gains

    return max(columns, key=value)


def of(found: Iterable[Cell], verdict: str) -> list[Cell]:
    """Those with this verdict."""
    return [cell for cell in found if cell.verdict == verdict]


def first(table: Table) -> list[str]:
    """Three lines for someone whose network starves a flow, and one for a mesh that does not."""
    mesh, cell = starving(table, "mesh"), starving(table, "cell")
    rest = [scene["scene"] for scene in table["scenes"] if scene["scene"] in set(KINDS["mesh"]) - set(mesh)]
    return [
        _first(table, "A mesh: set first what every router and host has", SETTINGS, mesh),
        _first(table, "A mesh whose routers can have new software", SCHEMES, mesh),
        _first(table, "Stations at an access point", COLUMNS, cell),
        _first(table, "A mesh in which the least flow has more than that", SETTINGS, rest),
    ]


def _first(table: Table, lead: str, columns: Sequence[Column], scenes: Sequence[str]) -> str:
    column = best(table, columns, scenes)
    found = list(cells(table, column.selection, scenes))
    helped, unclear, harmed = (of(found, verdict) for verdict in ("help", "unclear", "harm"))
    if not helped:
        return f"**{lead}**: nothing helps in the scenes of this kind; measure your own."
    doubt = "" if len(helped) > len(harmed) else "nothing is safe; nearest is "
    gain = median(cell.change for cell in helped)
    text = (
        f"**{lead}**: {doubt}{column.words} (`{column.selection}`). It helps in {len(helped)} of "
        f"{len(scenes)} ({_names(helped)}), where the least flow gains {gain:.2f} of its fair rate in "
        "the median"
    )
    doubts = f"; in {_names(unclear)} it is unclear" if unclear else ""
    return f"{text}; it harms in {_names(harmed) or 'none'}{doubts}."


def _names(found: Sequence[Cell]) -> str:
    return ", ".join(f"`{cell.scene}`" for cell in found)


def verdicts(table: Table, column: Column) -> list[str]:
    """When to take a selection, when not, where it makes no difference, what it costs: an item each."""
    found = list(cells(table, column.selection, ALL))
    helped, passed, unclear, harmed = (of(found, verdict) for verdict in ("help", "pass", "unclear", "harm"))
    lines = [
        f"**Take it when** your network is like one of these: {_by_kind(helped, _rise)}."
        if helped
        else "**It helps** in no scene.",
        f"**Do not take it when** it is like one of these: {_by_kind(harmed, _harm)}."
        if harmed
        else "**It harms** in no scene.",
    ]
    if unclear:
        lines.append(f"Not clear with so few seeds: {_by_kind(unclear, _harm)}.")
    if passed:
        lines.append(f"It does neither, or not clearly: {_by_kind(passed, _name)}.")
    lines.append(f"**It costs** {_costs(helped or found, bool(helped))}.")
    claims = [cell for cell in found if "claim" in cell.row]
    if claims:
        lines.append(_claims(claims))
    return lines


def _by_kind(found: Sequence[Cell], show: Callable[[Cell], str]) -> str:
    parts = []
    for kind, scenes in KINDS.items():
        of_kind = [show(cell) for cell in found if cell.scene in scenes]
        if of_kind:
            parts.append(f"{PLACES[kind]} {', '.join(of_kind)}")
    return "; ".join(parts)


def _name(cell: Cell) -> str:
    return f"`{cell.scene}`"


def _rise(cell: Cell) -> str:
    before, after = cell.least
    return f"`{cell.scene}` ({before:.2f} → {after:.2f})"


def _harm(cell: Cell) -> str:
    """The scene, and the limits of the rule that the selection breaks there."""
    before, after = cell.least
    sure = cell.change < -MOST_LOST
    words = {
        "least": f"least {before:.2f} → {after:.2f}" if sure else f"least perhaps {cell.lower:.2f}",
        "total": f"total {cell.kept:.2f}",
        "call": f"a call's delay {_delay(cell)}",
    }
    return f"`{cell.scene}` ({', '.join(words[limit] for limit in cell.row['breaks'])})"


def _delay(cell: Cell) -> str:
    before, after = (row["p99_s"] for row in (cell.baseline, cell.row))
    return f"{time(before and before['mean'])} → {time(after and after['mean'])}"


def _costs(found: Sequence[Cell], helps: bool) -> str:
    """The price in total, delay and control traffic, over the scenes in which it helps, or over all."""
    kept = [cell.kept for cell in found]
    delays = [
        (before["mean"], after["mean"])
        for before, after in ((cell.baseline["p99_s"], cell.row["p99_s"]) for cell in found)
        if before is not None and after is not None
    ]
    parts = [
        f"{'where it helps' if helps else 'over all scenes'}: the total is {_range(kept)} of drop-tail's"
    ]
    if delays:
        before, after = (median(values) for values in zip(*delays, strict=True))
        goes = f"goes from {time(before)} to {time(after)} in the median"
        slower = [cell for cell in found if helps and _slower(cell)]
        if slower:
            goes += f" and rises in {', '.join(f'`{cell.scene}` ({_delay(cell)})' for cell in slower)}"
        parts.append(f"the delay that 99 % of packets stay below {goes}")
    won, lost = (sum(cell.row[key] for cell in found) for key in ("won", "lost"))
    parts.append(f"of the flows {won} win and {lost} lose")
    return f"{', '.join(parts)}, {_control(found)}"


def _slower(cell: Cell) -> bool:
    """True where the delay is longer by a tenth and more."""
    before, after = cell.baseline["p99_s"], cell.row["p99_s"]
    return before is not None and after is not None and after["mean"] > SLOWER * before["mean"]


def _range(values: Sequence[float]) -> str:
    least, middle, most = (f"{value:.2f}" for value in (min(values), median(values), max(values)))
    return least if least == most else f"{least} to {most} (median {middle})"


def _control(found: Sequence[Cell]) -> str:
    """The messages of a scheme on the air; headers in packets are part of the total."""
    rates = sorted(cell.row["control_bps"] for cell in found if cell.row["control_bps"])
    if rates:
        least, most = rate(rates[0]), rate(rates[-1])
        return f"control traffic of {least}" if len(rates) == 1 else f"control traffic of {least} to {most}"
    messages = sorted(cell.row["messages_per_s"] for cell in found if cell.row["messages_per_s"])
    if messages:
        least, most = digits(messages[0]), digits(messages[-1])
        span = least if len(messages) == 1 else f"{least} to {most}"
        return f"{span} messages a second, of all nodes together"
    return "no control traffic"


def _claims(claims: Sequence[Cell]) -> str:
    """The scenes that were named before the scheme was tuned."""
    kept = [cell for cell in claims if cell.row["claim"]]
    missed = [cell for cell in claims if not cell.row["claim"]]
    parts = [f"Before it was tuned it claimed to help in {_names(claims)}"]
    if missed:
        parts.append(f"it does not in {_names(missed)}" if kept else "it does in none")
    else:
        parts.append("it does in each")
    return f"{'; '.join(parts)}."

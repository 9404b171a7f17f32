"""What a person sees: tables of the numbers that the simulator computed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .results import CompareRow, Estimate, Lateness, RunResult, SchemeInfo, WindowJain

MOST_FLOWS = 20
"""Most flows that a table shows: the worst."""


def console() -> Console:
    """Standard output; as wide as the widest table where there is no terminal."""
    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=160)


def show_run(result: RunResult, out: Console) -> None:
    """One run: its flows and the numbers of the whole."""
    title = f"{result['scenario']}, {result['scheme']}, seed {result['seed']}: {result['duration_s']:g} s"
    if result["warmup_s"]:
        title += f", the first {result['warmup_s']:g} s not counted"
    out.print(f"[bold]{escape(title)}[/bold]")
    flows = result["flows"]
    shown = _worst([(flow["id"], flow["goodput_bps"]) for flow in flows])
    table = plain_table(
        "flow", "from", "to", right=["goodput", "sent", "delivered", "mean delay", "99 % delay", "hops"]
    )
    for flow in flows:
        if flow["id"] in shown:
            table.add_row(
                escape(flow["id"]),
                escape(flow["src"]),
                escape(flow["dst"]),
                rate(flow["goodput_bps"]),
                str(flow["sent_packets"]),
                str(flow["delivered_packets"]),
                _delay(flow["mean_delay_s"]),
                _delay(flow["p99_delay_s"]),
                "-" if flow["hops"] is None else str(flow["hops"]),
            )
    if flows:
        out.print(table)
    _left_out(len(flows), out)
    out.print(
        f"Jain's index {result['jain_index']:.3f}   total {rate(result['aggregate_goodput_bps'])}   "
        f"minimum {rate(result['min_goodput_bps'])}   starved flows {result['starved_flows']}"
    )
    for window in result.get("window_jain", []):
        out.print(f"Jain's index in windows of {window['window_s']:g} s: {_window(window)}")
    if result["drops"]:
        out.print("drops: " + ", ".join(f"{escape(reason)} {n}" for reason, n in result["drops"].items()))
    perf = result["perf"]
    out.print(f"[dim]{perf['transmissions']} frames, {perf['events']} events in {perf['wall_s']:.2f} s[/dim]")


def show_lateness(lateness: Lateness, out: Console) -> None:
    """How well a paced run kept to the clock."""
    out.print(
        f"paced by the clock: {lateness['steps']} steps, the latest {_delay(lateness['worst_s'])} late; "
        f"{lateness['below_1ms'] + lateness['below_100us'] + lateness['below_10us']} within 1 ms"
    )


def show_comparison(name: str, rows: Sequence[CompareRow], out: Console) -> None:
    """Schemes side by side: the numbers of the whole, then every flow."""
    seeds = rows[0]["seeds"]
    runs = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    out.print(f"[bold]{escape(name)}[/bold], {runs}: means ± half the width of the 95 % confidence interval")
    if "precision" in rows[0]:
        asked = rows[0]["precision"]
        wide = f"{asked['target'] * 100:g} % of the mean: {', '.join(asked['relative_ci95'])}"
        met = all(row["precision"]["met"] for row in rows)
        out.print(f"{'reached' if met else 'not reached'}: half-widths of at most {escape(wide)}")
    table = plain_table("scheme", right=["Jain's index", "total", "minimum", "starved flows"])
    for row in rows:
        table.add_row(
            escape(row["scheme"]),
            number(row["jain_index"], 3),
            rate_of(row["aggregate_goodput_bps"]),
            rate_of(row["min_goodput_bps"]),
            number(row["starved_flows"], 1),
        )
    out.print(table)
    if len(rows) > 1:
        out.print(f"\nDifferences to {escape(rows[0]['scheme'])}, paired by seed")
        table = plain_table("scheme", right=["Jain's index", "total", "minimum", "starved flows"])
        for row in rows[1:]:
            d = row["difference"]
            table.add_row(
                escape(row["scheme"]),
                number(d["jain_index"], 3, sign=True),
                rate_of(d["aggregate_goodput_bps"], sign=True),
                rate_of(d["min_goodput_bps"], sign=True),
                number(d["starved_flows"], 1, sign=True),
            )
        out.print(table)
    lengths = [window["window_s"] for window in rows[0].get("window_jain", [])]
    if lengths:
        out.print("\nJain's index in windows of time" + (", and its difference" if len(rows) > 1 else ""))
        table = plain_table("scheme", right=[f"{length:g} s" for length in lengths])
        for row in rows:
            table.add_row(escape(row["scheme"]), *(_number(w["jain_index"], 3) for w in row["window_jain"]))
        for row in rows[1:]:
            differences = [_number(w["difference"], 3, sign=True) for w in row["window_jain"]]
            table.add_row(f"{escape(row['scheme'])} - {escape(rows[0]['scheme'])}", *differences)
        out.print(table)
    first = rows[0]["flows"]
    shown = _worst([(flow["id"], flow["goodput_bps"]["mean"]) for flow in first])
    table = plain_table("goodput of flow", right=[row["scheme"] for row in rows])
    for i, flow in enumerate(first):
        if flow["id"] in shown:
            table.add_row(escape(flow["id"]), *(rate_of(row["flows"][i]["goodput_bps"]) for row in rows))
    if first:
        out.print()
        out.print(table)
    _left_out(len(first), out)


def show_schemes(schemes: Iterable[SchemeInfo], out: Console) -> None:
    """The table of schemes."""
    table = plain_table("scheme", "places", "what it does", "source")
    for scheme in schemes:
        table.add_row(
            *map(escape, (scheme["name"], ", ".join(scheme["places"]), scheme["about"], scheme["source"]))
        )
        for p in scheme["params"]:
            table.add_row("", "", escape(f"{scheme['name']}.{p['name']} = {p['default']}  {p['doc']}"), "")
    out.print(table)


def rate(bps: float, *, sign: bool = False) -> str:
    """A rate in kbit/s, with as many decimals as it needs to show three digits."""
    return f"{_kbit(bps, _decimals(bps), sign)} kbit/s"


def rate_of(estimate: Estimate, *, sign: bool = False) -> str:
    """A mean rate and its interval, in kbit/s."""
    if estimate["ci95"] is None:
        return rate(estimate["mean"], sign=sign)
    decimals = _decimals(max(abs(estimate["mean"]), estimate["ci95"]))
    return f"{_kbit(estimate['mean'], decimals, sign)} ± {_kbit(estimate['ci95'], decimals)} kbit/s"


def number(estimate: Estimate, decimals: int, *, sign: bool = False) -> str:
    """A mean and its interval."""
    plus = "+" if sign else ""
    mean = f"{estimate['mean']:{plus}.{decimals}f}"
    return mean if estimate["ci95"] is None else f"{mean} ± {estimate['ci95']:.{decimals}f}"


def significant(estimate: Estimate, *, sign: bool = False) -> str:
    """A mean with three digits, and its interval with as many decimals."""
    size = abs(estimate["mean"])
    decimals = 3 if size == 0 or math.isnan(size) else min(6, max(0, 2 - math.floor(math.log10(size))))
    return number(estimate, decimals, sign=sign)


def _number(estimate: Estimate | None, decimals: int, *, sign: bool = False) -> str:
    return "-" if estimate is None else number(estimate, decimals, sign=sign)


def _window(window: WindowJain) -> str:
    if window["mean"] is None or window["p10"] is None:
        return "no window with two active flows"
    return f"{window['mean']:.3f}, a tenth below {window['p10']:.3f}"


def _kbit(bps: float, decimals: int, sign: bool = False) -> str:
    return f"{bps / 1000:{'+' if sign else ''}.{decimals}f}"


def _decimals(bps: float) -> int:
    if bps == 0:
        return 0
    return min(3, max(0, 2 - math.floor(math.log10(abs(bps) / 1000))))


def _delay(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _worst(flows: Sequence[tuple[str, float]]) -> set[str]:
    return {flow for flow, _ in sorted(flows, key=lambda pair: pair[1])[:MOST_FLOWS]}


def _left_out(flows: int, out: Console) -> None:
    if flows > MOST_FLOWS:
        out.print(f"[dim]the {MOST_FLOWS} worst of {flows} flows; all of them with --json[/dim]")


def plain_table(*left: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    for name in left:
        table.add_column(escape(name), overflow="fold")
    for name in right:
        table.add_column(escape(name), justify="right", no_wrap=True)
    return table

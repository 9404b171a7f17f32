"""An optimum on a terminal: rates and what binds each, the cliques that bind, what the model leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from ..quantities import plural, rate
from ..tables import MOST_FLOWS
from ..terminal import plain_table
from .model import Bound, Optimum, binding_cliques
from .search import Found

MOST_LINKS = 12
"""Most links of a clique that are named."""

SAME = 0.999
"""Least ratio of rates that are shown as the same."""

MOST = 6
"""Most cliques and links with additive interference that are listed."""


def bound_in_words(optimum: Optimum, bound: Bound) -> str:
    """The reason why a flow has no higher rate, in a few words."""
    if bound["kind"] == "wire" and bound["wire"] is not None:
        wire = optimum["wires"][bound["wire"]]
        return f"the wire {wire['src']} → {wire['dst']}"
    if bound["kind"] == "clique":
        return f"clique {bound['clique']}"
    return "its demand"


def link_name(optimum: Optimum, link: int) -> str:
    """A radio link, by its stations."""
    return f"{optimum['links'][link]['src']} → {optimum['links'][link]['dst']}"


def clique_in_words(optimum: Optimum, clique: int) -> str:
    """A clique with its senders and links, of many the first."""
    links, senders = optimum["cliques"][clique]["links"], optimum["cliques"][clique]["senders"]
    size = f"{len(links)} {plural(len(links), 'link')} of {senders} {plural(senders, 'sender')}"
    return f"clique {clique}, {size}: {link_names(optimum, links)}"


def factors_in_words(factors: Sequence[float]) -> str:
    """Factors of inhibitors, of many different ones the range."""
    words = list(dict.fromkeys(f"{factor:.3g}" for factor in sorted(factors)))
    return " or ".join(words) if len(words) < 3 else f"{words[0]} to {words[-1]}"


def link_names(optimum: Optimum, links: Sequence[int]) -> str:
    """Radio links by their stations, of many the first."""
    names = ", ".join(link_name(optimum, link) for link in links[:MOST_LINKS])
    return f"{names} and {len(links) - MOST_LINKS} more" if len(links) > MOST_LINKS else names


def caution(optimum: Optimum) -> str | None:
    """A sentence where the rates are rougher than elsewhere; None where nothing says so."""
    links = {inhibition["link"] for inhibition in optimum["inhibitions"]}
    count = sum(not optimum["links"][link]["rts"] for link in links)
    if not count:
        return None
    return (
        f"{count} inhibited {plural(count, 'link')} {'sends' if count == 1 else 'send'} without RTS: what "
        "hidden senders can get is known to about a quarter there, and of three or more that are hidden from "
        "one another may be half of the max-min rates"
    )


def show(optimum: Optimum, out: Console) -> None:
    """Print the rates, of many flows the least ones."""
    flows = optimum["flows"]
    least = sorted(flows, key=lambda flow: flow["max_min_bps"])[:MOST_FLOWS]
    shown = [flow for flow in flows if flow in least]
    charged = bool(optimum["inhibitions"])
    rates = ["max-min", "proportional"] + (["max-min, W = 1"] if charged else [])
    table = plain_table("flow", "from → to", "bound by", right=rates, keys=1)
    for flow in shown:
        plain = flow["without_factor"]["max_min_bps"]
        proportional = flow["proportional_bps"]
        table.add_row(
            f"[bold]{escape(flow['id'])}[/bold]",
            escape(f"{flow['src']} → {flow['dst']}"),
            escape(bound_in_words(optimum, flow["bound"])),
            rate(flow["max_min_bps"]),
            "-" if proportional is None else rate(proportional),
            *([rate(plain)] if charged else []),
        )
    out.print(table)
    if len(flows) > len(shown):
        out.print(f"[dim]the {len(shown)} least of {len(flows)} flows; all of them with --json[/dim]")
    if optimum["routeless"]:
        out.print(f"without a route: {escape(', '.join(optimum['routeless']))}")
    if optimum["inactive"]:
        out.print(f"not in the measured time: {escape(', '.join(optimum['inactive']))}")
    files = [flow["id"] for flow in flows if flow["sends_files"]]
    if files:
        names = ", ".join(files[:MOST]) + (f" and {len(files) - MOST} more" if len(files) > MOST else "")
        out.print(f"always with data here, although files decide how much: {escape(names)}")
    _totals(optimum, out)
    _cliques(optimum, out)
    _notes(optimum, out)


def _totals(optimum: Optimum, out: Console) -> None:
    flows = optimum["flows"]
    total = sum(flow["max_min_bps"] for flow in flows)
    line = f"total {rate(total)} max-min"
    proportional = [flow["proportional_bps"] for flow in flows]
    if all(share is not None for share in proportional):
        line += f", {rate(sum(share or 0.0 for share in proportional))} proportional"
    out.print(f"\n{line}")
    scheduled = [flow["scheduled_bps"] for flow in flows if flow["scheduled_bps"] is not None]
    bound = min((flow["without_factor"]["max_min_bps"] for flow in flows), default=0.0)
    if scheduled and min(scheduled) < SAME * bound:
        out.print(
            f"Cliques are not enough here: no schedule gives each flow more than {rate(min(scheduled))}."
        )


def _cliques(optimum: Optimum, out: Console) -> None:
    binding = binding_cliques(optimum)
    count = len(optimum["cliques"])
    if not count:
        return
    links = len(optimum["links"])
    found = f"{count} {plural(count, 'clique')} of {links} {plural(links, 'link')}"
    pairs = len(optimum["conflicts"])
    out.print(f"\n{found}, {pairs} {plural(pairs, 'pair')} that {'conflicts' if pairs == 1 else 'conflict'}")
    out.print("[dim]A clique is a set of links that share the air: one of them can be used at a time.[/dim]")
    for clique in binding[:MOST]:
        out.print(f"  {escape(clique_in_words(optimum, clique))}")
    if len(binding) > MOST:
        out.print(f"  [dim]{len(binding) - MOST} more: --json[/dim]")


def _notes(optimum: Optimum, out: Console) -> None:
    if not optimum["complete"]:
        out.print(
            "\nThere are more cliques than these: the least max-min rate is an upper bound, and so is "
            "the total of the proportional rates' logarithms."
        )
    inhibited = list(dict.fromkeys(inhibition["link"] for inhibition in optimum["inhibitions"]))
    if inhibited:
        names = ", ".join(link_name(optimum, link) for link in inhibited[:MOST])
        more = f" and {len(inhibited) - MOST} more" if len(inhibited) > MOST else ""
        factors = factors_in_words([inhibition["factor"] for inhibition in optimum["inhibitions"]])
        out.print(
            f"\nInhibited {plural(len(inhibited), 'link')}: {escape(names)}{more}. Attempts fail there while "
            f"another link is used, whose air time counts {factors} times (W)."
        )
    if (told := caution(optimum)) is not None:
        out.print(f"\n{told}.")
    if optimum["additive"]:
        first = optimum["additive"][0]
        others = ", ".join(link_name(optimum, link) for link in first["by"])
        count = len(optimum["additive"])
        out.print(
            f"\nNot modelled: {count} {plural(count, 'link')} {'loses' if count == 1 else 'lose'} data "
            f"under several links together, the first one {escape(link_name(optimum, first['link']))} under "
            f"{escape(others)}."
        )


def show_found(found: Found, out: Console) -> None:
    """Print the result of a search beside the model."""
    over_tcp = any(flow["model_over_tcp_bps"] is not None for flow in found["flows"])
    last = ["model, TCP"] if over_tcp else []
    table = plain_table("flow", right=["searched", "model", "model, W = 1", *last])
    for flow in found["flows"]:
        numbers = [flow["max_min_bps"], flow["model_bps"], flow["model_without_factor_bps"]]
        with_acks = flow["model_over_tcp_bps"]
        cells = [*map(rate, numbers), *(["-" if with_acks is None else rate(with_acks)] if over_tcp else [])]
        table.add_row(f"[bold]{escape(flow['id'])}[/bold]", *cells)
    out.print(table)
    out.print(
        f"\nUDP at constant rates with random gaps, steps of {100 * found['step']:g} %, "
        f"{found['runs']} {plural(found['runs'], 'run')}"
    )
    if over_tcp:
        out.print(
            "Flows over TCP are searched as UDP with packets of a segment, without acknowledgements; the "
            "last column has the model with them."
        )

"""Tables of results on a terminal."""

from __future__ import annotations

import itertools
import string
import textwrap
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

import rich.console
from rich.markup import escape
from rich.text import Text

from . import capabilities, selections
from .quantities import (
    dash_or,
    digits,
    number_of,
    percent,
    percent_of,
    plural,
    rate,
    rate_of,
    time,
    time_of,
)
from .results import (
    CategoryResult,
    CompareRow,
    Estimate,
    FlowResult,
    FlowRow,
    InhibitedLink,
    Lateness,
    RouteOfFlow,
    RoutingUpkeep,
    RunResult,
    SchemeInfo,
    StationResult,
    WindowJain,
)
from .terminal import plain_table

MOST_FLOWS = 20
"""Most flows that a table shows: the worst."""

MOST_CATEGORIES = 20
"""Most rows of a table of access categories: those with most frames."""

INDENT = " " * 6
MOST_NAMES = 4
"""Most flows that a sentence names."""
WORDS = 20
"""Fewest columns into which a text is folded."""


class CategoryLine(NamedTuple):
    """An access category of a radio."""

    radio: str
    """The node, and the radio where the node has several."""
    category: str
    numbers: dict[str, float | None]
    """By their heads, those of `CATEGORY_HEADS`; without the wait where one queue serves all categories."""


CATEGORY_HEADS = ("frames", "finished", "no answer", "internal collisions", "given up", "mean wait")
"""Numbers of an access category. The wait is that in its queue after the warm-up, in seconds."""


class Column(NamedTuple):
    """A number of a comparison, as a table shows it."""

    key: str
    head: str
    show: Callable[[Estimate, bool], str]
    """The estimate in words, with a sign or without."""

    def cell(self, numbers: Mapping[str, object], *, sign: bool = False) -> str:
        """The number of this column, or a dash, and how many runs have it if not all have."""
        estimate = cast("Estimate | None", numbers[self.key])
        return dash_or(estimate, lambda e: self.show(e, sign))


def _decimals_of(decimals: int) -> Callable[[Estimate, bool], str]:
    return lambda estimate, sign: number_of(estimate, decimals, sign=sign)


def _rate(estimate: Estimate, sign: bool) -> str:
    return rate_of(estimate, sign=sign)


def _time(estimate: Estimate, sign: bool) -> str:
    return time_of(estimate, sign=sign)


def _share(estimate: Estimate, sign: bool) -> str:
    return percent_of(estimate, sign=sign)


FAIRNESS = (
    Column("jain_index", "Jain's index", _decimals_of(3)),
    Column("aggregate_goodput_bps", "total", _rate),
    Column("min_goodput_bps", "minimum", _rate),
    Column("starved_flows", "starved flows", _decimals_of(1)),
)
LOG_UTILITY = Column("log_utility", "log utility", _decimals_of(2))
LOSS = Column("loss_ratio", "loss", _share)
OF_FLOWS = (
    Column("mean_delay_s", "mean delay", _time),
    Column("p99_delay_s", "99 % delay", _time),
)
"""Numbers of each flow that a comparison shows beside the goodput."""

OF_PACKETS = (
    Column("mean_delay_s", "mean over packets", _time),
    Column("p99_delay_s", "99 % of packets", _time),
    Column("loss_ratio", "loss of packets", _share),
)
"""Numbers of the whole in which a flow counts as often as it has packets: of one flow the same as its own."""

DELAYS = (
    Column("mean_flow_delay_s", "mean delay", _time),
    Column("p99_flow_delay_s", "99 % delay", _time),
    Column("mean_flow_loss_ratio", "loss", _share),
    *OF_PACKETS,
    Column("rtt_s", "RTT", _time),
    Column("retransmissions", "retrans.", _decimals_of(1)),
    Column("completion_s", "completion", _time),
)
DELAY_AND_LOSS = (
    "Delay and loss: mean and 99 % delay and loss are means over flows, each of which counts once; the other "
    "numbers are those of all packets together"
)
OF_OPTIMUM = (
    Column("optimum_share_min", "least share", _share),
    Column("optimum_share_total", "share of sum", _share),
)
"""Shares of the max-min rates, in a comparison that has them."""

OPTIMUM_SHARE = Column("optimum_share", "share", _share)

COLUMNS = (*FAIRNESS, *OF_OPTIMUM, *DELAYS)
"""The numbers of a comparison, in the order of its tables."""

GOODPUT = Column("goodput_bps", "goodput", _rate)
OF_FORWARDING = (
    Column("broadcasts_per_packet", "broadcasts per packet", _decimals_of(2)),
    Column("late_share", "late broadcasts", _share),
)
"""Further ones, where forwarders carry flows."""


def columns_of(rows: Sequence[CompareRow], columns: Sequence[Column] = COLUMNS) -> list[Column]:
    """The columns in which any of these rows has a number, without a second one of the same."""
    lone = all(len(row["flows"]) == 1 for row in rows)
    found = [column for column in columns if any(row.get(column.key) is not None for row in rows)]
    return [column for column in found if not (lone and column in OF_PACKETS)]


def hidden_settings(row: CompareRow) -> list[str]:
    """Values that the runs of a row have alone, and that its name does not show."""
    return [setting for setting in row.get("settings", []) if setting not in row["scheme"]]


MOST_OF_A_NAME = 24
"""Longest name of a row that leaves room for numbers on a terminal."""


def short_named(rows: Sequence[CompareRow], out: rich.console.Console) -> tuple[list[CompareRow], list[str]]:
    """The rows with a letter as the name of each whose name is long, and lines that say what letters stand
    for; the same rows, and no line, where the output is wide enough."""
    names = [row["scheme"] for row in rows]
    if max(map(len, names)) <= max(MOST_OF_A_NAME, out.width // 3):
        return list(rows), []
    long = [name for name in names if len(name) > MOST_OF_A_NAME]
    letters = {name: f"({letter})" for name, letter in zip(long, _letters(), strict=False)}
    renamed = [row | {"scheme": letters.get(row["scheme"], row["scheme"])} for row in rows]
    for row in renamed:
        if "baseline" in row:
            row["baseline"] = letters.get(row["baseline"], row["baseline"])
    return renamed, [f"{letter} {name}" for name, letter in letters.items()]


def _letters() -> Iterator[str]:
    """a, b, ..., z, aa, ab, ..."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase, repeat=length))


def schemes_of(scheme: str, own: Mapping[str, str]) -> str:
    """The scheme of a run, and those of nodes that have their own: "c3l; a, b: c3l-faulty"."""
    others = sorted(set(own.values()) - {scheme})
    nodes = {other: [node for node in own if own[node] == other] for other in others}
    return "; ".join([scheme, *(f"{_few(nodes[other])}: {other}" for other in others)])


def _few(names: Sequence[str]) -> str:
    """Names, of more than four the first three and how many there are beside these."""
    return ", ".join(names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"])


def show_run(
    result: RunResult,
    out: rich.console.Console,
    verdict: Sequence[str] = (),
    own: Mapping[str, str] | None = None,
) -> None:
    """One run: its flows, the numbers of the whole, and lines of a `verdict` on them; `own` are the schemes
    of nodes that have others than the run."""
    schemes = schemes_of(result["scheme"], own or {})
    title = f"{result['scenario']}, {schemes}, seed {result['seed']}: {result['duration_s']:g} s"
    if result["warmup_s"]:
        title += f", the first {result['warmup_s']:g} s not counted"
    out.print(f"[bold]{escape(title)}[/bold]")
    flows = result["flows"]
    shown = _worst([(flow["id"], flow["goodput_bps"]) for flow in flows])
    columns: dict[str, list[str]] = {
        "goodput": [rate(flow["goodput_bps"]) for flow in flows],
        "sent": [str(flow["sent_packets"]) for flow in flows],
        "delivered": [str(flow["delivered_packets"]) for flow in flows],
        "loss": [percent(flow["loss_ratio"]) for flow in flows],
        "mean delay": [time(flow["mean_delay_s"]) for flow in flows],
        "99 % delay": [time(flow["p99_delay_s"]) for flow in flows],
        "RTT": [time(flow["rtt_s"]) for flow in flows],
        "completion": [time(flow["completion_s"]) for flow in flows],
        "hops": ["-" if flow["hops"] is None else str(flow["hops"]) for flow in flows],
    }
    of_feedback = _feedback_columns(flows)
    of_forwarding = _forwarding_columns(flows)
    columns |= of_feedback | of_forwarding
    rare = ("RTT", "completion", *of_feedback, *of_forwarding)  # of TCP, of files, of TFRC, of MORE
    columns = {
        head: cells
        for head, cells in columns.items()
        if head not in rare or any(cell != "-" for cell in cells)
    }
    table = plain_table("flow", "from", "to", right=list(columns), keys=1)
    for i, flow in enumerate(flows):
        if flow["id"] in shown:
            names = map(escape, (flow["id"], flow["src"], flow["dst"]))
            table.add_row(*names, *(cells[i] for cells in columns.values()))
    if flows:
        out.print(table)
    _left_out(len(flows), out)
    jain = result["jain_index"]
    out.print(
        f"Jain's index {'-' if jain is None else f'{jain:.3f}'}   "
        f"total {rate(result['aggregate_goodput_bps'])}   "
        f"minimum {rate(result['min_goodput_bps'])}   starved flows {result['starved_flows']}"
    )
    for line in verdict:
        out.print(escape(line))
    idle = sum(flow["offered_bytes"] == 0 for flow in flows)
    if idle:
        out.print(f"[dim]{idle} {plural(idle, 'flow')} without traffic in this time, not counted[/dim]")
    for window in result.get("window_jain", []):
        out.print(f"Jain's index in windows of {window['window_s']:g} s: {_window(window)}")
    if result["drops"]:
        reasons = ", ".join(f"{escape(reason)} {n}" for reason, n in result["drops"].items())
        out.print(f"drops in the whole run, acknowledgements included: {reasons}")
    if "routing" in result:
        for line in [*_upkeep(result["routing"]), *_routes(result["routing"]["flows"], shown)]:
            out.print(escape(line))
    for line in _inhibited(result.get("inhibited_links", [])):
        out.print(escape(line))
    _show_categories(result, out)
    perf = result["perf"]
    out.print(f"[dim]{perf['transmissions']} frames, {perf['events']} events in {perf['wall_s']:.2f} s[/dim]")


def category_heads(lines: Iterable[CategoryLine]) -> list[str]:
    """The heads of what any of these categories has."""
    found = {head for line in lines for head in line.numbers}
    return [head for head in CATEGORY_HEADS if head in found]


def has_categories(result: RunResult) -> bool:
    """True if a radio of a run has several access categories."""
    return any(len(station.get("categories", [])) > 1 for station in result["stations"])


def category_lines(result: RunResult, *, silent: bool = False) -> list[CategoryLine]:
    """Access categories in the order of the radios, the highest priority first; those that have sent or lost
    an internal collision, or all."""
    radios = Counter(station["node"] for station in result["stations"])
    waits = {(queue["node"], queue["towards"]): queue["mean_wait_s"] for queue in result["queues"]}

    def wait(station: StationResult, category: CategoryResult) -> dict[str, float | None]:
        queue = (station["node"], f"{station['radio']}/{category['name']}")
        return {"mean wait": waits[queue]} if queue in waits else {}

    return [
        CategoryLine(
            f"{station['node']} ({station['radio']})" if radios[station["node"]] > 1 else station["node"],
            category["name"],
            {
                "frames": category["sent"],
                "finished": category["finished"],
                "no answer": category["no_response"],
                "internal collisions": category["internal_collisions"],
                "given up": category["given_up"],
            }
            | wait(station, category),
        )
        for station in result["stations"]
        for category in _categories(station)
        if silent or category["sent"] or category["internal_collisions"]
    ]


def _categories(station: StationResult) -> Iterable[CategoryResult]:
    of = station.get("categories", [])
    return reversed(of) if len(of) > 1 else ()


def _show_categories(result: RunResult, out: rich.console.Console) -> None:
    """The access categories of the radios with most frames."""
    lines = category_lines(result)
    if not lines:
        return
    out.print("\nAccess categories in the whole run")
    most = sorted(lines, key=lambda line: -(line.numbers["frames"] or 0))[:MOST_CATEGORIES]
    heads = category_heads(most)
    table = plain_table("node", "category", right=heads, keys=2)
    for line in lines:
        if line in most:
            cells = [f"{line.numbers[head]:.0f}" for head in CATEGORY_HEADS[:-1]]
            if CATEGORY_HEADS[-1] in heads:
                cells.append(time(line.numbers.get(CATEGORY_HEADS[-1])))
            table.add_row(escape(line.radio), escape(line.category), *cells)
    out.print(table)
    if len(lines) > len(most):
        out.print(f"[dim]the {len(most)} with most frames of {len(lines)}; all of them with --json[/dim]")


MOST_ROUTES = 8
"""Most flows whose route is printed."""


def _routes(flows: Sequence[RouteOfFlow], shown: Container[str]) -> list[str]:
    """The routes at the end of a run, a line for each of these flows."""
    listed = [flow for flow in flows if flow["id"] in shown][:MOST_ROUTES]
    lines = [f"route of {f['id']} at the end: {' → '.join(f['path']) if f['path'] else '-'}" for f in listed]
    rest = len(flows) - len(listed)
    return [*lines, f"routes of {rest} more {plural(rest, 'flow')}: --json"] if rest else lines


def _inhibited(links: Sequence[InhibitedLink]) -> list[str]:
    """The inhibited links of which a controller knows something else than what is the case."""
    missed = [_link_by(link, set(link["actual"]) - set(link["found"])) for link in links]
    invented = [_link_by(link, set(link["found"]) - set(link["actual"])) for link in links]
    last = max((link["round_s"] for link in links if link["round_s"] is not None), default=None)
    when = "" if last is None else f" (last round at {last:.4g} s)"
    lines = []
    for what, all_ in (("missed", missed), ("invented", invented)):
        named = [text for text in all_ if text is not None]
        rest = f" and {len(named) - MOST_NAMES} more" if len(named) > MOST_NAMES else ""
        if named:
            some = f"{', '.join(named[:MOST_NAMES])}{rest}"
            lines.append(f"inhibitors that the controller {what}{when}: {some}")
    return lines


def _link_by(link: InhibitedLink, by: set[str]) -> str | None:
    """A link and some of the nodes that inhibit it; None without any."""
    nodes = [node for node in dict.fromkeys([*link["found"], *link["actual"]]) if node in by]
    return f"{link['src']} → {link['dst']} ({', '.join(nodes)})" if nodes else None


NO_CONTROLLER = "[[controller]] has no effect"
"""How the warning of a run begins whose scheme has no controller."""


def warnings_of(rows: Sequence[CompareRow]) -> list[str]:
    """The warnings of a comparison; not that a scheme has no controller, where another one has."""
    useless = [any(warning.startswith(NO_CONTROLLER) for warning in row["warnings"]) for row in rows]
    every = dict.fromkeys(warning for row in rows for warning in row["warnings"])
    return [text for text in every if all(useless) or not text.startswith(NO_CONTROLLER)]


def _feedback_columns(flows: Sequence[FlowResult]) -> dict[str, list[str]]:
    """Reports of the receivers of flows over UDP to their sources: the columns of a table."""
    every = [flow.get("feedback") for flow in flows]
    return {
        "loss events": [
            "-" if f is None or f["loss_events"] is None else str(f["loss_events"]) for f in every
        ],
        "loss event rate": ["-" if f is None else percent(f["loss_event_rate"]) for f in every],
        "feedback": ["-" if f is None else f"{f['received']} of {f['sent']}" for f in every],
    }


def per_packet(flow: FlowResult) -> float | None:
    """Broadcasts until a batch is whole for each that brings something new, or for each delivered packet
    where the forwarder does not tell what nodes hold; None for a flow without either."""
    of = flow["forwarding"]
    new = of["innovative"] or flow["delivered_packets"]
    return of["broadcasts"] / new if new else None


def late_share(flow: FlowResult) -> float | None:
    """The share of late broadcasts of a flow that forwarders carry; None without a broadcast."""
    of = flow["forwarding"]
    every = of["broadcasts"] + of["late"]
    return of["late"] / every if every else None


def _forwarding_columns(flows: Sequence[FlowResult]) -> dict[str, list[str]]:
    """Transmissions of forwarders for flows that they carry by broadcasts: the columns of a table."""

    def cells(show: Callable[[FlowResult], str]) -> list[str]:
        return [show(flow) if "forwarding" in flow else "-" for flow in flows]

    def decimal(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    return {
        "broadcasts": cells(lambda f: str(f["forwarding"]["broadcasts"] + f["forwarding"]["late"])),
        "per packet": cells(lambda f: decimal(per_packet(f))),
        "late": cells(lambda f: percent(late_share(f))),
        "batches": cells(lambda f: str(f["forwarding"]["batches"])),
    }


def _upkeep(routing: RoutingUpkeep) -> list[str]:
    """Messages of a proactive routing protocol, and losses of routes."""
    sent = routing["ip_bytes_per_node_s"]
    tables = routing["routes_lost"]
    bytes_sent = "-" if sent is None else f"{sent:.0f}"
    of_all = f"{tables} {plural(tables, 'route')} lost in the tables of all nodes"
    lines = [f"{routing['protocol']}: {bytes_sent} B of packets per node and second; {of_all}"]
    flows = [flow for flow in routing["flows"] if flow["lost"] or flow["without_s"]]
    if not flows:
        lines.append("no flow has lost its route")
    elif len(flows) <= MOST_NAMES:
        lines += [f"{flow['id']}: {_losses([flow])}" for flow in flows]
    else:
        lines.append(f"{len(flows)} flows in all: {_losses(flows)}")
    lines[-1] += "; a broken route counts as a route until a node notices"
    return lines


def _losses(flows: Sequence[RouteOfFlow]) -> str:
    """How often these routes were lost, and for how long: "route lost 1 time, 0.26 s without"."""
    lost, without = sum(flow["lost"] for flow in flows), sum(flow["without_s"] for flow in flows)
    route = plural(len(flows), "route")
    return f"{route} lost {lost} {plural(lost, 'time')}, {digits(without)} s without"


def show_lateness(lateness: Lateness, out: rich.console.Console) -> None:
    """The lateness of a paced run."""
    out.print(
        f"paced by the clock: {lateness['steps']} steps, the latest {time(lateness['worst_s'])} late; "
        f"{lateness['below_1ms'] + lateness['below_100us'] + lateness['below_10us']} within 1 ms"
    )


def show_comparison(
    name: str,
    rows: Sequence[CompareRow],
    out: rich.console.Console,
    verdict: Callable[[rich.console.Console], object] | None = None,
) -> None:
    """Schemes side by side: the numbers of the whole, a `verdict` on them, then every flow."""
    seeds = rows[0]["seeds"]
    runs = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    out.print(f"[bold]{escape(name)}[/bold], {runs}: means ± half the width of the 95 % confidence interval")
    if "precision" in rows[0]:
        asked = rows[0]["precision"]
        wide = f"{asked['target'] * 100:g} % of the mean: {', '.join(asked['relative_ci95'])}"
        met = all(row["precision"]["met"] for row in rows)
        out.print(f"{'reached' if met else 'not reached'}: half-widths of at most {escape(wide)}")
    for row in rows:
        if settings := hidden_settings(row):
            out.print(escape(f"{row['scheme']} alone has {', '.join(settings)}"))
    rows, legend = short_named(rows, out)
    for line in legend:
        out.print(escape(line))
    columns = columns_of(rows)
    same = _same(rows, columns)
    shown = [column for column in columns if column not in same]
    goodputs = [column for column in shown if column in (*FAIRNESS, *OF_OPTIMUM)]
    delays = [column for column in shown if column in DELAYS]
    _show_whole(rows, goodputs, out)
    if any(column in OF_OPTIMUM for column in columns):
        out.print(
            "Shares of the max-min rates (airfair optimum): the least of a flow, and total over their sum."
        )
    elif "optimum_share_min" in rows[0]:
        out.print("No flow has a share of its max-min rate: it has no route, no traffic, or sends files.")
    _show_content(rows, out)
    if verdict is not None:
        verdict(out)
    _show_flows(rows, GOODPUT, out)
    _show_differences(rows, goodputs, out)
    _show_windows(rows, out)
    if delays:
        out.print(f"\n{DELAY_AND_LOSS if len(rows[0]['flows']) > 1 else 'Delay and loss'}")
        _show_whole(rows, delays, out)
    for column in (*OF_FLOWS, *OF_FORWARDING):
        _show_flows(rows, column, out)
    _show_differences(rows, delays, out)
    if same:
        cells = (f"{column.head} {column.cell(rows[0])}" for column in same)
        out.print(f"\nThe same with every scheme: {escape(', '.join(cells))}")
    _left_out(len(rows[0]["flows"]), out)


def _same(rows: Sequence[CompareRow], columns: Sequence[Column]) -> list[Column]:
    """Columns without information, as every scheme has the same number in every run; Jain's index and the
    total are always shown."""

    def is_constant(column: Column) -> bool:
        differences = [row["difference"][column.key] for row in rows[1:]]  # type: ignore[literal-required]
        return all(
            difference is not None and not difference["mean"] and not difference["ci95"]
            for difference in differences
        )

    return [c for c in columns if c not in FAIRNESS[:2] and len(rows) > 1 and is_constant(c)]


def _show_whole(rows: Sequence[CompareRow], columns: Sequence[Column], out: rich.console.Console) -> None:
    table = plain_table("scheme", right=[column.head for column in columns])
    for row in rows:
        table.add_row(escape(row["scheme"]), *(column.cell(row) for column in columns))
    out.print(table)


def _show_content(rows: Sequence[CompareRow], out: rich.console.Console) -> None:
    """Flows whose load is below their share, and the fairness among the others."""
    contents = [(row["scheme"], row["content"]) for row in rows if "content" in row]
    if not contents:
        return
    flows = contents[0][1]["flows"]
    asks = "asks for less than its share and gets it"
    if len(flows) > 1:
        asks = "ask for less than their share and get it"
    names = flows if len(flows) <= MOST_NAMES else [*flows[: MOST_NAMES - 1], "others"]
    who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    out.print(escape(f"{who} {asks}: that lowers Jain's index and the minimum, and is not unfair."))
    if len(rows[0]["flows"]) - len(flows) > 1:
        indices = ", ".join(f"{scheme} {_index(content['jain_index'])}" for scheme, content in contents)
        out.print(escape(f"Jain's index of the other flows: {indices}"))


def _show_differences(
    rows: Sequence[CompareRow], columns: Sequence[Column], out: rich.console.Console
) -> None:
    if len(rows) == 1 or not columns:
        return
    out.print(f"\nDifferences to {escape(rows[0]['scheme'])}, paired by seed")
    table = plain_table("scheme", right=[column.head for column in columns])
    for row in rows[1:]:
        cells = (column.cell(row["difference"], sign=True) for column in columns)
        table.add_row(escape(row["scheme"]), *cells)
    out.print(table)


def _show_windows(rows: Sequence[CompareRow], out: rich.console.Console) -> None:
    lengths = [window["window_s"] for window in rows[0].get("window_jain", [])]
    if not lengths:
        return
    out.print("\nJain's index in windows of time" + (", and its difference" if len(rows) > 1 else ""))
    table = plain_table("scheme", right=[f"{length:g} s" for length in lengths])
    for row in rows:
        table.add_row(escape(row["scheme"]), *(_index(w["jain_index"]) for w in row["window_jain"]))
    for row in rows[1:]:
        differences = [_index(w["difference"], sign=True) for w in row["window_jain"]]
        table.add_row(f"{escape(row['scheme'])} - {escape(rows[0]['scheme'])}", *differences)
    out.print(table)


def _show_flows(rows: Sequence[CompareRow], column: Column, out: rich.console.Console) -> None:
    """A number of each flow, a scheme a column; nothing where no run has it."""
    first = rows[0]["flows"]
    shown = _worst([(flow["id"], flow["goodput_bps"]["mean"]) for flow in first])
    flows: list[list[FlowRow]] = [[row["flows"][i] for row in rows] for i in range(len(first))]
    if not any(flow.get(column.key) for of_flow in flows for flow in of_flow):
        return
    table = plain_table(f"{column.head} of flow", right=[row["scheme"] for row in rows])
    for of_flow in flows:
        if of_flow[0]["id"] in shown:
            table.add_row(escape(of_flow[0]["id"]), *(column.cell(flow) for flow in of_flow))
    out.print()
    out.print(table)


def list_schemes(schemes: Sequence[SchemeInfo], out: rich.console.Console) -> None:
    """A line for each scheme: its name and what it does, cut at a word where a terminal is too narrow."""
    width = max((len(scheme["name"]) for scheme in schemes), default=0) + 2
    for scheme in schemes:
        about = scheme["about"]
        if out.is_terminal:
            about = textwrap.shorten(about, max(WORDS, out.width - width), placeholder=" ...")
        line = Text(scheme["name"], style="bold").append(f"{'':{width - len(scheme['name'])}}")
        out.print(line.append(about, style="not bold"), soft_wrap=True)
    out.print("\nParameters, presets, sources and places of one: airfair schemes NAME")
    out.print("Several together: cubic+fq-codel. A preset: diffq:paper. Changes for its runs alone:")
    changes = selections.short_changes()
    for change in changes:
        out.print(escape(f"  NAME[{change['example']}]"), style="bold", end="")
        room = max(len(change["example"]) for change in changes) - len(change["example"]) + 2
        out.print(escape(f"{'':{room}}{change['about']}"), style="not bold", soft_wrap=True)
    out.print(escape('  NAME[KEY=VALUE; ...], such as "red[radio.queue_packets=100; window=4]"'))


def show_schemes(schemes: Iterable[SchemeInfo], out: rich.console.Console, *, readings: bool = False) -> None:
    """Every scheme: where it acts, what it does, its source, and its readings or its other parameters."""
    for i, scheme in enumerate(schemes):
        if i:
            out.print()
        out.print(f"[bold]{escape(scheme['name'])}[/bold] ({', '.join(scheme['places'])})")
        out.print(escape(scheme["about"]))
        out.print(f"[dim]{escape(scheme['source'])}[/dim]")
        _folded(f"{capabilities.sentence(scheme)} {capabilities.other_wants(scheme)}".rstrip(), "", out)
        for preset in scheme["presets"]:
            values = ", ".join(f"{name} = {value}" for name, value in preset["values"].items())
            text = f"{scheme['name']}:{preset['name']}: {preset['about']} ({values})"
            _folded(text, "", out)
        hidden = 0
        for p in scheme["params"]:
            if (p["role"] == "reading") is not readings:
                hidden += 1
                continue
            limits = f" ({p['range'][0]} to {p['range'][1]})" if p["range"] else ""
            out.print(f"  {escape(scheme['name'])}.{escape(p['name'])} = {escape(p['default'] + limits)}")
            _folded(p["doc"], INDENT, out)
        if hidden and not readings:
            them = f"{hidden} readings and additions" if hidden > 1 else "A reading or addition"
            more = f"airfair schemes {escape(scheme['name'])} --readings"
            out.print(f"[dim]{them} of ours: {more}[/dim]")


def _folded(text: str, indent: str, out: rich.console.Console) -> None:
    for line in Text(text).wrap(out, max(WORDS, out.width - len(indent))):
        line.rstrip()
        out.print(Text(indent).append_text(line))


def _index(estimate: Estimate | None, *, sign: bool = False) -> str:
    return dash_or(estimate, lambda e: number_of(e, 3, sign=sign))


def _window(window: WindowJain) -> str:
    if window["mean"] is None or window["p10"] is None:
        return "no window with two active flows"
    return f"{window['mean']:.3f}, a tenth below {window['p10']:.3f}"


def _worst(flows: Sequence[tuple[str, float]]) -> set[str]:
    return {flow for flow, _ in sorted(flows, key=lambda pair: pair[1])[:MOST_FLOWS]}


def _left_out(flows: int, out: rich.console.Console) -> None:
    if flows > MOST_FLOWS:
        out.print(f"[dim]the {MOST_FLOWS} worst of {flows} flows; all of them with --json[/dim]")

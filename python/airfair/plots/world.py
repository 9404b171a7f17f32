"""The map of a network: pairs of nodes that decode or only sense each other, wired links, routes of flows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .._core import Scenario
from ..arguments import as_type, unsuitable
from ..experiment import network as network_of
from ..optimal.model import Optimum, binding_cliques
from ..quantities import plural
from ..results import Network, Route, RunResult, always
from . import arrows, style
from .arrows import Bundle
from .layout import fill_in, spread

NAMED = 48
"""More nodes than these have no names in the map."""

GATEWAY = "#f0e442"
"""The colour of the star on a node at which several flows begin or end."""

NAMED_GATEWAYS = 8
"""Most gateways with a name in a map whose nodes have none."""

SENSED = 1500
"""More relations of carrier sense than these are counted in the legend instead of drawn."""

FLOORS = 12
"""Nodes on up to so many different heights are drawn floor by floor; more heights are a landscape."""

FLATTEST = 0.3
"""Least ratio of a map's sides."""

FAR, FEW = 2.5, 0.02
"""The map leaves out this share (`FEW`) of many nodes at either side if it would be `FAR` times as large
with them."""

RESULT_EXPECTED = "the result of airfair.run"
OPTIMUM_EXPECTED = "the result of airfair.optimum"
OF_OPTIMUM = {"flows", "links", "cliques"}
EXPECTED = "a Scenario, or a result of airfair.network"

REQUIRED = set(always(Network))
"""Keys of a network."""

Lines = list[tuple[int, int]]


@dataclass(frozen=True)
class Relations:
    """Pairs of nodes by their strongest relation: indices, the smaller first unless it has a direction."""

    both: Lines
    """Each can decode the other's data frames."""
    one_way: Lines
    """The second can decode the first, not the other way."""
    sensed: Lines
    """One or both only sense the other."""
    wired: Lines


def relations(of: Network) -> Relations:
    """The relations of a network's nodes, whichever of their radios they are of."""
    place = {node["id"]: i for i, node in enumerate(of["nodes"])}
    node = [place[radio["node"]] for radio in of["radios"]]
    receives: dict[tuple[int, int], bool] = defaultdict(bool)
    for pair in of["pairs"]:
        receives[node[pair["sender"]], node[pair["hearer"]]] |= pair["receives"]
    both, one_way, sensed = [], [], []
    for (a, b), heard in receives.items():
        back = receives.get((b, a), False)
        if heard and back and a < b:
            both.append((a, b))
        elif heard and not back:
            one_way.append((a, b))
        elif not heard and not back and (a < b or (b, a) not in receives):
            sensed.append((min(a, b), max(a, b)))
    ends = [(place[link["ends"][0]], place[link["ends"][1]]) for link in of["links"]]
    return Relations(both, one_way, sensed, [(min(a, b), max(a, b)) for a, b in ends])


def network(
    source: Scenario | Network,
    *,
    seed: int = 1,
    result: RunResult | None = None,
    optimum: Optimum | None = None,
    ax: Axes | None = None,
) -> Figure:
    """The map of a network: nodes, pairs that decode or only sense each other, wired links, routes of flows.

    Nodes without a position are drawn near those that they hear. `seed` matters where propagation has
    shadowing. Nodes of several heights, such as the floors of a building, are drawn floor by floor. A node
    that moves is drawn where it begins, with its way; all else is as it is then.

    A protocol finds routes during a run: with the `result` of one they are those of its end
    (`results.RouteOfFlow`).

    With the `optimum` of the scenario (`airfair.optimum`) the map has, in place of the routes, the links of
    the cliques that bind flows.
    """
    if isinstance(source, Scenario):
        of = network_of(source, seed=seed)
    else:
        of = as_type("source", source, dict, EXPECTED)
        if not of.keys() >= REQUIRED:
            raise unsuitable("source", source, EXPECTED)
    if result is not None:
        if "flows" not in as_type("result", result, dict, RESULT_EXPECTED):
            raise unsuitable("result", result, RESULT_EXPECTED)
        of = with_routes(of, result)
    if optimum is not None and not as_type("optimum", optimum, dict, OPTIMUM_EXPECTED).keys() >= OF_OPTIMUM:
        raise unsuitable("optimum", optimum, OPTIMUM_EXPECTED)
    name = source.name if isinstance(source, Scenario) else ""
    found = relations(of)
    places, plan = positions(of, found)
    levels = _levels(of, places) if not plan else {}
    ways = _ways(of) if plan else []
    low, high = _window(places)
    rim = 0.04 * (high - low)
    for way in ways:
        low, high = np.minimum(low, way.min(axis=0) - rim), np.maximum(high, way.max(axis=0) + rim)
    shape = float(np.clip((high - low)[1] / (high - low)[0], FLATTEST, 1.25))
    with style.canvas(ax, name, height=style.WIDTH * 0.9 * shape + 0.6) as axes:
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        _lines(axes, places, found)
        if ways:
            axes.add_collection(
                LineCollection(
                    ways,
                    colors=style.COLOURS[5],
                    linewidths=5.0,
                    alpha=0.5,
                    zorder=0.5,
                    label="moves",
                    rasterized=sum(map(len, ways)) > 2000,
                )
            )
        drawn = _routes(axes, places, of, result) if optimum is None else _cliques(axes, places, of, optimum)
        _nodes(axes, places, of, drawn)
        for height, y in levels.items():
            axes.annotate(
                f"z {height:g} m",
                (0, y),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="center",
                rotation=90,
                fontsize=9,
            )
        axes.set_aspect("equal", adjustable="box")
        axes.grid(visible=False)
        if plan:
            axes.set_xlabel("x (m)")
            axes.set_ylabel("y (m)")
            axes.xaxis.set_major_locator(MaxNLocator(6))
            axes.yaxis.set_major_locator(MaxNLocator(5))
        else:
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[:].set_visible(False)
        outside = int(((places < low) | (places > high)).any(axis=1).sum())
        if outside:
            axes.plot(
                [], [], linestyle="none", label=f"{outside:,} {'node' if outside == 1 else 'nodes'} outside"
            )
        style.legend(axes, below=36 if plan else 8)
        return style.figure_of(axes)


def _ways(of: Network) -> list[np.ndarray]:
    """Seen from above, the way of each node that moves, from where it begins."""
    return [
        np.array([node["position_m"][:2], *(corner[1:3] for corner in node["path"])], float)
        for node in of["nodes"]
        if node["path"] and node["position_m"]
    ]


def positions(of: Network, found: Relations) -> tuple[np.ndarray, bool]:
    """The positions of nodes in the drawing, shape (n, 2), and whether these are metres."""
    given = np.array([node["position_m"] or (np.nan,) * 3 for node in of["nodes"]], float).reshape(-1, 3)
    known = ~np.isnan(given[:, 0])
    edges = sorted({(min(a, b), max(a, b)) for a, b in [*found.both, *found.one_way, *found.wired]})
    if not known.any():
        return spread(len(given), edges), False
    plane = _floors(given)
    if known.all():
        return plane, len(np.unique(given[:, 2])) == 1
    return fill_in(plane, edges), False


def _floors(given: np.ndarray) -> np.ndarray:
    """Seen from above; floors of a building one above the other."""
    heights = np.unique(given[~np.isnan(given[:, 2]), 2])
    plane = given[:, :2].copy()
    if 1 < len(heights) <= FLOORS and len(given) >= 2 * len(heights):
        depth = np.nanmax(plane[:, 1]) - np.nanmin(plane[:, 1])
        level = np.searchsorted(heights, np.nan_to_num(given[:, 2], nan=heights[0]))
        plane[:, 1] += level * 1.35 * (depth or np.ptp(plane[:, 0]) or 1.0)
    return plane


def _levels(of: Network, places: np.ndarray) -> dict[float, float]:
    """The heights of a building's floors, and where each is in the drawing."""
    given = [
        (node["position_m"][2], y)
        for node, (_, y) in zip(of["nodes"], places, strict=True)
        if node["position_m"]
    ]
    heights = sorted({z for z, _ in given})
    if not 1 < len(heights) <= FLOORS:
        return {}
    return {height: float(np.mean([y for z, y in given if z == height])) for height in heights}


def _window(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of what is shown: all nodes but a few far away that would shrink the others to a dot."""
    low, high = places.min(axis=0), places.max(axis=0)
    if len(places) > NAMED:
        first = np.quantile(places, FEW, axis=0, method="higher")
        last = np.quantile(places, 1 - FEW, axis=0, method="lower")
        rim = 0.3 * (last - first)
        near = np.maximum(low, first - rim), np.minimum(high, last + rim)
        if (high - low).max() > FAR * (near[1] - near[0]).max():
            low, high = near
    # Nodes in a row still have room for their names above and below.
    middle, half = (low + high) / 2, (high - low) / 2
    half = half + (0.16 * half.max() or 1.0)
    half = np.maximum(half, FLATTEST * half[::-1])
    return middle - half, middle + half


def _lines(axes: Axes, places: np.ndarray, found: Relations) -> None:
    """Sensed below decoded below wired; thinner where there are many."""
    thin = float(np.clip((70 / max(1, len(found.both))) ** 0.5, 0.25, 1.0))
    if len(found.sensed) > SENSED:
        axes.plot([], [], linestyle="none", label=f"{len(found.sensed):,} sensed, not drawn")
    elif found.sensed:
        light = float(np.clip((60 / len(found.sensed)) ** 0.5, 0.45, 1.0))
        curved = len(found.sensed) <= 200
        lines = [_bow(places[a], places[b]) if curved else places[[a, b]] for a, b in found.sensed]
        axes.add_collection(
            LineCollection(
                lines,
                colors="#b5b5b5",
                linewidths=1.0 * light,
                linestyles=(0, (2, 2)),
                zorder=1,
                label="senses",
                rasterized=len(lines) > 400,
            )
        )
    for pairs, look, label in (
        (found.both, "-", "decodes"),
        (found.one_way, "-.", "decodes, one way"),
    ):
        if pairs:
            lines = [places[[a, b]] for a, b in pairs]
            axes.add_collection(
                LineCollection(
                    lines,
                    colors="#5c5c5c",
                    linewidths=1.3 * thin,
                    linestyles=look,
                    zorder=2,
                    label=label,
                    rasterized=len(lines) > 2000,
                )
            )
    if found.wired:
        lines = [places[[a, b]] for a, b in found.wired]
        many = len(lines) > NAMED
        axes.add_collection(
            LineCollection(
                lines,
                colors="#8c6bb1" if many else style.INK,
                linewidths=float(np.clip(40 / len(lines), 0.25, 3.2)),
                zorder=1.5 if many else 3,
                label="wired",
            )
        )


def _bow(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A slight bow from a to b: it does not hide behind the nodes that lie between."""
    t = np.linspace(0, 1, 13)[:, None]
    across = np.array([a[1] - b[1], b[0] - a[0]])
    bow: np.ndarray = a + t * (b - a) + 0.3 * t * (1 - t) * across
    return bow


def with_routes(of: Network, result: RunResult) -> Network:
    """The network with the routes of flows at the end of a run, where a proactive protocol has found them."""
    if "routing" not in result:
        return of
    paths = {flow["id"]: flow["path"] for flow in result["routing"]["flows"]}
    routes: list[Route] = [{**flow, "path": paths.get(flow["id"])} for flow in of["flows"]]
    return {**of, "flows": routes}


def without_route(of: Network, result: RunResult | None = None) -> str:
    """Words for a flow of a network that has no route."""
    if "routing" not in of:
        return "no route"
    if result is not None and "routing" in result:
        return "no route at the end"
    return f"route found by {of['routing']} in a run"


def _routes(axes: Axes, places: np.ndarray, of: Network, result: RunResult | None) -> np.ndarray:
    """An arrow for each hop of each flow, in the flow's colour; of many flows all in one.

    Returns for each node on which side of it arrows lie, shape (n, 2).
    """
    place = {node["id"]: i for i, node in enumerate(of["nodes"])}
    routes = [[place[node] for node in flow["path"] or []] for flow in of["flows"]]
    hops = [list(pairwise(route)) for route in routes]
    if len(routes) > style.MOST:
        counts = Counter(hop for route in hops for hop in route)
        most = max(counts.values(), default=1)
        axes.add_collection(
            LineCollection(
                [places[[a, b]] for a, b in counts],
                colors=style.COLOURS[1],
                alpha=0.75,
                zorder=4,
                linewidths=[1.0 + 2.5 * count / most for count in counts.values()],
                label=f"routes of {len(routes):,} {plural(len(routes), 'flow')}",
            )
        )
        return np.zeros_like(places)
    bundles = []
    for look, flow, route in zip(style.looks(range(len(routes))), of["flows"], hops, strict=True):
        words = flow["id"] if flow["id"].lower().startswith("flow") else f"flow {flow['id']}"
        words = words if route else f"{words}: {without_route(of, result)}"
        bundles.append(Bundle(look, words, route))
    small = len(places) <= NAMED
    return arrows.draw(axes, places, bundles, step=_step(places), gap=6 if small else 2, last_only=not small)


def _cliques(axes: Axes, places: np.ndarray, of: Network, optimum: Optimum) -> np.ndarray:
    """An arrow for each link of each clique that binds a flow, in the clique's colour; of many cliques those
    of the flows with the least rates. Returns the same as `_routes`."""
    place = {node["id"]: i for i, node in enumerate(of["nodes"])}
    # A station has the name of its node, or, if it is not the first of the node, both names.
    station = {f"{radio['node']}/{radio['radio']}": place[radio["node"]] for radio in of["radios"]} | place
    links = [(station[link["src"]], station[link["dst"]]) for link in optimum["links"]]
    binding = binding_cliques(optimum)
    shown = binding[: style.MOST]
    bundles = [
        Bundle(look, f"clique {clique}", [links[link] for link in optimum["cliques"][clique]["links"]])
        for look, clique in zip(style.looks(range(len(shown))), shown, strict=True)
    ]
    if len(places) <= NAMED:
        beside = arrows.draw(axes, places, bundles, step=_step(places), gap=6)
    else:
        beside = arrows.draw(axes, places, bundles, step=1.5 * _step(places), gap=2, width=1.2)
    more = len(binding) - len(shown)
    if more:
        axes.plot([], [], linestyle="none", label=f"{more:,} more {plural(more, 'clique')}, not drawn")
    return beside


def _step(places: np.ndarray) -> float:
    """The distance between arrows beside each other."""
    part = 0.012 if len(places) <= NAMED else 0.004
    return part * float(max(*np.subtract(*reversed(_window(places))), 1e-9))


def _nodes(axes: Axes, places: np.ndarray, of: Network, beside: np.ndarray) -> None:
    count = len(places)
    radio = {r["node"] for r in of["radios"]}
    ends = {node for flow in of["flows"] for node in (flow["src"], flow["dst"])}
    gateways = gateways_of(of)
    named = count <= NAMED
    size = 60 if named else float(np.clip(6000 / count, 2, 40))
    for shape, wanted in (("o", True), ("s", False)):
        here = [i for i, node in enumerate(of["nodes"]) if (node["id"] in radio) == wanted]
        fills = [style.INK if of["nodes"][i]["id"] in ends else "white" for i in here]
        axes.scatter(
            places[here, 0],
            places[here, 1],
            s=size,
            marker=shape,
            color=fills,
            edgecolors=style.INK,
            linewidths=1.0 if named else 0.4,
            zorder=5,
        )
    _gateways(axes, places, of, gateways, size)
    if not named:
        return
    middle = (places[:, 1].min() + places[:, 1].max()) / 2
    for node, side, (x, y) in zip(of["nodes"], beside, places, strict=True):
        # Where no arrows are; else on the outer side, where fewer lines pass.
        up = side[1] < 0 if abs(side[1]) > abs(side[0]) else y >= middle
        axes.annotate(
            node["id"],
            (x, y),
            xytext=(0, 6 if up else -6),
            textcoords="offset points",
            ha="center",
            va="bottom" if up else "top",
            fontsize=9 if count <= 24 else 7,
            zorder=6,
            annotation_clip=False,
            bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
        )


def gateways_of(of: Network) -> list[str]:
    """Nodes at which flows from or to several other nodes begin or end, the most flows first: gateways of a
    mesh, an access point. None where all nodes are like this."""
    peers: dict[str, set[str]] = {}
    for flow in of["flows"]:
        peers.setdefault(flow["src"], set()).add(flow["dst"])
        peers.setdefault(flow["dst"], set()).add(flow["src"])
    several = {node: len(others) for node, others in peers.items() if len(others) > 1}
    if len(several) == len(peers):
        return []
    return sorted(several, key=lambda node: (-several[node], node))


def _gateways(axes: Axes, places: np.ndarray, of: Network, gateways: list[str], size: float) -> None:
    """A star on each gateway; in a map without names those of the first ones."""
    place = {node["id"]: i for i, node in enumerate(of["nodes"])}
    here = [place[node] for node in gateways]
    if not here:
        return
    axes.scatter(
        places[here, 0],
        places[here, 1],
        s=max(3.5 * size, 60.0),
        marker="*",
        color=GATEWAY,
        edgecolors=style.INK,
        linewidths=0.6,
        zorder=5.5,
        label="several flows meet here" if len(here) == 1 else "several flows meet at each",
    )
    if len(places) > NAMED:
        for node in gateways[:NAMED_GATEWAYS]:
            axes.annotate(
                node,
                places[place[node]],
                xytext=(0, 8),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=8,
                zorder=6,
                bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
            )


__all__: Sequence[str] = [
    "Relations",
    "network",
    "positions",
    "relations",
    "with_routes",
    "without_route",
]

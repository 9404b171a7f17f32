"""A one-hop TCP flow starves a two-hop flow at a mesh gateway; the cure of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from airfair import RunResult, Scenario

from ..queueing import Mean
from ..report import Context, Figure, Row, Series, Style, holds, inside, within
from ..runs import SCENARIOS, mean_of, run_all, seeds

TITLE = "The gateway's neighbour"
ABOUT = """
`scenarios/gateway.toml`: A is next to the gateway G, B two hops away behind A, both send to G. B and G do
not sense each other, so B's long frames collide with the acknowledgements that G sends to A. The one-hop
flow loses an acknowledgement, which the next one replaces; the two-hop flow loses a window.

The cure of the paper acts on one node only: the least contention window of A, the gateway's neighbour, is
raised, so that the air between two of A's frames is long enough for B's. This costs the one-hop flow
goodput, and the two-hop flow no longer starves. It cannot have more than half of the other's goodput: A is
now the bottleneck, and a segment of B's waits in A's queue twice, once itself and once as its
acknowledgement on the way back. With equal windows (`window_limit = "20 segments"`) ten of the twenty wait
as segments and ten as acknowledgements beside twenty of A's own: 1 to 2. Without that limit the longer
round trip makes the window grow more slowly too, and the share is a little lower.

With `backpressure = true` (a full queue holds a local source back instead of dropping), `local_limit =
"off"` and no limit of the window, no contention window helps: A's own flow never loses a segment, its
window grows until the queue is always full, and B's packets are dropped there. With the limit of today's
hosts (`local_limit`) A's flow holds a few of the queue's places, and the cure of the paper works.
"""

SECTION = "gateway"
PAPER = (
    'Shi, Gurewitz, Mancuso, Camp, Knightly, "Measurement and Modeling of the Origins of Starvation in '
    'Congestion Controlled Mesh Networks", INFOCOM 2008'
)
WINDOWS = (31, 63, 127, 255, 511, 1023)
SEEDS = 20


def scenario(cw_min: int, overrides: Sequence[str]) -> Scenario:
    """The file with another least contention window for A."""
    text = (SCENARIOS / "gateway.toml").read_text(encoding="utf-8")
    for commented, written in (
        ("# [radios.near]", "[radios.near]"),
        ("# cw_min = 255", f"cw_min = {cw_min}"),
        ('# radios = ["near"]', 'radios = ["near"]'),
    ):
        if text.count(commented) != 1:
            raise ValueError(f"gateway.toml: {commented!r} is not there once")
        text = text.replace(commented, written)
    return Scenario.parse(text, "gateway", overrides)


def rows(context: Context) -> Iterable[Row]:
    """The flows over the contention window of the gateway's neighbour."""
    count = 5 if context.quick else SEEDS
    variants: dict[str, list[str]] = {
        "no limit": [],
        "20 segments": ['tcp.window_limit="20 segments"'],
        "backpressure": ["radio.backpressure=true", 'radio.local_limit="off"'],
        "limited": ["radio.backpressure=true"],
    }
    measured = {
        name: [_pair(context, scenario(window, overrides), count) for window in WINDOWS]
        for name, overrides in variants.items()
    }
    usual = measured["no limit"]
    yield inside(
        SECTION,
        "CWmin 31: the two-hop flow's goodput over the one-hop flow's",
        PAPER,
        low=0.0,
        high=0.10,
        measured=_ratio(usual[0]),
    )
    best = max(range(len(WINDOWS)), key=lambda i: _ratio(usual[i]))
    yield inside(
        SECTION,
        f"CWmin {WINDOWS[best]} at A, the best of the sweep: two-hop over one-hop",
        f"{PAPER}; at most 1/2, less what the longer round trip costs",
        low=0.4,
        high=1.0,
        measured=_ratio(usual[best]),
    )
    yield within(
        SECTION,
        "CWmin 511 at A, equal windows of 20 segments: two-hop over one-hop",
        "by hand: ten segments and ten acknowledgements beside twenty segments in A's queue",
        expected=0.5,
        measured=_ratio(measured["20 segments"][WINDOWS.index(511)]),
        relative=0.05,
    )
    stuck = [two.mean for _, two in measured["backpressure"]]
    yield holds(
        SECTION,
        "the same sweep with backpressure and no local limit: the two-hop flow, kbit/s",
        "no outside source: our own runs",
        expected="below 10 at each window",
        measured=", ".join(f"{mean:.1f}" for mean in stuck),
        ok=max(stuck) < 10,
    )
    yield inside(
        SECTION,
        "with backpressure and the local limit, CWmin 127 at A: two-hop over one-hop",
        "no outside source: our own runs",
        low=1.0,
        high=10.0,
        measured=_ratio(measured["limited"][WINDOWS.index(127)]),
    )
    series = []
    for name in ("no limit", "20 segments"):
        for flow, label in enumerate(("one hop", "two hops")):
            means = [pair[flow] for pair in measured[name]]
            limit = "no window limit" if name == "no limit" else f"window limit {name}"
            style: Style = "line" if name == "no limit" else "dashed"
            series.append(Series.of_means(f"{label}, {limit}", WINDOWS, means, style))
    context.figure(
        Figure(
            SECTION,
            "windows",
            "Both flows over the least contention window of the gateway's neighbour; 99 % intervals.",
            "CWmin of A",
            "goodput, kbit/s",
            series,
        )
    )


def _pair(context: Context, cell: Scenario, count: int) -> tuple[Mean, Mean]:
    results: list[RunResult] = run_all(context, [(cell, seed) for seed in seeds(context, count)])
    one, two = ([result["flows"][i]["goodput_bps"] / 1e3 for result in results] for i in (0, 1))
    return mean_of(one), mean_of(two)


def _ratio(pair: tuple[Mean, Mean]) -> float:
    return pair[1].mean / pair[0].mean

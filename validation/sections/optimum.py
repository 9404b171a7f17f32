"""The model of `airfair optimum` against a search in the simulator, and against saturated chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import airfair
from airfair import Scenario
from airfair.optimal.search import Found, Setting, as_constant, search_optimum

from ..report import Context, Figure, Row, Series, holds, inside, within
from ..runs import SCENARIOS, parallel, seeds

TITLE = "The optimum"
ABOUT = """
`airfair optimum` computes max-min fair rates from pairs of links that conflict, without a run; `--search`
finds them in the simulator, in steps of 2 %, with sources over UDP whose gaps are random and which send more
where packets are lost. Both are compared
in the three scenes of C3L's figure 8 (802.11b at 2 Mbit/s with RTS/CTS, 1000 B, 250 m reception, 375 m
sense), in the far form of its figure 5, and in the hidden terminal, the exposed terminal and the three pairs
of `scenarios/`: the least rate, within 10 %, and within 5 % where no link is inhibited.

Where one is, its inhibitors' air time counts W times (C3L, section III-D): 1.38 where a handshake of the
inhibited link stops the inhibitor, else 1.75, as measured in the scenes of figure 5. Without the factor the
model is 11 to 39 % too high there.

**Known deviation**: three pairs, by 5 to 10 %, although no link is inhibited. The outer pairs do not hear
each other, and the middle one finds the air idle only while both are silent, which no clique says. Without
the right pair the model is right within 2 %; that is a row, and the three pairs are judged within 10 %.

Chains: nodes 200 m apart, 250 m reception, 550 m sense, one UDP flow of 1500 B. What the search finds for one
flow is the highest rate that is delivered; saturated sources carry less from five hops on, since the first
hop takes the air of the others. In ns-2's profile, where sensed energy withholds a CTS, four links in a row
share the air; in ns-3's three, since the fourth link answers (see Chains). There, from five hops on, the
model is 12 to 23 % too high for the same reason as with the three pairs; it is judged as a bound.
"""

SECTION = "optimum"
BASE = """
[radio]
standard = "802.11b"
profile = "ns-2"
data_rate = "2 Mbit/s"
basic_rates = ["1 Mbit/s"]
rts_threshold = "0 B"
tx_power = "24.5 dBm"
queue_packets = 50
propagation = { model = "two-ray", frequency = "914 MHz", range = "250 m", carrier_sense = "375 m" }
[headers]
udp = "0 B"
ip = "60 B"
llc = "0 B"
mac = "28 B"
"""
HOPS = range(1, 9)
JUDGED_HOPS = {"ns-2": 8, "ns-3": 4}
"""Hops up to which the model is judged, by profile; beyond them it is a bound."""
BOUND = 1.3
"""Of the model over the search there."""
SEARCH = "search in the simulator"


@dataclass(frozen=True)
class Scene:
    """A scene with flows over UDP."""

    name: str
    scenario: Scenario
    inhibited: bool
    relative: float


def _line(places: dict[str, tuple[float, float]], flows: dict[str, tuple[str, str]]) -> Scenario:
    text = f'name = "figure 8"\nduration = "25 s"\n{BASE}'
    for node, (x, y) in places.items():
        text += f'[[node]]\nid = "{node}"\nposition = ["{x:g} m", "{y:g} m"]\n'
    for flow, (source, destination) in flows.items():
        text += f'[[flow]]\nid = "{flow}"\nfrom = "{source}"\nto = "{destination}"\n'
        text += 'traffic = { kind = "saturating", packet = "1000 B" }\n'
    return Scenario.parse(text, "figure 8")


def scenes() -> list[Scene]:
    """All of them."""
    row = {str(i + 1): (200.0 * i, 0.0) for i in range(4)}
    far = {"1": (0.0, 0.0), "2": (200.0, 0.0), "3": (500.0, 0.0), "4": (700.0, 0.0)}
    hidden, chain = {"F1": ("1", "2"), "F2": ("3", "4")}, {"F1": ("1", "4"), "F2": ("1", "2")}
    star = {"A": (0.0, 0.0), "B1": (100.0, -60.0), "B2": (120.0, 0.0), "B3": (100.0, 60.0)}
    star |= {"C": (0.0, 150.0), "D": (120.0, 150.0)}
    fans = {f"F{i}": ("A", f"B{i}") for i in (1, 2, 3)} | {"F4": ("C", "D")}
    pairs = Scenario.read(SCENARIOS / "three-pairs.toml")
    two = pairs.to_dict()
    two["flow"] = [flow for flow in two["flow"] if flow["id"] != "right"]
    return [
        Scene("figure 8a, hidden sender", _line(row, hidden), True, 0.1),
        Scene("figure 5, far inhibitor", _line(far, hidden), True, 0.1),
        Scene("figure 8b, three hops and one", _line(row, chain), True, 0.1),
        Scene("figure 8c, one channel", _line(star, fans), False, 0.05),
        Scene("hidden terminal", Scenario.read(SCENARIOS / "hidden-terminal.toml"), True, 0.1),
        Scene("exposed terminal", Scenario.read(SCENARIOS / "exposed-terminal.toml"), True, 0.1),
        Scene("three pairs", pairs, False, 0.1),
        Scene("three pairs, the left and the middle one", Scenario.from_dict(two), False, 0.05),
    ]


def _setting(context: Context) -> Setting:
    return Setting(seeds=seeds(context, 2 if context.quick else 4), measured_s=20 if context.quick else 40)


def chain(profile: str, hops: int) -> Scenario:
    """A chain with one saturated flow."""
    radio = BASE.replace('"ns-2"', f'"{profile}"').replace("375 m", "550 m")
    return Scenario.parse(
        f'name = "chain"\nduration = "60 s"\nwarmup = "10 s"\n{radio}'
        f'[nodes]\nkind = "chain"\ncount = {hops + 1}\nspacing = "200 m"\n'
        f'[[flow]]\nid = "f"\nfrom = "0"\nto = "{hops}"\n'
        'traffic = { kind = "saturating", packet = "1500 B" }\n',
        f"chain of {hops} hops",
    )


def rows(context: Context) -> Iterable[Row]:
    """Scene by scene, then the chains."""
    every = scenes()
    setting = _setting(context)
    found = parallel(context, lambda scene: search_optimum(scene.scenario, setting), every)
    for scene, result in zip(every, found, strict=True):
        yield from _against_search(scene, result)
    for profile, judged in JUDGED_HOPS.items():
        yield from _chains(context, setting, profile, judged)


def _against_search(scene: Scene, found: Found) -> Iterator[Row]:
    least = min(flow["max_min_bps"] for flow in found["flows"]) / 1e3
    model = min(flow["model_bps"] for flow in found["flows"]) / 1e3
    yield within(
        SECTION,
        f"{scene.name}: least rate by the model",
        SEARCH,
        expected=least,
        measured=model,
        unit="kbit/s",
        relative=scene.relative,
    )
    differs = any(flow["model_bps"] != flow["model_without_factor_bps"] for flow in found["flows"])
    yield holds(
        SECTION,
        f"{scene.name}: a link is inhibited",
        "geometry",
        expected=str(scene.inhibited),
        measured=str(differs),
        ok=differs == scene.inhibited,
    )


def _chains(context: Context, setting: Setting, profile: str, judged: int) -> Iterator[Row]:
    chains = [chain(profile, hops) for hops in HOPS]
    found = parallel(context, lambda scenario: search_optimum(scenario, setting), chains)
    saturated = parallel(
        context, lambda scenario: airfair.run(as_constant(scenario, {}), seed=1)["flows"][0], chains
    )
    searched = [result["flows"][0]["max_min_bps"] / 1e3 for result in found]
    model = [result["flows"][0]["model_bps"] / 1e3 for result in found]
    full = [flow["goodput_bps"] / 1e3 for flow in saturated]
    for hops, expected, measured in zip(HOPS, searched, model, strict=True):
        name = f"{profile}'s profile, chain of {hops}: rate by the model"
        if hops <= judged:
            yield within(
                SECTION, name, SEARCH, expected=expected, measured=measured, unit="kbit/s", relative=0.1
            )
        else:
            low, high = expected, BOUND * expected
            yield inside(SECTION, name, SEARCH, low=low, high=high, measured=measured, unit="kbit/s")
    places = list(map(float, HOPS))
    context.figure(
        Figure(
            SECTION,
            f"chains-{profile}",
            f"One UDP flow over a chain, {profile}'s profile: the model, the highest rate that is delivered, "
            "and a saturated source",
            "hops",
            "kbit/s",
            [
                Series("model", places, model),
                Series("search", places, searched, "points"),
                Series("saturated", places, full, "points"),
            ],
        )
    )

"""The best rates that the air allows: the command, the search, and what Python gets."""

from __future__ import annotations

import math
from pathlib import Path

import airfair
import pytest
from airfair import InputError, Scenario
from airfair.optimal.model import binding_cliques
from airfair.optimal.search import Setting, as_constant, search_optimum
from airfair.optimal.show import bound_in_words, caution, factors_in_words, link_name

from tests.support import SCENARIOS, SHORT, THREE_PAIRS, json_of
from tests.support import airfair as command

HIDDEN = SCENARIOS / "hidden-terminal.toml"
INHIBITED = """
name = "inhibited"
duration = "25 s"
[radio]
standard = "802.11b"
data_rate = "2 Mbit/s"
basic_rates = ["1 Mbit/s"]
rts_threshold = "0 B"
tx_power = "24.5 dBm"
propagation = { model = "two-ray", frequency = "914 MHz", range = "250 m", carrier_sense = "375 m" }
[nodes]
kind = "chain"
count = 4
spacing = "200 m"
[[flow]]
id = "inhibited"
from = "0"
to = "1"
traffic = { kind = "saturating", packet = "1000 B" }
[[flow]]
id = "inhibitor"
from = "2"
to = "3"
traffic = { kind = "saturating", packet = "1000 B" }
"""
"""Node 0 does not hear node 2, whose frames keep node 1 from hearing node 0."""


def test_three_pairs_share_two_cliques() -> None:
    """The middle pair hears both others, which do not hear each other."""
    best = airfair.optimum(THREE_PAIRS)
    names = [{link_name(best, link) for link in clique["links"]} for clique in best["cliques"]]
    left, middle, right = ({f"a{i} → b{i}", f"b{i} → a{i}"} for i in (1, 2, 3))
    assert names == [left | middle, middle | right]
    assert best["complete"]
    assert best["inhibitions"] == []
    rates = [flow["max_min_bps"] for flow in best["flows"]]
    assert rates == pytest.approx([rates[0]] * 3)
    shares = [flow["proportional_bps"] or math.nan for flow in best["flows"]]
    # Two thirds and one third of the air.
    assert shares[0] == pytest.approx(2 * shares[1], rel=1e-6)
    assert shares[0] + shares[1] == pytest.approx(2 * rates[0], rel=1e-6)
    assert binding_cliques(best) == [0, 1]
    assert bound_in_words(best, best["flows"][2]["bound"]) == "clique 1"


def test_an_inhibitor_counts_with_its_factor() -> None:
    """Both links inhibit each other: C/2 without, C/(1 + W) with the factor."""
    best = airfair.optimum(HIDDEN, factor=2.0)
    for flow in best["flows"]:
        assert flow["max_min_bps"] == pytest.approx(flow["without_factor"]["max_min_bps"] * 2 / 3)
        assert flow["bound"]["inhibited_link"] is not None
        assert flow["without_factor"]["bound"]["inhibited_link"] is None
    assert [inhibition["factor"] for inhibition in best["inhibitions"]] == [2.0, 2.0]


def test_a_flow_that_has_stopped_takes_no_air() -> None:
    """As `explain` advises to remove a competitor."""
    best = airfair.optimum(THREE_PAIRS, overrides='flow.right.stop="1 us"')
    assert best["inactive"] == ["right"]
    assert [clique["links"] for clique in best["cliques"]] == [[0, 1, 2, 3]]
    assert [flow["id"] for flow in best["flows"]] == ["left", "middle"]


def test_a_wire_binds() -> None:
    """Four flows share 10 Mbit/s; 1000 B of payload are 1040 B on it."""
    best = airfair.optimum(SCENARIOS / "dumbbell.toml")
    assert {bound_in_words(best, flow["bound"]) for flow in best["flows"]} == {"the wire left → right"}


def test_hidden_senders_without_rts_are_named(tmp_path: Path) -> None:
    """There the model is a bound: on the terminal, beside a comparison and in its report."""
    file = tmp_path / "hidden.toml"
    file.write_text(INHIBITED.replace('rts_threshold = "0 B"', 'rts_threshold = "2347 B"'))
    told = "1 inhibited link sends without RTS"
    assert told in command("optimum", file).stdout
    report = tmp_path / "x.html"
    done = command("compare", file, "--seeds", "1", *SHORT, "--optimum", "--report", report)
    assert f"warning: {told}" in done.stderr
    assert told in report.read_text()
    assert caution(airfair.optimum(HIDDEN)) is None, "with RTS"


def test_as_many_cliques_as_wanted() -> None:
    """With fewer, the least rate is an upper bound."""
    path = SCENARIOS / "grid-64-tcp.toml"
    every, some = airfair.optimum(path), airfair.optimum(path, clique_limit=10)
    assert (every["complete"], some["complete"]) == (True, False)
    assert len(some["cliques"]) < len(every["cliques"])

    def least(best: airfair.Optimum) -> float:
        return min(flow["without_factor"]["max_min_bps"] for flow in best["flows"])

    assert least(some) >= least(every) * (1 - 1e-12)


def test_a_list_beyond_the_limit_can_be_complete() -> None:
    """Cliques that cover the links and conflicts are all cliques."""
    best = airfair.optimum(HIDDEN, clique_limit=0)
    assert (best["complete"], best) == (True, airfair.optimum(HIDDEN))
    assert "more cliques" not in command("optimum", HIDDEN, "--clique-limit", "0").stdout
    some = command("optimum", SCENARIOS / "grid-64-tcp.toml", "--clique-limit", "0").stdout
    assert "There are more cliques than these" in some.replace("\n", " ")


def test_hidden_senders_without_rts_have_a_factor_of_their_own() -> None:
    """It follows from their frames; a factor that is given replaces it."""
    best = airfair.optimum(HIDDEN, overrides='radio.rts_threshold="2347 B"')
    near = airfair.optimum(HIDDEN)
    assert [inhibition["factor"] for inhibition in near["inhibitions"]] == [1.38, 1.38]
    # Their receivers hear each other; a sender is too far away from the other receiver to spoil its data.
    assert {inhibition["factor"] for inhibition in best["inhibitions"]} <= {1.38, 1.75}
    text = INHIBITED.replace('from = "2"\nto = "3"', 'from = "2"\nto = "1"').replace(
        'rts_threshold = "0 B"', ""
    )
    spoilt = airfair.optimum(Scenario.parse(text))
    first, second = (inhibition["factor"] for inhibition in spoilt["inhibitions"])
    assert first == pytest.approx(second, rel=0.02)
    assert first == pytest.approx(7.2, rel=0.03)
    given = airfair.optimum(Scenario.parse(text), factor=2.0)
    assert [inhibition["factor"] for inhibition in given["inhibitions"]] == [2.0, 2.0]


def test_factors_are_named() -> None:
    assert factors_in_words([1.75, 1.38, 1.38]) == "1.38 or 1.75"
    assert factors_in_words([7.141, 7.139]) == "7.14"
    assert factors_in_words([1.38, 7.141, 1.75]) == "1.38 to 7.14"


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("drive-by.toml", "nodes move"),
        ("varying-links.toml", "gains vary"),
    ],
)
def test_what_is_not_modelled(scenario: str, reason: str) -> None:
    """It is an error that says so."""
    with pytest.raises(InputError, match=reason):
        airfair.optimum(SCENARIOS / scenario)


def test_factors_out_of_range() -> None:
    with pytest.raises(InputError, match=r"factor: 0\.5; expected a number from 1 to 100"):
        airfair.optimum(THREE_PAIRS, factor=0.5)


def test_the_search_finds_what_the_network_delivers() -> None:
    """The least goodput is that of the rates found, and falls beyond them."""
    scene = Scenario.parse(INHIBITED)
    found = search_optimum(scene, Setting(seeds=(1,), measured_s=20))
    rates = {flow["id"]: flow["max_min_bps"] for flow in found["flows"]}

    def least(factor: float) -> float:
        offered = {flow: factor * rate for flow, rate in rates.items()}
        tried = as_constant(scene, offered).edited({"duration": "45 s", "warmup": "5 s"})
        return min(flow["goodput_bps"] for flow in airfair.run(tried, seed=2)["flows"])

    assert least(1.0) > 0.96 * min(rates.values())
    assert least(1.15) < 0.9 * min(rates.values())
    for flow in found["flows"]:
        assert flow["max_min_bps"] == pytest.approx(flow["model_bps"], rel=0.1)


def test_the_search_has_a_limit() -> None:
    with pytest.raises(InputError, match="1 to 4 flows; the scenario has 12"):
        search_optimum(Scenario.read(SCENARIOS / "access-point.toml"))


def test_the_order_of_the_file_changes_nothing() -> None:
    """Blocks of nodes and flows turned round: the same bytes."""
    document = Scenario.parse(Scenario.read(SCENARIOS / "grid-64-tcp.toml").resolved).to_dict()
    before = Scenario.from_dict(document).optimum()
    document["node"].reverse()
    document["flow"].reverse()
    assert Scenario.from_dict(document).optimum() == before


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 80 columns no line is longer."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = command("optimum", HIDDEN).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "max-min, W = 1" in shown
    assert "Inhibited links: 1 → 2, 4 → 3" in shown.replace("\n", " ")
    assert json_of("optimum", HIDDEN) == airfair.optimum(HIDDEN)
    one = command("optimum", HIDDEN, "--set", 'flow.right.stop="1 us"').stdout
    assert "1 clique of 1 link, 0 pairs that conflict" in one
    refused = command("optimum", HIDDEN, "--factor", "nan")
    assert (refused.returncode, "nan is not in the range 1<=x<=100" in refused.stderr) == (2, True)
    refused = command("optimum", HIDDEN, "--search", "--factor", "2")
    assert (refused.returncode, "--search has no --factor" in refused.stderr) == (2, True)

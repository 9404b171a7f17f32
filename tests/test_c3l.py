"""C3L from Python: what a controller and nodes give a flow, who inhibits whom, what control packets cost."""

from __future__ import annotations

import io

import airfair
import pytest
from airfair import Scenario, tables
from airfair.explaining import show
from airfair.explaining.result import Explanation, sent_part
from airfair.results import InhibitedLink
from rich.console import Console

BASE = """
name = "inhibited"
scheme = "c3l"
duration = "100 s"
warmup = "60 s"

[radio]
standard = "802.11b"
profile = "ns-2"
data_rate = "2 Mbit/s"
basic_rates = ["1 Mbit/s"]
rts_threshold = "0 B"
queue_packets = 50
propagation = { model = "two-ray", range = "250 m", carrier_sense = "375 m" }

[headers]
udp = "0 B"
ip = "20 B"
llc = "0 B"
mac = "28 B"
"""


def line(*places: int, flows: tuple[tuple[str, str], ...] = (("1", "2"), ("3", "4")), end: str = "") -> str:
    """Nodes 1, 2, ... on a line, at these places in metres, and saturating flows F1, F2, ..."""
    nodes = [
        f'[[node]]\nid = "{number}"\nposition = ["{place} m", "0 m"]\n'
        for number, place in enumerate(places, 1)
    ]
    sources = [
        f'[[flow]]\nid = "F{number}"\nfrom = "{src}"\nto = "{dst}"\ntransport = "udp"\n'
        'traffic = { kind = "saturating", packet = "1000 B" }\n'
        for number, (src, dst) in enumerate(flows, 1)
    ]
    return "\n".join([BASE, end, *nodes, *sources])


def explained(text: str, flow: str, *, scheme: str = "c3l") -> Explanation:
    return airfair.explain(Scenario.parse(text, "c3l"), flow=flow, scheme=scheme)


def printed(told: Explanation) -> str:
    out = Console(file=io.StringIO(), width=200)
    show.show(told, out)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_the_clique_that_holds_a_flow_is_named() -> None:
    told = explained(line(0, 200, 400, 600), "F1")
    allocation = told["allocation"]
    limit = allocation["limits"][0]
    assert [(link["src"], link["dst"]) for link in limit["links"]] == [("1", "2"), ("3", "4")]
    assert 0.5 < limit["capacity"] < 1
    assert any((link["src"], link["dst"]) == ("1", "2") for link in limit["overloaded"])
    (share,) = allocation["shares"]
    assert (share["src"], share["dst"], share["part"], share["smallest"]) == ("1", "2", 1, 1)
    assert share["allocated"] == 1
    # Both are the same rate, but for the time until an allocation arrives, and the node's own factor.
    assert share["share_bps"] == pytest.approx(limit["rate_bps"] * share["scale"], rel=0.05)
    sent = sent_part(told)
    assert sent is not None
    assert 0.9 < sent < 1.05
    text = printed(told)
    assert "clique of 1 to 2 and 3 to 4" in text
    assert "its source sends" in text
    assert any(reason.startswith("The smallest share of its path") for reason in told["reasons"])


def test_the_node_that_stamps_the_smallest_share_is_named() -> None:
    # The flow of three hops meets two others at its second node only, where one node's time serves all.
    text = line(0, 200, 400, 600, flows=(("1", "4"), ("2", "3"), ("2", "3")))
    told = explained(text, "F1", scheme="c3l-local")
    allocation = told["allocation"]
    assert allocation["limits"] == []
    assert next(share["src"] for share in allocation["shares"]) == "2"
    assert all(share["allocated"] == 0 for share in allocation["shares"])
    assert allocation["smallest_bps"] is not None
    assert "that of 2 (to 3), by its own estimate" in " ".join(told["reasons"])
    assert "Cliques" not in printed(told)


def test_other_schemes_have_no_shares() -> None:
    assert "allocation" not in explained(line(0, 200, 400, 600), "F1", scheme="droptail")


def inhibited(text: str, **params: object) -> list[tuple[str, list[str], list[str]]]:
    given = [f"schemes.c3l.{key}={value}" for key, value in params.items()]
    overrides = ["duration=60 s", "warmup=10 s", *given]
    result = airfair.run(Scenario.parse(text, "c3l", overrides))
    links = result["inhibited_links"]
    return [(f"{link['src']}>{link['dst']}", link["found"], link["actual"]) for link in links]


FAR = (0, 200, 500, 700)
"""Figure 2(a) with its inhibitor out of the receiver's reception range."""


def test_an_inhibited_link_is_found_with_probes_that_reach_as_far_as_signals_are_sensed() -> None:
    near = line(0, 200, 400, 600)
    for power in (3, 7):
        assert inhibited(near, probe_power=power) == [("1>2", ["3"], ["3"])]
    # A fifth node connects the halves, and hears all of them.
    far = line(*FAR, end='[[node]]\nid = "5"\nposition = ["350 m", "100 m"]\n')
    assert inhibited(far, probe_power=7, reach="interference") == [("1>2", ["3"], ["3"])]
    # Probes of 3 dB reach 297 m: 3 is missed, and 5, which 1 senses 364 m away, is taken for hidden.
    assert inhibited(far, probe_power=3, reach="interference") == [("1>2", ["5"], ["3"])]
    # The paper's definition knows inhibitors in communication range only.
    assert inhibited(far, probe_power=7) == []
    # What the probes do not reach, though it is sensed, is taken for hidden.
    assert inhibited(line(0, 170, 340, 540), probe_power=3) == [("1>2", ["3"], [])]
    assert inhibited(line(0, 170, 340, 540), probe_power=7) == []


def test_what_the_controller_did_not_find_is_printed() -> None:
    links: list[InhibitedLink] = [
        {"src": "1", "dst": "2", "found": [], "actual": ["3", "4"]},
        {"src": "5", "dst": "6", "found": ["7"], "actual": ["7"]},
        {"src": "7", "dst": "8", "found": ["9"], "actual": []},
    ]
    assert tables._inhibited(links) == [
        "inhibitors that the controller missed: 1 → 2 (3, 4)",
        "inhibitors that the controller invented: 7 → 8 (9)",
    ]
    assert tables._inhibited(links[1:2]) == []


def test_other_schemes_look_for_no_inhibited_links() -> None:
    scenario = Scenario.parse(line(0, 200, 400, 600), "c3l", ["duration=20 s", "warmup=1 s"])
    result = airfair.run(scenario, scheme="c3l-local")
    assert "inhibited_links" not in result


def test_control_packets_are_counted_by_kind() -> None:
    scenario = Scenario.parse(line(0, 200, 400, 600), "c3l")
    result = airfair.run(scenario)
    control = {of["kind"]: of for of in result["control"]}
    assert list(control) == ["report", "allocation", "hello", "probe", "feedback"]
    for of in control.values():
        # MAC header and FCS: 28 B; four radios of 2 Mbit/s, 40 s.
        assert of["mac_bytes"] - of["ip_bytes"] == 28 * of["frames"]
        assert of["bps"] == pytest.approx(8 * of["mac_bytes"] / 40)
        assert of["of_one_radio"] == pytest.approx(8 * of["mac_bytes"] / 40 / 2e6)
        assert of["of_all_radios"] == pytest.approx(8 * of["mac_bytes"] / 40 / 8e6)
    # A node's HELLO and probe a second; a report of each flow a second, over one hop.
    assert control["hello"]["frames"] == pytest.approx(160, abs=10)
    assert control["feedback"]["packets"] == pytest.approx(80, abs=4)
    assert "control" not in airfair.run(scenario, scheme="droptail")

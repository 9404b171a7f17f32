"""C3L from Python: what a controller and nodes give a flow, who inhibits whom, what control packets cost."""

from __future__ import annotations

import io

import airfair
import pytest
from airfair import Scenario
from airfair.explaining import show
from airfair.explaining.result import Explanation, sent_part
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
    # The flow of three hops meets another one at its second node only, where one node's time serves both.
    text = line(0, 200, 400, 600, flows=(("1", "4"), ("2", "3")))
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

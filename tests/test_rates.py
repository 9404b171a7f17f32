"""ATP, EXACT and C3L over the transport with a rate, in scenarios of users."""

from __future__ import annotations

import io
import re

import airfair
import pytest
from airfair import InputError, Scenario
from airfair.explaining import show
from airfair.explaining.result import sent_part
from rich.console import Console

from .support import ROOT

SCENARIOS = ROOT / "scenarios"
TWO = SCENARIOS / "two-bandwidths.toml"
GATEWAY = SCENARIOS / "gateway.toml"


def goodputs(path: object, scheme: str, **more: object) -> dict[str, float]:
    """Goodput of each flow, bit/s."""
    result = airfair.run(path, scheme=scheme, **more)  # type: ignore[arg-type]
    return {flow["id"]: flow["goodput_bps"] for flow in result["flows"]}


def test_exact_divides_time_or_rates() -> None:
    """One node, a link that loses two thirds of its frames: by time each flow has half of its link, by rate
    both have the same."""
    alone = {
        flow: goodputs(TWO, "exact:paper", overrides={f"flow.{other}.start": "59 s"})[flow]
        for flow, other in (("to-good", "to-lossy"), ("to-lossy", "to-good"))
    }
    time = goodputs(TWO, "exact:paper[exact.share=time]")
    for flow, whole in alone.items():
        assert time[flow] / whole == pytest.approx(0.5, rel=0.25), flow
    rates = goodputs(TWO, "exact:paper[exact.share=rate]")
    assert rates["to-good"] / rates["to-lossy"] == pytest.approx(1, rel=0.25)
    assert time["to-good"] / time["to-lossy"] > 3


def test_tcp_s_flows_are_carried_by_a_rate() -> None:
    """The two-hop flow of the gateway starves with TCP, and not with ATP; both flows report."""
    result = airfair.run(GATEWAY, scheme="atp")
    assert all("feedback" in flow for flow in result["flows"])
    assert min(flow["goodput_bps"] for flow in result["flows"]) > 800_000
    assert min(goodputs(GATEWAY, "droptail").values()) < 100_000


def test_a_flow_that_names_its_law_keeps_tcp() -> None:
    overrides = {"flow.one-hop.scheme": "cubic"}
    result = airfair.run(GATEWAY, scheme="atp", overrides=overrides)
    feedback = {flow["id"]: "feedback" in flow for flow in result["flows"]}
    assert feedback == {"one-hop": False, "two-hop": True}


@pytest.mark.parametrize("law", ["atp", "exact", "c3l"])
def test_a_flow_names_the_transport(law: str) -> None:
    """Data without an end, and packets at a rate of the application, which all arrive."""
    overrides = {
        "flow.to-good.transport": f"rate-{law}",
        "flow.to-lossy.transport": f"rate-{law}",
        "flow.to-lossy.traffic": {"kind": "constant", "rate": "80 kbit/s", "packet": "1000 B"},
        "flow.to-lossy.stop": "55 s",
    }
    result = airfair.run(TWO, scheme=law, overrides=overrides)
    good, lossy = result["flows"]
    assert good["goodput_bps"] > 1_000_000
    assert lossy["goodput_bps"] == pytest.approx(80_000, rel=0.02)


def test_words_of_refusals() -> None:
    def refused(overrides: dict[str, object]) -> str:
        with pytest.raises(InputError) as error:
            Scenario.read(TWO, overrides)
        return str(error.value)

    assert "rate-tfrc" in refused({"flow.to-good.transport": "rate-tfrc"})
    text = refused({"flow.to-good.scheme": "cubic"})
    for words in ("cubic", "source for the transport with a rate", "exact"):
        assert words in text
    text = refused({"flow.to-good.scheme": "none"})
    assert "a flow over the transport with a rate has a law" in text
    text = refused({"flow.to-good.traffic": {"kind": "file", "size": "1 MB"}})
    for words in ('this one has "rate-exact"', '"ftp"'):
        assert words in text
    text = refused({"flow.to-good.tcp": {"mss": "500 B"}})
    assert "which has no window" in text


def test_rates_are_the_same_in_any_order_of_the_file() -> None:
    text = TWO.read_text()
    head, *blocks = text.split("[[")
    shuffled = Scenario.parse(head + "".join("[[" + block for block in reversed(blocks)))
    for scheme in ("atp", "exact"):
        assert goodputs(shuffled, scheme) == dict(sorted(goodputs(TWO, scheme).items(), reverse=True))


def test_explain_names_the_node_that_sets_the_rate() -> None:
    """EXACT's node with the lossy link gives its flow the least; by hand: half of the time of the link, and
    the source sends it. Another queue between source and receiver sets nothing."""
    for scheme in ("exact", "atp"):
        told = airfair.explain(TWO, flow="to-lossy", scheme=scheme)
        (share,) = told["allocation"]["shares"]
        assert (share["src"], share["dst"], share["part"], share["smallest"]) == ("source", "lossy", 1, 1)
        assert (share["allocated"], share["scale"], "air" in share) == (None, 1, False)
        assert told["allocation"]["stamped"]
        # ATP's source takes a lower rate at once, and a higher one by parts.
        sent = sent_part(told)
        assert sent is not None
        assert (0.9 if scheme == "exact" else 0.4) < sent < 1.2, scheme
        assert any("source (to lossy) stamps it" in reason for reason in told["reasons"])
    # Over TCP no packet carries the header.
    overrides = {"flow.one-hop.scheme": "cubic"}
    told = airfair.explain(GATEWAY, flow="one-hop", scheme="exact", overrides=overrides)
    assert "allocation" not in told


CELL = """
name = "a bulk flow and a light one"
scheme = "airtime"
duration = "40 s"
warmup = "20 s"

[schemes.airtime]
preset = "paper"

[radio]
standard = "802.11b"
data_rate = "11 Mbit/s"
propagation = { model = "two-ray", range = "250 m" }

[[node]]
id = "hub"
position = ["0 m", "0 m"]
[[node]]
id = "bulk"
position = ["50 m", "0 m"]
[[node]]
id = "light"
position = ["0 m", "50 m"]

[[flow]]
id = "full"
from = "bulk"
to = "hub"
transport = "udp"
traffic = { kind = "saturating", packet = "1000 B" }
[[flow]]
id = "little"
from = "light"
to = "hub"
transport = "udp"
traffic = { kind = "constant", rate = "80 kbit/s", packet = "1000 B" }
"""


def test_explain_tells_the_air_that_is_lent() -> None:
    """Two pairs: each has half of the air that is counted, and the light one lends all but its ten packets
    a second."""
    shares = {}
    for flow in ("full", "little"):
        told = airfair.explain(Scenario.parse(CELL, "cell"), flow=flow)
        (shares[flow],) = told["allocation"]["shares"]
    full, little = shares["full"]["air"], shares["little"]["air"]
    assert full["share"] - full["borrowed"] == pytest.approx(0.5, abs=0.03)
    assert little["lent"] == pytest.approx(0.5 - little["used"], abs=0.03)
    assert full["borrowed"] == pytest.approx(little["lent"], abs=0.03)
    assert (full["lent"], little["borrowed"]) == pytest.approx((0, little["share"] - 0.5), abs=0.03)
    out = io.StringIO()
    show.show(airfair.explain(Scenario.parse(CELL, "cell"), flow="full"), Console(file=out, width=200))
    text = out.getvalue()
    assert re.search(r"bulk \(to hub\) has \d+ % of the air, of which others lend \d+ %, and uses", text)


def test_explain_tells_that_a_queue_holds_back_what_its_link_may_not_send() -> None:
    """Three pairs: the queue of the middle one has nearly no packet in the MAC for half of the time, by the
    allocator's bucket and not by the back-off; all the states of a row add up."""
    told = airfair.explain(SCENARIOS / "three-pairs.toml", flow="middle", scheme="airtime")
    hop = next(hop for hop in told["hops"] if hop["forward"])
    states = [hop["no_packet_ns"], *hop["own_turn_ns"].values(), *hop["others_turn_ns"].values()]
    assert sum(states) == hop["observed_ns"]
    assert 0.3 < hop["own_turn_ns"]["held"] / hop["observed_ns"] < 0.7
    assert hop["own_turn_ns"]["address"] == 0
    assert any("airtime lets the link send no more" in reason for reason in told["reasons"])


def test_explain_of_schemes_together() -> None:
    """A source that follows rates over queues that keep to shares: the rates are told."""
    for scheme in ("exact+airtime", "atp+airtime"):
        told = airfair.explain(SCENARIOS / "access-point.toml", scheme=scheme)
        allocation = told["allocation"]
        assert allocation["stamped"]
        assert sum(share["smallest"] for share in allocation["shares"]) == pytest.approx(1)
        assert all(0 < share["part"] <= 1 for share in allocation["shares"])
        show.show(told, Console(file=io.StringIO(), width=80))


CHANGE = """
name = "a route of two hops, then of four"
scheme = "exact"
duration = "50 s"
warmup = "5 s"

[radio]
standard = "802.11b"
data_rate = "11 Mbit/s"
rts_threshold = "0 B"
short_retry_limit = 50                # no packet is given up
long_retry_limit = 50
propagation = { model = "two-ray", range = "250 m" }

[radios.slow]
data_rate = "2 Mbit/s"

[routing]
protocol = "aodv"

[[node]]
id = "S"
position = ["0 m", "0 m"]
[[node]]
id = "R"
position = ["200 m", "0 m"]
movement = { waypoints = [{ at = "30 s", to = ["200 m", "-900 m"], speed = "300 m/s" }] }
[[node]]
id = "D"
position = ["400 m", "0 m"]
[[node]]
id = "A"
radios = ["slow"]
position = ["0 m", "200 m"]
[[node]]
id = "B"
radios = ["slow"]
position = ["200 m", "200 m"]
[[node]]
id = "C"
radios = ["slow"]
position = ["400 m", "200 m"]

[[flow]]
id = "flow"
from = "S"
to = "D"
transport = "udp"
traffic = { kind = "saturating", packet = "1000 B" }
"""


def test_exact_follows_a_change_of_routes() -> None:
    """The relay of two hops drives away, and four hops, slow ones, take over: with the first report after
    the sixteenth packet the source is told what it is told for the rest of the run, in the mean of five runs;
    before it was told three times as much."""
    told = []
    for seed in range(1, 6):
        capture = airfair.Capture(trace=True)
        run = airfair.record(Scenario.parse(CHANGE, "change"), seed=seed, capture=capture, interval="50 ms")
        frames, hops = run.pandas("frames"), run.pandas("hops")
        data = frames[frames.content == "packet"]
        at = data[(data.event == "sent") & (data.node == "C") & (data.to == "D")].time_ns.min()
        arrived = data[(data.event == "delivered") & (data.node == "D") & (data.time_ns > at)].time_ns
        reports = frames[
            (frames.content == "feedback") & (frames.event == "delivered") & (frames.node == "S")
        ]
        reported = reports.time_ns[reports.time_ns > arrived.iloc[15]].min() / 1e9
        # A report comes within the time that a queue of the path takes to empty.
        assert reported - arrived.iloc[0] / 1e9 < 2
        long = hops[hops.node.isin(list("SABC"))].groupby("end_s").told_bps.min()
        short = hops[hops.node.isin(list("SR"))].groupby("end_s").told_bps.min()
        told.append(
            (short[10:29.0].mean(), long[long.index > reported].iloc[0], long[long.index > 40].mean())
        )
    before, then, rest = (sum(column) / len(told) for column in zip(*told, strict=True))
    assert before > 3 * rest
    assert then == pytest.approx(rest, rel=0.4)

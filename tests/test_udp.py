"""Sources and receivers over UDP: results, explanations, captures, the check of headers."""

from __future__ import annotations

from pathlib import Path

import airfair
import pytest
from airfair import Capture, InputError, Scenario, ScenarioError

from .support import json_of

TEXT = """
name = "pair"
duration = "20 s"
warmup = "5 s"
scheme = "droptail"
[headers]
wired = "0 B"
[[node]]
id = "a"
[[node]]
id = "b"
[[node]]
id = "c"
[[link]]
ends = ["a", "b"]
rate = "100 Mbit/s"
delay = "5 ms"
queue_packets = 1000
[[link]]
ends = ["b", "c"]
rate = "10 Mbit/s"
delay = "20 ms"
queue_packets = 100
[[flow]]
id = "f"
from = "a"
to = "c"
TRANSPORT
traffic = { kind = "saturating", packet = "956 B" }
"""


def scenario(transport: str) -> Scenario:
    """A flow over two wires, of which the second is the bottleneck."""
    return Scenario.parse(TEXT.replace("TRANSPORT", transport), "pair")


def test_feedback_is_a_result_of_flows_that_have_it() -> None:
    plain = airfair.run(scenario('transport = "udp"'))
    assert "feedback" not in plain["flows"][0]
    tfrc = airfair.run(scenario('transport = "udp"'), scheme="tfrc")
    own = airfair.run(scenario('transport = "udp-tfrc"'))
    pinned = airfair.run(scenario('scheme = "tfrc"'), scheme="tfrc-ecn")
    for result in (tfrc, own, pinned):
        (flow,) = result["flows"]
        feedback = flow["feedback"]
        assert flow["goodput_bps"] > 0.95 * 10e6 * 956 / 1000
        assert 90 < feedback["sent"] < 350
        assert abs(feedback["sent"] - feedback["received"]) <= 2
        assert feedback["loss_events"] is not None
        assert 0 < (feedback["loss_event_rate"] or 0) < 0.01
        assert flow["rtt_s"] is None
        assert flow["retransmissions"] == 0
    assert tfrc["flows"] == own["flows"]


def test_tfrc_ecn_loses_nothing_once_it_has_started() -> None:
    result = airfair.run(scenario('transport = "udp"'), scheme="tfrc-ecn")
    (flow,) = result["flows"]
    assert sum(result["marks"].values()) > 0
    assert flow["loss_ratio"] == 0.0
    assert flow["goodput_bps"] > 0.95 * 10e6 * 956 / 1000
    (queue,) = [q for q in result["queues"] if (q["node"], q["towards"]) == ("b", "c")]
    assert queue["mean_packets"] < 80


@pytest.mark.parametrize("scheme", ["tfrc", "tfrc-ecn"])
def test_headers_become_bytes_and_nothing_changes(scheme: str, tmp_path: Path) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(TEXT.replace("TRANSPORT", ""))
    plain, checked = (json_of("run", file, "--scheme", scheme, *check) for check in ([], ["--wire-check"]))
    assert plain.pop("perf") != checked.pop("perf")
    assert plain == checked


def test_a_capture_has_the_header_before_udp(tmp_path: Path) -> None:
    capture = Capture(pcap="b", until="2 s")
    captured = airfair.record(scenario('transport = "udp-tfrc"'), out=tmp_path / "run", capture=capture)
    (path,) = captured.captures.values()
    data = path.read_bytes()
    # IP's protocol 254, then a header of TFRC's data (0x14) or of a report (0x15), before UDP (17).
    assert data.count(bytes([0x14, 17])) > 100
    assert data.count(bytes([0x15, 17])) > 10


def test_an_explanation_of_a_controlled_flow() -> None:
    explained = airfair.explain(scenario('transport = "udp-tfrc"'), flow="f")
    assert (explained["flow"], explained["standing"], explained["tcp"]) == ("f", "fair", None)
    assert [hop["src"] for hop in explained["hops"]] == ["a", "b"]


def test_what_udp_cannot_carry_is_refused() -> None:
    with pytest.raises(ScenarioError, match="UDP, which has no window; expected transport"):
        scenario('transport = "udp"\nscheme = "cubic"')
    with pytest.raises(ScenarioError, match="this scheme has no source for UDP; expected"):
        scenario('scheme = "red"')


def test_ends_over_udp_in_python_are_refused() -> None:
    class Ends(airfair.Scheme):
        """Has a receiver."""

        name = "test-ends"
        origin = "this test"

        def receiver(self) -> None:
            """No place of Python."""

    with pytest.raises(InputError, match=r"Ends\.receiver: schemes in Python have no ends over UDP"):
        airfair.register(Ends)

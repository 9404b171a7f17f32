"""ATP, EXACT and C3L over the transport with a rate, in scenarios of users."""

from __future__ import annotations

import airfair
import pytest
from airfair import InputError, Scenario

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

"""Access categories in whole runs: the category of each packet, and effects of internal collisions."""

from __future__ import annotations

import airfair
import pytest
from airfair import Scenario
from airfair.results import RunResult

RADIO = """
[radio]
standard = "802.11b"
propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }
"""


def pair(flows: str, radio: str, more: str = "", seconds: int = 2) -> Scenario:
    """Two nodes in range of each other."""
    nodes = '[[node]]\nid = "a"\nposition = ["0 m", "0 m"]\n[[node]]\nid = "b"\nposition = ["100 m", "0 m"]\n'
    return Scenario.parse(
        f'name = "pair"\nduration = "{seconds} s"\n{more}{RADIO}{radio}{nodes}{flows}', "pair"
    )


def flow(name: str, dscp: int, transport: str, traffic: str) -> str:
    """A flow from a to b."""
    return (
        f'[[flow]]\nid = "{name}"\nfrom = "a"\nto = "b"\ndscp = {dscp}\ntransport = "{transport}"\n'
        f"traffic = {{ {traffic} }}\n"
    )


def sent(result: RunResult, node: int) -> dict[str, int]:
    """Data frames that a node has sent, by category; those without frames are left out."""
    categories = result["stations"][node]["categories"]
    return {category["name"]: category["sent"] for category in categories if category["sent"]}


@pytest.mark.parametrize("scheme", ["droptail", "xcp", "rcp", "qfcp"])
def test_the_dscp_is_the_category_whatever_the_queue(scheme: str) -> None:
    """The DSCP decides too where a scheme that writes the state of a queue into headers has one for all."""
    flows = [flow(f"f{dscp}", dscp, "tcp", 'kind = "file", size = "100 kB"') for dscp in (0, 8, 34, 46)]
    radio = 'categories = "edca"\ndscp_categories = "rfc8325"\n'
    result = airfair.run(pair("".join(flows), radio), scheme=scheme)
    # ACKs have the category of their flow; ARP has that of DSCP 0.
    for node in (0, 1):
        found = sent(result, node)
        assert set(found) == {"BK", "BE", "VI", "VO"}, scheme
        assert min(found.values()) > 20
    assert [f["delivered_bytes"] for f in result["flows"]] == [100_000] * 4


@pytest.mark.parametrize(
    ("scheme", "queues"), [("droptail", 4), ("c3l", 4), ("qfcp", 4), ("lbm", 4), ("xcp", 1), ("rcp", 1)]
)
def test_a_call_has_a_queue_of_its_own(scheme: str, queues: int) -> None:
    """As mac80211 has it; not where headers carry the state of one queue."""
    traffic = 'kind = "constant", rate = "64 kbit/s", packet = "160 B"'
    radio = 'categories = "edca"\ndscp_categories = "rfc8325"\n'
    result = airfair.run(pair(flow("call", 46, "udp", traffic), radio), scheme=scheme)
    assert sum(queue["node"] == "a" for queue in result["queues"]) == queues


def test_internal_collisions_break_no_link() -> None:
    """A packet that higher categories of its station have kept from the air says nothing about the link."""
    table = ", ".join(f'{{ name = "{name}", aifsn = 2, cw_min = 0, cw_max = 0 }}' for name in ("low", "high"))
    flows = [
        flow(n, d, "udp", 'kind = "saturating", packet = "500 B"') for n, d in (("low", 0), ("high", 46))
    ]
    radio = f'categories = [{table}]\ndscp_categories = [{{ dscp = 46, category = "high" }}]\nmac_queue = 5\n'
    result = airfair.run(pair("".join(flows), radio, 'routing = { protocol = "aodv" }\n'))
    low = result["stations"][0]["categories"][0]
    assert low["given_up"] > 50, "at every slot boundary the higher category is first"
    assert result["drops"]["retry-limit"] > 50
    assert not result["drops"].get("link-break")


@pytest.mark.parametrize("protocol", ["olsr", "dsdv", "aodv"])
def test_broadcasts_survive_internal_collisions(protocol: str) -> None:
    """Routing messages in a category that loses every internal collision are sent late, never given up."""
    dscps = '{ dscp = 0, category = "7" }, { dscp = 48, category = "4" }'
    radio = f'categories = "diffq"\ndscp_categories = [{dscps}]\n'
    scenario = pair(
        flow("f", 0, "udp", 'kind = "saturating", packet = "500 B"'),
        radio,
        f'routing = {{ protocol = "{protocol}" }}\n',
        seconds=20,
    )
    result = airfair.run(scenario)
    assert result["flows"][0]["delivered_bytes"] > 100_000

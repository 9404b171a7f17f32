"""One flow alone on the testbed, over static routes: which pairs of nodes, and what is sent for a packet."""

from __future__ import annotations

import math
import random
from functools import lru_cache
from typing import TYPE_CHECKING

import airfair

from airfair_papers.diffq.common.testbed import SCENE, rates_innovative

if TYPE_CHECKING:
    from airfair.recording import Recording

UNLIMITED = 'transport="udp"\ntraffic={ kind="saturating", packet="1400 B" }'
SATURATING = 'transport="udp", traffic={ kind="saturating", packet="1400 B", start_jitter="0 s" }'
SLOW = 'transport="udp", traffic={ kind="constant", rate="100 kbit/s", packet="1400 B", start_jitter="0 s" }'
"""A packet each 112 ms: it has arrived before the next one is sent, so that none meets another."""
TCP = 'transport="tcp", traffic={ kind="ftp", start_jitter="0 s" }'

SECONDS = 20
RUN = (f'duration="{SECONDS} s"', 'warmup="0 s"')

GOODPUT = "goodput (Mbit/s)"
INNOVATIVE = "innovative (Mbit/s)"
TRANSMISSIONS = "transmissions per packet"
LATE = "transmissions per packet, after decoding"
DELAY = "mean delay (ms)"


@lru_cache(maxsize=1)
def hops() -> dict[tuple[str, str], int]:
    """Hops of the static route of each ordered pair of nodes."""
    text = SCENE.read_text(encoding="utf-8").partition("[flows]")[0]
    nodes = [node["id"] for node in airfair.network(airfair.Scenario.read(SCENE))["nodes"]]
    for source in nodes:
        for target in nodes:
            if source != target:
                text += f'[[flow]]\nid="{source}-{target}"\nfrom="{source}"\nto="{target}"\n{UNLIMITED}\n'
    flows = airfair.network(airfair.Scenario.parse(text))["flows"]
    return {(flow["src"], flow["dst"]): len(flow["path"] or ()) - 1 for flow in flows}


@lru_cache(maxsize=1)
def drawn() -> tuple[tuple[str, str], ...]:
    """All ordered pairs of nodes in a drawn order, which is always the same."""
    pairs = sorted(hops(), key=lambda pair: (int(pair[0]), int(pair[1])))
    random.Random(46).shuffle(pairs)
    return tuple(pairs)


def pair(seed: int, of_hops: int | None = None) -> tuple[str, str]:
    """The pair of a seed, from 1 on: of all, or of those with so many hops."""
    pairs = [one for one in drawn() if of_hops is None or hops()[one] == of_hops]
    return pairs[(seed - 1) % len(pairs)]


def flow(between: tuple[str, str], keys: str) -> tuple[str, ...]:
    """The override of a flow between two nodes."""
    return (f'flow=[{{ id="f", from="{between[0]}", to="{between[1]}", {keys} }}]',)


def read(recording: Recording) -> dict[str, float]:
    """Goodput and what was sent for each packet: broadcasts until the destination decodes, for a packet that
    is new to it, or attempts of the MAC. Of ExOR all broadcasts, those of maps too, and the attempts of what
    goes by routing."""
    result = recording.result
    (one,) = result["flows"]
    delay = one["mean_delay_s"]
    numbers = {
        GOODPUT: one["goodput_bps"] / 1e6,
        DELAY: math.nan if delay is None else 1e3 * delay,
    }
    attempts = sum(station["sent"]["DATA"] for station in result["stations"])
    if "exor" in result["scheme"]:
        packets = one["delivered_packets"]
        broadcasts = sum(station["sent"]["BROADCAST"] for station in result["stations"])
        numbers[TRANSMISSIONS] = (broadcasts + attempts) / packets if packets else math.nan
    elif "forwarding" in one:
        sent = one["forwarding"]
        packets = sent["innovative"]
        numbers[INNOVATIVE] = float(rates_innovative(result)[0]) / 1e6
        numbers[TRANSMISSIONS] = sent["broadcasts"] / packets if packets else math.nan
        numbers[LATE] = sent["late"] / packets if packets else math.nan
    else:
        packets = one["delivered_packets"]
        numbers[TRANSMISSIONS] = attempts / packets if packets else math.nan
    return numbers

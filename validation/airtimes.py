"""Hand arithmetic: what one saturated station must get, as a sum of airtimes.

Alone on the channel there is no collision and no chance: one packet takes its exchange, one DIFS and on
average CWmin/2 slots of back-off (post-back-off included, IEEE 802.11-2016, 10.3.4.3).
"""

from __future__ import annotations

from .phy import ACK_BYTES, CTS_BYTES, DSSS, MAC_BYTES, RTS_BYTES, Settings


def one_station_us(settings: Settings) -> dict[str, float]:
    """The parts of one packet's time, in us: frames, spaces and the mean back-off. Their sum is the period of
    a packet."""
    return settings.items_us() | {"mean back-off": settings.phy.cw_min / 2 * settings.phy.slot_us}


def one_station_mbps(settings: Settings) -> float:
    """Saturated throughput of one station, Mbit/s of payload."""
    return 8 * settings.payload_bytes / sum(one_station_us(settings).values())


def ns2_hop_us(payload_bytes: int = 1500) -> dict[str, float]:
    """One hop of ns-2's chain: UDP of `payload_bytes` at 2 Mbit/s behind RTS/CTS, control at 1 Mbit/s; parts
    in us.

    ns-2's UDP frame carries 20 bytes of IP and 28 of the MAC around the payload, 1548 bytes for 1500.
    """
    phy = DSSS
    return {
        "DIFS": phy.difs_us,
        "mean back-off": phy.cw_min / 2 * phy.slot_us,
        "RTS": phy.frame_us(RTS_BYTES, 1),
        "CTS": phy.frame_us(CTS_BYTES, 1),
        "data": phy.frame_us(payload_bytes + 20 + MAC_BYTES, 2),
        "ACK": phy.frame_us(ACK_BYTES, 1),
        "SIFS": 3 * phy.sifs_us,
    }


def ns2_hop_kbps(payload_bytes: int = 1500) -> float:
    """Goodput of that hop, kbit/s."""
    return 8e3 * payload_bytes / sum(ns2_hop_us(payload_bytes).values())

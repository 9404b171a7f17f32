"""Frame durations and exchange timings of 802.11b (long preamble) and 802.11a, from first principles.

Every duration is a whole number of microseconds, as the standard defines it. Rates are in Mbit/s, sizes in
bytes and count the MAC header and the frame check sequence. Sources: IEEE 802.11-2016, clauses 15/16 (DSSS,
CCK) and 17 (OFDM), clause 10.3 (interframe spaces, DCF).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

ACK_BYTES = 14
CTS_BYTES = 14
RTS_BYTES = 20
MAC_BYTES = 28
"""Data header of three addresses (24 bytes) and frame check sequence (4 bytes)."""

Modulation = Literal["dsss", "ofdm"]
CollisionSpace = Literal["difs", "eifs"]
"""The time that the stations wait after a collision before they count slots again."""
ExtraSlot = Literal["none", "success", "every"]
"""After which busy periods the model charges the slot in which no frozen station can send yet."""


def dsss_us(psdu_bytes: int, rate_mbps: float) -> int:
    """Duration of a DSSS or CCK frame with the long preamble, in us.

    Preamble (144 bits) and PLCP header (48 bits) go out at 1 Mbit/s; the payload's time is rounded up to a
    whole microsecond, since the PLCP's LENGTH field counts microseconds.
    """
    rate_100k = round(rate_mbps * 10)
    if rate_100k not in (10, 20, 55, 110):
        raise ValueError(f"{rate_mbps} Mbit/s is no 802.11b rate: use 1, 2, 5.5 or 11")
    return 192 + -(-80 * psdu_bytes // rate_100k)


def ofdm_us(psdu_bytes: int, rate_mbps: float) -> int:
    """Duration of a 20 MHz OFDM frame (802.11a), in us.

    Training fields and SIGNAL take 20 us; then symbols of 4 us carry the SERVICE field (16 bits), the payload
    and the tail (6 bits), 4 * rate bits each.
    """
    if rate_mbps not in (6, 9, 12, 18, 24, 36, 48, 54):
        raise ValueError(f"{rate_mbps} Mbit/s is no 802.11a rate: use 6, 9, 12, 18, 24, 36, 48 or 54")
    return 20 + 4 * -(-(16 + 8 * psdu_bytes + 6) // (4 * round(rate_mbps)))


@dataclass(frozen=True)
class Phy:
    """The constants of a physical layer that the DCF sees; times in us."""

    name: str
    modulation: Modulation
    slot_us: int
    sifs_us: int
    cw_min: int
    cw_max: int

    @property
    def difs_us(self) -> int:
        """DIFS = SIFS + 2 slots."""
        return self.sifs_us + 2 * self.slot_us

    def frame_us(self, psdu_bytes: int, rate_mbps: float) -> int:
        """Duration of a frame of `psdu_bytes` at `rate_mbps`, in us."""
        return (dsss_us if self.modulation == "dsss" else ofdm_us)(psdu_bytes, rate_mbps)

    def eifs_us(self, ack_rate_mbps: float) -> int:
        """EIFS = SIFS + an ACK at the named rate + DIFS, in us.

        The standard takes the lowest mandatory rate; ns-3's Bianchi tables take the response rate.
        """
        return self.sifs_us + self.frame_us(ACK_BYTES, ack_rate_mbps) + self.difs_us


DSSS = Phy("802.11b", "dsss", slot_us=20, sifs_us=10, cw_min=31, cw_max=1023)
OFDM = Phy("802.11a", "ofdm", slot_us=9, sifs_us=16, cw_min=15, cw_max=1023)


@dataclass(frozen=True)
class Durations:
    """All that a saturated, single-channel DCF model needs to turn events into throughput; times in us.

    `success_us` and `collision_us` reach from the start of a transmission to the moment at which every
    station may count slots again, so DIFS or EIFS is included.
    """

    slot_us: float
    success_us: float
    collision_us: float
    payload_bits: float


@dataclass(frozen=True)
class Settings:
    """One saturated cell: equal stations in range of each other, every frame of the same size.

    `overhead_bytes` is all of the MPDU that is not counted as throughput (MAC header, FCS, LLC, IP, UDP).
    `response_mbps` is the rate of RTS, CTS and ACK. `eifs_mbps` is the rate of the ACK inside EIFS, the
    response rate if None. `propagation_us` is charged once a frame. `resend_after_success`: the winner draws
    anew from 0..CWmin, and sends at once when it draws 0, since the others still hold at least one slot.
    """

    phy: Phy
    data_mbps: float
    response_mbps: float
    payload_bytes: int = 1500
    overhead_bytes: int = 34
    rts: bool = False
    collision: CollisionSpace = "eifs"
    eifs_mbps: float | None = None
    propagation_us: float = 0.0
    resend_after_success: bool = True
    extra_slot: ExtraSlot = "success"

    @property
    def mpdu_bytes(self) -> int:
        """Size of the data frame with MAC header and FCS."""
        return self.payload_bytes + self.overhead_bytes

    @property
    def stages(self) -> int:
        """Bianchi's m: how often the window doubles until CWmax."""
        return round(math.log2((self.phy.cw_max + 1) / (self.phy.cw_min + 1)))

    def items_us(self) -> dict[str, float]:
        """The parts of one successful exchange in their order, DIFS at the end, without back-off."""
        phy, control = self.phy, self.response_mbps
        items: dict[str, float] = {}
        spaces = 1
        if self.rts:
            items["RTS"] = phy.frame_us(RTS_BYTES, control)
            items["CTS"] = phy.frame_us(CTS_BYTES, control)
            spaces = 3
        items["data"] = phy.frame_us(self.mpdu_bytes, self.data_mbps)
        items["ACK"] = phy.frame_us(ACK_BYTES, control)
        items["SIFS"] = spaces * phy.sifs_us
        items["propagation"] = (spaces + 1) * self.propagation_us
        items["DIFS"] = phy.difs_us
        return items

    def durations(self) -> Durations:
        """Durations of a success and of a collision under these settings."""
        phy = self.phy
        first = (
            phy.frame_us(RTS_BYTES, self.response_mbps)
            if self.rts
            else phy.frame_us(self.mpdu_bytes, self.data_mbps)
        )
        if self.collision == "eifs":
            space = phy.eifs_us(self.response_mbps if self.eifs_mbps is None else self.eifs_mbps)
        else:
            space = phy.difs_us
        return Durations(
            slot_us=phy.slot_us,
            success_us=sum(self.items_us().values()),
            collision_us=first + space + self.propagation_us,
            payload_bits=8 * self.payload_bytes,
        )


def phy_of(mode: str) -> tuple[Phy, float]:
    """The PHY and the rate (Mbit/s) that ns-3's name of a mode stands for: `DsssRate5_5Mbps`,
    `OfdmRate54Mbps`."""
    for prefix, phy in (("DsssRate", DSSS), ("OfdmRate", OFDM)):
        if mode.startswith(prefix) and mode.endswith("Mbps"):
            return phy, float(mode[len(prefix) : -len("Mbps")].replace("_", "."))
    raise ValueError(f"unknown mode {mode!r}: expected DsssRate<r>Mbps or OfdmRate<r>Mbps")


def basic_response_mbps(phy: Phy, data_mbps: float) -> float:
    """The response rate of ns-3's Bianchi tables: the highest basic rate that is not above the data rate.

    Basic rates: 1 and 2 Mbit/s (802.11b); 6, 12 and 24 Mbit/s (802.11a).
    """
    basic = (1.0, 2.0) if phy.modulation == "dsss" else (6.0, 12.0, 24.0)
    return max(rate for rate in basic if rate <= data_mbps)


def table_settings(mode: str, collision: CollisionSpace = "difs") -> Settings:
    """The settings of ns-3's Bianchi tables (src/wifi/examples/reference), basic access, 1500 bytes counted.

    Its OFDM column adds 6 bytes of upper layers to the 28 of the MAC, its DSSS column 8 (data frames of 1536
    bytes: 1310 us at 11 Mbit/s). The extra slot is charged after a success only.
    """
    phy, rate = phy_of(mode)
    return Settings(
        phy,
        data_mbps=rate,
        response_mbps=basic_response_mbps(phy, rate),
        overhead_bytes=MAC_BYTES + (8 if phy.modulation == "dsss" else 6),
        collision=collision,
    )


def peer_settings(mode: str, *, rts: bool = False) -> Settings:
    """The settings of the project's own ns-3 saturation runs: 1500 bytes of UDP payload in an MPDU of 1564
    bytes.

    Control frames at 1 Mbit/s (802.11b), 6 (802.11a at 6 Mbit/s) and 24 Mbit/s (802.11a at 54); EIFS at the
    lowest mandatory rate; every busy period is followed by the slot in which frozen stations cannot send yet.
    """
    phy, rate = phy_of(mode)
    response = 1.0 if phy.modulation == "dsss" else basic_response_mbps(phy, rate)
    lowest = 1.0 if phy.modulation == "dsss" else 6.0
    return Settings(
        phy,
        rate,
        response,
        overhead_bytes=64,
        rts=rts,
        collision="eifs",
        eifs_mbps=lowest,
        extra_slot="every",
    )

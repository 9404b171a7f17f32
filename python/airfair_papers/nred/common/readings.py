"""One reading, for all figures, of the points that the paper leaves open; the others are variants.

**TCP.** "Most configuration parameters of the protocol stack ... use the default values" of QualNet (section
3.2), whose TCP is not described. Three are measured: QualNet's buffers and acknowledgements
(`common.stacks`) with the least time-out of RFC 2988 in full, 1 s; the same with the slow timer of 4.4BSD,
where a time-out of a second is over after 0.5 to 1 s; and the TCP of ns-2, as the scenes have it, with
time-outs from 200 ms.

**T_NCN.** Congestion that is noticed is told "immediately" (section 5.2): as often as it is measured, each
T_interval of 100 ms. The other end is one second, half of the only lifetime that the paper gives.

**theta**, the "certain threshold" of condition (iii): 0.3 of the neighbourhood's use of the channel. With 0.5
a flow of several hops that is alone complains of itself: each node on its way has less than half of what
the node hears. In figure 19 FTP 2 then keeps a third of what it has alone, where the paper sees that both
"can use the channel well".

**Rates.** "The channel bandwidth is 2 Mbps": for control frames and broadcasts too. ns-2 has 1 Mbit/s.

The first choice of each is the main reading. It is the one in which the basic scenes of section 6.2 come out,
by which the paper chose max_p. It fails where the others do better: the total of figure 13.
"""

from airfair.claims import MAIN

from .stacks import QUALNET

STANDARD = tuple(value for value in QUALNET if not value.startswith("tcp.tick_mode"))
"""Time-outs of a second and more, rounded up to ticks of 500 ms."""

OFTEN = 'nred.ncn_interval="100 ms"'
BELOW = "nred.theta=0.3"
RATES = ('radio.basic_rates=["2 Mbit/s"]', 'radio.broadcast_rate="2 Mbit/s"')

READINGS: dict[str, tuple[str, ...]] = {
    MAIN: (*STANDARD, *RATES, OFTEN, BELOW),
    "4.4BSD's timer": (*QUALNET, *RATES, OFTEN, BELOW),
    "ns-2's TCP": (*RATES, OFTEN, BELOW),
    "T_NCN 1 s": (*STANDARD, *RATES, BELOW),
    "theta 0.5": (*STANDARD, *RATES, OFTEN),
    "ns-2's TCP and rates, T_NCN 1 s, theta 0.5": (),
}
"""The main one and what others change in it. The last is the scenes' files as they stand."""

SCENE = "ns-2's TCP and rates, T_NCN 1 s, theta 0.5"
BY_TCP = (MAIN, "4.4BSD's timer", "ns-2's TCP")
"""Those that differ in TCP alone."""


def suffix(reading: str) -> str:
    """The end of a series' name."""
    return "" if reading == MAIN else f", {reading}"

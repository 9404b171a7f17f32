"""TCP over chains of up to eight hops against ns-2 and ns-3."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from airfair import Scenario

from .. import reference
from ..report import Context, Figure, Row, Series, within
from ..runs import lines
from .chains import RADIO, measure

TITLE = "TCP over chains"
ABOUT = """
One TCP NewReno flow without end over the chains of the section above: 200 m spacing, 250 m reception, 550 m
carrier sense, RTS/CTS, 2 Mbit/s data, 1 Mbit/s control. Means over the seeds; the bars are 99 % intervals.

ns-2's side of the settings: `profile = "ns-2"` for radio and TCP, 1460 B of payload with 40 + 20 + 34 bytes
over it (an acknowledgement is these alone), 49 waiting packets that a source's own segments overflow too,
and `initial_ssthresh` of 20 segments, since a sender of ns-2 begins with its default `window_` as
threshold, whatever limit is set afterwards. ns-3's side: `profile = "ns-3"` twice (SACK, ten segments at
first, time-outs from 1 s, 12 B of timestamps in 1472 B), every segment acknowledged, 50 waiting packets;
its radio repeats an RTS without end.

ns-3's numbers are means of five seeds of `peers/ns3/mesh.cc`, 95 % intervals below ± 4 kbit/s; an earlier
single run gave 248 kbit/s at five hops, far from all of the five (293 to 299).

Up to four hops airtime decides nearly everything: an acknowledgement costs a third of a segment. At one hop
the window outgrows the queue of 49 packets, and the reaction to the loss decides: at a time-out during fast
recovery RFC 5681 allows at most half of FlightSize as threshold, and in recovery FlightSize grows with each
duplicate acknowledgement; half of the window, which ns-2 and Airfair's laws use if it is less, does not.
With half of FlightSize the threshold overflows the queue again, and one hop carries 6 % less.
"""

SECTION = "tcp_chains"


@dataclass(frozen=True)
class Settings:
    """A peer's rules for radio, headers and TCP."""

    name: str
    radio: dict[str, str]
    headers: dict[str, str]
    tcp: dict[str, str]
    law: dict[str, str] = field(default_factory=dict)

    def scenario(self, context: Context, hops: int) -> Scenario:
        """A chain with one flow without end."""
        measured = 60 if context.quick else 120
        profile = {"profile": f'"{self.name}"'}
        return Scenario.parse(
            f'name = "tcp-chain"\nduration = "{measured + 10} s"\nwarmup = "10 s"\n'
            f"[radio]\n{lines(RADIO | profile | self.radio)}[headers]\n{lines(self.headers)}"
            f"[tcp]\n{lines(profile | self.tcp)}[schemes.newreno]\n{lines(self.law)}"
            f'[nodes]\nkind = "chain"\ncount = {hops + 1}\nspacing = "200 m"\n'
            f'[[flow]]\nid = "flow"\nfrom = "0"\nto = "{hops}"\ntransport = "tcp-newreno"\n'
            'traffic = { kind = "ftp" }\n',
            f"TCP over {hops} hops",
        )


NS2 = Settings(
    "ns-2",
    {"queue_packets": "49"},
    {"tcp": '"40 B"', "ip": '"20 B"', "llc": '"0 B"', "mac": '"34 B"'},
    {"mss": '"1460 B"'},
    {"initial_ssthresh": '"29200 B"'},
)
NS3 = Settings(
    "ns-3",
    {"queue_packets": "50"},
    {"tcp": '"real"', "ip": '"20 B"', "llc": '"8 B"', "mac": '"28 B"'},
    {"mss": '"1472 B"', "delayed_ack": '"off"'},
)


def rows(context: Context) -> Iterable[Row]:
    """All comparisons of chains with TCP."""
    count = 4 if context.quick else 10
    series = []
    for settings in (NS2, NS3):
        published = reference.CHAIN_TCP_KBPS[settings.name]
        chains = [settings.scenario(context, hops) for hops in reference.CHAIN_HOPS]
        means = measure(context, chains, count)
        for hops, value, ours in zip(reference.CHAIN_HOPS, published, means, strict=True):
            yield within(
                SECTION,
                f"{settings.name}, {hops} hop{'s' if hops > 1 else ''}",
                reference.PEERS,
                expected=value,
                measured=ours.mean,
                unit="kbit/s",
                relative=0.05 if hops <= 4 else 0.10,
            )
        series.append(Series(settings.name, reference.CHAIN_HOPS, published, "dashed"))
        label = f"Airfair, profile {settings.name}"
        series.append(Series.of_means(label, reference.CHAIN_HOPS, means))
    context.figure(Figure(SECTION, "hops", "One TCP flow over a chain.", "hops", "goodput, kbit/s", series))

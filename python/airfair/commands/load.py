"""`airfair load`: traffic over real sockets, measured where it arrives, without a control connection."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from typing import Any, TypedDict, cast

import click

from .. import _core
from ..options import json_option
from ..quantities import plural, rate, time
from .common import subcommand

Command = Callable[..., Any]


class Packets(TypedDict):
    """Packets of a flow over UDP. Delays are null where the two ends have different clocks."""

    received: int
    lost: int
    duplicated: int
    reordered: int
    too_late: int
    marked: int
    delay_p50_s: float | None
    delay_p99_s: float | None
    delay_max_s: float | None


class ReceivedFlow(TypedDict):
    """A flow that was received; times are seconds after the start of the receiver."""

    transport: str
    bytes: int
    first_s: float | None
    last_s: float | None
    goodput_kbps: float | None
    window_goodput_kbps: float | None
    ended: bool
    intervals: list[int] | None
    packets: Packets | None


# `from` is a keyword.
Origin = TypedDict("Origin", {"from": str})


class Flow(ReceivedFlow, Origin):
    """A flow that was received, and the sender's address."""


class Received(TypedDict):
    """The report of a receiver."""

    port: int
    start_monotonic_s: float
    wall_s: float
    every_s: float | None
    flows: list[Flow]
    ignored: int
    too_many: int
    overflowed: int | None
    interrupted: bool


class TcpNumbers(TypedDict):
    """The kernel's numbers of a connection, at its end."""

    congestion_control: str | None
    segments: int
    retransmitted: int
    acknowledged: int
    rtt_s: float
    min_rtt_s: float | None
    cwnd: int
    mss: int
    rto_s: float


class Sent(TypedDict):
    """The report of a sender."""

    transport: str
    to: str
    start_monotonic_s: float
    sending_s: float
    bytes: int
    packets: int | None
    skipped: int | None
    refused: int | None
    broken: str | None
    tcp: TcpNumbers | None
    interrupted: bool


@click.group()
def load() -> None:
    """Send and receive traffic over real sockets.

    The receiver measures. It answers nothing, so that a path on which a flow starves carries the flow and
    nothing else.

    \b
    Example:
      airfair load receive --for "20 s" --every "1 s"
      airfair load send ::1 --udp --rate "6 Mbit/s" --for "10 s"
    """


port_option = click.option("--port", metavar="N", help="The receiver's port, 7000 by default.")


@subcommand()
@click.option("--port", metavar="N", help="Port for TCP and UDP, 7000 by default; 0: any free one.")
@click.option("--flows", metavar="N", help="End after the end of this many flows, 1 by default; at most 64.")
@click.option("--for", "run_for", metavar="TIME", help="End after this time.")
@click.option("--idle", metavar="TIME", help="End when, after the first byte, none comes for this time.")
@click.option(
    "--from",
    "start",
    metavar="TIME",
    help="With --to: also measure goodput from this time after a flow's first byte on.",
)
@click.option("--to", metavar="TIME", help="With --from: until this time after a flow's first byte.")
@click.option("--every", metavar="TIME", help="Also list the bytes of each interval of this length.")
@json_option
def receive(as_json: bool, **options: str | None) -> None:
    """Receive flows and report each: over TCP and UDP, IPv6 and IPv4.

    It ends when the sender has said that it has ended. Where the network may lose every packet of that, use
    --for or --idle. Ctrl-C ends it with a report.

    \b
    Example:
      airfair load receive --flows 2 --from "5 s" --to "25 s" --for "1 min"
    """
    text, signal = _core.load_receive(given(options))
    print_report(text, as_json, lambda: show_received(cast(Received, json.loads(text))))
    if signal is not None:
        raise signal


@subcommand()
@click.argument("host")
@port_option
@click.option("--for", "run_for", metavar="TIME", help='Time of sending, "10 s" by default.')
@click.option("--bytes", metavar="SIZE", help="TCP: bytes to send; it then ends when all have arrived.")
@click.option("--rate", metavar="RATE", help="Rate of payload; TCP without it sends as fast as it may.")
@click.option(
    "--congestion-control", metavar="NAME", help="TCP: the congestion control; by default the kernel's."
)
@click.option("--udp", is_flag=True, help="Send datagrams at equal intervals; needs --rate.")
@click.option("--size", metavar="SIZE", help='UDP: payload of a datagram, "1000 B" by default.')
@click.option("--dscp", metavar="DSCP", help="0 to 63, or EF, CS0 to CS7, AF11 to AF43.")
@click.option("--ecn", is_flag=True, help="UDP: datagrams are ECN-capable, ECT(0). TCP asks the kernel.")
@click.option(
    "--wait", metavar="TIME", help='Try a receiver that does not listen yet for this time, "10 s" by default.'
)
@json_option
def send(host: str, as_json: bool, **options: str | bool | None) -> None:
    """Send a flow to the receiver at HOST.

    Datagrams that are more than 100 ms late are skipped and counted. Ctrl-C ends it with a report.

    \b
    Example:
      airfair load send 10.77.0.4 --for "30 s" --congestion-control reno
      airfair load send b1 --udp --rate "6 Mbit/s" --size "1200 B" --ecn
    """
    text, signal = _core.load_send(host, given(options))
    print_report(text, as_json, lambda: show_sent(cast(Sent, json.loads(text))))
    if signal is not None:
        raise signal


load.add_command(receive)
load.add_command(send)

NAMES = {"run_for": "for", "start": "from"}
"""Names of options that are keywords of Python."""


def given(options: dict[str, str | None] | dict[str, str | bool | None]) -> list[tuple[str, str]]:
    """The options that were given, as the core reads them."""
    return [
        (NAMES.get(name, name).replace("_", "-"), "" if value is True else str(value))
        for name, value in options.items()
        if value is not None and value is not False
    ]


def print_report(text: str, as_json: bool, lines: Callable[[], list[str]]) -> None:
    """Print a report as JSON, or for a reader."""
    print(text if as_json else "\n".join(lines()), flush=True)


def show_received(report: Received) -> list[str]:
    """The lines of a receiver's report."""
    found = [line for flow in report["flows"] for line in show_flow(flow, report["every_s"])]
    if not found:
        found = [f"nothing received in {time(report['wall_s'])}"]
    strange = (
        (report["ignored"], "of another format"),
        (report["too_many"], "of more than 64 flows"),
        (report["overflowed"], "dropped by the kernel: this machine was too slow"),
    )
    return found + [f"{count} {plural(count, 'datagram')} {reason}" for count, reason in strange if count]


def show_flow(flow: Flow, every_s: float | None) -> list[str]:
    """The lines of a flow."""
    lines = [f"{flow['transport']} from {flow['from']}{'' if flow['ended'] else ', no end has arrived'}"]
    if flow["first_s"] is not None and flow["last_s"] is not None:
        lines.append(f"  {flow['bytes']} B in {time(flow['last_s'] - flow['first_s'])}: {goodput(flow)}")
    packets = flow["packets"]
    if packets is not None:
        rare = (
            (packets["duplicated"], "duplicated"),
            (packets["reordered"], "reordered"),
            (packets["too_late"], "too late"),
            (packets["marked"], "marked"),
        )
        counts = [f"{packets['received']} packets", f"{packets['lost']} lost"]
        counts += [f"{count} {word}" for count, word in rare if count]
        lines.append(f"  {', '.join(counts)}")
        if packets["delay_p50_s"] is not None:
            p50, p99 = time(packets["delay_p50_s"]), time(packets["delay_p99_s"])
            lines.append(
                f"  delay {p50} in the median, {p99} for 99 %, {time(packets['delay_max_s'])} at most"
            )
    if flow["intervals"] is not None:
        text = f"bytes each {time(every_s)}: {' '.join(map(str, flow['intervals']))}"
        lines += textwrap.wrap(text, 80, initial_indent="  ", subsequent_indent="    ")
    return lines


def goodput(flow: Flow) -> str:
    """The goodput of a flow in words."""
    whole, window = flow["goodput_kbps"], flow["window_goodput_kbps"]
    text = "one arrival has no rate" if whole is None else rate(1000 * whole)
    return text if window is None else f"{text}; {rate(1000 * window)} in the window"


def show_sent(report: Sent) -> list[str]:
    """The lines of a sender's report."""
    lines = [
        f"{report['transport']} to {report['to']}",
        f"  {report['bytes']} B in {time(report['sending_s'])}",
    ]
    if report["packets"] is not None:
        lines.append(
            f"  {report['packets']} packets, {report['skipped']} skipped, {report['refused']} refused"
        )
    if report["broken"] is not None:
        lines.append(f"  the connection has broken: {report['broken']}")
    tcp = report["tcp"]
    if tcp is not None:
        segments = f"{tcp['segments']} segments of {tcp['mss']} B, {tcp['retransmitted']} retransmitted"
        rtt = f"rtt {time(tcp['rtt_s'])}, {time(tcp['min_rtt_s'])} at least"
        lines.append(f"  {tcp['congestion_control']}: {segments}")
        lines.append(f"  {rtt}; window {tcp['cwnd']}, time-out {time(tcp['rto_s'])}")
    return lines

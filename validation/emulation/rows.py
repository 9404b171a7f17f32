"""The rows of the comparison, with their limits and the reasons for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .judge import Check, Limit
from .worlds import Flow, Ping, World, chain, community, cut, goodputs, of_file, tcp_of, wires

CUT_S, HEALED_S = 12, 16


@dataclass(frozen=True)
class Row:
    """A row: a world in both simulator and emulation, or routing daemons, and what is judged."""

    name: str
    about: str
    """The network, and the reason for the limits."""
    checks: tuple[Check, ...]
    world: Callable[[], World] | None = None
    daemon: str | None = None
    needs: tuple[str, ...] = ()
    """Programs that the machine has to have."""


def one_flow(hops: int, udp_rate: str | None) -> Callable[[], World]:
    """A flow from one end of a chain to the other."""
    return lambda: World(chain(hops), (Flow("flow", "0", str(hops), udp_rate),))


def pairs(scheme: str, warmup_s: int = 10) -> Callable[[], World]:
    """The three pairs, with hosts of today."""
    tables = of_file("three-pairs")
    return lambda: World(tables, tcp_of(tables), scheme=scheme, warmup_s=warmup_s)


def pinged(scheme: str) -> Callable[[], World]:
    """A ping beside a flow in one hop."""
    return lambda: World(chain(1), (Flow("flow", "0", "1"),), Ping("0", "1"), scheme)


def granted(scheme: str) -> Callable[[], World]:
    """Two flows of different round-trip times behind one wire, whose router grants rates."""
    return lambda: World(wires(), (Flow("near", "near", "sink"), Flow("far", "far", "sink")), scheme=scheme)


def of_rates(scheme: str, name: str) -> Row:
    """A row of a scheme whose source acts at the edge of the stacks."""
    return Row(
        f"wires-{scheme}",
        f"{name} over two wired paths of 24 and 94 ms that share 4 Mbit/s: its law at the edge of the "
        "stacks, its header as a TCP option. The router decides, not the kernel: 5 %.",
        (one("near", near(0.05)), one("far", near(0.05))),
        granted(scheme),
    )


def marked() -> World:
    """Three hops with queues that mark."""
    scheme = "fq-codel[fq-codel.ecn=true]"
    flows = (Flow("flow", "0", "3"),)
    return World(chain(3), flows, scheme=scheme, ecn=True, stops_early=True, counters_of="3")


def hidden() -> World:
    """Datagrams at a rate that the air cannot carry."""
    flows = (Flow("left", "1", "2", "2 Mbit/s", 512), Flow("right", "4", "3", "2 Mbit/s", 512))
    return World(of_file("hidden-terminal"), flows)


def exposed() -> World:
    """Two TCP flows, one of which starves."""
    tables = of_file("exposed-terminal")
    return World(tables, tcp_of(tables))


def access_point() -> World:
    """Six downloads and six uploads over wires of 38 to 370 ms."""
    tables = of_file("access-point")
    return World(tables, tcp_of(tables), scheme="lbm", ecn=True, warmup_s=15)


def voice() -> World:
    """A call as EF beside two downloads."""
    tables = of_file("voice-beside-bulk")
    call = {"udp_rate": "68.8 kbit/s", "bytes": 172, "dscp": "EF"}
    calls = (Flow("call-down", "server", "phone", **call), Flow("call-up", "phone", "server", **call))  # type: ignore[arg-type]
    # Later than the calls, whose first packets would otherwise wait for ARP behind the downloads.
    downloads = tuple(replace(flow, start_s=3) for flow in tcp_of(tables))
    return World(tables, downloads + calls)


def one(name: str, limit: Limit) -> Check:
    """The goodput of a flow."""
    return Check(f"flow {name}", (f"goodput {name}",), limit)


def near(relative: float) -> Limit:
    """A distance of the means, as a part."""
    return Limit(relative=relative)


def rows(folder: Path) -> list[Row]:
    """All rows, in the order of the table."""
    flow = "goodput flow"
    outer = Limit(relative=0.05)
    left, middle, right = ("goodput left", "goodput middle", "goodput right")
    downs = tuple(f"goodput down{number}" for number in range(1, 7))
    ups = tuple(f"goodput up{number}" for number in range(1, 7))
    downloads = ("goodput download-1", "goodput download-2")
    tables, flows = community(folder)
    uploads = goodputs(flows)
    return [
        Row(
            "udp-1",
            "One hop at 11 Mbit/s, datagrams of 1472 B at 8 Mbit/s. UDP has no law: only the MAC counts.",
            (Check("UDP, 1 hop", (flow,), near(0.02)),),
            one_flow(1, "8 Mbit/s"),
        ),
        Row(
            "tcp-1",
            "One hop, TCP cubic. Delayed acknowledgements compete with data: 5 %.",
            (Check("TCP, 1 hop", (flow,), near(0.05)),),
            one_flow(1, None),
        ),
        Row(
            "udp-3",
            "Three hops of 200 m, datagrams of 1472 B at 8 Mbit/s. Drops at relays depend on chance.",
            (Check("UDP, 3 hops", (flow,), near(0.03)),),
            one_flow(3, "8 Mbit/s"),
        ),
        Row(
            "tcp-3",
            "Three hops, TCP cubic. Collisions of data with acknowledgements make runs differ: 10 %.",
            (Check("TCP, 3 hops", (flow,), near(0.1)),),
            one_flow(3, None),
        ),
        Row(
            "pairs",
            "`scenarios/three-pairs.toml` with hosts of today. The middle pair starves in both worlds.",
            (
                Check("outer pair 1", (left,), outer),
                Check("middle pair", (middle,), Limit(least=5, most=60)),
                Check("outer pair 3", (right,), outer),
            ),
            pairs("droptail"),
        ),
        Row(
            "pairs-nred",
            "The same with NRED as in the paper, which lets the middle pair live, after 30 s. It drops by "
            "chance: 20 %.",
            (
                Check("outer pair 1", (left,), near(0.2)),
                Check("middle pair", (middle,), Limit(relative=0.2, least=300)),
                Check("outer pair 3", (right,), near(0.2)),
            ),
            pairs("nred:paper", 30),
        ),
        Row(
            "pairs-nred-now",
            "The same with NRED as it is by default: it acts after silences of half a second, and those of "
            "the kernel are others. So only that the middle pair has more than with drop-tail is judged.",
            (Check("middle pair", (middle,), Limit(least=60)),),
            pairs("nred", 30),
        ),
        Row(
            "pairs-c3l",
            "The same with C3L: controllers in the simulated nodes, rates at the edge of the stacks. It "
            "tries out its limits, and runs differ by when: 20 %.",
            (
                Check("outer pair 1", (left,), near(0.2)),
                Check("middle pair", (middle,), Limit(relative=0.2, least=300)),
                Check("outer pair 3", (right,), near(0.2)),
            ),
            pairs("c3l", 30),
        ),
        of_rates("qfcp", "QFCP"),
        of_rates("rcp", "RCP"),
        of_rates("xcp", "XCP"),
        Row(
            "ping-droptail",
            "A ping beside a TCP flow on one hop, a queue of 100 packets. Both queues stand full most of the "
            "time: 15 %.",
            (Check("ping, drop-tail", ("ping",), near(0.15), "ms"), Check("TCP", (flow,), near(0.05))),
            pinged("droptail"),
            needs=("ping",),
        ),
        Row(
            "ping-fq-codel",
            "The same with FQ-CoDel, in which a ping has a queue of its own: at most 15 ms.",
            (Check("ping, FQ-CoDel", ("ping",), Limit(most=15), "ms"), Check("TCP", (flow,), near(0.05))),
            pinged("fq-codel"),
            needs=("ping",),
        ),
        Row(
            "ecn",
            "FQ-CoDel that marks, on three hops; the flow ends 3 s before the run. Each mark has to arrive "
            "in the receiver's kernel (IpExtInCEPkts), and no checksum may be wrong (TcpInCsumErrors).",
            (
                Check("marks", ("marks",), Limit(least=1), "", alone=True),
                Check("marks less CE received", ("marks",), Limit(least=0, most=0), "", ("CE",), alone=True),
                Check("bad checksums", ("bad checksums",), Limit(least=0, most=0), "", alone=True),
            ),
            marked,
        ),
        Row(
            "ping-idle",
            "A ping on an idle hop. Devices, wake-ups and the stacks' own time come on top of the air's: "
            "250 us in the mean.",
            (Check("ping, idle", ("ping",), Limit(absolute=0.25), "ms"),),
            lambda: World(chain(1), ping=Ping("0", "1")),
            needs=("ping",),
        ),
        *(
            Row(
                daemon,
                f"{daemon} on 6 x 5 nodes, hellos each second; after {28} s the relay that the first node "
                "uses towards the last one is taken down. Three hellos lost and an update: 15 s.",
                (
                    Check("all 870 routes", ("all routes",), Limit(most=15), "s", alone=True),
                    Check("other next hop", ("other next hop",), Limit(most=15), "s", alone=True),
                ),
                daemon=daemon,
                needs=(daemon, "ip", "ping"),
            )
            for daemon in ("babeld", "bird")
        ),
        Row(
            "hidden",
            "`scenarios/hidden-terminal.toml`, datagrams of 512 B at 2 Mbit/s each. The MAC alone decides: "
            "5 % of the total; which of both is ahead is chance: 15 % for each.",
            (
                Check("both flows", (left, right), near(0.05)),
                one("left", near(0.15)),
                one("right", near(0.15)),
            ),
            hidden,
        ),
        Row(
            "exposed",
            "`scenarios/exposed-terminal.toml`, TCP cubic. The left flow's share is to be as small as in the "
            "simulator, within 3 points of the total.",
            (
                one("right", near(0.05)),
                Check("share of flow left", (left,), Limit(absolute=3), "%", share_of=(left, right)),
            ),
            exposed,
        ),
        Row(
            "access-point",
            "`scenarios/access-point.toml` with LBM and ECN: six downloads, six uploads, round trips of 40 "
            "to 370 ms. Windows then grow over more than a run: 10 % of the total, and the downloads' share "
            "within 10 points. Where uploads begin first, LBM takes their collisions for another cell and "
            "marks nothing (docs/schemes/lbm.md): so in one run of five; the simulator does the same. A SYN "
            "that is repeated asks for no ECN (Linux): such a flow is not marked, and takes more.",
            (
                Check("all flows", downs + ups, near(0.1)),
                Check("share of downloads", downs, Limit(absolute=10), "%", share_of=downs + ups),
                Check("marks", ("marks",), Limit(least=1), "", alone=True),
            ),
            access_point,
        ),
        Row(
            "voice",
            "`scenarios/voice-beside-bulk.toml`: a call with the category of voice beside two downloads. The "
            "delay is between programs, whose wake-ups a busy machine delays: 5 ms for 99 %; downloads 10 %.",
            (
                Check("both downloads", downloads, near(0.1)),
                Check("p99 delay, call down", ("p99 call-down",), Limit(absolute=5), "ms"),
                Check("p99 delay, call up", ("p99 call-up",), Limit(absolute=5), "ms"),
                Check("loss, call down", ("lost call-down",), Limit(most=1), "%", alone=True),
            ),
            voice,
        ),
        Row(
            "community",
            "An invented map of thirty nodes, read by the importer: four TCP uploads to a gateway over "
            "several hops at 24 Mbit/s. Long paths share by chance: 10 % of the total, each share within 10 "
            "points.",
            (
                Check("all uploads", uploads, near(0.1)),
                *(
                    Check(f"share of {name.split()[1]}", (name,), Limit(absolute=10), "%", share_of=uploads)
                    for name in uploads
                ),
            ),
            lambda: World(tables, flows),
        ),
        Row(
            "cut",
            f"A hop of which the scenario takes away the link from {CUT_S} s to {HEALED_S} s; TCP cubic. The "
            "time-out backs off meanwhile, so that the end of the silence is a matter of its phase: 10 %.",
            (Check("TCP, link cut", (flow,), near(0.1)),),
            lambda: World(cut(CUT_S, HEALED_S), (Flow("flow", "a", "b"),)),
        ),
    ]

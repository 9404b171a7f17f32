"""Networks as tables of a scenario file, and the traffic that both worlds carry."""

from __future__ import annotations

import json
import math
import os
import random
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import airfair
from airfair import Scenario

from ..runs import ROOT, SCENARIOS

Tables = dict[str, Any]

START_S = 1
"""Receivers start at once, senders so much later."""

LOAD = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "airfair-load"
"""`airfair load` without Python, two dozen of which take ten seconds to start on a busy machine."""

FIRST = ["nice", "-n", "-15"]
"""Before the machine's other work: at most 30 kB wait unsent in a sender's kernel, so that a sender which
waits 50 ms for a processor leaves the air without data."""

FIRST_PORT = 7000
PING_BYTES = 56
ECHO_BYTES = 64
PING_GAP_S = 0.2


@dataclass(frozen=True)
class Flow:
    """A flow that `airfair-load` sends and the simulator too: TCP as much as it gets, or UDP at a rate."""

    id: str
    source: str
    target: str
    udp_rate: str | None = None
    bytes: int = 1472
    dscp: str | None = None
    start_s: int = START_S


@dataclass(frozen=True)
class Ping:
    """Echo requests of 84 B; in the simulator datagrams of that size in both directions, and on an
    idle path segments whose acknowledgements are the answers."""

    source: str
    target: str


@dataclass(frozen=True)
class World:
    """A network with its traffic, in both worlds."""

    tables: Tables
    flows: tuple[Flow, ...] = ()
    ping: Ping | None = None
    scheme: str = "droptail"
    ecn: bool = False
    warmup_s: int = 10
    stops_early: bool = False
    """The senders end 3 s before the run: then counters of the kernel are final."""
    counters_of: str | None = None
    """The node of which the kernel's counters are read."""

    def simulated(self, seconds: int) -> Scenario:
        """As the simulator runs it."""
        flows = [_simulated(flow) for flow in self.flows]
        if self.ping is not None and not flows:
            flows.append(_echo(self.ping))
        elif self.ping is not None:
            ends = (self.ping.source, self.ping.target)
            for name, (source, target) in (("there", ends), ("back", ends[::-1])):
                flows.append(
                    {
                        "id": f"ping-{name}",
                        "from": source,
                        "to": target,
                        "traffic": {
                            "kind": "constant",
                            "rate": f"{8 * PING_BYTES / PING_GAP_S:g} bit/s",
                            "packet": f"{PING_BYTES} B",
                        },
                    }
                )
        tables = self._tables(seconds, flows)
        if "radio" in tables:
            # A device cannot hold a stack back: a full queue drops.
            tables["radio"] = {**tables["radio"], "backpressure": False}
        return Scenario.from_dict(tables)

    def emulated(self, seconds: int) -> Scenario:
        """As the stacks run over it: no flow of its own."""
        return Scenario.from_dict(self._tables(seconds, []))

    def _tables(self, seconds: int, flows: list[Tables]) -> Tables:
        tables = {**self.tables, "duration": f"{seconds + self.warmup_s} s", "warmup": f"{self.warmup_s} s"}
        tables.pop("flow", None)
        tables["tcp"] = {"profile": "linux", **({"ecn": True} if self.ecn else {})}
        if "radio" in tables:
            tables["radio"] = {**tables["radio"], "local_limit": "off"}
        if "link" in tables:
            tables["link"] = [{**link, "local_limit": "off"} for link in tables["link"]]
        if flows:
            tables["flow"] = flows
        return tables

    def programs(self, seconds: int) -> list[airfair.Program]:
        """Receivers, senders, and the ping, as programs in the nodes."""
        length = seconds + self.warmup_s
        names = addresses(self.emulated(seconds))
        load = [*FIRST, str(LOAD)]
        found = []
        for port, flow in enumerate(self.flows, FIRST_PORT):
            receive = [*load, "receive", "--port", str(port), "--every", "1 s"]
            found.append(airfair.Program(flow.target, receive, name=f"receive-{flow.id}"))
            lasts = length - (3 + START_S if self.stops_early else 0)
            send = [*load, "send", names[flow.target], "--port", str(port), "--for", f"{lasts} s"]
            send += ["--wait", "60 s"]
            if flow.udp_rate is not None:
                send += ["--udp", "--rate", flow.udp_rate, "--size", f"{flow.bytes} B"]
            if flow.dscp is not None:
                send += ["--dscp", flow.dscp]
            found.append(airfair.Program(flow.source, send, at=f"{flow.start_s} s", name=f"send-{flow.id}"))
        if self.ping is not None:
            count = int((length - 2 * START_S - 1) / PING_GAP_S)
            words = f"ping -n -i {PING_GAP_S} -c {count} -w {length - 2 * START_S}"
            ping = [*FIRST, *words.split(), names[self.ping.target]]
            found.append(airfair.Program(self.ping.source, ping, at=f"{START_S} s", name="ping"))
        if self.counters_of is not None:
            read = shlex.join(["cat", "/proc/net/netstat", "/proc/net/snmp"])
            found.append(airfair.Program(self.counters_of, read, at=f"{length - 1} s", name="counters"))
        return found


def _simulated(flow: Flow) -> Tables:
    tables: Tables = {"id": flow.id, "from": flow.source, "to": flow.target, "start": f"{flow.start_s} s"}
    if flow.udp_rate is None:
        return {**tables, "transport": "tcp-cubic", "traffic": {"kind": "ftp"}}
    tables["traffic"] = {"kind": "constant", "rate": flow.udp_rate, "packet": f"{flow.bytes} B"}
    return tables if flow.dscp is None else {**tables, "dscp": flow.dscp}


def _echo(ping: Ping) -> Tables:
    """A request and its answer: a segment of 116 B and an acknowledgement of 52 B, 168 B as with `ping`.
    Unlike a datagram of another flow the answer waits for the end of the MAC's acknowledgement, and then
    backs off.
    """
    rate = f"{8 * ECHO_BYTES / PING_GAP_S:g} bit/s"
    return {
        "id": "ping",
        "from": ping.source,
        "to": ping.target,
        "transport": "tcp-cubic",
        "tcp": {"delayed_ack": "off"},
        "traffic": {"kind": "constant", "rate": rate, "packet": f"{ECHO_BYTES} B"},
    }


def addresses(scenario: Scenario) -> dict[str, str]:
    """The IPv4 address of each node, by the natural order of their names."""
    names = sorted((node["id"] for node in airfair.network(scenario)["nodes"]), key=natural)
    return {name: f"10.0.{number // 256}.{number % 256}" for number, name in enumerate(names, 1)}


def natural(name: str) -> list[tuple[bool, int, str]]:
    """A key of the order in which n10 follows n9."""
    parts: list[str] = []
    for letter in name:
        if parts and parts[-1][-1].isdecimal() == letter.isdecimal():
            parts[-1] += letter
        else:
            parts.append(letter)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def of_file(name: str) -> Tables:
    """The tables of one of the scenarios."""
    return tomllib.loads((SCENARIOS / f"{name}.toml").read_text())


def tcp_of(tables: Tables) -> tuple[Flow, ...]:
    """The TCP flows of a file."""
    return tuple(
        Flow(flow["id"], flow["from"], flow["to"])
        for flow in tables["flow"]
        if flow.get("transport", "udp").startswith("tcp")
    )


RADIO = {
    "standard": "802.11b",
    "data_rate": "11 Mbit/s",
    "basic_rates": ["1 Mbit/s", "2 Mbit/s"],
    "queue_packets": 100,
    "tx_power": "24.5 dBm",
    "propagation": {
        "model": "two-ray",
        "frequency": "914 MHz",
        "range": "250 m",
        "carrier_sense": "550 m",
    },
}


def chain(hops: int) -> Tables:
    """A row of nodes "0", "1" and so on, 200 m apart; nodes two hops apart sense each other."""
    nodes = {"kind": "chain", "count": hops + 1, "spacing": "200 m"}
    return {"name": "chain", "radio": RADIO, "nodes": nodes}


def wires() -> Tables:
    """Two senders, 24 and 94 ms away and back, behind a wire of 4 Mbit/s."""

    def link(one: str, other: str, rate: str, delay: str) -> Tables:
        return {"ends": [one, other], "rate": rate, "delay": delay, "queue_packets": 100}

    near, far = link("near", "in", "100 Mbit/s", "5 ms"), link("far", "in", "100 Mbit/s", "40 ms")
    shared, last = link("in", "out", "4 Mbit/s", "5 ms"), link("out", "sink", "100 Mbit/s", "2 ms")
    nodes = [{"id": name} for name in ("near", "far", "in", "out", "sink")]
    return {"name": "wires", "node": nodes, "link": [near, far, shared, last]}


def grid() -> Tables:
    """Thirty nodes, 6 x 5, 200 m apart."""
    nodes = {"kind": "grid", "columns": 6, "rows": 5, "spacing": "200 m"}
    return {"name": "grid", "radio": RADIO, "nodes": nodes}


def cut(from_s: int, until_s: int) -> Tables:
    """A link with measured gains that hears nothing from `from_s` on until `until_s`."""
    radio = {**RADIO, "propagation": {"model": "matrix"}}
    changes = [{"at": f"{from_s} s", "gain": "-200 dB"}, {"at": f"{until_s} s", "gain": "-80 dB"}]
    gain = {"from": "a", "to": "b", "gain": "-80 dB", "both": True, "changes": changes}
    return {"name": "cut", "radio": radio, "node": [{"id": "a"}, {"id": "b"}], "gain": [gain]}


def community(folder: Path) -> tuple[Tables, tuple[Flow, ...]]:
    """Thirty nodes of an invented map, drawn at random, read by the importer; four uploads to a gateway."""
    drawn = random.Random("community")
    places = [(drawn.random(), drawn.random()) for _ in range(30)]
    links = []
    for one, here in enumerate(places):
        for other, there in enumerate(places[:one]):
            distance = math.dist(here, there)
            if distance < 0.3:
                etx = round(1 + max(0.0, 6 * (distance - 0.2)), 2)
                links.append({"source": f"n{one}", "target": f"n{other}", "cost": etx})
    nodes = [{"id": f"n{number}"} for number in range(len(places))]
    kind = {"type": "NetworkGraph", "protocol": "OLSR", "version": "0.8", "metric": "ETX"}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "community.json"
    file.write_text(json.dumps({**kind, "nodes": nodes, "links": links}))
    command = [sys.executable, "-m", "airfair", "import", str(file), "--largest", "--flows", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    tables = tomllib.loads(done.stdout)
    return tables, tcp_of(tables)


def goodputs(flows: Sequence[Flow]) -> tuple[str, ...]:
    """The measures of goodput of flows."""
    return tuple(f"goodput {flow.id}" for flow in flows)

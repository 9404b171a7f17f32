"""Worlds in which airfaird acts in the nodes, and no scheme in the emulator."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import airfair

from ..emulation.judge import Check, Limit
from ..emulation.rows import access_point, hidden, pairs
from ..emulation.worlds import FIRST, World
from ..runs import ROOT

DAEMON = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "airfaird"
KEPT = ROOT / "out" / "validate-live"


@dataclass(frozen=True)
class LiveWorld(World):
    """A world with a daemon in some of its nodes."""

    daemons: tuple[tuple[str, str], ...] = ()
    """Nodes with the configurations of their daemons."""

    def programs(self, seconds: int) -> list[airfair.Program]:
        """The daemons first, then the traffic, and the daemons' states before the end."""
        before, after = [], []
        for node, text in self.daemons:
            file, socket = KEPT / "nodes" / f"{node}.toml", KEPT / "nodes" / f"{node}.sock"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f'{text}[status]\nsocket = "{socket}"\n')
            run = [*FIRST, str(DAEMON), "run", str(file)]
            before.append(airfair.Program(node, run, name=f"airfaird-{node}"))
            state = [str(DAEMON), "status", "--json", "--socket", str(socket)]
            end = f"{seconds + self.warmup_s - 1} s"
            after.append(airfair.Program(node, state, at=end, name=f"state-{node}"))
        return [*before, *super().programs(seconds), *after]


@dataclass(frozen=True)
class Row:
    """A network with a scheme, and the limits of the daemon's distance from the scheme."""

    name: str
    about: str
    scheme: str
    world: Callable[[], World]
    rate: str
    mesh: bool
    checks: tuple[Check, ...]
    overhead: str | None = None
    """The time of a packet beside its bits, where it is not that of the standard's defaults."""

    def of_scheme(self) -> World:
        """With the scheme in the emulator or the simulator."""
        return replace(self.world(), scheme=self.scheme)

    def of_daemon(self) -> LiveWorld:
        """With a daemon in each node, or in the access point."""
        world = self.world()
        names = [node["id"] for node in airfair.network(world.emulated(30))["nodes"]]
        daemons = tuple((name, self._config(name)) for name in names if self.mesh or name == "ap")
        return LiveWorld(**(_fields(world) | {"scheme": "droptail"}), daemons=daemons)

    def _config(self, node: str) -> str:
        law = self.scheme.partition(":")[0]
        text = f'scheme = "{law}"\nnode = "{node}"\n[radio.wl0]\nrate = "{self.rate}"\nload = "emulation"\n'
        if self.overhead is not None:
            text += f'overhead = "{self.overhead}"\n'
        return f'{text}[messages]\nkeys = "{keys()}"\n' if self.mesh else text


def _fields(world: World) -> dict[str, Any]:
    return {field.name: getattr(world, field.name) for field in fields(world)}


def keys() -> Path:
    """The file of keys of all nodes."""
    file = KEPT / "keys"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"one {secrets.token_hex(32)}\n")
        file.chmod(0o600)
    return file


def rows() -> list[Row]:
    """All rows, in the order of the table."""
    downs = tuple(f"goodput down{number}" for number in range(1, 7))
    ups = tuple(f"goodput up{number}" for number in range(1, 7))
    three = ("goodput left", "goodput middle", "goodput right")
    two = ("goodput left", "goodput right")
    share, total = Limit(absolute=10), Limit(relative=0.1)
    return [
        Row(
            "access-point",
            "`scenarios/access-point.toml` with ECN: six downloads, six uploads, round trips of 40 to 370 "
            "ms. LBM marks at the access point.",
            "lbm:live",
            access_point,
            "11 Mbit/s",
            mesh=False,
            checks=(
                Check("all flows", downs + ups, total),
                Check("share of downloads", downs, share, "%", share_of=downs + ups),
            ),
        ),
        Row(
            "three-pairs",
            "`scenarios/three-pairs.toml`, TCP cubic. NRED drops at the outer pairs, whom the middle one "
            "notifies; it drops by chance, so that totals may differ by a fifth.",
            "nred:live",
            pairs("nred:live", 30),
            "2 Mbit/s",
            mesh=True,
            checks=(
                Check("all flows", three, Limit(relative=0.2)),
                Check("share of the middle pair", three[1:2], share, "%", share_of=three),
                Check("share of the left pair", three[:1], share, "%", share_of=three),
            ),
        ),
        Row(
            "three-pairs-airtime",
            "The same with the airtime allocator: HTB holds each link to its share of the air. Every frame "
            "has RTS and CTS at 1 Mbit/s, 1.7 ms for each packet, which the daemons' configuration says.",
            "airtime",
            pairs("airtime", 30),
            "2 Mbit/s",
            mesh=True,
            checks=(
                Check("all flows", three, total),
                Check("share of the middle pair", three[1:2], share, "%", share_of=three),
                Check("share of the left pair", three[:1], share, "%", share_of=three),
            ),
            overhead="1.7 ms",
        ),
        Row(
            "hidden",
            "`scenarios/hidden-terminal.toml`: datagrams of two senders that do not hear each other, more "
            "than the air carries. NRED has little to do.",
            "nred:live",
            hidden,
            "2 Mbit/s",
            mesh=True,
            checks=(
                Check("both flows", two, total),
                Check("share of flow left", two[:1], share, "%", share_of=two),
            ),
        ),
    ]

"""Scenes whose rows must not hang on how their files are written, and the same scenes written in other ways.

Between them the scenes have whatever a scheme may stand at: relays and saturating sources on the air, a
bottleneck of wires, an access point before wires, and nodes that move and look for their routes (AODV, DSDV,
OLSR); datagrams, long transfers and short ones.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Any

FAR = "0-far"
"""Id of the node that is added far away; before all others also by name."""


def _node(name: str, x: int, y: int, more: str = "") -> str:
    return f'[[node]]\nid = "{name}"\nposition = ["{x} m", "{y} m"]\n{more}'


def _to_and_fro(x: int, y: int, speed: int) -> str:
    """The movement of a node that goes from (x, 0) to (x, y) and back, for ever."""
    there = f'{{ to = ["{x} m", "{y} m"], speed = "{speed} m/s" }}'
    back = f'{{ to = ["{x} m", "0 m"], speed = "20 m/s", pause = "200 ms" }}'
    return f"movement = {{ repeat = true, waypoints = [{there}, {back}] }}\n"


def _host(name: str) -> str:
    return f'[[node]]\nid = "{name}"\nradios = []\n'


def _link(one: str, other: str, rate: str, delay: str) -> str:
    return f'[[link]]\nends = ["{one}", "{other}"]\nrate = "{rate}"\ndelay = "{delay}"\nqueue_packets = 20\n'


def _flow(name: str, ends: tuple[str, str], traffic: str, *, tcp: bool = True) -> str:
    transport = 'transport = "tcp"\n' if tcp else ""
    start, end = ends
    return f'''[[flow]]
id = "{name}"
from = "{start}"
to = "{end}"
{transport}traffic = {{ {traffic} }}
'''


FTP = 'kind = "ftp"'
WEB = 'kind = "web", size = "20 kB", pause = "50 ms"'
ARRIVALS = 'kind = "arrivals", per_second = 20.0, size = "5 kB"'
CONSTANT = 'kind = "constant", rate = "300 kbit/s", packet = "500 B"'
SATURATING = 'kind = "saturating"'

_TOP = 'duration = "10 s"\nwarmup = "100 ms"\n'
_TCP = "[tcp]\necn = true\n"
_RADIO = (
    '[radio]\nstandard = "802.11b"\nqueue_packets = 20\n'
    'propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }\n'
)


def _scene(name: str, *parts: str) -> str:
    return "".join([f'name = "{name}"\n', _TOP, _TCP, *parts])


def _moving(routing: str) -> str:
    """Nodes that move; `routing`: what `[routing]` contains, and tables behind it."""
    return _scene(
        "moving",
        f'[routing]\n{routing}[movement]\nrefresh_interval = "10 ms"\n',
        _RADIO,
        *(_node(f"m{i}", 180 * i, 0) for i in (0, 2, 4)),
        *(_node(f"m{i}", 180 * i, 0, _to_and_fro(180 * i, 200 - 60 * i, 15 + 5 * i)) for i in (1, 3, 5)),
        _flow("long", ("m0", "m4"), FTP),
        _flow("back", ("m4", "m1"), WEB),
        _flow("even", ("m3", "m0"), CONSTANT, tcp=False),
        _flow("greedy", ("m5", "m4"), SATURATING, tcp=False),
    )


SCENES: Mapping[str, str] = {
    "relays on the air": _scene(
        "relays",
        _RADIO,
        *(_node(f"r{i}", 200 * i, 0) for i in range(5)),
        _node("side", 400, 150),
        _flow("long", ("r0", "r4"), FTP),
        _flow("back", ("r3", "r0"), WEB),
        _flow("short", ("r4", "r2"), ARRIVALS),
        _flow("greedy", ("r2", "side"), SATURATING, tcp=False),
        _flow("even", ("side", "r1"), CONSTANT, tcp=False),
    ),
    "wires": _scene(
        "wires",
        *(_host(name) for name in ("a", "b", "c", "left", "middle", "right", "x", "y", "z")),
        *(_link(name, "left", "20 Mbit/s", "2 ms") for name in ("a", "b", "c")),
        _link("left", "middle", "5 Mbit/s", "5 ms"),
        _link("right", "middle", "4 Mbit/s", "5 ms"),
        *(_link("right", name, "20 Mbit/s", "2 ms") for name in ("x", "y", "z")),
        _flow("a-x", ("a", "x"), FTP),
        _flow("b-y", ("b", "y"), FTP),
        _flow("y-b", ("y", "b"), ARRIVALS),
        _flow("c-middle", ("c", "middle"), WEB),
        _flow("c-z", ("c", "z"), CONSTANT, tcp=False),
        _flow("right-middle", ("right", "middle"), SATURATING, tcp=False),
    ),
    "access point": _scene(
        "cell",
        _RADIO,
        _node("ap", 0, 0),
        *(_node(f"s{i}", 60 * i - 120, 90) for i in range(5)),
        *(_host(name) for name in ("near", "far")),
        _link("ap", "near", "100 Mbit/s", "1 ms"),
        _link("near", "far", "10 Mbit/s", "20 ms"),
        _flow("down", ("far", "s0"), FTP),
        _flow("down-too", ("near", "s1"), FTP),
        _flow("up", ("s2", "far"), FTP),
        _flow("pages", ("near", "s3"), WEB),
        _flow("voice", ("s4", "far"), CONSTANT, tcp=False),
    ),
    "nodes that move, AODV": _moving('protocol = "aodv"\n'),
    "nodes that move, DSDV": _moving(
        'protocol = "dsdv"\n[dsdv]\nperiod = "400 ms"\nstart_jitter = "100 ms"\nsettling_time = "100 ms"\n'
    ),
    "nodes that move, OLSR": _moving(
        'protocol = "olsr"\n[olsr]\nmetric = "etx"\nhello_interval = "100 ms"\ntc_interval = "250 ms"\n'
    ),
}
"""Scenarios as TOML, by what they are."""


def _blocks(text: str) -> list[str]:
    """The text before the first table, then each table."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return re.split(r"(?m)^(?=\[)", "\n".join(lines) + "\n")


def shuffled(text: str, seed: int) -> str:
    """The same scenario with its tables in another order, and with the ends of some links swapped."""
    draw = random.Random(seed)
    head, *blocks = _blocks(text)
    draw.shuffle(blocks)
    for place, block in enumerate(blocks):
        if block.startswith("[[link]]") and draw.random() < 0.5:
            blocks[place] = re.sub(
                r'(?m)^ends = \[("[^"]*"), ("[^"]*")\]', r"ends = [\2, \1]", block, count=1
            )
    return head + "".join(blocks)


def with_idle_node(text: str) -> str:
    """The same scenario with one more node before all others, 900 km away and without traffic; it has a radio
    if others have one."""
    head, *blocks = _blocks(text)
    radios = "" if any(block.startswith("[radio]") for block in blocks) else "radios = []\n"
    return "".join([head, f'[[node]]\nid = "{FAR}"\nposition = ["900 km", "0 m"]\n{radios}', *blocks])


def by_name(text: str) -> dict[str, Any]:
    """A result for comparison: rows by name, without the node `FAR`, `perf`, the scenario, and the sums of
    routing and control messages over all nodes, in which `FAR` has its own."""
    result: dict[str, Any] = json.loads(text)
    for key in ("perf", "scenario"):
        del result[key]
    if result.get("routing"):
        result["routing"] = {flow["id"]: flow for flow in result["routing"].get("flows", [])}
    result["flows"] = {flow["id"]: flow for flow in result["flows"]}
    result["stations"] = {
        (row["node"], row["radio"]): row for row in result["stations"] if row["node"] != FAR
    }
    result["queues"] = {(row["node"], row["towards"]): row for row in result["queues"] if row["node"] != FAR}
    result["channel_utilisation"].pop(FAR, None)
    result["warnings"].sort()
    result.pop("control", None)
    result.get("allocations", []).sort(key=lambda row: row["flow"])
    return result

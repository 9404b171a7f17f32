"""Results have the keys and types that `airfair.results` declares: no other, and none is missing."""

from __future__ import annotations

import json
import sys
from types import NoneType, UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import airfair
import pytest
from airfair import Scenario, _core, results
from airfair.scheme import Context, Controller, ControllerSetup, Scheme, register
from airfair.sequential import NUMBERS
from airfair.sweeping import columns, worker

from tests.support import ROOT, SCENARIOS
from tests.test_c3l import line
from tests.test_captures import AODV
from tests.test_udp import scenario as over_udp

SHORT = ["duration=2 s", "warmup=100 ms"]
MESH = ROOT / "crates" / "scenario" / "tests" / "import" / "meshviewer.json"
WIRED_AODV = """
name = "wire"
duration = "1 s"
warmup = "0 s"
routing = { protocol = "aodv" }
[[node]]
id = "a"
[[node]]
id = "b"
[[link]]
ends = ["a", "b"]
rate = "1 Mbit/s"
[[flow]]
id = "f"
from = "a"
to = "b"
traffic = { kind = "constant", rate = "40 kbit/s" }
[[flow]]
id = "late"
from = "a"
to = "b"
traffic = { kind = "file", size = "200 kB" }
transport = "tcp"
"""

Seen = set[tuple[str, str]]


def differences(value: Any, hint: Any, place: str, seen: Seen) -> list[str]:  # noqa: ANN401 - JSON and types
    """How a value differs from its declared type. `seen` collects the keys that were there."""
    if is_typeddict(hint):
        keys = get_type_hints(hint)
        seen |= {(hint.__name__, key) for key in value}
        extras = get_type_hints(hint, include_extras=True)
        optional = {key for key, kind in extras.items() if get_origin(kind) is NotRequired}
        found = [f"{place}: no {key}" for key in sorted(keys.keys() - optional - value.keys())]
        found += [f"{place}.{key}: not declared" for key in value.keys() - keys.keys()]
        return found + [
            text
            for key in value.keys() & keys.keys()
            for text in differences(value[key], keys[key], f"{place}.{key}", seen)
        ]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if value is None and NoneType in arguments:
            return []
        (kind,) = (argument for argument in arguments if argument is not NoneType)
        return differences(value, kind, place, seen)
    if origin is list and isinstance(value, list):
        return [
            t for i, item in enumerate(value) for t in differences(item, arguments[0], f"{place}[{i}]", seen)
        ]
    if origin is dict and isinstance(value, dict):
        return [t for k, item in value.items() for t in differences(item, arguments[1], f"{place}.{k}", seen)]
    return [] if type(value) is hint else [f"{place}: {value!r}, declared as {hint}"]


def declared(kind: Any) -> Seen:  # noqa: ANN401 - a type
    """Every key of a declaration and of those within it."""
    if not is_typeddict(kind):
        return {pair for argument in get_args(kind) for pair in declared(argument)}
    hints = get_type_hints(kind)
    return {(kind.__name__, key) for key in hints}.union(*map(declared, hints.values()))


class Silent(Controller):
    """A controller that says nothing."""

    def on_start(self, setup: ControllerSetup, context: Context) -> None:
        pass

    def on_message(self, source: int, data: bytes, context: Context) -> None:
        pass


class Silence(Scheme):
    """a controller that says nothing"""

    name = "silence"
    origin = "a test"

    def controller(self) -> Controller:
        return Silent()


def test_a_run() -> None:
    register(Silence)
    seen: Seen = set()
    scenes = {
        "silence": Scenario.read(SCENARIOS / "three-pairs.toml", SHORT),
        "nred": Scenario.read(SCENARIOS / "three-pairs.toml", SHORT),
        "lbm": Scenario.read(SCENARIOS / "three-pairs.toml", [*SHORT, "radio.categories=edca"]),
        "qfcp": Scenario.read(SCENARIOS / "short-flows.toml", ["duration=3 s", "warmup=0 s"]),
        "droptail": Scenario.parse(AODV),
        "diffq:paper": Scenario.read(SCENARIOS / "three-pairs.toml", SHORT),
        "red": Scenario.parse(WIRED_AODV),
        "codel": Scenario.parse(WIRED_AODV.replace("aodv", "olsr")),
        "c3l": Scenario.parse(line(0, 200, 400, 600), "c3l", ["duration=30 s", "warmup=1 s"]),
        "tfrc": over_udp('transport = "udp"'),
        "more": Scenario.parse(line(0, 200, 400, 600), "more", ["duration=30 s", "warmup=1 s"]),
        "exor": Scenario.parse(line(0, 200, 400, 600), "exor", ["duration=30 s", "warmup=1 s"]),
    }
    for scheme, scenario in scenes.items():
        result = airfair.run(scenario, scheme=scheme, windows="500 ms")
        assert differences(result, results.RunResult, scheme, seen) == []
    moving = SCENARIOS / "drive-by.toml"
    for file, scheme in (
        (SCENARIOS / "three-pairs.toml", "red"),
        (moving, "vegas"),
        (moving, "droptail"),
    ):
        result = airfair.run(file, scheme=scheme, overrides=SHORT, optimum=True)
        assert differences(result, results.RunResult, scheme, seen) == []
    paced, _ = _core.run_paced(scenes["red"], None, 1, 1e6)
    assert differences(json.loads(paced), results.RunResult, "paced", seen) == []
    if _core.emulation_lacks() is None:
        text = "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'1', ('10.0.0.4', 9))"
        program = airfair.Program("a1", [sys.executable, "-c", text], ends_run=True)
        emulated = airfair.emulate(SCENARIOS / "three-pairs.toml", [program], scheme="rcp").result
        assert emulated["emulation"]["flows"]
        assert differences(emulated, results.RunResult, "emulated", seen) == []
    else:
        seen |= declared(results.Emulation) | {("RunResult", "emulation")}
    assert declared(results.RunResult) - seen == set()


def test_every_station_of_a_run_with_txops_counts_cf_ends() -> None:
    """A sender of single packets ends each TXOP with a CF-End; the receiver sends none."""

    def stations(radio: str) -> list[results.StationResult]:
        nodes = "".join(
            f'[[node]]\nid = "{n}"\nposition = ["{x} m", "0 m"]\n' for n, x in (("a", 0), ("b", 9))
        )
        traffic = '{ kind = "constant", rate = "1 Mbit/s" }'
        flow = f'[[flow]]\nid = "f"\nfrom = "a"\nto = "b"\ndscp = 48\ntraffic = {traffic}\n'
        text = f'name = "x"\nduration = "100 ms"\n[radio]\nstandard = "802.11b"\n{radio}\n{nodes}{flow}'
        return airfair.run(Scenario.parse(text, "x"))["stations"]

    a, b = stations('categories = "edca"\ntxop_end = "cf-end"')
    assert a["sent"]["CF-END"] > 5
    assert b["sent"]["CF-END"] == 0
    assert a["received"]["CF-END"] == 0
    for radio, known in (
        ('categories = "edca"\ntxop_end = "silent"', True),
        ('categories = "diffq"', False),
        ("", False),
    ):
        for station in stations(radio):
            counts = [station["sent"].get("CF-END"), station["received"].get("CF-END")]
            assert counts == ([0, 0] if known else [None, None])


def test_a_comparison() -> None:
    seen: Seen = set()
    scenario = Scenario.parse(WIRED_AODV)
    rows = airfair.compare(scenario, schemes=["droptail", "red"], seeds=[1, 2], windows="200 ms")
    rows += airfair.compare(
        SCENARIOS / "three-pairs.toml", schemes=["droptail", "red"], seeds=[1], overrides=SHORT, optimum=True
    )
    mixed = Scenario.read(SCENARIOS / "gateway.toml", SHORT)
    rows += airfair.compare(
        mixed, schemes=["droptail", "red"], seeds=range(10), until_halfwidth=0.9, max_seeds=10
    )
    carried = SCENARIOS / "lossy-diamond.toml"
    rows += airfair.compare(carried, schemes=["more", "exor"], seeds=[1, 2], overrides=["duration=2 s"])
    changed = ["droptail", "red[red.min_th=3]"]
    rows += airfair.compare(SCENARIOS / "three-pairs.toml", schemes=changed, seeds=[1], overrides=SHORT)
    for number, row in enumerate(rows):
        assert differences(row, results.CompareRow, f"row {number}", seen) == []
    # Runs where a number is missing, and lateness, are no part of a comparison of scenes like these.
    assert declared(results.CompareRow) - seen <= {
        ("Estimate", "runs"),
        ("Perf", "lateness"),
        *declared(results.Lateness),
    }


@pytest.mark.parametrize("name", ["drive-by", "gateway"])
def test_a_network(name: str) -> None:
    network = airfair.network(SCENARIOS / f"{name}.toml")
    assert differences(network, results.Network, name, set()) == []


def test_schemes_and_imports() -> None:
    for scheme in airfair.schemes():
        assert differences(scheme, results.SchemeInfo, scheme["name"], set()) == []
    _, report = airfair.import_network(MESH, flows=2)
    assert differences(report, results.ImportReport, "report", set()) == []


def test_differences_are_found() -> None:
    right = {"ends": ["a", "b"], "rate_bps": 3, "delay_s": 0.5}
    assert differences(right, results.WiredLink, "link", set()) == []
    for wrong in ({**right, "delay_s": 1}, {**right, "more": 1}, {"ends": ["a"]}, {**right, "ends": [None]}):
        assert differences(wrong, results.WiredLink, "link", set())


def test_a_sweep_keeps_what_a_run_has() -> None:
    """The tables of a sweep are a choice of the numbers of a run and of its flows; types are those that are
    declared.
    """
    of_flow = results.scalars(results.FlowResult)
    assert set(of_flow) - set(worker.FLOW) == {"fallbacks"}
    assert set(worker.SCALARS) == set(results.scalars(results.RunResult))
    over_flows = {  # made of the numbers of the flows
        "mean_flow_delay_s": "mean_delay_s",
        "p99_flow_delay_s": "p99_delay_s",
        "mean_flow_loss_ratio": "loss_ratio",
    }
    assert set(NUMBERS) - set(over_flows) < set(worker.SCALARS)
    assert set(over_flows.values()) < set(worker.FLOW)
    assert [name for name, _ in columns.TABLES["flows"]][: len(worker.FLOW)] == list(worker.FLOW)

"""The comparison of emulation and simulation: limits, tables, and the reading of what programs print."""

from __future__ import annotations

import json
import math

from validation.emulation.judge import Check, Limit, cells, judged, span
from validation.emulation.routing import events_of, rerouted, settled
from validation.emulation.runs import counter, mean_ping, of_receiver
from validation.emulation.worlds import natural

MONITOR = """[2026-03-01T10:00:02.500000] local 10.0.0.1 dev wl0 table local proto kernel scope host
[2026-03-01T10:00:03.250000] 10.0.0.2 via 10.0.0.2 dev wl0 proto babel onlink
[2026-03-01T10:00:04.000000] Deleted 10.0.0.2 via 10.0.0.2 dev wl0 proto babel onlink
[2026-03-01T10:00:05.000000] 10.0.0.2 via 10.0.0.3 dev wl0 proto babel onlink
"""


def test_limits() -> None:
    assert Limit(relative=0.05).holds(100, 105)
    assert not Limit(relative=0.05).holds(100, 105.1)
    assert not Limit(relative=0.05).holds(None, 100)
    assert Limit(relative=0.2, least=300).holds(380, 310)
    assert not Limit(relative=0.2, least=300).holds(340, 299)
    assert Limit(absolute=0.25).holds(1.0, 1.25)
    assert not Limit(most=15).holds(None, math.nan)
    assert Limit(least=0, most=0).text("") == "exactly 0"
    assert Limit(relative=0.2, least=300).text("kbit/s") == "± 20 %, at least 300"


def test_a_line() -> None:
    check = Check("both", ("goodput a", "goodput b"), Limit(relative=0.1))
    runs = [{"goodput a": 60.0, "goodput b": 48.0, "received goodput a": 50.0, "received goodput b": 40.0}]
    line = judged("row", check, [{"goodput a": 50.0, "goodput b": 50.0}], runs)
    assert cells(line) == ["both, kbit/s", "100", "108", "+8.0 %", "± 10 %", "90", "yes"]
    assert not judged("row", check, [{"goodput a": 50.0, "goodput b": 50.0}], []).ok
    share = Check("share", ("goodput a",), Limit(absolute=10), "%", share_of=("goodput a", "goodput b"))
    assert math.isclose(share.value(runs[0]), 100 * 60 / 108)
    less = Check("less", ("marks",), Limit(least=0, most=0), "", ("CE",), alone=True)
    assert judged("row", less, [], [{"marks": 7, "CE": 7}]).ok
    assert not judged("row", less, [], [{"marks": 7, "CE": 6}]).ok
    assert not judged("row", less, [], [{"marks": 7}]).ok
    assert (span([1.25, 1.25]), span([7.0, 123.4]), span([])) == ("1.25", "7 to 123", "–")


def test_reports_of_programs() -> None:
    flow = {"intervals": [1000, 1000, 1000, 1000, 2000, 2000, 9000], "packets": None}
    report = json.dumps({"flows": [flow]})
    # The first byte comes at 1.5 s: the first whole second after 5 s is the fifth, from 5.5 s; the sixth ends
    # at 7.5 s, before the end.
    # Of four parts of two seconds two have none.
    parts = {"part 2 goodput a": 16.0, "part 4 goodput a": 16.0}
    expected = {"received goodput a": 8e-3 * 4000 / 2, **parts}
    assert of_receiver("a", report, first_s=1.5, from_s=5, until_s=8) == expected
    assert of_receiver("a", '{"flows": []}', first_s=1.5, from_s=5, until_s=8) == {}
    answer = "64 bytes from 10.0.0.2: icmp_seq={} ttl=64 time={} ms\n"
    text = answer.format(1, 90) + answer.format(20, 1.5)
    assert mean_ping(text, warmup_s=5) == 1.5
    assert math.isnan(mean_ping("", warmup_s=5))
    table = "TcpExt: A B\nTcpExt: 1 2\nIpExt: InNoRoutes InCEPkts\nIpExt: 0 76\n"
    assert counter(table, "IpExt", "InCEPkts") == 76
    assert math.isnan(counter(table, "Tcp", "InCsumErrors"))


def test_routes() -> None:
    events = events_of(MONITOR)
    assert [(deleted, target, hop) for _, deleted, target, hop in events] == [
        (False, "10.0.0.2", "10.0.0.2"),
        (True, "10.0.0.2", "10.0.0.2"),
        (False, "10.0.0.2", "10.0.0.3"),
    ]
    first = events[0][0]
    assert rerouted(events, "10.0.0.2", "10.0.0.2", after=first) - first == 1.75
    back = [(first + 1, False, "10.0.0.1", "10.0.0.1")]
    every = ["10.0.0.1", "10.0.0.2"]
    assert settled({"10.0.0.1": events, "10.0.0.2": back}, every) - first == 1.75
    assert math.isnan(settled({"10.0.0.1": events, "10.0.0.2": []}, every))


def test_order_of_names() -> None:
    assert sorted(["n10", "n9", "ap", "n1"], key=natural) == ["ap", "n1", "n9", "n10"]

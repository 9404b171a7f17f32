"""Traffic over real sockets: the two ends as commands, beside plain sockets."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from airfair import InputError, _core
from airfair.commands import load

from tests.support import airfair

LOOPBACK = ("127.0.0.1", "::1")


@contextmanager
def receiving(*options: str) -> Iterator[tuple[int, Callable[[], Any]]]:
    """A receiver as a process: its port, and a function that waits for its report."""
    command = [sys.executable, "-m", "airfair", "load", "receive", "--port", "0", "--for", "20 s", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            word, port = process.stderr.readline().split()
            assert word == "port"

            def report() -> Any:  # noqa: ANN401 - JSON
                out, err = process.communicate(timeout=30)
                assert (process.returncode, err) == (0, "")
                return json.loads(out) if "--json" in options else out

            yield int(port), report
        finally:
            process.kill()


def sent(host: str, port: int, *options: tuple[str, str]) -> Any:  # noqa: ANN401 - JSON
    """The report of a sender in this process."""
    text, ended_by = _core.load_send(host, [("port", str(port)), *options])
    assert ended_by is None
    return json.loads(text)


def test_a_stream_from_a_plain_socket() -> None:
    """A receiver needs no sender of ours: 300,000 bytes are 300,000 bytes."""
    with receiving("--json", "--every", "1 h") as (port, report):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(bytes(300_000))
        (flow,) = report()["flows"]
    assert (flow["transport"], flow["bytes"], flow["ended"]) == ("tcp", 300_000, True)
    assert flow["intervals"] == [300_000]
    assert flow["packets"] is None


@pytest.mark.parametrize("host", LOOPBACK)
def test_datagrams(host: str) -> None:
    """1000 B at 8 Mbit/s are one a millisecond."""
    with receiving("--json") as (port, report):
        flow = [("udp", ""), ("rate", "8 Mbit/s"), ("for", "0.1 s"), ("wait", "0 s")]
        done = sent(host, port, *flow)
        received = report()
    assert done["packets"] + done["skipped"] == 100
    (found,) = received["flows"]
    packets = found["packets"]
    assert (packets["received"], packets["lost"]) == (done["packets"], 0)
    assert found["bytes"] == 1000 * done["packets"]
    assert (received["overflowed"] or 0, received["ignored"]) == (0, 0)
    if sys.platform == "linux":
        assert 0 < packets["delay_p50_s"] <= packets["delay_p99_s"] <= packets["delay_max_s"]


def test_the_commands_for_a_reader() -> None:
    """Lines of at most 80 columns. Kernels have Reno, which any user may choose."""
    control = ("--congestion-control", "reno") if sys.platform == "linux" else ()
    with receiving("--every", "1 ms", "--from", "0 s", "--to", "1 ms") as (port, report):
        done = airfair("load", "send", "localhost", "--port", str(port), "--bytes", "2 MB", *control)
        text = report()
    assert (done.returncode, done.stderr) == (0, "")
    assert "2000000 B in " in done.stdout
    if control:
        assert "  reno: " in done.stdout
    assert "2000000 B in " in text
    assert "kbit/s in the window" in text
    assert "bytes each 1 ms: " in text
    assert max(map(len, (text + done.stdout).splitlines())) <= 80


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_report(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "airfair", "load", "receive", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("port ")
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    report = json.loads(out)
    assert (report["interrupted"], report["flows"]) == (True, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("send", "::1", "--rate", "6"), '--rate: "6": the unit is missing; expected a rate such as'),
        (("send", "::1", "--udp"), '--udp needs a rate: --rate "1 Mbit/s"'),
        (("send", "::1", "--ecn"), "--ecn goes with --udp"),
        (("send", "::1", "--dscp", "64"), '--dscp: "64": expected a whole number, 0 to 63, or EF'),
        (("send", "::1", "--congestion-control", "nonesuch"), "--congestion-control: nonesuch: "),
        (("send", "no-such-host.invalid"), "no-such-host.invalid: "),
        (("send", "127.0.0.1", "--port", "1", "--wait", "0 s"), "127.0.0.1:1: Connection refused"),
        (("receive", "--flows", "65"), '--flows: "65": expected a whole number, 1 to 64'),
        (("receive", "--from", "1 s"), "--from goes with --to"),
    ],
    ids=" ".join,
)
def test_errors(arguments: tuple[str, ...], message: str) -> None:
    name, *options = arguments
    host = [options.pop(0)] if name == "send" else []
    given = {
        option.removeprefix("--"): "" if option in ("--udp", "--ecn") else options[i + 1]
        for i, option in enumerate(options)
        if option.startswith("--")
    }
    pairs = list(given.items())
    with pytest.raises(InputError) as error:
        _core.load_send(host[0], pairs) if host else _core.load_receive(pairs)
    assert str(error.value).startswith(message)


def test_an_error_of_the_command() -> None:
    done = airfair("load", "send", "::1", "--udp")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == '--udp needs a rate: --rate "1 Mbit/s"\n'


@pytest.mark.parametrize("wrong", [None, 3, "port", [("port",)], [("port", 7000)], b"port"])
def test_wrong_arguments_of_the_core(wrong: Any) -> None:  # noqa: ANN401 - wrong types
    for call in (_core.load_receive, lambda options: _core.load_send("::1", options)):
        with pytest.raises(InputError, match="options: "):
            call(wrong)
    if not isinstance(wrong, str):
        with pytest.raises(InputError, match="host: "):
            _core.load_send(wrong, [])


def test_a_report_of_nothing() -> None:
    text, _ = _core.load_receive([("port", "0"), ("for", "1 ms")])
    report = json.loads(text)
    assert load.show_received(report)[0].startswith("nothing received in ")
    keys = set(load.Received.__annotations__)
    assert set(report) == keys

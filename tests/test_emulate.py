"""Real stacks over simulated air: what programs in nodes see, how a run ends, and that nothing is left."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from airfair import _core

from .support import ROOT

LACKS = _core.emulation_lacks()
pytestmark = pytest.mark.skipif(LACKS is not None, reason=f"no emulation here: {LACKS}")

PAIRS = ROOT / "scenarios" / "three-pairs.toml"
CHAIN = ROOT / "scenarios" / "chain.toml"

SERVER = """
import socket
listening = socket.create_server(("", 7000), family=socket.AF_INET6, dualstack_ipv6=True)
connection, _ = listening.accept()
while data := connection.recv(65536):
    connection.sendall(data)
"""

CLIENT = """
import socket, sys, time
for attempt in range(200):
    try:
        connection = socket.create_connection((sys.argv[1], 7000), timeout=10)
        break
    except OSError:
        time.sleep(0.1)
sent = bytes(range(256)) * 400
connection.sendall(sent)
connection.shutdown(socket.SHUT_WR)
back = b""
while data := connection.recv(65536):
    back += data
assert back == sent, (len(back), len(sent))
print(socket.gethostname())
"""


def emulate(*arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "airfair", "emulate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def emulated(*arguments: str) -> dict[str, object]:
    """The report of a run that has ended well; the program has printed nothing."""
    done = emulate(*arguments)
    assert done.returncode == 0, done.stderr
    report: dict[str, object] = json.loads(done.stdout)
    return report


def test_a_connection_over_several_hops() -> None:
    """102,400 bytes there and back over a chain, by name and by the address of IPv4: relays forward."""
    # Nodes have a /tmp of their own: programs are given by their text.
    server = shlex.join([sys.executable, "-c", SERVER])
    for address in ("n3", "10.0.0.4"):
        client = ("--node", "0", "--", sys.executable, "-c", CLIENT, address)
        done = emulate(str(CHAIN), "--beside", "3", server, *client)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "n0"


def test_the_exit_status_is_the_program_s() -> None:
    for code in (0, 3):
        done = emulate(str(PAIRS), "--node", "a1", "--", sys.executable, "-c", f"raise SystemExit({code})")
        assert done.returncode == code, done.stderr


def test_names_and_addresses_in_a_node() -> None:
    """A node has its own name, its own /run and /tmp, and nothing of the machine's network."""
    text = (
        "import os, socket; print(socket.gethostname(), sorted(name for _, name in socket.if_nameindex()), "
        "os.listdir('/tmp'), os.listdir('/run'), os.environ['AIRFAIR_NODE'], socket.gethostbyname('b2'))"
    )
    done = emulate(str(PAIRS), "--node", "a2", "--", sys.executable, "-c", text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "a2 ['lo', 'wl0'] [] [] a2 10.0.0.5"


def test_bad_input_is_named_before_the_run() -> None:
    for arguments, message in (
        (("--node", "zz", "--", "true"), "--node zz: the scenario has no such node"),
        (("--node", "a1"), "belong together"),
        (("--node", "a1", "--", "no-such-program"), "node a1: no-such-program: no such program"),
        (("--scheme", "nonesuch"), "nonesuch"),
        (("--scheme", "qfcp"), "no emulation of qfcp: it acts as source and hop"),
        (("--congestion-control", "nonesuch", "--node", "a1", "--", "true"), "congestion control nonesuch"),
    ):
        done = emulate(str(PAIRS), *arguments)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_a_run_without_programs_ends_with_the_scenario() -> None:
    report = emulated(str(PAIRS), "--set", 'duration="1 s"', "--set", 'warmup="0 s"', "--json")
    assert float(str(report["wall_s"])) >= 1
    assert report["programs"] == []


def test_many_nodes(tmp_path: Path) -> None:
    """More than the kernel answers about at once; out of reach of each other, so that there are no routes."""
    scenario = tmp_path / "many.toml"
    grid = '[nodes]\nkind = "grid"\ncolumns = 15\nrows = 10\nspacing = "9 km"\n'
    scenario.write_text(
        f'name = "many"\nduration = "20 s"\nwarmup = "0 s"\n[radio]\n{grid}', encoding="utf-8"
    )
    done = emulate(str(scenario), "--node", "149", "--", sys.executable, "-c", "print('here')", timeout=240)
    assert (done.returncode, done.stdout) == (0, "here\n"), done.stderr


def test_an_interrupt_ends_it_with_a_report() -> None:
    command = [sys.executable, "-m", "airfair", "emulate", str(CHAIN), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "6 nodes" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert json.loads(out)["interrupted"], err


def links(pid: str, kind: str) -> str | None:
    """A namespace of a process; None where it has ended, or may not be seen."""
    try:
        return str(Path(f"/proc/{pid}/ns/{kind}").readlink())
    except OSError:
        return None


def processes() -> list[str]:
    return [folder.name for folder in Path("/proc").iterdir() if folder.name.isdecimal()]


def left() -> tuple[int, int]:
    """Numbers of devices and of mounts, which a run could leave."""
    devices = Path("/proc/net/dev").read_text().count(":")
    return devices, len(Path("/proc/self/mounts").read_text().splitlines())


def running(marker: str) -> list[str]:
    """Processes with a text among their words."""
    found = []
    for pid in processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in words:
            found.append(pid)
    return found


def test_nothing_is_left_after_a_kill() -> None:
    """Killed at six moments, from before the first namespace to the middle of the run: the programs end, and
    devices, namespaces and mounts are as before."""
    marker = f"airfair-emulate-test-{os.getpid()}"
    program = f"import time\nwhile True: time.sleep(1) # {marker}"
    before, own = left(), links("self", "net")
    moments = random.Random(43)
    for _ in range(6):
        command = [sys.executable, "-m", "airfair", "emulate", str(CHAIN), "--node", "0", "--"]
        with subprocess.Popen(
            [*command, sys.executable, "-c", program], stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(moments.uniform(0.1, 1.5))
            namespaces = {links(pid, "net") for pid in running(marker)} - {own, None}
            process.kill()
        deadline = time.monotonic() + 20
        while running(marker) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert running(marker) == []
        assert not namespaces & {links(pid, "net") for pid in processes()}
        assert left() == before


def test_a_part_that_is_the_stacks_own_is_named() -> None:
    command = ("--node", "a1", "--", sys.executable, "-c", "pass")
    done = emulate(str(PAIRS), "--scheme", "diffq", *command)
    assert done.returncode == 0, done.stderr
    assert "diffq acts here without its source" in done.stderr
    assert "acts here without" not in emulate(str(PAIRS), "--scheme", "nred+fq-codel", *command).stderr

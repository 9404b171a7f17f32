"""Real stacks over simulated air: what programs in nodes see, how a run ends, and that nothing is left."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import airfair
import pytest
from airfair import _core
from airfair.emulating import page as pages
from airfair.explaining import emulated as explained

from .support import ROOT

LACKS = _core.emulation_lacks()
pytestmark = pytest.mark.skipif(LACKS is not None, reason=f"no emulation here: {LACKS}")

PAIRS = ROOT / "scenarios" / "three-pairs.toml"
CHAIN = ROOT / "scenarios" / "chain.toml"
CHAIN_SCENARIO = airfair.Scenario.read(CHAIN)

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
sent = bytes(range(256)) * 150
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
    report: dict[str, object] = json.loads(done.stdout)["emulation"]
    return report


def test_a_connection_over_several_hops() -> None:
    """38,400 bytes there and back over a chain, by name and by the address of IPv4: relays forward."""
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


def test_a_program_with_a_group_of_its_own_ends_the_run() -> None:
    """As interactive shells and `timeout` have one."""
    for words in (("setsid", "-w", "sh", "-c", "exit 5"), ("timeout", "9", "sh", "-c", "exit 5")):
        assert emulate(str(PAIRS), "--node", "a1", "--", *words, timeout=20).returncode == 5


def test_names_and_addresses_in_a_node() -> None:
    """A node has its own name, its own /run and /tmp, and nothing of the machine's network."""
    text = (
        "import os, socket; print(socket.gethostname(), sorted(name for _, name in socket.if_nameindex()), "
        "os.listdir('/tmp'), os.listdir('/run'), os.environ['AIRFAIR_NODE'], socket.gethostbyname('b2'))"
    )
    done = emulate(str(PAIRS), "--node", "a2", "--", sys.executable, "-c", text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "a2 ['lo', 'mgmt0', 'wl0'] [] [] a2 10.0.0.5"


def test_bad_input_is_named_before_the_run() -> None:
    for arguments, message in (
        (("--node", "zz", "--", "true"), "node zz: the scenario has no such node"),
        (("--node", "a1"), "belong together"),
        (("--node", "a1", "--", "no-such-program"), "node a1: no-such-program: no such program"),
        (("--scheme", "nonesuch"), "nonesuch"),
        (("--scheme", "cubic"), "no emulation of cubic: it acts as source"),
        (("--scheme", "more"), "no emulation of more: it acts as forwarder"),
        (("--congestion-control", "nonesuch", "--node", "a1", "--", "true"), "congestion control nonesuch"),
        (("--for", "5 apples"), "--for"),
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
    assert json.loads(out)["emulation"]["interrupted"], err


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


def lives(pid: int, marker: str, namespaces: set[str | None]) -> bool:
    """True as long as something of an emulation is there. A process that ends has no command any more before
    it leaves its namespaces."""
    held = namespaces & {links(other, "net") for other in processes()}
    return bool(running(marker) or held or pid in dict(_core.emulations()))


def test_nothing_is_left_after_a_kill() -> None:
    """Killed at twenty moments, from before the first namespace to the middle of the run: the programs end,
    and devices, namespaces and mounts are as before. The next look removes the socket of a killed run."""
    marker = f"airfair-emulate-test-{os.getpid()}"
    program = f"import time\nwhile True: time.sleep(1) # {marker}"
    before, own = left(), links("self", "net")
    moments = random.Random(43)
    for _ in range(20):
        command = [sys.executable, "-m", "airfair", "emulate", str(CHAIN), "--node", "0", "--"]
        with subprocess.Popen(
            [*command, sys.executable, "-c", program], stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(moments.uniform(0.1, 1.2))
            namespaces = {links(pid, "net") for pid in running(marker)} - {own, None}
            process.kill()
        deadline = time.monotonic() + 20
        while lives(process.pid, marker, namespaces) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert running(marker) == []
        assert not namespaces & {links(pid, "net") for pid in processes()}
        assert left() == before
        assert process.pid not in dict(_core.emulations())


def test_a_part_that_is_the_stacks_own_is_named() -> None:
    command = ("--node", "a1", "--", sys.executable, "-c", "pass")
    done = emulate(str(PAIRS), "--scheme", "diffq", *command)
    assert done.returncode == 0, done.stderr
    assert "diffq acts here without its source" in done.stderr
    assert "qfcp: its sources act at the edge" in emulate(str(PAIRS), "--scheme", "qfcp", *command).stderr
    assert "acts here without" not in emulate(str(PAIRS), "--scheme", "nred+fq-codel", *command).stderr


def running_emulation(*arguments: str) -> subprocess.Popen[str]:
    """An emulation that has begun; whoever uses it ends it."""
    command = [sys.executable, "-m", "airfair", "emulate", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "nodes" in process.stderr.readline()
    return process


def test_a_command_from_another_terminal() -> None:
    """`airfair exec` runs in the node, in the processes of the run, and exits as the command does."""
    with running_emulation(str(PAIRS), "--for", "60 s", "--json") as process:
        command = [sys.executable, "-m", "airfair", "exec", "--run", str(process.pid), "b2", "--"]
        text = "import os, socket; print(socket.gethostname(), os.getpid() < 1000); raise SystemExit(7)"
        done = subprocess.run(
            [*command, sys.executable, "-c", text], capture_output=True, text=True, timeout=30, check=False
        )
        assert (done.returncode, done.stdout) == (7, "b2 True\n"), done.stderr
        wrong = subprocess.run(
            [*command[:-2], "zz", "--", "true"], capture_output=True, text=True, timeout=30, check=False
        )
        assert wrong.returncode == 2
        assert "zz: the run has no such node" in wrong.stderr
        assert oct(dict(_core.emulations())[process.pid].stat().st_mode)[-3:] == "600"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert json.loads(out)["emulation"]["interrupted"], err
    assert process.pid not in dict(_core.emulations())


def test_the_management_network_does_not_use_the_air() -> None:
    """2 MB there and back by the other's name in that network: none of it is a flow of the air."""
    client = [sys.executable, "-c", CLIENT.replace("* 150", "* 8000"), "n3.mgmt"]
    recording = airfair.emulate(
        CHAIN,
        [
            airfair.Program("3", [sys.executable, "-c", SERVER]),
            airfair.Program("0", client, ends_run=True),
        ],
    )
    run = recording.result["emulation"]
    assert run["programs"][1]["status"] == 0
    assert [flow for flow in run["flows"] if flow["protocol"] == "tcp"] == []


def test_a_script_has_its_times_and_its_output(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    words = ["sh", "-c", "trap 'echo asked; exit 0' TERM; while true; do sleep 0.05; done"]
    script.write_text(
        f"""
[[program]]
name = "asked"
node = "a1"
command = {json.dumps(words)}
until = "1 s"
[[program]]
node = "b1"
command = "sh -c 'hostname; exit 4'"
at = "500 ms"
ends_run = false
"""
    )
    folder = tmp_path / "run"
    done = emulate(str(PAIRS), "--script", str(script), "--for", "2 s", "--out", str(folder), "--pcap", "a1")
    assert done.returncode == 0, done.stderr
    assert (folder / "programs" / "asked.txt").read_text() == "asked\n"
    assert (folder / "programs" / "2-sh.txt").read_text() == "b1\n"
    result = json.loads((folder / "run.json").read_text())
    assert [program["status"] for program in result["emulation"]["programs"]] == [0, 4]
    recording = airfair.Recording.load(folder)
    assert "stack_flows" in recording.tables
    assert recording.captures["a1"].stat().st_size > 100


def test_wrong_scripts_are_named_by_line(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text('[[program]]\nnode = "a1"\ncomand = "true"\nat = 3\n[[programs]]\n')
    done = emulate(str(PAIRS), "--script", str(script))
    assert done.returncode == 2
    assert f'{script}:3: program.1.comand: unknown key; did you mean "command"?' in done.stderr
    assert f"{script}:1: program.1.command: missing" in done.stderr
    assert f"{script}:4: program.1.at: expected a text" in done.stderr
    assert f"{script}:5: programs: unknown key" in done.stderr


def test_flows_of_the_stacks_are_rows(tmp_path: Path) -> None:
    """Bytes of the application are those that the program has sent, in both directions; in results, over
    time, in words and on the page of a report."""
    recording = airfair.emulate(
        CHAIN,
        [
            airfair.Program("3", [sys.executable, "-c", SERVER]),
            airfair.Program("0", [sys.executable, "-c", CLIENT, "10.0.0.4"], ends_run=True),
        ],
        overrides=["warmup=0 s"],
        interval="500 ms",
        out=tmp_path / "run",
    )
    rows = recording.pandas("stack_flows")
    tcp = rows[(rows["protocol"] == "tcp") & (rows["arrived_bytes"] > 0)]
    assert sorted(zip(tcp["src"], tcp["dst"], tcp["arrived_bytes"], strict=True)) == [
        ("0", "3", 38_400),
        ("3", "0", 38_400),
    ]
    assert recording.result["emulation"]["programs"][1]["status"] == 0
    flows = {flow["id"]: flow for flow in recording.result["flows"]}
    assert set(tcp["id"]) <= set(flows)
    assert len(flows) == 2
    for flow in flows.values():
        assert flow["delivered_bytes"] == 38_400
        assert flow["offered_bytes"] is None, "it lasts for more than half of the run"
        series = recording.pandas("flow_series")
        of_flow = series[series["flow"] == flow["id"]]
        assert of_flow["delivered_bytes"].sum() == 38_400
        assert of_flow["sent_packets"].sum() == flow["sent_packets"]
        assert of_flow["retransmissions"].sum() == flow["retransmissions"] < flow["sent_packets"]
    assert (recording.result["jain_index"] or 0) > 0.99

    told = emulated_facts(tmp_path / "run")
    assert list(told) == list(explained.EmulatedFlow.__annotations__)
    assert [(hop["src"], hop["dst"]) for hop in told["hops"]] in (
        [("0", "1"), ("1", "2"), ("2", "3")],
        [("3", "2"), ("2", "1"), ("1", "0")],
    )
    for hop in told["hops"]:
        assert list(hop) == list(explained.EmulatedHop.__annotations__)
        assert sum((hop["airtime"] or {}).values()) == pytest.approx(1)
        assert hop["attempts"] >= hop["missed"] >= 0
    words = subprocess.run(
        [sys.executable, "-m", "airfair", "explain", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert words.startswith("Flow tcp")
    assert "attempts of" in words

    page = pages.write(tmp_path / "page.html", CHAIN_SCENARIO, recording, ["airfair", "emulate"])
    text = page.read_text()
    assert all(name.replace(">", "&gt;") in text for name in flows)
    assert "Stacks and the wall clock" in text


def emulated_facts(folder: Path) -> explained.EmulatedFlow:
    recording = airfair.Recording.load(folder)
    return explained.facts(recording, explained.chosen(recording, None))


WIRES = """
name = "wires"
duration = "8 s"
warmup = "3 s"
[[node]]
id = "near"
[[node]]
id = "far"
[[node]]
id = "in"
[[node]]
id = "out"
[[link]]
ends = ["near", "in"]
rate = "100 Mbit/s"
delay = "2 ms"
[[link]]
ends = ["far", "in"]
rate = "100 Mbit/s"
delay = "40 ms"
[[link]]
ends = ["in", "out"]
rate = "4 Mbit/s"
delay = "3 ms"
"""


def test_a_router_grants_rates_to_unchanged_kernels(tmp_path: Path) -> None:
    """Two flows of 10 and 86 ms share a wire: with the kernels' own law the nearer takes more, with RCP each
    half, less the headers (1500 B carry 1428 B and each segment 26 B of framing). Segments and
    acknowledgements carry the option."""
    scenario = airfair.Scenario.parse(WIRES)
    load = [sys.executable, "-m", "airfair", "load"]
    programs = [airfair.Program("out", [*load, "receive", "--port", str(port)]) for port in (7001, 7002)]
    programs += [
        airfair.Program(
            node, [*load, "send", "10.0.0.4", "--port", str(port), "--for", "30 s", "--wait", "9 s"]
        )
        for node, port in (("near", 7001), ("far", 7002))
    ]
    folder = tmp_path / "run"
    recording = airfair.emulate(
        scenario, programs, scheme="rcp", out=folder, capture=airfair.Capture(pcap=["out"], snaplen=0)
    )
    rates = {flow["src"]: flow["goodput_bps"] for flow in recording.result["flows"]}
    assert set(rates) == {"near", "far"}
    share = 2e6 * 1428 / 1526
    for node, rate in rates.items():
        assert rate == pytest.approx(share, rel=0.12), (node, rates, recording.result["emulation"]["verdict"])
    captured = (folder / "out.pcapng").read_bytes()
    for name, least in (("AF", 500), ("AG", 200)):
        option = bytes([254, 20, *name.encode(), 0x12, 6])
        assert captured.count(option) > least, "stamps on data, answers on acknowledgements"
    edges = recording.result["emulation"]["edges"]
    assert edges is not None
    assert (edges["connections"], edges["fallbacks"], edges["evicted"], edges["discarded"]) == (2, 0, 0, 0)
    # The initial windows of both.
    assert 0 <= edges["held"] <= 40


SINK = """
import socket, time
connection, _ = socket.create_server(("", 7000)).accept()
while connection.recv(65536):
    pass
time.sleep(0.5)
for file in ("netstat", "snmp"):
    lines = [line.split() for line in open(f"/proc/net/{file}")]
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        for name, value in zip(names[1:], values[1:], strict=True):
            if names[0] + name in ("IpExt:InCEPkts", "Tcp:InCsumErrors", "Ip:InHdrErrors"):
                print(name, value)
"""


def test_real_packets_wait_in_diffq_s_queues() -> None:
    """They carry the trailer in which nodes announce their queues, in the air only: the kernels know nothing
    of it, and each hop has a differential."""
    recording = airfair.emulate(
        CHAIN,
        [
            airfair.Program("3", [sys.executable, "-c", SERVER]),
            airfair.Program("0", [sys.executable, "-c", CLIENT, "10.0.0.4"], ends_run=True),
        ],
        scheme="diffq",
        overrides=["warmup=0 s"],
        interval="200 ms",
    )
    assert recording.result["emulation"]["programs"][1]["status"] == 0
    queues = recording.pandas("queue_gauges")
    heard = queues[queues["differential"].notna()]
    assert {"0", "1", "2", "3"} <= set(heard["node"])
    assert heard["known_sizes"].max() >= 2, "heard from neighbours on both sides"


def test_marks_are_what_the_kernel_counts(tmp_path: Path) -> None:
    """A queue that marks: each mark arrives as CE at the receiver's kernel, and no checksum is wrong."""
    source = CLIENT.replace("* 150", "* 2000").partition("back =")[0]
    recording = airfair.emulate(
        PAIRS,
        [
            airfair.Program("b1", [sys.executable, "-c", SINK], ends_run=True, name="counters"),
            airfair.Program("a1", [sys.executable, "-c", source, "10.0.0.4"]),
        ],
        scheme="fq-codel[fq-codel.ecn=true]",
        congestion_control="reno",
        ecn=True,
        duration="60 s",
        out=tmp_path / "run",
    )
    run = recording.result["emulation"]
    text = (tmp_path / "run" / "programs" / "counters.txt").read_text().split()
    counters = dict(zip(text[::2], map(int, text[1::2]), strict=True))
    assert counters == {"InCEPkts": run["frames"]["marked"], "InCsumErrors": 0, "InHdrErrors": 0}
    assert run["frames"]["marked"] > 0
    assert sum(flow["marked_packets"] for flow in run["flows"]) == run["frames"]["marked"]
    assert run["congestion_control"] == "reno"


def test_the_state_is_told_while_it_runs(tmp_path: Path) -> None:
    """Lines of JSON, and metrics in Prometheus' format, which other requests do not get."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = tmp_path / "live.ndjson"
    command = (str(PAIRS), "--for", "60 s", "--live", str(file), "--metrics", str(port), "--json")
    client = [sys.executable, "-c", CLIENT, "10.0.0.4"]
    beside = (
        "--beside",
        "b1",
        shlex.join([sys.executable, "-c", SERVER]),
        "--beside",
        "a1",
        shlex.join(client),
    )
    with running_emulation(*command, *beside) as process:
        lines: list[dict[str, Any]] = []
        deadline = time.monotonic() + 60
        while not any(flow["arrived_bytes"] for line in lines for flow in line["flows"]):
            assert time.monotonic() < deadline, lines
            time.sleep(0.5)
            lines = [json.loads(line) for line in file.read_text().splitlines(keepends=True) if "\n" in line]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert [line["time_s"] for line in lines] == sorted(line["time_s"] for line in lines)
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r'airfair_\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+-]+', line) for line in samples)
    arrived = [line for line in samples if line.startswith("airfair_flow_arrived_bytes_total")]
    assert any('src="a1",dst="b1",protocol="tcp"' in line for line in arrived)


LEAVE = """
import socket, struct, subprocess, time
group = socket.inet_pton(socket.AF_INET6, "ff02::1:6") + struct.pack("@I", socket.if_nametoindex("wl0"))
joined = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
joined.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
time.sleep(0.2)
subprocess.run(["ip", "link", "set", "wl0", "down"], check=True)
"""


def test_a_device_that_a_program_sets_down_is_no_fault() -> None:
    """The kernel then still reports that nobody listens to a group, and drops this report: the run has lost
    nothing."""
    report = emulated(str(PAIRS), "--json", "--node", "a1", "--", sys.executable, "-c", LEAVE)
    assert (report["faults"], report["device_drops"]) == (0, 0)


def test_many_short_programs(tmp_path: Path) -> None:
    """Their starts and ends are more than a socket holds."""
    script = tmp_path / "script.toml"
    script.write_text('[[program]]\nnode = "a1"\ncommand = "true"\nends_run = true\n' * 600)
    done = emulate(str(PAIRS), "--script", str(script), "--for", "40 s", "--json")
    programs = json.loads(done.stdout)["emulation"]["programs"]
    assert {program["status"] for program in programs} == {0}
    assert len(programs) == 600


def test_a_deleted_device_costs_nothing() -> None:
    command = ("--node", "a1", "--", "sh", "-c", "sleep 0.5; ip link del wl0; sleep 1")
    report = emulated(str(PAIRS), "--json", *command)
    assert report["faults"] == 0
    assert int(str(report["wake_ups"])) < 20_000


def test_a_mistake_in_a_scheme_is_not_passed_over(tmp_path: Path) -> None:
    scheme = (ROOT / "examples" / "schemes" / "droptail.py").read_text()
    file = tmp_path / "broken.py"
    file.write_text(re.sub(r"(def enqueue\([^\n]*\n)", r"\1        raise RuntimeError('mistake')\n", scheme))
    name = re.search(r'name = "([\w-]+)"', scheme)
    assert name is not None
    command = ("--node", "a1", "--", "ping", "-c", "2", "b1") if shutil.which("ping") else ("--for", "2 s")
    done = emulate(str(PAIRS), "--schemes-from", str(file), "--scheme", name[1], *command)
    assert done.returncode == 1
    assert "mistake" in done.stderr
    assert "kept up" not in done.stderr


def test_standard_error_that_takes_nothing() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "airfair", "emulate", str(PAIRS), "--for", "1 s", "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, timeout=40, check=False)
    assert json.loads(done.stdout)["emulation"]["wall_s"] >= 1

"""Schemes written in Python: equal to those in Rust, known everywhere, and what happens when they fail."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import airfair
import pytest
from airfair import InputError, Scenario, ScenarioError, World
from airfair._core import SchemeError
from airfair.scheme import (
    Acked,
    Allowance,
    Aqm,
    Congestion,
    Context,
    Displaced,
    Drop,
    FlowSetup,
    Mark,
    Packet,
    ParamError,
    Queue,
    QueueView,
    Scheme,
    Source,
    flag,
    integer,
    load_schemes,
    loaded,
    number,
    register,
    time,
)

from tests.support import ROOT, SCENARIOS, THREE_PAIRS, without_perf
from tests.support import airfair as command

EXAMPLES = ROOT / "examples" / "schemes"
OVERRIDES = ["duration=2 s", "warmup=200 ms"]


@pytest.fixture
def pairs() -> Scenario:
    return Scenario.read(THREE_PAIRS, OVERRIDES)


def same(scenario: Scenario, scheme: str, seed: int) -> None:
    """The scheme and its twin in Python give the same bytes of everything but its name, also in warnings, and
    `perf`."""
    twin = f"py-{scheme}"
    one, other = (without_perf(scenario.run(name, seed)) for name in (scheme, twin))
    assert one == other.replace(f'"scheme":"{twin}"', f'"scheme":"{scheme}"', 1).replace(
        f"scheme {twin} ", f"scheme {scheme} "
    )


@pytest.mark.parametrize("scheme", ["red", "newreno", "droptail"])
def test_a_scheme_in_python_gives_the_same_bytes(scheme: str) -> None:
    load_schemes(EXAMPLES / f"{scheme}.py")
    scenario = Scenario.read(THREE_PAIRS, ["duration=8 s", "warmup=1 s"])
    for seed in (1, 2, 3):
        same(scenario, scheme, seed)


def test_also_where_time_outs_are_taken_back() -> None:
    load_schemes(EXAMPLES / "newreno.py")
    kept, undone = (
        Scenario.read(SCENARIOS / "access-point.toml", ["duration=4 s", "warmup=200 ms", f"tcp.undo={undo}"])
        for undo in ("false", "true")
    )
    same(undone, "newreno", 1)
    assert without_perf(kept.run("newreno")) != without_perf(undone.run("newreno"))


def test_also_over_wires_and_with_other_parameters() -> None:
    for scheme in ("red", "newreno", "droptail"):
        load_schemes(EXAMPLES / f"{scheme}.py")
        same(Scenario.read(SCENARIOS / "wired.toml", ["duration=3 s", "warmup=200 ms"]), scheme, 1)
    # Thresholds so low that both kinds of drops happen.
    law = ["min_th=0.5", "max_th=3", "weight=0.05", "max_p=0.2", "mean_packet_time=1 ms"]
    settings = [f"{scheme}.{value}" for scheme in ("red", "py-red") for value in law]
    scenario = Scenario.read(THREE_PAIRS, [*OVERRIDES, *settings])
    same(scenario, "red", 1)
    assert set(json.loads(scenario.run("py-red"))["drops"]) >= {"red-early", "red-forced"}


def test_the_whole_package_knows_it(pairs: Scenario) -> None:
    load_schemes(EXAMPLES / "red.py")
    (info,) = [scheme for scheme in airfair.schemes() if scheme["name"] == "py-red"]
    assert info["places"] == ["aqm"]
    assert [p["name"] for p in info["params"]] == ["min_th", "max_th", "weight", "max_p", "mean_packet_time"]
    assert info["params"][4]["default"] == "4 ms"
    rows = airfair.compare(pairs, schemes=["red", "py-red"], seeds=[1, 2], jobs=2)
    assert rows[0]["jain_index"] == rows[1]["jain_index"]
    recorded = airfair.record(pairs, scheme="py-red", interval="500 ms")
    assert recorded.arrow("queues").num_rows > 0
    lines = airfair.trace(pairs, scheme="py-red", until="100 ms")
    assert list(lines) == list(airfair.trace(pairs, scheme="red", until="100 ms"))


def test_scenarios_name_it_and_set_its_parameters() -> None:
    for scheme in ("red", "newreno"):
        load_schemes(EXAMPLES / f"{scheme}.py")
    text = THREE_PAIRS.read_text() + '\n[schemes.py-red]\nmax_p = 0.02\nmean_packet_time = "1 ms"\n'
    changed = ["scheme=py-red", "flow.left.transport=tcp-py-newreno", "flow.middle.scheme=py-newreno"]
    scenario = Scenario.parse(text, overrides=[*OVERRIDES, *changed])
    assert Scenario.parse(scenario.resolved).resolved == scenario.resolved
    assert "initial_ssthresh" in scenario.resolved
    plain = ["scheme=red", "red.max_p=0.02", "red.mean_packet_time=1 ms"]
    one, other = json.loads(scenario.run()), airfair.run(THREE_PAIRS, overrides=[*OVERRIDES, *plain])
    assert one["flows"] == other["flows"]
    for wrong, message in (
        ("py-red.max_p=2", "py-red.max_p: 2: out of range; expected 0.0 to 1.0"),
        ("py-red.maxp=1", 'not a parameter of py-red; did you mean "max_p"'),
        ("py-red.max_th=5", "max_th: 5: expected a threshold above min_th"),
        ("py-red.mean_packet_time=5", "the unit is missing; expected a time"),
        ("scheme=py-rd", 'did you mean "py-red"'),
        ("flow.left.transport=tcp-py-newrno", 'did you mean "tcp-py-newreno"'),
    ):
        with pytest.raises(ScenarioError, match=message):
            Scenario.parse(text, overrides=[wrong])


def test_the_command_line_loads_it(tmp_path: Path) -> None:
    source: list[str | Path] = ["--schemes-from", EXAMPLES / "newreno.py"]
    short = ["--set", "duration=1 s", "--set", "warmup=0 s"]
    run: list[str | Path] = [THREE_PAIRS, *short, "--json"]
    done = command("run", *run, *source, "--scheme", "py-newreno")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["scheme"] == "py-newreno"
    done = command("compare", *run, *source, "--schemes", "newreno,py-newreno", "--seeds", "2")
    assert [row["scheme"] for row in json.loads(done.stdout)] == ["newreno", "py-newreno"]
    until = ["--until", "50 ms", *short]
    assert command("trace", THREE_PAIRS, *source, "--scheme", "py-newreno", *until).returncode == 0
    assert "py-newreno.initial_ssthresh" in command("schemes", "py-newreno", *source).stdout
    unknown = command("run", *run, "--scheme", "py-newreno")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert 'there is no scheme "py-newreno"' in unknown.stderr
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    for wrong, message in ((tmp_path / "none.py", "no such file"), ("no.such", "no such module")):
        done = command("run", *run, "--schemes-from", wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
    assert "registers no scheme" in command("run", *run, "--schemes-from", empty).stderr


def in_a_worker(scheme: str) -> str:
    """The result of a scheme in a worker process."""
    return without_perf(Scenario.read(THREE_PAIRS, OVERRIDES).run(scheme))


def test_a_worker_process_loads_it(pairs: Scenario) -> None:
    load_schemes(EXAMPLES / "red.py")
    path = str(EXAMPLES / "red.py")
    assert path in loaded()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn) as pool, pytest.raises(InputError, match='no scheme "py-red"'):
        pool.submit(in_a_worker, "py-red").result()
    with ProcessPoolExecutor(1, spawn, load_schemes, (path,)) as pool:
        assert pool.submit(in_a_worker, "py-red").result() == without_perf(pairs.run("py-red"))


# ---- what goes wrong ----


class Passes(Aqm):
    def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | Mark | None:
        return None


class Fifo(Queue):
    def __init__(self) -> None:
        self.packets: list[Packet] = []

    def enqueue(self, packet: Packet, context: Context) -> Drop | Displaced | None:
        if len(self.packets) >= 10:
            return Drop("queue-full")
        self.packets.append(packet)
        return None

    def peek(self, context: Context) -> Packet | None:
        return self.packets[0] if self.packets else None

    def commit(self) -> Packet:
        return self.packets.pop(0)


class Fixed(Source):
    def on_start(self, setup: FlowSetup, context: Context) -> None:
        self.window = 4 * setup.mss

    def on_acked(self, acked: Acked, context: Context) -> None: ...

    def on_congestion(self, congestion: Congestion, context: Context) -> None: ...

    def allowance(self, now: int) -> Allowance:
        return Allowance(self.window)


def made(place: str, part: Callable[[], object]) -> str:
    """Register a scheme of this name that fills a place with this part."""
    factory = (lambda _self, _limit: part()) if place == "queue" else (lambda _self: part())
    name = f"test-{place}"
    register(
        type("Made", (Scheme,), {"__doc__": "for a test", "name": name, "origin": "here", place: factory})
    )
    return name


class Wrong(Exception):  # noqa: N818
    """An exception that no other code raises."""


def fails_late() -> Passes:
    class Late(Passes):
        def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> None:
            if context.now > 500_000_000:
                raise Wrong(f"at {context.now}")

    return Late()


def test_an_exception_in_a_hook_ends_the_run(pairs: Scenario) -> None:
    scheme = made("aqm", fails_late)
    with pytest.raises(Wrong, match=r"^at 5\d{8}\n") as caught:
        pairs.run(scheme)
    assert caught.traceback[-1].name == "on_enqueue"
    with pytest.raises(Wrong):
        airfair.compare(pairs, schemes=["droptail", scheme], seeds=[1, 2])
    with pytest.raises(Wrong):
        airfair.record(pairs, scheme=scheme)
    with pytest.raises(Wrong):
        list(airfair.trace(pairs, scheme=scheme))
    world = World(pairs, scheme)
    world.advance("400 ms")
    assert '"scheme":"test-aqm"' in world.result()
    for look in (world.advance, world.result):
        with pytest.raises(Wrong):
            look()
    assert pairs.run("droptail", 1)


def test_ctrl_c_in_a_hook_ends_the_run(pairs: Scenario) -> None:
    class Interrupted(Passes):
        def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pairs.run(made("aqm", Interrupted))


def test_exceptions_outside_hooks_go_through_too(pairs: Scenario) -> None:
    built: list[object] = []

    def second_fails() -> Source:
        built.append(None)
        if len(built) > 3:
            raise Wrong
        return Fixed()

    scheme = made("source", second_fails)
    with pytest.raises(Wrong):
        pairs.run(scheme)

    def fails() -> Source:
        raise Wrong

    with pytest.raises(Wrong):
        made("source", fails)


class Forgets(Fifo):
    def peek(self, context: Context) -> Packet | None:
        return None


class Repeats(Fifo):
    def commit(self) -> Packet:
        return self.packets[0]


class Swaps(Fifo):
    def commit(self) -> Packet:
        return self.packets.pop()


class Invents(Fifo):
    def peek(self, context: Context) -> Packet | None:
        return Packet(4_000_000_000) if self.packets else None


class Overfull(Fifo):
    def enqueue(self, packet: Packet, context: Context) -> None:
        self.packets.append(packet)


class Throws(Fifo):
    def enqueue(self, packet: Packet, context: Context) -> None:
        context.drop(packet.id, "not-mine")


class Answers(Passes):
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | Mark | None:
        return self.answer  # type: ignore[return-value]


class Sets(Passes):
    def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> None:
        context.set_timer(1, context.now + 1)


class Allows(Fixed):
    def __init__(self, window: object) -> None:
        self.allowed = window

    def allowance(self, now: int) -> Allowance:
        return Allowance(self.allowed)  # type: ignore[arg-type]


class Late(Fixed):
    def on_start(self, setup: FlowSetup, context: Context) -> None:
        context.set_timer(1, context.now)


@pytest.mark.parametrize(
    ("place", "part", "message"),
    [
        ("queue", Forgets, r"Queue.peek returned None; expected one of 1 packets"),
        ("queue", Repeats, r"Queue.peek returned a packet that is not stored"),
        ("queue", Swaps, r"Queue.commit returned another packet"),
        ("queue", Invents, r"Queue.peek returned a packet that is not stored"),
        ("queue", Overfull, r"beyond the limit"),
        ("queue", Throws, r"dropped a packet that it does not store"),
        ("aqm", lambda: Answers(True), r"Aqm.on_enqueue returned True; expected None to let"),
        ("aqm", lambda: Answers(Displaced(Packet(1), "x")), r"expected None to let the packet pass"),
        (
            "aqm",
            lambda: Answers(Drop("Full!")),
            r"^\S+/test_schemes\.py:\d+: scheme \S+: Aqm\.on_enqueue returned Drop\(reason='Full!'\): reason",
        ),
        ("aqm", Sets, "set_timer goes with a Source, an Agent, a Forwarder or a Controller, not with an Aqm"),
        ("source", lambda: Allows(1.5), r"Source.allowance returned Allowance\(window=1.5"),
        ("source", lambda: Allows(-1), r"Source.allowance returned Allowance\(window=-1"),
        ("source", Late, r"expected later than now"),
    ],
)
def test_an_answer_that_no_hook_may_give_is_refused(
    place: str, part: Callable[[], object], message: str
) -> None:
    scheme = made(place, part)
    overrides = [*OVERRIDES, "radio.queue_packets=3", "radio.backpressure=false"]
    scenario = Scenario.read(THREE_PAIRS, overrides)
    misplaced = "goes with a" in message
    with pytest.raises(SchemeError if misplaced else InputError, match=message):
        scenario.run(scheme)


@pytest.mark.parametrize("name", ["saturation", "wired"])
def test_a_failed_queue_stops_the_world_at_once(name: str) -> None:
    """Sources that always have more to send find no endless room in it."""
    scenario = Scenario.read(SCENARIOS / f"{name}.toml", OVERRIDES)
    with pytest.raises(InputError, match="returned another packet"):
        scenario.run(made("queue", Swaps))


def test_what_is_wrong_with_a_scheme_is_said_when_it_is_registered() -> None:
    class Good(Scheme):
        """for a test"""

        name = "test-good"
        origin = "here"
        most = integer(3, "most", low=1, high=10)

        def aqm(self) -> Aqm:
            return Passes()

    assert register(Good) is Good
    with pytest.raises(InputError, match=r"a class made from airfair\.Scheme"):
        register(Passes)  # type: ignore[type-var]
    members = {"__doc__": "for a test", "name": "test-bad", "origin": "here", "aqm": lambda _self: Passes()}
    for change, message in (
        ({"name": "Bad Name"}, "lower-case letters, digits and hyphens"),
        ({"name": "red"}, "there is one of this name"),
        ({"name": "radio"}, "a key of scenarios has this name"),
        ({"name": 3}, "expected a text"),
        ({"__doc__": None}, "a docstring that says in one line"),
        ({"aqm": lambda _self: 3}, "3 stands here; expected an instance of Aqm"),
        ({"aqm": lambda _self: Passes}, "the class Passes stands here; expected an instance of Aqm"),
        (
            {"most": integer(11, "most", low=1, high=10)},
            'parameter "most": its default 11: expected a whole number from 1 to 10',
        ),
        ({"most": time("3", "most", low="1 s", high="2 s")}, '"3" cannot be read; expected a time such as'),
        ({"Most": flag(True, "most")}, 'parameter "Most": expected a name'),
        ({"check": lambda _self: 1 / 0}, "division"),
    ):
        with pytest.raises((InputError, ZeroDivisionError), match=message):
            register(type("Bad", (Scheme,), {**members, **change}))
    without = {key: value for key, value in members.items() if key != "aqm"}
    with pytest.raises(InputError, match="at least one of the methods"):
        register(type("Bad", (Scheme,), without))
    assert "test-bad" not in {scheme["name"] for scheme in airfair.schemes()}


def test_parameters_reach_the_scheme_in_base_units(pairs: Scenario) -> None:
    seen: list[tuple[float, int, int, bool]] = []

    @register
    class Reads(Scheme):
        """for a test"""

        name = "test-reads"
        origin = "here"
        share = number(0.25, "a share", low=0, high=1)
        most = integer(3, "most", low=1, high=10)
        wait = time("1.5 ms", "a wait", low="1 us", high="1 s")
        on = flag(False, "on or off")

        def check(self) -> None:
            if self.share > 0.5 and not self.on:
                raise ParamError("share", "expected at most 0.5 unless `on`")

        def aqm(self) -> Aqm:
            seen.append((self.share, self.most, self.wait, self.on))
            return Passes()

    assert Reads.wait.default == "1.5 ms"
    seen.clear()
    overrides = [*OVERRIDES, "test-reads.most=7", "test-reads.on=true", "test-reads.share=0.75"]
    Scenario.read(THREE_PAIRS, overrides).run("test-reads")
    assert set(seen) == {(0.75, 7, 1_500_000, True)}
    with pytest.raises(ScenarioError, match=r"share: 0\.75: expected at most 0\.5 unless"):
        Scenario.read(THREE_PAIRS, ["test-reads.share=0.75"])
    # One that was registered again counts from then on.
    seen.clear()
    register(Reads)
    pairs.run("test-reads")
    assert set(seen) == {(0.25, 3, 1_500_000, False)}


def test_each_world_has_its_own_objects_and_the_simulators_randomness(pairs: Scenario) -> None:
    class Draws(Passes):
        def __init__(self) -> None:
            self.drawn: list[int] = []
            self.thread = 0
            kept.append(self)

        def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | None:
            assert self.thread in (0, threading.get_ident())
            self.thread = threading.get_ident()
            self.drawn.append(context.random.next_u32())
            return Drop("test") if context.random.below(20) == 0 else None

    kept: list[Draws] = []
    scheme = made("aqm", Draws)
    kept.clear()
    first = without_perf(pairs.run(scheme, 5))
    ports, drawn = len(kept), sorted(d.drawn for d in kept)
    assert ports == 6
    assert max(map(len, drawn)) > 50
    assert len({tuple(d) for d in drawn if d}) == sum(map(bool, drawn)), "a stream a queue"
    kept.clear()
    rows = airfair.compare(pairs, schemes=[scheme], seeds=[5, 6, 7, 8], jobs=4)
    assert len(kept) >= 4 * ports
    kept.clear()
    assert first == without_perf(pairs.run(scheme, 5))
    assert drawn == sorted(d.drawn for d in kept)
    alone = [json.loads(pairs.run(scheme, seed))["jain_index"] for seed in (5, 6, 7, 8)]
    index = rows[0]["jain_index"]
    assert index is not None
    assert index["mean"] == pytest.approx(sum(alone) / 4)


def test_timers_of_a_source() -> None:
    fired: list[tuple[int, int]] = []

    class Clocked(Fixed):
        def on_start(self, setup: FlowSetup, context: Context) -> None:
            super().on_start(setup, context)
            self.start = context.now
            context.set_timer(7, context.now + 3_000_000)
            context.set_timer(7, context.now + 1_000_000)

        def on_timer(self, timer: int, context: Context) -> None:
            fired.append((timer, context.now - self.start))
            if len(fired) < 3:
                context.set_timer(7, context.now + 2_000_000)

    scenario = Scenario.read(THREE_PAIRS, [*OVERRIDES, "flow.middle.start=30 s", "flow.right.start=30 s"])
    scenario.run(made("source", Clocked))
    assert fired == [(7, 1_000_000), (7, 3_000_000), (7, 5_000_000)]


def test_a_hook_that_looks_at_its_own_world_does_not_hang(pairs: Scenario) -> None:
    class Looks(Passes):
        def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> None:
            worlds[0].now_ns  # noqa: B018

    scheme = made("aqm", Looks)
    worlds = [World(pairs, scheme)]
    with pytest.raises(RuntimeError, match="is being advanced"):
        worlds[0].advance()
    assert worlds[0].now_ns > 0


@pytest.mark.parametrize("traffic", ['{ kind = "constant", rate = "200 kbit/s" }', '{ kind = "saturating" }'])
def test_who_waits_for_a_queue_that_drops_all_goes_on(traffic: str) -> None:
    """An AQM drops what is older than 50 ms, and so a whole queue: no departure tells its source."""

    class Lifetime(Passes):
        def on_dequeue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | None:
            return Drop("stale") if context.now - packet.enqueued > 50_000_000 else None

    wire = Scenario.parse(f"""
        name = "slow"
        duration = "20 s"
        node = [{{ id = "a" }}, {{ id = "b" }}]
        link = [{{ ends = ["a", "b"], rate = "100 kbit/s", queue_packets = 3 }}]
        flow = [{{ id = "f", from = "a", to = "b", traffic = {traffic} }}]
    """)
    result = json.loads(wire.run(made("aqm", Lifetime)))
    # A packet of 1500 B takes 120 ms: every other one has waited for too long.
    assert result["flows"][0]["delivered_packets"] > 60
    assert result["drops"]["stale"] > 60


def test_hooks_can_be_tried_by_hand() -> None:
    """RED's probability half way between the thresholds: 0.05, so one packet in twenty without spreading."""
    load_schemes(EXAMPLES / "red.py")
    (module,) = [m for name, m in sys.modules.items() if name.startswith("airfair_schemes_red_")]
    scheme = module.RedScheme._build(
        {"min_th": 5.0, "max_th": 15.0, "weight": 1.0, "max_p": 0.1, "mean_packet_time": 4_000_000}
    )
    red, context = scheme.aqm(), Context(seed=3)
    assert red.on_enqueue(Packet(1), QueueView(4, 6000, 50), context) is None
    assert red.on_enqueue(Packet(1), QueueView(15, 22500, 50), context) == Drop("red-forced")
    dropped = 0
    for _ in range(4000):
        red.count = None
        dropped += red.on_enqueue(Packet(1), QueueView(10, 15000, 50), context) is not None
    assert 150 < dropped < 250
    source = Context(now=5)
    source.set_timer(1, 10)
    assert source.timers == [(1, 10)]


# ---- the help about it ----


def test_the_help_of_the_module_runs() -> None:
    summary = airfair.scheme.__doc__ or ""
    program = textwrap.dedent(summary[summary.index("    from ") : summary.index("From then on")])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr

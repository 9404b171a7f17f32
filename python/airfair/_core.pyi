"""The simulator: scenarios, runs, statistics, traces.

Times that functions take are texts such as "1.5 ms"; times that they return have their units in their names.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, final

from .scheme import Scheme

__all__ = [
    "Context",
    "Egress",
    "InputError",
    "LimitError",
    "Random",
    "Recorded",
    "Scenario",
    "ScenarioError",
    "SchemeError",
    "Stop",
    "Trace",
    "Watch",
    "World",
    "__version__",
    "capabilities",
    "emulation_lacks",
    "emulations",
    "estimate",
    "execute_in",
    "fix_slices",
    "import_network",
    "load_receive",
    "load_send",
    "max_min_rates",
    "maximal_cliques",
    "median",
    "nearest",
    "parse_time",
    "parts_of_maps",
    "proportional_rates",
    "read_toml",
    "reference",
    "register_scheme",
    "run_paced",
    "scenario_schema",
    "schemes",
    "selections",
    "share",
    "short_changes",
    "sources_at_edge",
    "summarise",
    "time_shared_rates",
    "trace",
]

__version__: str

_Overrides = str | Sequence[str] | Mapping[str, Any]
_Texts = str | Sequence[str]

class InputError(ValueError):
    """An error in the input, which the caller can correct."""

class LimitError(InputError):
    """A computation that exceeds a limit of the caller."""

class SchemeError(RuntimeError):
    """A scheme has requested an effect that its place does not have."""

class ScenarioError(InputError):
    """A scenario that cannot be used. Its text has one line for each error."""

    errors: list[str]
    """The lines of the text; of more than twenty errors the first twenty."""

@final
class Scenario:
    """A scenario that was read and checked. It is immutable; two scenarios are equal if their `resolved`
    texts are."""

    def __new__(cls, *_arguments: object, **_options: object) -> Self:
        """Raises `TypeError`: a scenario comes from `read`, `parse` or `from_dict`."""

    @staticmethod
    def read(path: str | os.PathLike[str], overrides: _Overrides = ()) -> Scenario:
        """Read a file. `overrides` replace its values: `path=value` texts, one such text, or a dict of
        paths and values. Raises `ScenarioError`."""

    @staticmethod
    def parse(text: str, origin: str = "scenario", overrides: _Overrides = ()) -> Scenario:
        """Read a text; `origin` names it in errors. Raises `ScenarioError`."""

    @staticmethod
    def from_dict(tables: Mapping[str, Any], origin: str = "scenario") -> Scenario:
        """Build one from the tables of a file: `{"name": "pair", "radio": {...}, "node": [{...}], ...}`.

        The keys and values are those of a file, quantities are texts with units. Raises `ScenarioError` (its
        lines are those of `text`) and `InputError` for a value that a file cannot hold.
        """

    def to_dict(self) -> dict[str, Any]:
        """The tables of its file: a copy to change and to give to `from_dict`."""

    def edited(self, changes: Mapping[str, Any]) -> Scenario:
        """A copy of this scenario with other values.

        `changes` are key paths, as of `--set`, and values: `{"radio.queue_packets": 20,
        "flow.left.traffic.rate": "1 Mbit/s"}`. A dict replaces a whole table: after
        `{"radio": {"queue_packets": 20}}` every other key of `radio` has its default.
        Raises `ScenarioError`.
        """

    @property
    def text(self) -> str:
        """The text of its file, with its comments and with all overrides.

        Reading this text gives this scenario.
        """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as a file, whole or not at all. Missing folders are created. Raises `OSError`."""

    @property
    def name(self) -> str:
        """The name, as results show it."""

    @property
    def description(self) -> str:
        """The description; empty if the file has none."""

    @property
    def scheme(self) -> str:
        """The scheme of a run that names none."""

    @property
    def resolved(self) -> str:
        """The complete scenario as TOML, with every default."""

    def check(self, scheme: str | None = None) -> list[str]:
        """The warnings of a run with this scheme, the scenario's own by default, before it starts.

        About the file, and about the network that is built from it: no route, a rate that the received
        power does not support, a scheme without effect. Raises `InputError` if the network cannot be built.
        """

    def unused_settings(self, schemes: list[str]) -> list[str]:
        """Warnings of overrides that set parameters of schemes which no node and no flow has in runs with
        these schemes; `check` has them for one run."""

    @property
    def warnings(self) -> list[str]:
        """Warnings about the file alone; `check` returns those about the network, too."""

    @property
    def flows(self) -> list[str]:
        """Ids of the flows."""

    @property
    def own_schemes(self) -> dict[str, str]:
        """Schemes of nodes that have their own, by node."""

    @property
    def nodes(self) -> list[str]:
        """Ids of the nodes."""

    @property
    def links_vary(self) -> list[str]:
        """Reasons why links come and go during a run: "nodes move", "gains change", "signals fade"."""

    @property
    def files(self) -> list[Path]:
        """Files that were read for it: its own, and those that it names; none of a text that is in no
        file."""

    @property
    def duration_ns(self) -> int:
        """Length of a run."""

    @property
    def warmup_ns(self) -> int:
        """Length of the warm-up, which measurements leave out."""

    def _repr_html_(self) -> str: ...
    def check_scheme(self, scheme: str) -> None:
        """Raise `InputError` if there is no such scheme, if the scenario's parameters for it are wrong, or if
        it needs what an interface of the network does not offer."""

    def selected(self, scheme: str) -> Scenario:
        """The scenario as the runs of a scheme have it: with the presets and changes of a selection such as
        `c3l[rts]`, and with keys that the scheme brings. Raises `InputError`."""

    def settings(self, scheme: str) -> list[str]:
        """Values, as `path=value`, in which the runs of a scheme differ from this scenario: those of a
        selection's changes, and those that the scheme brings. Raises `InputError`."""

    def network(self, seed: int = 1, routes: bool = False) -> str:
        """The network of a run with this seed, as JSON: see `airfair.network`."""

    def optimum(
        self,
        factor: float | None = None,
        clique_limit: int | None = None,
        proportional: bool = True,
        only_complete: bool = False,
        link_limit: int | None = None,
    ) -> str:
        """The best rates that the air allows the flows, as JSON: see `airfair.optimum`. With `only_complete`
        raise `LimitError` where there are more cliques than the limit, and always where flows use more radio
        links than `link_limit`: the work grows with their square."""

    def run(
        self,
        scheme: str | None = None,
        seed: int = 1,
        stop: Stop | None = None,
        windows: _Texts = (),
        wire_check: bool = False,
    ) -> str:
        """Run to the end; the result as JSON, as `airfair run --json` prints it.

        The same scenario, scheme, seed and version give the same bytes of everything but `perf`.
        `windows` are lengths of windows, such as "1 s", in which fairness is measured; with `wire_check` the
        headers of explicit-rate schemes are encoded as bytes and decoded again at every hop, and the result
        is the same. Raises `InputError` for an unknown scheme or a window that does not fit,
        `KeyboardInterrupt` on a signal or on `stop`.
        """

    def record(
        self,
        interval: str,
        scheme: str | None = None,
        seed: int = 1,
        stop: Stop | None = None,
        windows: _Texts = (),
        watch: Watch | None = None,
        on_completions: Callable[[Mapping[str, tuple[str, bytes, Sequence[str] | None]]], object]
        | None = None,
    ) -> Recorded:
        """Run to the end and record series, a row every `interval` ("100 ms"); otherwise like `run`.

        `watch` and `on_completions` are called during the run, in this thread; their exceptions end it.
        `on_completions` receives columns of completed files, in the order of their ends and in blocks of
        one length; at the end of the run the rest, which may be empty. It is not called if no flow sends
        files.
        """

    def explain(
        self, flow: str | None = None, scheme: str | None = None, seed: int = 1, stop: Stop | None = None
    ) -> str:
        """Run to the end and explain the goodput of a flow, as JSON; otherwise like `run`. By default the
        flow with the smallest ratio of goodput to fair share is explained.
        """

    def emulate(
        self,
        request: str,
        interval: str,
        scheme: str | None = None,
        seed: int = 1,
        stop: Stop | None = None,
        watch: Watch | None = None,
    ) -> Recorded:
        """Emulate it: nodes are network namespaces, and what their stacks send goes over its air on the wall
        clock.

        The request is JSON, every key optional: `programs` (`node`, `command` as a list of words, `ends_run`,
        `at_s`, `until_s`, `output`: the file that gets what it writes), `flows` (simulate the scenario's),
        `own_routing`, `congestion_control`, `ecn`, `duration_s`, `live` (a file that gets a line of JSON
        every second), `metrics` (the port of 127.0.0.1 for Prometheus), `driver_fault` (of the counters that
        nodes are served: "freeze", "reset", "wrap" or "omit"). Without programs that end the run it
        ends with the scenario. The result is that of `record`, and `emulation` in it. A signal, or `stop`,
        ends the run like its end. Only on Linux.
        """

@final
class Watch:
    """The part of a run that is captured, and the functions that receive it.

    `on_capture` receives a node and bytes of its capture file, `on_frames` columns of the table of frames:
    kind ("int64" or "float64"), bytes, and the names that the values are indices of (None: they are
    numbers). -1 and NaN are missing values. Interfaces are "all", a node, or a node and one of its queues.
    `on_states` receives columns of the table of states in the same way.
    """

    def __new__(
        cls,
        on_capture: Callable[[str, bytes], object],
        interfaces: Sequence[str] = (),
        snap_len: int = 0,
        errors: bool = False,
        on_frames: Callable[[Mapping[str, tuple[str, bytes, Sequence[str] | None]]], object] | None = None,
        node: str | None = None,
        start: str = "0 s",
        until: str | None = None,
        on_states: Callable[[Mapping[str, tuple[str, bytes, Sequence[str] | None]]], object] | None = None,
    ) -> Self: ...

@final
class Recorded:
    """A run with its series."""

    @property
    def result(self) -> str:
        """The result as JSON."""

    @property
    def queues(self) -> list[tuple[str, str]]:
        """Node and target (a radio, or the node at the far end of a wire) of every queue."""

    @property
    def stations(self) -> list[tuple[str, str]]:
        """Node and radio of every station."""

    @property
    def agents(self) -> list[int]:
        """Indices of the stations whose agents have inner values: rows of the table "agents"."""

    @property
    def controllers(self) -> list[int]:
        """Places of the controllers that have inner values in the result's list: rows of "controllers"."""

    @property
    def hops(self) -> list[int]:
        """Indices of the queues whose hops have inner values: rows of the table "hops"."""

    @property
    def queue_gauges(self) -> list[int]:
        """Indices of the queues that have inner values themselves: rows of the table "queue_gauges"."""

    def tables(self) -> dict[str, dict[str, tuple[str, bytes]]]:
        """Tables of columns, a column its kind ("int64" or "float64") and its bytes.

        Rows are all flows (queues, stations) of the first interval, then all of the second.
        """

@final
class Random:
    """The random stream of a scheme at one place: the same seed gives the same draws."""

    def __new__(cls, seed: int = 1, name: str = "test") -> Self:
        """A stream of its own, for tests."""

    def next_u32(self) -> int:
        """The next 32 bits."""

    def next_u64(self) -> int:
        """The next 64 bits."""

    def below(self, bound: int) -> int:
        """A whole number below `bound` (32 bits), every one equally likely; 0 for a bound of 0."""

    def uniform(self) -> float:
        """A number from 0 up to, but not, 1."""

@final
class Context:
    """The context of a hook: time, random numbers, effects. It is valid during the hook only."""

    def __new__(cls, now: int = 0, *, seed: int = 1, name: str = "test") -> Self:
        """A context for tests of hooks."""

    now: int
    """The present, ns since the start of the run."""

    @property
    def random(self) -> Random:
        """The scheme's own random stream at this place."""

    def set_timer(self, timer: int, at: int) -> None:
        """Set timer number `timer` (0 to 65535) of a source, agent, forwarder or controller to `at`.

        That is in ns since the start of the run.
        `at` must be later than now. Setting a timer again replaces its earlier time.
        """

    def drop(self, packet: int, why: str) -> None:
        """Report that the queue has dropped a packet (its `id`) that it stored."""

    def mark(self, packet: int, why: str) -> None:
        """Mark a packet (its `id`) that the queue stores."""

    def send(
        self,
        data: bytes,
        *,
        node: int | None = None,
        neighbour: int | None = None,
        ahead: bool = False,
        rate: str = "broadcast",
        more_db: float = 0.0,
    ) -> None:
        """Send a message of an agent, a forwarder or a controller.

        It goes to a node any number of hops away, to a neighbour, or, without either, to all neighbours at
        once; a controller sends to nodes only. `ahead`: it precedes the packets that wait. A broadcast may
        have a rate ("broadcast", "data", "lowest") and a power above the radio's own.
        """

    def set_probability(self, direction: str, probability: float) -> None:
        """Set the probability with which the AQM of an agent's interface drops or marks packets of one
        direction ("outgoing", "incoming"): `Aqm.on_probability`."""

    def deliver(self, flow: int, number: int) -> None:
        """Hand a packet for a forwarder's node up: once, however often it is asked for."""

    def route(self, flow: int, number: int) -> None:
        """Pass a packet that a forwarder holds on to ordinary routing."""

    def hold(self, flow: int, batch: int, packets: int, of: int) -> None:
        """Tell that a broadcast has brought something new of a batch, and what a forwarder's node holds of it
        now: so many packets, or independent combinations, of so many. At the flow's destination it counts as
        innovative."""

    def count_whole(self, flow: int, batch: int) -> None:
        """Count a batch of a flow that is whole at its destination, a forwarder's node."""

    @property
    def delivered(self) -> list[tuple[int, int]]:
        """Packets handed up and not yet passed on: flows and numbers."""

    @property
    def routed(self) -> list[tuple[int, int]]:
        """Packets for ordinary routing that are not yet passed on: flows and numbers."""

    @property
    def holds(self) -> list[tuple[int, int, int, int]]:
        """Batches that the node reported as held: flows, batches, packets, and of how many."""

    @property
    def whole(self) -> list[tuple[int, int]]:
        """Batches that are whole: flows and numbers."""

    @property
    def messages(self) -> list[tuple[int | None, int | None, bytes, bool]]:
        """Messages sent and not yet passed on: node, neighbour, bytes, and whether they go ahead."""

    @property
    def probabilities(self) -> list[tuple[str, float]]:
        """Probabilities set and not yet passed on, with their directions."""

    @property
    def timers(self) -> list[tuple[int, int]]:
        """Timers that were set and not yet passed on: numbers and times, ns."""

    @property
    def dropped(self) -> list[tuple[int, str]]:
        """Packets dropped, with reasons."""

    @property
    def marked(self) -> list[tuple[int, str]]:
        """Packets marked, with reasons."""

@final
class Stop:
    """A request to end, shared by runs."""

    def __new__(cls) -> Self: ...
    def set(self) -> None:
        """End every run that was started with this object: they raise KeyboardInterrupt."""

@final
class Egress:
    """A copy of an injected packet that has left the world."""

    @property
    def time_ns(self) -> int:
        """Time, ns."""
    @property
    def tag(self) -> int:
        """Number given to `inject`."""
    @property
    def node(self) -> str:
        """The node where it has arrived or was dropped; of a broadcast that has ended, its sender."""
    @property
    def interface(self) -> int | None:
        """Number of the node's interface by which it has arrived, if it was injected at an interface."""
    @property
    def ecn(self) -> str:
        """ECN field: "not-ect", "ect" or "ce"."""
    @property
    def echo(self) -> bool:
        """True if an AQM has asked for ECN-Echo in the acknowledgement."""
    @property
    def dropped(self) -> str | None:
        """Reason of the drop; None: it was not dropped."""
    @property
    def arrived(self) -> bool:
        """True if it has arrived."""
    @property
    def last(self) -> bool:
        """True for the last one with its tag."""

@final
class World:
    """A world at time 0, which a program advances step by step.

    Times are since the start of the run: arguments are texts ("10 ms"), results are nanoseconds.
    """

    def __new__(cls, scenario: Scenario, scheme: str | None = None, seed: int = 1) -> Self: ...
    def advance(self, until: str | None = None) -> None:
        """Simulate everything before the time `until`, and make it the present.

        By default, and at most, until the end of the run.
        """

    def next_deadline_ns(self) -> int | None:
        """The time of the next event, ns, or None if there is none.

        `advance(f"{deadline + 1} ns")` simulates the event.
        """

    def inject(
        self,
        source: str,
        destination: str,
        size: int,
        tag: int,
        at: str | None = None,
        *,
        next_hop: str | None = None,
        interface: int = 0,
        node: str | None = None,
        flow: int | None = None,
        ack: bool = False,
        ecn: str | None = "not-ect",
        dscp: int = 0,
        data: bytes | None = None,
        ethertype: int = 2048,
    ) -> None:
        """Let an IP packet of `size` bytes enter at node `source`, or `node`, now or at a later time.

        `tag` is the caller's number for the packet, which its copies bring back (`drain_outputs`). Without
        `next_hop` the world's own routes carry the packet to node `destination`. With one the node's own
        stack has chosen it: the packet is sent by the node's interface with this number (`interfaces`) to
        that node, or to all nodes that receive it (`"*"`), and leaves the world there; `destination` is
        then what schemes see. `source` is the node that has made the packet: a packet that `node` passes on
        for another one enters at `node`.

        `flow` is the number of its flow for queues and schemes, `ack` says that it is an acknowledgement
        without data, `ecn` is "not-ect", "ect" or "ce". `data` are the bytes from the header that
        `ethertype` names, for captures. Raises `InputError`.
        """

    def interfaces(self, node: str) -> list[tuple[str, str]]:
        """The interfaces of a node, in the order of their numbers.

        ("radio", name of the radio) or ("wire", node at the far end).
        """

    def next_output_ns(self) -> int | None:
        """A time, ns, before which no injected packet arrives anywhere, if nothing more is injected.

        None if nothing will happen.
        """

    def drain_outputs(self) -> list[Egress]:
        """Copies of injected packets that have left since the last call."""

    def keep_completions(self) -> None:
        """Record each file that is completed from now on, for `take_completions`."""

    def take_completions(self) -> list[tuple[int, int, int, int]]:
        """Files that were completed since the last call, in the order of their ends.

        (Number of the flow in `Scenario.flows`, start in ns, bytes, duration in ns.)
        """

    def result(self) -> str:
        """The result up to the present, as JSON."""

    @property
    def now_ns(self) -> int:
        """Present time of the world, nanoseconds since the start of the run."""

    @property
    def end_ns(self) -> int:
        """End of the run, nanoseconds."""

@final
class Trace:
    """Lines of a trace, in the order of time."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> str: ...
    def following(self) -> str | None:
        """Time of the first event after `until`; None if no event follows. The rest of the lines is passed
        over."""

def trace(
    scenario: Scenario,
    scheme: str | None = None,
    seed: int = 1,
    node: str | None = None,
    start: str = "0 s",
    until: str | None = None,
) -> Trace:
    """Lines of what happens from `start` on and before `until`: see `airfair.trace`."""

def run_paced(
    scenario: Scenario, scheme: str | None = None, seed: int = 1, speed: float = 1.0
) -> tuple[str, str]:
    """Run paced by the wall clock, `speed` times as fast: the result and the lateness, both as JSON."""

def fix_slices(lengths_ns: Sequence[int]) -> None:
    """Advance the runs that begin from now on in slices of these lengths, in turn; without lengths, in slices
    that follow the wall clock again. For tests: nothing that a run writes may depend on its slices."""

def summarise(
    groups: Sequence[Sequence[str]],
    target: float | None = None,
    statistics: Sequence[str] = (),
    max_min_bps: Mapping[str, float] | None = None,
    settings: Sequence[Sequence[str]] = (),
) -> str:
    """Rows of `compare --json` for groups of runs (JSON of `Scenario.run`), a group for each scheme.

    With a `target`, a share of the mean, each row has the widths of the 95 % intervals of the `statistics`.
    With `max_min_bps`, rates by flow, each row and flow has its shares of these. `settings`: of each group
    the values of the scenario that only its runs have.
    """

def estimate(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean, half-width of its 95 % confidence interval (None for one value). Raises `InputError` for none."""

def median(values: Sequence[float]) -> tuple[float, tuple[float, float] | None]:
    """Median, ends of its 95 % interval (None below six values). Raises `InputError` for none."""

def share(hits: int, trials: int) -> tuple[float, tuple[float, float] | None]:
    """Share of hits, ends of its 95 % interval (None for one trial). Raises `InputError` for none."""

_AllocatedFlow = tuple[float, float | None, Sequence[tuple[int, float]]]
"""Weight, demand (None: no limit), and for resources what a unit of rate takes of each."""

def maximal_cliques(
    vertices: int, edges: Sequence[tuple[int, int]], limit: int = 1_000_000
) -> tuple[list[list[int]], bool]:
    """The maximal cliques of a graph, sorted, and whether these are all.

    Of more cliques than `limit` the list has as many, and those needed to cover every vertex and edge.
    Raises `InputError`.
    """

def max_min_rates(
    capacities: Sequence[float], flows: Sequence[_AllocatedFlow]
) -> tuple[list[float], list[int | None]]:
    """Max-min fair rates, and for each flow the resource that limits it (None: its demand).

    For each resource, the sum over flows of cost times rate is at most its capacity. Raises `InputError`.
    """

def proportional_rates(
    capacities: Sequence[float], flows: Sequence[_AllocatedFlow]
) -> tuple[list[float], list[float], float]:
    """Proportionally fair rates, the prices of the resources, and the gap.

    The gap is an upper bound of what the optimum has more, in the mean of ln(rate), weighted. Raises
    `InputError` also for flows that cannot have a rate above 0.
    """

def time_shared_rates(
    capacities: Sequence[float], edges: Sequence[tuple[int, int]], flows: Sequence[_AllocatedFlow]
) -> tuple[list[float], list[tuple[list[int], float]]]:
    """Max-min fair rates that a schedule reaches, for up to 12 links, and that schedule.

    Resource i is a link; `edges` are pairs of links that cannot be active together. The schedule has sets of
    links and their shares of the time. Raises `InputError`.
    """

def parts_of_maps() -> list[str]:
    """Names of files in one folder that may be parts of one map: reading one reads the others."""

def import_network(
    path: str | os.PathLike[str], options: Sequence[tuple[str, str]] = (), shown: int = 5
) -> tuple[str, str, str]:
    """Make a scenario from the map at `path`: its TOML, the report as JSON, the report as text.

    `options` are names and texts, as on the command line. Of each reason the text names the first `shown`
    records. Raises `InputError`.
    """

def read_toml(path: str | os.PathLike[str]) -> dict[str, tuple[int, object]]:
    """Read any TOML file: each key with its line and value, in the order of lines.

    A value is a text, int, float, bool, a list of (line, value), or again such a dict. Raises `ScenarioError`
    with the lines that are not TOML.
    """

def nearest(name: str, known: Sequence[str]) -> str | None:
    """The name of `known` that is most similar to `name`, if one is similar enough."""

def capabilities() -> str:
    """Capabilities of networks, and the schemes of the tree with those that they want, as JSON."""

def reference() -> str:
    """The types with units and every table and key of the scenario file, as JSON."""

def scenario_schema() -> str:
    """The JSON Schema (draft 2020-12) of the scenario file."""

def schemes() -> str:
    """Every scheme with its parameters, as JSON."""

def short_changes() -> str:
    """Short names for changes in the brackets of a selection, as JSON."""

def selections(text: str) -> list[tuple[str, list[str]]]:
    """The selections of schemes in a text with commas between them, each with the names of its schemes, in
    the form that results have. Raises `InputError` for one that cannot be read."""

def register_scheme(
    scheme: type[Scheme],
    name: str,
    about: str,
    origin: str,
    places: Sequence[str],
    params: Sequence[tuple[str, str, str, str, str, str]],
) -> None:
    """See `airfair.register`. A parameter is its name, kind, default, least, most and documentation.

    Raises `InputError`, or the exception of the scheme's code when it is built with its defaults.
    """

def emulation_lacks() -> str | None:
    """The first thing that this machine or this user lacks for an emulation, in one line; None if all is
    there."""

def emulations() -> list[tuple[int, Path]]:
    """The emulations of this user that run: the number of the process, and the socket."""

def sources_at_edge() -> list[str]:
    """Names of the schemes whose sources over TCP act at the edge of the stacks in an emulation."""

def execute_in(path: str | os.PathLike[str], node: str, command: Sequence[str]) -> int:
    """Run a command in a node of the emulation with this socket, in this terminal and folder; its exit
    status. Raises `InputError`."""

def load_receive(options: Sequence[tuple[str, str]]) -> tuple[str, BaseException | None]:
    """Receives traffic until its end; a report as JSON, and the exception of the signal that has ended it
    before. Options are those of `airfair load receive`, without dashes. Raises `InputError`, `OSError`."""

def load_send(host: str, options: Sequence[tuple[str, str]]) -> tuple[str, BaseException | None]:
    """Sends traffic to a host; a report as JSON, and the exception of the signal that has ended it before.
    Options are those of `airfair load send`, without dashes; the text of a flag is empty. Raises
    `InputError`."""

def parse_time(text: str, name: str | None = None) -> int:
    """A time with its unit, such as "1.5 ms", in nanoseconds; `name` is the name of the argument in errors.
    Raises `InputError`."""

"""Our simulator beside ns-2 (and ns-3): CPU time for the same work, in six races.

    python -m peers.bench [RACE ...] [--repeats 7] [--all]

The two sides of a race run in turn, `--repeats` times each, with their traffic and without. What is compared
is user and system CPU seconds of the child process: the best run with traffic minus the best run without, so
that start-up, reading and routes count for nobody. A ratio counts only if both sides did the same work: each
race says in what, and how far apart they may be.

Exit status: 0 done, 1 the two sides of a race did different work, 2 bad input or a peer that is not
installed. A ratio below the wanted one is told, and is no failure: it hangs on the machine too.
"""

# SPDX-License-Identifier: MIT OR Apache-2.0

from __future__ import annotations

import argparse
import json
import math
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from validation import flow_list

from .programs import Finished, PeerError, read_json, run

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE.parent / "scenarios"

Result = Mapping[str, Any]
Work = dict[str, int]
"""The work of a run, by name: packets that arrived, frames on the air, finished flows."""


@dataclass(frozen=True)
class Contender:
    """How to run one simulator, with traffic and without, and how to read what it did."""

    name: str
    loaded: Sequence[str]
    idle: Sequence[str]
    work: Callable[[Result], Work]


@dataclass(frozen=True)
class Race:
    """Two simulators with the same work."""

    name: str
    title: str
    ours: Contender
    peer: Contender
    allowed: Mapping[str, float]
    """How far our work may lie from the peer's, relatively; what is not named here is only printed."""
    wanted: float
    """How many times as fast we have to be."""
    goal: float
    """And how many we would like to be."""
    extras: Sequence[Contender] = ()
    """Run once each, to look at."""


@dataclass(frozen=True)
class Side:
    """One simulator's best runs: CPU seconds with traffic and without, peak memory with traffic."""

    name: str
    loaded_s: float
    worst_s: float
    """The slowest run with traffic: far above the best, the machine was busy."""
    idle_s: float
    peak_mb: float
    work: Work

    @property
    def cpu_s(self) -> float:
        return self.loaded_s - self.idle_s


@dataclass(frozen=True)
class Outcome:
    """The outcome of a race."""

    race: Race
    ours: Side
    peer: Side
    extras: Sequence[Side]

    @property
    def times_faster(self) -> float:
        return self.peer.cpu_s / self.ours.cpu_s

    @property
    def counts(self) -> bool:
        """True if both sides did the same work."""
        return all(
            abs(apart(self.ours.work[what], self.peer.work[what])) <= most
            for what, most in self.race.allowed.items()
        )

    def verdict(self) -> str:
        race = self.race
        if not self.counts:
            limits = ", ".join(f"{what} within {100 * most:.0f} %" for what, most in race.allowed.items())
            return f"the ratio does not count: the two sides did different work ({limits})"
        ratio = self.times_faster
        said = "reached" if ratio >= race.goal else "enough" if ratio >= race.wanted else "NOT REACHED"
        goal = f", the goal {race.goal:g}" if race.goal > race.wanted else ""
        return f"{ratio:.1f} times as fast; at least {race.wanted:g} are wanted{goal}: {said}"

    def json(self) -> dict[str, object]:
        return {
            "race": self.race.name,
            "sides": [asdict(side) | {"cpu_s": side.cpu_s} for side in (self.ours, self.peer, *self.extras)],
            "times_faster": self.times_faster,
            "wanted": self.race.wanted,
            "goal": self.race.goal,
            "counts": self.counts,
        }


def apart(value: int, reference: int) -> float:
    """Signed relative difference; infinite when only the reference is zero."""
    if reference == 0:
        return 0.0 if value == 0 else math.inf
    return value / reference - 1


def table(outcome: Outcome) -> str:
    """One row a simulator; work against the peer's."""
    peer = outcome.peer
    sides = [outcome.ours, peer, *outcome.extras]
    width = max(len(side.name) for side in sides)
    lines = [
        f"{'':{width}} {'CPU s':>8} {'worst s':>8} {'idle s':>8} {'net s':>8} {'MB':>6}"
        + "".join(f" {what:>10} {'':>7}" for what in peer.work)
    ]
    for side in sides:
        lines.append(
            f"{side.name:{width}} {side.loaded_s:8.3f} {side.worst_s:8.3f} {side.idle_s:8.3f} "
            f"{side.cpu_s:8.3f} {side.peak_mb:6.0f}"
            + "".join(
                f" {side.work[what]:10d} {apart(side.work[what], reference):+7.1%}"
                for what, reference in peer.work.items()
            )
        )
    return "\n".join(line.rstrip() for line in lines)


def measure(contenders: Sequence[Contender], repeats: int) -> list[Side]:
    """Runs all in turn, so that a slow moment of the machine meets everyone; keeps each one's best."""
    loaded: dict[str, list[Finished]] = {c.name: [] for c in contenders}
    idle: dict[str, list[Finished]] = {c.name: [] for c in contenders}
    for repeat in range(repeats):
        for c in contenders:
            print(f"{c.name}: run {repeat + 1} of {repeats}", file=sys.stderr)
            loaded[c.name].append(run(c.loaded))
            idle[c.name].append(run(c.idle))
    return [summary(c, loaded[c.name], idle[c.name]) for c in contenders]


def summary(contender: Contender, loaded: Sequence[Finished], idle: Sequence[Finished]) -> Side:
    """The best of one simulator's runs; all do the same work, so that one tells it."""
    try:
        work = contender.work(read_json(loaded[0].output, contender.loaded))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise PeerError(f"the result of {contender.name} cannot be read: {error!r}") from error
    times = [done.cpu_s for done in loaded]
    return Side(
        contender.name,
        min(times),
        max(times),
        min(done.cpu_s for done in idle),
        max(done.peak_mb for done in loaded),
        work,
    )


def hold(race: Race, repeats: int) -> Outcome:
    """The race itself, then its extras."""
    ours, peer = measure([race.ours, race.peer], repeats)
    if min(ours.cpu_s, peer.cpu_s) <= 0:
        raise PeerError("a run with traffic took no more CPU than the one without: nothing to compare")
    return Outcome(race, ours, peer, measure(race.extras, 1))


# --- The contenders ---------------------------------------------------------------------------------------


def ours(
    program: Sequence[str], scenario: str, seed: int, work: Callable[[Result], Work], *sets: str
) -> Contender:
    """Our side: a file of scenarios/, with overrides."""
    base = [*program, "run", str(SCENARIOS / scenario), "--json", "--seed", str(seed)]
    loaded = [*base, *(part for override in sets for part in ("--set", override))]
    return Contender("Airfair", loaded, [*base, "--set", "flow=[]"], work)


def our_grid_work(result: Result) -> Work:
    return {
        "packets": sum(flow["delivered_packets"] for flow in result["flows"]),
        "frames": result["perf"]["transmissions"],
    }


def our_short_flows_work(result: Result) -> Work:
    (flow,) = result["flows"]
    return {"packets": flow["delivered_packets"], "finished": flow["files"]["finished"]}


def ns2(script: str, *options: str) -> list[str]:
    if shutil.which("ns") is None:
        raise PeerError("ns-2 is not installed; on Debian: apt-get install ns2")
    return ["ns", str(HERE / "ns2" / script), *options]


def ns2_grid(transport: str, seed: int, routes: str) -> Contender:
    base = ns2("grid64.tcl", "-seed", str(seed), "-routes", routes, "-transport", transport)
    frames = count_ns2_frames(base)
    return Contender(
        "ns-2.35",
        base,
        [*base, "-traffic", "0"],
        lambda result: {"packets": result["delivered_packets"], "frames": frames},
    )


def count_ns2_frames(base: Sequence[str]) -> int:
    """Frames that the flows cost: the run once more with counting, less what it sends without traffic."""

    def frames(*more: str) -> int:
        with tempfile.TemporaryDirectory() as folder:
            command = [*base, *more, "-counts", str(Path(folder) / "frames")]
            counted: int = read_json(run(command).output, command)["frames"]["total"]
            return counted

    return frames() - frames("-traffic", "0")


def ns2_short_flows(flows: Path, nothing: Path, protocol: str) -> Contender:
    base = ns2("short_flows.tcl", "-protocol", protocol)
    return Contender(
        "ns-2.35",
        [*base, "-flows", str(flows)],
        [*base, "-flows", str(nothing)],
        lambda result: {"packets": result["delivered_packets"], "finished": result["finished"]},
    )


def ns3_grid(transport: str, seed: int) -> Contender:
    program = HERE / "ns3" / "build" / "mesh"
    if not program.exists():
        raise PeerError("the ns-3 peer is not built: apt-get install libns3-dev, then make -C peers/ns3")
    base = [
        str(program),
        "--scenario=grid64",
        f"--transport={transport}",
        f"--flows={HERE / 'grid-64-flows.csv'}",
        f"--seed={seed}",
        "--count=1",
    ]
    return Contender(
        "ns-3.37",
        base,
        [*base, "--traffic=0"],
        lambda result: {"packets": result["delivered_packets"], "frames": result["frames"]["total"]},
    )


# --- The races --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """The settings of the command line."""

    ours: Sequence[str]
    seed: int
    routes: str
    extras: bool
    folder: Path
    """For files that the races need."""


def grid(transport: str, scenario: str, title: str, settings: Settings) -> Race:
    return Race(
        f"grid-{transport}",
        f"{title} over a grid of 64 nodes, 60 s",
        ours(settings.ours, scenario, settings.seed, our_grid_work),
        ns2_grid(transport, settings.seed, settings.routes),
        {"packets": 0.20, "frames": 0.25},
        wanted=15,
        goal=20,
        extras=[ns3_grid(transport, settings.seed)] if settings.extras else (),
    )


def grid_udp(settings: Settings) -> Race:
    return grid("udp", "grid-64.toml", "20 UDP flows", settings)


def grid_tcp(settings: Settings) -> Race:
    return grid("tcp", "grid-64-tcp.toml", "20 long TCP flows", settings)


def list_race(
    name: str, title: str, protocol: str, settings: Settings, *sets: str, packets: float = 0.20
) -> Race:
    """ns-2 counts the packets of finished flows only, we all that arrived: 4 % more with TCP, 10 % with XCP,
    which leaves more of the large ones unfinished."""
    flows, nothing = settings.folder / "flows.csv", settings.folder / "nothing.csv"
    flow_list.write(flows, flow_list.flows())
    nothing.write_text("start_s,bytes\n", encoding="ascii")
    return Race(
        name,
        f"60,000 {title} transfers over a wire of 150 Mbit/s, 95 s",
        ours(
            settings.ours,
            "short-flows.toml",
            settings.seed,
            our_short_flows_work,
            *flow_list.overrides(flows, flow_list.STOP_S),
            *sets,
        ),
        ns2_short_flows(flows, nothing, protocol),
        {"packets": packets, "finished": 0.05},
        wanted=15,
        goal=15,
    )


def short_flows(settings: Settings) -> Race:
    return list_race("short-flows", "TCP", "tcp", settings)


def short_flows_xcp(settings: Settings) -> Race:
    """XCP's header costs nothing in ns-2: ours takes the place of TCP's, so that packets are equal."""
    sets = ('scheme="xcp"', 'tcp.mss="980 B"', 'headers.tcp="0 B"')
    return list_race("short-flows-xcp", "XCP", "xcp", settings, *sets)


def short_flows_rates(scheme: str, settings: Settings) -> Race:
    """Schemes that ns-2 does not have, against its XCP on the same list: they deliver a quarter more by the
    stop, which is our loss."""
    sets = (f'scheme="{scheme}"', 'tcp.mss="976 B"', 'headers.tcp="4 B"')
    return list_race(
        f"short-flows-{scheme}", f"{scheme.upper()} (ns-2: XCP)", "xcp", settings, *sets, packets=0.30
    )


RACES: dict[str, Callable[[Settings], Race]] = {
    "grid-udp": grid_udp,
    "grid-tcp": grid_tcp,
    "short-flows": short_flows,
    "short-flows-xcp": short_flows_xcp,
    "short-flows-rcp": partial(short_flows_rates, "rcp"),
    "short-flows-qfcp": partial(short_flows_rates, "qfcp"),
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m peers.bench", description=(__doc__ or "").split("\n", maxsplit=1)[0]
    )
    parser.add_argument("races", nargs="*", metavar="RACE", help=f"any of: {', '.join(RACES)} (default: all)")
    parser.add_argument("--ours", default=f"{sys.executable} -m airfair", help="command that runs our side")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each side (default 7)")
    parser.add_argument("--seed", type=int, default=1, help="seed of both sides (default 1)")
    parser.add_argument(
        "--routes", choices=("static", "dsdv"), default="static", help="how ns-2 finds its routes in the grid"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="run the grids in ns-3 too, once: minutes",
    )
    return parser.parse_args()


def main() -> int:
    args = arguments()
    outcomes = []
    try:
        if args.repeats < 1:
            raise PeerError("--repeats is at least 1")
        for name in args.races:
            if name not in RACES:
                raise PeerError(f"no race {name}; there are {', '.join(RACES)}")
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(shlex.split(args.ours), args.seed, args.routes, args.all, Path(folder))
            for name in args.races or RACES:
                race = RACES[name](settings)
                print(f"{race.name}: {race.title}", flush=True)
                outcomes.append(hold(race, args.repeats))
                print(f"{table(outcomes[-1])}\n{outcomes[-1].verdict()}\n", flush=True)
    except PeerError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"repeats": args.repeats, "races": [outcome.json() for outcome in outcomes]}))
    return 0 if all(outcome.counts for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())

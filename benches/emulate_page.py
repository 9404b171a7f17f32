"""The page on the load of the emulator, from the numbers in `docs/bench-emulate.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from airfair import plots
from airfair.output import write_atomically
from airfair.plots import style

PAGE = Path(__file__).parent.parent / "docs" / "bench-emulate.md"

FIGURE = PAGE.with_suffix(".svg")

KEPT_US = 1_000.0
"""A run keeps up if 99 % of its deliveries are not later."""

AIMS = {"p99": 250.0, "worst": 5_000.0, "cpu": 25.0}
"""For 25 pairs: microseconds of lateness, and of processor time a delivery at 54 Mbit/s."""

Json = Mapping[str, Any]

HEAD = """<!-- Written by `make bench-emulate`, `make soak-emulate` and `make fuzz-emulate`. Do not edit. -->

# The load of the emulator

How many real stacks can [`airfair emulate`](how-to/emulate.md) carry on a machine of two cores? The targets
`make bench-emulate`, `make soak-emulate SOAK=20m` and `make fuzz-emulate` write a part
of this page each. All need root.
"""

SCENES = """## Pairs that saturate their air

Pairs of nodes 10 m apart; five pairs stand in a row 200 m from each other, and each senses two neighbours
on either side: some two of five senders are on the air at once. Other rows are out of reach. Each sender
offers {offered} Mbit/s of UDP in packets of 1500 bytes for {seconds} s, by a process of `airfair-load` in
its node, and another process receives in the other node.

- **deliveries**: frames that reach a node's device, a second; **read**: frames that the stacks send. What
  the air does not carry is dropped at the scenario's queues, after it was read.
- **late**: delivery after its time, µs. Lateness at pauses of the machine is included.
- **CPU**: of one core, the emulator's own, system calls included; and µs a delivery. It includes the work
  of the receiving stack, up to the wake-up of the receiving process.
- **load**: the load average before the run. Other work on the machine is part of these numbers.
- **unused**: of all cores, over the whole run with its beginning and end.
"""

TRAFFIC = """The programs of the traffic, {processes} processes at 25 pairs and 54 Mbit/s, take
{load_cpu:.2f} cores beside the emulator's {cpu:.2f}. At {most} pairs the senders left out {skipped:.1f} of
{offered:.0f} datagrams a second each: they had no time on the processor.

A wake-up of the emulator takes some 13 µs of CPU on this virtual machine, more than half of it for the
timer: a delivery is the cheaper the more there are. Where the emulator needs more than 95 % of a core,
Linux takes it away for 50 ms in each second (`kernel.sched_rt_runtime_us`).
"""


def folded(text: str) -> str:
    """The page with lines of at most 118 characters, tables and headings as they are."""
    blocks = []
    for block in text.strip().split("\n\n"):
        if block.startswith(("|", "#", "<", "!")):
            blocks.append(block)
            continue
        entries = [" ".join(entry.split()) for entry in block.split("\n- ")]
        entries = [entries[0], *(f"- {entry}" for entry in entries[1:])]
        blocks.append("\n".join(fold(entry) for entry in entries))
    return "\n\n".join(blocks) + "\n"


def fold(entry: str) -> str:
    """One paragraph, or one entry of a list."""
    hang = "  " if entry.startswith("- ") else ""
    return fill(entry, 118, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)


def number(value: float) -> str:
    """A number with separators."""
    return f"{value:,.0f}"


def on(machine: Json) -> str:
    """The machine in a line."""
    return (
        f"Measured on {machine['date']}: {machine['cores']} cores of {machine['cpu']} (a virtual machine "
        f"with other work), Linux {machine['kernel']}."
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def punctual(run: Json) -> list[str]:
    """A scene: traffic and lateness."""
    return [
        f"{run['pairs']}, {run['rate']} Mbit/s",
        number(run["deliveries_per_s"]),
        number(run["read_per_s"]),
        " / ".join(number(late) for late in run["late_us"]),
        run["verdict"],
        f"{run['load_average']:.1f}",
    ]


def cost(run: Json) -> list[str]:
    """A scene: what it takes."""
    return [
        f"{run['pairs']}, {run['rate']} Mbit/s",
        f"{run['cpu']:.0%}",
        f"{run['cpu_us']:.1f}",
        number(run["wake_ups_per_s"]),
        number(run["faults"]),
        number(run["memory_mb"]),
        f"{run['idle']:.0%}",
    ]


def aims(runs: Sequence[Json]) -> str:
    """The scenes of 25 pairs beside the aims, in words."""
    lines = []
    for run in runs:
        if run["pairs"] != 25:
            continue
        _, p99, _, worst = run["late_us"]
        parts = [
            ("99 % late at most 250 µs", p99 <= AIMS["p99"], f"{p99:.0f} µs"),
            ("none later than 5 ms", worst <= AIMS["worst"], f"{worst / 1000:.1f} ms"),
        ]
        if run["rate"] == 54:
            parts.append(("25 µs of CPU a delivery", run["cpu_us"] <= AIMS["cpu"], f"{run['cpu_us']:.1f} µs"))
        text = "; ".join(f"{aim}: {'yes' if met else '**no**'}, {value}" for aim, met, value in parts)
        lines.append(f"- 25 pairs at {run['rate']} Mbit/s: {text}.")
    return "\n".join(lines) + "\n"


def knee(runs: Sequence[Json]) -> str:
    """The end of the ladder in words."""
    ladder = [run for run in runs if run["rate"] == 54]
    kept = [run for run in ladder if run["verdict"] != "fell behind"]
    lost = [run for run in ladder if run["verdict"] == "fell behind"]
    if not kept:
        return "No step of the ladder kept up.\n"
    best = max(kept, key=lambda run: run["pairs"])
    rate = number(best["deliveries_per_s"])
    text = f"Up to {best['pairs']} pairs ({rate} deliveries a second) the run kept up"
    if not lost:
        return text + "; more were not tried.\n"
    first = min(lost, key=lambda run: run["pairs"])
    text += f"; at {first['pairs']} pairs it fell behind"
    return text + (".\n" if first["pairs"] > best["pairs"] else " once.\n")


def draw(runs: Sequence[Json]) -> None:
    """Lateness by load, at 54 Mbit/s, as a picture."""
    ladder = sorted((run for run in runs if run["rate"] == 54), key=lambda run: run["pairs"])
    loads = [run["deliveries_per_s"] / 1e3 for run in ladder]
    with style.canvas(None, "lateness by load, 54 Mbit/s") as axes:
        for place, (label, marker, dash) in enumerate((("median", "o", "-"), ("99 %", "s", "--"))):
            late = [run["late_us"][place] for run in ladder]
            axes.plot(loads, late, marker=marker, linestyle=dash, label=label)
        for load, run in zip(loads, ladder, strict=True):
            axes.annotate(f"{run['pairs']}", (load, run["late_us"][1]), (0, 5), textcoords="offset points")
        axes.axhline(KEPT_US, color=style.FAINT, label="keeps up below this, 99 %")
        axes.set_yscale("log")
        axes.set_xlabel("deliveries (1000/s); numbers: pairs of nodes")
        axes.set_ylabel("late (us)")
        style.legend(axes)
        plots.save(style.figure_of(axes), FIGURE)


def scenes(of: Json) -> str:
    """The part of `make bench-emulate`."""
    runs = of["runs"]
    first = ["pairs", "deliveries/s", "read/s", "late p50 / p99 / p99.9 / worst", "verdict", "load"]
    second = ["pairs", "CPU", "µs a delivery", "wake-ups/s", "faults", "resident MB", "unused"]
    offered = " and ".join(f"{value} (at {rate})" for rate, value in of["offered"].items())
    usual = next(run for run in runs if (run["pairs"], run["rate"]) == (25, 54))
    most = max(runs, key=lambda run: run["pairs"])
    traffic = TRAFFIC.format(
        processes=2 * usual["pairs"],
        load_cpu=usual["load_cpu"],
        cpu=usual["cpu"],
        most=most["pairs"],
        skipped=most["skipped"],
        offered=of["offered"][str(most["rate"])] * 1e6 / 8 / 1472,
    )
    parts = [SCENES.format(seconds=of["seconds"], offered=offered), on(of["machine"]) + "\n"]
    tables = [table(first, [punctual(run) for run in runs]), table(second, [cost(run) for run in runs])]
    draw(runs)
    picture = f"![Lateness of deliveries by their number]({FIGURE.name})\n"
    return "\n".join([*parts, *tables, knee(runs), picture, aims(runs), traffic])


def soak(of: Json) -> str:
    """The part of `make soak-emulate`."""
    run, every = of["run"], of["every"]
    memory, descriptors = run["memory"], run["descriptors"]
    # The first samples are of the start, the last may be of a run that is ending.
    steady = range(1, len(memory) - 1)
    rows = [[f"{(at + 1) * every / 60:.0f}", number(memory[at]), number(descriptors[at])] for at in steady]
    first, last = memory[steady[0]], memory[steady[-1]]
    text = (
        f"## A long run\n\n25 pairs at 54 Mbit/s for {of['seconds'] / 60:.0f} minutes: "
        f"{number(run['deliveries_per_s'] * of['seconds'])} deliveries, late "
        f"{' / '.join(number(late) for late in run['late_us'])} µs, {run['cpu_us']:.1f} µs of CPU each, "
        f"{run['verdict']}, {run['faults']} faults, {run['pauses']['count']} pauses of the machine of "
        f"{run['pauses']['total_s'] * 1e3:.0f} ms in all. Memory grew by {number(last - first)} KiB "
        f"({(last - first) / first:.2%}) after the first samples.\n"
    )
    return "\n".join([text, on(of["machine"]) + "\n", table(["minute", "resident KiB", "descriptors"], rows)])


FRAMES = """## Frames that no stack sends

A program in a node writes random bytes, and right packets with changed, cut and added bytes, past its own
stack to its device: for its neighbour, for groups, for itself and for stations that nobody has. The
emulator must neither fail nor grow, and its counts must add up: what the device has sent is what was read,
and what was read is refused (no frame with a type, or empty), for an unknown station, delivered, or dropped
by the scenario.
"""


def hostile(of: Json) -> str:
    """The part of `make fuzz-emulate`."""
    rows: list[tuple[str, Callable[[Json], float]]] = [
        ("written", lambda run: run["written"]),
        ("a second", lambda run: run["per_s"]),
        ("sent by the device", lambda run: run["sent_by_device"]),
        ("read", lambda run: run["frames"]["read"]),
        ("refused", lambda run: run["frames"]["refused"]),
        ("for an unknown station", lambda run: run["frames"]["unknown_station"]),
        ("for groups", lambda run: run["frames"]["to_groups"]),
        ("copies delivered", lambda run: run["frames"]["written"]),
        ("marked", lambda run: run["frames"]["marked"]),
        ("dropped by the scenario", lambda run: sum(run["frames"]["dropped"].values())),
        ("flows", lambda run: run["flows"]),
        ("packets of other flows", lambda run: run["packets_of_other_flows"]),
        ("faults", lambda run: run["faults"]),
        ("resident KiB, after a quarter", lambda run: run["memory"][0]),
        ("at the end", lambda run: run["memory"][2]),
    ]
    head = ["", *(run["way"] for run in of["runs"])]
    lines = [[text, *(number(value(run)) for run in of["runs"])] for text, value in rows]
    note = (
        "More are read than the device of the program has sent: the other nodes answer. Flows beyond 1024 "
        "are not told apart; their packets are counted together.\n"
    )
    return "\n".join([FRAMES, on(of["machine"]) + "\n", table(head, lines), note])


PARTS = {"scenes": scenes, "soak": soak, "frames": hostile}


def write_page(stored: Json) -> str:
    """Write the page; its path."""
    parts = [part(stored[name]) for name, part in PARTS.items() if name in stored]
    write_atomically(PAGE, folded("\n".join([HEAD, *parts])).encode())
    return str(PAGE)

"""Plots say what the results say: data, intervals, labels, units; not how pixels lie."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import airfair
import matplotlib as mpl
import numpy as np
import pytest
from airfair import CompareRow, InputError, Recording, RunResult, Scenario, plots
from airfair.commands.plot import PLOTS
from airfair.plots import style
from airfair.plots.command import TAKES, plot
from airfair.plots.layout import components, fill_in, spread
from airfair.plots.world import gateways_of, positions, relations
from airfair.results import Estimate
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from tests.support import SCENARIOS, THREE_PAIRS
from tests.support import airfair as command

OVERRIDES = ["duration=4 s", "warmup=1 s"]


pytestmark = pytest.mark.usefixtures("no_warnings")


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Scenario.read(THREE_PAIRS, OVERRIDES)


@pytest.fixture(scope="module")
def recorded(scenario: Scenario) -> Recording:
    return airfair.record(scenario, seed=4, interval="500 ms")


@pytest.fixture(scope="module")
def runs(scenario: Scenario) -> list[RunResult]:
    return [
        airfair.run(scenario, scheme=scheme, seed=seed) for scheme in ("droptail", "red") for seed in (1, 2)
    ]


@pytest.fixture(scope="module")
def rows(scenario: Scenario) -> list[CompareRow]:
    return airfair.compare(scenario, schemes=["droptail", "red"], seeds=[1, 2, 3])


def axes_of(figure: Figure) -> Axes:
    """The axes of a plot that can be drawn."""
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    return figure.axes[0]


def lines(axes: Axes) -> dict[str, np.ndarray]:
    """Height of each named line."""
    return {str(line.get_label()): np.asarray(line.get_ydata()) for line in axes.get_lines()}


def legend(axes: Axes) -> list[str]:
    found = axes.get_legend()
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def many_flows(scenario: Scenario, count: int) -> Recording:
    """A recording in which flow `i` of so many gets i kbit/s."""
    recorded = airfair.record(scenario, interval="2 s")
    flow = recorded.result["flows"][0]
    recorded.result["flows"] = [{**flow, "id": f"f{i}", "goodput_bps": 1000.0 * i} for i in range(count)]
    table = recorded.arrow("flow_series").slice(0, 1).to_pylist()[0]
    rates = [
        {**table, "end_s": 2.0 * k, "flow": f"f{i}", "goodput_bps": 1000.0 * i}
        for k in (1, 2)
        for i in range(count)
    ]
    tables = {name: recorded.arrow(name) for name in ("flows", "queues", "channel")}
    import pyarrow as pa

    return Recording(
        recorded.result, recorded.scenario, {**tables, "flow_series": pa.Table.from_pylist(rates)}
    )


def test_throughput_is_the_recorded_goodput(recorded: Recording) -> None:
    axes = axes_of(plots.throughput(recorded))
    series = recorded.pandas("flow_series")
    for flow, height in lines(axes).items():
        assert height * 1000 == pytest.approx(series[series["flow"] == flow]["goodput_bps"].to_numpy())
    assert list(lines(axes)) == ["left", "middle", "right"]
    times = cast(np.ndarray, axes.get_lines()[0].get_xdata())
    assert list(times[:2]) == [0.25, 0.75], "a mean over an interval stands in its middle"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (s)", "goodput (kbit/s)")
    assert legend(axes) == ["left", "middle", "right", "warm-up"]
    assert axes.get_title(loc="left") == "three-pairs, droptail, seed 4"


def test_windows_and_queues_are_the_recorded_ones(recorded: Recording) -> None:
    axes = axes_of(plots.windows(recorded))
    series = recorded.pandas("flow_series")
    assert axes.get_ylabel() == "congestion window (kB)"
    for flow, height in lines(axes).items():
        assert height * 1000 == pytest.approx(series[series["flow"] == flow]["window_bytes"], nan_ok=True)
    axes = axes_of(plots.queues(recorded))
    waiting = recorded.pandas("queues")
    assert axes.get_ylabel() == "packets that wait"
    assert "a1" in lines(axes)
    for node, height in lines(axes).items():
        assert list(height) == waiting[waiting["node"] == node]["packets"].to_list()


def test_queues_of_wires_name_both_ends() -> None:
    short = Scenario.read(SCENARIOS / "dumbbell.toml", ["duration=3 s", "warmup=0 s"])
    assert "left → right" in lines(axes_of(plots.queues(airfair.record(short))))


def test_states_fill_the_time(recorded: Recording) -> None:
    axes = axes_of(plots.channel(recorded))
    bars = np.array([[patch.get_width() for patch in cast(Any, part)] for part in axes.containers])
    assert bars.sum(axis=0) == pytest.approx(1.0)
    table = recorded.pandas("channel")
    after = table[table["end_s"] > 1.0]
    sending = after[after["node"] == "a1"]["transmit_s"].sum() / 3.0
    assert bars[0, 0] == pytest.approx(sending)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a1", "b1", "a2", "b2", "a3", "b3"]
    assert legend(axes) == ["transmits", "receives", "busy", "NAV", "idle"]
    assert (
        len(
            {
                (patch.get_facecolor(), patch.get_hatch())
                for part in axes.containers
                for patch in cast(Any, part)[:1]
            }
        )
        == 5
    )

    over_time = axes_of(plots.channel(recorded, node="a1"))
    first = cast(Any, over_time.patches[0]).get_data()
    assert first.values == pytest.approx(table[table["node"] == "a1"]["transmit_s"].to_numpy() / 0.5)
    assert list(first.edges) == [0.5 * i for i in range(9)]


def test_states_of_a_result(runs: list[RunResult]) -> None:
    axes = axes_of(plots.channel(runs[0]))
    airtime = runs[0]["stations"][2]["airtime_ns"]
    assert cast(Any, axes.containers[2])[2].get_width() == pytest.approx(airtime["busy"] / 4e9)
    with pytest.raises(InputError, match=r"expected what airfair\.record gives"):
        plots.channel(runs[0], node="a1")


def test_states_of_many_radios_have_no_names() -> None:
    grid = Scenario.read(SCENARIOS / "grid-64.toml", ["duration=1 s"])
    axes = axes_of(plots.channel(airfair.run(grid)))
    idle = [patch.get_data() for patch in cast(Any, axes.patches)][-1]
    share = idle.values - idle.baseline
    assert len(share) == 64
    assert list(share) == sorted(share)


def test_bars_are_means_with_intervals(rows: list[CompareRow]) -> None:
    axes = axes_of(plots.bars(rows, log=False))
    bars = [part for part in axes.containers if isinstance(part, BarContainer)]
    arms = [part for part in axes.containers if isinstance(part, ErrorbarContainer)]
    for row, bar, arm in zip(rows, bars, arms, strict=True):
        estimates = [flow["goodput_bps"] for flow in row["flows"]]
        assert [patch.get_width() * 1000 for patch in bar] == pytest.approx([e["mean"] for e in estimates])
        lengths = [np.ptp(segment[:, 0]) * 1000 for segment in cast(Any, arm[2][0]).get_segments()]
        assert lengths == pytest.approx([2 * (e["ci95"] or 0) for e in estimates])
    assert axes.get_xlabel() == "goodput (kbit/s)"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["left", "middle", "right"]
    assert legend(axes) == ["droptail", "red"]
    assert axes.get_title(loc="left") == "3 seeds, 95 % intervals"
    # The middle flow has less than a thirtieth of the others.
    axes = axes_of(plots.bars(rows))
    assert axes.get_xlabel() == "goodput (kbit/s), logarithmic"
    ends = [patch.get_x() + patch.get_width() for patch in axes.containers[1].patches]  # type: ignore[attr-defined]
    assert [end * 1000 for end in ends] == pytest.approx([f["goodput_bps"]["mean"] for f in rows[0]["flows"]])


NONE: Estimate = {"mean": float("nan"), "ci95": None}


def mean(estimate: Estimate | None) -> float:
    """The mean of an estimate; not a number where there is none."""
    return (estimate or NONE)["mean"]


def test_bars_of_a_scheme_and_of_differences(rows: list[CompareRow]) -> None:
    axes = axes_of(plots.bars(rows, "jain_index"))
    widths = [cast(Any, part)[0].get_width() for part in axes.containers if isinstance(part, BarContainer)]
    assert widths == [mean(row["jain_index"]) for row in rows]
    assert axes.get_xlabel() == "Jain's index"
    axes = axes_of(plots.bars(rows, difference=True))
    (bar,) = [part for part in axes.containers if isinstance(part, BarContainer)]
    expected = [flow["difference"]["goodput_bps"]["mean"] for flow in rows[1]["flows"]]
    factor = 1e6 if "Mbit" in axes.get_xlabel() else 1e3
    assert [patch.get_width() * factor for patch in bar] == pytest.approx(expected)
    assert axes.get_xlabel().startswith("difference to droptail: goodput (")


def with_flows(row: CompareRow, goodputs: list[float]) -> CompareRow:
    """The row with so many flows, each with its goodput in bit/s, without intervals."""
    (first, *_) = row["flows"]
    flows = [
        {**first, "id": f"f{i}", "goodput_bps": {"mean": bps, "ci95": None}} for i, bps in enumerate(goodputs)
    ]
    return cast(CompareRow, {**row, "flows": flows})


def test_every_flow_has_bars_the_least_first(rows: list[CompareRow]) -> None:
    goodputs = [float(1 + (i * 7) % 20) * 1000 for i in range(20)]
    axes = axes_of(plots.bars([with_flows(rows[0], goodputs)]))
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == [f"f{i}" for i in sorted(range(20), key=goodputs.__getitem__)]
    (bars,) = [part for part in axes.containers if isinstance(part, BarContainer)]
    assert [bar.get_width() for bar in bars] == list(range(1, 21)), "kbit/s, none left out"
    assert axes.get_xscale() == "linear"


def test_of_very_many_flows_those_between_have_one_bar(rows: list[CompareRow]) -> None:
    axes = axes_of(plots.bars([with_flows(rows[0], [1000.0 * (i + 1) for i in range(60)])], log=False))
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert (len(names), names[24:27]) == (51, ["f24", "mean of 10 others", "f35"])
    (bars,) = [part for part in axes.containers if isinstance(part, BarContainer)]
    # By hand: of 26 to 35 kbit/s.
    assert bars[25].get_width() == pytest.approx(30.5)


@pytest.mark.parametrize(
    ("goodputs", "scale"),
    [([1e6, 34e3], "linear"), ([1e6, 33e3], "log"), ([1e6, 0.0], "linear"), ([0.0, 0.0], "linear")],
)
def test_an_axis_is_logarithmic_where_one_flow_dwarfs_another(
    rows: list[CompareRow], goodputs: list[float], scale: str
) -> None:
    """By hand: 1000 / 34 < 30 < 1000 / 33."""
    row = with_flows(rows[0], goodputs)
    assert axes_of(plots.bars([row])).get_xscale() == scale
    assert axes_of(plots.bars([row], log=False)).get_xscale() == "linear"
    if scale == "log":
        axes = axes_of(plots.bars([with_flows(rows[0], [*goodputs, 0.0])]))
        assert axes.get_xlim()[0] == 0.01, "a decade that has the shortest bar, in Mbit/s"
        assert [text.get_text() for text in axes.texts] == ["0"]
    if not any(goodputs):
        with pytest.raises(InputError, match="log"):
            plots.bars([row], log=True)


def test_scatter_has_intervals_in_both_directions(rows: list[CompareRow], runs: list[RunResult]) -> None:
    axes = axes_of(plots.scatter({"a": rows[0], "b": rows[1]}))
    for row, part in zip(rows, cast(list[Any], axes.containers), strict=True):
        assert part[0].get_xdata() * 1e6 == pytest.approx([row["aggregate_goodput_bps"]["mean"]])
        assert list(part[0].get_ydata()) == [mean(row["jain_index"])]
        across, up = (np.ptp(np.asarray(arm.get_segments()[0]), axis=0) for arm in part[2])
        assert across[0] * 1e6 == pytest.approx(2 * (row["aggregate_goodput_bps"]["ci95"] or 0))
        assert up[1] == pytest.approx(2 * ((row["jain_index"] or NONE)["ci95"] or 0))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("total goodput (Mbit/s)", "Jain's index")
    assert legend(axes) == ["a", "b"]
    clouds = axes_of(plots.scatter(runs, y="min_goodput_bps"))
    assert [len(cast(Any, part)[0].get_xdata()) for part in clouds.containers] == [2, 2]


def test_a_cdf_counts_what_has_no_number(runs: list[RunResult]) -> None:
    axes = axes_of(plots.cdf([3.0, None, 1.0, 2.0], "completion_s"))
    (height,) = lines(axes).values()
    assert list(height) == [0, 0.25, 0.5, 0.75], "the one without a number is larger than any"
    assert list(cast(Any, axes.get_lines()[0].get_xdata())) == [1, 1, 2, 3]
    assert axes.get_xlabel() == "completion time (s)"
    axes = axes_of(plots.cdf(runs))
    assert list(lines(axes)) == ["droptail", "red"]
    droptail = sorted(flow["goodput_bps"] for run in runs[:2] for flow in run["flows"])
    assert cast(Any, axes.get_lines()[0].get_xdata())[1:] * 1000 == pytest.approx(droptail)
    assert axes_of(plots.cdf({"all": runs}, "jain_index")).get_lines()[0].get_label() == "all"


@pytest.mark.parametrize(
    ("name", "decodes", "senses", "hops"),
    [
        ("three-pairs", 7, 4, 3),
        ("hidden-terminal", 3, 0, 2),
        ("exposed-terminal", 3, 0, 2),
        ("wired", 3, 0, 6),
    ],
)
def test_the_map_draws_each_relation_once(name: str, decodes: int, senses: int, hops: int) -> None:
    axes = axes_of(plots.network(Scenario.read(SCENARIOS / f"{name}.toml")))
    drawn = {
        str(part.get_label()): len(part.get_segments())
        for part in axes.collections
        if isinstance(part, LineCollection)
    }
    assert drawn.get("decodes", 0) == decodes
    assert drawn.get("senses", 0) == senses
    assert drawn.get("wired", 0) == (name == "wired")
    assert len([patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]) == hops


def test_the_map_has_the_routes_that_a_run_has_found() -> None:
    """1 to 4 by 2 and 3; node 4 hears only 3."""
    row = SCENARIOS / "hidden-terminal.toml"
    flows = 'flow=[{id="f", from="1", to="4", traffic={kind="constant", rate="8 kbit/s", packet="100 B"}}]'

    def arrows_and_label(routing: str, *, run: bool, duration: str = "40 s") -> tuple[int, str]:
        given = (flows, f'routing={{protocol="{routing}"}}', f"duration={duration}", "warmup=0 s")
        scenario = Scenario.read(row, given)
        result = airfair.run(scenario) if run else None
        axes = axes_of(plots.network(scenario, result=result))
        arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
        legend = axes.get_legend()
        assert legend is not None
        (label,) = (text.get_text() for text in legend.get_texts() if "flow" in text.get_text())
        return len(arrows), label

    assert arrows_and_label("olsr", run=False) == (0, "flow f: route found by OLSR in a run")
    assert arrows_and_label("olsr", run=True) == (3, "flow f")
    assert arrows_and_label("olsr", run=True, duration="100 ms") == (0, "flow f: no route at the end")
    assert arrows_and_label("aodv", run=True) == (0, "flow f: route found by AODV in a run")


def test_the_map_stands_where_the_nodes_stand() -> None:
    axes = axes_of(plots.network(Scenario.read(THREE_PAIRS)))
    named = {text.get_text(): text.xy for text in cast(Any, axes.texts)}
    assert named == {
        "a1": (0, 0), "a2": (350, 0), "a3": (700, 0), "b1": (0, 200), "b2": (350, 200), "b3": (700, 200),
    }  # fmt: skip
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (m)", "y (m)")


def test_nodes_where_several_flows_end_are_marked() -> None:
    """A gateway by hand: b has flows with a and c, the ends of which have one each."""
    flows = [("a", "b"), ("c", "b"), ("b", "a")]
    text = 'name = "x"\nduration = "1 s"\n' + "".join(
        f'[[node]]\nid = "{node}"\nposition = ["{x} m", "0 m"]\n'
        for node, x in (("a", 0), ("b", 50), ("c", 100))
    )
    for i, (one, other) in enumerate(flows):
        text += f'[[flow]]\nid = "{i}"\nfrom = "{one}"\nto = "{other}"\ntraffic = {{ kind = "saturating" }}\n'
    scenario = Scenario.parse(text)
    network = airfair.network(scenario)
    assert gateways_of(network) == ["b"]
    assert "several flows meet here" in legend(axes_of(plots.network(scenario)))
    network["flows"] = [flow for flow in network["flows"] if flow["id"] == "0"]
    assert gateways_of(network) == []
    # Where every node is one, none stands out.
    ring = [
        {**flow, "src": a, "dst": b}
        for flow, (a, b) in zip(
            airfair.network(scenario)["flows"], (("a", "b"), ("b", "c"), ("c", "a")), strict=True
        )
    ]
    network["flows"] = cast(Any, ring)
    assert gateways_of(network) == []


def test_floors_are_drawn_one_above_the_other() -> None:
    network = airfair.network(SCENARIOS / "building.toml")
    places, plan = positions(network, relations(network))
    assert not plan
    height = [node["position_m"][2] for node in network["nodes"] if node["position_m"]]
    ground = [y for (_, y), z in zip(places, height, strict=True) if z == min(height)]
    upper = [y for (_, y), z in zip(places, height, strict=True) if z > min(height)]
    assert max(ground) < min(upper)


def test_nodes_without_places_stand_near_their_neighbours() -> None:
    """A row of ten, given in disorder, comes out as a row: hops apart is far apart."""
    order = [3, 7, 0, 9, 1, 5, 2, 8, 4, 6]
    edges = list(pairwise(order))
    places = spread(10, edges)
    apart = np.hypot(*(places[order[0]] - places[order[9]]))
    steps = [np.hypot(*(places[a] - places[b])) for a, b in edges]
    assert apart > 5 * max(steps)
    assert min(steps) > 0.3 * max(steps)
    assert np.array_equal(places, spread(10, edges)), "the same every time"
    assert components(5, [(3, 1), (0, 4)]) == [[0, 4], [1, 3], [2]]
    alone = spread(3, [])
    assert len({tuple(place) for place in alone}) == 3


def test_known_places_are_kept() -> None:
    known = np.array([[0.0, 0.0], [100.0, 0.0], [np.nan, np.nan], [np.nan, np.nan]])
    places = fill_in(known, [(0, 1), (1, 2), (2, 3)])
    assert np.array_equal(places[:2], known[:2])
    assert np.hypot(*(places[2] - places[1])) < np.hypot(*(places[3] - places[1])), "by distance in hops"
    many = np.vstack([known[:2], np.full((40, 2), np.nan)])
    places = fill_in(many, [(0, node) for node in range(2, 30)])
    assert len({tuple(place) for place in places}) == 42, "no two in one place, without neighbours or with"


def test_a_few_nodes_far_away_do_not_shrink_the_others() -> None:
    network = airfair.network(SCENARIOS / "grid-64.toml")
    network["nodes"].append({"id": "far", "position_m": [1e6, 0, 0], "path": [], "path_repeats_from": None})
    axes = axes_of(plots.network(network))
    assert axes.get_xlim()[1] < 5000
    assert "1 node outside" in legend(axes)


def test_many_flows_do_not_fill_the_legend(scenario: Scenario) -> None:
    recorded = many_flows(scenario, 1000)
    axes = axes_of(plots.throughput(recorded))
    assert legend(axes) == ["994 others", "f0", "f1", "f2", "f997", "f998", "f999", "warm-up"]
    colours = [line.get_color() for line in axes.get_lines()]
    assert len(set(colours)) == len(colours) == 6
    (others,) = [part for part in axes.collections if isinstance(part, LineCollection)]
    assert len(others.get_segments()) == 994
    assert others.get_rasterized()


def test_a_look_belongs_to_a_flow_or_scheme(recorded: Recording) -> None:
    def colours(figure: Figure) -> dict[str, Any]:
        return {str(line.get_label()): line.get_color() for line in figure.axes[0].get_lines()}

    assert colours(plots.throughput(recorded)) == colours(plots.windows(recorded))
    route = {
        name.removeprefix("flow "): c
        for name, c in colours(plots.network(Scenario.read(THREE_PAIRS))).items()
    }
    assert route == colours(plots.throughput(recorded))
    both, red = style.looks_of_schemes(["droptail", "red"]), style.looks_of_schemes(["red"])
    assert both[1] == red[0]
    named = [style.Look.number(place) for place in range(8)]
    for kind in ("colour", "marker", "hatch"):
        assert len({getattr(look, kind) for look in named}) == 8, "told apart without colour"


def test_axes_of_the_caller(recorded: Recording, rows: list[CompareRow], runs: list[RunResult]) -> None:
    own = Figure(figsize=(12, 8))
    grid = own.subplots(2, 4).ravel()
    draw = [
        plots.throughput(recorded, ax=grid[0]),
        plots.windows(recorded, ax=grid[1]),
        plots.queues(recorded, ax=grid[2]),
        plots.channel(recorded, ax=grid[3]),
        plots.bars(rows, ax=grid[4]),
        plots.scatter(rows, ax=grid[5]),
        plots.cdf(runs, ax=grid[6]),
        plots.network(Scenario.read(THREE_PAIRS), ax=grid[7]),
    ]
    assert all(figure is own for figure in draw)
    own.draw_without_rendering()
    assert all(ax.has_data() for ax in grid)
    assert list(own.get_size_inches()) == [12, 8]
    part = cast(Any, Figure().subfigures(1, 2))[0]
    assert plots.throughput(recorded, ax=part.subplots()) is part.figure


def test_files_hold_text_and_the_same_bytes(recorded: Recording, tmp_path: Path) -> None:
    first = plots.save(plots.throughput(recorded), tmp_path / "deep" / "a.svg").read_bytes()
    assert b">middle</text>" in first
    assert b">goodput (kbit/s)</text>" in first
    assert plots.save(plots.throughput(recorded), tmp_path / "b.svg").read_bytes() == first
    plots.throughput(recorded).savefig(tmp_path / "c.svg")
    assert b">middle</text>" in (tmp_path / "c.svg").read_bytes()
    assert plots.save(plots.throughput(recorded), tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(InputError, match=r"a\.gif: expected a name that ends in \.svg, \.png or \.pdf"):
        plots.save(plots.throughput(recorded), tmp_path / "a.gif")
    assert mpl.rcParams["svg.fonttype"] == "path", "the caller's settings stay"


def test_notebooks_show_figures_without_pyplot() -> None:
    """A notebook asks for `_repr_png_`; pyplot, which would keep every figure, is not loaded."""
    code = (
        "import sys, airfair; from airfair import plots;"
        f"shown = plots.network(airfair.Scenario.read({str(THREE_PAIRS)!r}))._repr_png_();"
        "assert shown.startswith(b'\\x89PNG'), shown[:8];"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_airfair_starts_without_matplotlib() -> None:
    code = "import sys, airfair.cli; assert not {'matplotlib', 'pandas', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)


def test_what_cannot_be_drawn_is_said(recorded: Recording, rows: list[CompareRow]) -> None:
    udp = Scenario.read(SCENARIOS / "hidden-terminal.toml", ["duration=1 s", "warmup=0 s"])
    cable = Scenario.read(SCENARIOS / "dumbbell.toml", ["duration=1 s", "warmup=0 s"])
    for draw, problem in [
        (lambda: plots.windows(airfair.record(udp)), "no flow has a congestion window"),
        (lambda: plots.channel(airfair.record(cable)), "the scenario has no radio"),
        (lambda: plots.channel(recorded, node="z"), 'node "z" has no radio; expected one of a1, b1'),
        (
            lambda: plots.bars(rows, "goodput"),
            'no estimate "goodput"; expected one of goodput_bps, jain_index',
        ),
        (lambda: plots.bars(rows[:1], difference=True), "expected a scheme beside"),
        (lambda: plots.cdf([]), "no values"),
        (lambda: plots.cdf([None]), "no values"),
        (lambda: plots.cdf([recorded.result], "id"), 'no number "id"'),
        (lambda: plots.scatter([]), "expected rows"),
    ]:
        with pytest.raises(InputError, match=problem):
            cast(Any, draw)()


def test_what_is_drawn_from_what(recorded: Recording, rows: list[CompareRow], tmp_path: Path) -> None:
    assert set(PLOTS) == set(TAKES)
    folder = recorded.save(tmp_path / "run")
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "run.json").write_text(json.dumps(recorded.result))
    drawn: list[tuple[Path, dict[str, Any], str]] = [
        (folder, {}, ">goodput (kbit/s)<"),
        (folder, {"kind": "network"}, ">flow middle<"),
        (folder, {"kind": "channel", "node": "a2"}, ">node a2: three-pairs"),
        (THREE_PAIRS, {"overrides": ['flow.left.id="west"']}, ">flow west<"),
        (tmp_path / "rows.json", {"quantity": "jain_index"}, ">Jain's index<"),
        (tmp_path / "run.json", {"kind": "cdf"}, ">share of values up to this<"),
    ]
    target = tmp_path / "out.svg"
    for source, options, text in drawn:
        plot(source, options.pop("kind", None), target, **options)
        assert text in target.read_text().replace("&apos;", "'")
    refused: list[tuple[Path, dict[str, Any], str]] = [
        (
            folder,
            {"kind": "bars"},
            r"the folder of a run \(airfair run --out\); --kind bars expects a comparison",
        ),
        (THREE_PAIRS, {"kind": "queues"}, "a scenario; --kind queues expects the folder of a run"),
        (tmp_path / "none.json", {}, "none.json: No such file or directory"),
        (folder / "run.json", {"kind": "bars"}, r"a result \(airfair run --json\); --kind bars expects"),
        (folder, {"node": "a1"}, "--node goes with --kind channel, not with throughput"),
        (folder, {"overrides": ["duration=1 s"]}, "--set goes with a scenario"),
    ]
    for source, options, problem in refused:
        with pytest.raises(InputError, match=problem):
            plot(source, options.pop("kind", None), tmp_path / "bad.svg", **options)
    assert not (tmp_path / "bad.svg").exists()


def test_the_command_line_draws(recorded: Recording, tmp_path: Path) -> None:
    folder = recorded.save(tmp_path / "run")
    done = command("plot", folder, "--kind", "channel", "-o", tmp_path / "out.svg")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert ">share of time after the warm-up<" in (tmp_path / "out.svg").read_text()
    text, result = THREE_PAIRS.read_text(), json.dumps(recorded.result)
    for given, options, found in (
        (text, ["--set", 'flow.left.id="west"'], ">flow west<"),
        (result, ["--kind", "cdf"], ">share of values up to this<"),
    ):
        piped = [sys.executable, "-m", "airfair", "plot", "-", *options, "-o", str(tmp_path / "piped.svg")]
        drawn = subprocess.run(piped, input=given, capture_output=True, text=True, timeout=60, check=False)
        assert (drawn.returncode, drawn.stdout, drawn.stderr) == (0, "", "")
        assert found in (tmp_path / "piped.svg").read_text()
    piped[5:7] = ["--set", "duration=1 s"]
    drawn = subprocess.run(piped, input=result, capture_output=True, text=True, timeout=60, check=False)
    assert (drawn.returncode, drawn.stderr) == (
        2,
        "--set goes with a scenario: a run does not change any more\n",
    )
    done = command("plot", folder, "-o", tmp_path / "out.gif")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path}/out.gif: expected a name that ends in .svg, .png or .pdf\n"

"""A timeline shows what the table of frames says: bars, their times, lanes, losses and their causes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import airfair
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from airfair import Capture, InputError, Recording, Scenario, plots
from airfair.plots import on_air
from airfair.plots.timeline import CAUSES, KINDS, RECEIVES, SHOWN, TRANSMITS
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PolyCollection
from matplotlib.colors import rgb_to_hsv, to_hex, to_rgb
from matplotlib.figure import Figure

from tests.support import CATEGORIES, SCENARIOS, THREE_PAIRS
from tests.support import airfair as command

pytestmark = pytest.mark.usefixtures("no_warnings")

Bars = list[tuple[float, float, float, float]]


@pytest.fixture(scope="module")
def recorded() -> Recording:
    """Two senders that do not sense each other: frames collide."""
    scenario = Scenario.read(SCENARIOS / "hidden-terminal.toml", ["duration=2 s", "warmup=1 s"])
    return airfair.record(scenario, capture=Capture(trace=True, start="900 ms", until="1.2 s"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of three pairs."""
    scenario = Scenario.read(THREE_PAIRS, ["duration=2 s", "warmup=1 s"])
    out = tmp_path_factory.mktemp("timeline") / "run"
    airfair.record(scenario, out=out, capture=Capture(trace=True, states=True, start="1 s", until="1.1 s"))
    return out


def axes_of(figure: Figure) -> Axes:
    """The axes of a plot that can be drawn."""
    figure.draw_without_rendering()
    return figure.axes[0]


def collection(axes: Axes, gid: str) -> Collection | None:
    return next((c for c in axes.collections if c.get_gid() == gid), None)


def bars(axes: Axes, gid: str) -> Bars:
    """Left, right, low and high of each bar of one look, in order."""
    found = collection(axes, gid)
    assert found is None or isinstance(found, PolyCollection)
    boxes = [] if found is None else [path.get_extents() for path in found.get_paths()]
    return sorted((box.x0, box.x1, box.y0, box.y1) for box in boxes)


def lanes(axes: Axes) -> dict[str, float]:
    return {label.get_text(): y for label, y in zip(axes.get_yticklabels(), axes.get_yticks(), strict=True)}


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def legend(axes: Axes) -> list[str]:
    found = axes.get_legend()
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def crosses(axes: Axes) -> list[tuple[float, float]]:
    line = next((line for line in axes.get_lines() if line.get_gid() == "crosses"), None)
    return [] if line is None else list(zip(line.get_xdata(), line.get_ydata(), strict=True))  # type: ignore[arg-type]


def table(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """A table of frames with these rows; columns that a row does not have are missing values."""
    empty = dict.fromkeys(on_air.COLUMNS)
    return pd.DataFrame([{**empty, "radio": "default", **row} for row in rows])


def sent(
    number: int, node: str, to: str | None, start_us: float, length_us: float, **more: object
) -> dict[str, object]:
    """A row of a transmission of data of a flow."""
    times = {"time_ns": round(start_us * 1000), "duration_ns": round(length_us * 1000)}
    common = {"event": "sent", "node": node, "frame": number, "from": node, "to": to}
    return {**common, **times, "kind": "DATA", "flow": "f", "content": "packet", **more}


def ended(row: dict[str, object], at: str, event: str, **more: object) -> dict[str, object]:
    """A row of the end of a frame at a station."""
    start, length = row["time_ns"], row["duration_ns"]
    assert isinstance(start, int)
    assert isinstance(length, int)
    return {**row, "event": event, "node": at, "time_ns": start + length, **more}


def test_bars_are_the_transmissions_of_the_table(recorded: Recording) -> None:
    start, until = 1_000_000_000, 1_200_000_000
    axes = axes_of(plots.timeline(recorded, "1 s", "1.2 s"))
    frames = recorded.pandas("frames")
    rows = frames[frames["event"] == "sent"]
    rows = rows[(rows["time_ns"] < until) & (rows["time_ns"] + rows["duration_ns"] > start)]
    assert len(rows) > 200
    place = lanes(axes)
    assert list(place) == ["1", "2", "3", "4"]
    assert list(place.values()) == [3, 2, 1, 0], "the first node is on top"
    for kind in ("RTS", "CTS", "DATA", "ACK"):
        expected = sorted(
            (
                max(0, time - start) / 1e6,
                min(until - start, time + length - start) / 1e6,
                place[node] + TRANSMITS[0],
                place[node] + TRANSMITS[1],
            )
            for time, length, node in rows[rows["kind"] == kind][
                ["time_ns", "duration_ns", "node"]
            ].to_numpy()
        )
        assert bars(axes, f"sent:{kind}") == [pytest.approx(bar) for bar in expected]
    assert bars(axes, "sent:message") == []
    assert axes.get_xlabel() == "ms after 1 s"
    assert axes.get_xlim() == (0, 200)
    assert axes.get_title(loc="left") == "hidden-terminal, droptail, seed 1"


def test_receptions_and_losses_lie_in_the_lane_of_the_receiver(recorded: Recording) -> None:
    start, until = 1_000_000_000, 1_200_000_000
    axes = axes_of(plots.timeline(recorded, "1 s", "1.2 s"))
    frames = recorded.pandas("frames")
    ends = frames[frames["event"].isin(["received", "lost"])]
    begins = ends["time_ns"] - ends["duration_ns"]
    ends = ends[(begins < until - 10_000) & (ends["time_ns"] > start + 10_000)]
    lost, received = ends[ends["event"] == "lost"], ends[ends["event"] == "received"]
    place = lanes(axes)
    assert len(lost) > 10
    assert len(crosses(axes)) == len(lost)
    boxes = bars(axes, "lost")
    assert sorted(low for _, _, low, _ in boxes) == sorted(place[node] + RECEIVES[0] for node in lost["node"])
    assert sum(len(bars(axes, f"received:{kind}")) for kind in KINDS) == len(received)
    # A cross lies in its box, and says by its place which transmission was lost.
    for x, y in crosses(axes):
        assert any(left <= x <= right and low <= y <= high for left, right, low, high in boxes)
    counts = lost["cause"].value_counts()
    assert {f"lost, {CAUSES[str(cause)]}: {count}" for cause, count in counts.items() if count} <= set(
        legend(axes)
    )


def test_silences_are_those_of_the_table(recorded: Recording) -> None:
    axes = axes_of(plots.timeline(recorded, "1 s", "1.2 s"))
    frames = recorded.pandas("frames")
    frames = frames[(frames["time_ns"] >= 1_000_000_000) & (frames["time_ns"] < 1_200_000_000)]
    for event in ("no-cts", "cts-withheld"):
        times = frames.loc[frames["event"] == event, "time_ns"]
        line = next(line for line in axes.get_lines() if line.get_gid() == event)
        assert len(times) > 0
        assert np.asarray(line.get_xdata()) == pytest.approx((times.to_numpy() - 1e9) / 1e6)


def test_a_window_cuts_frames_and_units_fit() -> None:
    """By hand: a frame from 100 to 900 us in a window from 500 us to 1 ms; one that ends where it starts."""
    rows = [sent(1, "a", "b", 0, 500), sent(2, "a", "b", 500.5, 399.5), sent(3, "b", "a", 1000, 100)]
    rows[1] |= {"time_ns": 100_000, "duration_ns": 800_000}
    axes = axes_of(plots.timeline(table(rows), "500 us", "1 ms"))
    assert bars(axes, "sent:DATA") == [pytest.approx((0, 400, 1, 1.42))]
    assert axes.get_xlabel() == "µs after 0.0005 s"
    axes = axes_of(plots.timeline(table(rows), "0 s", "5 s"))
    assert axes.get_xlabel() == "s after 0 s"
    assert len(bars(axes, "sent:DATA")) == 3


def test_a_loss_is_joined_to_the_frame_that_caused_it() -> None:
    """By hand: b loses a's frame (0 to 100 us) by c's (60 to 200 us): the cross lies between, at 80 us."""
    first, second = sent(1, "a", "b", 0, 100), sent(2, "c", "d", 60, 140)
    rows = [
        first,
        second,
        ended(first, "b", "lost", cause="interference", by_frame=2),
        ended(second, "d", "received"),
    ]
    axes = axes_of(plots.timeline(table(rows), "0 s", "300 us"))
    place = lanes(axes)
    assert list(place) == ["a", "b", "c", "d"]
    ((x, y),) = crosses(axes)
    assert x == pytest.approx(80)
    assert place["b"] + RECEIVES[0] <= y <= place["b"] + RECEIVES[1]
    ties = [c for c in axes.collections if isinstance(c, LineCollection) and len(c.get_segments()) == 1]
    ((segment,),) = [tie.get_segments() for tie in ties]
    assert segment == pytest.approx(np.array([[80, y], [80, place["c"] + TRANSMITS[1]]]))
    assert "interference" in texts(axes)
    assert bars(axes, "received:DATA") == [pytest.approx((60, 200, RECEIVES[0], RECEIVES[1]))]
    # Without the cause in the chart the cross lies in the middle of the frame.
    axes = axes_of(plots.timeline(table(rows), "0 s", "300 us", stations=["a", "b"]))
    assert [x for x, _ in crosses(axes)] == [pytest.approx(50)]


def test_messages_and_contents_have_names() -> None:
    rows = [
        sent(1, "a", None, 0, 1000, kind="BROADCAST", flow=None, content="arp-request"),
        sent(2, "b", None, 2000, 1000, kind="BROADCAST", flow=None, content="packet"),
        sent(3, "b", "a", 4000, 1000, content="ack"),
        sent(4, "a", "b", 6000, 1000, content="packet"),
        sent(5, "a", None, 8000, 1000, kind="BROADCAST"),
        sent(6, "b", None, 9000, 900, kind="BROADCAST", flow=None, content="olsr-hello+tc"),
    ]
    axes = axes_of(plots.timeline(table(rows), "0 s", "10 ms"))
    assert len(bars(axes, "sent:message")) == 3
    assert texts(axes)[:3] == ["TCP ACK → a", "data → b", "data → all"]
    assert texts(axes)[3:] == ["ARP request → all", "message → all", "HELLO+TC → all"]
    assert legend(axes) == ["data", "messages"]


def test_categories_are_shades_of_data() -> None:
    names = ["voice", "video", "best-effort"]
    rows = [sent(i, "a", "b", 100 * i, 50, category=name) for i, name in enumerate(names)]
    rows.append(sent(9, "b", "a", 900, 50, kind="ACK", flow=None, content=None, category="voice"))
    frames = table(rows).astype({"category": pd.CategoricalDtype(names)})
    axes = axes_of(plots.timeline(frames, "0 s", "1 ms"))
    shades = []
    for name in names:
        found = collection(axes, f"sent:DATA:{name}")
        assert found is not None
        shades.append(to_hex(np.asarray(found.get_facecolor())[0]))
    saturation = [float(rgb_to_hsv(to_rgb(shade))[1]) for shade in shades]
    assert shades[0] == KINDS["DATA"][1], "the first category has the darkest shade"
    assert saturation == sorted(saturation, reverse=True)
    assert len(set(shades)) == 3
    assert legend(axes) == ["data, voice", "data, video", "data, best-effort", "ACK"]


def test_categories_of_a_run_have_its_order(recorded: Recording) -> None:
    """A run lists its categories from the lowest priority on, a table as they occur."""
    rows = [sent(1, "1", "2", 0, 50, category="BK"), sent(2, "1", "2", 100, 50, category="VO")]
    rows += [sent(3, "2", "1", 200, 50, kind="CF-END", flow=None, content=None)]
    rows += [{**sent(4, "1", "2", 300, 0), "event": "internal-collision", "frame": None, "kind": None}]
    names = ["BK", "BE", "VI", "VO"]
    counters = dict.fromkeys(("sent", "finished", "no_response", "internal_collisions", "given_up"), 0)
    station: Any = {**recorded.result["stations"][0], "categories": [{"name": n, **counters} for n in names]}
    result: Any = {**recorded.result, "stations": [station, *recorded.result["stations"][1:]]}
    frames = pa.Table.from_pandas(table(rows), preserve_index=False)
    axes = axes_of(plots.timeline(Recording(result, recorded.scenario, {"frames": frames}), "0 s", "1 ms"))
    assert legend(axes) == ["data, VO", "data, BK", "CF-End", "internal collision"]
    found = collection(axes, "sent:DATA:VO")
    assert found is not None
    assert to_hex(np.asarray(found.get_facecolor())[0]) == KINDS["DATA"][1]
    assert len(bars(axes, "sent:CF-END")) == 1
    # The colour is that of the category's rank in the run, whatever else is in the window.
    alone = axes_of(plots.timeline(Recording(result, recorded.scenario, {"frames": frames}), "0 s", "60 us"))
    later = axes_of(
        plots.timeline(Recording(result, recorded.scenario, {"frames": frames}), "90 us", "200 us")
    )
    for shown, name, share in ((alone, "BK", 0.3), (later, "VO", 1.0), (axes, "BK", 0.3)):
        found = collection(shown, f"sent:DATA:{name}")
        assert found is not None
        blue = np.array(to_rgb(KINDS["DATA"][1]))
        expected = 1 - share * (1 - blue)
        assert np.asarray(found.get_facecolor())[0][:3] == pytest.approx(expected, abs=0.005)


def test_a_run_with_access_categories_has_their_column(recorded: Recording) -> None:
    assert "category" not in recorded.arrow("frames").column_names
    flows = "".join(
        f'[[flow]]\nid = "{dscp}"\nfrom = "a"\nto = "b"\ndscp = "{dscp}"\n'
        'traffic = { kind = "saturating", packet = "500 B" }\n'
        for dscp in ("EF", "DF")
    )
    nodes = "".join(f'[[node]]\nid = "{n}"\nposition = ["{x} m", "0 m"]\n' for n, x in (("a", 0), ("b", 9)))
    radio = '[radio]\nstandard = "802.11b"\ncategories = "edca"\n'
    scenario = Scenario.parse(f'name = "x"\nduration = "200 ms"\n{radio}{nodes}{flows}', "x")
    run = airfair.record(scenario, capture=Capture(trace=True))
    frames = run.pandas("frames")
    data = frames[(frames["event"] == "sent") & (frames["kind"] == "DATA")]
    assert data["category"].notna().all()
    axes = axes_of(plots.timeline(run, "0 s", "200 ms"))
    drawn = {name: len(bars(axes, f"sent:DATA:{name}")) for name in data["category"].unique()}
    assert drawn == data["category"].astype(str).value_counts().to_dict()


def test_a_frame_of_160_ms_is_on_the_air_in_its_middle() -> None:
    """20,000 B at 1 Mbit/s: the start is 100 ms before the window, the end 50 ms after it."""
    nodes = "".join(f'[[node]]\nid = "{n}"\nposition = ["{x} m", "0 m"]\n' for n, x in (("a", 0), ("b", 9)))
    flow = '[[flow]]\nid = "f"\nfrom = "a"\nto = "b"\ntraffic = { kind = "saturating", packet = "20000 B" }\n'
    radio = '[radio]\nstandard = "802.11b"\ndata_rate = "1 Mbit/s"\n'
    scenario = Scenario.parse(f'name = "x"\nduration = "1 s"\n{radio}{nodes}{flow}', "x")
    run = airfair.record(scenario, capture=Capture(trace=True))
    frames = run.pandas("frames")
    data = frames[(frames["event"] == "sent") & (frames["kind"] == "DATA") & frames["flow"].notna()]
    assert data["duration_ns"].min() > 160_000_000
    start = int(data["time_ns"].iloc[2])
    for table in (run, frames):
        for after_ms in (1, 60, 100, 150):
            window = [f"{start + after_ms * 10**6} ns", f"{start + (after_ms + 5) * 10**6} ns"]
            axes = axes_of(plots.timeline(table, *window))
            assert len(bars(axes, "sent:DATA")) == 1, window


def test_stations_have_the_order_of_the_scenario_or_the_given_one(folder: Path) -> None:
    pairs = Recording.load(folder)
    axes = axes_of(plots.timeline(pairs))
    assert list(lanes(axes)) == ["a1", "b1", "a2", "b2", "a3", "b3"], "silent ones, too"
    assert axes.get_xlabel() == "ms after 1 s", "the end of the warm-up"
    axes = axes_of(plots.timeline(pairs, stations=["b3", "a1"]))
    assert list(lanes(axes)) == ["b3", "a1"]
    assert axes_of(plots.timeline(pairs.arrow("frames"), "1 s")).get_xlim() == (0, 30)
    rows = [sent(1, "n10", "n9", 0, 10), ended(sent(1, "n10", "n9", 0, 10), "n9", "received")]
    assert list(lanes(axes_of(plots.timeline(table(rows), "0 s")))) == ["n9", "n10"], "natural order"


def test_a_node_with_two_radios_has_two_lanes() -> None:
    rows = [sent(1, "ap", "x", 0, 10), sent(2, "ap", "y", 20, 10, radio="5GHz")]
    axes = axes_of(plots.timeline(table(rows), "0 s", "40 us"))
    assert list(lanes(axes)) == ["ap (5GHz)", "ap (default)"]
    assert [bar[:3] for bar in bars(axes, "sent:DATA")] == [(0, 10, 0), (20, 30, 1)]


def test_a_frame_that_began_before_the_table_is_known_by_its_end() -> None:
    row = sent(1, "a", "b", 0, 500)
    known = [ended(row, "b", "received"), sent(2, "a", "b", 700, 100)]
    axes = axes_of(plots.timeline(table(known), "300 us", "1 ms"))
    assert bars(axes, "sent:DATA") == [pytest.approx((0, 200, 1, 1.42)), pytest.approx((400, 500, 1, 1.42))]


def test_states_are_those_of_the_table() -> None:
    """By hand: a back-off of nine slots of 20 us before a frame, a NAV and an EIFS of another station."""
    states = pd.DataFrame(
        [
            ("a", "default", "backoff", 20_000, 200_000, 9),
            ("b", "default", "nav", 100_000, 900_000, None),
            ("b", "default", "eifs", 300_000, 664_000, None),
            ("b", "default", "nav", 5_000_000, 6_000_000, None),
            ("elsewhere", "default", "nav", 100_000, 900_000, None),
        ],
        columns=on_air.STATE_COLUMNS,
    )
    rows = [sent(1, "a", "b", 200, 100), ended(sent(1, "a", "b", 200, 100), "b", "received")]
    axes = axes_of(plots.timeline(table(rows), "0 s", "800 us", states=states))
    for state, bar in (("backoff", (20, 200, 1)), ("nav", (100, 800, 0)), ("eifs", (300, 664, 0))):
        ((left, right, low, high),) = bars(axes, f"state:{state}")
        assert [left, right] == pytest.approx([bar[0], bar[1]])
        assert [low, high] == pytest.approx([bar[2] + height for height in SHOWN[state]])
    assert "9" in texts(axes)
    assert legend(axes) == ["data", "received", "back-off, with its slots", "NAV", "EIFS"]
    with pytest.raises(InputError, match=r"^states: True goes with a recording"):
        plots.timeline(table(rows), "0 s", states=True)
    with pytest.raises(InputError, match=r"^states: there is no column slots"):
        plots.timeline(table(rows), "0 s", states=states.drop(columns="slots"))
    with pytest.raises(InputError, match=r"^states: 3; expected a recording, or its table states"):
        plots.timeline(table(rows), "0 s", states=3)


def test_each_category_has_a_back_off_of_its_own() -> None:
    """By hand: two categories of a, one above the other, and the station's NAV; b has the DCF."""
    states = pd.DataFrame(
        [
            ("a", "default", "backoff", 20_000, 200_000, 9, "VO"),
            ("a", "default", "backoff", 100_000, 200_000, 17, "BE"),
            ("a", "default", "nav", 300_000, 400_000, None, None),
            ("b", "default", "backoff", 20_000, 200_000, 12, None),
        ],
        columns=[*on_air.STATE_COLUMNS, "category"],
    )
    rows = [sent(1, "a", "b", 200, 100, category="VO"), sent(2, "a", "b", 400, 100, category="BE")]
    frames = table([*rows, ended(rows[0], "b", "received")])
    frames = frames.astype({"category": pd.CategoricalDtype(["VO", "BE"])})
    axes = axes_of(plots.timeline(frames, "0 s", "800 us", states=states))
    ((left, right, low, high),) = bars(axes, "state:backoff:VO")
    assert [left, right, high] == pytest.approx([20, 200, 1.42])
    ((left, right, bottom, top),) = bars(axes, "state:backoff:BE")
    assert [left, right, bottom] == pytest.approx([100, 200, 1])
    assert top == pytest.approx(low), "one above the other"
    assert bars(axes, "state:backoff")[0] == pytest.approx((20, 200, *SHOWN["backoff"]))
    assert len(bars(axes, "state:nav")) == 1
    assert {"9", "12", "17"} <= set(texts(axes))
    words = ["back-off, with its slots", "back-off, VO", "back-off, BE", "NAV"]
    assert legend(axes) == ["data, VO", "data, BE", "received", *words]
    shades = [collection(axes, f"state:backoff:{name}") for name in ("VO", "BE")]
    light = [float(rgb_to_hsv(np.asarray(s.get_facecolor())[0][:3])[1]) for s in shades if s is not None]
    assert light[0] > light[1] > 0, "the higher priority is darker"


def test_states_of_a_run_have_categories() -> None:
    run = airfair.record(Scenario.parse(CATEGORIES, "x"), capture=Capture(trace=True, states=True))
    states = run.pandas("states")
    assert (states["category"].notna() == (states["state"] == "backoff")).all()
    backoffs = states[states["node"] == "a"].dropna(subset="category")
    assert set(backoffs["category"]) == {"VO", "BE", "BK"}
    # Each category's intervals are disjoint; those of several overlap.
    for _, rows in backoffs.groupby("category", observed=True):
        assert (rows["from_ns"].to_numpy()[1:] >= rows["until_ns"].to_numpy()[:-1]).all()
    ordered = backoffs.sort_values("from_ns")
    assert (ordered["from_ns"].to_numpy()[1:] < ordered["until_ns"].to_numpy()[:-1]).any()
    # A frame of a category follows a back-off of that category that has counted all its slots, or none.
    frames = run.pandas("frames")
    starts = frames[(frames["event"] == "sent") & (frames["node"] == "a") & (frames["kind"] == "DATA")]
    ends = backoffs.merge(starts, left_on="until_ns", right_on="time_ns", suffixes=("", "_of_frame"))
    same = ends[ends["category"].astype(str) == ends["category_of_frame"].astype(str)]
    assert len(same) > 200
    assert ((same["until_ns"] - same["from_ns"]) == 20_000 * same["slots"]).all()
    axes = axes_of(plots.timeline(run, "1 s", "1.05 s", states=True))
    assert len(bars(axes, "state:backoff:BK")) > 5
    window = backoffs[(backoffs["from_ns"] < 1_050_000_000) & (backoffs["until_ns"] > 1_000_000_000)]
    assert len(bars(axes, "state:backoff:VO")) == (window["category"] == "VO").sum()
    alone = airfair.record(Scenario.parse(CATEGORIES, "x"), capture=Capture(states=True))
    assert alone.pandas("states").equals(states)


def test_a_back_off_ends_where_the_frame_begins(folder: Path) -> None:
    recording = Recording.load(folder)
    axes = axes_of(plots.timeline(recording, "1 s", "1.1 s", states=True))
    starts = {(bar[0], bar[2]) for kind in ("RTS", "DATA") for bar in bars(axes, f"sent:{kind}")}
    backoffs = bars(axes, "state:backoff")
    assert len(backoffs) > 20
    ends = [any(abs(right - x) < 1e-6 and low == y for x, y in starts) for _, right, low, _ in backoffs]
    assert sum(ends) > len(ends) / 3, "the others are frozen by frames of others"
    table = recording.pandas("states")
    assert set(table["state"]) == {"backoff", "nav", "eifs"}
    assert table["until_ns"].is_monotonic_increasing
    assert (table["from_ns"] < table["until_ns"]).all()
    assert (table["slots"].notna() == (table["state"] == "backoff")).all()


def test_states_are_recorded_on_request(tmp_path: Path) -> None:
    scenario = Scenario.read(THREE_PAIRS, ["duration=1 s", "warmup=0 s"])
    without = airfair.record(scenario, capture=Capture(trace=True))
    assert "states" not in without.tables
    with pytest.raises(
        InputError, match=r'^there is no table "states": the run was recorded without states$'
    ):
        plots.timeline(without, states=True)
    alone = airfair.record(scenario, capture=Capture(states=True, node="a1", start="500 ms", until="700 ms"))
    assert "frames" not in alone.tables
    rows = alone.pandas("states")
    assert set(rows["node"]) == {"a1"}
    assert (rows["until_ns"] > 500_000_000).all()
    assert (rows["until_ns"] <= 700_000_000).all()
    assert {**alone.result, "perf": 0} == {**without.result, "perf": 0}, "observation changes nothing"
    with pytest.raises(InputError, match=r"^states: 1; expected True or False$"):
        Capture(states=1)  # type: ignore[arg-type]
    out = tmp_path / "run"
    options = ("--set", "duration=1 s", "--set", "warmup=0 s", "--from", "500 ms", "--until", "700 ms")
    done = command("run", str(THREE_PAIRS), "--out", str(out), "--trace", "--states", *options)
    assert (done.returncode, done.stderr) == (0, "")
    both = Recording.load(out).pandas("states")
    assert len(set(both["node"])) > 1
    key = ["state", "from_ns", "until_ns", "slots"]
    assert (both[both["node"] == "a1"][key].to_numpy() == rows[key].to_numpy()).all()
    drawn = tmp_path / "t.svg"
    assert command("plot", str(out), "--timeline", "--states", "-o", str(drawn)).returncode == 0
    assert "NAV" in drawn.read_text(encoding="utf-8")
    done = command("run", str(THREE_PAIRS), "--states")
    assert "--states goes with --out" in done.stderr


def test_wrong_input_is_refused_by_name(recorded: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = recorded.pandas("frames")
    silent = airfair.record(Scenario.read(THREE_PAIRS, ["duration=1 s", "warmup=0 s"]))
    with pytest.raises(
        InputError, match=r"^timeline: no frame is on the air from 5 s until 6 s; the table has frames from"
    ):
        plots.timeline(recorded, "5 s", "6 s")
    with pytest.raises(InputError, match=r"^until: 1 s; expected a time after the start, 2 s$"):
        plots.timeline(recorded, "2 s", "1 s")
    with pytest.raises(InputError, match=r"^until: 1 s; expected a time after the start, 1 s$"):
        plots.timeline(recorded, "1 s", "1 s")
    with pytest.raises(InputError, match=r'^start: "1": the unit is missing'):
        plots.timeline(recorded, "1")
    with pytest.raises(InputError, match=r'^stations: no station of a node "5" is in the table'):
        plots.timeline(recorded, stations=["1", "5"])
    with pytest.raises(InputError, match=r'^stations: "1" stands twice'):
        plots.timeline(recorded, stations=["1", "1"])
    with pytest.raises(InputError, match=r"^frames: 5; expected a recording, or its table"):
        plots.timeline(5)
    with pytest.raises(
        InputError, match=r"^frames: there is no column duration_ns; expected recording.pandas"
    ):
        plots.timeline(frames.drop(columns="duration_ns"))
    with pytest.raises(InputError, match="recorded without a trace"):
        plots.timeline(silent)
    with pytest.raises(InputError, match=r"^ax: 3; expected axes of matplotlib$"):
        plots.timeline(recorded, ax=3)  # type: ignore[arg-type]
    monkeypatch.setattr(on_air, "MOST_FRAMES", 10)
    with pytest.raises(
        InputError, match=r"frames from 1 s until 1.03 s; expected at most 10: a shorter window, or fewer"
    ):
        plots.timeline(recorded)
    monkeypatch.setattr(on_air, "MOST_STATIONS", 3)
    with pytest.raises(InputError, match=r"^timeline: 4 stations from 1 s until 1.03 s; expected at most 3"):
        plots.timeline(recorded)


def test_of_many_stations_those_with_frames_have_lanes(
    recorded: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_air, "FEW_STATIONS", 3)
    axes = axes_of(plots.timeline(recorded, "1.001 s", "1.002 s"))
    assert list(lanes(axes)) == ["1", "2"]
    with pytest.raises(InputError, match=r"no frame of these stations is on the air from 1\.001 s until"):
        plots.timeline(recorded, "1.001 s", "1.002 s", stations=["4"])


def test_the_same_table_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    files = [plots.save(plots.timeline(Recording.load(folder)), tmp_path / f"{i}.svg") for i in (1, 2)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_command_line_draws_a_folder(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.svg"
    done = command(
        "plot",
        str(folder),
        "--timeline",
        "--from",
        "1.01 s",
        "--until",
        "1.02 s",
        "--stations",
        "b1,a1",
        "-o",
        str(out),
    )
    assert (done.returncode, done.stderr) == (0, "")
    drawn = out.read_text(encoding="utf-8")
    assert "ms after 1.01 s" in drawn
    assert ">b1<" in drawn
    assert ">a2<" not in drawn
    assert command("plot", str(folder), "--kind", "timeline", "-o", str(tmp_path / "t.pdf")).returncode == 0
    for arguments, message in (
        (["--from", "1 s"], "--from goes with --kind timeline or batches, not with throughput"),
        (["--kind", "channel", "--stations", "a1"], "--stations goes with --kind timeline, not with channel"),
        (["--timeline", "--kind", "cdf"], "--kind and --timeline do not go together"),
        (["--timeline", "--from", "1"], '--from: "1": the unit is missing'),
        (["--timeline", "--from", "9 s"], "timeline: no frame is on the air from 9 s until 9.03 s"),
        (
            ["--timeline", "--stations", "a9"],
            'stations: no station of a node "a9" is in the table; did you mean',
        ),
    ):
        done = command("plot", str(folder), *arguments, "-o", str(out))
        assert done.returncode != 0
        assert message in done.stderr

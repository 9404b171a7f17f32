"""The interface for Python programs."""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import airfair
import numpy as np
import pytest
from airfair import InputError, Scenario, ScenarioError, Study, World, _core
from airfair.sweeping.drive import Failure

from tests.support import SHORT, THREE_PAIRS

OVERRIDES = ["duration=1 s", "warmup=0 s"]


@pytest.fixture
def pairs() -> Scenario:
    return Scenario.read(THREE_PAIRS, OVERRIDES)


def test_a_scenario_says_what_it_is(pairs: Scenario) -> None:
    assert (pairs.name, pairs.scheme) == ("three-pairs", "droptail")
    assert pairs.flows == ["left", "middle", "right"]
    assert sorted(pairs.nodes) == ["a1", "a2", "a3", "b1", "b2", "b3"]
    assert pairs.duration_ns == 1_000_000_000
    assert pairs.warnings == []
    assert Scenario.parse(pairs.resolved).resolved == pairs.resolved
    assert "three-pairs" in repr(pairs)


def test_errors_are_values() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse('name = "x"\nduraton = "1 s"\n', "here.toml")
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == "\n".join(caught.value.errors)
    assert any("here.toml:2: duraton: unknown key" in line for line in caught.value.errors)


def test_run_and_compare(pairs: Scenario) -> None:
    result = airfair.run(pairs, scheme="droptail", seed=3)
    assert result == {**airfair.run(THREE_PAIRS, seed=3, overrides=OVERRIDES), "perf": result["perf"]}
    calls: list[None] = []
    (row,) = airfair.compare(pairs, schemes=["droptail"], seeds=[3, 4], on_run=lambda: calls.append(None))
    assert len(calls) == row["runs"] == 2
    with pytest.raises(InputError, match="droptail"):
        airfair.run(pairs, scheme="droptial")
    for seeds in ([], [1, 1], [-1], [2**64]):
        with pytest.raises(InputError, match="seed"):
            airfair.compare(pairs, schemes=["droptail"], seeds=seeds)
    with pytest.raises(InputError, match="overrides"):
        airfair.run(pairs, overrides=["duration=2 s"])


def test_statistics_by_hand(pairs: Scenario) -> None:
    """Two seeds: the interval is 12.706 (Student's t, one degree of freedom) times half their difference."""
    runs = [pairs.run(seed=seed) for seed in (1, 2)]
    a, b = (json.loads(run)["aggregate_goodput_bps"] for run in runs)
    (row,) = json.loads(_core.summarise([runs]))
    assert row["aggregate_goodput_bps"]["mean"] == pytest.approx((a + b) / 2)
    assert row["aggregate_goodput_bps"]["ci95"] == pytest.approx(12.706 * abs(a - b) / 2, rel=1e-4)


def test_differences_are_paired_by_seed(pairs: Scenario) -> None:
    first = [pairs.run(seed=seed) for seed in (1, 2, 3)]
    second = [
        run.replace('"jain_index":', '"jain_index":1', 1).replace('"droptail"', '"other"') for run in first
    ]
    rows = json.loads(_core.summarise([first, second[::-1]]))
    assert [row["scheme"] for row in rows] == ["droptail", "other"]
    assert rows[1]["baseline"] == "droptail"
    # 0.7 became 10.7 in every run: a difference of 10 without spread, though the runs differ.
    assert rows[1]["difference"]["jain_index"]["mean"] == pytest.approx(10)
    assert rows[1]["difference"]["jain_index"]["ci95"] == pytest.approx(0, abs=1e-9)
    wrong: list[list[list[str]]]
    wrong = [[first, first[:2]], [first, []], [[]], [first + first], [["{}"]], [["nothing"]]]
    for groups in wrong:
        with pytest.raises(InputError):
            _core.summarise(groups)
    assert _core.summarise([]) == "[]"


def test_packets_from_outside() -> None:
    quiet = Scenario.read(THREE_PAIRS, [*OVERRIDES, "flow=[]"])
    world = World(quiet)
    assert (world.now_ns, world.end_ns) == (0, 1_000_000_000)
    world.inject("a1", "b1", 1000, 7, at="5 ms")
    world.inject("a1", "b3", 1000, 8, at="100 ms")
    world.advance("5 ms")
    world.advance("500 ms")
    arrived = {output.tag: (output.time_ns, output.dropped) for output in world.drain_outputs()}
    assert set(arrived) == {7, 8}
    assert arrived[7][1] is None
    # By hand, a medium that has long been idle: RTS 352 us, CTS 304 us, two SIFS of 10 us, and 1000 + 36
    # bytes of LLC and MAC at 2 Mbit/s after 192 us of preamble: 5012 us, and thrice 200 m of propagation.
    assert arrived[7][0] == pytest.approx(5_000_000 + 5_012_000, abs=3_000)
    assert world.drain_outputs() == []
    with pytest.raises(InputError, match='did you mean "a'):
        world.inject("a7", "b1", 1000, 1)
    with pytest.raises(InputError, match="has passed"):
        world.inject("a1", "b1", 1000, 1, at="1 ns")
    for size in (0, 65_536):
        with pytest.raises(InputError, match="bytes"):
            world.inject("a1", "b1", size, 1)
    world.advance("100 h")
    assert world.now_ns == world.end_ns


def test_a_stopped_run_ends() -> None:
    long = Scenario.read(THREE_PAIRS, ["duration=10 h"])
    stop = _core.Stop()
    threading.Timer(0.1, stop.set).start()
    with pytest.raises(KeyboardInterrupt):
        long.run(stop=stop)


def test_the_interpreter_is_free_while_a_world_runs() -> None:
    long = Scenario.read(THREE_PAIRS, ["duration=10 h"])
    stop = _core.Stop()
    ended = threading.Event()

    def work() -> None:
        with pytest.raises(KeyboardInterrupt):
            long.run(stop=stop)
        ended.set()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert sum(range(100_000)) == 4_999_950_000
    assert not ended.is_set()
    stop.set()
    for thread in threads:
        thread.join(timeout=5)
        assert not thread.is_alive()


def test_one_text_and_a_dict_are_taken_as_they_are_meant(tmp_path: Path) -> None:
    """As `edited` takes a dict, so do overrides; one text is a list of one."""
    listed = ["duration=1 s", "warmup=0 s", "radio.queue_packets=5"]
    expected = Scenario.read(THREE_PAIRS, listed)
    meant = {"duration": "1 s", "warmup": "0 s", "radio.queue_packets": 5}
    assert Scenario.read(THREE_PAIRS, meant) == expected
    assert Scenario.parse(THREE_PAIRS.read_text(), overrides=meant) == expected
    assert Scenario.read(THREE_PAIRS, "scheme=red") == Scenario.read(THREE_PAIRS, ["scheme=red"])
    result = airfair.run(THREE_PAIRS, overrides=meant, windows="500 ms")
    other = airfair.run(THREE_PAIRS, overrides=listed, windows=["500 ms"])
    assert result | {"perf": None} == other | {"perf": None}
    (row,) = airfair.compare(THREE_PAIRS, schemes="droptail", seeds=[1], overrides=meant)
    assert (row["scheme"], row["jain_index"]) == ("droptail", {"mean": other["jain_index"], "ci95": None})
    assert airfair.explain(THREE_PAIRS, flow="left", overrides=meant)["goodput_bps"] > 0
    study = tmp_path / "study.toml"
    study.write_text(
        f'name = "s"\nscenario = {json.dumps(str(THREE_PAIRS))}\nschemes = ["droptail"]\nseeds = 1\n'
    )
    (swept,) = airfair.sweep(study, out=tmp_path / "out", jobs=1, overrides=meant).runs.to_dict("records")
    assert swept["jain_index"] == other["jain_index"]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: airfair.run(THREE_PAIRS, seed=cast(Any, "1")), "seed: '1'; expected a whole number"),
        (lambda: airfair.run(THREE_PAIRS, seed=cast(Any, 1.5)), "seed: 1.5; expected a whole number"),
        (lambda: compare(seeds=3), r"seeds: 3; expected a list of seeds, such as range\(1, 4\)"),
        (lambda: compare(seeds="12"), "seeds: '12'; expected a list of seeds"),
        (lambda: compare(seeds=[1, "2"]), "seed: '2'; expected a whole number"),
        (lambda: compare(windows=[0.5]), r"windows: \[0.5\]; expected texts"),
        (
            lambda: airfair.record(Scenario.read(THREE_PAIRS), interval=cast(Any, 0.1)),
            '^interval: 0.1; expected a time such as "100 ms"',
        ),
        (lambda: airfair.run(cast(Any, 3)), "scenario: 3; expected a Scenario or the path of a file"),
        (
            lambda: airfair.trace(cast(Any, None)),
            "scenario: None; expected a Scenario or the path of a file",
        ),
        (lambda: airfair.record(cast(Any, 3)), "scenario: 3; expected a Scenario"),
        (lambda: airfair.explain(cast(Any, 3)), "scenario: 3; expected a Scenario"),
        (
            lambda: airfair.network(cast(Any, b"x")),
            "scenario: b'x'; expected a Scenario or the path of a file",
        ),
        (lambda: airfair.sweep(cast(Any, 3)), "study: 3; expected a Study or the path of a file"),
        (lambda: Study(name="x", scenario=cast(Any, 3)), "scenario: 3; expected a Scenario"),
        (lambda: airfair.trace(THREE_PAIRS, start=cast(Any, 1)), "^start: 1; expected a time"),
        (lambda: airfair.trace(THREE_PAIRS, until="1"), '^until: "1": the unit is missing; expected a time'),
        (lambda: airfair.Capture(start=cast(Any, 1)), "^start: 1; expected a time"),
        (lambda: airfair.run(THREE_PAIRS, windows=cast(Any, ["1 s", 2])), "^windows: 2; expected a time"),
        (lambda: compare(windows="1"), '^windows: "1": the unit is missing'),
        (lambda: airfair.run(THREE_PAIRS, overrides=cast(Any, 5)), "overrides: 5; expected texts such as"),
        (
            lambda: airfair.run(THREE_PAIRS, overrides=cast(Any, [5])),
            r"overrides: \[5\]; expected texts such as",
        ),
        (
            lambda: airfair.run(THREE_PAIRS, overrides={"radio.queue_packets": object()}),
            "radio.queue_packets",
        ),
    ],
)
def test_what_is_of_the_wrong_kind_is_told(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call()


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: compared(schemes={"droptail", "red"}), "schemes: a set has no order; expected a list"),
        (
            lambda: Study(name="s", scenario=THREE_PAIRS, schemes=cast(Any, {"droptail", "red"})),
            "schemes: a set has no order; expected a list",
        ),
        (lambda: compare(windows={"1 s"}), "windows: a set has no order; expected a list"),
        (
            lambda: airfair.run(THREE_PAIRS, windows=cast(Any, {"1 s"})),
            "windows: a set has no order; expected a list",
        ),
        (lambda: compare(seeds=[2, 1, 2]), "seeds: 2 stands twice; expected each seed once"),
        (lambda: compare(seeds=[]), "seeds: none; expected at least one"),
        (lambda: compared(schemes=[]), "schemes: []; expected at least one"),
        (lambda: compared(schemes=["red", "red"]), 'schemes: "red" stands twice; expected each scheme once'),
        (
            lambda: compared(schemes="droptail, red"),
            """schemes: 'droptail, red'; expected a list: ["droptail", "red"]""",
        ),
        (
            lambda: Study(name="s", scenario=THREE_PAIRS, schemes="droptail,red"),
            """schemes: 'droptail,red'; expected a list: ["droptail", "red"]""",
        ),
        (
            lambda: airfair.run(THREE_PAIRS, scheme="droptail,red"),
            "scheme: 'droptail,red'; expected one scheme; airfair.compare runs several",
        ),
        (
            lambda: compare(statistics=["jain_index"]),
            "statistics: expected until_halfwidth with it, the half-width that they reach",
        ),
        (
            lambda: Study(name="s", scenario=THREE_PAIRS, seeds=[3], seed_from=5),
            "seed_from: goes with a number of seeds, not with a list of them",
        ),
        (
            lambda: compare(seeds=[1], until_halfwidth=0.5),
            "seeds: 1; expected at least 10 with a half-width to reach",
        ),
        (
            lambda: compare(report="/"),
            "report: '/'; expected the path of a file, and this is a folder",
        ),
        (
            lambda: Scenario.read(THREE_PAIRS, {"radio.queue_packets": 5.0}),
            "--set radio.queue_packets: 5.0: a number stands here; expected a whole number",
        ),
        (lambda: Scenario.read(""), "path: ''; expected the path of a file; Scenario.parse reads a text"),
        (
            lambda: Scenario.parse(str(THREE_PAIRS.relative_to(THREE_PAIRS.parents[1]))),
            "text: 'scenarios/three-pairs.toml'; expected the text of a scenario; Scenario.read reads a file",
        ),
        (lambda: airfair.run(""), "scenario: ''; expected a Scenario or the path of a file"),
        (
            lambda: airfair.load_schemes("json"),
            "json: it registers no scheme; expected classes",
        ),
    ],
)
def test_a_likely_mistake_is_named_with_its_remedy(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError) as raised:
        call()
    assert str(raised.value).startswith(problem)


def test_the_text_of_a_scenario_as_its_path_is_cut() -> None:
    text = Scenario.read(THREE_PAIRS).text
    for call in (airfair.run, Scenario.read):
        with pytest.raises(InputError, match=r"; Scenario.parse reads .*text") as raised:
            call(text)
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) < 160


def test_a_scenario_is_not_constructed_but_read() -> None:
    construct: Any = Scenario
    with pytest.raises(TypeError, match=r"use Scenario.read\(path\)"):
        construct(THREE_PAIRS)


def test_booleans_of_numpy_are_booleans() -> None:
    scenario = Scenario.read(THREE_PAIRS)
    edited = scenario.edited({"radio.eifs_on_energy": np.bool_(False)})
    assert edited == scenario.edited({"radio.eifs_on_energy": False})
    assert edited != scenario.edited({"radio.eifs_on_energy": True})


def test_a_file_that_is_missing_is_no_scenario_yet() -> None:
    for call in (Study.read, airfair.import_network):
        with pytest.raises(InputError) as raised:
            call("nope")
        assert type(raised.value) is InputError


def test_an_explanation_without_its_hops_is_refused() -> None:
    why: dict[str, Any] = {**airfair.explain(THREE_PAIRS, overrides=SHORT[1::2]), "hops": []}
    with pytest.raises(InputError, match=r"explanation: its timeline is of hop 0; expected that hop"):
        airfair.explanation_figure(cast(Any, why))


def compared(**options: Any) -> object:  # noqa: ANN401
    return airfair.compare(THREE_PAIRS, seeds=[1], **options)


def compare(**options: Any) -> object:  # noqa: ANN401
    return airfair.compare(THREE_PAIRS, schemes="droptail", overrides=SHORT[1::2], **options)


def test_times() -> None:
    assert _core.parse_time("1.5 ms") == 1_500_000
    with pytest.raises(InputError, match="unit is missing"):
        _core.parse_time("3")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "binary.toml"
    file.write_bytes(b'name = "x"\n\xff\xfe')
    with pytest.raises(ScenarioError, match=r"binary\.toml:2: not UTF-8; save the file as UTF-8"):
        Scenario.read(file)


def test_broadcast_notifications_are_no_traffic(pairs: Scenario) -> None:
    """They come in no frame for a station, so the count of data frames must not be lowered by them."""
    changes = {"scheme": "nred", "duration": "6 s", "nred.broadcast": True, "nred.ncn_interval": "200 ms"}
    stations = airfair.run(pairs.edited(changes))["stations"]
    heard = sum(station["messages"]["heard"] for station in stations)
    assert heard > 0
    assert all(station["messages"]["received"] == 0 for station in stations)


def test_a_path_stands_for_a_scenario_everywhere(tmp_path: Path) -> None:
    scenario = Scenario.read(THREE_PAIRS, SHORT[1::2])
    file = tmp_path / "short.toml"
    file.write_text(scenario.resolved)
    assert list(airfair.trace(file, until="10 ms")) == list(airfair.trace(scenario, until="10 ms"))
    trace = airfair.trace(file, node="a2", start="1 s", until="1050 ms")
    assert repr(trace) == "<airfair.trace of a2 from 1 s until 1.05 s: an iterator of lines>"
    tables = [airfair.record(given, windows="1 s").pandas("flow_series") for given in (file, scenario)]
    assert tables[0].equals(tables[1])
    assert len(tables[0]) > 0
    assert airfair.network(str(file)) == airfair.network(scenario)
    overrides = {"duration": "1 s", "warmup": "0 s"}
    assert airfair.record(file, overrides=overrides).result["duration_s"] == 1.0
    with pytest.raises(InputError, match="overrides go with a file"):
        airfair.trace(scenario, overrides=overrides)


def test_without_schemes_the_scenario_has_its_own() -> None:
    (row,) = airfair.compare(THREE_PAIRS, seeds=[1], overrides=[*SHORT[1::2], "scheme=red"])
    assert row["scheme"] == "red"


def test_one_scheme_is_a_text() -> None:
    (row,) = airfair.compare(THREE_PAIRS, schemes="red", seeds=[1, 2], overrides=SHORT[1::2])
    assert row["scheme"] == "red"
    assert Study(name="x", scenario=THREE_PAIRS, schemes="red").schemes == ["red"]


def test_what_the_package_shows_is_what_it_has() -> None:
    assert dir(airfair) == sorted(airfair.__all__)
    assert all(hasattr(airfair, name) for name in airfair.__all__)


EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def evil() -> Scenario:
    """A scenario whose texts are HTML."""
    changes = {"description": EVIL, "name": "<b>x</b>", "duration": "100 ms", "warmup": "0 s"}
    tables = Scenario.read(THREE_PAIRS, changes).to_dict()
    tables["flow"][0]["id"] = EVIL
    return Scenario.from_dict(tables)


def test_values_say_what_they_hold(evil: Scenario, tmp_path: Path) -> None:
    study = Study(
        name="s", scenario=evil, schemes=["red"], seeds=2, parameters={"radio.queue_packets": [5, 9]}
    )
    sweep = airfair.sweep(study, out=tmp_path / "out", jobs=1)
    recording = airfair.record(evil, scheme="red", seed=7)
    assert repr(evil) == '<airfair.Scenario "<b>x</b>": 6 nodes, 3 flows, 0.1 s, scheme droptail>'
    assert repr(recording).startswith(
        "<airfair.Recording <b>x</b>, red, seed 7: 3 flows, 0.1 s, tables flows, "
    )
    what = "scenario <b>x</b>; schemes red; seeds 1, 2; radio.queue_packets 5, 9"
    assert repr(study) == f"<airfair.Study 's': {what}>"
    assert repr(sweep) == f"<airfair.Sweep 's' in '{tmp_path / 'out'}': 4 of 4 runs; red; 2 seeds>"
    sweep.failed = [Failure("radio.queue_packets=5", "red", 2, EVIL)]
    assert "4 of 4 runs, 1 failed" in repr(sweep)
    for value in (evil, recording, study, sweep):
        page = value._repr_html_()
        assert ElementTree.fromstring(page).tag == "div"
        assert "<script" not in page
        assert "<b>" not in page
        assert "red" in page or "droptail" in page
    assert html.escape(EVIL) in evil._repr_html_()
    assert html.escape(EVIL) in recording._repr_html_()
    assert html.escape(EVIL) in sweep._repr_html_()

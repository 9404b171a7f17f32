"""Statistics of comparisons: intervals, sequential stop, fairness in windows of time."""

from __future__ import annotations

import json
import re
from typing import Any

import airfair
import pytest
from airfair import CompareRow, InputError, Scenario, _core
from airfair.sequential import Until, share

from tests.support import SCENARIOS, SHORT, THREE_PAIRS, json_of, without_perf
from tests.support import airfair as command

OVERRIDES = ["duration=2 s", "warmup=200 ms"]


@pytest.fixture(scope="module")
def pairs() -> Scenario:
    return Scenario.read(THREE_PAIRS, OVERRIDES)


def with_totals(run: str, scheme: str, values: list[float]) -> list[str]:
    """Runs of seeds 1, 2, ... whose total goodput is what a test wants it to be."""
    result = json.loads(run) | {"scheme": scheme}
    return [
        json.dumps(result | {"seed": seed, "aggregate_goodput_bps": value})
        for seed, value in enumerate(values, 1)
    ]


def left_width(row: CompareRow) -> float:
    """Half-width of the left flow's goodput, as a share of its mean."""
    goodput = row["flows"][0]["goodput_bps"]
    assert goodput["ci95"] is not None
    return goodput["ci95"] / goodput["mean"]


def test_paired_differences_equal_the_textbook(pairs: Scenario) -> None:
    """Student's own sleep data (Biometrika 6, 1908): R's `t.test(extra ~ group, paired = TRUE)` prints a mean
    difference of 1.58 and the interval 0.7001142 to 2.4598858; unpaired it holds zero, -0.203874 to 3.363874.
    """
    run = pairs.run()
    first = with_totals(run, "one", [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
    second = with_totals(run, "two", [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    rows = json.loads(_core.summarise([first, second]))
    difference = rows[1]["difference"]["aggregate_goodput_bps"]
    assert difference["mean"] == pytest.approx(1.58)
    assert difference["ci95"] == pytest.approx((2.4598858 - 0.7001142) / 2, abs=1e-7)
    # By hand: 2.262157 (Student's t, nine degrees of freedom) x 1.789010 / sqrt(10).
    assert rows[0]["aggregate_goodput_bps"]["mean"] == pytest.approx(0.75)
    assert rows[0]["aggregate_goodput_bps"]["ci95"] == pytest.approx(1.2797804, abs=1e-7)


def test_looks_come_twice_for_each_doubling() -> None:
    assert list(Until(0.05).looks(10)) == [
        *(10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 896, 1000)
    ]
    assert list(Until(0.05, max_seeds=14).looks(10)) == [10, 14]
    assert list(Until(0.05, max_seeds=10).looks(10)) == [10]
    assert list(Until(0.05, max_seeds=50).looks(15)) == [15, 21, 30, 42, 50]


def test_seeds_are_added_until_the_interval_is_narrow(pairs: Scenario) -> None:
    asked: dict[str, Any] = {"until_halfwidth": 0.02, "statistics": ["flow.left"], "max_seeds": 400}
    rows = airfair.compare(pairs, schemes=["droptail", "red"], **asked, jobs=1)
    count = rows[0]["runs"]
    assert count in list(Until(0.02, max_seeds=400).looks(10))[1:-1], (
        "more than one look, fewer than all seeds"
    )
    assert rows[0]["seeds"] == list(range(1, count + 1))
    assert max(map(left_width, rows)) <= 0.02
    for row in rows:
        assert row["precision"]["met"]
        assert row["warnings"] == []
    # The look before was not enough, and that many seeds at once give the same rows.
    looks = list(Until(0.02, max_seeds=400).looks(10))
    before = looks[looks.index(count) - 1]
    fewer = airfair.compare(pairs, schemes=["droptail", "red"], seeds=range(1, before + 1))
    assert max(map(left_width, fewer)) > 0.02
    at_once = airfair.compare(pairs, schemes=["droptail", "red"], seeds=range(1, count + 1))
    again = airfair.compare(pairs, schemes=["droptail", "red"], **asked, jobs=3)
    for row, other, third in zip(rows, at_once, again, strict=True):
        assert {**row, "perf": 0} == {**third, "perf": 0}, "the rows do not depend on the jobs"
        del row["precision"]
        assert {**row, "perf": 0} == {**other, "perf": 0}


def test_what_was_not_reached_is_told() -> None:
    options = ("--until-halfwidth", "0.5 %", "--statistic", "min_goodput_bps", "--max-seeds", "12", *SHORT)
    done = command("compare", THREE_PAIRS, *options)
    assert done.returncode == 0
    told = re.search(
        r"^warning: droptail: after 12 seeds the half-width of the 95 % interval is ([\d.]+) % of "
        r"min_goodput_bps, not 0.5 %$",
        done.stderr,
        re.MULTILINE,
    )
    assert told
    assert "not reached: half-widths of at most 0.5 % of the mean: min_goodput_bps" in done.stdout
    (row,) = json.loads(command("compare", THREE_PAIRS, *options, "--json").stdout)
    assert row["precision"]["target"] == 0.005
    assert not row["precision"]["met"]
    reached = row["precision"]["relative_ci95"]["min_goodput_bps"]
    least = row["min_goodput_bps"]
    assert reached == pytest.approx(least["ci95"] / least["mean"])
    assert float(told[1]) == pytest.approx(100 * reached, abs=0.005)


def test_no_spread_is_narrow_and_no_mean_is_not(pairs: Scenario) -> None:
    run = pairs.run()
    (row,) = json.loads(_core.summarise([with_totals(run, "a", [0.0] * 10)], 0.05, ["aggregate_goodput_bps"]))
    assert row["precision"] == {"target": 0.05, "met": True, "relative_ci95": {"aggregate_goodput_bps": 0.0}}
    (row,) = json.loads(
        _core.summarise([with_totals(run, "a", [1.0, -1.0])], 0.05, ["aggregate_goodput_bps"])
    )
    assert row["precision"]["relative_ci95"] == {"aggregate_goodput_bps": None}
    assert not row["precision"]["met"]


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"until_halfwidth": 0.0}, "above 0"),
        ({"until_halfwidth": float("nan")}, "above 0"),
        ({"until_halfwidth": 5.0}, "at most 1"),
        ({"until_halfwidth": 0.05, "seeds": range(5)}, "seeds: 5; expected at least 10"),
        (
            {"until_halfwidth": 0.05, "max_seeds": 9},
            "max_seeds: 9; expected at least .* 10",
        ),
        ({"until_halfwidth": 0.05, "seeds": range(2**64 - 10, 2**64)}, "seed: 18446744073709552605"),
        ({"until_halfwidth": 0.05, "statistics": ["jain"]}, 'did you mean "jain_index"'),
        ({"until_halfwidth": 0.05, "statistics": ["flow.midle"]}, 'did you mean "flow.middle"'),
        ({"until_halfwidth": 0.05, "statistics": ["window_jain"]}, "goes with a window"),
        ({"until_halfwidth": 0.05, "statistics": []}, "at least one"),
        ({"windows": ["1"]}, "unit is missing"),
        ({"windows": ["0 s"]}, "window of 0 s"),
        ({"windows": ["1900 ms"]}, r"window of 1\.9 s: expected at most 1\.8 s"),
        ({"windows": ["1 s", "1000 ms"]}, "each length once"),
        ({"windows": ["1 ns"]}, "too short for this run"),
    ],
    ids=str,
)
def test_what_cannot_be_asked(pairs: Scenario, asked: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        airfair.compare(pairs, schemes=["droptail"], **asked)


def test_percentages() -> None:
    assert share("5%") == share(" 5 % ") == 0.05
    for text in ("5", "0.05", "%", "five %", ""):
        with pytest.raises(InputError, match='such as "5%"'):
            share(text)
    done = command("compare", THREE_PAIRS, "--until-halfwidth", "0.05")
    assert (done.returncode, done.stderr[:33]) == (2, '--until-halfwidth: "0.05": expect')
    done = command("compare", THREE_PAIRS, "--max-seeds", "20")
    assert (done.returncode, "goes with --until-halfwidth" in done.stderr) == (2, True)


def test_the_longest_window_is_the_whole_run(pairs: Scenario) -> None:
    """Every flow starts within the warm-up, so the index of the run is that of a window of all of it."""
    result = airfair.run(pairs, seed=3, windows=["1800 ms", "100 ms"])
    whole, short = result["window_jain"]
    assert (whole["window_s"], whole["windows"], whole["empty_windows"]) == (1.8, 1, 0)
    assert whole["mean"] == whole["p10"] == whole["min"] == pytest.approx(result["jain_index"])
    assert short["windows"] + short["empty_windows"] == 18
    assert short["min"] is not None
    assert short["p10"] is not None
    assert 1 / 3 <= short["min"] <= short["p10"] <= (short["mean"] or 0)
    plain = without_perf(pairs.run(seed=3))
    assert without_perf(pairs.run(seed=3, windows="10 ms")).startswith(plain[:-1]), "looking changes nothing"


def test_windows_are_compared(pairs: Scenario) -> None:
    rows = airfair.compare(pairs, schemes=["droptail", "red"], seeds=range(4), windows=["50 ms", "500 ms"])
    runs = [
        [airfair.run(pairs, scheme=s, seed=seed, windows=["50 ms"]) for seed in range(4)]
        for s in ("droptail", "red")
    ]
    means = [[run["window_jain"][0]["mean"] or 0 for run in group] for group in runs]
    for row, values in zip(rows, means, strict=True):
        assert [window["window_s"] for window in row["window_jain"]] == [0.05, 0.5]
        estimate = row["window_jain"][0]["jain_index"]
        assert estimate is not None
        assert estimate["mean"] == pytest.approx(sum(values) / 4)
    difference = rows[1]["window_jain"][0]["difference"]
    assert difference is not None
    assert difference["mean"] == pytest.approx((sum(means[1]) - sum(means[0])) / 4)
    # A run of one flow has no fairness to speak of.
    alone = Scenario.read(THREE_PAIRS, [*OVERRIDES, "flow.left.stop=1 s", "flow.right.stop=1 s"])
    (row,) = airfair.compare(alone, schemes=["droptail"], seeds=[1, 2], windows=["1500 ms"])
    assert row["window_jain"] == [{"window_s": 1.5, "jain_index": None, "p10": None, "difference": None}]
    mixed = [[alone.run(seed=1, windows=["1 s"]), alone.run(seed=2)]]
    with pytest.raises(InputError, match="runs of one scenario"):
        _core.summarise(mixed)


def test_drops_and_radios_are_compared() -> None:
    rows = json_of("compare", THREE_PAIRS, "--schemes", "droptail,red", "--seeds", "2", *SHORT)
    runs = [json_of("run", THREE_PAIRS, "--scheme", "red", "--seed", seed, *SHORT) for seed in ("1", "2")]
    for reason, estimate in rows[1]["drops"].items():
        assert estimate["mean"] == sum(run["drops"].get(reason, 0) for run in runs) / 2
    assert rows[1]["drops"]
    for row in rows:
        assert [station["node"] for station in row["channel"]] == ["a1", "b1", "a2", "b2", "a3", "b3"]
        for station in row["channel"]:
            shares = [station[state]["mean"] for state in ("transmit", "receive", "busy", "nav", "idle")]
            assert sum(shares) == pytest.approx(1)
    untold = {key: value for key, value in runs[0].items() if key not in ("drops", "stations")}
    (row,) = json.loads(_core.summarise([[json.dumps(untold)]]))
    assert not {"drops", "channel"} & set(row), "what runs do not tell is not told"
    sent = sum(run["stations"][0]["airtime_ns"]["transmit"] for run in runs) / 4e9
    assert rows[1]["channel"][0]["transmit"]["mean"] == pytest.approx(sent)


def one(goodputs: dict[str, float], offered: dict[str, int | None], run: str, **more: object) -> str:
    """A run whose flows have these goodputs over a second, and these bytes to send."""
    result = json.loads(run)
    like = result["flows"][0]
    flows = [
        {
            **like,
            "id": flow,
            "goodput_bps": bps,
            "delivered_bytes": int(bps / 8),
            "offered_bytes": offered[flow],
        }
        for flow, bps in goodputs.items()
    ]
    total = sum(goodputs.values())
    return json.dumps({**result, "flows": flows, "aggregate_goodput_bps": total, "stations": None, **more})


def test_who_asks_for_little_is_told_apart(pairs: Scenario) -> None:
    """Two transfers of 3 and 1 Mbit/s, a call of 64 kbit/s: its share is not what it gets less of. By hand:
    (3 + 1)^2 / (2 (9 + 1)) = 0.8."""
    run = pairs.run()
    offered = {"a": None, "call": 8000, "b": None, "idle": 0}
    got = {"a": 3e6, "call": 64e3, "b": 1e6, "idle": 0.0}
    fair = {"a": 2e6, "call": 64e3, "b": 2e6, "idle": 0.0}
    text, other = one(got, offered, run, scheme="x"), one(fair, offered, run, scheme="y")
    rows = json.loads(_core.summarise([[text], [other]]))
    assert [row["content"] for row in rows] == [
        {"flows": ["call"], "jain_index": {"mean": pytest.approx(0.8), "ci95": None}},
        {"flows": ["call"], "jain_index": {"mean": 1.0, "ci95": None}},
    ]
    # Who misses more than a tenth of what it asks for, with any scheme, is not content.
    missed = one({**fair, "call": 50e3}, offered, run, scheme="y")
    for groups in ([[text], [missed]], [[one(fair, {**offered, "a": 250_000, "call": None}, run)]]):
        assert all("content" not in row for row in json.loads(_core.summarise(groups)))


def test_a_note_says_who_asks_for_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "")  # readline may have set it behind our back
    little = ("--set", 'flow.right.traffic={ kind = "constant", rate = "16 kbit/s", packet = "160 B" }')
    arguments = ("compare", THREE_PAIRS, "--schemes", "droptail,fq-codel", "--seeds", "3", *SHORT)
    told = command(*arguments, *little, "--set", 'flow.right.transport="udp"').stdout
    note = (
        "\nright asks for less than its share and gets it: that lowers Jain's index and the minimum, and is "
        "not unfair.\nJain's index of the other flows: droptail "
    )
    assert told.count(note) == 1
    assert told.index("Jain's index") < told.index(note) < told.index("goodput of flow")
    assert "asks for less" not in command(*arguments).stdout


def test_tables_show_windows() -> None:
    done = command(
        "compare", THREE_PAIRS, "--schemes", "droptail,red", "--seeds", "2", "--window", "500 ms", *SHORT
    )
    assert done.returncode == 0
    assert done.stderr.startswith("warning: 2 seeds are too few: ")
    assert "Jain's index in windows of time, and its difference" in done.stdout
    assert re.search(r"^red - droptail +[+-]\d\.\d{3} ± \d\.\d{3}", done.stdout, re.MULTILINE)
    done = command("run", THREE_PAIRS, "--window", "500 ms", *SHORT)
    assert re.search(
        r"^Jain's index in windows of 0.5 s: 0\.\d{3}, a tenth below 0\.\d{3}$", done.stdout, re.MULTILINE
    )


def test_what_all_schemes_have_alike_is_one_line() -> None:
    """Neither scheme drops anything here. Jain's index and the total are told all the same."""
    told = command(
        "compare", SCENARIOS / "wired.toml", *("--schemes", "droptail,red", "--seeds", "1"), *SHORT
    ).stdout
    heads = [told.index(text) for text in ("Jain's index", "goodput of flow", "Differences to droptail")]
    assert heads == sorted(heads)
    assert "\nThe same with every scheme: " in told

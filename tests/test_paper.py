"""Experiments of papers: the contract, what makes a claim hold, the figure, the experiments themselves."""

from __future__ import annotations

import importlib
import io
import json
import math
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from airfair import InputError, claims, experiment, paper
from airfair.claims import (
    Claim,
    Measured,
    MeasuredRow,
    goodput,
    jain,
    least_goodput,
    median,
    number,
    share_of_runs,
    total_gain,
)
from airfair.paper import Experiment, Series
from airfair.recording import Recording
from airfair.results import Estimate
from airfair_papers.nred.common.readings import SCENE
from rich.console import Console

from tests.support import ROOT, SCENARIOS, airfair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIM_TYPES = {
    "text": str,
    "where": str,
    "source": str,
    "reading": str,
    "statistic": str,
    "measured": str,
    "holds": bool,
    "baseline_holds": bool,
}


def draw_nothing(rows: Measured, figure: Figure) -> None:
    figure.subplots().set_title(", ".join(rows))


def small(stated: Sequence[Claim] = ()) -> Experiment:
    """Two seconds of three pairs, with and without the outer ones sensing each other."""
    short = ('duration="2 s"', 'warmup="200 ms"')
    return Experiment(
        title="a small one",
        scenario=SCENARIOS / "three-pairs.toml",
        series=(
            Series("far", "droptail", short),
            Series("red", "red", (*short, "red.max_p=0.2"), against="far"),
            Series("loud", "droptail", (*short, 'radio.rts_threshold="3000 B"')),
        ),
        claims=tuple(stated),
        draw=draw_nothing,
    )


def row(**flows: Estimate) -> MeasuredRow:
    """A row with these goodputs; the rest comes from a run that nobody looks at."""
    (made,) = experiment.compare(
        SCENARIOS / "three-pairs.toml",
        schemes=["droptail"],
        seeds=[1],
        overrides=['duration="1 s"', "warmup=0 s"],
    )
    like = made["flows"][0]
    made["flows"] = [
        {**like, "id": name, "goodput_bps": e, "difference": {**like["difference"], "goodput_bps": e}}
        for name, e in flows.items()
    ]
    one = estimate(1.0, 0.0)
    return {
        **made,
        "run_values": {},
        "against": None,
        "against_values": {},
        "total_share": one,
        "numbers": {},
        "number_differences": {},
        "number_difference_values": {},
        "number_ratios": {},
        "number_values": {},
        "curves": {},
    }


def estimate(mean: float, ci95: float | None) -> Estimate:
    return {"mean": mean, "ci95": ci95}


def less(baseline: str = "b") -> Claim:
    """In series "a", x gets less than half of the lesser of y and z."""
    return Claim(
        text="x is small",
        where="nowhere",
        series="a",
        baseline=baseline,
        source="ours",
        statistic=goodput("x"),
        comparison="below",
        bound=least_goodput(["y", "z"]),
        factor=0.5,
    )


@pytest.mark.parametrize(
    ("x", "y", "z", "holds"),
    [
        ((10, 1), (100, 5), (200, 5), True),
        ((60, 1), (100, 5), (200, 5), False),  # false of y, true of z
        ((40, 20), (100, 5), (200, 5), False),  # the interval of x reaches 60
        ((40, 1), (100, 30), (200, 5), False),  # that of y reaches down to 70
        ((40, 1), (200, 5), (100, 30), False),
        ((48, 1), (100, 1), (200, 5), True),  # 49 is below half of 99
        ((48, 1.6), (100, 1), (200, 5), False),  # 49.6 is not
        ((10, None), (100, 5), (200, 5), False),  # one seed shows nothing
        ((10, 1), (100, None), (200, 5), False),
    ],
)
def test_a_claim_holds_when_the_intervals_lie_on_its_side(
    x: tuple[float, float | None],
    y: tuple[float, float | None],
    z: tuple[float, float | None],
    *,
    holds: bool,
) -> None:
    rows = {"a": row(x=estimate(*x), y=estimate(*y), z=estimate(*z))}
    assert less().holds(rows, "a") is holds


@pytest.mark.parametrize(
    ("mean", "ci95", "holds"), [(5, 4, True), (5, 6, False), (-5, 1, False), (0, 0, False)]
)
def test_a_gain_must_lie_above_zero(mean: float, ci95: float, *, holds: bool) -> None:
    claim = Claim("gains", "nowhere", "a", "b", total_gain, "above", source="ours")
    made = row()
    made["difference"]["aggregate_goodput_bps"] = estimate(mean, ci95)
    assert claim.holds({"a": made}, "a") is holds


def test_the_baseline_is_judged_by_its_own_numbers() -> None:
    small_x = row(x=estimate(1e3, 1e2), y=estimate(1e5, 1e3), z=estimate(1e5, 1e3))
    large_x = row(x=estimate(9e4, 1e2), y=estimate(1e5, 1e3), z=estimate(1e5, 1e3))
    true_only_here = claims.judge(less(), {"a": small_x, "b": large_x})
    assert (true_only_here["holds"], true_only_here["baseline_holds"]) == (True, False)
    assert true_only_here["measured"] == "1.00 ± 0.10 kbit/s against 0.5 × (100 ± 1 kbit/s)"
    assert true_only_here["statistic"] == "goodput of x, below 0.5 times the least goodput of y, z"
    true_everywhere = claims.judge(less("a"), {"a": small_x})
    assert (true_everywhere["holds"], true_everywhere["baseline_holds"]) == (True, True)
    false = claims.judge(less(), {"a": large_x, "b": small_x})
    assert (false["holds"], false["baseline_holds"]) == (False, True)


def test_a_median_is_shown_like_its_values() -> None:
    assert claims.median(claims.jain).show({"mean": 0.957, "ci95": None}) == "0.957"
    assert claims.median(claims.total).show({"mean": 957e3, "ci95": None}) == "957 kbit/s"


def test_a_gain_over_the_baseline_says_nothing_of_it() -> None:
    gains = Claim("gains", "nowhere", "a", "b", total_gain, "above", source="ours")
    rows = {"a": row(), "b": row()}
    assert claims.judge(gains, rows)["baseline_holds"] is None
    rows["b"]["against"] = "c"  # the baseline is compared with a third
    assert claims.judge(gains, rows)["baseline_holds"] is False


def made(**numbers: Sequence[float]) -> MeasuredRow:
    """A row with these numbers, seed by seed."""
    return {
        **row(),
        "numbers": {name: claims.estimate(values) for name, values in numbers.items()},
        "number_values": numbers,
    }


def test_a_gain_has_a_baseline_and_a_least_size() -> None:
    with pytest.raises(ValueError, match="false"):
        Claim("gains", "nowhere", "a", None, total_gain, "above", source="paper")
    gain = Claim("gains", "nowhere", "a", "b", total_gain, "above", source="paper", least=5e3)
    rows = {"a": row(), "b": row()}
    rows["a"]["difference"]["aggregate_goodput_bps"] = estimate(7e3, 1e3)
    assert gain.holds(rows, "a"), "6 is above 5"
    rows["a"]["difference"]["aggregate_goodput_bps"] = estimate(7e3, 3e3)
    assert not gain.holds(rows, "a"), "4 is not"
    assert replace(gain, least=0.0).holds(rows, "a")
    lost = replace(gain, comparison="below")
    rows["a"]["difference"]["aggregate_goodput_bps"] = estimate(-7e3, 1e3)
    assert lost.holds(rows, "a")
    assert not replace(lost, least=7e3).holds(rows, "a")
    assert lost.comparison_text.endswith("below 0 by 5.00 kbit/s and more")


def test_a_share_of_runs_has_wilsons_interval() -> None:
    """Newcombe, Statistics in Medicine 17, 1998, table I: 15 of 148 have 0.0624 to 0.1605."""
    usually = share_of_runs(number("x"), "above", 10.0)
    rows = {"a": made(x=[11.0] * 15 + [9.0] * 133 + [math.nan] * 7)}
    assert usually.of(rows["a"])["mean"] == pytest.approx(15 / 148)
    assert claims.lower(usually.of(rows["a"])) == pytest.approx(0.0624, abs=1e-4)
    assert claims.upper(usually.of(rows["a"])) == pytest.approx(0.1605, abs=1e-4)
    claim = Claim("seldom", "nowhere", "a", None, usually, "below", value=0.17, source="paper")
    assert claim.holds(rows, "a")
    assert not replace(claim, value=0.16).holds(rows, "a")
    assert claim.measured(rows, "a") == "0.101 (0.0624 to 0.160) against 0.17"
    assert claim.comparison_text == "share of the runs with x above 10, below 0.17"
    assert not Claim("", "", "a", None, usually, "above", source="ours").holds({"a": made(x=[math.nan])}, "a")


def test_a_median_lies_between_order_statistics() -> None:
    """Le Boudec, table A.1: of 20 values the 6th and the 15th."""
    middle = median(number("x"))
    rows = {"a": made(x=[float(n * n) for n in range(20, 0, -1)])}
    assert (claims.lower(middle.of(rows["a"])), claims.upper(middle.of(rows["a"]))) == (36.0, 225.0)
    assert middle.of(rows["a"])["mean"] == 110.5
    claim = Claim("small", "nowhere", "a", None, middle, "below", value=226.0, source="ours")
    assert claim.holds(rows, "a")
    assert not replace(claim, value=225.0).holds(rows, "a")
    assert not claim.holds({"a": made(x=[1.0, 2.0, 3.0, 4.0, 5.0])}, "a"), "five values have no interval"
    with pytest.raises(ValueError, match="each seed"):
        median(total_gain).of(rows["a"])


def test_claims_are_counted_by_source_once_for_all_readings() -> None:
    rows = {"low": made(x=[1.0, 1.1, 0.9]), "high": made(x=[5.0, 5.1, 4.9])}

    def less_than_two(series: str, text: str = "small", reading: str = "main") -> Claim:
        return Claim(text, "", series, None, number("x"), "below", value=2.0, source="paper", reading=reading)

    judged = [
        claims.judge(claim, rows)
        for claim in (
            less_than_two("high"),
            less_than_two("low", reading="another"),
            less_than_two("high", reading="a third"),
            less_than_two("low", "small too"),
            replace(less_than_two("low", "inert"), baseline="low"),
            replace(less_than_two("low", "set so"), source="calibration"),
        )
    ]
    assert claims.count(judged) == {
        "paper": {"claims": 3, "hold": 1, "hold_in_a_reading": 2},
        "calibration": {"claims": 1, "hold": 1, "hold_in_a_reading": 1},
    }


def test_the_first_reading_is_the_main_one_where_none_is_called_so() -> None:
    rows = {"low": made(x=[1.0, 1.1, 0.9]), "high": made(x=[5.0, 5.1, 4.9])}
    low = Claim("small", "", "low", None, number("x"), "below", value=2.0, source="paper", reading="static")
    judged = [claims.judge(low, rows), claims.judge(replace(low, series="high", reading="waits"), rows)]
    for order, hold in ((judged, 1), (judged[::-1], 0)):
        assert claims.count(order) == {"paper": {"claims": 1, "hold": hold, "hold_in_a_reading": 1}}


def test_the_table_fits_a_terminal_of_80_columns() -> None:
    """No line is longer, no column is lost, no name of a series or number is cut."""
    stated = small([replace(less_middle(), text="The middle one of the three transfers starves")])
    names = {f"share_of_a_long_name_{i}": float(i) for i in range(6)}
    rows = paper.measure(replace(stated, read=lambda _: names), seeds=[1, 2])
    out = Console(width=80, file=io.StringIO(), highlight=False)
    paper.show("three/pairs", stated, rows, out)
    text = cast(io.StringIO, out.file).getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    words = set(text.replace("(", " ").replace(")", " ").split())
    assert {"middle", "transfers", "baseline", "ours", "far", "red", "loud", "index"} <= words
    assert {str(i) for i in range(6)} <= words
    assert "Claims of ours: 0 of 1 hold" in text or "Claims of ours: 1 of 1 hold" in text


def test_other_readings_are_shown_if_asked_for() -> None:
    """Without them their claims and the series that only these are about are counted."""
    red = replace(less_middle(), series="red", baseline=None, reading="early drops")
    stated = small([less_middle(), red])
    rows = paper.measure(stated, seeds=[1, 2])

    def shown(*, readings: bool) -> str:
        out = Console(width=120, file=io.StringIO(), highlight=False)
        paper.show("three/pairs", stated, rows, out, readings=readings)
        return cast(io.StringIO, out.file).getvalue()

    whole, main = (shown(readings=readings) for readings in (True, False))
    assert "; early drops" in whole
    assert "--readings" not in whole
    assert "early drops" not in main
    assert "1 claim in other readings, 1 series: --readings" in main
    assert len(whole.splitlines()) > len(main.splitlines())
    # A series that is only a bound in other readings is left out with them.
    bound = replace(less_middle(), reading="early drops", bound_series="red")
    stated = small([less_middle(), bound])
    assert "1 claim in other readings, 1 series: --readings" in shown(readings=False)
    # Where no reading is called the main one, the first is.
    stated = small([replace(less_middle(), reading="late"), red])
    assert "1 claim in other readings, 1 series: --readings" in shown(readings=False)


def test_an_experiment_has_its_own_seeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those that parameters were chosen with are left out."""
    from airfair.cli import cli

    own = replace(small([less_middle()]), first_seed=21, quick_seeds=3)
    seen: list[Sequence[int]] = []

    def measure(_: Experiment, *, seeds: Sequence[int], **__: object) -> Measured:
        seen.append(seeds)
        raise InputError("seen")

    monkeypatch.setattr(paper, "load", lambda _: own)
    monkeypatch.setattr(paper, "measure", measure)
    for asked in (["--quick"], ["--seeds", "2"], []):
        with pytest.raises(InputError, match="seen"):
            cli.main(["paper", "small", *asked, "--out", str(tmp_path)], standalone_mode=False)
    assert [(s[0], len(s)) for s in seen] == [(21, 3), (21, 2), (21, 20)]


def test_series_run_with_their_own_values_and_are_paired_by_seed() -> None:
    done: list[None] = []
    rows = paper.measure(small(), seeds=[1, 2, 3], on_run=lambda: done.append(None))
    assert len(done) == 9
    assert {name: (r["scheme"], r["seeds"]) for name, r in rows.items()} == {
        "far": ("droptail", [1, 2, 3]),
        "red": ("red", [1, 2, 3]),
        "loud": ("droptail", [1, 2, 3]),
    }
    far, red, loud = rows["far"], rows["red"], rows["loud"]
    assert loud["aggregate_goodput_bps"] != far["aggregate_goodput_bps"]
    gain = red["difference"]["aggregate_goodput_bps"]["mean"]
    means = red["aggregate_goodput_bps"]["mean"] - far["aggregate_goodput_bps"]["mean"]
    assert gain == pytest.approx(means)
    assert loud["difference"]["aggregate_goodput_bps"] == {"mean": 0, "ci95": 0}


def test_runs_in_common_are_done_once() -> None:
    """Under two names in one experiment, and in two experiments; nothing else changes."""
    looked: list[int] = []

    def read(recording: Recording) -> dict[str, float]:
        looked.append(recording.result["seed"])
        return {"total": recording.result["aggregate_goodput_bps"]}

    alone = replace(small(), read=read)
    plain = paper.measure(alone, seeds=[1, 2])
    assert len(looked) == 6
    looked.clear()
    kept: paper.Kept = {}
    done: list[None] = []
    again = paper.measure(alone, seeds=[1, 2], kept=kept)
    assert {name: row_["flows"] for name, row_ in again.items()} == {n: r["flows"] for n, r in plain.items()}
    twice = replace(alone, series=(*alone.series, replace(alone.series[1], name="red again")))
    rows = paper.measure(twice, seeds=[1, 2, 3], kept=kept, on_run=lambda: done.append(None))
    assert sorted(looked) == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert len(done) == 12
    assert rows["red again"]["number_values"] == rows["red"]["number_values"]
    other = replace(alone, read=lambda recording: {"seed": float(recording.result["seed"])})
    assert paper.measure(other, seeds=[1, 2], kept=kept)["far"]["number_values"] == {"seed": [1.0, 2.0]}


def test_numbers_are_read_out_of_each_run_and_paired_by_seed() -> None:
    def read(recording: Recording) -> dict[str, float]:
        assert len(recording.pandas("flow_series")) == 3 * 4  # three flows, an interval of 500 ms
        return {"total_kbps": recording.result["aggregate_goodput_bps"] / 1000}

    def curves(recording: Recording) -> dict[str, list[float]]:
        return {"seed": [recording.result["seed"]]}

    read_too = replace(
        small(),
        read=read,
        curves=curves,
        interval="500 ms",
        by_seed=lambda seed: [] if seed < 3 else ['node.a1.position=["5 m", "5 m"]'],
    )
    rows = paper.measure(read_too, seeds=[2, 1, 3])
    plain = paper.measure(small(), seeds=[2, 1])
    for name, row_ in rows.items():
        assert row_["numbers"]["total_kbps"]["mean"] == pytest.approx(
            row_["aggregate_goodput_bps"]["mean"] / 1000
        )
        assert row_["curves"] == {"seed": [2]}
        assert row_["flows"] != plain[name]["flows"]  # the third seed has another network
    red, far = rows["red"], rows["far"]
    difference = red["number_differences"]["total_kbps"]
    assert difference["mean"] == pytest.approx(red["difference"]["aggregate_goodput_bps"]["mean"] / 1000)
    expected = red["difference"]["aggregate_goodput_bps"]["ci95"] or 0
    assert difference["ci95"] == pytest.approx(expected / 1000)
    assert far["total_share"] == {"mean": 1, "ci95": 0}
    ratio = red["numbers"]["total_kbps"]["mean"] / far["numbers"]["total_kbps"]["mean"]
    assert red["total_share"]["mean"] == pytest.approx(ratio, rel=0.01)
    claim = Claim("much", "nowhere", "red", "far", number("total_kbps"), "above", value=1e9, source="ours")
    assert not claim.holds(rows, "red")
    assert replace(claim, value=1.0).holds(rows, "red")


def test_a_series_may_have_overrides_by_seed_of_its_own() -> None:
    """Instead of the experiment's."""
    louder = replace(small().series[1], by_seed=lambda seed: [f"radio.queue_packets={seed}"])
    loaded = replace(
        small(),
        series=(small().series[1], replace(louder, name="own")),
        by_seed=lambda _: ["radio.queue_packets=7"],
        read=lambda recording: {"queue": tomllib.loads(recording.scenario)["radio"]["queue_packets"]},
    )
    loaded = replace(loaded, series=tuple(replace(one, against=None) for one in loaded.series))
    rows = paper.measure(loaded, seeds=[11, 12])
    assert rows["red"]["number_values"]["queue"] == [7.0, 7.0]
    assert rows["own"]["number_values"]["queue"] == [11.0, 12.0]


def test_a_claim_against_a_value_has_no_unit_where_the_statistic_has_none() -> None:
    claim = Claim("fair", "nowhere", "a", "b", jain, "above", value=0.95, source="ours")
    made = row()
    made["jain_index"] = estimate(0.98, 0.02)
    assert claim.measured({"a": made}, "a") == "0.980 ± 0.020 against 0.95"
    assert not Claim("f", "n", "a", "b", jain, "above", value=0.97, source="ours").holds({"a": made}, "a")


def test_a_bad_scenario_or_scheme_is_told_before_any_run(tmp_path: Path) -> None:
    bad = Experiment("bad", SCENARIOS / "three-pairs.toml", (Series("s", "drptail"),), (), draw_nothing)
    with pytest.raises(InputError, match="droptail"):
        paper.measure(bad, seeds=[1])
    bad = Experiment("bad", tmp_path / "none.toml", (Series("s", "droptail"),), (), draw_nothing)
    with pytest.raises((InputError, OSError)):
        paper.measure(bad, seeds=[1])


def test_a_figure_is_whole_or_not_there_and_always_the_same(tmp_path: Path) -> None:
    rows = {"far": row()}
    path = tmp_path / "a" / "b.svg"
    paper.draw(small(), rows, path)
    first = path.read_bytes()
    assert first.startswith(b"<?xml")
    assert first.rstrip().endswith(b"</svg>")
    assert [p.name for p in path.parent.iterdir()] == ["b.svg"]
    paper.draw(small(), rows, path)
    assert path.read_bytes() == first

    def fail(_rows: Measured, _figure: Figure) -> None:
        raise RuntimeError("half way")

    broken = Experiment("", small().scenario, (), (), fail)
    with pytest.raises(RuntimeError):
        paper.draw(broken, rows, path)
    assert path.read_bytes() == first
    assert [p.name for p in path.parent.iterdir()] == ["b.svg"]


def test_every_experiment_names_series_that_exist() -> None:
    for identity in paper.identities():
        found = paper.load(identity)
        names = [series.name for series in found.series]
        assert len(set(names)) == len(names), identity
        assert found.scenario.is_file()
        assert found.claims
        for series in found.series:
            assert series.against is None or series.against in names, identity
        for claim in found.claims:
            assert {claim.series, claim.baseline or claim.series} <= set(names), claim.text
            assert claim.series != claim.baseline, claim.text
        told = [(claim.text, claim.reading) for claim in found.claims]
        assert len(set(told)) == len(told), identity
        assert found.quick_seeds <= found.seeds, identity


BASELINES = ("droptail", "red", "codel", "fq-codel")


@pytest.mark.parametrize("identity", paper.identities())
def test_a_baseline_is_the_same_scene_without_what_gains(identity: str) -> None:
    """Another scheme, other parameters of one, or what the claim says that it is about; nothing else. A claim
    about a baseline has none, unless it is a gain over another."""
    found = paper.load(identity)
    series = {one.name: one for one in found.series}

    def values(one: Series) -> dict[str, str]:
        return dict(text.split("=", 1) for text in one.overrides)

    for claim in found.claims:
        own = series[claim.series]
        if claim.baseline is None:
            continue
        other = series[claim.baseline]
        assert (own.scenario or found.scenario) == (other.scenario or found.scenario), claim.text
        here, there = values(own), values(other)
        allowed = (*claim.about, own.scheme, other.scheme)
        changed = {key for key in {*here, *there} if here.get(key) != there.get(key)}
        beside = [key for key in changed if not any(key == a or key.startswith(f"{a}.") for a in allowed)]
        assert not beside, (claim.text, beside)
        assert own.scheme not in BASELINES or claim.statistic.signed, claim.text


def test_the_experiments_are_listed() -> None:
    listed = json.loads(airfair("paper", "--json").stdout)
    assert [list(entry) for entry in listed] == [["id", "title", "paper"]] * len(listed)
    assert "nred/fig2" in [entry["id"] for entry in listed]
    done = airfair("paper")
    assert (done.returncode, done.stderr) == (0, "")
    assert "nred/fig2" in done.stdout
    assert "MobiCom 2003" in " ".join(done.stdout.split())


def test_a_wheel_has_the_experiments_that_the_checkout_shows() -> None:
    package = ROOT / "python" / "airfair_papers"
    assert Path(str(importlib.import_module("airfair_papers").__file__)).parent == package
    assert not package.is_symlink()  # a wheel leaves out what is linked
    assert (ROOT / "papers").resolve() == package
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["python-packages"]
    assert packages == ["airfair", "airfair_papers"]


@pytest.mark.parametrize(
    ("identity", "nearest"),
    [
        ("nred/fig2x", "nred/fig2"),
        ("nred/fig2/x", "nred/fig2"),
        ("NRED/fig2", "nred/fig2"),
        ("../nred/fig2", "nred/fig2"),
        ("nred/param", "nred/params"),
        ("", ""),
    ],
)
def test_an_unknown_id_is_answered_with_the_nearest(identity: str, nearest: str) -> None:
    done = airfair("paper", identity)
    assert (done.returncode, done.stdout) == (2, "")
    assert f'"{identity}"' in done.stderr
    hint = f'did you mean "{nearest}"' if nearest else "lists all of them"
    assert hint in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--seeds", "1"], ["--seeds", "x"], ["--quick", "--seeds", "3"], ["nred/fig2"]]
)
def test_bad_options_are_refused(arguments: list[str]) -> None:
    done = airfair("paper", "nred/fig2", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def run_paper(*arguments: str | Path) -> tuple[int, str, str]:
    """Like `airfair`, with time for a real experiment."""
    command = [sys.executable, "-m", "airfair", "paper", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def less_middle() -> Claim:
    return Claim(
        "small",
        "here",
        "far",
        "loud",
        goodput("middle"),
        "below",
        least_goodput(["left", "right"]),
        0.1,
        source="ours",
    )


def test_the_figure_cannot_be_written_and_the_claims_are_printed_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from airfair.cli import cli

    monkeypatch.setattr(paper, "load", lambda _: small([less_middle()]))
    (tmp_path / "small.svg").mkdir()
    with pytest.raises(OSError, match=r"small\.svg"):
        cli.main(["paper", "small", "--seeds", "2", "--out", str(tmp_path), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["seeds"] == 2
    assert [p.name for p in tmp_path.iterdir()] == ["small.svg"]


def test_the_result_of_an_experiment(tmp_path: Path) -> None:
    status, out, err = run_paper("nred/ncn", "--quick", "--json", "--out", tmp_path)
    assert (status, err) == (0, "")
    result: dict[str, Any] = json.loads(out)
    assert list(result) == ["id", "first_seed", "seeds", "counts", "claims", "numbers"]
    assert (result["id"], result["first_seed"], result["seeds"]) == ("nred/ncn", 1, 5)
    for claim in result["claims"]:
        assert list(claim) == list(CLAIM_TYPES)
        for key, kind in CLAIM_TYPES.items():
            assert key == "baseline_holds" or type(claim[key]) is kind, key
    assert set(result["counts"]) == {claim["source"] for claim in result["claims"]} >= {"paper"}
    assert result["counts"]["paper"]["claims"] > 0
    assert (tmp_path / "nred" / "ncn.svg").read_text().rstrip().endswith("</svg>")


def test_nred_fig2() -> None:
    """The decisive comparison, with five seeds: drop-tail starves the middle flow, and with ns-2's TCP RED
    does too. No claim of a gain is judged on the series that the gain is over."""
    loaded = paper.load("nred/fig2")
    texts = list(dict.fromkeys(claim.text for claim in loaded.claims))
    assert len(texts) == 12
    droptail, *red, total = ([claim for claim in loaded.claims if claim.text == text] for text in texts)
    assert len(red) == 10
    assert total[0].statistic.name == "difference of the total goodput, paired by seed"
    at_006 = next(stated for stated in red if "0.06" in stated[0].text)
    (by_ns2,) = (claim for claim in at_006 if claim.reading == "ns-2's TCP")
    named = {claim.series for claim in (droptail[0], by_ns2, total[0])}
    named |= {one.against for one in loaded.series if one.name in named and one.against is not None}
    series = tuple(one for one in loaded.series if one.name in named)
    rows = paper.measure(replace(loaded, series=series), seeds=range(1, 6))
    for claim in (droptail[0], by_ns2):
        judged = claims.judge(claim, rows)
        assert judged["holds"], judged
        assert judged["baseline_holds"] is None, judged
    assert claims.judge(total[0], rows)["baseline_holds"] is None


def shortened(loaded: Experiment) -> Experiment:
    """The same with 15 s of each run, 5 s of them warm-up where there is one."""

    def short(series: Series) -> Series:
        warm = [o for o in series.overrides if o.startswith("warmup=")]
        cut = ('warmup="5 s"',) if warm else ()
        return replace(series, overrides=(*series.overrides, *cut, 'duration="15 s"', *loaded.small))

    return replace(loaded, series=tuple(map(short, loaded.series)))


@pytest.mark.parametrize("identity", paper.identities())
def test_every_experiment_runs_and_is_drawn(identity: str, tmp_path: Path) -> None:
    loaded = paper.load(identity)
    rows = paper.measure(shortened(loaded), seeds=[1, 2])
    contract = paper.result(identity, loaded, rows)
    assert len(contract["claims"]) == len(loaded.claims) > 0
    json.dumps(contract, allow_nan=False)
    paper.draw(loaded, rows, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_text().rstrip().endswith("</svg>")


def test_a_bound_may_be_another_series() -> None:
    near = row(middle=Estimate(mean=10e6, ci95=1e6), other=Estimate(mean=1.0, ci95=0.0))
    far = row(middle=Estimate(mean=4e6, ci95=0.5e6), other=Estimate(mean=1.0, ci95=0.0))
    rows = {"near": near, "far": far}
    middle = goodput("middle")
    claim = Claim(
        text="more than twice that far away",
        where="here",
        series="near",
        baseline="far",
        source="ours",
        statistic=middle,
        comparison="above",
        bound=middle,
        factor=2.0,
        bound_series="far",
    )
    assert claim.comparison_text == "goodput of middle, above 2 times the goodput of middle of far"
    assert claim.measured(rows, "near") == "10000 ± 1000 kbit/s against 2 × (4000 ± 500 kbit/s)"
    assert not claim.holds(rows, "near"), "9 is not above twice 4.5"
    assert replace(claim, factor=1.9).holds(rows, "near")
    assert not replace(claim, factor=1.9, bound_series=None).holds(rows, "near"), "its own bound"


def test_a_bound_may_be_several_series_paired_by_seed() -> None:
    """The least of three, whose seeds differ more than they do."""
    seeds = {"a": (1.0, 5.0, 9.0), "b": (1.5, 5.4, 9.6), "c": (1.2, 5.2, 9.25), "d": (7.0, 3.0, 2.0)}
    rows = {name: made(x=values) for name, values in seeds.items()}
    x = number("x")
    least = Claim("least", "here", "a", "c", x, "below", bound=x, bound_series=("a", "b", "c"), source="ours")
    assert not least.holds(rows, "a"), "the intervals overlap"
    paired = replace(least, paired=True)
    assert paired.holds(rows, "a")
    assert not paired.holds(rows, "c"), "a is less"
    assert not replace(paired, bound_series=("a", "b", "c", "d")).holds(rows, "a"), "d is less at times"
    assert not replace(paired, factor=0.9).holds(rows, "a")
    assert replace(paired, comparison="above", bound_series=("a", "c")).holds(rows, "b")
    assert paired.comparison_text == "x, below x of a, b, c, seed by seed"
    assert paired.measured(rows, "a").count("±") == 3
    rows["b"] = made(x=(1.5, math.nan, 9.6))  # a run without the number takes no part
    assert paired.holds(rows, "a") is False, "two differences of 0.5 and 0.6 are too few"
    rows["b"] = made(x=(1.5, math.nan, 9.52))
    assert paired.holds(rows, "a")
    with pytest.raises(ValueError, match="each seed"):
        replace(paired, statistic=total_gain).holds(rows, "a")


def test_lbm_gives_uploads_and_downloads_equal_shares() -> None:
    """`lbm/uplink`'s claims of its mixed cell with three seeds of 60 s: true both ways, false one way."""
    loaded = paper.load("lbm/uplink")
    mixed = [s for s in loaded.series if s.name.endswith("5 uploads, 5 downloads")]
    cut = [replace(s, overrides=(*s.overrides, 'duration="90 s"')) for s in mixed]
    rows = paper.measure(replace(loaded, series=tuple(cut)), seeds=[1, 2, 3])
    judged = [claims.judge(claim, rows) for claim in loaded.claims if claim.series in rows]
    assert len(judged) == 9
    for claim in judged:
        assert claim["holds"], claim
        assert not claim["baseline_holds"], claim


def test_nred_rescues_the_starved_flow() -> None:
    """Figure 14's claims with twelve seeds and the scene as it stands: true with NRED, false without."""
    loaded = paper.load("nred/fig14")
    stated = [claim for claim in loaded.claims if claim.reading == SCENE]
    assert len(stated) == 3
    named = {name for claim in stated for name in (claim.series, claim.baseline)}
    series = tuple(one for one in loaded.series if one.name in named)
    rows = paper.measure(replace(loaded, series=series), seeds=range(1, 13))
    for claim in stated:
        judged = claims.judge(claim, rows)
        assert judged["holds"], judged
        assert not judged["baseline_holds"], judged
    middle = goodput("middle")
    droptail, nred = (rows[f"{scheme}, {SCENE}"] for scheme in ("droptail", "nred"))
    assert middle.of(nred)["mean"] > 10 * middle.of(droptail)["mean"]

"""Verdicts: flows that win and lose, shares of what the air allows, delays of flows, lost routes, and what a
scheme needs before the first run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import airfair
import pytest
from airfair import InputError, LimitError, Scenario, _core, verdict_tables, verdicts
from airfair.optimal.yardstick import affordable, most_links, yardstick
from airfair.quantities import part

from tests.support import ROOT, SCENARIOS, SHORT, THREE_PAIRS, json_of
from tests.support import airfair as command

CASES = ROOT / "tests" / "verdicts"
PARKING, OLSR, UPDOWN = (CASES / f"{name}.toml" for name in ("parking", "olsrload", "updown"))
NEEDS = "node gw: scheme diffq:paper needs capabilities that its radio does not offer"

WIRES = """
name = "wires"
duration = "2 s"
node = [{ id = "a" }, { id = "b" }]
link = [{ ends = ["a", "b"], rate = "1 Mbit/s" }]
flow = [
    { id = "x", from = "a", to = "b", traffic = { kind = "constant", rate = "100 kbit/s" } },
    { id = "y", from = "a", to = "b", traffic = { kind = "constant", rate = "100 kbit/s" } },
    { id = "z", from = "a", to = "b", traffic = { kind = "constant", rate = "100 kbit/s" } },
]
"""

Numbers = dict[str, list[tuple[float, float | None]]]
"""Goodput (bit/s) and mean delay (s) of each flow, seed by seed."""


def runs_of(scheme: str, flows: Numbers) -> list[str]:
    """Runs with these numbers. The mean over packets weighs a flow by its goodput."""
    like = json.loads(Scenario.parse(WIRES).run())
    seeds = len(next(iter(flows.values())))
    made = []
    for seed in range(seeds):
        now = {flow: values[seed] for flow, values in flows.items()}
        total = sum(goodput for goodput, _ in now.values())
        packets = sum(goodput * (delay or 0.0) for goodput, delay in now.values()) / total
        each = [
            {
                **flow,
                "goodput_bps": now[flow["id"]][0],
                "mean_delay_s": now[flow["id"]][1],
                "p99_delay_s": None,
            }
            for flow in like["flows"]
        ]
        more = {"flows": each, "mean_delay_s": packets, "aggregate_goodput_bps": total}
        made.append(json.dumps({**like, **more, "scheme": scheme, "seed": seed + 1}))
    return made


def rows_of(*groups: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(_core.summarise(list(groups)))
    return rows


def test_flows_are_counted_by_hand() -> None:
    """Flow x loses 40 %, y 4 %, which is less than a twentieth, and z gains 20 %."""
    before = runs_of("droptail", {"x": [(100e3, 0.1)], "y": [(100e3, None)], "z": [(100e3, 0.1)]})
    now = runs_of("red", {"x": [(60e3, 0.05)], "y": [(96e3, 0.1)], "z": [(120e3, 0.2)]})
    first, second = rows_of(before, now)
    assert "beside" not in first
    assert second["beside"] == {
        "won": 1,
        "lost": 1,
        "even": 1,
        "delay_fell": 1,
        "delay_rose": 1,
        "delay_even": 0,
        "total_share": pytest.approx(276 / 300),
        "collapsed": False,
    }


def test_a_change_that_the_seeds_do_not_show_is_none() -> None:
    """Of x the difference is -50 and -52 kbit/s, of y -10 and -90: half-widths of 12.7 and 508 kbit/s (12.706
    standard errors, Student's t with one degree of freedom)."""
    same: list[tuple[float, float | None]] = [(100e3, 0.1), (100e3, 0.1)]
    before = runs_of("droptail", {"x": same, "y": same, "z": same})
    now = runs_of("red", {"x": [(50e3, 0.1), (48e3, 0.1)], "y": [(90e3, 0.1), (10e3, 0.1)], "z": same})
    against = rows_of(before, now)[1]["beside"]
    assert (against["won"], against["lost"], against["even"]) == (0, 1, 2)


def test_a_single_pair_of_several_is_no_change() -> None:
    """Under the first scheme x delivers with the first seed only, so that one difference of its delays is
    known: a tenth, without an interval. Of y both are known."""
    none: list[tuple[float, float | None]] = [(1e3, None)] * 2
    before = runs_of("droptail", {"x": [(100e3, 0.1), (0.0, None)], "y": [(100e3, 0.1)] * 2, "z": none})
    now = runs_of("red", {"x": [(100e3, 0.2)] * 2, "y": [(100e3, 0.2)] * 2, "z": none})
    row = rows_of(before, now)[1]
    by = row["flows"][0]["difference"]["mean_delay_s"]
    assert (by["mean"], by["ci95"], by["runs"]) == (pytest.approx(0.1), None, 1)
    beside = row["beside"]
    assert (beside["delay_fell"], beside["delay_rose"], beside["delay_even"]) == (0, 1, 1)


def test_the_mean_over_packets_of_a_single_pair_says_nothing() -> None:
    """With two seeds, of which one has packets under both schemes: there is no line of delays."""
    none: list[tuple[float, float | None]] = [(0.0, None)] * 2
    before = runs_of("droptail", {"x": [(90e3, 0.01)] * 2, "y": [(10e3, 0.1)] * 2, "z": none})
    now = runs_of("red", {"x": [(50e3, 0.005)] * 2, "y": [(50e3, 0.05)] * 2, "z": none})
    rows = rows_of(before, now)
    assert [line for line in verdicts.comparison_lines(rows) if "delay" in line]  # type: ignore[arg-type]
    rows[1]["difference"]["mean_delay_s"] |= {"ci95": None, "runs": 1}
    assert not [line for line in verdicts.comparison_lines(rows) if "delay" in line]  # type: ignore[arg-type]


def test_one_seed_is_named_one_run_of_each() -> None:
    two: list[tuple[float, float | None]] = [(10e3, 0.1), (10e3, 0.1)]
    for seeds in (1, 2):
        before = runs_of("droptail", {flow: [(100e3, 0.1)] * seeds for flow in "xyz"})
        rows = rows_of(before, runs_of("red", dict.fromkeys("xyz", two[:seeds])))
        title = verdict_tables.title(rows, None)  # type: ignore[arg-type]
        assert title == "Flows against droptail" + (" in one run of each" if seeds == 1 else "")
        (line,) = verdicts.comparison_lines(rows)  # type: ignore[arg-type]
        assert line.endswith("in one run of each") is (seeds == 1)


def test_flows_that_starve_under_a_scheme_are_counted() -> None:
    """A flow that has next to nothing under both neither wins nor loses: the difference of the counts is said
    where it is clear."""
    even: dict[str, list[tuple[float, float | None]]] = {flow: [(100e3, 0.1)] * 2 for flow in "xyz"}
    rows = rows_of(runs_of("droptail", even), runs_of("red", even))
    assert verdicts.comparison_lines(rows) == []  # type: ignore[arg-type]
    more = rows[1]["difference"]["starved_flows"]
    for mean, half, lines in (
        (2.75, 2.0, ["red: 2.8 ± 2.0 more flows starve than with droptail"]),
        (2.75, 2.8, []),
        (-2.75, 2.0, []),
    ):
        more |= {"mean": mean, "ci95": half}
        assert verdicts.comparison_lines(rows) == lines  # type: ignore[arg-type]
    rows = rows_of(
        *(runs_of(scheme, {flow: [(100e3, 0.1)] for flow in "xyz"}) for scheme in ("droptail", "red"))
    )
    rows[1]["difference"]["starved_flows"] |= {"mean": 1.0, "ci95": None}
    (line,) = verdicts.comparison_lines(rows)  # type: ignore[arg-type]
    assert line == "red: 1 more flow starves than with droptail in one run of each"


def test_a_collapse_is_named_however_fair() -> None:
    before = runs_of("droptail", {"x": [(800e3, 0.1)], "y": [(100e3, 0.1)], "z": [(100e3, 0.1)]})
    now = runs_of("red", {flow: [(2e3, 0.1)] for flow in "xyz"})
    rows = rows_of(before, now)
    assert rows[1]["beside"]["collapsed"]
    (line,) = verdicts.comparison_lines(rows)  # type: ignore[arg-type]
    assert line == (
        "red: the whole collapses, to 0.6 % of the total of droptail; 3 of 3 flows lose against droptail "
        "in one run of each"
    )


def test_a_total_that_falls_while_fewer_flows_starve() -> None:
    """From 1000 to 310 kbit/s, and z no longer starves: the total has fallen, which may be the price."""
    before = runs_of("droptail", {"x": [(985e3, 0.1)], "y": [(10e3, 0.1)], "z": [(5e3, 0.1)]})
    now = runs_of("red", {"x": [(280e3, 0.1)], "y": [(10e3, 0.1)], "z": [(20e3, 0.1)]})
    starving = [
        [json.dumps({**json.loads(run), "starved_flows": count})] for (run,), count in ((before, 1), (now, 0))
    ]
    rows = rows_of(*starving)
    assert rows[1]["beside"]["collapsed"]
    (line,) = verdicts.comparison_lines(rows)  # type: ignore[arg-type]
    assert line == (
        "red: the total falls to 31 % of that of droptail, 1 fewer flow starves; 1 of 3 flows lose against "
        "droptail, 1 wins in one run of each"
    )


def test_a_scheme_that_changes_nothing_equals_the_baseline() -> None:
    """LBM acts at access points only: in a mesh its runs are those of drop-tail."""
    rows = airfair.compare(THREE_PAIRS, schemes=["droptail", "lbm", "nred"], seeds=[1], overrides=SHORT[1::2])
    assert verdict_tables.counts(rows[1]) == ["= droptail", "-", "-", "-"]
    assert verdict_tables.counts(rows[2])[0].isdigit()


def test_taking_from_one_to_give_to_others_is_no_collapse() -> None:
    """The total falls from 1000 to 300 kbit/s either way: two of three flows gain, or one does."""
    before = runs_of("droptail", {"x": [(980e3, 0.1)], "y": [(10e3, 0.1)], "z": [(10e3, 0.1)]})
    shared = runs_of("red", {flow: [(100e3, 0.1)] for flow in "xyz"})
    lost = runs_of("red", {"x": [(280e3, 0.1)], "y": [(10e3, 0.1)], "z": [(20e3, 0.1)]})
    assert [rows_of(before, now)[1]["beside"]["collapsed"] for now in (shared, lost)] == [False, True]


def test_the_mean_over_flows_and_that_over_packets_by_hand() -> None:
    """Delays of 10 and 100 ms, 90 packets of a hundred of the fast flow: 55 ms over flows, 19 over packets.
    Then 5 and 50 ms, half of the packets each: 27.5 both. Every delay falls, and the mean over packets rises.
    """
    idle: list[tuple[float, float | None]] = [(0.0, None)]
    before = runs_of("droptail", {"x": [(90e3, 0.01)], "y": [(10e3, 0.1)], "z": idle})
    now = runs_of("red", {"x": [(50e3, 0.005)], "y": [(50e3, 0.05)], "z": idle})
    rows = rows_of(before, now)
    assert [row["mean_flow_delay_s"]["mean"] for row in rows] == [pytest.approx(0.055), pytest.approx(0.0275)]
    assert [row["mean_delay_s"]["mean"] for row in rows] == [pytest.approx(0.019), pytest.approx(0.0275)]
    (line,) = [line for line in verdicts.comparison_lines(rows) if "delay" in line]  # type: ignore[arg-type]
    assert line.startswith(
        "red: the mean delay of each of the 2 flows that deliver with both falls; that over packets rises"
    )
    (line,) = [line for line in verdicts.comparison_lines(rows_of(now, before)) if "delay" in line]  # type: ignore[arg-type]
    rises = "droptail: the mean delay of each of the 2 flows that deliver with both rises; "
    assert line.startswith(f"{rises}that over packets falls")


def test_delays_of_a_parking_lot() -> None:
    """C3L lets the far flow send: each flow's delay falls, and the mean over packets rises."""
    rows = airfair.compare(PARKING, schemes=["droptail", "c3l:paper"], seeds=[1, 2, 3])
    second = rows[1]
    assert second["difference"]["mean_delay_s"]["mean"] > 0  # type: ignore[index]
    assert second["difference"]["mean_flow_delay_s"]["mean"] < 0  # type: ignore[index]
    assert all(flow["difference"]["mean_delay_s"]["mean"] < 0 for flow in second["flows"])  # type: ignore[index]
    assert any("the mean delay of every flow falls" in line for line in verdicts.comparison_lines(rows))


@pytest.mark.parametrize("width", ["80", ""])
def test_a_comparison_prints_its_verdict(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    told = command("compare", THREE_PAIRS, "--schemes", "droptail,nred", "--seeds", "3", *SHORT).stdout
    words = " ".join(told.split())
    assert (
        "Flows against droptail, and shares of the max-min rates that the air allows (airfair optimum)"
        in words
    )
    for head in ("flows win", "lose", "unclear", "of its total", "least share", "share of sum"):
        assert head in told
    if width:
        assert all(len(line) <= 80 for line in told.splitlines())


def test_a_run_prints_what_it_gets_of_what_the_air_allows() -> None:
    best = airfair.optimum(THREE_PAIRS)
    result = airfair.run(THREE_PAIRS, overrides=["duration=2 s", "warmup=200 ms"], optimum=True)
    verdict = result["verdict"]
    total = result["aggregate_goodput_bps"] / sum(flow["max_min_bps"] for flow in best["flows"])
    assert verdict["by"] == "optimum"
    assert verdict["optimum_share_total"] == pytest.approx(total)
    rates = {flow["id"]: flow["max_min_bps"] for flow in best["flows"]}
    few = sum(flow["goodput_bps"] < rates[flow["id"]] / 2 for flow in result["flows"])
    assert (verdict["flows_judged"], verdict["below_half"]) == (3, few)
    told = command("run", THREE_PAIRS, *SHORT).stdout
    least = min(flow["goodput_bps"] / rates[flow["id"]] for flow in result["flows"])
    words = f"the least flow has {part(least)} of its max-min rate; "
    words += f"{few} of 3 flows {'has' if few == 1 else 'have'} less than half; " if few else ""
    words += f"the total is {part(total)} of the fair one"
    assert f"of what the air allows (airfair optimum): {words}" in " ".join(told.split())
    assert json_of("run", THREE_PAIRS, *SHORT, "--optimum", "--json")["verdict"] == verdict
    assert "verdict" not in json_of("run", THREE_PAIRS, *SHORT, "--json")


def test_the_work_of_the_optimum_is_counted() -> None:
    """Ten events for each pair of links: a thousand events are worth ten links, 999 nine."""
    assert [most_links(events) for events in (0, 10, 999, 1000)] == [0, 1, 9, 10]
    scenario = Scenario.read(THREE_PAIRS)
    links = len(airfair.optimum(scenario)["links"])
    assert affordable(scenario, 10 * links * links).max_min_bps
    with pytest.raises(LimitError, match=f"flows use {links} links, more than {links - 1}"):
        affordable(scenario, 10 * links * links - 1)


def test_without_categories_and_with_static_routes() -> None:
    """Where the model cannot describe the scenario, it describes the nearest one, and says which."""
    plain, sorted_by = (Scenario.read(PARKING, more) for more in ([], ["radio.categories=diffq"]))
    of_plain, of_sorted = yardstick(plain), yardstick(sorted_by)
    assert (of_plain.assumed, of_sorted.assumed) == ((), ("one access category",))
    assert of_plain.max_min_bps == of_sorted.max_min_bps
    assert yardstick(Scenario.read(OLSR)).assumed == ("static routes",)
    with pytest.raises(InputError, match="nodes move"):
        yardstick(Scenario.read(SCENARIOS / "drive-by.toml"))


def test_a_run_without_an_optimum_is_compared_with_drop_tail() -> None:
    scene, short = SCENARIOS / "drive-by.toml", ["duration=4 s"]
    verdict = airfair.run(scene, scheme="vegas", overrides=short, optimum=True)["verdict"]
    runs = [[Scenario.read(scene, short).run(scheme)] for scheme in ("droptail", "vegas")]
    assert verdict["by"] == "droptail"
    assert "nodes move" in (verdict["reason"] or "")
    assert verdict["beside"] == json.loads(_core.summarise(runs))[1]["beside"]
    in_windows = airfair.run(scene, scheme="vegas", overrides=short, optimum=True, windows=["1 s"])
    assert in_windows["verdict"] == verdict
    alone = airfair.run(scene, scheme="droptail", overrides=short, optimum=True)["verdict"]
    assert alone["by"] is None


MOVING = (SCENARIOS / "drive-by.toml", "--set", "duration=4 s")
FILES = (SCENARIOS / "short-flows.toml", "--set", "duration=3 s", "--set", "warmup=1 s")
FEW = (THREE_PAIRS, "--set", "duration=2 ms", "--set", "warmup=0 s")
"""A run of a few frames: the rates take more work."""
NODES_MOVE = "not judged by what the air allows: nodes move; expected nodes at rest"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("run", *MOVING, "--scheme", "vegas"), f"{NODES_MOVE}; --optimum compares with a run of droptail"),
        (
            ("run", *MOVING),
            f"{NODES_MOVE}; {verdicts.OF_BASELINE}",
        ),
        (("run", *MOVING, "--optimum"), f"{NODES_MOVE}; {verdicts.OF_BASELINE}"),
        (("run", *FEW), "not judged by what the air allows: the best rates take more work than the run; "),
        (("run", *FILES), f"not judged by what the air allows: {verdicts.NO_RATES}; "),
        (("compare", *MOVING, "--seeds", "1"), f"{NODES_MOVE}; --schemes takes others to compare with"),
        (("compare", *MOVING, "--seeds", "1", "--schemes", "droptail,vegas"), NODES_MOVE),
        (("compare", *FEW, "--seeds", "1"), "more work than the runs; --optimum computes them"),
        (("compare", *FILES, "--seeds", "1"), f"not judged by what the air allows: {verdicts.NO_RATES}"),
    ],
)
def test_what_is_not_judged_says_why_in_a_line(arguments: tuple[str | Path, ...], line: str) -> None:
    printed = " ".join(command(*arguments).stdout.split())
    assert printed.count("not judged by what the air allows") == 1
    assert line in printed


def test_rows_with_changes_are_judged_by_the_rates_of_the_file() -> None:
    rows = ["droptail", "red[queue=10]"]
    changed = airfair.compare(THREE_PAIRS, schemes=rows, seeds=[1], overrides=SHORT[1::2], optimum=True)
    plain = airfair.compare(THREE_PAIRS, seeds=[1], overrides=SHORT[1::2], optimum=True)
    totals = [row["optimum_share_total"] for row in changed]
    assert totals[0] is not None
    assert totals[1] is not None
    goodputs = [row["aggregate_goodput_bps"]["mean"] for row in changed]
    assert totals[0]["mean"] / goodputs[0] == pytest.approx(totals[1]["mean"] / goodputs[1], rel=1e-12)
    assert changed[0]["optimum_share_total"] == plain[0]["optimum_share_total"]


def test_a_run_beside_drop_tail_says_both() -> None:
    printed = " ".join(command("run", *MOVING, "--scheme", "vegas", "--optimum").stdout.split())
    assert NODES_MOVE in printed
    result = airfair.run(MOVING[0], scheme="vegas", overrides=["duration=4 s"], optimum=True)
    beside = result["verdict"]["beside"]
    flows = beside["won"] + beside["lost"] + beside["even"]
    lose = f"{beside['lost']} of {flows} {'flow' if flows == 1 else 'flows'} lose"
    assert f"{part(beside['total_share'] or 0)} of its total; {lose}" in printed
    assert "beside droptail, one run of each: " in printed


def test_a_flow_without_a_route_is_not_passed_over() -> None:
    """The flow that arrives has all of its rate, which says nothing of the one that has no route."""
    node = "[[node]]\nid = '{}'\nposition = ['{}', '0 m']\n".format
    flow = "[[flow]]\nid = '{0}'\nfrom = 'a'\nto = '{0}'\ntraffic = {{ kind = 'saturating' }}\n".format
    radio = "radio = { propagation = { model = 'two-ray', range = '250 m', carrier_sense = '550 m' } }\n"
    nodes = node("a", "0 m") + node("b", "20 m") + node("c", "90 km")
    head = f"name = 'apart'\nduration = '5 s'\n{radio}{nodes}"
    told = {
        flows: verdicts.run_lines(airfair.run(Scenario.parse(head + flows, "apart"), optimum=True)["verdict"])
        for flows in (flow("b"), flow("b") + flow("c"))
    }
    (alone,), (beside,) = told.values()
    assert beside == alone + "; 1 of 2 flows is not counted: it has no route, no traffic, or sends files"


def test_the_verdict_is_in_every_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of --json, of the folder, of the terminal and of the page are one."""
    monkeypatch.setenv("COLUMNS", "300")
    for scene, scheme, more in (
        (THREE_PAIRS, "red", SHORT),
        (OLSR, "red", ("--set", "duration=12 s", "--set", "warmup=5 s")),
        (MOVING[0], "vegas", MOVING[1:]),
    ):
        run = ("run", scene, "--scheme", scheme, *more)
        verdict = json_of(*run, "--optimum")["verdict"]
        folder, page = tmp_path / f"{scene.stem}", tmp_path / f"{scene.stem}.html"
        printed = command(*run, "--optimum", "--out", folder).stdout
        assert json.loads((folder / "run.json").read_text())["verdict"] == verdict
        assert airfair.Recording.load(folder).result["verdict"] == verdict
        lines = verdicts.run_lines(verdict)
        on_page = command(*run, "--optimum", "--report", page).stdout
        text = page.read_text().replace("&#39;", "'")
        for line in lines:
            assert line in printed
            assert line in on_page
            assert f"<strong>{line}.</strong>" in text
        assert text.count("<strong>") == len(lines), "no other verdict"
        assert ('<section id="optimum">' in text) is (verdict["by"] == "optimum")
        for assumed in verdict.get("assumed", []):
            assert f"<code>airfair optimum</code>, with {assumed}: the links" in text
        optimum = " --optimum" if verdict["by"] == "optimum" else ""
        assert f"airfair run {scene.stem}.toml --scheme {scheme} --seed 1{optimum}</pre>" in text


def test_a_page_of_a_run_says_what_the_terminal_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    page = tmp_path / "x.html"
    for run in (("run", THREE_PAIRS, *SHORT), ("run", *MOVING)):
        printed = command(*run, "--report", page).stdout
        (line,) = [line for line in printed.splitlines() if "what the air allows" in line]
        assert f"<strong>{line}.</strong>" in page.read_text()
        assert '<section id="optimum">' not in page.read_text()


EDCA = "radio.categories=edca"
"""Four categories, and DiffQ gives eight priorities."""


def test_what_schemes_need_is_checked_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=NEEDS):
        airfair.compare(
            PARKING,
            schemes=["droptail", "diffq:paper"],
            seeds=[1],
            overrides=EDCA,
            on_run=lambda: pytest.fail("a run"),
        )
    study = tmp_path / "study.toml"
    study.write_text(f'scenario = "{PARKING}"\nschemes = ["droptail", "diffq:paper[{EDCA}]"]\nseeds = [1]\n')
    done = command("sweep", study, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert f"{study}:2: schemes: node gw: scheme diffq:paper[{EDCA}] needs capabilities" in done.stderr
    assert not (tmp_path / "out").exists()


def test_every_scheme_that_lacks_something_is_named() -> None:
    schemes = ["diffq:paper", "droptail", "diffq-occupancy:paper"]
    with pytest.raises(InputError) as refused:
        airfair.compare(PARKING, schemes=schemes, seeds=[1], overrides=EDCA)
    assert [line.split(" needs")[0] for line in str(refused.value).splitlines()] == [
        "node gw: scheme diffq:paper",
        "node gw: scheme diffq-occupancy:paper",
    ]


def test_a_scheme_brings_what_it_needs_for_its_own_runs() -> None:
    """Drop-tail stays itself beside DiffQ, which has its categories."""
    short = ["duration=5 s", "warmup=1 s"]
    rows = airfair.compare(PARKING, schemes=["droptail", "diffq:paper"], seeds=[1], overrides=short)
    (alone,) = airfair.compare(PARKING, schemes=["droptail"], seeds=[1], overrides=short)
    (sorted_by,) = airfair.compare(
        PARKING, schemes=["diffq:paper"], seeds=[1], overrides=[*short, "radio.categories=diffq"]
    )
    goodput = "aggregate_goodput_bps"
    assert [row[goodput] for row in rows] == [alone[goodput], sorted_by[goodput]]  # type: ignore[literal-required]
    assert "settings" not in rows[0]
    assert rows[1]["settings"] == ['radio.categories="diffq"']
    assert "settings" not in sorted_by


def test_changes_of_a_row() -> None:
    """The runs of a row with changes are those of the scenario with the same values."""
    short = {"duration": "2 s", "warmup": "0 s", "radio.queue_packets": 50}
    rows = airfair.compare(
        THREE_PAIRS, schemes=["droptail", "red[queue=10]", "newreno+red[rts]"], seeds=[1], overrides=short
    )
    assert [row.get("settings") for row in rows] == [
        None,
        ["radio.queue_packets=10"],
        ["radio.rts_threshold=0 B"],
    ]
    # The scenario's flows have the law newreno of their own.
    for row, change in ((rows[1], {"radio.queue_packets": 10}), (rows[2], {"radio.rts_threshold": "0 B"})):
        (same,) = airfair.compare(THREE_PAIRS, schemes="red", seeds=[1], overrides=short | change)
        goodputs = [flow["goodput_bps"]["mean"] for flow in same["flows"]]
        assert [flow["goodput_bps"]["mean"] for flow in row["flows"]] == goodputs


@pytest.mark.parametrize(
    ("change", "named"),
    [("duration=4 s", "the duration"), ("warmup=500 ms", "the warm-up"), ("flow=[]", "the flows")],
)
def test_changes_that_make_runs_incomparable_are_refused_before_the_first(change: str, named: str) -> None:
    with pytest.raises(InputError, match=rf'^scheme "red\[{re.escape(change)}\]": changes {named}'):
        airfair.compare(
            THREE_PAIRS,
            schemes=["droptail", f"red[{change}]"],
            seeds=[1],
            overrides=["duration=2 s", "warmup=0 s"],
            on_run=lambda: pytest.fail("a run"),
        )


def test_categories_of_one_row_are_in_the_report(tmp_path: Path) -> None:
    for order in ("red[radio.categories=edca],droptail", "droptail,red[radio.categories=edca]"):
        page = tmp_path / "x.html"
        short = ("--seeds", "1", "--set", "duration=1 s", "--set", "warmup=0 s", "--report", page)
        done = command("compare", THREE_PAIRS, "--schemes", order, *short)
        assert done.returncode == 0, done.stderr
        assert "BE</td>" in page.read_text()


def test_values_that_the_name_of_a_row_does_not_show_are_above_the_tables(tmp_path: Path) -> None:
    report = tmp_path / "x.html"
    short = ("--seeds", "1", "--set", "duration=5 s", "--set", "warmup=1 s", "--report", report)
    schemes = "droptail,diffq:paper,red[rts; radio.queue_packets=9]"
    done = command("compare", PARKING, "--schemes", schemes, *short)
    assert 'diffq:paper alone has radio.categories="diffq"\n' in done.stdout
    assert "red[rts; radio.queue_packets=9] alone has radio.rts_threshold=0 B\n" in done.stdout
    text = report.read_text()
    assert "diffq:paper alone has <code>radio.categories=&#34;diffq&#34;</code>" in text
    assert f"--schemes &#39;{schemes}&#39;" in text.partition("<pre>")[2].partition("</pre>")[0]
    assert "flows win" in text


OWN = "red:radio.queue_packets=10"


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", THREE_PAIRS),
        ("compare", THREE_PAIRS),
        ("explain", THREE_PAIRS),
        ("check", THREE_PAIRS),
        ("trace", THREE_PAIRS),
        ("optimum", THREE_PAIRS),
        ("plot", THREE_PAIRS, "-o", "x.svg"),
        ("sweep", SCENARIOS / "studies" / "queue.toml"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_value_for_one_scheme_stands_in_brackets(arguments: tuple[str | Path, ...], tmp_path: Path) -> None:
    done = command(*arguments, "--set", OWN, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"--set {OWN}: a value for the runs of one scheme stands in brackets; "
        "expected red[radio.queue_packets=10] among the schemes\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_value_for_one_scheme_in_python() -> None:
    error = "a value for the runs of one scheme stands in brackets; expected "
    study = airfair.Study(name="s", scenario=THREE_PAIRS, schemes=["droptail", "red"], seeds=[1])
    for call in (
        lambda overrides: airfair.run(THREE_PAIRS, overrides=overrides),
        lambda overrides: airfair.compare(THREE_PAIRS, overrides=overrides),
        lambda overrides: airfair.explain(THREE_PAIRS, overrides=overrides),
        lambda overrides: airfair.record(THREE_PAIRS, overrides=overrides),
        lambda overrides: airfair.sweep(study, overrides=overrides),
    ):
        for overrides in ([OWN], OWN, {"red:radio.queue_packets": 10}):
            with pytest.raises(InputError, match=f"overrides: red:radio.queue_packets.*: {error}"):
                call(overrides)


def test_lost_routes_are_the_verdict() -> None:
    told = airfair.explain(OLSR, flow="u")
    result = airfair.run(OLSR)
    (kept,) = [flow for flow in result["routing"]["flows"] if flow["id"] == "u"]
    route = told["route"]
    # The result dates a change by a message's arrival, the explanation by the event that handled it: some
    # microseconds of propagation apart.
    assert route["without_ns"] / 1e9 == pytest.approx(kept["without_s"], abs=1e-4)
    assert sum(link["times"] for link in route["lost"]) == kept["lost"]
    assert f"had no route for {kept['without_s'] / 115:.0%}".replace("%", " %") in told["verdict"]
    assert "gets its share" not in told["verdict"]
    at_source = sum(d["packets"] for d in told["drops"] if (d["node"], d["reason"]) == ("n0", "no-route"))
    assert at_source > 10_000
    assert "it has no route" in told["reasons"][0]
    assert f"{at_source} at n0" in told["reasons"][0]
    assert not any("rts_threshold" in advice for advice in told["advice"])
    assert "--set olsr.metric=hops" in told["advice"][0]
    assert "--set routing.protocol=static" in told["advice"][0]


def test_the_advice_about_routes_helps() -> None:
    """Beside 110 and 191 kbit/s: RTS, which was the advice, gives less in all."""
    totals = {
        change: airfair.run(OLSR, overrides=[change])["aggregate_goodput_bps"]
        for change in ("duration=120 s", "olsr.metric=hops", "routing.protocol=static")
    }
    before, *after = totals.values()
    assert all(total > 2 * before for total in after), totals


def test_a_flow_far_below_its_max_min_rate_does_not_get_its_share() -> None:
    """All flows of OLSR's scene are alike and have little of what static routes would give them."""
    told = airfair.explain(OLSR, flow="v")
    assert told["optimum"] is not None
    assert told["optimum"]["assumed"] == ["static routes"]
    assert "with static routes" in told["optimum"]["words"]
    collapsed = airfair.explain(
        PARKING, flow="three-hops", scheme="diffq", overrides=["radio.categories=diffq"]
    )
    best = airfair.optimum(PARKING)
    rates = {flow["id"]: flow["max_min_bps"] for flow in best["flows"]}
    assert collapsed["optimum"] is not None
    share = collapsed["goodput_bps"] / rates["three-hops"]
    assert collapsed["optimum"]["share"] == pytest.approx(share)
    assert ("gets its share" in collapsed["verdict"]) == (collapsed["standing"] == "fair" and share >= 0.5)


def test_the_advice_about_a_short_queue_comes_first_and_helps() -> None:
    """Eight flows share the 20 packets of an access point, as in cells of Park, Kim and Choi (Globecom 2006).
    With room for the windows of all, 8 times 42 segments, nothing is dropped there, and all get the
    same."""
    told = airfair.explain(UPDOWN)
    words, change = told["advice"][0].split("\n")
    assert words.startswith("The queue of ap has room for 20 packets")
    assert change == "--set radio.queue_packets=400"
    before, after = airfair.run(UPDOWN), airfair.run(UPDOWN, overrides=[change.removeprefix("--set ")])
    assert before["min_goodput_bps"] < 0.01 * before["aggregate_goodput_bps"] / 8
    assert after["jain_index"] == pytest.approx(1, abs=1e-3)

"""Shares of the max-min optimum: in comparisons, on maps and in reports, and what explanations say of it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import airfair
import pytest
from airfair import InputError, Scenario, _core, experiment, plots, quantities
from airfair.explaining import show
from airfair.explaining.words import percent
from airfair.optimal.show import show as show_optimum
from airfair.results import always
from rich.console import Console

from tests.support import SCENARIOS, SHORT, THREE_PAIRS, json_of
from tests.support import airfair as command

NEW = {"optimum_share_min", "optimum_share_total"}
BRIEF = ["duration=3 s", "warmup=500 ms"]

WIRE = """
name = "wire"
duration = "4 s"
warmup = "1 s"
node = [{ id = "a" }, { id = "b" }]
[[link]]
ends = ["a", "b"]
rate = "1 Mbit/s"
[[flow]]
id = "bulk"
from = "a"
to = "b"
traffic = { kind = "saturating", packet = "1000 B" }
[[flow]]
id = "call"
from = "a"
to = "b"
traffic = { kind = "constant", rate = "100 kbit/s", packet = "1000 B" }
"""


def with_goodputs(goodputs: dict[str, float], run: str, idle: str, **more: object) -> str:
    """A run whose flows have these goodputs; `idle` is the one without traffic."""
    like = json.loads(run)["flows"][0]
    flows = [
        {
            **like,
            "id": flow,
            "goodput_bps": bps,
            "delivered_bytes": int(bps),
            "offered_bytes": 0 if flow == idle else None,
        }
        for flow, bps in goodputs.items()
    ]
    return json.dumps({**json.loads(run), "flows": flows, "stations": None, **more})


def estimate(mean: float, ci95: float | None = None) -> dict[str, Any]:
    return {"mean": pytest.approx(mean), "ci95": ci95 if ci95 is None else pytest.approx(ci95)}


def test_shares_by_hand() -> None:
    """Of 400 and 600 kbit/s the flows get 300 and 60: a tenth at least, 360 of 1000 in all. Flows without a
    route or without traffic do not count. The half-width of two values is 12.7062 times half their distance
    (Student's t with one degree of freedom)."""
    run = Scenario.parse(WIRE).run()
    best = {"a": 400e3, "b": 600e3, "idle": 1e6}

    def runs(scheme: str, *of_b: float) -> list[str]:
        return [
            with_goodputs(
                {"b": b, "lost": 0.0, "a": 300e3, "idle": 0.0}, run, "idle", scheme=scheme, seed=seed
            )
            for seed, b in enumerate(of_b, 1)
        ]

    (row,) = json.loads(_core.summarise([runs("x", 60e3)], max_min_bps=best))
    assert row["optimum_share_min"] == estimate(0.1)
    assert row["optimum_share_total"] == estimate(0.36)
    shares = {flow["id"]: flow["optimum_share"] for flow in row["flows"]}
    assert shares == {"a": estimate(0.75), "b": estimate(0.1), "lost": None, "idle": None}
    first, second = json.loads(
        _core.summarise([runs("x", 60e3, 120e3), runs("y", 120e3, 240e3)], max_min_bps=best)
    )
    assert first["optimum_share_min"] == estimate(0.15, 12.7062047 * 0.05)
    assert second["difference"]["optimum_share_min"] == estimate(0.15, 12.7062047 * 0.05)
    assert second["difference"]["optimum_share_total"] == estimate(0.09, 12.7062047 * 0.03)
    assert second["flows"][0]["difference"]["optimum_share"] == estimate(0.15, 12.7062047 * 0.05)
    # Nobody has a rate to be compared with.
    (none,) = json.loads(_core.summarise([runs("x", 60e3)], max_min_bps={"b": 0.0}))
    assert [none[key] for key in sorted(NEW)] == [None, None]


def test_a_wire_whose_rates_are_known() -> None:
    """A wire of 1 Mbit/s carries 1000 B of payload in packets of 1028 B, of which 100 kbit/s belong to the
    call; the drop-tail queue gives the call less than the bulk leaves it."""
    scenario = Scenario.parse(WIRE)
    payload = 1e6 * 1000 / 1028
    best = {flow["id"]: flow["max_min_bps"] for flow in airfair.optimum(scenario)["flows"]}
    assert best == {"bulk": pytest.approx(payload - 100e3), "call": pytest.approx(100e3)}
    (row,) = airfair.compare(scenario, seeds=[1], optimum=True)
    got = {flow["id"]: flow["goodput_bps"]["mean"] for flow in row["flows"]}
    assert sum(got.values()) == pytest.approx(payload, rel=0.01), "the wire is full"
    for flow in row["flows"]:
        assert flow["optimum_share"] == estimate(got[flow["id"]] / best[flow["id"]])
    assert row["optimum_share_min"] == estimate(min(got[flow] / best[flow] for flow in best))
    assert row["optimum_share_total"] == estimate(sum(got.values()) / payload)
    told = airfair.explain(scenario, flow="bulk")["optimum"]
    assert told is not None
    assert (told["bound"], told["clique"], told["wire"]) == ("wire", None, {"src": "a", "dst": "b"})
    assert told["words"].endswith("% of this), by the wire a → b.")


def test_flows_that_send_files_have_no_shares() -> None:
    """Four files of 10 kB/s on average are no hundredth of what the model lets the flow have."""
    scenario = Scenario.parse(
        WIRE
        + """
[[flow]]
id = "web"
from = "a"
to = "b"
transport = "tcp"
traffic = { kind = "web", size = "2 kB", pause = "500 ms" }
"""
    )
    best = {flow["id"]: flow for flow in airfair.optimum(scenario)["flows"]}
    assert {flow: best[flow]["sends_files"] for flow in best} == {"bulk": False, "call": False, "web": True}
    (row,) = airfair.compare(scenario, seeds=[1], optimum=True)
    shares = {flow["id"]: flow["optimum_share"] for flow in row["flows"]}
    got = {flow["id"]: flow["goodput_bps"]["mean"] for flow in row["flows"]}
    assert 0 < got["web"] < 0.1 * best["web"]["max_min_bps"]
    assert shares["web"] is None
    others = {flow: got[flow] / best[flow]["max_min_bps"] for flow in ("bulk", "call")}
    assert shares["bulk"] == estimate(others["bulk"])
    assert row["optimum_share_min"] == estimate(min(others.values()))
    told = airfair.explain(scenario, flow="web")["optimum"]
    assert told is not None
    assert "if it always had data" in told["words"]
    out = io.StringIO()
    show_optimum(airfair.optimum(scenario), Console(file=out, width=80))
    assert "always with data here, although files decide how much: web" in out.getvalue()


def test_rows_are_as_before_but_for_the_shares() -> None:
    options = ("compare", THREE_PAIRS, "--schemes", "droptail,red", "--seeds", "3", *SHORT, "--json")
    plain, beside = json_of(*options), json_of(*options, "--optimum")
    best = {flow["id"]: flow["max_min_bps"] for flow in airfair.optimum(THREE_PAIRS)["flows"]}
    total = sum(best.values())
    for row in beside:
        goodputs = {flow["id"]: flow["goodput_bps"]["mean"] for flow in row["flows"]}
        assert row["optimum_share_total"]["mean"] == pytest.approx(sum(goodputs.values()) / total)
        width = row["aggregate_goodput_bps"]["ci95"] / total
        assert row["optimum_share_total"]["ci95"] == pytest.approx(width)
        for flow in row["flows"]:
            share = flow.pop("optimum_share")
            assert share["mean"] == pytest.approx(goodputs[flow["id"]] / best[flow["id"]])
            del flow["difference"]["optimum_share"]
        for key in NEW:
            del row[key], row["difference"][key]
    assert [row | {"perf": None} for row in beside] == [row | {"perf": None} for row in plain]


def test_the_least_share_is_taken_run_by_run() -> None:
    """The mean of the least shares, not the least of the mean shares."""
    runs = [airfair.run(THREE_PAIRS, seed=seed, overrides=BRIEF) for seed in (1, 2, 3)]
    best = {flow["id"]: flow["max_min_bps"] for flow in airfair.optimum(THREE_PAIRS)["flows"]}
    least = [min(flow["goodput_bps"] / best[flow["id"]] for flow in run["flows"]) for run in runs]
    (row,) = airfair.compare(THREE_PAIRS, seeds=[1, 2, 3], overrides=BRIEF, optimum=True)
    share = row["optimum_share_min"]
    assert share is not None
    assert share["mean"] == pytest.approx(sum(least) / 3)


def test_a_share_is_a_statistic() -> None:
    reached = {"until_halfwidth": 1.0, "max_seeds": 10, "statistics": ["optimum_share_total"]}
    scenario = Scenario.parse(WIRE)
    (row,) = airfair.compare(scenario, seeds=range(10), optimum=True, **reached)  # type: ignore[arg-type]
    assert list(row["precision"]["relative_ci95"]) == ["optimum_share_total"]
    assert row["precision"]["met"]
    with pytest.raises(InputError, match='the statistic "optimum_share_total" goes with an optimum'):
        airfair.compare(scenario, seeds=range(10), **reached)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        ("drive-by", "nodes move; expected nodes at rest"),
        ("mesh-olsr", "routes are found during the run; expected static routes"),
        ("voice-beside-bulk", "stations have several access categories"),
        ("varying-links", "gains vary; expected no fading"),
    ],
)
def test_what_cannot_be_modelled_is_an_error_before_any_run(scene: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        airfair.compare(SCENARIOS / f"{scene}.toml", optimum=True, on_run=lambda: pytest.fail("a run"))


def test_rates_under_some_cliques_are_no_yardstick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many to list them all, nothing is run."""
    best = airfair.optimum(SCENARIOS / "grid-64-tcp.toml", clique_limit=1)
    assert not best["complete"]
    monkeypatch.setattr(experiment, "optimum_of", lambda _scenario, **_more: best)
    with pytest.raises(InputError, match=r"too many cliques of conflicting links .* were\)"):
        airfair.compare(THREE_PAIRS, optimum=True, on_run=lambda: pytest.fail("a run"))


def test_tables_have_two_columns_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in ("", "80"):
        monkeypatch.setenv("COLUMNS", width)
        options = ("compare", THREE_PAIRS, "--schemes", "droptail,red", "--seeds", "3", *SHORT)
        told, plain = command(*options, "--optimum").stdout, command(*options).stdout
        assert told.count("least share") == told.count("share of sum") == 2, "means and differences"
        assert plain.count("least share") == 1, "they are cheap here, and in the verdict"
        assert re.search(r"Shares of the max-min\s+rates", told)
        if width:
            assert all(len(line) <= 80 for line in told.splitlines())


def test_a_table_says_why_it_has_no_shares() -> None:
    options = ("--seeds", "1", "--set", "duration=3 s", "--set", "warmup=1 s", "--optimum")
    told = command("compare", SCENARIOS / "short-flows.toml", *options).stdout
    assert "No flow has a share of its max-min rate" in told
    assert "least share" not in told


def test_columns_of_frames_and_bars() -> None:
    rows = airfair.compare(Scenario.parse(WIRE), schemes=["droptail", "red"], seeds=[1, 2], optimum=True)
    frame = airfair.frame(rows)
    assert frame["optimum_share_min"][0] == rows[0]["optimum_share_min"]["mean"]  # type: ignore[index]
    assert "optimum_share_difference" in airfair.frame(rows, flows=True)
    plots.bars(rows, "optimum_share_min")
    plots.bars(rows, "flow.optimum_share")
    plots.scatter(rows, y="optimum_share_min")


def test_the_map_has_the_links_of_binding_cliques() -> None:
    """Three pairs, the middle one in both cliques: with TCP each link there and back, so four links each."""
    best = airfair.optimum(THREE_PAIRS)
    axes = plots.network(Scenario.read(THREE_PAIRS), optimum=best).axes[0]
    legend = axes.get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    bound = {flow["bound"]["clique"] for flow in best["flows"]}
    assert [text for text in words if text.startswith("clique")] == [f"clique {c}" for c in sorted(bound)]  # type: ignore[type-var]
    links = sum(len(best["cliques"][c]["links"]) for c in bound if c is not None)
    assert len(axes.patches) == links
    assert not any("flow" in text for text in words)


def test_a_report_has_a_part_of_the_optimum(tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    options = ("--schemes", "droptail,red", "--seeds", "3", *SHORT)
    assert command("compare", THREE_PAIRS, *options, "--optimum", "--report", file).returncode == 0
    text = file.read_text()
    part = text.partition('<section id="optimum">')[2].partition("</section>")[0]
    assert '<div class="picture" id="optimum"' in part or 'id="optimum" role="img"' in part
    best = airfair.optimum(THREE_PAIRS)
    for flow in best["flows"]:
        assert f'<th scope="row">{flow["id"]}</th>' in part
        assert f"<td>{quantities.rate(flow['max_min_bps'])}</td>" in part
    assert "<li>clique 0, 4 links of 4 senders: a1\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}b1," in part
    assert "--optimum" in text.partition("<pre>")[2].partition("</pre>")[0], "the command that repeats it"
    airfair.compare(THREE_PAIRS, seeds=[1], overrides=BRIEF, report=file)
    assert '<section id="optimum">' not in file.read_text()


def test_an_explanation_names_the_clique() -> None:
    told = airfair.explain(THREE_PAIRS, flow="middle", overrides=BRIEF)
    best = airfair.optimum(THREE_PAIRS)
    flow = next(flow for flow in best["flows"] if flow["id"] == "middle")
    found = told["optimum"]
    assert found is not None
    assert told["optimum_reason"] is None
    clique = flow["bound"]["clique"]
    assert (found["bound"], found["clique"], found["senders"]) == ("clique", clique, 4)
    assert found["max_min_bps"] == flow["max_min_bps"]
    assert {"src": "a2", "dst": "b2"} in found["links"]
    side = "1" if {"src": "a1", "dst": "b1"} in found["links"] else "3"
    share = percent(told["goodput_bps"] / flow["max_min_bps"])
    best_rate = quantities.rate(flow["max_min_bps"])
    assert found["words"] == (
        f"By the model of `airfair optimum` the flow could have {best_rate} "
        f"(it has {share} of this); its links share the air with a{side} → b{side} and "
        f"b{side} → a{side}, of which one can be used at a time (4 senders)."
    )
    out = io.StringIO()
    show.show(told, Console(file=out, width=80))
    assert found["words"] in " ".join(out.getvalue().split())
    assert all(len(line) <= 80 for line in out.getvalue().splitlines())


def test_an_explanation_says_why_there_is_no_optimum() -> None:
    told = airfair.explain(SCENARIOS / "drive-by.toml", overrides=BRIEF)
    assert told["optimum"] is None
    assert told["optimum_reason"] == "there is no optimum: nodes move; expected nodes at rest"


def test_a_flow_that_takes_no_air_has_no_optimum() -> None:
    late = airfair.explain(Scenario.parse(WIRE + 'stop = "500 ms"\n'), flow="call")
    assert late["optimum_reason"] == "there is no optimum: the flow is not active in the measured time"
    lost = WIRE.replace('{ id = "b" }', '{ id = "b" }, { id = "c" }') + 'stop = "end"\n'
    lost = lost.replace('to = "b"\ntraffic = { kind = "constant"', 'to = "c"\ntraffic = { kind = "constant"')
    away = airfair.explain(Scenario.parse(lost), flow="call")
    assert away["optimum_reason"] == "there is no optimum: the flow has no route"


def test_a_flow_within_its_demand() -> None:
    call = airfair.explain(Scenario.parse(WIRE), flow="call")["optimum"]
    assert call is not None
    assert call["bound"] == "demand"
    assert call["words"].endswith("of this), all that it offers.")


def test_keys_that_every_row_has() -> None:
    assert NEW.isdisjoint(always(airfair.results.Differences))
    assert set(airfair.results.Differences.__annotations__) - set(always(airfair.results.Differences)) == NEW

"""The suite: its scenes, worlds drawn at random, what constant rates carry, the rule, the command."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import airfair
import pytest
from airfair import InputError, Scenario
from airfair.results import Estimate
from airfair.suite import heldout, judging
from airfair.suite.carried import at_part, carried
from airfair.suite.judging import Judgement, Row
from airfair.suite.scenes import Scene, Suite, held_out, read_suite

from tests.support import ROOT, json_of
from tests.support import airfair as command

SUITE = ROOT / "scenarios" / "suite" / "suite.toml"

PAIR = """
name = "pair"
duration = "4 s"
warmup = "1 s"
[radio]
standard = "802.11b"
data_rate = "11 Mbit/s"
[[node]]
id = "a"
position = ["0 m", "0 m"]
[[node]]
id = "b"
position = ["20 m", "0 m"]
[[node]]
id = "c"
position = ["0 m", "20 m"]
[[flow]]
id = "ab"
from = "a"
to = "b"
transport = "tcp"
traffic = { kind = "ftp" }
[[flow]]
id = "cb"
from = "c"
to = "b"
transport = "tcp"
traffic = { kind = "ftp" }
"""

ONE = """
name = "one"
[[scene]]
id = "pair"
file = "pair.toml"
about = "Two stations that send to a third one"
judged = "optimum"
[take_it_when]
nred = ["pair"]
"""


@pytest.fixture
def one(tmp_path: Path) -> Path:
    (tmp_path / "pair.toml").write_text(PAIR)
    file = tmp_path / "suite.toml"
    file.write_text(ONE)
    return file


def test_the_lists_are_those_that_stood_before_any_scheme_was_tuned() -> None:
    assert read_suite(SUITE).take_it_when == {
        "nred": ["three-pairs", "exposed-terminal", "gateway"],
        "diffq": ["gateway", "four-gateways", "leipzig"],
        "c3l": ["three-pairs", "gateway", "access-point", "exposed-terminal"],
        "qfcp": ["access-point", "cell", "mixed-path"],
        "lbm": ["access-point", "cell", "mixed-path"],
    }


@pytest.mark.parametrize("scene", read_suite(SUITE).scenes, ids=lambda scene: scene.identity)
def test_a_scene_is_a_scenario_without_warnings_in_which_every_flow_has_a_way(scene: Scene) -> None:
    scenario = scene.scenario()
    assert scenario.warnings == []
    assert set(scene.calls) <= set(scenario.flows)
    network = airfair.network(scenario)
    assert "routing" in network or all(flow["path"] for flow in network["flows"])


def test_maps_name_their_licence_and_the_command_that_made_them() -> None:
    licence = (SUITE.parent / "LICENSE-maps").read_text()
    for name, owner in (
        ("leipzig", "Moritz Warning"),
        ("bielefeld", "Moritz Warning"),
        ("nycmesh", "Mesh Center"),
    ):
        head = (SUITE.parent / f"{name}.toml").read_text().partition("\nname =")[0]
        assert f"copyright\n# 2020 {owner}" in head or f"copyright 2020 {owner}" in head
        assert "LICENSE-maps" in head
        assert "--largest --flows 12" in head
        assert f"{name}.toml" in licence
        assert f"Copyright (c) 2020 {owner}" in licence


def test_a_world_is_a_function_of_its_number() -> None:
    worlds = [heldout.world(number) for number in range(1, heldout.WORLDS + 1)]
    assert [world.name for world in worlds] == heldout.names() == [f"heldout-{n:02d}" for n in range(1, 31)]
    drawn = [[world.to_dict()[key] for key in ("radio", "node", "flow")] for world in worlds]
    # Another digest means other worlds: then whatever was said of the old ones has to be said anew.
    digest = hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()
    assert digest[:16] == "ab25fbe88e6fc97f"
    assert len({json.dumps(one) for one in drawn}) == heldout.WORLDS


def test_every_flow_of_a_world_has_a_way_and_transfers_go_up_and_down() -> None:
    up = down = wired = 0
    for scene in held_out().scenes:
        scenario = scene.scenario()
        assert all(flow["path"] for flow in airfair.network(scenario)["flows"]), scene.identity
        tables = scenario.to_dict()
        wired += "link" in tables
        up += sum(flow["to"].startswith("server") for flow in tables["flow"])
        down += sum(flow["from"].startswith("server") for flow in tables["flow"])
    assert min(up, down) > 30
    assert 10 < wired < heldout.WORLDS


@pytest.mark.parametrize(
    ("tcp", "data", "back", "rate_of_data", "rate_of_back"),
    [
        # 1460 B of payload, 20 B of TCP's header, 8 B of which are UDP's: 1472 B. At 1.46 Mbit/s of payload
        # 125 packets/s, and half as many acknowledgements of 20 - 8 B.
        ("", "1472 B", "12 B", 1_472_000, 6_000),
        # 12 B of the segment are timestamps, of an acknowledgement too: 125 * 1460 / 1448 packets/s.
        ('profile = "linux"', "1472 B", "24 B", 1_484_199, 12_099),
        # Each segment has its acknowledgement.
        ('delayed_ack = "off"', "1472 B", "12 B", 1_472_000, 12_000),
    ],
)
def test_constant_rates_have_the_packets_of_tcp(
    tcp: str, data: str, back: str, rate_of_data: int, rate_of_back: int
) -> None:
    scenario = Scenario.parse(f"{PAIR}\n[tcp]\n{tcp}\n")
    flows = {
        flow["id"]: flow for flow in at_part(scenario, {"ab": 2.92e6, "cb": 2.92e6}, 0.5).to_dict()["flow"]
    }
    there, answer = flows["ab"], flows["ab, acknowledgements"]
    assert (there["from"], there["to"], answer["from"], answer["to"]) == ("a", "b", "b", "a")
    assert {flow["transport"] for flow in flows.values()} == {"udp"}
    assert (there["traffic"]["packet"], answer["traffic"]["packet"]) == (data, back)
    rates = [int(flow["traffic"]["rate"].removesuffix(" bit/s")) for flow in (there, answer)]
    assert rates == [rate_of_data, rate_of_back]


def test_constant_rates_carry_half_of_twice_the_optimum() -> None:
    scenario = Scenario.parse(PAIR)
    best = {flow["id"]: flow["max_min_bps"] for flow in airfair.optimum(scenario)["flows"]}
    whole = carried(scenario, best)
    assert whole.part >= 0.95
    twice = carried(scenario, {flow: 2 * rate for flow, rate in best.items()})
    assert twice.part == pytest.approx(whole.part / 2, abs=0.05)
    # A full air carries about half of twice the optimum.
    assert twice.arrives[1.0].total == pytest.approx(0.5, abs=0.05)


def test_what_a_link_loses_however_little_is_sent_is_not_held_against_constant_rates() -> None:
    # Two attempts of a packet, each lost with 0.3: of any load 0.09 is lost, more than ENOUGH allows.
    lossy = 'data_rate = "11 Mbit/s"\nframe_loss = 0.3\nshort_retry_limit = 2'
    scenario = Scenario.parse(PAIR.replace('data_rate = "11 Mbit/s"', lossy).replace("4 s", "30 s"))
    found = carried(scenario, dict.fromkeys(("ab", "cb"), 5e5))
    assert found.part == 1.0
    assert found.arrives[1.0].total == pytest.approx(0.91, abs=0.01)


@pytest.mark.parametrize(
    ("line", "by", "message"),
    [
        (
            'judged = "optimum"',
            'judged = "optimal"',
            r':7: scene\.1\.judged: "optimal"; did you mean "optimum"\?',
        ),
        ('file = "pair.toml"', 'file = "no.toml"', r":5: scene\.1\.file: .*no\.toml: no such file"),
        ('nred = ["pair"]', 'nred = ["pairs"]', r':9: take_it_when\.nred: there is no scene "pairs"'),
        ('judged = "optimum"', 'judged = "voice"', r":3: scene\.1\.calls: expected the ids of calls exactly"),
        ('id = "pair"', "id = 3", r":4: scene\.1\.id: no text; expected a text"),
        ('id = "pair"', 'id = "a/b"', r":4: scene\.1\.id: expected a name without /"),
        ('name = "one"', 'nome = "one"', r":2: nome: unknown key; did you mean"),
    ],
)
def test_a_mistake_in_a_suite_is_named_with_its_line(one: Path, line: str, by: str, message: str) -> None:
    one.write_text(ONE.replace(line, by))
    with pytest.raises(InputError) as error:
        read_suite(one)
    assert re.search(re.escape(str(one)) + message, str(error.value)), str(error.value)


def estimate(mean: float, ci95: float = 0.01) -> Estimate:
    return {"mean": mean, "ci95": ci95}


def row(least: float, total: float, change: float = 0.0, ci95: float = 0.01, **more: object) -> Row:
    made: Row = {
        "scheme": "x",
        "runs": 10,
        "least": estimate(least),
        "total": estimate(total),
        "change": estimate(change, ci95),
        "p99_s": estimate(0.02),
        "p99_change_s": None,
        "control_bps": 0.0,
        "messages_per_s": 0.0,
        "won": 0,
        "lost": 0,
        "verdict": "baseline",
        "breaks": [],
        "reasons": [],
    }
    return made | more  # type: ignore[return-value]


SCENE = Scene("scene", Path(), "", "optimum")
CALL = Scene("call", Path(), "", "voice", ("call",))


@pytest.mark.parametrize(
    ("before", "after", "verdict", "reason"),
    [
        # Drop-tail with a least share of 0.1 and a total of 1.2.
        ((0.1, 1.2), row(0.1, 1.2), "pass", ""),
        ((0.1, 1.2), row(0.07, 1.2, -0.03, 0.019), "pass", ""),
        ((0.1, 1.2), row(0.07, 1.2, -0.03, 0.021), "unclear", "may fall by 0.05"),
        ((0.1, 1.2), row(0.04, 1.2, -0.06, 0.001), "harm", "may fall by 0.06"),
        # A wide interval takes no more than there is.
        ((0.04, 1.2), row(0.08, 1.2, 0.04, 0.2), "pass", ""),
        ((0.06, 1.2), row(0.1, 1.2, 0.04, 0.2), "unclear", "may fall by 0.06"),
        ((0.1, 1.2), row(0.15, 1.141, 0.05), "pass", ""),  # 0.95 of 1.2 is 1.14
        ((0.1, 1.2), row(0.15, 1.139, 0.05), "harm", "the total is 0.95 of drop-tail's"),
        ((0.1, 1.2), row(0.2, 0.71, 0.1), "help", ""),
        ((0.1, 1.2), row(0.2, 0.69, 0.1), "harm", "the total is 0.69 of the reference, less than 0.7"),
        ((0.1, 1.2), row(0.2, 0.9, 0.1, 0.11), "pass", ""),  # not clear that anything has changed
        ((0.019, 1.2), row(0.12, 0.51, 0.101), "help", ""),
        ((0.019, 1.2), row(0.12, 0.49, 0.101), "harm", "less than 0.5"),
        ((0.021, 1.2), row(0.13, 0.69, 0.109), "harm", "less than 0.7"),
    ],
)
def test_the_rule(before: tuple[float, float], after: Row, verdict: str, reason: str) -> None:
    judging.apply_rule(SCENE, after, row(*before))
    assert after["verdict"] == verdict
    assert reason in " ".join(after["reasons"])
    assert bool(reason) == bool(after["reasons"])
    limits = ["least"] if "may fall" in reason else ["total"] if reason else []
    assert after["breaks"] == limits


@pytest.mark.parametrize(
    ("later", "verdict"),
    # A twentieth of 150 ms is 7.5 ms.
    [
        (estimate(0.004, 0.0034), "pass"),
        (estimate(0.004, 0.0036), "unclear"),
        (estimate(0.0076, 0.0), "harm"),
        (None, "harm"),
    ],
)
def test_a_call_is_judged_by_its_delay(later: Estimate | None, verdict: str) -> None:
    after = row(0.5, 1.0, p99_change_s=later)
    judging.apply_rule(CALL, after, row(0.5, 1.0))
    assert (after["verdict"], after["breaks"]) == (verdict, [] if verdict == "pass" else ["call"])


def test_a_call_that_is_surely_late_decides_beside_one_that_may_be_later() -> None:
    sure, perhaps = estimate(0.008, 0.0001), estimate(0.004, 0.01)
    assert judging._worst([perhaps, sure]) == sure
    assert judging._worst([perhaps, estimate(0.001, 0.0)]) == perhaps
    assert judging._worst([sure, None]) is None


def judged(name: str, **rows: Row) -> Judgement:
    whole = {scheme: made | {"scheme": scheme} for scheme, made in rows.items()}
    return {
        "scene": name,
        "about": "",
        "judged": "optimum",
        "reference_bps": {"f": 1.0},
        "carried": 1.0,
        "assumed": [],
        "rows": [row(0.1, 1.0, scheme="droptail"), *whole.values()],
    }


def test_on_a_tenth_of_the_worlds_a_scheme_may_break_the_rule() -> None:
    bad = row(0.0, 0.1, verdict="harm", reasons=["falls"])
    good = row(0.2, 1.0, verdict="pass")

    def broken(harms: int) -> list[str]:
        kinds = [bad, bad | {"verdict": "unclear"}]
        worlds = [judged(f"w{n}", x=kinds[n % 2] if n < harms else good) for n in range(30)]
        return judging.failures(worlds, held_out())

    assert broken(3) == []
    assert broken(4)[-1] == "x: keeps the rule on 26 of 30 worlds, fewer than 90 %"
    assert broken(4)[:-1] == [f"w{n}, x: falls" for n in range(4)]


def test_a_claim_that_is_not_kept_breaks_the_rule() -> None:
    suite = Suite("some", [SCENE], {})
    kept = judged("scene", x=row(0.5, 1.0, 0.4, verdict="help", claim=True))
    missed = judged("scene", x=row(0.25, 1.0, 0.15, verdict="help", claim=False))
    assert judging.failures([kept], suite) == []
    assert judging.failures([missed], suite) == [
        "scene, x: claims to help, and the least share changes by +0.15, less than +0.2"
    ]


def test_a_suite_says_what_a_comparison_says_and_repeats_nothing(one: Path, tmp_path: Path) -> None:
    schemes = "nred:paper"
    words = ("suite", one, "--schemes", schemes, "--seeds", "2", "--out", tmp_path / "out", "--jobs", "1")
    found = json_of(*words)
    compared = json_of(
        "compare", tmp_path / "pair.toml", "--schemes", "droptail,nred:paper", "--seeds", "2", "--optimum"
    )
    (scene,) = found["scenes"]
    assert [row["scheme"] for row in scene["rows"]] == found["schemes"] == ["droptail", "nred:paper"]
    for mine, theirs in zip(scene["rows"], compared, strict=True):
        assert mine["least"] == pytest.approx(theirs["optimum_share_min"])
        assert mine["total"] == pytest.approx(theirs["optimum_share_total"])
        assert mine["p99_s"] == theirs["p99_flow_delay_s"]
    assert scene["rows"][1]["change"] == pytest.approx(compared[1]["difference"]["optimum_share_min"])
    assert scene["rows"][1]["won"] == compared[1]["beside"]["won"]
    assert scene["rows"][1]["messages_per_s"] > 0
    assert scene["reference_bps"] == {
        flow["id"]: flow["max_min_bps"] for flow in airfair.optimum(tmp_path / "pair.toml")["flows"]
    }
    runs = tmp_path / "out" / "pair" / "runs" / "part-000001.parquet"
    optimum = next((tmp_path / "out" / "optima").iterdir())
    before = runs.read_bytes(), optimum.stat().st_mtime_ns
    assert json_of(*words) == found
    assert (runs.read_bytes(), optimum.stat().st_mtime_ns) == before
    more = json_of(*words[:3], "droptail,nred:paper,red", *words[4:])
    assert more["scenes"][0]["rows"][:2] == scene["rows"]
    kept = set(airfair.load_sweep(tmp_path / "out" / "pair").runs["perf_wall_s"])
    first = set(
        airfair.sweeping.reading.load_sweep(tmp_path / "out" / "pair").arrow("runs")["scheme"].to_pylist()
    )
    assert (len(kept), first) == (6, {"droptail", "nred:paper", "red"})


def test_the_check_names_what_breaks_the_rule_and_fails(one: Path, tmp_path: Path) -> None:
    # Nothing starves in this cell, so a scheme that claims to rescue somebody cannot keep its claim.
    words = ("suite", one, "--schemes", "nred", "--seeds", "2", "--out", tmp_path / "out", "--check")
    done = command(*words)
    assert done.returncode == 1
    assert "below its claim" in done.stdout
    assert "pair, nred: claims to help, and the least share changes by" in done.stdout
    one.write_text(ONE.partition("[take_it_when]")[0])
    droptail = command(
        "suite", one, "--schemes", "cubic", "--seeds", "2", "--out", tmp_path / "out", "--check"
    )
    assert ("The rule holds." in droptail.stdout) == (droptail.returncode == 0)


def test_mistakes_are_found_before_the_first_run(one: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("suite", one, "--schemes", "nred,bred", "--out", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert 'there is no scheme "bred"; did you mean "red"?' in done.stderr
    done = command("suite", one, "--scenes", "pear", "--out", out)
    assert (done.returncode, done.stderr) == (2, 'there is no scene "pear"; did you mean "pair"?\n')
    done = command("suite", one, "--heldout")
    assert done.returncode == 2
    assert "--heldout has worlds of its own" in done.stderr
    done = command("suite", cwd=tmp_path)
    assert done.returncode == 2
    assert "scenarios/suite/suite.toml: no such file" in done.stderr
    assert not out.exists()


def test_settings_of_a_row_and_of_all_rows(one: Path, tmp_path: Path) -> None:
    words = ("suite", one, "--schemes", "diffq:paper,nred[rts]", "--seeds", "2", "--out", tmp_path / "out")
    own = json_of(*words, "--set", "radio.queue_packets=20")
    usual = json_of("suite", one, "--schemes", "red", "--seeds", "2", "--out", tmp_path / "other")
    assert [row["scheme"] for row in own["scenes"][0]["rows"]] == ["droptail", "diffq:paper", "nred[rts]"]
    assert own["set"] == ["radio.queue_packets=20"]
    # The optimum is that of the file, whatever the rows change.
    assert own["scenes"][0]["reference_bps"] == usual["scenes"][0]["reference_bps"]
    assert own["scenes"][0]["rows"][0]["least"] != usual["scenes"][0]["rows"][0]["least"]


def test_after_a_signal_the_same_command_does_the_rest(one: Path, tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(PAIR.replace("4 s", "30 s"))
    out = tmp_path / "out"
    words = ("suite", str(one), "--schemes", "red,nred", "--seeds", "8", "--jobs", "1", "--json", "--out")
    running = subprocess.Popen(
        [sys.executable, "-m", "airfair", *words, str(out)], stderr=subprocess.PIPE, text=True
    )
    # 24 runs, one after the other: the driver is stopped when the first of them stands in the journal.
    while running.poll() is None and not (out / "pair" / "journal.jsonl").exists():
        time.sleep(0.01)
    while running.poll() is None and not (out / "pair" / "journal.jsonl").stat().st_size:
        time.sleep(0.01)
    running.terminate()
    _, errors = running.communicate()
    assert running.returncode == 143
    assert errors == f"airfair: terminated; finished runs are kept in {out}; the same command does the rest\n"
    kept = airfair.load_sweep(out / "pair").runs
    assert 1 <= len(kept) < 24
    whole = json_of(*words[:-2], "--out", out)
    after = airfair.load_sweep(out / "pair").runs.set_index("run")
    assert len(after) == 24
    assert list(after.loc[kept["run"], "perf_wall_s"]) == list(kept["perf_wall_s"]), "no run was repeated"
    assert json_of(*words[:-2], "--out", tmp_path / "undisturbed") == whole

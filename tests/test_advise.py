"""`airfair advise` and `explain --try`: the race, the goals, half of the nodes, and advice that has to
help."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import airfair
import pytest
from airfair import InputError, Scenario, results, selections
from airfair.advising import half, options, show, trying
from airfair.advising.candidate import Candidate, Option, Space, beside
from airfair.advising.goals import Goal, Run, read_run
from airfair.advising.race import Race
from airfair.advising.running import Clock, _shortened, fitting
from airfair.explaining.result import Explanation
from airfair.results import Advised, Estimate

from tests.support import ROOT, SCENARIOS, THREE_PAIRS
from tests.support import airfair as command
from tests.test_contract import declared, differences

CASES = Path(__file__).parent / "advise"
MESH = ROOT / "crates" / "scenario" / "tests" / "import" / "meshviewer.json"

RTS, WINDOW, SCHEME, LAW, ECN = (
    Option("radio", changes=("rts",)),
    Option("window", changes=("window=4",)),
    Option("system", "diffq"),
    Option("law", "cubic"),
    Option("ecn", changes=("ecn",)),
)

CABLE = """
name = "cable"
duration = "4 s"
warmup = "1 s"
[[node]]
id = "a"
[[node]]
id = "b"
[[link]]
ends = ["a", "b"]
rate = "10 Mbit/s"
delay = "1 ms"
[[flow]]
id = "f"
from = "a"
to = "b"
transport = "tcp"
traffic = { kind = "ftp" }
"""
"""A flow that has a cable to itself: nothing is to be cured."""


def short(file: Path, duration: str = "20 s") -> Scenario:
    return Scenario.read(file, [f"duration={duration}", "warmup=2 s"])


LENGTHS = {"updown": "15 s", "olsrload": "30 s", "parking": "15 s"}


@cache
def case(name: str) -> tuple[Scenario, results.Advice]:
    """A case and the advice on it."""
    scenario = short(CASES / f"{name}.toml", LENGTHS[name])
    return scenario, airfair.advise(scenario, runs=24)


# ---- Sets of changes ----


def test_the_text_of_a_set_is_a_selection_in_the_order_of_its_parts() -> None:
    today = Candidate("droptail")
    assert today.text == "droptail"
    one = today.having(WINDOW, LAW, RTS, Option("discipline", "fq-codel"))
    assert one.text == "cubic+fq-codel[rts; window=4]"
    assert selections.read(one.text).name == one.text
    assert today.having(RTS).having(WINDOW) == today.having(WINDOW).having(RTS)
    assert one.burden == 4
    assert one.without("law").text == "fq-codel[rts; window=4]"


def test_sets_beside_one_differ_in_one_part() -> None:
    wide = Option("window", changes=("window=8",))
    found = list(beside(Candidate("droptail").having(RTS, WINDOW), [RTS, WINDOW, wide, SCHEME]))
    assert [candidate.text for candidate in found] == [
        "droptail[window=4]",
        "droptail[rts]",
        "droptail[rts; window=8]",
        "diffq[rts; window=4]",
    ]


def test_every_option_of_a_scenario_can_run_or_has_a_reason() -> None:
    scenario = Scenario.read(THREE_PAIRS)
    found, refused = options.space(scenario, "droptail")
    for candidate in found.first():
        scenario.check_scheme(candidate.text)
    names = {name for name, _ in refused}
    assert {"data rates", "more"} <= names
    assert not names & {option.name for option in found.options}


def test_a_network_with_a_scheme_may_do_without() -> None:
    found, refused = options.space(Scenario.read(THREE_PAIRS), "nred")
    assert "droptail" in [candidate.text for candidate in found.first()]
    assert "nred[rts]" in [candidate.text for candidate in found.first()]
    assert "nred" not in [name for name, _ in refused]


def test_a_network_of_cables_has_no_settings_of_radios() -> None:
    found, _ = options.space(Scenario.parse(CABLE), "droptail")
    assert not {"radio", "queue"} & {option.part for option in found.options}


# ---- The race, over runs that are made up ----


def made_up(
    scores: dict[str, float], noise: float = 0.0
) -> Callable[[Sequence[tuple[Candidate, int]]], list[Run]]:
    """Runs whose least share depends on the set; another total tells every set from every other."""

    def run(cells: Sequence[tuple[Candidate, int]]) -> list[Run]:
        return [one(candidate, seed) for candidate, seed in cells]

    def one(candidate: Candidate, seed: int) -> Run:
        least = scores.get(candidate.text, 0.0) + noise * ((7 * seed + len(candidate.text)) % 5 - 2)
        spread = sum(map(ord, candidate.text)) / 1e6
        return Run(least, 1.0, spread, 0.1, 0.0, {"f": least}, {"f": spread})

    return run


def race(
    scores: dict[str, float], most: int | None, noise: float = 0.0
) -> tuple[Race, list[tuple[str, int]]]:
    seen: list[tuple[str, int]] = []
    run = made_up(scores, noise)

    def noted(cells: Sequence[tuple[Candidate, int]]) -> list[Run]:
        seen.extend((candidate.text, seed) for candidate, seed in cells)
        return run(cells)

    space = Space("droptail", [RTS, WINDOW, SCHEME, LAW, ECN])
    first = run([(space.today, 1)])
    raced = Race(space, Goal("fair").limited(first), lambda _: False, noted, first, most)
    raced.run_to_end()
    return raced, seen


TRIPLE = {"droptail[rts]": 0.4, "droptail[rts; window=4]": 0.43, "diffq[rts; window=4]": 0.6}
"""As on a real map: alone the scheme is worse than nothing, and with both settings it wins."""


def test_the_race_finds_three_changes_that_help_only_together() -> None:
    raced, _ = race(TRIPLE, 60, noise=0.002)
    assert raced.helpful()[0].candidate.text == "diffq[rts; window=4]"
    assert raced.count <= 60


def test_a_smaller_number_of_runs_is_the_beginning_of_a_larger_one() -> None:
    _, all_of_them = race(TRIPLE, 60, noise=0.002)
    for most in (8, 17, 40):
        raced, seen = race(TRIPLE, most, noise=0.002)
        assert seen == all_of_them[: most - 1]  # today's first run is not the race's
        assert raced.count == most


def test_what_is_clearly_behind_gets_no_more_seeds() -> None:
    raced, _ = race(TRIPLE, 200, noise=0.002)
    winner = raced.racers[raced.ranked()[0].candidate]
    behind = [racer for racer in raced.racers.values() if racer.out == "behind"]
    assert behind
    assert all(len(racer.runs) < len(winner.runs) for racer in behind)


def test_an_option_without_effect_is_not_combined_for_ever() -> None:
    def run(cells: Sequence[tuple[Candidate, int]]) -> list[Run]:
        """ECN changes nothing."""
        return made_up(TRIPLE)([(candidate.without("ecn"), seed) for candidate, seed in cells])

    space = Space("droptail", [RTS, WINDOW, SCHEME, LAW, ECN])
    first = run([(space.today, 1)])
    raced = Race(space, Goal("fair").limited(first), lambda _: False, run, first, 100)
    raced.run_to_end()
    with_ecn = [racer for candidate, racer in raced.racers.items() if candidate.of("ecn")]
    assert with_ecn
    assert {racer.out for racer in with_ecn} == {"same"}
    assert not any(racer.candidate.of("ecn") for racer in raced.helpful())
    assert len(with_ecn) < sum(candidate.of("ecn") is None for candidate in raced.racers)


# ---- Goals ----


def made(least: float, total: float) -> Run:
    return Run(least, total, 0.0, 0.0, 0.0, {}, {})


def test_shares_of_a_run_by_hand() -> None:
    flows = [
        {"id": "a", "goodput_bps": 100.0, "p99_delay_s": 0.2, "loss_ratio": 0.0},
        {"id": "b", "goodput_bps": 30.0, "p99_delay_s": None, "loss_ratio": 0.5},
    ]
    text = json.dumps({"duration_s": 60.0, "flows": flows})
    run = read_run(text, {"a": 50.0, "b": 60.0}, ["b"])
    assert run.least == 0.5  # b has 30 of 60
    assert run.total == pytest.approx(130 / 110)
    assert run.spread == 0.75  # a counts as 1
    assert run.p99_s == pytest.approx(30.1)  # b delivers nothing in time: as late as the run is long
    assert run.call_s == 1.0  # more than 1 % is lost


def test_the_limit_of_the_total_holds_for_what_is_sure() -> None:
    goal = Goal("fair").limited([made(0.0, 1.2)])
    assert goal.least_total == 0.7
    assert goal.broken([made(0.6, 0.7)]) is None
    assert goal.broken([made(0.6, 0.69)]) == "total"
    # The mean is 0.72, its standard error 0.03: sure is 0.69.
    assert goal.broken([made(0.6, 0.69), made(0.6, 0.75)]) == "total"
    assert goal.broken([made(0.6, 0.75), made(0.6, 0.77)]) is None
    # The mean is 0.68, its standard error 0.03: it may be 0.71, and is worth another run.
    doubtful = [made(0.6, 0.65), made(0.6, 0.71)]
    assert goal.broken(doubtful) == "total"
    assert goal.broken(doubtful, doubt=True) is None


def test_where_today_has_little_a_change_keeps_most_of_it() -> None:
    goal = Goal("fair").limited([made(0.2, 0.4)])
    assert goal.broken([made(0.3, 0.39)]) is None
    assert goal.broken([made(0.3, 0.37)]) == "total"


def test_other_goals_keep_the_least_share() -> None:
    goal = Goal("total").limited([made(0.2, 1.0)])
    assert goal.score(made(0.1, 1.3)) == 1.3
    assert goal.broken([made(0.16, 1.3)]) is None
    assert goal.broken([made(0.14, 1.3)]) == "least share"


# ---- Half of the nodes ----

WHOLE = [
    ("three-pairs", Candidate("droptail").having(Option("radio", changes=("rts", "retries=50")), WINDOW)),
    ("three-pairs", Candidate("droptail").having(Option("system", "nred"))),
    ("gateway", Candidate("droptail").having(Option("system", "c3l"))),
    ("gateway", Candidate("droptail").having(Option("discipline", "fq-codel"), LAW)),
    ("gateway", Candidate("droptail").having(Option("discipline", "red"), ECN)),
    ("exposed-terminal", Candidate("droptail").having(Option("queue", changes=("queue=20",)))),
    ("gateway", Candidate("droptail").having(SCHEME)),
]


@pytest.mark.parametrize(("name", "candidate"), WHOLE, ids=lambda value: getattr(value, "text", value))
def test_a_half_of_all_nodes_is_the_whole(
    name: str, candidate: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = short(SCENARIOS / f"{name}.toml")
    monkeypatch.setattr(half, "draw", lambda nodes, _seed: set(nodes))
    halved = half.halved(scenario, candidate, 1)
    whole = json.loads(halved.run(halved.scheme, 3))
    wanted = json.loads(scenario.run(candidate.text, 3))
    assert [flow["goodput_bps"] for flow in whole["flows"]] == [
        flow["goodput_bps"] for flow in wanted["flows"]
    ]


@pytest.mark.parametrize(("name", "candidate"), WHOLE, ids=lambda value: getattr(value, "text", value))
def test_a_half_of_nothing_is_today(name: str, candidate: Candidate, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = short(SCENARIOS / f"{name}.toml")
    monkeypatch.setattr(half, "draw", lambda _nodes, _seed: set())
    halved = half.halved(scenario, candidate, 1)
    found, wanted = (json.loads(of.run(of.scheme, 3)) for of in (halved, scenario))
    assert [flow["goodput_bps"] for flow in found["flows"]] == [
        flow["goodput_bps"] for flow in wanted["flows"]
    ]


def test_a_half_is_drawn_by_the_seed() -> None:
    nodes = [f"n{i}" for i in range(9)]
    drawn = [half.draw(nodes, seed) for seed in range(1, 30)]
    assert {len(of) for of in drawn} == {5}
    assert set().union(*drawn) == set(nodes)
    assert half.draw(nodes, 1) == drawn[0]
    assert len({frozenset(of) for of in drawn}) > 10


def test_routes_cannot_be_changed_at_half_of_the_nodes() -> None:
    static = Candidate("droptail").having(Option("routes", changes=("routing.protocol=static",)))
    with pytest.raises(InputError, match="a change of the whole network"):
        half.halved(Scenario.read(CASES / "olsrload.toml"), static, 1)


# ---- The budget ----


def test_a_shorter_run_keeps_its_warm_up() -> None:
    scenario = Scenario.read(CASES / "parking.toml")  # 60 s, 10 s of them warm-up
    assert _shortened(scenario, 0.1).duration_ns == 15 * 10**9
    assert _shortened(scenario, 1.0).duration_ns == scenario.duration_ns


class Hand(Clock):
    """A clock by hand: what is left."""

    def __init__(self, left: float) -> None:
        super().__init__(left)
        self.left = left

    def until(self, part: float) -> float:
        return part * self.left


def test_a_budget_without_room_for_eight_runs_is_refused() -> None:
    with pytest.raises(InputError, match=r"fewer than 8 fit in 0 s.*--budget '\d+ s' has room for 8"):
        fitting(Scenario.read(THREE_PAIRS), "droptail", Hand(1e-6), 1)


def test_a_large_budget_leaves_the_scenario_as_it_is() -> None:
    scenario = Scenario.read(THREE_PAIRS)
    assert fitting(scenario, "droptail", Hand(1e6), 1) == (scenario, None)


# ---- Advice ----


@pytest.mark.parametrize("name", LENGTHS)
def test_what_is_printed_first_helps(name: str) -> None:
    scenario, advice = case(name)
    first = show.lines(advice)[1]
    assert first.startswith("1. ")
    selection = advice["advised"][0]["selection"]
    assert first.startswith(f"1. {selection}: least flow ")
    # On seeds that the advice has not used, by the program that compares.
    rows = airfair.compare(scenario, schemes=["droptail", selection], seeds=range(201, 211))
    change = rows[1]["difference"]["min_goodput_bps"]
    assert change["ci95"] is not None
    assert change["mean"] - change["ci95"] > 0


def test_what_routers_can_do_as_they_are_is_said_where_it_is_not_clear() -> None:
    advice = copy.deepcopy(case("parking")[1])
    row = advice["advised"][0]
    by: Estimate = {"mean": 0.21, "ci95": 0.3}
    doubtful: Advised = row | {
        "selection": "droptail[rts]",
        "helps": False,
        "new_scheme": False,
        "change": by,
    }
    sure: Advised = row | {"selection": "c3l", "helps": True, "new_scheme": True, "broken": None}
    line = "As routers are, not clear: +21 ± 30 by droptail[rts]"
    for rows, said in (
        ([sure, doubtful], True),
        ([sure, doubtful | {"broken": "total"}], False),
        ([sure, doubtful | {"new_scheme": True}], False),
        ([doubtful], False),
    ):
        advice["advised"] = rows
        assert (line in show.lines(advice)) == said
    advice["advised"] = [sure, doubtful | {"helps": True}]
    assert line.replace(", not clear", "") in show.lines(advice)


def test_what_a_network_has_is_no_change() -> None:
    scenario = Scenario.read(CASES / "parking.toml", ['radio.rts_threshold="0 B"'])
    known, refused = options.space(scenario, "droptail")
    assert ("rts", "the network has it") in refused
    assert "rts" not in [option.name for option in known.options]


def test_advice_is_ten_lines_however_much_there_is_to_say() -> None:
    advice = copy.deepcopy(case("parking")[1])
    row = advice["advised"][0]
    asks = {"routers": ["the scheme " + "c3l " * 12], "hosts": ["senders of " + "c3l " * 12]}
    sure: Advised = row | {"helps": True, "new_scheme": True, "broken": None} | asks  # type: ignore[assignment]
    usual: Advised = row | {
        "selection": "fq-codel[rts; retries=50; window=4]",
        "helps": False,
        "broken": None,
    }
    advice["drawn"] = ["flow"] * 12
    advice["advised"] = [sure, sure, sure, usual | {"new_scheme": False}]
    lines = show.lines(advice)
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("As routers are") and "±" in line]


def test_where_nothing_is_wrong_nothing_is_said_to_help() -> None:
    advice = airfair.advise(Scenario.parse(CABLE), runs=16)
    assert not [row for row in advice["advised"] if row["helps"]]
    assert show.lines(advice)[1] == "Nothing tried helps by more than chance within the limits of the goal."


def test_the_same_number_of_runs_gives_the_same_advice() -> None:
    scenario = short(THREE_PAIRS, "8 s")
    one, two = (airfair.advise(scenario, runs=12, jobs=jobs) for jobs in (1, 2))
    assert one["runs"]["race"] == 12
    one["wall_s"] = two["wall_s"] = 0.0
    assert one == two


def test_shares_are_those_of_a_comparison() -> None:
    scenario, advice = case("parking")
    first = advice["advised"][0]
    assert first["fresh"]
    schemes = ["droptail", first["selection"]]
    rows = airfair.compare(scenario, schemes=schemes, seeds=first["seeds"], optimum=True)
    for row, advised in zip(rows, (advice["before"], first), strict=True):
        for key, of_row in (("least", row["optimum_share_min"]), ("total", row["optimum_share_total"])):
            assert of_row is not None
            assert advised[key]["mean"] == pytest.approx(of_row["mean"])  # type: ignore[literal-required]
            assert advised[key]["ci95"] == pytest.approx(of_row["ci95"])  # type: ignore[literal-required]
    assert rows[1].get("settings", []) == first["settings"]


def test_advice_has_the_keys_of_its_contract() -> None:
    seen: set[tuple[str, str]] = set()
    _, advice = case("updown")
    found = differences(json.loads(json.dumps(advice)), results.Advice, "advice", seen)
    drawn = airfair.advise(MESH, runs=8, overrides=["duration=2 s"])
    found += differences(json.loads(json.dumps(drawn)), results.Advice, "drawn", seen)
    assert not found
    missing = declared(results.Advice) - seen - declared(results.Estimate)
    assert missing == set()


@pytest.mark.parametrize("goal", ["fair", "total", "delay"])
def test_advice_is_ten_lines_of_eighty_columns(goal: str) -> None:
    scenario = short(CASES / "parking.toml", "8 s")
    lines = show.lines(case("parking")[1] if goal == "fair" else airfair.advise(scenario, runs=12, goal=goal))
    assert 5 <= len(lines) <= 10
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("selection", "alone"),
    [
        ("droptail[rts]", True),
        ("c3l", True),
        ("droptail[rts; window=4]", False),
        ("c3l[rts]", False),
        ("a+b", False),
    ],
)
def test_single_changes_are_listed_as_no_help(selection: str, alone: bool) -> None:
    assert show._is_alone(selection, "droptail") is alone


def test_a_call_is_made_faster() -> None:
    scenario = Scenario.read(SCENARIOS / "voice-beside-bulk.toml", ["radio.categories=dcf"])
    advice = airfair.advise(scenario, goal="voice", runs=16)
    assert advice["calls"] == ["call-down", "call-up"]
    first = advice["advised"][0]
    assert first["helps"]
    before, after = advice["before"]["call_s"], first["call_s"]
    assert before is not None
    assert after is not None
    assert after["mean"] < before["mean"]


def test_a_map_without_traffic_gets_flows() -> None:
    advice = airfair.advise(MESH, runs=8, overrides=["duration=2 s"])
    assert advice["drawn"] == ["flow-0", "flow-1", "flow-2"]  # three nodes beside the gateway
    assert show.lines(advice)[1] == "The map has no traffic: 3 TCP flows to its gateways were drawn."


# ---- The command line ----


def test_the_command_prints_what_the_function_finds(tmp_path: Path) -> None:
    page = tmp_path / "advice.html"
    words: list[str | Path] = [
        "advise",
        SCENARIOS / "gateway.toml",
        "--set",
        "duration=10 s",
        "--set",
        "warmup=2 s",
        "--runs",
        "10",
    ]
    done = command(*words, "--report", page)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Today (droptail): least of 2 flows ")
    advice = json.loads(command(*words, "--json").stdout)
    assert lines[1] == show.lines(advice)[1]
    text = page.read_text(encoding="utf-8")
    assert all(row["selection"] in text for row in advice["tried"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--for", "voice"], "--for voice: no flow is a call; expected one over UDP with constant traffic"),
        (["--budget", "soon"], "budget"),
        (["--budget", "10 s", "--runs", "20"], "--budget and --runs do not go together"),
        (["--runs", "4"], "4 is not in the range x>=8"),
        (["--report", "advice.txt"], "a report is a page; expected a name that ends in .html"),
    ],
)
def test_bad_input_is_answered_before_the_first_run(words: list[str], expected: str) -> None:
    done = command("advise", THREE_PAIRS, *words)
    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stdout == ""


def test_a_scenario_without_flows_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.toml"
    file.write_text('name = "empty"\nduration = "1 s"\n[[node]]\nid = "a"\n', encoding="utf-8")
    done = command("advise", file)
    assert done.returncode == 2
    assert "no flow, and so nothing to make better" in done.stderr


# ---- explain --try ----


def test_commands_of_advice_become_options() -> None:
    piece = "\n".join(
        [
            "Words.",
            "--set 'radio.rts_threshold=\"0 B\"'",
            "--set radio.short_retry_limit=50 --set radio.long_retry_limit=50",
            "--set 'tcp.window_limit=\"4 segments\"'",
            "--set radio.queue_packets=400",
            "--set olsr.metric=hops",
            "--set 'flow.one.stop=\"1 us\"'",
            "airfair compare FILE --schemes droptail,red,fq-codel",
        ]
    )
    assert trying.options_of(piece, "droptail") == [
        options.RTS,
        options.RETRIES,
        options.WINDOWS[0],
        Option("queue", changes=("queue=400",)),
        Option("other", changes=("olsr.metric=hops",)),
        Option("discipline", "red"),
        Option("discipline", "fq-codel"),
    ]


def test_advice_that_does_not_help_is_not_the_first() -> None:
    """Four TCP flows up and four down, 20 packets of room: RED and FQ-CoDel do not help, a longer queue
    does."""
    scenario = short(CASES / "updown.toml", "15 s")
    explanation: Explanation = airfair.explain(scenario)
    pieces = list(explanation["advice"])
    advice = trying.try_advice(explanation, scenario, runs=16)
    assert sorted(piece.split(" (measured")[0].splitlines()[0] for piece in explanation["advice"]) == sorted(
        piece.splitlines()[0] for piece in pieces
    )
    ranks = [rank(piece) for piece in explanation["advice"]]
    assert ranks == sorted(ranks)
    assert advice["advised"][0]["helps"]
    seen: set[tuple[str, str]] = set()
    assert not differences(json.loads(json.dumps(explanation["tried"])), results.Advice, "tried", seen)
    first, *_, last = explanation["advice"]
    assert "--set radio.queue_packets=400" in first
    assert "droptail[queue=400] helps" in first
    assert "does not help" in last


def rank(piece: str) -> int:
    return 0 if " helps, " in piece else 2 if " does not help, " in piece else 1


def test_explain_prints_what_was_tried_before_its_own_advice(tmp_path: Path) -> None:
    out = tmp_path / "picture.svg"
    words: list[str | Path] = ["explain", CASES / "updown.toml", "--set", "duration=10 s", "--out", out]
    done = command(*words, "--try", "--runs", "8")
    assert done.returncode == 0, done.stderr
    tried, follows = (
        done.stdout.index("What was tried"),
        done.stdout.index("What follows from the explanation"),
    )
    assert tried < follows
    assert done.stdout[tried:].splitlines()[2].startswith("1. droptail[queue=400]")
    refused = command(*words, "--runs", "16")
    assert refused.returncode == 2
    assert "--runs goes with --try" in refused.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a Scenario or the path of a file$"),
        ('name = "x"\n', "Scenario.parse reads the text of a scenario$"),
    ],
)
def test_what_is_no_path_is_refused_as_elsewhere(text: str, message: str) -> None:
    for function in (airfair.advise, airfair.run):
        with pytest.raises(InputError, match=message):
            function(text)

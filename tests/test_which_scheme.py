"""The page of winners: made from stored results, which are those of the suite."""

from __future__ import annotations

import ast
import copy
import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from airfair.results import Estimate
from airfair.suite import judging
from airfair.suite.judging import Judgement, Row
from airfair.suite.scenes import read_suite

from docs.which_scheme import __main__ as gate
from docs.which_scheme import columns, page, picture, sentences, table
from docs.which_scheme.__main__ import SUITE, run
from docs.which_scheme.columns import COLUMNS, KINDS, SETTINGS, SYSTEMS
from docs.which_scheme.table import Table
from tests.test_suite import PAIR


def estimate(mean: float) -> Estimate:
    return {"mean": mean, "ci95": 0.01}


def row(scheme: str, verdict: str, least: float, change: float, total: float, **more: object) -> Row:
    made = {
        "scheme": scheme,
        "runs": 3,
        "least": estimate(least),
        "total": estimate(total),
        "change": None if verdict == "baseline" else estimate(change),
        "p99_s": estimate(0.4 if verdict == "baseline" else 0.1),
        "p99_change_s": None,
        "control_bps": 0.0,
        "messages_per_s": 0.0,
        "won": 1,
        "lost": 2,
        "verdict": verdict,
        "breaks": [],
        "reasons": [],
    }
    return made | more  # type: ignore[return-value]


def scene(name: str, before: float, **rows: Row) -> Judgement:
    """A scene with drop-tail at `before` of a total of 2, and these rows; every other selection passes."""
    found = {made["scheme"]: made for made in rows.values()}
    others = [c.selection for c in COLUMNS if c.selection not in found]
    passing = {name: row(name, "pass", before, 0.0, 2.0) for name in others}
    every = found | passing
    return {
        "scene": name,
        "about": f"About {name}",
        "judged": "optimum",
        "reference_bps": {"f": 1e6},
        "carried": 1.0,
        "assumed": [],
        "rows": [row("droptail", "baseline", before, 0.0, 2.0), *(every[c.selection] for c in COLUMNS)],
    }


FQ, PATIENT, WINDOW, TOGETHER = (column.selection for column in SETTINGS)


@pytest.fixture
def small() -> Table:
    """Two meshes of which one starves, a cell, and cables."""
    return {
        "suite": "suite",
        "schemes": ["droptail", *(column.selection for column in COLUMNS)],
        "seeds": [1, 2, 3],
        "set": [],
        "scenes": [
            scene(
                "gateway",
                0.02,
                a=row(PATIENT, "help", 0.32, 0.3, 1.4),
                b=row(TOGETHER, "help", 0.42, 0.4, 1.0),
                c=row("c3l", "help", 0.82, 0.8, 1.2, control_bps=4130.0, claim=True),
                d=row("nred", "help", 0.21, 0.19, 1.6, messages_per_s=0.5, claim=False),
                e=row("diffq", "harm", 0.0, -0.02, 1.0, breaks=["least", "total"]),
            ),
            scene(
                "leipzig",
                0.5,
                a=row(TOGETHER, "harm", 0.3, -0.2, 2.0, breaks=["least"]),
                c=row("c3l", "harm", 0.1, -0.4, 1.5, breaks=["least"]),
            ),
            scene("cell", 0.0, a=row("qfcp", "help", 0.91, 0.91, 1.9)),
            scene("bielefeld", 1.0, a=row(WINDOW, "harm", 0.05, -0.95, 0.1, breaks=["least", "total"])),
        ],
    }


def unfolded(text: str) -> str:
    """The text with the lines of each paragraph and item joined."""
    return re.sub(r"\n {2,}(?=\S)", " ", text)


def section(text: str, heading: str) -> list[str]:
    """The items below a heading."""
    after = unfolded(text).partition(f"{heading}\n")[2].split("\n#")[0]
    return [line.removeprefix("- ") for line in after.splitlines() if line.startswith("- ")]


def test_the_first_lines_name_what_helps_where_flows_starve(small: Table) -> None:
    lines = sentences.first(small)
    # Of the settings two help at the starving gateway, and one of them raises its least flow by more.
    assert f"(`{TOGETHER}`). It helps in 1 of 1 (`gateway`), where the least flow gains 0.40" in lines[0]
    assert "(`c3l`). It helps in 1 of 1 (`gateway`), where the least flow gains 0.80" in lines[1]
    assert "(`qfcp`). It helps in 1 of 1 (`cell`), where the least flow gains 0.91" in lines[2]
    # Leipzig does not starve, so that harm there is in no line about those that do.
    assert all(line.endswith("it harms in none.") for line in lines[:3])
    assert lines[3] == (
        "**A mesh in which the least flow has more than that**: nothing helps in the scenes of this kind; "
        "measure your own."
    )


def test_a_new_verdict_makes_another_sentence(small: Table) -> None:
    gateway = small["scenes"][0]
    for made in gateway["rows"]:
        if made["scheme"] in (PATIENT, TOGETHER, "c3l"):
            made["verdict"], made["breaks"] = "harm", ["total"]
    lines = sentences.first(small)
    assert "nothing helps in the scenes of this kind" in lines[0]
    assert "(`nred`). It helps in 1 of 1 (`gateway`)" in lines[1]
    items = section(page.page(small), "## C3L")
    assert items[0] == "**It helps** in no scene."
    assert "in meshes `gateway` (total 0.60), `leipzig` (least 0.50 → 0.10)." in items[1]


def test_what_helps_and_harms_as_often_is_not_called_safe(small: Table) -> None:
    other = copy.deepcopy(small["scenes"][0])
    other["scene"] = "three-pairs"
    for made in other["rows"][1:]:
        made["verdict"], made["breaks"] = "harm", ["total"]
    small["scenes"].append(other)
    line = sentences.first(small)[1]
    assert "nothing is safe; nearest is C3L, with" in line
    assert "(`c3l`). It helps in 1 of 2 (`gateway`)" in line
    assert line.endswith("it harms in `three-pairs`.")


PRICE = (
    "**It costs** where it helps: the total is 0.60 of drop-tail's, the delay that 99 % of packets stay "
    "below goes from 400 ms to 100 ms in the median, of the flows 1 win and 2 lose, control traffic of "
    "4.13 kbit/s."
)


def test_a_section_says_when_to_take_it_when_not_and_the_price(small: Table) -> None:
    items = section(page.page(small), "## C3L")
    # 1.2 of 2 is 0.60 of drop-tail's total.
    assert items == [
        "**Take it when** your network is like one of these: in meshes `gateway` (0.02 → 0.82).",
        "**Do not take it when** it is like one of these: in meshes `leipzig` (least 0.50 → 0.10).",
        "It does neither, or not clearly: in cells `cell`; elsewhere `bielefeld`.",
        PRICE,
        "Before it was tuned it claimed to help in `gateway`; it does in each.",
    ]
    slow = next(made for made in small["scenes"][0]["rows"] if made["scheme"] == "c3l")
    slow["p99_s"] = estimate(0.5)
    slower = "from 400 ms to 500 ms in the median and rises in `gateway` (400 ms → 500 ms), of the flows"
    assert slower in section(page.page(small), "## C3L")[3]
    assert "0.5 messages a second" in section(page.page(small), "## NRED")[3]
    assert section(page.page(small), "## NRED")[4].endswith("it does in none.")
    # A fall by 0.02 ± 0.01 is no fall by more than 0.05; the verdict came from the interval.
    assert "`gateway` (least perhaps -0.03, total 0.50)" in section(page.page(small), "## DiffQ")[1]
    harmed = section(page.page(small), f"### `{WINDOW}`")[1]
    assert harmed.endswith("elsewhere `bielefeld` (least 1.00 → 0.05, total 0.05).")


def test_every_kind_of_verdict_has_its_mark_in_the_picture(small: Table) -> None:
    (axes,) = picture.picture(small).axes
    texts = [text.get_text() for text in axes.texts]
    gains = [text for text in texts if text.startswith(".")]
    assert sorted(gains) == [".19", ".30", ".40", ".80", ".91"]
    shown = {str(marks.get_label()): len(np.asarray(marks.get_offsets())) for marks in axes.collections}
    assert (shown["harms"], shown["passes"]) == (4, 4 * len(COLUMNS) - 4 - 5)
    assert [text for text in texts if re.fullmatch(r"\d\.\d\d", text)] == ["0.02", "0.50", "0.00", "1.00"]


def test_no_number_of_a_result_is_written_by_hand() -> None:
    """The only digits in the texts of the program are those of names, and of the percentile."""
    allowed = re.compile(r"99 %|C3L|c3l|\.\df|\[.*\]")
    for module in (columns, sentences, page):
        assert module.__file__
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        known = {c.selection for c in COLUMNS} | {name for names in KINDS.values() for name in names}
        assert [
            text
            for text in texts
            if text not in known and not text.isidentifier() and re.search(r"\d", allowed.sub("", text))
        ] == []


def test_stored_results_are_read_as_they_were_written(small: Table) -> None:
    text = table.encoded(small)
    assert json.loads(text) == small
    # A line for each row, and one before and behind those of each scene.
    assert sum(line.startswith('{"scheme"') for line in text.splitlines()) == 4 * (1 + len(COLUMNS))
    longer = copy.deepcopy(small)
    least = longer["scenes"][0]["rows"][0]["least"]
    assert least is not None
    least["mean"] = 0.0200000001
    assert table.encoded(longer) == text


def test_the_stored_results_are_those_of_the_suite_and_of_all_columns() -> None:
    stored, suite = table.read(), read_suite(SUITE)
    assert [scene["scene"] for scene in stored["scenes"]] == [scene.identity for scene in suite.scenes]
    assert stored["schemes"] == ["droptail", *(column.selection for column in COLUMNS)]
    assert stored["set"] == []
    for found in stored["scenes"]:
        assert [made["scheme"] for made in found["rows"]] == stored["schemes"]
        assert {made["runs"] for made in found["rows"]} == {len(stored["seeds"])}
        for made in found["rows"]:
            claims = found["scene"] in suite.take_it_when.get(made["scheme"], ())
            assert ("claim" in made) == claims


def test_the_stored_verdicts_are_those_of_the_rule() -> None:
    stored, suite = table.read(), read_suite(SUITE)
    for found, scene in zip(stored["scenes"], suite.scenes, strict=True):
        baseline, *others = found["rows"]
        for made in others:
            again: Row = copy.deepcopy(made)
            again["breaks"], again["reasons"] = [], []
            judging.apply_rule(scene, again, baseline)
            assert (again["verdict"], again["breaks"]) == (made["verdict"], made["breaks"]), made["scheme"]


def test_the_gate_names_rows_that_differ() -> None:
    stored = table.read()
    assert set(gate.GATE) <= {found["scene"] for found in stored["scenes"]}
    now = copy.deepcopy(stored)
    assert gate.differences(stored, now) == []
    changed = now["scenes"][0]["rows"][1]
    changed["verdict"], changed["total"] = "help", {"mean": 0.5, "ci95": None}
    (line,) = gate.differences(stored, now)
    assert line.startswith(f"{now['scenes'][0]['scene']}, {changed['scheme']}: ")
    assert line.endswith(" help")
    new = now["scenes"][1]["rows"][0]
    new["scheme"] = "other"
    assert ", other: nothing, now " in gate.differences(stored, now)[1]


def test_every_scene_of_the_suite_has_one_kind() -> None:
    kinds = [name for names in KINDS.values() for name in names]
    assert sorted(kinds) == sorted(scene.identity for scene in read_suite(SUITE).scenes)
    assert all(one != other for one, other in pairwise(sorted(kinds)))
    assert set(columns.HEADINGS) == set(columns.PLACES) == set(KINDS)
    assert [c for section in columns.SECTIONS for c in section.columns] == list(COLUMNS)
    assert [column.selection for column in SYSTEMS] == list(read_suite(SUITE).take_it_when)


def test_the_marks_of_another_page_stand_once(small: Table) -> None:
    text = page.inserted(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n", small)
    assert text.startswith(f"before\n{page.BEGIN}\n")
    assert text.endswith(f"{page.END}\nafter\n")
    assert "old" not in text
    assert "`qfcp`" in text
    assert "](docs/how-to/optimum.md)" in text
    assert page.inserted(text, small) == text
    with pytest.raises(ValueError, match="once"):
        page.inserted("no marks", small)


def test_the_suite_is_run_with_every_column(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(PAIR)
    file = tmp_path / "suite.toml"
    block = '[[scene]]\nid = "gateway"\nfile = "pair.toml"\nabout = "Two stations"\njudged = "optimum"\n'
    file.write_text(f'name = "one"\n{block}')
    found = run(file, 2, tmp_path / "out")
    assert not isinstance(found, int)
    assert found["schemes"] == ["droptail", *(column.selection for column in COLUMNS)]
    (only,) = found["scenes"]
    assert [made["scheme"] for made in only["rows"]] == found["schemes"]
    assert run(file, 2, tmp_path / "out") == found
    assert "`gateway`: Two stations." in page.page(found)
    assert run(tmp_path / "none.toml", 2, tmp_path / "out") == 2

"""The tutorial runs as a notebook would run it, and what it says in words is so."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from airfair import CompareRow
from airfair.plots import Plot

from tests.support import ROOT

TUTORIAL = ROOT / "docs" / "tutorial.py"


def cells(text: str) -> tuple[list[str], list[str]]:
    """Cells of code, and cells of words, of a file in the percent format."""
    code: list[str] = []
    words: list[str] = []
    for part in re.split(r"^# %%", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        (words if "[markdown]" in heading else code).append(body)
    return code, words


@pytest.fixture(scope="module")
def ran() -> tuple[dict[str, Any], list[Any]]:
    """The names that the cells leave, and what each shows: the value of its last line, as in a notebook."""
    names: dict[str, Any] = {}
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(TUTORIAL.parent)  # where Jupyter starts
        for number, cell in enumerate(cells(TUTORIAL.read_text())[0]):
            tree = ast.parse(cell)
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, f"cell {number}", "exec"), names)
            if isinstance(last, ast.Expr):
                shown.append(eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names))
    return names, shown


def least(row: CompareRow) -> tuple[float, float]:
    """The interval of the least goodput."""
    estimate = row["min_goodput_bps"]
    half = estimate["ci95"]
    assert half is not None
    return estimate["mean"] - half, estimate["mean"] + half


def middle(rows: Mapping[str, CompareRow], name: str) -> float:
    """Goodput of the middle flow as a share of the left one's."""
    of = {flow["id"]: flow["goodput_bps"]["mean"] for flow in rows[name]["flows"]}
    return of["middle"] / of["left"]


def test_every_cell_shows_what_it_is_for(ran: tuple[dict[str, Any], list[Any]]) -> None:
    _, shown = ran
    figures = [value for value in shown if isinstance(value, Plot)]
    assert len(figures) == 11
    for figure in figures:
        assert figure.axes[0].has_data()
        assert figure._repr_png_().startswith(b"\x89PNG")
    tables = [value for value in shown if isinstance(value, pd.DataFrame)]
    assert [len(table) for table in tables] == [5]
    assert all(value is not None for value in shown)


def test_what_the_tutorial_says_is_so(ran: tuple[dict[str, Any], list[Any]]) -> None:
    names, _ = ran
    assert names["heard_by_a1"] == {"b1": True, "a2": True, "b2": False}
    assert names["goodput"]["left"] == pytest.approx(730, abs=20)
    assert 5 < names["goodput"]["middle"] < 25
    assert names["goodput"]["right"] == pytest.approx(730, abs=20)
    waiting = names["recording"].pandas("queues").groupby("node", observed=True)["packets"].mean()
    assert min(waiting["a1"], waiting["a3"]) > 60 > 33 > waiting["a2"]
    red = names["rows"][1]
    gain = next(flow for flow in red["flows"] if flow["id"] == "middle")["difference"]["goodput_bps"]
    assert gain["mean"] - gain["ci95"] > 0
    assert red["difference"]["aggregate_goodput_bps"]["mean"] < 0
    intervals = [least(row) for row in names["by_queue"].values()]
    assert max(low for low, _ in intervals) < min(high for _, high in intervals), "they overlap"
    study = names["by_distance"]
    assert middle(study, "300 m") > 1
    assert 0.05 < middle(study, "330 m") < 0.3
    assert middle(study, "350 m") < 0.05
    assert middle(study, "600 m") < 0.05
    assert middle(study, "700 m") == pytest.approx(1, abs=0.05)


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", "".join(cells(TUTORIAL.read_text())[1]))
    assert links
    for link in links:
        assert (Path(TUTORIAL.parent) / link).is_file(), link

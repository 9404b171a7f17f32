"""Tests of the comparison of airfaird with its schemes."""

from __future__ import annotations

import math

from validation.live.__main__ import by_quarters
from validation.live.worlds import rows


def measures(middle: list[float]) -> dict[str, float]:
    """Goodputs of a run by quarters: the middle pair's, and 100 for each other one."""
    found: dict[str, float] = {}
    for part, value in enumerate(middle, 1):
        found |= {f"part {part} goodput {name}": 100.0 for name in ("left", "right")}
        found[f"part {part} goodput middle"] = value
    return found


def test_the_largest_difference_of_a_quarter_counts() -> None:
    row = next(row for row in rows() if row.name == "three-pairs")
    # Thirds of all but in the third quarter, where the middle pair has a half in one of two runs.
    emulated = [measures([100, 100, 100, 100])]
    live = [measures([100, 100, 200, 100]), measures([100, 100, 100, 100])]
    of_middle, of_left = by_quarters(row, emulated, live)
    assert of_middle.check.label == "share of the middle pair, by quarters"
    assert math.isclose(of_middle.live[0], (50 + 100 / 3) / 2 - 100 / 3)
    assert of_middle.holds
    assert of_left.cells()[2:5] == ["–", "–", f"{100 / 3 - (25 + 100 / 3) / 2:.1f}"]
    far = [measures([100, 100, 300, 100])]
    assert not by_quarters(row, emulated, far)[0].holds


def test_a_quarter_without_a_measure_does_not_hold() -> None:
    row = next(row for row in rows() if row.name == "three-pairs")
    whole = [measures([100, 100, 100, 100])]
    assert not by_quarters(row, whole, [measures([100, 100, 100])])[0].holds
    assert not by_quarters(row, whole, [])[0].holds

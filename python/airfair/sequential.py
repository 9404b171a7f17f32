"""The number of seeds: seeds are added until the intervals are narrow enough. Whoever checks after every run
and stops as soon as an interval is narrow stops where it happens to be too narrow. So the first check is
after 10 seeds, and the others after 14, 20, 28, 40, 56, ...: two checks for each doubling.
`docs/how-to/compare.md` has the coverage that remains of the 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ._core import InputError
from .arguments import as_type, as_whole, hint
from .results import Differences, always

FIRST_LOOK = 10
"""Fewest seeds before an interval is believed."""

MAX_SEEDS = 1000

NUMBERS = always(Differences)
"""Estimates of a row of a comparison. A row has None where no run has the number."""

OF_OPTIMUM = tuple(name for name in Differences.__annotations__ if name not in NUMBERS)
"""Further ones of a comparison with the optimum."""

STATISTICS = ("aggregate_goodput_bps", "jain_index")
"""The statistics by default; the goodput of a starved flow varies too much to be one."""


@dataclass(frozen=True)
class Until:
    """Add seeds until each scheme's 95 % half-width of each statistic is at most this share of its mean."""

    halfwidth: float
    statistics: Sequence[str] = STATISTICS
    max_seeds: int = MAX_SEEDS

    def check(self, flows: Sequence[str], seeds: int, windows: bool, optimum: bool) -> None:
        """Raise `InputError` if these settings do not fit a scenario with these flows."""
        check_statistics(self.statistics, flows, windows, optimum)
        as_type("half-width", self.halfwidth, int | float, "a share of the mean such as 0.05")
        as_whole("max_seeds", self.max_seeds, 1)
        if not (math.isfinite(self.halfwidth) and 0 < self.halfwidth <= 1):
            raise InputError(
                f"half-width {self.halfwidth:g}: expected a share of the mean, above 0 and at most 1"
            )
        if seeds < FIRST_LOOK:
            raise InputError(f"seeds: {seeds}; expected at least {FIRST_LOOK} with a half-width to reach")
        if self.max_seeds < seeds:
            raise InputError(f"max_seeds: {self.max_seeds}; expected at least the number of seeds, {seeds}")

    def looks(self, first: int) -> Iterator[int]:
        """Numbers of seeds at which the intervals are checked; the last is the maximum."""
        while first < self.max_seeds:
            yield first
            if first * 7 // 5 < self.max_seeds:
                yield first * 7 // 5
            first *= 2
        yield self.max_seeds


def check_statistics(statistics: Sequence[str], flows: Sequence[str], windows: bool, optimum: bool) -> None:
    """Raise `InputError` if there is no statistic, or one that a scenario with these flows does not have."""
    if not statistics:
        raise InputError("statistics: expected at least one")
    known = [
        *NUMBERS,
        *OF_OPTIMUM,
        *(f"flow.{flow}" for flow in flows),
        *(["window_jain"] if windows else []),
    ]
    for name in statistics:
        if name == "window_jain" and not windows:
            raise InputError('the statistic "window_jain" goes with a window')
        if name in OF_OPTIMUM and not optimum:
            raise InputError(f'the statistic "{name}" goes with an optimum')
        if name not in known:
            expected = hint(name, known) or f"; expected {', '.join(NUMBERS)} or flow.ID"
            raise InputError(f'there is no statistic "{name}"{expected}')


def share(text: str) -> float:
    """A share given as a percentage, such as "5%". Raises `InputError`."""
    number = text.strip().removesuffix("%")
    try:
        if number == text.strip():
            raise ValueError
        return float(number) / 100
    except ValueError:
        raise InputError(f'"{text}": expected a percentage of the mean, such as "5%"') from None

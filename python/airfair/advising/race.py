"""The race: sets of changes run over the same seeds; those that lose are dropped by paired intervals, and
those that lead are combined with everything that differs from them in one part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .candidate import Candidate, Option, Space, beside
from .goals import Goal, Run, estimate

LEADERS = 3
"""Sets that are combined after a round."""

CONTENDERS = 8
"""Sets that get another seed in a round."""

SEEDS_AT_A_TIME = 2
"""Seeds that contenders get before the best are combined: one seed may be luck."""

AT_A_TIME, FIRST_CONTENDERS = 8, 4
"""Sets that enter at a time, of the first ones or beside each leader, and those that get another seed after
the first ones: so that a small budget has several seeds of few sets, and not one of each."""

MOST_SEEDS = 10
"""Seeds of a set in the race; further ones are left for the confirmation."""

EQUAL = 1e-3
"""Scores that differ by less count as equal, as no operator would see the difference."""

USELESS = 2
"""An option without any effect in so many sets, and with one in none, is added to no further set."""

Runs = Callable[[Sequence[tuple[Candidate, int]]], list[Run]]
"""Runs of sets with seeds, in order; fewer where the budget is spent."""


@dataclass
class Racer:
    """A set in the race, with its runs of seed 1, 2, ..."""

    candidate: Candidate
    runs: list[Run] = field(default_factory=list)
    out: str | None = None
    """The reason why it gets no more runs."""
    combined: bool = False


class Effect(NamedTuple):
    """An option in a set, beside the set without it, with the same seed."""

    differs: bool
    gain: float
    """Change of the goal's number."""


class Race:
    """A race over all sets of a space. The order of its runs depends on their results alone: the same number
    of runs gives the same answer."""

    def __init__(
        self,
        space: Space,
        goal: Goal,
        refused: Callable[[Candidate], bool],
        run: Runs,
        today: Sequence[Run],
        most: int | None,
    ) -> None:
        self.space = space
        self.goal = goal
        self._refused = refused
        self._run = run
        self._left = None if most is None else most - len(today)
        self.today = Racer(space.today, list(today))
        self.racers: dict[Candidate, Racer] = {space.today: self.today}
        self._effects: dict[Option, list[Effect]] = {}
        self.count = len(today)
        self.ended = False

    def run_to_end(self) -> None:
        """Race until the budget is spent, or nothing is left to try."""
        first = self.space.first()
        while first and not self.ended:
            self._enter(first[:AT_A_TIME])
            first = first[AT_A_TIME:]
            self._next_seed(FIRST_CONTENDERS)
            self._drop()
        while not self.ended:
            before = self.count
            for _ in range(SEEDS_AT_A_TIME):
                self._next_seed(CONTENDERS)
                self._drop()
            self._combine()
            if self.count == before:
                break

    def ranked(self) -> list[Racer]:
        """Sets that were run, the best first; those that break a limit of the goal last."""
        return sorted((r for r in self.racers.values() if r.runs), key=self._key)

    def helpful(self) -> list[Racer]:
        """Those of `ranked` that keep the limits and are better than today in the mean; of a single seed,
        which may be luck, only where nothing has more."""
        better = [r for r in self.ranked() if r is not self.today and self._better(r)]
        return [racer for racer in better if len(racer.runs) > 1] or better

    def near(self, part: float) -> list[Candidate]:
        """Those of `helpful` whose number is behind the best by no more than this part of it."""
        found = self.helpful()
        scores = [_mean([self.goal.score(run) for run in racer.runs]) for racer in found]
        return [
            r.candidate for r, s in zip(found, scores, strict=True) if s >= scores[0] - part * abs(scores[0])
        ]

    def _better(self, racer: Racer) -> bool:
        if racer.out == "same" or self.goal.broken(racer.runs, doubt=True) is not None:
            return False
        return sum(self._differences(racer, self.today)) > 0

    def _key(self, racer: Racer) -> tuple[bool, float, float, int, str]:
        score = _mean([self.goal.score(run) for run in racer.runs])
        broken = racer is not self.today and self.goal.broken(racer.runs, doubt=True) is not None
        # One seed may be luck: what has more of them comes first among equals.
        spread = _mean([run.spread for run in racer.runs])
        rounded = round(score / EQUAL) * EQUAL
        return broken, -rounded, -round(spread, 3), racer.candidate.burden, racer.candidate.text

    def _differences(self, racer: Racer, other: Racer) -> list[float]:
        pairs = zip(racer.runs, other.runs, strict=False)
        return [self.goal.score(one) - self.goal.score(two) for one, two in pairs]

    def _alive(self) -> list[Racer]:
        return [racer for racer in self.ranked() if racer.out is None or racer is self.today]

    def _enter(self, candidates: Sequence[Candidate]) -> None:
        """Run new sets with seed 1."""
        new = [candidate for candidate in dict.fromkeys(candidates) if not self._is_known(candidate)]
        racers = [self.racers.setdefault(candidate, Racer(candidate)) for candidate in new]
        self._extend([(racer, 1) for racer in racers])
        for racer in (racer for racer in racers if racer.runs):
            self._learn(racer)
        # Also of sets that were there before: one that asks less may have come only now.
        for racer in self.racers.values():
            if racer.out is None and racer is not self.today and racer.runs and self._is_same(racer):
                racer.out = "same"

    def _learn(self, racer: Racer) -> None:
        """Note for each option of a set how a run of the set without it differs."""
        for option in racer.candidate.options:
            without = self.racers.get(racer.candidate.without(option.part))
            if without is not None and without.runs:
                one, two = racer.runs[0], without.runs[0]
                gain = self.goal.score(one) - self.goal.score(two)
                effect = Effect(one.goodputs != two.goodputs, gain)
                self._effects.setdefault(option, []).append(effect)

    def _is_useless(self, option: Option) -> bool:
        effects = self._effects.get(option, [])
        return len(effects) >= USELESS and not any(effect.differs for effect in effects)

    def _is_same(self, racer: Racer) -> bool:
        """True if another set that asks no more gives the same run: an option has no effect in it."""
        return any(
            other.runs
            and other.out != "same"
            and other is not racer
            and other.candidate.burden <= racer.candidate.burden
            and other.runs[0].goodputs == racer.runs[0].goodputs
            for other in self.racers.values()
        )

    def _next_seed(self, count: int) -> None:
        """Give the contenders that have fewer seeds than others, or else all of them, a further one. Today
        has as many as any."""
        contenders = self._alive()[:count]
        if self.today not in contenders:
            contenders.append(self.today)
        most = max(len(racer.runs) for racer in contenders)
        behind = [racer for racer in contenders if len(racer.runs) < most]
        chosen = behind or [racer for racer in contenders if most < MOST_SEEDS]
        if self.today not in chosen and len(self.today.runs) < most:
            chosen.append(self.today)
        self._extend([(racer, len(racer.runs) + 1) for racer in chosen])

    def _drop(self) -> None:
        """Drop those that are behind the leader by more than chance: the upper end of the 95 % interval of
        the paired difference is below zero."""
        alive = self._alive()
        leader = alive[0]
        for racer in alive:
            if racer in (leader, self.today):
                continue
            differences = self._differences(racer, leader)
            if len(differences) < 2:
                continue
            by = estimate(differences)
            if by["mean"] + (by["ci95"] or 0.0) < 0:
                racer.out = "behind"

    def _combine(self) -> None:
        """Enter what differs in one part from the best: of each some, those with the options that have done
        most so far, so that what leads soon has several seeds and what leads by luck costs little."""
        useful = [option for option in self.space.options if not self._is_useless(option)]
        useful.sort(key=lambda option: -self._gain(option))
        found: list[list[Candidate]] = []
        for racer in self._alive()[: 2 * LEADERS]:
            if racer.combined or len(found) == LEADERS:
                continue
            others = [c for c in beside(racer.candidate, useful) if not self._is_known(c)]
            racer.combined = not others
            if others:
                found.append(others[:AT_A_TIME])
        # In turns, so that the budget cuts off the last options and not the last leader.
        longest = max(map(len, found), default=0)
        self._enter([of[i] for i in range(longest) for of in found if i < len(of)])

    def _is_known(self, candidate: Candidate) -> bool:
        return candidate in self.racers or self._refused(candidate)

    def _gain(self, option: Option) -> float:
        """The most that the option has added to a set; 0 if it was in none."""
        return max((effect.gain for effect in self._effects.get(option, [])), default=0.0)

    def _extend(self, cells: Sequence[tuple[Racer, int]]) -> None:
        """Run these, as many as the budget has room for."""
        if self._left is not None:
            self.ended = self.ended or len(cells) > self._left
            cells = cells[: self._left]
        if not cells:
            return
        runs = self._run([(racer.candidate, seed) for racer, seed in cells])
        for (racer, _), run in zip(cells, runs, strict=False):
            racer.runs.append(run)
        self.count += len(runs)
        if self._left is not None:
            self._left -= len(runs)
        self.ended = self.ended or len(runs) < len(cells)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

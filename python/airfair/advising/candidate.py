"""Candidates of advice: a point for each set of changes that an operator can make together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

PARTS = ("law", "system", "discipline", "radio", "window", "queue", "ecn", "routes", "other")
"""The parts of a candidate: each has at most one option at a time. "other" are changes without a part of
their own, such as those that `airfair explain` proposes."""


class Option(NamedTuple):
    """A change that an operator can make."""

    part: str
    """One of `PARTS`."""
    scheme: str = ""
    """The scheme that it adds, if any."""
    changes: tuple[str, ...] = ()
    """Changes of the scenario, as they stand in the brackets of a selection."""

    @property
    def name(self) -> str:
        """The option alone, in words of a selection."""
        return "; ".join(filter(None, (self.scheme, *self.changes)))


@dataclass(frozen=True)
class Candidate:
    """A set of options; without any: what the scenario has today."""

    own: str
    """The scheme of the scenario, which runs where no option brings another."""
    options: frozenset[Option] = field(default_factory=frozenset)

    def of(self, part: str) -> Option | None:
        """The option of this part."""
        return next((option for option in self.options if option.part == part), None)

    def having(self, *options: Option) -> Candidate:
        """The candidate with these options in place of those of their parts."""
        parts = {option.part for option in options}
        kept = {option for option in self.options if option.part not in parts}
        return replace(self, options=frozenset(kept | set(options)))

    def without(self, part: str) -> Candidate:
        """The candidate without its option of this part."""
        return replace(self, options=frozenset(option for option in self.options if option.part != part))

    @property
    def sorted(self) -> list[Option]:
        """The options in the order of `PARTS`."""
        return sorted(self.options, key=lambda option: (PARTS.index(option.part), option.name))

    @property
    def text(self) -> str:
        """The selection, as `airfair compare --schemes` takes it."""
        schemes = [option.scheme for option in self.sorted if option.scheme]
        changes = [change for option in self.sorted for change in option.changes]
        names = "+".join(schemes) or self.own
        return f"{names}[{'; '.join(changes)}]" if changes else names

    @property
    def burden(self) -> int:
        """The number of things that somebody has to change."""
        return sum(bool(option.scheme) + len(option.changes) for option in self.options)


class Space:
    """The options of a scenario, and the candidates that are made of them."""

    def __init__(self, own: str, options: Sequence[Option], known: Sequence[Sequence[Option]] = ()) -> None:
        self.today = Candidate(own)
        self.options = list(options)
        self.known = [self.today.having(*together) for together in known]
        """Candidates that have helped elsewhere, tried first."""

    def first(self) -> list[Candidate]:
        """Candidates that are tried first: known ones, then each option alone."""
        alone = [self.today.having(option) for option in self.options]
        return list(dict.fromkeys([*self.known, *alone]))


def beside(candidate: Candidate, options: Sequence[Option]) -> Iterator[Candidate]:
    """Candidates that differ in one part: none, or another option."""
    for part in PARTS:
        if candidate.of(part) is not None:
            yield candidate.without(part)
    for option in options:
        if option not in candidate.options:
            yield candidate.having(option)

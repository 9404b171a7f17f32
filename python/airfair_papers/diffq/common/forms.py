"""Series of protocols in readings: their names, and which of them are the same."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airfair.claims import MAIN
from airfair.paper import Series

if TYPE_CHECKING:
    from airfair_papers.diffq.common.testbed import Protocol


class Form(typing.Protocol):
    """One reading of the points that the paper leaves open."""

    def of(self, protocol: Protocol) -> Form:
        """As far as it is about a protocol."""
        ...

    def changes(self, protocol: Protocol) -> tuple[str, ...]:
        """All of a protocol in this form."""
        ...


@dataclass(frozen=True)
class Forms:
    """Protocols, the readings that they are measured in, and the numbers of flows."""

    protocols: Mapping[str, Protocol]
    readings: Mapping[str, Form]
    counts: Sequence[int]

    def told(self, protocol: str, reading: str) -> str:
        """The first reading in which a protocol is what it is in this one."""
        of = self.protocols[protocol]
        form = self.readings[reading].of(of)
        return next(text for text, other in self.readings.items() if other.of(of) == form)

    def name(self, protocol: str, count: int, reading: str = MAIN) -> str:
        """The name of a series."""
        text = self.told(protocol, reading)
        return f"{protocol}, {count}{'' if text == MAIN else f', {text}'}"

    def series(
        self, protocols: Mapping[str, Sequence[str]], counts: Sequence[int] | None = None
    ) -> tuple[Series, ...]:
        """Each protocol in its readings with each number of flows, without those that are the same."""
        found = {}
        for each, readings in protocols.items():
            protocol = self.protocols[each]
            for reading in readings:
                for count in self.counts if counts is None else counts:
                    of = self.name(each, count, reading)
                    changes = (f"flows.count={count}", *self.readings[reading].changes(protocol))
                    found[of] = Series(of, protocol.scheme, changes)
        return tuple(found.values())

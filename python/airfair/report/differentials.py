"""Queue differentials of a run, hop by hop, for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..results import QueueDifferential, QueueResult, RunResult

KEY = '"differentials"'
"""In the text of a result that has any."""


@dataclass(frozen=True)
class Counts:
    """Packets that have left for a next hop: their number, the sum of their differentials, and the numbers at
    each level, from the lowest on; no levels where the scheme gives none."""

    packets: int
    sum: float
    levels: tuple[int, ...]

    def share(self, level: int) -> float:
        """Share of the packets at a level."""
        at = self.levels[level] if level < len(self.levels) else 0
        return at / sum(self.levels)


NONE = Counts(0, 0.0, ())


def hops(result: RunResult) -> dict[str, Counts]:
    """By the name of the hop, in the order of the queues. A queue is named where several lead to a node."""
    every = [(queue, of) for queue in result["queues"] for of in queue.get("differentials", [])]
    times = Counter((queue["node"], of["to"]) for queue, of in every)

    def name(queue: QueueResult, of: QueueDifferential) -> str:
        ends = f"{queue['node']} → {of['to']}"
        return ends if times[queue["node"], of["to"]] == 1 else f"{ends} ({queue['towards']})"

    return {
        name(queue, of): Counts(
            of["packets"], of["mean_packets"] * of["packets"], tuple(of.get("levels", []))
        )
        for queue, of in every
    }


def together(counts: Iterable[Counts]) -> Counts:
    """Their sum."""
    every = list(counts)
    levels = range(max((len(one.levels) for one in every), default=0))
    return Counts(
        sum(one.packets for one in every),
        sum(one.sum for one in every),
        tuple(sum(one.levels[at] for one in every if at < len(one.levels)) for at in levels),
    )

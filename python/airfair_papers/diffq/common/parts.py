"""Sets of flows of which only some are of one kind: the flows of `testbed.toml`, listed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import airfair

from airfair_papers.diffq.common.testbed import SCENE, sets

LISTED = Path(__file__).parent.with_name("listed.toml")


@lru_cache(maxsize=1000)
def pairs(count: int, seed: int) -> tuple[tuple[str, str], ...]:
    """The ends of the flows of a set."""
    changes = (f"flows.count={count}", *sets(seed))
    flows = airfair.network(airfair.Scenario.read(SCENE, changes))["flows"]
    return tuple((flow["src"], flow["dst"]) for flow in flows)


def listed(count: int, seed: int, kinds: tuple[str, ...]) -> str:
    """The override of a set's flows: the first is of the first kind, and so on, again and again. A kind is
    the keys of a flow beside its ends, as TOML; flow n of kind k is named "k-n"."""
    flows = [
        f'{{ id="{chr(ord("a") + i % len(kinds))}-{i}", from="{source}", to="{target}", start="30 s", '
        f'traffic={{ kind="ftp" }}, {kinds[i % len(kinds)]} }}'
        for i, (source, target) in enumerate(pairs(count, seed))
    ]
    return f"flow=[{', '.join(flows)}]"

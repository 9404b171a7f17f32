"""The max-min rates that the air allows the flows of a run."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import airfair
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from airfair.recording import Recording

LOCK = Lock()
"""An optimum of 32 flows takes seconds, and runs in several threads want the same one at once."""

CHANGES = ("radio.categories=dcf",)
"""The testbed's routes are static."""


def best(recording: Recording) -> NDArray[np.float64]:
    """Max-min rates of its flows, bit/s, in their order: over static routes by ETX and with the DCF, for
    which alone there is a model; of TCP with its acknowledgements, or of UDP."""
    flows = tomllib.loads(recording.scenario)["flow"]
    pairs = tuple((flow["from"], flow["to"]) for flow in flows)
    with LOCK:
        return _best(pairs, udp=flows[0]["transport"].startswith("udp"))


@lru_cache(maxsize=1000)
def _best(pairs: tuple[tuple[str, str], ...], *, udp: bool) -> NDArray[np.float64]:
    text = Path(__file__).parent.with_name("testbed.toml").read_text(encoding="utf-8").partition("[flows]")[0]
    sent = (
        'transport = "udp"\ntraffic = { kind = "saturating", packet = "1400 B" }'
        if udp
        else 'transport = "tcp"\ntraffic = { kind = "ftp" }'
    )
    for i, (source, target) in enumerate(pairs):
        text += f'[[flow]]\nid = "{i}"\nfrom = "{source}"\nto = "{target}"\n{sent}\n'
    optimum = airfair.optimum(airfair.Scenario.parse(text, overrides=CHANGES), proportional=False)
    rates = {flow["id"]: flow["max_min_bps"] for flow in optimum["flows"]}
    return np.array([rates[str(i)] for i in range(len(pairs))])

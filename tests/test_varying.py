"""Gains that vary: a scene of two links that interfere for a part of the time, fading in results."""

from __future__ import annotations

import airfair
import pytest
from airfair import InputError, Scenario

from tests.support import SCENARIOS

LINKS = SCENARIOS / "varying-links.toml"


def goodputs(*overrides: str, seed: int = 1) -> list[float]:
    """Goodputs of the flows, Mbit/s."""
    flows = airfair.run(Scenario.read(LINKS, overrides), seed=seed)["flows"]
    return [flow["goodput_bps"] / 1e6 for flow in flows]


def test_two_links_share_the_channel_for_two_thirds_of_the_time() -> None:
    """Each has the whole channel for a third of the time and half of it for the rest; a testbed gave 6.43
    and 6.52 Mbit/s."""
    measured = ("duration=50 s", "warmup=10 s")
    alone = goodputs("duration=12 s", "warmup=2 s", "flow.F2.stop=1 s")[0]
    assert alone == pytest.approx(9.81, rel=0.01)
    for found, stated in zip(goodputs(*measured), (6.43, 6.52), strict=True):
        assert found == pytest.approx(alone * (1 - 0.6667 / 2), rel=0.03)
        assert found == pytest.approx(stated, rel=0.03)


def test_without_changes_they_always_share_it() -> None:
    """Half of the channel each: 4.73 Mbit/s with nodes that rest at 300 m."""
    text = "\n".join(
        line for line in LINKS.read_text().splitlines() if not line.startswith(("changes", "period"))
    )
    flows = airfair.run(Scenario.parse(text, overrides=["duration=22 s", "warmup=2 s"]))["flows"]
    assert [flow["goodput_bps"] / 1e6 for flow in flows] == pytest.approx([4.73, 4.73], rel=0.03)


def test_fading_depends_on_the_seed_alone() -> None:
    fading = 'radio.fading={ model = "rayleigh", coherence = "20 ms" }'
    short = ("duration=4 s", "warmup=1 s")
    assert goodputs(fading, *short) == goodputs(fading, *short)
    assert goodputs(fading, *short) != goodputs(fading, *short, seed=2)
    assert goodputs(*short, 'radio.fading="off"') == goodputs(*short)


def test_mistakes_are_named() -> None:
    for text, problem in (
        ('radio.fading={ model = "rayleigh" }', "coherence: missing"),
        ('gain.2.changes=[{ at = "12 s", gain = "-90 dB" }]', "not before the period's end"),
    ):
        with pytest.raises(InputError, match=problem):
            Scenario.read(LINKS, [text])

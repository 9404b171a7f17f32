"""The slot-exact model of EDCA: by hand, and against ns-3 (`validation/data/edca-ns3.csv`)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from validation import edca, edca_ns3
from validation.edca import CATEGORIES, DIFFQ, Category


def one(category: Category, standard: str) -> float:
    """Mbit/s of one station with one category."""
    shares = edca.simulate([category], [(0,)], edca.ns3_timing(standard), busy_periods=100_000)
    return float(shares.mbps.sum())


def test_one_station_gets_what_its_airtimes_leave() -> None:
    # 802.11b, AC_BE: SIFS + 3 slots, 15.5 slots, data 968 us, SIFS, ACK 304 us.
    assert one(CATEGORIES["802.11b"][1], "802.11b") == pytest.approx(
        8000 / (70 + 310 + 968 + 10 + 304), rel=2e-3
    )
    # 802.11a, AC_VI without a TXOP limit; AC_VO with: four frames, and a CF-End of 52 us.
    alone = replace(CATEGORIES["802.11a"][2], txop_us=0)
    assert one(alone, "802.11a") == pytest.approx(8000 / (34 + 31.5 + 380 + 16 + 44), rel=2e-3)
    burst = 4 * 440 + 3 * 16 + 16 + 52
    assert one(CATEGORIES["802.11a"][3], "802.11a") == pytest.approx(32000 / (34 + 13.5 + burst), rel=2e-3)


def test_bursts_fill_the_limit() -> None:
    timing = edca.ns3_timing("802.11a")
    # Nine frames take 4088 of 4096 us: no CF-End fits, and the NAV of the others lasts 8 us longer.
    assert timing.burst(CATEGORIES["802.11a"][2]) == (9, 4088, 8)
    assert timing.burst(CATEGORIES["802.11a"][3]) == (4, 1808 + 68, 0)
    assert timing.burst(Category(2, 7, 15, 0)) == (1, 440, 0)
    assert timing.burst(Category(2, 7, 15, 100)) == (1, 440, 0), "one frame goes"


def test_a_lower_aifsn_or_window_wins() -> None:
    timing = edca.ns3_timing("802.11b")
    for better in (Category(2, 31, 1023), Category(3, 15, 1023)):
        shares = edca.simulate([Category(3, 31, 1023), better], [(0,), (1,)], timing)
        assert shares.by_category()[1] > 0.5 + 10 * shares.error.max()
    equal = edca.simulate([Category(3, 31, 1023)] * 2, [(0,), (1,)], timing)
    assert equal.by_category()[0] == pytest.approx(0.5, abs=4 * float(equal.error.max()))


def test_the_standards_countdown_serves_whoever_waits_longer() -> None:
    """The boundary at the end of AIFS shortens the waits of frozen counters, most of all those with a long
    AIFS."""
    timing = edca.ns3_timing("802.11b")
    cell = [Category(2, 31, 1023), Category(3, 31, 1023)]
    share = {
        rule: edca.simulate(cell, [(0,)] * 3 + [(1,)] * 3, timing, countdown=rule).by_category()[1]
        for rule in ("standard", "dcf")
    }
    assert share["dcf"] < share["standard"] < 0.5


def test_the_eight_levels_are_in_order() -> None:
    timing = edca.ns3_timing("802.11b")
    for stations in ([(level,) for level in range(8)], [tuple(range(8))]):
        shares = edca.simulate(DIFFQ, stations, timing)
        by_level = shares.by_category()
        assert all(low < high + 0.005 for low, high in pairwise(by_level))
        assert by_level.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="impossible cell"):
        edca.simulate(DIFFQ, [()], timing)


@pytest.mark.parametrize("row", edca_ns3.rows(), ids=lambda row: row.name)
def test_the_model_is_ns3(row: edca_ns3.Row) -> None:
    """Within the noise of short runs of the model; `python -m validation edca` has longer ones."""
    model = edca.simulate(
        row.categories(), row.stations(), edca.ns3_timing(row.standard), busy_periods=20_000
    )
    assert float(model.mbps.sum()) == pytest.approx(row.total_mbps, rel=0.03)
    for category, share in enumerate(row.shares()):
        assert float(model.by_category()[category]) == pytest.approx(share, abs=0.04)

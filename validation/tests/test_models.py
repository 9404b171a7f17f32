"""The models against published numbers, fast; `python -m validation models` says the same with longer runs
and figures."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from validation import airtimes, bianchi, phy, queueing, reference, slots
from validation.sections import models


@pytest.mark.parametrize(("mode", "size", "duration"), reference.FRAME_US)
def test_frame_durations_are_the_standards(mode: str, size: int, duration: int) -> None:
    layer, rate = phy.phy_of(mode)
    assert layer.frame_us(size, rate) == duration


def test_impossible_rates_are_refused() -> None:
    with pytest.raises(ValueError, match=r"802\.11b"):
        phy.dsss_us(14, 6)
    with pytest.raises(ValueError, match=r"802\.11a"):
        phy.ofdm_us(14, 11)
    with pytest.raises(ValueError, match="unknown mode"):
        phy.phy_of("HtMcs7")


def test_interframe_spaces() -> None:
    assert (phy.DSSS.difs_us, phy.OFDM.difs_us) == (50, 34)
    # 10 + 304 + 50, and 16 + 44 + 34.
    assert (phy.DSSS.eifs_us(1), phy.OFDM.eifs_us(6)) == (364, 94)


@pytest.mark.parametrize("row", reference.BIANCHI_2000_ROWS)
def test_bianchi_2000_to_four_digits(row: reference.Normalised) -> None:
    assert round(bianchi.paper_throughput(row.n, row.window, row.stages, rts=False), 4) == row.basic
    assert round(bianchi.paper_throughput(row.n, row.window, row.stages, rts=True), 4) == row.rts


@pytest.mark.parametrize(("n", "basic", "rts"), reference.BIANCHI_2000_MAXIMUM)
def test_bianchi_2000_maximum(n: int, basic: float, rts: float) -> None:
    assert round(bianchi.paper_maximum(n, rts=False), 4) == basic
    assert round(bianchi.paper_maximum(n, rts=True), 4) == rts


def test_bianchi_2000_k() -> None:
    assert bianchi.paper_k() == pytest.approx(reference.BIANCHI_2000_K, abs=5e-4)


def test_fixed_point_limits() -> None:
    # Alone, a station never collides and attempts once in (W+1)/2 slots; without doubling, tau is that for
    # every n.
    tau, p = bianchi.fixed_point(1, 32, 5)
    assert tau == pytest.approx(2 / 33)
    assert p == 0
    assert bianchi.fixed_point(20, 32, 0)[0] == pytest.approx(2 / 33)
    # p = 1/2 is where the closed form of the paper's eq. 7 divides by zero: with W = 2^k the sum is m there.
    assert bianchi.attempt_probability(0.5, 32, 5) == pytest.approx(2 / (1 + 32 + 0.5 * 32 * 5))


@pytest.mark.parametrize("mode", reference.BIANCHI_DIFS)
def test_bianchi_tables_difs_form(mode: str) -> None:
    settings = phy.table_settings(mode, "difs")
    for n, published in zip(reference.TABLE_N, reference.BIANCHI_DIFS[mode], strict=True):
        assert bianchi.solve(settings, n).throughput_mbps == pytest.approx(published, rel=0.0035)


@pytest.mark.parametrize("mode", reference.BIANCHI_EIFS)
def test_bianchi_tables_eifs_form(mode: str) -> None:
    settings = phy.table_settings(mode, "eifs")
    for n, published in zip(reference.EIFS_N, reference.BIANCHI_EIFS[mode], strict=True):
        assert bianchi.solve(settings, n).throughput_mbps == pytest.approx(published, rel=0.005)


@pytest.mark.parametrize("layer", [phy.DSSS, phy.OFDM], ids=lambda layer: layer.name)
def test_slot_exact_collision_probability(layer: phy.Phy) -> None:
    for n, published in zip(reference.COLLISION_N, reference.COLLISION_PROBABILITY[layer.name], strict=True):
        cell = slots.simulate(n, layer.cw_min, layer.cw_max, busy_periods=200_000)
        assert cell.collision_probability == pytest.approx(published, abs=0.005)


@pytest.mark.parametrize("mode", ["DsssRate11Mbps", "OfdmRate54Mbps"])
def test_slot_exact_throughput_near_the_tables(mode: str) -> None:
    published = dict(zip(reference.TABLE_N, reference.BIANCHI_DIFS[mode], strict=True))
    for n in (5, 20, 50):
        cell = slots.simulate_settings(phy.table_settings(mode), n, busy_periods=200_000)
        assert cell.throughput_mbps == pytest.approx(published[n], rel=0.0075)


@pytest.mark.parametrize("row", reference.NS3_SATURATION, ids=lambda row: f"{row.mode}-{row.n}-{row.rts}")
def test_slot_exact_model_meets_ns3(row: reference.Saturation) -> None:
    cell = models.ns3_cell(row, busy_periods=100_000, seed=1)
    allowance = models.collision_allowance(row, cell)
    assert cell.collision_probability == pytest.approx(row.collision_probability, abs=allowance)
    assert cell.throughput_mbps == pytest.approx(row.goodput_mbps, rel=0.01)


def test_ns3_does_not_wait_eifs_after_collisions() -> None:
    """The rule that the section's text claims decides: the same model with EIFS lies far below ns-3."""
    row = next(
        row for row in reference.NS3_SATURATION if (row.mode, row.n, row.rts) == ("DsssRate11Mbps", 50, False)
    )
    cell = slots.simulate_settings(phy.peer_settings(row.mode), row.n, attempts_limit=7, busy_periods=100_000)
    assert cell.throughput_mbps < 0.95 * row.goodput_mbps


def test_slot_exact_with_one_station_is_arithmetic() -> None:
    settings = phy.peer_settings("DsssRate11Mbps")
    cell = slots.simulate_settings(settings, 1, busy_periods=100_000)
    assert (cell.collisions, cell.drops, cell.successes) == (0, 0, cell.busy_periods)
    assert cell.throughput_mbps == pytest.approx(airtimes.one_station_mbps(settings), rel=0.002)


def test_slot_exact_with_two_stations_and_one_slot() -> None:
    # CW = 0 forever: both always draw 0, so every attempt collides, and every seventh attempt of a station is
    # its last.
    cell = slots.simulate(2, 0, 0, attempts_limit=7, busy_periods=7000)
    assert (cell.collision_probability, cell.successes, cell.idle_slots) == (1.0, 0, 0.0)
    assert cell.drops == pytest.approx(2 * cell.busy_periods / 7, rel=0.05)


def test_slot_exact_two_counters_by_hand() -> None:
    # CW = 1 forever, two stations. After a success the loser waits at 1 and the winner draws 0 (sends at
    # once) or 1 (both collide after a slot); after a collision both draw: equal with 1/2. In the long run
    # half of all busy periods collide, and 2/3 of all attempts.
    cell = slots.simulate(2, 1, 1, busy_periods=400_000)
    assert cell.collisions / cell.busy_periods == pytest.approx(0.5, abs=0.004)
    assert cell.collision_probability == pytest.approx(2 / 3, abs=0.004)


def test_slot_exact_repeats_and_depends_on_its_seed() -> None:
    first, again, other = (slots.simulate(5, 31, 1023, busy_periods=5000, seed=seed) for seed in (3, 3, 4))
    assert first.attempts == again.attempts
    assert first.collided == again.collided
    assert (first.attempts, first.collided) != (other.attempts, other.collided)


def test_slot_exact_counts_add_up() -> None:
    cell = slots.simulate(10, 15, 1023, attempts_limit=4, busy_periods=20_000)
    assert cell.attempts == cell.successes + cell.collided
    assert cell.busy_periods == cell.successes + cell.collisions
    assert cell.drops > 0
    assert math.isnan(cell.throughput_mbps)


def test_impossible_cells_are_refused() -> None:
    for arguments in ((0, 31, 1023), (5, 31, 15), (5, -1, 15)):
        with pytest.raises(ValueError, match="impossible cell"):
            slots.simulate(*arguments)
    with pytest.raises(ValueError, match="busy_periods"):
        slots.simulate(5, 31, 1023, busy_periods=5)


def test_one_station_by_hand() -> None:
    # 802.11b at 11 Mbit/s: 1330 data + 304 ACK + 10 SIFS + 50 DIFS + 310 back-off = 2004 us; 352 + 304 + 20
    # more with RTS.
    basic, rts = phy.peer_settings("DsssRate11Mbps"), phy.peer_settings("DsssRate11Mbps", rts=True)
    assert sum(airtimes.one_station_us(basic).values()) == 2004
    assert sum(airtimes.one_station_us(rts).values()) == 2680
    # 802.11a at 54 Mbit/s: 256 + 28 + 16 + 34 + 67.5.
    assert sum(airtimes.one_station_us(phy.peer_settings("OfdmRate54Mbps")).values()) == 401.5
    for row in reference.NS3_SATURATION:
        if row.n == 1:
            settings = phy.peer_settings(row.mode, rts=row.rts)
            assert airtimes.one_station_mbps(settings) == pytest.approx(row.goodput_mbps, rel=0.003)


def test_propagation_is_charged_once_a_frame() -> None:
    settings = phy.peer_settings("DsssRate11Mbps", rts=True)
    longer = replace(settings, propagation_us=2.0).durations()
    assert longer.success_us == settings.durations().success_us + 4 * 2
    assert longer.collision_us == settings.durations().collision_us + 2


def test_one_hop_of_ns2s_chain() -> None:
    assert sum(airtimes.ns2_hop_us().values()) == reference.NS2_HOP_US
    assert airtimes.ns2_hop_kbps() == pytest.approx(reference.NS2_HOP_KBPS, abs=0.05)
    assert airtimes.ns2_hop_kbps() == pytest.approx(reference.CHAIN_UDP_KBPS["ns-2"][0], rel=0.003)


@pytest.mark.parametrize(("probability", "freedom", "quantile"), reference.STUDENT_T)
def test_student_t_quantiles(probability: float, freedom: int, quantile: float) -> None:
    assert queueing.student_t_quantile(probability, freedom) == pytest.approx(quantile, abs=6e-4)
    assert queueing.student_t_quantile(1 - probability, freedom) == pytest.approx(-quantile, abs=6e-4)


def test_waiting_times() -> None:
    # Service 1/s, load 1/2: one service time of waiting in M/M/1, half of it in M/D/1.
    assert queueing.mm1_wait(0.5, 1.0) == pytest.approx(1.0)
    assert queueing.md1_wait(0.5, 1.0) == pytest.approx(0.5)
    assert queueing.mm1_wait(0.0, 1.0) == 0
    with pytest.raises(ValueError, match="load"):
        queueing.mm1_wait(1.0, 1.0)


def test_lindley_by_hand() -> None:
    waits = queueing.lindley_waits(np.array([1.0, 5.0, 1.0]), np.array([3.0, 2.0, 4.0, 1.0]))
    assert waits.tolist() == [0.0, 2.0, 0.0, 3.0]


def test_batch_means_cover_the_truth() -> None:
    """Of 100 intervals at 99 % for M/M/1 at load 0.5, about one misses; five would be an error of the
    method."""
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(100):
        waits = queueing.lindley_waits(rng.exponential(2.0, 50_000), rng.exponential(1.0, 50_000))
        missed += not queueing.batch_means(waits[2_000:]).contains(queueing.mm1_wait(0.5, 1.0))
    assert missed <= 4


def test_batch_means_by_hand() -> None:
    # Three batches with means 1, 2, 3: standard error 1/sqrt(3), t(0.975, 2) = 4.303.
    interval = queueing.batch_means([9.0, 0.0, 2.0, 1.0, 3.0, 2.0, 4.0], batches=3, confidence=0.95)
    assert interval.mean == 2.0
    assert interval.half_width == pytest.approx(4.303 / math.sqrt(3), abs=1e-3)
    with pytest.raises(ValueError, match="batches"):
        queueing.batch_means([1.0], batches=2)

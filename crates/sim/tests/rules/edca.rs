//! Access categories: AIFS, frozen back-offs, internal collisions, TXOPs (802.11-2016 10.22.2).

use airfair_sim::record::{FrameKind, Record, Trace};
use airfair_sim::spec::*;

use crate::support::rig::*;
use crate::support::wires::{built, tcp};
use crate::support::*;
use airfair_sim::World;
use airfair_transport::TcpConfig;

/// 802.11b with categories whose back-offs never have a slot.
fn without_slots(aifsns: &[u8]) -> RadioSpec {
    let rows: Vec<_> = aifsns.iter().map(|&aifsn| (aifsn, 0, 0, 0)).collect();
    with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::Silent))
}

fn pair(radio: &RadioSpec, seed: u64) -> Rig {
    Rig::new(std::slice::from_ref(radio), &[("a", 0, 0.0), ("b", 0, 300.0)], &[], seed)
}

/// Internal collisions of a station: time, category, winner, attempts, new window, given up.
fn internal(trace: &Trace, station: u32) -> Vec<(u64, u8, u8, u32, u32, bool)> {
    let of = |&(time, ref record): &(airfair_units::Time, Record)| match *record {
        Record::InternalCollision { at, category, winner, attempts, cw, given_up } if at.0 == station => {
            Some((time.0, category, winner, attempts, cw, given_up))
        }
        _ => None,
    };
    trace.iter().filter_map(of).collect()
}

/// The frame of `b` ends at `a` at 2281001; SIFS and AIFSN slots later the packet of each category is sent.
#[test]
fn each_category_waits_for_its_aifs() {
    let radio = without_slots(&[7, 6, 3, 2]);
    for (category, start) in [(0, 2_431_001), (1, 2_411_001), (2, 2_351_001), (3, 2_331_001)] {
        let mut rig = pair(&radio, 1);
        rig.broadcast(1_000_000, 1, 100);
        rig.send_in(category, 2_000_000, 0, 1, 1500);
        assert_eq!(starts(&rig.run(4_000_000), 0), [start], "category {category}");
    }
}

/// A medium that has been idle for the AIFS of the category is used at once; one that has not, when the AIFS ends.
#[test]
fn an_idle_medium_is_used_after_the_aifs_of_the_category() {
    let radio = without_slots(&[7, 2]);
    for (at, category, start) in [
        (1_000_000, 0, 1_000_000),
        (1_000_000, 1, 1_000_000),
        // 2281001 + 50000 has passed, 2281001 + 150000 has not.
        (2_400_000, 1, 2_400_000),
        (2_400_000, 0, 2_431_001),
        (2_300_000, 1, 2_331_001),
    ] {
        let mut rig = pair(&radio, 1);
        if at > 2_000_000 {
            rig.broadcast(1_000_000, 1, 100);
        }
        rig.send_in(category, at, 0, 1, 1500);
        assert_eq!(starts(&rig.run(4_000_000), 0), [start], "category {category} at {at}");
    }
}

/// The lowest AIFSN is not that of the DCF, and a category that joins a count is aligned to its slots: category 0 counts from
/// 2281001 + 10000 + 3 x 20000; at 2360001 category 1 has a packet, whose AIFS of one slot more ended at 2371001.
#[test]
fn a_category_that_joins_a_count_is_aligned_to_its_slots() {
    for seed in 0..50 {
        let rows = [(3, 31, 1023, 0), (4, 0, 0, 0)];
        let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::Silent));
        let first = |second: bool| {
            let mut rig = pair(&radio, seed);
            rig.broadcast(1_000_000, 1, 100);
            rig.send_in(0, 2_000_000, 0, 1, 1500);
            if second {
                rig.send_in(1, 2_360_001, 0, 1, 100);
            }
            starts(&rig.run(3_600_000), 0)
        };
        let alone = first(false)[0];
        let slots = (alone - 2_351_001) / 20_000;
        assert_eq!(alone, 2_351_001 + slots * 20_000);
        let both = first(true);
        match slots {
            // It has begun, or wins at the slot at which category 1 joins.
            0 => assert_eq!(both[0], alone),
            1 => assert_eq!(both[0], 2_371_001, "the higher category wins the common slot"),
            _ => assert_eq!(both[0], 2_371_001),
        }
    }
}

/// Slots are those of the present count, not of the last busy medium: after a time-out at 1000000 + 1310000 + 222000 boundaries are at
/// 2582000 + n x 20000 (10.22.2.4). At 2625000 category 1 has a packet, which is sent at the next boundary, the fourth of the others.
#[test]
fn a_category_joins_the_slots_after_a_time_out() {
    let rows = [(2, 31, 31, 0), (2, 0, 0, 0)];
    let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::Silent));
    let stations = [("a", 0, 0.0), ("b", 0, 300.0), ("far", 0, 50_000.0)];
    let mut joined = 0;
    for seed in 0..40 {
        let sent = |second: bool| {
            let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &[], seed);
            rig.send_in(0, 1_000_000, 0, 2, 1500);
            if second {
                rig.send_in(1, 2_625_000, 0, 1, 100);
            }
            starts(&rig.run(5_000_000), 0)
        };
        let alone = sent(false)[1];
        let slots = (alone - 2_582_000) / 20_000;
        assert_eq!(alone, 2_582_000 + slots * 20_000);
        if slots > 3 {
            joined += 1;
            // Data of 136 B in 291 us, ACK in 304 us; then the other slots.
            let exchanged = 2_642_000 + 291_000 + 1_001 + 10_000 + 304_000 + 1_001;
            let retry = exchanged + 50_000 + (slots - 4) * 20_000;
            assert_eq!(sent(true)[1..3], [2_642_000, retry], "seed {seed}, {slots} slots");
        }
    }
    assert!(joined > 20);
}

/// A category's AIFS follows the time-out (10.22.2.4), whenever its packet comes: at 2532000 + 10000 + 7 x 20000 while category 1 counts.
#[test]
fn a_category_waits_for_its_aifs_after_a_time_out() {
    let rows = [(7, 0, 0, 0), (2, 31, 31, 0)];
    let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::Silent));
    let stations = [("a", 0, 0.0), ("b", 0, 300.0), ("far", 0, 50_000.0)];
    let mut joined = 0;
    for seed in 0..40 {
        let sent = |at: Option<u64>| {
            let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &[], seed);
            rig.send_in(1, 1_000_000, 0, 2, 1500);
            if let Some(at) = at {
                rig.send_in(0, at, 0, 1, 100);
            }
            starts(&rig.run(5_000_000), 0)[1]
        };
        // Category 1 is the first otherwise, at the same boundary too.
        if sent(None) > 2_682_000 {
            joined += 1;
            for (at, start) in [
                (2_000_000, 2_682_000),
                (2_540_000, 2_682_000),
                (2_585_000, 2_682_000),
                (2_670_000, 2_682_000),
            ] {
                assert_eq!(sent(Some(at)), start, "seed {seed}, packet at {at}");
            }
        }
    }
    assert!(joined > 20);
}

/// A signal is sensed 15 us after its start (10.3.7). `b`'s frame ends at 2280000, a signal of `c` comes at 2340000, a packet at 2345000. A
/// category whose AIFS has ended sends; one whose AIFS ends at 2430000 backs off, and counts its AIFS from the signal's end at 3620000.
#[test]
fn a_signal_that_is_not_sensed_yet_prevents_only_later_access() {
    let radio = by_matrix(without_slots(&[7, 2]));
    for (category, start) in [(0, 3_620_000 + 150_000), (1, 2_345_000)] {
        let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
        let powers = [(1, 0, -60.0), (2, 0, -60.0)];
        let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &powers, 1);
        rig.broadcast(1_000_000, 1, 100);
        rig.broadcast(2_340_000, 2, 100);
        rig.send_in(category, 2_345_000, 0, 1, 1500);
        assert_eq!(starts(&rig.run(4_000_000), 0)[0], start, "category {category}");
    }
}

/// Both back-offs end at 2331001. The higher category sends; the lower one doubles its window, and follows after the exchange: DATA of 1310
/// us, ACK back at 2331001 + 1310000 + 1001 + 10000 + 304000 + 1001 = 3957003, DIFS.
#[test]
fn the_higher_category_wins_an_internal_collision() {
    let mut rig = pair(&without_slots(&[2, 2]), 1);
    rig.broadcast(1_000_000, 1, 100);
    let low = rig.send_in(0, 2_000_000, 0, 1, 1500);
    let high = rig.send_in(1, 2_000_000, 0, 1, 1500);
    let trace = rig.run(8_000_000);
    let sent: Vec<_> = frames(&trace)
        .iter()
        .filter(|f| f.sender.0 == 0)
        .map(|f| (f.start.0, f.packet.0, f.category, f.retry))
        .collect();
    assert_eq!(sent, [(2_331_001, high, Some(1), false), (4_007_003, low, Some(0), false)]);
    assert_eq!(internal(&trace, 0), [(2_331_001, 0, 1, 1, 0, false)]);
}

/// Windows double at each internal collision up to the largest, and the seventh gives the packet up.
#[test]
fn internal_collisions_count_as_attempts() {
    let rows = [(2, 0, 0, 0), (2, 0, 0, 0)];
    let mut radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::Silent));
    radio.mac.mac_queue = 10;
    let mut rig = pair(&radio, 1);
    rig.broadcast(1_000_000, 1, 100);
    let low = rig.send_in(0, 2_000_000, 0, 1, 1500);
    for _ in 0..8 {
        rig.send_in(1, 2_000_000, 0, 1, 1500);
    }
    let trace = rig.run(30_000_000);
    let collisions = internal(&trace, 0);
    assert_eq!(
        collisions.iter().map(|c| (c.3, c.5)).collect::<Vec<_>>(),
        [(1, false), (2, false), (3, false), (4, false), (5, false), (6, false), (7, true)]
    );
    assert!(frames(&trace).iter().all(|f| f.packet.0 != low), "never on the air");
    assert!(rig.diary.done.iter().any(|&(_, _, packet, outcome)| {
        packet == low && outcome == airfair_sim::air::Outcome::InternalCollisions
    }));
    let counters = rig.air.category_counters(airfair_sim::ids::StationIx(0));
    let counted: Vec<_> = counters
        .iter()
        .map(|(name, c)| (*name, c.sent, c.finished, c.internal_collisions, c.given_up))
        .collect();
    assert_eq!(counted, [("c0", 0, 0, 7, 1), ("c1", 8, 8, 0, 0)]);
}

/// A broadcast is sent once, however often the other category has been first.
#[test]
fn broadcasts_have_no_limit_of_internal_collisions() {
    let rows = [(2, 0, 0, 0), (2, 0, 0, 0)];
    let mut radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::CfEnd));
    radio.mac.mac_queue = 10;
    let mut rig = pair(&radio, 1);
    rig.broadcast(1_000_000, 1, 100);
    let low = rig.broadcast(2_000_000, 0, 100);
    for _ in 0..9 {
        rig.send_in(1, 2_000_000, 0, 1, 1500);
    }
    let trace = rig.run(30_000_000);
    let collisions: Vec<_> = internal(&trace, 0).iter().map(|c| (c.3, c.5)).collect();
    assert_eq!(collisions, [(0, false); 9]);
    let sent: Vec<_> = frames(&trace).into_iter().filter(|f| f.packet.0 == low).collect();
    assert_eq!(sent.len(), 1);
}

#[test]
fn the_window_doubles_up_to_the_largest() {
    let rows = [(2, 0, 7, 0), (2, 0, 0, 0)];
    let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::Silent));
    // Whatever it draws, it meets the next packet of category 1 only by chance: only the first window is certain.
    let mut rig = pair(&radio, 1);
    rig.broadcast(1_000_000, 1, 100);
    rig.send_in(0, 2_000_000, 0, 1, 1500);
    for _ in 0..40 {
        rig.send_in(1, 2_000_000, 0, 1, 1500);
    }
    let windows: Vec<u32> = internal(&rig.run(90_000_000), 0).iter().map(|c| c.4).collect();
    assert!(windows.len() > 3, "{windows:?}");
    assert_eq!(windows[..3], [1, 3, 7]);
    assert!(windows.iter().all(|&window| [1, 3, 7].contains(&window)));
}

/// A frozen back-off of n slots: the medium was idle at 2331001, 2351001 and 2371001 when a frame arrives at 2376001. The standard counts
/// three of these boundaries for EDCA, the DCF two.
#[test]
fn a_frozen_back_off_has_counted_the_end_of_its_aifs() {
    for countdown in [Countdown::Standard, Countdown::Dcf] {
        for (aifsn, seed) in
            [(2, 3), (3, 5)].into_iter().flat_map(|(aifsn, s)| (s..s + 40).map(move |s| (aifsn, s)))
        {
            let rows = [(aifsn, 31, 31, 0), (2, 0, 0, 0)];
            let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, countdown, TxopEnd::Silent));
            let radio = by_matrix(radio);
            let start = |interrupted: bool| {
                let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
                let powers = [(1, 0, -60.0), (2, 0, -60.0)];
                let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &powers, seed);
                rig.broadcast(1_001_001, 1, 100);
                rig.broadcast(2_000_000, 0, 100);
                if interrupted {
                    rig.broadcast(2_376_001, 2, 100);
                }
                starts(&rig.run(6_000_000), 0)[0]
            };
            let aifs_end = 2_281_001 + 10_000 + u64::from(aifsn) * 20_000;
            let slots = (start(false) - aifs_end) / 20_000;
            // Boundaries up to 2371001, that at the end of the AIFS included.
            let passed = (2_371_001 - aifs_end) / 20_000 + 1;
            let lost = passed - u64::from(countdown == Countdown::Dcf);
            let expected = if slots < passed {
                start(false)
            } else {
                2_376_001 + 1_280_000 + 10_000 + u64::from(aifsn) * 20_000 + (slots - lost) * 20_000
            };
            assert_eq!(start(true), expected, "{countdown:?}, AIFSN {aifsn}, {slots} slots");
        }
    }
}

/// A TXOP of 3264 us has room for two exchanges of 1626002 ns with a SIFS between them, and not for a third, nor for a CF-End. Duration
/// fields reserve the rest of the TXOP, or the response only; the station itself waits for the end of what it has reserved, but for ns-3.
#[test]
fn a_txop_carries_the_frames_that_fit() {
    let ends = [
        (TxopEnd::Silent, [314, 314, 314], 0),
        (TxopEnd::CfEndNs3, [1954, 318, 1954], 0),
        (TxopEnd::CfEnd, [1954, 318, 1954], 1_996),
    ];
    for (txop_end, navs, waits) in ends {
        let rows = [(7, 0, 0, 0), (2, 0, 0, 3264)];
        let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, txop_end));
        let mut rig = pair(&radio, 1);
        for _ in 0..3 {
            rig.send_in(1, 1_000_000, 0, 1, 1500);
        }
        let trace = rig.run(5_500_000);
        let data: Vec<_> = frames(&trace).into_iter().filter(|f| f.kind == FrameKind::Data).collect();
        let second = 1_000_000 + 1_626_002 + 10_000;
        let third = second + 1_626_002 + 50_000 + waits;
        assert_eq!(data.iter().map(|f| f.start.0).collect::<Vec<_>>(), [1_000_000, second, third]);
        assert_eq!(data.iter().map(|f| f.nav_us).collect::<Vec<_>>(), navs, "{txop_end:?}");
    }
}

/// A CF-End a SIFS after the only exchange of a TXOP: 352 us at 1 Mbit/s. A bystander whose NAV covered the TXOP sends a DIFS later.
#[test]
fn a_cf_end_releases_the_medium() {
    for txop_end in [TxopEnd::CfEnd, TxopEnd::CfEndNs3, TxopEnd::Silent] {
        let rows = [(7, 0, 0, 0), (2, 0, 0, 6016)];
        let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, txop_end));
        let stations = [("a", 0, 0.0), ("b", 0, 300.0), ("c", 0, 0.0)];
        let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &[], 1);
        rig.send_in(1, 1_000_000, 0, 1, 1500);
        rig.send_in(1, 1_100_000, 2, 1, 100);
        let trace = rig.run(5_500_000);
        let ends: Vec<_> = frames(&trace)
            .into_iter()
            .filter(|f| f.kind == FrameKind::CfEnd)
            .map(|f| (f.sender.0, f.start.0))
            .collect();
        let exchanged = 1_000_000 + 1_626_002;
        match txop_end {
            TxopEnd::CfEnd | TxopEnd::CfEndNs3 => {
                assert_eq!(ends[0], (0, exchanged + 10_000));
                assert_eq!(starts(&trace, 2)[0], exchanged + 10_000 + 352_000 + 50_000);
            }
            TxopEnd::Silent => {
                assert_eq!(ends, []);
                assert_eq!(starts(&trace, 2)[0], exchanged + 50_000);
            }
        }
    }
}

/// A frame of a TXOP without ACK is sent again a SIFS after the time-out (222 us after its end) as long as the exchange fits, if the TXOP
/// is reserved; the next attempt follows a back-off, when the reservation is over. The first frame of a TXOP has no such second attempt.
#[test]
fn a_txop_goes_on_after_a_missing_ack() {
    let rows = [(7, 0, 0, 0), (2, 0, 0, 7_000)];
    for txop_end in [TxopEnd::CfEnd, TxopEnd::Silent] {
        let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, txop_end));
        let stations = [("a", 0, 0.0), ("b", 0, 300.0), ("far", 0, 9_000.0)];
        let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &[], 1);
        rig.send_in(1, 1_000_000, 0, 1, 1500);
        rig.send_in(1, 1_000_000, 0, 2, 1500);
        let data: Vec<u64> = starts(&rig.run(12_000_000), 0);
        let second = 1_000_000 + 1_626_002 + 10_000;
        // Data of 1310 us and time-out of 222 us; then a SIFS, or a DIFS with its back-off of no slots.
        let failed = 1_310_000 + 222_000;
        let expected = match txop_end {
            TxopEnd::Silent => [second, second + failed + 50_000, second + 2 * (failed + 50_000)],
            _ => [second, second + failed + 10_000, second + 2 * (failed + 10_000)],
        };
        assert_eq!(data[1..4], expected, "{txop_end:?}");
        if txop_end == TxopEnd::CfEnd {
            // A fourth attempt would end after 8000000.
            assert_eq!(data[4], 8_000_000 + 50_000);
        }
    }
}

/// A frame that is received instead of the ACK ends the wait for it: the medium has not been idle for a PIFS, so the TXOP is over, and the
/// station waits until the end of what it has reserved.
#[test]
fn a_txop_does_not_go_on_at_a_busy_medium() {
    let rows = [(7, 0, 0, 0), (2, 0, 0, 7_000)];
    let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::CfEnd));
    let radio = by_matrix(radio);
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
    let powers = [(0, 1, -60.0), (1, 0, -60.0), (2, 0, -60.0)];
    let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &powers, 1);
    rig.send_in(1, 1_000_000, 0, 1, 1500);
    rig.send_in(1, 1_000_000, 0, 2, 1500);
    let second = 1_000_000 + 1_624_000 + 10_000;
    // It begins between the end of the frame and the time-out.
    rig.broadcast(second + 1_310_000 + 100_000, 2, 100);
    assert_eq!(starts(&rig.run(9_000_000), 0)[..3], [1_000_000, second, 8_000_000 + 50_000]);
}

/// A TXOP goes on after a missing ACK if the medium has been idle for a PIFS, 30 us, before the time-out (10.22.2.7): energy that cannot be
/// decoded ends that long before it, a nanosecond later, or a slot before it. Otherwise the TXOP is over, and its limit is at 8000000.
#[test]
fn a_txop_goes_on_after_a_pifs() {
    let rows = [(7, 0, 0, 0), (2, 0, 0, 7_000)];
    let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::CfEnd));
    let radio = by_matrix(radio);
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
    let powers = [(0, 1, -60.0), (1, 0, -60.0), (2, 0, -90.0)];
    let second = 1_000_000 + 1_624_000 + 10_000;
    let time_out = second + 1_310_000 + 222_000;
    for (idle, third) in
        [(30_000, time_out + 10_000), (29_999, 8_000_000 + 50_000), (20_000, 8_000_000 + 50_000)]
    {
        let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &powers, 1);
        rig.send_in(1, 1_000_000, 0, 1, 1500);
        rig.send_in(1, 1_000_000, 0, 2, 1500);
        rig.broadcast(time_out - idle - 1_280_000, 2, 100);
        assert_eq!(starts(&rig.run(9_000_000), 0)[..3], [1_000_000, second, third], "idle for {idle} ns");
    }
}

/// A frame is sent again in a TXOP if its exchange ends before the limit (10.22.2.7): the second frame's time-out is at 4166000, its second
/// attempt's ACK would end at 4166000 + 10000 + 1310000 + 10000 + 304000 = 5800000.
#[test]
fn a_second_attempt_must_fit_into_the_txop() {
    for (limit, third) in [(4_800, 4_176_000), (4_799, 5_799_000 + 50_000)] {
        let rows = [(7, 0, 0, 0), (2, 0, 0, limit)];
        let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::CfEnd));
        let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
        let powers = [(0, 1, -60.0), (1, 0, -60.0)];
        let mut rig = Rig::new(&[by_matrix(radio)], &stations, &powers, 1);
        rig.send_in(1, 1_000_000, 0, 1, 1500);
        rig.send_in(1, 1_000_000, 0, 2, 1500);
        assert_eq!(starts(&rig.run(7_000_000), 0)[..3], [1_000_000, 2_634_000, third], "limit {limit} us");
    }
}

/// A broadcast in a TXOP needs no time for an ACK: 1280 us after an exchange of 1626002 ns and a SIFS.
#[test]
fn a_broadcast_of_a_txop_fits_without_an_ack() {
    let second = 1_000_000 + 1_626_002 + 10_000;
    // Without room for it a CF-End of 352 us ends the TXOP.
    for (limit, start) in [(2_920, second), (2_910, second + 352_000 + 50_000)] {
        let rows = [(7, 0, 0, 0), (2, 0, 0, limit)];
        let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::CfEnd));
        let mut rig = pair(&radio, 1);
        rig.send_in(1, 1_000_000, 0, 1, 1500);
        rig.send_in(1, 1_000_000, 0, u32::MAX, 100);
        let broadcasts: Vec<_> = frames(&rig.run(9_000_000))
            .into_iter()
            .filter(|f| f.kind == FrameKind::Broadcast)
            .map(|f| f.start.0)
            .collect();
        assert_eq!(broadcasts, [start], "limit {limit} us");
    }
}

/// The next frame of a TXOP follows the ACK after a SIFS, whatever else is heard: the medium is the station's.
#[test]
fn a_txop_does_not_wait_for_other_signals() {
    let rows = [(7, 0, 0, 0), (2, 0, 0, 6_016)];
    for txop_end in [TxopEnd::CfEnd, TxopEnd::Silent] {
        let radio =
            by_matrix(with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, txop_end)));
        let sent = |foreign: bool| {
            let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
            let mut rig = Rig::new(
                std::slice::from_ref(&radio),
                &stations,
                &[(0, 1, -60.0), (1, 0, -60.0), (2, 0, -75.0)],
                1,
            );
            for _ in 0..2 {
                rig.send_in(1, 1_000_000, 0, 1, 1500);
            }
            if foreign {
                // During the ACK, to 2280 us after it.
                rig.broadcast(2_400_000, 2, 300);
            }
            starts(&rig.run(4_500_000), 0)
        };
        assert_eq!(sent(true)[..2], [1_000_000, 1_000_000 + 1_624_000 + 10_000], "{txop_end:?}");
        assert_eq!(sent(true)[..2], sent(false)[..2]);
    }
}

/// A lone broadcast reserves nothing, so no CF-End follows; one behind other frames of a TXOP reserves what they have reserved.
#[test]
fn broadcasts_reserve_what_is_reserved() {
    let rows = [(7, 0, 0, 0), (2, 0, 0, 6_016)];
    let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::CfEnd));
    let mut rig = pair(&radio, 1);
    rig.send_in(1, 1_000_000, 0, u32::MAX, 100);
    rig.send_in(1, 3_000_000, 0, 1, 1500);
    rig.send_in(1, 3_000_000, 0, u32::MAX, 100);
    let sent: Vec<_> = frames(&rig.run(9_000_000))
        .iter()
        .filter(|f| f.sender.0 == 0)
        .map(|f| (f.kind, f.nav_us > 0))
        .collect();
    assert_eq!(
        sent,
        [
            (FrameKind::Broadcast, false),
            (FrameKind::Data, true),
            (FrameKind::Broadcast, true),
            (FrameKind::CfEnd, false)
        ]
    );
}

/// A frame that is longer than the TXOP is sent alone.
#[test]
fn a_txop_shorter_than_a_frame_carries_one() {
    let rows = [(7, 0, 0, 0), (2, 0, 0, 500)];
    let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::CfEnd));
    let mut rig = pair(&radio, 1);
    for _ in 0..2 {
        rig.send_in(1, 1_000_000, 0, 1, 1500);
    }
    let trace = rig.run(5_500_000);
    assert_eq!(starts(&trace, 0), [1_000_000, 1_000_000 + 1_626_002 + 50_000]);
    assert!(frames(&trace).iter().all(|f| f.kind != FrameKind::CfEnd));
}

/// Headers of schemes count. A packet of 1028 B, with 36 B of a frame, takes 192 us and 1064 * 8 / 11 us; with SIFS and ACK (10 and 304 us)
/// 1279.8 us, with 16 B of TFRC 1291.5 us. A full segment with TCP/IP takes 1623.1 us, with 20 B of XCP 1637.6 us.
#[test]
fn a_txop_shorter_than_a_packet_is_warned_of() {
    let warnings = |limit: u64, scheme: &str, transport: Transport, traffic: Traffic| {
        let rows = [(2, 0, 0, limit), (2, 0, 0, 0)];
        let radio = with_edca(dot11b(400.0, 550.0), edca_table(&rows, Countdown::Standard, TxopEnd::CfEnd));
        let mut spec = chain(radio, 1, 200.0, traffic, 1);
        spec.flows[0].transport = transport;
        World::new(&spec, scheme, built(scheme, &[]), 1).unwrap().result().warnings
    };
    let udp = |limit, scheme| warnings(limit, scheme, Transport::Udp, saturating(1000));
    let over_tcp = |limit, scheme| warnings(limit, scheme, tcp(TcpConfig::default()), Traffic::Endless);
    let short = |limit: &str, bytes: u32, needed: &str| {
        format!(
            "radio default: the TXOP limit of c0, {limit} ms, is shorter than the exchange of a packet of {bytes} B, {needed} ms: such a packet \
             is sent alone"
        )
    };
    assert_eq!(udp(1290, "droptail"), [""; 0]);
    assert_eq!(udp(1290, "tfrc"), [short("1.29", 1044, "1.292")]);
    assert_eq!(udp(1279, "droptail"), [short("1.279", 1028, "1.28")]);
    assert_eq!(over_tcp(1630, "cubic"), [""; 0]);
    assert_eq!(over_tcp(1630, "xcp"), [short("1.63", 1520, "1.638")]);
}

/// While a category waits for its CTS or ACK the others do not count: the time-out of an RTS, 10 + 20 + 192 us after it, is longer than the
/// DIFS; their slots count a DIFS after the time-out.
#[test]
fn other_categories_wait_for_the_time_out() {
    let mut radio = with_rts(without_slots(&[2, 2]));
    radio.mac.short_retry_limit = 1;
    let stations = [("a", 0, 0.0), ("b", 0, 300.0), ("far", 0, 50_000.0)];
    let mut rig = Rig::new(std::slice::from_ref(&radio), &stations, &[], 1);
    // Out of reach.
    rig.send_in(1, 1_000_000, 0, 2, 1500);
    rig.send_in(0, 1_100_000, 0, 1, 1500);
    let trace = rig.run(3_000_000);
    assert_eq!(starts(&trace, 0)[..2], [1_000_000, 1_000_000 + 352_000 + 222_000 + 50_000]);
}

/// The QoS Control field has 2 bytes: 102 B of IP, 8 of LLC, 30 of MAC at 1 Mbit/s.
#[test]
fn the_qos_control_field_takes_time() {
    for (qos_header, end) in [(false, 2_280_000), (true, 2_296_000)] {
        let mut edca = edca_table(&[(2, 0, 0, 0), (2, 0, 0, 0)], Countdown::Standard, TxopEnd::Silent);
        edca.qos_header = qos_header;
        let mut rig = pair(&with_edca(dot11b(400.0, 550.0), edca), 1);
        rig.broadcast(1_000_000, 1, 100);
        assert_eq!(frames(&rig.run(3_000_000))[0].end.0, end);
    }
}

//! Attempts, limits, contention windows.

use std::num::NonZeroU8;

use airfair_sim::air::Outcome;
use airfair_sim::ids::StationIx;
use airfair_sim::record::FrameKind::{Ack, Cts, Data, Rts};
use airfair_sim::spec::{ErrorModel, RadioSpec};
use airfair_units::Db;

use crate::support::rig::*;
use crate::support::*;

const ALONE: [At; 2] = [("a", 0, 0.0), ("b", 0, 0.0)];

/// The addressee hears nothing.
fn to_nobody(radio: &RadioSpec, seed: u64) -> (Rig, airfair_sim::record::Trace) {
    let mut rig = Rig::new(std::slice::from_ref(radio), &ALONE, &[], seed);
    rig.send(1_000_000, 0, 1, 1500);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(3_000_000_000);
    (rig, trace)
}

/// Seven attempts; the window goes 31 (the first), 63, 127, 255, 511, 1023, 1023. The next packet starts with 31 again.
#[test]
fn short_frames_are_tried_seven_times_with_doubling_windows() {
    let radio = by_matrix(dot11b(400.0, 550.0));
    for seed in 0..20 {
        let (rig, trace) = to_nobody(&radio, seed);
        let seen: Vec<_> = timeouts(&trace, 0).iter().map(|t| (t.2, t.3, t.4)).collect();
        let one = [
            (1, 63, false),
            (2, 127, false),
            (3, 255, false),
            (4, 511, false),
            (5, 1023, false),
            (6, 1023, false),
            (7, 1023, true),
        ];
        assert_eq!(seen, [one, one].concat());
        // From start to start: 1310 + 222 to the time-out, 50 of DIFS, and the draw.
        let starts = starts(&trace, 0);
        assert_eq!(starts.len(), 14);
        let windows = [63, 127, 255, 511, 1023, 1023, 31, 63, 127, 255, 511, 1023, 1023];
        for (pair, window) in starts.windows(2).zip(windows) {
            let rest = pair[1] - pair[0] - 1_582_000;
            assert!(rest.is_multiple_of(20_000) && rest / 20_000 <= window, "{rest} {window}");
        }
        let bits: Vec<bool> = frames(&trace).iter().map(|f| f.retry).collect();
        let one = [false, true, true, true, true, true, true];
        assert_eq!(bits, [one, one].concat());
        let numbers: Vec<u16> = frames(&trace).iter().map(|f| f.sequence).collect();
        assert_eq!(numbers, [[1; 7], [2; 7]].concat(), "a retry keeps its number");
        assert_eq!(rig.diary.done.len(), 2);
        assert!(rig.diary.done.iter().all(|d| d.3 == Outcome::RetryLimit));
        let counters = rig.air.counters(StationIx(0));
        assert_eq!((counters.no_ack, counters.no_cts, counters.given_up), (14, 0, 2));
    }
}

/// Seven RTS and no data: 352 + 222 to the time-out.
#[test]
fn an_rts_is_tried_seven_times() {
    let radio = no_back_off(with_rts(by_matrix(dot11b(400.0, 550.0))));
    let mut rig = Rig::new(&[radio], &ALONE, &[], 1);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(20_000_000);
    let expected = [1_000_000, 1_624_000, 2_248_000, 2_872_000, 3_496_000, 4_120_000, 4_744_000];
    assert_eq!(starts(&trace, 0), expected);
    assert!(frames(&trace).iter().all(|f| f.kind == Rts));
    assert_eq!(timeouts(&trace, 0)[6], (5_318_000, true, 7, 0, true));
}

/// RTS and CTS at 1 Mbit/s survive an SNR of 0 dB (bit error rate e^-22 / 2 = 1.4e-10), 1536 B of CCK at 11 Mbit/s do not.
fn data_never_arrives(short: u32) -> Vec<(u64, bool, u32, u32, bool)> {
    let mut radio = with_rts(by_matrix(dot11b(400.0, 550.0)));
    radio.phy.noise = airfair_units::Dbm(-70.0);
    radio.phy.lock_sinr = Db(-10.0);
    radio.phy.error_model = ErrorModel::WorstSinr;
    radio.mac.short_retry_limit = short;
    let mut rig = Rig::new(&[radio], &ALONE, &both(0, 1, -70.0), 1);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(500_000_000);
    let count = |kind| frames(&trace).iter().filter(|f| f.kind == kind).count();
    assert_eq!((count(Rts), count(Cts), count(Data)), (4, 4, 4));
    assert_eq!(rig.diary.done[0].3, Outcome::RetryLimit);
    timeouts(&trace, 0)
}

/// Data after RTS/CTS is tried four times. Each attempt begins with an RTS; a CTS clears the short count, so that it never
/// reaches a limit of two.
#[test]
fn long_frames_are_tried_four_times_and_cts_clears_the_short_count() {
    for limit in [7, 2] {
        let seen: Vec<_> = data_never_arrives(limit).iter().map(|t| (t.1, t.2, t.3, t.4)).collect();
        let expected =
            [(false, 1, 63, false), (false, 2, 127, false), (false, 3, 255, false), (false, 4, 511, true)];
        assert_eq!(seen, expected);
    }
}

/// With a short limit of two: an RTS is jammed, the next one is answered, its data fail, and the next RTS is jammed again. That is the
/// first failure since the CTS, not the second one: the packet is kept.
///
/// RTS 1000000 + 574 to the time-out + 50; RTS 1624000..1976000, CTS until 2290000, DATA 2300000..3610000 + 222 + 50.
#[test]
fn a_cts_clears_the_count_of_failed_rts() {
    let mut radio = no_back_off(with_rts(by_matrix(dot11b(400.0, 550.0))));
    radio.phy.noise = airfair_units::Dbm(-70.0);
    radio.phy.lock_sinr = Db(-10.0);
    radio.phy.error_model = ErrorModel::WorstSinr;
    radio.mac.short_retry_limit = 2;
    let powers = [both(0, 1, -70.0).to_vec(), vec![(2, 1, -50.0)]].concat();
    let mut rig = Rig::new(&[radio], &[("a", 0, 0.0), ("b", 0, 0.0), ("j", 0, 0.0)], &powers, 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(1_000_000, 2, 0);
    rig.broadcast(3_882_000, 2, 0);
    let trace = rig.run(500_000_000);
    let seen: Vec<_> = timeouts(&trace, 0).iter().take(4).map(|t| (t.0, t.1, t.2, t.4)).collect();
    let expected = [
        (1_574_000, true, 1, false),
        (3_832_000, false, 1, false),
        (4_456_000, true, 1, false),
        (6_714_000, false, 2, false),
    ];
    assert_eq!(seen, expected);
}

/// An acknowledged packet resets the window: `j` drowns the first attempt (1000000), the second gets through; the next
/// packet goes to a station that does not hear it and begins with 31 again, to 63 after its first failure.
#[test]
fn success_resets_the_window() {
    let radio = by_matrix(dot11b(400.0, 550.0));
    let powers = [both(0, 1, -60.0).to_vec(), vec![(3, 1, -60.0)]].concat();
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0), ("j", 0, 0.0)];
    let mut rig = Rig::new(&[radio], &stations, &powers, 3);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(1_000_000, 3, 100);
    rig.send(1_000_000, 0, 2, 1500);
    let trace = rig.run(3_000_000_000);
    let seen: Vec<_> = timeouts(&trace, 0).iter().map(|t| (t.2, t.3)).collect();
    assert_eq!(seen[..3], [(1, 63), (1, 63), (2, 127)]);
    assert_eq!(rig.diary.done[1].3, Outcome::Delivered);
    assert_eq!(rig.diary.got.len(), 1);
}

/// RTS and CTS from this attempt on.
fn from_attempt(mut radio: RadioSpec, attempt: u8) -> RadioSpec {
    radio.mac.rts_from_attempt = NonZeroU8::new(attempt);
    radio
}

/// `j` drowns the first attempt at `b`. DATA 1000000..2310000, 222 to the time-out and 50 of DIFS; then RTS 352, CTS 304, DATA 1310 and
/// ACK 304 us with a SIFS of 10 us before each, or DATA and ACK alone. The next packet begins without RTS a DIFS later.
#[test]
fn repeated_attempts_may_be_protected() {
    let radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    let powers = [both(0, 1, -60.0).to_vec(), vec![(2, 1, -60.0)]].concat();
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("j", 0, 0.0)];
    let told = |radio: RadioSpec| {
        let mut rig = Rig::new(&[radio], &stations, &powers, 1);
        rig.broadcast(1_000_000, 2, 100);
        rig.send(1_000_000, 0, 1, 1500);
        rig.send(1_000_000, 0, 1, 1500);
        let trace = rig.run(20_000_000);
        assert_eq!(rig.diary.got.len(), 2);
        story(&trace).into_iter().filter(|frame| frame.1 < 2).collect::<Vec<_>>()
    };
    let without = [
        (Data, 0, 1_000_000, 2_310_000),
        (Data, 0, 2_582_000, 3_892_000),
        (Ack, 1, 3_902_000, 4_206_000),
        (Data, 0, 4_256_000, 5_566_000),
        (Ack, 1, 5_576_000, 5_880_000),
    ];
    let with = [
        (Data, 0, 1_000_000, 2_310_000),
        (Rts, 0, 2_582_000, 2_934_000),
        (Cts, 1, 2_944_000, 3_248_000),
        (Data, 0, 3_258_000, 4_568_000),
        (Ack, 1, 4_578_000, 4_882_000),
        (Data, 0, 4_932_000, 6_242_000),
        (Ack, 1, 6_252_000, 6_556_000),
    ];
    assert_eq!(told(radio.clone()), without);
    assert_eq!(told(from_attempt(radio.clone(), 3)), without);
    assert_eq!(told(from_attempt(radio.clone(), 2)), with);
    assert_eq!(told(from_attempt(radio.clone(), 1)), told(with_rts(radio)));
}

/// One data frame, then six RTS, which make seven failures without a CTS: 1310 + 222 + 50 and 352 + 222 + 50 us from start to start.
#[test]
fn an_rts_that_goes_first_later_counts_as_the_attempts_before() {
    let radio = from_attempt(no_back_off(by_matrix(dot11b(400.0, 550.0))), 2);
    let mut rig = Rig::new(&[radio], &ALONE, &[], 1);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(20_000_000);
    let rts = (0..6).map(|attempt| 2_582_000 + attempt * 624_000);
    assert_eq!(starts(&trace, 0), std::iter::once(1_000_000).chain(rts).collect::<Vec<_>>());
    let kinds: Vec<_> = frames(&trace).iter().map(|frame| frame.kind).collect();
    assert_eq!(kinds, [vec![Data], vec![Rts; 6]].concat());
    assert_eq!(timeouts(&trace, 0)[6], (6_276_000, true, 7, 0, true));
}

/// Data never arrive, RTS and CTS do: a data frame alone, whose failure the next CTS clears, and four after RTS.
#[test]
fn data_after_a_later_rts_have_the_limit_of_long_frames() {
    let mut radio = from_attempt(by_matrix(dot11b(400.0, 550.0)), 2);
    radio.phy.noise = airfair_units::Dbm(-70.0);
    radio.phy.lock_sinr = Db(-10.0);
    radio.phy.error_model = ErrorModel::WorstSinr;
    let mut rig = Rig::new(&[radio], &ALONE, &both(0, 1, -70.0), 1);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(500_000_000);
    let count = |kind| frames(&trace).iter().filter(|f| f.kind == kind).count();
    assert_eq!((count(Rts), count(Cts), count(Data)), (4, 4, 5));
    let seen: Vec<_> = timeouts(&trace, 0).iter().map(|t| (t.1, t.2, t.3, t.4)).collect();
    let expected = [
        (false, 1, 63, false),
        (false, 1, 127, false),
        (false, 2, 255, false),
        (false, 3, 511, false),
        (false, 4, 1023, true),
    ];
    assert_eq!(seen, expected);
}

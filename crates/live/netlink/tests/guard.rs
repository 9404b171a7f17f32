//! Sequences of counters that real drivers have, and the limits of the guard.

use airfair_units::{Span, Time};

use super::super::counters::{BAD_READINGS, Fault, Reading, SurveyGuard, Verdict};
use super::super::survey::Survey;

const MS: u64 = 1_000_000;

/// A survey in use at 5180 MHz with these times in ms.
fn survey(active: u64, busy: u64, receive: u64, transmit: u64) -> Survey {
    let time = |ms: u64| Some(Span(ms * MS));
    Survey {
        frequency_mhz: 5180,
        in_use: true,
        active: time(active),
        busy: time(busy),
        receive: time(receive),
        transmit: time(transmit),
        ..Survey::default()
    }
}

/// The results of surveys at moments in ms.
fn read(guard: &mut SurveyGuard, readings: &[(u64, Survey)]) -> Vec<Reading> {
    readings.iter().map(|(at, survey)| guard.read(Time(at * MS), &[*survey])).collect()
}

fn last(readings: &[(u64, Survey)]) -> Reading {
    read(&mut SurveyGuard::default(), readings).pop().unwrap()
}

fn fault(readings: &[(u64, Survey)]) -> Fault {
    match last(readings) {
        Reading::Bad(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_right_difference_is_good() {
    let before = survey(1000, 400, 200, 100);
    let after =
        Survey { noise_dbm: Some(-91), receive_own: Some(Span(7 * MS)), ..survey(1990, 800, 400, 150) };
    let mut guard = SurveyGuard::default();
    let others = [Survey { in_use: false, ..survey(9, 9, 9, 9) }, before];
    assert_eq!(guard.read(Time(5 * MS), &others), Reading::Pending);
    assert_eq!(guard.verdict(), Verdict::Unknown);
    let Reading::Good(difference) = guard.read(Time(1005 * MS), &[after]) else { panic!() };
    assert_eq!((difference.elapsed, difference.active), (Span(1000 * MS), Span(990 * MS)));
    assert_eq!((difference.busy, difference.receive), (Span(400 * MS), Some(Span(200 * MS))));
    assert_eq!((difference.transmit, difference.receive_own), (Some(Span(50 * MS)), None));
    assert_eq!((difference.frequency_mhz, difference.noise_dbm), (5180, Some(-91)));
    assert_eq!(guard.verdict(), Verdict::Usable);
    assert_eq!((guard.good_readings(), guard.bad_readings()), (1, 0));
}

/// ath10k: 54,995 ms, then 32,592 ms, as two dumps of `iw` had them.
#[test]
fn a_reset_is_skipped_and_counted() {
    let mut guard = SurveyGuard::default();
    let readings = [
        (60_000, survey(54_995, 432, 0, 59)),
        (61_000, survey(32_592, 254, 0, 0)),
        (62_000, survey(33_592, 264, 0, 5)),
    ];
    let results = read(&mut guard, &readings);
    assert_eq!(results[1], Reading::Bad(Fault::SteppedBack("active time")));
    let Reading::Good(difference) = results[2] else { panic!("{results:?}") };
    assert_eq!((difference.active, difference.busy), (Span(1000 * MS), Span(10 * MS)));
    assert_eq!((guard.steps_back(), guard.bad_readings(), guard.good_readings()), (1, 1, 1));
}

/// The active time of a Flint 2 is 3,632,796,925 ms; 7.7 days later a counter of 32 bits would wrap.
#[test]
fn a_wrap_of_32_bits_is_a_step_back() {
    let before = survey(u64::from(u32::MAX) - 500, 878_259_766, 440_957_725, 340_995_043);
    let after = survey(499, 878_259_866, 440_957_775, 340_995_063);
    let results = read(
        &mut SurveyGuard::default(),
        &[(0, before), (1000, after), (2000, Survey { active: Some(Span(1499 * MS)), ..after })],
    );
    assert_eq!(results[1], Reading::Bad(Fault::SteppedBack("active time")));
    assert!(matches!(results[2], Reading::Good(difference) if difference.active == Span(1000 * MS)));
    let busy = [(0, survey(1000, 500, 1, 1)), (1000, survey(2000, 499, 1, 1))];
    assert_eq!(fault(&busy), Fault::SteppedBack("busy time"));
    let transmit = [(0, survey(1000, 500, 1, 7)), (1000, survey(2000, 500, 1, 6))];
    assert_eq!(fault(&transmit), Fault::SteppedBack("transmit time"));
}

/// Totals of radios since they were set up, as a difference from zero: two radios of a Flint 2 (mt76), one of ath9k (gluon, pull request
/// 826), and that of the tests of node_exporter.
#[test]
fn totals_of_real_radios_are_good() {
    let totals = [
        survey(3_632_796_925, 878_259_766, 440_957_725, 340_995_043),
        survey(3_632_802_379, 146_150_367, 67_413_467, 76_785_952),
        survey(1_704_490_481, 945_335_227, 584_372_518, 310_956_458),
        survey(120_000, 30_000, 20_000, 10_000),
    ];
    for total in totals {
        let at = total.active.unwrap().0 / MS;
        let Reading::Good(difference) = last(&[(0, survey(0, 0, 0, 0)), (at, total)]) else {
            panic!("{total:?}")
        };
        assert_eq!((Some(difference.active), Some(difference.busy)), (total.active, total.busy));
        assert_eq!((difference.receive, difference.transmit), (total.receive, total.transmit));
    }
}

/// A counter that each reading clears has the time since the last one: half of the differences step back, the others are tiny.
#[test]
fn counters_cleared_by_reading_are_unusable() {
    let mut guard = SurveyGuard::default();
    for second in 0..12 {
        let jitter = [0, 4, 1, 9, 3, 7][second as usize % 6];
        let reading = guard.read(Time(second * 1000 * MS), &[survey(1000 + jitter, 100, 50, 10)]);
        assert!(!matches!(reading, Reading::Good(_)), "{reading:?}");
    }
    let text = guard.verdict().to_string();
    assert!(text.contains("unusable: 11 bad readings in a row"), "{text}");
}

/// mt76, issue 1135: a busy time below zero. mwlwifi, issues 114 and 140: no busy time, or all bits.
#[test]
fn counters_out_of_range_and_missing_ones_are_bad() {
    let underflow = Survey { busy: Some(Span(u64::MAX)), ..survey(253_053_261, 0, 0, 0) };
    assert_eq!(fault(&[(0, underflow)]), Fault::OutOfRange("busy time"));
    let transmit = Survey { transmit: Some(Span(u64::MAX)), ..survey(253_053_261, 0, 0, 0) };
    assert_eq!(fault(&[(0, transmit)]), Fault::OutOfRange("transmit time"));
    let without = Survey { busy: None, ..survey(1000, 0, 0, 0) };
    assert_eq!(fault(&[(0, without)]), Fault::Missing("busy time"));
    assert_eq!(fault(&[(0, Survey { active: None, ..without })]), Fault::Missing("active time"));
    let parts = |ms: u64| Survey { receive: None, transmit: None, ..survey(ms, ms / 2, 0, 0) };
    let Reading::Good(difference) = last(&[(0, parts(0)), (1000, parts(1000))]) else { panic!() };
    assert_eq!((difference.receive, difference.transmit), (None, None));
    assert_eq!(SurveyGuard::default().read(Time(0), &[]), Reading::Bad(Fault::NoChannel));
    let unused = Survey { in_use: false, ..survey(1, 1, 1, 1) };
    assert_eq!(SurveyGuard::default().read(Time(0), &[unused]), Reading::Bad(Fault::NoChannel));
}

#[test]
fn the_verdict_has_the_reason() {
    let mut guard = SurveyGuard::default();
    let still = survey(5000, 100, 50, 50);
    guard.read(Time(0), &[still]);
    for reading in 1..=u64::from(BAD_READINGS) {
        assert_eq!(guard.verdict(), Verdict::Unknown);
        let result = guard.read(Time(reading * 2000 * MS), &[still]);
        assert_eq!(result, Reading::Bad(Fault::StoodStill));
    }
    let expected = "this driver's survey counters are unusable: active time stood still for 10 readings";
    assert_eq!(guard.verdict().to_string(), expected);
    guard.read(Time(21_000 * MS), &[]);
    let expected = "this driver's survey counters are unusable: 11 bad readings in a row, in the last no channel was in use";
    assert_eq!(guard.verdict().to_string(), expected);
    let results = read(&mut guard, &[(22_000, still), (23_000, survey(6000, 100, 50, 50))]);
    assert!(matches!(results[1], Reading::Good(_)), "{results:?}");
    assert_eq!(guard.verdict(), Verdict::Usable);
}

/// A driver that updates every 5 s and is read every second has good differences of 5 s.
#[test]
fn slow_updates_are_good() {
    let mut guard = SurveyGuard::default();
    let mut good = Vec::new();
    for second in 0..=20 {
        let updated = second / 5 * 5000;
        match guard.read(Time(second * 1000 * MS), &[survey(updated, updated / 2, 0, 0)]) {
            Reading::Good(difference) => good.push((difference.elapsed.0 / MS, difference.active.0 / MS)),
            Reading::Bad(fault) => assert_eq!(fault, Fault::StoodStill),
            Reading::Pending => {}
        }
    }
    assert_eq!(good, [(5000, 5000); 4]);
    assert_eq!(guard.verdict(), Verdict::Usable);
}

/// Counters that stood still for an hour start again: the hour is no part of a difference.
#[test]
fn a_long_halt_is_no_part_of_a_difference() {
    let mut guard = SurveyGuard::default();
    for at in (0..3_600_000).step_by(1000) {
        assert!(!matches!(guard.read(Time(at * MS), &[survey(5000, 0, 0, 0)]), Reading::Good(_)));
    }
    let after: Vec<_> = (1..=3).map(|n| (3_600_000 + n * 1000, survey(5000 + n * 1000, 0, 0, 0))).collect();
    for result in read(&mut guard, &after) {
        match result {
            Reading::Good(difference) => assert!(difference.elapsed <= Span(30_000 * MS)),
            other => assert!(matches!(other, Reading::Bad(Fault::SlowerThanClock))),
        }
    }
    assert_eq!(guard.verdict(), Verdict::Usable);
}

/// Each limit: the last difference that is good, and the first that is bad. Rounding of 2 ms is allowed.
#[test]
fn limits_of_differences() {
    let zero = (0, survey(0, 0, 0, 0));
    let cases = [
        (1000, survey(1127, 0, 0, 0), None),
        (1000, survey(1128, 0, 0, 0), Some(Fault::FasterThanClock)),
        (1000, survey(125, 0, 0, 0), None),
        (1000, survey(124, 0, 0, 0), Some(Fault::SlowerThanClock)),
        (1000, survey(1000, 1002, 0, 0), None),
        (1000, survey(1000, 1003, 0, 0), Some(Fault::BusyOverActive)),
        (1000, survey(1000, 500, 400, 162), None),
        (1000, survey(1000, 500, 400, 163), Some(Fault::PartsOverBusy)),
        (1999, survey(0, 0, 0, 0), None),
        (2000, survey(0, 0, 0, 0), Some(Fault::StoodStill)),
    ];
    for (at, after, expected) in cases {
        match (last(&[zero, (at, after)]), expected) {
            (Reading::Bad(fault), Some(expected)) => assert_eq!(fault, expected),
            (Reading::Good(difference), None) => assert!(difference.busy <= difference.active),
            (Reading::Pending, None) => assert_eq!(at, 1999),
            (other, expected) => panic!("{other:?} {expected:?}"),
        }
    }
    let own = |ms: u64| Survey { receive_own: Some(Span(ms * MS)), ..survey(1000, 500, 0, 0) };
    let before = Survey { receive_own: Some(Span(0)), ..zero.1 };
    assert!(matches!(last(&[(0, before), (1000, own(1002))]), Reading::Good(_)));
    assert_eq!(fault(&[(0, before), (1000, own(1003))]), Fault::OwnOverActive);
}

#[test]
fn another_channel_and_another_clock_are_bad() {
    let other = Survey { frequency_mhz: 5200, ..survey(2000, 200, 0, 0) };
    let readings = [(0, survey(1000, 100, 0, 0)), (1000, other)];
    assert_eq!(fault(&readings), Fault::OtherChannel);
    assert_eq!(
        fault(&[(1000, survey(1000, 0, 0, 0)), (999, survey(2000, 0, 0, 0))]),
        Fault::ClockSteppedBack
    );
    let same = [(1000, survey(1000, 0, 0, 0)), (1000, survey(1000, 0, 0, 0))];
    assert_eq!(last(&same), Reading::Pending);
}

/// Counters at the ends of their range do not overflow.
#[test]
fn extreme_counters_do_not_panic() {
    let values = [0, 1, MS, u64::MAX / 2, u64::MAX - 1, u64::MAX];
    let of = |active: u64, other: u64| Survey {
        active: Some(Span(active)),
        busy: Some(Span(other)),
        receive: Some(Span(other)),
        receive_own: Some(Span(other)),
        transmit: Some(Span(other)),
        ..survey(0, 0, 0, 0)
    };
    for (first, second) in values.into_iter().flat_map(|first| values.map(|second| (first, second))) {
        for (active, other) in values.into_iter().flat_map(|active| values.map(|other| (active, other))) {
            let mut guard = SurveyGuard::default();
            guard.read(Time(first), &[of(0, 0)]);
            guard.read(Time(second), &[of(active, other)]);
            guard.read(Time(u64::MAX), &[of(u64::MAX - 1, u64::MAX - 1)]);
        }
    }
}

//! Pacing by the law's rate: one byte a microsecond is 8 Mbit/s.

use airfair_units::{Rate, Time};

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

#[test]
fn one_segment_at_a_time() {
    check(
        &plain(),
        Law::Paced(100_000, 8_000_000, None),
        "
        0 open
        0 write 3500
        > 1:1001
        = deadline=1
        0.5 poll
        = deadline=1
        1 timer
        > 1001:2001
        2 timer
        > 2001:3001
        3 timer
        > 3001:3501
        = deadline=1000
        # Unused sending time is not credited.
        10 write 2000
        > 3501:4501
        = deadline=11
        ",
    );
}

#[test]
fn a_quantum_at_a_time() {
    check(
        &plain(),
        Law::Paced(100_000, 8_000_000, Some(2000)),
        "
        0 open
        0 write 5000
        > 1:2001/1000
        = deadline=2
        2 timer
        > 2001:4001/1000
        4 timer
        > 4001:5001
        ",
    );
}

#[test]
fn retransmissions_are_paced_too() {
    check(
        &plain(),
        Law::Paced(2000, 8_000_000, None),
        "
        0 open
        0 write 2000
        > 1:1001
        1 timer
        > 1001:2001
        1000 timer
        > 1:1001
        ! timeout 2000 pipe 2000
        = deadline=1001
        1001 timer
        > 1001:2001
        = deadline=3000
        ",
    );
}

#[test]
fn a_rate_of_zero_sends_nothing() {
    check(
        &plain(),
        Law::Paced(2000, 0, None),
        "
        0 open
        0 write 2000
        = deadline=none next=1
        ",
    );
}

/// Estimate by Linux's rule (`tcp_update_pacing_rate`) for laws without a rate: window / SRTT, times 2 below half of the slow-start
/// threshold, else (also without a threshold) times 1.2. `None` before the first measurement.
#[test]
fn without_a_rate_it_is_a_window_in_a_round_trip_time() {
    let rate = |law, script| check(&plain(), law, script).sender.pacing_rate(Time(0));
    assert_eq!(rate(Law::NewReno, "0 open\n0 write 1000\n> 1:1001"), None);
    let measured = "0 open\n0 write 1000\n> 1:1001\n10 < 1001";
    // The initial window of 10,000 B, which was not full, in 10 ms: 8 Mbit/s.
    assert_eq!(rate(Law::NewReno, measured), Some(Rate(2 * 8_000_000)));
    assert_eq!(rate(Law::Fixed(10_000), measured), Some(Rate(8_000_000 * 12 / 10)));
    assert_eq!(rate(Law::Open, measured), None);
    assert_eq!(rate(Law::Paced(11_000, 8_000_000, None), measured), Some(Rate(8_000_000)));
}

/// In slow start the window counts up to the larger of twice the bytes in flight and the initial window (10,000 B). With a window of
/// 20,000 B: 0 or 5,000 B in flight count 10,000 B; 6,000 B, 12,000; 10,000 B or more, 20,000.
#[test]
fn a_window_in_slow_start_counts_as_far_as_it_is_used() {
    let acks: String = (1..=10).map(|k| format!("10 < {k}001\n")).collect();
    for (more, counted) in [(0, 10_000), (5_000, 10_000), (6_000, 12_000), (10_000, 20_000), (15_000, 20_000)]
    {
        let write = match more {
            0 => String::new(),
            _ => format!("10 write {more}\n> 10001:{}/1000\n", 10_001 + more),
        };
        let script = format!("0 open\n0 write 10000\n> 1:10001/1000\n{acks}= window=20000\n{write}");
        let rate = check(&plain(), Law::NewReno, &script).sender.pacing_rate(Time(0));
        assert_eq!(rate, Some(Rate(2 * counted * 8 * 100)), "{more}");
    }
}

//! The retransmission timer (RFC 6298) and what its expiry does (RFC 5681 section 3.1, RFC 6582 section 4, RFC 6675 section 5.1).

use airfair_transport::{InitialWindow, TcpConfig, TickMode};
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain, with_sack};

fn quick() -> TcpConfig {
    TcpConfig { min_rto: Span::from_millis(200), ..plain() }
}

#[test]
fn timer_runs_while_data_are_outstanding() {
    check(
        &quick(),
        Law::Fixed(3000),
        "
        0 open
        = deadline=none rto=1000
        0 write 3000
        > 1:3001/1000
        = deadline=1000
        # Only an acknowledgement of new data restarts the timer.
        50 < 1
        = deadline=1000
        # The first segment took 200 ms: SRTT 200, RTTVAR 100, RTO 200 + 4 * 100.
        200 < 1001
        = srtt=200 rttvar=100 rto=600 deadline=800
        300 < 3001
        = deadline=none
        ",
    );
}

#[test]
fn one_segment_a_round_trip_is_measured() {
    check(
        &quick(),
        Law::Fixed(3000),
        "
        0 open
        0 write 4000
        > 1:3001/1000
        100 < 1001
        > 3001:4001
        = srtt=100
        # These segments were sent with the first and are not measured.
        160 < 2001
        170 < 3001
        = srtt=100 rttvar=50
        # RTTVAR 3/4 * 50 + 1/4 * 80, SRTT 7/8 * 100 + 1/8 * 180.
        280 < 4001
        = srtt=110 rttvar=57.5
        ",
    );
}

#[test]
fn expiry_sends_the_first_segment_and_doubles_the_time_out() {
    check(
        &TcpConfig { initial_window: InitialWindow::Segments(3), ..plain() },
        Law::NewReno,
        "
        0 open
        0 write 3000
        > 1:3001/1000
        1000 timer
        > 1:1001
        ! timeout 3000 pipe 3000
        = state=loss window=1000 ssthresh=2000 rto=2000 deadline=3000 pipe=1000 flight=3000
        3000 timer
        > 1:1001
        ! timeout 3000 pipe 1000 repeated
        = rto=4000 deadline=7000
        7000 timer
        > 1:1001
        ! timeout 3000 pipe 1000 repeated
        = rto=8000 deadline=15000 timeouts=3 bytes-lost=5000 bytes-retransmitted=3000
        ",
    );
}

/// A law that was granted a rate: each time-out is as long as the first one.
#[test]
fn a_granted_rate_does_not_double_the_time_out() {
    check(
        &TcpConfig { initial_window: InitialWindow::Segments(3), ..plain() },
        Law::Granted(3000),
        "
        0 open
        0 write 3000
        > 1:3001/1000
        1000 timer
        ! timeout 3000 pipe 3000
        > 1:3001/1000
        = rto=1000 deadline=2000
        2000 timer
        ! timeout 3000 pipe 3000 repeated
        > 1:3001/1000
        = rto=1000 deadline=3000
        ",
    );
}

/// A law whose own timer tells it to hurry: a time-out that has been doubled twice, until 7 s, ends a second after that, and no other is
/// doubled. One that ends sooner anyway stays.
#[test]
fn a_law_that_hurries_ends_doubled_time_outs() {
    check(
        &TcpConfig { initial_window: InitialWindow::Segments(3), ..plain() },
        Law::Hurried(1000),
        "
        0 open
        0 write 1000
        > 1:1001
        1000 timer
        ! timeout 1000 pipe 1000
        > 1:1001
        3000 timer
        ! timeout 1000 pipe 1000 repeated
        > 1:1001
        = rto=4000 deadline=7000
        3500 law-timer
        = rto=1000 deadline=4500
        4000 law-timer
        = rto=1000 deadline=4500
        4500 timer
        ! timeout 1000 pipe 1000 repeated
        > 1:1001
        = rto=1000 deadline=5500
        ",
    );
}

#[test]
fn time_out_is_bounded() {
    check(
        &TcpConfig { max_rto: Span::from_secs(3), ..plain() },
        Law::Fixed(1000),
        "
        0 open
        0 write 1000
        > 1:1001
        1000 timer
        > 1:1001
        ! timeout 1000 pipe 1000
        = deadline=3000
        3000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        = deadline=6000
        6000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        = deadline=9000
        ",
    );
}

#[test]
fn what_was_sent_again_is_not_measured_and_the_back_off_stays() {
    check(
        &TcpConfig { initial_window: InitialWindow::Segments(3), ..plain() },
        Law::NewReno,
        "
        0 open
        0 write 3000
        > 1:3001/1000
        1000 timer
        > 1:1001
        ! timeout 3000 pipe 3000
        # Slow start after the time-out: two segments.
        1100 < 1001
        > 1001:3001/1000
        # The connection was not idle at 1000 ms: three segments were outstanding since 0.
        ~ 1000 cumulative 1000 flight 1000->0 lost 3000 rate 1000/1100 app-limited round full sent 1000
        = srtt=none rto=2000 deadline=3100 window=2000
        1200 < 3001
        = srtt=none state=open deadline=none window=2500
        1300 write 1000
        > 3001:4001
        = deadline=3300
        # The first measurement ends the back-off: 50 + 4 * 25, at least a second.
        1350 < 4001
        = srtt=50 rto=1000
        ",
    );
}

#[test]
fn a_time_out_of_other_data_is_not_a_repeated_one() {
    check(
        &plain(),
        Law::Fixed(2000),
        "
        0 open
        0 write 4000
        > 1:2001/1000
        1000 timer
        > 1:2001/1000
        ! timeout 2000 pipe 2000
        1100 < 1001
        > 2001:3001
        = deadline=3100
        3100 timer
        > 1001:3001/1000
        ! timeout 2000 pipe 2000
        7100 timer
        > 1001:3001/1000
        ! timeout 2000 pipe 2000 repeated
        ",
    );
}

#[test]
fn times_are_rounded_up_to_ticks() {
    check(
        &TcpConfig { tick: Span::from_millis(10), ..quick() },
        Law::Fixed(1000),
        "
        0 open
        0 write 2000
        > 1:1001
        # 91.5 ms are measured as 100: RTO 100 + 4 * 50. The first answer of the law shows the same.
        91.5 < 1001
        > 1001:2001
        ~ 1000 cumulative 1000 flight 1000->0 rtt 100 rate 1000/91.5 app-limited round full sent 0
        = srtt=100 rto=300
        ",
    );
}

#[test]
fn a_sender_gives_up_after_its_retries() {
    check(
        &TcpConfig { retries: Some(2), ..plain() },
        Law::Fixed(1000),
        "
        0 open
        0 write 2000
        > 1:1001
        1000 timer
        > 1:1001
        ! timeout 1000 pipe 1000
        3000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        7000 timer
        = state=failed deadline=none done=false timeouts=2
        8000 < 1001
        = una=1 acks=0
        ",
    );
}

#[test]
fn retries_that_do_not_double_end_nothing_before_their_time() {
    // With doubling those after the first take 2 + 4 s. The law keeps to 1 s: the third comes after 2 s, and ends nothing; the first after
    // nine tenths of 6 s does.
    check(
        &TcpConfig { retries: Some(2), ..plain() },
        Law::Granted(1000),
        "
        0 open
        0 write 2000
        > 1:1001
        1000 timer
        > 1:1001
        ! timeout 1000 pipe 1000
        2000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        3000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        4000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        5000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        6000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        7000 timer
        = state=failed deadline=none done=false timeouts=6
        ",
    );
}

#[test]
fn an_acknowledgement_of_new_data_starts_the_count_of_retries_anew() {
    check(
        &TcpConfig { retries: Some(1), ..plain() },
        Law::Fixed(1000),
        "
        0 open
        0 write 2000
        > 1:1001
        1000 timer
        > 1:1001
        ! timeout 1000 pipe 1000
        1100 < 1001
        > 1001:2001
        3100 timer
        > 1001:2001
        ! timeout 1000 pipe 1000
        7100 timer
        = state=failed
        ",
    );
}

#[test]
fn a_duplicate_does_not_start_the_count_of_retries_anew() {
    check(
        &TcpConfig { retries: Some(1), ..plain() },
        Law::Fixed(1000),
        "
        0 open
        0 write 2000
        > 1:1001
        1000 timer
        > 1:1001
        ! timeout 1000 pipe 1000
        1100 < 1
        3000 timer
        = state=failed
        ",
    );
}

#[test]
fn new_data_lost_after_a_time_out_wait_until_it_is_repaired() {
    // RFC 6675 section 5.1: the loss recovery algorithm is not used before RecoveryPoint.
    check(
        &with_sack(),
        Law::Fixed(5000),
        "
        0 open
        0 write 9000
        > 1:5001/1000
        1000 timer
        ! timeout 5000 pipe 5000
        > 1:5001/1000
        1100 < 1 sack=1001:5001
        > 5001:9001/1000
        # Three segments above 5001:6001 have arrived.
        1101 < 1 sack=6001:9001,1001:5001
        = state=loss pipe=2000 retransmissions=5
        ",
    );
}

#[test]
fn duplicates_after_a_time_out_start_no_fast_recovery() {
    check(
        &plain(),
        Law::Fixed(4000),
        "
        0 open
        0 write 9000
        > 1:4001/1000
        1000 timer
        ! timeout 4000 pipe 4000
        > 1:4001/1000
        # These acknowledge data that were sent twice.
        1100 < 1
        1101 < 1
        1102 < 1
        = state=loss
        1200 < 2001
        > 4001:6001/1000
        1300 < 4001
        > 6001:8001/1000
        = state=open
        # Acknowledged exactly up to `recover`.
        1400 < 4001
        1401 < 4001
        1402 < 4001
        = state=open duplicates=6
        1500 < 5001
        > 8001:9001
        1600 < 5001
        1601 < 5001
        1602 < 5001
        ! fast-loss 4000 pipe 1000
        > 5001:6001
        = state=recovery
        ",
    );
}

#[test]
fn a_time_out_forgets_what_fast_recovery_added() {
    check(
        &plain(),
        Law::Fixed(4000),
        "
        0 open
        0 endless
        > 1:4001/1000
        100 < 1
        100 < 1
        100 < 1
        ! fast-loss 4000 pipe 1000
        # 4000 + 3 * 1000.
        > 1:1001 4001:7001/1000
        1000 timer
        ! timeout 7000 pipe 4000
        > 1:4001/1000
        = state=loss pipe=4000
        ",
    );
}

#[test]
fn a_time_out_forgets_selective_acknowledgements() {
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 open
        0 write 4000
        > 1:4001/1000
        100 < 1 sack=2001:3001
        = pipe=3000
        1000 timer
        ! timeout 4000 pipe 3000
        > 1:4001/1000
        # But new SACK information counts.
        1100 < 1 sack=1001:2001
        = pipe=3000
        ",
    );
}

#[test]
fn no_sack_recovery_before_a_time_out_is_repaired() {
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 open
        0 write 7000
        > 1:4001/1000
        1000 timer
        ! timeout 4000 pipe 4000
        > 1:4001/1000
        1100 < 1 sack=1001:4001
        > 4001:7001/1000
        # IsLost holds for the first segment, and three duplicates have arrived.
        1101 < 1 sack=4001:5001,1001:4001
        1102 < 1 sack=4001:6001,1001:4001
        = state=loss recoveries=0
        # RecoveryPoint is reached: what is still missing begins a new recovery.
        1200 < 4001
        = state=open
        ",
    );
}

/// RFC 6298 section 3 (Karn): segment 13 (12001) is timed, detected as lost in the same recovery and retransmitted: its acknowledgement
/// after 203 ms is ambiguous.
#[test]
fn what_a_recovery_sends_and_repairs_is_not_measured() {
    check(
        &TcpConfig { min_rto: Span::from_millis(1), ..with_sack() },
        Law::Fixed(10_000),
        "
        0 open
        0 endless
        > 1:10001/1000
        100 < 1 sack=1001:2001
        > 10001:11001
        101 < 1 sack=1001:3001
        > 11001:12001
        102 < 1 sack=1001:4001
        ! fast-loss 10000 pipe 8000
        > 1:1001 12001:13001
        103 < 1 sack=1001:5001
        > 13001:14001
        104 < 1 sack=1001:6001
        > 14001:15001
        105 < 1 sack=1001:7001
        > 15001:16001
        106 < 1 sack=8001:9001,1001:7001
        > 16001:17001
        107 < 1 sack=8001:10001,1001:7001
        > 17001:18001
        108 < 1 sack=8001:11001,1001:7001
        > 7001:8001 18001:19001
        109 < 1 sack=8001:12001,1001:7001
        > 19001:20001
        200 < 7001 sack=8001:12001
        > 20001:21001
        203 < 7001 sack=13001:14001,8001:12001
        > 21001:22001
        204 < 7001 sack=13001:15001,8001:12001
        > 22001:23001
        = srtt=none
        205 < 7001 sack=13001:16001,8001:12001
        > 12001:13001 23001:24001
        = state=recovery srtt=none
        208 < 12001 sack=13001:16001
        ! recovered 9000
        > 24001:25001
        = state=open srtt=none
        # 23001 was sent once, after the retransmission.
        305 < 24001
        > 25001:34001/1000
        = srtt=100
        ",
    );
}

/// Two losses, two time-outs: the second segment is retransmitted too.
#[test]
fn each_time_out_sends_the_first_segment_again() {
    check(
        &TcpConfig { initial_window: InitialWindow::Segments(10), ..plain() },
        Law::NewReno,
        "
        0 open
        0 write 10000
        > 1:10001/1000
        1000 timer
        ! timeout 10000 pipe 10000
        > 1:1001
        1100 < 1001
        > 1001:3001/1000
        = ssthresh=5000
        3100 timer
        ! timeout 9000 pipe 2000
        > 1001:2001
        ",
    );
}

/// 4.4BSD's slow timer: ticks every 500 ms, at the connection's own phase. A time-out of two ticks expires at the second tick: half a
/// second to a second after its start. Data sent at any time between the same two ticks time out together.
#[test]
fn a_slow_timer_fires_at_its_ticks() {
    let config = TcpConfig { tick: Span::from_millis(500), tick_mode: TickMode::Bsd, ..quick() };
    let mut script = crate::support::sender::Script::new(
        &TcpConfig { min_rto: Span::from_secs(1), ..config },
        Law::Fixed(1000),
    );
    crate::support::run(&mut script, "0 open\n0 write 1000\n> 1:1001");
    let first = script.sender.deadline().expect("data are outstanding").0;
    assert!((500_000_001..=1_000_000_000).contains(&first), "two ticks, initial_rto 1 s: {first}");
    let ms = first / 1_000_000;
    crate::support::run(&mut script, &format!("{} < 1001\n{} write 1000\n> 1001:2001", ms - 500, ms - 300));
    // No tick between transmission and acknowledgement: a round-trip time of one tick from origin 1, and a time-out of three ticks.
    assert_eq!(script.sender.round_trips().time_out, Span::from_millis(1500));
    let next = script.sender.deadline().expect("data are outstanding").0;
    assert_eq!(next, first + 1_000_000_000, "the third tick from {first} on");
}

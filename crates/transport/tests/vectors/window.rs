//! The receiver's window at the sender: closed windows, probes, small segments (RFC 9293 section 3.8.6).

use airfair_transport::TcpConfig;
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

fn buffer(bytes: u64) -> TcpConfig {
    TcpConfig { receive_window: bytes, window_scale: 0, min_rto: Span::from_millis(200), ..plain() }
}

#[test]
fn a_closed_window_is_probed_with_back_off() {
    check(
        &TcpConfig { ecn: true, idle_restart: false, ..buffer(2000) },
        Law::Fixed(10_000),
        "
        0 open
        0 endless
        > 1:2001/1000*
        # RTO 100 + 4 * 50.
        100 < 2001 win=0
        = deadline=400
        # One byte beyond the window, never ECT (RFC 3168 section 6.1.6).
        400 timer
        > 2001:2002
        = probes=1 deadline=1000 flight=0 una=2001
        410 < 2001 win=0
        1000 timer
        > 2001:2002
        = deadline=2200
        # The byte was accepted; the window is still closed.
        1010 < 2002 win=0
        = una=2002 next=2002
        2200 timer
        > 2002:2003
        = deadline=4600
        2300 < 2002 win=2000
        > 2002:4002/1000*
        = deadline=2600
        # The back-off has restarted; RTTVAR 3/4 * 50 + 1/4 * 90 = 60, SRTT 7/8 * 100 + 1/8 * 10 = 88.75.
        2310 < 4002 win=0
        = rto=328.75 deadline=2638.75
        ",
    );
}

#[test]
fn a_closed_window_is_probed_as_long_as_it_is_closed() {
    check(
        &TcpConfig { max_rto: Span::from_secs(1), retries: Some(1), ..buffer(1000) },
        Law::Fixed(10_000),
        "
        0 open
        0 endless
        > 1:1001
        100 < 1001 win=0
        400 timer
        > 1001:1002
        1000 timer
        > 1001:1002
        2000 timer
        > 1001:1002
        3000 timer
        > 1001:1002
        = state=open deadline=4000
        ",
    );
}

#[test]
fn a_receiver_that_acknowledges_may_keep_its_window_closed() {
    // RFC 9293 section 3.8.6.1: only consecutive time-outs without an answer count as retries.
    check(
        &TcpConfig { retries: Some(1), ..buffer(1000) },
        Law::Fixed(1000),
        "
        0 open
        0 endless
        > 1:1001
        1000 timer
        > 1:1001
        ! timeout 1000 pipe 1000
        1100 < 1 win=0
        3000 timer
        > 1:1001
        ! timeout 1000 pipe 1000 repeated
        = state=loss
        7000 timer
        = state=failed
        ",
    );
}

#[test]
fn nothing_leaves_beyond_the_window() {
    check(
        &buffer(2999),
        Law::Fixed(10_000),
        "
        0 open
        0 endless
        > 1:2001/1000
        100 < 1001 win=2999
        > 2001:3001
        # The window shrank: data beyond it are not retransmitted, and stay outstanding (RFC 9293 section 3.8.6).
        110 < 1001 win=1500
        120 < 2001 win=500
        130 < 2001 win=1000
        140 < 2001 win=2000
        > 3001:4001
        = flight=2000
        ",
    );
}

#[test]
fn a_shrunk_window_does_not_stop_repair() {
    check(
        &buffer(2000),
        Law::Fixed(2000),
        "
        0 open
        0 endless
        > 1:2001/1000
        50 < 1 win=0
        1000 timer
        ! timeout 2000 pipe 2000
        > 1:2001/1000
        ",
    );
}

#[test]
fn small_windows_are_used_from_half_the_largest_on() {
    // RFC 9293 section 3.8.6.2.1, rule 3 with Fs = 1/2.
    check(
        &buffer(1500),
        Law::Fixed(10_000),
        "
        0 open
        0 endless
        # Of a window of 1500, the 500 bytes that remain are less than half.
        > 1:1001
        100 < 1001 win=750
        > 1001:1751
        110 < 1751 win=749
        = deadline=438.75
        ",
    );
}

#[test]
fn the_override_timer_sends_into_a_small_window() {
    // RFC 9293 section 3.8.6.2.1, rule 4.
    check(
        &buffer(1500),
        Law::Fixed(10_000),
        "
        0 open
        0 endless
        > 1:1001
        100 < 1001 win=700
        = deadline=400
        400 timer
        ! idle 400 rto 300
        > 1001:1701
        = probes=0 flight=700
        450 < 1701 win=1500
        > 1701:2701
        ",
    );
}

#[test]
fn a_window_that_opens_a_little_ends_the_probing() {
    check(
        &buffer(1500),
        Law::Fixed(10_000),
        "
        0 open
        0 endless
        > 1:1001
        100 < 1001 win=0
        400 timer
        > 1001:1002
        = deadline=1000
        # The window is too small for a segment: the override timer starts, without back-off.
        500 < 1001 win=700
        = deadline=800
        ",
    );
}

#[test]
fn the_last_data_leave_into_any_window_that_holds_them() {
    check(
        &buffer(1500),
        Law::Fixed(10_000),
        "
        0 open
        0 write 1400
        > 1:1001 1001:1401
        ",
    );
}

#[test]
fn no_probe_without_data() {
    check(
        &buffer(1000),
        Law::Fixed(10_000),
        "
        0 open
        0 write 1000
        > 1:1001
        100 < 1001 win=0
        = deadline=none
        200 write 1
        = deadline=500
        500 timer
        > 1001:1002
        ",
    );
}

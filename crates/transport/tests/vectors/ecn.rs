//! Explicit congestion notification at the sender (RFC 3168 section 6.1).

use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

fn segments(count: u32) -> TcpConfig {
    TcpConfig {
        ecn: true,
        initial_window: InitialWindow::Segments(count),
        min_rto: Span::from_millis(200),
        ..plain()
    }
}

#[test]
fn the_window_is_reduced_once_for_a_window_of_data() {
    check(
        &segments(8),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:8001/1000*
        # Eight segments were outstanding. Neither this acknowledgement nor the next increases the window.
        100 < 1001 ece
        ! mark 8000 pipe 8000
        = window=4000 ssthresh=4000 reductions=1
        110 < 4001 ece
        = window=4000 pipe=4000
        # 4000 + 1000 * 1000 / 4000. Only the first new segment has CWR, which reports the reduction.
        120 < 6001
        > 8001:9001*W 9001:10001*
        = window=4250
        # Acknowledged exactly up to the reduction.
        130 < 8001 ece
        > 10001:12001/1000*
        = reductions=1
        # 8001 was sent after the reduction: a new window of data.
        200 < 9001 ece
        ! mark 4000 pipe 4000
        = window=2000
        210 < 12001
        > 12001:13001*W 13001:14001*
        ",
    );
}

#[test]
fn retransmissions_are_not_ect_and_a_loss_is_announced() {
    check(
        &segments(4),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000*
        100 < 1
        100 < 1
        100 < 1
        ! fast-loss 4000 pipe 1000
        > 1:1001 4001:5001*W
        # A mark of the same window changes nothing.
        110 < 1 ece
        > 5001:6001*
        = reductions=0 window=2000
        ",
    );
}

#[test]
fn a_time_out_is_announced_and_answers_marks_of_its_window() {
    check(
        &segments(4),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000*
        1000 timer
        ! timeout 4000 pipe 4000
        > 1:1001
        1100 < 3001 ece
        > 3001:4001
        = reductions=0 window=1000
        1200 < 4001
        > 4001:5001*W 5001:6001*
        ",
    );
}

#[test]
fn a_loss_in_a_marked_window_reduces_no_more() {
    check(
        &segments(8),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:8001/1000*
        100 < 1001 ece
        ! mark 8000 pipe 8000
        101 < 1001
        101 < 1001
        # The loss is repaired, but the law is not notified again.
        101 < 1001
        > 1001:2001
        = state=recovery window=4000 recoveries=1
        # 4000 + 7 * 1000 - 7000 + 1000 = 5000.
        102 < 1001
        > 8001:9001*W
        200 < 9001
        ! recovered 0
        > 9001:13001/1000*
        # A later loss is a new congestion event.
        300 < 9001
        300 < 9001
        = state=open
        350 < 10001
        > 13001:14001*
        360 < 10001
        360 < 10001
        360 < 10001
        ! fast-loss 4000 pipe 1000
        > 10001:11001 14001:15001*W
        ",
    );
}

#[test]
fn the_first_segment_after_a_reduction_begins_a_new_window() {
    check(
        &segments(4),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000*
        100 < 1001 ece
        ! mark 4000 pipe 4000
        110 < 4001
        > 4001:5001*W 5001:6001*
        # Two segments are outstanding, and the next acknowledgement permits two more.
        200 < 4001
        201 < 4001
        202 < 4001
        ! fast-loss 2000 pipe 1000
        # 2000 + 3000 with 2000 outstanding.
        > 4001:5001 6001:7001*W 7001:9001/1000*
        ",
    );
}

#[test]
fn marks_at_a_window_of_one_segment_leave_the_pace_to_the_timer() {
    // RFC 3168 section 6.1.2.
    check(
        &segments(1),
        Law::Fixed(1000),
        "
        0 open
        0 endless
        > 1:1001*
        # RTO 100 + 4 * 50.
        100 < 1001 ece
        ! mark 1000 pipe 1000
        = deadline=400
        # No segment was sent for longer than the time-out, and the law is notified.
        400 timer
        ! idle 400 rto 300
        > 1001:2001*W
        = deadline=700
        450 < 2001
        > 2001:3001*
        ",
    );
    // A window of more than one segment suffices to continue.
    check(
        &segments(1),
        Law::Fixed(1001),
        "
        0 open
        0 endless
        > 1:1001*
        100 < 1001 ece
        ! mark 1000 pipe 1000
        > 1001:2001*W
        ",
    );
}

#[test]
fn the_timer_is_set_anew_by_a_mark_at_one_segment() {
    check(
        &segments(1),
        Law::Fixed(1000),
        "
        0 open
        0 write 700
        > 1:701*
        0 write 300
        > 701:1001*
        0 write 800
        100 < 701
        150 < 701 ece
        ! mark 300 pipe 300
        = deadline=450
        450 timer
        > 701:1001
        ! timeout 300 pipe 300
        ",
    );
}

#[test]
fn without_negotiation_no_mark_is_sent_or_read() {
    check(
        &TcpConfig { ecn: false, ..segments(4) },
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000
        100 < 1001 ece
        > 4001:6001/1000
        = reductions=0
        ",
    );
}

#[test]
fn a_fin_alone_is_not_ect() {
    check(
        &TcpConfig { fin: true, ..segments(4) },
        Law::Fixed(4000),
        "
        0 open
        0 write 1000
        > 1:1001*
        10 close
        > 1001:1001F
        ",
    );
}

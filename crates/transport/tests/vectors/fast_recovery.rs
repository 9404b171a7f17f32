//! Fast retransmit and fast recovery without SACK (RFC 5681 section 3.2, RFC 6582) and limited transmit (RFC 3042).

use airfair_transport::{InitialWindow, PartialAckTimer, TcpConfig};

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

fn segments(count: u32) -> TcpConfig {
    TcpConfig { initial_window: InitialWindow::Segments(count), ..plain() }
}

#[test]
fn two_losses_in_a_window_of_ten() {
    // The first and the fifth segment are lost.
    check(
        &segments(10),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:10001/1000
        100 < 1
        101 < 1
        = state=open
        102 < 1
        ! fast-loss 10000 pipe 7000
        > 1:1001
        = state=recovery ssthresh=5000 window=5000 flight=10000
        # 5000 + 3000, and 1000 for each further duplicate: from 11000 on new data fit.
        103 < 1
        104 < 1
        105 < 1
        > 10001:11001
        106 < 1
        > 11001:12001
        107 < 1
        > 12001:13001
        = duplicates=8
        # A partial acknowledgement: 13000 - 4000 + 1000 = 10000 with 9000 outstanding.
        200 < 4001
        ~ 1000 cumulative 4000 flight 5000->3000 lost 1000 rate 6000/102 app-limited round full recovery sent 102
        > 4001:5001 13001:14001
        = state=recovery window=5000
        205 < 4001
        > 14001:15001
        206 < 4001
        > 15001:16001
        207 < 4001
        > 16001:17001
        # All data up to 10001, outstanding when recovery began, are acknowledged: the window is 5000 again, 4000 are outstanding.
        300 < 13001
        ! recovered 4000
        > 17001:18001
        = state=open window=5000 retransmissions=2 recoveries=1
        ",
    );
}

#[test]
fn first_partial_acknowledgement_restarts_the_timer() {
    let script = "
        0 open
        0 write 6000
        > 1:6001/1000
        100 < 1
        100 < 1
        100 < 1
        ! fast-loss 6000 pipe 3000
        > 1:1001
        = deadline=1000
        200 < 2001
        > 2001:3001
        = deadline=1200
        300 < 4001
        > 4001:5001
        = deadline=SECOND
        400 < 6001
        ! recovered 0
        = deadline=none state=open
        ";
    check(&plain(), Law::Fixed(6000), &script.replace("SECOND", "1200"));
    let steady = TcpConfig { partial_ack_timer: PartialAckTimer::SlowButSteady, ..plain() };
    check(&steady, Law::Fixed(6000), &script.replace("SECOND", "1300"));
}

#[test]
fn a_new_recovery_restarts_the_timer_once_more() {
    check(
        &plain(),
        Law::Fixed(4000),
        "
        0 open
        0 write 10000
        > 1:4001/1000
        100 < 1
        100 < 1
        100 < 1
        ! fast-loss 4000 pipe 1000
        > 1:1001 4001:7001/1000
        200 < 1001
        > 1001:2001 7001:8001
        = deadline=1200
        300 < 5001
        ! recovered 3000
        > 8001:9001
        = deadline=1300
        400 < 5001
        400 < 5001
        400 < 5001
        ! fast-loss 4000 pipe 1000
        > 5001:6001 9001:10001
        500 < 6001
        > 6001:7001
        = deadline=1500
        ",
    );
}

#[test]
fn a_full_acknowledgement_restarts_the_timer() {
    check(
        &plain(),
        Law::Fixed(4000),
        "
        0 open
        0 write 10000
        > 1:4001/1000
        100 < 1
        100 < 1
        100 < 1
        ! fast-loss 4000 pipe 1000
        > 1:1001 4001:7001/1000
        200 < 1001
        > 1001:2001 7001:8001
        = deadline=1200
        # Acknowledged exactly up to `recover`.
        300 < 4001
        ! recovered 4000
        = deadline=1300
        ",
    );
}

#[test]
fn a_partial_acknowledgement_below_a_segment_adds_nothing_back() {
    check(
        &plain(),
        Law::Fixed(6000),
        "
        0 open
        0 endless
        > 1:6001/1000
        100 < 1
        100 < 1
        100 < 1
        ! fast-loss 6000 pipe 3000
        > 1:1001 6001:9001/1000
        # 9000 - 500 = 8500, and 8500 are outstanding.
        200 < 501
        > 501:1001
        = pipe=8500
        # 8500 - 1500 + 1000 = 8000, and 7000 are outstanding.
        300 < 2001
        > 2001:3001 9001:10001
        = pipe=8000
        ",
    );
}

#[test]
fn partial_acknowledgements_deflate_below_the_window() {
    check(
        &plain(),
        Law::Fixed(6000),
        "
        0 open
        0 endless
        > 1:6001/1000
        100 < 1
        100 < 1
        100 < 1
        ! fast-loss 6000 pipe 3000
        > 1:1001 6001:9001/1000
        # 9000 - 5000 + 1000 = 5000: one new segment beside the retransmission.
        200 < 5001
        > 5001:6001 9001:10001
        = pipe=5000 state=recovery
        ",
    );
}

#[test]
fn partial_acknowledgements_may_leave_what_duplicates_have_added() {
    // Equation 5 of QFCP: the window and the number of duplicates, until all data are acknowledged.
    check(
        &plain(),
        Law::Keeping(6000),
        "
        0 open
        0 endless
        > 1:6001/1000
        100 < 1
        100 < 1
        100 < 1
        ! fast-loss 6000 pipe 3000
        > 1:1001 6001:9001/1000
        # 6000 + 3 * 1000, and 4000 are outstanding: five segments beside the retransmission.
        200 < 5001
        > 5001:6001 9001:14001/1000
        = pipe=9000 state=recovery
        # A fourth duplicate: one segment more.
        210 < 5001
        > 14001:15001
        # All data sent before the loss was detected are acknowledged: the window without inflation, and 6000 are outstanding.
        300 < 9001
        ! recovered 6000
        = pipe=6000 state=open
        400 < 10001
        > 15001:16001
        ",
    );
}

#[test]
fn duplicates_of_the_end_of_a_recovery_start_no_recovery() {
    // RFC 6582 section 3.2, step 2: more than `recover` must be acknowledged.
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
        > 1:1001 4001:7001/1000
        200 < 4001
        ! recovered 3000
        > 7001:8001
        300 < 4001
        300 < 4001
        300 < 4001
        300 < 4001
        = state=open recoveries=1
        400 < 5001
        > 8001:9001
        500 < 5001
        500 < 5001
        500 < 5001
        ! fast-loss 4000 pipe 1000
        > 5001:6001 9001:12001/1000
        ",
    );
}

#[test]
fn only_true_duplicates_count() {
    // RFC 5681 section 2.
    check(
        &plain(),
        Law::Fixed(4000),
        "
        0 open
        # Not a duplicate: no data are outstanding.
        0 < 1
        0 write 4000
        > 1:4001/1000
        100 < 1
        # Not a duplicate: the window changes.
        100 < 1 win=900000
        # Not a duplicate: the segment carries data.
        100 < 1 payload=10
        # Not a duplicate: the segment has no ACK.
        100 < 1 no-ack
        100 < 1
        = state=open duplicates=2
        # An older acknowledgement is no duplicate.
        150 < 1001
        151 < 1
        151 < 1
        151 < 1
        = state=open duplicates=2
        # The count of duplicates has restarted.
        160 < 1001
        160 < 1001
        = state=open
        160 < 1001
        ! fast-loss 3000 pipe 1000
        > 1001:2001
        ",
    );
}

#[test]
fn threshold_of_duplicates_is_a_parameter() {
    check(
        &TcpConfig { dupack_threshold: 2, ..plain() },
        Law::Fixed(4000),
        "
        0 open
        0 write 8000
        > 1:4001/1000
        100 < 1
        100 < 1
        ! fast-loss 4000 pipe 2000
        # 4000 + 2 * 1000.
        > 1:1001 4001:6001/1000
        ",
    );
}

#[test]
fn limited_transmit_answers_two_duplicates() {
    // Limited transmit does not count in FlightSize (RFC 5681 section 3.2, step 2).
    check(
        &TcpConfig { limited_transmit: true, ..segments(4) },
        Law::NewReno,
        "
        0 open
        0 write 10000
        > 1:4001/1000
        100 < 1
        > 4001:5001
        101 < 1
        > 5001:6001
        = window=4000
        102 < 1
        ! fast-loss 4000 pipe 3000
        > 1:1001
        = window=2000
        # 2000 + 3000 + 2000 with 6000 outstanding.
        103 < 1
        104 < 1
        > 6001:7001
        ",
    );
    check(
        &segments(4),
        Law::NewReno,
        "
        0 open
        0 write 10000
        > 1:4001/1000
        100 < 1
        101 < 1
        102 < 1
        ! fast-loss 4000 pipe 1000
        > 1:1001 4001:5001
        ",
    );
}

#[test]
fn limited_transmit_restarts_after_an_acknowledgement_of_new_data() {
    check(
        &TcpConfig { limited_transmit: true, ..plain() },
        Law::Fixed(4000),
        "
        0 open
        0 write 12000
        > 1:4001/1000
        100 < 1
        > 4001:5001
        101 < 1
        > 5001:6001
        # Reordering: 4000 outstanding bytes are allowed again.
        102 < 1001
        103 < 2001
        104 < 3001
        > 6001:7001
        # Segments that limited transmit sent before do not count any more.
        110 < 3001
        > 7001:8001
        111 < 3001
        > 8001:9001
        112 < 3001
        ! fast-loss 4000 pipe 1000
        > 3001:4001 9001:10001
        ",
    );
}

#[test]
fn limited_transmit_keeps_within_the_receivers_window() {
    check(
        &TcpConfig { limited_transmit: true, receive_window: 5000, window_scale: 0, ..plain() },
        Law::Fixed(4000),
        "
        0 open
        0 write 12000
        > 1:4001/1000
        100 < 1 win=5000
        > 4001:5001
        101 < 1
        = next=5001
        ",
    );
}

#[test]
fn what_the_window_allows_anyway_is_part_of_the_flight() {
    check(
        &TcpConfig { limited_transmit: true, ..plain() },
        Law::Fixed(10000),
        "
        0 open
        0 write 4000
        > 1:4001/1000
        100 < 1
        100 write 2000
        > 4001:6001/1000
        101 < 1
        102 < 1
        ! fast-loss 6000 pipe 3000
        > 1:1001
        ",
    );
}

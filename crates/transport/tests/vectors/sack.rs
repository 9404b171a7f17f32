//! Recovery with selective acknowledgements (RFC 6675 section 5).

use airfair_transport::{InitialWindow, TcpConfig};

use crate::support::laws::Law;
use crate::support::sender::{check, with_sack};

fn segments(count: u32) -> TcpConfig {
    TcpConfig { initial_window: InitialWindow::Segments(count), ..with_sack() }
}

#[test]
fn two_losses_in_a_window_of_ten() {
    // The first and the sixth segment are lost.
    check(
        &segments(10),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:10001/1000
        100 < 1 sack=1001:2001
        > 10001:11001
        101 < 1 sack=1001:3001
        > 11001:12001
        # FlightSize without the two segments of limited transmit; pipe: 12 - 3 received - 1 lost.
        102 < 1 sack=1001:4001
        ! fast-loss 10000 pipe 8000
        ~ 1000 cumulative 0 flight 10000->8000 lost 1000 rtt 102 rate 3000/102 app-limited full recovery sent 0
        > 1:1001
        = window=5000 pipe=9000 state=recovery
        103 < 1 sack=1001:5001
        104 < 1 sack=6001:7001,1001:5001
        105 < 1 sack=6001:8001,1001:5001
        = pipe=6000
        # Three segments above the sixth have arrived: it is lost. In transit: 1 (retransmitted), 10, 11 and 12.
        106 < 1 sack=6001:9001,1001:5001
        > 5001:6001
        = pipe=5000
        107 < 1 sack=6001:10001,1001:5001
        > 12001:13001
        200 < 5001 sack=6001:10001
        > 13001:14001
        = state=recovery
        # RecoveryPoint.
        300 < 12001
        ! recovered 2000
        > 14001:17001/1000
        = state=open retransmissions=2 recoveries=1 bytes-lost=2000
        ",
    );
}

#[test]
fn segments_in_doubt_are_sent_if_nothing_else_may_be() {
    // NextSeg: rule 3 when rule 2 finds no segment, and rule 4 once in a recovery.
    check(
        &with_sack(),
        Law::Fixed(6000),
        "
        0 open
        0 write 6000
        > 1:6001/1000
        100 < 1 sack=1001:2001
        100 < 1 sack=3001:4001,1001:2001
        100 < 1 sack=5001:6001,3001:4001,1001:2001
        ! fast-loss 6000 pipe 2000
        # Two copies of the second and third hole count.
        > 1:1001 2001:3001 4001:5001
        = pipe=5000
        200 < 2001 sack=5001:6001,3001:4001
        > 4001:5001
        201 < 2001 sack=5001:6001,3001:4001
        = retransmissions=4
        300 < 6001
        ! recovered 0
        = state=open
        ",
    );
}

#[test]
fn a_segment_in_doubt_may_become_lost() {
    check(
        &with_sack(),
        Law::Fixed(6000),
        "
        0 open
        0 write 6000
        > 1:6001/1000
        100 < 1 sack=1001:2001
        100 < 1 sack=3001:4001,1001:2001
        100 < 1 sack=5001:6001,3001:4001,1001:2001
        ! fast-loss 6000 pipe 2000
        > 1:1001 2001:3001 4001:5001
        # Three segments above the second hole have arrived: only its second copy is in transit.
        200 < 1 sack=3001:6001,1001:2001
        = pipe=2000 bytes-lost=2000 retransmissions=3
        ",
    );
}

#[test]
fn new_data_are_sent_before_segments_in_doubt() {
    check(
        &with_sack(),
        Law::Fixed(6000),
        "
        0 open
        0 write 7000
        > 1:6001/1000
        100 < 1 sack=1001:2001
        > 6001:7001
        100 < 1 sack=3001:4001,1001:2001
        100 < 1 sack=5001:6001,3001:4001,1001:2001
        ! fast-loss 6000 pipe 3000
        > 1:1001 2001:3001 4001:5001
        ",
    );
}

#[test]
fn last_segment_is_rescued_once() {
    // NextSeg rule 4: the tail is lost too; no segment above it can reveal the loss.
    check(
        &with_sack(),
        Law::Fixed(5000),
        "
        0 open
        0 write 5000
        > 1:5001/1000
        100 < 1 sack=1001:2001
        100 < 1 sack=1001:3001
        100 < 1 sack=1001:4001
        ! fast-loss 5000 pipe 1000
        > 1:1001
        # More than the data of the first retransmission are acknowledged.
        200 < 4001
        > 4001:5001
        = state=recovery
        250 poll
        300 < 5001
        ! recovered 0
        = state=open retransmissions=2
        ",
    );
}

#[test]
fn rescue_waits_for_more_than_the_first_retransmission() {
    check(
        &with_sack(),
        Law::Fixed(6000),
        "
        0 open
        0 write 6000
        > 1:6001/1000
        100 < 1 sack=1001:4001
        ! fast-loss 6000 pipe 2000
        > 1:1001
        # Only the retransmitted data are acknowledged.
        200 < 1001 sack=1001:4001
        = state=recovery
        300 < 4001
        > 5001:6001
        ",
    );
}

#[test]
fn each_segment_is_sent_again_once_a_recovery() {
    // HighRxt: only the timer detects a lost retransmission.
    check(
        &with_sack(),
        Law::Fixed(5000),
        "
        0 open
        0 write 8000
        > 1:5001/1000
        100 < 1 sack=1001:4001
        ! fast-loss 5000 pipe 1000
        > 1:1001 5001:8001/1000
        200 < 1 sack=1001:5001
        201 < 1 sack=1001:8001
        202 < 1 sack=1001:8001
        = state=recovery retransmissions=1 deadline=1000
        1000 timer
        ! timeout 8000 pipe 1000
        > 1:5001/1000
        ",
    );
}

#[test]
fn a_loss_beyond_recovery_point_begins_another_recovery() {
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 open
        0 endless
        > 1:4001/1000
        100 < 1 sack=1001:4001
        ! fast-loss 4000 pipe 0
        > 1:1001 4001:7001/1000
        = pipe=4000
        # 4001:5001 is lost as well, and so is the acknowledgement of the retransmission; the next acknowledgement reports both.
        200 < 4001 sack=5001:6001
        ! recovered 2000
        > 7001:9001/1000
        = state=open
        201 < 4001 sack=5001:7001
        > 9001:10001
        202 < 4001 sack=5001:8001
        ! fast-loss 4000 pipe 2000
        > 4001:5001 10001:11001
        = recoveries=2
        ",
    );
}

#[test]
fn one_acknowledgement_may_end_a_recovery_and_begin_the_next() {
    // 4001:5001 is lost too; later data are reported by the acknowledgement that reaches RecoveryPoint.
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 open
        0 endless
        > 1:4001/1000
        100 < 1 sack=1001:4001
        ! fast-loss 4000 pipe 0
        > 1:1001 4001:7001/1000
        150 < 1 sack=1001:4001,5001:6001
        > 7001:8001
        200 < 4001 sack=5001:8001
        ! recovered 0; fast-loss 4000 pipe 0
        ~ 3000 cumulative 4000 flight 4000->0 lost 1000 rtt 50 rate 3000/50 round full recovery sent 150
        > 4001:5001 8001:11001/1000
        = state=recovery recoveries=2
        ",
    );
}

#[test]
fn another_recovery_retransmits_holes_again() {
    // HighRxt restarts: both holes beyond RecoveryPoint had been retransmitted, and are retransmitted again.
    check(
        &with_sack(),
        Law::Fixed(6000),
        "
        0 open
        0 write 12000
        > 1:6001/1000
        100 < 1 sack=1001:6001
        ! fast-loss 6000 pipe 0
        > 1:1001 6001:11001/1000
        150 < 1 sack=1001:6001,8001:11001
        > 6001:8001/1000 11001:12001
        = pipe=4000
        # The acknowledgement of the first retransmission.
        200 < 6001 sack=8001:11001
        ! recovered 3000
        = state=open pipe=3000
        201 < 6001 sack=8001:12001
        ! fast-loss 6000 pipe 2000
        > 6001:8001/1000
        = state=recovery pipe=2000 retransmissions=5
        ",
    );
}

#[test]
fn every_new_acknowledgement_restarts_the_timer() {
    // RFC 6675 section 6: the timer restarts by RFC 6298, also in recovery.
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 open
        0 write 4000
        > 1:4001/1000
        100 < 1 sack=3001:4001
        100 < 1 sack=3001:4001
        = deadline=1000
        200 < 1001 sack=3001:4001
        = deadline=1200
        300 < 2001 sack=3001:4001
        = deadline=1300
        ",
    );
}

/// Ten segments, the last with the FIN; the seventh is lost. The three segments after it cause three duplicate acknowledgements, whether or
/// not the receiver includes the FIN's number in its block.
#[test]
fn the_segment_with_the_fin_is_a_duplicate_too() {
    for last in ["7001:10002", "7001:10001"] {
        let script = check(
            &TcpConfig { fin: true, ..with_sack() },
            Law::Fixed(10_000),
            &format!(
                "
                0 write 10000
                0 close
                0 open
                > 1:9001/1000 9001:10001F
                100 < 6001
                = srtt=100
                101 < 6001 sack=7001:8001
                102 < 6001 sack=7001:9001
                103 < 6001 sack={last}
                ! fast-loss 4000 pipe 0
                > 6001:7001
                = state=recovery duplicates=3
                200 < 10002
                ! recovered 0
                = done=true timeouts=0
                "
            ),
        );
        assert_eq!(script.sender.stats().retransmissions, 1);
    }
}

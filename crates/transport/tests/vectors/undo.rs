//! Spurious time-outs and fast retransmits: detection (RFC 3522, RFC 3708) and response (RFC 4015).

use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain, with_sack};

/// Timestamps take 12 bytes: segments have 1000 bytes of payload.
fn stamped(base: TcpConfig) -> TcpConfig {
    TcpConfig {
        mss: 1012,
        timestamps: true,
        undo: true,
        min_rto: Span::from_millis(200),
        initial_window: InitialWindow::Segments(4),
        ..base
    }
}

/// The first acknowledgement after a time-out echoes a timestamp from before the retransmission: all had arrived, late.
#[test]
fn a_delay_sends_exactly_one_segment_twice() {
    check(
        &stamped(with_sack()),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000@0/0
        # SRTT 100, RTTVAR 50, RTO 300; with four outstanding before: weight of two samples.
        100 < 4001 ts=50/0
        > 4001:9001/1000@100/50
        = window=5000 srtt=100 rttvar=50 rto=300 deadline=400
        400 timer
        ! timeout 5000 pipe 5000
        > 4001:5001@400/50
        = state=loss window=1000 ssthresh=2500 rto=600 deadline=1000 pipe=1000
        # 450 ms after its departure the original is acknowledged.
        550 < 5001 ts=500/100
        ! spurious timeout 4000 acked 1000
        > 9001:10001@550/500
        = state=open window=5000 ssthresh=1099511627776 pipe=5000 spurious-timeouts=1 bytes-retransmitted=1000
        # Nothing was lost, and the window does not grow by this one.
        ~ 1000 cumulative 1000 flight 1000->4000 rate 1000/450 round sent 400
        551 < 9001 ts=501/100
        > 10001:15001/1000@551/501
        = state=open window=6000 retransmissions=1
        ",
    );
}

#[test]
fn a_genuine_time_out_stays() {
    let script = "
        0 open
        0 endless
        > 1:4001/1000@0/0
        100 < 4001 ts=50/0
        > 4001:9001/1000@100/50
        400 timer
        ! timeout 5000 pipe 5000
        > 4001:5001@400/50
        # The echo is that of the retransmission.
        500 < 5001 ts=450/400
        > 5001:7001/1000@500/450
        = state=loss window=2000 spurious-timeouts=0
        # An older one does not count after that.
        501 < 6001 ts=450/100
        > 7001:9001/1000@501/450
        = state=loss spurious-timeouts=0
    ";
    check(&stamped(with_sack()), Law::NewReno, script);
    check(&TcpConfig { undo: false, ..stamped(with_sack()) }, Law::NewReno, script);
}

/// Without the rule the late acknowledgement does not stop go-back-N.
#[test]
fn without_undo_all_is_sent_again() {
    check(
        &TcpConfig { undo: false, ..stamped(with_sack()) },
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000@0/0
        100 < 4001 ts=50/0
        > 4001:9001/1000@100/50
        400 timer
        ! timeout 5000 pipe 5000
        > 4001:5001@400/50
        550 < 5001 ts=500/100
        > 5001:7001/1000@550/500
        = state=loss window=2000
        ",
    );
}

/// Several time-outs in a row are one event: the oldest timestamp counts, and the window from before the first returns.
#[test]
fn repeated_time_outs_are_undone_together() {
    check(
        &stamped(with_sack()),
        Law::NewReno,
        "
        0 open
        0 write 8000
        > 1:4001/1000@0/0
        100 < 4001 ts=50/0
        > 4001:8001/1000@100/50
        400 timer
        ! timeout 4000 pipe 4000
        > 4001:5001@400/50
        1000 timer
        ! timeout 4000 pipe 1000 repeated
        > 4001:5001@1000/50
        = rto=1200
        1100 < 6001 ts=1050/100
        ! spurious timeout 2000 acked 2000
        = state=open window=5000 pipe=2000 spurious-timeouts=1 timeouts=2
        ",
    );
    // The first retransmission has arrived, the second was in vain: the loss was genuine.
    check(
        &stamped(with_sack()),
        Law::NewReno,
        "
        0 open
        0 write 8000
        > 1:4001/1000@0/0
        100 < 4001 ts=50/0
        > 4001:8001/1000@100/50
        400 timer
        ! timeout 4000 pipe 4000
        > 4001:5001@400/50
        1000 timer
        ! timeout 4000 pipe 1000 repeated
        > 4001:5001@1000/50
        1100 < 5001 ts=1050/400
        > 5001:7001/1000@1100/1050
        = state=loss spurious-timeouts=0
        ",
    );
}

/// The acknowledgement comes before pacing lets the retransmission out: nothing is sent twice, and no timestamp is needed.
#[test]
fn an_acknowledgement_before_the_retransmission_needs_no_timestamp() {
    check(
        &TcpConfig { undo: true, ..with_sack() },
        // A segment of 1000 bytes each second, two at once.
        Law::Paced(10_000, 8_000, Some(2000)),
        "
        0 open
        0 write 3000
        > 1:2001/1000
        1000 timer
        ! timeout 2000 pipe 2000
        = state=loss
        1500 < 1001
        ! spurious timeout 1000 acked 1000
        = state=open pipe=1000 bytes-retransmitted=0
        ",
    );
}

/// RFC 4015: the first measurement of data sent after the detection makes the time-out conservative.
#[test]
fn the_time_out_adapts_to_the_delay() {
    check(
        &TcpConfig { tick: Span::from_millis(1), ..stamped(with_sack()) },
        Law::Fixed(2000),
        "
        0 open
        0 endless
        > 1:2001/1000@0/0
        100 < 2001 ts=50/0
        > 2001:4001/1000@100/50
        = srtt=100 rttvar=50 rto=300
        400 timer
        ! timeout 2000 pipe 2000
        > 2001:4001/1000@400/50
        500 < 3001 ts=450/100
        ! spurious timeout 1000 acked 1000
        # As always: SRTT 7/8 * 100 + 1/8 * 400, RTTVAR 3/4 * 50 + 1/4 * 300. A copy of 3001:4001 is in the network.
        = srtt=137.5 rttvar=112.5 rto=588 pipe=2000
        501 < 4001 ts=451/100
        > 4001:6001/1000@501/451
        # SRTT is the larger of 100 + 2 ticks and the measured 40; RTTVAR that of 50 and 20.
        541 < 5001 ts=490/501
        > 6001:7001@541/490
        = srtt=102 rttvar=50 rto=302
        ",
    );
}

/// Segment 1 is overtaken by three others.
#[test]
fn reordering_is_undone() {
    check(
        &stamped(with_sack()),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000@0/0
        50 < 1 sack=1001:2001 ts=25/0
        > 4001:5001@50/25
        51 < 1 sack=1001:3001 ts=26/0
        > 5001:6001@51/26
        52 < 1 sack=1001:4001 ts=27/0
        ! fast-loss 4000 pipe 2000
        > 1:1001@52/27
        = state=recovery window=2000 ssthresh=2000
        # The original: its timestamp is older than the retransmission.
        55 < 4001 ts=30/0
        ! recovered 2000; spurious fast-loss 2000 acked 4000
        > 6001:8001/1000@55/30
        = state=open window=4000 pipe=4000 spurious-recoveries=1 recoveries=1 retransmissions=1
        # The retransmission arrives too.
        102 < 4001 sack=1:1001 ts=77/52
        = state=open spurious-recoveries=1
        ",
    );
}

#[test]
fn a_genuine_fast_retransmit_stays() {
    check(
        &stamped(with_sack()),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000@0/0
        50 < 1 sack=1001:2001 ts=25/0
        > 4001:5001@50/25
        51 < 1 sack=1001:3001 ts=26/0
        > 5001:6001@51/26
        52 < 1 sack=1001:4001 ts=27/0
        ! fast-loss 4000 pipe 2000
        > 1:1001@52/27
        102 < 4001 ts=77/52
        = state=recovery spurious-recoveries=0
        ",
    );
}

/// Without timestamps the receiver's report of the duplicate proves it, after recovery has ended (RFC 3708).
#[test]
fn a_duplicate_report_undoes_a_fast_retransmit() {
    check(
        &TcpConfig { undo: true, initial_window: InitialWindow::Segments(4), ..with_sack() },
        Law::NewReno,
        "
        0 open
        0 write 8000
        > 1:4001/1000
        50 < 1 sack=1001:2001
        > 4001:5001
        51 < 1 sack=1001:3001
        > 5001:6001
        52 < 1 sack=1001:4001
        ! fast-loss 4000 pipe 2000
        > 1:1001
        55 < 4001
        = state=recovery
        90 < 6001
        ! recovered 0
        > 6001:8001/1000
        = state=open window=2000
        102 < 6001 sack=1:1001
        ! spurious fast-loss 2000 acked 0
        = window=4000 spurious-recoveries=1
        ",
    );
}

/// A time-out that sends two segments again: only the second report is the proof, and the back-off returns.
#[test]
fn duplicate_reports_undo_a_time_out() {
    check(
        &TcpConfig { undo: true, ..with_sack() },
        Law::Fixed(2000),
        "
        0 open
        0 write 5000
        > 1:2001/1000
        1000 timer
        ! timeout 2000 pipe 2000
        > 1:2001/1000
        = rto=2000
        1001 < 2001
        > 2001:4001/1000
        = state=open
        1010 < 2001 sack=1:1001
        = spurious-timeouts=0 rto=2000
        1011 < 2001 sack=1001:2001
        ! spurious timeout 2000 acked 0
        = spurious-timeouts=1 rto=1000 deadline=2011
        ",
    );
}

/// A report of what was not sent again in this event proves nothing, nor does one after data beyond the event were acknowledged.
#[test]
fn other_duplicates_prove_nothing() {
    check(
        &TcpConfig { undo: true, ..with_sack() },
        Law::Fixed(2000),
        "
        0 open
        0 write 6000
        > 1:2001/1000
        100 < 2001
        > 2001:4001/1000
        1100 timer
        ! timeout 2000 pipe 2000
        > 2001:4001/1000
        1110 < 2001 sack=1:2001
        = spurious-timeouts=0
        1200 < 4001
        > 4001:6001/1000
        1300 < 5001
        1301 < 5001 sack=2001:4001
        = spurious-timeouts=0
        ",
    );
}

/// An echoed mark is congestion whatever the time-out was: what is sent again stops, but the window stays.
#[test]
fn a_mark_keeps_the_window() {
    check(
        &TcpConfig { ecn: true, ..stamped(with_sack()) },
        Law::NewReno,
        "
        0 open
        0 write 12000
        > 1:1001*@0/0 1001:2001*@0/0 2001:3001*@0/0 3001:4001*@0/0
        100 < 4001 ts=50/0
        > 4001:5001*@100/50 5001:6001*@100/50 6001:7001*@100/50 7001:8001*@100/50 8001:9001*@100/50
        400 timer
        ! timeout 5000 pipe 5000
        > 4001:5001@400/50
        550 < 5001 ts=500/100 ece
        = state=open window=1000 pipe=4000 spurious-timeouts=1 reductions=0
        551 < 9001 ts=501/100
        > 9001:10001*W@551/501 10001:11001*@551/501
        ",
    );
}

/// A time-out in fast recovery: the loss before it was genuine and is repaired further.
#[test]
fn a_spurious_time_out_in_fast_recovery_leads_back_to_it() {
    check(
        &stamped(with_sack()),
        Law::Fixed(6000),
        "
        0 open
        0 write 6000
        > 1:6001/1000@0/0
        100 < 1 sack=1001:2001 ts=50/0
        101 < 1 sack=1001:3001 ts=51/0
        102 < 1 sack=4001:5001,1001:3001 ts=52/0
        ! fast-loss 6000 pipe 2000
        # Segment 3001:4001 is possibly lost.
        > 1:1001@102/52 3001:4001@102/52
        = pipe=4000 deadline=1000
        1000 timer
        ! timeout 6000 pipe 4000
        > 1:6001/1000@1000/52
        # The first fast retransmit has arrived, late.
        1050 < 3001 sack=4001:5001 ts=1000/102
        ! spurious timeout 3000 acked 3000
        # Reports from before count again; copies of the two others are in the network. Without new data recovery sends the last
        # segment once more (RFC 6675 section 4, NextSeg rule 4).
        > 5001:6001@1050/1000
        = state=recovery pipe=4000 spurious-timeouts=1
        1051 < 6001 ts=1001/102
        ! recovered 0
        = state=open pipe=0
        ",
    );
}

/// Without SACK too.
#[test]
fn a_delay_without_selective_acknowledgements() {
    check(
        &stamped(plain()),
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:4001/1000@0/0
        100 < 4001 ts=50/0
        > 4001:9001/1000@100/50
        400 timer
        ! timeout 5000 pipe 5000
        > 4001:5001@400/50
        550 < 9001 ts=500/100
        ! spurious timeout 0 acked 5000
        > 9001:14001/1000@550/500
        = state=open window=5000
        # Duplicates of what was sent again start no fast retransmit.
        551 < 9001 ts=500/400
        552 < 9001 ts=500/400
        553 < 9001 ts=500/400
        = state=open recoveries=0
        ",
    );
}

/// Two real losses, of which the second is found and repaired within the recovery of the first: its copy, sent at 150 ms, is on its way
/// when the second recovery sends another one at 202 ms, and arrives at 250 ms.
#[test]
fn a_copy_of_an_earlier_recovery_proves_nothing() {
    let script = |end: &str| {
        format!(
            "
            0 open
            0 endless
            > 1:10001/1000@0/0
            100 < 1 sack=1001:2001 ts=50/0
            > 10001:11001@100/50
            101 < 1 sack=1001:3001 ts=50/0
            > 11001:12001@101/50
            102 < 1 sack=1001:4001 ts=50/0
            ! fast-loss 10000 pipe 8000
            > 1:1001@102/50
            103 < 1 sack=1001:9001 ts=50/0
            > 12001:13001@103/50
            104 < 1 sack=1001:12001 ts=50/0
            > 13001:16001/1000@104/50
            148 < 1 sack=13001:14001,1001:12001 ts=50/0
            > 16001:17001@148/50
            149 < 1 sack=13001:15001,1001:12001 ts=50/0
            > 17001:18001@149/50
            150 < 1 sack=13001:16001,1001:12001 ts=50/0
            > 12001:13001@150/50 18001:19001@150/50
            200 < 12001 sack=13001:16001 ts=152/102
            > 19001:20001@200/152
            ! recovered 4000
            202 < 12001 sack=13001:17001 ts=198/102
            ! fast-loss 8000 pipe 4000
            > 12001:13001@202/198
            {end}"
        )
    };
    let config = TcpConfig { initial_window: InitialWindow::Segments(10), ..stamped(with_sack()) };
    // The echo is that of the first copy, then the second one is reported: the loss was real.
    let stays = "
        250 < 18001 ts=248/150
        > 20001:22001/1000@250/248
        300 < 19001 sack=12001:13001 ts=298/202
        > 22001:23001@300/298
        = state=recovery window=4000 spurious-recoveries=0
    ";
    check(&config, Law::NewReno, &script(stays));
    // By the letter of RFC 3522, of which each recovery has its own RetransmitTS, the first echo restores the window.
    let without = TcpConfig { undo_earlier_copies: false, ..config };
    let undone = "
        250 < 18001 ts=248/150
        ! recovered 2000; spurious fast-loss 2000 acked 6000
        > 20001:23001/1000@250/248
        = state=open window=5000 spurious-recoveries=1
    ";
    check(&without, Law::NewReno, &script(undone));
}

/// A recovery that has ended leaves no copy behind: the next one, for data that were only late, is undone.
#[test]
fn an_earlier_recovery_that_has_ended_does_not_hide_a_spurious_one() {
    let config = TcpConfig { initial_window: InitialWindow::Segments(10), ..stamped(with_sack()) };
    check(
        &config,
        Law::NewReno,
        "
        0 open
        0 write 22000
        > 1:10001/1000@0/0
        100 < 1 sack=1001:10001 ts=50/0
        ! fast-loss 10000 pipe 0
        > 1:1001@100/50 10001:14001/1000@100/50
        200 < 10001 ts=150/100
        ! recovered 4000
        > 14001:15001@200/150
        300 < 10001 sack=11001:14001 ts=250/100
        ! fast-loss 5000 pipe 1000
        > 10001:11001@300/250
        # The original of 100 ms arrives.
        350 < 14001 ts=320/100
        ! recovered 1000; spurious fast-loss 1000 acked 4000
        > 15001:19001/1000@350/320
        = spurious-recoveries=1
        ",
    );
}

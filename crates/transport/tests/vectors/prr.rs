//! Proportional rate reduction (RFC 6937).

use airfair_transport::{InitialWindow, TcpConfig};

use crate::support::laws::Law;
use crate::support::sender::{check, with_sack};

fn segments(count: u32) -> TcpConfig {
    TcpConfig { initial_window: InitialWindow::Segments(count), ..with_sack() }
}

#[test]
fn reduction_in_proportion() {
    // RFC 6937: from twenty segments to a window of ten: one segment is sent for every two delivered.
    check(
        &TcpConfig { prr: true, limited_transmit: false, ..segments(20) },
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:20001/1000
        100 < 1 sack=1001:2001
        101 < 1 sack=1001:3001
        102 < 1 sack=1001:4001
        ! fast-loss 20000 pipe 16000
        > 1:1001
        # prr_delivered counts from here: 1000, then 2000 * 10 / 20 = 1000, all used by the retransmission.
        103 < 1 sack=1001:5001
        104 < 1 sack=1001:6001
        # 4000 / 2 - 1000.
        105 < 1 sack=1001:7001
        > 20001:21001
        106 < 1 sack=1001:8001
        107 < 1 sack=1001:9001
        > 21001:22001
        = pipe=14000 window=10000
        # The pipe is below ssthresh and is filled: 9000 delivered at once leave 5000 in the pipe, filled up to 10000.
        108 < 1 sack=1001:18001
        > 22001:27001/1000
        = pipe=10000
        200 < 20001
        ! recovered 7000
        > 27001:30001/1000
        = state=open
        ",
    );
}

#[test]
fn reduction_is_bounded_by_slow_start() {
    // RFC 6937, SSRB: if most of a window is lost, one segment more than was delivered is sent.
    check(
        &TcpConfig { prr: true, limited_transmit: false, ..segments(20) },
        Law::NewReno,
        "
        0 open
        0 endless
        > 1:20001/1000
        # Only the last three segments have arrived: all others are lost. RecoverFS 20000, ssthresh 10000, pipe 0.
        100 < 1 sack=17001:20001
        ! fast-loss 20000 pipe 0
        # min(10000, max(3000 - 0, 3000) + 1000) are sent: the first segment and three more.
        > 1:4001/1000
        = pipe=4000
        # max(4000 - 4000, 1000) + 1000.
        200 < 1001 sack=17001:20001
        > 4001:6001/1000
        ",
    );
}

/// RFC 6937 is a part of congestion control: a law without a window has none to reduce, so lost segments leave at once.
#[test]
fn a_law_without_a_window_is_not_limited() {
    check(
        &TcpConfig { prr: true, ..segments(20) },
        Law::Open,
        "
        0 open
        0 write 20000
        > 1:20001/1000
        # Only the last three segments have arrived.
        100 < 1 sack=17001:20001
        ! fast-loss 20000 pipe 0
        > 1:17001/1000
        = state=recovery pipe=17000
        100 write 1000
        > 20001:21001
        ",
    );
}

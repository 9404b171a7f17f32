//! Options at the sender: timestamps and window scale (RFC 7323), SACK permitted (RFC 2018), ECN set-up (RFC 3168 section 6.1.1).

use airfair_transport::TcpConfig;
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

fn stamped() -> TcpConfig {
    TcpConfig { timestamps: true, min_rto: Span::from_millis(200), mss: 1012, ..plain() }
}

#[test]
fn everything_is_offered_and_used_if_answered() {
    let all = TcpConfig { handshake: true, sack: true, ecn: true, timestamps: true, ..plain() };
    check(
        &all,
        Law::Fixed(10_000),
        "
        5 open
        > S(mss=1000,scale=7,sack,ece,cwr,ts=5/0,win=65535)
        105 < S. mss=1000 sack scale=7 ece ts=40/5 win=65535
        > ack@105/40
        ! start mss 988 initial 9880 rtt 100
        200 write 2000
        > 1:989*@200/40 989:1977*@200/40 1977:2001*@200/40
        250 < 1 sack=989:1977 ts=90/200
        = duplicates=1 pipe=1012
        ",
    );
}

#[test]
fn nothing_is_used_that_was_not_answered() {
    let all = TcpConfig { handshake: true, sack: true, ecn: true, timestamps: true, ..plain() };
    check(
        &all,
        Law::Fixed(10_000),
        "
        5 open
        > S(mss=1000,scale=7,sack,ece,cwr,ts=5/0,win=65535)
        105 < S. mss=1000 win=65535
        > ack
        ! start mss 1000 initial 10000 rtt 100
        200 write 2000
        > 1:2001/1000
        250 < 1 sack=1001:2001 ece
        = pipe=2000 reductions=0
        ",
    );
    // A SYN+ACK with both ECE and CWR does not negotiate ECN (RFC 3168 section 6.1.1).
    check(
        &TcpConfig { handshake: true, ecn: true, ..plain() },
        Law::Fixed(10_000),
        "
        0 open
        > S(mss=1000,scale=7,ece,cwr,win=65535)
        100 < S. mss=1000 ece cwr win=65535
        > ack
        ! start mss 1000 initial 10000 rtt 100
        200 write 1000
        > 1:1001
        ",
    );
}

#[test]
fn nothing_is_used_that_was_not_offered() {
    check(
        &TcpConfig { handshake: true, window_scale: 0, ..plain() },
        Law::Fixed(10_000),
        "
        0 open
        > S(mss=1000,win=65535)
        100 < S. mss=1000 sack ece ts=1/0 win=65535
        > ack
        ! start mss 1000 initial 10000 rtt 100
        200 write 2000
        > 1:2001/1000
        250 < 1 sack=1001:2001 ts=9/5
        = pipe=2000
        ",
    );
}

#[test]
fn timestamps_measure_every_advance() {
    // RFC 7323 section 4.1. Ten segments outstanding: five measurements per round trip (section 4.2).
    check(
        &stamped(),
        Law::Fixed(10_000),
        "
        0 open
        0 write 20000
        > 1:10001/1000@0/0
        # SRTT 100, RTTVAR 50.
        100 < 1001 ts=7/0
        > 10001:11001@100/7
        = srtt=100 rttvar=50 rto=300
        # Nine outstanding: ceil(9 / 2) = 5. RTTVAR (19 * 50 + 40) / 20, SRTT (39 * 100 + 140) / 40.
        140 < 2001 ts=8/0
        > 11001:12001@140/8
        = srtt=101 rttvar=49.5
        # No new data, no measurement, but the timestamp of the other end is recorded.
        200 < 2001 ts=9/0
        = srtt=101
        # An echo from the future is ignored; an older value is not recorded.
        210 < 3001 ts=6/999
        > 12001:13001@210/9
        = srtt=101
        ",
    );
}

#[test]
fn timestamps_measure_what_was_sent_again() {
    check(
        &stamped(),
        Law::Fixed(1000),
        "
        0 open
        0 write 1000
        > 1:1001@0/0
        1000 timer
        > 1:1001@1000/0
        ! timeout 1000 pipe 1000
        = rto=2000
        # The echo shows that the first segment was acknowledged.
        1050 < 1001 ts=1/0
        = srtt=1050 rto=3150
        ",
    );
}

#[test]
fn segments_leave_room_for_timestamps() {
    check(
        &TcpConfig { mss: 5, ..stamped() },
        Law::Fixed(10_000),
        "
        0 open
        ! start mss 1 initial 10 rtt unknown
        ",
    );
}

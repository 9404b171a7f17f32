//! Situations for which Linux publishes tests (packetdrill, tcp/{slow_start,fast_retransmit,limited_transmit,ecn,ts_recent}), written anew
//! with the results that the RFCs require. Comments state where Linux differs.

use airfair_transport::{DelayedAck, TcpConfig};
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

fn ten_segments() -> TcpConfig {
    TcpConfig {
        handshake: true,
        sack: true,
        limited_transmit: true,
        fin: true,
        min_rto: Span::from_millis(200),
        ..plain()
    }
}

const STANDS: &str = "
        0 open
        > S(mss=1000,scale=7,sack,win=65535)
        100 < S. mss=1000 scale=7 sack win=65535
        ! start mss 1000 initial 10000 rtt 100
        > ack
        ";

fn run(config: &TcpConfig, script: &str) {
    check(config, Law::NewReno, &format!("{STANDS}{script}"));
}

#[test]
fn slow_start_with_an_acknowledgement_a_segment() {
    run(
        &ten_segments(),
        "
        100 write 30000
        > 1:10001/1000
        205 < 1001
        > 10001:12001/1000
        205 < 2001
        > 12001:14001/1000
        210 < 3001
        > 14001:16001/1000
        210 < 4001
        > 16001:18001/1000
        215 < 5001
        > 18001:20001/1000
        = window=15000
        ",
    );
}

#[test]
fn slow_start_with_an_acknowledgement_for_several() {
    // Linux counts all acknowledged segments and would send four and eight; by RFC 5681 section 3.1 the window grows by at most
    // one segment per acknowledgement.
    run(
        &ten_segments(),
        "
        100 write 30000
        > 1:10001/1000
        205 < 2001
        > 10001:13001/1000
        = window=11000
        210 < 6001
        > 13001:18001/1000
        = window=12000
        ",
    );
}

#[test]
fn the_window_grows_if_the_flight_fills_it() {
    // Ten segments written, ten allowed. Linux ends with a window of 20, since it counts segments; with one acknowledgement for two
    // segments the window here is 15.
    run(
        &ten_segments(),
        "
        100 write 10000
        > 1:10001/1000
        205 < 2001
        = window=11000
        210 < 4001
        215 < 6001
        220 < 8001
        225 < 10001
        = window=15000
        ",
    );
}

#[test]
fn the_window_does_not_grow_if_the_flight_is_smaller() {
    // Nine, six or five of ten allowed segments are used. In Linux slow start grows up to twice the flight: 18, 12 and 10.
    for bytes in [9000, 6000, 5000] {
        run(
            &ten_segments(),
            &format!(
                "
                100 write {bytes}
                > 1:{end}/1000
                205 < 2001
                = window=10000
                210 < 4001
                215 < {end}
                = window=10000
                ",
                end = bytes + 1
            ),
        );
    }
}

#[test]
fn slow_start_after_a_silence() {
    // Linux halves its window for each time-out that has elapsed, from 36 to 10; RFC 5681 section 4.1 sets the restart window at
    // once. Linux sends 5 of the 10, because of its batching.
    run(
        &ten_segments(),
        "
        100 write 26000
        > 1:10001/1000
        200 < 10001
        > 10001:21001/1000
        = window=11000
        300 < 21001
        > 21001:26001/1000
        = window=12000
        400 < 26001
        = window=12000
        2400 write 20000
        ! idle 2100 rto 200
        > 26001:36001/1000
        = window=10000
        ",
    );
}

#[test]
fn slow_start_after_a_closed_window() {
    // Linux probes with the last byte, already acknowledged, and no payload; RFC 9293 section 3.8.6.1 requires a byte of new data.
    run(
        &TcpConfig { min_rto: Span::from_millis(300), ..ten_segments() },
        "
        100 write 10000
        > 1:10001/1000
        200 < 10001 win=0
        = window=11000 rto=300 deadline=none
        200 write 20000
        = deadline=500
        500 timer
        > 10001:10002
        1100 timer
        > 10001:10002
        2300 timer
        > 10001:10002
        = window=11000 probes=3
        3200 < 10001 win=65408
        ! idle 3100 rto 300
        > 10001:20001/1000
        = window=10000
        ",
    );
}

#[test]
fn fast_retransmit_without_sack() {
    check(
        &TcpConfig { sack: false, ..ten_segments() },
        Law::NewReno,
        "
        0 open
        > S(mss=1000,scale=7,win=65535)
        100 < S. mss=1000 scale=7 win=65535
        > ack
        ! start mss 1000 initial 10000 rtt 100
        100 write 4000
        > 1:4001/1000
        200 < 1
        200 < 1
        200 < 1
        ! fast-loss 4000 pipe 1000
        > 1:1001
        300 < 4001
        ! recovered 0
        400 close
        > 4001:4001F
        500 < 4002
        = done=true
        ",
    );
}

#[test]
fn fast_retransmit_with_sack() {
    run(
        &ten_segments(),
        "
        100 write 4000
        > 1:4001/1000
        200 < 1 sack=1001:2001
        200 < 1 sack=1001:3001
        200 < 1 sack=1001:4001
        ! fast-loss 4000 pipe 0
        > 1:1001
        300 < 4001
        ! recovered 0
        400 close
        > 4001:4001F
        500 < 4002
        = done=true
        ",
    );
}

#[test]
fn the_last_of_four_alone_is_no_sign_of_loss() {
    // Linux waits a quarter of a round-trip time and retransmits the first segment (RACK, RFC 8985). By RFC 6675 one segment above it,
    // fewer than three, does not suffice: the timer retransmits.
    run(
        &ten_segments(),
        "
        100 write 4000
        > 1:4001/1000
        200 < 1 sack=3001:4001
        = state=open pipe=3000
        400 timer
        ! timeout 4000 pipe 3000
        > 1:1001
        ",
    );
}

#[test]
fn the_last_byte_of_the_last_of_four_counts_nothing() {
    // Linux splits the segment and counts the byte; here a segment counts as selectively acknowledged only as a whole. Linux also
    // probes for a lost tail (RFC 8985 section 7); this sender does not. The repair after the time-out is the same.
    run(
        &ten_segments(),
        "
        100 write 4000
        > 1:4001/1000
        200 < 1 sack=4000:4001
        = pipe=4000
        400 timer
        ! timeout 4000 pipe 4000
        > 1:1001
        900 < 1001 sack=4000:4001
        > 1001:3001/1000
        1000 < 3001 sack=4000:4001
        > 3001:4001
        1100 < 4001
        1200 close
        > 4001:4001F
        1300 < 4002
        = done=true
        ",
    );
}

#[test]
fn limited_transmit_and_then_reordering() {
    let without = TcpConfig { sack: false, ..ten_segments() };
    let stands = STANDS.replace(",sack,win", ",win").replace(" sack win", " win");
    for (config, stands, first, second) in
        [(without, stands, "", ""), (ten_segments(), STANDS.to_owned(), " sack=1001:2001", " sack=1001:3001")]
    {
        let script = format!(
            "{stands}
            100 write 15000
            > 1:10001/1000
            210 < 1{first}
            > 10001:11001
            220 < 1{second}
            > 11001:12001
            # The window is 11, 9 are outstanding.
            230 < 3001
            > 12001:14001/1000
            = state=open window=11000
            250 < 5001
            > 14001:15001
            270 < 7001
            290 < 9001
            310 < 11001
            330 < 13001
            350 < 15001
            = recoveries=0 deadline=none
            "
        );
        check(&config, Law::NewReno, &script);
    }
}

#[test]
fn ect_zero_marks_new_data() {
    check(
        &TcpConfig { ecn: true, timestamps: true, ..ten_segments() },
        Law::NewReno,
        "
        100 open
        > S(mss=1000,scale=7,sack,ece,cwr,ts=100/0,win=65535)
        102 < S. mss=1000 scale=6 sack ece win=32767
        > ack
        ! start mss 1000 initial 10000 rtt 2
        104 write 1000
        > 1:1001*
        ",
    );
}

#[test]
fn a_fin_carries_the_time_at_which_it_leaves() {
    check(
        &TcpConfig { timestamps: true, ..ten_segments() },
        Law::NewReno,
        "
        0 open
        > S(mss=1000,scale=7,sack,ts=0/0,win=65535)
        100 < S. mss=1000 sack ts=200/0
        > ack@100/200
        ! start mss 988 initial 9880 rtt 100
        1100 close
        > 1:1F@1100/200
        ",
    );
}

#[test]
fn a_segment_that_acknowledges_too_much_leaves_no_timestamp() {
    let timeout = Span::from_millis(40);
    crate::support::receiver::check(
        &TcpConfig {
            timestamps: true,
            window_scale: 0,
            receive_window: 20_000,
            delayed_ack: Some(DelayedAck { quick: 16, ..DelayedAck::after(2, timeout) }),
            ..ten_segments()
        },
        "
        100 < S mss=1000 sack ts=100/0
        > S.(mss=1000,sack,ts=100/100,win=20000)
        200 < 1:1 ts=200/100
        200 < 1:1 F ack=9999 ts=200000/100
        > 1,ts=200/100
        200 < 1:1001 ts=201/100
        > 1001,ts=200/201
        ",
    );
}

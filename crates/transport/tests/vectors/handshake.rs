//! Connection set-up at the sender (RFC 9293 section 3.5, RFC 6298 sections 2 and 5.7, RFC 5681 section 3.1).

use airfair_transport::TcpConfig;
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

fn with_syn() -> TcpConfig {
    TcpConfig { handshake: true, ..plain() }
}

#[test]
fn syn_syn_ack_and_data() {
    check(
        &TcpConfig { min_rto: Span::from_millis(200), ..with_syn() },
        Law::Fixed(10_000),
        "
        0 poll
        = state=closed deadline=none
        # Data written before the connection is open wait.
        0 write 1500
        = next=0
        10 open
        > S(mss=1000,scale=7,win=65535)
        = state=syn-sent deadline=1010 syns=1 done=false
        # A second `open` has no effect.
        11 open
        # Neither data nor a segment that acknowledges another number is the SYN+ACK.
        50 < 1
        50 < S. 2
        50 < S. 1 no-ack
        = state=syn-sent
        # The SYN is measured: SRTT 100, RTO 100 + 4 * 50. The data acknowledge the SYN+ACK.
        110 < S. mss=1000 win=65535
        ! start mss 1000 initial 10000 rtt 100
        > 1:1001 1001:1501
        = state=open srtt=100 rto=300 min-rtt=100 deadline=410 peer-window=65535
        ",
    );
}

#[test]
fn an_answer_without_data_to_send_is_acknowledged() {
    check(
        &with_syn(),
        Law::Fixed(10_000),
        "
        0 open
        > S(mss=1000,scale=7,win=65535)
        100 < S. mss=1000 win=65535
        > ack
        ! start mss 1000 initial 10000 rtt 100
        = deadline=none
        # The SYN+ACK arrives again: its acknowledgement was lost.
        200 < S. mss=1000 win=65535
        > ack
        300 write 1000
        > 1:1001
        300 < S. mss=1000 win=65535
        > ack
        = una=1 flight=1000
        ",
    );
}

#[test]
fn a_lost_syn_is_sent_again_with_back_off() {
    check(
        &TcpConfig { min_rto: Span::from_millis(200), ..with_syn() },
        Law::NewReno,
        "
        0 open
        > S(mss=1000,scale=7,win=65535)
        1000 timer
        > S(mss=1000,scale=7,win=65535)
        = rto=2000 deadline=3000 timeouts=0
        3000 timer
        > S(mss=1000,scale=7,win=65535)
        = deadline=7000 syns=3
        # The SYN is not measured (Karn); data start with a time-out of three seconds and a window of one segment.
        3100 < S. mss=1000 win=65535
        > ack
        ! start mss 1000 initial 1000 rtt unknown syn-lost
        = srtt=none rto=3000 window=1000 deadline=none
        3200 endless
        > 1:1001
        = deadline=6200
        3300 < 1001
        > 1001:3001/1000
        = srtt=100 rto=300
        ",
    );
}

#[test]
fn timestamps_measure_a_syn_that_was_sent_again() {
    check(
        &TcpConfig { timestamps: true, ..with_syn() },
        Law::NewReno,
        "
        0 open
        > S(mss=1000,scale=7,ts=0/0,win=65535)
        1000 timer
        > S(mss=1000,scale=7,ts=1000/0,win=65535)
        # The SYN+ACK answers the second SYN.
        1150 < S. mss=1000 win=65535 ts=77/1000
        > ack@1150/77
        ! start mss 988 initial 988 rtt 150 syn-lost
        = srtt=150 rto=1000 mss=988
        ",
    );
}

#[test]
fn a_sender_gives_up_after_its_syns() {
    check(
        &TcpConfig { syn_retries: Some(1), ..with_syn() },
        Law::Fixed(1000),
        "
        0 open
        > S(mss=1000,scale=7,win=65535)
        1000 timer
        > S(mss=1000,scale=7,win=65535)
        3000 timer
        = state=failed deadline=none syns=2
        3100 < S. mss=1000 win=65535
        = state=failed
        ",
    );
}

#[test]
fn initial_time_out_is_a_parameter_with_ticks() {
    check(
        &TcpConfig { initial_rto: Span::from_millis(2995), tick: Span::from_millis(10), ..with_syn() },
        Law::Fixed(1000),
        "
        0 open
        > S(mss=1000,scale=7,win=65535)
        = deadline=3000
        ",
    );
}

#[test]
fn smaller_maximum_segment_size_counts() {
    // RFC 9293 section 3.7.1; the default is 536 if the other end announces no MSS.
    check(
        &with_syn(),
        Law::Fixed(10_000),
        "
        0 open
        > S(mss=1000,scale=7,win=65535)
        0 write 700
        100 < S. mss=600 win=65535
        > 1:601 601:701
        ! start mss 600 initial 6000 rtt 100
        ",
    );
    check(
        &with_syn(),
        Law::Fixed(10_000),
        "
        0 open
        > S(mss=1000,scale=7,win=65535)
        100 < S. win=65535
        > ack
        ! start mss 536 initial 5360 rtt 100
        ",
    );
    check(
        &with_syn(),
        Law::Fixed(10_000),
        "
        0 open
        > S(mss=1000,scale=7,win=65535)
        100 < S. mss=1460 win=65535
        > ack
        ! start mss 1000 initial 10000 rtt 100
        ",
    );
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_is_answered() {
    // RFC 9293 section 3.10.7.4.
    check(
        &plain(),
        Law::Fixed(1000),
        "
        0 open
        0 write 2000
        > 1:1001
        100 < 1002
        > ack
        = una=1 acks=0
        100 < 1001
        > 1001:2001
        ",
    );
}

#[test]
fn without_handshake_the_connection_is_open_at_once() {
    check(
        &TcpConfig { receive_window: 100_000, window_scale: 0, ..plain() },
        Law::Fixed(1000),
        "
        0 open
        ! start mss 1000 initial 10000 rtt unknown
        = state=open next=1 peer-window=65535 rto=1000
        ",
    );
}

/// Without a bound the SYN announces the whole window, also beyond 16 bits; a bound below the largest value of the field applies too.
#[test]
fn a_syn_may_announce_the_whole_window() {
    for (syn_window, says) in [(None, 1_024_000), (Some(1000), 1000), (Some(1 << 40), 65_535)] {
        let config = TcpConfig { syn_window, ..with_syn() };
        check(&config, Law::Fixed(10_000), &format!("0 open\n> S(mss=1000,scale=7,win={says})"));
        crate::support::receiver::check(
            &config,
            &format!("0 < S mss=1000 scale=7\n> S.(mss=1000,scale=7,win={says})"),
        );
    }
    // If the other end supports no window scale, at most the largest value of the field is announced.
    crate::support::receiver::check(
        &TcpConfig { syn_window: None, ..with_syn() },
        "0 < S mss=1000\n> S.(mss=1000,win=65535)",
    );
}

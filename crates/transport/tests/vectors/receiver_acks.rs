//! Times and contents of acknowledgements (RFC 5681 section 4.2, RFC 2018, RFC 2883, RFC 3168 section 6.1.3, RFC 7323, RFC 9293).

use airfair_transport::{DelayedAck, TcpConfig};
use airfair_units::Span;

use crate::support::receiver::check;
use crate::support::sender::plain;

fn delayed() -> TcpConfig {
    let timeout = Span::from_millis(200);
    TcpConfig { delayed_ack: Some(DelayedAck::after(2, timeout)), ..plain() }
}

fn with_sack() -> TcpConfig {
    TcpConfig { sack: true, ..plain() }
}

#[test]
fn every_segment_is_acknowledged_without_delay() {
    check(
        &plain(),
        "
        0 < 1:1001
        > 1001
        1 < 1001:2001
        > 2001
        = delivered=2000 deadline=none segments=2 acks=2 duplicates=0 out-of-order=0
        ",
    );
}

#[test]
fn every_second_segment_or_after_a_time() {
    check(
        &delayed(),
        "
        0 < 1:1001
        = deadline=200
        10 < 1001:2001
        > 2001
        = deadline=none
        20 < 2001:3001
        = deadline=220
        220 timer
        > 3001
        = deadline=none
        # The acknowledgement restarted the count of delayed segments.
        300 < 3001:4001
        310 < 4001:5001
        > 5001
        ",
    );
}

#[test]
fn the_first_segments_may_be_acknowledged_at_once() {
    let timeout = Span::from_millis(40);
    check(
        &TcpConfig { delayed_ack: Some(DelayedAck { quick: 3, ..DelayedAck::after(2, timeout) }), ..plain() },
        "
        0 < 1:1001
        > 1001
        0 < 1001:2001
        > 2001
        0 < 2001:3001
        > 3001
        0 < 3001:4001
        = deadline=40
        ",
    );
}

/// Data that come a second time bring two more, of which the acknowledgement of the copy is one; so does a silence of more than the
/// time-out (here 1 s, since no handshake has measured a round trip).
#[test]
fn old_data_bring_quick_acknowledgements_back() {
    let timeout = Span::from_millis(40);
    let acks = DelayedAck { quick: 2, requick: true, ..DelayedAck::after(2, timeout) };
    check(
        &TcpConfig { delayed_ack: Some(acks), ..plain() },
        "
        0 < 1:1001
        > 1001
        0 < 1001:2001
        > 2001
        0 < 2001:3001
        10 < 3001:4001
        > 4001
        20 < 3001:4001
        > 4001
        30 < 4001:5001
        > 5001
        30 < 5001:6001
        40 < 6001:7001
        > 7001
        1040 < 7001:8001
        1050 < 8001:9001
        > 9001
        2051 < 9001:10001
        > 10001
        2060 < 10001:11001
        > 11001
        2070 < 11001:12001
        = deadline=2110
        ",
    );
}

/// A segment with PSH, or one that is not full, is acknowledged at once only if the application has read everything.
#[test]
fn a_push_waits_for_the_reader() {
    let acks = DelayedAck { pushed: true, ..DelayedAck::after(2, Span::from_millis(40)) };
    check(
        &TcpConfig { delayed_ack: Some(acks), ..plain() },
        "
        0 < 1:1001 P
        > 1001
        10 < 1001:2001
        = deadline=50
        20 < 2001:3001 P
        > 3001
        30 < 3001:3101
        > 3101,win=1023872
        40 stop
        40 < 3101:4101 P
        = deadline=80
        ",
    );
}

#[test]
fn out_of_order_is_acknowledged_at_once() {
    check(
        &delayed(),
        "
        0 < 1:1001
        # The delayed acknowledgement is included.
        1 < 2001:3001
        > 1001
        = deadline=none out-of-order=1
        2 < 3001:4001
        > 1001
        # A part of the gap arrives.
        3 < 1001:1501
        > 1501,win=1023488
        # The rest of the gap arrives.
        4 < 1501:2001
        > 4001
        = delivered=4000
        # Data are in order again.
        5 < 4001:5001
        = deadline=205
        # Duplicate data, whole segments or parts.
        6 < 4001:5001
        > 5001
        = duplicates=1
        7 < 4501:5501
        > 5501,win=1023488
        = delivered=5500 duplicates=1
        ",
    );
}

#[test]
fn blocks_are_reported_most_recent_first() {
    // RFC 2018 section 4.
    check(
        &with_sack(),
        "
        0 < 1:1001
        > 1001
        1 < 2001:3001
        > 1001,sack=2001:3001
        2 < 4001:5001
        > 1001,sack=4001:5001+2001:3001
        3 < 6001:7001
        > 1001,sack=6001:7001+4001:5001+2001:3001
        4 < 8001:9001
        > 1001,sack=8001:9001+6001:7001+4001:5001+2001:3001
        # There is no space for the oldest block.
        5 < 10001:11001
        > 1001,sack=10001:11001+8001:9001+6001:7001+4001:5001
        # A segment that joins two blocks makes the joined block the most recent.
        6 < 3001:4001
        > 1001,sack=2001:5001+10001:11001+8001:9001+6001:7001
        # So does a segment that extends a block at either end.
        7 < 7001:7501
        > 1001,sack=6001:7501+2001:5001+10001:11001+8001:9001
        8 < 9501:10001
        > 1001,sack=9501:11001+6001:7501+2001:5001+8001:9001
        # And a duplicate segment.
        9 < 2001:3001
        > 1001,sack=2001:5001+9501:11001+6001:7501+8001:9001
        # The acknowledgement number rises up to the next gap.
        10 < 1001:2001
        > 5001,sack=9501:11001+6001:7501+8001:9001
        = delivered=5000
        11 < 5001:9501
        > 11001
        ",
    );
}

#[test]
fn three_blocks_fit_beside_timestamps() {
    check(
        &TcpConfig { timestamps: true, ..with_sack() },
        "
        0 < 1001:2001 ts=1/0
        > 1,sack=1001:2001,ts=0/0
        0 < 3001:4001 ts=1/0
        > 1,sack=3001:4001+1001:2001,ts=0/0
        0 < 5001:6001 ts=1/0
        > 1,sack=5001:6001+3001:4001+1001:2001,ts=0/0
        0 < 7001:8001 ts=1/0
        > 1,sack=7001:8001+5001:6001+3001:4001,ts=0/0
        ",
    );
}

#[test]
fn duplicates_are_reported_first_and_once() {
    // RFC 2883 section 4.
    check(
        &TcpConfig { duplicate_sack: true, ..with_sack() },
        "
        0 < 1:1001
        > 1001
        0 < 1:1001
        > 1001,sack=1:1001
        0 < 2001:4001
        > 1001,sack=2001:4001
        0 < 2501:3501
        > 1001,sack=2501:3501+2001:4001
        # The block is only the part that was received twice.
        0 < 3001:5001
        > 1001,sack=3001:4001+2001:5001
        # A segment that only touches a block was not received twice.
        0 < 5001:5501
        > 1001,sack=2001:5501
        0 < 1801:2001
        > 1001,sack=1801:5501
        0 < 501:1501
        > 1501,sack=501:1001+1801:5501,win=1023488
        0 < 6001:7001
        > 1501,sack=6001:7001+1801:5501,win=1023488
        ",
    );
}

#[test]
fn the_echo_is_the_timestamp_of_the_oldest_unacknowledged_segment() {
    // RFC 7323 section 4.3.
    check(
        &TcpConfig { timestamps: true, ..delayed() },
        "
        10 < 1:1001 ts=100/0
        20 < 1001:2001 ts=105/0
        > 2001,ts=20/100
        # Beyond a gap: the echo is the timestamp of the last segment in order.
        30 < 3001:4001 ts=110/0
        > 2001,ts=30/100
        # The segment fills the gap.
        40 < 2001:3001 ts=120/0
        > 4001,ts=40/120
        # An older timestamp is not recorded.
        50 < 1:1001 ts=90/0
        > 4001,ts=50/120
        60 < 1:1001 ts=120/0
        > 4001,ts=60/120
        ",
    );
}

#[test]
fn marks_are_echoed_until_the_window_is_reduced() {
    // RFC 3168 section 6.1.3.
    check(
        &TcpConfig { ecn: true, ..plain() },
        "
        0 < 1:1001
        > 1001
        0 < 1001:2001 ce
        > 2001,ece
        0 < 2001:3001
        > 3001,ece
        0 < 3001:4001 W
        > 4001
        # A new mark on the segment with CWR counts.
        0 < 4001:5001 W ce
        > 5001,ece
        = marked=2
        ",
    );
    check(
        &plain(),
        "
        0 < 1:1001 ce
        > 1001
        = marked=0
        ",
    );
}

#[test]
fn a_fin_is_acknowledged_at_once() {
    check(
        &delayed(),
        "
        0 < 1:1001 F
        > 1002
        = finished=true delivered=1000
        # Acknowledged again, since the first acknowledgement may be lost; no data follow.
        10 < 1:1001 F
        > 1002
        20 < 1002:2002
        > 1002
        = delivered=1000
        ",
    );
    check(
        &delayed(),
        "
        0 < 1001:2001 F
        > 1
        = finished=false
        0 < 1:1001
        > 2002
        = finished=true delivered=2000
        ",
    );
    check(
        &delayed(),
        "
        0 < 1:1 F
        > 2,win=1023872
        = finished=true delivered=0 segments=0 duplicates=0
        ",
    );
}

#[test]
fn impossible_segments_are_acknowledged_and_ignored() {
    // RFC 9293 section 3.10.7.4.
    check(
        &TcpConfig { timestamps: true, ..plain() },
        "
        # The segment acknowledges data that were never sent; its timestamp is not recorded.
        0 < 1:1001 ack=2 ts=900/0
        > 1,ts=0/0
        0 < 1:1001 no-ack
        > 1,ts=0/0
        # A SYN on an open connection.
        0 < S
        > 1,ts=0/0
        # A pure acknowledgement causes no acknowledgement.
        0 < 1:1
        = delivered=0
        0 < 1:1001 ts=5/0
        > 1001,ts=0/5
        ",
    );
}

#[test]
fn syn_and_syn_ack() {
    let all = TcpConfig { handshake: true, sack: true, timestamps: true, ecn: true, ..plain() };
    check(
        &all,
        "
        # Before a SYN segments are ignored.
        0 < 1:1001
        = deadline=none
        100 < S mss=1000 sack scale=7 ece cwr ts=50/0
        > S.(mss=1000,scale=7,sack,ece,ts=100/50,win=65535)
        = deadline=1100
        # The SYN arrives again.
        600 < S mss=1000 sack scale=7 ece cwr ts=60/0
        > S.(mss=1000,scale=7,sack,ece,ts=600/60,win=65535)
        = deadline=2600
        2600 timer
        > S.(mss=1000,scale=7,sack,ece,ts=2600/60,win=65535)
        = deadline=6600
        # Not an acknowledgement of the SYN+ACK.
        2700 < 1:1001 ack=0
        = deadline=6600
        3000 < 1:1 ts=70/600
        = deadline=none
        3100 < 1:1001 ts=80/600 ce
        > 1001,ece,ts=3100/80
        ",
    );
}

#[test]
fn data_may_complete_the_handshake() {
    check(
        &TcpConfig { handshake: true, ..plain() },
        "
        0 < S mss=1000
        > S.(mss=1000,win=65535)
        100 < 1:1001 ack=1
        > 1001,win=65535
        = delivered=1000 deadline=none
        ",
    );
}

#[test]
fn only_what_is_offered_and_known_is_agreed_on() {
    check(
        &TcpConfig { handshake: true, sack: true, timestamps: true, ecn: true, ..plain() },
        "
        0 < S mss=1000 ece
        > S.(mss=1000,win=65535)
        ",
    );
    check(
        &TcpConfig { handshake: true, window_scale: 0, ..plain() },
        "
        0 < S mss=1000 sack scale=7 ece cwr ts=50/0
        > S.(mss=1000,win=65535)
        ",
    );
}

#[test]
fn an_answer_is_repeated_so_often() {
    check(
        &TcpConfig { handshake: true, syn_retries: Some(1), ..plain() },
        "
        0 < S mss=1000
        > S.(mss=1000,win=65535)
        1000 timer
        > S.(mss=1000,win=65535)
        = deadline=none acks=2
        ",
    );
    check(
        &TcpConfig { handshake: true, max_rto: Span::from_millis(1500), ..plain() },
        "
        0 < S mss=1000
        > S.(mss=1000,win=65535)
        1000 timer
        > S.(mss=1000,win=65535)
        = deadline=2500
        ",
    );
}

/// The FIN occupies a sequence number (RFC 9293 section 3.4), and therefore is part of a SACK block (RFC 2018 section 3: data received and
/// queued).
#[test]
fn a_fin_ahead_of_a_gap_is_reported() {
    check(
        &with_sack(),
        "
        0 < 1001:2001 F
        > 1,sack=1001:2002
        1 < 1:1001
        > 2002
        = finished=true delivered=2000
        ",
    );
    // A FIN without data, and one that arrives before the data.
    check(
        &with_sack(),
        "
        0 < 1001:1001 F
        > 1,sack=1001:1002
        = finished=false delivered=0 out-of-order=0 duplicates=0
        1 < 1:1001
        > 1002
        = finished=true delivered=1000
        2 < 1:1001 F
        > 1002
        = delivered=1000 duplicates=1
        ",
    );
    // Invalid and ignored: a FIN below received data, data beyond a FIN, a second FIN.
    check(
        &with_sack(),
        "
        0 < 2001:3001
        > 1,sack=2001:3001
        1 < 1001:1001 F
        > 1,sack=2001:3001
        2 < 3001:4001 F
        > 1,sack=2001:4002
        3 < 4001:6001
        > 1,sack=2001:4002
        4 < 1001:1501 F
        > 1,sack=1001:1501+2001:4002
        5 < 1:3001
        > 4002
        = finished=true delivered=4000
        ",
    );
}

/// A byte refused by a closed window does not count as received: its repetition is not a duplicate.
#[test]
fn a_refused_probe_is_no_duplicate() {
    check(
        &TcpConfig { receive_window: 1000, window_scale: 0, ..plain() },
        "
        0 stop
        0 < 1:1001
        > 1001,win=0
        500 < 1001:1002
        > 1001,win=0
        = segments=2 duplicates=0
        600 < 1:1001
        > 1001,win=0
        = segments=3 duplicates=1
        ",
    );
}

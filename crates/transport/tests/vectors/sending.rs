//! Transmission: initial windows (RFC 5681, 3390, 6928), Nagle (RFC 9293 section 3.7.4), idle restart (RFC 5681 section 4.1), FIN.

use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

#[test]
fn initial_windows() {
    use InitialWindow::{Rfc3390, Rfc6928, Segments};
    for (window, mss, bytes) in [
        (Segments(2), 1000, 2000),
        (Segments(0), 1000, 1000),
        // RFC 3390: min(4 * MSS, max(2 * MSS, 4380)).
        (Rfc3390, 1000, 4000),
        (Rfc3390, 1460, 4380),
        (Rfc3390, 2200, 4400),
        // RFC 6928: min(10 * MSS, max(2 * MSS, 14600)).
        (Rfc6928, 1000, 10_000),
        (Rfc6928, 1460, 14_600),
        (Rfc6928, 9000, 18_000),
    ] {
        assert_eq!(window.bytes(mss).0, bytes, "{window:?} {mss}");
        check(
            &TcpConfig { initial_window: window, mss, ..plain() },
            Law::NewReno,
            &format!("0 open\n! start mss {mss} initial {bytes} rtt unknown\n= window={bytes}"),
        );
    }
}

/// A packet has at most half of the window: of ten segments two packets of five depart. Once the round-trip time of 100 ms is known a
/// packet has two segments, or the one that an acknowledgement releases, without PSH; the end of the data has it.
#[test]
fn push_ends_packets_of_several_segments() {
    check(
        &TcpConfig { push: true, ..plain() },
        Law::Fixed(10_000),
        "
        0 open
        0 write 16500
        > 1:1001 1001:2001 2001:3001 3001:4001 4001:5001P 5001:6001 6001:7001 7001:8001 8001:9001 9001:10001P
        100 < 2001
        > 10001:11001 11001:12001P
        101 < 3001
        > 12001:13001
        102 < 6001
        > 13001:14001 14001:15001P 15001:16001
        103 < 7001
        > 16001:16501P
        ",
    );
}

#[test]
fn window_limit_bounds_any_law() {
    check(
        &TcpConfig { window_limit: 3500, ..plain() },
        Law::Open,
        "
        0 open
        0 endless
        > 1:3001/1000
        = window=3500
        ",
    );
}

#[test]
fn what_keeps_it_from_sending_more() {
    let handshake = TcpConfig { handshake: true, ..plain() };
    check(&handshake, Law::Open, "0 open\n> S(mss=1000,scale=7,win=65535)\n= limit=Handshake");
    check(&plain(), Law::Fixed(2500), "0 open\n0 write 2000\n> 1:2001/1000\n= limit=Application");
    let sent = "0 open\n0 endless\n> 1:2001/1000\n= limit=";
    check(&plain(), Law::Fixed(2500), &format!("{sent}Window"));
    check(&TcpConfig { window_limit: 2500, ..plain() }, Law::Fixed(9000), &format!("{sent}WindowLimit"));
    check(
        &TcpConfig { receive_window: 2000, window_scale: 0, ..plain() },
        Law::Fixed(9000),
        &format!("{sent}PeerWindow"),
    );
    let paced = Law::Paced(100_000, 8_000_000, None);
    check(&plain(), paced, "0 open\n0 endless\n> 1:1001\n= limit=Pacing");
    // A segment that is not full waits for acknowledgements (Nagle); the application could provide more data.
    let nagle = TcpConfig { nagle: true, ..plain() };
    check(&nagle, Law::Fixed(9000), "0 open\n0 write 2500\n> 1:2001/1000\n= limit=Application");
}

#[test]
fn only_full_segments_leave_before_the_last() {
    check(
        &plain(),
        Law::Fixed(2999),
        "
        0 open
        0 write 2500
        > 1:2001/1000 2001:2501
        10 < 2501
        20 write 3500
        > 2501:4501/1000
        ",
    );
}

#[test]
fn a_window_below_a_segment_permits_one_segment() {
    check(
        &plain(),
        Law::Fixed(1),
        "
        0 open
        0 endless
        > 1:1001
        100 < 1001
        > 1001:2001
        ",
    );
    check(
        &plain(),
        Law::Fixed(0),
        "
        0 open
        0 endless
        = next=1 deadline=none
        ",
    );
}

#[test]
fn small_segments_wait_for_acknowledgements() {
    check(
        &TcpConfig { nagle: true, ..plain() },
        Law::Fixed(10_000),
        "
        0 open
        0 write 500
        > 1:501
        10 write 300
        20 write 800
        > 501:1501
        30 < 501
        40 < 1501
        > 1501:1601
        50 write 200
        # The last segment is not delayed.
        60 close
        > 1601:1801
        ",
    );
    check(
        &plain(),
        Law::Fixed(10_000),
        "
        0 open
        0 write 500
        > 1:501
        10 write 300
        > 501:801
        ",
    );
}

#[test]
fn an_idle_period_longer_than_the_time_out_is_notified() {
    check(
        &TcpConfig { initial_window: InitialWindow::Segments(2), ..plain() },
        Law::NewReno,
        "
        0 open
        0 write 4000
        > 1:2001/1000
        100 < 2001
        > 2001:4001/1000
        = window=3000
        200 < 4001
        # SRTT 100, RTTVAR 50, then 37.5: the time-out is a second. Exactly so long is not longer.
        1100 write 1000
        > 4001:5001
        1150 < 5001
        = window=3000
        2101 write 3000
        > 5001:7001/1000
        ! idle 1001 rto 1000
        = window=2000 idle-restarts=1
        ",
    );
    check(
        &TcpConfig { idle_restart: false, ..plain() },
        Law::Fixed(2000),
        "
        0 open
        5000 write 1000
        > 1:1001
        = idle-restarts=0
        ",
    );
}

#[test]
fn a_silence_before_the_first_data_counts() {
    check(
        &TcpConfig { min_rto: Span::from_millis(200), ..plain() },
        Law::Fixed(2000),
        "
        500 open
        1501 write 1000
        > 1:1001
        ! idle 1001 rto 1000
        ",
    );
}

#[test]
fn a_wait_for_acknowledgements_is_no_silence() {
    check(
        &TcpConfig { initial_rto: Span::from_secs(3), max_rto: Span::from_secs(3), ..plain() },
        Law::Fixed(1000),
        "
        0 open
        0 endless
        > 1:1001
        2999 < 1001
        > 1001:2001
        ",
    );
}

#[test]
fn fin_rides_on_the_last_data() {
    check(
        &TcpConfig { fin: true, ..plain() },
        Law::Fixed(1000),
        "
        0 open
        0 write 1500
        > 1:1001
        0 close
        0 write 700
        100 < 1001
        > 1001:1501F
        = next=1502 done=false flight=500
        200 < 1501
        = done=false flight=0 deadline=1200
        1200 timer
        > 1501:1501F
        ! timeout 0 pipe 0
        1300 < 1502
        = done=true deadline=none una=1502
        ",
    );
}

#[test]
fn fin_leaves_alone_after_the_data() {
    check(
        &TcpConfig { fin: true, ..plain() },
        Law::Fixed(1000),
        "
        0 open
        0 write 1000
        > 1:1001
        10 close
        # The window is full, but a FIN has no payload.
        > 1001:1001F
        10 poll
        100 < 1001
        = done=false
        200 < 1002
        = done=true
        ",
    );
}

#[test]
fn unsent_data_may_be_withdrawn() {
    check(
        &TcpConfig { fin: true, ..plain() },
        Law::Fixed(2000),
        "
        0 open
        0 endless
        > 1:2001/1000
        10 stop
        > 2001:2001F
        10 write 1000
        10 stop
        100 < 2001
        = done=false
        110 < 2002
        = done=true bytes=2000
        ",
    );
    // A byte that probed a closed window cannot be withdrawn.
    check(
        &TcpConfig { fin: true, receive_window: 1000, window_scale: 0, ..plain() },
        Law::Fixed(2000),
        "
        0 open
        0 endless
        > 1:1001
        100 < 1001 win=0
        1100 timer
        > 1001:1002
        1110 stop
        1150 < 1002 win=0
        > 1002:1002F
        1200 < 1003
        = done=true
        ",
    );
    check(
        &plain(),
        Law::Fixed(2000),
        "
        0 write 1000
        0 stop
        0 open
        = done=true bytes=0
        ",
    );
}

#[test]
fn without_fin_acknowledged_data_are_the_end() {
    check(
        &plain(),
        Law::Fixed(1000),
        "
        0 open
        0 write 1000
        > 1:1001
        100 < 1001
        = done=false bytes-acked=1000 segments=1 bytes=1000 acks=1
        100 close
        = done=true
        ",
    );
    check(
        &TcpConfig { handshake: true, ..plain() },
        Law::Fixed(1000),
        "
        0 close
        0 open
        > S(mss=1000,scale=7,win=65535)
        = done=false
        ",
    );
}

/// Of six segments a third must be free before the application writes again: two leave at once.
#[test]
fn a_send_buffer_is_refilled_when_a_third_of_it_is_free() {
    let script = "
        0 open
        0 endless
        > 1:6001/1000
        = window=10000 flight=6000 limit=Application
        100 < 1001
        101 < 2001
        > 6001:8001/1000
        102 < 3001
        103 < 4001
        > 8001:10001/1000
        # An acknowledgement of three segments leaves three of six: half of the buffer is free.
        104 < 7001
        > 10001:13001/1000
        = window=10000
    ";
    // A part of a segment has no room.
    for send_buffer in [6000, 6999] {
        let config = TcpConfig {
            send_buffer: Some(send_buffer),
            initial_window: InitialWindow::Segments(10),
            ..plain()
        };
        check(&config, Law::NewReno, script);
    }
}

/// An application that had less to write than the buffer holds did not wait for room: its next data use all that is free, four segments
/// beside the two that are not acknowledged, and then wait until a third of the buffer is free.
#[test]
fn data_written_later_use_all_the_room_of_the_send_buffer() {
    let config =
        TcpConfig { send_buffer: Some(6000), initial_window: InitialWindow::Segments(10), ..plain() };
    check(
        &config,
        Law::NewReno,
        "
        0 open
        0 write 3000
        > 1:3001/1000
        100 < 1001
        101 write 6000
        > 3001:7001/1000
        = limit=Application
        102 < 2001
        103 < 3001
        > 7001:9001/1000
        ",
    );
}

/// A window of four segments is not filled by a buffer of three, and does not grow; one of five it would outgrow.
#[test]
fn a_window_that_the_send_buffer_does_not_fill_does_not_grow() {
    let script = "
        0 open
        0 endless
        > 1:3001/1000
        100 < 1001
        > 3001:4001
        101 < 2001
        > 4001:5001
        = window=4000
    ";
    let config = TcpConfig { initial_window: InitialWindow::Segments(4), ..plain() };
    check(&TcpConfig { send_buffer: Some(3000), ..config }, Law::NewReno, script);
    let unlimited = "
        0 open
        0 endless
        > 1:4001/1000
        100 < 1001
        > 4001:6001/1000
        = window=5000
    ";
    check(&config, Law::NewReno, unlimited);
    check(&TcpConfig { send_buffer: Some(9000), ..config }, Law::NewReno, unlimited);
}

/// The FIN follows the last byte, not the last one that had room; a buffer below a segment holds one.
#[test]
fn the_end_of_the_data_waits_for_room_in_the_send_buffer() {
    let config = TcpConfig { fin: true, ..plain() };
    check(
        &TcpConfig { send_buffer: Some(3000), ..config },
        Law::Fixed(10_000),
        "
        0 open
        0 write 3500
        > 1:3001/1000
        1 close
        = limit=Application
        100 < 1001
        > 3001:3501F
        101 < 3502
        = done=true
        ",
    );
    check(
        &TcpConfig { send_buffer: Some(500), ..config },
        Law::Fixed(10_000),
        "
        0 open
        0 write 2000
        > 1:1001
        1 close
        100 < 1001
        > 1001:2001F
        ",
    );
}

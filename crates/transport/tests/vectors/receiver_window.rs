//! The window that a receiver announces (RFC 9293 section 3.8.6.2.2, RFC 7323 section 2).

use airfair_transport::{Receiver, Segment, TcpConfig, Timestamps};
use airfair_units::Time;

use crate::support::receiver::check;
use crate::support::sender::plain;

fn buffer(bytes: u64) -> TcpConfig {
    TcpConfig { receive_window: bytes, window_scale: 0, ..plain() }
}

#[test]
fn what_is_read_at_once_leaves_the_window_whole() {
    check(
        &buffer(4000),
        "
        0 < 1:1001
        > 1001
        0 < 1001:2001
        > 2001
        # Data beyond a gap lie within the window.
        0 < 3001:4001
        > 2001
        ",
    );
}

/// The window begins with 65 segments of 1,000 B and grows to its first bound, 84,992 B, by two for each; then by what is read in a round
/// trip of 100 ms, which timestamps show. What is not read does not let it grow, and `receive_window` is the most there may be.
#[test]
fn a_window_grows_with_what_is_read() {
    let config = TcpConfig {
        mss: 1012,
        receive_window: 120_000,
        window_scale: 1,
        window_tuning: true,
        timestamps: true,
        ..plain()
    };
    let windows = |reading: bool| {
        let mut receiver = Receiver::new(&config);
        receiver.set_reading(reading);
        let mut windows = Vec::new();
        for i in 0..120 {
            let now = Time((1000 + 5 * i) * 1_000_000);
            let stamp = Timestamps::clock(now);
            let timestamps = Some(Timestamps { value: stamp, echo: stamp - 100 });
            let data = Segment { payload: 1000, timestamps, ..Segment::bare(1 + 1000 * i, 1, 65_535) };
            receiver.on_segment(&data, now);
            windows.push(receiver.poll(now).unwrap().window);
        }
        windows
    };
    let read = windows(true);
    assert_eq!(read[..10], [67_000, 69_000, 71_000, 73_000, 75_000, 77_000, 79_000, 81_000, 83_000, 84_992]);
    assert_eq!((read[..20].iter().max(), read.iter().max()), (Some(&84_992), Some(&120_000)));
    assert!(windows(false).iter().all(|window| *window <= 84_992));
}

#[test]
fn unread_data_close_the_window() {
    check(
        &buffer(4000),
        "
        0 stop
        0 < 1:1001
        > 1001,win=3000
        0 < 1001:4001
        > 4001,win=0
        # The byte of a probe is refused, and an acknowledgement is sent.
        10 < 4001:4002
        > 4001,win=0
        = delivered=4000
        # Free space of less than a segment is not announced, now or with the next acknowledgement.
        20 read 999
        30 < 4001:4002
        > 4001,win=0
        # Free space of a segment is announced.
        40 read 1
        > 4001,win=1000
        50 read 500
        60 read 499
        70 resume
        > 4001
        ",
    );
}

#[test]
fn half_of_a_small_buffer_is_worth_telling() {
    check(
        &buffer(1200),
        "
        0 stop
        0 < 1:1001
        > 1001,win=200
        0 < 1001:1201
        > 1201,win=0
        0 read 599
        0 read 1
        > 1201,win=600
        0 read 5000
        > 1201
        ",
    );
}

#[test]
fn the_right_edge_of_the_window_never_moves_back() {
    // RFC 9293 section 3.8.6: the right edge of the window stays: the free space is too small to advance it, and it never moves back.
    check(
        &buffer(4000),
        "
        0 < 1:501
        > 501,win=3500
        0 < 501:1001
        > 1001
        ",
    );
}

#[test]
fn data_beyond_the_window_are_refused() {
    check(
        &TcpConfig { sack: true, ..buffer(4000) },
        "
        0 < 4001:5001
        > 1
        = out-of-order=0 duplicates=0
        # The part within the window is accepted; a FIN after refused data is refused too.
        0 < 3501:4501 F
        > 1,sack=3501:4001
        0 < 1:3501
        > 4001
        = finished=false
        0 < 4001:4001 F
        > 4002,win=3999
        = finished=true
        ",
    );
}

#[test]
fn scaled_windows_are_rounded_down() {
    // RFC 7323 section 2.2: the field holds 16 bits.
    check(
        &TcpConfig { receive_window: 100_000, window_scale: 7, ..plain() },
        "
        0 < 1:2
        > 2,win=99840
        = delivered=1
        ",
    );
}

#[test]
fn without_scale_a_window_holds_sixteen_bits() {
    check(
        &buffer(100_000),
        "
        0 < 1:1001
        > 1001,win=65535
        # The right edge has moved with the acknowledgement number.
        0 < 65001:66001
        > 1001,win=65535
        = out-of-order=1
        0 resume
        ",
    );
}

#[test]
fn without_the_option_in_the_syn_nothing_is_scaled() {
    check(
        &TcpConfig { handshake: true, ..plain() },
        "
        0 < S mss=1000
        > S.(mss=1000,win=65535)
        0 < 1:1001
        > 1001,win=65535
        ",
    );
    check(
        &TcpConfig { handshake: true, window_scale: 20, receive_window: 1 << 30, ..plain() },
        "
        0 < S mss=1000 scale=3
        > S.(mss=1000,scale=14,win=65535)
        # 65535 times 16384.
        0 < 1:1001
        > 1001,win=1073725440
        ",
    );
}

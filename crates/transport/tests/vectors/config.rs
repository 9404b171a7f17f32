//! Guarantees of a sender for any configuration.

use airfair_transport::{Receiver, Sender, TcpConfig};
use airfair_units::Span;

use crate::support::laws::Law;
use crate::support::sender::check;

#[test]
fn an_idle_flow_is_small() {
    assert!(size_of::<Sender>() <= 1024, "{}", size_of::<Sender>());
    assert!(size_of::<Receiver>() <= 512, "{}", size_of::<Receiver>());
}

#[test]
fn values_out_of_range_are_brought_into_it() {
    let zero = Span::ZERO;
    check(
        &TcpConfig {
            mss: 0,
            window_limit: 0,
            dupack_threshold: 0,
            tick: zero,
            initial_rto: zero,
            min_rto: zero,
            max_rto: zero,
            ..TcpConfig::default()
        },
        Law::Fixed(10),
        "
        0 open
        > S(mss=1,scale=7,sack,win=65535)
        = window=1
        ",
    );
    // With this shift the smallest window other than zero is 128 bytes.
    check(
        &TcpConfig { receive_window: 0, handshake: false, ..TcpConfig::default() },
        Law::Fixed(10),
        "
        0 open
        = peer-window=128
        ",
    );
    check(
        &TcpConfig { mss: 100_000, ..TcpConfig::default() },
        Law::Fixed(10),
        "
        0 open
        > S(mss=65535,scale=7,sack,win=65535)
        ",
    );
}

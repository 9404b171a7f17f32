//! A transport paced by a rate, reliable by selective repeat: the third carrier of flows, beside TCP and UDP.
//!
//! A law (ATP, EXACT, C3L) sets the rate and decides when its receiver reports; the transport numbers datagrams, finds out from the reports
//! which have arrived, and has those sent again that were lost, at the rate of the law like all others. Losses change no rate: congestion
//! control and reliability are apart (ATP, Sundaresan, Anantharaman, Hsieh and Sivakumar, MobiHoc 2003, §3). There is no window, but the
//! bound of what both ends store ([`MOST_OUTSTANDING`]).
//!
//! The rules, each with the vector that would fail without it: `docs/rate-transport.md`. The host's part:
//!
//! 1. when the law's rate allows a datagram: [`Sender::to_send`], and [`Sender::sent_new`] or [`Sender::sent_again`] for what leaves;
//! 2. at the receiver [`Receiver::on_data`], and [`Receiver::arrivals`] in front of each report of the law;
//! 3. at the sender [`Sender::on_arrivals`] for each report, and [`Sender::on_timer`] at [`Sender::deadline`].

mod receiver;
mod sender;

use airfair_units::Time;

pub use airfair_wire::rate::{Arrivals, Block, Data};
pub use receiver::{Arrived, Receiver};
pub use sender::{Next, Progress, Sender, Stats};

/// Most datagrams that a sender keeps until they have arrived in order, and beyond the first missing one a receiver: some seconds at 54
/// Mbit/s with 1,500 B, since ATP's receiver reports once a second. Ours.
pub const MOST_OUTSTANDING: usize = 16_384;

/// A moment as the headers of datagrams carry it: µs modulo 2^32.
#[must_use]
pub const fn time_stamp(at: Time) -> u32 {
    (at.0 / 1000) as u32
}

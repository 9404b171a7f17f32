//! Reliable transports as pure state machines. [`rate`] is one paced by a rate; the rest is TCP.
//!
//! TCP as pure state machines by the RFCs: time, randomness and segments are inputs, segments and deadlines outputs. Window laws are in
//! `airfair-schemes`; this crate detects and repairs losses, measures, and runs timers.
//!
//! A [`Sender`] opens, sends and retransmits; a [`Receiver`] acknowledges. Data flow in one direction. The host's part is small:
//!
//! 1. pass events (`open`, `write`, `on_segment`, `on_timer`) with their times;
//! 2. after each event, send segments until `poll` returns none or there is no room for more;
//! 3. then read `deadline`, and call `on_timer` at that time.
//!
//! Left out, since the simulated network never needs it: data in both directions, urgent data, resets, TIME-WAIT,
//! simultaneous open, path MTU discovery, and PAWS (RFC 7323 section 5: sequence numbers do not wrap here).

#![no_std]

extern crate alloc;

mod config;
mod delivery;
mod ecn;
#[doc(hidden)]
pub mod fuzz;
mod pacing;
mod prr;
pub mod rate;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;

pub use config::{DelayedAck, InitialWindow, PartialAckTimer, SharedConfig, TcpConfig, TickMode};
pub use pacing::Pacer;
pub use receiver::{Receiver, ReceiverStats};
pub use segment::{Flags, SackBlocks, Segment, Timestamps};
pub use sender::{Departure, Limit, Peer, RoundTrips, Sender, SenderStats, State};

use airfair_units::Time;

/// The earliest deadline.
#[inline]
fn earliest<const N: usize>(deadlines: [Option<Time>; N]) -> Option<Time> {
    let first = deadlines.into_iter().fold(Time::NEVER, |first, at| first.min(at.unwrap_or(Time::NEVER)));
    (first < Time::NEVER).then_some(first)
}

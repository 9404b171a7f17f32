//! TCP as the RFCs say, as pure state machines: time, randomness and segments are handed in, segments and deadlines are
//! handed back. Window laws are not here but in `airfair-schemes`; this crate repairs losses, measures, and keeps time.
//!
//! A [`Sender`] opens, sends and repairs; a [`Receiver`] answers. Data flow one way. The host's part is small:
//!
//! 1. hand in what happens (`open`, `write`, `on_segment`, `on_timer`) with the time at which it happens;
//! 2. after each of these, take segments from `poll` until it gives none or there is no room for more;
//! 3. then ask `deadline`, and call `on_timer` at that time.
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
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;

pub use config::{DelayedAck, InitialWindow, PartialAckTimer, SharedConfig, TcpConfig, TickMode};
pub use receiver::{Receiver, ReceiverStats};
pub use segment::{Flags, SackBlocks, Segment, Timestamps};
pub use sender::{Limit, Sender, SenderStats, State};

use airfair_units::Time;

/// The first of some deadlines.
#[inline]
fn earliest<const N: usize>(deadlines: [Option<Time>; N]) -> Option<Time> {
    let first = deadlines.into_iter().fold(Time::NEVER, |first, at| first.min(at.unwrap_or(Time::NEVER)));
    (first < Time::NEVER).then_some(first)
}

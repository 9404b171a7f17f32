//! Traffic over real sockets: a sender, and a receiver that measures what arrives. No control connection: the receiver sends nothing but
//! TCP's acknowledgements, so that a path on which a flow starves carries the flow and nothing else.
//!
//! - [`options`]: the options of both ends, read from texts;
//! - [`datagram`]: the format of a datagram;
//! - [`arrivals`], [`sequences`], [`delays`]: measures of a flow, each of bounded size;
//! - [`flows`]: the flows of datagrams that a receiver has seen, as a state machine without a clock or a socket;
//! - [`receive`], [`mod@send`]: the two ends;
//! - [`report`]: their reports, and these as JSON;
//! - [`wait`]: the clock, and waits that a user may end.

#![cfg(unix)]

pub mod arrivals;
pub mod datagram;
pub mod delays;
pub mod flows;
pub mod options;
pub mod receive;
pub mod report;
pub mod send;
pub mod sequences;
mod sys;
pub mod wait;

pub use options::{ReceiveOptions, SendOptions};
pub use receive::Receiver;
pub use send::send;
pub use sys::{interrupted, note_interrupts};

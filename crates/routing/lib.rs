//! Routing: protocols as state machines, and shortest paths as a computation. Packets, messages and times are handed in, decisions are
//! handed back. No clock, no socket, no simulator, so that one implementation serves a simulated node and a real one.
//!
//! A protocol is two values: its parameters ([`Protocol`]), of which there is one for all nodes, and what they make for each node
//! ([`Routing`]). A host speaks to both and knows no protocol by name, nor the format of any message.

#![no_std]

extern crate alloc;

pub mod aodv;
mod protocol;
pub mod shortest;

pub use protocol::{Context, DropReason, Effect, Hop, Protocol, Received, Routing, Undelivered};

//! Routing: protocols as state machines, and shortest paths. Packets, messages, times and random numbers are inputs, decisions outputs. No
//! clock, socket or simulator, so that one implementation serves simulated and real nodes.
//!
//! A protocol is two types: its parameters ([`Protocol`]), one value for all nodes, and the state machine that `Protocol` creates for each
//! node ([`Routing`]). A host uses both traits and knows neither a protocol's name nor the format of its messages.

#![no_std]

extern crate alloc;

pub mod aodv;
mod buffer;
pub mod dsdv;
pub mod fuzz;
pub mod olsr;
mod protocol;
mod sequence;
pub mod shortest;

pub use protocol::{
    Adjacency, Context, DropReason, Effect, NodeSetup, Protocol, Received, Routing, SendRate, TableSize,
    TableState, To, Undelivered,
};
pub use sequence::is_younger;

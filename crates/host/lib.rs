//! The half of a node that carries a scheme and is no simulator: emulation and a daemon host schemes with the same code.
//!
//! A host owns state machines ([`Slot`], [`Pipeline`], [`AgentSlot`], [`ControllerSlot`]), calls their hooks in the order of the
//! contract ([`airfair_schemes::places`]), and returns what follows as values: verdicts on packets, settings, messages, and
//! [`Firing`]s, which the caller puts on its agenda. No part calls back. Time, randomness and packets are handed in.
//!
//! | part | what it hosts |
//! |---|---|
//! | [`Slot`] | a state machine, its random stream, its rank, its timers |
//! | [`Pipeline`] | queue, AQM and hop of an output interface, as one pipeline: arrive, dequeue, depart, receive |
//! | [`AgentSlot`], [`Messages`] | an agent, its samples, messages under way |
//! | [`ControllerSlot`] | a controller |
//! | [`HeaderKinds`], [`Echo`] | headers of explicit-rate schemes: which packet carries which, what the receiver echoes |
//! | [`Offers`] | what a network offers a scheme, against what the scheme wants |

#![no_std]

extern crate alloc;

mod agent;
mod capability;
mod controller;
mod header;
mod interface;
mod message;
mod slot;

pub use agent::{AgentSlot, Counters, MessageCounts};
pub use capability::Offers;
pub use controller::ControllerSlot;
pub use header::{Echo, HeaderId, HeaderKinds, HeaderRef};
pub use interface::{Dequeued, Pipeline};
pub use message::{MessageIx, Messages};
pub use slot::{Firing, Slot, Timed, Timers};

//! Host of schemes: the part of a node that runs a scheme and is no simulator. Emulation and a daemon can use the same code.
//!
//! A host owns state machines ([`Slot`], [`Pipeline`], [`AgentSlot`], [`ControllerSlot`],
//! [`UdpSource`], [`UdpReceiver`]), calls their hooks in the order of the contract
//! ([`airfair_schemes::places`]), and returns the effects as values: verdicts on packets, settings, messages, and [`Firing`]s, which the
//! caller schedules. No part calls back. Time, randomness and packets are arguments.
//!
//! | part | contents |
//! |---|---|
//! | [`Slot`] | a state machine with its random stream, rank and timers |
//! | [`Pipeline`] | queue, AQM and hop of an output interface: arrival, dequeuing, departure, reception |
//! | [`AgentSlot`], [`Messages`] | an agent, its samples, its messages in transit |
//! | [`ControllerSlot`] | a controller |
//! | [`UdpSource`], [`UdpReceiver`] | both ends of a flow over UDP: pacing, reports |
//! | [`HeaderKinds`], [`Echo`] | headers of explicit-rate schemes: the kind of each packet's header, the receiver's echo |
//! | [`Capabilities`] | capabilities of a network, compared with a scheme's needs |

#![no_std]

extern crate alloc;

mod agent;
mod capability;
mod controller;
mod header;
mod interface;
mod message;
mod slot;
mod udp;

pub use agent::{AgentSlot, InterfaceCounters, MessageCounts, SampledState};
pub use capability::Capabilities;
pub use controller::ControllerSlot;
pub use header::{Echo, HeaderId, HeaderKinds, HeaderRef};
pub use interface::{Dequeued, Pipeline};
pub use message::{EndedMessage, MessageIx, Messages};
pub use slot::{Firing, Slot, Timed, Timers};
pub use udp::{ReportCounts, UdpReceiver, UdpSource};

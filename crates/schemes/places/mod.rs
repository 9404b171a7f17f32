//! The five places where a scheme may act, and what it is handed there.
//!
//! | place | who calls it | how often |
//! |---|---|---|
//! | [`Source`] | the transport of a sending flow | each segment sent, acknowledged, lost |
//! | [`Queue`], [`Aqm`] | an output interface | each arrival and departure |
//! | [`Hop`] | an output interface of a router | each packet, each control interval |
//! | [`Agent`] | a radio interface of a node | each sample of its counters, each message, each timer |
//! | [`Controller`] | one node of the network | each report, each timer |
//!
//! Contract of all five:
//! - A hook gets one borrowed struct, so that new fields break nobody, and a [`Context`]; it returns a decision. All
//!   other effects go into the context's [`Outbox`], which the caller owns, drains after every hook and reuses.
//! - No hook reads a clock, draws from anything but `context.random`, blocks, or panics on any input.
//! - Per packet, `Queue`, `Aqm` and `Hop` use integers and bounded state only; per interval they may use floats.
//! - A timer that was set fires once, at its time or later, never earlier; setting it again moves it. One that is set to the present or
//!   to the past fires a nanosecond later.
//! - Effects by place: a source and a hop may set timers, a queue may drop and mark what it stores, an AQM has none beside its
//!   verdicts, an agent may set timers, send messages and change settings. Any other ends the run with an error.
//! - Messages are packets: they cost air, may be lost, delayed or reordered; state learnt from them must expire.

mod agent;
mod controller;
mod header;
mod hop;
mod interface;
mod outbox;
mod packet;
mod queue;
mod source;

pub use agent::{Agent, AgentSetup, Airtime, LinkUse, NodeSample};
pub use controller::{Allocation, Controller, Report};
pub use header::{Header, HeaderKind};
pub use hop::{Backlog, Hop, Passage};
pub use interface::{Interface, Medium};
pub use outbox::{Context, Destination, Direction, Message, Outbox, Probability, Setting, Timer};
pub use packet::{Ecn, FlowId, NodeId, Packet, PacketClass, PacketId};
pub use queue::{Aqm, DropReason, Enqueued, Head, MarkReason, Priority, Queue, QueueView, Verdict};
pub use source::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Idle, PartialAck, RateSample, Sent, Source,
};

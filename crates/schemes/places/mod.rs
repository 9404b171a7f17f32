//! The places where a scheme may act, with the arguments of its hooks: six at every node (source, receiver, queue, AQM, hop, agent; an
//! agent may be a forwarder, too), and a controller at one node of the network.
//!
//! | place | caller | calls |
//! |---|---|---|
//! | [`Source`] | the transport of a sending flow | each segment sent, acknowledged, lost; over UDP each datagram and report |
//! | [`Receiver`] | the destination of a flow over UDP | each datagram that arrives, each timer |
//! | [`Queue`], [`Aqm`] | an output interface | each arrival and departure; an AQM: each reception and setting, too |
//! | [`LabelledQueue`], a kind of queue | an output interface | each header heard, each change of routes, too |
//! | [`Hop`] | an output interface | each packet, each control interval |
//! | [`Agent`] | a radio interface of a node | each sample of its counters, each message, each timer |
//! | [`Forwarder`], a part of an agent | a radio interface of a node | each broadcast heard, each access, each packet of its own |
//! | [`Controller`] | one node of the network | each message for the node, each timer |
//!
//! | place | context | effects beside the answer |
//! |---|---|---|
//! | source | [`SourceContext`] | timers |
//! | receiver | [`ReceiverContext`] | timers, reports to the source |
//! | queue | [`QueueContext`] | drops and marks of packets that the queue stores |
//! | AQM | [`AqmContext`] | none |
//! | hop | [`HopContext`] | timers |
//! | agent | [`AgentContext`] | timers, messages, settings |
//! | forwarder | [`ForwarderContext`] | those of an agent; packets for its node, packets that are routed |
//! | controller | [`ControllerContext`] | timers, messages |
//!
//! Contract of all:
//! - A hook gets the values of its occasion in a borrowed struct, so that a new field breaks no scheme; a hook that needs time,
//!   randomness or effects also gets a [`Context`]. It returns a decision. All other effects go into the context's `out`, whose type
//!   belongs to the place: an effect that the place does not have does not compile. The caller owns it, drains it after the hooks of one
//!   occasion (a packet, a sample, an acknowledgement) and reuses it: no allocation in the steady state.
//! - No hook reads a clock, draws from anything but `context.random`, blocks, or panics on any input.
//! - `context.now` may step back between two hooks of one interface, by less than 4 us: a reception has the time of
//!   its last bit at this station, which lies up to a propagation delay (4 us for 1.2 km) after the event that handles all hearers, and
//!   a departure in the same event, or in one shortly after, has that event's own time. So a packet may leave a queue "before"
//!   its `enqueued`. Differences of times are taken with `Time::since`, which is zero then.
//! - Per packet, `Queue`, `Aqm` and `Hop` use integers and bounded state only; per interval they may use floats.
//! - A timer that was set fires once, at its time or later, never earlier; setting it again moves it. One that is set to the present or
//!   to the past fires a nanosecond later.
//! - Messages are packets: they cost air, may be lost, delayed or reordered; state learnt from them must expire.

mod agent;
mod context;
mod controller;
mod effects;
mod forwarder;
mod header;
mod hop;
mod interface;
mod kinds;
mod labelled;
mod packet;
mod queue;
mod receiver;
mod report;
mod source;
mod wants;

pub use agent::{
    Agent, AgentSetup, Airtime, AnswerSample, FlowSample, FlowShare, LinkSample, LinkShare, LinkUse,
    LoneExchange, NodeSample,
};
pub use context::{
    AgentContext, AqmContext, Context, ControllerContext, ForwarderContext, HopContext, QueueContext,
    ReceiverContext, SourceContext,
};
pub use controller::{Controller, ControllerSetup, FlowLimit, Inhibition, LinkName};
pub use effects::{
    AgentEffects, AqmEffects, ControllerEffects, ControllerMessage, Destination, Direction, ForwarderEffects,
    Holding, HopEffects, LinkRate, Message, Probability, QueueEffects, ReceiverEffects, SendRate, Setting,
    SourceEffects, Starving, Timer, Transmit,
};
pub use forwarder::{DeliveryRatio, DeliveryRatios, Forwarder, HeardBroadcast, Made, NativePacket, Numbered};
pub use header::{Header, HeaderKind};
pub use hop::{Backlog, Finished, Hop, Passage};
pub use interface::{Interface, Medium};
pub use kinds::MessageKinds;
pub use labelled::{Heard, LabelledQueue, OutputQueue};
pub use packet::{Ecn, FlowId, NodeId, Packet, PacketClass, PacketId};
pub use queue::{
    Aqm, DropReason, Enqueued, FlowBytes, Head, MarkReason, Priority, Queue, QueueView, Verdict, WaitingQueue,
};
pub use receiver::{Arrived, LossEvents, Receiver, UdpEnds};
pub use report::{MOST_REPORT_BYTES, ReportBytes};
pub use source::{
    Acked, Allowance, Calls, Congestion, CongestionCause, FlowSetup, Idle, PartialAck, RateSample, Sent,
    Source, Spurious, Waiting,
};
pub use wants::{Capability, CapabilitySet, Wants};

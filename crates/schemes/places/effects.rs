//! Effects of hooks beside their answers. Each place has a type of its own, with the effects that hooks of the place may have and no
//! others.

use alloc::vec::Vec;

use airfair_units::{Db, Rate, Time};

use super::{DropReason, FlowId, MarkReason, NodeId, PacketId, ReportBytes};

/// A timer of a scheme; the number is the scheme's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer(pub u16);

/// The destination of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// To one neighbour, acknowledged by the MAC; others may overhear it.
    Neighbour(NodeId),
    /// To all neighbours at once, not acknowledged.
    Broadcast,
    /// To a node any number of hops away: to all its agents, and to a controller there. To the sender's own node it takes no air, and
    /// arrives a nanosecond later.
    Node(NodeId),
}

/// The rate at which a radio sends a broadcast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SendRate {
    /// That of broadcasts.
    #[default]
    Broadcast,
    /// That of data frames.
    Data,
    /// The lowest mandatory rate of the standard: 1 Mbit/s, with 802.11a 6 Mbit/s.
    Lowest,
}

/// How a radio sends a broadcast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transmit {
    /// The rate.
    pub rate: SendRate,
    /// Power above the radio's own, in hundredths of a decibel; below 0 it is weaker.
    pub power_offset: Db,
}

impl Default for Transmit {
    /// As every broadcast.
    fn default() -> Self {
        Self { rate: SendRate::Broadcast, power_offset: Db(0.0) }
    }
}

/// A control message: its bytes occupy the air.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The message's destination.
    pub to: Destination,
    /// The message's bytes above IP.
    pub bytes: Vec<u8>,
    /// True if it leaves ahead of all packets that wait; to a node any number of hops away, at every hop. In a network where no controller
    /// runs, a wire may keep its queue without regard to this.
    pub ahead: bool,
    /// How a broadcast is sent; of other messages it is ignored.
    pub transmit: Option<Transmit>,
}

/// A probability as a fraction of 2^32, for hooks that may not use floats. `ONE` is certainty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// The probability 0.
    pub const ZERO: Self = Self(0);
    /// The probability 1.
    pub const ONE: Self = Self(1 << 32);

    /// The next lower fraction; a value below 0 or not a number is 0, a value above 1 is 1.
    #[must_use]
    pub fn new(p: f64) -> Self {
        // A float becomes an integer by saturation, "no number" becomes 0.
        Self((p * (1u64 << 32) as f64) as u64).min(Self::ONE)
    }

    /// The numerator, 0..=2^32.
    #[must_use]
    pub const fn numerator(self) -> u64 {
        self.0
    }
}

/// The direction of a packet through an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Sent by the interface.
    Outgoing,
    /// Received by the interface.
    Incoming,
}

/// A setting of the interface's own AQM, queue and hop; each takes those that it knows. Where access categories have queues of their own,
/// all of them get it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// The probability with which the AQM drops or marks packets of one direction.
    Probability(Direction, Probability),
    /// Packets that wait at a neighbour for a destination, for the queue.
    Backlog {
        /// The neighbour.
        neighbour: NodeId,
        /// The destination, any number of hops away.
        destination: NodeId,
        /// Packets.
        packets: u32,
    },
    /// A node starves, for the queue.
    Starving(Starving),
    /// The rate of packets to a neighbour, for the queue: as a class of Linux's HTB has it.
    LinkRate {
        /// The neighbour.
        neighbour: NodeId,
        /// The rate; of 0 bit/s: none.
        rate: LinkRate,
    },
    /// The rate that a flow may have over the interface.
    FlowRate {
        /// The flow.
        flow: FlowId,
        /// The share of the flow.
        rate: Rate,
    },
}

/// A rate of packets by their length and what each adds to it: a token bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRate {
    /// Bits of packets and of `overhead` by time.
    pub rate: Rate,
    /// Bytes that count for each packet beside its own as an IP packet: the time of an exchange that does not depend on its length.
    pub overhead: u32,
    /// Bytes that may leave at once, those of `overhead` included.
    pub burst: u32,
}

/// A node whose flows starve while the channel is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starving {
    /// The agent's own, which tries whether limits of others help.
    Trying,
    /// The agent's own, which limits have helped: its sources are limited too.
    Helped,
    /// Another one, in hearing.
    Near(NodeId),
}

/// Effects of a queue's hooks.
#[derive(Debug, Default)]
pub struct QueueEffects {
    /// Packets that the queue has dropped by itself, beyond its answers: it no longer stores them.
    pub dropped: Vec<(PacketId, DropReason)>,
    /// Packets that the queue has marked by itself.
    pub marked: Vec<(PacketId, MarkReason)>,
}

impl QueueEffects {
    /// True if there is no effect.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        // One branch: hosts ask after every hook.
        self.dropped.len() | self.marked.len() == 0
    }
}

/// Effects of an AQM's hooks: none. An AQM answers with a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AqmEffects;

/// Effects of a hop's hooks.
#[derive(Debug, Default)]
pub struct HopEffects {
    /// Timers to set, each replacing its earlier setting.
    pub timers: Vec<(Timer, Time)>,
}

/// Effects of a source's hooks.
#[derive(Debug, Default)]
pub struct SourceEffects {
    /// Timers to set, each replacing its earlier setting.
    pub timers: Vec<(Timer, Time)>,
    /// The law's code runs elsewhere (in an interpreter) and has failed: the host names the flow and ends the run.
    pub failed: bool,
}

impl SourceEffects {
    /// True if there is no effect.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.timers.is_empty() && !self.failed
    }
}

/// Effects of a receiver's hooks.
#[derive(Debug, Default)]
pub struct ReceiverEffects {
    /// Timers to set, each replacing its earlier setting.
    pub timers: Vec<(Timer, Time)>,
    /// Reports to send to the flow's source, each in a packet of its own.
    pub reports: Vec<ReportBytes>,
}

/// Effects of an agent's hooks.
#[derive(Debug, Default)]
pub struct AgentEffects {
    /// Messages to send.
    pub messages: Vec<Message>,
    /// Timers to set, each replacing its earlier setting.
    pub timers: Vec<(Timer, Time)>,
    /// Settings to apply.
    pub settings: Vec<Setting>,
}

/// The packets that a node holds of a batch, after a broadcast that has brought something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The flow.
    pub flow: FlowId,
    /// The batch.
    pub batch: u32,
    /// Packets that it holds, or independent combinations.
    pub packets: u16,
    /// Packets of the batch.
    pub of: u16,
}

/// Effects of a forwarder's hooks.
#[derive(Debug, Default)]
pub struct ForwarderEffects {
    /// The name of the hook that asks for them, where a flow or a packet that does not exist is a mistake of the scheme and not of what
    /// it has heard: the run ends with an error. None: such effects do nothing.
    pub checked: Option<&'static str>,
    /// Effects of the agent that it is a part of.
    pub agent: AgentEffects,
    /// Packets for its node that are whole, by flow and number: handed up in this order, each once.
    pub delivered: Vec<(FlowId, u32)>,
    /// The packets that the node holds of a batch, once for each broadcast that has brought something new: at the flow's destination it
    /// counts as innovative.
    pub holds: Vec<Holding>,
    /// Batches for its node that are whole, by flow and number of the batch, each once.
    pub whole: Vec<(FlowId, u32)>,
    /// Packets that it holds and that go on from here by ordinary routing, by flow and number, once for each time here; nothing goes of one
    /// that has been handed up. What goes may be lost on its way: the packet itself stays until a forwarder hands it up.
    pub routed: Vec<(FlowId, u32)>,
}

/// A message of a controller: to a node any number of hops away, whose agents receive it. Its bytes occupy the air; to the controller's own
/// node it takes none and arrives a nanosecond later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerMessage {
    /// The message's destination.
    pub to: NodeId,
    /// The message's bytes above IP.
    pub bytes: Vec<u8>,
    /// True if it precedes all packets that wait, at every hop.
    pub ahead: bool,
}

/// Effects of a controller's hooks.
#[derive(Debug, Default)]
pub struct ControllerEffects {
    /// Messages to send, such as shares.
    pub messages: Vec<ControllerMessage>,
    /// Timers to set, each replacing its earlier setting.
    pub timers: Vec<(Timer, Time)>,
}

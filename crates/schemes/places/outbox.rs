//! The context of a hook and the box for its effects.

use alloc::vec::Vec;

use airfair_units::random::Stream;
use airfair_units::{Bytes, Rate, Time};

use super::{DropReason, FlowId, MarkReason, NodeId, PacketId};

/// What every hook is handed beside its subject.
pub struct Context<'a> {
    /// The present.
    pub now: Time,
    /// The scheme's own random stream at this place.
    pub random: &'a mut Stream,
    /// Where effects go.
    pub out: &'a mut Outbox,
}

/// A timer of a scheme; the number is the scheme's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer(pub u16);

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// To one neighbour, acknowledged by the MAC; others may overhear it.
    Neighbour(NodeId),
    /// To all neighbours at once, not acknowledged.
    Broadcast,
    /// To a node any number of hops away.
    Node(NodeId),
}

/// A control message: real bytes that cost air.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where it goes.
    pub to: Destination,
    /// Its bytes above IP.
    pub bytes: Vec<u8>,
    /// Whether it goes ahead of everything that waits.
    pub ahead: bool,
}

/// A probability as a fraction of 2^32, for hooks that must do without floats. `ONE` is certainty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0);
    /// Always.
    pub const ONE: Self = Self(1 << 32);

    /// The nearest fraction; what lies below 0 or is no number is 0, what lies above 1 is 1.
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

/// The way of a packet through an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Out of it.
    Outgoing,
    /// Into it.
    Incoming,
}

/// A setting of the interface's own queue or of a flow's source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// Probability with which the AQM shall drop or mark packets of one direction.
    Probability(Direction, Probability),
    /// Pacing rate of a flow that starts here.
    FlowRate(FlowId, Rate),
    /// Limit of the queue.
    QueueLimit(Bytes),
}

/// The effects of a hook. What a place cannot do is an error of the run. The caller drains it after each hook and hands it in
/// again: no allocation in the steady state.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Messages to send.
    pub messages: Vec<Message>,
    /// Timers to set, each replacing its earlier setting.
    pub timers: Vec<(Timer, Time)>,
    /// Settings to apply.
    pub settings: Vec<Setting>,
    /// Packets that a queue threw away by itself, beyond what its answers say: it no longer stores them.
    pub dropped: Vec<(PacketId, DropReason)>,
    /// Packets that a queue has marked by itself.
    pub marked: Vec<(PacketId, MarkReason)>,
}

impl Outbox {
    /// Whether there is nothing to do.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        // One branch: hosts ask after every hook.
        let Self { messages, timers, settings, dropped, marked } = self;
        messages.len() | timers.len() | settings.len() | dropped.len() | marked.len() == 0
    }
}

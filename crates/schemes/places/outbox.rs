//! The context of a hook and the box for its effects.

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

/// A setting of the node's own queue or of a flow's source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// Probability with which the AQM shall drop or mark, 0..=1.
    DropProbability(f64),
    /// Pacing rate of a flow that starts here.
    FlowRate(FlowId, Rate),
    /// Limit of the queue.
    QueueLimit(Bytes),
}

/// The effects of a hook. The caller drains it after each hook and hands it in again: no allocation in the steady state.
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
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
            && self.timers.is_empty()
            && self.settings.is_empty()
            && self.dropped.is_empty()
            && self.marked.is_empty()
    }
}

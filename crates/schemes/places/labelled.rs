//! The queue of an output interface that writes into the packets that it sends, and goes by news of its neighbours and by routes.

use alloc::boxed::Box;

use airfair_units::Time;

use super::source::Calls;
use super::{
    Head, Header, HeaderKind, NodeId, Packet, PacketId, Queue, QueueContext, QueueView, WaitingQueue,
};

/// A header in a packet that a neighbour has sent, to this node or to another one: of the kind that the queue writes, or that the agent
/// hears.
#[derive(Debug, Clone, Copy)]
pub struct Heard<'a> {
    /// The neighbour that has sent the frame.
    pub from: NodeId,
    /// The destination of the packet, any number of hops away.
    pub destination: NodeId,
    /// The header as the neighbour has sent it.
    pub header: &'a Header,
}

/// A queue that labels packets: it writes a header into those that carry one of its kind ([`Packet::labelled`]), and may hear the headers
/// of its neighbours, follow routes, and go by destination. The contract of [`Queue`] holds with these differences:
/// - what becomes known between two calls of `peek` (a neighbour's header, a route, the end of a transmission) may change the choice;
/// - `commit` removes the packet that the last `peek` or `pass_over` named, whatever has become known since;
/// - labelled packets may wait although the link is free: for a route, for the end of a transmission, or for news of a neighbour, which
///   then has a time at which it is out of date ([`WaitingQueue::wakes_at`]), since a silent neighbour sends none.
///
/// For DiffQ's queue, `tests/diffq/contract.rs` drives labelled packets with the news that its choice depends on.
pub trait LabelledQueue: WaitingQueue {
    /// The kind of header that the queue reads and writes. The same at each call.
    fn header(&self) -> &'static HeaderKind;

    /// Writes the header of a labelled packet that `commit` has just returned: what the queue announces to everyone who hears the frame.
    fn stamp(&mut self, packet: &Packet, header: &mut Header, now: Time);

    /// By how many packets the queue of a labelled packet's destination was longer than that of the next hop, as far as known, when the
    /// packet left: after `commit` has returned it. `None`: the queue does not compare them.
    fn differential(&self) -> Option<i64> {
        None
    }

    /// Names another packet than the one that was named last, for which the link has no room now: of another priority, or one whose
    /// priority the queue does not decide if it has decided that of the last. `None`: there is none that was not passed over. Until then,
    /// or until `commit`, `peek` names it too.
    fn pass_over(&mut self, _context: &mut QueueContext<'_>) -> Option<Head> {
        None
    }

    /// A frame with a header of the queue's kind was received or overheard. Returns true if a packet that had to wait may leave now. Called
    /// only if [`Capability::HeardHeaders`](super::Capability).
    fn on_heard(&mut self, _heard: &Heard<'_>, _now: Time) -> bool {
        false
    }

    /// The link has finished a packet that left the queue, with or without success. Called only if
    /// [`Capability::Finished`](super::Capability).
    fn on_finished(&mut self, _packet: PacketId) {}

    /// Routes of the node have changed: `next_hop` answers with the next hop to a destination by this interface, if there is one now.
    /// Called only if [`Capability::Routes`](super::Capability).
    fn on_routes(&mut self, _next_hop: &mut dyn FnMut(NodeId) -> Option<NodeId>) {}

    /// Removes the first packet that waits for a destination: its route has moved to another interface of the node, and the host forwards
    /// the packet anew. Called only if [`Capability::Routes`](super::Capability).
    fn withdraw(&mut self, _destination: NodeId) -> Option<Packet> {
        None
    }

    /// Calls `see` for each destination with the packets that wait for it, ascending. Called only if
    /// [`Capability::Backlogs`](super::Capability) or [`Capability::Routes`](super::Capability).
    fn backlogs(&self, _see: &mut dyn FnMut(NodeId, u32)) {}

    /// Packets that wait for a destination, labelled or not: what a source at this node may fill up. The fill level of a queue that does
    /// not distinguish destinations, or not now.
    fn backlog_to(&self, _destination: NodeId, _labelled: bool) -> QueueView {
        self.view()
    }

    /// Packets that cannot leave now, since there is no route to their destination.
    fn without_route(&self) -> u32 {
        0
    }

    /// Of the packets that wait for a destination those of flows that begin at this node.
    fn own_backlog_to(&self, destination: NodeId, labelled: bool) -> u32 {
        let mut own = 0;
        self.show(&mut |packet| {
            own += u32::from(packet.own && packet.labelled == labelled && packet.destination == destination);
        });
        own
    }

    /// When nodes that starve called last.
    fn calls(&self) -> Calls {
        Calls::default()
    }

    /// Entries of messages and tables looked at so far on behalf of others: a measure of its work that depends on no clock and no machine.
    fn work(&self) -> u64 {
        0
    }
}

/// The queue that a scheme places at an output interface.
pub enum OutputQueue {
    /// A discipline that stores and orders.
    Plain(Box<dyn Queue>),
    /// One whose packets may wait.
    Waiting(Box<dyn WaitingQueue>),
    /// One that labels packets, too.
    Labelled(Box<dyn LabelledQueue>),
}

impl OutputQueue {
    /// A discipline that stores and orders.
    #[must_use]
    pub fn plain(queue: impl Queue + 'static) -> Self {
        Self::Plain(Box::new(queue))
    }

    /// A discipline whose packets may wait.
    #[must_use]
    pub fn waiting(queue: impl WaitingQueue + 'static) -> Self {
        Self::Waiting(Box::new(queue))
    }

    /// A discipline that labels packets.
    #[must_use]
    pub fn labelled(queue: impl LabelledQueue + 'static) -> Self {
        Self::Labelled(Box::new(queue))
    }

    /// The queue as a discipline, to read. `Queue` is the first part of the tables of the others: all arms are one load.
    #[must_use]
    #[inline(always)]
    pub fn discipline(&self) -> &dyn Queue {
        match self {
            Self::Plain(queue) => &**queue,
            Self::Waiting(queue) => &**queue,
            Self::Labelled(queue) => &**queue,
        }
    }

    /// The queue as a discipline.
    #[inline(always)]
    pub fn discipline_mut(&mut self) -> &mut dyn Queue {
        match self {
            Self::Plain(queue) => &mut **queue,
            Self::Waiting(queue) => &mut **queue,
            Self::Labelled(queue) => &mut **queue,
        }
    }

    /// The part by which packets wait, if there is one.
    #[must_use]
    pub fn waits(&self) -> Option<&dyn WaitingQueue> {
        match self {
            Self::Plain(_) => None,
            Self::Waiting(queue) => Some(&**queue),
            Self::Labelled(queue) => Some(&**queue),
        }
    }

    /// The part that labels packets, if there is one, to read.
    #[must_use]
    #[inline]
    pub fn labels(&self) -> Option<&dyn LabelledQueue> {
        match self {
            Self::Plain(_) | Self::Waiting(_) => None,
            Self::Labelled(queue) => Some(&**queue),
        }
    }

    /// The part that labels packets, if there is one.
    #[inline]
    pub fn labels_mut(&mut self) -> Option<&mut dyn LabelledQueue> {
        match self {
            Self::Plain(_) | Self::Waiting(_) => None,
            Self::Labelled(queue) => Some(&mut **queue),
        }
    }

    /// The queue as a discipline, owned.
    #[must_use]
    pub fn into_discipline(self) -> Box<dyn Queue> {
        match self {
            Self::Plain(queue) => queue,
            Self::Waiting(queue) => queue,
            Self::Labelled(queue) => queue,
        }
    }
}

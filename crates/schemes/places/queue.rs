//! The queue of an output interface: a discipline that stores and orders, and an AQM that decides and stores nothing.

use alloc::vec::Vec;

use airfair_units::Time;

use super::{AqmContext, Ecn, Header, HeaderKind, NodeId, Packet, PacketId, QueueContext, Setting};

/// The reason of a drop. Every drop in the results carries one of these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DropReason(pub &'static str);

impl DropReason {
    /// The queue is full.
    pub const QUEUE_FULL: Self = Self("queue-full");
}

/// The reason of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkReason(pub &'static str);

/// An AQM's answer. A mark on a packet that cannot be marked becomes a drop in one place, the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Accept the packet.
    Pass,
    /// Mark the packet.
    Mark(MarkReason),
    /// Set ECN-Echo in the TCP header of an acknowledgement, as if its receiver echoed a mark; any other packet passes.
    Echo(MarkReason),
    /// Drop the packet.
    Drop(DropReason),
}

impl Verdict {
    /// The verdict for a packet with these ECN bits: a mark on a packet that cannot be marked becomes a drop with the mark's
    /// name. No other function decides this.
    #[must_use]
    pub const fn for_ecn(self, ecn: Ecn) -> Self {
        match (self, ecn) {
            (Self::Mark(reason), Ecn::NotEct) => Self::Drop(DropReason(reason.0)),
            (verdict, _) => verdict,
        }
    }
}

/// MAC priority of a packet: 0 is the lowest; a host with fewer levels maps them (a capability).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(pub u8);

/// The fate of a packet that was offered to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// The packet is stored.
    Stored,
    /// The packet was refused; the host drops it with this reason.
    Refused(DropReason),
    /// The packet is stored, and another one that was stored is dropped.
    Displaced(PacketId, DropReason),
}

/// The packet at the head, with its MAC priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The packet; it stays in the queue until [`Queue::commit`].
    pub packet: Packet,
    /// The packet's MAC priority.
    pub priority: Priority,
}

/// The fill level of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueView {
    /// Packets stored.
    pub packets: u32,
    /// Their bytes as IP packets.
    pub bytes: u64,
    /// The limit of the queue, packets.
    pub limit_packets: u32,
}

/// A header of the queue's kind in a packet that a neighbour has sent, to this node or to another one.
#[derive(Debug, Clone, Copy)]
pub struct Heard<'a> {
    /// The neighbour that has sent the frame.
    pub from: NodeId,
    /// The destination of the packet, any number of hops away.
    pub destination: NodeId,
    /// The header as the neighbour has sent it.
    pub header: &'a Header,
}

/// A queue discipline. Contract, checked for every scheme in the registry by `tests/queue_contract.rs`:
/// - every packet offered is afterwards stored, refused or has displaced another: nothing is lost or doubled;
/// - a discipline that drops stored packets by itself (CoDel at the head) names each in `QueueEffects::dropped`, in `enqueue` or `peek`;
/// - `peek` changes what is stored in no other way, and two calls at one time without an arrival or other news between them name the same
///   packet; what becomes known later (a neighbour's header, a route, the end of a transmission) may change the choice;
/// - `commit` removes exactly the packet that the last `peek` or `pass_over` named, whatever has become known since;
/// - `peek` names a packet while one is stored; only labelled packets may wait: for a route, for the end of a transmission, or for news of
///   a neighbour, which then has a time at which it is out of date ([`Queue::wakes_at`]), since a silent neighbour sends none;
/// - `view` counts what is stored.
///
/// For DiffQ's queue, `tests/diffq/contract.rs` drives labelled packets with the news that its choice depends on.
pub trait Queue: Send {
    /// Offers a packet.
    fn enqueue(&mut self, packet: Packet, context: &mut QueueContext<'_>) -> Enqueued;

    /// The packet at the head, if any.
    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head>;

    /// Names another packet than the one that was named last, for which the link has no room now: of another priority, or one whose
    /// priority the queue does not decide if it has decided that of the last. `None`: there is none that was not passed over. Until then,
    /// or until `commit`, `peek` names it too.
    fn pass_over(&mut self, _context: &mut QueueContext<'_>) -> Option<Head> {
        None
    }

    /// Removes the packet that was named last.
    fn commit(&mut self) -> Option<Packet>;

    /// `peek` and `commit` in one call.
    fn pop(&mut self, context: &mut QueueContext<'_>) -> Option<Packet> {
        self.peek(context)?;
        self.commit()
    }

    /// The limit in packets, if the queue is first in, first out, refuses packets that arrive when it is full for
    /// [`DropReason::QUEUE_FULL`], and has no other effect. A host that knows the departures of its packets ahead may then replace it.
    fn tail_drop(&self) -> Option<u32> {
        None
    }

    /// The fill level of the queue.
    fn view(&self) -> QueueView;

    /// The kind of header that the queue reads and writes in packets that carry one ([`Packet::labelled`]). The same at each call.
    fn header(&self) -> Option<&'static HeaderKind> {
        None
    }

    /// Writes the header of a labelled packet that `commit` has just returned: what the queue tells everyone who hears the frame.
    fn stamp(&mut self, _packet: &Packet, _header: &mut Header, _now: Time) {}

    /// By how many packets the queue of a labelled packet's destination was longer than that of the next hop, as far as known, when the
    /// packet left: after `commit` has returned it. `None`: the queue does not compare them.
    fn differential(&self) -> Option<i64> {
        None
    }

    /// A frame with a header of the queue's kind was received or overheard. Returns true if a packet that had to wait may leave now. Called
    /// only if [`Wants::heard_headers`](super::Wants).
    fn on_heard(&mut self, _heard: &Heard<'_>, _now: Time) -> bool {
        false
    }

    /// The time after `now` from which on `peek` names a packet that has to wait now, although nothing becomes known until then; `None` if
    /// time alone changes nothing. Asked each time that the link has taken what it has room for.
    fn wakes_at(&self, _now: Time) -> Option<Time> {
        None
    }

    /// The link has finished a packet that left the queue, with or without success. Called only if [`Wants::finished`](super::Wants).
    fn on_finished(&mut self, _packet: PacketId) {}

    /// Routes of the node have changed: `next_hop` answers with the next hop to a destination by this interface, if there is one now.
    /// Called only if [`Wants::routes`](super::Wants).
    fn on_routes(&mut self, _next_hop: &mut dyn FnMut(NodeId) -> Option<NodeId>) {}

    /// Removes the first packet that waits for a destination: its route has moved to another interface of the node, and the host forwards
    /// the packet anew. Called only if [`Wants::routes`](super::Wants).
    fn withdraw(&mut self, _destination: NodeId) -> Option<Packet> {
        None
    }

    /// Calls `see` for each destination with the packets that wait for it, ascending. Called only if [`Wants::backlogs`](super::Wants) or
    /// [`Wants::routes`](super::Wants).
    fn backlogs(&self, _see: &mut dyn FnMut(NodeId, u32)) {}

    /// Applies a setting of the interface's agent.
    fn apply(&mut self, _setting: Setting, _now: Time) {}

    /// Packets that wait for a destination, labelled or not: what a source at this node may fill up. The fill level of a queue that does
    /// not distinguish destinations.
    fn backlog_to(&self, _destination: NodeId, _labelled: bool) -> QueueView {
        self.view()
    }

    /// Inner values for time series, by name; the same names at each call.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Entries of messages and tables looked at so far on behalf of others: a measure of its work that depends on no clock and no machine.
    fn work(&self) -> u64 {
        0
    }

    /// Calls `see` for each stored packet, in any order, for `airfair explain` (the owners of the queue when a packet is dropped) and for
    /// samples of links (packets that wait by next hop). It may call it for none.
    fn show(&self, _see: &mut dyn FnMut(&Packet)) {}
}

/// Active queue management: decides on packets and stores none. It works beside any discipline.
pub trait Aqm: Send {
    /// A packet arrives; `queue` is the fill level without it.
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueView, context: &mut AqmContext<'_>) -> Verdict;

    /// A packet is about to leave; `queue` is the fill level with it. After a drop the next packet is judged at once.
    fn on_dequeue(&mut self, _packet: &Packet, _queue: &QueueView, _context: &mut AqmContext<'_>) -> Verdict {
        Verdict::Pass
    }

    /// A packet for this node, to keep or to pass on, was received through this interface. Called only if
    /// [`Wants::received`](super::Wants::received).
    fn on_receive(&mut self, _packet: &Packet, _context: &mut AqmContext<'_>) -> Verdict {
        Verdict::Pass
    }

    /// Applies a setting of the interface's agent.
    fn apply(&mut self, _setting: Setting) {}
}

//! The queue of an output interface: a discipline that stores and orders, and an AQM that decides and stores nothing.

use alloc::vec::Vec;

use airfair_units::Time;

use super::{AqmContext, Ecn, FlowId, Packet, PacketId, QueueContext, Setting};

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

/// A queue discipline. Contract, checked for every scheme in the registry by `tests/queue_contract.rs`:
/// - every packet offered is afterwards stored, refused or has displaced another: nothing is lost or doubled;
/// - a discipline that drops stored packets by itself (CoDel at the head) names each in `QueueEffects::dropped`, in `enqueue` or `peek`;
/// - `peek` changes what is stored in no other way, and two calls at one time without an arrival between them name the same packet;
/// - `commit` removes exactly the packet that the last `peek` named;
/// - `peek` names a packet while one is stored, but for a [`WaitingQueue`];
/// - `view` counts what is stored.
///
/// A queue whose packets may wait although the link is free is a [`WaitingQueue`]; one that writes headers, hears them, follows routes or
/// goes by destination is a [`LabelledQueue`](super::LabelledQueue).
pub trait Queue: Send {
    /// Offers a packet.
    fn enqueue(&mut self, packet: Packet, context: &mut QueueContext<'_>) -> Enqueued;

    /// The packet at the head, if any.
    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head>;

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

    /// Applies a setting of the interface's agent.
    fn apply(&mut self, _setting: Setting, _now: Time) {}

    /// Inner values for time series, by name; the same names at each call.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Calls `see` for each stored packet, in any order, for `airfair explain` (the owners of the queue when a packet is dropped) and for
    /// samples of links (packets that wait by next hop). It may call it for none.
    fn show(&self, _see: &mut dyn FnMut(&Packet)) {}
}

/// A queue whose packets may have to wait although the link is free, as where they have a rate: `peek` then names none.
pub trait WaitingQueue: Queue {
    /// The time after `now` from which on `peek` names a packet that has to wait now, although nothing becomes known until then; `None` if
    /// time alone changes nothing. Called each time that the link has taken what it has room for.
    fn wakes_at(&self, now: Time) -> Option<Time>;
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
    /// [`Capability::Received`](super::Capability::Received).
    fn on_receive(&mut self, _packet: &Packet, _context: &mut AqmContext<'_>) -> Verdict {
        Verdict::Pass
    }

    /// Applies a setting of the interface's agent.
    fn apply(&mut self, _setting: Setting) {}

    /// Adds the packets of a flow since the last setting, of a host that judges packets elsewhere, in a kernel for example: it calls
    /// neither [`Aqm::on_enqueue`] nor [`Aqm::on_receive`], but chooses packets by the probabilities that are set and by
    /// [`Aqm::flow_factor`].
    fn count_flow(&mut self, _flow: FlowId, _used: &FlowBytes) {}

    /// The factor of the probabilities for a flow until the next setting; of [`FlowId::NONE`] that of flows of which nothing is known yet.
    /// 1 where flows do not differ.
    fn flow_factor(&self, _flow: FlowId) -> f64 {
        1.0
    }
}

/// Bytes of a flow's packets at an interface, outgoing and incoming.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowBytes {
    /// Of data.
    pub data: [u32; 2],
    /// Of acknowledgements of the flow's data.
    pub answers: [u32; 2],
}

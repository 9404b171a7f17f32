//! The queue of an output interface: a discipline that stores and orders, and an AQM that decides and stores nothing.

use super::{AqmContext, Ecn, Packet, PacketId, QueueContext, Setting};

/// Why a packet was dropped. Every drop in the results carries one of these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DropReason(pub &'static str);

impl DropReason {
    /// The queue's limit was reached.
    pub const QUEUE_FULL: Self = Self("queue-full");
}

/// Why a packet was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkReason(pub &'static str);

/// An AQM's answer. A mark on a packet that cannot be marked becomes a drop in one place, the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Let it go on.
    Pass,
    /// Mark it.
    Mark(MarkReason),
    /// Set ECN-Echo in the TCP header of an acknowledgement, as if its receiver echoed a mark; any other packet passes.
    Echo(MarkReason),
    /// Drop it.
    Drop(DropReason),
}

impl Verdict {
    /// The verdict for a packet with these ECN bits: a mark on a packet that cannot be marked becomes a drop with the mark's
    /// name. The one place where that is decided.
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

/// What happened to a packet that was offered to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// It is stored.
    Stored,
    /// It was refused; the host drops it with this reason.
    Refused(DropReason),
    /// It is stored, and another that was stored had to go.
    Displaced(PacketId, DropReason),
}

/// The packet that goes next, and how urgently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The packet; it stays in the queue until [`Queue::commit`].
    pub packet: Packet,
    /// Its MAC priority.
    pub priority: Priority,
}

/// How full a queue is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueView {
    /// Packets stored.
    pub packets: u32,
    /// Their bytes as IP packets.
    pub bytes: u64,
    /// Most packets it takes.
    pub limit_packets: u32,
}

/// A queue discipline. Contract, checked for every scheme in the registry by `tests/queue_contract.rs`:
/// - every packet offered is afterwards stored, refused or has displaced another: nothing is lost or doubled;
/// - a discipline that drops stored packets by itself (CoDel at the head) names each in `QueueEffects::dropped`, in `enqueue` or `peek`;
/// - `peek` changes what is stored in no other way, and two calls at one time without an arrival between them name the same packet;
/// - `commit` removes exactly the packet that the last `peek` named;
/// - `view` counts what is stored.
pub trait Queue: Send {
    /// Offers a packet.
    fn enqueue(&mut self, packet: Packet, context: &mut QueueContext<'_>) -> Enqueued;

    /// The packet that goes next, or none.
    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head>;

    /// Takes the packet out that the last `peek` named.
    fn commit(&mut self) -> Option<Packet>;

    /// `peek` and `commit` in one, for a host that takes what it sees.
    fn pop(&mut self, context: &mut QueueContext<'_>) -> Option<Packet> {
        self.peek(context)?;
        self.commit()
    }

    /// Its limit in packets, if it is first in, first out, refuses what arrives when it is full for [`DropReason::QUEUE_FULL`],
    /// and does nothing else. A host that knows when its packets will leave may then do without it.
    fn tail_drop(&self) -> Option<u32> {
        None
    }

    /// How full it is.
    fn view(&self) -> QueueView;

    /// Shows each packet that is stored, in any order, to who explains a run: whose they are when one is dropped. It may show none.
    fn show(&self, _see: &mut dyn FnMut(&Packet)) {}
}

/// Active queue management: decides, stores nothing. It stands beside any discipline.
pub trait Aqm: Send {
    /// A packet arrives; the queue holds what `queue` says without it.
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueView, context: &mut AqmContext<'_>) -> Verdict;

    /// A packet is about to leave; the queue holds what `queue` says with it. After a drop the next packet is asked about at once.
    fn on_dequeue(&mut self, _packet: &Packet, _queue: &QueueView, _context: &mut AqmContext<'_>) -> Verdict {
        Verdict::Pass
    }

    /// A packet for this node, to keep or to pass on, was received through this interface. Asked only if
    /// [`Wants::received`](super::Wants::received).
    fn on_receive(&mut self, _packet: &Packet, _context: &mut AqmContext<'_>) -> Verdict {
        Verdict::Pass
    }

    /// Takes over what the interface's agent has settled.
    fn apply(&mut self, _setting: Setting) {}
}

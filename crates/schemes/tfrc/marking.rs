//! The marking of `tfrc-ecn`: every packet that arrives while the queue is longer than a share of its limit [DiffQ §6.1].

use crate::places::{Aqm, AqmContext, Ecn, MarkReason, Packet, QueueView, Verdict};

/// Marks packets that can be marked; the others pass.
#[derive(Debug, Clone, Copy)]
pub struct Marking {
    /// Most packets in the queue at which an arriving packet is not marked.
    threshold: u32,
}

impl Marking {
    /// The reason of a mark.
    pub const REASON: MarkReason = MarkReason("tfrc-ecn");

    /// The marking of an interface whose queue has room for `limit` packets.
    #[must_use]
    pub fn new(share: f64, limit: u32) -> Self {
        Self { threshold: (share * f64::from(limit)) as u32 }
    }
}

impl Aqm for Marking {
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueView, _context: &mut AqmContext<'_>) -> Verdict {
        let marks = queue.packets > self.threshold && packet.ecn == Ecn::Ect;
        if marks { Verdict::Mark(Self::REASON) } else { Verdict::Pass }
    }
}

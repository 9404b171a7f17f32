//! What a queue knows of calls: those of nodes near here that starve, and those for packets of its own node ([`starving`](super::starving)).

use airfair_units::Time;

use crate::places::{Calls, NodeId, Packet, PacketClass, Starving};

/// Most nodes to which flows of a node's own are known to go; of more, those that have come last.
const MOST_TOWARDS: usize = 16;

/// The calls at a queue.
#[derive(Debug, Clone, Default)]
pub struct HeardCalls {
    calls: Calls,
    /// Destinations and next hops of data of the node's own flows, a ring.
    towards: [Option<NodeId>; MOST_TOWARDS],
    next: usize,
}

impl HeardCalls {
    /// A packet has come to the queue.
    pub fn queued(&mut self, packet: &Packet) {
        if !packet.own || packet.class != PacketClass::Data {
            return;
        }
        for node in [packet.next_hop, packet.destination] {
            if !self.towards.contains(&Some(node)) {
                self.towards[self.next] = Some(node);
                self.next = (self.next + 1) % MOST_TOWARDS;
            }
        }
    }

    /// A node starves. One to which the node's own flows go starves for want of their packets: they are not limited, but hurry.
    pub fn heard(&mut self, starving: Starving, now: Time) {
        match starving {
            Starving::Near(node) if !self.towards.contains(&Some(node)) => self.calls.near = Some(now),
            Starving::Near(_) | Starving::Here => self.calls.ours = Some(now),
        }
    }

    /// When there were calls last.
    #[must_use]
    pub const fn last(&self) -> Calls {
        self.calls
    }
}

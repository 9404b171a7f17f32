//! Flows that begin at other nodes, as far as a node has their packets or hears them (ours): a source that is alone on the air leaves
//! nobody waiting, and needs no limit.
//!
//! Acknowledgements count as data do: who hears them may be hidden from the sender of the data. What a node hears of its own flows does
//! not count: their data that the next hop passes on, and acknowledgements that come back. Nor do acknowledgements that the node sends,
//! since it has received the data.

use airfair_units::Time;

use crate::places::{FlowId, NodeId, Packet, PacketClass};
use crate::words;

words! {
    /// Whose packets end a source's freedom.
    pub enum CompanyOf {
        /// Those of all other nodes.
        All = "all",
        /// The word of nodes that starve.
        Starving = "starving",
    }
}

/// Most flows of a node's own that are told from others; of more, those that have begun last.
const MOST_OWN: usize = 16;

/// When packets of other nodes' flows were noticed last.
#[derive(Debug, Clone, Default)]
pub struct Others {
    /// The flows that begin at the node, a ring.
    own: [Option<FlowId>; MOST_OWN],
    next: usize,
    /// Destinations and next hops of the last packets of these flows.
    towards: [Option<NodeId>; 8],
    next_towards: usize,
    last: Option<Time>,
}

impl Others {
    /// A packet has come to the queue, of this node or to be passed on.
    pub fn queued_own(&mut self, packet: &Packet) {
        if packet.own && packet.class == PacketClass::Data {
            for node in [packet.next_hop, packet.destination] {
                if !self.towards.contains(&Some(node)) {
                    self.towards[self.next_towards] = Some(node);
                    self.next_towards = (self.next_towards + 1) % 8;
                }
            }
        }
    }

    pub fn queued(&mut self, packet: &Packet, now: Time) {
        if !packet.own {
            self.last = Some(now);
        } else if packet.class == PacketClass::Data && !self.own.contains(&Some(packet.flow)) {
            self.own[self.next] = Some(packet.flow);
            self.next = (self.next + 1) % MOST_OWN;
        }
    }

    /// A packet of this flow was heard.
    pub fn heard(&mut self, flow: FlowId, now: Time) {
        if !self.own.contains(&Some(flow)) {
            self.last = Some(now);
        }
    }

    /// A node near here starves.
    pub fn starving(&mut self, node: NodeId, now: Time) {
        if !self.towards.contains(&Some(node)) {
            self.last = Some(now);
        }
    }

    /// The last such moment.
    #[must_use]
    pub const fn last(&self) -> Option<Time> {
        self.last
    }
}

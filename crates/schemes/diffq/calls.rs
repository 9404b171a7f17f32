//! Calls that a queue has heard of: those of nodes near here that starve, and those for packets of its own node
//! ([`starving`](super::starving)).

use airfair_units::{Span, Time};

use crate::places::{Calls, NodeId, Packet, PacketClass, Starving};

/// Most nodes to which flows of a node's own are known to go; another one takes the place of that to which packets went longest ago.
const MOST_TOWARDS: usize = 16;

/// The time for which a node is known as one to which packets go.
const TOWARDS: Span = Span::from_secs(10);

/// The calls at a queue.
#[derive(Debug, Clone, Default)]
pub struct HeardCalls {
    calls: Calls,
    /// Destinations of data of the node's own flows, and when packets went there last.
    towards: [Option<(NodeId, Time)>; MOST_TOWARDS],
}

impl HeardCalls {
    /// A packet has come to the queue.
    pub fn queued(&mut self, packet: &Packet, now: Time) {
        if packet.own && packet.class == PacketClass::Data {
            self.goes_to(packet.destination, now);
        }
    }

    fn goes_to(&mut self, node: NodeId, now: Time) {
        let is_it = |place: &&mut Option<(NodeId, Time)>| place.is_some_and(|known| known.0 == node);
        if let Some(place) = self.towards.iter_mut().find(is_it) {
            *place = Some((node, now));
        } else if let Some(oldest) = self.towards.iter_mut().min_by_key(|place| place.map(|known| known.1)) {
            *oldest = Some((node, now));
        }
    }

    /// A node starves. One to which the node's own flows go starves for want of their packets: they are not limited, but hurry.
    pub fn heard(&mut self, starving: Starving, now: Time) {
        let goes_to = |node: NodeId| {
            self.towards.iter().flatten().any(|known| known.0 == node && now.since(known.1) < TOWARDS)
        };
        match starving {
            Starving::Near(node) if !goes_to(node) => self.calls.near = Some(now),
            Starving::Near(_) => self.calls.for_us = Some(now),
            // Limited, it could not use what the others leave.
            Starving::Trying => self.calls = Calls { near: None, for_us: Some(now) },
            Starving::Helped => self.calls = Calls { near: Some(now), for_us: Some(now) },
        }
    }

    /// When there was a call last, whoever it was for.
    #[must_use]
    pub fn newest(&self) -> Option<Time> {
        self.calls.near.max(self.calls.for_us)
    }

    /// When there were calls last.
    #[must_use]
    pub const fn last(&self) -> Calls {
        self.calls
    }
}

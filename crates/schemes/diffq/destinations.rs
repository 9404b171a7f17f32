//! A node's destination queues (§4): first in, first out for each destination, and one more for packets that are not DiffQ's (§5.2).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::places::{NodeId, Packet};

/// Packets for one destination.
#[derive(Debug, Clone)]
pub struct DestinationQueue {
    /// The destination.
    pub destination: NodeId,
    /// The next hop to it; `None`: there is no route by this interface now, and the packets wait.
    pub next_hop: Option<NodeId>,
    /// With the number of the event at which each has arrived.
    packets: VecDeque<(u64, Packet)>,
    bytes: u64,
    /// Of the packets those of flows that begin at the node.
    own: u32,
    /// When the queue was served last, or began: the number of that event at the interface.
    pub served: u64,
}

impl DestinationQueue {
    /// Number of packets.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.packets.len() as u32
    }

    /// True if the queue holds no packet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The first packet, with the next hop of the present route.
    #[must_use]
    pub fn head(&self) -> Option<Packet> {
        let (_, packet) = *self.packets.front()?;
        Some(Packet { next_hop: self.next_hop?, ..packet })
    }

    /// The number of the event at which the first packet has arrived.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.packets.front().map_or(0, |packet| packet.0)
    }
}

/// The destination queues of an interface. A queue exists while it holds packets (§4: soft state).
#[derive(Debug, Clone, Default)]
pub struct Destinations {
    /// Sorted by destination.
    queues: Vec<DestinationQueue>,
    /// Lists of queues that have become empty, kept so that a packet costs no allocation.
    spare: Vec<VecDeque<(u64, Packet)>>,
    packets: u32,
    bytes: u64,
    /// Of the packets those without a route.
    without_route: u32,
}

impl Destinations {
    fn find(&self, destination: NodeId) -> Result<usize, usize> {
        self.queues.binary_search_by_key(&destination, |queue| queue.destination)
    }

    /// All queues that hold packets.
    pub fn iter(&self) -> impl Iterator<Item = &DestinationQueue> {
        self.queues.iter()
    }

    /// Packets that wait for a destination.
    #[must_use]
    pub fn len_of(&self, destination: NodeId) -> u32 {
        self.find(destination).map_or(0, |at| self.queues[at].len())
    }

    /// Packets that wait for a destination, and their bytes.
    #[must_use]
    pub fn view_of(&self, destination: NodeId) -> (u32, u64) {
        self.find(destination).map_or((0, 0), |at| (self.queues[at].len(), self.queues[at].bytes))
    }

    /// Of the packets that wait for a destination those of flows that begin at the node.
    #[must_use]
    pub fn own_of(&self, destination: NodeId) -> u32 {
        self.find(destination).map_or(0, |at| self.queues[at].own)
    }

    /// Number of queues, packets and bytes.
    #[must_use]
    pub fn totals(&self) -> (u32, u32, u64) {
        (self.queues.len() as u32, self.packets, self.bytes)
    }

    /// Adds a packet to the queue of its destination, whose next hop becomes the packet's: that is the newest word of the routing.
    /// `number`: of this event at the interface.
    pub fn push(&mut self, packet: Packet, number: u64) {
        let at = self.find(packet.destination).unwrap_or_else(|at| {
            let packets = self.spare.pop().unwrap_or_default();
            let destination = packet.destination;
            self.queues.insert(
                at,
                DestinationQueue { destination, next_hop: None, packets, bytes: 0, own: 0, served: number },
            );
            at
        });
        let queue = &mut self.queues[at];
        if queue.next_hop.replace(packet.next_hop).is_none() {
            self.without_route -= queue.len();
        }
        queue.packets.push_back((number, packet));
        queue.bytes += u64::from(packet.bytes);
        queue.own += u32::from(packet.own);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
    }

    /// Removes the first packet for a destination, with or without a route. `number`: of this event at the interface.
    pub fn pop(&mut self, destination: NodeId, number: u64) -> Option<Packet> {
        let at = self.find(destination).ok()?;
        let queue = &mut self.queues[at];
        let (_, packet) = queue.packets.pop_front()?;
        queue.bytes -= u64::from(packet.bytes);
        queue.own -= u32::from(packet.own);
        queue.served = number;
        self.without_route -= u32::from(queue.next_hop.is_none());
        if queue.is_empty() {
            self.spare.push(self.queues.remove(at).packets);
        }
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Takes over the next hops of changed routes.
    pub fn set_routes(&mut self, next_hop: &mut dyn FnMut(NodeId) -> Option<NodeId>) {
        self.without_route = 0;
        for queue in &mut self.queues {
            queue.next_hop = next_hop(queue.destination);
            self.without_route += if queue.next_hop.is_none() { queue.len() } else { 0 };
        }
    }

    /// Number of packets without a route.
    #[must_use]
    pub const fn without_route(&self) -> u32 {
        self.without_route
    }

    /// Calls `see` for each packet.
    pub fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.queues.iter().flat_map(|queue| &queue.packets).for_each(|(_, packet)| see(packet));
    }
}

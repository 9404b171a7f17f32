//! ARP (RFC 826): requests are broadcast, replies are unicast, packets wait meanwhile. Its packets cost air.

use std::collections::VecDeque;

use airfair_wire::arp::Arp;

use super::{Behind, Net, class, drop_reason};
use crate::air::{BROADCAST, Msdu};
use crate::event::{Order, What};
use crate::ids::{CopyRef, NodeIx, PortIx};
use crate::packet::{Copy, Packet, Payload};
use crate::route::NextHop;

/// Packets that wait for one address.
#[derive(Debug)]
struct Waiting {
    node: u32,
    packets: VecDeque<CopyRef>,
    requests: u32,
}

/// Whose hardware addresses a port knows.
#[derive(Debug)]
pub(crate) struct Neighbours {
    prefilled: bool,
    known: Vec<u32>,
    waiting: Vec<Waiting>,
}

impl Neighbours {
    pub(crate) fn new(prefilled: bool) -> Self {
        Self { prefilled, known: Vec::new(), waiting: Vec::new() }
    }

    #[inline]
    pub(crate) fn knows(&self, node: u32) -> bool {
        self.prefilled || self.known.binary_search(&node).is_ok()
    }

    /// Packets that wait for an address.
    pub(crate) fn waiting_packets(&self) -> impl Iterator<Item = CopyRef> + '_ {
        self.waiting.iter().flat_map(|w| w.packets.iter().copied())
    }

    fn learn(&mut self, node: u32) -> Option<Waiting> {
        if let Err(at) = self.known.binary_search(&node) {
            self.known.insert(at, node);
        }
        let at = self.waiting.iter().position(|w| w.node == node)?;
        Some(self.waiting.swap_remove(at))
    }
}

/// How much later a node asks again than the others, ns, up to 10 ms by its rank (28 random bits): two nodes that have asked at one
/// moment would do so each time, and hear neither request.
fn spread(rank: u32) -> u64 {
    (u64::from(rank) * 10_000_000) >> 28
}

impl Net {
    /// A packet's next hop is not known: ask, and let it wait.
    pub(super) fn arp_wait(&mut self, hop: NextHop, copy: CopyRef, now: u64) {
        let limit = self.arp.waiting_packets.max(1) as usize;
        let port = &mut self.ports[hop.port as usize];
        let node = port.node;
        let mut dropped = None;
        let ask = match port.neighbours.waiting.iter_mut().find(|w| w.node == hop.node) {
            Some(waiting) => {
                waiting.packets.push_back(copy);
                if waiting.packets.len() > limit {
                    dropped = waiting.packets.pop_front();
                }
                false
            }
            None => {
                let packets = VecDeque::from([copy]);
                port.neighbours.waiting.push(Waiting { node: hop.node, packets, requests: 0 });
                true
            }
        };
        if let Some(oldest) = dropped {
            self.drop_packet(node, oldest, drop_reason::ARP_QUEUE, now);
        }
        if ask {
            self.arp_ask(hop.port, hop.node, now);
        }
    }

    fn arp_ask(&mut self, port: u32, target: u32, now: u64) {
        let p = &mut self.ports[port as usize];
        let Some(waiting) = p.neighbours.waiting.iter_mut().find(|w| w.node == target) else { return };
        waiting.requests += 1;
        let node = p.node;
        self.arp_send(port, true, target, now);
        let rank = self.node_ranks[node as usize];
        let retry = now + self.arp.retry.as_nanos() + spread(rank);
        self.later(
            retry,
            Order::new(class::TIMER, rank),
            What::ArpRetry { port: PortIx(port), target: NodeIx(target) },
        );
    }

    fn arp_send(&mut self, port: u32, request: bool, to: u32, now: u64) {
        let p = &self.ports[port as usize];
        let bytes = Arp::wire_len() as u32;
        let packet = Packet { bytes, ..Packet::control(p.node, to, Payload::Arp { request }, 0, now) };
        let copy = self.packets.add(packet, Copy::PLAIN);
        self.send_ahead(port, copy);
    }

    /// A request was not answered: ask again, or give the waiting packets up.
    #[inline(never)]
    pub(crate) fn arp_retry(&mut self, port: u32, target: u32, now: u64) {
        let attempts = self.arp.attempts.max(1);
        let p = &mut self.ports[port as usize];
        let node = p.node;
        let Some(at) = p.neighbours.waiting.iter().position(|w| w.node == target) else { return };
        if p.neighbours.waiting[at].requests < attempts {
            self.arp_ask(port, target, now);
            return;
        }
        for copy in p.neighbours.waiting.swap_remove(at).packets {
            self.drop_packet(node, copy, drop_reason::ARP_FAILED, now);
        }
        // Sources that always have more to send try again.
        self.room(port, now);
    }

    /// The MAC takes a packet of ARP, of an agent or of routing.
    pub(super) fn hand_control(&mut self, station: u32, copy: CopyRef) -> Option<Msdu> {
        let packet = self.packets.get(copy)?;
        let port = &self.ports[self.port_of_station[station as usize] as usize];
        let (overhear, routing) = (packet.is_message(), packet.is_routing());
        let asks = packet.payload == Payload::Arp { request: true };
        // A message to everyone has a destination that is no neighbour's.
        let to = if asks { BROADCAST } else { port.peer(self.node_id(packet.destination)) };
        let handed = Msdu { copy, packet: self.packets.packet_of(copy), bytes: packet.bytes, to, overhear };
        if routing {
            self.routes.leaves(PortIx(self.port_of_station[station as usize]), packet.slot() as u32);
        }
        Some(handed)
    }

    /// One of ARP's packets has arrived.
    pub(super) fn arp_received(&mut self, station: u32, packet: &Packet, _from: u32, now: u64) {
        let port = self.port_of_station[station as usize];
        let p = &mut self.ports[port as usize];
        debug_assert_eq!(p.behind, Behind::Station(station));
        let for_me = packet.destination == p.node;
        // RFC 826: the sender is learnt by the one that was asked, and by those that wait for it anyway.
        let wanted = p.neighbours.waiting.iter().any(|w| w.node == packet.source);
        if !for_me && !wanted {
            return;
        }
        let released = p.neighbours.learn(packet.source);
        if let Some(waiting) = released {
            for copy in waiting.packets {
                if self.packets.get(copy).is_some_and(Packet::is_routing) {
                    self.send_ahead(port, copy);
                } else {
                    self.enqueue(NextHop { port, node: packet.source }, copy, now);
                }
            }
        }
        if for_me && packet.payload == (Payload::Arp { request: true }) {
            self.arp_send(port, false, packet.source, now);
        }
    }
}

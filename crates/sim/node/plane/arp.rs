//! ARP (RFC 826): requests are broadcast, replies are unicast, packets wait in the meantime. Its packets take air time.

use std::collections::VecDeque;

use airfair_units::{Span, Time};
use airfair_wire::arp::Arp as Message;

use crate::event::{EventKind, Order, Schedule, class};
use crate::ids::{CopyRef, NodeIx, PortIx, Table};
use crate::packet::{Packet, Payload};
use crate::route::NextHop;
use crate::spec::ArpSpec;

/// Packets that wait for one address.
#[derive(Debug)]
struct Waiting {
    node: NodeIx,
    packets: VecDeque<CopyRef>,
    requests: u32,
}

/// Addresses that a port knows.
#[derive(Debug, Default)]
struct Neighbours {
    /// Nodes whose addresses are known, sorted.
    known: Vec<NodeIx>,
    waiting: Vec<Waiting>,
}

/// Result of letting a packet wait for the address of its next hop.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AddressWait {
    /// True if no request is pending yet: the caller sends one with [`Arp::request`].
    pub request_due: bool,
    /// The oldest waiting packet, if it is dropped because too many wait.
    pub dropped: Option<CopyRef>,
}

/// State of an address at the time-out of its request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The address is known, or no packet waits for it.
    Done,
    /// The request must be repeated: [`Arp::request`].
    Repeat,
    /// The waiting packets are given up.
    GivenUp(VecDeque<CopyRef>),
}

/// Address tables of all ports.
#[derive(Debug)]
pub(crate) struct Arp {
    spec: ArpSpec,
    /// Empty if all addresses are known from the start.
    ports: Table<PortIx, Neighbours>,
}

impl Arp {
    /// Creates tables for `ports` ports; none if all addresses are known from the start.
    pub fn new(spec: ArpSpec, ports: usize) -> Self {
        let tables = if spec.prefilled { 0 } else { ports };
        Self { spec, ports: (0..tables).map(|_| Neighbours::default()).collect() }
    }

    /// True if a port has the address of a node.
    #[inline(always)]
    pub fn resolves(&self, hop: NextHop) -> bool {
        self.spec.prefilled || self.ports[hop.port].known.binary_search(&hop.node).is_ok()
    }

    /// All packets that wait for addresses.
    pub fn waiting(&self) -> impl Iterator<Item = CopyRef> + '_ {
        self.ports.iter().flat_map(|port| &port.waiting).flat_map(|waiting| waiting.packets.iter().copied())
    }

    /// Lets a packet wait for the address of its next hop.
    pub fn wait(&mut self, hop: NextHop, copy: CopyRef) -> AddressWait {
        let limit = self.spec.waiting_packets.max(1) as usize;
        let waiting = &mut self.ports[hop.port].waiting;
        let Some(waiting) = waiting.iter_mut().find(|waiting| waiting.node == hop.node) else {
            waiting.push(Waiting { node: hop.node, packets: VecDeque::from([copy]), requests: 0 });
            return AddressWait { request_due: true, dropped: None };
        };
        waiting.packets.push_back(copy);
        let dropped = if waiting.packets.len() > limit { waiting.packets.pop_front() } else { None };
        AddressWait { request_due: false, dropped }
    }

    /// Makes the request for an address that packets wait for, and schedules its time-out. `requester`, `rank`: the requesting node.
    pub fn request(
        &mut self,
        hop: NextHop,
        (requester, rank): (NodeIx, u32),
        now: Time,
        schedule: &mut Schedule,
    ) -> Option<Packet> {
        let waiting = self.ports[hop.port].waiting.iter_mut().find(|waiting| waiting.node == hop.node)?;
        waiting.requests += 1;
        let retry = now + self.spec.retry + request_offset(rank);
        let (port, target) = (hop.port, hop.node);
        schedule.add(retry, Order::new(class::TIMER, rank), EventKind::ArpRetry { port, target });
        Some(message(requester, target, true, now))
    }

    /// Handles the time-out of a request.
    pub fn on_retry(&mut self, port: PortIx, target: NodeIx) -> Unanswered {
        let waiting = &mut self.ports[port].waiting;
        let Some(at) = waiting.iter().position(|waiting| waiting.node == target) else {
            return Unanswered::Done;
        };
        if waiting[at].requests < self.spec.attempts.max(1) {
            return Unanswered::Repeat;
        }
        Unanswered::GivenUp(waiting.swap_remove(at).packets)
    }

    /// Handles an ARP packet at a port of a node. Returns the packets that waited for its sender, and the reply to a request.
    pub fn on_packet(
        &mut self,
        (node, port): (NodeIx, PortIx),
        packet: &Packet,
        now: Time,
    ) -> (VecDeque<CopyRef>, Option<Packet>) {
        let Neighbours { known, waiting } = &mut self.ports[port];
        let for_me = packet.destination == node;
        // The requested node learns the sender's address, and so do nodes whose packets wait for it.
        let awaited = waiting.iter().position(|waiting| waiting.node == packet.source);
        if !for_me && awaited.is_none() {
            return (VecDeque::new(), None);
        }
        if let Err(at) = known.binary_search(&packet.source) {
            known.insert(at, packet.source);
        }
        let released = awaited.map(|at| waiting.swap_remove(at).packets).unwrap_or_default();
        let is_request = for_me && packet.payload == Payload::Arp { request: true };
        (released, is_request.then(|| message(node, packet.source, false, now)))
    }
}

fn message(from: NodeIx, to: NodeIx, request: bool, now: Time) -> Packet {
    let bytes = Message::wire_len() as u32;
    Packet { bytes, ..Packet::control(from, to, Payload::Arp { request }, 0, now) }
}

/// Delay of a node's requests by its rank (28 random bits), up to 10 ms: two nodes that request at the same moment would otherwise collide
/// at every repetition.
fn request_offset(rank: u32) -> Span {
    Span((u64::from(rank) * 10_000_000) >> 28)
}

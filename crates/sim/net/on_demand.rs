//! Routes that are found while the world runs: each node has a routing protocol's state machine, whose messages are packets on the air.
//!
//! Worlds with static routes do not know of this module: what leads here is where a static route is missing.

use std::sync::Arc;

use airfair_routing::{Context, DropReason, Effect, Hop, Protocol, Received, Routing, Undelivered};
use airfair_schemes::places::{NodeId, PacketClass};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};
use airfair_wire::Ipv4Addr;

use super::agents::EVERYONE;
use super::routing::{NextHop, natural_ranks};
use super::{Behind, Net, class, drop_reason, node_id};
use crate::event::{Order, What};
use crate::ids::NodeIx;
use crate::measure::summary::RoutingCounts;
use crate::packet::{NO_FLOW, Packet, Payload};

/// The nodes' routing, and its messages that are under way.
pub(super) struct OnDemand {
    protocol: Arc<dyn Protocol>,
    /// By node.
    hosts: Vec<Host>,
    /// Number of each node, from 1 on: the end of its address. As in captures, the nth name has 10.0.0.n.
    number_of: Vec<u32>,
    /// Node of each number, from 0 on.
    node_of: Vec<u32>,
    /// By [`Payload::Routing`].
    messages: Vec<UnderWay>,
    free: Vec<u32>,
    /// The station that has received a data packet last, and the one that it came from.
    came: (u32, u32),
    /// Flows between whose ends there is no way at all.
    pub cut_off: Vec<usize>,
    /// Messages sent, by kind, by station.
    sent: Vec<Vec<u64>>,
    /// When somebody was asked last.
    now: Time,
}

struct Host {
    routing: Box<dyn Routing>,
    random: Stream,
    /// A timer event comes then.
    armed: u64,
    /// Neighbours to which nothing is sent that queued up to then.
    broken: Vec<(NodeId, u64)>,
}

/// A message as captures show it: over UDP, from a port to the same port.
#[derive(Debug, Clone)]
pub(crate) struct Datagram {
    pub port: u16,
    pub bytes: Arc<[u8]>,
    pub ttl: u8,
}

/// A message that lives.
#[derive(Clone, Default)]
struct UnderWay {
    bytes: Arc<[u8]>,
    ttl: u8,
    kind: usize,
}

impl OnDemand {
    pub(super) fn new(protocol: &Arc<dyn Protocol>, names: &[&str], stations: usize, seed: u64) -> Self {
        let number_of: Vec<u32> = natural_ranks(names).into_iter().map(|rank| rank + 1).collect();
        let mut node_of = vec![0; names.len()];
        for (node, &number) in number_of.iter().enumerate() {
            node_of[number as usize - 1] = node as u32;
        }
        let host = |(name, &number): (&&str, &u32)| Host {
            routing: protocol.at(address(number)),
            random: Stream::new(seed, name, Purpose::Routing),
            armed: u64::MAX,
            broken: Vec::new(),
        };
        Self {
            protocol: protocol.clone(),
            hosts: names.iter().zip(&number_of).map(host).collect(),
            number_of,
            node_of,
            messages: Vec::new(),
            free: Vec::new(),
            came: (0, 0),
            cut_off: Vec::new(),
            sent: vec![vec![0; protocol.kinds().len()]; stations],
            now: Time::ZERO,
        }
    }

    fn address(&self, node: u32) -> Ipv4Addr {
        address(self.number_of[node as usize])
    }

    /// The node of an address; addresses come from messages, and those from nodes.
    fn node(&self, address: Ipv4Addr) -> Option<u32> {
        let [_, a, b, c] = address.octets();
        let number = u32::from_be_bytes([0, a, b, c]);
        self.node_of.get(number.checked_sub(1)? as usize).copied()
    }

    /// A message that lives.
    pub(super) fn describe(&self, packet: &Packet) -> Option<Datagram> {
        let UnderWay { bytes, ttl, .. } = self.messages.get(packet.slot())?.clone();
        Some(Datagram { port: self.protocol.udp_port(), bytes, ttl })
    }

    fn add(&mut self, message: UnderWay) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.messages[at as usize] = message;
                at
            }
            None => {
                self.messages.push(message);
                self.messages.len() as u32 - 1
            }
        }
    }

    /// A message has ended.
    pub(super) fn ended(&mut self, packet: &Packet) {
        self.messages[packet.slot()] = UnderWay::default();
        self.free.push(packet.slot() as u32);
    }

    /// The MAC of a station takes a message.
    pub(super) fn handed(&mut self, station: u32, packet: &Packet) {
        let kind = self.messages[packet.slot()].kind;
        if let Some(count) = self.sent[station as usize].get_mut(kind) {
            *count += 1;
        }
    }

    /// Data packets that wait for routes.
    pub(super) fn waiting(&self) -> u64 {
        self.hosts.iter().map(|host| host.routing.waiting() as u64).sum()
    }
}

fn address(number: u32) -> Ipv4Addr {
    let [_, a, b, c] = number.to_be_bytes();
    Ipv4Addr::new(10, a, b, c)
}

impl Net {
    /// The next hop that a node knows by now, for those who only look.
    #[cold]
    pub(super) fn found_hop(&self, node: u32, destination: u32) -> Option<NextHop> {
        let on_demand = self.on_demand.as_ref()?;
        let hop =
            on_demand.hosts[node as usize].routing.next_hop(on_demand.address(destination), on_demand.now)?;
        self.next_hop_of(node, hop)
    }

    fn next_hop_of(&self, node: u32, hop: Hop) -> Option<NextHop> {
        let to = self.on_demand.as_ref()?.node(hop.neighbour)?;
        Some(NextHop { port: self.ports_of[node as usize].0 + hop.interface, node: to })
    }

    /// The interface by which a station is reached, and its node's address.
    fn hop_to(&self, on_demand: &OnDemand, station: u32, neighbour: u32) -> Hop {
        let port = self.port_of_station[station as usize];
        let first = self.ports_of[self.node_of_station[station as usize] as usize].0;
        let node = self.node_of_station[neighbour as usize];
        Hop { neighbour: on_demand.address(node), interface: port - first }
    }

    /// Asks a node's routing, and carries out what it wants.
    fn ask_routing<R>(
        &mut self,
        node: u32,
        now: u64,
        hook: impl FnOnce(&mut dyn Routing, &mut Context<'_>) -> R,
    ) -> Option<R> {
        let on_demand = self.on_demand.as_mut()?;
        on_demand.now = Time(now);
        let host = &mut on_demand.hosts[node as usize];
        let mut out = Vec::new();
        let mut context = Context { now: Time(now), random: &mut host.random, out: &mut out };
        let answer = hook(&mut *host.routing, &mut context);
        let mut given_up = false;
        for effect in out {
            given_up |= self.carry_out_routing(node, effect, now);
        }
        if given_up {
            // Sources that always have more to send try again.
            let (first, end) = self.ports_of[node as usize];
            (first..end).for_each(|port| self.room(port, now));
        }
        self.arm_routing(node, now);
        Some(answer)
    }

    /// Whether packets were given up whose sources may not know.
    fn carry_out_routing(&mut self, node: u32, effect: Effect, now: u64) -> bool {
        match effect {
            Effect::Send { bytes, kind, to, ttl } => {
                self.send_routing(node, &UnderWay { bytes: bytes.into(), ttl, kind }, to, now);
            }
            Effect::Forward { packet, hop } => match self.next_hop_of(node, hop) {
                Some(hop) => self.offer(hop, packet, now),
                None => self.drop_packet(node, packet, drop_reason::NO_ROUTE, now),
            },
            Effect::Drop { packet, reason } => {
                let name = match reason {
                    DropReason::NoRoute => drop_reason::NO_ROUTE,
                    DropReason::BufferFull => drop_reason::ROUTE_QUEUE,
                    DropReason::BufferTime => drop_reason::ROUTE_WAIT,
                };
                self.drop_packet(node, packet, name, now);
                return reason != DropReason::BufferFull;
            }
            Effect::DropQueued { neighbour } => {
                let Some(on_demand) = &mut self.on_demand else { return false };
                let Some(neighbour) = on_demand.node(neighbour) else { return false };
                let neighbour = node_id(&self.node_ids, neighbour);
                let broken = &mut on_demand.hosts[node as usize].broken;
                match broken.binary_search_by_key(&neighbour, |b| b.0) {
                    Ok(at) => broken[at].1 = now,
                    Err(at) => broken.insert(at, (neighbour, now)),
                }
            }
        }
        false
    }

    /// Makes sure that a timer event comes no later than the deadline.
    fn arm_routing(&mut self, node: u32, now: u64) {
        let rank = self.node_ranks[node as usize];
        let Some(on_demand) = &mut self.on_demand else { return };
        let host = &mut on_demand.hosts[node as usize];
        let deadline = host.routing.deadline().0.max(now);
        if deadline < host.armed {
            host.armed = deadline;
            self.later(deadline, Order::new(class::TIMER, rank), What::RoutingTimer(NodeIx(node)));
        }
    }

    #[inline(never)]
    pub(crate) fn routing_timer(&mut self, node: u32, now: u64) {
        let Some(on_demand) = &mut self.on_demand else { return };
        let host = &mut on_demand.hosts[node as usize];
        if host.armed != now {
            return;
        }
        host.armed = u64::MAX;
        self.ask_routing(node, now, |routing, cx| routing.on_timer(cx));
    }

    /// Every node's routing begins, at time 0.
    pub(super) fn start_routing(&mut self) {
        for node in 0..self.ports_of.len() as u32 {
            self.arm_routing(node, 0);
        }
    }

    /// A packet is at a node that has no static route: it goes where routing says, or waits, or ends.
    #[cold]
    pub(super) fn send_without_route(&mut self, node: u32, handle: u64, now: u64) {
        let (Some(on_demand), Some(packet)) = (&self.on_demand, self.packets.get(handle)) else {
            self.drop_packet(node, handle, drop_reason::NO_ROUTE, now);
            return;
        };
        let [source, destination] = [packet.source, packet.destination].map(|node| on_demand.address(node));
        let hop = if packet.hops == 0 {
            self.ask_routing(node, now, |routing, cx| routing.originate(handle, destination, cx))
        } else {
            let (station, neighbour) = on_demand.came;
            let from = self.hop_to(on_demand, station, neighbour);
            self.ask_routing(node, now, |routing, cx| routing.relay(handle, [source, destination], from, cx))
        };
        if let Some(hop) = hop.flatten().and_then(|hop| self.next_hop_of(node, hop)) {
            self.offer(hop, handle, now);
        }
    }

    /// A data packet was received: whence is told to whoever passes it on.
    pub(super) fn note_sender(&mut self, station: u32, from: u32) {
        if let Some(on_demand) = &mut self.on_demand {
            on_demand.came = (station, from);
        }
    }

    fn send_routing(&mut self, node: u32, message: &UnderWay, to: Option<Hop>, now: u64) {
        let (first, end) = self.ports_of[node as usize];
        let to = to.map(|hop| self.next_hop_of(node, hop));
        for port in first..end {
            let destination = match to {
                None => EVERYONE,
                Some(Some(hop)) if hop.port == port => hop.node,
                Some(_) => continue,
            };
            let Behind::Station(_) = self.ports[port as usize].behind else { continue };
            let payload = message.bytes.len() as u32;
            let Some(on_demand) = &mut self.on_demand else { return };
            let slot = on_demand.add(message.clone());
            let handle = self.packets.add(Packet {
                scheme_flow: NO_FLOW - 1,
                bytes: payload + self.headers.udp + self.headers.ip,
                ..Packet::control(node, destination, Payload::Routing { slot }, payload, now)
            });
            if destination == EVERYONE || self.ports[port as usize].neighbours.knows(destination) {
                self.send_ahead(port, handle);
            } else {
                self.arp_wait(NextHop { port, node: destination }, handle, now);
            }
        }
    }

    /// A message has arrived at a station.
    pub(super) fn routing_received(&mut self, station: u32, packet: &Packet, from: u32, now: u64) {
        let node = self.node_of_station[station as usize];
        let Some(on_demand) = &self.on_demand else { return };
        let from = self.hop_to(on_demand, station, from);
        let under_way = &on_demand.messages[packet.slot()];
        let bytes = under_way.bytes.clone();
        let received = Received { from, ttl: under_way.ttl, to_all: packet.destination == EVERYONE };
        self.ask_routing(node, now, |routing, cx| routing.on_message(&bytes, received, cx));
    }

    /// The MAC of a station has given up a packet for a neighbour's station.
    pub(super) fn routing_gives_up(
        &mut self,
        station: u32,
        neighbour: u32,
        packet: Option<&Packet>,
        now: u64,
    ) {
        let node = self.node_of_station[station as usize];
        let Some(on_demand) = &self.on_demand else { return };
        let hop = self.hop_to(on_demand, station, neighbour);
        let bytes;
        let what = match packet {
            Some(packet) if packet.is_routing() => {
                bytes = on_demand.messages[packet.slot()].bytes.clone();
                Undelivered::Message(&bytes)
            }
            Some(packet) if packet.class == PacketClass::Control => return,
            Some(packet) => {
                let ends = [packet.source, packet.destination].map(|node| on_demand.address(node));
                Undelivered::Data(Some(ends))
            }
            None => Undelivered::Data(None),
        };
        self.ask_routing(node, now, |routing, cx| routing.on_undelivered(hop, what, cx));
    }

    /// Whether a packet that leaves a queue was meant for a neighbour whose link has broken since.
    #[cold]
    pub(super) fn came_too_late(&self, next_hop: NodeId, station: u32, enqueued: u64) -> bool {
        let node = self.node_of_station[station as usize];
        let Some(on_demand) = self.on_demand.as_ref() else { return false };
        let broken = &on_demand.hosts[node as usize].broken;
        broken.binary_search_by_key(&next_hop, |b| b.0).is_ok_and(|at| broken[at].1 >= enqueued)
    }

    /// What the routing of a station has sent; what its node has done stands with the node's first station.
    pub(crate) fn routing_counts(&self, station: u32) -> Option<RoutingCounts> {
        let on_demand = self.on_demand.as_ref()?;
        let node = self.node_of_station[station as usize];
        let first = self.ports_of[node as usize].0 == self.port_of_station[station as usize];
        let kinds = on_demand.protocol.kinds().iter().copied();
        let sent = kinds.zip(on_demand.sent[station as usize].iter().copied());
        let of_node = on_demand.hosts[node as usize].routing.counters();
        let of_node = of_node.into_iter().map(|(name, count)| (name, if first { count } else { 0 }));
        Some(RoutingCounts(sent.chain(of_node).collect()))
    }
}

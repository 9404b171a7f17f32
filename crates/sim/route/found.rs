//! Routes found during the run: each node has a routing protocol's state machine, whose messages are packets.

use std::collections::BTreeSet;
use std::sync::Arc;

use airfair_routing::{Context, DropReason, Effect, Hop, Protocol, Received, Routing, Undelivered};
use airfair_schemes::places::NodeId;
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};
use airfair_wire::Ipv4Addr;

use super::{Action, Datagram, NextHop, RoutingMessage, UndeliveredPacket};
use crate::ids::{CopyRef, NodeIx, PortIx, RoutingIx, Table};

/// Routing of all nodes, and its messages that have not ended.
pub(super) struct FoundRoutes {
    protocol: Arc<dyn Protocol>,
    hosts: Table<NodeIx, RoutingNode>,
    /// Node of each address, from 10.0.0.1 on. As in captures, the nth name in natural order has 10.0.0.n.
    node_of: Vec<NodeIx>,
    messages: Table<RoutingIx, RoutingMessage>,
    free: Vec<RoutingIx>,
    /// The port by which the last data packet was received, and the neighbour that sent it.
    pub last_sender: (PortIx, NodeIx),
    /// Ends of flows between which there is no path of links at all.
    pub cut_off: BTreeSet<[NodeIx; 2]>,
    /// Messages that have left, by kind.
    left: Table<PortIx, Vec<u64>>,
    /// Time of the last call.
    now: Time,
}

struct RoutingNode {
    address: Ipv4Addr,
    /// Scheme number of the node.
    id: NodeId,
    first_port: PortIx,
    routing: Box<dyn Routing>,
    random: Stream,
    /// Due time of the pending timer event.
    armed: Time,
    /// Neighbours behind ports with the time up to which packets queued for them are discarded; sorted.
    stale: Vec<((PortIx, NodeId), Time)>,
}

impl FoundRoutes {
    pub(super) fn new(
        protocol: &Arc<dyn Protocol>,
        names: &[&str],
        name_orders: &[u32],
        ids: &[NodeId],
        ports: &[(PortIx, PortIx)],
        seed: u64,
    ) -> Self {
        let mut node_of = vec![NodeIx(0); names.len()];
        for (node, &name_order) in name_orders.iter().enumerate() {
            node_of[name_order as usize] = NodeIx(node as u32);
        }
        let host = |(node, name): (usize, &&str)| {
            let [_, a, b, c] = (name_orders[node] + 1).to_be_bytes();
            let address = Ipv4Addr::new(10, a, b, c);
            RoutingNode {
                address,
                id: ids[node],
                first_port: ports[node].0,
                routing: protocol.state_machine(address),
                random: Stream::new(seed, name, Purpose::Routing),
                armed: Time::NEVER,
                stale: Vec::new(),
            }
        };
        let last = ports.iter().map(|ports| ports.1.0).max().unwrap_or(0);
        Self {
            protocol: protocol.clone(),
            hosts: names.iter().enumerate().map(host).collect(),
            node_of,
            messages: Table::default(),
            free: Vec::new(),
            last_sender: (PortIx(0), NodeIx(0)),
            cut_off: BTreeSet::new(),
            left: (0..last).map(|_| vec![0; protocol.kinds().len()]).collect(),
            now: Time::ZERO,
        }
    }

    /// Node of an address in a routing message; `None` if no node has the address.
    fn node(&self, address: Ipv4Addr) -> Option<NodeIx> {
        let [_, a, b, c] = address.octets();
        let number = u32::from_be_bytes([0, a, b, c]);
        self.node_of.get(number.checked_sub(1)? as usize).copied()
    }

    /// A neighbour behind a port of a node.
    fn hop(&self, node: NodeIx, port: PortIx, neighbour: NodeIx) -> Hop {
        Hop { neighbour: self.hosts[neighbour].address, interface: port.0 - self.hosts[node].first_port.0 }
    }

    fn next_hop_of(&self, node: NodeIx, hop: Hop) -> Option<NextHop> {
        let to = self.node(hop.neighbour)?;
        Some(NextHop { port: PortIx(self.hosts[node].first_port.0 + hop.interface), node: to })
    }

    #[cold]
    pub(super) fn next_hop(&self, node: NodeIx, destination: NodeIx) -> Option<NextHop> {
        let hop = self.hosts[node].routing.next_hop(self.hosts[destination].address, self.now)?;
        self.next_hop_of(node, hop)
    }

    /// Calls a hook of a node's routing.
    fn call<R>(
        &mut self,
        node: NodeIx,
        now: Time,
        hook: impl FnOnce(&mut dyn Routing, &mut Context<'_>) -> R,
    ) -> (R, Vec<Action>) {
        self.now = now;
        let mut out = Vec::new();
        let host = &mut self.hosts[node];
        let mut context = Context { now, random: &mut host.random, out: &mut out };
        let answer = hook(&mut *host.routing, &mut context);
        (answer, out.into_iter().filter_map(|effect| self.action(node, effect)).collect())
    }

    fn action(&mut self, node: NodeIx, effect: Effect) -> Option<Action> {
        Some(match effect {
            Effect::Send { bytes, kind, to, ttl } => {
                let to = match to {
                    Some(hop) => Some(self.next_hop_of(node, hop)?),
                    None => None,
                };
                Action::Send { message: RoutingMessage { bytes: bytes.into(), ttl, kind }, to }
            }
            Effect::Forward { packet, hop } => match self.next_hop_of(node, hop) {
                Some(hop) => Action::Forward { packet: CopyRef(packet), hop },
                None => Action::Drop { packet: CopyRef(packet), reason: DropReason::NoRoute },
            },
            Effect::Drop { packet, reason } => Action::Drop { packet: CopyRef(packet), reason },
            Effect::DropQueued { hop } => {
                let NextHop { port, node: neighbour } = self.next_hop_of(node, hop)?;
                let (link, now) = ((port, self.hosts[neighbour].id), self.now);
                let stale = &mut self.hosts[node].stale;
                match stale.binary_search_by_key(&link, |known| known.0) {
                    Ok(at) => stale[at].1 = now,
                    Err(at) => stale.insert(at, (link, now)),
                }
                return None;
            }
        })
    }

    pub(super) fn send(
        &mut self,
        node: NodeIx,
        packet: CopyRef,
        ends: [NodeIx; 2],
        fresh: bool,
        now: Time,
    ) -> (Option<NextHop>, Vec<Action>) {
        let ends = ends.map(|end| self.hosts[end].address);
        let (hop, actions) = if fresh {
            self.call(node, now, |routing, cx| routing.originate(packet.0, ends[1], cx))
        } else {
            let (port, neighbour) = self.last_sender;
            let from = self.hop(node, port, neighbour);
            self.call(node, now, |routing, cx| routing.relay(packet.0, ends, from, cx))
        };
        (hop.and_then(|hop| self.next_hop_of(node, hop)), actions)
    }

    pub(super) fn on_message(
        &mut self,
        node: NodeIx,
        port: PortIx,
        message: RoutingIx,
        from: NodeIx,
        to_all: bool,
        now: Time,
    ) -> Vec<Action> {
        let from = self.hop(node, port, from);
        let RoutingMessage { bytes, ttl, .. } = self.messages[message].clone();
        let received = Received { from, ttl, to_all };
        self.call(node, now, |routing, cx| routing.on_message(&bytes, received, cx)).1
    }

    pub(super) fn on_undelivered(
        &mut self,
        node: NodeIx,
        port: PortIx,
        neighbour: NodeIx,
        lost: &UndeliveredPacket,
        now: Time,
    ) -> Vec<Action> {
        let hop = self.hop(node, port, neighbour);
        let bytes;
        let undelivered = match *lost {
            UndeliveredPacket::Data(ends) => {
                Undelivered::Data(ends.map(|ends| ends.map(|end| self.hosts[end].address)))
            }
            UndeliveredPacket::Message(message) => {
                bytes = self.messages[message].bytes.clone();
                Undelivered::Message(&bytes)
            }
        };
        self.call(node, now, |routing, cx| routing.on_undelivered(hop, undelivered, cx)).1
    }

    pub(super) fn on_timer(&mut self, node: NodeIx, now: Time) -> Vec<Action> {
        let host = &mut self.hosts[node];
        if host.armed != now {
            return Vec::new();
        }
        host.armed = Time::NEVER;
        self.call(node, now, |routing, cx| routing.on_timer(cx)).1
    }

    pub(super) fn timer(&mut self, node: NodeIx, now: Time) -> Option<Time> {
        let host = &mut self.hosts[node];
        let deadline = host.routing.deadline().max(now);
        (deadline < host.armed).then(|| {
            host.armed = deadline;
            deadline
        })
    }

    pub(super) fn begin(&mut self, message: RoutingMessage) -> RoutingIx {
        match self.free.pop() {
            Some(at) => {
                self.messages[at] = message;
                at
            }
            None => self.messages.push(message),
        }
    }

    pub(super) fn end(&mut self, message: RoutingIx) {
        self.messages[message] = RoutingMessage::default();
        self.free.push(message);
    }

    pub(super) fn count_sent(&mut self, port: PortIx, message: RoutingIx) {
        let kind = self.messages[message].kind;
        if let Some(count) = self.left[port].get_mut(kind) {
            *count += 1;
        }
    }

    pub(super) fn datagram(&self, message: RoutingIx) -> Option<Datagram> {
        let RoutingMessage { bytes, ttl, .. } = self.messages.get(message)?.clone();
        Some(Datagram { port: self.protocol.udp_port(), bytes, ttl })
    }

    pub(super) fn is_stale(&self, (node, port): (NodeIx, PortIx), neighbour: NodeId, since: Time) -> bool {
        let stale = &self.hosts[node].stale;
        let at = stale.binary_search_by_key(&(port, neighbour), |known| known.0);
        at.is_ok_and(|at| stale[at].1 >= since)
    }

    pub(super) fn waiting(&self) -> u64 {
        self.hosts.iter().map(|host| host.routing.waiting() as u64).sum()
    }

    pub(super) fn counts(&self, node: NodeIx, port: PortIx) -> Vec<(&'static str, u64)> {
        let host = &self.hosts[node];
        let kinds = self.protocol.kinds().iter().copied().zip(self.left[port].iter().copied());
        let of_node = host.routing.counters().into_iter();
        let first = host.first_port == port;
        kinds.chain(of_node.map(|(name, count)| (name, if first { count } else { 0 }))).collect()
    }
}

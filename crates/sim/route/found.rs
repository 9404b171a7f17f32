//! Routes found during the run: each node has a routing protocol's state machine, whose messages are packets.

use std::collections::BTreeSet;
use std::sync::Arc;

use airfair_routing::{
    Adjacency, Context, DropReason, Effect, NodeSetup, Protocol, Received, Routing, SendRate, TableState, To,
    Undelivered,
};
use airfair_schemes::places::NodeId;
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};
use airfair_wire::Ipv4Addr;

use super::upkeep::{FlowRoutes, RouteUpkeep};
use super::{Action, Datagram, NextHop, Receivers, RoutingMessage, RoutingTotals, UndeliveredPacket};
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
    left: Table<PortIx, PortCounts>,
    /// Number of each port in the protocol of its node.
    interfaces: Table<PortIx, u32>,
    /// Routes of flows, measured if the protocol is proactive.
    flows: FlowRoutes,
    /// Latest change of a next hop that the routes of flows have not been checked for.
    pub changed: Option<Time>,
    /// Number of changes of next hops.
    changes: u64,
    /// Totals at the end of the warm-up.
    at_warmup: RoutingTotals,
    /// Time of the last call.
    now: Time,
}

/// Routing messages that have left by a port.
struct PortCounts {
    /// Bytes that a frame has beside an IP packet.
    framing: u32,
    /// Messages by kind.
    kinds: Vec<u64>,
    totals: RoutingTotals,
}

struct RoutingNode {
    address: Ipv4Addr,
    /// Scheme number of the node.
    id: NodeId,
    /// Port of each interface of the protocol.
    ports: Vec<PortIx>,
    routing: Box<dyn Routing>,
    /// State of its table after the last hook.
    table: TableState,
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
        (ports, framing, wires): (Vec<Vec<PortIx>>, &[u32], &BTreeSet<PortIx>),
        seed: u64,
    ) -> Self {
        let mut node_of = vec![NodeIx(0); names.len()];
        for (node, &name_order) in name_orders.iter().enumerate() {
            node_of[name_order as usize] = NodeIx(node as u32);
        }
        let mut interfaces: Table<PortIx, u32> = framing.iter().map(|_| 0).collect();
        for ports in &ports {
            ports.iter().zip(0..).for_each(|(&port, number)| interfaces[port] = number);
        }
        let host = |(node, (name, ports)): (usize, (&&str, Vec<PortIx>))| {
            let [_, a, b, c] = (name_orders[node] + 1).to_be_bytes();
            let address = Ipv4Addr::new(10, a, b, c);
            let first_wire = || ports.iter().position(|port| wires.contains(port)).unwrap_or(ports.len());
            let wires_from = (!wires.is_empty()).then(|| first_wire() as u32);
            let setup = NodeSetup { address, interfaces: ports.len() as u32, wires_from };
            RoutingNode {
                address,
                id: ids[node],
                routing: protocol.state_machine(&setup),
                ports,
                table: TableState::default(),
                random: Stream::new(seed, name, Purpose::Routing),
                armed: Time::NEVER,
                stale: Vec::new(),
            }
        };
        let kinds = vec![0; protocol.kinds().len()];
        let counts =
            |&framing: &u32| PortCounts { framing, kinds: kinds.clone(), totals: RoutingTotals::default() };
        Self {
            protocol: protocol.clone(),
            hosts: names.iter().zip(ports).enumerate().map(host).collect(),
            node_of,
            messages: Table::default(),
            free: Vec::new(),
            last_sender: (PortIx(0), NodeIx(0)),
            cut_off: BTreeSet::new(),
            left: framing.iter().map(counts).collect(),
            interfaces,
            flows: FlowRoutes::default(),
            changed: None,
            changes: 0,
            at_warmup: RoutingTotals::default(),
            now: Time::ZERO,
        }
    }

    /// Node of an address in a routing message; `None` if no node has the address.
    fn node(&self, address: Ipv4Addr) -> Option<NodeIx> {
        node_of(&self.node_of, address)
    }

    /// A neighbour behind a port of a node.
    fn hop(&self, port: PortIx, neighbour: NodeIx) -> Adjacency {
        Adjacency { neighbour: self.hosts[neighbour].address, interface: self.interfaces[port] }
    }

    /// The port of a node's interface; `None` if the node has no such interface.
    fn port(&self, node: NodeIx, interface: u32) -> Option<PortIx> {
        self.hosts[node].ports.get(interface as usize).copied()
    }

    fn next_hop_of(&self, node: NodeIx, hop: Adjacency) -> Option<NextHop> {
        let to = self.node(hop.neighbour)?;
        Some(NextHop { port: self.port(node, hop.interface)?, node: to })
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
        let table = host.routing.table();
        if table.revision != host.table.revision {
            self.changed = self.changed.max(Some(now));
            self.changes += 1;
            for &to in host.routing.moved() {
                if let Some(to) = node_of(&self.node_of, to) {
                    self.flows.note_moved(node, to);
                }
            }
        }
        self.hosts[node].table = table;
        (answer, out.into_iter().filter_map(|effect| self.action(node, effect)).collect())
    }

    pub(super) fn revision(&self, node: NodeIx) -> u64 {
        self.hosts[node].table.revision
    }

    /// Checks the routes of the flows that changed next hops can have changed: at the end of an event, since the receivers of a broadcast
    /// are handled in the order of their indices.
    #[cold]
    pub(super) fn check_flows(&mut self) {
        let Some(now) = self.changed.take() else { return };
        let mut flows = std::mem::take(&mut self.flows);
        flows.check(now, |node, to| self.next_hop(node, to).map(|hop| hop.node));
        self.flows = flows;
    }

    pub(super) fn watch(&mut self, ends: [NodeIx; 2], window: (Time, Time)) {
        if self.protocol.is_proactive() {
            self.flows.watch(ends, window);
        }
    }

    /// None unless the protocol is proactive.
    pub(super) fn changes(&self) -> Option<u64> {
        self.protocol.is_proactive().then_some(self.changes)
    }

    pub(super) fn warmed_up(&mut self) {
        self.at_warmup = self.totals();
    }

    fn totals(&self) -> RoutingTotals {
        let lost = self.hosts.iter().map(|host| host.table.lost).sum();
        let ports = self.left.iter().map(|port| port.totals);
        ports.fold(RoutingTotals { routes_lost: lost, ..RoutingTotals::default() }, |sum, port| sum + port)
    }

    /// Name of the protocol, its totals since the warm-up, and the upkeep of each flow's route; `None` unless it is proactive.
    pub(super) fn upkeep(&self, now: Time) -> Option<(&'static str, RoutingTotals, Vec<RouteUpkeep>)> {
        self.protocol.is_proactive().then(|| {
            let flows = self.flows.upkeep(now);
            (self.protocol.name(), self.totals() - self.at_warmup, flows)
        })
    }

    fn action(&mut self, node: NodeIx, effect: Effect) -> Option<Action> {
        Some(match effect {
            Effect::Send { bytes, kinds, to, ttl, rate } => {
                let to = match to {
                    To::All => Receivers::All,
                    To::Interface(number) => Receivers::BehindPort(self.port(node, number)?),
                    To::Neighbour(hop) => Receivers::One(self.next_hop_of(node, hop)?),
                };
                let message = RoutingMessage { bytes: bytes.into(), ttl, rate, kinds: kinds.into() };
                Action::Send { message, to }
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
            let from = self.hop(port, neighbour);
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
        let from = self.hop(port, from);
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
        let hop = self.hop(port, neighbour);
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

    pub(super) fn count_sent(&mut self, port: PortIx, message: RoutingIx, ip_bytes: u32) {
        let left = &mut self.left[port];
        for &kind in &*self.messages[message].kinds {
            if let Some(count) = left.kinds.get_mut(kind) {
                *count += 1;
            }
        }
        left.totals.datagrams += 1;
        left.totals.ip_bytes += u64::from(ip_bytes);
        left.totals.mac_bytes += u64::from(ip_bytes + left.framing);
    }

    pub(super) fn rate(&self, message: RoutingIx) -> SendRate {
        self.messages[message].rate
    }

    pub(super) fn datagram(&self, message: RoutingIx) -> Option<Datagram> {
        let RoutingMessage { bytes, ttl, .. } = self.messages.get(message)?.clone();
        Some(Datagram { port: self.protocol.udp_port(), bytes, ttl })
    }

    pub(super) fn content(&self, message: RoutingIx, to_all: bool) -> Option<&'static str> {
        Some(self.protocol.content(&self.messages.get(message)?.bytes, to_all))
    }

    pub(super) fn is_stale(&self, (node, port): (NodeIx, PortIx), neighbour: NodeId, since: Time) -> bool {
        let stale = &self.hosts[node].stale;
        let at = stale.binary_search_by_key(&(port, neighbour), |known| known.0);
        at.is_ok_and(|at| stale[at].1 >= since)
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = CopyRef> + '_ {
        self.hosts.iter().flat_map(|host| host.routing.waiting()).map(CopyRef)
    }

    pub(super) fn counts(&self, node: NodeIx, port: PortIx) -> Vec<(&'static str, u64)> {
        let (host, left) = (&self.hosts[node], &self.left[port]);
        let kinds = self.protocol.kinds().iter().copied().zip(left.kinds.iter().copied());
        let RoutingTotals { datagrams, ip_bytes, mac_bytes, .. } = left.totals;
        let sums = [("datagrams", datagrams), ("ip_bytes", ip_bytes), ("mac_bytes", mac_bytes)];
        let lost = [("routes_lost", host.table.lost)];
        // Every row of an on-demand protocol would change with the sums.
        let proactive = self.protocol.is_proactive();
        let sums = sums.into_iter().filter(|_| proactive);
        let of_node = host.routing.counters().into_iter().chain(lost.into_iter().filter(|_| proactive));
        let first = self.interfaces[port] == 0;
        kinds.chain(sums).chain(of_node.map(|(name, count)| (name, if first { count } else { 0 }))).collect()
    }
}

/// Node of an address in a routing message; `None` if no node has the address.
fn node_of(nodes: &[NodeIx], address: Ipv4Addr) -> Option<NodeIx> {
    let [_, a, b, c] = address.octets();
    let number = u32::from_be_bytes([0, a, b, c]);
    nodes.get(number.checked_sub(1)? as usize).copied()
}

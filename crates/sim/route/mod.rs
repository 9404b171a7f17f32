//! Next hops. Routes are either fixed (shortest paths, computed before the run) or found during the run by a routing protocol at each node.
//! Callers do not depend on the protocol: a call returns a next hop or a list of [`Action`]s.

mod fixed;
mod found;
mod upkeep;

use std::collections::BTreeSet;
use std::sync::Arc;

use airfair_routing::shortest::{Link, Metric};
use airfair_routing::{DropReason, SendRate};
use airfair_schemes::places::NodeId;
use airfair_units::Time;

use crate::ids::{CopyRef, NodeIx, PortIx, RoutingIx};
use crate::spec::RoutingSpec;
use fixed::FixedRoutes;
use found::FoundRoutes;

pub(crate) use upkeep::RouteUpkeep;

/// Next hop towards a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextHop {
    /// Port by which packets leave.
    pub port: PortIx,
    /// Neighbour that receives them.
    pub node: NodeIx,
}

/// An action that a routing protocol requests; lists of actions are carried out in order.
#[derive(Debug)]
pub(crate) enum Action {
    /// Send a datagram.
    Send { message: RoutingMessage, to: Receivers },
    /// Send a packet that waited for a route.
    Forward { packet: CopyRef, hop: NextHop },
    /// Drop a packet.
    Drop { packet: CopyRef, reason: DropReason },
}

/// Receivers of a routing protocol's datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receivers {
    /// All neighbours, by every port of the node.
    All,
    /// All neighbours behind a port.
    BehindPort(PortIx),
    /// One neighbour.
    One(NextHop),
}

/// A datagram of a routing protocol, with one or more messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoutingMessage {
    pub bytes: Arc<[u8]>,
    /// Time to live in the IP header.
    pub ttl: u8,
    /// Rate of a broadcast on the air.
    pub rate: SendRate,
    /// Kinds of the messages.
    kinds: Arc<[usize]>,
}

/// Datagrams of a routing protocol and lost routes: of a port, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RoutingTotals {
    /// Datagrams that have left.
    pub datagrams: u64,
    /// Their bytes as IP packets.
    pub ip_bytes: u64,
    /// Their bytes as frames, without preambles.
    pub mac_bytes: u64,
    /// Routes in tables of nodes that were lost.
    pub routes_lost: u64,
}

airfair_units::fieldwise!(Add::add for RoutingTotals { datagrams, ip_bytes, mac_bytes, routes_lost });
airfair_units::fieldwise!(Sub::sub for RoutingTotals { datagrams, ip_bytes, mac_bytes, routes_lost });

/// A message as captures show it: over UDP, with one port number for source and destination.
#[derive(Debug, Clone)]
pub(crate) struct Datagram {
    pub port: u16,
    pub bytes: Arc<[u8]>,
    pub ttl: u8,
}

/// A transmission to a neighbour that the MAC has given up.
pub(crate) enum UndeliveredPacket {
    /// A data packet, with its source and destination, if known.
    Data(Option<[NodeIx; 2]>),
    /// A routing message that has not ended.
    Message(RoutingIx),
}

/// The nodes of a world, as routing needs them.
pub(crate) struct Nodes<'a> {
    pub names: &'a [&'a str],
    /// Position of each name in natural order, from 0 on; not the rank among events.
    pub name_orders: Vec<u32>,
    /// Scheme numbers of the nodes.
    pub ids: Vec<NodeId>,
    /// Ports of each node, as its protocol numbers its interfaces.
    pub ports: Vec<Vec<PortIx>>,
    /// Bytes that a frame has beside an IP packet, by port.
    pub framing: Vec<u32>,
    /// Usable links of each node; their interfaces are ports.
    pub links: Vec<Vec<Link>>,
    /// Sources and destinations of flows.
    pub ends: Vec<[NodeIx; 2]>,
}

/// The routes of a world.
pub(crate) struct Routes {
    fixed: FixedRoutes,
    found: Option<Box<FoundRoutes>>,
}

impl Routes {
    pub(crate) fn new(routing: &RoutingSpec, nodes: Nodes<'_>, seed: u64) -> Self {
        let (metric, protocol) = match routing {
            RoutingSpec::Static(metric) => (*metric, None),
            RoutingSpec::Found(protocol) => (Metric::Hops, Some(protocol)),
        };
        let Nodes { names, name_orders, ids, ports, framing, links, ends } = nodes;
        let is_cable = |link: &&Link| link.is_cable;
        let wires: BTreeSet<PortIx> =
            links.iter().flatten().filter(is_cable).map(|link| PortIx(link.interface)).collect();
        let mut fixed = FixedRoutes::new(links, metric, name_orders.clone());
        let found = protocol.map(|protocol| {
            let mut found =
                FoundRoutes::new(protocol, names, &name_orders, &ids, (ports, &framing, &wires), seed);
            found.cut_off = ends.iter().copied().filter(|&[from, to]| !fixed.leads(from, to)).collect();
            Box::new(found)
        });
        if found.is_none() {
            fixed.find_all(&ends);
        }
        Self { fixed, found }
    }

    /// True if a routing protocol finds the routes during the run.
    #[inline(always)]
    pub(crate) fn are_found(&self) -> bool {
        self.found.is_some()
    }

    /// Position of a node's name in natural order.
    pub(crate) fn name_order(&self, node: NodeIx) -> u32 {
        self.fixed.name_order(node)
    }

    /// Finds a fixed route that was not needed before.
    pub(crate) fn find_fixed(&mut self, from: NodeIx, to: NodeIx) {
        if from != to && self.found.is_none() && self.fixed.hop(from, to).is_none() {
            self.fixed.find(to, &[from]);
        }
    }

    /// Finds the fixed routes between all of these nodes.
    pub(crate) fn find_all_fixed(&mut self, nodes: &[NodeIx]) {
        for &destination in nodes {
            self.fixed.find(destination, nodes);
        }
    }

    /// Next hop of a fixed route.
    #[inline(always)]
    pub(crate) fn fixed_hop(&self, node: NodeIx, destination: NodeIx) -> Option<NextHop> {
        self.fixed.hop(node, destination)
    }

    /// Next hop as known now. The query changes no state.
    #[inline]
    pub(crate) fn next_hop(&self, node: NodeIx, destination: NodeIx) -> Option<NextHop> {
        match &self.found {
            None => self.fixed.hop(node, destination),
            Some(found) => found.next_hop(node, destination),
        }
    }

    /// True if there was no path between two ends of flows before the run.
    pub(crate) fn is_cut_off(&self, from: NodeIx, to: NodeIx) -> bool {
        match &self.found {
            None => from != to && self.fixed.hop(from, to).is_none(),
            Some(found) => found.cut_off.contains(&[from, to]),
        }
    }
}

/// Methods for routes found during the run; with fixed routes they have no effect.
impl Routes {
    /// Stores the neighbour and the port from which a node has received a packet, for the node that forwards it.
    pub(crate) fn note_sender(&mut self, port: PortIx, neighbour: NodeIx) {
        if let Some(found) = &mut self.found {
            found.last_sender = (port, neighbour);
        }
    }

    /// Routes a packet from a node without a fixed route: to its first hop if `fresh`, else to a further one. Without a route the packet
    /// waits, or actions end it.
    pub(crate) fn send(
        &mut self,
        node: NodeIx,
        packet: CopyRef,
        ends: [NodeIx; 2],
        fresh: bool,
        now: Time,
    ) -> (Option<NextHop>, Vec<Action>) {
        match &mut self.found {
            Some(found) => found.send(node, packet, ends, fresh, now),
            None => (None, vec![Action::Drop { packet, reason: DropReason::NoRoute }]),
        }
    }

    /// Handles a message that a node has received by a port from a neighbour.
    pub(crate) fn on_message(
        &mut self,
        (node, port): (NodeIx, PortIx),
        message: RoutingIx,
        from: NodeIx,
        to_all: bool,
        now: Time,
    ) -> Vec<Action> {
        let found = self.found.as_mut();
        found.map_or_else(Vec::new, |found| found.on_message(node, port, message, from, to_all, now))
    }

    /// Handles a packet or message for a neighbour that the MAC of a node has given up.
    pub(crate) fn on_undelivered(
        &mut self,
        (node, port): (NodeIx, PortIx),
        neighbour: NodeIx,
        lost: &UndeliveredPacket,
        now: Time,
    ) -> Vec<Action> {
        let found = self.found.as_mut();
        found.map_or_else(Vec::new, |found| found.on_undelivered(node, port, neighbour, lost, now))
    }

    /// Handles a timer event of a node.
    pub(crate) fn on_timer(&mut self, node: NodeIx, now: Time) -> Vec<Action> {
        self.found.as_mut().map_or_else(Vec::new, |found| found.on_timer(node, now))
    }

    /// Time at which a timer event of a node is to be scheduled, if it is earlier than the pending one. To be called after the actions of a
    /// call, and at the start.
    pub(crate) fn timer(&mut self, node: NodeIx, now: Time) -> Option<Time> {
        self.found.as_mut()?.timer(node, now)
    }

    /// Registers a message; it exists until [`Routes::end`].
    pub(crate) fn begin(&mut self, message: RoutingMessage) -> Option<RoutingIx> {
        Some(self.found.as_mut()?.begin(message))
    }

    /// Ends a message.
    pub(crate) fn end(&mut self, message: RoutingIx) {
        if let Some(found) = &mut self.found {
            found.end(message);
        }
    }

    /// Counts a datagram that leaves by a port, with its bytes as an IP packet.
    pub(crate) fn count_sent(&mut self, port: PortIx, message: RoutingIx, ip_bytes: u32) {
        if let Some(found) = &mut self.found {
            found.count_sent(port, message, ip_bytes);
        }
    }

    /// Rate at which a datagram is broadcast.
    pub(crate) fn rate(&self, message: RoutingIx) -> SendRate {
        self.found.as_ref().map_or_else(SendRate::default, |found| found.rate(message))
    }

    /// A message that has not ended, to read.
    pub(crate) fn datagram(&self, message: RoutingIx) -> Option<Datagram> {
        self.found.as_ref()?.datagram(message)
    }

    /// Name of the messages in a datagram that has not ended.
    pub(crate) fn content(&self, message: RoutingIx, to_all: bool) -> Option<&'static str> {
        self.found.as_ref()?.content(message, to_all)
    }

    /// True if a packet queued since then at a port of a node must not be sent to a neighbour any more.
    #[cold]
    pub(crate) fn is_stale(&self, at: (NodeIx, PortIx), neighbour: NodeId, since: Time) -> bool {
        self.found.as_ref().is_some_and(|found| found.is_stale(at, neighbour, since))
    }

    /// True if next hops have changed in the present event; [`Routes::check_flows`] is due at its end.
    #[inline(always)]
    pub(crate) fn have_changed(&self) -> bool {
        self.found.as_ref().is_some_and(|found| found.changed.is_some())
    }

    /// Revision of a node's table of routes; it changes with each change of the table.
    pub(crate) fn revision(&self, node: NodeIx) -> u64 {
        self.found.as_ref().map_or(0, |found| found.revision(node))
    }

    /// Checks whether the routes of flows exist, if next hops have changed in the present event.
    pub(crate) fn check_flows(&mut self) {
        if let Some(found) = &mut self.found {
            found.check_flows();
        }
    }

    /// Number of changes of next hops so far; none unless a protocol maintains routes also without packets.
    pub(crate) fn changes(&self) -> Option<u64> {
        self.found.as_ref().and_then(|found| found.changes())
    }

    /// Adds the next flow: the time for which the upkeep of its route is measured begins and ends with `window`.
    pub(crate) fn watch(&mut self, ends: [NodeIx; 2], window: (Time, Time)) {
        if let Some(found) = &mut self.found {
            found.watch(ends, window);
        }
    }

    /// Starts the measurement at the end of the warm-up.
    pub(crate) fn warmed_up(&mut self) {
        if let Some(found) = &mut self.found {
            found.warmed_up();
        }
    }

    /// Name of a proactive protocol, its totals since the warm-up, and the upkeep of the route of each flow.
    pub(crate) fn upkeep(&self, now: Time) -> Option<(&'static str, RoutingTotals, Vec<RouteUpkeep>)> {
        self.found.as_ref()?.upkeep(now)
    }

    /// The packets that wait for routes, messages among them.
    pub(crate) fn waiting(&self) -> Option<impl Iterator<Item = CopyRef> + '_> {
        self.found.as_ref().map(|found| found.waiting())
    }

    /// Counts by name: messages sent by a port, and the node's own counters, which are reported with its first port.
    pub(crate) fn counts(&self, node: NodeIx, port: PortIx) -> Option<Vec<(&'static str, u64)>> {
        self.found.as_ref().map(|found| found.counts(node, port))
    }
}

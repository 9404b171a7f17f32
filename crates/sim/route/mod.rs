//! Next hops. Routes are either fixed, shortest paths that are computed before the world runs, or found while it runs, by a routing
//! protocol at each node. Which protocol, nobody outside has to know: a question is answered with a next hop or with what is to be done
//! ([`Action`]).

mod fixed;
mod found;

use std::sync::Arc;

use airfair_routing::DropReason;
use airfair_routing::shortest::{Link, Metric};
use airfair_schemes::places::NodeId;
use airfair_units::Time;

use crate::ids::{CopyRef, NodeIx, PortIx, RoutingIx};
use crate::spec::RoutingSpec;
use fixed::Fixed;
use found::Found;

/// The next hop towards a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextHop {
    /// The port to leave by.
    pub port: PortIx,
    /// The neighbour.
    pub node: NodeIx,
}

/// What a routing protocol wants done, in the order of the list that it stands in.
#[derive(Debug)]
pub(crate) enum Action {
    /// A message is sent: to one neighbour, or to all by every port of the node.
    Send { message: Message, to: Option<NextHop> },
    /// A packet that waited for a route goes on.
    Forward { packet: CopyRef, hop: NextHop },
    /// A packet is given up.
    Drop { packet: CopyRef, reason: DropReason },
}

/// A message of the protocol.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    pub bytes: Arc<[u8]>,
    /// IP's time to live.
    pub ttl: u8,
    kind: usize,
}

/// A message as captures show it: over UDP, from a port to the same port.
#[derive(Debug, Clone)]
pub(crate) struct Datagram {
    pub port: u16,
    pub bytes: Arc<[u8]>,
    pub ttl: u8,
}

/// What a neighbour's MAC did not get.
pub(crate) enum Lost {
    /// A data packet, from one node to another, if that is known.
    Data(Option<[NodeIx; 2]>),
    /// A message that lives.
    Message(RoutingIx),
}

/// The nodes of a world, as routes see them.
pub(crate) struct Nodes<'a> {
    pub names: &'a [&'a str],
    /// The place of each name among all in natural order, from 0 on.
    pub ranks: Vec<u32>,
    /// The numbers by which schemes know nodes.
    pub ids: Vec<NodeId>,
    /// The ports of each node: the first, and the one behind the last.
    pub ports: Vec<(PortIx, PortIx)>,
    /// Usable links out of each node; their interfaces are ports.
    pub links: Vec<Vec<Link>>,
    /// Nodes from which and to which flows go.
    pub ends: Vec<[NodeIx; 2]>,
}

/// The routes of a world.
pub(crate) struct Routes {
    fixed: Fixed,
    found: Option<Box<Found>>,
}

impl Routes {
    pub(crate) fn new(routing: &RoutingSpec, nodes: Nodes<'_>, seed: u64) -> Self {
        let (metric, protocol) = match routing {
            RoutingSpec::Static(metric) => (*metric, None),
            RoutingSpec::Found(protocol) => (Metric::Hops, Some(protocol)),
        };
        let Nodes { names, ranks, ids, ports, links, ends } = nodes;
        let mut fixed = Fixed::new(links, metric, ranks.clone());
        let found = protocol.map(|protocol| {
            let mut found = Found::new(protocol, names, &ranks, &ids, &ports, seed);
            found.cut_off = ends.iter().copied().filter(|&[from, to]| !fixed.leads(from, to)).collect();
            Box::new(found)
        });
        if found.is_none() {
            fixed.find_all(&ends);
        }
        Self { fixed, found }
    }

    /// Whether they are found, and lost, while the world runs.
    #[inline(always)]
    pub(crate) fn are_found(&self) -> bool {
        self.found.is_some()
    }

    /// The place of a node's name among all in natural order.
    pub(crate) fn rank(&self, node: NodeIx) -> u32 {
        self.fixed.rank(node)
    }

    /// A fixed route is looked for where none was needed before.
    pub(crate) fn need(&mut self, from: NodeIx, to: NodeIx) {
        if from != to && self.found.is_none() && self.fixed.hop(from, to).is_none() {
            self.fixed.find(to, &[from]);
        }
    }

    /// The next hop, where routes are fixed.
    #[inline(always)]
    pub(crate) fn fixed_hop(&self, node: NodeIx, destination: NodeIx) -> Option<NextHop> {
        self.fixed.hop(node, destination)
    }

    /// The next hop as it is known now. The question leaves no trace.
    #[inline]
    pub(crate) fn next_hop(&self, node: NodeIx, destination: NodeIx) -> Option<NextHop> {
        match &self.found {
            None => self.fixed.hop(node, destination),
            Some(found) => found.next_hop(node, destination),
        }
    }

    /// Whether no way between two nodes was seen before the world ran. Asked for ends of flows.
    pub(crate) fn is_cut_off(&self, from: NodeIx, to: NodeIx) -> bool {
        match &self.found {
            None => from != to && self.fixed.hop(from, to).is_none(),
            Some(found) => found.cut_off.contains(&[from, to]),
        }
    }
}

/// What follows is for routes that are found; where they are fixed nothing happens.
impl Routes {
    /// A packet that a node has received comes from a neighbour, by a port: told to whoever passes it on.
    pub(crate) fn note_sender(&mut self, port: PortIx, neighbour: NodeIx) {
        if let Some(found) = &mut self.found {
            found.came = (port, neighbour);
        }
    }

    /// A packet from a source to a destination is at a node without a fixed route: a first hop if it is `fresh`, another one if not. If
    /// there is none the packet waits, or actions end it.
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

    /// A message has arrived at a node by a port from a neighbour.
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

    /// The MAC of a node has given up something for a neighbour behind a port.
    pub(crate) fn on_undelivered(
        &mut self,
        (node, port): (NodeIx, PortIx),
        neighbour: NodeIx,
        lost: &Lost,
        now: Time,
    ) -> Vec<Action> {
        let found = self.found.as_mut();
        found.map_or_else(Vec::new, |found| found.on_undelivered(node, port, neighbour, lost, now))
    }

    /// A timer event of a node.
    pub(crate) fn on_timer(&mut self, node: NodeIx, now: Time) -> Vec<Action> {
        self.found.as_mut().map_or_else(Vec::new, |found| found.on_timer(node, now))
    }

    /// When a timer event of a node is to come, if an earlier one is needed than the one that is to come anyway. To be asked when the
    /// actions of a call are done, and at the start.
    pub(crate) fn timer(&mut self, node: NodeIx, now: Time) -> Option<Time> {
        self.found.as_mut()?.timer(node, now)
    }

    /// A message gets a number and lives until [`Routes::end`].
    pub(crate) fn begin(&mut self, message: Message) -> Option<RoutingIx> {
        Some(self.found.as_mut()?.begin(message))
    }

    /// A message has come to its end.
    pub(crate) fn end(&mut self, message: RoutingIx) {
        if let Some(found) = &mut self.found {
            found.end(message);
        }
    }

    /// A message that lives leaves by a port: it is counted.
    pub(crate) fn leaves(&mut self, port: PortIx, message: RoutingIx) {
        if let Some(found) = &mut self.found {
            found.leaves(port, message);
        }
    }

    /// A message that lives, to look at.
    pub(crate) fn datagram(&self, message: RoutingIx) -> Option<Datagram> {
        self.found.as_ref()?.datagram(message)
    }

    /// Whether a packet that has queued since then at a port of a node is not to be sent to a neighbour any more.
    #[cold]
    pub(crate) fn is_stale(&self, at: (NodeIx, PortIx), neighbour: NodeId, since: Time) -> bool {
        self.found.as_ref().is_some_and(|found| found.is_stale(at, neighbour, since))
    }

    /// Packets that wait for routes.
    pub(crate) fn waiting(&self) -> Option<u64> {
        self.found.as_ref().map(|found| found.waiting())
    }

    /// Counts by name: messages that have left by a port, and what its node has counted, which stands with the node's first port.
    pub(crate) fn counts(&self, node: NodeIx, port: PortIx) -> Option<Vec<(&'static str, u64)>> {
        self.found.as_ref().map(|found| found.counts(node, port))
    }
}

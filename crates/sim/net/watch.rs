//! The network as one that explains a run sees it. Nothing here is called unless somebody explains.

use std::collections::BTreeMap;

use airfair_transport::Limit;
use airfair_units::Time;

use super::{Behind, Net, Port};
use crate::ids::{ConnectionRef, CopyRef, NodeIx, PacketRef, PortIx};

/// Whose packet something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// A flow's, on its way forward or back.
    Flow(u32, bool),
    /// ARP's, or injected.
    Other,
}

/// One hop of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    pub from: u32,
    pub to: u32,
    pub behind: Behind,
    /// The station that it leads to, if it goes by air.
    pub peer: u32,
}

/// A connection at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionView {
    pub limit: Limit,
    /// Sent and not acknowledged, SYN included.
    pub outstanding: bool,
    /// It waits for room in its node's queue.
    pub blocked: bool,
    /// It has as much in its node as it may have.
    pub held: bool,
    /// The receiver has an acknowledgement to send, later.
    pub acknowledgement_due: bool,
    /// Time-outs, losses told by acknowledgements, and marks so far.
    pub reasons: [u64; 3],
}

impl Net {
    /// When a flow starts and stops, and whether TCP carries it.
    pub(crate) fn flow_times(&self, flow: u32) -> (u64, u64, bool) {
        let f = &self.flows[flow as usize];
        (f.start, f.stop, f.tcp.is_some())
    }

    /// The hops of a flow's packets, forward or back; none if there is no route.
    pub(crate) fn hops_of(&self, flow: u32, forward: bool) -> Vec<Hop> {
        let f = &self.flows[flow as usize];
        let (mut node, destination) = if forward { (f.from, f.to) } else { (f.to, f.from) };
        let mut hops = Vec::new();
        while node != destination {
            let Some(next) = self.next_hop(node, destination) else { return Vec::new() };
            hops.push(self.ends_of(NodeIx(node), NodeIx(next.node), PortIx(next.port)));
            node = next.node;
        }
        hops
    }

    /// The hop from a node to the next one, by a port.
    pub(crate) fn ends_of(&self, node: NodeIx, next: NodeIx, port: PortIx) -> Hop {
        let port = &self.ports[port.ix()];
        Hop { from: node.0, to: next.0, behind: port.behind, peer: port.peer(self.node_id(next.0)).0 }
    }

    /// Whether routes are found while the world runs; then [`crate::record::Record::Routed`] tells the hops of packets.
    pub(crate) fn finds_routes(&self) -> bool {
        self.routes.are_found()
    }

    /// Whose a packet is that lives.
    pub(crate) fn owner(&self, packet: PacketRef) -> Option<Owner> {
        let packet = self.packets.packet(packet)?;
        let Some(flow) = packet.flow() else { return Some(Owner::Other) };
        Some(Owner::Flow(flow.0, packet.destination == self.flows[flow.ix()].to))
    }

    fn port_of(&self, behind: Behind) -> &Port {
        &self.ports[self.port_ix(behind) as usize]
    }

    fn port_ix(&self, behind: Behind) -> u32 {
        match behind {
            Behind::Station(station) => self.port_of_station[station as usize],
            Behind::Wire(wire) => self.links.port(wire).0,
        }
    }

    /// Whose packets wait for a station or a wire, and how many of each.
    pub(crate) fn waiting_by_owner(&self, behind: Behind, now: u64) -> BTreeMap<Owner, u64> {
        let mut by = BTreeMap::new();
        let mut add = |copy: CopyRef| {
            *by.entry(self.owner_of(copy).unwrap_or(Owner::Other)).or_default() += 1;
        };
        self.port_of(behind).pipeline.show(&mut |packet| add(self.packets.at(packet.id.0)));
        if let Behind::Wire(wire) = behind {
            self.links.waiting(wire, Time(now)).for_each(add);
        }
        by
    }

    /// Whether sources of its node wait for room at a station or a wire, and how much of them may wait there, ns at their pacing rate.
    pub(crate) fn local_rules(&self, behind: Behind) -> (bool, Option<u64>) {
        let rules = self.backpressure.rules(PortIx(self.port_ix(behind)));
        (rules.backpressure, rules.local_limit)
    }

    /// Where a flow's packets of one direction start, and whether TCP carries it.
    pub(crate) fn starts(&self, flow: u32, forward: bool) -> (u32, bool) {
        let f = &self.flows[flow as usize];
        (if forward { f.from } else { f.to }, f.tcp.is_some())
    }

    /// The packet of which a copy is one.
    pub(crate) fn packet_of(&self, copy: CopyRef) -> PacketRef {
        self.packets.packet_of(copy)
    }

    /// Whose a copy is.
    pub(crate) fn owner_of(&self, copy: CopyRef) -> Option<Owner> {
        self.owner(self.packets.copy(copy)?.of)
    }

    /// How many hops a packet has gone, if it lives.
    pub(crate) fn hops_gone(&self, packet: PacketRef) -> Option<usize> {
        self.packets.copy(self.packets.latest(packet)?).map(|copy| usize::from(copy.hops))
    }

    /// A connection, if it lives.
    pub(crate) fn connection_view(&self, id: ConnectionRef, now: u64) -> Option<ConnectionView> {
        let connection = self.connections.get(id)?;
        let (blocked, held) = self.backpressure.state(id);
        let sender = &connection.sender;
        let limit = sender.limit(Time(now));
        Some(ConnectionView {
            limit,
            outstanding: sender.next_sequence() > sender.unacknowledged() || limit == Limit::Handshake,
            blocked,
            held,
            acknowledgement_due: connection.receiver.holds_acknowledgement(),
            reasons: connection.reasons(),
        })
    }
}

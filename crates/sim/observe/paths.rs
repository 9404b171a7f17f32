//! The paths of flows' packets, as routes are now.

use crate::air::BROADCAST;
use crate::ids::{FlowIx, LinkRef, NodeIx, PortIx, StationIx};
use crate::node::Network;

/// One hop of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    pub from: NodeIx,
    pub to: NodeIx,
    pub link: LinkRef,
    /// The station that it leads to, if it goes by air.
    pub peer: StationIx,
}

/// The hop from a node to the next one, by a port.
pub(crate) fn hop(network: &Network, from: NodeIx, to: NodeIx, port: PortIx) -> Hop {
    let interfaces = &network.interfaces;
    Hop {
        from,
        to,
        link: interfaces.link(port),
        peer: interfaces.peer(port, interfaces.id(to)).unwrap_or(BROADCAST),
    }
}

/// The hops of a flow's packets, forward or back; none if there is no route.
pub(crate) fn hops(network: &Network, flow: FlowIx, forward: bool) -> Vec<Hop> {
    let (mut node, destination) = network.flows[flow].ends(forward);
    let mut hops = Vec::new();
    while node != destination {
        let Some(next) = network.routes.next_hop(node, destination) else { return Vec::new() };
        hops.push(hop(network, node, next.node, next.port));
        node = next.node;
    }
    hops
}

/// Nodes that a flow's packets pass, its source and its destination included; none without a route.
pub(crate) fn nodes(network: &Network, flow: FlowIx) -> Option<Vec<NodeIx>> {
    let (mut node, destination) = network.flows[flow].ends(true);
    let mut path = vec![node];
    while node != destination {
        // Routes that change may lead astray for a moment.
        if path.len() > network.interfaces.nodes().len() {
            return None;
        }
        node = network.routes.next_hop(node, destination)?.node;
        path.push(node);
    }
    Some(path)
}

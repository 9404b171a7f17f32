//! Paths of flows' packets by present routes.

use crate::air::BROADCAST;
use crate::ids::{FlowIx, LinkRef, NodeIx, PortIx, StationIx};
use crate::node::Network;

/// One hop of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathHop {
    pub from: NodeIx,
    pub to: NodeIx,
    pub link: LinkRef,
    /// The receiving station, if the hop is by radio.
    pub peer: StationIx,
}

/// The hop from a node to the next one by a port.
pub(crate) fn hop(network: &Network, from: NodeIx, to: NodeIx, port: PortIx) -> PathHop {
    let interfaces = &network.plane.interfaces;
    PathHop {
        from,
        to,
        link: interfaces.link(port),
        peer: interfaces.peer(port, interfaces.id(to)).unwrap_or(BROADCAST),
    }
}

/// Hops of a flow's packets in one direction; none without a route.
pub(crate) fn hops(network: &Network, flow: FlowIx, forward: bool) -> Vec<PathHop> {
    let (mut node, destination) = network.endpoints.flows[flow].ends(forward);
    let mut hops = Vec::new();
    while node != destination {
        // Changing routes may contain a loop for a moment.
        if hops.len() > network.plane.interfaces.nodes().len() {
            return Vec::new();
        }
        let Some(next) = network.plane.routes.next_hop(node, destination) else { return Vec::new() };
        hops.push(hop(network, node, next.node, next.port));
        node = next.node;
    }
    hops
}

/// Nodes on a flow's path, source and destination included; none without a route.
pub(crate) fn nodes(network: &Network, flow: FlowIx) -> Option<Vec<NodeIx>> {
    between(network, network.endpoints.flows[flow].ends(true))
}

/// Nodes on the path from one node to another, both included; none without a route.
pub(crate) fn between(network: &Network, (mut node, destination): (NodeIx, NodeIx)) -> Option<Vec<NodeIx>> {
    let mut path = vec![node];
    while node != destination {
        // Changing routes may contain a loop for a moment.
        if path.len() > network.plane.interfaces.nodes().len() {
            return None;
        }
        node = network.plane.routes.next_hop(node, destination)?.node;
        path.push(node);
    }
    Some(path)
}

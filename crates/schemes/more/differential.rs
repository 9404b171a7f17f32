//! DiffQ over MORE: the priority of a packet that has several next nodes.
//!
//! Source: Warrier, Ha, Wason, Rhee, "DiffQ: Differential Backlog Congestion Control for Wireless Multi-hop Networks", §4.2, eq. 2.
//!
//! F_ip is the packet's forwarders that are neighbours of node i; the differential is the least of those to each of them, so the one to the
//! longest queue. Readings:
//! - Only forwarders nearer to the destination than node i count: those behind it have more to send than node i by rights, and with them
//!   nearly every differential would be below 0.
//! - MORE makes packets when it sends them; its queue is what a node is entitled to send (`node::Node::backlog_to`).
//! - The destination's queue is empty, as in §4. Without any neighbour nearer to the destination the differential is the own queue.

use airfair_wire::more::{Flow, Forwarders};

/// The forwarders that are nearer to the destination than `node`, the nearest first, and before them the destination; none for a node that
/// is neither in the list nor the source.
pub fn nearer<'a>(flow: &'a Flow, forwarders: &'a Forwarders, node: u32) -> impl Iterator<Item = u32> + 'a {
    let list = forwarders.as_slice();
    let place = if node == flow.source {
        Some(list.len())
    } else {
        list.iter().position(|forwarder| forwarder.node == node)
    };
    let before = list[..place.unwrap_or(0)].iter().map(|forwarder| forwarder.node);
    place.map(|_| flow.destination).into_iter().chain(before)
}

/// QD: the own backlog less the largest of the nodes of F_ip, packets.
#[must_use]
pub fn differential(own: u32, downstream: impl IntoIterator<Item = u32>) -> i64 {
    i64::from(own) - downstream.into_iter().max().map_or(0, i64::from)
}

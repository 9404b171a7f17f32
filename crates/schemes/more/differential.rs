//! DiffQ over MORE: the nodes whose backlogs count (`opportunistic::backpressure` has the rest).
//!
//! Reading: MORE makes packets when it sends them; its queue is what a node is entitled to send (`node::Node::backlog_to`).

use airfair_wire::more::{Flow, Forwarders};

/// The forwarders that are nearer to the destination than `node`, the nearest first, and before them the destination; none for a node that
/// is neither in the list nor the source.
pub fn nearer(flow: Flow, forwarders: &Forwarders, node: u32) -> impl Iterator<Item = u32> + '_ {
    let list = forwarders.view();
    let place = if node == flow.source {
        Some(list.len())
    } else {
        list.iter().position(|forwarder| forwarder.node == node)
    };
    let before = list.iter().take(place.unwrap_or(0)).map(|forwarder| forwarder.node);
    place.map(|_| flow.destination).into_iter().chain(before)
}

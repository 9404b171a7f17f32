//! ExOR: the packets of a batch are broadcast, and the nearest node that has heard one forwards it, in turns.
//!
//! Source: Biswas, Morris, "ExOR: Opportunistic Multi-Hop Routing for Wireless Networks", SIGCOMM 2005. These are its laws, pure; no place
//! calls them yet. Ranks count from the destination, 0, to the source.
//!
//! | file | contents |
//! |---|---|
//! | `map` | batch maps: which node holds what |
//! | `turns` | whose turn it is |
//! | `node` | source, forwarder and destination |
//!
//! Who forwards: [`crate::opportunistic::expected`]. The paper simulates a delivery and takes the nodes that make at least a tenth of the
//! transmissions; here their expected number decides, which is the same without chance.

pub mod map;
pub mod node;
pub mod turns;

use alloc::vec::Vec;

use airfair_wire::exor::Nodes;

use crate::opportunistic::expected::Expected;

/// The list of a flow's nodes: the destination, forwarders, the source. `None` for more than [`Nodes::MOST`].
#[must_use]
pub fn listed(expected: &Expected) -> Option<Nodes> {
    Nodes::new(&expected.shares().iter().map(|share| share.node.0).collect::<Vec<_>>())
}

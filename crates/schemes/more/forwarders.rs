//! The forwarders of a flow with their credits, as its source computes them and writes them into each packet.
//!
//! Who forwards, and how often (z): [`crate::opportunistic::expected`]. A forwarder earns, for a packet that it hears from a node farther
//! from the destination, `TX_i = z_i / Σ_{j farther than i} z_j (1 − e_ji)`: it hears that many packets while the source has one delivered.

use alloc::vec::Vec;

use airfair_wire::more as wire;

use crate::opportunistic::expected::Expected;
use crate::opportunistic::losses::Losses;
use crate::places::NodeId;

/// A forwarder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forwarder {
    /// The node.
    pub node: NodeId,
    /// z: how often it sends for a packet that is delivered.
    pub sends: f64,
    /// TX: transmissions that it earns by a packet from a node farther away.
    pub credit: f64,
}

/// The forwarders of a flow without source and destination, the one nearest to the destination first.
#[must_use]
pub fn forwarders(losses: &Losses, expected: &Expected) -> Vec<Forwarder> {
    let shares = expected.shares();
    let inner = shares.get(1..shares.len().saturating_sub(1)).unwrap_or_default();
    let credit = |place: usize, node, sends: f64| {
        let heard: f64 = shares[place + 1..]
            .iter()
            .map(|farther| farther.sends * (1.0 - losses.loss(farther.node, node)))
            .sum();
        sends / heard
    };
    (1..)
        .zip(inner)
        .map(|(place, share)| Forwarder {
            node: share.node,
            sends: share.sends,
            credit: credit(place, share.node, share.sends),
        })
        .collect()
}

/// The list as it stands in a header. Credits are rounded to parts of 1/1024; above 64 they are cut off.
#[must_use]
pub fn listed(forwarders: &[Forwarder]) -> wire::Forwarders {
    wire::Forwarders::new(forwarders.iter().map(|forwarder| wire::Forwarder {
        node: forwarder.node.0,
        credit: wire::Credit::of(forwarder.credit),
    }))
}

//! Networks whose numbers can be worked out by hand.

use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::places::NodeId;

/// These links, both ways, each with its deliveries.
pub fn network(links: &[(u32, u32, f64)]) -> Losses {
    let nodes = links.iter().flat_map(|&(a, b, _)| [NodeId(a), NodeId(b)]);
    let mut losses = Losses::new(nodes);
    for &(a, b, delivery) in links {
        losses.set_both(NodeId(a), NodeId(b), delivery);
    }
    losses
}

/// Source 2, relay 1, destination 0.
pub const LINE: [(u32, u32, f64); 3] = [(2, 1, 0.8), (1, 0, 0.5), (2, 0, 0.2)];

/// Source 3, relays 1 and 2, which do not hear each other, destination 0.
pub const DIAMOND: [(u32, u32, f64); 4] = [(3, 1, 0.5), (3, 2, 0.5), (1, 0, 0.8), (2, 0, 0.8)];

/// Two rows, 10 12 14 and 11 13 15: 0.8 to a neighbour, 0.5 by a diagonal. Source 10, destination 14.
pub const MESH: [(u32, u32, f64); 11] = [
    (10, 12, 0.8),
    (12, 14, 0.8),
    (11, 13, 0.8),
    (13, 15, 0.8),
    (10, 11, 0.8),
    (12, 13, 0.8),
    (14, 15, 0.8),
    (10, 13, 0.5),
    (11, 12, 0.5),
    (12, 15, 0.5),
    (13, 14, 0.5),
];

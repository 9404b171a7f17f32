//! Networks by chance.

use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::places::NodeId;
use airfair_units::random::Stream;

/// Each of so many nodes hears each other with some probability.
pub fn random_network(nodes: u32, random: &mut Stream) -> Losses {
    let mut losses = Losses::new((0..nodes).map(NodeId));
    for a in 0..nodes {
        for b in 0..nodes {
            if random.below(3) > 0 {
                losses.set_delivery(NodeId(a), NodeId(b), random.uniform());
            }
        }
    }
    losses
}

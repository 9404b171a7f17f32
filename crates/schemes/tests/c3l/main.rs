//! C3L's laws by the sections of its paper, with numbers computed by hand: discovery and topology (III-B), allocation (III-C), capacities
//! (III-D), shares of flows (III-E), the local reaction; rounds of the controller; what is ours: profile,
//! controllers; and properties on random networks.

mod allocation;
mod aside;
mod capacity;
mod discovery;
mod faults;
mod hostile;
#[path = "../shared/hostile.rs"]
mod hostile_driver;
mod known_controllers;
mod local;
mod networks;
mod node;
mod overload;
mod places;
mod profile;
mod round;
mod shares;
mod topology;

use airfair_schemes::c3l::discovery::Neighbour;
use airfair_schemes::c3l::topology::{Link, Rules, Topology};
use airfair_schemes::places::NodeId;
use airfair_units::Time;

/// C_max of the tests, bit/s.
const C: f64 = 1_394_000.0;

const fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

const fn link(from: u32, to: u32) -> Link {
    Link::new(NodeId(from), NodeId(to))
}

/// A network of nodes that hear all HELLOs of those in `near` and the probes only of those in `far`, with these links in use.
fn network(rules: Rules, near: &[(u32, u32)], far: &[(u32, u32)], used: &[Link]) -> Topology {
    let mut topology = Topology::new(rules);
    let mut nodes: Vec<u32> = near.iter().chain(far).flat_map(|&(a, b)| [a, b]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    for &node in &nodes {
        let heard = |pairs: &[(u32, u32)], hellos: u8| -> Vec<Neighbour> {
            let other = |&(a, b): &(u32, u32)| if a == node { Some(b) } else { (b == node).then_some(a) };
            let listed = |other: u32| Neighbour { node: NodeId(other), hellos, probes: 255 };
            pairs.iter().filter_map(other).map(listed).collect()
        };
        let mut list = heard(near, 255);
        list.extend(heard(far, 0));
        topology.report(NodeId(node), &list, at(0));
    }
    topology.use_links(used.iter().copied(), at(0));
    topology.update();
    topology
}

/// The cliques as links, in their order.
fn cliques(topology: &Topology) -> Vec<Vec<Link>> {
    let link = |&number: &u32| topology.link(number).unwrap();
    topology.cliques().iter().map(|clique| clique.iter().map(link).collect()).collect()
}

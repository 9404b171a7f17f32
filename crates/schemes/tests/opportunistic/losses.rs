//! ETX and order.

use std::sync::Arc;

use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::places::{DeliveryRatios, NodeId};
use airfair_units::random::{Purpose, Stream};
use proptest::prelude::*;

use crate::networks::{DIAMOND, LINE, MESH, network};
use crate::random::random_network;

fn ids(nodes: &[u32]) -> Vec<NodeId> {
    nodes.iter().copied().map(NodeId).collect()
}

#[test]
fn paths_by_hand() {
    let line = network(&LINE).distances(NodeId(0));
    // 1 / 0.5 and 1 / 0.8 more; the direct link would be 5.
    assert_eq!([0, 1, 2].map(|node| line.etx(NodeId(node))), [0.0, 2.0, 3.25]);
    assert_eq!([0, 1, 2].map(|node| line.next(NodeId(node))), [None, Some(NodeId(0)), Some(NodeId(1))]);
    assert_eq!(line.nearer(NodeId(2)), ids(&[0, 1, 2]));
    let diamond = network(&DIAMOND).distances(NodeId(0));
    assert_eq!(diamond.nearer(NodeId(3)), ids(&[0, 1, 2, 3]), "of two that are as far the smaller number");
    assert_eq!(diamond.next(NodeId(3)), Some(NodeId(1)));
    assert_eq!(diamond.nearer(NodeId(2)), ids(&[0, 2]), "one that is as far is no forwarder");
    let mesh = network(&MESH).distances(NodeId(14));
    let etx = [10, 11, 12, 13, 15].map(|node| mesh.etx(NodeId(node)));
    assert_eq!(etx, [2.5, 3.25, 1.25, 2.0, 1.25]);
    assert_eq!(mesh.nearer(NodeId(10)), ids(&[14, 12, 15, 13, 10]));
}

#[test]
fn directions_differ() {
    let mut losses = Losses::new(ids(&[2, 1, 1]));
    losses.set_delivery(NodeId(1), NodeId(2), 0.25);
    assert_eq!(losses.nodes(), ids(&[1, 2]));
    assert_eq!((losses.loss(NodeId(1), NodeId(2)), losses.loss(NodeId(2), NodeId(1))), (0.75, 1.0));
    assert_eq!(losses.distances(NodeId(2)).etx(NodeId(1)), 4.0);
    assert_eq!(losses.distances(NodeId(1)).etx(NodeId(2)), f64::INFINITY);
    assert!(losses.distances(NodeId(1)).nearer(NodeId(2)).is_empty());
}

#[test]
fn what_is_no_link() {
    let mut losses = network(&LINE);
    for delivery in [-0.1, 1.1, f64::NAN] {
        losses.set_delivery(NodeId(2), NodeId(1), delivery);
    }
    losses.set_delivery(NodeId(2), NodeId(9), 1.0);
    losses.set_delivery(NodeId(2), NodeId(2), 1.0);
    assert_eq!(losses, network(&LINE));
    assert_eq!(losses.loss(NodeId(9), NodeId(2)), 1.0);
    assert_eq!(losses.distances(NodeId(9)).etx(NodeId(1)), f64::INFINITY);
}

/// A link that delivers nothing is none: it is not stored, and one that was is forgotten.
#[test]
fn a_link_that_delivers_nothing_is_none() {
    let mut diamond = network(&DIAMOND);
    diamond.set_both(NodeId(1), NodeId(2), 0.0);
    assert_eq!(diamond, network(&DIAMOND));
    diamond.set_both(NodeId(3), NodeId(2), 0.0);
    let without: Vec<_> = DIAMOND.into_iter().filter(|&(a, b, _)| (a, b) != (3, 2)).collect();
    assert_eq!(diamond, network(&without));
    // All from 3 goes by 1: two transmissions to it, 1.25 from there.
    let distances = diamond.distances(NodeId(0));
    assert_eq!((distances.etx(NodeId(3)), distances.next(NodeId(3))), (3.25, Some(NodeId(1))));
}

proptest! {
    /// No link is shorter than what it saves, and the best path is one of links.
    #[test]
    fn distances_are_those_of_best_paths(nodes in 2u32..12, seed: u64) {
        let losses = random_network(nodes, &mut Stream::new(seed, "losses", Purpose::Placement));
        let distances = losses.distances(NodeId(0));
        for a in (1..nodes).map(NodeId) {
            for b in (0..nodes).map(NodeId).filter(|&b| losses.loss(a, b) < 1.0) {
                let by = 1.0 / (1.0 - losses.loss(a, b)) + distances.etx(b);
                prop_assert!(distances.etx(a) <= by);
                prop_assert!(distances.next(a) != Some(b) || distances.etx(a) == by);
            }
            prop_assert_eq!(distances.next(a).is_some(), distances.etx(a) < f64::INFINITY);
        }
    }
}

/// Ratios of a cell: all nodes hear each other.
fn cell(nodes: u32, ratio: impl Fn(usize, usize) -> f64) -> DeliveryRatios {
    let n = nodes as usize;
    let pairs = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
    let links: Vec<_> = pairs.map(|(from, to)| (from, to, ratio(from, to))).collect();
    DeliveryRatios::new((0..nodes).map(NodeId), links)
}

/// The work of n sources in a cell of n nodes, each with a destination of its own, is that of n squared: no source copies the n squared
/// links, and each looks at those of its destination, n - 1. For all distances it would look at n (n - 1).
#[test]
fn sources_of_a_cell_look_at_the_links_of_their_destinations() {
    for n in [10, 40, 160] {
        let ratios = cell(n, |_, _| 0.9);
        let all: Vec<Losses> = (0..n).map(|_| Losses::of(&ratios)).collect();
        assert_eq!(Arc::strong_count(ratios.numbered()), all.len() + 1, "the lists are shared");
        let look = |source: u32| {
            let losses = &all[source as usize];
            let to = NodeId((source + 1) % n);
            let near = losses.distances_to_source(to, NodeId(source));
            assert_eq!(near.nearer(NodeId(source)), [to, NodeId(source)]);
            (near.looked_at(), losses.distances(to).looked_at())
        };
        for source in 0..n {
            let (near, whole) = look(source);
            assert_eq!((near, whole), ((n - 1) as usize, (n * (n - 1)) as usize));
        }
    }
}

/// Given ratios are the losses that a node would set by itself, in whichever order the nodes are given.
#[test]
fn shared_lists_are_those_of_a_node() {
    let ratio = |from: usize, to: usize| {
        if (from * 7 + to * 3).is_multiple_of(4) { 0.0 } else { 1.0 / (1 + from + 2 * to) as f64 }
    };
    let ratios = cell(12, ratio);
    let given = Losses::of(&ratios);
    let mut own = Losses::new((0..12).map(NodeId));
    for (from, to) in (0..12).flat_map(|from| (0..12).map(move |to| (from, to))) {
        own.set_delivery(NodeId(from), NodeId(to), ratio(from as usize, to as usize));
    }
    let turned: Vec<_> =
        ratios.links.iter().map(|l| (11 - l.from as usize, 11 - l.to as usize, l.ratio)).collect();
    let turned = Losses::of(&DeliveryRatios::new((0..12).rev().map(NodeId), turned));
    for losses in [&given, &turned] {
        assert_eq!(*losses, own);
        for node in (0..12).map(NodeId) {
            assert_eq!(losses.distances(node).nearer(NodeId(3)), own.distances(node).nearer(NodeId(3)));
            assert_eq!(losses.loss(node, NodeId(5)), own.loss(node, NodeId(5)));
        }
    }
    // A list that is changed is a node's own.
    let mut changed = given.clone();
    changed.set_delivery(NodeId(0), NodeId(1), 0.25);
    assert_eq!((changed.loss(NodeId(0), NodeId(1)), given), (0.75, own));
}

proptest! {
    /// A search that ends at the source finds what a search of the whole network finds, as far as the source needs it.
    #[test]
    fn the_nearer_nodes_are_those_of_all_distances(seed in any::<u64>(), n in 2_u32..20) {
        let losses = random_network(n, &mut Stream::new(seed, "near", Purpose::Placement));
        let (source, destination) = (NodeId(n - 1), NodeId(0));
        let (near, all) = (losses.distances_to_source(destination, source), losses.distances(destination));
        let nearer = all.nearer(source);
        prop_assert_eq!(&near.nearer(source), &nearer);
        for &node in &nearer {
            prop_assert_eq!(near.etx(node).to_bits(), all.etx(node).to_bits());
            prop_assert_eq!(near.next(node), all.next(node));
        }
        prop_assert!(near.looked_at() <= all.looked_at());
    }
}

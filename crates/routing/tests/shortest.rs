//! Shortest paths computed by hand.

use airfair_routing::shortest::{Link, Metric, ShortestPaths};

/// A link over which a packet needs `sent` transmissions on average.
fn link(to: u32, sent: f64) -> Link {
    Link { to, interface: 0, delivery: 1.0 / sent }
}

fn paths(links: &[Vec<Link>], ranks: [u32; 4]) -> ShortestPaths {
    ShortestPaths::new(links.to_vec(), Metric::Etx, ranks.to_vec())
}

/// First hop of node 0 towards `destination`.
fn first(links: &[Vec<Link>], destination: u32, ranks: [u32; 4]) -> Option<u32> {
    let steps = paths(links, ranks).towards(destination, &[0]);
    steps.iter().find(|step| step.0 == 0).map(|step| step.1.node)
}

#[test]
fn the_next_hops_of_a_line() {
    let near = |i: u32| [i.wrapping_sub(1), i + 1].into_iter().filter(|&to| to < 4);
    let line: Vec<Vec<Link>> = (0..4).map(|i| near(i).map(|to| link(to, 1.0)).collect()).collect();
    let mut paths = paths(&line, [0, 1, 2, 3]);
    let next: Vec<_> = paths.towards(3, &[0]).iter().map(|step| (step.0, step.1.node)).collect();
    assert_eq!(next, [(0, 1), (1, 2), (2, 3)]);
    // Only nodes on the path are included.
    let next: Vec<_> = paths.towards(3, &[2]).iter().map(|step| (step.0, step.1.node)).collect();
    assert_eq!(next, [(2, 3)]);
}

#[test]
fn ties_go_to_the_lowest_rank() {
    // A diamond 0 - {1, 2} - 3.
    let e = |to| link(to, 1.0);
    let links = [vec![e(1), e(2)], vec![e(0), e(3)], vec![e(0), e(3)], vec![e(1), e(2)]];
    assert_eq!(first(&links, 3, [0, 1, 2, 3]), Some(1));
    assert_eq!(first(&links, 3, [0, 2, 1, 3]), Some(2));
}

#[test]
fn costs_beat_hops_and_islands_have_no_route() {
    let links = [vec![link(1, 1.0), link(2, 5.0)], vec![link(2, 1.5)], vec![], vec![]];
    assert_eq!(first(&links, 2, [0, 1, 2, 3]), Some(1));
    assert_eq!(first(&links, 3, [0, 1, 2, 3]), None);
    let steps = ShortestPaths::new(links.to_vec(), Metric::Hops, vec![0, 1, 2, 3]).towards(2, &[0]);
    assert_eq!(steps.iter().map(|step| (step.0, step.1.node)).collect::<Vec<_>>(), [(0, 2)]);
}

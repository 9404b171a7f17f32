//! Shortest paths computed by hand.

use airfair_routing::shortest::{Link, Metric, ShortestPaths};

/// A link over which a packet needs `sent` transmissions on average.
fn link(to: u32, sent: f64) -> Link {
    Link { to, interface: 0, delivery: 1.0 / sent, is_cable: false }
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

/// ETX counts transmissions on the air: two cables are shorter than one radio link, one cable is shorter than two, and a cable that loses
/// every second packet costs the second transmission.
#[test]
fn a_cable_takes_no_air() {
    let cable = |to: u32, delivery: f64| Link { delivery, is_cable: true, ..link(to, 1.0) };
    let way = |direct: Link, metric: Metric| {
        let links = [vec![direct, cable(1, 1.0)], vec![cable(2, 1.0)], vec![], vec![]];
        let steps = ShortestPaths::new(links.to_vec(), metric, vec![0, 1, 2, 3]).towards(2, &[0]);
        steps.iter().find(|step| step.0 == 0).map(|step| step.1.node)
    };
    assert_eq!(way(link(2, 1.0), Metric::Etx), Some(1));
    assert_eq!(way(cable(2, 1.0), Metric::Etx), Some(2));
    assert_eq!(way(cable(2, 0.5), Metric::Etx), Some(1));
    assert_eq!(way(link(2, 1.0), Metric::Hops), Some(2));
    // One lost packet in two is one transmission more: as far as a radio link without losses, which is not as good as one of 0.6.
    let lossy = |sent: f64| [vec![link(1, sent), cable(2, 0.5)], vec![link(2, 0.0001)], vec![], vec![]];
    assert_eq!(first(&lossy(1.1), 2, [0, 1, 2, 3]), Some(2));
    assert_eq!(first(&lossy(0.9), 2, [0, 1, 2, 3]), Some(1));
}

/// A line 0 - 1 - 2 - 3 with links of 1, 2 and 1 transmissions, and gateways at its ends.
#[test]
fn the_nearest_destination_is_the_cheapest() {
    let links = [
        vec![link(1, 1.0)],
        vec![link(0, 1.0), link(2, 2.0)],
        vec![link(1, 2.0), link(3, 1.0)],
        vec![link(2, 1.0)],
    ];
    let nearest = |ranks: [u32; 4], to: &[u32]| paths(&links, ranks).nearest(to);
    assert_eq!(nearest([0, 1, 2, 3], &[0, 3]), [Some(0), Some(0), Some(3), Some(3)]);
    assert_eq!(nearest([0, 1, 2, 3], &[3]), [Some(3); 4]);
    // The middle of three is as far from both ends: the lower rank decides.
    let even = [vec![link(1, 1.0)], vec![link(0, 1.0), link(2, 1.0)], vec![link(1, 1.0)], vec![]];
    for (ranks, middle) in [([0, 1, 2, 3], 0), ([2, 1, 0, 3], 2)] {
        assert_eq!(paths(&even, ranks).nearest(&[0, 2]), [Some(0), Some(middle), Some(2), None]);
    }
}

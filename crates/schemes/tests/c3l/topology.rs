//! §III-B, at the controller: conflicts, cliques and inhibited links of small networks, by hand.

use airfair_schemes::c3l::discovery::Neighbour;
use airfair_schemes::c3l::topology::{Conflict, Hider, Link, Reach, Rules, Topology, Vertices};
use airfair_schemes::places::NodeId;
use airfair_units::Span;

use super::{at, cliques, link, network};

const fn hears(node: u32, hellos: u8, probes: u8) -> Neighbour {
    Neighbour { node: NodeId(node), hellos, probes }
}

/// 51 is 0.2, 128 is just above 0.5, 127 just below.
#[test]
fn usable_links_and_interference() {
    let mut topology = Topology::new(Rules { interferes: 0.2, ..Rules::default() });
    topology.report(
        NodeId(1),
        &[hears(2, 128, 255), hears(3, 127, 127), hears(4, 0, 51), hears(5, 0, 50), hears(1, 255, 255)],
        at(0),
    );
    let usable = |from| topology.usable(link(from, 1));
    assert_eq!([1, 2, 3, 4, 5, 6].map(usable), [false, true, false, false, false, false]);
    assert!(!topology.usable(link(1, 2)), "2 has not reported");
    assert_eq!(topology.delivery(link(3, 1)), 127.0 / 255.0);
    let near = |node| topology.interferes(NodeId(1), NodeId(node));
    assert_eq!([1, 2, 3, 4, 5].map(near), [false, true, true, true, false]);
    assert!(topology.interferes(NodeId(4), NodeId(1)), "in both directions");
    assert_eq!(topology.usable_links(), [link(2, 1)]);
    topology.report(NodeId(2), &[hears(1, 255, 0), hears(3, 200, 0)], at(0));
    assert_eq!(topology.usable_links(), [link(1, 2), link(2, 1), link(3, 2)]);
    assert_eq!(topology.nodes().collect::<Vec<_>>(), [NodeId(1), NodeId(2)]);
    // Either direction is enough: 1 hears 2 no more, but 2 hears 1.
    topology.report(NodeId(1), &[], at(0));
    assert!(topology.interferes(NodeId(1), NodeId(2)) && !topology.interferes(NodeId(1), NodeId(3)));
    assert!(Topology::new(Rules::default()).lists_all());
    // A threshold of 0 needs something to be heard.
    let mut all = Topology::new(Rules { interferes: 0.0, ..Rules::default() });
    all.report(NodeId(1), &[hears(2, 0, 0), hears(3, 1, 0)], at(0));
    assert_eq!([2, 3].map(|node| all.interferes(NodeId(1), NodeId(node))), [false, true]);
}

/// A line 1 to 6 in which neighbours hear each other, and nothing farther. Links 1>2, 3>4, 5>6: 2 and 3 interfere, so do 4 and 5. With RTS
/// the middle link is in conflict with both; without, only if a sender reaches a receiver: 3 reaches 2 and 5 reaches 4: both too. Turned
/// round, 2>1, 3>4: the senders are next to each other, no sender to a receiver.
#[test]
fn conflicts_with_and_without_rts() {
    let line = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)];
    let used = [link(1, 2), link(3, 4), link(5, 6)];
    let both = vec![vec![link(1, 2), link(3, 4)], vec![link(3, 4), link(5, 6)]];
    let receivers = Rules { conflict: Conflict::Receivers, ..Rules::default() };
    for rules in [Rules::default(), receivers] {
        assert_eq!(cliques(&network(rules, &line, &[], &used)), both);
    }
    let apart = [link(2, 1), link(3, 4)];
    assert_eq!(cliques(&network(Rules::default(), &line, &[], &apart)), [apart.to_vec()]);
    assert_eq!(cliques(&network(receivers, &line, &[], &apart)), [[apart[0]], [apart[1]]]);
    // Receivers next to each other: RTS/CTS only. Links that share a node: always.
    let receiving = [link(1, 2), link(4, 3)];
    assert_eq!(cliques(&network(Rules::default(), &line, &[], &receiving)).len(), 1);
    assert_eq!(cliques(&network(receivers, &line, &[], &receiving)).len(), 2);
    for used in [
        [link(1, 2), link(2, 3)],
        [link(1, 2), link(3, 2)],
        [link(2, 1), link(2, 3)],
        [link(1, 2), link(2, 1)],
    ] {
        assert_eq!(cliques(&network(receivers, &line, &[], &used)).len(), 1);
    }
    // One clique of probes alone: 1 and 6 hear each other's.
    let ring = network(Rules::default(), &line, &[(1, 6)], &used);
    assert_eq!(cliques(&ring), [used.to_vec()]);
    assert!(ring.conflict(used[0], used[2]) && ring.lists_all());
}

/// Figure 1(a): 1, 2, 3, 4 in a line; 1>2 is inhibited by 3>4, since 3 is near 2 and 1 does not hear it. 3>4 is not: 1, near nobody of
/// 4's, and 2, which 3 hears.
#[test]
fn an_inhibited_link() {
    let line = network(Rules::default(), &[(1, 2), (2, 3), (3, 4)], &[], &[]);
    assert!(line.hidden(link(1, 2), link(3, 4)) && !line.hidden(link(3, 4), link(1, 2)));
    assert!(line.inhibited(link(1, 2)));
    // 4 hears 3 only: no other node is near 4.
    assert!(!line.inhibited(link(3, 4)));
    // 2>1: nobody but 2 is near 1.
    assert!(!line.inhibited(link(2, 1)));
    // If 1 hears 3's probes, the link is not inhibited.
    let sensed = network(Rules::default(), &[(1, 2), (2, 3), (3, 4)], &[(1, 3)], &[]);
    assert!(!sensed.inhibited(link(1, 2)) && !sensed.hidden(link(1, 2), link(3, 4)));
    // Links that share a node: 3>2 is near 2 and not sensed, but 2 knows its own links.
    assert!(!line.hidden(link(1, 2), link(3, 2)) && !line.hidden(link(1, 2), link(2, 3)));
}

/// 3 hears 2's probes only: in interference range, not in communication range.
#[test]
fn reach_of_the_definition() {
    let near = [(1, 2), (3, 4)];
    let paper = network(Rules::default(), &near, &[(2, 3)], &[]);
    assert!(!paper.inhibited(link(1, 2)) && !paper.hidden(link(1, 2), link(3, 4)));
    let far = network(Rules { reach: Reach::Interference, ..Rules::default() }, &near, &[(2, 3)], &[]);
    assert!(far.inhibited(link(1, 2)) && far.hidden(link(1, 2), link(3, 4)));
    assert!(!far.hidden(link(3, 4), link(5, 6)));
}

/// 4>3: the receiver is hidden from 1. With `hider = "sender"` only senders count.
#[test]
fn a_hidden_receiver() {
    let line = [(1, 2), (2, 3), (3, 4)];
    let either = network(Rules::default(), &line, &[], &[]);
    let sender = network(Rules { hider: Hider::Sender, ..Rules::default() }, &line, &[], &[]);
    assert!(either.hidden(link(1, 2), link(4, 3)) && !sender.hidden(link(1, 2), link(4, 3)));
    assert!(sender.hidden(link(1, 2), link(3, 4)) && sender.inhibited(link(1, 2)));
}

/// A link stays in the graph for `keep` after its last use; a node's report for `expiry`.
#[test]
fn links_and_nodes_expire() {
    let rules = Rules { keep: Span::from_secs(10), expiry: Span::from_secs(20), ..Rules::default() };
    let mut topology = network(rules, &[(1, 2), (3, 4)], &[(2, 3)], &[link(1, 2), link(3, 4)]);
    assert!(!topology.update(), "nothing has changed");
    topology.use_links([link(1, 2)], at(9999));
    assert!(!topology.update());
    assert_eq!(cliques(&topology), [[link(1, 2), link(3, 4)]]);
    topology.use_links([link(1, 2)], at(10_000));
    assert!(topology.update());
    assert_eq!(cliques(&topology), [[link(1, 2)]]);
    assert_eq!((topology.number(link(3, 4)), topology.number(link(1, 2)).is_some()), (None, true));
    topology.use_links([link(3, 4), link(1, 2)], at(10_000));
    assert!(topology.update());
    assert_eq!(cliques(&topology), [[link(1, 2), link(3, 4)]]);
    // 2 and 3 forget each other when both have stopped to report.
    assert!(topology.confirm(NodeId(3), at(5000)) && !topology.confirm(NodeId(9), at(5000)));
    topology.expire(at(19_999));
    assert_eq!(topology.nodes().len(), 4);
    topology.expire(at(20_000));
    assert_eq!(topology.nodes().collect::<Vec<_>>(), [NodeId(3)]);
    topology.update();
    assert_eq!(cliques(&topology), [[link(1, 2), link(3, 4)]], "3 still says so");
    topology.expire(at(25_000));
    assert!(topology.update());
    assert_eq!(cliques(&topology), [[link(1, 2)], [link(3, 4)]]);
}

/// As many nodes, neighbours and links as are allowed.
#[test]
fn tables_have_limits() {
    let mut topology = Topology::new(Rules { nodes: 2, neighbours: 2, links: 2, ..Rules::default() });
    topology.report(NodeId(1), &[hears(4, 255, 255), hears(2, 255, 255), hears(3, 255, 255)], at(2));
    assert_eq!(topology.usable_links(), [link(2, 1), link(3, 1)]);
    topology.report(NodeId(2), &[], at(1));
    topology.report(NodeId(1), &[], at(3));
    assert_eq!(topology.nodes().collect::<Vec<_>>(), [NodeId(1), NodeId(2)]);
    topology.report(NodeId(3), &[], at(4));
    assert_eq!(topology.nodes().collect::<Vec<_>>(), [NodeId(1), NodeId(3)], "2 has reported before 1");
    topology.use_links([link(1, 2), link(2, 3), link(3, 4), link(5, 5)], at(5));
    assert_eq!(topology.left_out(), 2);
    assert!(topology.update());
    assert_eq!(cliques(&topology), [[link(1, 2), link(2, 3)]]);
    assert_eq!(topology.number_bound(), 2);
    // Twice in a list: the first counts.
    let mut twice = Topology::new(Rules::default());
    twice.report(NodeId(1), &[hears(2, 10, 10), hears(2, 255, 255)], at(0));
    assert_eq!(twice.delivery(link(2, 1)), 10.0 / 255.0);
}

/// With all usable links as vertices: a triangle has 6 links and one clique.
#[test]
fn all_usable_links_as_vertices() {
    let rules = Rules { vertices: Vertices::Usable, ..Rules::default() };
    let triangle = network(rules, &[(1, 2), (2, 3), (1, 3)], &[], &[link(1, 2), link(7, 8)]);
    let sizes: Vec<usize> = cliques(&triangle).iter().map(Vec::len).collect();
    assert_eq!(sizes, [6, 1]);
}

/// A grid in which the nodes of each square of four hear each other's probes: the cliques of all links of n x n nodes are the (n - 1)^2
/// squares, with 24 links each inside.
#[test]
fn cliques_of_grids() {
    for n in [2_u32, 3, 4, 8] {
        let node = |x: u32, y: u32| 1 + x + n * y;
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for (x, y) in (0..n * n).map(|at| (at % n, at / n)) {
            let inside = |(x, y): &(u32, u32)| *x < n && *y < n;
            near.extend(
                [(x + 1, y), (x, y + 1)].into_iter().filter(inside).map(|(a, b)| (node(x, y), node(a, b))),
            );
            let diagonal = [(x + 1, y + 1), (x.wrapping_sub(1), y + 1)];
            far.extend(diagonal.into_iter().filter(inside).map(|(a, b)| (node(x, y), node(a, b))));
        }
        let rules = Rules { vertices: Vertices::Usable, ..Rules::default() };
        let grid = network(rules, &near, &far, &[]);
        assert_eq!(grid.number_bound() as u32, 4 * n * (n - 1));
        assert_eq!(grid.cliques().len() as u32, (n - 1) * (n - 1));
        let largest = grid.cliques().iter().map(<[u32]>::len).max();
        assert_eq!(
            largest,
            Some(match n {
                2 => 8,
                3 => 16,
                _ => 24,
            })
        );
    }
}

/// Links of numbers: what was given back is used again, and numbers and links stay each other's inverse.
#[test]
fn numbers_and_links() {
    let line: Vec<(u32, u32)> = (1..20).map(|node| (node, node + 1)).collect();
    let used: Vec<Link> = line.iter().map(|&(a, b)| link(a, b)).collect();
    let rules = Rules { keep: Span::ZERO, ..Rules::default() };
    let mut topology = network(rules, &line, &[], &used);
    assert_eq!(topology.cliques().len(), 17, "three links in a row, 19 - 2 times");
    // A link less, then another one: few changes, which are made in place.
    topology.use_links(used[1..].iter().copied(), at(1));
    assert!(topology.update());
    assert_eq!((topology.number(used[0]), topology.cliques().len()), (None, 16));
    topology.use_links(used[1..].iter().copied().chain([link(2, 1)]), at(2));
    assert!(topology.update());
    assert_eq!(topology.number_bound(), 19);
    let number = topology.number(link(2, 1)).unwrap();
    assert_eq!((topology.link(number), topology.link(99)), (Some(link(2, 1)), None));
    assert_eq!(cliques(&topology)[0], [link(2, 1), link(2, 3), link(3, 4)]);
    assert!(topology.membership().of(number).contains(&0));
}

/// Node 1 hears node 2, and node 2 does not hear node 1: they interfere, or need to hear each other for that.
#[test]
fn one_ear_or_two() {
    for (mutual, both, number) in [(false, false, 1), (true, false, 2), (true, true, 1)] {
        let mut topology = Topology::new(Rules { mutual, ..Rules::default() });
        topology.report(NodeId(1), &[hears(2, 255, 255)], at(0));
        topology.report(NodeId(2), &[hears(1, 255, 255)][..usize::from(both)], at(0));
        topology.use_links([link(1, 3), link(2, 4)], at(0));
        topology.update();
        assert_eq!(cliques(&topology).len(), number, "mutual: {mutual}, both: {both}");
    }
}

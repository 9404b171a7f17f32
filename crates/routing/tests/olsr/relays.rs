//! Selection of multipoint relays [RFC 3626 sections 8.3.1, 16].

use crate::support::*;
use airfair_routing::olsr::OlsrConfig;

/// Relays of a node whose neighbours have these willingness and neighbours.
fn relays(coverage: u32, neighbours: &[(u8, u8, &[u8])]) -> Vec<u8> {
    let mut node = Node::started(&OlsrConfig { mpr_coverage: coverage, ..config() });
    let meet = |node: &mut Node, &(number, will, others): &(u8, u8, &[u8])| {
        node.receive(500, number, &[hello(number, will, &[(SYMMETRIC, &[&[1], others].concat())])]);
    };
    neighbours.iter().for_each(|neighbour| meet(&mut node, neighbour));
    let found = node.relays();
    // In the other order of messages the result is the same.
    let mut node = Node::started(&OlsrConfig { mpr_coverage: coverage, ..config() });
    neighbours.iter().rev().for_each(|neighbour| meet(&mut node, neighbour));
    assert_eq!(node.relays(), found);
    found
}

#[test]
fn without_nodes_two_hops_away_there_are_no_relays() {
    assert_eq!(relays(1, &[]), []);
    // Neighbours of neighbours that are neighbours, or this node itself, need no relay.
    assert_eq!(relays(1, &[(2, 3, &[3]), (3, 3, &[2])]), []);
    // One that is always willing is a relay in any case.
    assert_eq!(relays(1, &[(2, 7, &[3]), (3, 3, &[2])]), [2]);
}

#[test]
fn the_only_way_to_a_node_is_a_relay() {
    assert_eq!(relays(1, &[(2, 1, &[10]), (3, 6, &[11, 12]), (4, 3, &[11, 12])]), [2, 3]);
    // 4 is the only way to 13, and covers all that 3 does.
    assert_eq!(relays(1, &[(2, 3, &[10]), (3, 6, &[11, 12]), (4, 3, &[11, 12, 13])]), [2, 4]);
}

/// Every node is reached by two neighbours, so that nobody is selected in advance.
#[test]
fn willingness_then_new_nodes_then_all_nodes_decide() {
    // Willingness: 3 reaches more, 2 is more willing.
    assert_eq!(relays(1, &[(2, 4, &[10]), (3, 3, &[10, 11]), (4, 3, &[11])]), [2, 3]);
    // New nodes: 4 reaches three, then 10 is left, for 2 or 3: the lower address.
    assert_eq!(
        relays(1, &[(2, 3, &[10, 11]), (3, 3, &[10, 12]), (4, 3, &[11, 12, 13]), (5, 3, &[13])]),
        [2, 4]
    );
    // After 4 both 2 and 3 reach one new node; 3 reaches more nodes in all.
    let five: [(u8, u8, &[u8]); 4] =
        [(2, 3, &[10, 11]), (3, 3, &[10, 11, 12]), (4, 3, &[11, 12, 13, 14]), (5, 3, &[13, 14])];
    assert_eq!(relays(1, &five), [3, 4]);
    // Equal in all: the lowest address.
    assert_eq!(relays(1, &[(2, 3, &[10]), (3, 3, &[10]), (4, 3, &[10])]), [2]);
}

#[test]
fn who_is_never_willing_is_no_relay() {
    assert_eq!(relays(1, &[(2, 0, &[10, 11]), (3, 1, &[10])]), [3]);
}

/// Coverage 2: each node two hops away has two relays, or as many as there are.
#[test]
fn coverage_asks_for_several_relays() {
    let all: [(u8, u8, &[u8]); 4] = [(2, 3, &[10]), (3, 3, &[10]), (4, 3, &[10]), (5, 3, &[11])];
    assert_eq!(relays(1, &all), [2, 5]);
    assert_eq!(relays(2, &all), [2, 3, 5]);
    assert_eq!(relays(3, &all), [2, 3, 4, 5]);
    assert_eq!(relays(9, &all), [2, 3, 4, 5]);
}

/// Relays are selected for each interface: 10 is reached by both, so each has a relay.
#[test]
fn every_interface_has_its_relays() {
    let mut node = Node::with_interfaces(1, 2, &config());
    node.timer(0);
    node.receive_by(500, 0, 2, &[hello(2, 3, &[(SYMMETRIC, &[1, 10])])]);
    node.receive_by(500, 0, 4, &[hello(4, 3, &[(SYMMETRIC, &[1, 10])])]);
    node.receive_by(500, 1, 3, &[hello(3, 3, &[(SYMMETRIC, &[1, 10])])]);
    assert_eq!(node.relays(), [2, 3]);
}

//! The routing table [RFC 3626 section 10].

use crate::support::*;
use airfair_routing::olsr::OlsrConfig;
use airfair_routing::{DropReason, Effect, Routing};
use airfair_units::Span;

#[test]
fn without_a_route_packets_are_dropped() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[3]);
    let (hop_to, effects) = node.effects(ms(600), |olsr, cx| olsr.originate(7, at(3), cx));
    assert_eq!((hop_to, effects), (Some(hop(2)), vec![]));
    let (hop_to, effects) = node.effects(ms(600), |olsr, cx| olsr.relay(8, [at(2), at(9)], hop(2), cx));
    assert_eq!((hop_to, effects), (None, vec![Effect::Drop { packet: 8, reason: DropReason::NoRoute }]));
    let (hop_to, effects) = node.effects(ms(600), |olsr, cx| olsr.originate(9, at(9), cx));
    assert_eq!((hop_to, effects), (None, vec![Effect::Drop { packet: 9, reason: DropReason::NoRoute }]));
    assert!(node.routing.waiting().is_empty());
}

/// The fewest hops decide, then the most willing neighbour, then the lowest address.
#[test]
fn shortest_paths_with_ties_by_address() {
    let mut node = Node::started(&config());
    node.meet(500, 3, &[8, 9]);
    node.meet(500, 2, &[8]);
    node.meet(500, 4, &[9, 2]);
    node.tc(600, 2, 8, 1, &[10, 9]);
    node.tc(600, 2, 9, 1, &[10, 11]);
    assert_eq!(
        node.routes(),
        [(2, 2, 1), (3, 3, 1), (4, 4, 1), (8, 2, 2), (9, 3, 2), (10, 2, 3), (11, 3, 3)]
    );
    node.receive(700, 4, &[hello(4, 4, &[(SYMMETRIC, &[1, 9, 2])])]);
    assert_eq!(
        node.routes(),
        [(2, 2, 1), (3, 3, 1), (4, 4, 1), (8, 2, 2), (9, 4, 2), (10, 4, 3), (11, 4, 3)]
    );
}

/// The links of a neighbour are taken from its HELLOs, not from its TCs; links from this node are its own.
#[test]
fn links_of_neighbours_come_from_their_hellos() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[3]);
    node.tc(600, 2, 2, 1, &[9]);
    node.tc(600, 2, 3, 1, &[1, 4]);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2), (4, 2, 3)]);
}

#[test]
fn the_revision_changes_with_next_hops() {
    let mut node = Node::started(&config());
    let start = node.routing.table().revision;
    node.meet(500, 2, &[3]);
    let met = node.routing.table().revision;
    assert!(met > start);
    node.meet(2500, 2, &[3]);
    node.tc(2500, 2, 3, 1, &[2]);
    assert_eq!(node.routing.table().revision, met);
    // 3 becomes a neighbour: another hop, no loss.
    node.meet(3000, 3, &[]);
    assert!(node.routing.table().revision > met);
    assert_eq!(node.routing.table().lost, 0);
}

/// The deadline is never past, and the timer works at any time.
#[test]
fn timers_at_any_time() {
    let jitter = OlsrConfig { max_jitter: Span::from_millis(300), ..config() };
    let mut node = Node::with_interfaces(1, 1, &jitter);
    node.timer(0);
    for step in 1..400 {
        let now = step * 137;
        node.until(now);
        if step % 7 == 0 {
            node.selected(now, 2, &[3]);
            node.tc(now, 2, 3, 1, &[4]);
        }
        node.timer(now);
        assert!(node.routing.deadline() > ms(now));
    }
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2), (4, 2, 3)]);
}

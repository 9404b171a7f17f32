//! Broken links.

use airfair_routing::Routing;
use airfair_routing::dsdv::{DsdvConfig, INFINITY};

use crate::support::*;

#[test]
fn a_neighbour_without_updates_for_three_periods_is_lost() {
    let mut node = Node::started(&config());
    node.receive(1000, &[(2, 1, 4), (9, 4, 20)], 2);
    node.receive(2000, &[(3, 1, 6), (8, 4, 20)], 3);
    // Any update counts, old news too.
    assert_eq!(node.until(20_000).len(), 1);
    node.receive(20_000, &[(9, 4, 20)], 2);
    let sent = node.until(64_999);
    assert_eq!(sent.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [30_000, 45_000, 47_000, 60_000]);
    let gone = vec![(1, 1, 8), (3, INFINITY, 7), (8, INFINITY, 21)];
    assert_eq!(sent[2].1, [Action::Incremental(gone)]);
    assert_eq!((node.broken(3), node.broken(8), node.valid(9)), (Some(7), Some(21), Some((20, 4, 2))));
    assert_eq!(node.until(65_000)[0].0, 65_000);
    assert_eq!((node.broken(2), node.broken(9)), (Some(5), Some(21)));
    assert_eq!(node.routing.counters(), [("breaks", 2), ("refused", 0)]);
    assert_eq!(node.routing.table().lost, 4);
    // Broken routes are never forgotten, and stay in the full dumps: whoever missed the report hears of it later.
    let Some((75_000, full)) = node.until(75_000).pop() else { panic!() };
    let all = vec![(1, 1, 12), (2, INFINITY, 5), (3, INFINITY, 7), (8, INFINITY, 21), (9, INFINITY, 21)];
    assert_eq!(full, [Action::Full(all)]);
    // The neighbour is back.
    let back = node.receive(80_000, &[(2, 1, 8)], 2);
    assert_eq!(back, [Action::Incremental(vec![(1, 1, 12), (2, 2, 8)])]);
    assert_eq!(node.valid(2), Some((8, 1, 2)));
    node.until(124_999);
    assert_eq!(node.valid(2), Some((8, 1, 2)));
    node.until(125_000);
    assert_eq!(node.broken(2), Some(9));
}

#[test]
fn a_lost_packet_breaks_the_link_only_with_feedback() {
    let mut node = Node::started(&config());
    node.receive(100, &[(2, 1, 4), (9, 4, 20)], 2);
    assert_eq!(node.undelivered(200, 2), []);
    assert_eq!(node.valid(9), Some((20, 4, 2)));
    let mut node = Node::started(&DsdvConfig { link_layer_feedback: true, ..config() });
    node.receive(100, &[(2, 1, 4), (9, 4, 20)], 2);
    node.receive(150, &[(7, 4, 20)], 3);
    let revision = node.routing.table().revision;
    let report = vec![(1, 1, 2), (2, INFINITY, 5), (9, INFINITY, 21)];
    assert_eq!(node.undelivered(200, 2), [Action::Incremental(report)]);
    assert_eq!((node.broken(2), node.broken(9), node.valid(7)), (Some(5), Some(21), Some((20, 4, 3))));
    assert_ne!(node.routing.table().revision, revision);
    // A second loss finds nothing to break.
    assert_eq!(node.undelivered(210, 2), []);
    assert_eq!(node.routing.counters(), [("breaks", 1), ("refused", 0)]);
}

#[test]
fn the_hold_time_is_a_number_of_periods() {
    let mut node = Node::started(&DsdvConfig { hold_periods: 2, ..config() });
    node.receive(1000, &[(2, 1, 4)], 2);
    assert_eq!(node.until(30_999).len(), 2);
    assert_eq!(node.valid(2), Some((4, 1, 2)));
    assert_eq!(node.until(31_000).len(), 1);
    assert_eq!(node.broken(2), Some(5));
}

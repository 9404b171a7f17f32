//! TC messages [RFC 3626 sections 9, 15] and numbers [19].

use crate::support::*;
use airfair_routing::Routing;
use airfair_routing::olsr::{Advertised, OlsrConfig, WILL_NEVER, is_newer};

#[test]
fn selectors_are_advertised() {
    let mut node = Node::started(&config());
    assert_eq!(own_tcs(&node.until(5000)), [], "nobody has selected the node");
    node.selected(5500, 2, &[]);
    node.selected(5500, 3, &[]);
    node.meet(5500, 4, &[]);
    let sent = node.until(10_000);
    assert_eq!(own_tcs(&sent), [(2, vec![2, 3])]);
    let message = sent.iter().flat_map(|sent| &sent.messages).find(|m| m.ttl == 255).unwrap();
    assert_eq!((message.validity, message.originator, message.hops), (TOPOLOGY_HOLD, at(1), 0));
    // The same set keeps its number, another one has the next.
    node.selected(10_500, 2, &[]);
    node.selected(10_500, 3, &[]);
    assert_eq!(own_tcs(&node.until(15_000)), [(2, vec![2, 3])]);
    node.selected(15_500, 2, &[]);
    assert_eq!(own_tcs(&node.until(20_000)), [(3, vec![2])]);
}

/// When nobody is left to advertise, empty TCs end the old ones, for as long as those are valid.
#[test]
fn empty_tcs_end_advertised_links() {
    let mut node = Node::started(&config());
    node.selected(500, 2, &[]);
    assert_eq!(own_tcs(&node.until(5000)), [(1, vec![2])]);
    // Until 20 s.
    assert_eq!(own_tcs(&node.until(40_000)), [(2, vec![]), (2, vec![])]);
}

#[test]
fn redundancy_advertises_more() {
    let tcs = |advertised, willingness| {
        let mut node = Node::started(&OlsrConfig { advertised, willingness, ..config() });
        node.until(4000);
        node.selected(4000, 2, &[]);
        node.meet(4000, 3, &[9]);
        node.meet(4000, 4, &[]);
        own_tcs(&node.until(5000)).pop().unwrap().1
    };
    assert_eq!(tcs(Advertised::Selectors, 3), [2]);
    assert_eq!(tcs(Advertised::SelectorsAndRelays, 3), [2, 3]);
    assert_eq!(tcs(Advertised::All, 3), [2, 3, 4]);
    // No packets for others are attracted by a node that forwards none.
    assert_eq!(tcs(Advertised::SelectorsAndRelays, WILL_NEVER), [2]);
    assert_eq!(tcs(Advertised::All, WILL_NEVER), [2]);
}

#[test]
fn tcs_extend_routes() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[3]);
    node.tc(600, 2, 3, 7, &[2, 4]);
    node.tc(600, 2, 4, 1, &[5]);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2), (4, 2, 3), (5, 2, 4)]);
}

#[test]
fn a_newer_set_replaces_the_older_one() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[3]);
    node.tc(600, 2, 3, 7, &[4, 5]);
    node.tc(700, 2, 3, 8, &[5, 6]);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2), (5, 2, 3), (6, 2, 3)]);
    // A late message with an older number changes nothing, a further part of the same set adds to it.
    node.tc(800, 2, 3, 7, &[4]);
    node.tc(800, 2, 3, 8, &[7]);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2), (5, 2, 3), (6, 2, 3), (7, 2, 3)]);
    // Of other originators nothing changes.
    node.tc(900, 2, 5, 1, &[8]);
    node.tc(900, 2, 3, 9, &[]);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2)]);
    node.tc(1000, 2, 3, 10, &[5]);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2), (5, 2, 3), (8, 2, 4)]);
    assert_eq!(node.routing.table().lost, 1 + 4, "4, then 5, 6 and 7, and 8 behind 5");
}

#[test]
fn advertised_links_expire() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[3]);
    node.tc(600, 2, 3, 1, &[4]);
    for now in [4000, 8000, 12_000] {
        node.until(now);
        node.meet(now, 2, &[3]);
    }
    // Until 27.3 s.
    node.tc(12_300, 2, 3, 1, &[4]);
    for now in [16_000, 20_000, 24_000] {
        node.until(now);
        node.meet(now, 2, &[3]);
    }
    node.until(27_299);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2), (4, 2, 3)]);
    node.until(27_300);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2)]);
}

/// A TC of somebody who is no symmetric neighbour is ignored, whoever has made it.
#[test]
fn tcs_need_a_symmetric_neighbour() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[3]);
    node.hello(500, 9, &[]);
    node.tc(600, 9, 3, 1, &[4]);
    node.tc(600, 8, 3, 1, &[4]);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2)]);
}

/// The same message again is not processed: it would prolong what it states.
#[test]
fn a_tc_is_processed_once() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[3]);
    let message = tc(3, 1, 1, &[4]);
    node.receive(600, 2, std::slice::from_ref(&message));
    for now in [4000, 8000, 12_000, 15_000] {
        node.until(now);
        node.meet(now, 2, &[3]);
        node.receive(now, 2, std::slice::from_ref(&message));
    }
    node.until(15_599);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2), (4, 2, 3)]);
    node.until(15_600);
    assert_eq!(node.routes(), [(2, 2, 1), (3, 2, 2)]);
}

/// Modulo 2^16; the rule of section 19 for its borders.
#[test]
fn numbers_are_compared_in_a_circle() {
    assert!(is_newer(1, 0) && !is_newer(0, 1) && !is_newer(5, 5));
    assert!(is_newer(0, 65_535) && !is_newer(65_535, 0));
    assert!(is_newer(32_767, 0) && !is_newer(32_768, 0));
    assert!(!is_newer(0, 32_767) && is_newer(0, 32_768));
    assert!(is_newer(60_000, 50_000) && !is_newer(50_000, 60_000));
}

//! Section 6.5: requests of other nodes.

use airfair_wire::aodv::{Message, Rreq};

use crate::support::*;

fn forwarded(rreq: Rreq, ttl: u8) -> Action {
    to_all(Message::Rreq(rreq), ttl)
}

#[test]
fn a_request_is_forwarded_with_one_hop_more() {
    let mut node = Node::first(&config());
    let request = Rreq { hops: 4, ..rreq(8, 1, 9, Some(30)) };
    assert_eq!(node.receive(0, (request, 7), 3), [forwarded(Rreq { hops: 5, ..request }, 6)]);
    // The reverse route, and the route to the neighbour itself, without a number.
    assert_eq!(node.valid(0, 8), Some((Some(100), 5, 3)));
    assert_eq!(node.valid(0, 3), Some((None, 1, 3)));
}

#[test]
fn a_request_ends_with_its_time_to_live() {
    let mut node = Node::first(&config());
    assert_eq!(node.receive(0, (rreq(8, 1, 9, None), 1), 3), []);
    assert!(node.valid(0, 8).is_some(), "but the reverse route is created");
    assert_eq!(node.receive(0, (Rreq { hops: 255, ..rreq(7, 1, 9, None) }, 9), 3), [], "hops end at 255");
}

/// PATH_DISCOVERY_TIME = 2 x 2.8 s.
#[test]
fn the_same_request_is_handled_once() {
    let mut node = Node::first(&config());
    assert_eq!(node.receive(0, rreq(8, 1, 9, None), 3).len(), 1);
    assert_eq!(node.receive(100, rreq(8, 1, 9, None), 4), []);
    assert_eq!(node.receive(5599, rreq(8, 1, 9, None), 3), []);
    assert_eq!(node.receive(5600, rreq(8, 1, 9, None), 3).len(), 1);
    assert_eq!(node.receive(5600, rreq(8, 2, 9, None), 3).len(), 1, "another id");
    assert_eq!(node.receive(5600, rreq(7, 2, 9, None), 3).len(), 1, "another originator");
}

#[test]
fn a_node_ignores_its_own_request() {
    let mut node = Node::first(&config());
    let (_, actions) = node.send(0, 5, 9);
    let [(_, own)] = requests(&actions)[..] else { panic!("{actions:?}") };
    assert_eq!(node.receive(1, Rreq { hops: 1, ..own }, 3), []);
    assert_eq!(node.receive(9000, Rreq { hops: 1, ..own }, 3), [], "however late");
    assert_eq!(node.route(9000, 1), None);
}

/// The forwarded request has the larger of its number and the node's number for the destination; the node's number does not change.
#[test]
fn the_requested_number_is_raised_by_intermediate_nodes() {
    let mut node = Node::first(&config());
    node.receive(0, rrep(9, 20, 3, 1), 2);
    node.break_link(0, 2);
    let requested = |node: &mut Node, id, number| {
        let actions = node.receive(1, rreq(8, id, 9, number), 3);
        requests(&actions)[0].1.destination_number
    };
    assert_eq!(requested(&mut node, 1, Some(5)), Some(21));
    assert_eq!(requested(&mut node, 2, None), Some(21), "flag U is cleared");
    assert_eq!(requested(&mut node, 3, Some(50)), Some(50));
    assert_eq!(node.ended(1, 9), Some(21));
}

/// MinimalLifetime = 2 x 2.8 s - 2 x hops x 40 ms; a longer lifetime is kept.
#[test]
fn the_reverse_route_lasts_for_a_reply() {
    let mut node = Node::first(&config());
    node.receive(0, Rreq { hops: 4, ..rreq(8, 1, 9, None) }, 3);
    assert_eq!(node.route(0, 8).unwrap().until, ms(5200));
    node.receive(10, rrep(8, 101, 1, 1), 3);
    assert_eq!(node.route(10, 8).unwrap().until, ms(6010));
    node.receive(20, Rreq { hops: 4, originator_number: 102, ..rreq(8, 2, 9, None) }, 3);
    assert_eq!(node.route(20, 8).unwrap().until, ms(6010));
    // A request with an old number does not replace the reverse route, but extends its lifetime if it arrived from the next hop.
    let old = |id| Rreq { hops: 1, originator_number: 50, ..rreq(8, id, 9, None) };
    node.receive(2000, old(3), 4);
    assert_eq!(node.route(2000, 8).unwrap().until, ms(6010));
    node.receive(2000, old(4), 3);
    assert_eq!(node.valid(2000, 8), Some((Some(102), 5, 3)));
    assert_eq!(node.route(2000, 8).unwrap().until, ms(7440));
}

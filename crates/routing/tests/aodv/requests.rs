//! Section 6.5: requests of others.

use airfair_wire::aodv::{Message, Rreq};

use crate::support::*;

fn passed_on(rreq: Rreq, ttl: u8) -> Action {
    to_all(Message::Rreq(rreq), ttl)
}

#[test]
fn a_request_is_passed_on_one_hop_shorter() {
    let mut node = Node::new(&config());
    let request = Rreq { hops: 4, ..rreq(8, 1, 9, Some(30)) };
    assert_eq!(node.hear(0, (request, 7), 3), [passed_on(Rreq { hops: 5, ..request }, 6)]);
    // The route back, and the neighbour itself, without a number.
    assert_eq!(node.valid(0, 8), Some((Some(100), 5, 3)));
    assert_eq!(node.valid(0, 3), Some((None, 1, 3)));
}

#[test]
fn its_time_to_live_ends_it() {
    let mut node = Node::new(&config());
    assert_eq!(node.hear(0, (rreq(8, 1, 9, None), 1), 3), []);
    assert!(node.valid(0, 8).is_some(), "but the way back is learnt");
    assert_eq!(node.hear(0, (Rreq { hops: 255, ..rreq(7, 1, 9, None) }, 9), 3), [], "hops end at 255");
}

/// PATH_DISCOVERY_TIME = 2 x 2.8 s.
#[test]
fn the_same_request_is_handled_once() {
    let mut node = Node::new(&config());
    assert_eq!(node.hear(0, rreq(8, 1, 9, None), 3).len(), 1);
    assert_eq!(node.hear(100, rreq(8, 1, 9, None), 4), []);
    assert_eq!(node.hear(5599, rreq(8, 1, 9, None), 3), []);
    assert_eq!(node.hear(5600, rreq(8, 1, 9, None), 3).len(), 1);
    assert_eq!(node.hear(5600, rreq(8, 2, 9, None), 3).len(), 1, "another id");
    assert_eq!(node.hear(5600, rreq(7, 2, 9, None), 3).len(), 1, "another originator");
}

#[test]
fn nobody_answers_its_own_request() {
    let mut node = Node::new(&config());
    let (_, actions) = node.send(0, 5, 9);
    let [(_, own)] = requests(&actions)[..] else { panic!("{actions:?}") };
    assert_eq!(node.hear(1, Rreq { hops: 1, ..own }, 3), []);
    assert_eq!(node.hear(9000, Rreq { hops: 1, ..own }, 3), [], "however late");
    assert_eq!(node.route(9000, 1), None);
}

/// The requested number is the larger of the request's and the node's own; the node's own stays.
#[test]
fn the_number_asked_for_is_raised_on_the_way() {
    let mut node = Node::new(&config());
    node.hear(0, rrep(9, 20, 3, 1), 2);
    node.break_link(0, 2);
    let asked = |node: &mut Node, id, number| {
        let actions = node.hear(1, rreq(8, id, 9, number), 3);
        requests(&actions)[0].1.destination_number
    };
    assert_eq!(asked(&mut node, 1, Some(5)), Some(21));
    assert_eq!(asked(&mut node, 2, None), Some(21), "flag U is taken away");
    assert_eq!(asked(&mut node, 3, Some(50)), Some(50));
    assert_eq!(node.ended(1, 9), Some(21));
}

/// MinimalLifetime = 2 x 2.8 s - 2 x hops x 40 ms; a longer life is kept.
#[test]
fn the_way_back_lasts_for_an_answer() {
    let mut node = Node::new(&config());
    node.hear(0, Rreq { hops: 4, ..rreq(8, 1, 9, None) }, 3);
    assert_eq!(node.route(0, 8).unwrap().until, ms(5200));
    node.hear(10, rrep(8, 101, 1, 1), 3);
    assert_eq!(node.route(10, 8).unwrap().until, ms(6010));
    node.hear(20, Rreq { hops: 4, originator_number: 102, ..rreq(8, 2, 9, None) }, 3);
    assert_eq!(node.route(20, 8).unwrap().until, ms(6010));
    // Old news do not change the way back, but it is needed as long: if they came by it.
    let old = |id| Rreq { hops: 1, originator_number: 50, ..rreq(8, id, 9, None) };
    node.hear(2000, old(3), 4);
    assert_eq!(node.route(2000, 8).unwrap().until, ms(6010));
    node.hear(2000, old(4), 3);
    assert_eq!(node.valid(2000, 8), Some((Some(102), 5, 3)));
    assert_eq!(node.route(2000, 8).unwrap().until, ms(7440));
}

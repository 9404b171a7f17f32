//! Sections 6.6 to 6.8: replies.

use airfair_routing::Undelivered;
use airfair_routing::aodv::AodvConfig;
use airfair_wire::aodv::{Message, Rrep, Rreq};

use crate::support::*;

fn reply(rrep: Rrep, to: u8) -> Action {
    to_one(Message::Rrep(rrep), to)
}

/// 6.6.1: hops 0, MY_ROUTE_TIMEOUT = 6 s; the number is the larger of the node's own (initially 1) and the request's (6.1).
#[test]
fn the_destination_replies() {
    let mut node = Node::first(&config());
    let answer = |node: &mut Node, id, number| node.receive(0, rreq(8, id, 1, number), 3);
    assert_eq!(answer(&mut node, 1, None), [reply(rrep(1, 1, 0, 8), 3)]);
    assert_eq!(answer(&mut node, 2, Some(2)), [reply(rrep(1, 2, 0, 8), 3)]);
    assert_eq!(answer(&mut node, 3, Some(1)), [reply(rrep(1, 2, 0, 8), 3)], "the number never decreases");
    assert_eq!(answer(&mut node, 4, Some(7)), [reply(rrep(1, 7, 0, 8), 3)]);
    let alone = Rreq { destination_only: true, ..rreq(8, 5, 1, Some(7)) };
    assert_eq!(
        node.receive(0, alone, 3),
        [reply(rrep(1, 8, 0, 8), 3)],
        "D: nodes on the path accept only a more recent number"
    );
}

/// 6.6.2: the reply has the number, hops and remaining lifetime of the node's route; the neighbours on both sides become precursors of each
/// other's route.
#[test]
fn an_intermediate_node_replies_if_its_route_is_recent_enough() {
    let mut node = Node::first(&config());
    node.receive(0, rrep(9, 20, 3, 1), 2);
    let expected = Rrep { lifetime_ms: 5000, ..rrep(9, 20, 4, 8) };
    assert_eq!(node.receive(1000, rreq(8, 1, 9, Some(20)), 3), [reply(expected, 3)]);
    assert_eq!(node.route(1000, 9).unwrap().precursors(), [hop(3)]);
    assert_eq!(node.route(1000, 8).unwrap().precursors(), [hop(2)]);
    assert_eq!(node.route(1000, 2).unwrap().precursors(), [hop(3)]);
    assert_eq!(node.receive(1000, rreq(8, 2, 9, None), 3), [reply(expected, 3)]);
    // If a more recent route, or the destination's own reply, is requested, the node forwards the request.
    assert_eq!(requests(&node.receive(1000, rreq(8, 3, 9, Some(21)), 3)).len(), 1);
    let alone = Rreq { destination_only: true, ..rreq(8, 4, 9, None) };
    assert_eq!(requests(&node.receive(1000, alone, 3)).len(), 1);
    // A route that has ended is no basis for a reply.
    assert_eq!(requests(&node.receive(7000, rreq(8, 5, 9, None), 3)).len(), 1);
}

#[test]
fn no_reply_with_a_route_by_the_sender_of_the_request() {
    let mut node = Node::first(&config());
    node.receive(0, rrep(9, 20, 3, 1), 2);
    assert_eq!(requests(&node.receive(0, rreq(8, 1, 9, None), 2)).len(), 1);
}

#[test]
fn no_reply_with_a_route_without_a_number() {
    let mut node = Node::first(&config());
    node.receive(0, rreq(7, 1, 6, None), 9);
    assert_eq!(node.valid(0, 9), Some((None, 1, 9)));
    assert_eq!(requests(&node.receive(0, rreq(8, 1, 9, None), 3)).len(), 1);
}

/// 6.6.3: the destination receives a gratuitous reply about the originator: number 100, two hops, the remaining lifetime.
#[test]
fn the_destination_receives_a_gratuitous_reply() {
    let mut node = Node::first(&config());
    node.receive(0, rrep(9, 20, 3, 1), 2);
    let request = Rreq { gratuitous: true, hops: 1, ..rreq(8, 1, 9, None) };
    // 2 x 2.8 s - 2 x 2 x 40 ms.
    let told = Rrep { lifetime_ms: 5440, ..rrep(8, 100, 2, 9) };
    assert_eq!(node.receive(0, request, 3), [reply(rrep(9, 20, 4, 8), 3), reply(told, 2)]);
}

/// 6.7: a reply is passed on one hop longer, if it was news, along the way back.
#[test]
fn replies_are_forwarded() {
    let mut node = Node::first(&config());
    node.receive(0, rreq(8, 1, 9, None), 3);
    assert_eq!(node.receive(10, rrep(9, 20, 2, 8), 2), [reply(rrep(9, 20, 3, 8), 3)]);
    assert_eq!(node.valid(10, 9), Some((Some(20), 3, 2)));
    assert_eq!(node.route(10, 9).unwrap().until, ms(6010));
    assert_eq!(node.route(10, 9).unwrap().precursors(), [hop(3)]);
    assert_eq!(node.route(10, 2).unwrap().precursors(), [hop(3)]);
    // The way back had 5.52 s already; later it is kept for 3 s at least.
    assert_eq!(node.route(10, 8).unwrap().until, ms(5520));
    assert_eq!(node.receive(4000, rrep(9, 21, 2, 8), 2).len(), 1);
    assert_eq!(node.route(4000, 8).unwrap().until, ms(7000));
    assert_eq!(node.receive(4000, rrep(9, 21, 2, 8), 4), [], "no better route");
    assert_eq!(node.receive(4000, rrep(9, 22, 2, 7), 2), [], "no route to 7 is known");
    assert_eq!(node.valid(4000, 9), Some((Some(22), 3, 2)));
    assert_eq!(node.receive(4000, Rrep { hops: 255, ..rrep(9, 30, 0, 8) }, 2), []);
    assert_eq!(node.receive(4000, rrep(1, 30, 0, 8), 2), [], "a reply about the node itself");
    assert_eq!(node.route(4000, 1), None);
}

/// 6.8: BLACKLIST_TIMEOUT = 2 x 2.8 s.
#[test]
fn requests_of_a_neighbour_that_replies_do_not_reach_are_ignored() {
    let mut node = Node::first(&config());
    node.undelivered(0, 3, Undelivered::Message(&bytes(&Message::Rrep(rrep(9, 20, 1, 3)))));
    assert_eq!(node.receive(5599, rreq(8, 1, 1, None), 3), []);
    assert_eq!(node.route(5599, 8), None);
    assert_eq!(node.receive(5599, rreq(8, 1, 1, None), 4).len(), 1, "by another neighbour");
    assert_eq!(node.receive(5600, rreq(8, 2, 1, None), 3).len(), 1);
}

/// NEXT_HOP_WAIT = 40 + 10 ms.
#[test]
fn acknowledgements_are_sent_and_awaited() {
    let mut node = Node::first(&AodvConfig { reply_acknowledgement: true, ..config() });
    let requested = Rrep { acknowledge: true, ..rrep(1, 1, 0, 8) };
    assert_eq!(node.receive(0, rreq(8, 1, 1, None), 3), [reply(requested, 3)]);
    node.receive(20, Message::RrepAck, 3);
    assert_eq!(node.receive(100, rreq(8, 2, 1, None), 3), [reply(requested, 3)]);
    assert_eq!(node.timer(150), []);
    assert_eq!(node.receive(200, rreq(8, 3, 1, None), 3), [], "it is on the blacklist now");
    let mut node = Node::first(&config());
    let requested = Rrep { acknowledge: true, ..rrep(9, 20, 2, 1) };
    assert_eq!(node.receive(0, requested, 2), [to_one(Message::RrepAck, 2)]);
}

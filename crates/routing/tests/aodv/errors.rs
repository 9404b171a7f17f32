//! Sections 6.11 and 6.12: links that break.

use airfair_routing::aodv::{AodvConfig, MAX_LISTED};
use airfair_routing::{Adjacency, DropReason, Received, Routing, Undelivered};
use airfair_wire::aodv::{Message, Rerr, Rreq, Unreachable};

use crate::support::*;

fn error(lost: &[(u8, u32)], to: Option<u8>) -> Action {
    match to {
        None => to_all(Message::Rerr(rerr(lost)), 1),
        Some(to) => to_one(Message::Rerr(rerr(lost)), to),
    }
}

/// A node with a route to 9 by 2 that it has reported to the neighbours `users`.
fn with_users(users: &[u8], config: &AodvConfig) -> Node {
    let mut node = Node::first(config);
    node.receive(0, rrep(9, 20, 3, 1), 2);
    for &user in users {
        node.receive(0, rreq(100 + user, 1, 9, None), user);
    }
    node
}

/// All routes by the neighbour end with an incremented number. A single precursor receives the route error by unicast, several by
/// broadcast.
#[test]
fn precursors_of_a_broken_link_receive_a_route_error() {
    let mut node = with_users(&[3], &config());
    node.receive(0, rrep(7, 50, 1, 1), 2);
    // The neighbour itself has no number: 0 in the message. The route to 7 was reported to no node.
    assert_eq!(node.break_link(10, 2), [error(&[(2, 0), (9, 21)], Some(3))]);
    assert_eq!((node.ended(10, 9), node.ended(10, 7)), (Some(21), Some(51)));
    assert!(node.valid(10, 3).is_some() && node.valid(10, 103).is_some(), "routes by other neighbours stay");
    assert_eq!(node.break_link(11, 2), [], "once");
    assert_eq!(node.routing.counts().breaks, 1);
    // The entry is deleted DELETE_PERIOD after the break.
    assert_eq!((node.ended(15_009, 9), node.route(15_010, 9)), (Some(21), None));

    assert_eq!(with_users(&[3, 4], &config()).break_link(10, 2), [error(&[(2, 0), (9, 21)], None)]);
    assert_eq!(with_users(&[], &config()).break_link(10, 2), []);
    let silent = AodvConfig { link_layer_feedback: false, hello: true, ..config() };
    let mut node = with_users(&[3], &silent);
    assert_eq!(node.break_link(10, 2), []);
    assert!(node.valid(10, 9).is_some());
}

/// A route error counts only if its sender is the next hop of the route; the precursors of the route receive an error in turn.
#[test]
fn errors_are_forwarded_to_precursors() {
    let mut node = with_users(&[3], &config());
    assert_eq!(node.receive(10, rerr(&[(9, 21)]), 4), [], "4 is not the next hop");
    assert_eq!(node.receive(10, rerr(&[(7, 21)]), 2), [], "no such route");
    assert_eq!(node.valid(10, 9), Some((Some(20), 4, 2)));
    assert_eq!(node.receive(10, rerr(&[(7, 3), (9, 25)]), 2), [error(&[(9, 25)], Some(3))]);
    assert_eq!(node.ended(10, 9), Some(25));
    assert_eq!(node.receive(10, rerr(&[(9, 26)]), 2), [], "it has ended already");
    assert_eq!(node.ended(10, 9), Some(25));
}

/// 6.1: an error with a number that is not more recent than the known one is ignored; one without a number (0) increments it.
#[test]
fn stale_errors_change_nothing() {
    let mut node = with_users(&[3], &config());
    assert_eq!(node.receive(10, rerr(&[(9, 20)]), 2), []);
    assert_eq!(node.receive(10, rerr(&[(9, 12)]), 2), []);
    assert!(node.valid(10, 9).is_some());
    assert_eq!(node.receive(10, rerr(&[(9, 0)]), 2), [error(&[(9, 21)], Some(3))]);
}

/// A data packet without a route: the neighbour that sent it receives a route error with the number of the ended route.
#[test]
fn data_without_a_route_are_dropped_and_reported() {
    let mut node = with_users(&[3], &config());
    node.break_link(10, 2);
    let lost = |number| vec![dropped(1, DropReason::NoRoute), error(&[(9, number)], Some(4))];
    assert_eq!(node.relay(20, 1, [8, 9], 4), (None, lost(21)));
    assert_eq!(node.relay(30, 1, [8, 9], 4), (None, lost(21)), "not incremented again");
    // Each such packet extends the time for which the number is kept.
    assert_eq!(node.ended(15_020, 9), Some(21));
    assert_eq!(node.relay(99_000, 1, [8, 9], 4), (None, lost(0)), "forgotten");
}

#[test]
fn errors_are_limited() {
    let mut node = Node::first(&config());
    let mut errors = |now| node.relay(now, 1, [8, 9], 4).1.len() - 1;
    let sent: Vec<usize> = (0..12).map(|i| 50 * i).chain([999, 1000, 1001, 1050]).map(&mut errors).collect();
    assert_eq!(sent, [vec![1; 10], vec![0, 0, 0, 1, 0, 1]].concat(), "ten in any second");
}

#[test]
fn long_lists_are_split() {
    let mut node = Node::first(&config());
    for to in 50..50 + MAX_LISTED as u8 + 5 {
        node.receive(0, rrep(to, 20, 3, 1), 2);
        node.receive(0, rreq(103, to.into(), to, None), 3);
    }
    let count = |action: &Action| match action {
        Action::Send { message: Message::Rerr(rerr), .. } => rerr.unreachable().count(),
        _ => panic!("{action:?}"),
    };
    // MAX_LISTED + 5 destinations and the neighbour itself.
    assert_eq!(node.break_link(10, 2).iter().map(count).collect::<Vec<_>>(), [15, 6]);
}

fn repairing() -> AodvConfig {
    AodvConfig { local_repair: true, ..config() }
}

/// 8 is two hops away, 9 four: the time to live of the repair is max(4, 2 / 2) + LOCAL_ADD_TTL 2 = 6; one attempt lasts
/// 2 x 40 ms x (6 + 2) = 640 ms.
#[test]
fn a_route_is_repaired_where_it_broke() {
    let broken = || {
        let mut node = with_users(&[3], &repairing());
        node.receive(0, Rreq { hops: 1, ..rreq(8, 1, 9, None) }, 3);
        let actions = node.undelivered(10, 2, Undelivered::Data(Some([at(8), at(9)])));
        let [(ttl, request)] = requests(&actions)[..] else { panic!("{actions:?}") };
        assert_eq!((ttl, request.destination, request.destination_number), (6, at(9), Some(21)));
        // The neighbour itself is reported as lost; 9 is not.
        assert!(actions.contains(&error(&[(2, 0)], Some(3))), "{actions:?}");
        assert_eq!(node.relay(20, 5, [8, 9], 3), (None, vec![]), "data wait for the repair");
        node
    };
    // The repaired route is as short as before: no report.
    assert_eq!(broken().receive(50, rrep(9, 21, 3, 1), 4), [forward(5, 4)]);
    // The repaired route is longer: an error with flag N, and precursors keep their routes (6.12).
    let lost = [Unreachable { destination: at(9), number: 21 }];
    let longer = to_one(Message::Rerr(Rerr::new(true, &lost).unwrap()), 3);
    assert_eq!(broken().receive(50, rrep(9, 21, 4, 1), 4), [forward(5, 4), longer]);
    // No reply arrives.
    assert_eq!(broken().timer(650), [dropped(5, DropReason::NoRoute), error(&[(9, 21)], Some(3))]);
}

/// No repair if the destination is too far away, or if the node itself is the source of the packet.
#[test]
fn not_everything_is_repaired() {
    let far = AodvConfig { max_repair_ttl: 3, ..repairing() };
    for (config, source) in [(far, 8), (repairing(), 1)] {
        let mut node = with_users(&[3], &config);
        node.receive(0, rreq(8, 1, 9, None), 3);
        let actions = node.undelivered(10, 2, Undelivered::Data(Some([at(source), at(9)])));
        assert_eq!(requests(&actions), []);
    }
}

#[test]
fn a_repair_elsewhere_leaves_the_route() {
    let mut node = with_users(&[3], &config());
    let repaired = Rerr::new(true, &[Unreachable { destination: at(9), number: 21 }]).unwrap();
    assert_eq!(node.receive(10, repaired.clone(), 2), [to_one(Message::Rerr(repaired.clone()), 3)]);
    assert!(node.valid(10, 9).is_some());
    assert_eq!(node.receive(10, repaired, 4), [], "not from the next hop");
}

/// Not in the RFC: packets queued for a lost next hop are dropped, unless no route used it.
#[test]
fn packets_queued_for_a_lost_next_hop_are_dropped() {
    let mut node = Node::first(&AodvConfig { drop_queued: true, ..config() });
    node.receive(0, rrep(9, 20, 1, 1), 2);
    assert_eq!(node.break_link(1, 3), []);
    assert_eq!(node.break_link(1, 2), [Action::DropQueued { hop: hop(2) }]);
    assert_eq!(node.break_link(2, 2), []);
}

/// A link is a neighbour by one interface: routes by another interface, also to the same neighbour, remain.
#[test]
fn a_link_breaks_by_one_interface() {
    let mut node = Node::first(&config());
    let other = Adjacency { neighbour: at(2), interface: 1 };
    node.receive(0, rrep(9, 20, 1, 1), 2);
    assert_eq!(node.call(ms(1), |aodv, cx| aodv.on_undelivered(other, Undelivered::Data(None), cx)).1, []);
    assert_eq!((node.routing.counts().breaks, node.valid(1, 9)), (0, Some((Some(20), 2, 2))));
    node.break_link(2, 2);
    assert_eq!((node.routing.counts().breaks, node.valid(2, 9)), (1, None));
}

/// Bytes that are no message change no state; a search for the destination of a truncated reply continues.
#[test]
fn noise_is_ignored() {
    let mut node = Node::first(&config());
    node.send(0, 7, 9);
    let deadline = node.routing.deadline();
    let whole = bytes(&Message::Rrep(rrep(9, 20, 1, 1)));
    for noise in [&[][..], &[9; 30], &whole[..19]] {
        let received = Received { from: hop(2), ttl: 1, to_all: false };
        assert_eq!(node.call(ms(1), |aodv, cx| aodv.on_message(noise, received, cx)).1, []);
        node.undelivered(1, 2, Undelivered::Message(noise));
    }
    assert_eq!((node.routing.deadline(), node.valid(1, 9)), (deadline, None));
}

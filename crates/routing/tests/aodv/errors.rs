//! Sections 6.11 and 6.12: links that break.

use airfair_routing::aodv::{Config, MAX_LISTED};
use airfair_routing::{DropReason, Hop, Received, Routing, Undelivered};
use airfair_wire::aodv::{Message, Rerr, Rreq, Unreachable};

use crate::support::*;

fn error(lost: &[(u8, u32)], to: Option<u8>) -> Action {
    match to {
        None => to_all(Message::Rerr(rerr(lost)), 1),
        Some(to) => to_one(Message::Rerr(rerr(lost)), to),
    }
}

/// A route to 9 by 2, whose users, all neighbours, have requested it.
fn with_users(users: &[u8], config: &Config) -> Node {
    let mut node = Node::new(config);
    node.hear(0, rrep(9, 20, 3, 1), 2);
    for &user in users {
        node.hear(0, rreq(100 + user, 1, 9, None), user);
    }
    node
}

/// Every route over the neighbour ends with the next number. Its users are notified: a single one by unicast, several by broadcast.
#[test]
fn users_of_a_broken_link_are_told() {
    let mut node = with_users(&[3], &config());
    node.hear(0, rrep(7, 50, 1, 1), 2);
    // The neighbour itself has no number: 0. The route to 7 was reported to no node.
    assert_eq!(node.break_link(10, 2), [error(&[(2, 0), (9, 21)], Some(3))]);
    assert_eq!((node.ended(10, 9), node.ended(10, 7)), (Some(21), Some(51)));
    assert!(node.valid(10, 3).is_some() && node.valid(10, 103).is_some(), "other ways stay");
    assert_eq!(node.break_link(11, 2), [], "once");
    assert_eq!(node.aodv.counts().breaks, 1);
    // DELETE_PERIOD from the break on.
    assert_eq!((node.ended(15_009, 9), node.route(15_010, 9)), (Some(21), None));

    assert_eq!(with_users(&[3, 4], &config()).break_link(10, 2), [error(&[(2, 0), (9, 21)], None)]);
    assert_eq!(with_users(&[], &config()).break_link(10, 2), []);
    let silent = Config { link_layer_feedback: false, hello: true, ..config() };
    let mut node = with_users(&[3], &silent);
    assert_eq!(node.break_link(10, 2), []);
    assert!(node.valid(10, 9).is_some());
}

/// A route error is believed of the next hop only, and passed on to the route's users.
#[test]
fn errors_go_from_user_to_user() {
    let mut node = with_users(&[3], &config());
    assert_eq!(node.hear(10, rerr(&[(9, 21)]), 4), [], "4 is not the next hop");
    assert_eq!(node.hear(10, rerr(&[(7, 21)]), 2), [], "no such route");
    assert_eq!(node.valid(10, 9), Some((Some(20), 4, 2)));
    assert_eq!(node.hear(10, rerr(&[(7, 3), (9, 25)]), 2), [error(&[(9, 25)], Some(3))]);
    assert_eq!(node.ended(10, 9), Some(25));
    assert_eq!(node.hear(10, rerr(&[(9, 26)]), 2), [], "it has ended already");
    assert_eq!(node.ended(10, 9), Some(25));
}

/// 6.1: what is no younger than what is known is stale. A number that is not known gives the next one.
#[test]
fn stale_errors_change_nothing() {
    let mut node = with_users(&[3], &config());
    assert_eq!(node.hear(10, rerr(&[(9, 20)]), 2), []);
    assert_eq!(node.hear(10, rerr(&[(9, 12)]), 2), []);
    assert!(node.valid(10, 9).is_some());
    assert_eq!(node.hear(10, rerr(&[(9, 0)]), 2), [error(&[(9, 21)], Some(3))]);
}

/// A data packet without a route: its previous hop is notified, with the number that the route has had since it ended.
#[test]
fn data_without_a_route_go_no_farther() {
    let mut node = with_users(&[3], &config());
    node.break_link(10, 2);
    let lost = |number| vec![dropped(1, DropReason::NoRoute), error(&[(9, number)], Some(4))];
    assert_eq!(node.relay(20, 1, [8, 9], 4), (None, lost(21)));
    assert_eq!(node.relay(30, 1, [8, 9], 4), (None, lost(21)), "not raised again");
    // Used again, it is remembered for the same time again.
    assert_eq!(node.ended(15_020, 9), Some(21));
    assert_eq!(node.relay(99_000, 1, [8, 9], 4), (None, lost(0)), "forgotten");
}

#[test]
fn errors_are_limited() {
    let mut node = Node::new(&config());
    let mut told = |now| node.relay(now, 1, [8, 9], 4).1.len() - 1;
    let sent: Vec<usize> = (0..12).map(|i| 50 * i).chain([999, 1000, 1001, 1050]).map(&mut told).collect();
    assert_eq!(sent, [vec![1; 10], vec![0, 0, 0, 1, 0, 1]].concat(), "ten in any second");
}

#[test]
fn long_lists_are_cut() {
    let mut node = Node::new(&config());
    for to in 50..50 + MAX_LISTED as u8 + 5 {
        node.hear(0, rrep(to, 20, 3, 1), 2);
        node.hear(0, rreq(103, to.into(), to, None), 3);
    }
    let count = |action: &Action| match action {
        Action::Send { message: Message::Rerr(rerr), .. } => rerr.unreachable().count(),
        _ => panic!("{action:?}"),
    };
    // And the neighbour itself.
    assert_eq!(node.break_link(10, 2).iter().map(count).collect::<Vec<_>>(), [15, 6]);
}

fn repairing() -> Config {
    Config { local_repair: true, ..config() }
}

/// 8 is two hops away, 9 four: reach max(4, 2 / 2) + LOCAL_ADD_TTL 2 = 6, one attempt of 2 x 40 ms x (6 + 2) = 640 ms.
#[test]
fn a_route_is_repaired_where_it_broke() {
    let broken = || {
        let mut node = with_users(&[3], &repairing());
        node.hear(0, Rreq { hops: 1, ..rreq(8, 1, 9, None) }, 3);
        let actions = node.undelivered(10, 2, Undelivered::Data(Some([at(8), at(9)])));
        let [(ttl, request)] = requests(&actions)[..] else { panic!("{actions:?}") };
        assert_eq!((ttl, request.destination, request.destination_number), (6, at(9), Some(21)));
        // The neighbour itself is reported; 9 is not.
        assert!(actions.contains(&error(&[(2, 0)], Some(3))), "{actions:?}");
        assert_eq!(node.relay(20, 5, [8, 9], 3), (None, vec![]), "data wait for the repair");
        node
    };
    // As short as before: no report is needed.
    assert_eq!(broken().hear(50, rrep(9, 21, 3, 1), 4), [forward(5, 4)]);
    // Longer: N, and users keep their routes (6.12).
    let lost = [Unreachable { destination: at(9), number: 21 }];
    let longer = to_one(Message::Rerr(Rerr::new(true, &lost).unwrap()), 3);
    assert_eq!(broken().hear(50, rrep(9, 21, 4, 1), 4), [forward(5, 4), longer]);
    // No reply comes.
    assert_eq!(broken().timer(650), [dropped(5, DropReason::NoRoute), error(&[(9, 21)], Some(3))]);
}

/// Too far away, or a packet of one's own: no repair.
#[test]
fn not_everything_is_repaired() {
    let far = Config { max_repair_ttl: 3, ..repairing() };
    for (config, source) in [(far, 8), (repairing(), 1)] {
        let mut node = with_users(&[3], &config);
        node.hear(0, rreq(8, 1, 9, None), 3);
        let actions = node.undelivered(10, 2, Undelivered::Data(Some([at(source), at(9)])));
        assert_eq!(requests(&actions), []);
    }
}

#[test]
fn a_repair_elsewhere_leaves_the_route() {
    let mut node = with_users(&[3], &config());
    let told = Rerr::new(true, &[Unreachable { destination: at(9), number: 21 }]).unwrap();
    assert_eq!(node.hear(10, told.clone(), 2), [to_one(Message::Rerr(told.clone()), 3)]);
    assert!(node.valid(10, 9).is_some());
    assert_eq!(node.hear(10, told, 4), [], "not from the next hop");
}

/// Not in the RFC: with the route goes what queues for its next hop; a neighbour on no route is no loss.
#[test]
fn what_queues_for_a_lost_neighbour_is_dropped() {
    let mut node = Node::new(&Config { drop_queued: true, ..config() });
    node.hear(0, rrep(9, 20, 1, 1), 2);
    assert_eq!(node.break_link(1, 3), []);
    assert_eq!(node.break_link(1, 2), [Action::DropQueued { hop: hop(2) }]);
    assert_eq!(node.break_link(2, 2), []);
}

/// A link is a neighbour by one interface: routes by another interface stay valid, even by the same neighbour.
#[test]
fn a_link_breaks_by_one_interface() {
    let mut node = Node::new(&config());
    let other = Hop { neighbour: at(2), interface: 1 };
    node.hear(0, rrep(9, 20, 1, 1), 2);
    assert_eq!(node.ask(ms(1), |aodv, cx| aodv.on_undelivered(other, Undelivered::Data(None), cx)).1, []);
    assert_eq!((node.aodv.counts().breaks, node.valid(1, 9)), (0, Some((Some(20), 2, 2))));
    node.break_link(2, 2);
    assert_eq!((node.aodv.counts().breaks, node.valid(2, 9)), (1, None));
}

/// Bytes that are no message change nothing, not even a search that they might end.
#[test]
fn noise_is_ignored() {
    let mut node = Node::new(&config());
    node.send(0, 7, 9);
    let deadline = node.aodv.deadline();
    let whole = bytes(&Message::Rrep(rrep(9, 20, 1, 1)));
    for noise in [&[][..], &[9; 30], &whole[..19]] {
        let received = Received { from: hop(2), ttl: 1, to_all: false };
        assert_eq!(node.ask(ms(1), |aodv, cx| aodv.on_message(noise, received, cx)).1, []);
        node.undelivered(1, 2, Undelivered::Message(noise));
    }
    assert_eq!((node.aodv.deadline(), node.valid(1, 9)), (deadline, None));
}

//! Packets: next hops, and what happens without one.

use airfair_routing::dsdv::{DsdvConfig, INFINITY};
use airfair_routing::{DropReason, Routing};

use crate::support::*;

fn dropped(packet: u64, reason: DropReason) -> Action {
    Action::Drop { packet, reason }
}

#[test]
fn own_packets_wait_for_a_route() {
    let mut node = Node::started(&config());
    for packet in 1..=5 {
        assert_eq!(node.send(100, packet, 9), (None, vec![]));
    }
    assert_eq!(
        node.send(110, 6, 9),
        (None, vec![dropped(1, DropReason::BufferFull)]),
        "five per destination"
    );
    assert_eq!(node.send(120, 7, 8), (None, vec![]));
    assert_eq!(node.routing.waiting().len(), 6);
    let actions = node.receive(200, &[(9, 4, 20)], 2);
    let forwarded = (2..=6).map(|packet| Action::Forward { packet, hop: hop(2) });
    let news = Action::Incremental(vec![(1, 1, 2), (9, 5, 20)]);
    assert_eq!(actions, forwarded.chain([news]).collect::<Vec<_>>());
    assert_eq!(node.routing.waiting().len(), 1);
    assert_eq!(node.send(210, 8, 9), (Some(hop(2)), vec![]));
    // 30 s after it was made, the other packet is dropped.
    let late = node.until(30_120);
    assert_eq!(late.last().unwrap(), &(30_120, vec![dropped(7, DropReason::BufferTime)]));
}

#[test]
fn the_buffer_is_limited_over_all_destinations_too() {
    let mut node = Node::started(&DsdvConfig { buffer_packets: 3, ..config() });
    for (packet, to) in [(1, 7), (2, 8), (3, 9)] {
        assert_eq!(node.send(100, packet, to), (None, vec![]));
    }
    assert_eq!(node.send(110, 4, 9), (None, vec![dropped(1, DropReason::BufferFull)]));
}

#[test]
fn packets_of_others_do_not_wait() {
    let mut node = Node::started(&config());
    let relay = |node: &mut Node, now| node.call(now, |dsdv, cx| dsdv.relay(1, [at(5), at(9)], hop(5), cx));
    assert_eq!(relay(&mut node, 100), (None, vec![dropped(1, DropReason::NoRoute)]));
    node.receive(200, &[(9, 4, 20)], 2);
    assert_eq!(relay(&mut node, 300), (Some(hop(2)), vec![]));
    node.receive(400, &[(9, INFINITY, 21)], 2);
    assert_eq!(relay(&mut node, 500), (None, vec![dropped(1, DropReason::NoRoute)]));
    // Its own packets wait for the route to return.
    assert_eq!(node.send(600, 2, 9), (None, vec![]));
    assert!(node.receive(700, &[(9, 4, 22)], 3).contains(&Action::Forward { packet: 2, hop: hop(3) }));
}

//! Sections 6.2 to 6.4: route discovery, the packets buffered during a discovery, and the lifetime of routes.

use airfair_routing::aodv::AodvConfig;
use airfair_routing::{DropReason, Routing};
use airfair_units::{Span, Time};
use airfair_wire::aodv::Rreq;

use crate::support::*;

/// RING_TRAVERSAL_TIME is 2 x 40 ms x (TTL + 2): 240, 400, 560, 720 ms for 1, 3, 5, 7 hops. Then NET_TRAVERSAL_TIME
/// = 2 x 40 ms x 35 = 2.8 s, doubled for each of the RREQ_RETRIES = 2 further requests.
#[test]
fn the_rings_widen_to_the_whole_network() {
    let mut node = Node::first(&config());
    let (hop, actions) = node.send(0, 7, 9);
    assert_eq!(hop, None);
    let mut sent = vec![(0, requests(&actions))];
    for at in [240, 640, 1200, 1920, 4720, 10_320] {
        sent.push((at, requests(&node.timer(at))));
    }
    let ttls = [1, 3, 5, 7, 35, 35, 35];
    for (i, (at, requests)) in sent.iter().enumerate() {
        let n = i as u32;
        // Each request has a new id and a new originator number (6.1, 6.3); flag G is the default.
        let expected = Rreq { gratuitous: true, originator_number: 2 + n, ..rreq(1, 1 + n, 9, None) };
        assert_eq!(requests, &[(ttls[i], expected)], "at {at} ms");
    }
    assert_eq!(node.timer(21_520), [dropped(7, DropReason::NoRoute)]);
    assert_eq!(node.routing.deadline(), Time::NEVER);
    assert_eq!((node.routing.counts().discoveries, node.routing.counts().failed), (1, 1));
}

/// A reply ends the search: the buffered packets are forwarded in the order of their arrival.
#[test]
fn buffered_packets_keep_their_order() {
    let mut node = Node::first(&config());
    for packet in [5, 3, 8] {
        assert_eq!(node.send(0, packet, 9).0, None);
    }
    node.send(0, 6, 4);
    assert_eq!(node.routing.waiting_packets().collect::<Vec<_>>(), [5, 3, 8, 6]);
    assert_eq!(node.receive(50, rrep(9, 20, 2, 1), 2), [forward(5, 2), forward(3, 2), forward(8, 2)]);
    assert_eq!(node.valid(50, 9), Some((Some(20), 3, 2)));
    assert_eq!(node.send(51, 10, 9), (Some(hop(2)), vec![]));
    // The other search continues.
    assert_eq!(requests(&node.timer(240)).len(), 1);
}

#[test]
fn a_full_buffer_drops_the_oldest_packet_and_packets_expire() {
    let mut node =
        Node::first(&AodvConfig { buffer_packets: 2, buffer_time: Span::from_millis(100), ..config() });
    node.send(0, 1, 9);
    node.send(10, 2, 9);
    assert_eq!(node.send(20, 3, 9).1, [dropped(1, DropReason::BufferFull)]);
    assert_eq!(node.timer(110), [dropped(2, DropReason::BufferTime)]);
    assert_eq!(node.timer(120), [dropped(3, DropReason::BufferTime)]);
}

/// Any message with a route ends a search (6.3): here a request of the destination.
#[test]
fn a_request_of_the_destination_ends_the_search() {
    let mut node = Node::first(&config());
    node.send(0, 7, 9);
    let actions = node.receive(100, rreq(9, 1, 5, None), 2);
    assert!(actions.contains(&forward(7, 2)), "{actions:?}");
    assert_eq!(node.valid(100, 9), Some((Some(100), 1, 2)));
}

/// Section 6.4: the time to live of the first request for a lost route is the old hop count and TTL_INCREMENT. Section 6.3: the request
/// has the known number of the destination, here incremented when the route broke.
#[test]
fn the_search_for_a_lost_route_starts_at_its_old_hop_count() {
    for (hops, ttl) in [(2, 5), (4, 7), (5, 35)] {
        let mut node = Node::first(&config());
        node.send(0, 7, 9);
        node.receive(10, rrep(9, 20, hops, 1), 2);
        node.break_link(20, 2);
        let (_, actions) = node.send(30, 8, 9);
        let [(sent, request)] = requests(&actions)[..] else { panic!("{actions:?}") };
        assert_eq!((sent, request.destination_number), (ttl, Some(21)), "{hops} hops and one more");
    }
}

/// Two requests in any second: the third request waits until a second after the first.
#[test]
fn requests_are_limited() {
    let mut node = Node::first(&AodvConfig { rreq_ratelimit: 2, ttl_start: 35, ..config() });
    let mut sent = |now, to: u8| requests(&node.send(now, to.into(), to).1).len();
    assert_eq!([sent(0, 7), sent(400, 8), sent(500, 9)], [1, 1, 0]);
    let first = requests(&node.timer(1000));
    assert_eq!(first.iter().map(|(_, r)| r.destination).collect::<Vec<_>>(), [at(9)]);
    // The searches for 7 and 8 keep their deadlines; that of the search for 9 counts from its first request.
    let again = requests(&node.timer(2800));
    assert_eq!(again.iter().map(|(_, r)| r.destination).collect::<Vec<_>>(), [at(7)]);
    assert_eq!(node.routing.deadline(), ms(3200));
}

/// Section 6.2: a route is valid for the lifetime in the reply, and for 3 s after its last use; so is the reverse route.
#[test]
fn routes_last_while_they_are_used() {
    let mut node = Node::first(&config());
    node.receive(0, rreq(8, 1, 9, None), 3);
    node.receive(0, rrep(9, 20, 1, 8), 2);
    assert_eq!(node.relay(5000, 1, [8, 9], 3).0, Some(hop(2)));
    for to in [9, 8] {
        assert!(node.valid(7999, to).is_some(), "{to}");
    }
    for to in [9, 8] {
        assert!(node.valid(8000, to).is_none(), "{to}");
    }
    // The numbers of both destinations are incremented when the routes expire (6.1); the entries are deleted DELETE_PERIOD = 5 x 3 s later
    // (6.4).
    assert_eq!((node.ended(8000, 9), node.ended(8000, 8)), (Some(21), Some(101)));
    assert_eq!((node.ended(22_999, 9), node.route(23_000, 9)), (Some(21), None));
}

/// A forwarded packet also extends the routes to the neighbours on both sides, which were valid for 3 s from time 0.
#[test]
fn use_of_a_route_extends_the_routes_to_its_neighbours() {
    let mut node = Node::first(&config());
    node.receive(0, rreq(8, 1, 9, None), 3);
    node.receive(0, rrep(9, 20, 1, 8), 2);
    node.relay(2000, 1, [8, 9], 3);
    for neighbour in [2, 3] {
        assert_eq!(node.valid(4999, neighbour), Some((None, 1, neighbour)));
    }
    for neighbour in [2, 3] {
        assert_eq!(node.valid(5000, neighbour), None);
    }
}

/// Section 6.2: accepted is a more recent number, or an equal one with fewer hops; information without a number never replaces a number.
#[test]
fn only_better_routes_are_accepted() {
    let mut node = Node::first(&config());
    node.receive(0, rrep(9, 20, 3, 1), 2);
    let mut after = |message, from| {
        node.receive(1, message, from);
        node.valid(1, 9).unwrap()
    };
    assert_eq!(after(rrep(9, 19, 1, 1), 3), (Some(20), 4, 2), "older");
    assert_eq!(after(rrep(9, 20, 3, 1), 3), (Some(20), 4, 2), "not shorter");
    assert_eq!(after(rrep(9, 20, 2, 1), 3), (Some(20), 3, 3), "shorter");
    assert_eq!(after(rrep(9, 21, 8, 1), 4), (Some(21), 9, 4), "younger");
    // Serial arithmetic: a number 2^31 - 1 ahead is more recent, one 2^31 ahead is not.
    assert_eq!(after(rrep(9, 21 + (1 << 31), 1, 1), 5), (Some(21), 9, 4));
    assert_eq!(after(rrep(9, 20 + (1 << 31), 1, 1), 5), (Some(20 + (1 << 31)), 2, 5));
    // A message received from 9 itself makes it a neighbour without a number, which does not replace the route with a number.
    assert_eq!(after(rrep(7, 1, 0, 1), 9), (Some(20 + (1 << 31)), 2, 5));
}

/// A route that has ended is restored only by a reply with at least its incremented number.
#[test]
fn an_ended_route_is_not_restored_by_an_old_number() {
    let mut node = Node::first(&config());
    node.receive(0, rrep(9, 20, 3, 1), 2);
    node.break_link(1, 2);
    node.receive(2, rrep(9, 20, 1, 1), 3);
    assert_eq!(node.valid(2, 9), None, "20 is the number that node 1 itself had reported to others");
    node.receive(3, rrep(9, 21, 5, 1), 3);
    assert_eq!(node.valid(3, 9), Some((Some(21), 6, 3)));
}

/// RFC 5148: a forwarded broadcast is delayed by a random time, here below 10 ms.
#[test]
fn forwarded_broadcasts_are_delayed_by_jitter() {
    let mut node = Node::first(&AodvConfig::default());
    assert_eq!(node.receive(0, rreq(8, 1, 9, None), 3), []);
    let deadline = node.routing.deadline();
    assert!(deadline > Time::ZERO && deadline < ms(10), "{deadline}");
    let (_, actions) = node.call(deadline, |aodv, cx| aodv.on_timer(cx));
    assert_eq!(requests(&actions).len(), 1);
    assert_eq!(node.routing.deadline(), Time::NEVER);
    // Requests that the node originates are not delayed.
    assert_eq!(requests(&node.send(20, 7, 6).1).len(), 1);
}

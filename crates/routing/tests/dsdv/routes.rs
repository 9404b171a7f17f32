//! Which routes a node accepts.

use airfair_routing::dsdv::{DsdvConfig, INFINITY};
use airfair_routing::{Adjacency, Received, Routing};

use crate::support::*;

#[test]
fn a_newer_number_or_a_better_metric_is_accepted() {
    let mut node = Node::started(&config());
    node.receive(100, &[(2, 1, 4), (9, 4, 20)], 2);
    assert_eq!((node.valid(2), node.valid(9)), (Some((4, 1, 2)), Some((20, 4, 2))));
    // The same number: a longer path and an equal one change nothing, a shorter one is accepted.
    node.receive(200, &[(9, 5, 20)], 3);
    node.receive(210, &[(9, 4, 20)], 3);
    assert_eq!(node.valid(9), Some((20, 4, 2)));
    node.receive(220, &[(9, 3, 20)], 3);
    assert_eq!(node.valid(9), Some((20, 3, 3)));
    // An older number changes nothing, a newer one is accepted with any metric.
    node.receive(300, &[(9, 1, 18)], 4);
    assert_eq!(node.valid(9), Some((20, 3, 3)));
    node.receive(310, &[(9, 9, 22)], 4);
    assert_eq!(node.valid(9), Some((22, 9, 4)));
    // Another's opinion of this node makes no route.
    node.receive(320, &[(1, 2, 2)], 4);
    assert_eq!(node.route(1), None);
}

#[test]
fn numbers_wrap_around() {
    let mut node = Node::started(&config());
    node.receive(100, &[(9, 2, u32::MAX - 1)], 2);
    node.receive(110, &[(9, 5, 0)], 3);
    assert_eq!(node.valid(9), Some((0, 5, 3)), "0 follows the last even number");
    node.receive(120, &[(9, 1, u32::MAX - 1)], 2);
    assert_eq!(node.valid(9), Some((0, 5, 3)));
}

#[test]
fn entries_that_cannot_be_are_ignored() {
    let mut node = Node::started(&config());
    let nothing = node.receive(100, &[(9, 0, 20), (8, INFINITY, 20), (7, u32::MAX, 20), (6, 3, 21)], 2);
    assert_eq!(nothing, [], "no hops, too many of them, a broken route that was not known");
    assert_eq!(node.routing.routes().count(), 0);
    node.receive(200, &[(9, INFINITY - 1, 20)], 2);
    assert_eq!(node.valid(9), Some((20, INFINITY - 1, 2)));
    // Bytes that are no update, and a message that seems to come from the node itself.
    assert_eq!(node.receive_by(300, &[1; 11], hop(2)), []);
    assert_eq!(node.receive_by(300, &bytes(&[(5, 1, 2)]), hop(1)), []);
    assert_eq!(node.route(5), None);
    // What follows the last whole entry is ignored.
    let mut longer = bytes(&[(5, 1, 2)]);
    longer.extend([0; 7]);
    node.receive_by(310, &longer, hop(5));
    assert_eq!(node.valid(5), Some((2, 1, 5)));
}

#[test]
fn a_broken_route_is_believed_of_its_next_hop_only() {
    let mut node = Node::started(&config());
    node.receive(100, &[(2, 1, 4), (9, 2, 20)], 2);
    node.receive(110, &[(9, INFINITY, 21)], 3);
    assert_eq!(node.valid(9), Some((20, 2, 2)), "3 is not the next hop");
    node.receive(120, &[(9, INFINITY, 19)], 2);
    assert_eq!(node.valid(9), Some((20, 2, 2)), "an old report");
    // The number decides, whatever the metric.
    assert_eq!(
        node.receive(130, &[(9, 3, 21)], 2),
        [Action::Incremental(vec![(1, 1, 2), (9, INFINITY, 21)])],
        "broken routes are reported at once"
    );
    assert_eq!(node.broken(9), Some(21));
    assert_eq!(node.receive(140, &[(9, INFINITY, 23)], 2), [], "it is broken already");
    assert_eq!(node.broken(9), Some(21));
    // Only a newer number restores it, which is reported at once too.
    node.receive(150, &[(9, 1, 20)], 3);
    assert_eq!(node.broken(9), Some(21));
    let restored = node.receive(160, &[(9, 7, 22)], 3);
    assert_eq!(restored, [Action::Incremental(vec![(1, 1, 2), (9, 8, 22)])]);
    assert_eq!(node.valid(9), Some((22, 7, 3)));
}

#[test]
fn links_of_two_interfaces_are_two_links() {
    let mut node = Node::started(&config());
    let by = |interface| Adjacency { interface, ..hop(2) };
    node.receive_by(100, &bytes(&[(9, 2, 20)]), by(1));
    assert_eq!(node.routing.next_hop(at(9), ms(100)), Some(by(1)));
    node.receive_by(110, &bytes(&[(9, INFINITY, 21)]), by(0));
    assert_eq!(node.routing.next_hop(at(9), ms(110)), Some(by(1)));
    node.receive_by(120, &bytes(&[(9, INFINITY, 21)]), by(1));
    assert_eq!(node.routing.next_hop(at(9), ms(120)), None);
}

/// The table has a limit: whoever floods a network with invented addresses does not fill the memory of others.
#[test]
fn the_table_is_bounded() {
    use airfair_wire::dsdv::{Entry, Update};
    let mut node = Node::started(&config());
    let mut invented = 0_u32;
    for _ in 0..600 {
        let entries: Vec<Entry> = (0..Update::MOST as u32)
            .map(|i| Entry {
                destination: (0x0b00_0000 + invented + i).to_be_bytes().into(),
                hops: 3,
                number: 2,
            })
            .collect();
        invented += Update::MOST as u32;
        let update = Update::new(&entries).unwrap();
        let mut bytes = vec![0; update.wire_len()];
        update.encode(&mut bytes).unwrap();
        let received = Received { from: hop(2), ttl: 1, to_all: true };
        node.effects(ms(100), |dsdv, cx| dsdv.on_message(&bytes, received, cx));
    }
    assert!(invented > 1 << 16);
    assert_eq!(node.routing.routes().count(), 1 << 16);
    assert_eq!(node.routing.counters()[1], ("refused", u64::from(invented) - (1 << 16)));
}

/// Room for three destinations and three neighbours: what finds none is counted, each time; what is known is heard as before.
#[test]
fn what_finds_no_room_is_refused() {
    let mut node = Node::started(&DsdvConfig { table_limit: 3, ..config() });
    let refused = |node: &Node| node.routing.counters()[1];
    node.receive(100, &[(2, 1, 2), (7, 2, 2), (8, 2, 2), (9, 2, 2)], 2);
    assert_eq!((node.routing.routes().count(), refused(&node)), (3, ("refused", 1)), "destinations");
    node.receive(200, &[(9, 2, 2), (8, 2, 4)], 2);
    assert_eq!((node.valid(8), node.valid(9), refused(&node)), (Some((4, 2, 2)), None, ("refused", 2)));
    for neighbour in [3, 4, 5] {
        node.receive(300, &[(8, 2, 6)], neighbour);
    }
    assert_eq!(refused(&node), ("refused", 3), "neighbours");
}

#[test]
fn the_table_reports_changes_and_losses() {
    let mut node = Node::started(&config());
    let state = |node: &Node| (node.routing.table().revision, node.routing.table().lost);
    assert_eq!(state(&node), (0, 0));
    node.receive(100, &[(8, 2, 4), (9, 2, 20)], 2);
    let (two, lost) = state(&node);
    assert_eq!((two, lost), (2, 0));
    node.receive(110, &[(9, 3, 22)], 2);
    assert_eq!(state(&node), (2, 0), "the next hop is the same");
    node.receive(120, &[(9, 3, 24)], 3);
    assert_eq!(state(&node), (3, 0));
    node.receive(130, &[(9, INFINITY, 25)], 3);
    assert_eq!(state(&node), (4, 1));
    node.receive(140, &[(9, 3, 26)], 3);
    assert_eq!(state(&node), (5, 1));
}

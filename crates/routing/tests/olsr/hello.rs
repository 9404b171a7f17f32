//! HELLO messages and neighbours [RFC 3626 sections 6, 8.1, 8.2, 8.4, 8.5].

use crate::support::*;
use airfair_routing::Routing;
use airfair_routing::olsr::{OlsrConfig, WILL_NEVER};
use airfair_units::Span;
use airfair_wire::olsr::{Body, LinkCode, Message, Vtime};

#[test]
fn hellos_are_sent_every_interval() {
    let mut node = Node::with_interfaces(1, 1, &config());
    assert_eq!(node.routing.deadline(), ms(0));
    let sent = node.until(6000);
    assert_eq!(sent.len(), 4, "at 0, 2, 4 and 6 s");
    assert!(sent.iter().all(|sent| sent.kinds == ["hello"] && sent.bytes == 4 + 12 + 4));
    let Message { validity, originator, ttl, hops, ref body, .. } = sent[0].messages[0];
    assert_eq!((validity, originator, ttl, hops), (NEIGHBOUR_HOLD, at(1), 1, 0));
    let Body::Hello(hello) = body else { panic!("{body:?}") };
    assert_eq!((hello.interval, hello.willingness, hello.groups.len()), (HELLO_INTERVAL, 3, 0));
    let numbers: Vec<u16> = sent.iter().map(|sent| sent.messages[0].sequence).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let packets: Vec<u16> = sent.iter().map(|sent| sent.sequence).collect();
    assert_eq!(packets, [1, 2, 3, 4]);
    let config = OlsrConfig { hello_interval: Span::from_secs(1), willingness: 6, ..config() };
    let sent = Node::with_interfaces(1, 1, &config).until(2000);
    let Body::Hello(hello) = &sent[2].messages[0].body else { panic!("{sent:?}") };
    assert_eq!((hello.interval, hello.willingness), (Vtime(0x04), 6));
}

#[test]
fn hellos_list_neighbours_by_kind() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[9]);
    node.meet(500, 3, &[]);
    node.hello(500, 4, &[]);
    let sent = node.until(2000);
    // 2 is the only way to 9, so it is a relay.
    assert_eq!(hellos(&sent), [vec![(ASYMMETRIC, vec![4]), (SYMMETRIC, vec![3]), (RELAY, vec![2])]]);
}

/// More neighbours than a message lists are listed in several, each with its codes.
#[test]
fn many_neighbours_need_several_messages() {
    let mut node = Node::started(&config());
    for number in 2..=200 {
        node.meet(500, number, &[]);
    }
    let sent = node.until(2000);
    let listed: Vec<usize> = hellos(&sent).iter().map(|groups| groups[0].1.len()).collect();
    assert_eq!((listed, sent.len()), (vec![150, 49], 1));
    let mut node = Node::started(&config());
    for number in 2..=200 {
        node.selected(500, number, &[]);
    }
    let sent = node.until(5000);
    let listed: Vec<usize> = own_tcs(&sent).iter().map(|(_, neighbours)| neighbours.len()).collect();
    assert_eq!(listed, [150, 49]);
    assert!(sent.iter().all(|sent| sent.bytes <= 1472));
}

/// HELLOs are not forwarded, so that one from elsewhere is an error.
#[test]
fn a_hello_of_another_originator_is_ignored() {
    let mut node = Node::started(&config());
    node.receive(500, 2, &[hello(3, 3, &[(SYMMETRIC, &[1])])]);
    assert_eq!((node.routes(), hellos(&node.until(2000))), (vec![], vec![vec![]]));
    // What the node has sent itself comes back by another interface of it.
    node.receive(2500, 1, &[hello(1, 3, &[(SYMMETRIC, &[1])])]);
    assert_eq!(hellos(&node.until(4000)), [vec![]]);
}

#[test]
fn neighbours_of_symmetric_neighbours_are_two_hops_away() {
    let mut node = Node::started(&config());
    // 2 was heard only: what it lists does not count yet.
    node.hello(500, 2, &[(SYMMETRIC, &[8])]);
    assert_eq!(node.routes(), []);
    // Symmetric neighbours and relays of 2 count, those that 2 has only heard do not.
    node.hello(2500, 2, &[(ASYMMETRIC, &[1, 7]), (SYMMETRIC, &[8]), (RELAY, &[9])]);
    assert_eq!(node.routes(), [(2, 2, 1), (8, 2, 2), (9, 2, 2)]);
    // 8 is lost to 2, and 9 is no longer listed: it expires 6 s after the last HELLO that listed it.
    node.hello(4500, 2, &[(ASYMMETRIC, &[1]), (LOST, &[8])]);
    assert_eq!(node.routes(), [(2, 2, 1), (9, 2, 2)]);
    assert_eq!(node.routing.table().lost, 1);
    node.until(8499);
    assert_eq!(node.routes(), [(2, 2, 1), (9, 2, 2)]);
    node.until(8500);
    assert_eq!(node.routes(), [(2, 2, 1)]);
}

/// With the neighbour itself, what it has reported is forgotten, and it is no selector any more.
#[test]
fn a_lost_neighbour_takes_its_neighbours_with_it() {
    let mut node = Node::started(&config());
    node.selected(500, 2, &[8]);
    node.meet(4000, 3, &[9]);
    assert_eq!((node.relays(), node.selectors()), (vec![2, 3], vec![2]));
    node.hello(4500, 2, &[(LOST, &[1]), (SYMMETRIC, &[8])]);
    assert_eq!(node.routes(), [(3, 3, 1), (9, 3, 2)]);
    assert_eq!((node.relays(), node.selectors()), (vec![3], vec![]));
}

#[test]
fn selectors_expire() {
    let mut node = Node::started(&config());
    node.selected(500, 2, &[]);
    assert_eq!(node.selectors(), [2]);
    // A HELLO without the selection does not end the old one.
    node.meet(2500, 2, &[]);
    assert_eq!(node.selectors(), [2]);
    node.until(6499);
    assert_eq!(node.selectors(), [2]);
    node.until(6500);
    assert_eq!((node.selectors(), node.routes()), (vec![], vec![(2, 2, 1)]));
}

#[test]
fn the_willingness_of_neighbours_is_taken_over() {
    let mut node = Node::started(&config());
    node.receive(500, 2, &[hello(2, WILL_NEVER, &[(SYMMETRIC, &[1, 9])])]);
    assert_eq!((node.relays(), node.routes()), (vec![], vec![(2, 2, 1)]), "it forwards nothing");
    node.receive(2500, 2, &[hello(2, 1, &[(SYMMETRIC, &[1, 9])])]);
    assert_eq!((node.relays(), node.routes()), (vec![2], vec![(2, 2, 1), (9, 2, 2)]));
}

/// Bytes that are no packet, and messages that cannot be.
#[test]
fn invalid_messages_are_ignored() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[]);
    let received = airfair_routing::Received { from: hop(2), ttl: 1, to_all: true };
    node.effects(ms(600), |olsr, cx| olsr.on_message(&[0, 9, 1], received, cx));
    let ended = Message { ttl: 0, ..tc(5, 1, 1, &[6]) };
    let own = Message { originator: at(1), ..tc(5, 2, 1, &[6]) };
    let silent = Message { ttl: 0, ..hello(2, 3, &[(LOST, &[1])]) };
    node.receive(700, 2, &[ended, own, silent]);
    assert_eq!(node.routes(), [(2, 2, 1)]);
    let meaningless = hello(2, 3, &[(LinkCode(0x3e), &[7, 8])]);
    node.receive(800, 2, &[meaningless]);
    assert_eq!(node.routes(), [(2, 2, 1)]);
}

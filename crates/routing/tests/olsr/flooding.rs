//! Flooding: duplicates and the default forwarding algorithm [RFC 3626 section 3.4], jitter and shared datagrams [3.5].

use crate::support::*;
use airfair_routing::Routing;
use airfair_routing::olsr::OlsrConfig;
use airfair_units::{Span, Time};
use airfair_wire::olsr::{Body, Message, Other};

/// The messages that the node forwards by `now`: originator, number, time to live, hops.
fn forwarded(node: &mut Node, now: u64) -> Vec<(u8, u16, u8, u8)> {
    let sent = node.until(now);
    let messages = sent.iter().flat_map(|sent| sent.kinds.iter().zip(&sent.messages));
    messages
        .filter(|(kind, _)| **kind == "forwarded")
        .map(|(_, m)| (m.originator.octets()[3], m.sequence, m.ttl, m.hops))
        .collect()
}

#[test]
fn a_relay_forwards_a_message_once() {
    let mut node = Node::started(&config());
    node.selected(500, 2, &[]);
    node.meet(500, 3, &[]);
    let message = Message { ttl: 9, hops: 4, ..tc(5, 77, 1, &[6]) };
    node.receive(600, 2, std::slice::from_ref(&message));
    assert_eq!(forwarded(&mut node, 700), [(5, 77, 8, 5)]);
    // By a neighbour or the same one again.
    node.receive(800, 3, std::slice::from_ref(&message));
    node.receive(800, 2, std::slice::from_ref(&message));
    assert_eq!(forwarded(&mut node, 900), []);
    // Another number, or another originator, is another message.
    node.receive(900, 2, &[tc(5, 78, 1, &[6]), tc(6, 77, 1, &[5])]);
    assert_eq!(forwarded(&mut node, 1000), [(5, 78, 254, 1), (6, 77, 254, 1)]);
}

#[test]
fn only_messages_of_selectors_are_forwarded() {
    let mut node = Node::started(&config());
    node.selected(500, 2, &[]);
    node.meet(500, 3, &[]);
    node.hello(500, 4, &[]);
    node.receive(600, 3, &[tc(5, 1, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 700), [], "3 has not selected the node");
    // It has come by this interface before, so that the selector's copy changes nothing.
    node.receive(700, 2, &[tc(5, 1, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 800), []);
    // 4 is no symmetric neighbour, 7 is none at all: they leave no trace.
    node.receive(800, 4, &[tc(5, 2, 1, &[6])]);
    node.receive(800, 7, &[tc(5, 2, 1, &[6])]);
    node.receive(900, 2, &[tc(5, 2, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 1000), [(5, 2, 254, 1)]);
    // 2 is a selector until 6500.
    node.meet(4000, 2, &[]);
    node.until(6499);
    node.receive(6499, 2, &[tc(5, 3, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 6499), [(5, 3, 254, 1)]);
    node.until(6500);
    node.receive(6500, 2, &[tc(5, 4, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 7000), []);
}

#[test]
fn a_message_ends_with_its_time_to_live() {
    let mut node = Node::started(&config());
    node.selected(500, 2, &[]);
    node.receive(600, 2, &[Message { ttl: 1, ..tc(5, 1, 1, &[6]) }, Message { ttl: 2, ..tc(5, 2, 1, &[7]) }]);
    assert_eq!(forwarded(&mut node, 700), [(5, 2, 1, 1)]);
    let most_hops = Message { hops: 255, ..tc(5, 3, 1, &[6]) };
    node.receive(800, 2, &[most_hops]);
    assert_eq!(forwarded(&mut node, 900), [(5, 3, 254, 255)]);
}

/// By another interface the copy of a message that was not forwarded may still be, and what is forwarded leaves by every interface.
#[test]
fn interfaces_share_duplicates() {
    let mut node = Node::with_interfaces(1, 2, &config());
    node.timer(0);
    node.receive_by(500, 0, 3, &[hello(3, 3, &[(SYMMETRIC, &[1])])]);
    node.receive_by(500, 1, 2, &[hello(2, 3, &[(RELAY, &[1])])]);
    node.receive_by(600, 0, 3, &[tc(5, 1, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 700), []);
    node.receive_by(700, 1, 2, &[tc(5, 1, 1, &[6])]);
    let sent = node.until(800);
    let by: Vec<_> = sent.iter().map(|sent| (sent.interface, sent.kinds.clone())).collect();
    assert_eq!(by, [(0, vec!["forwarded"]), (1, vec!["forwarded"])]);
    // Forwarded once: not again by the first interface.
    node.receive_by(900, 0, 3, &[tc(5, 1, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 1000), []);
}

/// A message is remembered for 30 s after its last reception by a new interface.
#[test]
fn duplicates_are_forgotten() {
    let mut node = Node::started(&config());
    for now in (500..32_000).step_by(2000) {
        node.until(now);
        node.selected(now, 2, &[]);
        if now == 500 {
            node.receive(600, 2, &[tc(5, 1, 1, &[6])]);
            assert_eq!(forwarded(&mut node, 600).len(), 1);
        }
    }
    node.until(30_599);
    node.receive(30_599, 2, &[tc(5, 1, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 30_599), []);
    node.receive(30_600, 2, &[tc(5, 1, 1, &[6])]);
    assert_eq!(forwarded(&mut node, 30_700).len(), 1);
}

#[test]
fn messages_of_unknown_types_are_forwarded() {
    let mut node = Node::started(&config());
    node.selected(500, 2, &[]);
    let body = Body::Other(Other::new(4, vec![10, 0, 0, 0, 255, 0, 0, 0]).unwrap());
    let unknown = Message { body: body.clone(), ..tc(5, 1, 1, &[]) };
    node.receive(600, 2, &[unknown]);
    let sent = node.until(700);
    assert_eq!((sent.len(), &sent[0].messages[0].body), (1, &body));
}

/// Messages that wait at the same time share a datagram, which leaves after the delay that the first one has drawn.
#[test]
fn messages_share_datagrams() {
    let jitter = Span::from_millis(500);
    let config = OlsrConfig { max_jitter: jitter, tc_interval: Span::from_secs(3000), ..config() };
    let mut node = Node::with_interfaces(1, 1, &config);
    node.timer(0);
    assert_eq!(node.until(500).len(), 1);
    node.selected(500, 2, &[]);
    let mut delays = Vec::new();
    for step in 0..40 {
        let now = 600 + 2000 * step;
        node.until(now);
        node.selected(now, 2, &[]);
        let numbers = [2, 3, 4].map(|n| 10 * step as u16 + n);
        node.receive(now, 2, &[tc(5, numbers[0], 1, &[6])]);
        node.receive(now + 1, 2, &[tc(5, numbers[1], 1, &[6]), tc(6, numbers[2], 1, &[5])]);
        let (due, effects) = loop {
            let due = node.routing.deadline();
            let effects = node.effects(due, |olsr, cx| olsr.on_timer(cx)).1;
            if !effects.is_empty() {
                break (due, effects);
            }
        };
        assert!(due >= ms(now) && due < ms(now + 500), "{due:?}");
        delays.push(due.since(ms(now)).0);
        let [airfair_routing::Effect::Send { kinds, .. }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!(kinds, &[2, 2, 2]);
    }
    let mean = delays.iter().sum::<u64>() / 40;
    assert!((200_000_000..300_000_000).contains(&mean), "{mean}: uniform up to 500 ms");
}

/// HELLOs that are probes wait beside other messages, each for a time of its own.
#[test]
fn probes_and_other_messages_wait_separately() {
    let config = OlsrConfig {
        max_jitter: Span::from_millis(500),
        probe_size: 100,
        tc_interval: Span::from_secs(2),
        ..config()
    };
    let mut node = Node::with_interfaces(1, 1, &config);
    let (mut first, mut second) = (0, 0);
    for step in 0..20 {
        let now = 2000 * step;
        node.until(now);
        if step > 0 {
            node.timer(now);
        }
        let sent = node.until(now + 500);
        assert!(sent.iter().all(|sent| sent.kinds.len() == 1));
        match sent.iter().map(|sent| sent.kinds[0]).collect::<Vec<_>>()[..] {
            ["hello", "tc"] => first += 1,
            ["tc", "hello"] => second += 1,
            ["hello"] => assert!(step == 0),
            ref other => panic!("{other:?}"),
        }
        node.until(now + 600);
        node.selected(now + 600, 2, &[]);
    }
    assert!(first > 3 && second > 3, "{first} {second}");
}

/// Datagrams are at most as long as a packet of 1500 bytes allows.
#[test]
fn full_datagrams_are_divided() {
    let mut node = Node::started(&config());
    node.selected(500, 2, &[]);
    // 12 + 4 + 4 * 29 bytes each: eleven in a packet of 4 + 11 * 132 = 1456.
    let many: Vec<u8> = (100..129).collect();
    let messages: Vec<Message> = (0..25).map(|n| tc(5, n, 1, &many)).collect();
    node.receive(600, 2, &messages);
    let sizes: Vec<usize> = node.until(700).iter().map(|sent| sent.bytes).collect();
    assert_eq!(sizes, [4 + 11 * 132, 4 + 11 * 132, 4 + 3 * 132]);
}

/// Without `synchronous_start` each node starts at a time of its own, within the interval.
#[test]
fn nodes_start_at_different_times() {
    let spread = OlsrConfig { synchronous_start: false, max_jitter: Span::ZERO, ..OlsrConfig::default() };
    let first: Vec<Time> = (1..=40)
        .map(|number| {
            let mut node = Node::with_interfaces(number, 1, &spread);
            let _ = node.timer(0);
            node.routing.deadline()
        })
        .collect();
    assert!(first.iter().all(|&at| at < ms(2000)));
    let mean = first.iter().map(|at| at.0).sum::<u64>() / 40;
    assert!((700_000_000..1_300_000_000).contains(&mean), "{mean}");
    let mut node = Node::with_interfaces(1, 1, &spread);
    node.timer(0);
    let start = node.routing.deadline();
    assert_eq!(node.until(start.0 / 1_000_000 + 1).len(), 1);
    assert_eq!(node.until(start.0 / 1_000_000 + 2001).len(), 1, "then every 2 s");
}

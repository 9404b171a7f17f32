//! Sections 6.9 and 6.10: Hello messages.

use airfair_routing::Routing;
use airfair_routing::aodv::AodvConfig;
use airfair_units::Time;
use airfair_wire::aodv::{Message, Rrep};

use crate::support::*;

fn with_hello() -> AodvConfig {
    AodvConfig { hello: true, link_layer_feedback: false, ..config() }
}

fn hello(number: u8, own: u32) -> Rrep {
    // ALLOWED_HELLO_LOSS x HELLO_INTERVAL.
    Rrep { lifetime_ms: 2000, ..rrep(number, own, 0, number) }
}

/// Actions of the node without input before `end`.
fn until(node: &mut Node, end: u64) -> Vec<(Time, Action)> {
    let mut all = Vec::new();
    while node.routing.deadline() < ms(end) {
        let now = node.routing.deadline();
        let (_, actions) = node.call(now, |aodv, cx| aodv.on_timer(cx));
        all.extend(actions.into_iter().map(|action| (now, action)));
    }
    all
}

fn errors(actions: &[(Time, Action)]) -> usize {
    actions.iter().filter(|(_, a)| matches!(a, Action::Send { message: Message::Rerr(_), .. })).count()
}

/// Only a node on an active route sends Hello messages, once a second at a phase of the node's own.
#[test]
fn a_node_on_an_active_route_sends_hello() {
    let mut node = Node::first(&with_hello());
    assert_eq!(until(&mut node, 3000), []);
    node.receive(3000, rrep(9, 20, 1, 1), 2);
    node.send(3000, 7, 9);
    let (times, messages): (Vec<Time>, Vec<Action>) = until(&mut node, 6000).into_iter().unzip();
    assert_eq!(messages, vec![to_all(Message::Rrep(hello(1, 1)), 1); 3]);
    assert!(times.windows(2).all(|pair| pair[1].since(pair[0]).0 == 1_000_000_000), "{times:?}");
    assert_eq!(until(&mut node, 12_000), [], "3 s after the last packet the route is not in use");
    let mut node = Node::first(&config());
    node.receive(0, rrep(9, 20, 1, 1), 2);
    node.send(0, 7, 9);
    assert_eq!(node.routing.deadline(), Time::NEVER, "off by default");
}

#[test]
fn a_recent_broadcast_replaces_a_hello() {
    let hellos_after = |broadcast: bool| {
        let mut node = Node::first(&with_hello());
        until(&mut node, 1000);
        // Time of the next Hello.
        let next = node.routing.deadline().0 / 1_000_000;
        node.receive(next - 20, rrep(9, 20, 1, 1), 2);
        node.send(next - 20, 7, 9);
        if broadcast {
            assert_eq!(node.receive(next - 10, rreq(8, 1, 5, None), 3).len(), 1);
        }
        until(&mut node, next + 10).len()
    };
    assert_eq!((hellos_after(false), hellos_after(true)), (1, 0));
}

/// A neighbour that has sent Hello messages is lost if no message from it arrives for more than 2 s; any message or packet counts.
#[test]
fn a_silent_neighbour_is_gone() {
    let mut node = Node::first(&with_hello());
    node.receive(0, Message::Rrep(hello(2, 40)), 2);
    assert_eq!(node.valid(0, 2), Some((Some(40), 1, 2)));
    node.receive(0, rrep(9, 20, 1, 1), 2);
    node.receive(0, rreq(8, 1, 9, None), 3);
    node.relay(1500, 1, [9, 8], 2);
    assert_eq!(errors(&until(&mut node, 3500)), 0);
    let actions = until(&mut node, 3501);
    let lost = Message::Rerr(rerr(&[(2, 41), (9, 21)]));
    assert!(actions.contains(&(Time(3_500_000_001), to_one(lost, 3))), "{actions:?}");
    // 3 has never sent a Hello: its link is not monitored.
    assert_eq!(errors(&until(&mut node, 5400)), 0);
}

/// A Hello updates the number of the neighbour and extends the route to it.
#[test]
fn a_hello_updates_number_and_lifetime() {
    let mut node = Node::first(&with_hello());
    node.receive(0, Message::Rrep(hello(2, 40)), 2);
    node.receive(1000, Message::Rrep(hello(2, 40)), 2);
    assert_eq!(node.route(1000, 2).unwrap().until, ms(3000));
    node.receive(1500, Message::Rrep(hello(2, 44)), 2);
    assert_eq!(node.valid(1500, 2), Some((Some(44), 1, 2)));
}

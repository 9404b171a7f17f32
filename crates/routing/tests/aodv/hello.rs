//! Sections 6.9 and 6.10: Hello messages.

use airfair_routing::Routing;
use airfair_routing::aodv::Config;
use airfair_units::Time;
use airfair_wire::aodv::{Message, Rrep};

use crate::support::*;

fn with_hello() -> Config {
    Config { hello: true, link_layer_feedback: false, ..config() }
}

fn hello(number: u8, own: u32) -> Rrep {
    // ALLOWED_HELLO_LOSS x HELLO_INTERVAL.
    Rrep { lifetime_ms: 2000, ..rrep(number, own, 0, number) }
}

/// Actions of the node without input before `end`.
fn until(node: &mut Node, end: u64) -> Vec<(Time, Action)> {
    let mut all = Vec::new();
    while node.aodv.deadline() < ms(end) {
        let now = node.aodv.deadline();
        let (_, actions) = node.ask(now, |aodv, cx| aodv.on_timer(cx));
        all.extend(actions.into_iter().map(|action| (now, action)));
    }
    all
}

fn errors(actions: &[(Time, Action)]) -> usize {
    actions.iter().filter(|(_, a)| matches!(a, Action::Send { message: Message::Rerr(_), .. })).count()
}

/// Only a node on a route in use says Hello, once a second at its own time.
#[test]
fn a_node_on_a_route_says_hello() {
    let mut node = Node::new(&with_hello());
    assert_eq!(until(&mut node, 3000), []);
    node.hear(3000, rrep(9, 20, 1, 1), 2);
    node.send(3000, 7, 9);
    let (times, messages): (Vec<Time>, Vec<Action>) = until(&mut node, 6000).into_iter().unzip();
    assert_eq!(messages, vec![to_all(Message::Rrep(hello(1, 1)), 1); 3]);
    assert!(times.windows(2).all(|pair| pair[1].since(pair[0]).0 == 1_000_000_000), "{times:?}");
    assert_eq!(until(&mut node, 12_000), [], "3 s after the last packet the route is not in use");
    let mut node = Node::new(&config());
    node.hear(0, rrep(9, 20, 1, 1), 2);
    node.send(0, 7, 9);
    assert_eq!(node.aodv.deadline(), Time::NEVER, "off by default");
}

#[test]
fn who_has_spoken_to_all_need_not_say_hello() {
    let hellos_after = |spoken: bool| {
        let mut node = Node::new(&with_hello());
        until(&mut node, 1000);
        // The next time but one to say it.
        let next = node.aodv.deadline().0 / 1_000_000;
        node.hear(next - 20, rrep(9, 20, 1, 1), 2);
        node.send(next - 20, 7, 9);
        if spoken {
            assert_eq!(node.hear(next - 10, rreq(8, 1, 5, None), 3).len(), 1);
        }
        until(&mut node, next + 10).len()
    };
    assert_eq!((hellos_after(false), hellos_after(true)), (1, 0));
}

/// A neighbour that has sent Hello and is silent for more than 2 s is lost; any message from it counts.
#[test]
fn a_silent_neighbour_is_gone() {
    let mut node = Node::new(&with_hello());
    node.hear(0, Message::Rrep(hello(2, 40)), 2);
    assert_eq!(node.valid(0, 2), Some((Some(40), 1, 2)));
    node.hear(0, rrep(9, 20, 1, 1), 2);
    node.hear(0, rreq(8, 1, 9, None), 3);
    node.relay(1500, 1, [9, 8], 2);
    assert_eq!(errors(&until(&mut node, 3500)), 0);
    let told = until(&mut node, 3501);
    let lost = Message::Rerr(rerr(&[(2, 41), (9, 21)]));
    assert!(told.contains(&(Time(3_500_000_001), to_one(lost, 3))), "{told:?}");
    // 3 has never said Hello: its silence means nothing.
    assert_eq!(errors(&until(&mut node, 5400)), 0);
}

/// The latest number of a Hello counts, and it keeps the way to a neighbour alive.
#[test]
fn hello_tells_a_number() {
    let mut node = Node::new(&with_hello());
    node.hear(0, Message::Rrep(hello(2, 40)), 2);
    node.hear(1000, Message::Rrep(hello(2, 40)), 2);
    assert_eq!(node.route(1000, 2).unwrap().until, ms(3000));
    node.hear(1500, Message::Rrep(hello(2, 44)), 2);
    assert_eq!(node.valid(1500, 2), Some((Some(44), 1, 2)));
}

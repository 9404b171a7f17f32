//! Hostile neighbours: forged and mutated updates, and destinations that were invented. Work is counted, not time.

use airfair_routing::dsdv::{DsdvConfig, REMEMBERED};
use airfair_routing::fuzz::{DSDV, drive};
use airfair_routing::{Received, Routing};
use airfair_units::Span;
use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use airfair_wire::dsdv::{Entry, Update};

use crate::support::*;

/// Twice the steps cost about twice the work: what was invented neither stays nor makes later messages dearer.
#[test]
fn any_course_of_events_costs_bounded_work() {
    let run = |steps| {
        let mut input = Input::Drawn(Stream::new(1, "hostile", Purpose::Routing));
        drive(&DsdvConfig::default(), &DSDV, &mut input, steps)
    };
    let (half, whole) = (run(50_000), run(100_000));
    assert!(half.total > 100_000 && whole.total < 3 * half.total, "{half:?}, {whole:?}");
    println!("{half:?}, {whole:?}");
}

fn invented(first: u32, count: u32) -> Vec<u8> {
    let entry =
        |i: u32| Entry { destination: (0x0b00_0000 + first + i).to_be_bytes().into(), hops: 3, number: 2 };
    let update = Update::new(&(0..count).map(entry).collect::<Vec<_>>()).unwrap();
    let mut bytes = vec![0; update.wire_len()];
    update.encode(&mut bytes).unwrap();
    bytes
}

/// 10,000 invented destinations: an update costs its entries, before and after. 30 periods later they break, 30 periods after that those
/// beyond 1,024 are forgotten. An honest destination, renewed each period, stays.
#[test]
fn invented_destinations_cost_nothing_and_go() {
    let mut node = Node::started(&config());
    let received = Received { from: hop(2), ttl: 1, to_all: true };
    let send = |node: &mut Node, now: u64, bytes: &[u8]| {
        let before = node.routing.work();
        node.effects(ms(now), |dsdv, cx| dsdv.on_message(bytes, received, cx));
        node.routing.work() - before
    };
    assert_eq!(send(&mut node, 100, &invented(0, 100)), 100);
    for hundred in 1..100 {
        assert_eq!(send(&mut node, 100, &invented(100 * hundred, 100)), 100);
    }
    assert_eq!(node.routing.routes().count(), 10_000);
    assert_eq!(send(&mut node, 200, &bytes(&[(9, 2, 2)])), 1);
    let mut number = 4;
    let mut valid_after = Vec::new();
    for period in 1..=62_u64 {
        let now = period * 15_000 - 100;
        let renewal = bytes(&[(9, 2, number)]);
        number += 2;
        assert_eq!(send(&mut node, now, &renewal), 1);
        while node.routing.deadline() <= ms(now + 200) {
            let due = node.routing.deadline();
            node.effects(due, |dsdv, cx| dsdv.on_timer(cx));
        }
        valid_after.push(node.routing.routes().filter(|(_, route)| route.is_valid()).count());
    }
    assert_eq!(valid_after[28], 10_001);
    assert_eq!(valid_after[31], 1, "30 periods of 15 s");
    assert_eq!(node.routing.routes().count(), REMEMBERED);
    assert!(node.routing.next_hop(at(9), ms(930_000)).is_some());
    assert_eq!(DsdvConfig::default().forget_time(), Span::from_secs(450));
}

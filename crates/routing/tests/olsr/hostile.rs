//! Hostile neighbours: forged and mutated messages, and addresses that were invented. Work is counted, not time.

use airfair_routing::fuzz::{OLSR, drive};
use airfair_routing::olsr::{AT_ONCE, OlsrConfig};
use airfair_routing::{Adjacency, Received, Routing};
use airfair_units::Time;
use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use airfair_wire::Ipv4Addr;
use airfair_wire::olsr::{Body, Message, Packet, Tc, Vtime};

use crate::support::*;

#[test]
fn any_course_of_events_costs_bounded_work() {
    let mut input = Input::Drawn(Stream::new(1, "hostile", Purpose::Routing));
    let worst = drive(&OlsrConfig::default(), &OLSR, &mut input, 100_000);
    assert!(worst.total > 1_000_000 && worst.message > 1000, "{worst:?}");
    println!("{worst:?}");
}

/// An address that nobody has.
fn invented(number: u32) -> Ipv4Addr {
    Ipv4Addr::from((0x0b00_0000 + (number.wrapping_mul(0x9e37_79b1) & 0x00ff_ffff)).to_be_bytes())
}

/// Work of one datagram with one message, from the liar at 10.0.0.2.
fn datagram(node: &mut Node, now: Time, from: u8, message: Message) -> u64 {
    let packet = Packet::new(1, vec![message]).unwrap();
    let mut bytes = vec![0; packet.wire_len()];
    packet.encode(&mut bytes).unwrap();
    let received = Received { from: Adjacency { neighbour: at(from), interface: 0 }, ttl: 1, to_all: true };
    let before = node.routing.work();
    node.effects(now, |olsr, cx| olsr.on_message(&bytes, received, cx));
    node.routing.work() - before
}

/// A TC that is valid for an hour.
fn long_tc(originator: Ipv4Addr, sequence: u16, neighbours: Vec<Ipv4Addr>) -> Message {
    let body = Body::Tc(Tc { number: 1, neighbours });
    Message { validity: Vtime(0xff), originator, ttl: 255, hops: 0, sequence, body }
}

/// A neighbour lists 300 nodes, in whose names 3,000 TCs advertise 900,000 invented addresses, far more than a table of 16,384 has room
/// for. One name fills an eighth of the table, all of them fill it. Each datagram costs what is in it, but for two in a HELLO interval,
/// which cost a calculation; so does an ordinary HELLO afterwards. (With a calculation for each message, a HELLO would cost more than
/// 16,384 looks.)
#[test]
fn invented_addresses_do_not_make_messages_dear() {
    let mut node = Node::started(&OlsrConfig { table_limit: 16_384, ..config() });
    let liars: Vec<Ipv4Addr> = (0..300).map(|number| invented(0x00f0_0000 + number)).collect();
    let group =
        airfair_wire::olsr::Group { code: SYMMETRIC, neighbours: [vec![at(1)], liars.clone()].concat() };
    let listing = |sequence| {
        let mut message = hello(2, 3, &[]);
        let Body::Hello(hello) = &mut message.body else { unreachable!() };
        hello.groups = vec![group.clone()];
        Message { sequence, validity: Vtime(0xff), ..message }
    };
    let start = ms(1000);
    datagram(&mut node, start, 2, listing(1));
    datagram(&mut node, start, 2, listing(2));
    let (mut dear, mut now) = (0, start);
    for number in 0..3000_u32 {
        now = Time(now.0 + 1_000_000);
        let list = (300 * number..300 * (number + 1)).map(invented).collect();
        let work = datagram(&mut node, now, 2, long_tc(liars[number as usize / 10], number as u16, list));
        // 300 addresses, and what any datagram costs.
        if work > 1000 {
            dear += 1;
            // Each link is followed and found; the rest are nodes.
            assert!(work <= 8 * 16_384, "{work}");
        }
        node.until(now.0 / 1_000_000);
    }
    let links = node.routes().len();
    assert!(links > AT_ONCE && links <= 16_384 + 302, "{links}");
    // At once as long as the table was short: 8,192 links come in 28 datagrams, or a few more. Then twice in 2 s, for 3 s.
    assert!((20..=50).contains(&dear), "{dear}");
    // One name alone fills an eighth.
    let of_first = |node: &Node| {
        let over = |to: &u32| node.routing.route(invented(*to)).is_some();
        (0..3000).filter(over).count()
    };
    assert_eq!(of_first(&node), 16_384 / 8);
    // Ordinary HELLOs of another neighbour, which change something each time.
    let mut total = 0;
    for number in 0..20_u16 {
        now = Time(now.0 + 50_000_000);
        let others: &[u8] = if number % 2 == 0 { &[] } else { &[77] };
        let message = hello(3, 3, &[(SYMMETRIC, &[&[1], others].concat())]);
        total += datagram(&mut node, now, 3, message);
        node.until(now.0 / 1_000_000);
    }
    // One calculation in the second that they take, and one more at its edge.
    assert!(total <= 2 * 8 * 16_384 + 20 * 1000, "{total}");
    println!("{dear} dear datagrams, {total} for 20 HELLOs");
}

/// The work that a long table owes is done by the timer: no call is due at a moment that has passed.
#[test]
fn a_long_table_is_settled_by_the_timer() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[9]);
    node.meet(600, 2, &[9]);
    for number in 0..120_u32 {
        let names = invented(0x00f0_0000 + number / 6);
        let list = (300 * number..300 * (number + 1)).map(invented).collect();
        datagram(&mut node, ms(700), 2, long_tc(names, number as u16, list));
    }
    // A neighbour appears: no route before the next calculation, which needs no message.
    node.meet(800, 3, &[]);
    assert!(node.routing.route(at(3)).is_none());
    let due = node.routing.deadline();
    assert!(due > ms(800) && due <= ms(1800), "{due:?}");
    node.until(1800);
    assert!(node.routing.route(at(3)).is_some());
    assert!(node.routing.deadline() > ms(1800));
}

/// An honest cell: 150 neighbours that all hear one another state 22,350 pairs, and the last of them a node beyond. All of them have room.
#[test]
fn a_dense_cell_is_not_cut() {
    let mut node = Node::started(&config());
    let cell: Vec<u8> = (2..=151).collect();
    for time in [1000, 3000] {
        for &from in &cell {
            let mut listed: Vec<u8> = cell.iter().copied().filter(|&other| other != from).collect();
            listed.push(1);
            if from == 151 {
                listed.push(200);
            }
            let message = hello(from, 3, &[(SYMMETRIC, &listed)]);
            datagram(&mut node, ms(time + u64::from(from)), from, message);
        }
        node.until(time + 1900);
    }
    let next = node.routing.route(at(200)).map(|route| route.hop.neighbour);
    assert_eq!(next, Some(at(151)));
    assert_eq!(node.routing.counters(), [("refused", 0)]);
}

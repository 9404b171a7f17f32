//! Link quality from HELLOs, and paths by expected transmissions.

use crate::support::*;
use airfair_routing::olsr::{Advertised, Base, Metric, OlsrConfig, WILL_NEVER};
use airfair_routing::{NodeSetup, Routing, SendRate};
use airfair_units::Span;
use airfair_wire::olsr::{Body, Group, Hello, LinkCode, LinkType, Message, NeighbourType, Other, Rated, Tc};

fn etx() -> OlsrConfig {
    let base = Base { metric: Metric::Etx, ..Base::default() };
    OlsrConfig { max_jitter: Span::ZERO, synchronous_start: true, ..OlsrConfig::from(base) }
}

fn rated(number: u8, quality: u8, neighbour_quality: u8) -> Rated {
    Rated { address: at(number), quality, neighbour_quality }
}

/// A HELLO in which all are symmetric neighbours.
fn rated_hello(from: u8, neighbours: &[Rated]) -> Message {
    let groups = vec![Group { code: SYMMETRIC, neighbours: neighbours.to_vec() }];
    let body = Body::RatedHello(Hello { interval: HELLO_INTERVAL, willingness: 3, groups });
    Message { body, ..hello(from, 3, &[]) }
}

fn rated_tc(originator: u8, sequence: u16, number: u16, neighbours: &[Rated]) -> Message {
    let body = Body::RatedTc(Tc { number, neighbours: neighbours.to_vec() });
    Message { body, ..tc(originator, sequence, number, &[]) }
}

/// A node with neighbours that list it with these qualities of its HELLOs, and others; all HELLOs of 20 s have arrived.
fn node(neighbours: &[(u8, u8, &[Rated])]) -> Node {
    let mut node = Node::started(&etx());
    for step in 0..10 {
        node.until(500 + 2000 * step);
        for &(from, quality, others) in neighbours {
            let all = [&[rated(1, quality, 255)], others].concat();
            node.receive(500 + 2000 * step, from, &[rated_hello(from, &all)]);
        }
    }
    node
}

fn costs(node: &Node) -> Vec<(u8, u8, u64)> {
    let routes = node.routing.routes().iter();
    routes.map(|(to, route)| (to.octets()[3], route.hop.neighbour.octets()[3], route.cost)).collect()
}

/// The defaults with metric etx: all links are advertised, and relays cover nodes seven times.
#[test]
fn defaults() {
    let config = etx();
    assert_eq!((config.advertised, config.mpr_coverage, config.etx_window), (Advertised::All, 7, 10));
    let hops = OlsrConfig::default();
    let ms = Span::from_millis;
    assert_eq!((hops.max_jitter, hops.neighbour_hold, hops.topology_hold), (ms(500), ms(6000), ms(15_000)));
    assert_eq!((hops.table_limit, hops.duplicate_hold, hops.willingness), (65_536, ms(30_000), 3));
    assert_eq!((hops.advertised, hops.mpr_coverage, hops.metric), (Advertised::Selectors, 1, Metric::Hops));
}

/// Ten HELLOs fill the window: 25.5 of 255 each. A missed one is counted half an interval after it was due.
#[test]
fn quality_is_the_share_of_the_last_hellos() {
    let mut node = Node::started(&etx());
    let quality = |sent: &[Sent]| match &sent.last().unwrap().messages[0].body {
        Body::RatedHello(hello) => hello.groups[0].neighbours[0],
        other => panic!("{other:?}"),
    };
    let shares = [26, 51, 77, 102, 128, 153, 179, 204, 230, 255, 255, 255];
    for (step, share) in (0..).zip(shares) {
        node.receive(500 + 2000 * step, 2, &[rated_hello(2, &[rated(1, 100, 7)])]);
        let sent = node.until(2000 + 2000 * step);
        assert_eq!(quality(&sent), rated(2, share, 100), "step {step}");
    }
    // The last one at 22.5 s; missed at 25.5 and 27.5 s.
    assert_eq!(quality(&node.until(26_000)).quality, 230);
    assert_eq!(quality(&node.until(28_000)).quality, 204);
    node.receive(28_400, 2, &[rated_hello(2, &[rated(1, 100, 7)])]);
    assert_eq!(quality(&node.until(30_000)).quality, 204, "one more of ten, and one less that was received");
}

/// Missed HELLOs raise the cost of a route without any message; the route stays, and so does the revision of the table.
#[test]
fn missed_hellos_raise_the_cost() {
    let mut node = node(&[(2, 255, &[])]);
    let revision = node.routing.table().revision;
    node.until(21_499);
    assert_eq!(costs(&node), [(2, 2, 256)]);
    // The last one at 18.5 s; nine and eight of ten: 230 and 204 of 255.
    node.until(21_500);
    assert_eq!(costs(&node), [(2, 2, 283)]);
    node.until(23_500);
    assert_eq!(costs(&node), [(2, 2, 320)]);
    assert_eq!(node.routing.table().revision, revision);
}

/// A window of one HELLO: each one that arrives is all, each one that does not is none.
#[test]
fn the_shortest_window() {
    let mut node = Node::started(&OlsrConfig { etx_window: 1, ..etx() });
    node.receive(500, 2, &[rated_hello(2, &[rated(1, 255, 255)])]);
    assert_eq!(costs(&node), [(2, 2, 256)]);
    node.until(3499);
    assert_eq!(costs(&node), [(2, 2, 256)]);
    node.until(3500);
    assert_eq!(costs(&node), []);
    // 128 of them.
    let mut node = Node::started(&OlsrConfig { etx_window: 128, ..etx() });
    node.receive(500, 2, &[rated_hello(2, &[rated(1, 255, 255)])]);
    assert_eq!(costs(&node), [(2, 2, 32_640)], "256 * 255 / 2");
}

/// Parts of one HELLO, less than a quarter of an interval apart, count once.
#[test]
fn parts_of_a_hello_count_once() {
    let mut node = Node::started(&etx());
    let part = rated_hello(2, &[rated(1, 255, 255)]);
    node.receive(500, 2, &[part.clone(), part.clone()]);
    node.receive(999, 2, std::slice::from_ref(&part));
    let one = node.routing.route(at(2)).unwrap().cost;
    // 256 * 255 / 26, then 256 * 255 / 51.
    assert_eq!(one, 2510);
    node.receive(1000, 2, &[part]);
    assert_eq!(node.routing.route(at(2)).unwrap().cost, 1280);
}

/// 1 / (df dr): 256 without losses, 1024 with half of the HELLOs lost both ways; none if the neighbour receives nothing.
#[test]
fn the_cost_of_a_link_counts_both_directions() {
    assert_eq!(costs(&node(&[(2, 255, &[])])), [(2, 2, 256)]);
    assert_eq!(costs(&node(&[(2, 128, &[])])), [(2, 2, 510)]);
    assert_eq!(costs(&node(&[(2, 0, &[])])), []);
}

/// Two good links are better than one that loses more than half.
#[test]
fn the_path_of_fewest_transmissions_is_chosen() {
    let good = rated(3, 255, 255);
    // 3 directly: 256 / 0.43 = 595; by 2: 512.
    assert_eq!(costs(&node(&[(2, 255, &[good]), (3, 110, &[])])), [(2, 2, 256), (3, 2, 512)]);
    // 256 / 0.55 = 466.
    assert_eq!(costs(&node(&[(2, 255, &[good]), (3, 140, &[])])), [(2, 2, 256), (3, 3, 466)]);
    // Hops would prefer the direct link.
    assert_eq!(node(&[(2, 255, &[good]), (3, 110, &[])]).routes(), [(2, 2, 1), (3, 2, 2)]);
}

/// Two nodes with a lossy link by one interface and a good one by another: HELLOs of the first state the lossy one to the neighbour itself,
/// and then the good one, by which packets travel, to all others. Those take it over, even if the first one is lost.
#[test]
fn others_count_the_best_link_of_two_nodes() {
    let mut node = Node::with_interfaces(1, 2, &etx());
    for step in 0..10 {
        node.until(500 + 2000 * step);
        for (interface, quality) in [(0, 100), (1, 255)] {
            let hello = rated_hello(2, &[rated(1, quality, 255)]);
            node.receive_by(500 + 2000 * step, interface, 2, &[hello]);
        }
    }
    let sent = node.until(20_000);
    let stated = |interface: u32| {
        let sent = sent.iter().rfind(|sent| sent.interface == interface && sent.kinds[0] == "hello").unwrap();
        let Body::RatedHello(hello) = &sent.messages[0].body else { panic!("{sent:?}") };
        hello.groups.iter().map(|group| (group.code, group.neighbours.clone())).collect::<Vec<_>>()
    };
    let elsewhere = LinkCode::new(LinkType::Unspecified, NeighbourType::Symmetric);
    let (lossy, good) = (rated(2, 255, 100), rated(2, 255, 255));
    assert_eq!(stated(0), [(SYMMETRIC, vec![lossy]), (elsewhere, vec![good])]);
    assert_eq!(stated(1), [(SYMMETRIC, vec![good])]);

    let lost = LinkCode::new(LinkType::Lost, NeighbourType::Symmetric);
    for (code, quality) in [(SYMMETRIC, 100), (lost, 0)] {
        let mut other = self::node(&[(3, 255, &[])]);
        let group = |code, rated| Group { code, neighbours: vec![rated] };
        let groups = vec![
            group(SYMMETRIC, rated(1, 255, 255)),
            group(code, rated(2, quality, 255)),
            group(elsewhere, good),
        ];
        let body = Body::RatedHello(Hello { interval: HELLO_INTERVAL, willingness: 3, groups });
        other.receive(20_500, 3, &[Message { body, ..hello(3, 3, &[]) }]);
        assert_eq!(costs(&other), [(2, 3, 512), (3, 3, 256)]);
    }
}

#[test]
fn tcs_carry_qualities() {
    let mut node = node(&[(2, 255, &[rated(3, 255, 255), rated(4, 255, 255)])]);
    let now = 18_600;
    node.receive(
        now,
        2,
        &[rated_tc(3, 1, 1, &[rated(5, 128, 255)]), rated_tc(4, 1, 1, &[rated(5, 255, 200)])],
    );
    // By 4: 512 + 256 / 0.784.
    assert_eq!(costs(&node)[3], (5, 2, 512 + 326));
    // A TC with the same number and another quality.
    node.receive(now, 2, &[rated_tc(3, 2, 1, &[rated(5, 255, 255)])]);
    assert_eq!(costs(&node)[3], (5, 2, 768));
    node.receive(now, 2, &[rated_tc(3, 3, 1, &[rated(5, 255, 0)]), rated_tc(4, 2, 1, &[rated(5, 0, 255)])]);
    assert_eq!(costs(&node).len(), 3, "no probe passes to 5");
    // The node's own TC states both qualities of its links.
    let sent = node.until(20_000);
    let mut tcs = sent.iter().flat_map(|sent| &sent.messages).filter_map(|message| match &message.body {
        Body::RatedTc(tc) if message.originator == at(1) => Some(tc.neighbours.clone()),
        _ => None,
    });
    assert_eq!(tcs.next_back(), Some(vec![rated(2, 255, 255)]));
}

/// A HELLO with another quality of a link between others changes the path.
#[test]
fn qualities_of_others_are_followed() {
    let mut node = node(&[(2, 255, &[rated(4, 255, 255)]), (3, 255, &[rated(4, 255, 200)])]);
    assert_eq!(costs(&node)[2], (4, 2, 512));
    node.receive(18_700, 2, &[rated_hello(2, &[rated(1, 255, 255), rated(4, 100, 255)])]);
    assert_eq!(costs(&node)[2], (4, 3, 256 + 326));
    let mut never = rated_hello(3, &[rated(1, 255, 255), rated(4, 255, 200)]);
    if let Body::RatedHello(hello) = &mut never.body {
        hello.willingness = WILL_NEVER;
    }
    node.receive(18_800, 3, &[never]);
    assert_eq!(costs(&node)[2].1, 2);
}

/// Probes of 134 bytes at the data rate: HELLOs leave alone, padded up to their size; other messages at the broadcast rate.
#[test]
fn probes_have_a_rate_and_a_size() {
    let config = OlsrConfig { probe_rate: SendRate::Data, probe_size: 134, ..etx() };
    let mut node = Node::with_interfaces(1, 1, &config);
    let sent = node.until(0);
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (sent[0].bytes + 28, sent[0].rate, sent[0].kinds.clone()),
        (134, SendRate::Data, vec!["hello"])
    );
    let filling = &sent[0].messages[1];
    assert_eq!((filling.ttl, filling.originator), (1, at(1)));
    assert!(matches!(&filling.body, Body::Other(other) if other.kind() == 250));
    node.receive(500, 2, &[rated_hello(2, &[rated(1, 255, 255)])]);
    node.until(9999);
    let sent = node.until(10_000);
    let of = |sent: &Sent| (sent.kinds.clone(), sent.rate);
    let both: Vec<_> = sent.iter().map(of).collect();
    assert_eq!(both, [(vec!["hello"], SendRate::Data), (vec!["tc"], SendRate::Broadcast)]);
    // A neighbour does not forward what fills a probe.
    let mut other = Node::with_interfaces(2, 1, &config);
    other.timer(0);
    let select =
        Message { body: Body::Other(Other::new(250, vec![0; 40]).unwrap()), ttl: 1, ..tc(1, 9, 1, &[]) };
    other.receive(100, 1, &[rated_hello(1, &[rated(2, 255, 255)]), select]);
    assert!(other.until(1000).is_empty());
    // The filling is at least as long as a message's header; a HELLO of that size needs none.
    for (size, bytes) in [(48, 48), (49, 60), (60, 60), (61, 61)] {
        let sent = Node::with_interfaces(1, 1, &OlsrConfig { probe_size: size, ..etx() }).until(0);
        assert_eq!((sent[0].bytes + 28, sent[0].rate), (bytes, SendRate::Broadcast), "{size}");
    }
    // At the data rate alone, HELLOs leave alone too.
    let mut fast = Node::with_interfaces(1, 1, &OlsrConfig { probe_rate: SendRate::Data, ..etx() });
    assert_eq!(fast.until(0).iter().map(of).collect::<Vec<_>>(), [(vec!["hello"], SendRate::Data)]);
}

/// olsrd's etx_ffeth: a cable states 255 of 255 and costs a tenth, 25 of 256; the best of a radio is 254, and costs
/// 256 x 255^2 / 254^2 = 258.
/// Where a network has no cable, a radio without losses costs 256.
#[test]
fn cables_cost_a_tenth_where_there_are_any() {
    let heard = |wires_from: Option<u32>, stated: u8| {
        let setup = NodeSetup { address: at(1), interfaces: 2, wires_from };
        let mut node = Node::of(&setup, &etx());
        node.timer(0);
        for step in 0..10 {
            node.until(500 + 2000 * step);
            for (interface, from) in [(0, 2), (1, 3)] {
                let quality = if interface == 0 { stated } else { 255 };
                node.receive_by(
                    500 + 2000 * step,
                    interface,
                    from,
                    &[rated_hello(from, &[rated(1, quality, 255)])],
                );
            }
        }
        costs(&node)
    };
    assert_eq!(heard(Some(1), 254), [(2, 2, 258), (3, 3, 25)]);
    assert_eq!(heard(None, 255), [(2, 2, 256), (3, 3, 256)]);
    // Both are radios, and a cable is elsewhere.
    assert_eq!(heard(Some(2), 254), [(2, 2, 258), (3, 3, 257)]);
}

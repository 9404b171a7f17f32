//! Routes that are found while the world runs: AODV's messages on the air, and flows over its routes.

use crate::support::rig::{both, by_matrix, no_back_off};
use crate::support::routing::*;
use crate::support::wires::{link, tcp, wired};
use crate::support::*;
use airfair_routing::aodv::AodvConfig;
use airfair_routing::shortest::Metric;
use airfair_sim::engine::drive;
use airfair_sim::ids::NodeIx;
use airfair_sim::measure::summary::QueueResult;
use airfair_sim::spec::*;
use airfair_sim::{Fate, Injection};
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Db, Rate, Span, Time};

/// Five hops: the rings of 1 and 3 hops find nothing, that of 5 does, after 240 + 400 ms. The request is passed on by 0, 2 and 4 nodes;
/// the reply takes five hops. A packet every 80 ms: eight or nine wait meanwhile, and none is lost.
#[test]
fn a_chain_carries_as_much_as_over_static_routes() {
    let mut spec = chain(dot11b(250.0, 550.0), 5, 200.0, constant(50), 20);
    for seed in 1..=3 {
        spec.routing = RoutingSpec::Static(Metric::Hops);
        let fixed = run(&spec, seed);
        spec.routing = aodv(|_| {});
        let (found, path) = to_end(&spec, seed);
        assert_eq!(found.ends.dropped.values().sum::<u64>(), 0);
        assert_eq!(found.flows[0].delivered_packets, fixed.flows[0].delivered_packets);
        assert_eq!((found.flows[0].hops, path), (Some(5), Some(vec![0, 1, 2, 3, 4, 5])));
        assert_eq!(counts(&found, "rreq"), [3, 2, 2, 1, 1, 0]);
        assert_eq!((sum(&found, "rrep"), sum(&found, "rerr")), (5, 0));
        assert_eq!((sum(&found, "discoveries"), sum(&found, "breaks")), (1, 0));
        // The first packet waited 640 ms and little more; the second 80 ms less.
        let (fixed, found) = (fixed.flows[0].mean_delay_s().unwrap(), found.flows[0].mean_delay_s().unwrap());
        let waited: f64 = (0..9).map(|i| (0.64 - 0.08 * f64::from(i)).max(0.0)).sum::<f64>() / 250.0;
        assert!((found - fixed - waited).abs() < 0.005, "{found} {fixed} {waited}");
    }
}

#[test]
fn tcp_runs_over_found_routes() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, Traffic::Endless, 20);
    spec.flows[0].transport = tcp(TcpConfig::default());
    let fixed = run(&spec, 1);
    spec.routing = aodv(|_| {});
    let found = run(&spec, 1);
    places_add_up(&found.ends);
    let share = found.flows[0].goodput_bps / fixed.flows[0].goodput_bps;
    assert!((0.9..1.05).contains(&share), "{share}");
    // The way back is found with the way there, and the routes live on what is sent: only a break makes a search.
    assert_eq!(sum(&found, "discoveries"), 1 + sum(&found, "breaks"));
}

/// Two ways from `s` by `a` to `d`: over `b`, and over `c` and `e`. From 5 s on `j` sends without a pause to `k`; of the others only `b`
/// hears the two, and from then on it is deaf and does not get to speak.
pub fn detour() -> WorldSpec {
    let mut spec = world(by_matrix(dot11b(400.0, 550.0)), 30);
    for name in ["s", "a", "b", "c", "e", "d", "j", "k"] {
        node(&mut spec, name, 0.0, 0.0);
    }
    let pairs = [(0, 1), (1, 2), (2, 5), (1, 3), (3, 4), (4, 5), (6, 7)];
    let mut gains: Vec<_> = pairs.iter().flat_map(|&(a, b)| both(a, b, -60.0)).collect();
    gains.extend([(6, 2, -55.0), (7, 2, -55.0)]);
    spec.gains = gains.iter().map(|&(from, to, dbm)| GainSpec { from, to, gain: Db(dbm - 15.0) }).collect();
    let mut jammer = no_back_off(spec.radios[0].clone());
    jammer.name = "jammer".into();
    spec.radios.push(jammer);
    spec.nodes[6].radios = vec![1];
    flow(&mut spec, "f", 0, 5, constant(50));
    flow(&mut spec, "noise", 6, 7, saturating(1500));
    spec.flows[1].start = Time(5_000_000_000);
    spec.warmup = Span::from_secs(15);
    spec
}

/// Without jitter the reply by the shorter path arrives first. When `a` finds `b` unreachable it notifies `s`, which finds the longer path.
#[test]
fn a_broken_link_is_gone_round() {
    let mut spec = detour();
    assert_eq!(run(&spec, 1).flows[0].delivered_packets, 0, "static routes do not change");
    let still = |config: &mut AodvConfig| config.broadcast_jitter = Span::ZERO;
    spec.routing = aodv(still);
    let mut before = spec.clone();
    before.duration = Span::from_secs(5);
    before.warmup = Span::ZERO;
    assert_eq!(to_end(&before, 1).1, Some(vec![0, 1, 2, 5]));
    let (result, path) = to_end(&spec, 1);
    places_add_up(&result.ends);
    assert_eq!(path, Some(vec![0, 1, 3, 4, 5]));
    // 15 s of a packet every 80 ms.
    assert!((186..=188).contains(&result.flows[0].delivered_packets), "{:?}", result.flows[0]);
    let of = |name: &str, node: usize| counts(&result, name)[node];
    assert_eq!((of("breaks", 1), of("rerr", 1), of("discoveries", 0)), (1, 1, 2));
    // The route is repaired where it broke, if allowed: only `a` has to search again.
    spec.routing = aodv(|config| {
        still(config);
        config.local_repair = true;
    });
    let (repaired, path) = to_end(&spec, 1);
    assert_eq!(path, Some(vec![0, 1, 3, 4, 5]));
    assert_eq!(counts(&repaired, "discoveries")[..2], [1, 1]);
    assert!((186..=188).contains(&repaired.flows[0].delivered_packets), "{:?}", repaired.flows[0]);
}

/// Without word from the MAC, `b` is missed by its Hello messages.
#[test]
fn a_silent_neighbour_is_gone_round() {
    let mut spec = detour();
    spec.routing = aodv(|config| {
        config.broadcast_jitter = Span::ZERO;
        config.link_layer_feedback = false;
        config.hello = true;
    });
    let (result, path) = to_end(&spec, 1);
    places_add_up(&result.ends);
    assert_eq!(path, Some(vec![0, 1, 3, 4, 5]));
    assert!(result.flows[0].delivered_packets >= 180, "{:?}", result.flows[0]);
    assert!(sum(&result, "hello") > 50);
}

/// No reply: after 21.52 s the waiting packets are given up; later ones wait again. No more than `buffer_packets` wait.
#[test]
fn what_finds_no_route_ends_with_a_reason() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 900.0, constant(20), 25);
    spec.routing = aodv(|config| config.buffer_packets = 16);
    let mut world = make(&spec, 1);
    drive::to_end(&mut world);
    let result = world.result();
    assert_eq!(result.warnings, ["flow f: no route from 0 to 1"]);
    places_add_up(&result.ends);
    // A packet every 200 ms from 0 on: 108 until 21.52 s, of which 16 wait; then 17 until 25 s.
    let dropped: Vec<_> = result.ends.dropped.iter().map(|(k, &v)| (k.as_str(), v)).collect();
    assert_eq!(dropped, [("no-route", 16), ("route-queue", 93)]);
    assert_eq!(result.ends.awaiting_route, Some(16));
    assert_eq!((sum(&result, "discoveries"), sum(&result, "failed")), (2, 1));
    // None was received: 7 requests; then from 21.6 s on those with 1, 3, 5, 7 and, at 23.52 s, 35 hops.
    assert_eq!(sum(&result, "rreq"), 12);
}

/// A saturating source continues after a failed search.
#[test]
fn a_saturating_source_waits_for_a_route() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(1000), 10);
    spec.routing = aodv(|_| {});
    let found = run(&spec, 1);
    places_add_up(&found.ends);
    spec.routing = RoutingSpec::Static(Metric::Hops);
    let share = found.flows[0].goodput_bps / run(&spec, 1).flows[0].goodput_bps;
    assert!((0.9..1.05).contains(&share), "{share}");
}

/// The relay receives on one channel and sends on the other: requests go out on both, replies come back by the right one.
#[test]
fn routes_lead_over_several_interfaces() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, constant(50), 5);
    let mut second = spec.radios[0].clone();
    second.name = "second".into();
    second.channel = 6;
    spec.radios.push(second);
    spec.nodes[1].radios = vec![0, 1];
    spec.nodes[2].radios = vec![1];
    spec.routing = aodv(|_| {});
    let result = run(&spec, 1);
    assert_eq!((result.flows[0].hops, result.ends.dropped.len()), (Some(2), 0));
    assert_eq!(
        counts(&result, "rreq"),
        [2, 1, 1, 0],
        "the request with 3 hops is passed on by both radios of the relay"
    );
}

/// Replies are the first unicast packets: each neighbour's address is requested by ARP before.
#[test]
fn arp_comes_before_replies() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, constant(50), 5);
    spec.arp = ArpSpec { prefilled: false, waiting_packets: 3, retry: Span::from_secs(1), attempts: 3 };
    spec.routing = aodv(|_| {});
    let result = run(&spec, 1);
    places_add_up(&result.ends);
    assert_eq!((sum(&result, "rrep"), result.flows[0].hops), (3, Some(3)));
    assert!(result.flows[0].delivered_packets >= 60);
}

/// A crowded grid: links break by congestion. Every packet is accounted for, and the same seed gives the same run.
#[test]
fn every_packet_is_somewhere() {
    let mut spec = world(dot11b(250.0, 550.0), 10);
    for i in 0..16 {
        node(&mut spec, &i.to_string(), 200.0 * f64::from(i % 4), 200.0 * f64::from(i / 4));
    }
    for (i, (from, to)) in [(0, 15), (3, 12), (8, 2), (13, 7)].into_iter().enumerate() {
        flow(&mut spec, &format!("f{i}"), from, to, saturating(1000));
    }
    let mut broke = 0;
    for (seed, change) in (1..).zip([false, true, false]) {
        spec.routing = aodv(|config| {
            config.local_repair = change;
            config.reply_acknowledgement = change;
        });
        spec.radios[0].mac.backpressure = !change;
        let result = run(&spec, seed);
        places_add_up(&result.ends);
        assert_eq!(run(&spec, seed), result);
        broke += sum(&result, "breaks");
        assert!(result.flows.iter().map(|f| f.delivered_packets).sum::<u64>() > 500);
    }
    assert!(broke > 10, "{broke}");
}

/// Packets queued for a neighbour are dropped with the link, if configured.
#[test]
fn what_queues_for_a_lost_neighbour_is_dropped() {
    let mut spec = detour();
    spec.flows[0].traffic = constant(400);
    let dropped = |drop_queued| {
        let mut spec = spec.clone();
        spec.routing = aodv(|config| {
            config.broadcast_jitter = Span::ZERO;
            config.drop_queued = drop_queued;
        });
        let result = run(&spec, 1);
        places_add_up(&result.ends);
        result.ends.dropped.get("link-break").copied().unwrap_or(0)
    };
    assert!(dropped(true) > 0);
    assert_eq!(dropped(false), 0);
}

#[test]
fn packets_from_outside_find_their_way() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, constant(1), 3);
    spec.flows.clear();
    spec.routing = aodv(|_| {});
    let mut world = make(&spec, 1);
    world.inject(Injection::new(NodeIx(2), NodeIx(0), 500, 7), Time(1_000_000)).unwrap();
    drive::to_end(&mut world);
    let ends: Vec<_> = world.drain_outputs().iter().map(|o| (o.tag, o.fate)).collect();
    assert_eq!(ends, [(7, Fate::Arrived)]);
}

/// Wires are links as radio links are: `left` and `right` reach each other over the wire between the gateways only. Requests go over it as
/// they go by air, and so do replies; no packet is lost, and none costs more than over fixed routes.
#[test]
fn routes_lead_over_wires() {
    let mut spec = world(dot11b(250.0, 550.0), 20);
    for (name, x) in [("left", 0.0), ("gate", 200.0), ("gate2", 5000.0), ("right", 5200.0)] {
        node(&mut spec, name, x, 0.0);
    }
    spec.links.push(link((1, 2), 10, Span::from_millis(5), 50));
    flow(&mut spec, "f", 0, 3, constant(50));
    let fixed = run(&spec, 1);
    spec.routing = aodv(|_| {});
    let (found, path) = to_end(&spec, 1);
    places_add_up(&found.ends);
    assert_eq!((found.flows[0].hops, path), (Some(3), Some(vec![0, 1, 2, 3])));
    assert_eq!(found.flows[0].delivered_packets, fixed.flows[0].delivered_packets);
    assert_eq!((sum(&found, "discoveries"), sum(&found, "breaks"), found.ends.dropped.len()), (1, 0, 0));
    // Rings of 1, 3 hops: `gate` passes the second one on by air and by wire, `gate2` both ways, too.
    let by_wire = |name: &str| -> Vec<u64> {
        let of = |queue: &QueueResult| queue.routing.as_ref().map(|counts| counts.of(name));
        found.queues.iter().filter_map(of).collect()
    };
    assert_eq!((counts(&found, "rreq"), by_wire("rreq")), (vec![2, 1, 1, 0], vec![1, 1]));
    assert_eq!((counts(&found, "rrep"), by_wire("rrep")), (vec![0, 1, 0, 1], vec![0, 1]));
    // A node's counters are reported with its radio.
    assert!(by_wire("discoveries").iter().all(|&count| count == 0));
}

/// Nodes without radios find each other by wires alone, over the shorter of two ways, with acknowledged Hello messages and without: a wire
/// never breaks, even one whose queue is full of others' packets, which routing's messages do not stand behind.
#[test]
fn wires_alone_are_a_network() {
    for hello in [false, true] {
        let mut spec = world(dot11b(250.0, 550.0), 20);
        let nodes: Vec<usize> = ["a", "b", "c", "d", "e"].map(|name| wired(&mut spec, name)).into();
        for (from, to) in [(0, 1), (1, 2), (2, 4), (0, 3), (3, 4)] {
            spec.links.push(link((nodes[from], nodes[to]), 1, Span::from_millis(2), 20));
        }
        flow(&mut spec, "f", 0, 4, saturating(1000));
        flow(&mut spec, "t", 4, 0, Traffic::Endless);
        spec.flows[1].transport = tcp(TcpConfig::default());
        flow(
            &mut spec,
            "full",
            0,
            4,
            Traffic::ConstantRate { rate: Rate(3_000_000), packet: Bytes(1000), gap_jitter: 0.0 },
        );
        spec.routing = aodv(|config| {
            config.hello = hello;
            config.link_layer_feedback = !hello;
        });
        let (result, path) = to_end(&spec, 1);
        places_add_up(&result.ends);
        assert_eq!(path, Some(vec![0, 3, 4]));
        let done = |name: &str| -> u64 {
            result.queues.iter().map(|queue| queue.routing.as_ref().unwrap().of(name)).sum()
        };
        assert_eq!((done("breaks"), done("failed")), (0, 0), "hello: {hello}");
        assert_eq!(done("hello") > 50, hello);
        // 1 Mbit/s there, shared by two; TCP has the way back for itself.
        let there = result.flows[0].goodput_bps + result.flows[2].goodput_bps;
        assert!((0.9e6..1e6).contains(&there) && result.flows[1].goodput_bps > 0.8e6, "{:?}", result.flows);
    }
}

/// A radio link that breaks beside a wire to the same node: the wire stays.
#[test]
fn a_wire_beside_a_radio_link_does_not_break() {
    let mut spec = world(dot11b(250.0, 550.0), 20);
    for (name, x) in [("a", 0.0), ("b", 200.0)] {
        node(&mut spec, name, x, 0.0);
    }
    let knots = [(5, 200.0), (10, 2000.0)]
        .map(|(seconds, x)| Knot { at: Time(seconds * 1_000_000_000), position: [x, 0.0, 0.0] });
    spec.movement.paths.push(PathSpec { node: 1, knots: knots.into(), repeat_from: None });
    spec.links.push(link((0, 1), 10, Span::from_millis(30), 50));
    flow(&mut spec, "f", 0, 1, constant(50));
    spec.routing = aodv(|_| {});
    let (result, path) = to_end(&spec, 1);
    places_add_up(&result.ends);
    // By air first, which answers sooner; then by wire. One packet finds out.
    assert_eq!(path, Some(vec![0, 1]));
    assert_eq!(counts(&result, "breaks"), [1, 0]);
    let f = &result.flows[0];
    let (by_air, by_wire) = (&result.queues[0], &result.queues[1]);
    assert!(by_air.packets > 50 && by_wire.packets > 100, "{:?}", result.queues);
    assert!(f.delivered_packets + 8 >= f.sent_packets, "{f:?}");
}

/// `m` stands between `s` and `d` and leaves at 5 s with 20 m/s, as `n` comes: the flow changes over when it is lost.
#[test]
fn routes_follow_nodes_that_move() {
    let mut spec = world(dot11b(250.0, 550.0), 30);
    for (name, x, y) in [("s", 0.0, 0.0), ("m", 200.0, 0.0), ("d", 400.0, 0.0), ("n", 200.0, -400.0)] {
        node(&mut spec, name, x, y);
    }
    for (node, from, to) in [(1, 0.0, 400.0), (3, -400.0, 0.0)] {
        let knot =
            |seconds: u64, y: f64| Knot { at: Time(seconds * 1_000_000_000), position: [200.0, y, 0.0] };
        let knots = [knot(5, from), knot(25, to)].into();
        spec.movement.paths.push(PathSpec { node, knots, repeat_from: None });
    }
    flow(&mut spec, "f", 0, 2, constant(50));
    let fixed = run(&spec, 1);
    spec.routing = aodv(|_| {});
    let (found, path) = to_end(&spec, 1);
    places_add_up(&found.ends);
    assert_eq!(path, Some(vec![0, 3, 2]));
    // m is out of range (250 m) from 150 m on, at 12.5 s; n is within it from 250 m of its way on, at 17.5 s.
    let (packets, lost) = (375, 63);
    assert!(fixed.flows[0].delivered_packets < packets - 200, "{}", fixed.flows[0].delivered_packets);
    let delivered = found.flows[0].delivered_packets;
    assert!((packets - lost - 20..=packets).contains(&delivered), "{delivered}");
    assert!(sum(&found, "breaks") >= 1);
}

//! Limits of a node's own flows in its interface: sums by hand, and a relay whose own flow leaves room for others.

use crate::support::routing::aodv;
use crate::support::wires::*;
use crate::support::{dot11b, flow, make, node, world};
use airfair_schemes::places::{Capability, Interface, Source, UdpEnds, Wants};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_sim::World;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::{Bytes, Rate, Span, Time};

/// Headers of 40 bytes, every segment acknowledged: easy to follow.
fn plain() -> TcpConfig {
    TcpConfig {
        mss: 1000,
        initial_window: InitialWindow::Segments(10),
        delayed_ack: None,
        fin: false,
        ..TcpConfig::default()
    }
}

fn add(spec: &mut WorldSpec, id: &str, ends: (usize, usize), traffic: Traffic) {
    flow(spec, id, ends.0, ends.1, traffic);
    spec.flows.last_mut().unwrap().transport = tcp(plain());
}

fn constant(rate: Rate, bytes: u64) -> Traffic {
    Traffic::ConstantRate { rate, packet: Bytes(bytes), gap_jitter: 0.0 }
}

/// Two nodes with a wire of 1 Mbit/s between them. Departures are known when a packet arrives, or there is a queue: a change of rate after
/// the end requires one.
fn pair(limit: LocalLimit, queue: bool) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), 20);
    spec.warmup = Span::from_secs(5);
    spec.headers = HeaderSpec { udp: 8, tcp: Some(20), ip: 20, llc: 0, mac: 0, wired: 0 };
    wired(&mut spec, "a");
    wired(&mut spec, "b");
    let change = RateChange { at: Time(Span::from_secs(60).0), rate: Rate::from_mbps(1) };
    let rate_changes = if queue { vec![change] } else { vec![] };
    spec.links.push(LinkSpec { rate_changes, local_limit: limit, ..link((0, 1), 1, ms(10), 50) });
    spec
}

fn run(spec: &WorldSpec) -> RunResult {
    let result = finished(make(spec, 1));
    let ends = &result.ends;
    let dropped: u64 = ends.dropped.values().sum();
    assert_eq!(
        ends.made,
        ends.delivered + dropped + ends.inside(),
        "every packet ends in one place: {ends:?}"
    );
    result
}

/// A segment of 1040 bytes takes 8.32 ms. In 1 ms the connection sends far less than two segments, so it has two in its node: each
/// waits while the one before is sent, is sent, and travels 10 ms: 26.64 ms. Without the limit 50 wait behind the one that is sent.
#[test]
fn a_connection_has_two_segments_at_its_wire() {
    for queue in [false, true] {
        let delay = |limit| {
            let mut spec = pair(limit, queue);
            add(&mut spec, "f", (0, 1), Traffic::Endless);
            let result = run(&spec);
            let flow = &result.flows[0];
            assert!(
                (flow.goodput_bps / 1e6 - 1000.0 / 1040.0).abs() < 1e-3,
                "the wire is never idle: {flow:?}"
            );
            assert_eq!((result.drops.len(), flow.retransmissions), (0, 0));
            flow.mean_delay_s().unwrap() * 1e3
        };
        let limited = delay(Some(ms(1)));
        assert!((limited - 26.64).abs() < 0.01, "{limited}");
        let unlimited = delay(None);
        assert!((unlimited - (51.0 * 8.32 + 10.0)).abs() < 0.01, "{unlimited}");
    }
}

/// The longer the time, the more may wait: n segments where the window, 20 kB, has never met a loss. A segment waits for n - 1 and is
/// sent, 8.32 ms each, travels 10 ms, its acknowledgement 10.32 ms. At twice a window in such a round-trip time of 78.56 ms, 12.73 kB
/// leave in 25 ms: 7 segments of 1896 B of memory are more, 6 are not. So n = 7.
#[test]
fn the_limit_is_a_time_at_the_pacing_rate() {
    for queue in [false, true] {
        let mut spec = pair(Some(ms(25)), queue);
        flow(&mut spec, "f", 0, 1, Traffic::Endless);
        spec.flows[0].transport = tcp(TcpConfig { window_limit: 20_000, ..plain() });
        let delay = run(&spec).flows[0].mean_delay_s().unwrap() * 1e3;
        assert!((delay - (7.0 * 8.32 + 10.0)).abs() < 0.01, "{delay}");
    }
}

/// Sources over UDP together have half of the queue's 50 packets.
#[test]
fn sources_over_udp_share_half_of_a_queue() {
    for (limit, expected) in [(Some(ms(1)), 25), (None, 50)] {
        for sources in 1..=3 {
            for queue in [false, true] {
                let mut spec = pair(limit, queue);
                for i in 0..sources {
                    flow(&mut spec, &format!("f{i}"), 0, 1, constant(Rate::from_mbps(2), 972));
                }
                let result = run(&spec);
                let at_a = result.queues.iter().find(|queue| queue.node == "a").unwrap();
                assert!((at_a.mean_packets - f64::from(expected)).abs() < 0.05, "{at_a:?}");
                assert!(result.drops.is_empty());
                // The sources take turns.
                let shares = result.flows.iter().map(|flow| flow.delivered_packets);
                assert!(shares.clone().max().unwrap() - shares.min().unwrap() <= 25);
            }
        }
    }
}

/// Three sources of one node, each with far more to send than a third: one makes packets at a constant rate, two are saturating. None is
/// denied its turn by the others, whichever was registered first.
#[test]
fn sources_of_each_kind_share_alike() {
    for first in 0..3 {
        let mut spec = pair(Some(ms(1)), true);
        for i in 0..3 {
            let traffic = match i == first {
                true => constant(Rate::from_kbps(700), 972),
                false => Traffic::Saturating { packet: Bytes(972) },
            };
            flow(&mut spec, &format!("f{i}"), 0, 1, traffic);
        }
        for flow in run(&spec).flows {
            let share = flow.goodput_bps / (1e6 * 972.0 / 1000.0 / 3.0);
            assert!((share - 1.0).abs() < 0.05, "{flow:?}");
        }
    }
}

/// Six sources, five of which have more to send than there is room for: the one that offers less than its share gets all of it.
#[test]
fn a_source_that_asks_for_little_gets_it() {
    for queue in [false, true] {
        let mut spec = pair(Some(ms(1)), queue);
        for i in 0..6 {
            let rate = if i == 0 { Rate::from_kbps(150) } else { Rate::from_mbps(2) };
            flow(&mut spec, &format!("f{i}"), 0, 1, constant(rate, 972));
        }
        let result = run(&spec);
        let rates: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps / 1e3).collect();
        assert!((rates[0] - 150.0).abs() < 2.0, "{rates:?}");
        assert!(rates[1..].iter().all(|rate| (rate - (972.0 - 150.0) / 5.0).abs() < 2.0), "{rates:?}");
    }
}

/// A queue that drops its packets when it becomes empty: no departure resumes the source, and yet it continues.
#[test]
fn a_saturating_source_goes_on_after_a_drop() {
    let red = find("red").unwrap();
    let mut spec = pair(Some(ms(1)), true);
    spec.links[0].queue = QueueSpec { packets: 64 };
    flow(&mut spec, "f", 0, 1, Traffic::Saturating { packet: Bytes(972) });
    let built = (red.build)(&Params::default()).unwrap();
    let result = finished(World::new(&spec, "red", built, 1).unwrap());
    let share = result.flows[0].goodput_bps / (1e6 * 972.0 / 1000.0);
    assert!(share > 0.5, "{share}, {:?}", result.drops);
}

/// A queue with room for one packet: two saturating sources, and one beside TCP, take turns.
#[test]
fn sources_take_turns_where_there_is_room_for_one() {
    for over_tcp in [false, true] {
        let mut spec = pair(None, true);
        spec.links[0].queue = QueueSpec { packets: 1 };
        flow(&mut spec, "f", 0, 1, Traffic::Saturating { packet: Bytes(972) });
        match over_tcp {
            true => add(&mut spec, "g", (0, 1), Traffic::Endless),
            false => flow(&mut spec, "g", 0, 1, Traffic::Saturating { packet: Bytes(972) }),
        }
        for flow in run(&spec).flows {
            assert!(flow.goodput_bps > 0.3e6, "{flow:?}");
        }
    }
}

/// Ten of eleven sources stop; the last has half of the queue to itself.
#[test]
fn a_source_that_has_stopped_leaves_its_share() {
    for stops in [false, true] {
        let mut spec = pair(Some(ms(1)), true);
        for i in 0..11 {
            flow(&mut spec, &format!("f{i}"), 0, 1, constant(Rate::from_mbps(2), 972));
            if stops && i > 0 {
                spec.flows[i].stop = Time(Span::from_secs(2).0);
            }
        }
        let result = run(&spec);
        let at_a = result.queues.iter().find(|queue| queue.node == "a").unwrap();
        assert!((at_a.mean_packets - 25.0).abs() < 0.3, "{at_a:?}");
    }
}

/// a and b hear each other and c; b forwards what a sends to c, and sends to c itself. A rate of 1 Mbit/s makes b's radio slow.
fn relay(limit: LocalLimit, own: Traffic, over_tcp: bool) -> RunResult {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.data_rate = Rate::from_mbps(1);
    radio.mac.local_limit = limit;
    let mut spec = world(radio, 60);
    spec.warmup = Span::from_secs(10);
    for (i, id) in ["a", "b", "c"].into_iter().enumerate() {
        node(&mut spec, id, 200.0 * i as f64, 0.0);
    }
    flow(&mut spec, "through", 0, 2, constant(Rate::from_kbps(64), 500));
    flow(&mut spec, "own", 1, 2, own);
    if over_tcp {
        spec.flows[1].transport = tcp(plain());
    }
    run(&spec)
}

/// The own flow of b would fill its queue for ever: hardly a packet from a finds room. With the limit all of them do.
#[test]
fn a_relay_leaves_room_for_what_it_forwards() {
    for (own, over_tcp) in [(Traffic::Endless, true), (constant(Rate::from_mbps(11), 1472), false)] {
        let share = |limit| relay(limit, own.clone(), over_tcp).flows[0].goodput_bps / 64_000.0;
        let (limited, unlimited) = (share(Some(ms(8))), share(None));
        assert!(unlimited < 0.1, "over TCP: {over_tcp}: {unlimited}");
        assert!(limited > 0.95, "over TCP: {over_tcp}: {limited}");
    }
}

/// Three TCP flows that start at one node at different times share its radio or wire alike: none keeps what it had first.
#[test]
fn connections_of_one_node_share_alike() {
    let mut radio = dot11b(250.0, 550.0);
    radio.mac.local_limit = Some(ms(8));
    let mut by_radio = world(radio, 60);
    node(&mut by_radio, "a", 0.0, 0.0);
    node(&mut by_radio, "b", 100.0, 0.0);
    for mut spec in [by_radio, pair(Some(ms(1)), false), pair(Some(ms(1)), true)] {
        spec.warmup = Span::from_secs(10);
        for i in 0..3 {
            add(&mut spec, &format!("f{i}"), (0, 1), Traffic::Endless);
            spec.flows[i as usize].start = Time(Span::from_millis(900 * i).0);
        }
        let result = run(&spec);
        let goodputs: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps).collect();
        let mean = goodputs.iter().sum::<f64>() / 3.0;
        assert!(goodputs.iter().all(|goodput| (goodput / mean - 1.0).abs() < 0.05), "{goodputs:?}");
    }
}

/// In a queue of six the time of the limit is longer than the queue: the node's own flow leaves half of it to the others.
#[test]
fn a_connection_leaves_half_of_a_short_queue() {
    for limit in [Some(ms(100)), None] {
        let mut spec = pair(limit, true);
        spec.links[0].queue = QueueSpec { packets: 6 };
        add(&mut spec, "f", (0, 1), Traffic::Endless);
        let result = run(&spec);
        let waiting = result.queues.iter().find(|queue| queue.node == "a").unwrap().mean_packets;
        let expected = if limit.is_some() { 3.0 } else { 6.0 };
        assert!((waiting - expected).abs() < 0.05, "{waiting}");
    }
}

/// By radio a packet counts until the MAC is done with it: however short the time, one in the MAC and one behind it keep the radio
/// busy.
#[test]
fn a_connection_has_a_packet_in_its_queue_and_one_in_the_mac() {
    let run = |limit| {
        let mut radio = dot11b(250.0, 550.0);
        radio.phy.data_rate = Rate::from_mbps(1);
        radio.mac.local_limit = limit;
        let mut spec = world(radio, 60);
        spec.warmup = Span::from_secs(10);
        node(&mut spec, "a", 0.0, 0.0);
        node(&mut spec, "b", 100.0, 0.0);
        add(&mut spec, "f", (0, 1), Traffic::Endless);
        let result = run(&spec);
        let waiting = result.queues.iter().find(|queue| queue.node == "a").unwrap().mean_packets;
        (waiting, result.flows[0].goodput_bps)
    };
    let [(least, slow), (usual, goodput), (all, fast)] = [Some(Span::ZERO), Some(ms(8)), None].map(run);
    assert!(least <= 1.0 && usual < 10.0 && all > 40.0, "{least} {usual} {all}");
    assert!(slow / fast > 0.98 && goodput / fast > 0.98, "the limit costs nothing: {slow} {goodput} {fast}");
}

/// Drop-tail at a node whose queue a law may read and fill, with or without a law that goes by it.
struct Reads {
    has_law: bool,
}

impl Scheme for Reads {
    fn wants(&self, _: &Interface) -> Wants {
        Wants::of(&[Capability::OwnQueue])
    }

    fn source(&self) -> Option<Box<dyn Source>> {
        let newreno = (find("newreno").unwrap().build)(&Params::default()).unwrap();
        newreno.source().filter(|_| self.has_law)
    }

    /// DiffQ's, which no queue here stops.
    fn udp(&self) -> Option<UdpEnds> {
        let set = [
            ("threshold".into(), ParamValue::Integer(1000)),
            ("rate_start".into(), ParamValue::Rate(Rate::from_mbps(10))),
        ];
        let diffq = (find("diffq").unwrap().build)(&Params(set.into())).unwrap();
        diffq.udp().filter(|_| self.has_law)
    }
}

/// A law that goes by the node's queue may fill it; the limit holds for a flow with another law, and for one without.
#[test]
fn a_law_that_goes_by_the_own_queue_is_exempt() {
    for traffic in [Traffic::Endless, constant(Rate::from_mbps(2), 950)] {
        let mut spec = pair(Some(ms(1)), true);
        if matches!(traffic, Traffic::Endless) {
            add(&mut spec, "f", (0, 1), traffic);
        } else {
            flow(&mut spec, "f", 0, 1, traffic);
        }
        let droptail = || (find("droptail").unwrap().build)(&Params::default()).unwrap();
        let waiting = |scheme: Box<dyn Scheme>| {
            let result = finished(World::new(&spec, "test", scheme, 1).unwrap());
            result.queues.iter().find(|queue| queue.node == "a").unwrap().mean_packets
        };
        assert!(waiting(droptail()) < 26.0);
        assert!(waiting(Box::new(Reads { has_law: true })) > 49.0);
        assert!(waiting(Box::new(Reads { has_law: false })) < 26.0);
    }
}

/// A source over UDP that offers twice what a wire carries, and a TCP flow of the same node, share the wire, however long the queue: the
/// connection's round-trip time contains what the other has there, and two packets behind a queue of them would be all that it sends.
#[test]
fn tcp_is_not_starved_by_udp_of_its_own_node() {
    let mut shares = Vec::new();
    for greedy in [constant(Rate::from_mbps(2), 972), Traffic::Saturating { packet: Bytes(972) }] {
        for packets in [4, 20, 50, 1000] {
            let mut spec = pair(Some(ms(1)), true);
            spec.links[0].queue = QueueSpec { packets };
            spec.duration = Span::from_secs(60);
            flow(&mut spec, "udp", 0, 1, greedy.clone());
            add(&mut spec, "tcp", (0, 1), Traffic::Endless);
            let flows = run(&spec).flows;
            shares.push((packets, flows[0].goodput_bps / 0.95e6, flows[1].goodput_bps / 0.95e6));
        }
    }
    // Of the three packets for which four leave room a saturating source has two, and the one in transmission counts for a connection only.
    let least = |packets| if packets == 4 { 0.25 } else { 0.45 };
    assert!(shares.iter().all(|&(packets, udp, tcp)| udp.min(tcp) > least(packets)), "{shares:?}");
}

/// The pair whose first node forwards 50 kbit/s from a third one, with `packets` packets in its queue.
fn relay_by_wire(packets: u32) -> WorldSpec {
    let mut spec = pair(Some(ms(1)), true);
    wired(&mut spec, "c");
    spec.links.push(LinkSpec { local_limit: Some(ms(1)), ..link((2, 0), 10, ms(1), 50) });
    spec.links[0].queue = QueueSpec { packets };
    flow(&mut spec, "through", 2, 1, constant(Rate::from_kbps(50), 500));
    spec
}

/// More connections than half of a queue has room for: they take turns there, and forwarded packets find the other half.
#[test]
fn many_connections_leave_half_of_a_queue() {
    for (packets, connections) in [(4, 3), (20, 11), (50, 40)] {
        let mut spec = relay_by_wire(packets);
        for i in 0..connections {
            add(&mut spec, &format!("f{i}"), (0, 1), Traffic::Endless);
        }
        let flows = run(&spec).flows;
        let through = flows[0].goodput_bps / 50e3;
        assert!(through > 0.9, "{connections} connections, a queue of {packets}: {through}");
        let sent = flows[1..].iter().filter(|flow| flow.delivered_packets > 0).count();
        assert_eq!(sent, connections, "everybody has a turn");
    }
}

/// Flows over UDP of 100 ms, one after the other: what one that has stopped leaves in the queue still counts.
#[test]
fn flows_that_stop_leave_room_too() {
    let mut spec = relay_by_wire(50);
    for i in 0..200 {
        flow(&mut spec, &format!("f{i}"), 0, 1, constant(Rate::from_mbps(5), 972));
        let flow = spec.flows.last_mut().unwrap();
        flow.start = Time(Span::from_millis(100 * i).0);
        flow.stop = Time(Span::from_millis(100 * i + 100).0);
    }
    let through = run(&spec).flows[0].goodput_bps / 50e3;
    assert!(through > 0.9, "{through}");
}

/// A relay that finds its routes while the world runs: its own TCP flow leaves room as over static routes.
#[test]
fn a_relay_with_routes_on_demand_leaves_room_too() {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.data_rate = Rate::from_mbps(11);
    radio.mac.local_limit = Some(ms(8));
    radio.queue = QueueSpec { packets: 10 };
    let mut spec = world(radio, 30);
    spec.warmup = Span::from_secs(10);
    spec.routing = aodv(|_| ());
    for (i, id) in ["a", "b", "c"].into_iter().enumerate() {
        node(&mut spec, id, 200.0 * i as f64, 0.0);
    }
    flow(&mut spec, "through", 0, 2, constant(Rate::from_kbps(200), 1000));
    add(&mut spec, "own", (1, 2), Traffic::Endless);
    let through = run(&spec).flows[0].goodput_bps / 200e3;
    assert!(through > 0.9, "{through}");
}

/// The saturating source of a node with two radios that finds its route while the world runs, by the second of them.
#[test]
fn a_saturating_source_follows_its_route() {
    let packets = |on_demand: bool| {
        let mut spec = world(dot11b(250.0, 550.0), 20);
        let mut other = spec.radios[0].clone();
        other.channel += 5;
        spec.radios.push(other);
        node(&mut spec, "a", 0.0, 0.0);
        node(&mut spec, "b", 200.0, 0.0);
        spec.nodes[0].radios = vec![0, 1];
        spec.nodes[1].radios = vec![1];
        if on_demand {
            spec.routing = aodv(|_| ());
        }
        flow(&mut spec, "f", 0, 1, Traffic::Saturating { packet: Bytes(1472) });
        run(&spec).flows[0].delivered_packets as f64
    };
    let (found, known) = (packets(true), packets(false));
    assert!(found > 0.9 * known, "{found}, over a static route {known}");
}

/// A file over a wire with room for one packet: what TCP sends after its handshake waits behind its own acknowledgement.
#[test]
fn a_connection_goes_on_in_a_queue_of_one() {
    let mut done = Vec::new();
    for limit in [Some(ms(1)), None] {
        for queue in [false, true] {
            let mut spec = pair(limit, queue);
            spec.links[0].queue = QueueSpec { packets: 1 };
            add(&mut spec, "f", (0, 1), Traffic::File { size: Bytes(100_000) });
            let result = run(&spec);
            done.push(result.flows[0].completion_s.unwrap());
        }
    }
    // 100 segments of 8.32 ms, a handshake, and no wait for a timer.
    assert!(done.iter().all(|&s| (0.832..0.95).contains(&s)), "{done:?}");
}

/// Queues of one to three packets, and flows of each kind: every flow has a turn.
#[test]
fn everybody_has_a_turn_in_a_short_queue() {
    for packets in 1..=3 {
        for queue in [false, true] {
            let mut spec = pair(Some(ms(1)), queue);
            spec.links[0].queue = QueueSpec { packets };
            for (i, bytes) in [972, 72, 472].into_iter().enumerate() {
                flow(&mut spec, &format!("s{i}"), 0, 1, Traffic::Saturating { packet: Bytes(bytes) });
            }
            flow(&mut spec, "c", 0, 1, constant(Rate::from_mbps(2), 972));
            add(&mut spec, "t", (0, 1), Traffic::Endless);
            for flow in run(&spec).flows {
                let part = flow.delivered_packets as f64 / 15.0;
                assert!(part > 15.0, "a queue of {packets}, {}: {part} packets a second", flow.id);
            }
        }
    }
}

//! OLSR's messages on air and wires, flows over its routes, and the results about their upkeep.

use std::sync::Arc;

use crate::support::rig::{both, by_matrix};
use crate::support::routing::*;
use crate::support::wires::{link, tcp, wired};
use crate::support::*;
use airfair_routing::SendRate;
use airfair_routing::olsr::{Base, Metric, OlsrConfig};
use airfair_routing::shortest::Metric as Length;
use airfair_sim::measure::summary::{RoutingResult, RunResult};
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Db, Dbm, Rate, Span, Time};

fn etx() -> RoutingSpec {
    RoutingSpec::Found(Arc::new(OlsrConfig::from(Base { metric: Metric::Etx, ..Base::default() })))
}

fn upkeep(result: &RunResult) -> &RoutingResult {
    result.routing.as_ref().unwrap()
}

/// After convergence a chain carries as much as over static routes, by hops and by expected transmissions, and the route is never lost.
#[test]
fn a_chain_carries_as_much_as_over_static_routes() {
    let mut spec = chain(dot11b(250.0, 550.0), 5, 200.0, constant(50), 60);
    spec.flows[0].start = Time::ZERO + Span::from_secs(30);
    for seed in 1..=3 {
        spec.routing = RoutingSpec::Static(Length::Hops);
        let fixed = run(&spec, seed);
        assert_eq!(fixed.routing, None);
        for routing in [olsr(|_| {}), etx()] {
            spec.routing = routing;
            let (found, path) = to_end(&spec, seed);
            assert_eq!(found.ends.dropped.values().sum::<u64>(), 0);
            assert_eq!(found.flows[0].delivered_packets, fixed.flows[0].delivered_packets);
            assert_eq!((found.flows[0].hops, path), (Some(5), Some(vec![0, 1, 2, 3, 4, 5])));
            let RoutingResult { protocol, ref flows, .. } = *upkeep(&found);
            assert_eq!((protocol, flows[0].id.as_str()), ("OLSR", "f"));
            assert_eq!((flows[0].lost, flows[0].without_s), (0, 0.0));
            let path = flows[0].path.iter().flatten().map(String::as_str);
            assert_eq!(path.collect::<Vec<_>>(), ["0", "1", "2", "3", "4", "5"]);
        }
    }
}

/// The sums of all nodes are those of the interfaces; an IP packet has 28 B of headers, a frame 36 B more. Without a warm-up they count
/// from the start, with one from its end.
#[test]
fn messages_are_counted_with_their_bytes() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, constant(1), 40);
    spec.routing = olsr(|config| config.max_jitter = Span::ZERO);
    let whole = run(&spec, 1);
    let of = |result: &RunResult| {
        let RoutingResult { datagrams, ip_bytes, mac_bytes, routes_lost, .. } = *upkeep(result);
        [datagrams, ip_bytes, mac_bytes, routes_lost]
    };
    assert_eq!(
        of(&whole),
        ["datagrams", "ip_bytes", "mac_bytes", "routes_lost"].map(|name| sum(&whole, name))
    );
    let [datagrams, ip_bytes, mac_bytes, _] = of(&whole);
    assert_eq!(mac_bytes - ip_bytes, 36 * datagrams);
    assert_eq!(sum(&whole, "hello"), 4 * 20);
    // 1 and 2 are relays of their neighbours, and forward each other's TCs.
    let tcs: Vec<u64> =
        whole.stations.iter().map(|station| station.routing.as_ref().unwrap().of("tc")).collect();
    assert!(tcs[0] == 0 && tcs[3] == 0 && (6..=8).contains(&tcs[1]) && (6..=8).contains(&tcs[2]), "{tcs:?}");
    assert_eq!(sum(&whole, "forwarded"), tcs[1] + tcs[2]);
    // Without jitter messages hardly ever share a datagram.
    assert!(datagrams <= sum(&whole, "hello") + 2 * (tcs[1] + tcs[2]));
    spec.duration = Span::from_secs(20);
    let half = run(&spec, 1);
    spec.duration = Span::from_secs(40);
    spec.warmup = Span::from_secs(20);
    let rest = run(&spec, 1);
    let parts: Vec<u64> = of(&half).iter().zip(of(&rest)).map(|(a, b)| a + b).collect();
    assert_eq!(parts, of(&whole));
    assert_eq!((upkeep(&rest).seconds, upkeep(&rest).nodes), (20.0, 4));
    let per_node = upkeep(&rest).per_node_s(upkeep(&rest).datagrams).unwrap();
    assert!((per_node - upkeep(&rest).datagrams as f64 / 80.0).abs() < 1e-12);
}

/// With access categories a frame has a QoS Control field of 2 B more, unless it is left out; by wire it has the wire's framing.
#[test]
fn bytes_of_frames_are_those_of_the_interface() {
    let of_frame = |spec: &mut WorldSpec| {
        spec.routing = olsr(|_| {});
        let routing = upkeep(&run(spec, 1)).clone();
        assert!(routing.datagrams > 0);
        (routing.mac_bytes - routing.ip_bytes) as f64 / routing.datagrams as f64
    };
    for qos_header in [true, false] {
        let mut radio = dot11b(250.0, 550.0);
        radio.mac.edca = Some(EdcaSpec {
            categories: vec![CategorySpec {
                name: "only".into(),
                aifsn: 2,
                cw_min: 31,
                cw_max: 1023,
                txop: Span::ZERO,
            }],
            countdown: Countdown::Dcf,
            qos_header,
            txop_end: TxopEnd::Silent,
            category_of_dscp: [0; 64],
            tids: [0; 8],
        });
        let mut spec = chain(radio, 1, 200.0, constant(1), 20);
        assert_eq!(of_frame(&mut spec), if qos_header { 38.0 } else { 36.0 });
    }
    let mut spec = world(dot11b(250.0, 550.0), 20);
    let ends = (wired(&mut spec, "a"), wired(&mut spec, "b"));
    spec.links.push(link(ends, 10, Span::from_millis(1), 10));
    flow(&mut spec, "f", ends.0, ends.1, constant(1));
    spec.headers.wired = 26;
    assert_eq!(of_frame(&mut spec), 26.0);
}

/// Until HELLOs have gone both ways, and for two hops until the relay's HELLO has listed the other: the flow has no route in the
/// meantime, and its packets are dropped.
#[test]
fn before_convergence_there_is_no_route() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, constant(20), 20);
    spec.routing = olsr(|config| config.synchronous_start = true);
    let result = run(&spec, 1);
    places_add_up(&result.ends);
    let flow = &upkeep(&result).flows[0];
    // HELLOs at 0, 2 and 4 s, each with up to 0.5 s of jitter; the third HELLO lists nodes two hops away.
    assert!((2.0..4.6).contains(&flow.without_s), "{flow:?}");
    assert_eq!(flow.lost, 0);
    // A packet every 200 ms.
    let dropped = result.ends.dropped["no-route"] as f64;
    assert!((dropped - flow.without_s / 0.2).abs() <= 1.0, "{dropped} {flow:?}");
    assert_eq!(result.ends.dropped.len(), 1);
}

/// A saturating source and a transfer without a route offer their packets again, but not without end at one moment.
#[test]
fn without_a_route_sources_continue_to_try() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 900.0, saturating(1000), 10);
    flow(&mut spec, "t", 0, 1, Traffic::Endless);
    spec.flows[1].transport = tcp(TcpConfig::default());
    flow(&mut spec, "c", 1, 0, constant(20));
    spec.routing = olsr(|_| {});
    let result = run(&spec, 1);
    places_add_up(&result.ends);
    assert_eq!(
        result.warnings,
        ["flow c: no route from 1 to 0", "flow f: no route from 0 to 1", "flow t: no route from 0 to 1"]
    );
    // Once a millisecond.
    assert!((9_000..=10_001).contains(&result.flows[0].sent_packets), "{:?}", result.flows[0]);
    assert_eq!((result.flows[2].sent_packets, result.flows[2].dropped_packets), (50, 50));
    assert_eq!(result.ends.dropped.len(), 1);
    assert!(upkeep(&result).flows.iter().all(|flow| (flow.lost, flow.without_s) == (0, 10.0)));
    assert!(upkeep(&result).flows.iter().all(|flow| flow.path.is_none()));
}

/// When the route appears, the saturating source fills it.
#[test]
fn a_saturating_source_waits_for_a_route() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(1000), 60);
    spec.warmup = Span::from_secs(20);
    spec.routing = RoutingSpec::Static(Length::Hops);
    let fixed = run(&spec, 1).flows[0].goodput_bps;
    spec.routing = olsr(|_| {});
    let found = run(&spec, 1);
    places_add_up(&found.ends);
    let up = 1.0 - upkeep(&found).flows[0].without_s / 40.0;
    let share = found.flows[0].goodput_bps / (fixed * up);
    assert!((0.9..1.1).contains(&share), "{share} {up}");
}

/// Two ways from `s` by `a` to `d`: over `b`, which is out of reach from 15.5 s on, and over `c` and `e`.
fn two_ways() -> WorldSpec {
    let mut spec = world(dot11b(250.0, 550.0), 40);
    let at =
        [("s", 0.0, 0.0), ("a", 200.0, 0.0), ("b", 400.0, 0.0), ("c", 300.0, 170.0), ("e", 500.0, 170.0)];
    for (name, x, y) in at {
        node(&mut spec, name, x, y);
    }
    node(&mut spec, "d", 600.0, 0.0);
    flow(&mut spec, "f", 0, 5, constant(50));
    let knot = |at: u64, y: f64| Knot { at: Time(at * 1_000_000), position: [400.0, y, 0.0] };
    let knots = [knot(0, 0.0), knot(15_000, 0.0), knot(15_500, -5000.0)].into();
    spec.movement.paths.push(PathSpec { node: 2, knots, repeat_from: None });
    spec
}

/// After the hold time of 6 s `a` has lost `b`, and so has `d`, which selects `e` as its relay instead: packets go that way when the next
/// HELLO of `d`, 2 s, and the next TC of `e`, 5 s, have arrived, each with 0.5 s of jitter. With link-layer feedback `a` loses `b` at once.
#[test]
fn a_neighbour_out_of_reach_is_gone_round() {
    let mut spec = two_ways();
    spec.routing = olsr(|_| {});
    let mut before = spec.clone();
    before.duration = Span::from_secs(15);
    assert_eq!(to_end(&before, 1).1, Some(vec![0, 1, 2, 5]));
    let mut lost = Vec::new();
    for seed in 1..=3 {
        let (whole, path) = to_end(&spec, seed);
        places_add_up(&whole.ends);
        assert_eq!(path, Some(vec![0, 1, 3, 4, 5]));
        lost.push(whole.ends.dropped["retry-limit"]);
        spec.warmup = Span::from_secs(30);
        // 10 s of a packet every 80 ms.
        let (rest, _) = to_end(&spec, seed);
        assert!(
            (124..=126).contains(&rest.flows[0].delivered_packets),
            "{}",
            rest.flows[0].delivered_packets
        );
        assert_eq!((upkeep(&rest).flows[0].lost, upkeep(&rest).flows[0].without_s), (0, 0.0));
        // The path by `b` is known for as long as `a` counts `b` as neighbour; `s` may follow older TCs for a moment.
        assert!((1..=2).contains(&upkeep(&whole).flows[0].lost), "{:?}", upkeep(&whole));
        spec.warmup = Span::ZERO;
    }
    // Up to 6 s, 75 packets, from the last HELLO.
    assert!(lost.iter().all(|lost| (45..=76).contains(lost)), "{lost:?}");
    spec.routing = olsr(|config| config.link_layer_feedback = true);
    let (result, path) = to_end(&spec, 1);
    assert_eq!(path, Some(vec![0, 1, 3, 4, 5]));
    assert!(result.ends.dropped["retry-limit"] <= 3, "{:?}", result.ends.dropped);
}

/// Over radio, wire and radio; and over wires alone, by the shorter of two ways.
#[test]
fn routes_lead_over_wires() {
    for routing in [olsr(|_| {}), etx()] {
        let mut spec = world(dot11b(250.0, 550.0), 60);
        for (name, x) in [("left", 0.0), ("gate", 200.0), ("gate2", 5000.0), ("right", 5200.0)] {
            node(&mut spec, name, x, 0.0);
        }
        spec.links.push(link((1, 2), 10, Span::from_millis(5), 50));
        flow(&mut spec, "f", 0, 3, constant(50));
        spec.flows[0].start = Time::ZERO + Span::from_secs(30);
        let fixed = run(&spec, 1);
        spec.routing = routing.clone();
        let (found, path) = to_end(&spec, 1);
        assert_eq!(path, Some(vec![0, 1, 2, 3]));
        assert_eq!(found.flows[0].delivered_packets, fixed.flows[0].delivered_packets);
        let wires: Vec<_> = found.queues.iter().filter_map(|queue| queue.routing.as_ref()).collect();
        assert_eq!(wires.len(), 2);
        for wire in wires {
            // One HELLO every 2 s, and TCs; a wire has no framing here; the node's counters are with its radio.
            assert!((29..=30).contains(&wire.of("hello")) && wire.of("tc") + wire.of("forwarded") > 10);
            assert_eq!((wire.of("ip_bytes"), wire.of("routes_lost")), (wire.of("mac_bytes"), 0));
        }
        let mut spec = world(dot11b(250.0, 550.0), 60);
        let nodes: Vec<usize> = ["a", "b", "c", "d", "e"].map(|name| wired(&mut spec, name)).into();
        for (from, to) in [(0, 1), (1, 2), (2, 4), (0, 3), (3, 4)] {
            spec.links.push(link((nodes[from], nodes[to]), 1, Span::from_millis(2), 20));
        }
        flow(&mut spec, "f", 0, 4, saturating(1000));
        flow(&mut spec, "t", 4, 0, Traffic::Endless);
        spec.flows[1].transport = tcp(TcpConfig::default());
        spec.flows.iter_mut().for_each(|flow| flow.start = Time::ZERO + Span::from_secs(30));
        spec.routing = routing;
        let (found, path) = to_end(&spec, 1);
        places_add_up(&found.ends);
        assert_eq!((path, found.ends.dropped.get("no-route")), (Some(vec![0, 3, 4]), None));
        assert!(found.flows.iter().all(|flow| flow.goodput_bps > 400e3), "{:?}", found.flows);
    }
}

/// Messages leave by the radio on either channel, and routes lead over both.
#[test]
fn routes_lead_over_several_interfaces() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, constant(50), 60);
    let mut second = spec.radios[0].clone();
    second.name = "second".into();
    second.channel = 6;
    spec.radios.push(second);
    spec.nodes[1].radios = vec![0, 1];
    spec.nodes[2].radios = vec![1, 0];
    spec.nodes[3].radios = vec![1];
    spec.flows[0].start = Time::ZERO + Span::from_secs(30);
    spec.routing = olsr(|_| {});
    let (result, path) = to_end(&spec, 1);
    assert_eq!((path, result.ends.dropped.len()), (Some(vec![0, 1, 2, 3]), 0));
    assert!(result.stations.iter().all(|station| station.routing.as_ref().unwrap().of("hello") >= 29));
}

/// HELLOs of 134 B: with LLC, MAC header and FCS 170 B, after a long preamble of 192 us.
#[test]
fn probes_are_sent_at_their_rate() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 200.0, constant(1), 60);
    spec.flows.clear();
    for (rate, us) in
        [(SendRate::Broadcast, 192.0 + 170.0 * 8.0), (SendRate::Data, 192.0 + 170.0 * 8.0 / 11.0)]
    {
        spec.routing = olsr(|config| {
            config.probe_rate = rate;
            config.probe_size = 134;
        });
        let result = run(&spec, 1);
        for station in &result.stations {
            let hellos = station.routing.as_ref().unwrap().of("hello");
            assert!((29..=30).contains(&hellos));
            let each = station.airtime.transmit.0 as f64 / 1000.0 / hellos as f64;
            assert!((us..us + 1.0).contains(&each), "{each} {us}");
        }
    }
}

/// `a` receives most frames of `c` at 1 Mbit/s, and few at 11 Mbit/s: probes at the rate of data lead packets over `b`, those at 1 Mbit/s
/// do not, and hops never do.
#[test]
fn etx_by_probes_at_the_data_rate_avoids_links_with_losses() {
    let mut spec = world(by_matrix(dot11b(400.0, 550.0)), 120);
    for name in ["a", "b", "c"] {
        node(&mut spec, name, 0.0, 0.0);
    }
    let gains = [both(0, 1, -60.0), both(1, 2, -60.0), both(0, 2, -90.0)].concat();
    spec.gains = gains.iter().map(|&(from, to, dbm)| GainSpec { from, to, gain: Db(dbm - 15.0) }).collect();
    spec.radios[0].phy.error_model = ErrorModel::WorstSinr;
    spec.radios[0].phy.noise = Dbm(-95.0);
    spec.radios[0].phy.preamble_detect = Dbm(-100.0);
    spec.radios[0].phy.energy_detect = Dbm(-100.0);
    spec.radios[0].phy.cutoff = Dbm(-110.0);
    flow(&mut spec, "f", 0, 2, constant(5));
    let probes = |rate| {
        let etx = OlsrConfig::from(Base { metric: Metric::Etx, ..Base::default() });
        RoutingSpec::Found(Arc::new(OlsrConfig { probe_rate: rate, probe_size: 500, ..etx }))
    };
    for (routing, path) in [
        (probes(SendRate::Data), vec![0, 1, 2]),
        (probes(SendRate::Broadcast), vec![0, 2]),
        (olsr(|_| {}), vec![0, 2]),
    ] {
        spec.routing = routing;
        for seed in 1..=3 {
            assert_eq!(to_end(&spec, seed).1, Some(path.clone()));
        }
    }
}

/// A path over a radio link and two cables needs one transmission, one over two radio links two: by ETX packets take the cables, with
/// static routes and with OLSR. By hops the radio links are shorter.
#[test]
fn etx_prefers_cables() {
    let mut spec = world(by_matrix(dot11b(250.0, 550.0)), 60);
    for name in ["a", "b", "c", "d", "e"] {
        node(&mut spec, name, 0.0, 0.0);
    }
    let gains = [both(0, 1, -60.0), both(1, 4, -60.0), both(0, 2, -60.0)].concat();
    spec.gains = gains.iter().map(|&(from, to, dbm)| GainSpec { from, to, gain: Db(dbm - 15.0) }).collect();
    spec.links.push(link((2, 3), 100, Span::from_millis(1), 10));
    spec.links.push(link((3, 4), 100, Span::from_millis(1), 10));
    flow(&mut spec, "f", 0, 4, constant(5));
    for routing in [RoutingSpec::Static(Length::Etx), etx()] {
        spec.routing = routing;
        assert_eq!(to_end(&spec, 1).1, Some(vec![0, 2, 3, 4]));
    }
    for routing in [RoutingSpec::Static(Length::Hops), olsr(|_| {})] {
        spec.routing = routing;
        assert_eq!(to_end(&spec, 1).1, Some(vec![0, 1, 4]));
    }
}

/// A crowded grid: HELLOs and TCs are lost, and so are routes. Results state how often; every packet is accounted for, and the same seed
/// gives the same run.
#[test]
fn a_saturated_channel_loses_routes() {
    let mut spec = world(dot11b(250.0, 550.0), 60);
    for i in 0..16 {
        node(&mut spec, &i.to_string(), 200.0 * f64::from(i % 4), 200.0 * f64::from(i / 4));
    }
    for (i, (from, to)) in [(0, 15), (3, 12), (8, 2), (13, 7)].into_iter().enumerate() {
        flow(&mut spec, &format!("f{i}"), from, to, saturating(1000));
        spec.flows[i].start = Time::ZERO + Span::from_secs(25);
    }
    for (seed, routing) in (1..).zip([olsr(|_| {}), etx(), olsr(|config| config.link_layer_feedback = true)])
    {
        spec.routing = routing;
        let result = run(&spec, seed);
        places_add_up(&result.ends);
        assert_eq!(run(&spec, seed), result);
        let kept = upkeep(&result);
        assert!(kept.routes_lost > 0, "{kept:?}");
        assert!(kept.flows.iter().any(|flow| flow.lost > 0 && flow.without_s > 0.0), "{kept:?}");
        assert!(kept.flows.iter().all(|flow| flow.without_s < 35.0), "{kept:?}");
        assert!(result.flows.iter().map(|f| f.delivered_packets).sum::<u64>() > 500);
    }
}

/// A HELLO each millisecond over 8 kbit/s, which sends a byte in that time: the messages that wait are limited, and those that find no room
/// counted. A HELLO has at least 20 B of OLSR and 28 B of headers, so that at most 5000 / 48 leave.
#[test]
fn messages_that_wait_for_a_slow_link_are_limited() {
    let mut spec = world(dot11b(250.0, 550.0), 5);
    let ends = (wired(&mut spec, "a"), wired(&mut spec, "b"));
    spec.links.push(LinkSpec { rate: Rate(8_000), ..link(ends, 10, Span::from_millis(1), 10) });
    flow(&mut spec, "f", ends.0, ends.1, constant(1));
    let every = |ms| {
        olsr(|config| {
            (config.hello_interval, config.max_jitter) = (Span::from_millis(ms), Span::ZERO);
            config.synchronous_start = true;
        })
    };
    spec.routing = every(1);
    let result = run(&spec, 1);
    places_add_up(&result.ends);
    let [a, b] = &result.warnings[..] else { panic!("{:?}", result.warnings) };
    let count = |warning: &str, start: &str| -> u64 {
        let rest = warning.strip_prefix(start).unwrap_or_else(|| panic!("{warning}"));
        assert!(rest.contains(" messages of routing, ARP or schemes towards "), "{warning}");
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    for refused in [count(a, "node a: "), count(b, "node b: ")] {
        assert!((5000 - 1000 - 5000 / 48..=5000 - 1000).contains(&refused), "{refused}");
    }
    spec.routing = every(1000);
    assert_eq!(run(&spec, 1).warnings, [""; 0]);
}

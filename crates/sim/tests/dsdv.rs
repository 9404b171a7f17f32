//! Routes that DSDV maintains: its updates on the air and by wire, and flows over its routes.

use crate::aodv::detour;
use crate::support::routing::*;
use crate::support::wires::{link, wired};
use crate::support::*;
use airfair_routing::shortest::Metric;
use airfair_sim::spec::*;
use airfair_units::{Span, Time};

/// On a silent medium every pair of nodes has a path as short as the shortest, whatever its next hops; the packets made before the
/// destination is known wait, at most five of them.
#[test]
fn hop_counts_are_those_of_shortest_paths() {
    let mut spec = world(dot11b(250.0, 550.0), 40);
    for i in 0..16 {
        node(&mut spec, &i.to_string(), 200.0 * f64::from(i % 4), 200.0 * f64::from(i / 4));
    }
    for (i, (from, to)) in [(0, 15), (3, 12), (8, 2), (13, 7)].into_iter().enumerate() {
        flow(&mut spec, &format!("f{i}"), from, to, constant(10));
    }
    spec.routing = RoutingSpec::Static(Metric::Hops);
    let fixed = run(&spec, 1);
    for seed in 1..=3 {
        spec.routing = dsdv(|_| {});
        let (found, paths) = with_paths(&spec, seed);
        for (flow, fixed) in found.flows.iter().zip(&fixed.flows) {
            assert_eq!(flow.hops, fixed.hops);
        }
        let hops: Vec<_> = paths.iter().map(|path| path.as_ref().map(|path| path.len() as u16 - 1)).collect();
        assert_eq!(hops, fixed.flows.iter().map(|flow| flow.hops).collect::<Vec<_>>());
        assert_eq!((sum(&found, "breaks"), sum(&found, "routes_lost")), (0, 0));
        let dropped: u64 = found.ends.dropped.values().sum();
        assert!(dropped < 5, "{:?}", found.ends);
    }
}

/// Two nodes: after the first full dumps (one entry, 40 bytes of IP) and the answers to them, each has a full dump of both (52 bytes)
/// every 15 s, to which the other's answer is an incremental update of both.
#[test]
fn overhead_is_counted() {
    let mut spec = world(dot11b(250.0, 550.0), 120);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "b", 200.0, 0.0);
    flow(&mut spec, "f", 0, 1, constant(1));
    spec.warmup = Span::from_secs(30);
    spec.routing = dsdv(|config| config.period_jitter = Span::ZERO);
    let result = run(&spec, 1);
    let routing = result.routing.as_ref().unwrap();
    assert_eq!((routing.protocol, routing.nodes, routing.seconds), ("DSDV", 2, 90.0));
    assert_eq!((routing.datagrams, routing.ip_bytes), (4 * 6, 4 * 6 * 52));
    assert_eq!(routing.mac_bytes, routing.ip_bytes + 36 * routing.datagrams);
    assert_eq!((routing.routes_lost, routing.flows[0].lost, routing.flows[0].without_s), (0, 0, 0.0));
    assert_eq!((sum(&result, "full"), sum(&result, "breaks")), (2 * 8, 0));
}

/// From 5 s on `b` is deaf and does not get to speak. The next number of `d` arrives by the longer path, at most a period later; with
/// word from the MAC no sooner, since no older number restores a broken route.
#[test]
fn a_silent_neighbour_is_gone_round_with_the_next_number() {
    for feedback in [false, true] {
        let mut spec = detour();
        spec.duration = Span::from_secs(36);
        spec.warmup = Span::from_secs(21);
        spec.routing = dsdv(|config| config.link_layer_feedback = feedback);
        let mut before = spec.clone();
        before.duration = Span::from_secs(5);
        before.warmup = Span::ZERO;
        let (early, paths) = with_paths(&before, 1);
        assert_eq!(paths[0], Some(vec![0, 1, 2, 5]));
        assert_eq!(early.ends.dropped.values().sum::<u64>(), 0, "{:?}", early.ends);
        let (result, paths) = with_paths(&spec, 1);
        assert_eq!(paths[0], Some(vec![0, 1, 3, 4, 5]));
        // 15 s of a packet every 80 ms.
        assert!((186..=188).contains(&result.flows[0].delivered_packets), "{:?}", result.flows[0]);
        assert_eq!(sum(&result, "breaks") > 0, feedback);
        assert_eq!(result.routing.as_ref().unwrap().flows[0].without_s, 0.0);
    }
}

/// Nodes without radios find each other by wires alone, over the shorter of two ways, although the queues are full.
#[test]
fn wires_alone_are_a_network() {
    let mut spec = world(dot11b(250.0, 550.0), 60);
    let nodes: Vec<usize> = ["a", "b", "c", "d", "e"].map(|name| wired(&mut spec, name)).into();
    for (from, to) in [(0, 1), (1, 2), (2, 4), (0, 3), (3, 4)] {
        spec.links.push(link((nodes[from], nodes[to]), 1, Span::from_millis(2), 20));
    }
    flow(&mut spec, "f", 0, 4, saturating(1000));
    spec.routing = dsdv(|_| {});
    let (result, paths) = with_paths(&spec, 1);
    assert_eq!(paths[0], Some(vec![0, 3, 4]));
    let counted = |name: &str| -> u64 {
        result.queues.iter().map(|queue| queue.routing.as_ref().unwrap().of(name)).sum()
    };
    // Five nodes with two wires each; full dumps in the first second and every 15 s.
    assert_eq!((counted("full"), counted("breaks")), (5 * 2 * 4, 0));
    let sent = result.flows[0].delivered_packets;
    assert!(sent > 6800, "{sent} of 7500 packets in 60 s at 1 Mbit/s");
}

/// A radio and a wire: the gateways' wire is a hop as any other.
#[test]
fn routes_lead_over_air_and_wires() {
    let mut spec = world(dot11b(250.0, 550.0), 20);
    for (name, x) in [("left", 0.0), ("gate", 200.0), ("gate2", 5000.0), ("right", 5200.0)] {
        node(&mut spec, name, x, 0.0);
    }
    spec.links.push(link((1, 2), 10, Span::from_millis(5), 50));
    flow(&mut spec, "f", 0, 3, constant(50));
    spec.routing = dsdv(|_| {});
    let (found, paths) = with_paths(&spec, 1);
    assert_eq!(paths[0], Some(vec![0, 1, 2, 3]));
    assert_eq!(found.flows[0].hops, Some(3));
}

/// A saturated grid: updates are lost, neighbours are not. Every packet is accounted for, and the same seed gives the same run.
#[test]
fn every_packet_is_somewhere() {
    let mut spec = world(dot11b(250.0, 550.0), 20);
    for i in 0..16 {
        node(&mut spec, &i.to_string(), 200.0 * f64::from(i % 4), 200.0 * f64::from(i / 4));
    }
    for (i, (from, to)) in [(0, 15), (3, 12), (8, 2), (13, 7)].into_iter().enumerate() {
        flow(&mut spec, &format!("f{i}"), from, to, saturating(1000));
    }
    for feedback in [false, true] {
        spec.routing = dsdv(|config| {
            config.link_layer_feedback = feedback;
            config.period = Span::from_secs(4);
            config.settling_time = Span::from_secs(1);
        });
        let result = run(&spec, 1);
        let ends = &result.ends;
        assert_eq!(
            ends.made,
            ends.delivered + ends.dropped.values().sum::<u64>() + ends.inside(),
            "{ends:?}"
        );
        assert_eq!(run(&spec, 1), result);
        assert!(result.flows.iter().map(|f| f.delivered_packets).sum::<u64>() > 500);
        assert_eq!(sum(&result, "routes_lost") > 0, feedback);
    }
}

/// A packet for a node that nobody hears waits, then is dropped with a reason.
#[test]
fn what_finds_no_route_ends_with_a_reason() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 900.0, constant(2), 60);
    spec.flows[0].start = Time(1_000_000_000);
    spec.routing = dsdv(|config| config.buffer_per_destination = 20);
    let result = run(&spec, 1);
    // A packet every 2 s from 1 s on, 30 in all: the 15 made in the last 30 s wait.
    let dropped: Vec<_> = result.ends.dropped.iter().map(|(k, &v)| (k.as_str(), v)).collect();
    assert_eq!((result.ends.made, dropped), (30, vec![("route-wait", 15)]));
    assert_eq!(result.ends.awaiting_route, Some(15));
}

/// Five nodes in a row, and room for three others in each table: the run says so beforehand, and counts what it refuses. With room for
/// four nothing is refused. OLSR likewise.
#[test]
fn a_table_without_room_for_all_nodes_is_warned_of() {
    let run_with = |routing: RoutingSpec| {
        let mut spec = world(dot11b(250.0, 550.0), 40);
        for i in 0..5 {
            node(&mut spec, &i.to_string(), 200.0 * f64::from(i), 0.0);
        }
        flow(&mut spec, "f", 0, 1, constant(10));
        spec.routing = routing;
        run(&spec, 1)
    };
    let warning = |name: &str| {
        format!(
            "each node has 4 others and room for 3 in its tables of {name}: it refuses what it hears of the rest, and finds no route to \
             them; expected {}.table_limit = 4 or more",
            name.to_lowercase()
        )
    };
    let full = run_with(dsdv(|config| config.table_limit = 3));
    assert_eq!(full.warnings, [warning("DSDV")]);
    assert!(sum(&full, "refused") > 0);
    let roomy = run_with(dsdv(|config| config.table_limit = 4));
    assert_eq!((roomy.warnings.len(), sum(&roomy, "refused")), (0, 0));
    // OLSR's tables hold pairs of nodes: how many there are is not known before the run.
    assert_eq!(run_with(olsr(|config| config.table_limit = 3)).warnings, [""; 0]);
    assert_eq!(run_with(aodv(|_| {})).warnings, [""; 0]);
}

/// 150 nodes that sense each other, each with 149 rows of others and an own one in both datagrams, 12 bytes each, and 28 of headers: 1,868
/// bytes, which take 14.944 ms at 1 Mbit/s. 2.24 s of them in a period of one second are said before the run, 0.15 of 15 s are not; nor
/// anything of OLSR, which sends no tables.
#[test]
fn tables_that_take_more_air_than_there_is_are_warned_of() {
    let warnings = |routing: RoutingSpec| {
        let mut spec = world(dot11b(250.0, 550.0), 1);
        spec.duration = Span::from_millis(1);
        for i in 0..150 {
            node(&mut spec, &i.to_string(), f64::from(i), 0.0);
        }
        flow(&mut spec, "f", 0, 1, constant(10));
        spec.routing = routing;
        run(&spec, 1).warnings
    };
    let every = |period: Span| dsdv(|config| (config.period, config.period_jitter) = (period, Span::ZERO));
    let [warning] = &warnings(every(Span::from_secs(1)))[..] else { panic!() };
    let start = "tables of DSDV need 2.2 times the air that there is: with routes to all 150 nodes each has 1868 bytes every 1 s, and 0 \
                 shares the air with 149 others";
    assert!(warning.starts_with(start), "{warning}");
    assert_eq!(warnings(every(Span::from_secs(15))), [""; 0]);
    assert_eq!(warnings(olsr(|_| {})), [""; 0]);
}

/// While routes spread, the air bounds what nodes send, however many there are: four times the nodes of a grid cost four times the events
/// and updates, and some more, since those at the rim share the air with fewer others.
#[test]
fn a_larger_grid_costs_as_much_for_each_node() {
    let grid = |side: i32| {
        let mut spec = world(dot11b(250.0, 550.0), 1);
        spec.duration = Span::from_millis(500);
        for i in 0..side * side {
            node(&mut spec, &i.to_string(), 200.0 * f64::from(i % side), 200.0 * f64::from(i / side));
        }
        flow(&mut spec, "f", 0, 1, constant(10));
        spec.routing = dsdv(|_| {});
        let result = run(&spec, 1);
        (result.events, sum(&result, "datagrams"))
    };
    let (small, large) = (grid(10), grid(20));
    assert!(small.1 > 1000, "{small:?}");
    assert!(large.0 < 5 * small.0 && large.1 < 5 * small.1, "{small:?}, {large:?}");
}

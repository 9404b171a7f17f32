//! Time series add up to the results at the end.

use crate::support::wires::{built, link, ms, tcp, wired};
use crate::support::{chain, dot11b, flow};
use airfair_schemes::{Params, find};
use airfair_sim::World;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::observe::series::Series;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};

/// Three radios in a row, the last with a wire, slow and lossy, to a fourth node; TCP over all of it, UDP over the air.
fn spec() -> WorldSpec {
    let constant = Traffic::ConstantRate { rate: Rate(200_000), packet: Bytes(500), gap_jitter: 0.5 };
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, constant, 5);
    let host = wired(&mut spec, "host");
    spec.links.push(LinkSpec { loss: 0.01, ..link((2, host), 1, ms(20), 20) });
    flow(&mut spec, "tcp", host, 0, Traffic::Endless);
    spec.flows[1].transport = tcp(TcpConfig::default());
    spec
}

fn make(spec: &WorldSpec) -> World {
    World::new(spec, "droptail", (find("droptail").unwrap().build)(&Params::default()).unwrap(), 3).unwrap()
}

fn sampled(spec: &WorldSpec, interval: Span) -> (World, Series) {
    let mut world = make(spec);
    world.sample(interval);
    drive::to_end(&mut world);
    let series = world.take_series().unwrap();
    (world, series)
}

#[test]
fn intervals_add_up_to_the_run() {
    let spec = spec();
    // 5 s are 12 intervals of 400 ms and one of 200 ms.
    let (world, series) = sampled(&spec, Span::from_millis(400));
    let result = world.result();
    assert_eq!(series.end_s.len(), 13);
    assert_eq!((series.end_s[0], series.end_s[11], series.end_s[12]), (0.4, 4.8, 5.0));
    let every = |column: &[u64], n: usize, i: usize| column.iter().skip(i).step_by(n).sum::<u64>();
    for (i, flow) in result.flows.iter().enumerate() {
        let f = &series.flows;
        assert!(flow.delivered_packets > 50);
        assert_eq!(every(&f.delivered_bytes, 2, i), flow.delivered_bytes);
        assert_eq!(every(&f.delivered_packets, 2, i), flow.delivered_packets);
        assert_eq!(every(&f.sent_packets, 2, i), flow.sent_packets);
        assert_eq!(every(&f.retransmissions, 2, i), flow.retransmissions);
        assert_eq!(flow.retransmissions > 0, i == 1, "the wire loses some");
    }
    assert!(series.flows.window_bytes[0].is_nan() && series.flows.rtt_s[0].is_nan(), "UDP has no window");
    assert!(series.flows.window_bytes[25] >= 1460.0);
    // The path's own round-trip time is 40 ms of wire and some milliseconds of air.
    assert!((0.04..2.0).contains(&series.flows.rtt_s[25]));
    let queues = world.queues();
    assert_eq!(queues.len(), 5);
    for (i, queue) in result.queues.iter().enumerate() {
        assert_eq!(queues[i], (queue.node.clone(), queue.towards.clone()));
        assert_eq!(every(&series.queues.left, 5, i), queue.packets);
        assert_eq!(series.queues.packets.len(), 13 * 5);
    }
    let last: u64 = series.queues.packets[12 * 5..].iter().sum();
    assert_eq!(last, result.ends.queued);
    assert_eq!(world.stations().len(), 3);
    for (i, station) in result.stations.iter().enumerate() {
        let c = &series.channel;
        assert_eq!(every(&c.frames, 3, i), station.counters.sent.iter().sum::<u64>());
        assert_eq!(every(&c.no_answer, 3, i), station.counters.no_cts + station.counters.no_ack);
        let spent: f64 = c.transmit_s.iter().skip(i).step_by(3).sum();
        assert!((spent - station.airtime.transmit.as_secs_f64()).abs() < 1e-9);
        for row in (i..39).step_by(3) {
            let length = if row < 36 { 0.4 } else { 0.2 };
            let sum = c.transmit_s[row] + c.receive_s[row] + c.busy_s[row] + c.nav_s[row] + c.idle_s[row];
            assert!((sum - length).abs() < 1e-9, "{sum}");
        }
    }
}

/// The warm-up is excluded from the result, not from time series; reading changes nothing.
#[test]
fn reading_changes_nothing_and_knows_no_warm_up() {
    let mut spec = spec();
    let (_, all) = sampled(&spec, Span::from_secs(1));
    spec.warmup = Span::from_secs(2);
    let (world, series) = sampled(&spec, Span::from_secs(1));
    assert_eq!(series.end_s, all.end_s);
    assert_eq!(series.flows.delivered_bytes, all.flows.delivered_bytes);
    let mut alone = make(&spec);
    drive::to_end(&mut alone);
    assert_eq!(alone.result(), world.result());
    let counted: u64 = series.flows.delivered_bytes[4..].iter().step_by(2).sum();
    assert_eq!(counted, world.result().flows[0].delivered_bytes);
    let again: u64 = series.flows.retransmissions[4..].iter().skip(1).step_by(2).sum();
    let before: u64 = series.flows.retransmissions[..4].iter().sum();
    assert_eq!(again, world.result().flows[1].retransmissions);
    assert!(before > 0);
}

/// The same series for any steps of the run, some of which end at the ends of intervals.
#[test]
fn a_series_does_not_depend_on_the_steps() {
    let (_, whole) = sampled(&spec(), Span::from_millis(400));
    for step in [Span::from_millis(200), Span::from_millis(333)] {
        let mut world = make(&spec());
        world.sample(Span::from_millis(400));
        while world.now() < world.end() {
            world.advance(world.now() + step);
        }
        // Columns without a value are equal too.
        assert_eq!(format!("{:?}", world.take_series().unwrap()), format!("{whole:?}"));
    }
}

/// A run that is ended early has a last row for the interval that had begun, so that rows add up to its totals.
#[test]
fn the_interval_that_has_begun_is_the_last_row() {
    let mut world = make(&spec());
    world.sample(Span::from_secs(1));
    world.advance(Time(1_700_000_000));
    let series = world.take_series().unwrap();
    assert_eq!(series.end_s, [1.0, 1.7]);
    let mut other = make(&spec());
    other.sample(Span::from_millis(850));
    other.advance(Time(1_700_000_000));
    let halves = other.take_series().unwrap();
    let sum = |of: &[u64]| of.iter().sum::<u64>();
    assert_eq!(halves.end_s, [0.85, 1.7]);
    assert_eq!(sum(&series.flows.sent_packets), sum(&halves.flows.sent_packets));
    assert!(sum(&series.flows.sent_packets[2..]) > 0);
}

/// Before the end of the warm-up a result says that nothing counts yet.
#[test]
fn nothing_counts_before_the_end_of_the_warm_up() {
    let mut spec = spec();
    spec.warmup = Span::from_secs(2);
    let mut world = make(&spec);
    world.advance(Time(2_000_000_000));
    let result = world.result();
    assert!(result.flows.iter().all(|f| {
        (f.delivered_bytes, f.sent_packets, f.retransmissions, f.mean_delay_s()) == (0, 0, 0, None)
    }));
    assert!(result.queues.iter().all(|q| q.packets == 0));
    world.advance(world.end());
    assert!(world.result().flows.iter().all(|f| f.delivered_bytes > 0 && f.mean_delay_s().is_some()));
}

/// A carrier that turns out to be a frame moves from one state to another, also over the end of an interval: no time is negative, and those
/// of an interval add up to it.
#[test]
fn times_of_short_intervals_add_up() {
    let spec = spec();
    let (_, series) = sampled(&spec, Span::from_micros(300));
    let channel = &series.channel;
    let states = [&channel.transmit_s, &channel.receive_s, &channel.busy_s, &channel.nav_s, &channel.idle_s];
    let rows = channel.idle_s.len();
    assert!(rows > 40_000, "{rows}");
    for row in 0..rows {
        let times = states.map(|state| state[row]);
        assert!(times.iter().all(|time| (0.0..=0.000_301).contains(time)), "row {row}: {times:?}");
        // The last interval may be shorter.
        assert!(times.iter().sum::<f64>() < 0.000_301, "row {row}: {times:?}");
    }
    let total: f64 = states.iter().flat_map(|state| state.iter()).sum();
    let stations = rows as f64 / series.end_s.len() as f64;
    assert!((total - 5.0 * stations).abs() < 1e-3, "{total} s of {stations} stations");
}

/// The host has XCP, the others QFCP: the table of hops has the values of both, and none of the other scheme's at an interface.
#[test]
fn hops_of_two_schemes_have_all_their_values() {
    let mut spec = spec();
    let host = spec.nodes.len() - 1;
    spec.schemes = vec![NodeScheme { node: host, scheme: "xcp".into(), params: Params::default() }];
    let mut world = World::new(&spec, "qfcp", built("qfcp", &[]), 1).unwrap();
    world.sample(Span::from_millis(100));
    let names: Vec<String> = world.result().queues.iter().map(|queue| queue.node.clone()).collect();
    drive::to_end(&mut world);
    let hops = world.take_series().unwrap().hops;
    assert!(hops.places.len() > 1);
    for (name, of_xcp) in [("fair_share_bps", false), ("change_bps", true)] {
        let column = hops.names.iter().position(|other| *other == name).unwrap();
        for (row, value) in hops.values[column].iter().enumerate() {
            let place = hops.places[row % hops.places.len()];
            assert_eq!(value.is_nan(), (names[place] == "host") != of_xcp, "{name}, {row}");
        }
    }
    let mut once = hops.names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), hops.names.len());
}

//! Jain's index per window of time, by hand: packets on wires, whose times are known.

use crate::support::wires::{link, ms, tcp, wired};
use crate::support::{dot11b, flow, make, world};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::observe::windows::WindowFairness;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};

/// A fast wire of its own for each of `n` flows to come: from node 2 i to node 2 i + 1.
fn wires(n: usize, seconds: u64) -> WorldSpec {
    let mut spec = world(dot11b(250.0, 550.0), seconds);
    for i in 0..n {
        let ends = (wired(&mut spec, &(2 * i).to_string()), wired(&mut spec, &(2 * i + 1).to_string()));
        spec.links.push(link(ends, 100, ms(1), 100));
    }
    spec
}

/// A packet of that many bytes each `gap_ms`, the first at 0 s.
fn packets(spec: &mut WorldSpec, bytes: u64, gap_ms: u64) {
    let i = spec.flows.len();
    let rate = Rate(bytes * 8 * 1000 / gap_ms);
    let traffic = Traffic::ConstantRate { rate, packet: Bytes(bytes), gap_jitter: 0.0 };
    flow(spec, &i.to_string(), 2 * i, 2 * i + 1, traffic);
}

fn read(spec: &WorldSpec, lengths_ms: &[u64]) -> (World, Vec<WindowFairness>) {
    let mut world = make(spec, 1);
    let lengths: Vec<Span> = lengths_ms.iter().map(|&ms| Span::from_millis(ms)).collect();
    world.measure_fairness(&lengths);
    drive::to_end(&mut world);
    let fairness = world.take_fairness();
    (world, fairness)
}

fn is(got: &WindowFairness, windows: u64, mean: f64, p10: f64, min: f64) {
    assert_eq!(got.windows, windows);
    for (got, expected) in [(got.mean, mean), (got.p10, p10), (got.min, min)] {
        assert!((got.unwrap() - expected).abs() < 1e-12, "{got:?}, not {expected}");
    }
}

/// A gets 1000 bytes in each 100 ms, B 3000 bytes in each 300 ms: equal in 300 ms, not in less.
#[test]
fn what_is_fair_in_the_long_run_is_unfair_in_the_short() {
    let mut spec = wires(2, 3);
    packets(&mut spec, 1000, 100);
    packets(&mut spec, 3000, 300);
    let (world, fairness) = read(&spec, &[300, 100, 200, 50, 900]);
    is(&fairness[0], 10, 1.0, 1.0, 1.0);
    // (1 + 3)^2 / (2 (1 + 9)) = 0.8 in every third window, 0.5 where B gets nothing.
    is(&fairness[1], 30, 0.6, 0.5, 0.5);
    // B has packets at 0, 300, 600, ...: in two of three windows of 200 ms, (2 + 3)^2 / (2 (4 + 9)) = 25/26.
    is(&fairness[2], 15, (2.0 * 25.0 / 26.0 + 0.5) / 3.0, 0.5, 0.5);
    // In every second window of 50 ms no flow gets a packet.
    is(&fairness[3], 30, 0.6, 0.5, 0.5);
    assert_eq!(fairness.iter().map(|f| f.empty).collect::<Vec<_>>(), [0, 0, 0, 30, 0]);
    // Three whole windows of 900 ms in 3 s; the rest is none.
    is(&fairness[4], 3, 1.0, 1.0, 1.0);
    assert_eq!(world.result(), crate::support::run(&spec, 1), "looking changes nothing");
}

/// Only who is active in all of a window counts in it, and only what comes after the warm-up.
#[test]
fn a_flow_counts_where_it_is_active() {
    let mut spec = wires(4, 10);
    spec.warmup = Span::from_millis(500);
    packets(&mut spec, 1000, 100);
    // Three times as much, from 1.5 s to 4.6 s; windows begin at 0.5 s, 1.5 s, ...: active in those from 1.5 to 4.5 s.
    packets(&mut spec, 3000, 100);
    spec.flows[1].start = Time(1_500_000_000);
    spec.flows[1].stop = Time(4_600_000_000);
    // It starts at 2.6 s, never stops and delivers no packet before 5 s: a share of zero in windows from 3.5 s on.
    packets(&mut spec, 1000, 100);
    spec.flows[2].start = Time(2_600_000_000);
    spec.links[2].delay = Span::from_millis(2_400);
    let (_, fairness) = read(&spec, &[1000]);
    // From 1.5 s: 1 and 3 alone, 0.8. From 2.5 s: the same, since the third began later. From 3.5 s: 1, 3 and 0, 16/30.
    // From 4.5 s: the second stops; the third has packets at 5.0 to 5.4 s, half of a share: 2.25 / (2 x 1.25) = 0.9.
    // From 5.5 to 9.5 s: 1 and 1. From 0.5 s: alone. The last half second is no window.
    is(&fairness[0], 8, (0.8 + 0.8 + 16.0 / 30.0 + 0.9 + 4.0) / 8.0, 16.0 / 30.0, 16.0 / 30.0);
    assert_eq!(fairness[0].empty, 0);
}

/// A single file is active until it is complete.
#[test]
fn a_file_counts_until_it_is_complete() {
    let mut spec = wires(2, 6);
    packets(&mut spec, 1000, 100);
    // At 1 Mbit/s 250,000 bytes take 2 s and a little: active in the first two windows only.
    spec.links[1].rate = Rate::from_mbps(1);
    flow(&mut spec, "file", 2, 3, Traffic::File { size: Bytes(250_000) });
    spec.flows[1].transport = tcp(TcpConfig::default());
    let (world, fairness) = read(&spec, &[1000, 6000]);
    let done = world.result().flows[1].completion_s.unwrap();
    assert!((2.0..3.0).contains(&done), "{done}");
    assert_eq!(fairness[0].windows, 2);
    assert_eq!(
        (fairness[1].windows, fairness[1].mean, fairness[1].p10, fairness[1].min),
        (0, None, None, None)
    );
}

/// The order of flows in a file, and further lengths of windows, change nothing.
#[test]
fn order_changes_nothing() {
    let mut spec = wires(3, 4);
    for (bytes, gap) in [(1000, 100), (777, 30), (333, 7)] {
        packets(&mut spec, bytes, gap);
    }
    let (_, fairness) = read(&spec, &[10, 250, 1000]);
    spec.flows.reverse();
    let (_, again) = read(&spec, &[250]);
    assert_eq!(again[0], fairness[1]);
    assert!(fairness[0].mean < fairness[1].mean, "shorter windows are less fair here");
}

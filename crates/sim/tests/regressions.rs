//! Faults that a review found, each with the input that showed it.

use crate::support::{chain, dot11b, flow, make, node, run, saturating, world};
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::StationIx;
use airfair_sim::spec::{FlowSpec, Interference, LockOn, Traffic, Transport};
use airfair_units::{Bytes, Rate, Span, Time};

fn constant(mbps: u64) -> Traffic {
    Traffic::ConstantRate { rate: Rate::from_mbps(mbps), packet: Bytes(1000), gap_jitter: 0.0 }
}

/// Four sources wait for room in a queue of one; three of them stop. The fourth must not wait for ever behind them.
#[test]
fn a_source_does_not_starve_behind_stopped_ones() {
    let mut radio = dot11b(250.0, 550.0);
    radio.queue.packets = 1;
    let mut spec = world(radio, 2);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 100.0, 0.0));
    for i in 0..4 {
        flow(&mut spec, &format!("f{i}"), a, b, constant(20));
    }
    for f in &mut spec.flows[..3] {
        f.stop = Time(500_000_000);
    }
    let result = run(&spec, 1);
    // 11 Mbit/s carry about 4.6 Mbit/s of 1000-byte packets: a quarter of it for half a second, all of it afterwards.
    assert!(result.flows[3].goodput_bps > 3.0e6, "{}", result.flows[3].goodput_bps);
}

/// A trace has the same lines in the same order for any steps of the run.
#[test]
fn a_trace_does_not_depend_on_the_steps() {
    let spec = chain(dot11b(350.0, 700.0), 3, 300.0, saturating(500), 1);
    let lines = |step: Span| {
        let mut world = make(&spec, 1);
        world.start_trace();
        let mut lines = Vec::new();
        while world.now() < Time(200_000_000) {
            let to = world.now().saturating_add(step);
            world.advance(to.min(Time(200_000_000)));
            lines.extend(world.take_trace());
        }
        drive::to_end(&mut world);
        lines.extend(world.take_trace());
        lines
    };
    let whole = lines(Span::from_secs(1));
    assert!(whole.len() > 1000 && whole.is_sorted_by_key(|r| r.0));
    assert_eq!(whole, lines(Span(3_300)));
    assert_eq!(whole, lines(Span::from_millis(7)));
}

/// Where signals are compared one by one no power is summed, and none must be left over, also with several kinds of radio.
#[test]
fn several_kinds_without_power_sums_leave_no_power_behind() {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.lock_on = LockOn::Energy;
    radio.phy.interference = Interference::Strongest;
    let mut other = radio.clone();
    other.name = "other".into();
    let mut spec = world(radio, 1);
    spec.radios.push(other);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 10.0, 0.0));
    spec.nodes[b].radios = vec![1];
    spec.flows.push(FlowSpec {
        id: "f".into(),
        from: a,
        to: b,
        transport: Transport::Udp,
        traffic: constant(1),
        start: Time::ZERO,
        start_jitter: Span::ZERO,
        stop: Time(500_000_000),
        dscp: 0,
    });
    let mut world = make(&spec, 1);
    drive::to_end(&mut world);
    assert!(world.result().flows[0].delivered_packets > 50);
    assert_eq!((world.air().power(StationIx(0)).0, world.air().power(StationIx(1)).0), (0, 0));
}

/// A frame without an answer in seven attempts is one drop, and one line of the trace.
#[test]
fn a_drop_is_told_once() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 100.0, saturating(500), 1);
    spec.radios[0].phy.frame_loss = 0.8;
    let mut world = make(&spec, 1);
    world.start_trace();
    drive::to_end(&mut world);
    let records = world.take_trace();
    let lines: Vec<String> =
        records.iter().filter_map(|(at, record)| world.names().line(*at, record)).collect();
    let drops = lines.iter().filter(|line| line.contains(" drops ")).count();
    let given_up = lines.iter().filter(|line| line.ends_with("gives up")).count();
    assert!(drops > 5);
    assert_eq!((drops as u64, given_up), (world.result().drops["retry-limit"], drops));
}

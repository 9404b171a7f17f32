//! MORE in worlds: transmissions per packet beside what delivery ratios give, ends of batches, losses of acknowledgements.

use crate::support::{dot11b, flow, node, saturating, world};
use airfair_schemes::opportunistic::expected::{Expected, Pruning};
use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::places::NodeId;
use airfair_schemes::{ParamValue, Params, find};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::{ForwardCounts, RunResult};
use airfair_sim::spec::*;

/// Nodes whose links have these delivery ratios, by losses of frames: no node is a hidden sender, since all sense each other.
fn lossy(loss: f64, positions: &[f64], seconds: u64) -> WorldSpec {
    let mut radio = dot11b(250.0, 5000.0);
    radio.phy.frame_loss = loss;
    radio.mac.local_limit = None;
    let mut spec = world(radio, seconds);
    for (i, &x) in positions.iter().enumerate() {
        node(&mut spec, &i.to_string(), x, 0.0);
    }
    flow(&mut spec, "f", 0, positions.len() - 1, saturating(1000));
    spec
}

fn run(spec: &WorldSpec, params: &[(&str, ParamValue)], seed: u64) -> RunResult {
    let set = Params(params.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    let scheme = (find("more").unwrap().build)(&set).unwrap();
    let mut world = World::new(spec, "more", scheme, seed).unwrap();
    drive::to_end(&mut world);
    let result = world.result();
    let ends = &result.ends;
    let dropped: u64 = ends.dropped.values().sum();
    assert_eq!(ends.made, ends.delivered + dropped + ends.inside(), "{ends:?}");
    result
}

fn counts(result: &RunResult) -> ForwardCounts {
    result.flows[0].forwarding.unwrap()
}

/// Transmissions of each packet until its batch is decoded, and what the delivery ratios give for it.
fn per_packet(spec: &WorldSpec, links: &[(u32, u32, f64)], natives: u64) -> (f64, f64) {
    let result = run(spec, &[("batch", ParamValue::Integer(natives))], 1);
    let made = counts(&result);
    let nodes = (0..spec.nodes.len() as u32).map(NodeId);
    let mut losses = Losses::new(nodes);
    for &(a, b, delivery) in links {
        losses.set_both(NodeId(a), NodeId(b), delivery);
    }
    let last = NodeId(spec.nodes.len() as u32 - 1);
    let expected = Expected::new(&losses, NodeId(0), last, &Pruning::default()).unwrap();
    assert_eq!(made.batches * natives, result.flows[0].delivered_packets);
    (made.broadcasts as f64 / (made.batches * natives) as f64, expected.cost())
}

#[test]
fn a_lossy_link_needs_what_its_ratio_says() {
    let spec = lossy(0.4, &[0.0, 100.0], 60);
    let (measured, expected) = per_packet(&spec, &[(0, 1, 0.6)], 32);
    assert!((measured / expected - 1.0).abs() < 0.03, "{measured:.3} {expected:.3}");
}

#[test]
fn a_line_of_three_needs_what_its_ratios_say() {
    let spec = lossy(0.3, &[0.0, 200.0, 400.0], 60);
    for natives in [32, 128, 255] {
        let (measured, expected) = per_packet(&spec, &[(0, 1, 0.7), (1, 2, 0.7)], natives);
        println!("{natives} {measured:.3} {expected:.3}");
    }
    panic!();
}

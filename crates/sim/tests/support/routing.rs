//! Runs over routes that a protocol finds, and their results.

use std::sync::Arc;

use airfair_routing::{Protocol, aodv, dsdv, olsr};
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::{PacketFates, RunResult};
use airfair_sim::spec::*;
use airfair_units::{Bytes, Rate};

use super::make;

/// AODV with parameters that differ from its defaults.
pub fn aodv(change: impl FnOnce(&mut aodv::AodvConfig)) -> RoutingSpec {
    found(change)
}

/// DSDV, likewise.
pub fn dsdv(change: impl FnOnce(&mut dsdv::DsdvConfig)) -> RoutingSpec {
    found(change)
}

/// OLSR, likewise.
pub fn olsr(change: impl FnOnce(&mut olsr::OlsrConfig)) -> RoutingSpec {
    found(change)
}

fn found<C: Protocol + Default>(change: impl FnOnce(&mut C)) -> RoutingSpec {
    let mut protocol = C::default();
    change(&mut protocol);
    RoutingSpec::Found(Arc::new(protocol))
}

/// Packets of 500 B at a constant rate.
pub fn constant(kbps: u64) -> Traffic {
    Traffic::ConstantRate { rate: Rate(kbps * 1000), packet: Bytes(500), gap_jitter: 0.0 }
}

pub fn places_add_up(ends: &PacketFates) {
    assert_eq!(ends.made, ends.delivered + ends.dropped.values().sum::<u64>() + ends.inside(), "{ends:?}");
}

/// A count of routing, radio by radio.
pub fn counts(result: &RunResult, name: &str) -> Vec<u64> {
    result.stations.iter().map(|station| station.routing.as_ref().unwrap().of(name)).collect()
}

/// A count of routing of all radios and wires.
pub fn sum(result: &RunResult, name: &str) -> u64 {
    let wires = result.queues.iter().filter_map(|queue| queue.routing.as_ref());
    counts(result, name).into_iter().chain(wires.map(|counts| counts.of(name))).sum()
}

/// The result of a run, and the way of each flow at its end.
pub fn with_paths(spec: &WorldSpec, seed: u64) -> (RunResult, Vec<Option<Vec<u32>>>) {
    let mut world = make(spec, seed);
    drive::to_end(&mut world);
    let way = |way: Vec<_>| way.into_iter().map(|node: airfair_sim::ids::NodeIx| node.0).collect();
    let paths = world.paths().into_iter().map(|path| path.map(way)).collect();
    (world.result(), paths)
}

/// The result of a run, and the way of its first flow at its end.
pub fn to_end(spec: &WorldSpec, seed: u64) -> (RunResult, Option<Vec<u32>>) {
    let (result, mut paths) = with_paths(spec, seed);
    (result, paths.swap_remove(0))
}

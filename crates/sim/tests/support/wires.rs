//! Wired networks, and runs of any scheme over them.

use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Rate, Span};

/// Microseconds.
pub fn us(n: u64) -> Span {
    Span::from_micros(n)
}

/// Milliseconds.
pub fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

/// A node without radios. Returns its number.
pub fn wired(spec: &mut WorldSpec, id: &str) -> usize {
    spec.nodes.push(NodeSpec { id: id.into(), position: [0.0; 3], located: true, radios: vec![] });
    spec.nodes.len() - 1
}

/// A wire without losses, with a queue of `packets` packets at each end.
pub fn link(ends: (usize, usize), mbps: u64, delay: Span, packets: u32) -> LinkSpec {
    LinkSpec {
        ends: [ends.0, ends.1],
        rate: Rate::from_mbps(mbps),
        rate_changes: vec![],
        delay,
        loss: 0.0,
        loss_every: 0,
        queue: QueueSpec { packets },
        local_limit: Some(Span::from_millis(1)),
    }
}

/// TCP with NewReno's window, unless the run has a law for all.
pub fn tcp(config: TcpConfig) -> Transport {
    Transport::Tcp { config, law: "newreno".into(), params: Params::default(), pinned: false }
}

pub fn built(scheme: &str, set: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    (find(scheme).unwrap().build)(&params).unwrap()
}

/// The result of a world at its end.
pub fn finished(mut world: World) -> RunResult {
    drive::to_end(&mut world);
    world.result()
}

//! A switch that changes nothing changes nothing: wires whose packets leave and arrive at the same nanoseconds, with a change of
//! rate to the rate that they have, with a trace, and without either.

use crate::support::wires::*;
use crate::support::{dot11b, flow, world};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Time};

/// Three sources over wires of one rate into a bottleneck of the same rate, with a queue of `queue` packets: nearly every arrival there
/// coincides with a departure.
fn crowd(queue: u32, mbps: u64, tcp_flows: u32) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), 1);
    spec.headers = HeaderSpec { udp: 0, tcp: Some(20), ip: 20, llc: 0, mac: 0, wired: 0 };
    let (hub, sink) = (wired(&mut spec, "hub"), wired(&mut spec, "sink"));
    spec.links.push(link((hub, sink), mbps, ms(2), queue));
    for i in 0..3u32 {
        let source = wired(&mut spec, &format!("s{i}"));
        spec.links.push(link((source, hub), 2 * mbps, ms(1), 3 + i));
        let traffic = match i {
            i if i < tcp_flows => Traffic::Endless,
            1 => Traffic::File { size: Bytes(100_000) },
            _ => Traffic::ConstantRate { rate: Rate::from_mbps(mbps), packet: Bytes(1230), gap_jitter: 0.0 },
        };
        let files = matches!(traffic, Traffic::File { .. } | Traffic::Endless);
        flow(&mut spec, &format!("f{i}"), source, sink, traffic);
        if files {
            let config = TcpConfig { mss: 1210, receive_window: 20_000, ..TcpConfig::default() };
            spec.flows[i as usize].transport = tcp(config);
        }
    }
    spec
}

fn rows(spec: &WorldSpec, scheme: &str, traced: bool) -> RunResult {
    let mut world = World::new(spec, scheme, built(scheme, &[]), 1).unwrap();
    if traced {
        world.start_trace();
    }
    drive::to_end(&mut world);
    RunResult { events: 0, ..world.result() }
}

#[test]
fn a_change_to_the_same_rate_changes_nothing() {
    for scheme in ["droptail", "qfcp", "rcp", "cubic", "vegas"] {
        for (queue, mbps, tcp_flows) in [(1, 10, 0), (2, 10, 1), (3, 1, 3), (5, 10, 2), (50, 4, 3)] {
            let spec = crowd(queue, mbps, tcp_flows);
            let plain = rows(&spec, scheme, false);
            for links in 1..1u32 << spec.links.len() {
                let mut same = spec.clone();
                for (i, link) in same.links.iter_mut().enumerate().filter(|(i, _)| links >> i & 1 == 1) {
                    let at = Time(500_000_000 + i as u64);
                    link.rate_changes = vec![RateChange { at, rate: link.rate }];
                }
                let what = format!("{scheme} {queue} {mbps} {tcp_flows} {links:b}");
                assert_eq!(rows(&same, scheme, false), plain, "{what}");
                assert_eq!(rows(&same, scheme, true), plain, "{what}, traced");
            }
            assert_eq!(rows(&spec, scheme, true), plain, "traced");
        }
    }
}

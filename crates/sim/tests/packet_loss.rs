//! Losses above the MAC: what a radio has acknowledged does not reach its node.

use std::sync::Arc;

use crate::support::routing::places_add_up;
use crate::support::wires::tcp;
use crate::support::*;
use airfair_routing::aodv::AodvConfig;
use airfair_sim::engine::drive::Steppable;
use airfair_sim::measure::summary::PacketFates;
use airfair_sim::record::FrameKind;
use airfair_sim::record::Record;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};

fn every_ten_ms() -> Traffic {
    Traffic::ConstantRate { rate: Rate(800_000), packet: Bytes(1000), gap_jitter: 0.0 }
}

/// Two hops, 10,000 packets: a fifth is lost at the first receiver, of the rest a fifth at the second, each within 4 standard errors
/// (160 and 143). Nothing else is lost, and the senders never know: every attempt but those that collided is a packet's only one.
#[test]
fn a_share_of_what_was_acknowledged_is_lost() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, every_ten_ms(), 100);
    spec.radios[0].packet_loss = 0.2;
    for seed in 1..=3 {
        let mut world = make(&spec, seed);
        world.start_trace();
        world.advance(world.end());
        let (result, trace) = (world.result(), world.take_trace());
        let lost = [1, 2].map(|at| {
            let here = |r: &&(Time, Record)| {
                matches!(r.1, Record::Dropped { node, reason: "packet-loss", .. } if node.0 == at)
            };
            trace.iter().filter(here).count() as u64
        });
        assert!(lost[0].abs_diff(2000) <= 160, "{lost:?}");
        assert!(lost[1].abs_diff((10_000 - lost[0]) / 5) <= 143, "{lost:?}");
        assert_eq!(result.ends.made, 10_000);
        assert_eq!(result.ends.dropped, [("packet-loss".to_string(), lost[0] + lost[1])].into());
        assert_eq!(result.flows[0].delivered_packets, 10_000 - lost[0] - lost[1]);
        places_add_up(&result.ends);
        let data = FrameKind::ALL.iter().position(|kind| *kind == FrameKind::Data).unwrap();
        for (station, packets) in [(0, 10_000), (1, 10_000 - lost[0])] {
            let counters = result.stations[station].counters;
            assert_eq!(counters.sent[data] - counters.no_ack, packets);
        }
    }
}

/// A loss that never comes: draws of their own change nothing else.
#[test]
fn what_is_not_lost_is_as_it_was() {
    let mut spec = cell(dot11b(100.0, 200.0), 5, 500, 5);
    let without = run(&spec, 1);
    spec.radios[0].packet_loss = 1e-15;
    assert_eq!(run(&spec, 1), without);
}

/// The receiving radio loses packets: those sent by the lossy one arrive, those sent to it do not, TCP's acknowledgements included.
#[test]
fn the_receiving_radio_loses() {
    let mut spec = world(dot11b(100.0, 200.0), 5);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 5.0, 0.0));
    spec.radios.push(RadioSpec { name: "lossy".into(), packet_loss: 1.0, ..spec.radios[0].clone() });
    spec.nodes[a].radios = vec![1];
    flow(&mut spec, "from", a, b, every_ten_ms());
    flow(&mut spec, "to", b, a, every_ten_ms());
    flow(&mut spec, "tcp", a, b, Traffic::Endless);
    spec.flows[2].transport = tcp(TcpConfig::default());
    let result = run(&spec, 1);
    let delivered: Vec<u64> = result.flows.iter().map(|f| f.delivered_packets).collect();
    assert_eq!(delivered, [500, 0, 0]);
    // A SYN at 0, 1 and 3 s arrives, the answers do not.
    assert_eq!(result.ends.delivered, 503);
    assert_eq!(result.ends.dropped, [("packet-loss".to_string(), result.ends.made - 503)].into());
    assert!(result.ends.dropped["packet-loss"] >= 503);
    places_add_up(&result.ends);
}

/// Messages of ARP and routing are not lost, however much is; those of agents neither (`agents.rs`).
#[test]
fn control_messages_arrive() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, every_ten_ms(), 3);
    spec.radios[0].packet_loss = 1.0;
    spec.arp = ArpSpec { prefilled: false, waiting_packets: 1, retry: Span::from_secs(1), attempts: 3 };
    let all_lost = |ends: &PacketFates| {
        places_add_up(ends);
        assert_eq!((ends.delivered, ends.dropped["packet-loss"]), (0, ends.made - ends.inside()), "{ends:?}");
    };
    let asked = run(&spec, 1);
    all_lost(&asked.ends);
    spec.routing = RoutingSpec::Found(Arc::new(AodvConfig::default()));
    let found = run(&spec, 1);
    assert!(found.ends.dropped["packet-loss"] > 100);
    let routing = found.stations[0].routing.as_ref().unwrap();
    assert_eq!(["discoveries", "failed", "breaks"].map(|name| routing.of(name)), [1, 0, 0]);
}

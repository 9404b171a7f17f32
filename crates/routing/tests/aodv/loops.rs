//! For any order of events: no loops, no state that is kept for ever, no packet that is lost without an effect.

use airfair_routing::aodv::{Aodv, AodvConfig};
use airfair_routing::{Effect, Routing};
use airfair_units::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::network::{Network, Numbered};
use crate::support::{Action, at, last};

impl Numbered for Aodv {
    fn valid_route(&mut self, to: u8, now: Time) -> Option<(Option<u32>, u32, u8)> {
        let (_, route) = self.routes(now).find(|(known, route)| *known == at(to) && route.valid)?;
        Some((route.number, route.hops.into(), last(route.hop.neighbour)))
    }

    fn check(effect: &Effect) {
        let _ = Action::from(effect.clone());
    }
}

/// A link changes, or a packet is made, or none is for a while: routes expire, and some entries are deleted.
fn stir(network: &mut Network<Aodv>) {
    match network.random.below(20) {
        0..=2 => network.flip(),
        3 => network.quiet_until = Time(network.now.0 + u64::from(network.random.below(20)) * 1_000_000_000),
        _ => network.originate(),
    }
}

fn configs() -> impl Strategy<Value = AodvConfig> {
    (any::<[bool; 5]>(), 1..4_u8, 0..3_u64).prop_map(
        |([repair, gratuitous, alone, ack, hello], ttl, jitter)| AodvConfig {
            local_repair: repair,
            gratuitous_reply: gratuitous,
            destination_only: alone,
            reply_acknowledgement: ack,
            hello,
            ttl_start: ttl,
            net_diameter: 8,
            broadcast_jitter: Span::from_millis(10 * jitter),
            buffer_packets: 5,
            ..AodvConfig::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_loops(config in configs(), loss in 0.0..0.6, seed in any::<u64>()) {
        let mut network = Network::new(|n| Aodv::new(at(n), &config), loss, seed);
        for _ in 0..4000 {
            network.step(stir);
            network.check_paths()?;
        }
        network.check_packets()?;
        // Without further input every node deletes all routes and packets.
        let later = Time(network.now.0 + 120_000_000_000);
        for node in &mut network.nodes {
            while node.routing.deadline() < later {
                let now = node.routing.deadline().max(network.now);
                node.effects(now, |aodv, cx| aodv.on_timer(cx));
            }
            prop_assert_eq!(node.routing.routes(later).count(), 0);
            prop_assert_eq!(node.routing.waiting().len(), 0);
        }
    }
}

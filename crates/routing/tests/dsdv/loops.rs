//! For any order of events: no loops, no packet that is lost without an effect, and a network at rest finds all shortest paths.

use airfair_routing::Effect;
use airfair_routing::dsdv::{Dsdv, DsdvConfig};
use airfair_units::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::network::{NODES, Network, Numbered};
use crate::support::{Action, at, last};

impl Numbered for Dsdv {
    fn valid_route(&mut self, to: u8, _: Time) -> Option<(Option<u32>, u32, u8)> {
        let (_, route) = self.routes().find(|(known, route)| *known == at(to) && route.is_valid())?;
        Some((Some(route.number), route.hops, last(route.hop.neighbour)))
    }

    fn check(effect: &Effect) {
        let _ = Action::from(effect.clone());
    }
}

/// A link changes, or a packet is made.
fn stir(network: &mut Network<Dsdv>) {
    if network.random.below(10) == 0 { network.flip() } else { network.originate() }
}

/// Least number of hops between two nodes, over the links as they are.
fn distance(network: &Network<Dsdv>, from: u8, to: u8) -> Option<u32> {
    let mut reached = vec![from];
    for hops in 0.. {
        if reached.contains(&to) {
            return Some(hops);
        }
        let more: Vec<u8> = (1..=NODES)
            .filter(|&n| !reached.contains(&n) && reached.iter().any(|&r| network.linked(r, n)))
            .collect();
        if more.is_empty() {
            return None;
        }
        reached.extend(more);
    }
    None
}

fn configs() -> impl Strategy<Value = DsdvConfig> {
    (any::<[bool; 5]>(), 1..=4_u64, prop_oneof![Just(1.0), Just(0.3)], 0..3_u64).prop_map(
        |([weighted, all, numbers, feedback, answer], period, share, interval)| DsdvConfig {
            period: Span::from_secs(period),
            period_jitter: Span::from_millis(100),
            settling_time: Span::from_millis(500 * period),
            weighted_settling: weighted,
            settle_all: all,
            trigger_on_new_number: numbers,
            answer_broken: answer,
            link_layer_feedback: feedback,
            full_dump_share: share,
            trigger_interval: Span::from_millis(300 * interval),
            ..DsdvConfig::default()
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
        let mut network = Network::new(|n| Dsdv::new(at(n), &config), loss, seed);
        for _ in 0..4000 {
            network.step(stir);
            network.check_paths()?;
        }
        network.check_packets()?;
        // At rest and without losses, each node soon has routes to those that it can reach, and no others.
        (network.quiet_until, network.loss) = (Time::NEVER, 0.0);
        let rest = Time(network.now.0 + 120_000_000_000);
        while network.now < rest {
            network.step(stir);
            network.check_paths()?;
        }
        for from in 1..=NODES {
            for to in (1..=NODES).filter(|&to| to != from) {
                let hops = network.node(from).valid_route(to, rest).map(|(_, hops, _)| hops);
                let least = distance(&network, from, to);
                prop_assert_eq!(hops.is_some(), least.is_some(), "from {} to {}: {:?} {:?}", from, to, hops, least);
                prop_assert!(hops >= least, "from {} to {}: {:?} {:?}", from, to, hops, least);
            }
        }
    }
}

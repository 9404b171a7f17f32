//! Invariants of every world.

use crate::support::random_world::*;
use crate::support::*;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::StationIx;
use airfair_sim::measure::summary::{PacketFates, RunResult};
use airfair_sim::spec::*;
use airfair_units::{Rate, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const MILLISECOND: u64 = 1_000_000;

fn cases(cases: u32) -> ProptestConfig {
    // Always the same draws: a test that fails once fails everywhere.
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

fn places_add_up(ends: &PacketFates) -> Result<(), TestCaseError> {
    let inside = ends.inside();
    prop_assert_eq!(ends.made, ends.delivered + ends.dropped.values().sum::<u64>() + inside, "{:?}", ends);
    Ok(())
}

/// The radio times of every station add up to `now`; no station transmits while all are silent.
fn times_add_up(result: &RunResult, now: u64) -> Result<(), TestCaseError> {
    for s in &result.stations {
        let a = s.airtime;
        let sum = a.transmit.0 + a.receive.0 + a.busy.0 + a.nav.0 + a.idle.0;
        prop_assert_eq!(sum, now, "{} {:?}", s.node, a);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    /// At a random time during the run, and after its end.
    #[test]
    fn nothing_is_lost_and_nothing_is_left(drawn in draw_any(), seed in any::<u64>(), look_at in 1u64..300_000_000) {
        let spec = build(&drawn, Time(300 * MILLISECOND), Span::from_secs(4));
        let mut world = make(&spec, seed);
        world.advance(Time(look_at));
        places_add_up(&world.result().ends)?;
        times_add_up(&world.result(), look_at)?;
        drive::to_end(&mut world);
        let result = world.result();
        places_add_up(&result.ends)?;
        times_add_up(&result, 4000 * MILLISECOND)?;
        let ends = &result.ends;
        let inside = ends.inside();
        prop_assert_eq!(inside, 0, "{:?}", ends);
        prop_assert_eq!(world.air().in_flight(), 0);
        for station in 0..world.air().len() as u32 {
            prop_assert_eq!(world.air().power(StationIx(station)).0, 0, "a silent air has no power");
        }
        let mut made = 0;
        for f in &result.flows {
            prop_assert!(f.delivered_packets <= f.sent_packets, "{:?}", f);
            made += f.sent_packets;
        }
        prop_assert_eq!(made, ends.made);
        // Every unicast frame was received or lost, for one reason, by its receiver. (A CTS to itself has none.)
        let total = |of: &dyn Fn(&airfair_sim::measure::summary::StationCounters) -> u64| {
            result.stations.iter().map(|s| of(&s.counters)).sum::<u64>()
        };
        let unicast = total(&|c| c.sent[..4].iter().sum());
        let received = total(&|c| c.received[..4].iter().sum());
        prop_assert!(received <= unicast, "{} {}", received, unicast);
        // A CF-End has many receivers.
        let cf_ends = total(&|c| c.sent[5]);
        if drawn.4 && cf_ends == 0 && spec.radios[0].phy.protection == Protection::None {
            let lost = total(&|c| c.lost.iter().sum());
            prop_assert_eq!(received + lost, unicast);
        }
        // Every CTS or ACK that did not come was awaited, every packet given up had its last attempt counted.
        for s in &result.stations {
            let c = &s.counters;
            let internal: u64 = s.categories.iter().map(|category| category.counters.internal_collisions).sum();
            prop_assert!(c.no_ack <= c.sent[2] && c.no_cts <= c.sent[0]);
            prop_assert!(c.given_up <= c.no_ack + c.no_cts + internal);
            let sent: u64 = s.categories.iter().map(|category| category.counters.sent).sum();
            prop_assert!(s.categories.is_empty() || sent == c.sent[2] + c.sent[4], "{s:?}");
        }
    }

    /// The order of nodes, links and flows in the specification carries no meaning.
    #[test]
    fn order_does_not_matter(drawn in draw_any(), seed in any::<u64>(), turn in 0usize..8) {
        let spec = build(&drawn, Time::NEVER, Span::from_millis(150));
        let n = spec.nodes.len();
        // Backwards, and turned.
        let place = |old: usize| (n - 1 - old + turn) % n;
        let mut shuffled = spec.clone();
        for (old, node) in spec.nodes.iter().enumerate() {
            shuffled.nodes[place(old)] = node.clone();
        }
        for link in &mut shuffled.links {
            link.ends = link.ends.map(place);
        }
        for gain in &mut shuffled.gains {
            (gain.from, gain.to) = (place(gain.from), place(gain.to));
        }
        for change in &mut shuffled.gain_changes {
            (change.from, change.to) = (place(change.from), place(change.to));
        }
        shuffled.gains.reverse();
        shuffled.gain_changes.reverse();
        for flow in &mut shuffled.flows {
            (flow.from, flow.to) = (place(flow.from), place(flow.to));
        }
        shuffled.flows.reverse();
        let (mut one, mut other) = (run(&spec, seed), run(&shuffled, seed));
        for result in [&mut one, &mut other] {
            result.flows.sort_by(|a, b| a.id.cmp(&b.id));
            result.stations.sort_by(|a, b| a.node.cmp(&b.node));
            result.queues.sort_by(|a, b| (&a.node, &a.towards).cmp(&(&b.node, &b.towards)));
            result.warnings.sort();
        }
        prop_assert_eq!(one, other);
    }

    /// One category with the values of the DCF that counts as the DCF does is the DCF; so are several of which one is used.
    #[test]
    fn a_category_with_the_values_of_the_dcf_is_the_dcf(drawn in draw_any(), seed in any::<u64>()) {
        let mut spec = build(&drawn, Time::NEVER, Span::from_millis(150));
        prop_assume!(spec.radios[0].mac.edca.is_none());
        spec.flows.iter_mut().for_each(|flow| flow.dscp = 0);
        let dcf = run(&spec, seed);
        let mac = &mut spec.radios[0].mac;
        let category = |name: &str| CategorySpec {
            name: name.to_string(),
            aifsn: 2,
            cw_min: mac.cw_min,
            cw_max: mac.cw_max,
            txop: Span::ZERO,
        };
        let one = EdcaSpec { categories: vec![category("one")], qos_header: false, category_of_dscp: [0; 64], ..edca(Countdown::Dcf, TxopEnd::Silent) };
        let names = ["a", "b", "c"];
        let three = EdcaSpec { categories: names.map(category).to_vec(), category_of_dscp: [1; 64], ..one.clone() };
        mac.edca = Some(one);
        prop_assert_eq!(&run(&spec, seed), &dcf);
        spec.radios[0].mac.edca = Some(three);
        let used = run(&spec, seed);
        prop_assert_eq!(&used.flows, &dcf.flows);
        prop_assert_eq!(&used.ends, &dcf.ends);
        prop_assert_eq!(used.transmissions, dcf.transmissions);
        for (used, dcf) in used.stations.iter().zip(&dcf.stations) {
            prop_assert_eq!(used.counters, dcf.counters);
            prop_assert_eq!(used.airtime, dcf.airtime);
        }
    }

    /// A node 50 km away that has nothing to say.
    #[test]
    fn a_far_idle_node_changes_nothing(drawn in draw_any(), seed in any::<u64>()) {
        let spec = build(&drawn, Time::NEVER, Span::from_millis(150));
        let mut more = spec.clone();
        node(&mut more, "far", 50_000.0, 0.0);
        let (mut one, mut other) = (run(&spec, seed), run(&more, seed));
        let far = other.stations.pop().unwrap();
        other.queues.retain(|q| q.node != "far");
        prop_assert_eq!(far.airtime.idle.0, 150 * MILLISECOND);
        // Its radio has a rate.
        prop_assert!(other.radio_rates_bps > one.radio_rates_bps);
        other.radio_rates_bps = one.radio_rates_bps;
        // Only ranks and streams by name: even the number of events is the same.
        one.warnings.clear();
        other.warnings.clear();
        prop_assert_eq!(one, other);
    }

    /// Twice the same; step by step the same; in pieces the same; with a trace the same.
    #[test]
    fn every_way_of_driving_gives_the_same(drawn in draw_any(), seed in any::<u64>(), piece in 1u64..9_000_000) {
        let spec = build(&drawn, Time::NEVER, Span::from_millis(100));
        let once = run(&spec, seed);
        prop_assert_eq!(&run(&spec, seed), &once);
        let mut steps = make(&spec, seed);
        drive::by_deadline(&mut steps, |_| true);
        prop_assert_eq!(&steps.result(), &once);
        let mut pieces = make(&spec, seed);
        pieces.start_trace();
        let mut at = 0;
        while at < 100 * MILLISECOND {
            at += piece;
            pieces.advance(Time(at));
        }
        prop_assert_eq!(&pieces.result(), &once);
        // The bytes of the story, twice.
        let mut again = make(&spec, seed);
        again.start_trace();
        drive::to_end(&mut again);
        prop_assert_eq!(pieces.take_trace(), again.take_trace());
    }
}

/// Every profile on a grid that is busy enough for every branch: no panic, no overflow, and something arrives.
#[test]
fn every_profile_runs() {
    for name in PROFILES {
        for shadow in [false, true] {
            let mut radio = profile(name);
            if shadow {
                radio.phy.lock_on = LockOn::Energy;
                radio.phy.interference = Interference::Strongest;
                radio.phy.relock = Some(airfair_units::Db(5.0));
            }
            let mut spec = world(radio, 1);
            for i in 0..16 {
                let metres = 90.0 * scale(name);
                node(&mut spec, &format!("n{i}"), metres * f64::from(i % 4), metres * f64::from(i / 4));
            }
            if name == "gains" {
                measure_gains(&mut spec);
            }
            for i in 0..8 {
                flow(&mut spec, &format!("f{i}"), i, 15 - i, saturating(700));
            }
            let result = run(&spec, 3);
            assert!(result.ends.delivered > 10, "{name}: {:?}", result.ends);
            places_add_up(&result.ends).unwrap();
            times_add_up(&result, 1000 * MILLISECOND).unwrap();
        }
    }
}

/// The run may end at any nanosecond, also between a frame's start and its arrival. `b` has sent once (its ACK) and hears its
/// first frame of any length again; `a` likewise.
#[test]
fn times_add_up_at_every_nanosecond() {
    let spec = chain(dot11b(400.0, 550.0), 1, 300.0, saturating(1472), 1);
    // DATA 50000..1360000, at b 1001 later; ACK 1371001..1675001.
    for start in [50_000u64, 1_360_000, 1_371_001, 1_675_001] {
        for offset in [0, 1, 500, 1000, 1001, 1002, 5000] {
            let mut world = make(&spec, 1);
            world.advance(Time(start + offset));
            times_add_up(&world.result(), start + offset)
                .unwrap_or_else(|e| panic!("{start} + {offset}: {e}"));
        }
    }
}

/// Two saturated stations at equal distances on either side of a hub: over 100 seeds the mean of the difference is zero within its 99 %
/// interval (Student's t with 99 degrees of freedom: 2.626).
#[test]
fn symmetric_stations_are_equal() {
    for name in ["standard", "rts", "ns-2"] {
        let mut spec = world(profile(name), 1);
        spec.duration = Span::from_millis(300);
        let (left, hub, right) = (
            node(&mut spec, "left", -100.0, 0.0),
            node(&mut spec, "hub", 0.0, 0.0),
            node(&mut spec, "right", 100.0, 0.0),
        );
        flow(&mut spec, "l", left, hub, saturating(1000));
        flow(&mut spec, "r", right, hub, saturating(1000));
        let differences: Vec<f64> = (0..100)
            .map(|seed| {
                let result = run(&spec, seed);
                result.flows[0].delivered_packets as f64 - result.flows[1].delivered_packets as f64
            })
            .collect();
        let mean = differences.iter().sum::<f64>() / 100.0;
        let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / 99.0;
        assert!(mean.abs() <= 2.626 * (variance / 100.0).sqrt(), "{name}: {mean} {variance}");
        assert!(variance > 0.0);
    }
}

/// Worlds share nothing: two at a time give what one after the other gives.
#[test]
fn threads_do_not_matter() {
    let mut spec = cell(dot11b(250.0, 550.0), 5, 1000, 1);
    spec.duration = Span::from_millis(300);
    let one_by_one: Vec<RunResult> = (0..8).map(|seed| run(&spec, seed)).collect();
    let halves = std::thread::scope(|scope| {
        let spec = &spec;
        let hands =
            [0..4, 4..8].map(|seeds| scope.spawn(move || seeds.map(|s| run(spec, s)).collect::<Vec<_>>()));
        hands.map(|hand| hand.join().unwrap())
    });
    assert_eq!(halves.concat(), one_by_one);
    assert_ne!(one_by_one[0].flows, one_by_one[1].flows, "seeds differ");
}

/// Load below the capacity is carried in full, above it the goodput does not fall with the load.
#[test]
fn more_load_never_means_less_goodput_on_one_link() {
    let goodput = |mbps: u64| {
        let traffic = Traffic::ConstantRate {
            rate: Rate::from_mbps(mbps),
            packet: airfair_units::Bytes(1000),
            gap_jitter: 1.0,
        };
        run(&chain(dot11b(250.0, 550.0), 1, 100.0, traffic, 2), 1).flows[0].goodput_bps
    };
    let all: Vec<f64> = [1, 2, 3, 4, 6, 9].map(goodput).to_vec();
    assert!((all[0] / 1e6 - 1.0).abs() < 0.02, "{all:?}");
    assert!(all.windows(2).all(|w| w[1] > 0.98 * w[0]), "{all:?}");
}

//! The yardstick: links, conflicts and rates of scenes whose answer follows by hand.

use airfair_sim::optimum::{Access, Bound, Causes, HiddenSender, Optimum, OptimumSpec, Tries, saturated};
use airfair_sim::spec::*;
use airfair_units::{Dbm, Rate, Span};
use proptest::prelude::*;

use crate::support::rig::with_rts;
use crate::support::routing::{aodv, constant};
use crate::support::wires::{link, tcp, wired};
use crate::support::*;

/// 802.11b at 2 Mbit/s with RTS/CTS.
fn slow(range: f64, sense: f64) -> RadioSpec {
    let mut radio = with_rts(dot11b(range, sense));
    radio.phy.data_rate = Rate::from_mbps(2);
    radio
}

fn optimum(spec: &WorldSpec) -> Optimum {
    make(spec, 1).optimum(spec, &OptimumSpec::default()).unwrap()
}

/// Names of the radio links, such as "1>2".
fn links(spec: &WorldSpec, found: &Optimum) -> Vec<String> {
    let world = make(spec, 1);
    let name = |station: airfair_sim::ids::StationIx| world.names().stations[station.ix()].clone();
    found.links.radio.iter().map(|link| format!("{}>{}", name(link.from), name(link.to))).collect()
}

/// Nodes "1", "2" ... at these places on a line, and flows over UDP with 1000 B.
fn line(radio: RadioSpec, places: &[f64], flows: &[(usize, usize)]) -> WorldSpec {
    let mut spec = world(radio, 10);
    for (i, &x) in places.iter().enumerate() {
        node(&mut spec, &(i + 1).to_string(), x, 0.0);
    }
    for &(from, to) in flows {
        flow(&mut spec, &format!("{from}-{to}"), from - 1, to - 1, saturating(1000));
    }
    spec
}

fn close(actual: f64, expected: f64, relative: f64) {
    assert!((actual / expected - 1.0).abs() < relative, "{actual}, expected {expected}");
}

/// One hop, 1500 B in frames of 1596 B at 2 Mbit/s as in ns-2: DIFS 50, 15.5 slots of 20, RTS 352, CTS 304, data 6384 + 192, ACK 304, three
/// SIFS of 10 us, four ways of 667 ns; by hand.
#[test]
fn a_lone_link_has_the_time_of_its_exchange_and_half_a_window() {
    let mut spec = world(slow(250.0, 550.0), 10);
    spec.headers = HeaderSpec { udp: 0, tcp: Some(20), ip: 20, llc: 0, mac: 28, wired: 0 };
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 200.0, 0.0));
    flow(&mut spec, "f", a, b, saturating(1500));
    let found = optimum(&spec);
    let data = 192.0 + (1500.0 + 48.0) * 8.0 / 2.0;
    let cycle_us = 50.0 + 310.0 + 352.0 + 304.0 + data + 304.0 + 30.0 + 4.0 * 0.667;
    close(found.plain.max_min_bps[0], 12_000.0 / (cycle_us * 1e-6), 1e-9);
    close(found.plain.proportional_bps.as_ref().unwrap()[0], found.plain.max_min_bps[0], 1e-6);
    close(found.schedule.unwrap().max_min_bps[0], found.plain.max_min_bps[0], 1e-9);
    assert_eq!(found.plain.bounds, [Bound::Clique { clique: 0, inhibited: None }]);
    assert!(found.weighted.is_none() && found.conflicts.is_empty());
}

/// ns-3 measures these shares of attempts that collide in cells of saturated stations (802.11b, 11 Mbit/s, basic access).
#[test]
fn collisions_are_those_of_a_saturated_cell() {
    let access = Access { cw_min: 31, cw_max: 1023, slot_s: 20e-6, difs_s: 50e-6 };
    let tries = Tries { first: 7, data: None };
    // Two stations: each collision is two attempts.
    let two = access.contention(2, 0.0, tries).unwrap();
    let share = 2.0 * two.collisions / (1.0 + 2.0 * two.collisions);
    assert!((share - 0.059).abs() < 0.002, "{share}");
    let lone = access.contention(1, 0.0, tries).unwrap();
    close(lone.idle_slots, 15.5, 1e-12);
    assert!(lone.collisions.abs() < 1e-12);
    // More senders, more collisions and fewer idle slots.
    let all: Vec<_> = (2..50).map(|n| access.contention(n, 0.0, tries).unwrap()).collect();
    assert!(all.windows(2).all(|pair| pair[1].collisions > pair[0].collisions));
    assert!(all.windows(2).all(|pair| pair[1].idle_slots < pair[0].idle_slots));
}

/// With RTS collisions and losses of data have limits of their own: a loss of a millionth changes nothing.
#[test]
fn a_small_loss_is_a_small_loss() {
    let access = Access { cw_min: 15, cw_max: 1023, slot_s: 9e-6, difs_s: 34e-6 };
    let tries = Tries { first: 7, data: Some(4) };
    for n in [1, 2, 10, 40] {
        let of = |loss| access.contention(n, loss, tries).unwrap();
        close(of(1e-9).idle_slots, of(0.0).idle_slots, 1e-6);
        assert!((of(1e-9).collisions - of(0.0).collisions).abs() < 1e-6);
        let without = Tries { data: None, ..tries };
        close(of(0.0).idle_slots, access.contention(n, 0.0, without).unwrap().idle_slots, 1e-12);
    }
}

/// Ranges of 250 m and 375 m. Sender 1 does not sense sender 3 at 400 m, whose frames keep receiver 2 from hearing sender 1; sender 3
/// decodes the CTS of receiver 2.
#[test]
fn a_link_whose_sender_does_not_hear_the_disturber_is_inhibited() {
    let spec = line(slow(250.0, 375.0), &[0.0, 200.0, 400.0, 600.0], &[(1, 2), (3, 4)]);
    let found = optimum(&spec);
    assert_eq!(links(&spec, &found), ["1>2", "3>4"]);
    let [conflict] = found.conflicts[..] else { panic!("{:?}", found.conflicts) };
    assert_eq!(
        conflict.causes,
        Causes {
            shared: false,
            defers: [false, true],
            data_lost: [true, false],
            answers_lost: [false, false],
            cts_heard: [false, true],
        }
    );
    let [inhibition] = found.inhibitions[..] else { panic!("{:?}", found.inhibitions) };
    assert_eq!((inhibition.link, inhibition.by, inhibition.factor), (0, 1, 1.38));
    // C/2 each, and C/(1 + W) each.
    let lone = optimum(&line(slow(250.0, 375.0), &[0.0, 200.0], &[(1, 2)])).plain.max_min_bps[0];
    let plain = found.plain.max_min_bps[0];
    close(2.0 * plain, lone, 0.03);
    let weighted = found.weighted.unwrap();
    close(weighted.max_min_bps[0] * 2.38, 2.0 * plain, 1e-9);
    assert_eq!(weighted.bounds[0], Bound::Clique { clique: 0, inhibited: Some(0) });

    // 300 m away sender 3 does not decode the CTS either.
    let far = optimum(&line(slow(250.0, 375.0), &[0.0, 200.0, 500.0, 700.0], &[(1, 2), (3, 4)]));
    assert_eq!(far.inhibitions[0].factor, 1.75);
    // At 800 m, 1.78 times the length of the link and more, nothing is disturbed (10 dB at the fourth power).
    let away = optimum(&line(slow(250.0, 375.0), &[0.0, 200.0, 800.0, 1000.0], &[(1, 2), (3, 4)]));
    assert!(away.conflicts.is_empty());
    close(away.plain.max_min_bps[0], lone, 1e-9);
}

/// The middle of three pairs is in two cliques, each of the outer ones in one; all are bound to the same.
#[test]
fn the_middle_of_three_pairs_shares_two_cliques() {
    let mut spec = world(slow(367.0, 670.0), 10);
    for (i, name) in ["left", "middle", "right"].iter().enumerate() {
        let x = 350.0 * i as f64;
        let from = node(&mut spec, &format!("{name} a"), x, 0.0);
        let to = node(&mut spec, &format!("{name} b"), x, 200.0);
        flow(&mut spec, name, from, to, saturating(512));
    }
    let found = optimum(&spec);
    let cliques: Vec<Vec<usize>> = found.cliques.iter().map(|clique| clique.links.clone()).collect();
    assert_eq!(cliques, [[0, 1], [1, 2]]);
    let rates = &found.plain.max_min_bps;
    assert!(rates[0] == rates[1] && rates[1] == rates[2], "{rates:?}");
    // Proportional fairness gives the middle a third of the air, the others two thirds.
    let fair = found.plain.proportional_bps.unwrap();
    close(fair[0], 2.0 * fair[1], 1e-6);
    close(fair[1] + fair[0], rates[0] + rates[1], 1e-6);
}

/// Two flows share a wire; a third one over radio has its own bound, and a slow one its demand.
#[test]
fn wires_and_demands_bind_too() {
    let mut spec = line(dot11b(250.0, 550.0), &[0.0, 200.0], &[(1, 2)]);
    let end = wired(&mut spec, "end");
    spec.links.push(link((1, end), 1, Span::ZERO, 10));
    flow(&mut spec, "a", 1, end, saturating(1000));
    flow(&mut spec, "b", 1, end, saturating(1000));
    flow(&mut spec, "c", 1, end, constant(50));
    let found = optimum(&spec);
    // In the order of names: 1-2, a, b, c. 1000 B of payload are 1028 B on the wire, 500 B of the third one 528 B.
    let share = (1e6 - 50_000.0 * 528.0 / 500.0) / 2.0 * 1000.0 / 1028.0;
    close(found.plain.max_min_bps[1], share, 1e-9);
    close(found.plain.max_min_bps[3], 50_000.0, 1e-12);
    assert_eq!(
        found.plain.bounds,
        [Bound::Clique { clique: 0, inhibited: None }, Bound::Wire(0), Bound::Wire(0), Bound::Demand]
    );
}

/// Acknowledgements of TCP are links of their own: one packet of 40 B for every second segment.
#[test]
fn acknowledgements_take_air() {
    let mut spec = line(dot11b(250.0, 550.0), &[0.0, 200.0], &[]);
    let config = airfair_transport::TcpConfig {
        mss: 1460,
        timestamps: false,
        ..airfair_transport::TcpConfig::default()
    };
    flow(&mut spec, "f", 0, 1, Traffic::Endless);
    spec.flows[0].transport = tcp(config);
    let found = optimum(&spec);
    assert_eq!(links(&spec, &found), ["1>2", "2>1"]);
    let [data, ack] = &found.links.flows[0].radio[..] else { panic!() };
    close(data.attempts_per_bit * 8.0 * 1460.0, 1.0, 1e-12);
    close(ack.attempts_per_bit * 8.0 * 1460.0, 0.5, 1e-12);
    // 192 us and 40 + 8 + 28 B at 2 Mbit/s, SIFS, and an ACK of 14 B at its rate.
    assert!(ack.attempt_s < data.attempt_s / 2.0);
    assert_eq!(found.cliques[0].senders, 2);
}

/// A flow that stops before the warm-up ends takes no air.
#[test]
fn flows_outside_of_the_measured_time_are_left_out() {
    let mut spec = line(slow(250.0, 550.0), &[0.0, 200.0, 400.0], &[(1, 2), (2, 3)]);
    spec.warmup = Span::from_secs(2);
    let lone = optimum(&line(slow(250.0, 550.0), &[0.0, 200.0], &[(1, 2)])).plain.max_min_bps[0];
    assert!(optimum(&spec).plain.max_min_bps[0] < 0.6 * lone);
    spec.flows[1].stop = airfair_units::Time::ZERO + Span::from_secs(2);
    let found = optimum(&spec);
    assert_eq!((found.links.flows.len(), found.links.inactive.len()), (1, 1));
    close(found.plain.max_min_bps[0], lone, 1e-9);
}

#[test]
fn other_channels_do_not_conflict() {
    let mut spec = line(dot11b(250.0, 550.0), &[0.0, 200.0], &[(1, 2)]);
    let mut other = dot11b(250.0, 550.0);
    (other.name, other.channel) = ("other".into(), 6);
    spec.radios.push(other);
    let (c, d) = (node(&mut spec, "3", 0.0, 100.0), node(&mut spec, "4", 200.0, 100.0));
    spec.nodes[c].radios = vec![1];
    spec.nodes[d].radios = vec![1];
    flow(&mut spec, "3-4", c, d, saturating(1000));
    let found = optimum(&spec);
    assert!(found.conflicts.is_empty());
    assert_eq!(found.plain.max_min_bps[0], found.plain.max_min_bps[1]);
}

/// A frame arrives with 0.8 and so is sent 1.25 times; the k-th attempt in a row, of at most four after RTS and CTS, draws from 32 2^k
/// slots.
#[test]
fn losses_of_a_silent_air_cost_attempts() {
    let lossless = line(slow(250.0, 550.0), &[0.0, 200.0], &[(1, 2)]);
    let mut lossy = lossless.clone();
    lossy.radios[0].phy.frame_loss = 0.2;
    let (mut slots, mut attempts, mut reached) = (0.0, 0.0, 1.0);
    for k in 0..lossy.radios[0].mac.long_retry_limit {
        slots += reached * (f64::from(32 << k) - 1.0) / 2.0;
        attempts += reached;
        reached *= 0.2;
    }
    assert!((attempts - 1.248_f64).abs() < 1e-12, "{attempts}");
    let bits = 8000.0;
    let before = bits / optimum(&lossless).plain.max_min_bps[0];
    let after = bits / optimum(&lossy).plain.max_min_bps[0];
    close(after, (before + (slots / attempts - 15.5) * 20e-6) / 0.8, 1e-6);
}

/// A saturated link that loses six frames of ten and gives up 2.8 % of its packets (0.6^7) gets the model's rate. In 200 s 24,000 attempts,
/// of which 40 % arrive: 0.8 % at a standard error. With windows that grow without end the model would say a third less.
#[test]
fn a_link_of_many_losses_gets_what_the_model_says() {
    let mut spec = line(dot11b(250.0, 550.0), &[0.0, 200.0], &[(1, 2)]);
    (spec.radios[0].phy.frame_loss, spec.duration) = (0.6, Span::from_secs(200));
    let best = optimum(&spec).plain.max_min_bps[0];
    close(run(&spec, 1).flows[0].goodput_bps, best, 0.03);
}

/// Senders that do not sense each other, with one receiver: with RTS the CTS stops the other one, without RTS nothing does.
#[test]
fn hidden_senders_of_one_receiver_inhibit_each_other() {
    let places = [-200.0, 0.0, 200.0];
    let with = optimum(&line(slow(250.0, 250.0), &places, &[(1, 2), (3, 2)]));
    assert!(with.inhibitions.is_empty() && with.conflicts[0].causes.shared);
    let mut radio = slow(250.0, 250.0);
    radio.mac.rts_threshold = airfair_units::Bytes(2347);
    let without = optimum(&line(radio, &places, &[(1, 2), (3, 2)]));
    let pairs: Vec<(usize, usize)> = without.inhibitions.iter().map(|i| (i.link, i.by)).collect();
    assert_eq!(pairs, [(0, 1), (1, 0)]);
    let rate = without.weighted.unwrap().max_min_bps[0];
    assert!(rate < without.plain.max_min_bps[0] / 3.5, "{rate}");
}

/// Hidden senders of 802.11b with long preambles at 2 Mbit/s: 1064 B of 8 us each half byte.
const HIDDEN: HiddenSender = HiddenSender {
    cw_min: 31,
    cw_max: 1023,
    slot: 20_000,
    difs: 50_000,
    data: 192_000 + 1064 * 4_000,
    sifs: 10_000,
    ack: 304_000,
    timeout: 222_000,
    attempts: 7,
};

/// Limits by hand: windows too small for any frame; frames so short that they hardly ever meet; one sender that is hardly there.
#[test]
fn what_hidden_senders_carry() {
    assert_eq!(saturated([HiddenSender { cw_max: 63, ..HIDDEN }; 2]), [0.0; 2]);
    let short = HiddenSender { data: 1_000, ack: 1_000, ..HIDDEN };
    let [first, second] = saturated([short; 2]);
    // In a cycle one ACK of the other is heard, after which it waits again.
    close(first, 1.0 / (1e-6 + 10e-6 + 1e-6 + 50e-6 + 310e-6 + 51e-6), 0.02);
    close(first, second, 0.02);
    let rare = HiddenSender { cw_min: 1 << 20, cw_max: 1 << 20, ..HIDDEN };
    let [alone, _] = saturated([HIDDEN, rare]);
    close(alone, 1.0 / (4448e-6 + 10e-6 + 304e-6 + 50e-6 + 310e-6), 0.01);
    // Both lose what overlaps: less than half of the vulnerable time is used, and fewer retries carry less.
    let [patient, _] = saturated([HiddenSender { attempts: 100, ..HIDDEN }; 2]);
    let [usual, _] = saturated([HIDDEN; 2]);
    assert!(usual < 0.7 * patient && patient * 2.0 * 4448e-6 < 0.5, "{usual}, {patient}");
}

/// The simulator carries the same between two saturated hidden senders, at a low rate (long frames), a high one, and to two receivers.
#[test]
fn hidden_senders_carry_what_the_simulator_says() {
    for (mbps, places, flows) in [
        (2, vec![0.0, 200.0, 400.0], [(1, 2), (3, 2)]),
        (11, vec![0.0, 200.0, 400.0], [(1, 2), (3, 2)]),
        (2, vec![0.0, 200.0, 210.0, 410.0], [(1, 2), (4, 3)]),
    ] {
        let mut radio = slow(250.0, 375.0);
        radio.mac.rts_threshold = airfair_units::Bytes(2347);
        radio.phy.data_rate = Rate::from_mbps(mbps);
        let mut spec = line(radio, &places, &flows);
        spec.duration = Span::from_secs(200);
        let model = optimum(&spec).weighted.unwrap().max_min_bps;
        let result = run(&spec, 1);
        let mean = result.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>() / 2.0;
        close(model[0], mean, 0.06);
        close(model[0], model[1], 1e-9);
    }
}

/// A link whose data fail only under answers of the other link is no such case: the frame that ends first arrives.
#[test]
fn answers_alone_do_not_spoil_both() {
    let mut radio = slow(250.0, 375.0);
    radio.mac.rts_threshold = airfair_units::Bytes(2347);
    let found = optimum(&line(radio, &[0.0, 200.0, 400.0, 600.0], &[(1, 2), (4, 3)]));
    assert!(
        found.inhibitions.len() == 2
            && found.inhibitions.iter().all(|i| i.factor == 1.38 || i.factor == 1.75)
    );
}

#[test]
fn losses_that_nobody_repairs_are_not_modelled() {
    let mut spec = line(slow(250.0, 550.0), &[0.0, 200.0], &[(1, 2)]);
    spec.radios[0].packet_loss = 0.1;
    let reason = |spec: &WorldSpec| make(spec, 1).optimum(spec, &OptimumSpec::default()).unwrap_err().0;
    assert!(reason(&spec).contains("radio.packet_loss is above 0 from 1 to 2, on the path of flow 1-2"));
    spec.radios[0].packet_loss = 0.0;
    (spec.radios[0].mac.cw_min, spec.radios[0].mac.cw_max) = (0, 0);
    flow(&mut spec, "back", 1, 0, saturating(1000));
    assert!(reason(&spec).contains("2 senders whose contention window has 0 to 0 slots only collide"));
}

/// Interferers none of which disturbs alone: each 8 dB more than what three together may have.
#[test]
fn interference_of_several_links_is_named() {
    let mut radio = dot11b(250.0, 250.0);
    radio.phy.interference = Interference::Sum;
    radio.phy.cutoff = Dbm(-110.0);
    let mut spec = world(radio, 10);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 200.0, 0.0));
    flow(&mut spec, "f", a, b, saturating(1000));
    // 400 m from the receiver: 12 dB below the signal; three of them 7 dB.
    for (i, (x, y)) in [(600.0, 0.0), (200.0, 400.0), (200.0, -400.0)].into_iter().enumerate() {
        let from = node(&mut spec, &format!("s{i}"), x, y);
        let to = node(&mut spec, &format!("t{i}"), x + (x - 200.0) / 4.0, y + y / 4.0);
        flow(&mut spec, &format!("i{i}"), from, to, saturating(1000));
    }
    let found = optimum(&spec);
    assert!(found.conflicts.is_empty(), "{:?}", found.conflicts);
    // Two together: 9 dB, below the 10 dB of capture.
    let first = found.additive.iter().find(|additive| additive.link == 0).unwrap();
    assert_eq!(first.by.len(), 2);
}

#[test]
fn what_the_model_cannot_describe_is_an_error() {
    let spec = line(dot11b(250.0, 550.0), &[0.0, 200.0], &[(1, 2)]);
    let reason = |spec: &WorldSpec| make(spec, 1).optimum(spec, &OptimumSpec::default()).unwrap_err().0;
    let mut found = spec.clone();
    found.routing = aodv(|_| ());
    assert!(reason(&found).contains("routes are found during the run"));
    let mut varying = spec;
    varying.radios[0].fading =
        Some(FadingSpec { law: FadingLaw::Rayleigh, coherence: Span::from_millis(10) });
    assert!(reason(&varying).contains("gains vary"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the order of nodes and flows: the same links, cliques and rates, to the last bit.
    #[test]
    fn the_order_of_a_file_changes_nothing(
        places in prop::collection::vec((0.0..1200.0, 0.0..1200.0), 4..12),
        ends in prop::collection::vec((0..64_usize, 0..64_usize), 1..8),
        turn in 1..11_usize,
    ) {
        let build = |turn: usize| {
            let mut spec = world(slow(250.0, 400.0), 10);
            let n = places.len();
            let order: Vec<usize> = (0..n).map(|i| (i + turn) % n).collect();
            let mut at = vec![0; n];
            for &i in &order {
                at[i] = node(&mut spec, &format!("n{i}"), places[i].0, places[i].1);
            }
            let mut flows: Vec<usize> = (0..ends.len()).filter(|&f| ends[f].0 % n != ends[f].1 % n).collect();
            let m = flows.len().max(1);
            flows.rotate_left(turn % m);
            for f in flows {
                flow(&mut spec, &format!("f{f}"), at[ends[f].0 % n], at[ends[f].1 % n], saturating(1000));
            }
            spec
        };
        let (one, other) = (build(0), build(turn));
        let (first, second) = (optimum(&one), optimum(&other));
        prop_assert_eq!(links(&one, &first), links(&other, &second));
        prop_assert_eq!(first.cliques, second.cliques);
        prop_assert_eq!(first.plain, second.plain);
        prop_assert_eq!(first.weighted, second.weighted);
        prop_assert_eq!(first.inhibitions, second.inhibitions);
        prop_assert_eq!(first.conflicts, second.conflicts);
        prop_assert_eq!(first.additive, second.additive);
        prop_assert_eq!(first.schedule, second.schedule);
    }
}

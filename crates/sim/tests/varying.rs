//! Gains that vary while nodes rest: fading, and measured gains that change at given moments.

use std::collections::BTreeMap;

use crate::support::rig::by_matrix;
use crate::support::*;
use airfair_schemes::{Params, find};
use airfair_sim::World;
use airfair_sim::air::Relation;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::record::{FrameKind, Record};
use airfair_sim::spec::*;
use airfair_units::{Bytes, Db, Dbm, Rate, Span, Time};

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Time {
    Time(ms * MS)
}

/// Two nodes, `a` and `b`, whose gain lets 20 dB above the detection threshold arrive; a packet of 500 B every 2 ms.
fn pair(seconds: u64) -> WorldSpec {
    let mut spec = world(by_matrix(dot11b(250.0, 550.0)), seconds);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "b", 0.0, 0.0);
    let gain = Db(spec.radios[0].phy.preamble_detect.0 - spec.radios[0].phy.tx_power.0 + 20.0);
    spec.gains = [(0, 1), (1, 0)].map(|(from, to)| GainSpec { from, to, gain }).to_vec();
    let rate = Rate(2_000_000);
    flow(&mut spec, "f", 0, 1, Traffic::ConstantRate { rate, packet: Bytes(500), gap_jitter: 0.0 });
    spec
}

/// The gain of both directions changes by this much at a time.
fn change(spec: &mut WorldSpec, ms: u64, db: f64, every: Option<u64>) {
    let every = every.map(Span::from_millis);
    for GainSpec { from, to, gain } in spec.gains.clone() {
        spec.gain_changes.push(GainChangeSpec { from, to, at: at(ms), gain: Db(gain.0 + db), every });
    }
}

/// Received power of each data frame and ACK by its time, dBm: kind, start, power.
fn received(spec: &WorldSpec, seed: u64) -> Vec<(FrameKind, u64, f64)> {
    let mut world = make(spec, seed);
    world.start_trace();
    drive::to_end(&mut world);
    let trace = world.take_trace();
    let of = |record: &Record| match record {
        Record::Received { frame, signal, .. } => Some((frame.kind, frame.start.0, signal.power.to_dbm().0)),
        _ => None,
    };
    trace.iter().filter_map(|(_, record)| of(record)).collect()
}

#[test]
fn a_gain_changes_at_its_moments() {
    let mut spec = pair(1);
    change(&mut spec, 100, -40.0, None);
    change(&mut spec, 300, 6.0, None);
    let all = received(&spec, 1);
    let mean = spec.radios[0].phy.preamble_detect.0 + 20.0;
    let near = |x: f64, y: f64| (x - y).abs() < 0.001;
    for &(_, start, power) in &all {
        let expected = if start < 100 * MS { mean } else { mean + 6.0 };
        assert!(!(100 * MS..300 * MS).contains(&start) && near(power, expected), "{start}: {power}");
    }
    let last_before = all.iter().filter(|frame| frame.1 < 100 * MS).map(|frame| frame.1).max().unwrap();
    let first_after = all.iter().filter(|frame| frame.1 >= 300 * MS).map(|frame| frame.1).min().unwrap();
    assert!(last_before > 97 * MS && first_after < 325 * MS, "{last_before} {first_after}");
}

/// 100 ms on, 100 ms off, again and again; relations and neighbours follow without any frame.
#[test]
fn changes_repeat() {
    let mut spec = pair(1);
    spec.flows.clear();
    change(&mut spec, 100, -40.0, Some(200));
    change(&mut spec, 200, 0.0, Some(200));
    let mut world = make(&spec, 1);
    for ms in [0, 50, 99, 101, 150, 199, 201, 299, 301, 399, 401, 950] {
        world.advance(Time(at(ms).0 + 1));
        let on = ms % 200 < 100;
        assert_eq!(world.relations().count(), if on { 2 } else { 0 }, "{ms} ms");
        assert_eq!(
            world.air().neighbours(airfair_sim::ids::StationIx(0)).count(),
            usize::from(on),
            "{ms} ms"
        );
    }
}

/// Four nodes in one another's reach; at the same moments several links end or return. The order of the list means nothing.
#[test]
fn changes_of_one_moment_have_no_order() {
    let mut spec = pair(2);
    node(&mut spec, "c", 0.0, 0.0);
    node(&mut spec, "d", 0.0, 0.0);
    let gain = spec.gains[0].gain;
    spec.gains.clear();
    for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).filter(|(a, b)| a != b) {
        spec.gains.push(GainSpec { from, to, gain });
    }
    flow(&mut spec, "g", 2, 3, saturating(500));
    flow(&mut spec, "h", 3, 1, saturating(500));
    change(&mut spec, 50, -60.0, Some(100));
    change(&mut spec, 100, 0.0, Some(100));
    let weaker =
        |g: &GainChangeSpec| g.gain.0 < gain.0 && (g.from, g.to) != (0, 1) && (g.from, g.to) != (1, 0);
    // The pair of the first flow stays; of the others every second direction changes.
    spec.gain_changes.retain(|g| weaker(g) && (g.from + g.to) % 2 == 1 || g.gain == gain);
    let mut reversed = spec.clone();
    reversed.gain_changes.reverse();
    reversed.gains.reverse();
    let result = |spec: &WorldSpec, name: &str| {
        let scheme = (find(name).unwrap().build)(&Params::default()).unwrap();
        let mut world = World::new(spec, name, scheme, 1).unwrap();
        drive::to_end(&mut world);
        world.result()
    };
    for name in ["droptail", "nred", "lbm"] {
        let found = result(&spec, name);
        assert!(found.flows.iter().all(|flow| flow.delivered_packets > 0), "{name}");
        assert_eq!(found, result(&reversed, name), "{name}");
    }
}

/// Frames of 12 ms and a change every 5 ms: most frames are on the air during a change, and each is judged with the power of its start.
#[test]
fn a_frame_keeps_the_gain_of_its_start() {
    let mut spec = pair(2);
    spec.radios[0].phy.data_rate = Rate::from_mbps(1);
    spec.flows[0].traffic = saturating(1472);
    change(&mut spec, 5, -13.0, Some(10));
    change(&mut spec, 10, 0.0, Some(10));
    let mean = spec.radios[0].phy.preamble_detect.0 + 20.0;
    let all = received(&spec, 1);
    assert!(all.len() > 200, "{}", all.len());
    for &(_, start, power) in &all {
        let expected = mean - if start / (5 * MS) % 2 == 1 { 13.0 } else { 0.0 };
        assert!((power - expected).abs() < 0.001, "{start}: {power}, expected {expected}");
    }
    let mut world = make(&spec, 1);
    drive::to_end(&mut world);
    assert_eq!(world.result().flows[0].dropped_packets, 0);
}

/// Both directions fail for 3 ms of each 7.3 ms. Some failures begin with an ACK; retries in the failure find no hearer, and the next one
/// is a duplicate, with and without categories.
#[test]
fn a_retry_after_an_interruption_is_a_duplicate() {
    for mac in ["dcf", "edca"] {
        let mut spec = pair(10);
        if mac == "edca" {
            spec.radios[0].mac.edca = Some(random_world::edca(Countdown::Dcf, TxopEnd::Silent));
        }
        for GainSpec { from, to, gain } in spec.gains.clone() {
            let every = Some(Span::from_micros(7300));
            let lost = Db(gain.0 - 200.0);
            for (us, gain) in [(300, lost), (3300, gain)] {
                spec.gain_changes.push(GainChangeSpec { from, to, at: Time(us * 1000), gain, every });
            }
        }
        let result = run(&spec, 1);
        let (sent, delivered) = (result.flows[0].sent_packets, result.flows[0].delivered_packets);
        assert!(result.stations[1].counters.duplicates > 30, "{mac}: {:?}", result.stations[1].counters);
        assert!(delivered > sent / 2 && delivered <= sent, "{mac}: {delivered} of {sent}");
        let ends = result.ends;
        assert_eq!(
            ends.made,
            ends.delivered + ends.dropped.values().sum::<u64>() + ends.inside(),
            "{mac}: {ends:?}"
        );
    }
}

fn fades(spec: &mut WorldSpec, law: FadingLaw, ms: u64) {
    spec.radios[0].fading = Some(FadingSpec { law, coherence: Span::from_millis(ms) });
}

/// Log-normal fading of 3 dB, 20 dB above the threshold: all frames arrive. One power a block, for data and ACKs alike; blocks differ,
/// their mean is that of the gain.
#[test]
fn a_pair_has_one_power_in_a_block() {
    let mut spec = pair(10);
    fades(&mut spec, FadingLaw::LogNormal { deviation: Db(3.0) }, 10);
    let mut blocks: BTreeMap<u64, Vec<(FrameKind, f64)>> = BTreeMap::new();
    for (kind, start, power) in received(&spec, 1) {
        blocks.entry(start / (10 * MS)).or_default().push((kind, power));
    }
    assert!(blocks.len() >= 999, "{}", blocks.len());
    let mean = spec.radios[0].phy.preamble_detect.0 + 20.0;
    let mut apart = Vec::new();
    for (block, frames) in &blocks {
        assert!(
            frames.iter().any(|f| f.0 == FrameKind::Data) && frames.iter().any(|f| f.0 == FrameKind::Ack)
        );
        assert!(frames.iter().all(|f| (f.1 - frames[0].1).abs() < 1e-9), "{block}: {frames:?}");
        apart.push(frames[0].1 - mean);
    }
    let n = apart.len() as f64;
    let (average, deviation) =
        (apart.iter().sum::<f64>() / n, (apart.iter().map(|x| x * x).sum::<f64>() / n).sqrt());
    assert!(average.abs() < 0.4 && (deviation - 3.0).abs() < 0.3, "{average} {deviation}");
    assert_ne!(received(&spec, 1)[0].2, received(&spec, 2)[0].2, "another seed, other fades");
}

/// Under Rayleigh fading a frame arrives in a block with the probability that the power exceeds the threshold: with a margin of m (linear)
/// exp(-1 / m), here 10 dB: 0.905, and 3 dB: 0.606. Blocks count, not frames, which fail in rows.
#[test]
fn the_share_of_blocks_with_reception_is_that_of_the_law() {
    for (margin, expected) in [(10.0, 0.9048), (3.0, 0.6058)] {
        let mut spec = pair(20);
        for gain in &mut spec.gains {
            gain.gain = Db(gain.gain.0 + margin - 20.0);
        }
        // Broadcast-like: no retries hide a loss, and no response is needed.
        spec.radios[0].mac.short_retry_limit = 1;
        spec.radios[0].mac.long_retry_limit = 1;
        fades(&mut spec, FadingLaw::Rayleigh, 10);
        let data = received(&spec, 1).into_iter().filter(|f| f.0 == FrameKind::Data);
        let blocks: std::collections::BTreeSet<u64> = data.map(|f| f.1 / (10 * MS)).collect();
        let share = blocks.len() as f64 / 2000.0;
        // Three standard errors of 2000 blocks.
        assert!((share - expected).abs() < 0.033, "{margin} dB: {share}");
        // Routes judge the link by the mean over the law: both the preamble and the capture have to be exceeded.
        let ratio = make(&spec, 1).relations().next().unwrap().delivery_ratio;
        assert!((ratio - expected).abs() < 0.01, "{margin} dB: {ratio}");
    }
}

/// Other nodes, other names before and after, another order: the powers between two nodes are the same.
#[test]
fn fades_of_a_pair_do_not_depend_on_other_nodes() {
    let mut spec = pair(1);
    fades(&mut spec, FadingLaw::Rayleigh, 4);
    let alone = received(&spec, 1);
    let mut other = spec.clone();
    let silent = |id: &str| NodeSpec { id: id.into(), position: [0.0; 3], located: true, radios: vec![0] };
    other.nodes = vec![silent("z"), spec.nodes[1].clone(), silent("0"), spec.nodes[0].clone()];
    let place = |old: usize| if old == 0 { 3 } else { 1 };
    other.gains.iter_mut().for_each(|g| (g.from, g.to) = (place(g.from), place(g.to)));
    let heard = other.gains[0].gain;
    other.gains.extend([(3, 0), (1, 2)].map(|(from, to)| GainSpec { from, to, gain: Db(heard.0 - 10.0) }));
    other.flows.iter_mut().for_each(|f| (f.from, f.to) = (place(f.from), place(f.to)));
    assert_eq!(received(&other, 1), alone);
}

/// The mean is 3 dB below the detection threshold: without fading no frame arrives, with it some do.
#[test]
fn the_best_fades_reach_farther_than_the_mean() {
    let mut spec = pair(5);
    for gain in &mut spec.gains {
        gain.gain = Db(gain.gain.0 - 23.0);
    }
    assert_eq!(received(&spec, 1).len(), 0);
    fades(&mut spec, FadingLaw::Rayleigh, 10);
    // P(factor > 2) = exp(-2) = 0.135: a route exists, and packets pass in their blocks.
    let relation: Relation = make(&spec, 1).relations().next().unwrap();
    assert!((relation.delivery_ratio - 0.135).abs() < 0.01, "{relation:?}");
    assert!(received(&spec, 1).len() > 50);
}

/// A node moves past another one under fading: powers follow the movement, and no power is left on the air.
#[test]
fn moving_nodes_fade_too() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 200.0, saturating(500), 4);
    fades(&mut spec, FadingLaw::Rician { k: Db(6.0) }, 5);
    let knot = |s: u64, x: f64| Knot { at: at(1000 * s), position: [x, 0.0, 0.0] };
    let knots = vec![knot(0, 200.0), knot(2, 50.0), knot(4, 400.0)].into();
    spec.movement.paths.push(PathSpec { node: 1, knots, repeat_from: None });
    spec.movement.interval = Span::from_millis(10);
    let mut by_second: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (_, start, power) in received(&spec, 1) {
        by_second.entry(start / (500 * MS)).or_default().push(power);
    }
    let mean = |half: u64| by_second[&half].iter().sum::<f64>() / by_second[&half].len() as f64;
    // Around 60 m at 2 s against 190 m at the start: two-ray falls by about 20 dB.
    assert!(mean(3) - mean(0) > 10.0, "{} {}", mean(3), mean(0));
    // Long after the last frame.
    spec.flows[0].stop = at(3900);
    spec.duration = Span::from_secs(8);
    let mut world = make(&spec, 1);
    drive::to_end(&mut world);
    assert!(world.result().flows[0].delivered_packets > 100);
    assert_eq!((world.stations().len(), world.air().in_flight()), (2, 0));
    for station in 0..2 {
        assert_eq!(world.air().power(airfair_sim::ids::StationIx(station)).0, 0, "{station}");
    }
}

#[test]
fn worlds_without_variation_have_no_second_lists() {
    let still = chain(dot11b(250.0, 550.0), 1, 200.0, saturating(500), 1);
    let mut faded = still.clone();
    fades(&mut faded, FadingLaw::Rayleigh, 5);
    let bytes = |spec: &WorldSpec| make(spec, 1).air().bytes_per_station();
    assert!(bytes(&faded) > bytes(&still));
}

/// A hearer at 6 km, 20 us away: a CTS to itself and the data behind it are a SIFS apart, so the data start before the CTS has ended there.
/// In each block of 100 us powers differ; what a frame adds at its start is what it removes at its end.
#[test]
fn frames_that_overlap_on_their_way_leave_no_power_behind() {
    let mut radio = dot11b(8000.0, 8000.0);
    radio.phy.standard = Standard::Dot11g;
    radio.phy.data_rate = Rate::from_mbps(6);
    radio.phy.protection = Protection::CtsToSelf;
    radio.phy.error_model = ErrorModel::PerChunk;
    let mut spec = world(radio, 2);
    for (id, x) in [("a", 0.0), ("b", 300.0), ("far", 6000.0)] {
        node(&mut spec, id, x, 0.0);
    }
    spec.radios[0].fading = Some(FadingSpec { law: FadingLaw::Rayleigh, coherence: Span::from_micros(100) });
    flow(&mut spec, "f", 0, 1, saturating(1000));
    spec.flows[0].stop = at(1900);
    let mut world = make(&spec, 1);
    world.start_trace();
    drive::to_end(&mut world);
    let to_itself =
        |record: &Record| matches!(record, Record::Start { frame } if frame.kind == FrameKind::Cts);
    assert!(world.take_trace().iter().filter(|(_, record)| to_itself(record)).count() > 100);
    assert_eq!(world.air().in_flight(), 0);
    for station in 0..3 {
        assert_eq!(world.air().power(airfair_sim::ids::StationIx(station)).0, 0, "{station}");
    }
}

/// An idle node hears every frame 67 to 500 us after its start: frames of some senders are half a block behind the next ones.
#[test]
fn an_idle_node_far_away_changes_no_power() {
    let mut near = world(dot11b(250.0, 550.0), 1);
    for (id, x) in [("a", 0.0), ("b", 150.0), ("c", 400.0)] {
        node(&mut near, id, x, 0.0);
    }
    fades(&mut near, FadingLaw::LogNormal { deviation: Db(20.0) }, 1);
    flow(&mut near, "f", 0, 1, saturating(1000));
    flow(&mut near, "g", 2, 1, saturating(300));
    let alone = received(&near, 1);
    assert!(alone.len() > 200, "{}", alone.len());
    for metres in [20e3, 60e3, 150e3] {
        let mut with_one = near.clone();
        node(&mut with_one, "far", 0.0, metres);
        let delay = make(&with_one, 1).settling_time();
        assert!(delay.as_secs_f64() > metres / 3e8, "the far node hears the others: {delay:?}");
        assert!(received(&with_one, 1) == alone, "{metres} m");
    }
}

/// A receiver 500 us away, for whose ACK the sender does not wait: it tries each packet again while the last attempt is on its way, and
/// powers change in between. A packet that arrives several times is delivered once.
#[test]
fn a_retry_that_overtakes_a_change_of_powers_is_a_duplicate() {
    let mut radio = dot11b(220e3, 220e3);
    radio.phy.noise = Dbm(-250.0);
    let mut spec = world(radio, 2);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "far", 150e3, 0.0);
    let law = FadingLaw::LogNormal { deviation: Db(1.0) };
    spec.radios[0].fading = Some(FadingSpec { law, coherence: Span::from_micros(100) });
    let rate = Rate(400_000);
    flow(&mut spec, "f", 0, 1, Traffic::ConstantRate { rate, packet: Bytes(500), gap_jitter: 0.0 });
    let mut world = make(&spec, 1);
    world.start_trace();
    drive::to_end(&mut world);
    // By the rule: a retry with the number of the frame before.
    let (mut last, mut repeated, mut delivered) = (None, 0, Vec::new());
    for (_, record) in world.take_trace() {
        match record {
            Record::Received { frame, .. } if frame.kind == FrameKind::Data => {
                let before = last.replace(frame.sequence);
                repeated += u64::from(frame.retry && before == Some(frame.sequence));
            }
            Record::Delivered { sequence, .. } => delivered.push(sequence),
            _ => {}
        }
    }
    assert!(delivered.len() > 40 && delivered.is_sorted_by(|a, b| a < b), "{delivered:?}");
    assert!(repeated > 200, "{repeated}");
    assert_eq!(world.result().stations[1].counters.duplicates, repeated);
}

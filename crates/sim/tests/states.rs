//! States of stations over time: intervals worked by hand, and a run that is not disturbed.

use std::collections::BTreeMap;

use crate::support::random_world::*;
use crate::support::rig::with_rts;
use crate::support::*;
use airfair_sim::World;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::{NodeIx, StationIx};
use airfair_sim::observe::states::{StateColumns, StatesSpec};
use airfair_sim::record::{FrameKind, FrameView, Record, Trace};
use airfair_sim::spec::*;
use airfair_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const US: u64 = 1_000;

/// Propagation over 200 m and over 400 m, ns.
const DELAY_200: u64 = 667;
const DELAY_400: u64 = 1_334;

const WHOLE: StatesSpec = StatesSpec { node: None, from: Time::ZERO, until: Time::NEVER };

/// A row: start, end, slots.
type Interval = (u64, u64, i64);

/// Station, state, and category of a back-off.
type Timer = (i64, &'static str, i64);

/// Runs a world in steps; the intervals by timer in the order of the rows, and the trace.
fn by_timer(world: &mut World, spec: StatesSpec, step: Span) -> (BTreeMap<Timer, Vec<Interval>>, Trace) {
    world.observe_states(spec);
    world.start_trace();
    let (mut found, mut trace, mut last) = (BTreeMap::<_, Vec<Interval>>::new(), Trace::new(), 0);
    while world.now() < world.end() {
        world.advance(world.now().saturating_add(step));
        trace.extend(world.take_trace());
        let Some(c) = world.take_states(1) else { continue };
        for i in 0..c.len() {
            let row = (c.from_ns[i] as u64, c.until_ns[i] as u64, c.slots[i]);
            assert_eq!(
                c.category[i] >= 0,
                c.state[i] == 0 && world.air().has_categories(StationIx(c.station[i] as u32))
            );
            assert!(row.1 >= last, "rows are in the order of their ends");
            last = row.1;
            let name = StateColumns::NAMES[c.state[i] as usize];
            found.entry((c.station[i], name, c.category[i])).or_default().push(row);
        }
    }
    (found, trace)
}

/// [`by_timer`] without categories.
fn observed(
    world: &mut World,
    spec: StatesSpec,
    step: Span,
) -> (BTreeMap<(i64, &'static str), Vec<Interval>>, Trace) {
    let (found, trace) = by_timer(world, spec, step);
    assert!(found.keys().all(|&(_, _, category)| category == -1));
    (found.into_iter().map(|((station, state, _), rows)| ((station, state), rows)).collect(), trace)
}

fn sent(trace: &Trace, sender: u32, kind: FrameKind) -> Vec<FrameView> {
    let frames = trace.iter().filter_map(|(_, record)| match record {
        Record::Start { frame } => Some(*frame),
        _ => None,
    });
    frames.filter(|frame| frame.sender.0 == sender && frame.kind == kind).collect()
}

/// Compares intervals, and shows the first ones that differ.
fn check(found: &[Interval], expected: &[Interval]) {
    for (place, pair) in found.iter().zip(expected).enumerate() {
        assert_eq!(pair.0, pair.1, "interval {place}");
    }
    assert_eq!(found.len(), expected.len());
}

/// Nodes on a line, and one flow from the first to the second.
fn line(radio: RadioSpec, places: &[f64]) -> WorldSpec {
    let mut spec = world(radio, 1);
    for (i, &x) in places.iter().enumerate() {
        node(&mut spec, &i.to_string(), x, 0.0);
    }
    flow(&mut spec, "f", 0, 1, saturating(1000));
    spec
}

/// One sender: its back-off begins a DIFS of 50 us after the ACK, has slots of 20 us, and ends when the next frame starts.
#[test]
fn a_back_off_begins_a_difs_after_the_ack_and_ends_with_the_frame() {
    let spec = line(dot11b(250.0, 550.0), &[0.0, 200.0]);
    let (states, trace) = observed(&mut make(&spec, 1), WHOLE, Span::from_millis(7));
    let backoffs = &states[&(0, "backoff")];
    let data = sent(&trace, 0, FrameKind::Data);
    let acks = sent(&trace, 1, FrameKind::Ack);
    assert!(data.len() > 400);
    let mut expected = Vec::new();
    for (ack, next) in acks.iter().zip(&data[1..]) {
        let from = ack.end.0 + DELAY_200 + 50 * US;
        let slots = (next.start.0 - from) / (20 * US);
        assert_eq!((next.start.0 - from) % (20 * US), 0);
        assert!(slots <= 31);
        if slots > 0 {
            expected.push((from, next.start.0, slots as i64));
        }
    }
    check(&backoffs[..expected.len()], &expected);
    assert!(backoffs.len() <= expected.len() + 1, "the last may be cut by the end of the run");
    assert!(!states.contains_key(&(1, "backoff")), "a receiver has nothing to send");
    assert!(!states.contains_key(&(0, "nav")) && !states.contains_key(&(0, "eifs")));
}

/// Station 2 is 200 m from the receiver and decodes its CTS: the NAV begins with the end of the CTS and has the length of its duration
/// field. It only senses the sender (400 m): an EIFS begins with the end of each of its frames, and a good frame ends it.
#[test]
fn a_nav_has_the_length_of_the_duration_field() {
    let mut radio = with_rts(dot11b(250.0, 550.0));
    radio.mac.eifs_on_energy = true;
    let spec = line(radio, &[0.0, 200.0, 400.0]);
    let (states, trace) = observed(&mut make(&spec, 1), WHOLE, Span::from_millis(7));
    let cts = sent(&trace, 1, FrameKind::Cts);
    let navs: Vec<Interval> = cts
        .iter()
        .map(|frame| frame.end.0 + DELAY_200)
        .zip(&cts)
        .map(|(from, frame)| (from, from + u64::from(frame.nav_us) * US, -1))
        .collect();
    assert!(navs.len() > 300);
    let last = navs.len() - 1;
    check(&states[&(2, "nav")][..last], &navs[..last]);
    let rts = sent(&trace, 0, FrameKind::Rts).into_iter().zip(cts);
    let data = sent(&trace, 0, FrameKind::Data).into_iter().zip(sent(&trace, 1, FrameKind::Ack));
    let mut eifs: Vec<Interval> =
        rts.chain(data).map(|(failed, good)| (failed.end.0 + DELAY_400, good.end.0, -1)).collect();
    eifs.sort_unstable();
    check(&states[&(2, "eifs")][..2 * last], &eifs[..2 * last]);
}

/// Station 2 senses the sender (400 m) and not the receiver (600 m): an EIFS of 10 + 304 + 50 us begins with the end of each frame.
#[test]
fn an_eifs_lasts_364_us() {
    let mut radio = with_rts(dot11b(250.0, 550.0));
    radio.mac.eifs_on_energy = true;
    let spec = line(radio, &[0.0, -200.0, 400.0]);
    let (states, trace) = observed(&mut make(&spec, 1), WHOLE, Span::from_millis(7));
    let mut ends: Vec<u64> = [FrameKind::Rts, FrameKind::Data]
        .iter()
        .flat_map(|&kind| sent(&trace, 0, kind))
        .map(|frame| frame.end.0 + DELAY_400)
        .collect();
    ends.sort_unstable();
    let expected: Vec<Interval> = ends.iter().map(|&end| (end, end + 364 * US, -1)).collect();
    assert!(expected.len() > 600);
    let last = expected.len() - 3;
    check(&states[&(2, "eifs")][..last], &expected[..last]);
    assert!(!states.contains_key(&(2, "nav")));
}

/// A NAV that an RTS sets lasts until the end of the exchange, although it is provisional at first.
#[test]
fn a_nav_that_an_rts_sets_is_one_interval() {
    let mut spec = line(with_rts(dot11b(250.0, 550.0)), &[0.0, 200.0]);
    node(&mut spec, "near", 100.0, 0.0);
    let (states, trace) = observed(&mut make(&spec, 1), WHOLE, Span::from_millis(7));
    let rts = sent(&trace, 0, FrameKind::Rts);
    let navs = &states[&(2, "nav")];
    assert!(navs.len().abs_diff(rts.len()) <= 1 && navs.len() > 300);
    for (nav, rts) in navs.iter().zip(&rts[..rts.len() - 1]) {
        let from = rts.end.0 + DELAY_200 / 2;
        assert!(nav.0.abs_diff(from) <= 1, "{nav:?} begins with the end of {rts:?}");
        assert!(nav.1.abs_diff(nav.0 + u64::from(rts.nav_us) * US) <= 2 * US, "{nav:?} of {rts:?}");
    }
}

/// A CF-End ends the NAV of a bystander when it arrives, also where that takes no time.
#[test]
fn a_cf_end_ends_the_nav() {
    for (places, delay) in [([0.0, 200.0, 0.0], 0), ([0.0, 200.0, 200.0], DELAY_200)] {
        let mut radio = dot11b(250.0, 550.0);
        radio.mac.edca = Some(edca(Countdown::Standard, TxopEnd::CfEnd));
        let mut spec = line(radio, &places);
        // A category with TXOPs, and packets so rare that each ends one.
        spec.flows[0].dscp = 34;
        spec.flows[0].traffic =
            Traffic::ConstantRate { rate: Rate(400_000), packet: Bytes(1000), gap_jitter: 0.0 };
        let (states, trace) = by_timer(&mut make(&spec, 1), WHOLE, Span::from_millis(7));
        let ends: Vec<u64> =
            sent(&trace, 0, FrameKind::CfEnd).iter().map(|frame| frame.end.0 + delay).collect();
        let navs: Vec<u64> = states[&(2, "nav", -1)].iter().map(|nav| nav.1).collect();
        assert!(ends.len() > 20);
        let near = |end: &u64| navs.iter().any(|nav| nav.abs_diff(*end) <= 1);
        assert_eq!(ends.iter().filter(|end| !near(end)).count(), 0, "of {}, NAVs {}", ends.len(), navs.len());
    }
}

/// In a cell a back-off ends with the own frame, or where the frame of another freezes it; then fewer slots are left, as many as were not
/// counted.
#[test]
fn a_frozen_back_off_keeps_the_slots_that_are_left() {
    let spec = cell(dot11b(250.0, 550.0), 4, 500, 1);
    let (states, trace) = observed(&mut make(&spec, 1), WHOLE, Span::from_millis(7));
    let mut starts = BTreeMap::<u64, Vec<u32>>::new();
    for (_, record) in &trace {
        if let Record::Start { frame } = record {
            starts.entry(frame.start.0).or_default().push(frame.sender.0);
        }
    }
    let (mut frozen, mut complete) = (0, 0);
    for station in 1..5 {
        for pair in states[&(i64::from(station), "backoff")].windows(2) {
            let [(from, until, slots), (_, _, then)] = [pair[0], pair[1]];
            let senders = &starts[&until];
            if senders.contains(&station) {
                complete += 1;
                assert_eq!(until - from, slots as u64 * 20 * US);
                continue;
            }
            // A boundary is counted if the medium was idle 15 us before.
            let counted = slots - then;
            let least = (counted * 20_000 - 15_000).max(0);
            if counted >= 0 && (least..(counted + 1) * 20_000).contains(&((until - from) as i64)) {
                frozen += 1;
            }
        }
    }
    assert!(complete > 500 && frozen > 500, "{complete} {frozen}");
    let rows: usize = (1..5).map(|station| states[&(station, "backoff")].len() - 1).sum();
    // After a frame that ended with the last slot a new back-off may have more slots.
    assert!(frozen + complete >= rows - rows / 20, "{frozen} {complete} {rows}");
}

/// A sender with two saturated categories: after each ACK both count from the end of their own AIFS, the one that sends to the start of
/// its frame. The other one's slots are those that it has not counted, the boundary at the end of the AIFS among them, unless it has
/// collided with the first.
#[test]
fn each_category_counts_its_own_slots() {
    let mut edca = edca_table(&[(5, 31, 1023, 0), (2, 15, 1023, 0)], Countdown::Standard, TxopEnd::Silent);
    edca.category_of_dscp = std::array::from_fn(|dscp| u8::from(dscp > 0));
    let mut spec = line(with_edca(dot11b(250.0, 550.0), edca), &[0.0, 200.0]);
    flow(&mut spec, "g", 0, 1, saturating(1000));
    spec.flows[1].dscp = 46;
    let (states, trace) = by_timer(&mut make(&spec, 1), WHOLE, Span::from_millis(7));
    let data = sent(&trace, 0, FrameKind::Data);
    let acks = sent(&trace, 1, FrameKind::Ack);
    let collided: BTreeMap<u64, u8> = trace
        .iter()
        .filter_map(|(at, record)| match record {
            Record::InternalCollision { category, .. } => Some((at.0, *category)),
            _ => None,
        })
        .collect();
    let (mut frozen, mut complete) = (0, 0);
    for (category, aifs) in [(0, 110 * US), (1, 50 * US)] {
        let rows = &states[&(0, "backoff", category)];
        let mut left = None;
        for (ack, next) in acks.iter().zip(&data[1..]) {
            let from = ack.end.0 + DELAY_200 + aifs;
            let row = rows.iter().find(|row| row.0 == from);
            if next.start.0 <= from {
                assert_eq!(row, None);
                if next.start.0 == from {
                    // The boundary at the end of the AIFS counts.
                    left = left.map(|left| left - 1).filter(|&left| left > 0);
                }
                continue;
            }
            let &(_, until, slots) = row.unwrap();
            assert_eq!(until, next.start.0);
            let counted = (until - from) / (20 * US);
            assert_eq!((until - from) % (20 * US), 0);
            if let Some(left) = left {
                assert_eq!(slots, left);
            }
            if next.category == Some(category as u8) {
                assert_eq!(slots as u64, counted);
                (left, complete) = (None, complete + 1);
            } else if collided.contains_key(&until) {
                assert_eq!(slots as u64, counted, "the higher category wins");
                left = None;
            } else {
                assert!((slots as u64) > counted);
                // Without a slot it sends at the end of its AIFS, and has no row.
                (left, frozen) = (Some(slots - counted as i64 - 1).filter(|&left| left > 0), frozen + 1);
            }
        }
        assert!(rows.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
    assert!(complete > 200 && frozen > 100 && collided.len() > 5, "{complete} {frozen} {}", collided.len());
}

/// Of one node, in a window: what ends in it or is cut by its end.
#[test]
fn states_of_one_node_in_a_window() {
    let spec = cell(dot11b(250.0, 550.0), 3, 500, 1);
    let (all, _) = observed(&mut make(&spec, 1), WHOLE, Span::from_millis(7));
    let (from, until) = (Time(300_000_000), Time(310_000_000));
    let window = StatesSpec { node: Some(NodeIx(2)), from, until };
    let (some, _) = observed(&mut make(&spec, 1), window, Span::from_secs(1));
    let cut = |rows: &[Interval]| -> Vec<Interval> {
        let inside = rows.iter().filter(|row| row.1 > from.0 && row.0 < until.0);
        inside.map(|&(start, end, slots)| (start, end.min(until.0), slots)).collect()
    };
    let expected: BTreeMap<_, _> = all
        .iter()
        .filter(|((station, _), _)| *station == 2)
        .map(|(&key, rows)| (key, cut(rows)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    assert!(expected[&(2, "backoff")].len() > 3);
    assert_eq!(some, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Under all rules of the air: observation changes nothing, does not depend on steps, and intervals of one timer do not overlap.
    #[test]
    fn intervals_of_one_state_are_disjoint(drawn in draw(), seed in any::<u64>()) {
        let spec = build(&drawn, Time(150_000_000), Span::from_millis(200));
        let mut plain = make(&spec, seed);
        drive::to_end(&mut plain);
        let mut world = make(&spec, seed);
        let (states, _) = by_timer(&mut world, WHOLE, Span::from_secs(1));
        prop_assert_eq!(format!("{:?}", world.result()), format!("{:?}", plain.result()));
        let (same, _) = by_timer(&mut make(&spec, seed), WHOLE, Span(777_777));
        prop_assert_eq!(&states, &same);
        for (key, rows) in &states {
            for row in rows {
                prop_assert!(row.0 < row.1 && row.1 <= 200_000_000, "{key:?} {row:?}");
                prop_assert_eq!(row.2 >= 0, key.1 == "backoff");
            }
            for pair in rows.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].0, "{key:?} {pair:?}");
            }
        }
    }
}

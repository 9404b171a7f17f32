//! Long links: 25 km are 83391 ns of light.

use airfair_sim::air::Outcome;
use airfair_sim::engine::drive;
use airfair_sim::ids::{FlowIx, StationIx};
use airfair_sim::observe::explain::{FailureCause, MissingResponse};
use airfair_sim::optimum::OptimumSpec;
use airfair_sim::record::FrameKind::{Ack, Data};
use airfair_sim::spec::{GainSpec, RadioSpec, ResponseTimeout, TimeoutDistance, WorldSpec};
use airfair_units::Db;

use crate::support::rig::*;
use crate::support::*;

fn radio(class: u8) -> RadioSpec {
    let mut radio = by_matrix(dot11a(54, 400.0, 550.0));
    radio.mac.coverage_class = class;
    radio
}

/// Time-outs that allow for each link's length, and the slot of a cell.
fn each_link() -> RadioSpec {
    let mut radio = radio(0);
    radio.mac.timeout_distance = TimeoutDistance::EachLink;
    radio
}

const ENDS: [At; 2] = [("a", 0, 0.0), ("b", 0, 25_000.0)];

/// The ACK's PHY start comes 2 x 83391 + 16000 + 20000 = 202782 ns after the data. With class 0 the sender waits for
/// 16000 + 9000 + 20000 = 45000: every attempt fails, though every one is received.
#[test]
fn too_far_for_the_slot() {
    let mut rig = Rig::new(&[no_back_off(radio(0))], &ENDS, &both(0, 1, -60.0), 1);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(10_000_000);
    // 248 + 45 + DIFS 34.
    let attempts: Vec<u64> = (0..7).map(|i| 1_000_000 + 327_000 * i).collect();
    assert_eq!(starts(&trace, 0), attempts);
    assert_eq!(rig.diary.got, [(1_331_391, 1, 0)], "delivered once");
    assert_eq!(rig.air.counters(StationIx(1)).duplicates, 6);
    assert_eq!(rig.diary.done[0].3, Outcome::RetryLimit);
}

/// 3 us a class: 16000 + 9000 + 3000 c + 20000 >= 202782 for c >= 53.
#[test]
fn the_coverage_class_that_suffices() {
    for (class, outcome) in [(52, Outcome::RetryLimit), (53, Outcome::Delivered)] {
        let mut rig = Rig::new(&[no_back_off(radio(class))], &ENDS, &both(0, 1, -60.0), 1);
        rig.send(1_000_000, 0, 1, 1500);
        rig.run(50_000_000);
        assert_eq!(rig.diary.done[0].3, outcome, "class {class}");
    }
    let mut rig = Rig::new(&[no_back_off(radio(53))], &ENDS, &both(0, 1, -60.0), 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(2_000_000);
    let expected = [
        (Data, 0, 1_000_000, 1_248_000),
        // + 83391 + SIFS 16000.
        (Ack, 1, 1_347_391, 1_375_391),
        // + 83391 + DIFS 16000 + 2 x 168000.
        (Data, 0, 1_810_782, 2_058_782),
    ];
    assert_eq!(story(&trace)[..3], expected);
}

/// A saturated link of 25 km.
fn long_link(radio: RadioSpec) -> WorldSpec {
    let mut spec = world(radio, 10);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 25_000.0, 0.0));
    spec.gains = [(a, b), (b, a)].map(|(from, to)| GainSpec { from, to, gain: Db(-75.0) }).to_vec();
    flow(&mut spec, "f", a, b, saturating(1500));
    spec
}

/// A saturated 25 km link. 1500 B of payload are 1564 B of PSDU: (16 + 12512 + 6) / 216 = 59 symbols, 256 us. A cycle:
/// 256 + 83.391 + 16 + 28 + 83.391 + DIFS 352 + 7.5 slots of 168 = 2078.782 us, 5.773 Mbit/s.
///
/// In 10 s 4810 back-offs of a standard deviation of 774 us: 0.5 % at five standard errors.
#[test]
fn goodput_over_25_km() {
    let result = run(&long_link(radio(53)), 1);
    let mbps = result.flows[0].goodput_bps / 1e6;
    assert!((mbps / 5.7726 - 1.0).abs() < 0.027, "{mbps}");
    assert_eq!(result.stations[0].counters.no_ack, 0);
}

/// An answer is awaited as long as it needs: with the slots of a cell the next frame follows after a DIFS of 34 us.
#[test]
fn a_time_out_for_each_link_keeps_the_slots() {
    for timeout in [ResponseTimeout::PhyStart, ResponseTimeout::WholeResponse] {
        let mut radio = no_back_off(each_link());
        radio.mac.response_timeout = timeout;
        let mut rig = Rig::new(&[radio], &ENDS, &both(0, 1, -60.0), 1);
        rig.send(1_000_000, 0, 1, 1500);
        rig.send(1_000_000, 0, 1, 1500);
        let trace = rig.run(2_000_000);
        let expected = [
            (Data, 0, 1_000_000, 1_248_000),
            // + 83391 + SIFS 16000.
            (Ack, 1, 1_347_391, 1_375_391),
            // + 83391 + DIFS 16000 + 2 x 9000.
            (Data, 0, 1_492_782, 1_740_782),
        ];
        assert_eq!(story(&trace)[..3], expected, "{timeout:?}");
        assert_eq!(rig.diary.done[0].3, Outcome::Delivered);
    }
}

/// Without an answer the sender waits for the way there and back, 166782 ns, beyond SIFS, slot and PHY start delay, 45000 ns; towards a
/// neighbour beside it no longer than these.
#[test]
fn a_time_out_for_each_link_depends_on_the_neighbour() {
    for (metres, wait) in [(25_000.0, 45_000 + 2 * 83_391), (30.0, 45_000 + 2 * 100)] {
        let ends: [At; 2] = [("a", 0, 0.0), ("b", 0, metres)];
        let mut rig = Rig::new(&[no_back_off(each_link())], &ends, &[(0, 1, -60.0)], 1);
        rig.send(1_000_000, 0, 1, 1500);
        let trace = rig.run(10_000_000);
        let ends: Vec<u64> = timeouts(&trace, 0).iter().map(|timeout| timeout.0).collect();
        let starts = starts(&trace, 0);
        assert_eq!(starts.len(), 7);
        let waits: Vec<u64> = starts.iter().zip(&ends).map(|(start, end)| end - start - 248_000).collect();
        assert_eq!(waits, [wait; 7], "{metres} m");
    }
}

fn mbps(spec: &WorldSpec) -> f64 {
    run(spec, 1).flows[0].goodput_bps / 1e6
}

/// A cycle: 256 + 83.391 + 16 + 28 + 83.391 + DIFS 34 + 7.5 slots of 9 = 568.282 us, 21.116 Mbit/s, where coverage class 53 has 5.773.
/// Between nodes of unknown positions no time passes on the way: 401.5 us, 29.888 Mbit/s, with coverage class 0.
///
/// In 10 s 17,600 back-offs of a standard deviation of 41.5 us: 0.06 % and 0.08 % at a standard error. The yardstick of such a link is the
/// cycle itself.
#[test]
fn goodput_with_short_slots_and_between_guesses() {
    let found = mbps(&long_link(each_link()));
    assert!((found / 21.1163 - 1.0).abs() < 0.004, "{found}");
    for (radio, expected) in [(each_link(), 21.1163), (radio(53), 5.7726)] {
        let spec = long_link(radio);
        let found = make(&spec, 1).optimum(&spec, &OptimumSpec::default()).unwrap();
        let mbps = found.plain.max_min_bps[0] / 1e6;
        assert!((mbps / expected - 1.0).abs() < 1e-4, "{mbps}");
    }
    for one_end in [true, false] {
        let mut spec = long_link(radio(0));
        (spec.nodes[0].located, spec.nodes[1].located) = (one_end, false);
        let found = mbps(&spec);
        assert!((found / 29.888 - 1.0).abs() < 0.004, "{found}");
    }
}

/// Every frame arrives and every answer comes too late: the explanation names no other cause, and the warning names the pair and the class
/// that fits, 53 by hand above.
#[test]
fn late_answers_are_named() {
    let spec = long_link(radio(0));
    let mut world = make(&spec, 1);
    world.explain(&spec, FlowIx(0)).unwrap();
    drive::to_end(&mut world);
    let told = world.explanation().unwrap();
    let attempts = told.hops[0].attempts.as_ref().unwrap();
    assert!(attempts.no_ack > 1000);
    // Answers that the sender would not have received, since it transmits again, come after the time-out too. The answer to the last frame
    // may still be on its way at the end of the run.
    let late = attempts.causes.iter().filter(|(cause, _)| cause.why == FailureCause::AnswerLate);
    assert!(late.clone().all(|(cause, _)| cause.missing == MissingResponse::Ack));
    assert!(late.map(|(_, count)| count).sum::<u64>() + 1 >= attempts.no_ack, "{:?}", attempts.causes);
    let [warning] = &world.result().warnings[..] else { panic!("{:?}", world.result().warnings) };
    assert!(warning.starts_with("a and b are 25.00 km apart"), "{warning}");
    // 9000 ns there and back.
    assert!(warning.contains("awaited from up to 1.35 km"), "{warning}");
    assert!(warning.contains("expected radio.coverage_class = 53"), "{warning}");
    for radio in [radio(53), each_link()] {
        assert_eq!(run(&long_link(radio), 1).warnings, [""; 0]);
    }
    assert_eq!(run(&long_link(radio(52)), 1).warnings.len(), 1);
}

/// Frames that are lost on a long link after their time-out count with the reason of their loss, and those that arrive do not.
#[test]
fn a_frame_lost_after_its_time_out_was_no_late_answer() {
    let mut spec = long_link(radio(0));
    spec.radios[0].phy.frame_loss = 0.25;
    let mut world = make(&spec, 1);
    world.explain(&spec, FlowIx(0)).unwrap();
    drive::to_end(&mut world);
    let told = world.explanation().unwrap();
    let attempts = told.hops[0].attempts.as_ref().unwrap();
    let of = |why| {
        attempts.causes.iter().filter(|(cause, _)| cause.why == why).map(|(_, count)| count).sum::<u64>()
    };
    let (late, noise) = (of(FailureCause::AnswerLate), of(FailureCause::Noise));
    assert!(late + noise + 1 >= attempts.no_ack, "{:?}", attempts.causes);
    // A quarter, at five standard errors.
    let (share, frames) = (noise as f64 / attempts.no_ack as f64, attempts.no_ack as f64);
    assert!((share - 0.25).abs() < 5.0 * (0.25 * 0.75 / frames).sqrt(), "{share} of {frames}");
}

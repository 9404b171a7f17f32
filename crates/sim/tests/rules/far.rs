//! Long links: 25 km are 83391 ns of light.

use airfair_sim::air::Outcome;
use airfair_sim::ids::StationIx;
use airfair_sim::record::FrameKind::{Ack, Data};
use airfair_sim::spec::{GainSpec, RadioSpec};
use airfair_units::Db;

use crate::support::rig::*;
use crate::support::*;

fn radio(class: u8) -> RadioSpec {
    let mut radio = by_matrix(dot11a(54, 400.0, 550.0));
    radio.mac.coverage_class = class;
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

/// A saturated 25 km link. 1500 B of payload are 1564 B of PSDU: (16 + 12512 + 6) / 216 = 59 symbols, 256 us. A cycle:
/// 256 + 83.391 + 16 + 28 + 83.391 + DIFS 352 + 7.5 slots of 168 = 2078.782 us, 5.773 Mbit/s.
///
/// In 10 s 4810 back-offs of a standard deviation of 774 us: 0.5 % at five standard errors.
#[test]
fn goodput_over_25_km() {
    let mut spec = world(radio(53), 10);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 25_000.0, 0.0));
    spec.gains = [(a, b), (b, a)].map(|(from, to)| GainSpec { from, to, gain: Db(-75.0) }).to_vec();
    flow(&mut spec, "f", a, b, saturating(1500));
    let result = run(&spec, 1);
    let mbps = result.flows[0].goodput_bps / 1e6;
    assert!((mbps / 5.7726 - 1.0).abs() < 0.027, "{mbps}");
    assert_eq!(result.stations[0].counters.no_ack, 0);
}

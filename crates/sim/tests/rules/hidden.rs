//! Links that do not work both ways, hidden stations, duplicates.

use airfair_sim::air::Outcome;
use airfair_sim::ids::StationIx;
use airfair_sim::record::FrameKind::{Ack, Data};
use airfair_sim::record::Loss;
use airfair_sim::spec::{GainSpec, WorldSpec};
use airfair_units::{Db, Dbm};

use crate::support::rig::*;
use crate::support::*;

/// `b` hears `a`, `a` does not hear `b`. Attempts come every 1582 us (1310 + 222 + 50); `b` answers 10 us after one for
/// 304 us, beyond the beginning of the next one: it hears attempts 1, 3, 5, 7. One packet arrives, and is given up.
#[test]
fn a_link_that_works_one_way() {
    let radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    let mut rig = Rig::new(&[radio], &[("a", 0, 0.0), ("b", 0, 0.0)], &[(0, 1, -60.0)], 1);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(20_000_000);
    assert_eq!(starts(&trace, 0).len(), 7);
    assert_eq!(starts(&trace, 1), [2_320_000, 5_484_000, 8_648_000, 11_812_000]);
    assert_eq!(losses(&trace, 1), [(Data, 0, Loss::Transmitting); 3]);
    assert_eq!(rig.diary.got, [(2_310_000, 1, 0)]);
    assert_eq!(rig.air.counters(StationIx(1)).duplicates, 3);
    assert_eq!(rig.diary.done[0].3, Outcome::RetryLimit);
    // The ACKs are lost at `a`, though no station hears `b`.
    assert_eq!(losses(&trace, 0), [(Ack, 1, Loss::OutOfReach); 4]);
}

/// `j` hears no station and is heard by the sender `s` only, as strong as the ACK. It sends 2000000..3280000, while `s` transmits and then
/// waits for the ACK (2320000..2624000): lost. Time-out at 2310000 + 222000; the medium is idle at 3280000; DIFS. The receiver knows the
/// number and the retry bit, acknowledges again, and indicates nothing.
#[test]
fn a_lost_ack_makes_no_duplicate() {
    let radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    let stations = [("s", 0, 0.0), ("r", 0, 0.0), ("j", 0, 0.0)];
    let powers = [both(0, 1, -60.0).to_vec(), vec![(2, 0, -60.0)]].concat();
    let mut rig = Rig::new(&[radio], &stations, &powers, 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(2_000_000, 2, 100);
    rig.send(4_000_000, 0, 1, 1500);
    let trace = rig.run(20_000_000);
    let exchange: Vec<_> = story(&trace).into_iter().filter(|f| f.1 != 2).collect();
    let expected = [
        (Data, 0, 1_000_000, 2_310_000),
        (Ack, 1, 2_320_000, 2_624_000),
        (Data, 0, 3_330_000, 4_640_000),
        (Ack, 1, 4_650_000, 4_954_000),
        (Data, 0, 5_004_000, 6_314_000),
        (Ack, 1, 6_324_000, 6_628_000),
    ];
    assert_eq!(exchange, expected);
    assert_eq!(timeouts(&trace, 0)[0].0, 2_532_000);
    assert_eq!(losses(&trace, 0), [(Ack, 1, Loss::PreambleDrowned)]);
    let sent: Vec<_> =
        frames(&trace).iter().filter(|f| f.kind == Data).map(|f| (f.sequence, f.retry)).collect();
    assert_eq!(sent, [(1, false), (1, true), (2, false)]);
    assert_eq!(rig.air.counters(StationIx(1)).duplicates, 1);
    assert_eq!(rig.diary.got, [(2_310_000, 1, 0), (6_314_000, 1, 2)]);
}

/// Numbers come round after 4096 frames: a frame with the number of the last one that is no retry is new.
#[test]
fn a_number_that_has_come_round_is_no_duplicate() {
    let radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
    let powers = [both(0, 1, -60.0), both(0, 2, -60.0)].concat();
    let mut rig = Rig::new(&[radio], &stations, &powers, 1);
    rig.send(1_000_000, 0, 1, 100);
    for _ in 0..4095 {
        rig.send(1_000_000, 0, 2, 0);
    }
    let last = rig.send(1_000_000, 0, 1, 100);
    let trace = rig.run(10_000_000_000);
    let to_b: Vec<_> = frames(&trace)
        .iter()
        .filter(|f| f.receiver == Some(StationIx(1)))
        .map(|f| (f.sequence, f.retry))
        .collect();
    assert_eq!(to_b, [(1, false), (1, false)]);
    assert_eq!(rig.diary.got.iter().filter(|g| g.1 == 1).map(|g| g.2).collect::<Vec<_>>(), [0, last]);
}

/// A response that has begun is awaited beyond the time-out; if it fails, the attempt has failed at its end. Here the ACK
/// locks (2320000), `j` destroys it from 2400000 on, it ends at 2624000.
#[test]
fn an_ack_that_has_begun_is_awaited() {
    let radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    let stations = [("s", 0, 0.0), ("r", 0, 0.0), ("j", 0, 0.0)];
    let powers = [both(0, 1, -60.0).to_vec(), vec![(2, 0, -60.0)]].concat();
    let mut rig = Rig::new(&[radio], &stations, &powers, 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(2_400_000, 2, 0);
    let trace = rig.run(20_000_000);
    assert_eq!(timeouts(&trace, 0)[0].0, 2_624_000);
    // EIFS after the failure: 2624000 + 364000; `j` is silent since 2880000.
    assert_eq!(starts(&trace, 0)[1], 2_988_000);
}

/// `c` hears `a`, the addressee `b` does not: every frame is lost at `b`, out of reach, and counted.
#[test]
fn a_frame_that_its_addressee_cannot_hear_is_lost() {
    for powers in [vec![], vec![(0, 2, -60.0)], vec![(0, 2, -60.0), (0, 1, -90.0)]] {
        let radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
        let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
        let mut rig = Rig::new(&[radio], &stations, &powers, 1);
        rig.send(1_000_000, 0, 1, 1500);
        let trace = rig.run(20_000_000);
        assert_eq!(losses(&trace, 1), [(Data, 0, Loss::OutOfReach); 7], "{powers:?}");
        assert_eq!(rig.air.counters(StationIx(1)).lost[0], 7);
    }
}

fn matrix_world(seconds: u64, names: &[&str], gains: &[(usize, usize, f64)]) -> WorldSpec {
    let mut spec = world(by_matrix(dot11b(400.0, 550.0)), seconds);
    for name in names {
        node(&mut spec, name, 0.0, 0.0);
    }
    spec.gains = gains.iter().map(|&(from, to, dbm)| GainSpec { from, to, gain: Db(dbm - 15.0) }).collect();
    spec
}

/// `j` talks all the time to `k`; `s` does not sense it (-76 dBm, it senses from -75 on) but loses most ACKs (-70 dBm) to
/// it. What was delivered and given up by the sender is no drop.
#[test]
fn a_packet_that_arrived_and_was_given_up_is_no_drop() {
    let gains = [both(0, 1, -70.0), both(2, 3, -60.0), [(2, 0, -76.0), (2, 0, -76.0)]].concat();
    let mut spec = matrix_world(5, &["s", "r", "j", "k"], &gains);
    spec.radios[0].phy.energy_detect = Dbm(-75.0);
    spec.radios[0].phy.preamble_detect = Dbm(-75.0);
    flow(&mut spec, "victim", 0, 1, saturating(1500));
    flow(&mut spec, "noise", 2, 3, saturating(1500));
    let result = run(&spec, 1);
    let (s, r) = (&result.stations[0].counters, &result.stations[1].counters);
    assert!(s.given_up > 20 && r.duplicates > 100, "{} {}", s.given_up, r.duplicates);
    assert_eq!(result.ends.dropped.values().sum::<u64>(), 0, "every packet has arrived at its first attempt");
    let ends = &result.ends;
    assert_eq!(ends.made, ends.delivered + ends.queued + ends.in_mac);
}

/// Two stations that do not hear each other: their frames overlap at the hub. With RTS/CTS only the RTS do.
///
/// Without RTS an attempt survives if the other one does not start within two frames' time (2620 us); back-offs of up to
/// 620 us make that rare until the windows have grown.
#[test]
fn hidden_stations_need_rts() {
    let gains = [both(0, 1, -60.0), both(2, 1, -60.0)].concat();
    let mut spec = matrix_world(10, &["left", "hub", "right"], &gains);
    flow(&mut spec, "l", 0, 1, saturating(1500));
    flow(&mut spec, "r", 2, 1, saturating(1500));
    let plain = run(&spec, 1);
    spec.radios[0] = with_rts(spec.radios[0].clone());
    let guarded = run(&spec, 1);
    let share = |r: &airfair_sim::measure::summary::RunResult| {
        let lost = r.stations[0].counters.no_ack + r.stations[2].counters.no_ack;
        let sent = r.stations[0].counters.sent[2] + r.stations[2].counters.sent[2];
        lost as f64 / sent as f64
    };
    assert!(share(&plain) > 0.4, "{}", share(&plain));
    assert!(share(&guarded) < 0.02, "{}", share(&guarded));
    assert!(guarded.aggregate_goodput_bps() > plain.aggregate_goodput_bps());
    // In one room they share the medium in peace.
    spec.gains.push(GainSpec { from: 0, to: 2, gain: Db(-75.0) });
    spec.gains.push(GainSpec { from: 2, to: 0, gain: Db(-75.0) });
    spec.radios[0].mac.rts_threshold = airfair_units::Bytes(2347);
    let open = run(&spec, 1);
    assert!(share(&open) < 0.1, "{}", share(&open));
    assert!(open.aggregate_goodput_bps() > 1.4 * plain.aggregate_goodput_bps());
}

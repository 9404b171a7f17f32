//! Lock, capture, losses and their reasons. `r` is the receiver; `a` is at -60 dBm unless stated; `a` and `b` do not hear each other. DATA
//! take 1310 us.

use airfair_sim::ids::StationIx;
use airfair_sim::record::{FrameKind, Loss};
use airfair_sim::spec::{ErrorModel, Interference, LockOn, RadioSpec, Sensitivity};
use airfair_units::{Db, Dbm, Rate, Span};

use crate::support::rig::*;
use crate::support::*;

const TRIO: [At; 3] = [("r", 0, 0.0), ("a", 0, 0.0), ("b", 0, 0.0)];

fn radio() -> RadioSpec {
    let mut radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    radio.mac.short_retry_limit = 1;
    radio
}

/// `a` sends to `r` at 1000000 with one power, `b` later with another. What `r` received (senders), and what it lost.
fn two(radio: RadioSpec, a_dbm: f64, b_dbm: f64, b_at: u64) -> (Vec<u32>, Vec<(u32, Loss)>) {
    let mut rig = Rig::new(&[radio], &TRIO, &[(1, 0, a_dbm), (2, 0, b_dbm)], 1);
    rig.send(1_000_000, 1, 0, 1500);
    rig.send(b_at, 2, 0, 1500);
    let trace = rig.run(20_000_000);
    assert_eq!(rig.air.power(StationIx(0)).0, 0, "nothing is left on the air");
    let received = receptions(&trace, 0).into_iter().map(|r| r.1).collect();
    (received, losses(&trace, 0).into_iter().map(|l| (l.1, l.2)).collect())
}

#[test]
fn a_weaker_frame_does_not_disturb() {
    assert_eq!(two(radio(), -60.0, -75.0, 1_500_000), (vec![1], vec![(2, Loss::LockedOn(0))]));
}

#[test]
fn without_relock_a_stronger_frame_destroys_both() {
    let lost = vec![(1, Loss::Interference(Some(1))), (2, Loss::LockedOn(0))];
    assert_eq!(two(radio(), -60.0, -45.0, 1_500_000), (vec![], lost));
}

/// 12 dB are enough for 10, 9 dB are not. The preamble has been listened to for 4 us.
#[test]
fn with_relock_a_stronger_frame_takes_over() {
    let mut radio = radio();
    radio.phy.relock = Some(Db(10.0));
    for b_at in [1_004_000, 1_500_000] {
        assert_eq!(two(radio.clone(), -60.0, -48.0, b_at), (vec![2], vec![(1, Loss::LockTaken(1))]));
        let lost = vec![(1, Loss::Interference(Some(1))), (2, Loss::LockedOn(0))];
        assert_eq!(two(radio.clone(), -60.0, -51.0, b_at), (vec![], lost));
    }
}

/// Within the time that a preamble is listened to the stronger one wins without `relock`; at its end no more.
#[test]
fn a_stronger_preamble_wins_while_one_is_listened_to() {
    assert_eq!(two(radio(), -60.0, -48.0, 1_003_999), (vec![2], vec![(1, Loss::LockTaken(1))]));
    let lost = vec![(1, Loss::Interference(Some(1))), (2, Loss::LockedOn(0))];
    assert_eq!(two(radio(), -60.0, -48.0, 1_004_000), (vec![], lost));
}

/// In the same moment it does not matter which one is handled first: the stronger one locks.
#[test]
fn of_two_simultaneous_preambles_the_stronger_one_locks() {
    for (a, b) in [(-60.0, -48.0), (-48.0, -60.0)] {
        let (received, lost) = two(radio(), a, b, 1_000_000);
        assert_eq!(received, [if a > b { 1 } else { 2 }]);
        assert_eq!(lost.len(), 1);
    }
}

/// 3 dB apart neither stands out by the 4 dB that a lock needs; 5 dB apart one locks, and is lost to the other (10 dB).
#[test]
fn preambles_drown_each_other() {
    let lost = vec![(1, Loss::PreambleDrowned), (2, Loss::PreambleDrowned)];
    assert_eq!(two(radio(), -60.0, -60.0, 1_000_000), (vec![], lost.clone()));
    assert_eq!(two(radio(), -60.0, -63.0, 1_002_000), (vec![], lost));
    let (received, lost) = two(radio(), -60.0, -65.0, 1_002_000);
    assert!(received.is_empty());
    assert_eq!(lost, [(1, Loss::Interference(Some(1))), (2, Loss::LockedOn(0))]);
}

#[test]
fn capture_at_ten_decibels() {
    let (received, lost) = two(radio(), -60.0, -69.9, 1_500_000);
    assert_eq!((received, lost[0]), (vec![], (1, Loss::Interference(Some(1)))));
    let (received, lost) = two(radio(), -60.0, -70.1, 1_500_000);
    assert_eq!((received, lost), (vec![1], vec![(2, Loss::LockedOn(0))]));
}

/// Two interferers of -72.9 dBm make -69.9: too much as a sum, not one by one.
#[test]
fn interference_adds_up_or_not() {
    for (how, received) in [(Interference::Sum, 0), (Interference::Strongest, 1)] {
        let mut radio = radio();
        radio.phy.interference = how;
        let stations = [TRIO.to_vec(), vec![("c", 0, 0.0)]].concat();
        let powers = [(1, 0, -60.0), (2, 0, -72.9), (3, 0, -72.9)];
        let mut rig = Rig::new(&[radio], &stations, &powers, 1);
        rig.send(1_000_000, 1, 0, 1500);
        rig.broadcast(1_100_000, 2, 100);
        rig.broadcast(1_200_000, 3, 100);
        let trace = rig.run(20_000_000);
        assert_eq!(receptions(&trace, 0).len(), received);
        if received == 0 {
            assert_eq!(losses(&trace, 0)[0].2, Loss::Interference(Some(2)), "the one that made it worst");
        }
    }
}

/// Interference that was there before the preamble counts as well. `b` at -83 dBm is no preamble (-82), only energy:
/// `a` at -75 dBm locks at 8 dB (4 are needed), and is lost (10 are needed).
#[test]
fn interference_that_was_there_before_counts() {
    for how in [Interference::Sum, Interference::Strongest] {
        let mut radio = radio();
        radio.phy.interference = how;
        let mut rig = Rig::new(&[radio], &TRIO, &[(1, 0, -75.0), (2, 0, -83.0)], 1);
        rig.broadcast(900_000, 2, 100);
        rig.send(1_000_000, 1, 0, 1500);
        let trace = rig.run(20_000_000);
        assert_eq!(receptions(&trace, 0).len(), 0, "{how:?}");
        // No frame came while it was received.
        assert_eq!(losses(&trace, 0), [(FrameKind::Data, 1, Loss::Interference(None))], "{how:?}");
    }
}

/// The receiver is transmitting when `b`'s frame begins, so it does not lock on it. A preamble of -60 dBm does not stand out from that
/// frame's energy (-63 dBm), one of -58 dBm does.
#[test]
fn a_preamble_is_drowned_by_energy() {
    for (a_dbm, loss) in [(-60.0, Loss::PreambleDrowned), (-58.0, Loss::Interference(None))] {
        let mut rig = Rig::new(&[radio()], &TRIO, &[(1, 0, a_dbm), (2, 0, -63.0)], 1);
        // `r` sends 480 us, then `b` 1280, then `a`.
        rig.broadcast(1_000_000, 0, 0);
        rig.broadcast(1_400_000, 2, 100);
        rig.send(1_600_000, 1, 0, 1500);
        let trace = rig.run(20_000_000);
        assert_eq!(losses(&trace, 0), [(FrameKind::Data, 1, loss)]);
    }
}

/// Locking on energy: whatever is sensed occupies the receiver. `b` at -90 dBm lasts from 1000000 to 2280000.
#[test]
fn energy_occupies_the_receiver_if_so_wished() {
    for (lock_on, a_at, lost) in [
        (LockOn::Energy, 2_279_999, vec![(FrameKind::Data, 1, Loss::PreambleDrowned)]),
        (LockOn::Energy, 2_280_000, vec![]),
        (LockOn::Preamble, 1_500_000, vec![]),
    ] {
        let mut radio = radio();
        radio.phy.lock_on = lock_on;
        radio.phy.preamble_detection = Span::ZERO;
        radio.phy.interference = Interference::Strongest;
        let mut rig = Rig::new(&[radio], &TRIO, &[(1, 0, -60.0), (2, 0, -90.0)], 1);
        rig.broadcast(1_000_000, 2, 100);
        rig.send(a_at, 1, 0, 1500);
        assert_eq!(losses(&rig.run(20_000_000), 0), lost, "{lock_on:?} {a_at}");
    }
}

/// Without time to listen the first preamble locks, and a stronger one a nanosecond later only destroys it.
#[test]
fn without_listening_the_first_preamble_wins() {
    let mut radio = radio();
    radio.phy.preamble_detection = Span::ZERO;
    let lost = vec![(1, Loss::Interference(Some(1))), (2, Loss::LockedOn(0))];
    assert_eq!(two(radio, -60.0, -48.0, 1_000_001), (vec![], lost));
}

/// The worst SINR decides on the whole frame, or each interval on itself. 1536 B at 1 Mbit/s take 12480 us; a burst of 480 us at 8 dB above
/// the frame. At -8 dB: bit error rate e^(-22 x 0.158) / 2 = 1.5 %. Over 12288 bits the probability of success is e^-189; over the burst's
/// share of 473 bits it is e^-7.3, one in 1400.
#[test]
fn a_burst_counts_for_the_whole_frame_or_for_its_stretch() {
    let received = |model, burst_dbm| {
        let mut radio = radio();
        radio.phy.error_model = model;
        radio.phy.data_rate = Rate::from_mbps(1);
        let mut count = 0;
        for seed in 0..200 {
            let mut rig =
                Rig::new(std::slice::from_ref(&radio), &TRIO, &[(1, 0, -60.0), (2, 0, burst_dbm)], seed);
            rig.send(1_000_000, 1, 0, 1500);
            rig.broadcast(1_500_000, 2, 0);
            count += receptions(&rig.run(40_000_000), 0).len();
        }
        count
    };
    // At -6 dB: e^(-22 x 0.2512) / 2 = 0.199 %: e^-24.5 for the whole frame, e^-0.942 = 39 % for the stretch: 78 of 200, five
    // standard errors 35.
    assert_eq!(received(ErrorModel::WorstSinr, -54.0), 0);
    assert!(received(ErrorModel::PerChunk, -54.0).abs_diff(78) <= 35);
    assert_eq!(received(ErrorModel::WorstSinr, -52.0), 0);
    assert!(received(ErrorModel::PerChunk, -52.0) <= 3);
}

/// A frame that is strong enough to lock on but too weak for its rate.
#[test]
fn sensitivity_decides_on_a_locked_frame() {
    let mut radio = radio();
    radio.phy.sensitivity = Sensitivity::Level(Dbm(-70.0));
    let (received, lost) = two(radio.clone(), -69.9, -120.0, 5_000_000);
    assert_eq!((received, lost.len()), (vec![1], 1), "what is below the cut-off is out of reach");
    assert_eq!(two(radio, -70.1, -120.0, 5_000_000).1[0], (1, Loss::TooWeak));
}

/// Noise of -93.6 dBm, 4 dB to lock, 10 dB to receive. Alone at -91 dBm (2.6 dB) a preamble drowns in noise, at -85 (8.6 dB) the frame
/// does, also where another signal makes it worse; at -75 only interference can.
#[test]
fn what_noise_alone_would_have_destroyed_is_lost_to_noise() {
    let mut radio = radio();
    radio.phy.noise = Dbm(-93.6);
    radio.phy.preamble_detect = Dbm(-92.0);
    let lost = |a_dbm, b_dbm| two(radio.clone(), a_dbm, b_dbm, 1_500_000).1[0];
    for b_dbm in [-120.0, -88.0] {
        assert_eq!(lost(-91.0, b_dbm), (1, Loss::PreambleInNoise), "{b_dbm}");
        assert_eq!(lost(-85.0, b_dbm), (1, Loss::Noise), "{b_dbm}");
    }
    assert_eq!(lost(-75.0, -80.0), (1, Loss::Interference(Some(1))));
    // Named as in results and tables.
    assert_eq!((Loss::PreambleInNoise.name(), Loss::Noise.name()), ("noise", "noise"));
    assert!(!Loss::PreambleInNoise.ends_with_the_frame());
}

/// 1536 B at 11 Mbit/s and 6.4 dB: a tenth is lost to noise (the table of required SNRs), whatever else happens. A burst through the whole
/// frame, as strong as the noise, takes 3 dB: at 3.4 dB nearly nothing arrives. So of all losses, as many as before are told as noise, with
/// the same draws.
#[test]
fn noise_takes_as_many_frames_beside_an_interferer_as_without() {
    for model in [ErrorModel::WorstSinr, ErrorModel::PerChunk] {
        let mut radio = radio();
        (radio.phy.error_model, radio.phy.noise) = (model, Dbm(-90.0));
        radio.phy.data_rate = Rate::from_mbps(11);
        (radio.phy.preamble_detect, radio.phy.cutoff, radio.phy.lock_sinr) =
            (Dbm(-88.0), Dbm(-100.0), Db(0.0));
        let lost = |b_dbm| {
            let mut lost = [Vec::new(), Vec::new()];
            for seed in 0..300 {
                let powers = [(1, 0, -83.6), (2, 0, b_dbm)];
                let mut rig = Rig::new(std::slice::from_ref(&radio), &TRIO, &powers, seed);
                rig.broadcast(900_000, 2, 1500);
                rig.send(1_000_000, 1, 0, 1500);
                for (kind, from, loss) in losses(&rig.run(40_000_000), 0) {
                    if (kind, from) == (FrameKind::Data, 1) {
                        lost[usize::from(loss != Loss::Noise)].push(seed);
                    }
                }
            }
            lost
        };
        let [alone, none] = lost(-120.0);
        let [noise, interfered] = lost(-90.0);
        // Five standard errors of 30 of 300 are 26.
        assert!(alone.len().abs_diff(30) <= 26 && none.is_empty(), "{model:?} {}", alone.len());
        assert_eq!(noise, alone, "{model:?}");
        assert!(interfered.len() > 200, "{model:?} {}", interfered.len());
    }
}

/// `r` sends 1000000..2280000 and does not hear what comes meanwhile. It is no reception: no EIFS follows at 2810000.
#[test]
fn a_transmitting_station_hears_nothing() {
    let mut rig = Rig::new(&[radio()], &TRIO, &[(1, 0, -60.0)], 1);
    rig.broadcast(1_000_000, 0, 100);
    rig.send(1_500_000, 1, 0, 1500);
    rig.broadcast(2_300_000, 0, 100);
    let trace = rig.run(20_000_000);
    assert_eq!(losses(&trace, 0), [(FrameKind::Data, 1, Loss::Transmitting)]);
    assert_eq!(starts(&trace, 0), [1_000_000, 2_860_000]);
    // Transmitting 2 x 1280, the rest of `a`'s frame is a busy medium: 2280000..2810000.
    let airtime = rig.air.airtime(StationIx(0), airfair_units::Time(20_000_000));
    assert_eq!((airtime.transmit.0, airtime.receive.0, airtime.busy.0), (2_560_000, 0, 530_000));
}

/// `r` has a DIFS of 10 + 2 x 23 = 56 us (coverage class 1), `a` one of 50. `a` sends at 50000; `r` sees it at 65000 at the
/// earliest, has decided at 56000, and leaves the reception.
#[test]
fn an_own_transmission_aborts_a_lock() {
    let mut late = radio();
    late.mac.coverage_class = 1;
    let mut rig = Rig::new(&[late, radio()], &[("r", 0, 0.0), ("a", 1, 0.0)], &[(1, 0, -60.0)], 1);
    rig.broadcast(10_000, 0, 100);
    rig.send(20_000, 1, 0, 1500);
    let trace = rig.run(20_000_000);
    assert_eq!(starts(&trace, 0), [56_000]);
    assert_eq!(losses(&trace, 0), [(FrameKind::Data, 1, Loss::LockAborted)]);
    // Receiving for the first 6 us only; after its own frame (1336000) the rest until 1360000 is a busy medium.
    let airtime = rig.air.airtime(StationIx(0), airfair_units::Time(20_000_000));
    assert_eq!((airtime.transmit.0, airtime.receive.0, airtime.busy.0), (1_280_000, 6_000, 24_000));
}

/// Overhearing hands frames for others up and changes nothing else.
#[test]
fn overhearing_changes_nothing() {
    let run = |overhears| {
        let radio = dot11b(700.0, 800.0);
        let stations = [("a", 0, 0.0), ("b", 0, 200.0), ("c", 0, 400.0)];
        let mut rig = Rig::with_overhearing(&[radio], &stations, &[], 5, overhears);
        for i in 0..20 {
            rig.send(i * 3_000_000, (i % 3) as u32, ((i + 1) % 3) as u32, 700);
        }
        let trace = rig.run(100_000_000);
        (trace, rig.diary.got, rig.diary.done, rig.diary.overheard)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!((&with.0, &with.1, &with.2), (&without.0, &without.1, &without.2));
    assert_eq!((with.3, without.3), (20, 0));
}

/// Two stations 300 m apart send to each other in the same moment: each one's frame arrives (1001 ns later) at a station that is
/// transmitting, whichever was handled first.
#[test]
fn two_that_talk_at_once_are_both_transmitting() {
    for seed in 0..10 {
        let radio = no_back_off(dot11b(700.0, 800.0));
        let mut rig = Rig::new(&[radio], &[("a", 0, 0.0), ("b", 0, 300.0)], &[], seed);
        rig.send(1_000_000, 0, 1, 1500);
        rig.send(1_000_000, 1, 0, 1500);
        let trace = rig.run(2_500_000);
        assert_eq!(losses(&trace, 0), [(FrameKind::Data, 1, Loss::Transmitting)]);
        assert_eq!(losses(&trace, 1), [(FrameKind::Data, 0, Loss::Transmitting)], "seed {seed}");
    }
}

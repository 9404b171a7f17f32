//! EIFS: what starts it, how long it is, what ends it.

use airfair_sim::record::Loss;
use airfair_sim::spec::{Eifs, RadioSpec};
use airfair_units::Rate;

use crate::support::rig::*;
use crate::support::*;

/// `a` and `j` do not hear each other; `c` hears both, `j` 5 dB weaker: `a`'s frame (1000000..2280000) is lost at `c` to
/// `j`'s (1200000..1680000, 36 B). `c` has something to send.
fn after_a_failure(radio: RadioSpec) -> u64 {
    let stations = [("a", 0, 0.0), ("j", 0, 0.0), ("c", 0, 0.0)];
    let mut rig = Rig::new(&[no_back_off(radio)], &stations, &[(0, 2, -60.0), (1, 2, -65.0)], 1);
    rig.broadcast(1_000_000, 0, 100);
    rig.broadcast(1_200_000, 1, 0);
    rig.broadcast(1_300_000, 2, 100);
    let trace = rig.run(10_000_000);
    assert_eq!(losses(&trace, 2)[0].2, Loss::Interference(Some(1)));
    starts(&trace, 2)[0] - 2_280_000
}

/// SIFS 10 + ACK at 1 Mbit/s 304 + DIFS 50, whatever the response rate.
#[test]
fn eifs_at_the_lowest_rate() {
    let mut radio = by_matrix(dot11b(400.0, 550.0));
    assert_eq!(after_a_failure(radio.clone()), 364_000);
    radio.phy.basic_rates = vec![Rate(1_000_000), Rate(11_000_000)];
    assert_eq!(after_a_failure(radio), 364_000);
}

/// SIFS 10 + ACK at 11 Mbit/s (192 + 112/11 = 203) + DIFS 50.
#[test]
fn eifs_at_the_response_rate() {
    let mut radio = by_matrix(dot11b(400.0, 550.0));
    radio.mac.eifs = Eifs::ResponseRate;
    radio.phy.basic_rates = vec![Rate(1_000_000), Rate(11_000_000)];
    assert_eq!(after_a_failure(radio), 263_000);
}

#[test]
fn no_eifs() {
    let mut radio = by_matrix(dot11b(400.0, 550.0));
    radio.mac.eifs = Eifs::Off;
    radio.mac.eifs_on_energy = true;
    assert_eq!(after_a_failure(radio), 50_000);
}

/// As a NAV, EIFS is followed by a DIFS: 364 + 50.
#[test]
fn eifs_as_a_nav() {
    let mut radio = by_matrix(dot11b(400.0, 550.0));
    radio.mac.eifs_as_nav = true;
    assert_eq!(after_a_failure(radio), 414_000);
}

/// In 802.11a a good frame can end within an EIFS of 16 + 44 + 34 = 94 us. `a`'s frame (208 us) fails at 1208000; `g` sends
/// 37 B at 54 Mbit/s (28 us, 1218000..1246000), then `c` goes a DIFS of 34 us later.
fn then_a_good_frame(as_nav: bool, good: bool, rate: Eifs) -> u64 {
    let mut slow = no_back_off(by_matrix(dot11a(54, 400.0, 550.0)));
    slow.mac.eifs_as_nav = as_nav;
    slow.mac.eifs = rate;
    let mut fast = slow.clone();
    fast.phy.broadcast_rate = Rate::from_mbps(54);
    let stations = [("a", 0, 0.0), ("j", 0, 0.0), ("c", 0, 0.0), ("g", 1, 0.0)];
    let powers = [(0, 2, -60.0), (1, 2, -65.0), (3, 2, -60.0)];
    let mut rig = Rig::new(&[slow, fast], &stations, &powers, 1);
    rig.broadcast(1_000_000, 0, 100);
    rig.broadcast(1_050_000, 1, 0);
    rig.broadcast(1_060_000, 2, 100);
    if good {
        rig.broadcast(1_218_000, 3, 1);
    }
    starts(&rig.run(10_000_000), 2)[0]
}

#[test]
fn a_good_frame_ends_the_eifs() {
    assert_eq!(then_a_good_frame(false, false, Eifs::LowestRate), 1_208_000 + 94_000);
    assert_eq!(then_a_good_frame(false, true, Eifs::LowestRate), 1_246_000 + 34_000);
    // At 24 Mbit/s: 16 + 28 + 34 = 78.
    assert_eq!(then_a_good_frame(false, false, Eifs::ResponseRate), 1_208_000 + 78_000);
}

/// Kept as a NAV it lasts: 94 us, then a DIFS.
#[test]
fn a_good_frame_does_not_end_an_eifs_that_is_a_nav() {
    assert_eq!(then_a_good_frame(true, true, Eifs::LowestRate), 1_208_000 + 94_000 + 34_000);
}

/// A signal too weak to be detected as a preamble, strong enough to be sensed (1000000..2280000).
#[test]
fn energy_alone_starts_an_eifs_if_so_wished() {
    for (on_energy, wait) in [(false, 50_000), (true, 364_000)] {
        let mut radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
        radio.mac.eifs_on_energy = on_energy;
        let mut rig = Rig::new(&[radio], &[("a", 0, 0.0), ("c", 0, 0.0)], &[(0, 1, -90.0)], 1);
        rig.broadcast(1_000_000, 0, 100);
        rig.broadcast(1_300_000, 1, 100);
        assert_eq!(starts(&rig.run(10_000_000), 1), [2_280_000 + wait]);
    }
}

/// Two preambles drown each other: no reception began, so that none failed.
#[test]
fn a_preamble_that_was_not_detected_starts_none() {
    let radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    let stations = [("a", 0, 0.0), ("j", 0, 0.0), ("c", 0, 0.0)];
    let mut rig = Rig::new(&[radio], &stations, &[(0, 2, -60.0), (1, 2, -60.0)], 1);
    rig.broadcast(1_000_000, 0, 100);
    rig.broadcast(1_000_000, 1, 100);
    rig.broadcast(1_300_000, 2, 100);
    assert_eq!(starts(&rig.run(10_000_000), 2), [2_330_000]);
}

/// EIFS kept as a NAV withholds a CTS until 2280000 + 364000 = 2644000. An RTS takes 352 us and is answered 10 us later: the response to
/// one that begins at 2281000 is due at 2643000, that to one at 2282000 at 2644000.
#[test]
fn an_eifs_that_is_a_nav_withholds_a_cts() {
    for (start, cts) in [(2_281_000, vec![]), (2_282_000, vec![2_644_000])] {
        let mut radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
        radio.mac.eifs_as_nav = true;
        let mut b = with_rts(radio.clone());
        b.mac.short_retry_limit = 1;
        let stations = [("a", 0, 0.0), ("j", 0, 0.0), ("c", 0, 0.0), ("b", 1, 0.0)];
        let powers = [(0, 2, -60.0), (1, 2, -65.0), (3, 2, -60.0)];
        let mut rig = Rig::new(&[radio, b], &stations, &powers, 1);
        rig.broadcast(1_000_000, 0, 100);
        rig.broadcast(1_200_000, 1, 0);
        rig.send(start, 3, 2, 1500);
        assert_eq!(starts(&rig.run(10_000_000), 2), cts);
    }
}

//! Virtual carrier sense: who sets it, who resets it, who keeps silent for it.

use airfair_sim::ids::StationIx;
use airfair_sim::record::FrameKind::{Ack, Cts, Data, Rts};
use airfair_sim::record::Record;
use airfair_sim::spec::RadioSpec;

use crate::support::rig::*;
use crate::support::*;

fn one_attempt(nav_reset: bool) -> RadioSpec {
    let mut radio = no_back_off(with_rts(by_matrix(dot11b(400.0, 550.0))));
    radio.mac.short_retry_limit = 1;
    radio.mac.nav_reset = nav_reset;
    radio
}

/// `a` sends an RTS (1000000..1352000) with 1948 us in its duration field; `c` hears it and has a packet to send.
fn bystander(nav_reset: bool, answered: bool) -> (Rig, u64) {
    let mut powers = vec![(0, 2, -60.0)];
    if answered {
        powers.extend(both(0, 1, -60.0));
    }
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
    let mut rig = Rig::new(&[one_attempt(nav_reset)], &stations, &powers, 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(1_100_000, 2, 100);
    let trace = rig.run(10_000_000);
    let start = starts(&trace, 2)[0];
    (rig, start)
}

/// No CTS, no data: after 2 SIFS 20 + CTS 304 + PHY start 192 + 2 slots 40 = 556 us the NAV is reset; then DIFS.
#[test]
fn a_nav_that_nothing_follows_is_reset() {
    let (rig, start) = bystander(true, false);
    assert_eq!(start, 1_352_000 + 556_000 + 50_000);
    assert_eq!(rig.air.counters(StationIx(2)).nav_extended, 0);
}

#[test]
fn without_the_reset_it_lasts() {
    assert_eq!(bystander(false, false).1, 1_352_000 + 1_948_000 + 50_000);
}

/// `c` does not hear the CTS, but the data that follow it: DATA 1676000..2986000, ACK until 3300000.
#[test]
fn a_nav_that_data_follow_lasts() {
    for nav_reset in [true, false] {
        let (rig, start) = bystander(nav_reset, true);
        assert_eq!(start, 3_300_000 + 50_000);
        assert_eq!(rig.air.counters(StationIx(2)).nav_extended, u64::from(nav_reset));
        assert_eq!(rig.diary.got.len(), 1);
    }
}

/// The numbers of 802.11a: RTS 28, NAV 352; 2 x 16 + 28 + 20 + 2 x 9 = 98 us.
#[test]
fn the_reset_in_802_11a() {
    let mut radio = no_back_off(with_rts(by_matrix(dot11a(54, 400.0, 550.0))));
    radio.mac.short_retry_limit = 1;
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
    let mut rig = Rig::new(&[radio], &stations, &[(0, 2, -60.0)], 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(1_010_000, 2, 100);
    assert_eq!(starts(&rig.run(10_000_000), 2), [1_028_000 + 98_000 + 34_000]);
}

/// `c` hears only the CTS: 1362000..1666000, which reserves 1634 us.
#[test]
fn a_cts_sets_the_nav_for_good() {
    let powers = [both(0, 1, -60.0).to_vec(), vec![(1, 2, -60.0)]].concat();
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
    let mut rig = Rig::new(&[one_attempt(true)], &stations, &powers, 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(1_400_000, 2, 100);
    let trace = rig.run(10_000_000);
    // The ACK of 2996000..3300000 is heard too; NAV and ACK end together.
    assert_eq!(starts(&trace, 2), [3_350_000]);
}

/// `d` reserves the medium around `r` from 1352000 to 3300000. `a`, which does not hear `d`, sends to `r` in this time.
fn asked_under_nav(checks_nav: bool, a_uses_rts: bool) -> (Rig, airfair_sim::record::Trace) {
    let mut d = one_attempt(false);
    d.mac.cts_needs_idle_nav = checks_nav;
    let mut a = d.clone();
    a.mac.short_retry_limit = 7;
    if !a_uses_rts {
        a.mac.rts_threshold = airfair_units::Bytes(2347);
    }
    let powers = [both(3, 2, -60.0).to_vec(), vec![(0, 2, -60.0)]].concat();
    let stations = [("d", 0, 0.0), ("e", 0, 0.0), ("r", 0, 0.0), ("a", 1, 0.0)];
    let mut rig = Rig::new(&[d, a], &stations, &powers, 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.send(1_400_000, 3, 2, 100);
    let trace = rig.run(6_000_000);
    (rig, trace)
}

/// RTS end at 1752000, 2376000, 3000000 (624 us from one to the next: 352 + 222 + 50) and are not answered; the fourth ends
/// at 3624000 and is.
#[test]
fn a_cts_is_withheld_while_the_nav_is_set() {
    let (rig, trace) = asked_under_nav(true, true);
    let withheld: Vec<_> = trace
        .iter()
        .filter_map(|&(t, ref r)| match *r {
            Record::CtsWithheld { at, to, nav_until } => Some((t.0, at.0, to.0, nav_until.0)),
            _ => None,
        })
        .collect();
    let one = |t| (t, 2, 3, 3_300_000);
    assert_eq!(withheld, [one(1_752_000), one(2_376_000), one(3_000_000)]);
    assert_eq!(rig.air.counters(StationIx(2)).cts_withheld, 3);
    assert_eq!(starts(&trace, 2)[0], 3_634_000);
    assert_eq!(rig.diary.got.len(), 1);
}

#[test]
fn a_cts_may_ignore_the_nav() {
    let (rig, trace) = asked_under_nav(false, true);
    assert_eq!(rig.air.counters(StationIx(2)).cts_withheld, 0);
    assert_eq!(starts(&trace, 2)[0], 1_762_000);
}

/// DATA, 136 B at 11 Mbit/s: 192 + 99 us. The ACK comes a SIFS later whatever the NAV says.
#[test]
fn an_ack_ignores_the_nav() {
    let (_, trace) = asked_under_nav(true, false);
    let story: Vec<_> = story(&trace).into_iter().filter(|f| f.1 >= 2).collect();
    assert_eq!(story, [(Data, 3, 1_400_000, 1_691_000), (Ack, 2, 1_701_000, 2_005_000)]);
}

/// `r` answers an RTS, and no data come since its CTS is not heard. It has a packet of its own: the RTS was for `r`, so that
/// no NAV keeps it back. CTS 1362000..1666000, DIFS.
#[test]
fn the_addressee_sets_no_nav() {
    let mut rig = Rig::new(&[one_attempt(true)], &[("a", 0, 0.0), ("r", 0, 0.0)], &[(0, 1, -60.0)], 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.broadcast(1_100_000, 1, 100);
    let trace = rig.run(10_000_000);
    assert_eq!(story(&trace)[0], (Rts, 0, 1_000_000, 1_352_000));
    assert_eq!(story(&trace)[1], (Cts, 1, 1_362_000, 1_666_000));
    assert_eq!(starts(&trace, 1)[1], 1_716_000);
    assert_eq!(rig.air.airtime(StationIx(1), airfair_units::Time(10_000_000)).nav.0, 0);
}

/// A shorter reservation does not shorten a longer one; time under NAV alone is counted. `c` hears `a`'s RTS (NAV until
/// 3300000) and then a data frame of `d` (1400000..1691000, NAV until 2005000).
#[test]
fn a_shorter_reservation_changes_nothing() {
    let mut d = one_attempt(false);
    d.mac.rts_threshold = airfair_units::Bytes(2347);
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0), ("d", 1, 0.0)];
    let mut rig = Rig::new(&[one_attempt(false), d], &stations, &[(0, 2, -60.0), (3, 2, -60.0)], 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.send(1_400_000, 3, 1, 100);
    rig.broadcast(1_500_000, 2, 100);
    assert_eq!(starts(&rig.run(10_000_000), 2), [3_350_000]);
    // 3300000 - 1352000 less the 291000 of the data frame.
    assert_eq!(rig.air.airtime(StationIx(2), airfair_units::Time(10_000_000)).nav.0, 1_657_000);
}

/// CTS withheld for the carrier: energy that cannot be decoded lasts over the moment of the CTS.
#[test]
fn a_cts_may_need_an_idle_carrier() {
    for (needs, cts) in [(false, 1), (true, 0)] {
        let mut radio = one_attempt(true);
        radio.mac.cts_needs_idle_carrier = needs;
        let stations = [("a", 0, 0.0), ("r", 0, 0.0), ("x", 0, 0.0)];
        let mut rig = Rig::new(&[radio], &stations, &[(0, 1, -60.0), (2, 1, -90.0)], 1);
        rig.send(1_000_000, 0, 1, 1500);
        rig.broadcast(1_300_000, 2, 100);
        let trace = rig.run(10_000_000);
        assert_eq!(starts(&trace, 1).len(), cts);
        assert_eq!(rig.air.counters(StationIx(1)).cts_withheld, 1 - cts as u64);
    }
}

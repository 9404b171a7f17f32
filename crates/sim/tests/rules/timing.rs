//! The exchange, the same slot, and what is sensed when.

use airfair_sim::air::Outcome;
use airfair_sim::record::FrameKind::{Ack, Cts, Data, Rts};
use airfair_sim::record::Loss;
use airfair_sim::spec::{AfterTimeout, ResponseTimeout, Traffic};
use airfair_units::{Bytes, Rate, Span};

use crate::support::rig::*;
use crate::support::*;

/// 300 m are 300 / 299792458 s = 1000.69 ns, to the nearest 1001 ns.
#[test]
fn an_exchange_of_four_frames_802_11b() {
    let radio = no_back_off(with_rts(dot11b(400.0, 550.0)));
    let mut rig = Rig::new(&[radio], &[("a", 0, 0.0), ("b", 0, 300.0)], &[], 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(4_000_000);
    let expected = [
        // The medium has been idle for longer than DIFS: at once.
        (Rts, 0, 1_000_000, 1_352_000),
        // + 1001 on the way + SIFS 10000.
        (Cts, 1, 1_363_001, 1_667_001),
        (Data, 0, 1_678_002, 2_988_002),
        (Ack, 1, 2_999_003, 3_303_003),
        // The ACK ends at the sender at 3304004; DIFS 50000, no back-off.
        (Rts, 0, 3_354_004, 3_706_004),
    ];
    assert_eq!(story(&trace)[..5], expected);
    // Duration fields: 3 SIFS + CTS 304 + DATA 1310 + ACK 304; less SIFS + CTS; SIFS + ACK; nothing.
    let nav: Vec<u32> = frames(&trace).iter().take(4).map(|f| f.nav_us).collect();
    assert_eq!(nav, [1948, 1634, 314, 0]);
    assert_eq!(rig.diary.got[0], (2_989_003, 1, 0), "the packet arrives with the last bit");
    assert_eq!(rig.diary.done[0].3, Outcome::Delivered);
}

#[test]
fn an_exchange_of_four_frames_802_11a() {
    let radio = no_back_off(with_rts(dot11a(54, 400.0, 550.0)));
    let mut rig = Rig::new(&[radio], &[("a", 0, 0.0), ("b", 0, 300.0)], &[], 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.send(1_000_000, 0, 1, 1500);
    let trace = rig.run(1_430_000);
    let expected = [
        (Rts, 0, 1_000_000, 1_028_000),
        (Cts, 1, 1_045_001, 1_073_001),
        (Data, 0, 1_090_002, 1_338_002),
        (Ack, 1, 1_355_003, 1_383_003),
        // 1384004 + DIFS 34000.
        (Rts, 0, 1_418_004, 1_446_004),
    ];
    assert_eq!(story(&trace), expected);
    // 3 x 16 + 28 + 248 + 28; less 16 + 28; 16 + 28.
    let nav: Vec<u32> = frames(&trace).iter().take(4).map(|f| f.nav_us).collect();
    assert_eq!(nav, [352, 308, 44, 0]);
}

/// The same exchange through the whole stack: 1472 B of payload are 1500 B of IP. The world begins with an idle medium that has not been
/// idle for a DIFS yet.
#[test]
fn a_flow_starts_at_difs() {
    let traffic = Traffic::ConstantRate { rate: Rate(1_177_600), packet: Bytes(1472), gap_jitter: 0.0 };
    let mut world = make(&chain(dot11b(400.0, 550.0), 1, 300.0, traffic, 1), 1);
    world.start_trace();
    airfair_sim::engine::drive::Steppable::advance(&mut world, airfair_units::Time(25_000_000));
    let trace = world.take_trace();
    let expected = [
        (Data, 0, 50_000, 1_360_000),
        (Ack, 1, 1_371_001, 1_675_001),
        // A packet every 1472 x 8 / 1177600 s = 10 ms, on an idle medium whose back-off has long run out.
        (Data, 0, 10_000_000, 11_310_000),
        (Ack, 1, 11_321_001, 11_625_001),
        (Data, 0, 20_000_000, 21_310_000),
        (Ack, 1, 21_321_001, 21_625_001),
    ];
    assert_eq!(story(&trace), expected);
}

fn collision(after: AfterTimeout, timeout: ResponseTimeout) -> (Rig, Vec<u64>, Vec<u64>) {
    let mut radio = no_back_off(dot11b(700.0, 800.0));
    radio.mac.after_timeout = after;
    radio.mac.response_timeout = timeout;
    let stations = [("a", 0, -300.0), ("hub", 0, 0.0), ("b", 0, 300.0)];
    let mut rig = Rig::new(&[radio], &stations, &[], 1);
    rig.send(1_000_000, 0, 1, 1500);
    rig.send(1_000_000, 2, 1, 1500);
    let trace = rig.run(30_000_000);
    assert_eq!(losses(&trace, 1).len(), 14);
    assert!(losses(&trace, 1).iter().all(|l| l.2 == Loss::PreambleDrowned), "equally strong, same moment");
    let waits: Vec<u64> = timeouts(&trace, 0).iter().map(|t| t.0).collect();
    assert_eq!(starts(&trace, 0), starts(&trace, 2));
    let starts = starts(&trace, 0);
    (rig, starts, waits)
}

/// Two stations that never draw a slot collide to the end: both give up after seven attempts.
///
/// An attempt: DATA 1310 + SIFS 10 + slot 20 + PHY start 192 = 1532 us to the time-out, DIFS 50 to the next.
#[test]
fn the_same_slot_collides_until_both_give_up() {
    let (rig, starts, waits) = collision(AfterTimeout::Difs, ResponseTimeout::PhyStart);
    let expected = [1_000_000, 2_582_000, 4_164_000, 5_746_000, 7_328_000, 8_910_000, 10_492_000];
    assert_eq!(starts, expected);
    assert_eq!(waits[0], 2_532_000);
    assert_eq!(waits[6], 12_024_000);
    assert!(rig.diary.got.is_empty());
    let ends: Vec<_> = rig.diary.done.iter().map(|d| (d.0, d.3)).collect();
    assert_eq!(ends, [(12_024_000, Outcome::RetryLimit); 2]);
}

/// Counting at the time-out: the medium has been idle for a DIFS since 2312001 + 50000, so the next attempt is at 2532000.
#[test]
fn the_back_off_may_count_from_the_timeout() {
    let (_, starts, waits) = collision(AfterTimeout::Immediate, ResponseTimeout::PhyStart);
    assert_eq!(starts[..2], [1_000_000, 2_532_000]);
    assert_eq!(waits[0], 2_532_000);
}

/// Waiting for the whole response: DATA 1310 + SIFS 10 + slot 20 + ACK 304 = 1644 us.
#[test]
fn the_timeout_may_span_the_whole_response() {
    let (_, starts, waits) = collision(AfterTimeout::Difs, ResponseTimeout::WholeResponse);
    assert_eq!(waits[0], 2_644_000);
    assert_eq!(starts[1], 2_694_000);
}

/// Two stations 600 m apart whose back-offs end at the same moment: the other's signal comes 2001 ns too late to be seen.
#[test]
fn propagation_delay_does_not_save_the_same_slot() {
    let radio = no_back_off(dot11b(700.0, 800.0));
    let mut rig = Rig::new(&[radio], &[("a", 0, -300.0), ("hub", 0, 0.0), ("b", 0, 300.0)], &[], 1);
    // The hub's frame ends at 1000000 + 1280000; both sides hear the end at 2281001 and go a DIFS later.
    rig.broadcast(1_000_000, 1, 100);
    rig.send(1_500_000, 0, 1, 1500);
    rig.send(1_600_000, 2, 1, 1500);
    let trace = rig.run(4_000_000);
    assert_eq!(starts(&trace, 0)[0], 2_331_001);
    assert_eq!(starts(&trace, 2)[0], 2_331_001);
    assert_eq!(losses(&trace, 1).len(), 2);
}

/// `b` has a DIFS of 10 + 2 x 26 = 62 us (coverage class 2), `a` one of 50 us. Both wait from the start of the world: `a`
/// sends at 50000, its signal is at `b` (300 m) at 51001 and seen there a sensing delay later; `b` decides at 62000.
fn two_that_nearly_meet(sensing_ns: u64) -> (Rig, Vec<u64>) {
    let a = no_back_off(dot11b(700.0, 800.0));
    let mut b = a.clone();
    b.mac.coverage_class = 2;
    b.mac.sensing_delay = Span(sensing_ns);
    let mut rig = Rig::new(&[a, b], &[("a", 0, 0.0), ("b", 1, 300.0)], &[], 1);
    rig.broadcast(10_000, 0, 100);
    rig.broadcast(20_000, 1, 100);
    let trace = rig.run(10_000_000);
    let mut all = starts(&trace, 0);
    all.extend(starts(&trace, 1));
    (rig, all)
}

/// Seen at 51001 + 10999 = 62000, the moment of the decision: `b` holds back until the frame has ended at it
/// (50000 + 1280000 + 1001) and a DIFS of 62 us has passed.
#[test]
fn a_signal_that_came_a_sensing_delay_ago_freezes() {
    let (rig, starts) = two_that_nearly_meet(10_999);
    assert_eq!(starts, [50_000, 1_393_001]);
    assert_eq!(rig.diary.got.len(), 2);
}

/// Seen at 62001: too late, both transmit and neither hears the other.
#[test]
fn a_signal_that_came_later_does_not_freeze() {
    let (rig, starts) = two_that_nearly_meet(11_000);
    assert_eq!(starts, [50_000, 62_000]);
    assert!(rig.diary.got.is_empty());
}

/// No signal is sensed in the moment in which it arrives. `b` decides at 62000 (above); `a` sends `ahead` ns too early for its
/// signal to be at `b` just then.
#[test]
fn a_signal_that_comes_in_the_moment_of_the_decision_does_not_freeze() {
    let meets = |ahead: u64| {
        let a = no_back_off(dot11b(700.0, 800.0));
        let mut b = a.clone();
        b.mac.coverage_class = 2;
        b.mac.sensing_delay = Span::ZERO;
        let mut rig = Rig::new(&[a, b], &[("a", 0, 0.0), ("b", 1, 300.0)], &[], 1);
        rig.broadcast(62_000 - 1_001 - ahead, 0, 100);
        rig.broadcast(20_000, 1, 100);
        starts(&rig.run(10_000_000), 1)[0] == 62_000
    };
    assert!(meets(0));
    assert!(!meets(3));
    assert!(!meets(500));
}

/// ns-2's same slot: `a` has heard `s`, and so has `b`, as far behind it. Both count from the end of what they have heard, so `a`
/// goes one propagation delay before `b`, and its signal is there when `b` goes. All three times are rounded to whole nanoseconds.
#[test]
fn stations_in_a_row_meet_in_the_same_slot() {
    for spacing in 100..400 {
        let mut radio = no_back_off(dot11b(850.0, 900.0));
        radio.mac.sensing_delay = Span::ZERO;
        let at = f64::from(spacing);
        let mut rig = Rig::new(&[radio], &[("s", 0, 0.0), ("a", 0, at), ("b", 0, 2.0 * at)], &[], 1);
        rig.broadcast(1_000_000, 0, 100);
        rig.broadcast(1_500_000, 1, 100);
        rig.broadcast(1_600_000, 2, 100);
        let trace = rig.run(3_000_000);
        // The frame of `s` ends at 2280000; a DIFS and 2 x 390 m later both must have transmitted.
        assert_eq!(starts(&trace, 1).len(), 1);
        let b = starts(&trace, 2)[0];
        assert!(b < 2_280_000 + 50_000 + 2_700, "{spacing} m: {b}");
    }
}

/// A packet that finds a signal on the air that began less than the sensing delay ago cannot know of it: it goes at once
/// (rule: a station decides from the channel as it was one turnaround plus CCA time before). The signal is at `b` at 1001001
/// and seen from 1016001 on.
#[test]
fn immediate_access_senses_no_sooner_than_back_off_does() {
    let radio = no_back_off(dot11b(700.0, 800.0));
    let second = |at| {
        let mut rig = Rig::new(std::slice::from_ref(&radio), &[("a", 0, 0.0), ("b", 0, 300.0)], &[], 1);
        rig.broadcast(1_000_000, 0, 100);
        rig.broadcast(at, 1, 100);
        starts(&rig.run(10_000_000), 1)[0]
    };
    for unseen in [1_000_500, 1_001_001, 1_010_000, 1_016_000] {
        assert_eq!(second(unseen), unseen);
    }
    for seen in [1_016_001, 1_500_000] {
        assert_eq!(second(seen), 2_281_001 + 50_000);
    }
}

/// Two sources that make a packet in the same nanosecond collide, on a medium that has long been idle.
#[test]
fn packets_of_one_moment_collide() {
    let mut spec = world(dot11b(700.0, 800.0), 1);
    let nodes = [-100.0, 0.0, 100.0].map(|x| node(&mut spec, &format!("{x}"), x, 0.0));
    let traffic = Traffic::ConstantRate { rate: Rate(1_177_600), packet: Bytes(1472), gap_jitter: 0.0 };
    flow(&mut spec, "f", nodes[0], nodes[1], traffic.clone());
    flow(&mut spec, "g", nodes[2], nodes[1], traffic);
    let mut world = make(&spec, 1);
    world.start_trace();
    airfair_sim::engine::drive::Steppable::advance(&mut world, airfair_units::Time(25_000_000));
    let trace = world.take_trace();
    for moment in [50_000, 10_000_000, 20_000_000] {
        assert_eq!(frames(&trace).iter().filter(|f| f.start.0 == moment).count(), 2, "{moment}");
    }
}

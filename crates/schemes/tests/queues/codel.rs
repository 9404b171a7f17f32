//! CoDel against RFC 8289: start, rate and end of dropping, and the memory of the rate.

use airfair_schemes::Params;
use airfair_schemes::places::{Aqm, DropReason, Ecn, MarkReason, Packet, Verdict};
use airfair_units::Time;
use proptest::prelude::*;

use crate::{Host, aqm, bytes, flag, millis, packet, refusal, set, view};
use airfair_schemes::places::AqmEffects;

const DROP: Verdict = Verdict::Drop(DropReason("codel"));
const MARK: Verdict = Verdict::Mark(MarkReason("codel"));
const MS: u64 = 1_000_000;

/// CoDel with a queue given as arguments, one packet at a time.
struct Line {
    codel: Box<dyn Aqm>,
    host: Host<AqmEffects>,
    ecn: Ecn,
}

impl Line {
    fn new(params: &Params) -> Self {
        Self { codel: aqm("codel", params), host: Host::new(1), ecn: Ecn::NotEct }
    }

    /// Verdict at `now` (ns) on a packet of 1000 B that has waited for `wait` and leaves `left` bytes in the queue.
    fn verdict(&mut self, now: u64, wait: u64, left: u64) -> Verdict {
        let packet = Packet { ecn: self.ecn, ..packet(0, 0, 1000, Time(now - wait)) };
        self.codel.on_dequeue(&packet, &view(9, left + 1000), &mut self.host.context_at(now))
    }

    /// Verdict in a standing queue: a wait of 20 ms, ten packets left.
    fn standing(&mut self, now: u64) -> Verdict {
        self.verdict(now, 20 * MS, 10_000)
    }

    /// Checks that a packet passes a nanosecond before `at`, a packet is dropped at `at`, and the next one passes.
    fn drops_at(&mut self, at: u64) {
        assert_eq!(self.standing(at - 1), Verdict::Pass, "before {at}");
        assert_eq!(self.standing(at), DROP, "at {at}");
        assert_eq!(self.standing(at), Verdict::Pass, "after {at}");
    }

    /// The standing queue starts at `from`: the first drop is an interval later.
    fn enters(&mut self, from: u64) {
        assert_eq!(self.standing(from), Verdict::Pass);
        self.drops_at(from + 100 * MS);
    }

    fn leaves(&mut self, at: u64) {
        assert_eq!(self.verdict(at, 4 * MS, 10_000), Verdict::Pass);
    }
}

fn line() -> Line {
    Line::new(&Params::default())
}

/// Section 5.6 with 100 ms: an interval after the start of the standing queue, then 100, 100/sqrt 2, 100/sqrt 3, 100/2 ms apart.
#[test]
fn drops_come_at_interval_over_the_root_of_count() {
    let mut line = line();
    line.enters(1_000 * MS);
    let mut at = 1_100 * MS;
    for step in [100_000_000, 70_710_678, 57_735_026, 50_000_000, 44_721_359, 40_824_829] {
        at += step;
        line.drops_at(at);
    }
}

/// A late dequeue causes all drops that were due, packet by packet: after 1 s 27 drops, due at 100, 200, 270.7, ... 983.5 ms.
#[test]
fn late_drops_are_made_up_for() {
    let mut line = line();
    assert_eq!(line.standing(1_000 * MS), Verdict::Pass);
    assert_eq!(line.standing(1_100 * MS), DROP);
    let late = (0..100).take_while(|_| line.standing(2_000 * MS) == DROP).count();
    assert_eq!(late, 26);
    assert_eq!(line.standing(2_002_787_830), Verdict::Pass);
    assert_eq!(line.standing(2_002_787_831), DROP);
}

/// Section 5.6: the wait must be at least the target for a whole interval; one packet below the target restarts the interval.
#[test]
fn one_short_wait_resets_the_interval() {
    let mut line = line();
    assert_eq!(line.verdict(0, 0, 10_000), Verdict::Pass);
    assert_eq!(line.verdict(10 * MS, 5 * MS, 10_000), Verdict::Pass);
    assert_eq!(line.verdict(60 * MS, 5 * MS - 1, 10_000), Verdict::Pass);
    assert_eq!(line.verdict(110 * MS, 20 * MS, 10_000), Verdict::Pass);
    assert_eq!(line.verdict(209 * MS, 20 * MS, 10_000), Verdict::Pass);
    assert_eq!(line.verdict(210 * MS, 5 * MS, 10_000), DROP, "the target itself is too long");
}

/// With at most an MTU left in the queue no packet is dropped, and dropping ends.
#[test]
fn a_small_queue_is_left_alone() {
    let mut line = line();
    for ms in 1..30 {
        assert_eq!(line.verdict(ms * 50 * MS, 20 * MS, 1500), Verdict::Pass);
    }
    let mut line = Line::new(&Params::default());
    assert_eq!(line.verdict(100 * MS, 20 * MS, 1501), Verdict::Pass);
    assert_eq!(line.verdict(200 * MS, 20 * MS, 1501), DROP);
    assert_eq!(line.verdict(300 * MS, 20 * MS, 1500), Verdict::Pass);
    assert_eq!(line.standing(301 * MS), Verdict::Pass, "dropping has ended");
    assert_eq!(line.standing(400 * MS), Verdict::Pass);
    assert_eq!(line.standing(401 * MS), DROP);
    let mut wide = Line::new(&set(&[("mtu", bytes(20_000))]));
    assert!((1..30).all(|ms| wide.verdict(ms * 50 * MS, 20 * MS, 20_000) == Verdict::Pass));
}

/// Five drops (count 5), an end, a new start: count continues at 5 - 1 = 4, so 50 ms to the next drop, then 44.7.
#[test]
fn dropping_continues_at_its_old_rate() {
    let mut line = line();
    line.enters(100 * MS);
    for at in [300_000_000, 370_710_678, 428_445_704, 478_445_704] {
        line.drops_at(at);
    }
    line.leaves(480 * MS);
    line.enters(500 * MS);
    line.drops_at(650 * MS);
    line.drops_at(694_721_359);
    // count is 6, lastcount 4: the next dropping starts at 2.
    line.leaves(700 * MS);
    line.enters(800 * MS);
    line.drops_at(970_710_678);
    // count 3, lastcount 2: with a difference of one the next dropping starts at 1.
    line.leaves(980 * MS);
    line.enters(1_000 * MS);
    line.drops_at(1_200 * MS);
}

/// The rate is remembered for 16 intervals from drop_next on: 428.4 ms + 50 ms + 1.6 s = 2.078445704 s.
#[test]
fn an_old_rate_is_forgotten() {
    for (entry, next) in [(2_078_445_703, 57_735_026), (2_078_445_704, 100_000_000)] {
        let mut line = line();
        line.enters(100 * MS);
        for at in [300_000_000, 370_710_678, 428_445_704] {
            line.drops_at(at);
        }
        line.leaves(430 * MS);
        assert_eq!(line.standing(entry - 100 * MS), Verdict::Pass);
        assert_eq!(line.standing(entry), DROP);
        line.drops_at(entry + next);
    }
}

/// If the packet after a dropped one ends dropping, drop_next does not change: the rate is remembered until 428.4 ms + 1.6 s.
#[test]
fn an_end_right_after_a_drop_leaves_drop_next() {
    for (entry, next) in [(2_028_445_703, 57_735_026), (2_028_445_704, 100_000_000)] {
        let mut line = line();
        line.enters(100 * MS);
        line.drops_at(300_000_000);
        line.drops_at(370_710_678);
        assert_eq!(line.standing(428_445_704), DROP);
        line.leaves(428_445_704);
        assert_eq!(line.standing(entry - 100 * MS), Verdict::Pass);
        assert_eq!(line.standing(entry), DROP);
        line.drops_at(entry + next);
    }
}

/// Target 10 ms and interval 200 ms: waits of 9 ms pass, the first drop is after 200 ms, the third 141.4 ms after the second.
#[test]
fn parameters_count() {
    let mut line = Line::new(&set(&[("target", millis(10)), ("interval", millis(200))]));
    for ms in 1..100 {
        assert_eq!(line.verdict(ms * 10 * MS, 9 * MS, 10_000), Verdict::Pass);
    }
    assert_eq!(line.standing(1_000 * MS), Verdict::Pass);
    line.drops_at(1_200 * MS);
    line.drops_at(1_400 * MS);
    line.drops_at(1_541_421_356);
}

/// With ECN the packet is marked and delivered; the times are those of drops. A packet that cannot be marked is dropped.
#[test]
fn marks_take_the_place_of_drops() {
    let mut line = Line::new(&set(&[("ecn", flag(true))]));
    line.ecn = Ecn::Ect;
    assert_eq!(line.standing(100 * MS), Verdict::Pass);
    for at in [200_000_000, 300_000_000, 370_710_678, 428_445_704] {
        assert_eq!(line.standing(at - 1), Verdict::Pass);
        assert_eq!(line.standing(at), MARK);
        assert_eq!(line.standing(at), Verdict::Pass);
    }
    line.ecn = Ecn::NotEct;
    line.drops_at(478_445_704);
    line.ecn = Ecn::Ce;
    assert_eq!(line.standing(523_167_063), MARK);
    // A mark advances drop_next at once: after an end right after it the rate is remembered until 523.2 + 40.8 ms + 1.6 s.
    line.leaves(523_167_063);
    let entry = 2_163_991_892;
    assert_eq!(line.standing(entry - 100 * MS - 1), Verdict::Pass);
    assert_eq!(line.standing(entry - 1), MARK);
    line.ecn = Ecn::NotEct;
    line.drops_at(entry - 1 + 44_721_359);
}

/// Without the option a packet that could be marked is dropped; arrivals always pass.
#[test]
fn ecn_is_off_by_default_and_arrivals_pass() {
    let mut line = line();
    line.ecn = Ecn::Ect;
    assert_eq!(line.standing(100 * MS), Verdict::Pass);
    assert_eq!(line.standing(200 * MS), DROP);
    let arrival = packet(0, 0, 1000, Time(0));
    let verdict = line.codel.on_enqueue(&arrival, &view(100, 100_000), &mut line.host.context());
    assert_eq!(verdict, Verdict::Pass);
}

#[test]
fn impossible_parameters_are_refused() {
    let problem = "is above interval".to_string();
    assert_eq!(refusal("codel", &[("target", millis(101))]), Some(("target", problem)));
    assert_eq!(refusal("codel", &[("target", millis(100))]), None);
    for value in [("target", millis(0)), ("interval", millis(100_001)), ("mtu", bytes(1 << 21))] {
        assert_eq!(refusal("codel", &[value]).map(|r| r.0), Some(value.0));
    }
}

proptest! {
    /// For any input: a packet that waited less than the target passes, none is dropped within the first interval, and two first drops are
    /// at least an interval apart.
    #[test]
    fn nothing_in_order_is_dropped(
        asks in proptest::collection::vec((0u64..20 * MS, 0u64..30 * MS, 0u64..4000), 1..400),
    ) {
        let mut line = line();
        let mut now = 100 * MS;
        let mut in_order = now;
        for (later, wait, left) in asks {
            now += later;
            let verdict = line.verdict(now, wait, left);
            if wait < 5 * MS || left <= 1500 {
                prop_assert_eq!(verdict, Verdict::Pass);
                in_order = now;
            } else if now < in_order + 100 * MS {
                prop_assert_eq!(verdict, Verdict::Pass);
            }
        }
    }

    /// No time or size causes an overflow.
    #[test]
    fn extremes_pass_through(asks in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 1..50)) {
        let mut line = line();
        for (now, enqueued, left) in asks {
            let packet = packet(0, 0, u32::MAX, Time(enqueued));
            line.codel.on_dequeue(&packet, &view(1, left), &mut line.host.context_at(now));
        }
    }
}

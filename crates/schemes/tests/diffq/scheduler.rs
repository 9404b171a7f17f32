//! §4.1, flow scheduling: levels, order, turns.

use airfair_schemes::diffq::scheduler::{
    AckLevel, Candidate, Order, Parts, Quantiser, Rounding, Scheduler, Serve,
};
use proptest::prelude::*;

/// D = 100, Delta = 8: a level is 12.5 packets. ceil(QD 8 / 100): 1 is ceil(0.08); 12 is ceil(0.96), 13 ceil(1.04); 25 is exactly 2, 26
/// ceil(2.08); 37 ceil(2.96), 38 ceil(3.04); 87 ceil(6.96). 88 is ceil(7.04) = 8 as printed, 99 and 100 likewise: the highest level is 7.
#[test]
fn eight_levels_of_a_queue_of_a_hundred() {
    let quantiser = Quantiser { levels: 8, depth: 100, rounding: Rounding::Up };
    let table = [
        (-3, 0),
        (0, 0),
        (1, 1),
        (12, 1),
        (13, 2),
        (25, 2),
        (26, 3),
        (37, 3),
        (38, 4),
        (50, 4),
        (51, 5),
        (62, 5),
        (63, 6),
        (75, 6),
        (76, 7),
        (87, 7),
        (88, 7),
        (99, 7),
        (100, 7),
        (i64::MIN, 0),
        (1 << 40, 7),
    ];
    for (differential, level) in table {
        assert_eq!(quantiser.level(differential), level, "QD = {differential}");
    }
}

/// Rounded down, 12 packets are level 0 and 13 level 1 (1.04); 25 is exactly 2 either way; 99 is 7.92, and 100 is 8, of which there is
/// none.
#[test]
fn a_level_without_its_fraction() {
    let quantiser = Quantiser { levels: 8, depth: 100, rounding: Rounding::Down };
    for (differential, level) in [(-1, 0), (1, 0), (12, 0), (13, 1), (25, 2), (26, 2), (99, 7), (100, 7)] {
        assert_eq!(quantiser.level(differential), level, "QD = {differential}");
    }
}

/// Four levels: 25 packets each, and 76 packets are ceil(3.04) = 4, of which there is none.
#[test]
fn four_levels() {
    let quantiser = Quantiser { levels: 4, depth: 100, rounding: Rounding::Up };
    for (differential, level) in
        [(-1, 0), (0, 0), (1, 1), (25, 1), (26, 2), (50, 2), (51, 3), (76, 3), (100, 3)]
    {
        assert_eq!(quantiser.level(differential), level, "QD = {differential}");
    }
}

/// One level is level 0; D = 3 with 8 levels: ceil(8/3) = 3, ceil(16/3) = 6, and 8 of 3 is too high.
#[test]
fn few_levels_and_short_queues() {
    for differential in [-1, 0, 1, 50, 100] {
        assert_eq!(Quantiser { levels: 1, depth: 100, rounding: Rounding::Up }.level(differential), 0);
        assert_eq!(Quantiser { levels: 0, depth: 100, rounding: Rounding::Up }.level(differential), 0);
        assert_eq!(Quantiser { levels: 8, depth: 0, rounding: Rounding::Up }.level(differential), 0);
    }
    let short = Quantiser { levels: 8, depth: 3, rounding: Rounding::Up };
    assert_eq!([0, 1, 2, 3].map(|differential| short.level(differential)), [0, 3, 6, 7]);
    assert_eq!(Quantiser { levels: 8, depth: 1, rounding: Rounding::Up }.level(1), 7);
    assert_eq!(Quantiser { levels: 2, depth: 1, rounding: Rounding::Up }.level(1), 1);
}

const DIFFQ: Scheduler = Scheduler {
    parts: Parts::All,
    order: Order::Differential,
    serve: Serve::Always,
    acks: AckLevel::Differential,
    quantiser: Quantiser { levels: 8, depth: 100, rounding: Rounding::Up },
};

const fn queue(own: u32, next: u32, served: u64) -> Candidate {
    Candidate { own, next, is_ack: false, served }
}

/// Index of the queue that is served.
fn first(scheduler: &Scheduler, queues: &[Candidate]) -> usize {
    (0..queues.len()).max_by_key(|&at| scheduler.rank(&queues[at])).unwrap()
}

/// 30 - 25 = 5 against 10 - 2 = 8: the shorter queue is served, at level ceil(0.64) = 1. By its own queue alone the longer one would be,
/// at level ceil(2.4) = 3.
#[test]
fn the_largest_differential_is_served() {
    let queues = [queue(30, 25, 0), queue(10, 2, 0)];
    assert_eq!(first(&DIFFQ, &queues), 1);
    let ranks = queues.map(|queue| DIFFQ.rank(&queue));
    assert_eq!(ranks.map(|rank| (rank.differential, rank.level)), [(5, 1), (8, 1)]);
    let occupancy = Scheduler { parts: Parts::Occupancy, ..DIFFQ };
    assert_eq!(first(&occupancy, &queues), 0);
    let ranks = queues.map(|queue| occupancy.rank(&queue));
    assert_eq!(
        ranks.map(|rank| (rank.differential, rank.level)),
        [(5, 3), (8, 1)],
        "the differential is told all the same"
    );
}

/// Differentials of 14 and 20 are both at level 2: by priority it is the turn of the first, which was served longer ago. 26 is level 3.
#[test]
fn by_priority_differentials_of_a_level_tie() {
    let queues = [queue(14, 0, 3), queue(20, 0, 4)];
    let by_priority = Scheduler { order: Order::Priority, ..DIFFQ };
    assert_eq!(first(&DIFFQ, &queues), 1);
    assert_eq!(first(&by_priority, &queues), 0);
    assert_eq!(first(&by_priority, &[queue(14, 0, 3), queue(26, 0, 4)]), 1);
    // By the own queue: 14 and 20 packets are at one level, whatever the next hops have.
    let occupancy = Scheduler { parts: Parts::Occupancy, ..by_priority };
    assert_eq!(first(&occupancy, &[queue(14, 13, 3), queue(20, 0, 4)]), 0);
    // No levels, no ties: the differential orders.
    let order = Scheduler { parts: Parts::Order, ..by_priority };
    assert_eq!(first(&order, &queues), 1);
}

#[test]
fn ties_go_to_the_queue_that_was_served_longest_ago() {
    for order in [Order::Differential, Order::Priority] {
        let scheduler = Scheduler { order, ..DIFFQ };
        assert_eq!(first(&scheduler, &[queue(10, 4, 8), queue(7, 1, 5), queue(6, 0, 9)]), 1);
    }
}

/// A queue that must wait in theory is served where no other is there, at level 0.
#[test]
fn a_queue_shorter_than_the_next_hop_s_is_at_level_0() {
    let rank = DIFFQ.rank(&queue(3, 40, 0));
    assert_eq!((rank.differential, rank.level), (-37, 0));
    assert_eq!(first(&DIFFQ, &[queue(3, 40, 0), queue(50, 86, 1)]), 1, "-36 is more than -37");
}

#[test]
fn parts_that_are_switched_off() {
    let [long, short] = [queue(90, 0, 2), queue(1, 50, 1)];
    let order = Scheduler { parts: Parts::Order, ..DIFFQ };
    assert_eq!((first(&order, &[long, short]), order.rank(&long).level), (0, 0));
    let turns = Scheduler { parts: Parts::Turns, ..DIFFQ };
    assert_eq!((first(&turns, &[long, short]), turns.rank(&long).level), (1, 0));
    assert_eq!(turns.rank(&long).differential, 90);
}

/// An acknowledgement in a queue with a differential of 30, level 3, beside data with 60, level 5.
#[test]
fn levels_of_acknowledgements() {
    let ack = Candidate { is_ack: true, ..queue(30, 0, 0) };
    let queues = [ack, queue(60, 0, 1)];
    let level = |acks, parts| {
        let scheduler = Scheduler { acks, parts, ..DIFFQ };
        (first(&scheduler, &queues), scheduler.rank(&ack).level)
    };
    for parts in [Parts::All, Parts::Occupancy] {
        assert_eq!(level(AckLevel::Differential, parts), (1, 3));
        assert_eq!(level(AckLevel::Lowest, parts), (1, 0));
        assert_eq!(level(AckLevel::Highest, parts), (0, 7));
    }
    for acks in [AckLevel::Differential, AckLevel::Lowest, AckLevel::Highest] {
        assert_eq!(level(acks, Parts::Order), (1, 0), "one level, one order");
        assert_eq!(level(acks, Parts::Turns), (0, 0));
    }
    // Lowest is a level at the MAC, not a place in the order.
    let lowest = Scheduler { acks: AckLevel::Lowest, ..DIFFQ };
    assert_eq!(first(&lowest, &[ack, queue(20, 0, 1)]), 0);
    // Data keeps its level.
    let highest = Scheduler { acks: AckLevel::Highest, ..DIFFQ };
    assert_eq!([lowest, highest].map(|scheduler| scheduler.rank(&queue(60, 0, 1)).level), [5, 5]);
}

/// With 30 packets before 30, 29 before 30, and 31 before 30. Without levels acknowledgements are as data; where queues take turns none is
/// held.
#[test]
fn what_is_held() {
    let held = |parts, serve, acks, is_ack| {
        let scheduler = Scheduler { parts, serve, acks, ..DIFFQ };
        [30, 29, 31].map(|own| scheduler.rank(&Candidate { is_ack, ..queue(own, 30, 0) }).is_held)
    };
    for parts in [Parts::All, Parts::Order, Parts::Turns, Parts::Occupancy] {
        for acks in [AckLevel::Differential, AckLevel::Lowest, AckLevel::Highest] {
            for is_ack in [false, true] {
                assert_eq!(held(parts, Serve::Always, acks, is_ack), [false; 3]);
                let levels = matches!(parts, Parts::All | Parts::Occupancy);
                let free = parts == Parts::Turns || is_ack && levels && acks == AckLevel::Highest;
                let expected = [!free, !free, false];
                assert_eq!(
                    held(parts, Serve::Positive, acks, is_ack),
                    expected,
                    "{parts:?} {acks:?} {is_ack}"
                );
            }
        }
    }
}

proptest! {
    /// A level is the smallest whole number that is not less than QD levels / D, within the levels that there are.
    #[test]
    fn a_level_is_a_ceiling(levels in 1u8..=8, depth in 1u32..=65_535, differential in -70_000i64..70_000) {
        let level = u64::from(Quantiser { levels, depth, rounding: Rounding::Up }.level(differential));
        let (count, depth) = (u64::from(levels), u64::from(depth));
        prop_assert!(level < count);
        if differential <= 0 {
            prop_assert_eq!(level, 0);
        } else {
            let scaled = differential as u64 * count;
            prop_assert!(level + 1 == count || level * depth >= scaled);
            prop_assert!(level == 0 || (level - 1) * depth < scaled);
        }
    }
}

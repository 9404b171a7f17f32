//! Forwarding timers by hand.

use airfair_schemes::exor::turns::{Turns, TurnsConfig};
use airfair_units::{Span, Time};
use airfair_wire::exor::Fragment;
use proptest::prelude::*;

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn fragment(number: u8, size: u8) -> Fragment {
    Fragment { number, size }
}

/// Four nodes, of which this one has let its turn pass; packets of 2 ms until one was measured.
fn turns(me: u8) -> Turns {
    Turns::new(TurnsConfig::default(), me, 4, at(1000))
}

#[test]
fn turns_by_hand() {
    // The first turn is the source's, at once.
    let mut source = turns(3);
    source.due(at(1000));
    assert_eq!(source.begins(), at(1000));
    // The source sends packet 1 of 10: eight are left, 16 ms; then the destination, then, 10 ms later each, ranks 1 and 2.
    for (me, wait) in [(0, 0), (1, 10_000), (2, 20_000)] {
        let mut turns = turns(me);
        turns.heard(3, fragment(1, 10), at(5000));
        assert_eq!(turns.begins(), at(21_000 + wait), "rank {me}");
    }
    // After rank 1, packet 2 of 3, comes 2 when it ends, then 3, then 0.
    for (me, wait) in [(2, 0), (3, 10_000), (0, 20_000)] {
        let mut turns = turns(me);
        turns.heard(1, fragment(2, 3), at(5000));
        assert_eq!(turns.begins(), at(5000 + wait));
    }
    // After its own turn come the three others.
    let mut own = turns(2);
    own.passed(at(7000));
    assert_eq!(own.begins(), at(37_000));
}

#[test]
fn the_time_of_a_packet_is_averaged() {
    let mut turns = turns(1);
    turns.heard(3, fragment(0, 20), at(10_000));
    assert_eq!(turns.packet(), Span::from_millis(2), "one packet says nothing");
    // Three packets later 9 ms later: 3 ms each.
    turns.heard(3, fragment(3, 20), at(19_000));
    assert_eq!(turns.packet(), Span::from_micros(2100));
    // The same packet again, or an earlier one, or another node's: no measurement.
    turns.heard(3, fragment(3, 20), at(29_000));
    turns.heard(2, fragment(5, 20), at(39_000));
    turns.heard(3, fragment(6, 20), at(49_000));
    assert_eq!(turns.packet(), Span::from_micros(2100));
    turns.heard(3, fragment(7, 20), at(50_100));
    assert_eq!(turns.packet(), Span::from_micros(2000));
    // 12 packets of 2 ms, and 10 ms for the destination.
    turns.passed(at(50_000));
    turns.heard(3, fragment(7, 20), at(50_100));
    assert_eq!(turns.begins(), at(50_100 + 24_000 + 10_000));
}

/// Who does not hear those before it would wait for them for ever, if others began anew each time.
#[test]
fn who_is_passed_over_begins_all_the_same() {
    // The destination hears rank 1 of four; the two others have 20 ms.
    let mut turns = Turns::new(TurnsConfig { keeps: 1.0, ..TurnsConfig::default() }, 0, 4, at(1000));
    turns.heard(1, fragment(0, 2), at(5000));
    turns.heard(1, fragment(1, 2), at(7000));
    assert_eq!(turns.begins(), at(27_000));
    // Rank 1 again, before that: nothing is postponed, however long its turn.
    for number in 0..9 {
        turns.heard(1, fragment(number, 9), at(15_000 + 1000 * u64::from(number)));
        assert!(turns.begins() <= at(27_000));
    }
    // Rank 2 stands between them, and is waited for.
    turns.heard(2, fragment(0, 1), at(25_000));
    assert_eq!(turns.begins(), at(35_000));
    turns.heard(1, fragment(0, 1), at(26_000));
    assert_eq!(turns.begins(), at(35_000));
    // After its turn it begins to count anew.
    turns.passed(at(40_000));
    turns.heard(1, fragment(0, 1), at(50_000));
    assert_eq!(turns.begins(), at(70_000));
}

/// A node whose turn is now, and that hears the one before it go on with its own, lets that one end.
#[test]
fn who_goes_on_with_its_turn_is_waited_for() {
    let mut turns = Turns::new(TurnsConfig { keeps: 1.0, ..TurnsConfig::default() }, 1, 4, at(1000));
    turns.heard(0, fragment(0, 3), at(4000));
    turns.due(at(5000));
    turns.heard(0, fragment(1, 3), at(6000));
    assert_eq!(turns.begins(), at(8000), "one packet of 2 ms is left");
}

#[test]
fn what_says_nothing() {
    let mut turns = turns(1);
    let before = turns.clone();
    turns.heard(1, fragment(0, 5), at(9000));
    turns.heard(4, fragment(0, 5), at(9000));
    assert_eq!(turns, before);
    // A number behind the size: nothing is left.
    turns.heard(0, fragment(9, 5), at(9000));
    assert_eq!(turns.begins(), at(9000));
    assert_eq!(Turns::new(TurnsConfig::default(), 9, 0, at(5)).begins(), at(5), "a node alone");
    let of = |rank| Turns::new(TurnsConfig::default(), rank, 4, at(5));
    assert_eq!(of(9), of(3), "a rank behind the source's");
}

proptest! {
    /// If all hear the same, turns come by rank and never two at once.
    #[test]
    fn turns_are_apart(nodes in 2u8..9, from in 0u8..9, number: u8, size: u8) {
        let from = from % nodes;
        let others = (0..nodes).filter(|&rank| rank != from);
        let mut begins: Vec<(Time, u8)> = others
            .map(|rank| {
                let mut turns = Turns::new(TurnsConfig::default(), rank, nodes, Time::ZERO);
                turns.heard(from, fragment(number, size), at(100));
                (turns.begins(), rank)
            })
            .collect();
        begins.sort();
        let order: Vec<u8> = begins.iter().map(|&(_, rank)| rank).collect();
        prop_assert_eq!(order, (1..nodes).map(|step| (from + step) % nodes).collect::<Vec<_>>());
        prop_assert!(begins.windows(2).all(|pair| pair[1].0.since(pair[0].0) == Span::from_millis(10)));
    }
}

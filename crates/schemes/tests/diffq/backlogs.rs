//! §4: sizes of neighbours' queues.

use airfair_schemes::diffq::backlogs::{Backlogs, MOST_IN_BUCKET};
use airfair_schemes::places::NodeId;
use airfair_units::{Span, Time};
use proptest::prelude::*;

const EXPIRY: Span = Span::from_secs(1);
const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);
const C: NodeId = NodeId(3);
const D: NodeId = NodeId(4);

const fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

#[test]
fn the_newest_word_of_a_neighbour_counts() {
    let mut table = Backlogs::new(4, EXPIRY);
    assert!(table.is_empty());
    assert_eq!(table.size(A, D, at(0)), 0, "never heard");
    table.hear(A, D, 17, at(0));
    table.hear(B, D, 3, at(1));
    table.hear(A, C, 9, at(2));
    assert_eq!([(A, D), (B, D), (A, C), (B, C)].map(|(from, to)| table.size(from, to, at(2))), [17, 3, 9, 0]);
    table.hear(A, D, 0, at(3));
    assert_eq!((table.size(A, D, at(3)), table.len()), (0, 3));
    table.hear(A, D, 5, at(4));
    assert_eq!((table.size(A, D, at(4)), table.len(), table.is_empty()), (5, 3, false));
}

/// Names that were forged so that all fall into one of 1,024 buckets, and so into one of fewer as well: that bucket keeps the newest ones,
/// and a word costs a look at these, however many there were. Honest names beside them are found as before.
#[test]
fn forged_names_in_one_bucket_cost_no_more() {
    let collides = |neighbour: &u32| {
        let key = u64::from(D.0) << 32 | u64::from(*neighbour);
        key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 1023 == 0
    };
    let mut table = Backlogs::new(1024, EXPIRY);
    let forged: Vec<NodeId> = (10..).filter(collides).take(2000).map(NodeId).collect();
    for &name in &forged {
        let before = table.looked_at();
        table.hear(name, D, 1, at(1));
        assert!(table.looked_at() - before <= 4 * MOST_IN_BUCKET as u64, "{}", table.looked_at() - before);
    }
    assert_eq!(table.len(), MOST_IN_BUCKET, "all are in one bucket");
    let known: Vec<u32> = forged.iter().rev().take(17).map(|&name| table.size(name, D, at(1))).collect();
    assert_eq!(known, [[1; 16].as_slice(), &[0]].concat(), "the newest 16");
    for i in 0..500 {
        table.hear(NodeId(5000 + i), C, i, at(2));
    }
    assert!((0..500).all(|i| table.size(NodeId(5000 + i), C, at(2)) == i));
    // Some of them may have taken a place in that bucket.
    assert!((500..=516).contains(&table.len()), "{}", table.len());
}

/// If the next hop is the destination, its queue counts as empty, whatever it says.
#[test]
fn the_destination_has_no_queue() {
    let mut table = Backlogs::new(4, EXPIRY);
    table.hear(D, D, 40, at(0));
    assert_eq!(table.size(D, D, at(0)), 0);
}

/// Heard at 100 ms with an expiry of 1 s: the last instant of the size is 1 ns before 1100 ms.
#[test]
fn a_size_expires_exactly_at_its_limit() {
    let mut table = Backlogs::new(4, EXPIRY);
    table.hear(A, D, 17, at(100));
    assert_eq!(table.size(A, D, Time(at(1100).0 - 1)), 17);
    assert_eq!(table.size(A, D, at(1100)), 0);
    table.hear(A, D, 4, at(1100));
    assert_eq!(table.size(A, D, at(2099)), 4, "heard again");
}

/// Three places: a fourth size takes that of the neighbour that was heard longest ago, which is not the one that was stored first.
#[test]
fn the_oldest_gives_way_when_the_table_is_full() {
    for newcomer in [(A, B), (A, D), (C, A), (D, C)] {
        let mut table = Backlogs::new(3, EXPIRY);
        table.hear(A, C, 1, at(0));
        table.hear(B, C, 2, at(1));
        table.hear(D, B, 3, at(2));
        table.hear(A, C, 4, at(3));
        table.hear(newcomer.0, newcomer.1, 5, at(4));
        let sizes = [(A, C), (B, C), (D, B), newcomer].map(|(from, to)| table.size(from, to, at(4)));
        assert_eq!((sizes, table.len()), ([4, 0, 3, 5], 3), "{newcomer:?}");
    }
}

/// Sizes of 3000 pairs in 64 places: the 64 that were heard last, whichever buckets they share, and when each expires.
#[test]
fn many_pairs_in_few_places() {
    let mut table = Backlogs::new(64, EXPIRY);
    let pair = |n: u32| (NodeId(1_000 + n % 50), NodeId(n / 50 * 4096));
    for n in 0..3000 {
        table.hear(pair(n).0, pair(n).1, n, Time(n.into()));
        // One that was heard before is heard again, and stays.
        table.hear(pair(7).0, pair(7).1, n, Time(n.into()));
        assert!(table.len() <= 64);
    }
    let now = Time(3000);
    for n in (0..3000).filter(|&n| n != 7) {
        let known = (n >= 3000 - 63).then(|| (n, Time(n.into()) + EXPIRY));
        assert_eq!(table.fresh(pair(n).0, pair(n).1, now), known, "{n}");
    }
    assert_eq!(table.size(pair(7).0, pair(7).1, now), 2999);
}

#[test]
fn no_place() {
    let mut table = Backlogs::new(0, EXPIRY);
    table.hear(A, D, 7, at(0));
    assert_eq!((table.size(A, D, at(0)), table.len()), (0, 0));
}

#[test]
fn one_place() {
    let mut table = Backlogs::new(1, EXPIRY);
    for (n, from) in [A, B, C].into_iter().enumerate() {
        table.hear(from, D, 7, at(n as u64));
        assert_eq!((table.size(from, D, at(n as u64)), table.len()), (7, 1));
    }
    assert_eq!([A, B].map(|from| table.size(from, D, at(2))), [0, 0]);
}

/// The table by its definition: all that was heard, newest last.
fn expected(heard: &[(u32, u32, u32, u64)], from: u32, to: u32, now: u64) -> u32 {
    let last =
        heard.iter().rev().find(|&&(neighbour, destination, ..)| (neighbour, destination) == (from, to));
    last.map_or(0, |&(_, _, size, when)| if from != to && now - when < 1000 { size } else { 0 })
}

proptest! {
    /// With room for all, the table knows what was heard last of each; with less room it knows no more than its places, and nothing wrong.
    #[test]
    fn the_table_says_what_was_heard(
        capacity in 1usize..30,
        steps in proptest::collection::vec((0u32..5, 0u32..5, 0u32..100, 1u64..400), 0..60),
    ) {
        let (mut table, mut heard, mut now) = (Backlogs::new(capacity, EXPIRY), vec![], 0);
        for (from, to, size, later) in steps {
            now += later;
            table.hear(NodeId(from), NodeId(to), size, at(now));
            heard.push((from, to, size, now));
            prop_assert!(table.len() <= capacity);
            // The `capacity` pairs that were heard last are known.
            let mut known: Vec<(u32, u32)> = vec![];
            for &(from, to, ..) in heard.iter().rev() {
                if known.len() < capacity && !known.contains(&(from, to)) {
                    known.push((from, to));
                }
            }
            for (from, to) in (0..25).map(|pair| (pair / 5, pair % 5)) {
                let right = if known.contains(&(from, to)) { expected(&heard, from, to, now) } else { 0 };
                prop_assert_eq!(table.size(NodeId(from), NodeId(to), at(now)), right);
            }
        }
    }

    /// Neighbours that are first heard in another order are the same neighbours.
    #[test]
    fn the_order_of_insertion_changes_nothing(
        pairs in proptest::collection::btree_map((0u32..6, 0u32..6), 0u32..100, 0..30),
        shuffled in Just((0..36usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let pairs: Vec<_> = pairs.into_iter().collect();
        let fill = |order: &[usize]| {
            let mut table = Backlogs::new(36, EXPIRY);
            for &((from, to), size) in order.iter().filter_map(|&at| pairs.get(at)) {
                table.hear(NodeId(from), NodeId(to), size, at(0));
            }
            let all = (0..36).map(|pair| table.size(NodeId(pair / 6), NodeId(pair % 6), at(1)));
            (all.collect::<Vec<_>>(), table.len())
        };
        let straight: Vec<usize> = (0..36).collect();
        prop_assert_eq!(fill(&straight), fill(&shuffled));
    }
}

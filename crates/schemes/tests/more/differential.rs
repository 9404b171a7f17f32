//! DiffQ's priority over MORE.

use airfair_schemes::more::differential::nearer;
use airfair_schemes::opportunistic::backpressure::differential;
use airfair_wire::more::{Credit, Flow, Forwarder, Forwarders};
use proptest::prelude::*;

#[test]
fn the_longest_queue_downstream_counts() {
    assert_eq!(differential(10, [2, 7]), 3);
    assert_eq!(differential(10, [7, 2, 0]), 3);
    assert_eq!(differential(2, [7]), -5);
    assert_eq!(differential(10, [0]), 10, "the destination");
    assert_eq!(differential(10, []), 10);
    assert_eq!(differential(0, [u32::MAX]), -i64::from(u32::MAX));
}

#[test]
fn who_is_nearer() {
    let flow = Flow { flow: 1, source: 9, destination: 0 };
    let list = Forwarders::new([3, 5, 4].into_iter().map(|node| Forwarder { node, credit: Credit(1) }));
    let of = |node| nearer(flow, &list, node).collect::<Vec<_>>();
    assert_eq!(of(9), [0, 3, 5, 4]);
    assert_eq!(of(4), [0, 3, 5]);
    assert_eq!(of(3), [0]);
    assert!(of(0).is_empty() && of(7).is_empty());
    // Of those only neighbours: node 4 does not hear 3.
    let neighbour = |node: &u32| *node != 3;
    assert_eq!(
        differential(10, nearer(flow, &list, 4).filter(neighbour).map(|node| if node == 5 { 4 } else { 0 })),
        6
    );
}

proptest! {
    /// It is the least of the differences.
    #[test]
    fn as_in_equation_2(own: u32, queues in proptest::collection::vec(any::<u32>(), 1..9)) {
        let least = queues.iter().map(|&queue| i64::from(own) - i64::from(queue)).min().unwrap();
        prop_assert_eq!(differential(own, queues), least);
    }
}

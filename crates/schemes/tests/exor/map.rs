//! Batch maps.

use airfair_schemes::exor::map::{delivered, hold, left_to, merge};
use airfair_wire::exor::BatchMap;
use proptest::prelude::*;

fn map(ranks: &[u8]) -> BatchMap {
    BatchMap::new(ranks.to_vec()).unwrap()
}

#[test]
fn the_best_wins() {
    let mut known = map(&[3, 1, 2, 0]);
    assert!(merge(&mut known, map(&[2, 2, 2, 3]).ranks()));
    assert_eq!(known, map(&[2, 1, 2, 0]));
    assert!(!merge(&mut known, map(&[3, 3, 3, 3]).ranks()), "no news");
    assert!(!merge(&mut known, map(&[0]).ranks()), "of another batch");
    assert!(
        hold(&mut known, 0, 1)
            && !hold(&mut known, 0, 1)
            && !hold(&mut known, 3, 1)
            && !hold(&mut known, 4, 0)
    );
    assert_eq!(known, map(&[1, 1, 2, 0]));
    assert_eq!(left_to(&known, 1).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(delivered(&known), 1);
}

proptest! {
    /// In any order, and however often: the least of what was told.
    #[test]
    fn order_changes_nothing(maps in proptest::collection::vec(proptest::collection::vec(0u8..6, 8), 1..9), shift: usize) {
        let all: Vec<u8> = (0..8).map(|packet| maps.iter().map(|map| map[packet]).min().unwrap()).collect();
        let mut merged = map(&maps[shift % maps.len()]);
        let before = merged.clone();
        for other in 0..2 * maps.len() {
            merge(&mut merged, map(&maps[(other + shift) % maps.len()]).ranks());
        }
        prop_assert_eq!(&merged, &map(&all));
        prop_assert!(before.ranks().iter().zip(merged.ranks()).all(|(before, after)| after <= before));
    }
}

//! The list that is kept up to date is the list from the beginning.

use airfair_optimum::{CliqueSet, ConflictGraph, GraphError, maximal_cliques};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Change {
    AddVertex(u64, u64),
    RemoveVertex(u32),
    AddEdge(u32, u32),
    RemoveEdge(u32, u32),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (any::<u64>(), any::<u64>()).prop_map(|(rank, near)| Change::AddVertex(rank, near)),
        2 => (any::<u64>(), any::<u64>(), any::<u64>())
            .prop_map(|(rank, near, more)| Change::AddVertex(rank, near | more)),
        2 => (0..24_u32).prop_map(Change::RemoveVertex),
        3 => (0..24_u32, 0..24_u32).prop_map(|(a, b)| Change::AddEdge(a, b)),
        3 => (0..24_u32, 0..24_u32).prop_map(|(a, b)| Change::RemoveEdge(a, b)),
    ]
}

proptest! {
    #[test]
    fn as_from_the_beginning(changes in vec(change(), 1..60), limit in prop_oneof![4 => Just(10_000_usize), 1 => 1..20_usize]) {
        let mut set = CliqueSet::new(ConflictGraph::new(), limit);
        for change in changes {
            match change {
                Change::AddVertex(rank, near) => {
                    let near: Vec<u32> = set.graph().vertices().filter(|v| near >> (v % 64) & 1 == 1).collect();
                    set.add_vertex(rank, &near).expect("neighbours of the graph");
                }
                Change::RemoveVertex(v) => {
                    set.remove_vertex(v);
                }
                Change::AddEdge(a, b) => {
                    // A loop, or a vertex that does not exist: nothing changes.
                    let _ = set.add_edge(a, b);
                }
                Change::RemoveEdge(a, b) => {
                    set.remove_edge(a, b);
                }
            }
            let expected = maximal_cliques(set.graph(), limit);
            prop_assert_eq!(set.listing(), expected);
        }
    }
}

/// A cycle of four to which the centre is added: four edges become four triangles.
#[test]
fn a_wheel() {
    let mut set = CliqueSet::new(crate::families::cycle(4), 100);
    assert_eq!(set.add_vertex(4, &[0, 1, 2, 3]), Ok(4));
    let triangles = [[0, 1, 4], [0, 3, 4], [1, 2, 4], [2, 3, 4]];
    assert_eq!(set.listing().cliques().iter().collect::<Vec<_>>(), triangles);
    assert_eq!(set.add_vertex(5, &[9]), Err(GraphError::NoVertex(9)));
    assert!(set.remove_vertex(4) && !set.remove_vertex(4));
    assert_eq!(set.listing().cliques().iter().collect::<Vec<_>>(), [[0, 1], [0, 3], [1, 2], [2, 3]]);
    // Beyond the limit and back.
    let mut set = CliqueSet::new(crate::families::cycle(4), 4);
    assert_eq!(set.add_vertex(4, &[]), Ok(4));
    assert!(!set.listing().is_complete());
    assert!(set.remove_vertex(4) && set.listing().is_complete());
}

//! Properties of lists of cliques.

use airfair_optimum::{ConflictGraph, GraphError, maximal_cliques};
use proptest::collection::vec;
use proptest::prelude::*;

/// A graph of up to `most` vertices, as edges of a bitmap.
pub fn any_graph(most: usize) -> impl Strategy<Value = (usize, Vec<bool>)> {
    (0..=most, 0.05..0.95)
        .prop_flat_map(|(n, density)| (Just(n), vec(proptest::bool::weighted(density), n * n)))
}

/// The graph in which vertex `i` has rank `rank(i)`, the vertices added in the order of `order`.
fn built(n: usize, edges: &[bool], order: &[usize], rank: impl Fn(usize) -> u64) -> ConflictGraph {
    let mut graph = ConflictGraph::new();
    let mut number = vec![0; n];
    for &i in order {
        number[i] = graph.add_vertex(rank(i));
    }
    for a in 0..n {
        for b in (0..a).filter(|&b| edges[a * n + b]) {
            graph.add_edge(number[b], number[a]).expect("two vertices of the graph");
        }
    }
    graph
}

/// All maximal cliques by trying every set of vertices.
fn by_force(graph: &ConflictGraph, n: usize) -> Vec<Vec<u32>> {
    let near: Vec<u32> = (0..n as u32).map(|v| graph.neighbours(v).map(|u| 1 << u).sum()).collect();
    let is_maximal = |set: &u32| {
        let members = (0..n).filter(|v| set >> v & 1 == 1);
        let common = members.fold(u32::MAX >> (32 - n), |common, v| common & (near[v] | 1 << v));
        common == *set
    };
    let sets = (1..1_u32 << n).filter(is_maximal);
    let mut cliques: Vec<Vec<u32>> =
        sets.map(|set| (0..n as u32).filter(|v| set >> v & 1 == 1).collect()).collect();
    cliques.sort();
    cliques
}

proptest! {
    #[test]
    fn as_by_trying_all_sets((n, edges) in any_graph(12)) {
        let order: Vec<usize> = (0..n).collect();
        let graph = built(n, &edges, &order, |i| i as u64);
        let listing = maximal_cliques(&graph, 1000);
        prop_assert!(listing.is_complete());
        let expected = if n == 0 { Vec::new() } else { by_force(&graph, n) };
        prop_assert_eq!(listing.cliques().iter().map(<[u32]>::to_vec).collect::<Vec<_>>(), expected);
    }

    /// Neither the numbers of vertices nor the order of edges shows, also where the list is incomplete.
    #[test]
    fn ranks_decide_and_numbers_do_not(
        (n, edges) in any_graph(30), seed in any::<u64>(), limit in prop_oneof![Just(1000_usize), 0..20_usize],
    ) {
        let rank = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 5;
        let forward: Vec<usize> = (0..n).collect();
        let mut shuffled = forward.clone();
        shuffled.sort_by_key(|&i| (i as u64 ^ seed).wrapping_mul(seed | 1));
        let in_ranks = |order: &[usize]| -> (bool, Vec<Vec<u64>>) {
            let graph = built(n, &edges, order, rank);
            let listing = maximal_cliques(&graph, limit);
            let ranks = |clique: &[u32]| clique.iter().map(|&v| graph.rank(v)).collect();
            (listing.is_complete(), listing.cliques().iter().map(ranks).collect())
        };
        let (complete, cliques) = in_ranks(&forward);
        prop_assert!(cliques.iter().all(|clique| clique.is_sorted()) && cliques.is_sorted());
        prop_assert_eq!((complete, cliques), in_ranks(&shuffled));
    }
}

/// Two triangles that share an edge.
#[test]
fn members_know_their_cliques() {
    let mut graph = ConflictGraph::with_vertices(4);
    for (a, b) in [(0, 1), (1, 2), (0, 2), (1, 3), (2, 3)] {
        assert_eq!(graph.add_edge(a, b), Ok(true));
    }
    let listing = maximal_cliques(&graph, 10);
    let membership = listing.cliques().membership();
    assert_eq!(listing.cliques().iter().collect::<Vec<_>>(), [[0, 1, 2], [1, 2, 3]]);
    let of: Vec<&[u32]> = (0..5).map(|v| membership.of(v)).collect();
    let expected: [&[u32]; 5] = [&[0], &[0, 1], &[0, 1], &[1], &[]];
    assert_eq!(of, expected);
}

#[test]
fn graphs_change() {
    let mut graph = ConflictGraph::with_vertices(3);
    assert_eq!(graph.add_edge(0, 1), Ok(true));
    assert_eq!(graph.add_edge(1, 0), Ok(false));
    assert_eq!(graph.add_edge(1, 1), Err(GraphError::Loop(1)));
    assert_eq!(graph.add_edge(1, 3), Err(GraphError::NoVertex(3)));
    assert!(graph.add_edge(1, 2).is_ok() && graph.remove_vertex(1) && !graph.remove_vertex(1));
    assert_eq!((graph.degree(0), graph.has_vertex(1), graph.adjacent(0, 1)), (0, false, false));
    assert_eq!((graph.add_vertex(7), graph.rank(1), graph.degree(1)), (1, 7, 0));
    // Beyond the first word of bits.
    for v in 3..200 {
        assert_eq!(graph.add_vertex(0), v);
        assert_eq!(graph.add_edge(v, v - 1), Ok(true));
    }
    assert!(graph.remove_edge(100, 99) && !graph.remove_edge(100, 99));
    assert_eq!(graph.neighbours(100).collect::<Vec<_>>(), [101]);
    assert_eq!(graph.complement().degree(100), 198);
    assert_eq!(graph.complement().complement().neighbours(150).collect::<Vec<_>>(), [149, 151]);
}

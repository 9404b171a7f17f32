//! Graphs whose maximal cliques can be counted by a formula.

use airfair_optimum::{
    ConflictGraph, Listing, Stopped, lists_all, lists_all_until, maximal_cliques, maximal_cliques_until,
    visit_maximal_cliques,
};
use core::cell::Cell;
use core::ops::ControlFlow;

/// The graph of `n` vertices with an edge wherever `edge` says so.
pub fn graph(n: u32, edge: impl Fn(u32, u32) -> bool) -> ConflictGraph {
    let mut graph = ConflictGraph::with_vertices(n);
    for a in 0..n {
        for b in (0..a).filter(|&b| edge(b, a)) {
            graph.add_edge(a, b).expect("two vertices of the graph");
        }
    }
    graph
}

pub fn cycle(n: u32) -> ConflictGraph {
    graph(n, |a, b| b - a == 1 || b - a == n - 1)
}

/// One vertex for each pair of `n` points; adjacent if they share no point. A maximal clique is a matching that is as large as possible.
fn johnson(n: u32) -> ConflictGraph {
    let pairs: Vec<(u32, u32)> = (0..n).flat_map(|a| (0..a).map(move |b| (b, a))).collect();
    graph(pairs.len() as u32, |a, b| {
        let ((a, b), (c, d)) = (pairs[a as usize], pairs[b as usize]);
        a != c && a != d && b != c && b != d
    })
}

fn count(graph: &ConflictGraph) -> usize {
    let mut found = 0;
    assert!(
        visit_maximal_cliques(graph, |_| {
            found += 1;
            ControlFlow::Continue(())
        })
        .is_continue()
    );
    found
}

/// J. Moon, L. Moser 1965: 3^k, one vertex of each part.
#[test]
fn complete_multipartite_graphs_with_parts_of_three() {
    for k in 1..9 {
        assert_eq!(count(&graph(3 * k, |a, b| a / 3 != b / 3)), 3_usize.pow(k));
    }
}

/// Graphs without triangles: each edge is a maximal clique.
#[test]
fn cubes_and_cycles() {
    for d in 1..9 {
        assert_eq!(count(&graph(1 << d, |a, b| (a ^ b).is_power_of_two())), d << (d - 1));
    }
    for n in 4..200 {
        assert_eq!(count(&cycle(n)), n as usize);
    }
    assert_eq!(count(&cycle(3)), 1);
}

#[test]
fn complete_graphs_and_graphs_without_edges() {
    for n in [1, 2, 63, 64, 65, 128, 500] {
        assert_eq!(count(&graph(n, |_, _| true)), 1);
        assert_eq!(count(&graph(n, |_, _| false)), n as usize);
    }
    assert_eq!(count(&ConflictGraph::new()), 0);
}

/// A chain of h links, each of which disturbs the next two: three in a row are a clique.
#[test]
fn chains() {
    for h in 3..150 {
        let chain = graph(h, |a, b| b - a <= 2);
        let Listing::Complete(cliques) = maximal_cliques(&chain, 1000) else { panic!("below the limit") };
        let windows: Vec<Vec<u32>> = (0..h - 2).map(|i| vec![i, i + 1, i + 2]).collect();
        assert_eq!(cliques.iter().collect::<Vec<_>>(), windows);
    }
}

/// Graphs of the second DIMACS challenge: the perfect matchings of 8 points, 7!!. Of 16 points there are 15!! = 2,027,025.
#[test]
fn matchings() {
    assert_eq!(count(&johnson(8)), 105);
}

#[test]
#[ignore = "a second when optimised, several otherwise"]
fn matchings_of_sixteen_points() {
    assert_eq!(count(&johnson(16)), 2_027_025);
}

/// Above the limit: as many as the limit, and every edge is covered by cliques that are maximal.
#[test]
fn more_than_the_limit() {
    let graph = johnson(16);
    let Listing::Incomplete(cliques) = maximal_cliques(&graph, 1000) else { panic!("2,027,025 cliques") };
    assert!(cliques.len() >= 1000 && cliques.len() < 1000 + 5460, "{}", cliques.len());
    let mut bare = graph.clone();
    let mut before: &[u32] = &[];
    for clique in cliques.iter() {
        assert!(before < clique, "sorted, and none twice");
        before = clique;
        assert_eq!(clique.len(), 8, "a perfect matching");
        for (i, &a) in clique.iter().enumerate() {
            for &b in &clique[..i] {
                assert!(graph.adjacent(a, b));
                bare.remove_edge(a, b);
            }
        }
    }
    assert!(bare.vertices().all(|v| bare.degree(v) == 0));
    // As many as the limit is not above the limit.
    assert!(maximal_cliques(&johnson(8), 105).is_complete());
    assert!(!maximal_cliques(&johnson(8), 104).is_complete());
    // Vertices without edges are covered, too.
    let Listing::Incomplete(cliques) = maximal_cliques(&ConflictGraph::with_vertices(9), 0) else {
        panic!("9 cliques")
    };
    assert_eq!(cliques.len(), 9);
}

/// Cliques that cover vertices and edges can be all that the limit has left out.
#[test]
fn a_list_beyond_the_limit_can_have_all_cliques() {
    for (graph, limit, all) in [
        (ConflictGraph::with_vertices(9), 0, true),
        (ConflictGraph::new(), 0, true),
        (cycle(5), 2, true),
        (johnson(8), 105, true),
        (johnson(8), 0, false),
    ] {
        assert_eq!(lists_all(&graph, &maximal_cliques(&graph, limit)), all);
    }
}

/// A caller that wants no more of it is asked before each clique, also before those that only cover edges, and is obeyed at once.
#[test]
fn a_search_ends_when_its_caller_wants_no_more() {
    let calls = Cell::new(0);
    let after = |most: u32| {
        calls.set(0);
        let calls = &calls;
        move || {
            calls.set(calls.get() + 1);
            calls.get() > most
        }
    };
    // 3^6 = 729 cliques.
    let graph = graph(18, |a, b| a / 3 != b / 3);
    for most in [0, 1, 500, 728] {
        assert_eq!(maximal_cliques_until(&graph, 1000, &after(most)), Err(Stopped));
        assert_eq!(calls.get(), most + 1);
        let some = maximal_cliques(&graph, 100);
        assert_eq!(lists_all_until(&graph, &some, &after(most.min(90))), Err(Stopped));
        assert_eq!(calls.get(), most.min(90) + 1);
    }
    assert_eq!(maximal_cliques_until(&graph, 1000, &after(729)).as_ref(), Ok(&maximal_cliques(&graph, 1000)));
    // The last question beyond the limit is asked by the search, the next ones where edges are covered.
    assert_eq!(maximal_cliques_until(&graph, 0, &after(1)), Err(Stopped));
    assert_eq!(calls.get(), 2);
}

/// Protein interactions of BioGRID, whose licence does not allow a copy here: `AIRFAIR_CLIQUE_INSTANCES` names a folder with lists of
/// edges, a pair of names in each line. Counts and degrees are those of other programs for cliques of two and more vertices.
#[test]
fn protein_interactions() {
    let Ok(folder) = std::env::var("AIRFAIR_CLIQUE_INSTANCES") else {
        eprintln!("AIRFAIR_CLIQUE_INSTANCES is not set: nothing compared with BioGRID");
        return;
    };
    for (name, expected) in [("biogrid-mouse.txt", 1518), ("biogrid-plant.txt", 2274)] {
        let file = std::path::Path::new(&folder).join(name);
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let pairs: Vec<(&str, &str)> =
            text.lines().filter_map(|line| line.split_once([' ', ',', '\t'])).collect();
        let mut names: Vec<&str> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        names.sort_unstable();
        names.dedup();
        let number = |name: &str| names.binary_search(&name).expect("in the list") as u32;
        let mut graph = ConflictGraph::with_vertices(names.len() as u32);
        for (a, b) in pairs.into_iter().filter(|(a, b)| a != b) {
            graph.add_edge(number(a), number(b)).expect("two vertices of the graph");
        }
        let listing = maximal_cliques(&graph, 1_000_000);
        assert_eq!(listing.cliques().iter().filter(|clique| clique.len() > 1).count(), expected, "{name}");
    }
}

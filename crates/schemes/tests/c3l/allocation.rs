//! §III-C: who gets what, worked by hand in the scenes of the paper's figure 1 and its section II.

use airfair_optimum::{Cliques, ConflictGraph, maximal_cliques};
use airfair_schemes::c3l::allocation::{Allocator, Assignment, Constraints, Flows, Limit};
use airfair_schemes::c3l::topology::Rules;

use super::{C, link, network};

/// The cliques of a conflict graph with `links` vertices.
fn conflicts(links: u32, edges: &[(u32, u32)]) -> Cliques {
    let mut graph = ConflictGraph::with_vertices(links);
    edges.iter().for_each(|&(a, b)| assert!(graph.add_edge(a, b).unwrap()));
    maximal_cliques(&graph, 1000).cliques().clone()
}

fn flows(routes: &[&[u32]]) -> Flows {
    let mut flows = Flows::new();
    for (rank, route) in (0..).zip(routes) {
        flows.push(rank, f64::INFINITY, route.iter().copied());
    }
    flows
}

/// Rates with links of C_max and cliques of this capacity, in C_max.
fn solve(cliques: &Cliques, capacity: &[f64], flows: &Flows) -> Assignment {
    let links = cliques.iter().flatten().max().map_or(0, |&link| link as usize + 1);
    let constraints = Constraints::new(cliques, |_, _| 1.0);
    let mut allocator = Allocator::new();
    let mut result = allocator.solve(&constraints, capacity, &vec![1.0 / C; links], flows).clone();
    assert_eq!(*allocator.assignment(), result);
    result.rates.iter_mut().chain(&mut result.links).for_each(|rate| *rate /= C);
    result
}

fn close(found: &[f64], wanted: &[f64]) {
    let equal = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
    assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(equal), "{found:?}, not {wanted:?}");
}

/// §II: F1 and F2 in one collision domain, F2 and F3 in another: B/2 each, not B/3.
#[test]
fn three_flows_in_two_collision_domains() {
    let cliques = conflicts(3, &[(0, 1), (1, 2)]);
    let result = solve(&cliques, &[1.0, 1.0], &flows(&[&[0], &[1], &[2]]));
    close(&result.rates, &[0.5; 3]);
    close(&result.links, &[0.5; 3]);
    // {0, 1} is the first clique: it assigns F1 and F2, and then F3 gets what F2 leaves in {1, 2}.
    assert_eq!(result.limits, [Limit::Clique(0), Limit::Clique(0), Limit::Clique(1)]);
}

/// Of three flows one is in both cliques: four pairs. Then both cliques are looked at, and that no other is left. Ten times as many flows
/// have ten times the pairs. A second solution counts anew.
#[test]
fn steps_count_what_an_allocation_costs() {
    let cliques = conflicts(3, &[(0, 1), (1, 2)]);
    let constraints = Constraints::new(&cliques, |_, _| 1.0);
    let mut allocator = Allocator::new();
    for (times, steps) in [(1, 4 + 3), (10, 40 + 3), (1, 4 + 3)] {
        let routes: Vec<&[u32]> = [&[0][..], &[1], &[2]].repeat(times);
        allocator.solve(&constraints, &[1.0, 1.0], &[1.0 / C; 3], &flows(&routes));
        assert_eq!(allocator.steps(), steps);
    }
}

/// Figure 1(a): F1 from 1 to 2, F2 from 3 to 4; 2 hears 3: one clique, half each.
#[test]
fn figure_1a() {
    let topology = network(Rules::default(), &[(1, 2), (2, 3), (3, 4)], &[], &[link(1, 2), link(3, 4)]);
    let result = solve(topology.cliques(), &[1.0], &flows(&[&[0], &[1]]));
    close(&result.rates, &[0.5; 2]);
}

/// Figure 1(b): a flow over three hops and one over the middle one. All links are in one clique: four sub-flows of C/4, and the link that
/// both share has C/2.
#[test]
fn figure_1b() {
    let used = [link(1, 2), link(2, 3), link(3, 4)];
    let topology = network(Rules::default(), &[(1, 2), (2, 3), (3, 4)], &[], &used);
    let result = solve(topology.cliques(), &[1.0], &flows(&[&[0, 1, 2], &[1]]));
    close(&result.rates, &[0.25; 2]);
    close(&result.links, &[0.25, 0.5, 0.25]);
    assert_eq!(result.limits, [Limit::Clique(0); 2]);
    // A flow that passes a link twice counts twice there.
    let result = solve(topology.cliques(), &[1.0], &flows(&[&[0, 1, 1, 2], &[1]]));
    close(&result.rates, &[0.2; 2]);
    close(&result.links, &[0.2, 0.6, 0.2]);
}

/// Figure 1(c): three flows from one node, one from another: shares of links as the numbers of their flows, C_max n / Σ n.
#[test]
fn figure_1c() {
    let near = [(1, 2), (1, 5)];
    let topology = network(Rules::default(), &near, &[(5, 6)], &[link(1, 2), link(5, 6)]);
    let result = solve(topology.cliques(), &[1.0], &flows(&[&[0], &[0], &[0], &[1]]));
    close(&result.rates, &[0.25; 4]);
    close(&result.links, &[0.75, 0.25]);
}

/// Cliques {0, 1, 2} and {2, 3}: flows 0, 1 and 2 get 1/3, and flow 3, alone with link 2, the rest of its clique, 2/3.
#[test]
fn what_a_flow_leaves_goes_to_others() {
    let cliques = conflicts(4, &[(0, 1), (0, 2), (1, 2), (2, 3)]);
    let result = solve(&cliques, &[1.0, 1.0], &flows(&[&[0], &[1], &[2], &[3]]));
    close(&result.rates, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]);
    // Nobody uses link 2: 1/2 and all.
    let result = solve(&cliques, &[1.0, 1.0], &flows(&[&[0], &[1], &[3]]));
    close(&result.rates, &[0.5, 0.5, 1.0]);
    close(&result.links, &[0.5, 0.5, 0.0, 1.0]);
}

/// The order of cliques changes on the way. {0, 1}: capacity 0.9 with two sub-flows, 0.45; {1, 2}: 1 with 2, 0.5; {2, 3}: 1.2 with two of
/// flow 2 and flow 3, at 0.6. First 0.45 for flows 0 and 1; then {1, 2} has 0.55 for flow 2 alone; then {2, 3} 0.65 for flow 3.
#[test]
fn the_most_constraining_clique_comes_first() {
    let cliques = conflicts(4, &[(0, 1), (1, 2), (2, 3)]);
    let result = solve(&cliques, &[0.9, 1.0, 1.2], &flows(&[&[0], &[1], &[2], &[3]]));
    close(&result.rates, &[0.45, 0.45, 0.55, 0.65]);
    assert_eq!(result.limits, [0, 0, 1, 2].map(Limit::Clique));
    // With 0.2 in the last clique: 0.1 for 2 and 3; {0, 1} 0.45; link 1 does not get more for what 2 leaves.
    let result = solve(&cliques, &[0.9, 1.0, 0.2], &flows(&[&[0], &[1], &[2], &[3]]));
    close(&result.rates, &[0.45, 0.45, 0.1, 0.1]);
    // With 0.6 in the middle: 0.3 for 1 and 2; then 0.6 for 0, 0.9 for 3.
    let result = solve(&cliques, &[0.9, 0.6, 1.2], &flows(&[&[0], &[1], &[2], &[3]]));
    close(&result.rates, &[0.6, 0.3, 0.3, 0.9]);
}

/// A lower bound that is out of date: {0, 1} stands at 0.5 when the flows of {0} at 0.1 are assigned, and has 0.9 for flow 1 then, above
/// {2}'s 0.6, which has to come first but does not touch it.
#[test]
fn a_ratio_grows_when_flows_get_rates_elsewhere() {
    let cliques = conflicts(4, &[(0, 1), (0, 2), (2, 3)]);
    // {0, 1}: 1; {0, 2}: 0.2; {2, 3}: 0.7.
    let result = solve(&cliques, &[1.0, 0.2, 0.7], &flows(&[&[0], &[1], &[2], &[3]]));
    close(&result.rates, &[0.1, 0.9, 0.1, 0.6]);
    assert_eq!(result.limits, [1, 0, 1, 2].map(Limit::Clique));
}

/// Two links in one clique, 2 and 1 Mbit/s alone: a flow each gets x with x/2 + x/1 = 1: 2/3 Mbit/s.
#[test]
fn links_of_different_rates_share_time() {
    let cliques = conflicts(2, &[(0, 1)]);
    let constraints = Constraints::new(&cliques, |_, _| 1.0);
    let mut allocator = Allocator::new();
    let result = allocator.solve(&constraints, &[1.0], &[0.5e-6, 1e-6], &flows(&[&[0], &[1]]));
    close(&result.rates, &[2e6 / 3.0, 2e6 / 3.0]);
}

/// A clique of three links, of which link 2 counts 1.7 times: x (1 + 1 + 1.7) = 1.
#[test]
fn a_link_that_counts_more() {
    let cliques = conflicts(3, &[(0, 1), (0, 2), (1, 2)]);
    let constraints = Constraints::new(&cliques, |link, clique| {
        assert_eq!(clique, [0, 1, 2]);
        if link == 2 { 1.7 } else { 1.0 }
    });
    assert_eq!(constraints.clique_count(), 1);
    assert_eq!(constraints.of(2).collect::<Vec<_>>(), [(0, 1.7)]);
    assert_eq!((constraints.of(3).len(), constraints.of(u32::MAX).len()), (0, 0));
    let mut allocator = Allocator::new();
    let result = allocator.solve(&constraints, &[1.0], &[1.0; 3], &flows(&[&[0], &[1], &[2]]));
    close(&result.rates, &[1.0 / 3.7; 3]);
}

/// Demands of 0.1 and 0.3 in a clique of four flows: 0.1, and 0.3 for each of the others; one that asks for 0.3 gets it by its demand.
#[test]
fn finite_demands_leave_the_rest_to_others() {
    let cliques = conflicts(1, &[]);
    let mut four = Flows::new();
    assert!(four.is_empty());
    for (rank, demand) in [(0, 0.1 * C), (1, 0.25 * C), (2, f64::INFINITY), (3, 0.9 * C)] {
        assert_eq!(four.push(rank, demand, [0]), rank as usize);
    }
    assert_eq!((four.len(), four.is_empty(), four.hops(2)), (4, false, &[0][..]));
    let result = solve(&cliques, &[1.0], &four);
    close(&result.rates, &[0.1, 0.25, 0.325, 0.325]);
    assert_eq!(result.limits, [Limit::Demand, Limit::Demand, Limit::Clique(0), Limit::Clique(0)]);
    // Exactly what there is: a demand that is met.
    let mut exact = Flows::new();
    exact.push(0, 0.5, [0]);
    exact.push(1, f64::INFINITY, [0]);
    let constraints = Constraints::new(&cliques, |_, _| 1.0);
    let limits = Allocator::new().solve(&constraints, &[1.0], &[1.0], &exact).limits.clone();
    assert_eq!(limits, [Limit::Demand, Limit::Clique(0)]);
    four.clear();
    assert!(four.is_empty());
    four.push(0, 1.0, [3, 4]);
    assert_eq!(four.hops(0), [3, 4]);
    four.clear();
    four.push(0, 0.5 * C, [0]);
    let result = solve(&cliques, &[1.0], &four);
    assert_eq!(result.limits, [Limit::Demand]);
    close(&result.links, &[0.5]);
}

/// Wired links cost nothing; a flow without cliques and demand has no limit; numbers that are none count as 0.
#[test]
fn numbers_that_are_none() {
    let cliques = conflicts(2, &[]);
    let mut some = flows(&[&[7], &[], &[0], &[1, 9]]);
    some.push(9, 5.0, [7]);
    some.push(10, f64::NAN, [0]);
    some.push(11, -1.0, [1]);
    let constraints = Constraints::new(&cliques, |_, _| 1.0);
    let mut allocator = Allocator::new();
    let result = allocator.solve(&constraints, &[f64::NAN], &[1.0, 1.0], &some);
    assert_eq!(result.rates, [f64::INFINITY, f64::INFINITY, 0.0, 0.0, 5.0, 0.0, 0.0]);
    assert_eq!(result.limits[0..2], [Limit::Nothing; 2]);
    assert_eq!(result.links, [0.0, 0.0]);
    for bad in [f64::NAN, -1.0, 0.0, f64::NEG_INFINITY] {
        let result = allocator.solve(&constraints, &[1.0; 2], &[bad, 1.0], &flows(&[&[0], &[1]]));
        assert_eq!((result.rates[0], result.rates[1]), (f64::INFINITY, 1.0));
        assert_eq!(result.limits, [Limit::Nothing, Limit::Clique(1)]);
    }
    let result =
        allocator.solve(&constraints, &[f64::INFINITY; 2], &[f64::INFINITY, 1e-300], &flows(&[&[0], &[1]]));
    assert!(result.rates.iter().all(|rate| rate.is_finite() && *rate > 0.0), "{result:?}");
    // Link 1 has no cost: it takes no air.
    let result = allocator.solve(&constraints, &[1.0; 2], &[1.0], &flows(&[&[0], &[1], &[0, 1]]));
    assert_eq!((&result.rates[..], &result.links[..]), (&[0.5, f64::INFINITY, 0.5][..], &[1.0][..]));
    let none = Constraints::default();
    let result = allocator.solve(&none, &[], &[], &Flows::new());
    assert_eq!(*result, Assignment::default());
}

/// Costs 1e9 apart: when the dear flow is assigned, what is left of the sum is added up anew, and the cheap ones fill the clique.
#[test]
fn costs_far_apart() {
    let cliques = conflicts(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]);
    let constraints = Constraints::new(&cliques, |_, _| 1.0);
    let cost = [1e-9, 3e-9, 1.0, 1.0];
    let mut allocator = Allocator::new();
    // {0, 1, 2} and {2, 3}: the second has 0.1 for two flows of cost 1: 0.05. The first: (1 - 0.05) / 4e-9.
    let result = allocator.solve(&constraints, &[1.0, 0.1], &cost, &flows(&[&[0], &[1], &[2], &[3]]));
    close(&result.rates, &[0.95 / 4e-9, 0.95 / 4e-9, 0.05, 0.05]);
}

/// The memory of an earlier problem is enough for one that is no larger.
#[test]
fn a_warm_allocator_allocates_nothing() {
    let cliques = conflicts(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
    let constraints = Constraints::new(&cliques, |_, _| 1.0);
    let mut flows = flows(&[&[0, 1, 2], &[3], &[4, 5], &[2, 3], &[5]]);
    flows.push(9, 0.01, [0]);
    let (capacity, cost) = ([1.0, 0.9, 0.8, 0.7, 0.6], [1.0; 6]);
    let mut allocator = Allocator::new();
    let first = allocator.solve(&constraints, &capacity, &cost, &flows).clone();
    let counted = allocation_counter::measure(|| {
        allocator.solve(&constraints, &capacity, &cost, &flows);
    });
    assert_eq!((counted.count_total, allocator.assignment()), (0, &first));
}

//! Schedules: graphs whose rates are known, and perfect graphs, in which cliques say all.

use airfair_optimum::{
    ConflictGraph, Flow, Problem, ProblemBuilder, TimeSharingError, WaterFilling, maximal_cliques,
    time_shared,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::families::{cycle, graph};

/// One flow on each link; weight and demand of each.
fn single(flows: &[(f64, f64)]) -> Problem {
    let mut builder = ProblemBuilder::new();
    for (link, &(weight, demand)) in (0..).zip(flows) {
        builder.resource(u64::from(link), 1.0);
        builder.flow(Flow { rank: u64::from(link), weight, demand, costs: &[(link, 1.0)] });
    }
    builder.build().expect("complete")
}

/// The same flows under the constraints of cliques.
fn by_cliques(graph: &ConflictGraph, flows: &[(f64, f64)]) -> Vec<f64> {
    let listing = maximal_cliques(graph, 1000);
    let membership = listing.cliques().membership();
    let mut builder = ProblemBuilder::new();
    builder.cliques(listing.cliques(), 1.0);
    for (link, &(weight, demand)) in (0..).zip(flows) {
        let costs = [(link, 1.0)];
        builder.routed_flow(Flow { rank: u64::from(link), weight, demand, costs: &costs }, &membership);
    }
    WaterFilling::new().solve(&builder.build().expect("complete")).rates.clone()
}

const EQUAL: [(f64, f64); 12] = [(1.0, f64::INFINITY); 12];

/// Checks that all links get `expected`, and that the schedule gives them that.
fn assert_all(graph: &ConflictGraph, expected: f64) {
    let n = graph.number_bound();
    let found = time_shared(graph, &single(&EQUAL[..n])).expect("few links");
    for rate in &found.rates {
        assert!((rate - expected).abs() < 1e-12, "{found:?}");
    }
    assert_schedule(graph, &found.schedule, &found.rates);
}

fn assert_schedule(graph: &ConflictGraph, schedule: &[(Vec<u32>, f64)], loads: &[f64]) {
    let mut active = vec![0.0; loads.len()];
    let mut all = 0.0;
    for (set, share) in schedule {
        for (i, &a) in set.iter().enumerate() {
            assert!(set[..i].iter().all(|&b| !graph.adjacent(a, b)));
            active[a as usize] += share;
        }
        all += share;
    }
    assert!(all <= 1.0 + 1e-9);
    assert!(active.iter().zip(loads).all(|(active, load)| *load <= active + 1e-9), "{active:?} {loads:?}");
}

/// In a cycle of 2k + 1 links at most k are active together, so each link has k / (2k + 1) of the time; the cliques would allow 1/2. In
/// the complement at most two are active: 2 / (2k + 1) instead of 1/k.
#[test]
fn odd_cycles_and_their_complements() {
    for k in 2..6_u32 {
        let n = f64::from(2 * k + 1);
        assert_all(&cycle(2 * k + 1), f64::from(k) / n);
        assert_all(&cycle(2 * k + 1).complement(), 2.0 / n);
        assert_eq!(
            by_cliques(&cycle(2 * k + 1), &EQUAL[..2 * k as usize + 1]),
            vec![0.5; 2 * k as usize + 1]
        );
    }
}

/// The pairs of five points, in conflict if they share none: at most four of ten are active together (Petersen's graph), so 2/5.
#[test]
fn petersens_graph() {
    let pairs: Vec<(u32, u32)> = (0..5).flat_map(|a| (0..a).map(move |b| (b, a))).collect();
    let petersen = graph(10, |a, b| {
        let ((a, b), (c, d)) = (pairs[a as usize], pairs[b as usize]);
        a != c && a != d && b != c && b != d
    });
    assert_all(&petersen, 0.4);
}

/// A cycle of five links whose first carries a tenth of its capacity: its neighbours share with their other neighbours, half each.
#[test]
fn what_a_demand_leaves() {
    let mut flows = EQUAL[..5].to_vec();
    flows[0].1 = 0.1;
    let found = time_shared(&cycle(5), &single(&flows)).expect("few links");
    // By hand: of an odd cycle at most two are active, so 2 = 0.1 + 4 r would be 0.475; and 2 r <= 1.
    for (rate, expected) in found.rates.iter().zip([0.1, 0.475, 0.475, 0.475, 0.475]) {
        assert!((rate - expected).abs() < 1e-12, "{found:?}");
    }
    assert_schedule(&cycle(5), &found.schedule, &found.rates);
}

/// Two links in conflict, one of capacity 0; flows over each, over both, and over none.
#[test]
fn nothing_to_share() {
    let mut builder = ProblemBuilder::new();
    builder.resource(0, 1.0);
    builder.resource(1, 0.0);
    let mut flow = |rank, demand, costs: &[(u32, f64)]| {
        builder.flow(Flow { rank, weight: 1.0, demand, costs });
    };
    flow(0, f64::INFINITY, &[(0, 2.0)]);
    flow(1, 1.0, &[(1, 1.0)]);
    flow(2, 1.0, &[(0, 1.0), (1, 1.0)]);
    flow(3, 7.0, &[]);
    flow(4, 0.0, &[]);
    let found = time_shared(&graph(2, |_, _| true), &builder.build().expect("complete")).expect("few links");
    assert_eq!(found.rates, [0.5, 0.0, 0.0, 7.0, 0.0]);
    let mut builder = ProblemBuilder::new();
    builder.flow(Flow { rank: 0, weight: 1.0, demand: 0.0, costs: &[] });
    let found = time_shared(&ConflictGraph::new(), &builder.build().expect("complete")).expect("no links");
    assert_eq!(found.rates, [0.0]);
}

#[test]
fn mistakes_are_named() {
    let thirteen = ConflictGraph::with_vertices(13);
    let many = [(1.0, 1.0); 13];
    assert_eq!(time_shared(&thirteen, &single(&many)), Err(TimeSharingError::TooManyLinks(13)));
    let error = TimeSharingError::NotTheLinks { resources: 4, vertices: 5 };
    assert_eq!(time_shared(&cycle(5), &single(&EQUAL[..4])), Err(error));
    assert_eq!(time_shared(&ConflictGraph::new(), &single(&[])).map(|found| found.rates), Ok(Vec::new()));
}

/// A flow of little weight stops with the others of its link, although its own part of the link's price is tiny.
#[test]
fn weights_do_not_decide_who_stops() {
    for weight in [1e-3, 1e-9, 1e-12, 1e-20] {
        let mut builder = ProblemBuilder::new();
        builder.resource(0, 1.0);
        builder.flow(Flow { rank: 0, weight: 1.0, demand: f64::INFINITY, costs: &[(0, 1.0)] });
        builder.flow(Flow { rank: 1, weight, demand: f64::INFINITY, costs: &[(0, 1.0)] });
        let found =
            time_shared(&graph(1, |_, _| false), &builder.build().expect("complete")).expect("one link");
        assert!((found.rates[1] / found.rates[0] / weight - 1.0).abs() < 1e-9, "{found:?}");
    }
}

/// A rate, often one that others have, too.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![(1..4_u8).prop_map(f64::from), 0.05..5.0]
}

/// A number from 0.01 to 100.
fn magnitude() -> impl Strategy<Value = f64> {
    (-2.0..2.0).prop_map(|exponent: f64| airfair_units::math::pow(10.0, exponent))
}

proptest! {
    /// Intervals of a line that overlap (links along a road): a perfect graph.
    #[test]
    fn cliques_say_all_in_perfect_graphs(
        intervals in vec((0..30_u32, 1..15_u32), 1..=12),
        flows in vec((prop_oneof![Just(1.0), number()], prop_oneof![Just(f64::INFINITY), number()]), 12),
    ) {
        let overlap = |a: u32, b: u32| {
            let ((a, long_a), (b, long_b)) = (intervals[a as usize], intervals[b as usize]);
            a < b + long_b && b < a + long_a
        };
        let graph = graph(intervals.len() as u32, overlap);
        let flows = &flows[..intervals.len()];
        let found = time_shared(&graph, &single(flows)).expect("few links");
        assert_schedule(&graph, &found.schedule, &found.rates);
        for (rate, expected) in found.rates.iter().zip(by_cliques(&graph, flows)) {
            prop_assert!((rate / expected - 1.0).abs() < 1e-9, "{rate} {expected}");
        }
    }

    /// Links that do not conflict are resources of water filling; numbers differ by four orders of magnitude. Rounding may prevent a
    /// solution, but there is no wrong one.
    #[test]
    fn links_without_conflicts_are_resources(
        capacities in vec(magnitude(), 1..6),
        flows in vec((magnitude(), prop_oneof![2 => Just(f64::INFINITY), 1 => magnitude()], vec((0..6_u32, magnitude()), 1..5)), 1..7),
    ) {
        let links = capacities.len() as u32;
        let mut builder = ProblemBuilder::new();
        for (rank, &capacity) in (0..).zip(&capacities) {
            builder.resource(rank, capacity);
        }
        for (rank, (weight, demand, costs)) in (0..).zip(&flows) {
            let costs: Vec<(u32, f64)> = costs.iter().map(|&(link, cost)| (link % links, cost)).collect();
            builder.flow(Flow { rank, weight: *weight, demand: *demand, costs: &costs });
        }
        let problem = builder.build().expect("complete");
        if let Ok(found) = time_shared(&graph(links, |_, _| false), &problem) {
            for (rate, expected) in found.rates.iter().zip(&WaterFilling::new().solve(&problem).rates) {
                prop_assert!((rate / expected - 1.0).abs() < 1e-7, "{rate} {expected}");
            }
        }
    }

    /// In any graph: a schedule exists, and the smallest level is no higher than the cliques allow.
    #[test]
    fn cliques_are_a_bound((n, edges) in crate::cliques::any_graph(12)) {
        let graph = graph(n as u32, |a, b| edges[a as usize * n + b as usize]);
        let found = time_shared(&graph, &single(&EQUAL[..n])).expect("few links");
        assert_schedule(&graph, &found.schedule, &found.rates);
        let least = |rates: &[f64]| rates.iter().copied().fold(f64::INFINITY, f64::min);
        prop_assert!(least(&found.rates) <= least(&by_cliques(&graph, &EQUAL[..n])) + 1e-12);
    }
}

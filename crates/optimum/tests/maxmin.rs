//! Max-min fair rates: published and hand-made cases, and the definition.

use airfair_optimum::{
    Allocation, Binding, ConflictGraph, Flow, Problem, ProblemBuilder, WaterFilling, maximal_cliques,
};
use proptest::prelude::*;

use crate::networks::{any_network, shuffled};

/// Costs that differ by more digits than a sum has: once the large one is gone, the small ones still count. By hand, capacity 4: the first
/// flow has its demand, and the others share the 3 that are left.
#[test]
fn small_costs_count_after_large_ones() {
    for tiny in [1e-8, 1e-25, 1e-40] {
        let mut builder = ProblemBuilder::new();
        builder.resource(0, 4.0);
        for (rank, demand, cost) in [(0, 1e-20, 1e20), (1, NO_LIMIT, tiny), (2, NO_LIMIT, 2.0 * tiny)] {
            builder.flow(Flow { rank, weight: 1.0, demand, costs: &[(0, cost)] });
        }
        let rates = solved(&builder.build().unwrap()).rates;
        for rate in &rates[1..] {
            assert!((rate * tiny - 1.0).abs() < 1e-12, "{rates:?}");
        }
    }
}

const NO_LIMIT: f64 = f64::INFINITY;

fn solved(problem: &Problem) -> Allocation {
    WaterFilling::new().solve(problem).clone()
}

/// Capacities of links; weight, demand and links of each flow; rates.
type Case = (&'static [f64], &'static [(f64, f64, &'static [u32])], &'static [f64]);

/// Cases of the tests of floodns (S. Kassing, <https://github.com/snkas/floodns>, MIT licence), with their rates.
const FLOODNS: [Case; 7] = [
    (
        &[10.0],
        &[(2.0, NO_LIMIT, &[0]), (2.6, NO_LIMIT, &[0]), (2.7, NO_LIMIT, &[0]), (2.7, NO_LIMIT, &[0])],
        &[2.0, 2.6, 2.7, 2.7],
    ),
    (
        &[10.0],
        &[(1.0, 2.0, &[0]), (1.0, 2.6, &[0]), (1.0, 4.0, &[0]), (1.0, 5.0, &[0])],
        &[2.0, 2.6, 2.7, 2.7],
    ),
    (
        &[16.0],
        &[(2.5, 4.0, &[0]), (4.0, 2.0, &[0]), (0.5, 10.0, &[0]), (1.0, 4.0, &[0])],
        &[4.0, 2.0, 6.0, 4.0],
    ),
    (
        &[16.0, 16.0],
        &[
            (2.5, 4.0, &[0]),
            (4.0, 2.0, &[0]),
            (0.5, 10.0, &[0]),
            (1.0, 4.0, &[0]),
            (2.5, 4.0, &[1]),
            (4.0, 2.0, &[1]),
            (0.5, 10.0, &[1]),
            (1.0, 4.0, &[1]),
        ],
        &[4.0, 2.0, 6.0, 4.0, 4.0, 2.0, 6.0, 4.0],
    ),
    (
        &[10.0, 10.0],
        &[(1.0, 1.0, &[0]), (1.0, 1.0, &[0]), (1.0, 1e4, &[0, 1]), (1.0, 1e4, &[1])],
        &[1.0, 1.0, 5.0, 5.0],
    ),
    (
        &[100.0, 35.0, 35.0, 35.0, 60.0, 60.0, 60.0],
        &[
            (1.0, NO_LIMIT, &[0, 1, 4]),
            (1.0, NO_LIMIT, &[0, 1, 4]),
            (1.0, NO_LIMIT, &[0, 2, 5]),
            (1.0, NO_LIMIT, &[0, 3, 6]),
        ],
        &[17.5, 17.5, 32.5, 32.5],
    ),
    (
        &[100.0, 35.0, 35.0, 35.0, 60.0, 60.0, 60.0],
        &[(1.0, NO_LIMIT, &[0, 1, 4]), (1.0, NO_LIMIT, &[0, 2, 5]), (1.0, NO_LIMIT, &[0, 3, 6])],
        &[100.0 / 3.0, 100.0 / 3.0, 100.0 / 3.0],
    ),
];

#[test]
fn published_cases() {
    for (capacities, flows, expected) in FLOODNS {
        let mut builder = ProblemBuilder::new();
        for (q, &capacity) in capacities.iter().enumerate() {
            builder.resource(q as u64, capacity);
        }
        for (f, &(weight, demand, links)) in flows.iter().enumerate() {
            let costs: Vec<(u32, f64)> = links.iter().map(|&link| (link, 1.0)).collect();
            builder.flow(Flow { rank: f as u64, weight, demand, costs: &costs });
        }
        let rates = solved(&builder.build().expect("complete")).rates;
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate / expected - 1.0).abs() < 1e-14, "{rates:?}");
        }
    }
}

/// A chain of three links in one clique, 1, 1 and 2 us/bit; a flow over all, a flow over the last, one of 50 kbit/s over the first.
///
/// All of the air: 4 r + 2 r + 0.05 = 1 (Mbit/s and us/bit), so r = 0.95 / 6.
#[test]
fn links_of_different_speed() {
    let mut graph = ConflictGraph::with_vertices(3);
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        graph.add_edge(a, b).expect("two vertices of the graph");
    }
    let listing = maximal_cliques(&graph, 10);
    let membership = listing.cliques().membership();
    let mut builder = ProblemBuilder::new();
    builder.cliques(listing.cliques(), 1.0);
    let mut flow = |rank, demand, costs: &[(u32, f64)]| {
        builder.routed_flow(Flow { rank, weight: 1.0, demand, costs }, &membership);
    };
    flow(0, NO_LIMIT, &[(0, 1e-6), (1, 1e-6), (2, 2e-6)]);
    flow(1, NO_LIMIT, &[(2, 2e-6)]);
    flow(2, 5e4, &[(0, 1e-6)]);
    let mut problem = builder.build().expect("complete");
    let fair = solved(&problem);
    for (rate, expected) in fair.rates.iter().zip([0.95e6 / 6.0, 0.95e6 / 6.0, 5e4]) {
        assert!((rate / expected - 1.0).abs() < 1e-14, "{fair:?}");
    }
    assert_eq!(fair.bindings, [Binding::Resource(0), Binding::Resource(0), Binding::Demand]);
    // No air at all.
    assert_eq!(problem.set_capacity(0, 0.0), Ok(()));
    assert_eq!(solved(&problem).rates, [0.0; 3]);
}

/// The rest of a large sum: 1000 flows stop at nearly all of a resource, the last gets the rest. In units of 2^-60 everything is an
/// integer, so that the rest is known exactly; sums in the usual way are accurate to 2^-53.
#[test]
fn large_sums_leave_accurate_rests() {
    const UNIT: f64 = 1.0 / (1_u64 << 60) as f64;
    let each = 1_152_921_503_453_925_u64;
    let rest = (1_u64 << 60) - 1000 * each;
    assert_eq!(rest, 1_152_921_976);
    let mut builder = ProblemBuilder::new();
    builder.resource(0, 1.0);
    for rank in 0..1000 {
        builder.flow(Flow { rank, weight: 1.0, demand: each as f64 * UNIT, costs: &[(0, 1.0)] });
    }
    builder.flow(Flow { rank: 1000, weight: 1e-9, demand: NO_LIMIT, costs: &[(0, 1.0)] });
    let last = solved(&builder.build().expect("complete")).rates[1000];
    assert!((last / (rest as f64 * UNIT) - 1.0).abs() < 1e-14, "{last}");
}

/// The rest of weights that differ by more than the precision of their sum: the last flow gets what the others leave.
#[test]
fn weights_may_differ_by_many_orders_of_magnitude() {
    for weights in [[1e40, 1e20, 1.0], [1e60, 1e-60, 1e-60], [1.0, 1e-20, 1e-40], [1e17, 1e17, 1e-17]] {
        let mut builder = ProblemBuilder::new();
        builder.resource(0, 1.0);
        for (rank, (weight, demand)) in (0..).zip(weights.into_iter().zip([0.3, 0.3, NO_LIMIT])) {
            builder.flow(Flow { rank, weight, demand, costs: &[(0, 1.0)] });
        }
        let fair = solved(&builder.build().expect("complete"));
        let total: f64 = fair.rates.iter().sum();
        assert!((total - 1.0).abs() < 1e-14, "{weights:?}: {fair:?}");
        assert!((fair.rates[0] - 0.3).abs() < 1e-14, "{weights:?}: {fair:?}");
    }
}

proptest! {
    /// Nothing is overfull, and each flow has its demand, or a full resource at which no other flow has a higher level.
    #[test]
    fn the_definition(network in any_network()) {
        let fair = solved(&network.problem());
        let used = network.used(&fair.rates);
        for (used, capacity) in used.iter().zip(&network.capacities) {
            prop_assert!(*used <= capacity * (1.0 + 1e-12));
        }
        let level = |f: usize| fair.rates[f] / network.flows[f].0;
        for (f, (_, demand, costs)) in network.flows.iter().enumerate() {
            prop_assert!(fair.rates[f] <= *demand);
            match fair.bindings[f] {
                Binding::Demand => prop_assert_eq!(fair.rates[f], *demand),
                Binding::Resource(q) => {
                    prop_assert!(costs.iter().any(|cost| cost.0 == q));
                    prop_assert!(used[q as usize] >= network.capacities[q as usize] * (1.0 - 1e-12));
                    for (other, (_, _, costs)) in network.flows.iter().enumerate() {
                        if costs.iter().any(|cost| cost.0 == q) {
                            prop_assert!(level(other) <= level(f) * (1.0 + 1e-9));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_order_of_input_changes_no_bit(network in any_network(), seed in any::<u64>()) {
        let (flows, resources) = (network.flows.len(), network.capacities.len());
        let fair = solved(&network.problem());
        let order = (shuffled(flows, seed), shuffled(resources, seed >> 7));
        let other = solved(&network.in_order(&order.0, &order.1));
        for (i, &f) in order.0.iter().enumerate() {
            prop_assert_eq!(other.rates[i].to_bits(), fair.rates[f].to_bits());
            let binding = match other.bindings[i] {
                Binding::Resource(q) => Binding::Resource(order.1[q as usize] as u32),
                Binding::Demand => Binding::Demand,
            };
            prop_assert_eq!(binding, fair.bindings[f]);
        }
    }

    /// Memory of another problem does not show.
    #[test]
    fn solvers_can_be_used_again(first in any_network(), second in any_network()) {
        let mut filling = WaterFilling::new();
        filling.solve(&first.problem());
        prop_assert_eq!(filling.solve(&second.problem()), &solved(&second.problem()));
    }
}

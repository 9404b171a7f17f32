//! Proportionally fair rates: cases by hand, and conditions of the optimum.

use airfair_optimum::{Flow, Problem, ProblemBuilder, ProportionalError, proportional, proportional_until};
use core::cell::Cell;
use proptest::prelude::*;

use crate::networks::{any_network, shuffled};

/// Weight, demand and costs of a flow.
type Row<'c> = (f64, f64, &'c [(u32, f64)]);

fn problem(capacities: &[f64], flows: &[Row<'_>]) -> Problem {
    let mut builder = ProblemBuilder::new();
    for (q, &capacity) in capacities.iter().enumerate() {
        builder.resource(q as u64, capacity);
    }
    for (f, &(weight, demand, costs)) in flows.iter().enumerate() {
        builder.flow(Flow { rank: f as u64, weight, demand, costs });
    }
    builder.build().expect("complete")
}

fn assert_rates(problem: &Problem, expected: &[f64]) {
    let found = proportional(problem).expect("a solution");
    for (rate, expected) in found.rates.iter().zip(expected) {
        assert!((rate / expected - 1.0).abs() < 1e-6, "{found:?}");
    }
    assert!(found.gap < 1e-11, "{found:?}");
}

/// A flow over n links and one flow on each of them: the long flow gets 1/(n + 1) (Kelly, Maulloo, Tan 1998).
#[test]
fn a_long_flow_against_short_ones() {
    for n in [1_u32, 2, 3, 10, 100] {
        let capacities = vec![1.0; n as usize];
        let long: Vec<(u32, f64)> = (0..n).map(|q| (q, 1.0)).collect();
        let short: Vec<[(u32, f64); 1]> = (0..n).map(|q| [(q, 1.0)]).collect();
        let mut flows: Vec<Row<'_>> = vec![(1.0, f64::INFINITY, &long)];
        flows.extend(short.iter().map(|costs| (1.0, f64::INFINITY, &costs[..])));
        let least = 1.0 / f64::from(n + 1);
        let expected: Vec<f64> = core::iter::once(least).chain(short.iter().map(|_| 1.0 - least)).collect();
        assert_rates(&problem(&capacities, &flows), &expected);
    }
}

/// At one resource each flow gets the share of its weight of the time, whatever its speed; what a demand leaves is for the others.
#[test]
fn one_resource() {
    let slow_and_fast: [Row<'_>; 2] =
        [(1.0, f64::INFINITY, &[(0, 1e-6)]), (3.0, f64::INFINITY, &[(0, 1e-7)])];
    assert_rates(&problem(&[1.0], &slow_and_fast), &[0.25e6, 7.5e6]);
    let limited: [Row<'_>; 3] =
        [(1.0, 0.1, &[(0, 1.0)]), (1.0, f64::INFINITY, &[(0, 1.0)]), (2.0, 50.0, &[(0, 1.0)])];
    assert_rates(&problem(&[1.0], &limited), &[0.1, 0.3, 0.6]);
    assert_rates(&problem(&[], &[(1.0, 7.0, &[])]), &[7.0]);
    assert_rates(&problem(&[1.0], &[]), &[]);
}

#[test]
fn what_has_no_solution() {
    let flows: [Row<'_>; 2] = [(1.0, 1.0, &[(0, 1.0)]), (1.0, 1.0, &[(1, 1.0)])];
    assert_eq!(proportional(&problem(&[1.0, 0.0], &flows)), Err(ProportionalError::NoRate { flow: 1 }));
    let many: Vec<Row<'_>> = vec![(1.0, 1.0, &[]); 2001];
    assert_eq!(proportional(&problem(&[], &many)), Err(ProportionalError::TooManyFlows(2001)));
}

/// A caller that wants no more of it is asked in each step.
#[test]
fn a_search_ends_when_its_caller_wants_no_more() {
    let flows: [Row<'_>; 2] = [(1.0, f64::INFINITY, &[(0, 1.0)]), (2.0, f64::INFINITY, &[(0, 3.0)])];
    let problem = problem(&[1.0], &flows);
    let calls = Cell::new(0);
    let stop = |most: u32| {
        calls.set(calls.get() + 1);
        calls.get() > most
    };
    assert_eq!(proportional_until(&problem, &|| stop(2)), Err(ProportionalError::Stopped));
    assert_eq!(calls.get(), 3);
    calls.set(0);
    assert_eq!(proportional_until(&problem, &|| stop(1000)), proportional(&problem));
    assert!((3..=200).contains(&calls.get()), "one a step: {}", calls.get());
}

proptest! {
    /// Constraints hold; every flow pays its weight (Karush-Kuhn-Tucker); prices times capacities prove the gap.
    #[test]
    fn conditions_of_the_optimum(network in any_network()) {
        let found = proportional(&network.problem()).expect("numbers that differ by 1e12");
        for (used, capacity) in network.used(&found.rates).iter().zip(&network.capacities) {
            prop_assert!(*used <= capacity * (1.0 + 1e-12));
        }
        for (f, (weight, demand, costs)) in network.flows.iter().enumerate() {
            prop_assert!(found.rates[f] <= *demand);
            let paid = found.rates[f] * costs.iter().map(|&(q, cost)| cost * found.prices[q as usize]).sum::<f64>();
            prop_assert!(paid <= weight * (1.0 + 1e-4), "{paid} of {weight}, {:?}", found);
            prop_assert!(paid >= weight * (1.0 - 1e-4) || found.rates[f] >= demand * (1.0 - 1e-4), "{paid} {weight} {:?}", found);
        }
    }

    #[test]
    fn the_order_of_input_changes_no_bit(network in any_network(), seed in any::<u64>()) {
        let found = proportional(&network.problem()).expect("a solution");
        let order = (shuffled(network.flows.len(), seed), shuffled(network.capacities.len(), seed >> 7));
        let other = proportional(&network.in_order(&order.0, &order.1)).expect("a solution");
        for (i, &f) in order.0.iter().enumerate() {
            prop_assert_eq!(other.rates[i].to_bits(), found.rates[f].to_bits());
        }
        prop_assert_eq!(other.gap.to_bits(), found.gap.to_bits());
    }
}

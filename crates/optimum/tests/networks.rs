//! Random problems.

use airfair_optimum::{Flow, Problem, ProblemBuilder};
use proptest::collection::vec;
use proptest::prelude::*;

/// Costs of a flow, by resource.
type Costs = Vec<(u32, f64)>;

/// A problem as lists.
#[derive(Debug, Clone)]
pub struct Network {
    pub capacities: Vec<f64>,
    /// Weight, demand and costs.
    pub flows: Vec<(f64, f64, Costs)>,
}

impl Network {
    /// The problem with flows and resources added in the given orders.
    pub fn in_order(&self, flows: &[usize], resources: &[usize]) -> Problem {
        let mut builder = ProblemBuilder::new();
        let mut index = vec![0; self.capacities.len()];
        for &q in resources {
            index[q] = builder.resource(q as u64 * 7 % 1009, self.capacities[q]);
        }
        for &f in flows {
            let (weight, demand, costs) = &self.flows[f];
            let costs: Costs = costs.iter().map(|&(q, cost)| (index[q as usize], cost)).collect();
            builder.flow(Flow {
                rank: f as u64 * 11 % 1009,
                weight: *weight,
                demand: *demand,
                costs: &costs,
            });
        }
        builder.build().expect("numbers in range")
    }

    pub fn problem(&self) -> Problem {
        let all = |n: usize| (0..n).collect::<Vec<_>>();
        self.in_order(&all(self.flows.len()), &all(self.capacities.len()))
    }

    /// The use of each resource by the flows, added up in another way than the crate does.
    pub fn used(&self, rates: &[f64]) -> Vec<f64> {
        let mut used = vec![0.0; self.capacities.len()];
        for ((_, _, costs), rate) in self.flows.iter().zip(rates) {
            for &(q, cost) in costs {
                used[q as usize] += cost * rate;
            }
        }
        used
    }
}

/// Numbers that are often equal, and often not.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (1..5_u8).prop_map(f64::from),
        0.01..10.0,
        (-6.0..6.0).prop_map(|exponent: f64| airfair_units::math::pow(10.0, exponent))
    ]
}

pub fn any_network() -> impl Strategy<Value = Network> {
    (1..8_usize).prop_flat_map(|resources| {
        let demand = prop_oneof![2 => Just(f64::INFINITY), 1 => number()];
        let weight = prop_oneof![2 => Just(1.0), 1 => number()];
        let costs = vec((0..resources as u32, number()), 1..6);
        (vec(number(), resources), vec((weight, demand, costs), 0..14))
            .prop_map(|(capacities, flows)| Network { capacities, flows })
    })
}

/// 0..n in another order.
pub fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| (i as u64 ^ seed).wrapping_mul(seed | 1));
    order
}

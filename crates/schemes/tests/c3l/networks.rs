//! Properties of allocations on random networks.

use std::collections::BTreeMap;

use airfair_optimum::{Cliques, Flow, ProblemBuilder, WaterFilling};
use airfair_schemes::c3l::allocation::{Allocator, Assignment, Constraints, Flows, Limit};
use airfair_schemes::c3l::capacity::{Capacities, CapacityConfig, LinkRound};
use airfair_schemes::c3l::discovery::Neighbour;
use airfair_schemes::c3l::topology::{Link, Rules, Topology};
use airfair_schemes::places::NodeId;
use airfair_units::Span;
use airfair_units::random::{Purpose, Stream};
use proptest::prelude::*;

use super::at;

const CASES: u32 = 1000;

/// A random network: nodes on a square, who hears whom by distance, and flows over random walks.
#[derive(Debug, Clone)]
struct Network {
    /// Node and what it hears.
    reports: Vec<(u32, Vec<Neighbour>)>,
    /// Number, demand and nodes of each flow.
    flows: Vec<(u64, f64, Vec<u32>)>,
}

impl Network {
    fn new(seed: u64, nodes: u32, flows: u64, finite: bool) -> Self {
        let mut random = Stream::new(seed, "network", Purpose::Source);
        let places: Vec<(f64, f64)> = (0..nodes).map(|_| (random.uniform(), random.uniform())).collect();
        let distance = |a: u32, b: u32| {
            let ((ax, ay), (bx, by)) = (places[a as usize], places[b as usize]);
            ((ax - bx) * (ax - bx) + (ay - by) * (ay - by)).sqrt()
        };
        // Names are not in the order of places.
        let name = |node: u32| node.wrapping_mul(2_654_435_761) ^ seed as u32;
        let reach = 0.25 + 0.2 * random.uniform();
        let reports = (0..nodes).map(|node| {
            let hears = |other: u32| {
                let far = distance(node, other);
                let part = |reach: f64| if far <= reach { 255 } else { 0 };
                Neighbour { node: NodeId(name(other)), hellos: part(reach), probes: part(1.4 * reach) }
            };
            (
                name(node),
                (0..nodes)
                    .filter(|&other| other != node && distance(node, other) <= 1.4 * reach)
                    .map(hears)
                    .collect(),
            )
        });
        let reports = reports.collect();
        let mut walks = Vec::new();
        for flow in 0..flows {
            let mut at = random.below(nodes);
            let mut walk = vec![name(at)];
            for _ in 0..1 + random.below(6) {
                let next: Vec<u32> =
                    (0..nodes).filter(|&other| other != at && distance(at, other) <= reach).collect();
                if next.is_empty() {
                    break;
                }
                at = next[random.below(next.len() as u32) as usize];
                walk.push(name(at));
            }
            if walk.len() > 1 {
                let demand =
                    if finite && random.below(2) == 0 { 4e5 * random.uniform() } else { f64::INFINITY };
                walks.push((flow.wrapping_mul(0x9e37_79b9_7f4a_7c15), demand, walk));
            }
        }
        Self { reports, flows: walks }
    }

    fn links(&self) -> Vec<Link> {
        let steps = |walk: &Vec<u32>| {
            walk.windows(2).map(|step| Link::new(NodeId(step[0]), NodeId(step[1]))).collect::<Vec<_>>()
        };
        self.flows.iter().flat_map(|flow| steps(&flow.2)).collect()
    }

    fn topology(&self, rules: Rules) -> Topology {
        let mut topology = Topology::new(rules);
        self.reports.iter().for_each(|(node, list)| topology.report(NodeId(*node), list, at(0)));
        topology.use_links(self.links(), at(0));
        topology.update();
        topology
    }

    fn flows(&self, topology: &Topology) -> Flows {
        let mut flows = Flows::new();
        for (rank, demand, walk) in &self.flows {
            let hops = walk
                .windows(2)
                .map(|step| topology.number(Link::new(NodeId(step[0]), NodeId(step[1]))).unwrap());
            flows.push(*rank, *demand, hops);
        }
        flows
    }

    /// In another order of everything.
    fn shuffled(&self, seed: u64) -> Self {
        fn shuffle<T>(list: &mut [T], random: &mut Stream) {
            for i in (1..list.len()).rev() {
                list.swap(i, random.below(i as u32 + 1) as usize);
            }
        }
        let mut random = Stream::new(seed, "shuffle", Purpose::Source);
        let mut other = self.clone();
        shuffle(&mut other.reports, &mut random);
        other.reports.iter_mut().for_each(|report| shuffle(&mut report.1, &mut random));
        shuffle(&mut other.flows, &mut random);
        other
    }
}

/// Seconds per bit of a link, 1 to 11 Mbit/s by its name.
fn cost(link: Link, equal: bool) -> f64 {
    if equal { 1e-6 } else { 1.0 / [1e6, 2e6, 5.5e6, 11e6][(link.rank() % 4) as usize] }
}

/// Capacity of a clique by its links, 0.05 to 1.
fn capacity(links: impl Iterator<Item = Link>) -> f64 {
    let sum = links.fold(0_u64, |sum, link| sum.wrapping_mul(31).wrapping_add(link.rank()));
    0.05 + 0.95 * (sum % 20) as f64 / 19.0
}

struct Solved {
    topology: Topology,
    flows: Flows,
    capacity: Vec<f64>,
    cost: Vec<f64>,
    result: Assignment,
}

fn solve(network: &Network, rules: Rules, equal: bool) -> Solved {
    let topology = network.topology(rules);
    let flows = network.flows(&topology);
    let link = |number: u32| topology.link(number).unwrap();
    let cost: Vec<f64> =
        (0..topology.number_bound() as u32).map(|number| cost(link(number), equal)).collect();
    let capacity: Vec<f64> =
        topology.cliques().iter().map(|clique| capacity(clique.iter().map(|&number| link(number)))).collect();
    let constraints = Constraints::new(topology.cliques(), |_, _| 1.0);
    let result = Allocator::new().solve(&constraints, &capacity, &cost, &flows).clone();
    Solved { topology, flows, capacity, cost, result }
}

/// Time that flows take of a clique, by flow.
fn taken(solved: &Solved, clique: &[u32]) -> Vec<f64> {
    let of = |flow: usize| {
        let hops = solved.flows.hops(flow).iter().filter(|link| clique.contains(link));
        hops.map(|&link| solved.cost[link as usize]).sum::<f64>() * solved.result.rates[flow]
    };
    (0..solved.flows.len()).map(of).collect()
}

/// The rates of `crates/optimum`.
fn optimum(network: &Network, solved: &Solved, cliques: &Cliques) -> Vec<f64> {
    let mut builder = ProblemBuilder::new();
    (0..)
        .zip(&solved.capacity)
        .for_each(|(rank, &capacity)| assert_eq!(builder.resource(rank, capacity), rank as u32));
    let membership = cliques.membership();
    for (at, (rank, demand, _)) in network.flows.iter().enumerate() {
        let costs: Vec<(u32, f64)> =
            solved.flows.hops(at).iter().map(|&link| (link, solved.cost[link as usize])).collect();
        builder.routed_flow(Flow { rank: *rank, weight: 1.0, demand: *demand, costs: &costs }, &membership);
    }
    WaterFilling::new().solve(&builder.build().unwrap()).rates.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    /// No clique is overfull; each flow has its demand or passes a full clique in which no flow has a higher rate, so that it cannot gain
    /// without one that has no more losing; shares of links are sums of rates; and the rates are those of the optimum's water filling.
    #[test]
    fn allocations_are_max_min_fair(
        seed in any::<u64>(),
        nodes in 2u32..24,
        flows in 1u64..30,
        finite in any::<bool>(),
        equal in any::<bool>(),
    ) {
        let network = Network::new(seed, nodes, flows, finite);
        let solved = solve(&network, Rules::default(), equal);
        let cliques = solved.topology.cliques();
        let rates = &solved.result.rates;
        let mut full = vec![false; cliques.len()];
        for (at, clique) in cliques.iter().enumerate() {
            let used: f64 = taken(&solved, clique).iter().sum();
            let capacity = solved.capacity[at];
            prop_assert!(used <= capacity * (1.0 + 1e-9), "clique {}: {} of {}", at, used, capacity);
            full[at] = used >= capacity * (1.0 - 1e-9);
        }
        for (flow, (_, demand, _)) in network.flows.iter().enumerate() {
            prop_assert!(rates[flow] <= *demand);
            match solved.result.limits[flow] {
                Limit::Demand => prop_assert_eq!(rates[flow], *demand),
                Limit::Clique(clique) => {
                    prop_assert!(full[clique as usize]);
                    let members = cliques.iter().nth(clique as usize).unwrap();
                    prop_assert!(solved.flows.hops(flow).iter().any(|link| members.contains(link)));
                    let others = taken(&solved, members);
                    let users = others.iter().zip(rates).filter(|(taken, _)| **taken > 0.0);
                    let richest = users.map(|(_, rate)| *rate);
                    prop_assert!(richest.fold(0.0, f64::max) <= rates[flow] * (1.0 + 1e-9));
                }
                Limit::Nothing => prop_assert!(false),
            }
        }
        let mut sums = vec![0.0; solved.topology.number_bound()];
        for (flow, rate) in rates.iter().enumerate() {
            solved.flows.hops(flow).iter().for_each(|&link| sums[link as usize] += rate);
        }
        for (sum, share) in sums.iter().zip(&solved.result.links) {
            prop_assert!((sum - share).abs() <= 1e-9 * sum);
        }
        for (rate, best) in rates.iter().zip(optimum(&network, &solved, cliques)) {
            prop_assert!((rate - best).abs() <= 1e-9 * best, "{} and {}", rate, best);
        }
    }

    /// Another order of reports, lists and flows, and so other numbers of links: the same bits by name. So does a network that has come to
    /// its state step by step.
    #[test]
    fn the_order_of_nodes_links_and_flows_changes_nothing(
        seed in any::<u64>(),
        nodes in 2u32..20,
        flows in 1u64..30,
        finite in any::<bool>(),
    ) {
        let network = Network::new(seed, nodes, flows, finite);
        let rules = Rules { keep: Span::ZERO, ..Rules::default() };
        let by_name = |network: &Network, solved: &Solved| -> (BTreeMap<u64, u64>, BTreeMap<Link, u64>) {
            let rates = network.flows.iter().zip(&solved.result.rates);
            let rates = rates.map(|(flow, rate)| (flow.0, rate.to_bits()));
            let link = |number: u32| solved.topology.link(number).unwrap();
            let shares = solved.result.links.iter().zip(0..);
            let shares = shares.map(|(share, number)| (link(number), share.to_bits()));
            (rates.collect(), shares.collect())
        };
        let first = solve(&network, rules, false);
        let other = network.shuffled(seed);
        let second = solve(&other, rules, false);
        prop_assert_eq!(by_name(&network, &first), by_name(&other, &second));
        // Step by step: from another network with the same names.
        let mut stepwise = Topology::new(rules);
        for (node, list) in &other.reports {
            stepwise.report(NodeId(*node), &list[..list.len() / 2], at(0));
        }
        let links = other.links();
        for (step, used) in (1..).zip(links.chunks(3)) {
            stepwise.use_links(used.iter().copied(), at(step));
            stepwise.update();
        }
        for (node, list) in &other.reports {
            stepwise.report(NodeId(*node), list, at(1000));
            stepwise.update();
        }
        stepwise.use_links(links.iter().copied(), at(2000));
        stepwise.update();
        prop_assert!(!stepwise.update());
        prop_assert_eq!(super::cliques(&stepwise), super::cliques(&first.topology));
    }

    /// One change after the other: the cliques are those of a graph that is made anew, whichever way they were found.
    #[test]
    fn cliques_are_kept_up_to_date(
        seed in any::<u64>(),
        nodes in 4u32..16,
        changes in prop::collection::vec((0u32..16, any::<u64>()), 1..12),
    ) {
        let network = Network::new(seed, nodes, 24, false);
        let rules = Rules { keep: Span::ZERO, ..Rules::default() };
        let mut topology = network.topology(rules);
        let mut now = network.clone();
        for (step, (which, with)) in (1..).zip(changes) {
            let at_report = which as usize % now.reports.len();
            if with % 2 == 0 {
                let gone = with as usize / 2;
                let list = &mut now.reports[at_report].1;
                if !list.is_empty() {
                    let gone = gone % list.len();
                    list.remove(gone);
                }
                topology.report(NodeId(now.reports[at_report].0), &now.reports[at_report].1, at(0));
            } else if now.flows.len() > 1 {
                now.flows.remove(which as usize % now.flows.len());
            }
            topology.use_links(now.links(), at(step));
            topology.update();
            prop_assert_eq!(super::cliques(&topology), super::cliques(&now.topology(rules)));
            for number in 0..topology.number_bound() as u32 {
                let link = topology.link(number).unwrap();
                prop_assert!(topology.number(link).is_none_or(|found| topology.link(found) == Some(link)));
            }
        }
    }

    /// Numbers of any kind: no panic, nothing negative, nothing that is no number.
    #[test]
    fn extreme_numbers(
        capacity in prop::collection::vec(any::<f64>(), 0..5),
        cost in prop::collection::vec(any::<f64>(), 0..5),
        weight in any::<f64>(),
        flows in prop::collection::vec(
            (any::<u64>(), any::<f64>(), prop::collection::vec(0u32..8, 0..6)), 0..8,
        ),
        rounds in prop::collection::vec((any::<[f64; 4]>(), any::<[bool; 2]>()), 5),
        config in any::<[f64; 4]>(),
    ) {
        let network = Network::new(1, 6, 3, false);
        let topology = network.topology(Rules::default());
        let constraints = Constraints::new(topology.cliques(), |_, _| weight);
        let mut given = Flows::new();
        flows.iter().for_each(|(rank, demand, hops)| { given.push(*rank, *demand, hops.iter().copied()); });
        let mut allocator = Allocator::new();
        let result = allocator.solve(&constraints, &capacity, &cost, &given);
        prop_assert!(result.rates.iter().chain(&result.links).all(|rate| *rate >= 0.0), "{:?}", result);
        let [increment, floor, w_factor, used] = config;
        let config = CapacityConfig { increment, floor, w_factor, used, ..CapacityConfig::default() };
        let mut capacities = Capacities::new(config);
        capacities.set_cliques(topology.cliques(), |number| topology.link(number).unwrap());
        let rounds: Vec<LinkRound> = rounds.iter().map(|(numbers, flags)| {
            let [assigned, used, transmissions, cost] = *numbers;
            LinkRound {
                assigned,
                used,
                transmissions,
                cost,
                overloaded: flags[0],
                heard: flags[1],
                ..LinkRound::default()
            }
        }).collect();
        for _ in 0..3 {
            capacities.reestimate(topology.cliques(), topology.membership(), &rounds, |_, _| true, u64::MAX);
        }
    }
}

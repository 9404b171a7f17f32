//! The cost of C3L's laws: allocations on a grid and in a large network with gateways, the topology, a round of re-estimation.
//!
//! `bench-c3l` prints a Markdown table. Times are wall times, the best of several; "first" has no memory from an earlier problem.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hint::black_box;
use std::time::Instant;

use airfair_schemes::c3l::allocation::{Allocator, Constraints, Flows};
use airfair_schemes::c3l::capacity::{Capacities, CapacityConfig, LinkRound};
use airfair_schemes::c3l::discovery::Neighbour;
use airfair_schemes::c3l::profile::Passing;
use airfair_schemes::c3l::round::{LinkReport, RoundConfig, Rounds};
use airfair_schemes::c3l::topology::{Link, Rules, Topology, Vertices};
use airfair_schemes::places::{FlowId, NodeId};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};

/// Seconds per bit at 2 Mbit/s with RTS/CTS and 1000 B.
const COST: f64 = 1.0 / 1.394e6;

/// Nodes in a grid: neighbours communicate, diagonal ones interfere.
struct Grid {
    columns: i32,
    rows: i32,
}

impl Grid {
    fn node(&self, x: i32, y: i32) -> u32 {
        (y * self.columns + x) as u32
    }

    fn place(&self, node: u32) -> (i32, i32) {
        (node as i32 % self.columns, node as i32 / self.columns)
    }

    fn near(&self, node: u32, diagonal: bool) -> impl Iterator<Item = u32> + '_ {
        let (x, y) = self.place(node);
        let steps = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)));
        let wanted = move |&(dx, dy): &(i32, i32)| {
            (dx, dy) != (0, 0)
                && (diagonal || dx == 0 || dy == 0)
                && (0..self.columns).contains(&(x + dx))
                && (0..self.rows).contains(&(y + dy))
        };
        steps.filter(wanted).map(move |(dx, dy)| self.node(x + dx, y + dy))
    }

    fn heard(&self, node: u32) -> Vec<Neighbour> {
        let side: Vec<u32> = self.near(node, false).collect();
        let listed = |other: u32| {
            let hellos = if side.contains(&other) { 255 } else { 0 };
            Neighbour { node: NodeId(other), hellos, probes: 255 }
        };
        self.near(node, true).map(listed).collect()
    }

    fn topology(&self, rules: Rules, used: &[Link]) -> Topology {
        let mut topology = Topology::new(rules);
        for node in 0..(self.columns * self.rows) as u32 {
            topology.report(NodeId(node), &self.heard(node), Time::ZERO);
        }
        topology.use_links(used.iter().copied(), Time::ZERO);
        topology.update();
        topology
    }

    /// Flows between random nodes, first along the row, then along the column.
    fn random_flows(&self, count: u32) -> Vec<Vec<u32>> {
        let mut random = Stream::new(1, "flows", Purpose::Source);
        let nodes = (self.columns * self.rows) as u32;
        let mut flows = Vec::new();
        while flows.len() < count as usize {
            let (mut at, to) = (self.place(random.below(nodes)), self.place(random.below(nodes)));
            if at == to {
                continue;
            }
            let mut path = vec![self.node(at.0, at.1)];
            while at != to {
                if at.0 == to.0 {
                    at.1 += (to.1 - at.1).signum();
                } else {
                    at.0 += (to.0 - at.0).signum();
                }
                path.push(self.node(at.0, at.1));
            }
            flows.push(path);
        }
        flows
    }

    /// Flows from random nodes to the nearest of some gateways.
    fn gateway_flows(&self, count: u32, gateways: u32) -> Vec<Vec<u32>> {
        let mut random = Stream::new(1, "gateways", Purpose::Source);
        let nodes = (self.columns * self.rows) as u32;
        let mut next = vec![u32::MAX; nodes as usize];
        let mut queue = VecDeque::new();
        for _ in 0..gateways {
            let gateway = random.below(nodes);
            next[gateway as usize] = gateway;
            queue.push_back(gateway);
        }
        while let Some(node) = queue.pop_front() {
            for other in self.near(node, false) {
                if next[other as usize] == u32::MAX {
                    next[other as usize] = node;
                    queue.push_back(other);
                }
            }
        }
        let mut flows = Vec::new();
        while flows.len() < count as usize {
            let mut path = vec![random.below(nodes)];
            while let Some(&at) = path.last()
                && next[at as usize] != at
            {
                path.push(next[at as usize]);
            }
            if path.len() > 1 {
                flows.push(path);
            }
        }
        flows
    }
}

fn steps(path: &[u32]) -> impl Iterator<Item = Link> + '_ {
    path.windows(2).map(|step| Link::new(NodeId(step[0]), NodeId(step[1])))
}

/// Best time of several, us.
fn best<T>(repeats: usize, mut work: impl FnMut() -> T) -> f64 {
    let times = (0..repeats).map(|_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64() * 1e6
    });
    times.fold(f64::INFINITY, f64::min)
}

fn row(what: &str, of: &str, us: f64) {
    println!("| {what} | {of} | {us:.1} |");
}

/// The allocation of these flows, cold and warm.
fn allocations(name: &str, topology: &Topology, paths: &[Vec<u32>], repeats: usize) {
    let constraints = Constraints::new(topology.cliques(), |_, _| 1.0);
    let mut flows = Flows::new();
    for (rank, path) in (0..).zip(paths) {
        let numbers = steps(path).map(|link| topology.number(link).expect("a link in use"));
        flows.push(rank, f64::INFINITY, numbers);
    }
    let hops = paths.iter().map(|path| path.len() - 1).sum::<usize>() as f64 / paths.len() as f64;
    let capacity = vec![1.0; topology.cliques().len()];
    let cost = vec![COST; topology.number_bound()];
    let of = format!("{name}, {} flows, {hops:.1} hops, {} cliques", paths.len(), capacity.len());
    let first = best(repeats, || {
        let mut allocator = Allocator::new();
        allocator.solve(&constraints, &capacity, &cost, &flows).rates[0]
    });
    row("allocation, first", &of, first);
    let mut allocator = Allocator::new();
    allocator.solve(&constraints, &capacity, &cost, &flows);
    row(
        "allocation",
        &of,
        best(repeats, || allocator.solve(&constraints, &capacity, &cost, &flows).rates[0]),
    );
}

/// Rounds of a controller: all nodes report who they hear, their links and their flows; then one without a change, and one in which an
/// eighth of the links are overloaded.
fn whole_rounds(grid: &Grid, paths: &[Vec<u32>]) {
    let mut links: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    let mut flows: BTreeMap<NodeId, Vec<Passing>> = BTreeMap::new();
    for (flow, path) in (0..).zip(paths) {
        for step in steps(path) {
            links.entry(step.from).or_default().insert(step.to);
            let passing = Passing { flow: FlowId(flow), next_hop: step.to, demand: f64::INFINITY, rate: 0.0 };
            flows.entry(step.from).or_default().push(passing);
        }
    }
    let mut controller = Rounds::new(RoundConfig::default());
    let mut now = Time::ZERO;
    let of = format!("100 x 50, {} flows", paths.len());
    for (what, overloads, listed) in [
        ("first round, with its reports", false, true),
        ("round without a change, with its reports", false, false),
        ("round with overloaded links, with its reports", true, false),
        ("the next one", true, false),
    ] {
        let us = best(1, || {
            for node in 0..(grid.columns * grid.rows) as u32 {
                let id = NodeId(node);
                let report = |to: &NodeId| LinkReport {
                    to: *to,
                    goodput: 1.0 / COST,
                    used: 3_000.0,
                    transmissions: 1.2,
                    overloaded: overloads && node.is_multiple_of(8),
                    lost: 0.0,
                };
                let reports: Vec<LinkReport> = links.get(&id).into_iter().flatten().map(report).collect();
                let heard = grid.heard(node);
                let passing = flows.get(&id).cloned().unwrap_or_default();
                controller.report(id, &reports, passing, listed.then_some(&heard[..]), now);
            }
            controller.run(now);
            controller.shares().len()
        });
        row(what, &of, us);
        now += Span::from_secs(8);
    }
}

fn main() {
    println!("| what | of | us |\n|---|---|---|");
    let grid = Grid { columns: 8, rows: 8 };
    let all = Rules { vertices: Vertices::Usable, ..Rules::default() };
    for count in [20, 50, 100, 200, 400] {
        let paths = grid.random_flows(count);
        let used: Vec<Link> = paths.iter().flat_map(|path| steps(path)).collect();
        allocations("8 x 8", &grid.topology(all, &used), &paths, 1000);
        if count == 100 {
            allocations("8 x 8, links in use", &grid.topology(Rules::default(), &used), &paths, 1000);
        }
    }
    row("topology from reports", "8 x 8", best(9, || grid.topology(all, &[]).cliques().len()));
    let paths = grid.random_flows(100);
    let used: Vec<Link> = paths.iter().flat_map(|path| steps(path)).collect();
    let rules = Rules { keep: Span::ZERO, ..Rules::default() };
    let mut topology = grid.topology(rules, &used);
    let unchanged = best(1000, || {
        topology.use_links(used.iter().copied(), Time(1));
        topology.update()
    });
    row("topology without a change", "8 x 8, 100 flows", unchanged);
    let fewer: Vec<Link> = used.iter().copied().filter(|&link| link != used[0]).collect();
    let mut turn = 1;
    let one = best(101, || {
        turn += 1;
        let now = if turn % 2 == 0 { &fewer } else { &used };
        topology.use_links(now.iter().copied(), Time(turn));
        assert!(topology.update());
    });
    row("a link comes or goes", "8 x 8, 100 flows", one);
    topology.use_links(used.iter().copied(), Time(turn + 1));
    topology.update();
    let mut capacities = Capacities::new(CapacityConfig::default());
    capacities.set_cliques(topology.cliques(), |number| topology.link(number).expect("a link in use"));
    let rounds: Vec<LinkRound> = (0..topology.number_bound())
        .map(|number| LinkRound {
            assigned: 30_000.0,
            used: 30_000.0,
            transmissions: 1.2,
            cost: COST,
            overloaded: number % 8 == 0,
            heard: true,
            answers: 0.0,
            settling: false,
        })
        .collect();
    let link = |number| topology.link(number).expect("a link in use");
    let round = best(100, || {
        let hidden = |a, b| topology.hidden(link(a), link(b));
        capacities.reestimate(topology.cliques(), topology.membership(), &rounds, hidden, u64::MAX);
        capacities.capacities()[0]
    });
    row("re-estimation", "8 x 8, every eighth link overloaded", round);
    let large = Grid { columns: 100, rows: 50 };
    let mut topology = None;
    for count in [2_500, 5_000, 10_000] {
        let paths = large.gateway_flows(count, 50);
        let used: Vec<Link> = paths.iter().flat_map(|path| steps(path)).collect();
        let time = best(1, || topology = Some(large.topology(Rules::default(), &used)));
        row("topology from reports", &format!("100 x 50, {count} flows"), time);
        let topology = topology.as_ref().expect("just made");
        allocations("100 x 50, 50 gateways", topology, &paths, 5);
        whole_rounds(&large, &paths);
    }
}

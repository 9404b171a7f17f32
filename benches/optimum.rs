//! The cost of cliques and rates: grids of nodes with links in both directions, links in conflict if their ends are near.
//!
//! `bench-optimum` prints a Markdown table. Times are wall times of a busy machine, the best of several.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::hint::black_box;
use std::time::Instant;

use airfair_optimum::{
    CliqueSet, ConflictGraph, Flow, Listing, Membership, Problem, ProblemBuilder, WaterFilling,
    maximal_cliques, proportional,
};
use airfair_units::random::{Purpose, Stream};

const REPEATS: usize = 9;

/// Seconds per bit at 11 Mbit/s, without overhead.
const COST: f64 = 1.0 / 11e6;

/// A node by column and row.
type Node = (i32, i32);

/// Nodes in `columns` and `rows`, a link each way between neighbours; two links are in conflict if an end of the one is at most `reach`
/// steps from an end of the other.
struct Grid {
    columns: i32,
    rows: i32,
    reach: i32,
    links: Vec<(Node, Node)>,
}

impl Grid {
    fn new(columns: i32, rows: i32, reach: i32) -> Self {
        let nodes = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
        let links = nodes.flat_map(|(x, y)| {
            let near = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)];
            near.into_iter().map(move |other| ((x, y), other))
        });
        let inside = |(x, y): Node| (0..columns).contains(&x) && (0..rows).contains(&y);
        let links = links.filter(|&(_, to)| inside(to)).collect();
        Self { columns, rows, reach, links }
    }

    fn conflict(&self, a: usize, b: usize) -> bool {
        let ((a, b), (c, d)) = (self.links[a], self.links[b]);
        let near = |p: Node, q: Node| (p.0 - q.0).abs() + (p.1 - q.1).abs() <= self.reach;
        near(a, c) || near(a, d) || near(b, c) || near(b, d)
    }

    fn graph(&self) -> ConflictGraph {
        let mut graph = ConflictGraph::with_vertices(self.links.len() as u32);
        for a in 0..self.links.len() {
            for b in (0..a).filter(|&b| self.conflict(a, b)) {
                graph.add_edge(a as u32, b as u32).expect("two links");
            }
        }
        graph
    }

    /// Flows between random nodes at most `far` steps apart in each direction, first along the row, then along the column.
    fn flows(&self, flows: u64, far: i32, membership: &Membership, cliques: &Listing) -> Problem {
        let mut random = Stream::new(1, "flows", Purpose::Source);
        let mut builder = ProblemBuilder::new();
        builder.cliques(cliques.cliques(), 1.0);
        let mut rank = 0;
        while rank < flows {
            let mut draw = |n: i32| random.below(n as u32) as i32;
            let (mut at, to) = ((draw(self.columns), draw(self.rows)), (draw(self.columns), draw(self.rows)));
            if at == to || (at.0 - to.0).abs() > far || (at.1 - to.1).abs() > far {
                continue;
            }
            let mut costs = Vec::new();
            while at != to {
                let next = if at.0 == to.0 {
                    (at.0, at.1 + (to.1 - at.1).signum())
                } else {
                    (at.0 + (to.0 - at.0).signum(), at.1)
                };
                let link = self.links.binary_search_by_key(&(at.1, at.0), |link| (link.0.1, link.0.0));
                let link = link.expect("a node has links");
                let first = self.links[..link].partition_point(|link| (link.0.1, link.0.0) < (at.1, at.0));
                let of_node = (first..).find(|&i| self.links[i] == (at, next)).expect("neighbours");
                costs.push((of_node as u32, COST));
                at = next;
            }
            builder.routed_flow(Flow { rank, weight: 1.0, demand: f64::INFINITY, costs: &costs }, membership);
            rank += 1;
        }
        builder.build().expect("complete")
    }
}

/// 100 flows, each at a tenth of 2,000 resources.
fn dense() -> Problem {
    let mut random = Stream::new(1, "dense", Purpose::Source);
    let mut builder = ProblemBuilder::new();
    for rank in 0..2000 {
        builder.resource(rank, 1.0);
    }
    for rank in 0..100 {
        let used = (0..2000).filter(|_| random.below(10) == 0);
        let costs: Vec<(u32, f64)> = used.map(|q| (q, COST)).collect();
        builder.flow(Flow { rank, weight: 1.0, demand: f64::INFINITY, costs: &costs });
    }
    builder.build().expect("complete")
}

/// Best time of several, ms.
fn best<T>(repeats: usize, mut work: impl FnMut() -> T) -> f64 {
    let times = (0..repeats).map(|_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}

fn row(what: &str, of: &str, ms: f64) {
    println!("| {what} | {of} | {ms:.4} |");
}

fn main() {
    println!("| what | of | ms |\n|---|---|---|");
    for reach in [1, 2] {
        let grid = Grid::new(8, 8, reach);
        let graph = grid.graph();
        let edges = graph.vertices().map(|v| graph.degree(v)).sum::<usize>() / 2;
        let listing = maximal_cliques(&graph, 1_000_000);
        let cliques = listing.cliques();
        let of = format!(
            "{} links, reach {reach}: {edges} conflicts, {} cliques",
            grid.links.len(),
            cliques.len()
        );
        row("all cliques", &of, best(REPEATS, || maximal_cliques(&graph, 1_000_000)));
        let at =
            |node: Node| (0..).zip(&grid.links).filter(move |(_, link)| link.0 == node || link.1 == node);
        let mut set = CliqueSet::new(graph.clone(), 1_000_000);
        let (mut without, mut with, mut one) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        for _ in 0..REPEATS {
            let gone: Vec<u32> = at((4, 4)).map(|(i, _)| i).collect();
            without = without.min(best(1, || gone.iter().for_each(|&v| assert!(set.remove_vertex(v)))));
            let mut missing: Vec<Vec<u32>> = Vec::new();
            for (i, &v) in gone.iter().enumerate() {
                missing.push(graph.neighbours(v).filter(|u| !gone[i..].contains(u)).collect());
            }
            // Numbers are given back in ascending order.
            let add = |set: &mut CliqueSet, i: usize| {
                assert_eq!(set.add_vertex(u64::from(gone[i]), &missing[i]), Ok(gone[i]));
            };
            with = with.min(best(1, || (0..gone.len()).for_each(|i| add(&mut set, i))));
            assert!(set.remove_vertex(gone[7]));
            let near: Vec<u32> = graph.neighbours(gone[7]).collect();
            one = one.min(best(1, || set.add_vertex(u64::from(gone[7]), &near)));
        }
        assert_eq!(set.listing(), listing);
        row("remove a node", "8 links of it", without);
        row("add a node", "8 links of it", with);
        row("add a link", "", one);
        let membership = cliques.membership();
        for flows in [20, 100] {
            let of = format!("{flows} flows, {} cliques", cliques.len());
            row("problem", &of, best(REPEATS, || grid.flows(flows, 8, &membership, &listing)));
            let problem = grid.flows(flows, 8, &membership, &listing);
            let mut filling = WaterFilling::new();
            filling.solve(&problem);
            row("max-min", &of, best(1000, || filling.solve(&problem).rates[0]));
            row("proportional", &of, best(20, || proportional(&problem).expect("a solution").gap));
        }
    }
    let problem = dense();
    let of = "100 flows, each at 200 of 2,000 resources";
    let mut filling = WaterFilling::new();
    row("max-min", of, best(100, || filling.solve(&problem).rates[0]));
    row("proportional", of, best(20, || proportional(&problem).expect("a solution").gap));
    let grid = Grid::new(72, 70, 1);
    let graph = grid.graph();
    let mut listing = None;
    let time = best(1, || listing = Some(maximal_cliques(&graph, 1_000_000)));
    let listing = listing.expect("measured");
    let cliques = listing.cliques();
    row("all cliques", &format!("{} links, {} cliques", grid.links.len(), cliques.len()), time);
    let membership = cliques.membership();
    for far in [8, 80] {
        let of = format!("10,000 flows, at most {far} steps each way");
        row("problem", &of, best(1, || grid.flows(10_000, far, &membership, &listing)));
        let problem = grid.flows(10_000, far, &membership, &listing);
        let mut filling = WaterFilling::new();
        filling.solve(&problem);
        row("max-min", &of, best(3, || filling.solve(&problem).rates[0]));
    }
}

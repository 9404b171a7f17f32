//! The search for all maximal cliques: Bron-Kerbosch with pivots, the vertices of the outermost level in degeneracy order.
//!
//! C. Bron, J. Kerbosch, "Algorithm 457: finding all cliques of an undirected graph", Communications of the ACM 16(9), 1973; the pivot
//! with the most neighbours among the candidates: E. Tomita, A. Tanaka, H. Takahashi, "The worst-case time complexity for generating all
//! maximal cliques", Theoretical Computer Science 363(1), 2006; degeneracy order: D. Eppstein, M. Löffler, D. Strash, "Listing all
//! maximal cliques in sparse graphs in near-optimal time", ISAAC 2010.
//!
//! Deviation: levels are on a stack of their own instead of the program's, so that a large clique cannot exhaust the latter.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::bits;
use crate::graph::ConflictGraph;

/// Calls `visit` with the vertices of each maximal clique, until it breaks. Every clique is visited once. A vertex without neighbours is
/// a clique. The order of cliques follows the ranks of the vertices; the order of a clique's vertices is not defined.
pub fn visit_maximal_cliques(
    graph: &ConflictGraph,
    visit: impl FnMut(&[u32]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut unlimited = u64::MAX;
    visit_within(graph, &mut unlimited, visit)
}

/// As [`visit_maximal_cliques`], until the work is used up that the search may still do: words of sets looked at. Then it breaks.
pub(crate) fn visit_within(
    graph: &ConflictGraph,
    work: &mut u64,
    mut visit: impl FnMut(&[u32]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let order = degeneracy_order(graph, work)?;
    // Places in the order, by number.
    let mut place = vec![0; graph.number_bound()];
    for (i, &v) in order.iter().enumerate() {
        place[v as usize] = i;
    }
    let mut search = Search { local: vec![0; graph.number_bound()], ..Search::default() };
    for (i, &v) in order.iter().enumerate() {
        search.vertices.clear();
        search.vertices.extend(graph.neighbours(v));
        search.vertices.sort_unstable_by_key(|&u| (place[u as usize] < i, place[u as usize]));
        let candidates = search.vertices.partition_point(|&u| place[u as usize] > i);
        search.start(graph, graph.row(v), candidates, work)?;
        search.run(&[v], work, &mut visit)?;
    }
    ControlFlow::Continue(())
}

/// Calls `visit` with each maximal clique that contains the vertices of `center`, which are adjacent to one another, until it breaks, or
/// the work is used up. The order of cliques is not defined. `search`: of earlier calls, so that a call costs no memory.
pub(crate) fn visit_maximal_cliques_with(
    graph: &ConflictGraph,
    center: &[u32],
    search: &mut Search,
    work: &mut u64,
    mut visit: impl FnMut(&[u32]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some((&first, rest)) = center.split_first() else { return ControlFlow::Continue(()) };
    let mut around = graph.row(first).to_vec();
    spend(work, center.len() * around.len())?;
    for &v in rest {
        bits::intersect(&mut around, graph.row(v));
    }
    search.local.resize(graph.number_bound(), 0);
    search.vertices.clear();
    search.vertices.extend(bits::ones(&around).map(|u| u as u32));
    search.start(graph, &around, search.vertices.len(), work)?;
    search.run(center, work, &mut visit)
}

/// Takes what is used of the work that a search may still do; breaks if there is not as much: then nothing is left.
fn spend(work: &mut u64, used: usize) -> ControlFlow<()> {
    match work.checked_sub(used as u64) {
        Some(left) => {
            *work = left;
            ControlFlow::Continue(())
        }
        None => {
            *work = 0;
            ControlFlow::Break(())
        }
    }
}

/// The vertices, each with the fewest neighbours among those that follow; the lowest rank of equals. Breaks if the work is used up.
fn degeneracy_order(graph: &ConflictGraph, work: &mut u64) -> ControlFlow<(), Vec<u32>> {
    let by_rank = graph.by_rank();
    let mut position = vec![0; graph.number_bound()];
    let mut left = vec![0; graph.number_bound()];
    let mut queue = BTreeSet::new();
    for (i, &v) in by_rank.iter().enumerate() {
        position[v as usize] = i;
        left[v as usize] = graph.degree(v);
        queue.insert((left[v as usize], i));
    }
    let mut order = Vec::with_capacity(by_rank.len());
    while let Some((_, i)) = queue.pop_first() {
        let v = by_rank[i];
        order.push(v);
        spend(work, graph.row(v).len() + graph.degree(v))?;
        for u in graph.neighbours(v) {
            let entry = (left[u as usize], position[u as usize]);
            if queue.remove(&entry) {
                left[u as usize] -= 1;
                queue.insert((entry.0 - 1, entry.1));
            }
        }
    }
    ControlFlow::Continue(order)
}

/// The search among the neighbours of one vertex, which have numbers of their own ("local"), so that sets are short.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// Vertices by local number: candidates, then those whose cliques have been found.
    vertices: Vec<u32>,
    /// Local numbers by vertex.
    local: Vec<u32>,
    /// Words of a set.
    words: usize,
    /// Neighbours of each, as a set.
    rows: Vec<u64>,
    /// Three sets for each level: candidates, done, and the candidates that are still to be tried.
    levels: Vec<u64>,
    /// Vertices of the clique.
    clique: Vec<u32>,
}

impl Search {
    /// Prepares the search among `vertices`, which are the members of `around`: first the candidates, then those that are done.
    fn start(
        &mut self,
        graph: &ConflictGraph,
        around: &[u64],
        candidates: usize,
        work: &mut u64,
    ) -> ControlFlow<()> {
        self.words = bits::words(self.vertices.len());
        spend(work, self.vertices.len() * (around.len() + self.words))?;
        for (i, &u) in self.vertices.iter().enumerate() {
            self.local[u as usize] = i as u32;
        }
        self.rows.clear();
        self.rows.resize(self.vertices.len() * self.words, 0);
        for (i, &u) in self.vertices.iter().enumerate() {
            let row = &mut self.rows[i * self.words..][..self.words];
            for (w, (&a, &b)) in around.iter().zip(graph.row(u)).enumerate() {
                let both = [a & b];
                for bit in bits::ones(&both) {
                    bits::insert(row, self.local[w * bits::BITS + bit] as usize);
                }
            }
        }
        self.levels.clear();
        self.levels.resize(3 * self.words, 0);
        let (candidate, rest) = self.levels.split_at_mut(self.words);
        (0..candidates).for_each(|i| bits::insert(candidate, i));
        (candidates..self.vertices.len()).for_each(|i| bits::insert(&mut rest[..self.words], i));
        ControlFlow::Continue(())
    }

    /// Visits the maximal cliques; `center` is in each.
    fn run(
        &mut self,
        center: &[u32],
        work: &mut u64,
        visit: &mut impl FnMut(&[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let words = self.words;
        self.clique.clear();
        self.clique.extend_from_slice(center);
        if self.vertices.is_empty() {
            return visit(&self.clique);
        }
        branch(&mut self.levels, &self.rows, words, work)?;
        while !self.levels.is_empty() {
            let top = self.levels.len() - 3 * words;
            let Some(u) = bits::first(&self.levels[top + 2 * words..]) else {
                self.levels.truncate(top);
                self.clique.pop();
                continue;
            };
            spend(work, 3 * words)?;
            let row = &self.rows[u * words..][..words];
            for set in 0..2 {
                for (w, near) in row.iter().enumerate() {
                    self.levels.push(self.levels[top + set * words + w] & near);
                }
            }
            self.levels.resize(top + 6 * words, 0);
            bits::remove(&mut self.levels[top + 2 * words..top + 3 * words], u);
            bits::remove(&mut self.levels[top..top + words], u);
            bits::insert(&mut self.levels[top + words..top + 2 * words], u);
            self.clique.push(self.vertices[u]);
            let level = &mut self.levels[top + 3 * words..];
            if !bits::is_empty(&level[..words]) {
                branch(level, &self.rows, words, work)?;
                continue;
            }
            if bits::is_empty(&level[words..2 * words]) {
                visit(&self.clique)?;
            }
            self.levels.truncate(top + 3 * words);
            self.clique.pop();
        }
        ControlFlow::Continue(())
    }
}

/// Chooses the pivot of a level, and with it the candidates to try: those that are not its neighbours.
fn branch(level: &mut [u64], rows: &[u64], words: usize, work: &mut u64) -> ControlFlow<()> {
    let (candidates, rest) = level.split_at_mut(words);
    let (done, to_try) = rest.split_at_mut(words);
    let (mut pivot, mut most) = (None, 0);
    for i in bits::ones(candidates).chain(bits::ones(done)) {
        spend(work, words)?;
        let near = bits::common(candidates, &rows[i * words..][..words]);
        if pivot.is_none() || near > most {
            (pivot, most) = (Some(i), near);
        }
    }
    let Some(pivot) = pivot else { return ControlFlow::Continue(()) };
    for ((word, candidates), near) in to_try.iter_mut().zip(candidates).zip(&rows[pivot * words..]) {
        *word = *candidates & !near;
    }
    ControlFlow::Continue(())
}

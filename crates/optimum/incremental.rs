//! The maximal cliques of a graph that changes: a change costs a search among its neighbours, not in the whole graph.
//!
//! With a new vertex v, every maximal clique of its neighbourhood and v are a new maximal clique, and an old one is no longer maximal
//! exactly if all of its vertices are neighbours of v. Without v, a clique of v stays maximal without v unless another vertex is adjacent
//! to all that remain. Edges are treated likewise. No clique can arise twice by these rules.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::bits;
use crate::cliques::{Cliques, Limits, Listing, maximal_cliques};
use crate::graph::{ConflictGraph, GraphError};
use crate::search::visit_maximal_cliques_with;

/// A graph and its maximal cliques, kept up to date.
///
/// While there are more cliques than the limits allow, none is kept: changes are made in the graph only, and a listing begins anew.
#[derive(Debug, Clone)]
pub struct CliqueSet {
    graph: ConflictGraph,
    limits: Limits,
    complete: bool,
    /// Cliques by id; an empty one is free.
    cliques: Vec<Vec<u32>>,
    free: Vec<u32>,
    /// Ids of the cliques of each vertex.
    of_vertex: Vec<Vec<u32>>,
    /// Members of all cliques together.
    members: usize,
}

impl CliqueSet {
    /// The maximal cliques of a graph, of which about `limits` are listed at most ([`Listing::Incomplete`]).
    #[must_use]
    pub fn new(graph: ConflictGraph, limits: impl Into<Limits>) -> Self {
        Self {
            graph,
            limits: limits.into(),
            complete: false,
            cliques: Vec::new(),
            free: Vec::new(),
            of_vertex: Vec::new(),
            members: 0,
        }
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &ConflictGraph {
        &self.graph
    }

    /// The cliques in their order: the same as [`maximal_cliques`] of the graph, but that all cliques are listed where those that were kept
    /// are all and within the limits, whatever the work of finding them from the beginning.
    #[must_use]
    pub fn listing(&mut self) -> Listing {
        if !self.complete {
            let listing = maximal_cliques(&self.graph, self.limits);
            if !listing.is_complete() {
                return listing;
            }
            self.of_vertex.resize_with(self.graph.number_bound(), Vec::new);
            self.complete = true;
            listing.cliques().iter().for_each(|clique| self.add(clique.to_vec()));
            return listing;
        }
        let cliques = self.cliques.iter().map(Vec::as_slice).filter(|clique| !clique.is_empty());
        Listing::Complete(Cliques::sorted(&self.graph, cliques))
    }

    /// Forgets the cliques: there are too many.
    fn give_up(&mut self) {
        self.cliques.clear();
        self.free.clear();
        self.of_vertex.clear();
        self.members = 0;
        self.complete = false;
    }

    /// Adds a vertex with its neighbours; returns its number.
    ///
    /// # Errors
    ///
    /// A neighbour does not exist; nothing has changed then.
    pub fn add_vertex(&mut self, rank: u64, neighbours: &[u32]) -> Result<u32, GraphError> {
        if let Some(&u) = neighbours.iter().find(|&&u| !self.graph.has_vertex(u)) {
            return Err(GraphError::NoVertex(u));
        }
        let v = self.graph.add_vertex(rank);
        for &u in neighbours {
            self.graph.add_edge(v, u)?;
        }
        if self.complete {
            self.of_vertex.resize_with(self.graph.number_bound(), Vec::new);
            let near: Vec<u32> = self.graph.neighbours(v).collect();
            for &u in &near {
                // A clique among them is found at its first vertex.
                self.remove_where(u, |graph, clique| {
                    clique[0] == u && clique.iter().all(|&w| bits::has(graph.row(v), w as usize))
                });
            }
            self.add_around(&[v]);
        }
        Ok(v)
    }

    /// Removes a vertex; false if there is none.
    pub fn remove_vertex(&mut self, v: u32) -> bool {
        if !self.graph.has_vertex(v) {
            return false;
        }
        let with = self.of_vertex.get(v as usize).cloned().unwrap_or_default();
        self.graph.remove_vertex(v);
        if self.complete {
            for id in with {
                let mut clique = self.take(id);
                clique.retain(|&u| u != v);
                self.add_if_maximal(clique);
            }
        }
        true
    }

    /// Adds an edge; false if the graph has this edge.
    ///
    /// # Errors
    ///
    /// A vertex does not exist, or both are the same.
    pub fn add_edge(&mut self, a: u32, b: u32) -> Result<bool, GraphError> {
        if !self.graph.add_edge(a, b)? {
            return Ok(false);
        }
        if self.complete {
            for (v, other) in [(a, b), (b, a)] {
                self.remove_where(v, |graph, clique| {
                    clique.iter().all(|&w| w == v || bits::has(graph.row(other), w as usize))
                });
            }
            self.add_around(&[a, b]);
        }
        Ok(true)
    }

    /// Removes an edge; false if there is none.
    pub fn remove_edge(&mut self, a: u32, b: u32) -> bool {
        if !self.graph.remove_edge(a, b) {
            return false;
        }
        if self.complete {
            let both = |id: &u32| self.cliques[*id as usize].contains(&b);
            let with: Vec<u32> = self.of_vertex[a as usize].iter().copied().filter(both).collect();
            for id in with {
                let clique = self.take(id);
                for gone in [a, b] {
                    self.add_if_maximal(clique.iter().copied().filter(|&u| u != gone).collect());
                }
            }
        }
        if self.complete && !self.within_limits() {
            self.give_up();
        }
        true
    }

    fn count(&self) -> usize {
        self.cliques.len() - self.free.len()
    }

    fn within_limits(&self) -> bool {
        self.count() <= self.limits.cliques && self.members <= self.limits.members
    }

    /// Adds the maximal cliques that contain `center`.
    fn add_around(&mut self, center: &[u32]) {
        let mut found: Vec<Vec<u32>> = Vec::new();
        let (mut work, mut members) = (self.limits.work, self.members);
        let room = self.limits.cliques.saturating_sub(self.count());
        let flow = visit_maximal_cliques_with(&self.graph, center, &mut work, |clique| {
            members += clique.len();
            if found.len() == room || members > self.limits.members {
                return ControlFlow::Break(());
            }
            found.push(clique.to_vec());
            ControlFlow::Continue(())
        });
        if flow.is_continue() {
            found.into_iter().for_each(|clique| self.add(clique));
        } else {
            self.give_up();
        }
    }

    fn add_if_maximal(&mut self, clique: Vec<u32>) {
        let Some((&first, rest)) = clique.split_first() else { return };
        let mut common = self.graph.row(first).to_vec();
        for &v in rest {
            bits::intersect(&mut common, self.graph.row(v));
        }
        if bits::is_empty(&common) {
            self.add(clique);
        }
    }

    fn remove_where(&mut self, v: u32, condition: impl Fn(&ConflictGraph, &[u32]) -> bool) {
        let found = |id: &u32| condition(&self.graph, &self.cliques[*id as usize]);
        let ids: Vec<u32> = self.of_vertex[v as usize].iter().copied().filter(found).collect();
        for id in ids {
            self.take(id);
        }
    }

    fn add(&mut self, clique: Vec<u32>) {
        self.members += clique.len();
        let id = self.free.pop().unwrap_or_else(|| {
            self.cliques.push(Vec::new());
            self.cliques.len() as u32 - 1
        });
        for &v in &clique {
            self.of_vertex[v as usize].push(id);
        }
        self.cliques[id as usize] = clique;
    }

    fn take(&mut self, id: u32) -> Vec<u32> {
        let clique = core::mem::take(&mut self.cliques[id as usize]);
        self.members -= clique.len();
        for &v in &clique {
            let ids = &mut self.of_vertex[v as usize];
            if let Some(at) = ids.iter().position(|&other| other == id) {
                ids.swap_remove(at);
            }
        }
        self.free.push(id);
        clique
    }
}

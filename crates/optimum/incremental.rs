//! The maximal cliques of a graph that changes: a change costs a search among its neighbours, not in the whole graph.
//!
//! With a new vertex v, every maximal clique of its neighbourhood and v are a new maximal clique, and an old one is no longer maximal
//! exactly if all of its vertices are neighbours of v. Without v, a clique of v stays maximal without v unless another vertex is adjacent
//! to all that remain. Edges are treated likewise. No clique can arise twice by these rules.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::Stopped;
use crate::bits;
use crate::cliques::{Cliques, Limits, Listing, listed};
use crate::graph::{ConflictGraph, GraphError};
use crate::search::{Search, visit_maximal_cliques_with};

/// A graph and its maximal cliques, kept up to date.
///
/// While there are more cliques than the limits allow, or the changes since the last listing have cost more work, none is kept: changes
/// are made in the graph only, and a listing begins anew.
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
    /// Work that changes may still cost until the next listing.
    left: u64,
    /// Work of all changes and listings so far.
    work: u64,
    search: Search,
}

impl CliqueSet {
    /// The maximal cliques of a graph, of which about `limits` are listed at most ([`Listing::Incomplete`]).
    #[must_use]
    pub fn new(graph: ConflictGraph, limits: impl Into<Limits>) -> Self {
        let limits = limits.into();
        Self {
            graph,
            limits,
            complete: false,
            cliques: Vec::new(),
            free: Vec::new(),
            of_vertex: Vec::new(),
            members: 0,
            left: limits.work,
            work: 0,
            search: Search::default(),
        }
    }

    /// Words of sets and members of cliques that changes and listings have looked at so far: a measure of work that depends on no clock.
    /// From one listing to the next at most three times that of the limits, and what one step of a change costs beyond.
    #[must_use]
    pub const fn work(&self) -> u64 {
        self.work
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &ConflictGraph {
        &self.graph
    }

    /// The cliques in their order: the same as [`maximal_cliques`](crate::maximal_cliques) of the graph, but that all cliques are listed
    /// where those that were kept are all and within the limits, whatever the work of finding them from the beginning.
    #[must_use]
    pub fn listing(&mut self) -> Listing {
        self.left = self.limits.work;
        if !self.complete {
            let (listing, work) = listed(&self.graph, self.limits, &|| false)
                .unwrap_or_else(|Stopped| (Listing::Incomplete(Cliques::sorted(&self.graph, [])), 0));
            self.work = self.work.saturating_add(work);
            if !listing.is_complete() {
                return listing;
            }
            self.of_vertex.resize_with(self.graph.number_bound(), Vec::new);
            self.complete = true;
            listing.cliques().iter().for_each(|clique| self.add(clique.to_vec()));
            return listing;
        }
        self.work = self.work.saturating_add(self.members as u64);
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

    /// Counts work of a change; forgets the cliques if it has become too much.
    fn spend(&mut self, used: usize) {
        self.work = self.work.saturating_add(used as u64);
        self.left = self.left.saturating_sub(used as u64);
        if self.left == 0 && self.complete {
            self.give_up();
        }
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
                self.remove_within(u, v, true);
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
                let Some(mut clique) = self.take(id) else { break };
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
                self.remove_within(v, other, false);
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
            let searched = self.of_vertex[a as usize].iter().map(|&id| self.cliques[id as usize].len()).sum();
            self.spend(searched);
            for id in with {
                let Some(clique) = self.take(id) else { break };
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
        if !self.complete {
            return;
        }
        let mut found: Vec<Vec<u32>> = Vec::new();
        let (mut left, mut members) = (self.left, self.members);
        let room = self.limits.cliques.saturating_sub(self.count());
        let Self { graph, search, limits, .. } = self;
        let flow = visit_maximal_cliques_with(graph, center, search, &mut left, |clique| {
            members += clique.len();
            if found.len() == room || members > limits.members {
                return ControlFlow::Break(());
            }
            found.push(clique.to_vec());
            ControlFlow::Continue(())
        });
        self.spend((self.left - left) as usize);
        if flow.is_continue() && self.complete {
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
        self.spend(clique.len() * common.len());
        if self.complete && bits::is_empty(&common) {
            self.add(clique);
        }
    }

    /// Removes the cliques of `v` whose other members are all neighbours of `other`; `first`: only those that begin with `v`.
    fn remove_within(&mut self, v: u32, other: u32, first: bool) {
        let mut looked_at = 0;
        let mut lies_within = |id: &u32| {
            let clique = &self.cliques[*id as usize];
            looked_at += 1;
            (!first || clique[0] == v)
                && clique.iter().all(|&w| {
                    looked_at += 1;
                    w == v || bits::has(self.graph.row(other), w as usize)
                })
        };
        let ids = self.of_vertex.get(v as usize).into_iter().flatten().copied();
        let ids: Vec<u32> = ids.filter(|id| lies_within(id)).collect();
        self.spend(looked_at);
        for id in ids {
            if self.take(id).is_none() {
                break;
            }
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

    /// Removes a clique; none is there any more if that was too much work.
    fn take(&mut self, id: u32) -> Option<Vec<u32>> {
        let clique = core::mem::take(self.cliques.get_mut(id as usize)?);
        self.members -= clique.len();
        let mut looked_at = 0;
        for &v in &clique {
            let ids = &mut self.of_vertex[v as usize];
            if let Some(at) = ids.iter().position(|&other| other == id) {
                looked_at += at + 1;
                ids.swap_remove(at);
            }
        }
        self.free.push(id);
        self.spend(looked_at);
        self.complete.then_some(clique)
    }
}

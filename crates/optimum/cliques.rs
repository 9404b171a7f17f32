//! Lists of maximal cliques, in an order that does not depend on the numbers of vertices.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::Stopped;
use crate::bits;
use crate::graph::ConflictGraph;
use crate::search::{visit_maximal_cliques, visit_within};

/// Cliques that are listed unless the caller asks for more. A graph of n vertices can have 3^(n/3).
pub const DEFAULT_LIMIT: usize = 1_000_000;

/// How much is listed, and how much is done to find it: once in a search, once more to cover what it has left out, and in a
/// [`CliqueSet`](crate::CliqueSet) once for all changes between two listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most cliques.
    pub cliques: usize,
    /// Most members of all cliques together.
    pub members: usize,
    /// Most work: words of sets of vertices, and members of cliques, that are looked at.
    pub work: u64,
}

impl From<usize> for Limits {
    /// At most this number of cliques, whatever their size and the time to find them.
    fn from(cliques: usize) -> Self {
        Self { cliques, members: usize::MAX, work: u64::MAX }
    }
}

/// Cliques: the vertices of each in the order of their ranks, the cliques in the lexicographic order of these ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cliques {
    /// Where each begins in `members`, and where the last ends.
    starts: Vec<usize>,
    members: Vec<u32>,
}

/// The cliques of a graph, all or some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// All maximal cliques.
    Complete(Cliques),
    /// The graph has more maximal cliques than the limit. These are as many as the limit, and as many more as are needed so that every
    /// vertex and every edge is in one; all are maximal. With a limit of members or of work, every vertex is in one, edges are as far as
    /// the limits allow, and the last cliques may not be maximal.
    ///
    /// The missing cliques are missing constraints. What is largest under the constraints of these is therefore an upper bound: the
    /// smallest rate of a max-min fair allocation, the sum of logarithms of a proportionally fair one. The rate of a single flow is not a
    /// bound: without a missing constraint, one flow may get more and so another less.
    Incomplete(Cliques),
}

impl Listing {
    /// The cliques, all or some.
    #[must_use]
    pub fn cliques(&self) -> &Cliques {
        let (Self::Complete(cliques) | Self::Incomplete(cliques)) = self;
        cliques
    }

    /// The cliques, all or some, without a copy.
    #[must_use]
    pub fn into_cliques(self) -> Cliques {
        let (Self::Complete(cliques) | Self::Incomplete(cliques)) = self;
        cliques
    }

    /// Are these all maximal cliques?
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Complete(_))
    }
}

impl Cliques {
    /// Sorts cliques of a graph.
    pub(crate) fn sorted<'c>(graph: &ConflictGraph, cliques: impl IntoIterator<Item = &'c [u32]>) -> Self {
        let by_rank = graph.by_rank();
        let mut position = vec![0_u32; graph.number_bound()];
        for (i, &v) in by_rank.iter().enumerate() {
            position[v as usize] = i as u32;
        }
        let mut unsorted = Self { starts: vec![0], members: Vec::new() };
        for clique in cliques {
            let start = unsorted.members.len();
            unsorted.members.extend(clique.iter().map(|&v| position[v as usize]));
            unsorted.members[start..].sort_unstable();
            unsorted.starts.push(unsorted.members.len());
        }
        let mut order: Vec<usize> = (0..unsorted.len()).collect();
        order.sort_unstable_by(|&a, &b| unsorted.at(a).cmp(unsorted.at(b)));
        let mut sorted = Self {
            starts: Vec::with_capacity(unsorted.starts.len()),
            members: Vec::with_capacity(unsorted.members.len()),
        };
        sorted.starts.push(0);
        for i in order {
            sorted.members.extend(unsorted.at(i).iter().map(|&at| by_rank[at as usize]));
            sorted.starts.push(sorted.members.len());
        }
        sorted
    }

    fn at(&self, i: usize) -> &[u32] {
        &self.members[self.starts[i]..self.starts[i + 1]]
    }

    /// Number of cliques.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of members of all cliques together.
    #[must_use]
    pub const fn members(&self) -> usize {
        self.members.len()
    }

    /// Is there no clique? Only the graph without vertices has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cliques.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + '_ {
        (0..self.len()).map(|i| self.at(i))
    }

    /// The cliques of each vertex.
    #[must_use]
    pub fn membership(&self) -> Membership {
        let vertices = self.members.iter().max().map_or(0, |&v| v as usize + 1);
        let mut starts = vec![0; vertices + 1];
        for &v in &self.members {
            starts[v as usize + 1] += 1;
        }
        for v in 0..vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut cliques = vec![0; self.members.len()];
        for (i, clique) in self.iter().enumerate() {
            for &v in clique {
                cliques[next[v as usize]] = i as u32;
                next[v as usize] += 1;
            }
        }
        Membership { starts, cliques }
    }
}

/// The cliques that each vertex is in, as indices of a list of cliques.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    starts: Vec<usize>,
    cliques: Vec<u32>,
}

impl Membership {
    /// Indices of the cliques of a vertex, ascending; none for a vertex that is in no clique.
    #[must_use]
    pub fn of(&self, v: u32) -> &[u32] {
        match (self.starts.get(v as usize), self.starts.get(v as usize + 1)) {
            (Some(&start), Some(&end)) => &self.cliques[start..end],
            _ => &[],
        }
    }
}

/// All maximal cliques of a graph, or about `limits` of them if there are more: see [`Listing::Incomplete`]. Memory: 4 bytes a member.
/// A number of cliques as limit bounds memory, and time only in practice: between two cliques the search can try many sets in vain.
#[must_use]
pub fn maximal_cliques(graph: &ConflictGraph, limits: impl Into<Limits>) -> Listing {
    maximal_cliques_until(graph, limits, &|| false)
        .unwrap_or_else(|Stopped| Listing::Incomplete(Cliques::sorted(graph, [])))
}

/// The same, unless `stop` is true: it is called before each clique is kept.
///
/// # Errors
/// `stop` was true.
pub fn maximal_cliques_until(
    graph: &ConflictGraph,
    limits: impl Into<Limits>,
    stop: &dyn Fn() -> bool,
) -> Result<Listing, Stopped> {
    listed(graph, limits.into(), stop).map(|(listing, _)| listing)
}

/// The listing, and the work of finding it: at most that of the limits for the search, and again for the cliques that cover vertices and
/// edges.
pub(crate) fn listed(
    graph: &ConflictGraph,
    limits: Limits,
    stop: &dyn Fn() -> bool,
) -> Result<(Listing, u64), Stopped> {
    let mut found = Found::default();
    let mut work = limits.work;
    let mut stopped = false;
    let flow = visit_within(graph, &mut work, |clique| {
        stopped = stop();
        let full = found.ends.len() == limits.cliques || !found.has_room(clique.len(), limits);
        if stopped || full {
            return ControlFlow::Break(());
        }
        found.push(clique);
        ControlFlow::Continue(())
    });
    if stopped {
        return Err(Stopped);
    }
    let searched = limits.work - work;
    if flow.is_continue() {
        return Ok((Listing::Complete(Cliques::sorted(graph, found.iter())), searched));
    }
    let covered = found.cover(graph, limits, stop)?;
    Ok((Listing::Incomplete(Cliques::sorted(graph, found.iter())), searched.saturating_add(covered)))
}

/// Are all maximal cliques of the graph among these? An incomplete list can have them: those that cover vertices and edges may be all that
/// the limit had left out. `listed`: a list of this graph.
#[must_use]
pub fn lists_all(graph: &ConflictGraph, listed: &Listing) -> bool {
    lists_all_until(graph, listed, &|| false).unwrap_or(false)
}

/// The same, unless `stop` is true: it is called before each clique is counted.
///
/// # Errors
/// `stop` was true.
pub fn lists_all_until(
    graph: &ConflictGraph,
    listed: &Listing,
    stop: &dyn Fn() -> bool,
) -> Result<bool, Stopped> {
    if listed.is_complete() {
        return Ok(true);
    }
    let (mut count, mut stopped) = (0, false);
    let flow = visit_maximal_cliques(graph, |_| {
        stopped = stop();
        count += 1;
        if stopped || count > listed.cliques().len() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    if stopped { Err(Stopped) } else { Ok(flow.is_continue()) }
}

/// Cliques in the order in which they were found.
#[derive(Default)]
struct Found {
    members: Vec<u32>,
    ends: Vec<usize>,
}

impl Found {
    fn push(&mut self, clique: &[u32]) {
        self.members.extend_from_slice(clique);
        self.ends.push(self.members.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> + '_ {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start..end])
    }

    fn has_room(&self, members: usize, limits: Limits) -> bool {
        self.members.len().saturating_add(members) <= limits.members
    }

    /// Adds maximal cliques until every vertex and every edge is in one, or there is no more room or work for those of edges; a clique of a
    /// vertex ends where the room or the work does. Returns the work.
    fn cover(
        &mut self,
        graph: &ConflictGraph,
        limits: Limits,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, Stopped> {
        let mut work = limits.work;

        // The part of the graph that is in no clique.
        let mut bare = graph.clone();
        let mut alone = vec![true; graph.number_bound()];
        for clique in self.iter() {
            uncover(&mut bare, &mut alone, clique, &mut work);
        }
        let by_rank = graph.by_rank();
        let mut position = vec![0; graph.number_bound()];
        for (i, &v) in by_rank.iter().enumerate() {
            position[v as usize] = i;
        }
        let mut common = Vec::new();
        for &v in &by_rank {
            loop {
                if stop() {
                    return Err(Stopped);
                }
                let may_add = self.has_room(1, limits) && work > 0;
                if !may_add && !alone[v as usize] {
                    break;
                }
                let other = bare.neighbours(v).min_by_key(|&u| position[u as usize]).filter(|_| may_add);
                if other.is_none() && !alone[v as usize] {
                    break;
                }
                work = work.saturating_sub(graph.row(v).len() as u64);
                let mut clique = vec![v];
                common.clear();
                common.extend_from_slice(graph.row(v));
                let mut next = other;
                while let Some(u) = next {
                    clique.push(u);
                    bits::intersect(&mut common, graph.row(u));
                    let left = bits::ones(&common).count();
                    work = work.saturating_sub((common.len() + left) as u64);
                    if work == 0 || !self.has_room(clique.len() + 1, limits) {
                        break;
                    }
                    next = bits::ones(&common).map(|u| u as u32).min_by_key(|&u| position[u as usize]);
                }
                uncover(&mut bare, &mut alone, &clique, &mut work);
                self.push(&clique);
            }
        }
        Ok(limits.work - work)
    }
}

/// Marks the vertices and edges of a clique as covered. Without work that may still be done nobody asks for edges any more.
fn uncover(bare: &mut ConflictGraph, alone: &mut [bool], clique: &[u32], work: &mut u64) {
    for (i, &v) in clique.iter().enumerate() {
        alone[v as usize] = false;
        *work = work.saturating_sub((clique.len() - i) as u64);
        if *work == 0 {
            continue;
        }
        for &u in &clique[i + 1..] {
            bare.remove_edge(v, u);
        }
    }
}

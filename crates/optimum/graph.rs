//! Conflict graphs: vertices are links, an edge connects two links that cannot be used at the same time.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::bits;

/// An undirected graph without loops. Vertices are numbers, which a removed vertex gives back.
///
/// Every vertex has a rank, which decides wherever an order is needed, so that numbers do not: with distinct ranks no result depends on
/// the order in which vertices and edges were added. Of equal ranks the lower number is first.
///
/// The matrix of neighbours needs n²/8 bytes for n vertices: 28 MB for 15,000.
#[derive(Debug, Clone, Default)]
pub struct ConflictGraph {
    ranks: Vec<u64>,
    /// The vertices that exist, a bit for each.
    present: Vec<u64>,
    /// Words of a row.
    stride: usize,
    /// Neighbours of each vertex, a row of bits.
    rows: Vec<u64>,
}

/// An edge or a vertex that a graph cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphError {
    /// The graph has no vertex of this number.
    NoVertex(u32),
    /// An edge from a vertex to itself.
    Loop(u32),
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVertex(v) => write!(f, "there is no vertex {v}"),
            Self::Loop(v) => write!(f, "edge from vertex {v} to itself; expected two vertices"),
        }
    }
}

impl core::error::Error for GraphError {}

impl ConflictGraph {
    /// A graph without vertices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A graph of `n` vertices without edges; the rank of a vertex is its number.
    #[must_use]
    pub fn with_vertices(n: u32) -> Self {
        let (n, stride) = (n as usize, bits::words(n as usize));
        let mut present = vec![0; stride];
        (0..n).for_each(|v| bits::insert(&mut present, v));
        Self { ranks: (0..n as u64).collect(), present, stride, rows: vec![0; n * stride] }
    }

    /// Adds a vertex without neighbours; its number is the lowest free one.
    pub fn add_vertex(&mut self, rank: u64) -> u32 {
        let not_full = self.present.iter().position(|&word| word != u64::MAX);
        let free = not_full.map(|word| word * bits::BITS + self.present[word].trailing_ones() as usize);
        let free = free.filter(|&v| v < self.ranks.len());
        let v = free.unwrap_or_else(|| {
            self.grow();
            self.ranks.push(0);
            self.rows.resize(self.ranks.len() * self.stride, 0);
            self.ranks.len() - 1
        });
        self.ranks[v] = rank;
        bits::insert(&mut self.present, v);
        v as u32
    }

    /// Makes room for one more vertex; rows grow by half, so that adding vertices one by one does not copy the matrix each time.
    fn grow(&mut self) {
        let n = self.ranks.len();
        if bits::words(n + 1) <= self.stride {
            return;
        }
        let stride = self.stride + self.stride / 2 + 1;
        let mut rows = Vec::with_capacity((n + 1) * stride);
        for row in self.rows.chunks(self.stride.max(1)) {
            rows.extend_from_slice(row);
            rows.resize(rows.len() + stride - self.stride, 0);
        }
        self.rows = rows;
        self.present.resize(stride, 0);
        self.stride = stride;
    }

    /// Removes a vertex and its edges; false if there is none.
    pub fn remove_vertex(&mut self, v: u32) -> bool {
        if !self.has_vertex(v) {
            return false;
        }
        let near: Vec<u32> = self.neighbours(v).collect();
        for u in near {
            bits::remove(self.row_mut(u), v as usize);
        }
        self.row_mut(v).fill(0);
        bits::remove(&mut self.present, v as usize);
        true
    }

    /// Adds an edge; false if the graph has this edge.
    ///
    /// # Errors
    ///
    /// A vertex does not exist, or both are the same.
    pub fn add_edge(&mut self, a: u32, b: u32) -> Result<bool, GraphError> {
        if let Some(&v) = [a, b].iter().find(|&&v| !self.has_vertex(v)) {
            return Err(GraphError::NoVertex(v));
        }
        if a == b {
            return Err(GraphError::Loop(a));
        }
        let new = !self.adjacent(a, b);
        bits::insert(self.row_mut(a), b as usize);
        bits::insert(self.row_mut(b), a as usize);
        Ok(new)
    }

    /// Removes an edge; false if there is none.
    pub fn remove_edge(&mut self, a: u32, b: u32) -> bool {
        if !self.adjacent(a, b) {
            return false;
        }
        bits::remove(self.row_mut(a), b as usize);
        bits::remove(self.row_mut(b), a as usize);
        true
    }

    /// Does the graph have this vertex?
    #[must_use]
    pub fn has_vertex(&self, v: u32) -> bool {
        (v as usize) < self.ranks.len() && bits::has(&self.present, v as usize)
    }

    /// Is there an edge between these vertices?
    #[must_use]
    pub fn adjacent(&self, a: u32, b: u32) -> bool {
        self.has_vertex(a) && self.has_vertex(b) && bits::has(self.row(a), b as usize)
    }

    /// Rank of a vertex; 0 if the graph does not have it.
    #[must_use]
    pub fn rank(&self, v: u32) -> u64 {
        if self.has_vertex(v) { self.ranks[v as usize] } else { 0 }
    }

    /// The vertices, in ascending order of numbers.
    pub fn vertices(&self) -> impl Iterator<Item = u32> + '_ {
        bits::ones(&self.present).map(|v| v as u32)
    }

    /// The vertices, in ascending order of ranks.
    #[must_use]
    pub fn by_rank(&self) -> Vec<u32> {
        let mut sorted: Vec<u32> = self.vertices().collect();
        sorted.sort_unstable_by_key(|&v| (self.ranks[v as usize], v));
        sorted
    }

    /// Neighbours of a vertex, in ascending order of numbers; none if the graph does not have the vertex.
    pub fn neighbours(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        let row = if self.has_vertex(v) { self.row(v) } else { &[] };
        bits::ones(row).map(|u| u as u32)
    }

    /// Number of neighbours of a vertex.
    #[must_use]
    pub fn degree(&self, v: u32) -> usize {
        self.neighbours(v).count()
    }

    /// All numbers of vertices are below this bound.
    #[must_use]
    pub fn number_bound(&self) -> usize {
        self.ranks.len()
    }

    /// The graph with the same vertices and the edges that this graph lacks.
    #[must_use]
    pub fn complement(&self) -> Self {
        let mut other = self.clone();
        for v in self.vertices() {
            for (word, &present) in other.row_mut(v).iter_mut().zip(&self.present) {
                *word = !*word & present;
            }
            bits::remove(other.row_mut(v), v as usize);
        }
        other
    }

    /// Neighbours of a vertex as bits.
    pub(crate) fn row(&self, v: u32) -> &[u64] {
        &self.rows[v as usize * self.stride..][..self.stride]
    }

    fn row_mut(&mut self, v: u32) -> &mut [u64] {
        &mut self.rows[v as usize * self.stride..][..self.stride]
    }
}

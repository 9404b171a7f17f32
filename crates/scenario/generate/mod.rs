//! Generators of nodes: chains, grids, random placements, buildings. Each returns positions; none reads the file.

pub(crate) mod building;
pub(crate) mod positions;

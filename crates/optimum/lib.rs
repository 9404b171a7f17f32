//! The best that the air allows: the rates beside which schemes are judged, and which a controller can hand out.
//!
//! Links that cannot be used at the same time are the edges of a [`ConflictGraph`]. The links of a clique share their time; the maximal
//! cliques ([`maximal_cliques`], [`CliqueSet`] for graphs that change) are therefore resources, and the rates of flows satisfy a linear
//! inequality for each: a [`Problem`]. Two allocations of a problem: max-min fair ([`WaterFilling`]) and proportionally fair
//! ([`proportional()`]).
//!
//! The inequalities of the cliques are necessary and, in graphs that are not perfect (a cycle of five links), not sufficient: a schedule
//! that reaches these rates may not exist. [`time_shared`] computes what a schedule can reach, for a few links.
//!
//! Units are the caller's: a capacity is in units of resource (1.0 for all of the time of the air), a cost in units of resource per unit
//! of rate (seconds per bit), so that a rate is in bit/s. All results are the same bytes on every machine: arithmetic is `+ - * /`,
//! square root and the pinned logarithm of `units`, in an order that the ranks of flows and resources determine and the order of input
//! does not.

#![no_std]

extern crate alloc;

mod bits;
mod cholesky;
mod cliques;
mod graph;
mod heap_entry;
mod incremental;
mod maxmin;
mod problem;
mod proportional;
mod schedule;
mod search;
mod simplex;
mod sum;

pub use cliques::{
    Cliques, DEFAULT_LIMIT, Limits, Listing, Membership, lists_all, lists_all_until, maximal_cliques,
    maximal_cliques_until,
};
pub use graph::{ConflictGraph, GraphError};
pub use heap_entry::LeastFirst;
pub use incremental::CliqueSet;
pub use maxmin::{Allocation, Binding, WaterFilling};
pub use problem::{Flow, Problem, ProblemBuilder, ProblemError, RANGE};
pub use proportional::{MAX_FLOWS, Proportional, ProportionalError, proportional, proportional_until};
pub use schedule::{MAX_LINKS, TimeShared, TimeSharingError, time_shared};
pub use search::visit_maximal_cliques;

/// A computation has ended because its caller wanted no more of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

//! All tests of the crate that use it from outside, in one program: what they share is compiled and linked once.

mod access_point;
mod agents;
mod aodv;
mod artificial_links;
mod capture;
mod effects;
mod explain;
mod explicit_laws;
mod explicit_rates;
mod hops;
mod invariants;
mod local_limit;
mod movement;
mod network;
mod order;
mod packet_loss;
mod regressions;
mod relations;
mod rules;
mod series;
mod support;
mod tcp;
mod ties;
mod wants;
mod windows;
mod wired_trees;

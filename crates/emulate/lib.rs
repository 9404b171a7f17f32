//! Real Linux stacks over simulated air: each node of a world is a network namespace, each of its interfaces a TAP device, and what the
//! stacks send goes through the world on the wall clock.
//!
//! - [`plan`]: addresses, host names and routes of the nodes, by values of the world;
//! - [`node`]: a namespace with its devices, which vanish with this process;
//! - [`bridge`]: frames from the devices into the world, and copies that arrive from the world to devices;
//! - [`clock`]: the wall clock, which wakes when a frame has come;
//! - [`program`]: programs in nodes;
//! - [`emulation`]: all of it, from the first namespace to the report;
//! - [`report`]: counts, lateness, and the verdict on the run.

#![cfg(target_os = "linux")]

pub mod bridge;
pub mod clock;
pub mod emulation;
pub mod frame;
mod netlink;
pub mod node;
pub mod plan;
pub mod program;
pub mod report;
mod sys;

pub use emulation::{Options, emulate};
pub use report::Report;

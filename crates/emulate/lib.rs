//! Real Linux stacks over simulated air: each node of a world is a network namespace, each of its interfaces a TAP device, and what the
//! stacks send goes through the world on the wall clock.
//!
//! - [`plan`]: addresses, host names and routes of the nodes, by values of the world;
//! - [`keeper`]: the process that makes the nodes and starts programs, and with which all of that ends;
//! - [`node`]: a namespace with its devices;
//! - [`management`]: a network of the nodes that does not go over the air;
//! - [`program`]: programs in nodes;
//! - [`control`]: the socket at which the user asks from another terminal for a node;
//! - [`bridge`]: frames from the devices into the world, and copies that arrive from the world to devices;
//! - [`source`]: sources of a scheme at the edge of the stacks, for schemes whose routers write into headers;
//! - [`flows`]: flows of the stacks;
//! - [`counters`]: counters of radios for programs in nodes, as a driver would have them;
//! - [`clock`]: the wall clock, which wakes when a frame has come;
//! - [`punctuality`]: lateness of deliveries, and pauses of the machine;
//! - [`emulation`]: all of it, from the first namespace to the report;
//! - [`report`]: counts, lateness, and the verdict on the run;
//! - [`live`]: the state of the run while it runs;
//! - [`lacks`]: what the machine or its user lacks.

#![cfg(target_os = "linux")]

pub mod bridge;
mod channel;
pub mod clock;
pub mod control;
pub mod counters;
pub mod emulation;
pub mod flows;
pub mod frame;
pub mod keeper;
pub mod lacks;
pub mod live;
pub mod management;
mod netlink;
pub mod node;
pub mod plan;
pub mod program;
pub mod punctuality;
pub mod report;
pub mod source;
mod sys;

pub use emulation::{Options, emulate};
pub use report::Report;

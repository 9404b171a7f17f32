//! Schemes of the simulator on Linux nodes: a daemon that measures the air, and sets what the kernel does with packets.
//!
//! The laws are those of `airfair_schemes`, hosted by `airfair_host` as in the simulator. This crate has what they stand on:
//!
//! | part | contents |
//! |---|---|
//! | [`config`] | the configuration file: keys, defaults, errors with file, line and key |
//! | [`clock`] | [`Clock`](clock::Clock): the boot clock, by which the kernel's part compares, too |
//! | [`load`] | [`LoadSource`](load::LoadSource): counters of a device, the emulator, or a file |
//! | [`marker`] | [`Marker`](marker::Marker): the probabilities of marks and drops, and until when they hold |
//! | [`kernel`], `flow_table` | the program in the kernel that carries them out, and its flows |
//! | [`shaping`] | [`RateActuator`](shaping::RateActuator): rates of links, and what is counted of them |
//! | [`shaper`] | the classes and the program in the kernel that carry these out |
//! | `exchange` | the time that a radio needs for a packet |
//! | [`messages`] | authentication of messages between neighbours |
//! | [`messenger`] | [`Messenger`](messenger::Messenger): datagrams to all neighbours of a radio, and to one |
//! | [`neighbours`] | the neighbours of a node: hellos, addresses, messages of schemes |
//! | [`netlink`] | surveys and stations of nl80211, counters of devices |
//! | [`node`] | the node as a network for its hosts: agents at its radios, their timers |
//! | [`plan`] | the scheme at each radio: what it wants, what is estimated, what is refused |
//! | [`daemon`], `device` | all of it, from the first sample to the last; a device with what acts there |
//! | [`check`] | tries of the host before a daemon runs |
//! | [`keeper`] | the process that takes away what the kernel would keep |
//! | [`problem`] | errors that end the program, and the exit status |
//! | [`status`] | the state of a daemon: for people, as JSON, for Prometheus |
//! | [`wrap`] | lines for a terminal |
//!
//! A daemon that stops does no harm: whatever it has set in the kernel ends by itself ([`marker::HOLDS`]).

#![cfg(target_os = "linux")]

pub mod check;
mod claim;
pub mod clock;
pub mod config;
pub mod daemon;
mod device;
mod exchange;
mod file;
mod flow_table;
pub mod keeper;
pub mod kernel;
pub mod load;
pub mod log;
pub mod marker;
pub mod messages;
pub mod messenger;
pub mod neighbours;
pub mod netlink;
pub mod node;
pub mod plan;
pub mod problem;
pub mod qdisc;
pub mod server;
pub mod shaper;
pub mod shaping;
pub mod status;
mod sys;
pub mod wrap;

//! Vectors computed by hand, a file for each part of the standards. `docs/tcp-rules.md` and
//! `docs/tcp-rules-law.md` list the rule that each vector tests.

#[path = "../support/mod.rs"]
mod support;

mod config;
mod delivery;
mod ecn;
mod fast_recovery;
mod handshake;
mod kernel_acks;
mod linux;
mod options;
mod pacing;
mod prr;
mod rate;
mod receiver_acks;
mod receiver_window;
mod reno;
mod sack;
mod scoreboard;
mod sending;
mod timeout;
mod undo;
mod window;

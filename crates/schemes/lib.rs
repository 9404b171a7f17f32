//! The schemes of congestion control: a folder for each, in it a file for each part of its paper.
//!
//! A scheme is one complete way of controlling congestion. It acts in one or more [`places`]; each is a trait here, and
//! every scheme is a set of pure state machines: time, randomness and packets are handed in, decisions and effects
//! are handed back. The same code runs in the simulator, over emulated air and on real interfaces.
//!
//! Adding a scheme takes its folder, its `mod` line here and an entry in `registry.rs`; a crate outside adds its own with
//! [`Registry::with`].

#![no_std]

extern crate alloc;

pub mod airtime;
pub mod atp;
pub mod bbr;
pub mod c3l;
pub mod codel;
mod combined;
pub mod cubic;
pub mod diffq;
pub mod droptail;
pub mod exact;
pub mod exor;
pub mod explicit;
pub mod faulty;
pub mod few;
mod flow_use;
mod former;
pub mod fq_codel;
pub mod fuzz;
pub mod lbm;
mod link_values;
pub mod more;
pub mod newreno;
pub mod nred;
pub mod opportunistic;
mod params;
pub mod places;
pub mod qfcp;
pub mod rcp;
pub mod red;
mod registry;
pub mod reno;
mod scheme;
pub mod tfrc;
pub mod vegas;
mod wanted;
pub mod xcp;
pub mod xcp_b;

pub use former::{FORMER, Fate, FormerParam, former};
pub use params::{
    PRESET_KEY, ParamDoc, ParamError, ParamKind, ParamRole, ParamValue, Params, Preset, WrongPair, joined,
};
pub use registry::{Bring, Build, Built, Carrier, PLACES, Registry, SchemeEntry, find, registry};
pub use scheme::{AqmScheme, Scheme, SourceScheme};
pub use wanted::{Change, Wanted, WantsByKind};

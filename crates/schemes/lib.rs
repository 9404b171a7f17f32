//! What the project is about: a folder a scheme, a file a part of its paper.
//!
//! A scheme is one complete way of controlling congestion. It acts in up to five [`places`]; each is a trait here, and
//! every scheme is a set of pure state machines: time, randomness and packets are handed in, decisions and an outbox
//! are handed back. The same code runs in the simulator, over emulated air and on real interfaces.
//!
//! Adding a scheme takes its folder and one line in [`registry()`].

pub mod droptail;
pub mod places;
mod registry;

pub use registry::{
    ParamDoc, ParamError, ParamKind, ParamValue, Params, Scheme, SchemeEntry, find, registry,
};

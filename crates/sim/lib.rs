//! The world in virtual time.
//!
//! [`spec`] says what a world is made from; [`engine`] keeps the agenda; [`air`] is the radio medium and the MAC; `link`,
//! `route`, `packet` and `node` are what lies above it; `traffic` what applications send; [`measure`] what is counted; [`record`] what
//! parts say about what happens, and [`observe`] who listens. [`World`] puts them together.

pub mod air;
pub mod engine;
pub mod event;
pub mod ids;
mod link;
pub mod measure;
pub mod modes;
mod names;
mod node;
pub mod observe;
mod packet;
pub mod record;
mod route;
pub mod spec;
mod traffic;
mod world;

pub use node::accounts::drop_reason;
pub use node::outside::{Injected, Output};
pub use traffic::LARGEST_PAYLOAD;
pub use world::World;

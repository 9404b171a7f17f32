//! The world in virtual time.
//!
//! [`spec`] says what a world is made from; [`engine`] keeps the agenda; [`air`] is the radio medium and the MAC; [`net`]
//! nodes, queues, wired links and routes; `traffic` what applications send; [`measure`] what is counted; [`capture`] frames for
//! other programs. [`World`] puts them together.

pub mod air;
pub mod capture;
pub mod engine;
pub mod event;
pub mod ids;
pub mod measure;
mod names;
pub mod net;
mod node;
mod packet;
mod route;
pub mod spec;
mod traffic;
mod world;

pub use traffic::LARGEST_PAYLOAD;
pub use world::World;

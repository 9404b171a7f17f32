//! The simulator: a world in virtual time.
//!
//! [`spec`] is the specification of a world; [`engine`] keeps the agenda; [`air`] is the radio medium and the MAC; `link`, `route`,
//! `packet` and `node` lie above them; `traffic` makes the applications' data; [`measure`] has the statistics; [`record`] the records of
//! events, and [`observe`] the observers that read them; [`optimum`] computes the best rates that the air allows. [`World`] combines them.

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
pub mod optimum;
mod packet;
pub mod record;
mod route;
pub mod spec;
mod traffic;
mod world;

pub use names::natural_cmp;
pub use node::plane::accounts::drop_reason;
pub use node::plane::outside::{Egress, Fate, Ingress, Injection, PacketBytes};
pub use traffic::{LARGEST_PAYLOAD, NoRoom, without_room};
pub use world::{PortEnd, RouteEntry, World, count_links, link_counters, offered, radio_counters};

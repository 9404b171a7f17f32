//! ExOR's laws.

mod map;
#[path = "../opportunistic/networks.rs"]
mod networks;
mod node;
mod station;
mod turns;

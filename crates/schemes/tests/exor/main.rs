//! ExOR's laws.

#[path = "../opportunistic/driven.rs"]
mod driven;
mod map;
#[path = "../opportunistic/networks.rs"]
mod networks;
mod node;
mod station;
mod turns;

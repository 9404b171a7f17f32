//! ExOR's laws.

#[path = "../opportunistic/driven.rs"]
mod driven;
mod hostile;
#[path = "../shared/hostile.rs"]
mod hostile_driver;
mod map;
#[path = "../opportunistic/networks.rs"]
mod networks;
mod node;
mod station;
mod turns;

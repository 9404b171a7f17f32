//! MORE's laws.

mod backpressure;
mod decoder;
mod differential;
#[path = "../opportunistic/driven.rs"]
mod driven;
mod forwarders;
mod gf256;
mod hostile;
#[path = "../shared/hostile.rs"]
mod hostile_driver;
mod matrix;
#[path = "../opportunistic/networks.rs"]
mod networks;
mod node;
mod station;

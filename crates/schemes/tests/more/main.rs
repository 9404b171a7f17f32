//! MORE's laws.

mod backpressure;
mod decoder;
mod differential;
#[path = "../opportunistic/driven.rs"]
mod driven;
mod forwarders;
mod gf256;
#[path = "../opportunistic/networks.rs"]
mod networks;
mod node;
mod station;

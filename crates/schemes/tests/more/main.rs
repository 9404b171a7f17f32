//! MORE's laws.

mod backpressure;
mod decoder;
mod differential;
mod forwarders;
mod gf256;
#[path = "../opportunistic/networks.rs"]
mod networks;
mod node;
mod station;

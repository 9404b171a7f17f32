//! MORE's laws.

mod decoder;
mod forwarders;
mod gf256;
#[path = "../opportunistic/networks.rs"]
mod networks;

//! DSDV against scripts computed by hand from the rules in docs/dsdv.md. The node under test is 10.0.0.1; `2` stands for 10.0.0.2, and so
//! on.

mod hostile;
mod links;
mod loops;
#[path = "../shared/network.rs"]
mod network;
mod packets;
mod routes;
mod settling;
#[path = "../shared/mod.rs"]
mod shared;
mod support;
mod updates;

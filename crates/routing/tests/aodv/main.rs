//! AODV against scripts computed by hand from RFC 3561. The node under test is 10.0.0.1; `2` stands for 10.0.0.2, and so on.

mod discovery;
mod errors;
mod hello;
mod hostile;
mod loops;
#[path = "../shared/network.rs"]
mod network;
mod replies;
mod requests;
#[path = "../shared/mod.rs"]
mod shared;
mod support;

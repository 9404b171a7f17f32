//! Explicit-rate schemes by their public interface: routers and senders against numbers computed by hand from the laws of their papers,
//! and properties under arbitrary headers.
//!
//! Packets of 1000 bytes and a link of 8 Mbit/s, 10^6 bytes/s, so that most numbers are round.

mod headers;
mod properties;
mod qfcp;
mod rcp;
mod rig;
mod shared;
mod xcp;
mod xcp_b;

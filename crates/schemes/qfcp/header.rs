//! QFCP's header (§II): RTT, rate-request and rate-feedback, in each packet of both directions.
//!
//! The sender fills in its round-trip time and the rate that it requests; each router lowers that to its fair share; the receiver
//! copies the result into the rate-feedback of its acknowledgement.

use airfair_wire::congestion::Rates;

use crate::explicit;
use crate::places::Header;

pub use crate::explicit::{QFCP as KIND, grant};

/// Fills the header of a sender's packet.
pub fn request(header: &mut Header, rtt_us: u32, rate: u32) {
    explicit::write(header, Rates { rtt_us, request: rate, feedback: 0 });
}

/// The sender's round-trip time, us; `None` where it is not known.
#[must_use]
#[inline]
pub fn rtt_us(header: &Header) -> Option<u32> {
    Some(explicit::read(header).rtt_us).filter(|&us| us > 0)
}

/// The rate in an acknowledgement that all routers grant, bytes/s; `None` where none was requested.
#[must_use]
pub fn feedback(header: &Header) -> Option<u32> {
    Some(explicit::read(header).feedback).filter(|&rate| rate > 0)
}

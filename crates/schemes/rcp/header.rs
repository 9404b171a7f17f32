//! RCP's header: round-trip time, requested and granted rate, the echo of the grant.

use airfair_wire::congestion::Rates;

use crate::explicit;
use crate::places::Header;

pub use crate::explicit::{RCP as KIND, grant};

/// Longer round-trip times count as this, us.
const LONGEST_RTT_US: u32 = 10_000_000;

/// Fills the header of a sender's packet.
pub fn request(header: &mut Header, rtt_us: u32, rate: u32) {
    explicit::write(header, Rates { rtt_us, request: rate, feedback: 0 });
}

/// The sender's round-trip time, us; `None` where it is not known. An acknowledgement has none.
#[must_use]
#[inline]
pub fn rtt_us(header: &Header) -> Option<u32> {
    let us = explicit::read(header).rtt_us;
    (us > 0).then_some(us.min(LONGEST_RTT_US))
}

/// The rate in an acknowledgement that all routers grant, bytes/s; `None` where none was requested.
#[must_use]
pub fn feedback(header: &Header) -> Option<u32> {
    Some(explicit::read(header).feedback).filter(|&rate| rate > 0)
}

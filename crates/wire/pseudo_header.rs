//! The pseudo-header that the checksums of TCP and UDP cover besides the segment: addresses, protocol and length [RFC 9293 §3.1, RFC 768,
//! RFC 8200 §8.1].

use crate::address::{Ipv4Addr, Ipv6Addr};
use crate::checksum::Checksum;
use crate::ipv4::{self, Protocol};

/// An address of IPv4 or IPv6, so that both ends of a segment have one version. No other type can be one.
///
/// Where a packet has a routing header of IPv6 that names further nodes, its final destination is the last of these [RFC 8200 §8.1].
pub trait Address: sealed::Address {}

impl Address for Ipv4Addr {}
impl Address for Ipv6Addr {}

pub(crate) mod sealed {
    use super::{Checksum, Protocol};

    /// The rules of one version of IP.
    pub trait Address: Copy {
        /// The longest segment that fits into a packet, bytes.
        const MOST_PAYLOAD: u16;
        /// True where UDP may not omit its checksum.
        const NEEDS_UDP_CHECKSUM: bool;

        /// The sum over the pseudo-header of a segment of `len` bytes.
        fn pseudo_header(source: Self, destination: Self, protocol: Protocol, len: u16) -> Checksum;
    }
}

impl sealed::Address for Ipv4Addr {
    const MOST_PAYLOAD: u16 = ipv4::PayloadLen::MAX.get();
    const NEEDS_UDP_CHECKSUM: bool = false;

    fn pseudo_header(source: Self, destination: Self, protocol: Protocol, len: u16) -> Checksum {
        over(&source.octets(), &destination.octets(), protocol, len)
    }
}

impl sealed::Address for Ipv6Addr {
    const MOST_PAYLOAD: u16 = u16::MAX;
    const NEEDS_UDP_CHECKSUM: bool = true;

    fn pseudo_header(source: Self, destination: Self, protocol: Protocol, len: u16) -> Checksum {
        over(&source.octets(), &destination.octets(), protocol, len)
    }
}

/// The two versions order the fields differently, and IPv6 has 32 bits of length. The sum is the same.
fn over(source: &[u8], destination: &[u8], protocol: Protocol, len: u16) -> Checksum {
    Checksum::new().with(source).with(destination).with(&[0, protocol.0]).with(&len.to_be_bytes())
}

//! Addresses of the link and of the network.

use core::fmt;

pub use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A MAC address in transmission order [IEEE 802-2014 clause 8, IEEE 802.11-2016 clause 9.2.4.3].
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(
    /// The six octets; the first is sent first.
    pub [u8; 6],
);

impl MacAddr {
    /// All stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Length on the wire: 6 bytes.
    pub const fn wire_len() -> usize {
        6
    }

    /// True for the broadcast address.
    pub const fn is_broadcast(self) -> bool {
        matches!(self.0, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
    }

    /// True if the Individual/Group bit is set (broadcast included): frames to such an address are not acknowledged.
    pub const fn is_group(self) -> bool {
        self.0[0] & 0x01 != 0
    }

    /// True if the Universal/Local bit is set: the address was not assigned by a manufacturer.
    pub const fn is_local(self) -> bool {
        self.0[0] & 0x02 != 0
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<[u8; 6]> for MacAddr {
    fn from(octets: [u8; 6]) -> Self {
        Self(octets)
    }
}

#[cfg(test)]
mod tests {
    use super::MacAddr;
    use alloc::string::ToString;

    #[test]
    fn bits_and_text() {
        assert!(MacAddr::BROADCAST.is_broadcast() && MacAddr::BROADCAST.is_group());
        // 01:00:5e is the prefix of IPv4 multicast [RFC 1112 §6.4]; 02 is local and individual.
        assert!(MacAddr([0x01, 0x00, 0x5e, 0, 0, 1]).is_group());
        let local = MacAddr([0x02, 0, 0, 0, 0xab, 1]);
        assert!(local.is_local() && !local.is_group() && !local.is_broadcast());
        assert_eq!(local.to_string(), "02:00:00:00:ab:01");
    }
}

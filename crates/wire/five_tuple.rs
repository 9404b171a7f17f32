//! The five-tuple of an IP packet, its class, and the number of its flow.

use crate::address::IpAddr;
use crate::ip::Ip;
use crate::ipv4::{Fragment, Protocol};
use crate::siphash::siphash_2_4;

/// Addresses, protocol and ports of a packet: all packets of a flow in one direction have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiveTuple {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, of the same version.
    pub destination: IpAddr,
    /// The transport.
    pub protocol: Protocol,
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
}

impl FiveTuple {
    /// The five-tuple of a packet. TCP, UDP, UDP-Lite, DCCP and SCTP have ports; in packets of others, in fragments after the first, which
    /// hold no header, and where the header is cut before its fourth byte, both ports are 0.
    ///
    /// So a datagram's first fragment and its others have two five-tuples.
    pub fn new(packet: &Ip<'_>) -> Self {
        let has_ports = matches!(
            packet.protocol,
            Protocol::TCP | Protocol::UDP | Protocol::UDP_LITE | Protocol::DCCP | Protocol::SCTP
        );
        let header =
            packet.transport.first_chunk().filter(|_| has_ports && packet.fragment != Fragment::Later);
        let &[a, b, c, d] = header.unwrap_or(&[0; 4]);
        Self {
            source: packet.source,
            destination: packet.destination,
            protocol: packet.protocol,
            source_port: u16::from_be_bytes([a, b]),
            destination_port: u16::from_be_bytes([c, d]),
        }
    }

    /// The five-tuple of the opposite direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            ..self
        }
    }

    /// The number of the flow: never `u32::MAX`, which stands for no flow; the same on every platform; different for the opposite
    /// direction.
    ///
    /// It is the remainder by 2^32 - 1 of SipHash-2-4 of these bytes, under the key `seed`, 8 bytes with the lowest first, and 8 zero
    /// bytes.
    ///
    /// | bytes | field |
    /// |---|---|
    /// | 1 | version of IP, 4 or 6 |
    /// | 1 | protocol |
    /// | 2 | the sender's port, as all that follows in network order |
    /// | 2 | the receiver's port |
    /// | 4 or 16 | source address |
    /// | 4 or 16 | destination address |
    ///
    /// Of n flows two have the same number with a probability of about n^2 / 2^33: 1 in 8,600 for 1,000 flows. Without the seed
    /// nobody can choose ports so that a flow gets the number of another.
    pub fn flow(&self, seed: u64) -> u32 {
        let mut bytes = [0; 38];
        let mut len = 0;
        let mut put = |field: &[u8]| {
            if let Some(space) = bytes.get_mut(len..len + field.len()) {
                space.copy_from_slice(field);
                len += field.len();
            }
        };
        put(&[if self.source.is_ipv4() { 4 } else { 6 }, self.protocol.0]);
        put(&self.source_port.to_be_bytes());
        put(&self.destination_port.to_be_bytes());
        for address in [self.source, self.destination] {
            match address {
                IpAddr::V4(address) => put(&address.octets()),
                IpAddr::V6(address) => put(&address.octets()),
            }
        }
        let hash = siphash_2_4([seed, 0], bytes.get(..len).unwrap_or_default());
        (hash % u64::from(u32::MAX)) as u32
    }
}

/// The class of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Data, and everything else that is no acknowledgement only.
    Data,
    /// A TCP acknowledgement without data: ACK is set, of SYN, FIN and RST none, and no payload follows the header.
    Acknowledgement,
}

impl Class {
    /// The class of a packet. A fragment is data: the rest of the datagram is not seen.
    pub fn new(packet: &Ip<'_>) -> Self {
        let header = packet.transport.first_chunk::<14>();
        let Some(&[.., offset, flags]) =
            header.filter(|_| packet.protocol == Protocol::TCP && packet.fragment == Fragment::Whole)
        else {
            return Self::Data;
        };
        const ACK: u8 = 1 << 4;
        const RST: u8 = 1 << 2;
        const SYN: u8 = 1 << 1;
        const FIN: u8 = 1;
        let header_len = usize::from(offset >> 4) * 4;
        if flags & (ACK | RST | SYN | FIN) == ACK && header_len == packet.transport.len() && header_len >= 20
        {
            Self::Acknowledgement
        } else {
            Self::Data
        }
    }
}

//! ARP for IPv4 over Ethernet and 802.11 [RFC 826].

use crate::address::{Ipv4Addr, MacAddr};
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};
use crate::ethernet::EtherType;

/// ar$hrd: Ethernet, which 802.11 uses too.
const HARDWARE_ETHERNET: [u8; 2] = [0, 1];
/// ar$hln and ar$pln: the lengths of a MAC and of an IPv4 address, bytes.
const LENGTHS: [u8; 2] = [6, 4];

/// ar$op [RFC 826, "Packet format"].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// 1: requests the MAC address of the target's IP address.
    Request,
    /// 2: gives the sender's MAC address.
    Reply,
}

/// An ARP packet: 28 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arp {
    /// Request or reply.
    pub operation: Operation,
    /// ar$sha.
    pub sender_mac: MacAddr,
    /// ar$spa.
    pub sender_ip: Ipv4Addr,
    /// ar$tha; without meaning in a request.
    pub target_mac: MacAddr,
    /// ar$tpa.
    pub target_ip: Ipv4Addr,
}

impl Arp {
    /// Length on the wire: 28 bytes.
    pub const fn wire_len() -> usize {
        8 + 2 * (MacAddr::wire_len() + 4)
    }

    /// Writes the packet to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let operation: u16 = match self.operation {
            Operation::Request => 1,
            Operation::Reply => 2,
        };
        Writer::new(Header::Arp, buffer, Self::wire_len())?
            .put(HARDWARE_ETHERNET)
            .put(EtherType::IPV4.get().to_be_bytes())
            .put(LENGTHS)
            .put(operation.to_be_bytes())
            .put(self.sender_mac.0)
            .put(self.sender_ip.octets())
            .put(self.target_mac.0)
            .put(self.target_ip.octets());
        Ok(Self::wire_len())
    }

    /// Reads the packet; returns what follows (padding).
    ///
    /// # Errors
    /// Too few bytes, other hardware than Ethernet, another protocol than IPv4, another operation.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Arp, bytes);
        reader.need(Self::wire_len())?;
        reader.literal(HARDWARE_ETHERNET, "hardware type", "1 (Ethernet)")?;
        reader.literal(EtherType::IPV4.get().to_be_bytes(), "protocol type", "0x800 (IPv4)")?;
        reader.literal(LENGTHS, "address lengths", "0x604 (6 and 4 bytes)")?;
        let at = reader.clone();
        let operation = match reader.u16_be()? {
            1 => Operation::Request,
            2 => Operation::Reply,
            other => {
                let wanted = "1 (request) or 2 (reply)";
                return Err(at.fail(Expected::value("operation", wanted, &other.to_be_bytes())));
            }
        };
        let packet = Self {
            operation,
            sender_mac: reader.mac()?,
            sender_ip: reader.ipv4()?,
            target_mac: reader.mac()?,
            target_ip: reader.ipv4()?,
        };
        Ok((packet, reader.rest()))
    }
}

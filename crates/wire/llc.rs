//! LLC and SNAP: the type of a payload in 802.11 [IEEE 802.2, RFC 1042, IEEE 802.11-2016 clause 5.1.4].

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};
use crate::ethernet::EtherType;

/// DSAP and SSAP of SNAP and the control field of unnumbered information [RFC 1042, "Header Format"].
const SNAP_UI: [u8; 3] = [0xaa, 0xaa, 0x03];

/// The organisation code: the encapsulation of the Ethernet frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encapsulation {
    /// 00-00-00: IP, ARP and nearly all other protocols [RFC 1042].
    #[default]
    Rfc1042,
    /// 00-00-F8: AppleTalk ARP and IPX through a bridge [IEEE 802.1H].
    BridgeTunnel,
}

impl Encapsulation {
    const fn oui(self) -> [u8; 3] {
        match self {
            Self::Rfc1042 => [0, 0, 0],
            Self::BridgeTunnel => [0, 0, 0xf8],
        }
    }
}

/// The LLC/SNAP header: 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LlcSnap {
    /// The organisation code.
    pub encapsulation: Encapsulation,
    /// Type of the payload.
    pub ether_type: EtherType,
}

impl LlcSnap {
    /// The header of RFC 1042 for a payload of this type.
    pub const fn new(ether_type: EtherType) -> Self {
        Self { encapsulation: Encapsulation::Rfc1042, ether_type }
    }

    /// Length on the wire: 8 bytes.
    pub const fn wire_len() -> usize {
        SNAP_UI.len() + Encapsulation::Rfc1042.oui().len() + 2
    }

    /// Writes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        Writer::new(Header::LlcSnap, buffer, Self::wire_len())?
            .put(SNAP_UI)
            .put(self.encapsulation.oui())
            .put(self.ether_type.get().to_be_bytes());
        Ok(Self::wire_len())
    }

    /// Reads the header; returns what follows.
    ///
    /// # Errors
    /// Too few bytes, another SAP or control field than SNAP's, another organisation code.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::LlcSnap, bytes);
        reader.need(Self::wire_len())?;
        reader.literal(SNAP_UI, "DSAP, SSAP and control", "0xaaaa03 (SNAP)")?;
        let at = reader.clone();
        let encapsulation = match reader.array::<3>()? {
            [0, 0, 0] => Encapsulation::Rfc1042,
            [0, 0, 0xf8] => Encapsulation::BridgeTunnel,
            oui => return Err(at.fail(Expected::value("organisation code", "0x000000 or 0x0000f8", &oui))),
        };
        let header = Self { encapsulation, ether_type: EtherType::read(&mut reader)? };
        Ok((header, reader.rest()))
    }
}

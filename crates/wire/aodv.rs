//! The messages of AODV [RFC 3561 section 5], the payload of a UDP datagram to and from [`PORT`].
//!
//! Extensions after a message (section 9) are returned to the caller undecoded. The flags J and R, reserved for multicast, are only encoded
//! and decoded.

use alloc::vec::Vec;

use crate::address::Ipv4Addr;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// The UDP port of every message [RFC 3561 section 6].
pub const PORT: u16 = 654;

const RREQ: u8 = 1;
const RREP: u8 = 2;
const RERR: u8 = 3;
const RREP_ACK: u8 = 4;

bounded! {
    /// Bits of a prefix, 0 for a host route; the field has 5 bits [RFC 3561 section 5.2].
    PrefixSize(u8) <= 31
}

/// Route request [RFC 3561 section 5.1]: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rreq {
    /// J: reserved for multicast.
    pub join: bool,
    /// R: reserved for multicast.
    pub repair: bool,
    /// G: a node that replies for the destination notifies the destination too.
    pub gratuitous: bool,
    /// D: only the destination may reply.
    pub destination_only: bool,
    /// Hops from the originator to the node that sent this.
    pub hops: u8,
    /// Number of the request at its originator; both together identify it.
    pub id: u32,
    /// Destination of the requested route.
    pub destination: Ipv4Addr,
    /// Last sequence number of the destination known to the originator; `None` (flag U) if unknown.
    pub destination_number: Option<u32>,
    /// Originator of the request.
    pub originator: Ipv4Addr,
    /// Sequence number of the originator.
    pub originator_number: u32,
}

/// Route reply: a route to `destination` [RFC 3561 section 5.2]: 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rrep {
    /// R: reserved for multicast.
    pub repair: bool,
    /// A: the receiver has to send a [`Message::RrepAck`].
    pub acknowledge: bool,
    /// Prefix size: the route leads to all addresses with the same prefix as the destination.
    pub prefix: PrefixSize,
    /// Hops from the node that sent this to the destination.
    pub hops: u8,
    /// Destination of the route.
    pub destination: Ipv4Addr,
    /// Sequence number of the destination.
    pub destination_number: u32,
    /// Originator of the request.
    pub originator: Ipv4Addr,
    /// Lifetime of the route, milliseconds.
    pub lifetime_ms: u32,
}

/// Route error: unreachable destinations [RFC 3561 section 5.3]: 4 bytes and 8 for each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rerr {
    /// N: the sender has repaired the link; upstream nodes keep their routes.
    pub no_delete: bool,
    first: Unreachable,
    more: Vec<Unreachable>,
}

/// An unreachable destination with the sequence number that an offered route must have at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unreachable {
    /// Address of the destination.
    pub destination: Ipv4Addr,
    /// Sequence number of the destination.
    pub number: u32,
}

impl Rerr {
    /// Largest number of destinations in one message.
    pub const MOST: usize = u8::MAX as usize;

    /// A message about these destinations; `None` if there are none, or more than [`Self::MOST`].
    pub fn new(no_delete: bool, unreachable: &[Unreachable]) -> Option<Self> {
        let (&first, more) = unreachable.split_first()?;
        (more.len() < Self::MOST).then(|| Self { no_delete, first, more: more.to_vec() })
    }

    /// The destinations, at least one.
    pub fn unreachable(&self) -> impl Iterator<Item = Unreachable> + '_ {
        core::iter::once(self.first).chain(self.more.iter().copied())
    }

    /// Number of destinations.
    fn count(&self) -> usize {
        1 + self.more.len()
    }
}

/// A message of AODV.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Route request.
    Rreq(Rreq),
    /// Route reply; broadcast without a request it is a Hello message.
    Rrep(Rrep),
    /// Route error.
    Rerr(Rerr),
    /// Acknowledgement of a route reply [RFC 3561 section 5.4]: 2 bytes.
    RrepAck,
}

impl Message {
    /// Length on the wire, bytes.
    pub fn wire_len(&self) -> usize {
        match self {
            Self::Rreq(_) => 24,
            Self::Rrep(_) => 20,
            Self::Rerr(rerr) => 4 + 8 * rerr.count(),
            Self::RrepAck => 2,
        }
    }

    /// Encodes the message to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let len = self.wire_len();
        let writer = Writer::new(Header::Aodv, buffer, len)?;
        match self {
            Self::Rreq(rreq) => {
                let flags = bit(rreq.join, 7)
                    | bit(rreq.repair, 6)
                    | bit(rreq.gratuitous, 5)
                    | bit(rreq.destination_only, 4)
                    | bit(rreq.destination_number.is_none(), 3);
                writer
                    .put([RREQ, flags, 0, rreq.hops])
                    .put(rreq.id.to_be_bytes())
                    .put(rreq.destination.octets())
                    .put(rreq.destination_number.unwrap_or(0).to_be_bytes())
                    .put(rreq.originator.octets())
                    .put(rreq.originator_number.to_be_bytes());
            }
            Self::Rrep(rrep) => {
                let flags = bit(rrep.repair, 7) | bit(rrep.acknowledge, 6);
                writer
                    .put([RREP, flags, rrep.prefix.get(), rrep.hops])
                    .put(rrep.destination.octets())
                    .put(rrep.destination_number.to_be_bytes())
                    .put(rrep.originator.octets())
                    .put(rrep.lifetime_ms.to_be_bytes());
            }
            Self::Rerr(rerr) => {
                let count = u8::try_from(rerr.count()).unwrap_or(u8::MAX);
                let head = writer.put([RERR, bit(rerr.no_delete, 7), 0, count]);
                rerr.unreachable()
                    .fold(head, |writer, u| writer.put(u.destination.octets()).put(u.number.to_be_bytes()));
            }
            Self::RrepAck => {
                writer.put([RREP_ACK, 0]);
            }
        }
        Ok(len)
    }

    /// Decodes a message; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another type, or an RERR without destinations.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Aodv, bytes);
        let [kind] = reader.clone().array()?;
        let message = match kind {
            RREQ => Self::Rreq(read_rreq(&mut reader)?),
            RREP => Self::Rrep(read_rrep(&mut reader)?),
            RERR => Self::Rerr(read_rerr(&mut reader)?),
            RREP_ACK => {
                reader.array::<2>()?;
                Self::RrepAck
            }
            _ => return Err(reader.fail(Expected::value("type", "1 to 4", &[kind]))),
        };
        Ok((message, reader.rest()))
    }
}

const fn bit(set: bool, place: u8) -> u8 {
    (set as u8) << place
}

const fn is_set(flags: u8, place: u8) -> bool {
    flags >> place & 1 == 1
}

fn read_rreq(reader: &mut Reader<'_>) -> Result<Rreq, DecodeError> {
    reader.need(24)?;
    let [_, flags, _, hops] = reader.array()?;
    let id = reader.u32_be()?;
    let destination = reader.ipv4()?;
    let number = reader.u32_be()?;
    Ok(Rreq {
        join: is_set(flags, 7),
        repair: is_set(flags, 6),
        gratuitous: is_set(flags, 5),
        destination_only: is_set(flags, 4),
        hops,
        id,
        destination,
        destination_number: (!is_set(flags, 3)).then_some(number),
        originator: reader.ipv4()?,
        originator_number: reader.u32_be()?,
    })
}

fn read_rrep(reader: &mut Reader<'_>) -> Result<Rrep, DecodeError> {
    reader.need(20)?;
    let [_, flags, prefix, hops] = reader.array()?;
    Ok(Rrep {
        repair: is_set(flags, 7),
        acknowledge: is_set(flags, 6),
        prefix: PrefixSize::saturating(prefix & PrefixSize::MAX.get()),
        hops,
        destination: reader.ipv4()?,
        destination_number: reader.u32_be()?,
        originator: reader.ipv4()?,
        lifetime_ms: reader.u32_be()?,
    })
}

fn read_rerr(reader: &mut Reader<'_>) -> Result<Rerr, DecodeError> {
    reader.need(4)?;
    let start = reader.clone();
    let [_, flags, _, count] = reader.array()?;
    if count == 0 {
        let mut at = start;
        at.skip(3)?;
        return Err(at.fail(Expected::value("DestCount", "at least 1", &[0])));
    }
    reader.need(8 * usize::from(count))?;
    let mut unreachable = || Ok(Unreachable { destination: reader.ipv4()?, number: reader.u32_be()? });
    let first = unreachable()?;
    let more = (1..count).map(|_| unreachable()).collect::<Result<_, _>>()?;
    Ok(Rerr { no_delete: is_set(flags, 7), first, more })
}

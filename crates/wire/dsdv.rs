//! The update of DSDV, the payload of a UDP datagram to and from [`PORT`]. No standard defines a format; this one is that of ns-3: entries
//! of 12 bytes each, the destination's address, the number of hops and the sequence number, without a header and without a count
//! (docs/dsdv.md).

use alloc::vec::Vec;

use crate::address::Ipv4Addr;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Header};

/// The UDP port of every update.
pub const PORT: u16 = 269;

/// Length of an entry, bytes.
const ENTRY: usize = 12;

/// A route in an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Destination of the route.
    pub destination: Ipv4Addr,
    /// Hops from the receiver of the update to the destination by the sender; without meaning if the number is odd.
    pub hops: u32,
    /// Sequence number: even numbers are the destination's own, odd ones mean that there is no route.
    pub number: u32,
}

/// An update: one entry or more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    first: Entry,
    more: Vec<Entry>,
}

impl Update {
    /// Largest number of entries in a datagram that an Ethernet frame carries unfragmented: 1500 bytes, 28 of them IP and UDP.
    pub const MOST: usize = 1472 / ENTRY;

    /// An update of these entries; `None` if there are none.
    pub fn new(entries: &[Entry]) -> Option<Self> {
        let (&first, more) = entries.split_first()?;
        Some(Self { first, more: more.to_vec() })
    }

    /// The entries, at least one.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        core::iter::once(self.first).chain(self.more.iter().copied())
    }

    /// Length on the wire, bytes.
    pub fn wire_len(&self) -> usize {
        ENTRY * (1 + self.more.len())
    }

    /// Encodes the update to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let len = self.wire_len();
        let writer = Writer::new(Header::Dsdv, buffer, len)?;
        self.entries().fold(writer, |writer, entry| {
            writer
                .put(entry.destination.octets())
                .put(entry.hops.to_be_bytes())
                .put(entry.number.to_be_bytes())
        });
        Ok(len)
    }

    /// Decodes as many whole entries as there are; returns the bytes that follow, fewer than an entry has.
    ///
    /// # Errors
    /// Fewer bytes than one entry has.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Dsdv, bytes);
        let first = read_entry(&mut reader)?;
        let more = (1..bytes.len() / ENTRY).map(|_| read_entry(&mut reader)).collect::<Result<_, _>>()?;
        Ok((Self { first, more }, reader.rest()))
    }
}

fn read_entry(reader: &mut Reader<'_>) -> Result<Entry, DecodeError> {
    reader.need(ENTRY)?;
    Ok(Entry { destination: reader.ipv4()?, hops: reader.u32_be()?, number: reader.u32_be()? })
}

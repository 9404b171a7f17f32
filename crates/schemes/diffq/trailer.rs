//! The trailer of DiffQ's packets (§5.3): the host carries it as a header of four words.
//!
//! The last word is the paper's sequence number "for testing purpose" in its lower half, which in an acknowledgement gives way to the hops
//! of the data's path; its upper half is the longest queue on the way (ours, for [`window`](super::window)).
//!
//! A simulator carries the words; a node with real radios receives bytes, whose ends may be anything: [`KIND`] decodes no others.

use airfair_units::Time;
use airfair_wire::diffq::{Trailer, Type};

use crate::places::{Header, HeaderKind, Packet, PacketClass};

/// The trailer of all packets of DiffQ's flows. A receiver keeps the path of the last packet that has arrived.
pub static KIND: HeaderKind = HeaderKind {
    name: "diffq",
    wire_len: 16,
    trailer: true,
    queue: Some(queue),
    encode: |header, buffer| trailer(header).encode(buffer).ok(),
    decode: |bytes| {
        let (trailer, rest) = Trailer::decode(bytes).ok()?;
        rest.is_empty().then(|| header(&trailer))
    },
    keep: |kept, arrived| {
        let hops = u32::from(arrived.supported) << 8 | u32::from(arrived.unsupported);
        kept.fields[LAST] = arrived.fields[LAST] & !LOWER | hops;
    },
    answer: |kept| {
        kept.fields[TYPE_AND_QUEUE] = word(Type::Ack, 0);
        *kept
    },
};

/// Words of the header: type and size of the queue, flow, time of sending, longest queue and sequence number or hops.
const TYPE_AND_QUEUE: usize = 0;
const FLOW: usize = 1;
const SENT_US: usize = 2;
const LAST: usize = 3;

/// The lower half of a word.
const LOWER: u32 = 0xffff;

const fn word(kind: Type, queue: u16) -> u32 {
    (kind as u32) << 16 | queue as u32
}

fn trailer(header: &Header) -> Trailer {
    let [first, flow, sent_us, last] = header.fields;
    let kind = match first >> 16 {
        0 => Type::Data,
        1 => Type::Ack,
        _ => Type::SourceRouted,
    };
    let (longest, number) = ((last >> 16) as u16, last as u16);
    Trailer { kind, written: header.supported, queue: first as u16, flow, sent_us, longest, number }
}

fn header(trailer: &Trailer) -> Header {
    let Trailer { kind, written, queue, flow, sent_us, longest, number } = *trailer;
    let last = u32::from(longest) << 16 | u32::from(number);
    Header { supported: written, unsupported: 0, fields: [word(kind, queue), flow, sent_us, last] }
}

/// Fills the trailer of a source's data packet.
pub(super) const fn number(header: &mut Header, sequence: u32) {
    header.fields[TYPE_AND_QUEUE] = word(Type::Data, 0);
    header.fields[LAST] = sequence & LOWER;
}

/// Writes the size of the destination's queue; of data also `limiting`, the packets by which that queue limits sources, as the longest on
/// the way if it is. The first writer is the source's node: it adds type, flow and time, which later ones keep.
pub(super) fn write(header: &mut Header, packet: &Packet, (queue, limiting): (u32, u32), now: Time) {
    if header.supported == 0 {
        let kind = if packet.class == PacketClass::Ack { Type::Ack } else { Type::Data };
        header.fields[TYPE_AND_QUEUE] = word(kind, 0);
        header.fields[FLOW] = packet.flow.0;
        header.fields[SENT_US] = (now.0 / 1000) as u32;
    }
    header.supported = header.supported.saturating_add(1);
    if packet.class == PacketClass::Data {
        let longest = (header.fields[LAST] >> 16).max(limiting.min(LOWER));
        header.fields[LAST] = longest << 16 | header.fields[LAST] & LOWER;
    }
    announce(header, queue);
}

/// Replaces the size of the destination's queue; sizes above the largest number of 16 bits are that number.
pub(crate) fn announce(header: &mut Header, queue: u32) {
    let size = u16::try_from(queue).unwrap_or(u16::MAX);
    header.fields[TYPE_AND_QUEUE] = header.fields[TYPE_AND_QUEUE] & !0xffff | u32::from(size);
}

/// The size of the destination's queue at the sender of the frame.
#[must_use]
pub const fn queue(header: &Header) -> u32 {
    header.fields[TYPE_AND_QUEUE] & 0xffff
}

/// The path of data, as an acknowledgement tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Hops with a queue of DiffQ.
    pub with: u8,
    /// Hops without.
    pub without: u8,
    /// The longest of DiffQ's queues on the way, packets.
    pub longest: u32,
}

/// The path that an acknowledgement tells of; none if nothing had arrived at its receiver.
#[must_use]
pub const fn path(header: &Header) -> Option<Path> {
    let [.., last] = header.fields;
    match ((last >> 8) as u8, last as u8) {
        (0, 0) => None,
        (with, without) => Some(Path { with, without, longest: last >> 16 }),
    }
}

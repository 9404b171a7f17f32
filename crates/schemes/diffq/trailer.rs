//! The trailer of DiffQ's packets (§5.3): the host carries it as a header of four words.
//!
//! A simulator carries the words; a node with real radios receives bytes, whose ends may be anything: [`KIND`] decodes no others.

use airfair_units::Time;
use airfair_wire::diffq::{Trailer, Type};

use crate::places::{Header, HeaderKind, Packet, PacketClass};

/// The trailer of all packets of DiffQ's flows. A receiver keeps the number of acknowledgements that it has sent.
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
        kept.fields[SEQUENCE] = hops << 16 | arrived.fields[SEQUENCE] >> 16;
    },
    answer: |kept| {
        kept.fields[TYPE_AND_QUEUE] = word(Type::Ack, 0);
        *kept
    },
};

/// Words of the header: type and size of the queue, flow, time of sending, sequence number.
const TYPE_AND_QUEUE: usize = 0;
const FLOW: usize = 1;
const SENT_US: usize = 2;
const SEQUENCE: usize = 3;

const fn word(kind: Type, queue: u16) -> u32 {
    (kind as u32) << 16 | queue as u32
}

fn trailer(header: &Header) -> Trailer {
    let [first, flow, sent_us, sequence] = header.fields;
    let kind = match first >> 16 {
        0 => Type::Data,
        1 => Type::Ack,
        _ => Type::SourceRouted,
    };
    Trailer { kind, written: header.supported, queue: first as u16, flow, sent_us, sequence }
}

fn header(trailer: &Trailer) -> Header {
    let Trailer { kind, written, queue, flow, sent_us, sequence } = *trailer;
    Header { supported: written, unsupported: 0, fields: [word(kind, queue), flow, sent_us, sequence] }
}

/// Fills the trailer of a source's data packet.
pub(super) const fn number(header: &mut Header, sequence: u32) {
    header.fields[TYPE_AND_QUEUE] = word(Type::Data, 0);
    header.fields[SEQUENCE] = sequence & 0xffff;
}

/// Writes the size of the destination's queue. The first writer is the source's node: it adds type, flow and time, which later ones keep.
pub(super) fn write(header: &mut Header, packet: &Packet, queue: u32, now: Time) {
    if header.supported == 0 {
        let kind = if packet.class == PacketClass::Ack { Type::Ack } else { Type::Data };
        header.fields[TYPE_AND_QUEUE] = word(kind, 0);
        header.fields[FLOW] = packet.flow.0;
        header.fields[SENT_US] = (now.0 / 1000) as u32;
    }
    header.supported = header.supported.saturating_add(1);
    if packet.class == PacketClass::Data {
        let longest = (header.fields[SEQUENCE] >> 16).max(queue.min(0xffff));
        header.fields[SEQUENCE] = header.fields[SEQUENCE] & 0xffff | longest << 16;
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

/// Of an acknowledgement: the hops of the data's path with queues of DiffQ, and those without.
#[must_use]
pub const fn echoed_hops(header: &Header) -> (u8, u8) {
    let hops = header.fields[SEQUENCE];
    ((hops >> 24) as u8, (hops >> 16) as u8)
}

/// Of an acknowledgement: the size of the queue at the first interface of DiffQ on the data's path.
#[must_use]
pub const fn echoed_entry(header: &Header) -> u32 {
    header.fields[SEQUENCE] & 0xffff
}

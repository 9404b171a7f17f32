//! The header of a flow's data (§III-E): the smallest allocation so far, and what returns it to the source.
//!
//! Over UDP the receiver reports once an epoch ([`Feedback`]); over TCP each acknowledgement has the header of the data that has arrived
//! last (ours: the paper leaves reliability out).

use airfair_wire::c3l::{Feedback, Stamp};

use crate::places::{FlowId, Header, HeaderKind, ReportBytes};

/// UDP's protocol number: the header of what follows. Over TCP the host knows better.
const NEXT: u8 = 17;

/// Words of the header.
const FLOW: usize = 0;
const ALLOCATION: usize = 1;
const RATE: usize = 2;
const SEQUENCE: usize = 3;

/// The header of data and of acknowledgements.
pub static STAMP: HeaderKind = HeaderKind {
    name: "c3l",
    wire_len: Stamp::wire_len() as u32,
    trailer: false,
    queue: None,
    encode: |header, buffer| {
        let Header { supported, unsupported, fields: [flow, allocation, rate, sequence] } = *header;
        Stamp { next: NEXT, supported, unsupported, flow, allocation, rate, sequence }.encode(buffer).ok()
    },
    decode: |bytes| {
        let (stamp, _) = Stamp::decode(bytes).ok()?;
        let Stamp { supported, unsupported, flow, allocation, rate, sequence, .. } = stamp;
        Some(Header { supported, unsupported, fields: [flow, allocation, rate, sequence] })
    },
    keep: |kept, arrived| *kept = *arrived,
    answer: |kept| *kept,
};

/// Fills the header of a datagram or segment that leaves its source: no allocation yet.
pub(super) const fn start(header: &mut Header, rate: u32, sequence: u32) {
    header.fields = [0, u32::MAX, rate, sequence];
}

/// The allocation of a node that does not limit the flow, bytes/s: the largest that a stamp can carry.
pub(super) const NO_LIMIT: u32 = u32::MAX - 1;

/// A node's allocation to the flow, bytes/s: the smallest one stays.
pub(super) fn stamp(header: &mut Header, flow: FlowId, allocation: u32) {
    header.fields[FLOW] = flow.0;
    header.fields[ALLOCATION] = header.fields[ALLOCATION].min(allocation);
}

/// The smallest allocation, bytes/s; `None` if no node has stamped the packet.
#[must_use]
pub fn allocation(header: &Header) -> Option<u32> {
    stamped(header.fields[ALLOCATION])
}

/// An allocation, bytes/s, as headers and reports have it; `None` if no node has stamped the packet.
pub(super) fn stamped(allocation: u32) -> Option<u32> {
    Some(allocation).filter(|&rate| rate < u32::MAX)
}

/// The rate at which the source sends, bytes/s of IP packets.
pub(super) const fn stated(header: &Header) -> u32 {
    header.fields[RATE]
}

/// The packet's number in its flow.
#[must_use]
pub const fn sequence(header: &Header) -> u32 {
    header.fields[SEQUENCE]
}

/// The report of an epoch: of the packet that arrived last, and the rate that arrived, bytes/s.
pub(super) fn report(last: &Header, epoch: u16, received: u32) -> Option<ReportBytes> {
    let [flow, allocation, _, sequence] = last.fields;
    let feedback = Feedback { epoch, flow, allocation, received, sequence };
    ReportBytes::written(|buffer| feedback.encode(buffer).ok())
}

/// A report, read from its bytes.
pub(super) fn read_report(bytes: &[u8]) -> Option<Feedback> {
    Feedback::decode(bytes).ok().map(|(feedback, _)| feedback)
}

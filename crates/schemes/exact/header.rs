//! The header of a flow's data, and the report of its receiver.

use airfair_wire::exact::{Feedback, Stamp};

use crate::places::{Header, HeaderKind, ReportBytes};

/// Words of the header.
const EXPLICIT: usize = 0;
const CURRENT: usize = 1;
const SEQUENCE: usize = 2;

/// The header of data.
pub static STAMP: HeaderKind = HeaderKind {
    name: "exact",
    wire_len: Stamp::wire_len() as u32,
    trailer: false,
    queue: None,
    encode: |header, buffer| {
        let Header { supported, unsupported, fields: [explicit_rate, current_rate, sequence, _] } = *header;
        Stamp { supported, unsupported, explicit_rate, current_rate, sequence }.encode(buffer).ok()
    },
    decode: |bytes| {
        let (stamp, _) = Stamp::decode(bytes).ok()?;
        let Stamp { supported, unsupported, explicit_rate, current_rate, sequence } = stamp;
        Some(Header { supported, unsupported, fields: [explicit_rate, current_rate, sequence, 0] })
    },
    keep: |kept, arrived| *kept = *arrived,
    answer: |kept| *kept,
};

/// Fills the header of a packet that leaves its source, which wants `wish` bytes/s and sends at `current`.
pub(super) fn start(header: &mut Header, wish: u32, current: u32, sequence: u32) {
    header.fields = [wish, current, sequence, 0];
}

/// A node's rate for the flow, bytes/s: the smallest one stays.
pub(super) fn stamp(header: &mut Header, rate: u32) {
    header.fields[EXPLICIT] = header.fields[EXPLICIT].min(rate);
}

/// The smallest rate that a node allows, bytes/s.
#[must_use]
pub const fn explicit_rate(header: &Header) -> u32 {
    header.fields[EXPLICIT]
}

/// The rate at which the source sends, bytes/s.
#[must_use]
pub const fn current_rate(header: &Header) -> u32 {
    header.fields[CURRENT]
}

/// The packet's number in its flow.
#[must_use]
pub const fn sequence(header: &Header) -> u32 {
    header.fields[SEQUENCE]
}

/// The report of a packet.
pub(super) fn report(header: &Header) -> Option<ReportBytes> {
    let feedback = Feedback { explicit_rate: explicit_rate(header), sequence: sequence(header) };
    ReportBytes::written(|buffer| feedback.encode(buffer).ok())
}

/// A report, read from its bytes.
pub(super) fn read_report(bytes: &[u8]) -> Option<Feedback> {
    Feedback::decode(bytes).ok().map(|(feedback, _)| feedback)
}

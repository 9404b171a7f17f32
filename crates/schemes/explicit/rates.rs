//! The header of schemes that grant rates: round-trip time, requested and granted rate, the echo of the grant.

use core::ops::RangeInclusive;

use airfair_units::{Rate, Span};
use airfair_wire::congestion::{Congestion, Fields, Rates};

use crate::places::{Header, HeaderKind};

/// The protocol number of TCP, which follows the header.
const TCP: u8 = 6;

/// The bounds of the control intervals of XCP and RCP.
pub(crate) const INTERVALS: RangeInclusive<Span> = Span(100_000)..=Span::from_secs(100);

/// The largest rate that headers carry, 2^32 - 1 bytes/s.
pub const FASTEST: Rate = Rate(8 * u32::MAX as u64);

/// QFCP's header.
pub static QFCP: HeaderKind = HeaderKind {
    name: "qfcp",
    wire_len: 16,
    trailer: false,
    queue: None,
    encode: |header, buffer| encode(header, Fields::Qfcp(read(header)), buffer),
    decode: |bytes| match Congestion::decode(bytes).ok()?.0 {
        Congestion { supported, unsupported, fields: Fields::Qfcp(rates), .. } => {
            Some(header(supported, unsupported, rates))
        }
        _ => None,
    },
    keep,
    answer,
};

/// RCP's header.
pub static RCP: HeaderKind = HeaderKind {
    name: "rcp",
    wire_len: 16,
    trailer: false,
    queue: None,
    encode: |header, buffer| encode(header, Fields::Rcp(read(header)), buffer),
    decode: |bytes| match Congestion::decode(bytes).ok()?.0 {
        Congestion { supported, unsupported, fields: Fields::Rcp(rates), .. } => {
            Some(header(supported, unsupported, rates))
        }
        _ => None,
    },
    keep,
    answer,
};

/// The request of a sender in bytes/s; a rate of 0 stands for no limit.
pub(crate) fn requested(rate: Rate) -> u32 {
    if rate == Rate(0) { u32::MAX } else { bytes_per_second(rate) }
}

/// The fields of a header.
#[inline]
pub(crate) fn read(header: &Header) -> Rates {
    let [rtt_us, request, feedback, _] = header.fields;
    Rates { rtt_us, request, feedback }
}

/// Sets the fields of a header.
#[inline]
pub(crate) fn write(header: &mut Header, rates: Rates) {
    header.fields = [rates.rtt_us, rates.request, rates.feedback, 0];
}

/// Lowers the requested rate to the rate that a router grants, bytes/s.
#[inline]
pub fn grant(header: &mut Header, rate: u32) {
    header.fields[1] = header.fields[1].min(rate);
}

/// A rate as headers carry it, bytes/s; a rate that does not fit is the largest that does.
#[must_use]
pub fn bytes_per_second(rate: Rate) -> u32 {
    u32::try_from(rate.as_bps() / 8).unwrap_or(u32::MAX)
}

fn header(supported: u8, unsupported: u8, rates: Rates) -> Header {
    let mut header = Header { supported, unsupported, ..Header::default() };
    write(&mut header, rates);
    header
}

fn encode(header: &Header, fields: Fields, buffer: &mut [u8]) -> Option<usize> {
    let Header { supported, unsupported, .. } = *header;
    Congestion { next: TCP, supported, unsupported, fields }.encode(buffer).ok()
}

/// Keeps the grant of the last packet: a rate holds until the next one.
fn keep(kept: &mut Header, arrived: &Header) {
    kept.unsupported = arrived.unsupported;
    kept.fields[2] = arrived.fields[1];
}

/// The header of an acknowledgement: the grant that was kept, an unlimited request, no round-trip time.
fn answer(kept: &mut Header) -> Header {
    header(0, kept.unsupported, Rates { rtt_us: 0, request: u32::MAX, feedback: kept.fields[2] })
}

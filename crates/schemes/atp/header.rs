//! The header of a flow's data, and the report of its receiver.

use airfair_units::Span;
use airfair_wire::atp::{Feedback, Stamp};

use crate::places::{Header, HeaderKind, ReportBytes};

/// Words of the header.
const DELAY: usize = 0;
const PROBE: usize = 1;

/// The header of data.
pub static STAMP: HeaderKind = HeaderKind {
    name: "atp",
    wire_len: Stamp::wire_len() as u32,
    trailer: false,
    queue: None,
    encode: |header, buffer| {
        let Header { supported, unsupported, fields: [delay, probe, ..] } = *header;
        Stamp { probe: probe != 0, supported, unsupported, delay }.encode(buffer).ok()
    },
    decode: |bytes| {
        let (Stamp { probe, supported, unsupported, delay }, _) = Stamp::decode(bytes).ok()?;
        Some(Header { supported, unsupported, fields: [delay, u32::from(probe), 0, 0] })
    },
    keep: |kept, arrived| *kept = *arrived,
    answer: |kept| *kept,
};

/// Fills the header of a packet that leaves its source.
pub(super) fn start(header: &mut Header, probe: bool) {
    header.fields = [0, u32::from(probe), 0, 0];
}

/// True for a probe.
#[must_use]
pub const fn is_probe(header: &Header) -> bool {
    header.fields[PROBE] != 0
}

/// A node's delay: the largest one stays. What does not fit is the longest that does, an hour.
pub(super) fn stamp(header: &mut Header, delay: Span) {
    let delay = u32::try_from(delay.as_nanos().div_ceil(1000)).unwrap_or(u32::MAX);
    header.fields[DELAY] = header.fields[DELAY].max(delay);
}

/// The largest delay of a node; `None` if none has stamped the packet.
#[must_use]
pub fn delay(header: &Header) -> Option<Span> {
    let micros = header.fields[DELAY];
    (micros > 0).then(|| Span::from_micros(u64::from(micros)))
}

/// Parts of a packet in the unit of a report's rate: packets in 1000 s.
const UNIT: f64 = 1000.0;

/// The report of an epoch; the rate in packets/s.
pub(super) fn report(number: u16, rate: f64) -> Option<ReportBytes> {
    let feedback = Feedback { number, rate: (rate * UNIT) as u32 };
    ReportBytes::written(|buffer| feedback.encode(buffer).ok())
}

/// The number of a report, and its rate, packets/s.
pub(super) fn read_report(bytes: &[u8]) -> Option<(u16, f64)> {
    let (Feedback { number, rate }, _) = Feedback::decode(bytes).ok()?;
    Some((number, f64::from(rate) / UNIT))
}

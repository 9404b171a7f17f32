//! TFRC's headers: what a data packet and a report contain [RFC 5348 §3.2]. Times are in us and wrap after 71 minutes.

use airfair_units::{Span, Time};
use airfair_wire::congestion::{Congestion, Fields};

use crate::places::{Header, HeaderKind, ReportBytes};

/// The protocol number of UDP, which follows the header.
const UDP: u8 = 17;

/// The header of data packets.
pub static DATA: HeaderKind = HeaderKind {
    name: "tfrc",
    wire_len: 16,
    trailer: false,
    queue: None,
    encode: |header, buffer| {
        let [sequence, sent_us, rtt_us, _] = header.fields;
        encode(header, Fields::TfrcData { sequence, sent_us, rtt_us }, buffer)
    },
    decode: |bytes| {
        let (decoded, _) = Congestion::decode(bytes).ok()?;
        let Fields::TfrcData { sequence, sent_us, rtt_us } = decoded.fields else { return None };
        Some(header(&decoded, [sequence, sent_us, rtt_us, 0]))
    },
    keep: |_, _| (),
    answer: |kept| *kept,
};

fn encode(header: &Header, fields: Fields, buffer: &mut [u8]) -> Option<usize> {
    let Header { supported, unsupported, .. } = *header;
    Congestion { next: UDP, supported, unsupported, fields }.encode(buffer).ok()
}

fn header(decoded: &Congestion, fields: [u32; 4]) -> Header {
    Header { supported: decoded.supported, unsupported: decoded.unsupported, fields }
}

/// A time as headers carry it.
#[must_use]
pub const fn us(at: Time) -> u32 {
    (at.0 / 1000) as u32
}

/// The latest moment up to `now` that headers carry as `us`; the start of the run if there is none.
#[must_use]
pub const fn moment(us_of: u32, now: Time) -> Time {
    let ago = us(now).wrapping_sub(us_of) as u64 * 1000;
    Time((now.0 - now.0 % 1000).saturating_sub(ago))
}

/// The contents of a data packet [§3.2.1].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// Sequence number, by one more for each packet.
    pub sequence: u32,
    /// Time of sending, us.
    pub sent_us: u32,
    /// The sender's round-trip time; `None`: unknown.
    pub rtt: Option<Span>,
}

impl Data {
    /// The data packet as a header.
    #[must_use]
    pub fn fields(&self) -> [u32; 4] {
        [self.sequence, self.sent_us, self.rtt.map_or(0, |rtt| whole_us(rtt).max(1)), 0]
    }

    /// The data packet that a header describes.
    #[must_use]
    pub fn read(fields: [u32; 4]) -> Self {
        let [sequence, sent_us, rtt_us, _] = fields;
        let rtt = (rtt_us > 0).then(|| Span::from_micros(u64::from(rtt_us)));
        Self { sequence, sent_us, rtt }
    }
}

/// The contents of a report [§3.2.2].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// t_recvdata: time of sending of the last data packet received, us.
    pub sent_us: u32,
    /// t_delay: time between its arrival and the report.
    pub delay: Span,
    /// X_recv: rate of the data received in the last round-trip time, bytes/s.
    pub received: f64,
    /// p: loss event rate.
    pub loss: f64,
}

const PARTS: f64 = (1u64 << 32) as f64;

impl Report {
    /// The report as its header: 20 bytes. Numbers that do not fit become the largest that do; a loss event rate above 0 stays above 0.
    #[must_use]
    pub fn encode(&self) -> Option<ReportBytes> {
        // A float becomes an integer by saturation.
        let loss = ((self.loss * PARTS) as u32).max(u32::from(self.loss > 0.0));
        let received = self.received as u32;
        let fields =
            Fields::TfrcReport { sent_us: self.sent_us, delay_us: whole_us(self.delay), received, loss };
        // No hop reads it, so that none is counted.
        ReportBytes::written(|buffer| encode(&Header::default(), fields, buffer))
    }

    /// The report that these bytes are; `None` if they are none.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (decoded, _) = Congestion::decode(bytes).ok()?;
        let Fields::TfrcReport { sent_us, delay_us, received, loss } = decoded.fields else { return None };
        let delay = Span::from_micros(u64::from(delay_us));
        Some(Self { sent_us, delay, received: f64::from(received), loss: f64::from(loss) / PARTS })
    }
}

fn whole_us(span: Span) -> u32 {
    u32::try_from(span.0 / 1000).unwrap_or(u32::MAX)
}

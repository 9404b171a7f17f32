//! XCP's header: the sender's round-trip time, round-trip time over window, the change of the window that it requests and routers lower,
//! and the change that the receiver echoes [draft-falk-xcp-spec-03 section 2.1].
//!
//! A change of the window is counted in 1/256 byte: a thousand flows that share 150 Mbit/s get less than a byte a packet.

use airfair_wire::congestion::{Congestion, Fields};

use crate::places::{Header, HeaderKind};

/// Parts of a byte in which windows change.
pub const PARTS: u64 = 256;

/// Longer round-trip times count as this, us.
pub const LONGEST_RTT_US: u32 = 10_000_000;

/// The protocol number of TCP, which follows the header.
const TCP: u8 = 6;

/// XCP's header: XCP-b's as well.
pub static KIND: HeaderKind =
    HeaderKind { name: "xcp", wire_len: 20, trailer: false, queue: None, encode, decode, keep, answer };

/// The state of a sender: round-trip time, and round-trip time over window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderState {
    /// Round-trip time in us, 1 to [`LONGEST_RTT_US`].
    pub rtt_us: u32,
    /// Round-trip time over window, ps a byte.
    pub inverse_rate: u32,
}

/// Fills the header of a sender's packet; `delta` is the requested change of its window, 1/256 byte. Before the round-trip time is
/// known the sender requests nothing.
pub fn request(header: &mut Header, sender_state: Option<SenderState>, delta: i32) {
    let (sender_state, delta) =
        sender_state.map_or((SenderState { rtt_us: 0, inverse_rate: 0 }, 0), |s| (s, delta));
    header.fields = [sender_state.rtt_us, sender_state.inverse_rate, delta.cast_unsigned(), 0];
}

/// The state of the sender; `None` where the round-trip time is not known. An acknowledgement has none.
#[must_use]
#[inline]
pub fn sender_state(header: &Header) -> Option<SenderState> {
    let [rtt_us, inverse_rate, ..] = header.fields;
    (rtt_us > 0).then(|| SenderState { rtt_us: rtt_us.min(LONGEST_RTT_US), inverse_rate })
}

/// The change of the window that is requested, or granted so far, 1/256 byte.
#[must_use]
#[inline]
pub fn delta(header: &Header) -> i32 {
    header.fields[2].cast_signed()
}

/// Lowers the change to the grant of a router; returns the result.
#[inline]
pub fn grant(header: &mut Header, most: i32) -> i32 {
    let granted = delta(header).min(most);
    header.fields[2] = granted.cast_unsigned();
    granted
}

/// The change of the window in an acknowledgement, 1/256 byte.
#[must_use]
pub fn feedback(header: &Header) -> i32 {
    header.fields[3].cast_signed()
}

fn encode(header: &Header, buffer: &mut [u8]) -> Option<usize> {
    let [rtt_us, inverse_rate, delta, reverse] = header.fields;
    let fields =
        Fields::Xcp { rtt_us, inverse_rate, delta: delta.cast_signed(), reverse: reverse.cast_signed() };
    Congestion { next: TCP, supported: header.supported, unsupported: header.unsupported, fields }
        .encode(buffer)
        .ok()
}

fn decode(bytes: &[u8]) -> Option<Header> {
    let (Congestion { supported, unsupported, fields, .. }, _) = Congestion::decode(bytes).ok()?;
    let Fields::Xcp { rtt_us, inverse_rate, delta, reverse } = fields else { return None };
    Some(Header {
        supported,
        unsupported,
        fields: [rtt_us, inverse_rate, delta.cast_unsigned(), reverse.cast_unsigned()],
    })
}

/// Changes add up until an acknowledgement carries them.
fn keep(kept: &mut Header, arrived: &Header) {
    kept.unsupported = arrived.unsupported;
    kept.fields[3] = feedback(kept).saturating_add(delta(arrived)).cast_unsigned();
}

fn answer(kept: &mut Header) -> Header {
    let reverse = core::mem::take(&mut kept.fields[3]);
    Header { unsupported: kept.unsupported, fields: [0, 0, 0, reverse], ..Header::default() }
}

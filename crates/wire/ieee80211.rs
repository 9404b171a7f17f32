//! The frames of the 802.11 MAC [IEEE 802.11-2016 clauses 9.2 and 9.3].
//!
//! ```text
//! RTS    20 bytes  frame control 2, duration 2, RA 6, TA 6, FCS 4                                    9.3.1.2
//! CTS    14        frame control 2, duration 2, RA 6, FCS 4                                          9.3.1.3
//! Ack    14        frame control 2, duration 2, RA 6, FCS 4                                          9.3.1.4
//! CF-End 20        frame control 2, duration 2, RA 6, BSSID (TA) 6, FCS 4                            9.3.1.6
//! data   28 + body frame control 2, duration 2, address 1-3 18, sequence control 2, [address 4 6],
//!                  [QoS control 2], [HT control 4], body, FCS 4                                      9.3.2.1
//! ```
//!
//! Fields of more than one byte are sent low byte first (clause 9.2.2). [`Rts`], [`Cts`], [`Ack`] and [`CfEnd`] are whole frames with
//! their FCS; [`DataHeader`] precedes the body, [`Fcs`] follows it, and [`Frame`] is any whole frame. Management frames, contention-free
//! polling and block acknowledgements are not represented.

mod control;
mod data;
mod fcs;
mod fields;
mod qos;

pub use control::{Ack, CfEnd, Cts, Rts};
pub use data::{Addresses, DataHeader};
pub use fcs::Fcs;
pub use fields::{FragmentNumber, FrameControl, FrameKind, NavDuration, SequenceControl, SequenceNumber};
pub use qos::{AckPolicy, QosControl, Tid};

use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Bytes that a data frame with three addresses and without QoS adds to its body: 28.
pub const DATA_OVERHEAD: usize = DataHeader::base_len() + Fcs::wire_len();

/// Bytes that a QoS data frame with three addresses adds to its body: 30.
pub const QOS_DATA_OVERHEAD: usize = DATA_OVERHEAD + QosControl::wire_len();

/// A whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame<'a> {
    /// Request to send.
    Rts(Rts),
    /// Clear to send.
    Cts(Cts),
    /// Acknowledgement.
    Ack(Ack),
    /// End of a TXOP.
    CfEnd(CfEnd),
    /// Data.
    Data {
        /// The header before the body.
        header: DataHeader,
        /// The frame body: for data, LLC/SNAP and its payload.
        body: &'a [u8],
    },
}

impl<'a> Frame<'a> {
    /// Length on the wire, bytes: header, body and FCS.
    pub const fn wire_len(&self) -> usize {
        match self {
            Self::Rts(_) => Rts::wire_len(),
            Self::Cts(_) => Cts::wire_len(),
            Self::Ack(_) => Ack::wire_len(),
            Self::CfEnd(_) => CfEnd::wire_len(),
            Self::Data { header, body } => header.wire_len() + body.len() + Fcs::wire_len(),
        }
    }

    /// Writes the frame with its FCS to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (header, body) = match self {
            Self::Rts(rts) => return rts.encode(buffer),
            Self::Cts(cts) => return cts.encode(buffer),
            Self::Ack(ack) => return ack.encode(buffer),
            Self::CfEnd(cf_end) => return cf_end.encode(buffer),
            Self::Data { header, body } => (header, body),
        };
        let (needed, available) = (self.wire_len(), buffer.len());
        let Some(frame) = buffer.get_mut(..needed) else {
            return Err(EncodeError { header: Header::Data, needed, available });
        };
        let body_at = header.encode(frame)?;
        if let Some(space) = frame.get_mut(body_at..body_at + body.len()) {
            space.copy_from_slice(body);
        }
        Fcs::seal(frame)
    }

    /// Reads a whole frame whose last four bytes are its FCS.
    ///
    /// # Errors
    /// A wrong FCS, and all of [`Self::decode_without_fcs`].
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::decode_without_fcs(Fcs::check(bytes)?)
    }

    /// Reads a frame whose FCS has been checked and removed, as many drivers deliver it.
    ///
    /// # Errors
    /// Too few bytes, a kind of frame that this crate does not represent, strict ordering without QoS, a duration
    /// beyond 15 bits, bytes after the end of a control frame.
    pub fn decode_without_fcs(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let (control, _) = FrameControl::decode(bytes)?;
        let (header, frame, rest) = match control.kind {
            FrameKind::Rts => {
                let (rts, rest) = Rts::decode_without_fcs(bytes)?;
                (Header::Rts, Self::Rts(rts), rest)
            }
            FrameKind::Cts => {
                let (cts, rest) = Cts::decode_without_fcs(bytes)?;
                (Header::Cts, Self::Cts(cts), rest)
            }
            FrameKind::Ack => {
                let (ack, rest) = Ack::decode_without_fcs(bytes)?;
                (Header::Ack, Self::Ack(ack), rest)
            }
            FrameKind::CfEnd => {
                let (cf_end, rest) = CfEnd::decode_without_fcs(bytes)?;
                (Header::CfEnd, Self::CfEnd(cf_end), rest)
            }
            FrameKind::Data | FrameKind::Null | FrameKind::QosData | FrameKind::QosNull => {
                let (header, body) = DataHeader::decode(bytes)?;
                return Ok(Self::Data { header, body });
            }
        };
        match rest.len() {
            0 => Ok(frame),
            trailing => {
                let offset = bytes.len() - trailing;
                Err(DecodeError { header, offset, expected: Expected::End { trailing } })
            }
        }
    }
}

//! RTS, CTS, Ack and CF-End [IEEE 802.11-2016 clause 9.3.1]: whole frames, FCS included.

use super::fcs::Fcs;
use super::fields::{FrameControl, FrameKind, NavDuration};
use crate::address::MacAddr;
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Request to send: 20 bytes [clause 9.3.1.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rts {
    /// Duration of CTS, data, Ack and three SIFS, microseconds.
    pub duration: NavDuration,
    /// RA: the station that answers.
    pub receiver: MacAddr,
    /// TA: the sending station.
    pub transmitter: MacAddr,
}

/// Clear to send: 14 bytes [clause 9.3.1.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cts {
    /// Duration in the RTS less a SIFS and this frame, microseconds.
    pub duration: NavDuration,
    /// RA: the sender of the RTS.
    pub receiver: MacAddr,
}

/// Acknowledgement: 14 bytes [clause 9.3.1.4].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ack {
    /// 0 unless more fragments follow or the acknowledged frame is one of a TXOP, microseconds.
    pub duration: NavDuration,
    /// RA: the sender of the acknowledged frame.
    pub receiver: MacAddr,
}

/// End of a TXOP before its limit: 20 bytes [clause 9.3.1.6].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfEnd {
    /// 0, microseconds.
    pub duration: NavDuration,
    /// RA: the broadcast address.
    pub receiver: MacAddr,
    /// BSSID (TA): the station that has had the TXOP.
    pub transmitter: MacAddr,
}

/// Length of the common fields: frame control, duration and RA.
const COMMON_LEN: usize = FrameControl::wire_len() + NavDuration::wire_len() + MacAddr::wire_len();

/// Reads the common fields of control frames. Their flags have no meaning and are ignored [clause 9.2.2].
fn read_common(
    reader: &mut Reader<'_>,
    kind: FrameKind,
    needed: usize,
    wanted: &'static str,
) -> Result<(NavDuration, MacAddr), DecodeError> {
    reader.need(needed)?;
    let at = reader.clone();
    if FrameControl::read(reader)?.kind != kind {
        let found = at.rest().get(..1).unwrap_or_default();
        return Err(at.fail(Expected::value("version, type and subtype", wanted, found)));
    }
    Ok((NavDuration::read(reader)?, reader.mac()?))
}

/// Methods that all four frames share.
macro_rules! control_frame {
    ($name:ident, $len:expr, $len_text:literal) => {
        impl $name {
            #[doc = concat!("Length on the wire, FCS included: ", $len_text, " bytes.")]
            pub const fn wire_len() -> usize {
                $len
            }

            /// Writes the frame with its FCS to the front of `buffer` and returns its length, bytes.
            ///
            /// # Errors
            /// Where `buffer` is shorter than [`Self::wire_len`].
            pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
                let mut frame = [0; Self::wire_len()];
                self.write(&mut frame)?;
                Fcs::seal(&mut frame)?;
                Writer::new(Header::$name, buffer, Self::wire_len())?.put(frame);
                Ok(Self::wire_len())
            }

            /// Reads the frame and checks its FCS; returns what follows.
            ///
            /// # Errors
            /// Too few bytes, a wrong FCS, another kind of frame, a duration beyond 15 bits.
            pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
                Reader::new(Header::$name, bytes).need(Self::wire_len())?;
                let (frame, rest) = bytes.split_at_checked(Self::wire_len()).unwrap_or_default();
                Ok((Self::decode_without_fcs(Fcs::check(frame)?)?.0, rest))
            }
        }
    };
}

control_frame!(Rts, COMMON_LEN + MacAddr::wire_len() + Fcs::wire_len(), "20");
control_frame!(Cts, COMMON_LEN + Fcs::wire_len(), "14");
control_frame!(Ack, COMMON_LEN + Fcs::wire_len(), "14");
control_frame!(CfEnd, COMMON_LEN + MacAddr::wire_len() + Fcs::wire_len(), "20");

impl Rts {
    fn write(&self, buffer: &mut [u8]) -> Result<(), EncodeError> {
        Writer::new(Header::Rts, buffer, Self::wire_len())?
            .put(FrameControl::new(FrameKind::Rts).to_bytes())
            .put(self.duration.to_bytes())
            .put(self.receiver.0)
            .put(self.transmitter.0);
        Ok(())
    }

    pub(super) fn decode_without_fcs(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Rts, bytes);
        let needed = Self::wire_len() - Fcs::wire_len();
        let (duration, receiver) = read_common(&mut reader, FrameKind::Rts, needed, "RTS (0xb4)")?;
        let frame = Self { duration, receiver, transmitter: reader.mac()? };
        Ok((frame, reader.rest()))
    }
}

impl Cts {
    fn write(&self, buffer: &mut [u8]) -> Result<(), EncodeError> {
        Writer::new(Header::Cts, buffer, Self::wire_len())?
            .put(FrameControl::new(FrameKind::Cts).to_bytes())
            .put(self.duration.to_bytes())
            .put(self.receiver.0);
        Ok(())
    }

    pub(super) fn decode_without_fcs(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Cts, bytes);
        let (duration, receiver) = read_common(&mut reader, FrameKind::Cts, COMMON_LEN, "CTS (0xc4)")?;
        Ok((Self { duration, receiver }, reader.rest()))
    }
}

impl Ack {
    fn write(&self, buffer: &mut [u8]) -> Result<(), EncodeError> {
        Writer::new(Header::Ack, buffer, Self::wire_len())?
            .put(FrameControl::new(FrameKind::Ack).to_bytes())
            .put(self.duration.to_bytes())
            .put(self.receiver.0);
        Ok(())
    }

    pub(super) fn decode_without_fcs(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Ack, bytes);
        let (duration, receiver) = read_common(&mut reader, FrameKind::Ack, COMMON_LEN, "Ack (0xd4)")?;
        Ok((Self { duration, receiver }, reader.rest()))
    }
}

impl CfEnd {
    fn write(&self, buffer: &mut [u8]) -> Result<(), EncodeError> {
        Writer::new(Header::CfEnd, buffer, Self::wire_len())?
            .put(FrameControl::new(FrameKind::CfEnd).to_bytes())
            .put(self.duration.to_bytes())
            .put(self.receiver.0)
            .put(self.transmitter.0);
        Ok(())
    }

    pub(super) fn decode_without_fcs(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::CfEnd, bytes);
        let needed = Self::wire_len() - Fcs::wire_len();
        let (duration, receiver) = read_common(&mut reader, FrameKind::CfEnd, needed, "CF-End (0xe4)")?;
        let frame = Self { duration, receiver, transmitter: reader.mac()? };
        Ok((frame, reader.rest()))
    }
}

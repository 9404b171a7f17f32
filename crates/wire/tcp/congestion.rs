//! The congestion header of explicit-rate schemes as a TCP option: what routers between ends with unchanged kernels read and rewrite.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Kind of options for experiments [RFC 4727], shared by means of an experiment identifier (ExID) after the length [RFC 6994 §3].
pub(super) const EXPERIMENT: u8 = 254;

/// Kind, length and ExID of each scheme's option. The ExIDs are "QF", "RC" and "XC" in ASCII.
const QFCP: u32 = 0xfe0c_5146;
const RCP: u32 = 0xfe10_5243;
const XCP: u32 = 0xfe14_5843;

/// A congestion header as a TCP option: 12 bytes for QFCP, 16 for RCP, 20 for XCP.
///
/// | bytes | field |
/// |---|---|
/// | 1 | kind, 254 |
/// | 1 | length, 12, 16 or 20 |
/// | 2 | ExID: 0x5146 QFCP, 0x5243 RCP, 0x5843 XCP; not registered, so for networks of one operator |
/// | 8, 12 or 16 | the fields, 4 bytes each in the order below |
///
/// The layout follows from what Linux (6.18) permits a program in eBPF:
///
/// - A program of type `sockops` reserves the option's bytes in each segment (`bpf_reserve_hdr_opt`), and the kernel makes segments shorter
///   by as much. Lengths are multiples of 4, so that no padding is added. The option comes after the kernel's own.
/// - The receiver's program finds the option by the kind, 254, and an ExID of 2 bytes (`bpf_load_hdr_opt`). The first of two is used, here
///   too.
/// - A router's program rewrites the fields, and updates the checksum by words (`bpf_l4_csum_replace`), so that the fields have to be at
///   an even offset. [`super::set_congestion`] does the same.
/// - Of 40 bytes of options timestamps take 12. Beside them QFCP leaves room for one SACK block, RCP too, XCP for none: receivers that
///   have losses to report omit blocks, and the header is state that the next segment replaces, not a message that has to arrive.
/// - Of a large segment that the adapter splits, each part gets the same option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CongestionOption {
    /// Quick Flow Control Protocol. Routers lower the request to the rate of the flow.
    Qfcp {
        /// Requested and granted rate, kbit/s.
        request_kbps: u32,
        /// The granted rate as the receiver echoes it, kbit/s; 0: none has arrived.
        feedback_kbps: u32,
    },
    /// Rate Control Protocol.
    Rcp {
        /// The sender's round-trip time, us; 0: unknown.
        rtt_us: u32,
        /// Requested and granted rate, kbit/s.
        request_kbps: u32,
        /// The granted rate as the receiver echoes it, kbit/s; 0: none has arrived.
        feedback_kbps: u32,
    },
    /// Explicit Control Protocol, with the fields and units of [`crate::congestion::Fields::Xcp`].
    Xcp {
        /// The sender's round-trip time, us; 0: unknown.
        rtt_us: u32,
        /// The flow's round-trip time over its window, ps a byte.
        inverse_rate: u32,
        /// Requested and granted change of the window, 1/256 byte.
        delta: i32,
        /// Granted change as the receiver echoes it, 1/256 byte.
        reverse: i32,
    },
}

impl CongestionOption {
    /// Kind, length and ExID.
    const fn head(&self) -> u32 {
        match self {
            Self::Qfcp { .. } => QFCP,
            Self::Rcp { .. } => RCP,
            Self::Xcp { .. } => XCP,
        }
    }

    /// Length on the wire: 12, 16 or 20 bytes.
    pub const fn wire_len(&self) -> usize {
        match self {
            Self::Qfcp { .. } => 12,
            Self::Rcp { .. } => 16,
            Self::Xcp { .. } => 20,
        }
    }

    /// Writes the option to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.write(Writer::new(Header::CongestionOption, buffer, self.wire_len())?);
        Ok(self.wire_len())
    }

    pub(super) fn write<'a>(&self, writer: Writer<'a>) -> Writer<'a> {
        let writer = writer.put(self.head().to_be_bytes());
        match *self {
            Self::Qfcp { request_kbps, feedback_kbps } => {
                writer.put(request_kbps.to_be_bytes()).put(feedback_kbps.to_be_bytes())
            }
            Self::Rcp { rtt_us, request_kbps, feedback_kbps } => writer
                .put(rtt_us.to_be_bytes())
                .put(request_kbps.to_be_bytes())
                .put(feedback_kbps.to_be_bytes()),
            Self::Xcp { rtt_us, inverse_rate, delta, reverse } => writer
                .put(rtt_us.to_be_bytes())
                .put(inverse_rate.to_be_bytes())
                .put(delta.to_be_bytes())
                .put(reverse.to_be_bytes()),
        }
    }

    /// Reads the option; returns the bytes that follow. Among the options of a segment [`super::Options::congestion`] is the option.
    ///
    /// # Errors
    /// Too few bytes, or another kind, length or ExID.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::CongestionOption, bytes);
        let at = reader.clone();
        let head = reader.u32_be()?;
        let option = match head {
            QFCP => Self::Qfcp { request_kbps: reader.u32_be()?, feedback_kbps: reader.u32_be()? },
            RCP => Self::Rcp {
                rtt_us: reader.u32_be()?,
                request_kbps: reader.u32_be()?,
                feedback_kbps: reader.u32_be()?,
            },
            XCP => Self::Xcp {
                rtt_us: reader.u32_be()?,
                inverse_rate: reader.u32_be()?,
                delta: reader.u32_be()?.cast_signed(),
                reverse: reader.u32_be()?.cast_signed(),
            },
            _ => {
                let wanted = "0xfe0c5146 (QFCP), 0xfe105243 (RCP) or 0xfe145843 (XCP)";
                return Err(at.fail(Expected::value("kind, length and ExID", wanted, &head.to_be_bytes())));
            }
        };
        Ok((option, reader.rest()))
    }
}

//! The congestion header that schemes put between IP and the transport: the sender's request, the routers' grant, the receiver's echo or
//! report. The papers name fields and no layout [Pu and Hamdi, QFCP, §II: RTT, rate-request, rate-feedback; draft-falk-xcp-spec-03
//! section 2.1: RTT, X, Delta_Throughput, Reverse_Feedback; RFC 5348 section 3.2: what TFRC's data and feedback packets contain]; this
//! layout is ours.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// A congestion header: 16 bytes, 20 with the fields of XCP or of TFRC's reports.
///
/// | bytes | field |
/// |---|---|
/// | 1 | version 1 in the upper half, kind of fields in the lower: 1 QFCP, 2 RCP, 3 XCP, 4 TFRC's data, 5 TFRC's reports |
/// | 1 | protocol of what follows, IP's number |
/// | 1 | output interfaces on the path that support the scheme |
/// | 1 | output interfaces on the path that do not, as the receiver has counted them |
/// | 12 or 16 | the fields, 4 bytes each in the order of [`Fields`] |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Congestion {
    /// Protocol of what follows.
    pub next: u8,
    /// Output interfaces on the path that support the scheme.
    pub supported: u8,
    /// Output interfaces on the path that do not, as the receiver echoes the number.
    pub unsupported: u8,
    /// Fields of the scheme.
    pub fields: Fields,
}

/// The fields of a congestion header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fields {
    /// Quick Flow Control Protocol.
    Qfcp(Rates),
    /// Rate Control Protocol.
    Rcp(Rates),
    /// Explicit Control Protocol.
    Xcp {
        /// The sender's round-trip time, us; 0: unknown.
        rtt_us: u32,
        /// The flow's round-trip time over its window, ps a byte: routers need not divide.
        inverse_rate: u32,
        /// Requested and granted change of the window, 1/256 byte: many flows share less than a byte a packet.
        delta: i32,
        /// Granted change as the receiver echoes it, 1/256 byte.
        reverse: i32,
    },
    /// TCP Friendly Rate Control, a data packet [RFC 5348 section 3.2.1].
    TfrcData {
        /// Sequence number of the packet.
        sequence: u32,
        /// Time of sending, us.
        sent_us: u32,
        /// The sender's round-trip time, us; 0: unknown.
        rtt_us: u32,
    },
    /// TCP Friendly Rate Control, a report of the receiver [RFC 5348 section 3.2.2].
    TfrcReport {
        /// Time of sending of the last data packet that was received, us.
        sent_us: u32,
        /// Time between the arrival of that packet and the report, us.
        delay_us: u32,
        /// Rate of the data received in the last round-trip time, bytes/s.
        received: u32,
        /// Loss event rate, 2^-32; `u32::MAX`: 1.
        loss: u32,
    },
}

/// The fields of schemes that assign rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rates {
    /// The sender's round-trip time, us; 0: unknown.
    pub rtt_us: u32,
    /// Requested and granted rate, bytes/s; `u32::MAX`: unlimited.
    pub request: u32,
    /// The granted rate as the receiver echoes it, bytes/s.
    pub feedback: u32,
}

const VERSION: u8 = 1;

impl Fields {
    const fn kind(&self) -> u8 {
        match self {
            Self::Qfcp(_) => 1,
            Self::Rcp(_) => 2,
            Self::Xcp { .. } => 3,
            Self::TfrcData { .. } => 4,
            Self::TfrcReport { .. } => 5,
        }
    }

    const fn wire_len(&self) -> usize {
        match self {
            Self::Qfcp(_) | Self::Rcp(_) | Self::TfrcData { .. } => 12,
            Self::Xcp { .. } | Self::TfrcReport { .. } => 16,
        }
    }
}

impl Congestion {
    /// Length on the wire: 16 bytes, 20 for XCP and TFRC's reports.
    pub const fn wire_len(&self) -> usize {
        4 + self.fields.wire_len()
    }

    /// Encodes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let first = VERSION << 4 | self.fields.kind();
        let writer = Writer::new(Header::Congestion, buffer, self.wire_len())?;
        let writer = writer.put([first, self.next, self.supported, self.unsupported]);
        match self.fields {
            Fields::Qfcp(rates) | Fields::Rcp(rates) => {
                let Rates { rtt_us, request, feedback } = rates;
                writer.put(rtt_us.to_be_bytes()).put(request.to_be_bytes()).put(feedback.to_be_bytes());
            }
            Fields::Xcp { rtt_us, inverse_rate, delta, reverse } => {
                writer
                    .put(rtt_us.to_be_bytes())
                    .put(inverse_rate.to_be_bytes())
                    .put(delta.to_be_bytes())
                    .put(reverse.to_be_bytes());
            }
            Fields::TfrcData { sequence, sent_us, rtt_us } => {
                writer.put(sequence.to_be_bytes()).put(sent_us.to_be_bytes()).put(rtt_us.to_be_bytes());
            }
            Fields::TfrcReport { sent_us, delay_us, received, loss } => {
                writer
                    .put(sent_us.to_be_bytes())
                    .put(delay_us.to_be_bytes())
                    .put(received.to_be_bytes())
                    .put(loss.to_be_bytes());
            }
        }
        Ok(self.wire_len())
    }

    /// Decodes a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version, or an unknown kind of fields.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::Congestion, bytes);
        let at = reader.clone();
        let [first, next, supported, unsupported] = reader.array()?;
        let unknown = || {
            at.fail(Expected::value(
                "version and fields",
                "0x11 (QFCP), 0x12 (RCP), 0x13 (XCP), 0x14 or 0x15 (TFRC)",
                &[first],
            ))
        };
        if first >> 4 != VERSION {
            return Err(unknown());
        }
        let fields = match first & 0xf {
            kind @ (1 | 2) => {
                let rates =
                    Rates { rtt_us: reader.u32_be()?, request: reader.u32_be()?, feedback: reader.u32_be()? };
                if kind == 1 { Fields::Qfcp(rates) } else { Fields::Rcp(rates) }
            }
            3 => Fields::Xcp {
                rtt_us: reader.u32_be()?,
                inverse_rate: reader.u32_be()?,
                delta: reader.u32_be()?.cast_signed(),
                reverse: reader.u32_be()?.cast_signed(),
            },
            4 => Fields::TfrcData {
                sequence: reader.u32_be()?,
                sent_us: reader.u32_be()?,
                rtt_us: reader.u32_be()?,
            },
            5 => Fields::TfrcReport {
                sent_us: reader.u32_be()?,
                delay_us: reader.u32_be()?,
                received: reader.u32_be()?,
                loss: reader.u32_be()?,
            },
            _ => return Err(unknown()),
        };
        Ok((Self { next, supported, unsupported, fields }, reader.rest()))
    }
}

//! Errors of decoding, with header and offset, and of encoding, with header and lengths.

use core::fmt;

/// A header or trailer of this crate, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Header {
    /// The Frame Control field at the start of every 802.11 frame.
    FrameControl,
    /// 802.11 RTS.
    Rts,
    /// 802.11 CTS.
    Cts,
    /// 802.11 Ack.
    Ack,
    /// 802.11 CF-End.
    CfEnd,
    /// 802.11 data header.
    Data,
    /// 802.11 frame check sequence.
    Fcs,
    /// LLC and SNAP.
    LlcSnap,
    /// Ethernet.
    Ethernet,
    /// ARP for IPv4 over Ethernet.
    Arp,
    /// IPv4.
    Ipv4,
    /// IPv6, without extension headers.
    Ipv6,
    /// UDP.
    Udp,
    /// TCP, its options included.
    Tcp,
    /// The header of an explicit-rate scheme as a TCP option.
    SchemeOption,
    /// Radiotap.
    Radiotap,
    /// A block of a capture file.
    PcapNg,
    /// NRED's notification.
    Ncn,
    /// A message of AODV.
    Aodv,
    /// An update of DSDV.
    Dsdv,
    /// A packet of OLSR.
    Olsr,
    /// The header of an explicit-rate scheme.
    Congestion,
    /// DiffQ's trailer.
    DiffQ,
    /// A message or header of C3L.
    C3l,
    /// A packet of MORE.
    More,
    /// ExOR's header.
    Exor,
    /// An announcement of the airtime allocator.
    Airtime,
    /// A probe of delivery ratios.
    Probe,
    /// A header or report of the transport with a rate.
    Rate,
    /// ATP's header or report.
    Atp,
    /// EXACT's header or report.
    Exact,
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FrameControl => "802.11 frame control",
            Self::Rts => "802.11 RTS",
            Self::Cts => "802.11 CTS",
            Self::Ack => "802.11 Ack",
            Self::CfEnd => "802.11 CF-End",
            Self::Data => "802.11 data header",
            Self::Fcs => "802.11 FCS",
            Self::LlcSnap => "LLC/SNAP header",
            Self::Ethernet => "Ethernet header",
            Self::Arp => "ARP packet",
            Self::Ipv4 => "IPv4 header",
            Self::Ipv6 => "IPv6 header",
            Self::Udp => "UDP header",
            Self::Tcp => "TCP header",
            Self::SchemeOption => "option of a scheme",
            Self::Radiotap => "radiotap header",
            Self::PcapNg => "pcapng block",
            Self::Ncn => "NCN",
            Self::Aodv => "AODV message",
            Self::Dsdv => "DSDV update",
            Self::Olsr => "OLSR packet",
            Self::Congestion => "congestion header",
            Self::DiffQ => "DiffQ trailer",
            Self::C3l => "C3L message",
            Self::More => "MORE packet",
            Self::Exor => "ExOR header",
            Self::Airtime => "airtime announcement",
            Self::Probe => "delivery probe",
            Self::Rate => "rate transport",
            Self::Atp => "ATP",
            Self::Exact => "EXACT",
        })
    }
}

/// Expectation of a decoder that was not met, with what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expected {
    /// More bytes than available.
    Bytes {
        /// Bytes needed from the offset on.
        needed: usize,
        /// Bytes present from the offset on.
        available: usize,
    },
    /// Another value of a field than found.
    Value {
        /// The field's name in its standard.
        field: &'static str,
        /// The values that are accepted.
        wanted: &'static str,
        /// The value found; a field longer than four bytes is cut to its first four.
        found: u32,
    },
    /// Another checksum or FCS than found.
    Checksum {
        /// The value that the bytes give.
        computed: u32,
        /// The value in the field.
        found: u32,
    },
    /// The end of the frame.
    End {
        /// Bytes found after it.
        trailing: usize,
    },
}

impl Expected {
    pub(crate) fn value(field: &'static str, wanted: &'static str, found: &[u8]) -> Self {
        let found = found.iter().take(4).fold(0, |value, &byte| value << 8 | u32::from(byte));
        Self::Value { field, wanted, found }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes { needed, available } => write!(f, "expected {needed} bytes, found {available}"),
            Self::Value { field, wanted, found } => write!(f, "{field}: expected {wanted}, found {found:#x}"),
            Self::Checksum { computed, found } => {
                write!(f, "expected the checksum {computed:#x}, found {found:#x}")
            }
            Self::End { trailing } => write!(f, "expected the end of the frame, found {trailing} more bytes"),
        }
    }
}

/// Error of bytes that are not a valid header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecodeError {
    /// The header that was being decoded.
    pub header: Header,
    /// Offset of the error, bytes from the header's first one.
    pub offset: usize,
    /// The unmet expectation at that offset.
    pub expected: Expected,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, byte {}: {}", self.header, self.offset, self.expected)
    }
}

impl core::error::Error for DecodeError {}

/// Error of a buffer too short for the header: the only way in which encoding can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EncodeError {
    /// The header that was being encoded.
    pub header: Header,
    /// The header's length, bytes.
    pub needed: usize,
    /// The buffer's length, bytes.
    pub available: usize,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: needs {} bytes, the buffer has {}", self.header, self.needed, self.available)
    }
}

impl core::error::Error for EncodeError {}

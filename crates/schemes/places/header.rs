//! The header that a scheme puts into each packet: routers write into it, the receiver echoes it or reports what it has read.

/// The fields of a scheme's header while a packet travels. The scheme names the four words; `airfair-wire` has their bytes on the
/// wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Header {
    /// The number of output interfaces passed with support for the scheme, counted by the host.
    pub supported: u8,
    /// In an echo: the number of output interfaces of the path without support, which the host of the receiver computes as hops, by
    /// IP's time to live, minus `supported` (as RFC 4782 section 3.1 does).
    pub unsupported: u8,
    /// The fields of the scheme.
    pub fields: [u32; 4],
}

impl Header {
    /// Sets `unsupported` in the header of a packet that has arrived after `hops` hops.
    pub fn count_unsupported(&mut self, hops: u16) {
        self.unsupported = u8::try_from(hops.saturating_sub(u16::from(self.supported))).unwrap_or(u8::MAX);
    }
}

/// A kind of header: its name, its encoding, and the rules of the receiver, which do not depend on the scheme's law.
#[derive(Debug, Clone, Copy)]
pub struct HeaderKind {
    /// The name of the header; interfaces leave headers of another name alone.
    pub name: &'static str,
    /// The length in each packet, bytes.
    pub wire_len: u32,
    /// True if it stands at the end of a packet; false: between IP and the transport's header.
    pub trailer: bool,
    /// Reads the size of the queue of the packet's destination at the sender of the frame, packets; `None`: it announces none.
    pub queue: Option<fn(&Header) -> u32>,
    /// Encodes it, into a buffer of at least `wire_len`; `None` where it has no bytes.
    pub encode: fn(&Header, &mut [u8]) -> Option<usize>,
    /// Decodes its fields; `None` where the bytes are no such header.
    pub decode: fn(&[u8]) -> Option<Header>,
    /// A data packet arrives at the receiver: updates the state kept for acknowledgements. `unsupported` is set already.
    pub keep: fn(&mut Header, arrived: &Header),
    /// An acknowledgement leaves: its header, from the state kept.
    pub answer: fn(&mut Header) -> Header,
}

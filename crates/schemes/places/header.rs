//! The header that an explicit-rate scheme puts into each packet: routers write into it, the receiver echoes it.

/// The fields of a scheme's header while a packet travels. The scheme gives the four words names; the bytes on the wire are the
/// business of `airfair-wire`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Header {
    /// Output interfaces passed that spoke the scheme: counted by the host.
    pub spoken: u8,
    /// In an echo: output interfaces of the path that did not, as the host of the receiver has found out by IP's time to live
    /// (the way of RFC 4782 section 3.1).
    pub missed: u8,
    /// What the scheme has to say.
    pub fields: [u32; 4],
}

/// A kind of header: who speaks it, and what both ends and every hop do with it whatever the scheme's law is.
#[derive(Debug, Clone, Copy)]
pub struct HeaderKind {
    /// Its name; interfaces leave headers of another name alone.
    pub name: &'static str,
    /// What it adds to each packet, bytes.
    pub wire_len: u32,
    /// Its bytes in front of a transport's, into a buffer of at least `wire_len`; `None` if it has no bytes there.
    pub encode: fn(&Header, &mut [u8]) -> Option<usize>,
    /// Its fields from bytes; `None` if they are no such header.
    pub decode: fn(&[u8]) -> Option<Header>,
    /// The receiver has got a packet: what it keeps for its acknowledgements. `missed` is set already.
    pub keep: fn(&mut Header, arrived: &Header),
    /// An acknowledgement leaves: its header, from what was kept.
    pub answer: fn(&mut Header) -> Header,
}

//! Headers of schemes (explicit rates, TFRC, DiffQ): their kinds, the kind of each packet's header, and the receiver's echo.

use alloc::vec;
use alloc::vec::Vec;

use airfair_schemes::places::{Header, HeaderKind};

/// Kind of the scheme header that a packet carries: a number among the kinds of a network; none for most packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeaderId(u8);

impl HeaderId {
    /// No header.
    pub const NONE: Self = Self(0);

    /// True if there is no header.
    #[must_use]
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// The kind and the header of a packet, if it carries one.
pub type HeaderRef<'a> = (HeaderId, Option<&'a mut Header>);

/// The kinds of header that hops and flows of a network use.
#[derive(Debug, Clone, Default)]
pub struct HeaderKinds {
    kinds: Vec<&'static HeaderKind>,
    check: bool,
}

impl HeaderKinds {
    /// Number of a kind; kinds with the same name have the same number.
    pub fn id(&mut self, kind: Option<&'static HeaderKind>) -> HeaderId {
        let Some(kind) = kind else { return HeaderId::NONE };
        let at = self.kinds.iter().position(|known| known.name == kind.name).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        HeaderId(u8::try_from(at + 1).unwrap_or(0))
    }

    /// The kind with a number.
    #[must_use]
    #[inline]
    pub fn of(&self, id: HeaderId) -> Option<&'static HeaderKind> {
        self.kinds.get(usize::from(id.0).checked_sub(1)?).copied()
    }

    /// Bytes that a header of this kind adds to a packet.
    #[must_use]
    #[inline]
    pub fn wire_len(&self, id: HeaderId) -> u32 {
        self.of(id).map_or(0, |kind| kind.wire_len)
    }

    /// Enables the check: headers are encoded to bytes and decoded at every hop.
    pub fn enable_check(&mut self) {
        self.check = true;
    }

    /// Encodes and decodes a header, if the check is enabled. A header without an encoding stays as it is.
    #[inline]
    pub fn round_trip(&self, id: HeaderId, header: &mut Header) {
        if self.check
            && let Some(kind) = self.of(id)
        {
            *header = through_bytes(kind, header);
        }
    }

    /// Writes the bytes of a header and returns their number, at most `bytes.len()`. A header without an encoding leaves `bytes` unchanged.
    pub fn encode(&self, id: HeaderId, header: &Header, bytes: &mut [u8]) -> usize {
        let Some(kind) = self.of(id) else { return 0 };
        let len = (kind.wire_len as usize).min(bytes.len());
        let _ = (kind.encode)(header, bytes);
        len
    }
}

/// A header encoded and decoded: unchanged if it has no encoding, empty if its bytes cannot be decoded, so that the results differ.
fn through_bytes(kind: &HeaderKind, header: &Header) -> Header {
    let mut bytes = vec![0; kind.wire_len as usize];
    match (kind.encode)(header, &mut bytes) {
        None => *header,
        Some(len) => bytes.get(..len).and_then(kind.decode).unwrap_or_default(),
    }
}

/// The receiver's state of a connection whose packets carry headers: received values for its acknowledgements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Echo {
    kept: Header,
    /// True if a header has been kept since the last answer.
    fresh: bool,
    /// True if the last packet came without a header.
    bare: bool,
}

impl Echo {
    /// Stores the header of a received packet that has made `hops` hops. The number of interfaces without the scheme is set in the header.
    pub fn keep(&mut self, kind: &HeaderKind, header: &mut Header, hops: u16) {
        header.count_unsupported(hops);
        (kind.keep)(&mut self.kept, header);
        (self.fresh, self.bare) = (true, false);
    }

    /// Takes note of a received packet without a header.
    pub fn note_bare(&mut self) {
        self.bare = true;
    }

    /// True if the next acknowledgement carries a header: false only where the last packet came without one and no header has been kept
    /// since the last acknowledgement that carried one.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        self.fresh || !self.bare
    }

    /// The header of an acknowledgement.
    pub fn answer(&mut self, kind: &HeaderKind) -> Header {
        self.fresh = false;
        (kind.answer)(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn kind(name: &'static str) -> HeaderKind {
        HeaderKind {
            name,
            wire_len: 2,
            trailer: false,
            queue: None,
            // Only one field is encoded.
            encode: |header, bytes| {
                bytes.first_chunk_mut::<2>()?.copy_from_slice(&(header.fields[0] as u16).to_be_bytes());
                Some(2)
            },
            decode: |bytes| {
                let fields = [u32::from(u16::from_be_bytes(bytes.try_into().ok()?)), 0, 0, 0];
                Some(Header { fields, ..Header::default() })
            },
            keep: |kept, arrived| *kept = *arrived,
            answer: |kept| core::mem::take(kept),
        }
    }
    static ONE: HeaderKind = kind("one");
    static ONE_AGAIN: HeaderKind = kind("one");
    static TWO: HeaderKind = kind("two");

    #[test]
    fn kinds_of_one_name_are_one() {
        let mut kinds = HeaderKinds::default();
        let ids = [None, Some(&ONE), Some(&TWO), Some(&ONE_AGAIN)].map(|kind| kinds.id(kind));
        assert!(ids[0].is_none() && ids[1] == ids[3] && ids[1] != ids[2] && !ids[2].is_none());
        assert_eq!(kinds.of(ids[2]).map(|kind| kind.name), Some("two"));
        assert_eq!((kinds.wire_len(ids[0]), kinds.wire_len(ids[1])), (0, 2));
        assert!(kinds.of(HeaderId::NONE).is_none());
    }

    #[test]
    fn a_checked_header_is_decoded_from_its_bytes() {
        let mut kinds = HeaderKinds::default();
        let id = kinds.id(Some(&ONE));
        let sent = Header { fields: [0x1_0203, 9, 0, 0], ..Header::default() };
        let mut header = sent;
        kinds.round_trip(id, &mut header);
        assert_eq!(header, sent, "not checked yet");
        kinds.enable_check();
        kinds.round_trip(id, &mut header);
        assert_eq!(header.fields, [0x203, 0, 0, 0]);
        let mut bytes = [7; 3];
        assert_eq!((kinds.encode(id, &sent, &mut bytes), bytes), (2, [2, 3, 7]));
        assert_eq!(kinds.encode(HeaderId::NONE, &sent, &mut bytes), 0);
    }

    /// An acknowledgement carries a header after a packet with one, though packets without one have followed, and otherwise none.
    #[test]
    fn bare_packets_are_acknowledged_without_a_header() {
        let mut echo = Echo::default();
        assert!(echo.has_answer());
        echo.keep(&ONE, &mut Header::default(), 1);
        echo.answer(&ONE);
        assert!(echo.has_answer(), "a second acknowledgement of the same packet");
        echo.keep(&ONE, &mut Header::default(), 1);
        echo.note_bare();
        assert!(echo.has_answer());
        echo.answer(&ONE);
        assert!(!echo.has_answer());
        echo.note_bare();
        assert!(!echo.has_answer());
        echo.keep(&ONE, &mut Header::default(), 1);
        assert!(echo.has_answer());
    }

    /// RFC 4782 section 3.1: the hops counted by IP less those that support the scheme.
    #[test]
    fn an_echo_counts_interfaces_without_the_scheme() {
        for (hops, supported, unsupported) in [(3, 3, 0), (5, 3, 2), (2, 3, 0), (300, 3, 255)] {
            let mut echo = Echo::default();
            let mut header = Header { supported, fields: [1, 2, 3, 4], unsupported: 99 };
            echo.keep(&ONE, &mut header, hops);
            let answer = echo.answer(&ONE);
            assert_eq!((answer.unsupported, answer.fields), (unsupported, [1, 2, 3, 4]), "{hops} hops");
            assert_eq!(echo.answer(&ONE), Header::default(), "as the kind has it: taken");
        }
    }
}

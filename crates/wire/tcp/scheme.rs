//! The header of a scheme as a TCP option: what routers between ends with unchanged kernels read and rewrite.

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Kind of options for experiments [RFC 4727], shared by means of an experiment identifier (ExID) after the length [RFC 6994 §3].
pub(super) const EXPERIMENT: u8 = 254;

/// "AF" and "AG" in ASCII; not registered, so for networks of one operator.
const STAMP: [u8; 2] = *b"AF";
const ANSWER: [u8; 2] = *b"AG";

/// Kind, length and ExID.
const HEAD: usize = 4;

/// The header of a scheme as a TCP option.
///
/// | bytes | field |
/// |---|---|
/// | 1 | kind, 254 |
/// | 1 | length, 8 to 28, a multiple of 4 |
/// | 2 | ExID: 0x4146 the sender's header, which routers rewrite; 0x4147 the receiver's answer |
/// | 4 to 24 | the header: [`crate::Congestion`] of QFCP, RCP and XCP, [`crate::c3l::Stamp`] of C3L |
///
/// The layout follows from what Linux (6.18) permits a program in eBPF:
///
/// - A program of type `sockops` reserves the option's bytes in each segment (`bpf_reserve_hdr_opt`), and the kernel makes segments shorter
///   by as much. Lengths are multiples of 4, so that no padding is added. The option comes after the kernel's own.
/// - The receiver's program finds the option by the kind and an ExID of 2 bytes (`bpf_load_hdr_opt`). The first of two is used, here too.
/// - A router's program rewrites the fields, and updates the checksum by words (`bpf_l4_csum_replace`), so that the fields have to be at
///   an even offset. [`super::set_scheme`] does the same.
/// - Of 40 bytes of options timestamps take 12. Beside them no header leaves room for a SACK block.
/// - Of a large segment that the adapter splits, each part gets the same option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SchemeOption {
    header: [u8; Self::LONGEST],
    len: u8,
    answers: bool,
}

impl SchemeOption {
    /// The longest header, bytes: with timestamps it still fits.
    pub const LONGEST: usize = 24;

    /// The option with the bytes of a sender's header; `None` unless they are 4 to [`Self::LONGEST`], in words of 4.
    pub fn new(header: &[u8]) -> Option<Self> {
        let len = header.len();
        if len == 0 || !len.is_multiple_of(4) {
            return None;
        }
        let mut bytes = [0; Self::LONGEST];
        bytes.get_mut(..len)?.copy_from_slice(header);
        Some(Self { header: bytes, len: len as u8, answers: false })
    }

    /// The same as the receiver's answer.
    #[must_use]
    pub const fn answering(self) -> Self {
        Self { answers: true, ..self }
    }

    /// True of a receiver's answer.
    pub const fn answers(&self) -> bool {
        self.answers
    }

    /// The bytes of the header.
    pub fn header(&self) -> &[u8] {
        self.header.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Length on the wire: 8 to 28 bytes.
    pub const fn wire_len(&self) -> usize {
        HEAD + self.len as usize
    }

    /// Writes the option to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.write(Writer::new(Header::SchemeOption, buffer, self.wire_len())?);
        Ok(self.wire_len())
    }

    pub(super) fn write<'a>(&self, writer: Writer<'a>) -> Writer<'a> {
        let exid = if self.answers { ANSWER } else { STAMP };
        writer.put([EXPERIMENT, self.wire_len() as u8]).put(exid).put_slice(self.header())
    }

    /// Reads the option; returns the bytes that follow. Among the options of a segment [`super::Options::scheme`] is the option.
    ///
    /// # Errors
    /// Too few bytes, or another kind, length or ExID.
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(Header::SchemeOption, bytes);
        let at = reader.clone();
        let head: [u8; HEAD] = reader.array()?;
        let [kind, len, exid @ ..] = head;
        let wrong =
            || at.fail(Expected::value("kind, length and ExID", "0xfe, 8 to 28, 0x4146 or 0x4147", &head));
        let Some(len) = usize::from(len)
            .checked_sub(HEAD)
            .filter(|_| kind == EXPERIMENT && [STAMP, ANSWER].contains(&exid))
        else {
            return Err(wrong());
        };
        if len > Self::LONGEST {
            return Err(wrong());
        }
        let option = Self::new(reader.slice(len)?).ok_or_else(wrong)?;
        let option = if exid == ANSWER { option.answering() } else { option };
        Ok((option, reader.rest()))
    }
}

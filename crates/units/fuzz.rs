//! Input of programs that drive a reader or a state machine with any bytes: numbers, choices and times from the bytes of a fuzzer, or from
//! a random stream.

use alloc::vec::Vec;

use crate::random::Stream;

/// Bytes, one by one: those of an input, and zeros after their end; or drawn ones without end.
#[derive(Debug)]
pub enum Input<'a> {
    /// The bytes of a fuzzer.
    Bytes(core::slice::Iter<'a, u8>),
    /// Drawn bytes.
    Drawn(Stream),
}

impl<'a> Input<'a> {
    /// The bytes of a fuzzer.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes.iter())
    }

    /// True if all bytes have been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Bytes(bytes) if bytes.as_slice().is_empty())
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self {
            Self::Bytes(bytes) => bytes.next().copied().unwrap_or(0),
            Self::Drawn(stream) => (stream.next_u32() >> 24) as u8,
        }
    }

    /// A bit.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A word of four bytes.
    pub fn word(&mut self) -> u32 {
        u32::from_be_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// Mostly small numbers, sometimes large ones.
    pub fn number(&mut self) -> u64 {
        let (kind, value) = (self.byte(), u64::from(self.byte()));
        match kind {
            0..200 => value,
            200..230 => value << 8,
            230..245 => value << 24,
            245..255 => value << 48,
            255 => u64::MAX - value,
        }
    }

    /// A number close to another one.
    pub fn near(&mut self, base: u64) -> u64 {
        match self.byte() {
            0..128 => base,
            128..192 => base.saturating_add(self.number()),
            192..255 => base.saturating_sub(self.number()),
            255 => self.number(),
        }
    }

    /// A number below a bound of at most 65,536; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let word = usize::from(u16::from_be_bytes([self.byte(), self.byte()]));
        if bound == 0 { 0 } else { word % bound }
    }

    /// One of several values; `None` if there is none.
    pub fn of<'v, T>(&mut self, values: &'v [T]) -> Option<&'v T> {
        values.get(self.below(values.len()))
    }

    /// Changes a few bytes of a message: bits, values, its length, what another message has at its end.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..self.byte() % 6 {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.byte() % 8 {
                0 => bytes[at] ^= 1 << (self.byte() % 8),
                1 => bytes[at] = self.byte(),
                2 => bytes.truncate(at + 1),
                3 => bytes.insert(at, self.byte()),
                4 => bytes[at] = 0xff,
                5 => bytes[at] = 0,
                6 => {
                    let word = self.word().to_be_bytes();
                    bytes.iter_mut().skip(at & !3).zip(word).for_each(|(byte, new)| *byte = new);
                }
                _ if bytes.len() + other.len() < 3000 => {
                    bytes.extend(other.iter().skip(4));
                    // The length that some formats begin with.
                    let len = (bytes.len() as u16).to_be_bytes();
                    bytes.iter_mut().zip(len).for_each(|(byte, new)| *byte = new);
                }
                _ => {}
            }
        }
    }
}

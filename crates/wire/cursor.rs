//! Decoding and encoding of a header field by field, without an index that could be out of range.

use crate::address::{Ipv4Addr, Ipv6Addr, MacAddr};
use crate::error::{DecodeError, EncodeError, Expected, Header};

/// Reads fields from the front of a slice; for errors it stores the header's name and the offset.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    header: Header,
    offset: usize,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(header: Header, bytes: &'a [u8]) -> Self {
        Self { header, offset: 0, rest: bytes }
    }

    /// An error at the next byte.
    pub(crate) const fn fail(&self, expected: Expected) -> DecodeError {
        DecodeError { header: self.header, offset: self.offset, expected }
    }

    /// Checks that at least `needed` bytes are left.
    pub(crate) const fn need(&self, needed: usize) -> Result<(), DecodeError> {
        let available = self.rest.len();
        if available < needed { Err(self.fail(Expected::Bytes { needed, available })) } else { Ok(()) }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((field, rest)) => {
                self.rest = rest;
                self.offset += N;
                Ok(*field)
            }
            None => Err(self.fail(Expected::Bytes { needed: N, available: self.rest.len() })),
        }
    }

    pub(crate) fn skip(&mut self, count: usize) -> Result<(), DecodeError> {
        match self.rest.get(count..) {
            Some(rest) => {
                self.rest = rest;
                self.offset += count;
                Ok(())
            }
            None => Err(self.fail(Expected::Bytes { needed: count, available: self.rest.len() })),
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Network byte order.
    pub(crate) fn u16_be(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_be_bytes)
    }

    /// Network byte order.
    pub(crate) fn u32_be(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    /// Little-endian.
    pub(crate) fn u16_le(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn mac(&mut self) -> Result<MacAddr, DecodeError> {
        self.array().map(MacAddr)
    }

    pub(crate) fn ipv4(&mut self) -> Result<Ipv4Addr, DecodeError> {
        self.array::<4>().map(Ipv4Addr::from)
    }

    pub(crate) fn ipv6(&mut self) -> Result<Ipv6Addr, DecodeError> {
        self.array::<16>().map(Ipv6Addr::from)
    }

    /// Reads `count` bytes unchanged.
    pub(crate) fn slice(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(count) {
            Some((bytes, rest)) => {
                self.rest = rest;
                self.offset += count;
                Ok(bytes)
            }
            None => Err(self.fail(Expected::Bytes { needed: count, available: self.rest.len() })),
        }
    }

    /// A reader of the next bytes only.
    pub(crate) fn limited(mut self, count: usize) -> Result<Self, DecodeError> {
        let offset = self.offset;
        let rest = self.slice(count)?;
        Ok(Self { offset, rest, ..self })
    }

    /// Reads a field that has only one valid value.
    pub(crate) fn literal<const N: usize>(
        &mut self,
        literal: [u8; N],
        field: &'static str,
        wanted: &'static str,
    ) -> Result<(), DecodeError> {
        let at = self.clone();
        let found = self.array::<N>()?;
        if found == literal { Ok(()) } else { Err(at.fail(Expected::value(field, wanted, &found))) }
    }

    /// Bytes read and skipped so far.
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// The bytes that were not read.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// Writes fields to the front of a buffer whose length has been checked once.
pub(crate) struct Writer<'a> {
    left: &'a mut [u8],
}

impl<'a> Writer<'a> {
    pub(crate) const fn new(
        header: Header,
        buffer: &'a mut [u8],
        needed: usize,
    ) -> Result<Self, EncodeError> {
        let available = buffer.len();
        if available < needed {
            Err(EncodeError { header, needed, available })
        } else {
            Ok(Self { left: buffer })
        }
    }

    /// Writes a field; nothing if too little space is left. Returns the writer, so that an encoder reads like the
    /// header's figure in the standard.
    pub(crate) fn put<const N: usize>(mut self, field: [u8; N]) -> Self {
        if let Some((space, left)) = core::mem::take(&mut self.left).split_first_chunk_mut::<N>() {
            *space = field;
            self.left = left;
        }
        self
    }

    /// Writes bytes of variable length.
    pub(crate) fn put_slice(mut self, bytes: &[u8]) -> Self {
        if let Some((space, left)) = core::mem::take(&mut self.left).split_at_mut_checked(bytes.len()) {
            space.copy_from_slice(bytes);
            self.left = left;
        }
        self
    }
}

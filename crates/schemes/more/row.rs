//! Payloads as rows over GF(2^8), by the crate raptorq where the feature of that name is on, and in the portable way otherwise. Both give
//! the same bytes.
//!
//! raptorq multiplies sixteen, thirty-two or more bytes by one instruction, which it chooses when it runs; for that it needs the standard
//! library. What it calls `benchmarking` is the feature by which it shows its rows.

use alloc::vec::Vec;

#[cfg(not(feature = "raptorq"))]
use super::gf256;

/// A row of bytes: the payload of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(Stored);

#[cfg(feature = "raptorq")]
type Stored = raptorq::Symbol;
#[cfg(not(feature = "raptorq"))]
type Stored = Vec<u8>;

impl Row {
    /// A row of these bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        #[cfg(feature = "raptorq")]
        return Self(raptorq::Symbol::new(bytes));
        #[cfg(not(feature = "raptorq"))]
        Self(bytes)
    }

    /// A row of so many zeros.
    #[must_use]
    pub fn zeros(bytes: usize) -> Self {
        Self::new(alloc::vec![0; bytes])
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        #[cfg(feature = "raptorq")]
        return self.0.as_bytes();
        #[cfg(not(feature = "raptorq"))]
        &self.0
    }

    /// The bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        #[cfg(feature = "raptorq")]
        return self.0.into_bytes();
        #[cfg(not(feature = "raptorq"))]
        self.0
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// True if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds `c` times a row. A row of another length changes nothing.
    pub fn multiply_add(&mut self, row: &Self, c: u8) {
        if c == 0 || row.len() != self.len() || row.is_empty() {
            return;
        }
        #[cfg(feature = "raptorq")]
        if c == 1 {
            self.0 += &row.0;
        } else {
            self.0.fused_addassign_mul_scalar(&row.0, &raptorq::Octet::new(c));
        }
        #[cfg(not(feature = "raptorq"))]
        gf256::multiply_add(&mut self.0, &row.0, c);
    }

    /// Multiplies the row by `c`.
    pub fn scale(&mut self, c: u8) {
        #[cfg(feature = "raptorq")]
        self.0.mulassign_scalar(&raptorq::Octet::new(c));
        #[cfg(not(feature = "raptorq"))]
        gf256::scale(&mut self.0, c);
    }
}

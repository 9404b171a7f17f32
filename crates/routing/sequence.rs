//! Sequence numbers of 32 bits.

/// True if a sequence number is more recent than another, modulo 2^32.
#[must_use]
pub const fn is_younger(number: u32, than: u32) -> bool {
    (number.wrapping_sub(than) as i32) > 0
}

//! The Internet checksum [RFC 1071], and its update where a field that it covers changes [RFC 1624].

/// The one's complement sum of 16-bit words, over several pieces [RFC 1071 §1].
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum {
    /// The 16-bit end-around sum so far.
    sum: u16,
}

impl Checksum {
    /// The sum of nothing.
    pub const fn new() -> Self {
        Self { sum: 0 }
    }

    /// Adds bytes in network order. A piece of odd length is padded with a zero byte, so only the last may be
    /// odd.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        let (words, last) = bytes.as_chunks::<2>();
        let words = words.iter().map(|&word| u64::from(u16::from_be_bytes(word))).sum::<u64>();
        // 64 bits hold the sum of 2^48 words: no slice is that long.
        let last = last.first().map_or(0, |&byte| u64::from(byte) << 8);
        Self { sum: fold(words + last + u64::from(self.sum)) }
    }

    /// The end-around-carry sum. Over data that include a right checksum it is 0xffff.
    pub const fn sum(self) -> u16 {
        self.sum
    }

    /// The checksum to put into the field: the one's complement of the sum.
    pub const fn finish(self) -> u16 {
        !self.sum
    }
}

/// The checksum after one of the words that it covers has changed from `old` to `new`: HC' = ~(~HC + ~m + m') [RFC 1624 §3, equation 3].
///
/// Where a covered byte besides the word is not zero, as in every header of IP and every pseudo-header, a right checksum gets the value
/// that [`Checksum::finish`] gives, 0x0000 included, for which the equation of RFC 1141 gives 0xffff. Where a sender wrote 0xffff for
/// 0x0000, its equal in one's complement, the result verifies too. A wrong checksum stays wrong. Zero in UDP is no checksum and no argument
/// for this function; a result of zero is sent there as 0xffff [RFC 768].
#[must_use]
pub const fn updated(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(!checksum as u64 + !old as u64 + new as u64)
}

/// Replaces words and updates the checksum at `checksum_at`, which covers them. The words are at an even offset from the first byte that
/// the checksum covers, and are an even number of bytes. Nothing is changed where one of both is beyond the end.
pub(crate) fn replace(bytes: &mut [u8], at: usize, field: &[u8], checksum_at: usize) {
    debug_assert!(at.is_multiple_of(2) && field.len().is_multiple_of(2), "no whole words");
    let Some(&found) = bytes.get(checksum_at..).and_then(<[u8]>::first_chunk) else { return };
    let Some(space) = bytes.get_mut(at..).and_then(|bytes| bytes.get_mut(..field.len())) else { return };
    let words = space.as_chunks().0.iter().zip(field.as_chunks().0);
    let checksum = words.fold(u16::from_be_bytes(found), |checksum, (&old, &new)| {
        updated(checksum, u16::from_be_bytes(old), u16::from_be_bytes(new))
    });
    space.copy_from_slice(field);
    if let Some(space) = bytes.get_mut(checksum_at..).and_then(<[u8]>::first_chunk_mut) {
        *space = checksum.to_be_bytes();
    }
}

/// Adds the carries back until none is left.
const fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    #[allow(clippy::cast_possible_truncation, reason = "the loop leaves at most 16 bits")]
    let folded = sum as u16;
    folded
}

#[cfg(test)]
mod tests {
    use super::{Checksum, replace, updated};

    /// The worked example of RFC 1071 §3: the sum is ddf2, by words and with the data cut in two.
    #[test]
    fn rfc1071_example() {
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Checksum::new().with(&data).sum(), 0xddf2);
        assert_eq!(Checksum::new().with(&data).finish(), 0x220d);
        assert_eq!(Checksum::new().with(&data[..4]).with(&data[4..]).sum(), 0xddf2);
        assert_eq!(Checksum::new().with(&data).with(&0x220d_u16.to_be_bytes()).sum(), 0xffff);
    }

    /// RFC 1071 §1: an odd last byte is the high byte of a word. [1, 2, 3] is 0102 + 0300.
    #[test]
    fn odd_length() {
        assert_eq!(Checksum::new().with(&[1, 2, 3]).sum(), 0x0402);
    }

    /// The worked example of RFC 1624 §4: the other words sum to cd7a, the word changes from 5555 to 3285. The equation of RFC 1141 gives
    /// ffff.
    #[test]
    fn rfc1624_example() {
        let header = [0xcd, 0x7a, 0x55, 0x55];
        assert_eq!(Checksum::new().with(&header).finish(), 0xdd2f);
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
        assert_eq!(Checksum::new().with(&[0xcd, 0x7a, 0x32, 0x85]).finish(), 0x0000);
        // And back, from the checksum 0.
        assert_eq!(updated(0x0000, 0x3285, 0x5555), 0xdd2f);
    }

    /// Words of 0000 and ffff are equal in one's complement: to exchange them, or a word for itself, leaves the checksum, 0000 too.
    #[test]
    fn both_zeros() {
        for checksum in [0x0000, 0x0001, 0xdd2f, 0xfffe] {
            assert_eq!(updated(checksum, 0x0000, 0xffff), checksum);
            assert_eq!(updated(checksum, 0xffff, 0x0000), checksum);
            assert_eq!(updated(checksum, 0x5555, 0x5555), checksum);
        }
        // ffff written for 0000: the words cd7a and 3285 sum to ffff. With 3286 the sum is 10000, or 1 with the carry added.
        assert_eq!(updated(0xffff, 0x3285, 0x3286), 0xfffe);
        assert_eq!(updated(0x0000, 0x3285, 0x3286), 0xfffe);
        // The one case in which ffff stays, between words whose others sum to ffff: with it they verify as well.
        assert_eq!(updated(0xffff, 0xffff, 0x0000), 0xffff);
        assert_eq!(Checksum::new().with(&[0xcd, 0x7a, 0x32, 0x85, 0, 0, 0xff, 0xff]).finish(), 0);
    }

    #[test]
    fn replacement_of_two_words() {
        let mut bytes = [0x12, 0x34, 0xab, 0xcd, 0x00, 0x01, 0, 0];
        let checksum = Checksum::new().with(&bytes).finish();
        bytes[6..].copy_from_slice(&checksum.to_be_bytes());
        replace(&mut bytes, 2, &[0xff, 0xff, 0x80, 0x00], 6);
        // 1234 + ffff + 8000 = 19233 -> 9234, complement 6dcb.
        assert_eq!(bytes, [0x12, 0x34, 0xff, 0xff, 0x80, 0x00, 0x6d, 0xcb]);
        for (at, checksum_at) in [(6, 7), (6, 8), (8, 6), (usize::MAX - 1, 6), (0, usize::MAX)] {
            let before = bytes;
            replace(&mut bytes, at, &[1, 2, 3, 4], checksum_at);
            assert_eq!(bytes, before, "{at} {checksum_at}");
        }
    }
}

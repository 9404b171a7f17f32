//! The Internet checksum [RFC 1071].

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
    use super::Checksum;

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
}

//! SipHash-2-4, a short keyed hash [Aumasson, Bernstein, SipHash: a fast short-input PRF, 2012]. The standard library's hasher is another
//! function, and may change.

/// The hash of `bytes` under a key of two words, the one with the first bytes first.
pub(crate) fn siphash_2_4(key: [u64; 2], bytes: &[u8]) -> u64 {
    let [k0, k1] = key;
    let mut state = State([
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ]);
    let (words, rest) = bytes.as_chunks::<8>();
    for &word in words {
        state.absorb(u64::from_le_bytes(word));
    }
    // The last word: the bytes that are left, and the length modulo 256 in the highest byte.
    let last = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    state.absorb(last | (bytes.len() as u64) << 56);
    state.finish()
}

struct State([u64; 4]);

impl State {
    /// SipRound.
    fn mix(&mut self) {
        let [v0, v1, v2, v3] = &mut self.0;
        *v0 = v0.wrapping_add(*v1);
        *v2 = v2.wrapping_add(*v3);
        *v1 = v1.rotate_left(13) ^ *v0;
        *v3 = v3.rotate_left(16) ^ *v2;
        *v0 = v0.rotate_left(32);
        *v2 = v2.wrapping_add(*v1);
        *v0 = v0.wrapping_add(*v3);
        *v1 = v1.rotate_left(17) ^ *v2;
        *v3 = v3.rotate_left(21) ^ *v0;
        *v2 = v2.rotate_left(32);
    }

    /// Compression by one word: two rounds.
    fn absorb(&mut self, word: u64) {
        self.0[3] ^= word;
        self.mix();
        self.mix();
        self.0[0] ^= word;
    }

    /// Finalization: four rounds.
    fn finish(mut self) -> u64 {
        self.0[2] ^= 0xff;
        (0..4).for_each(|_| self.mix());
        let [v0, v1, v2, v3] = self.0;
        v0 ^ v1 ^ v2 ^ v3
    }
}

#[cfg(test)]
mod tests {
    use super::siphash_2_4;

    const KEY: [u64; 2] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];

    /// The worked example of the paper, appendix A: key 00 01 .. 0f, message 00 01 .. 0e.
    #[test]
    fn example_of_the_paper() {
        let message: [u8; 15] = core::array::from_fn(|at| at as u8);
        assert_eq!(siphash_2_4(KEY, &message), 0xa129_ca61_49be_45e5);
    }

    /// OpenSSL's MAC SIPHASH of 8 bytes with the same key, lowest byte first: no byte, one whole word, four words and seven bytes.
    #[test]
    fn other_lengths() {
        let message: [u8; 39] = core::array::from_fn(|at| at as u8);
        for (len, hash) in
            [(0, 0x310e_0edd_47db_6f72_u64), (8, 0x6224_939a_79f5_f593), (39, 0x5c73_336a_76d8_bf9a)]
        {
            assert_eq!(siphash_2_4(KEY, &message[..len]).to_le_bytes(), hash.to_be_bytes(), "{len} bytes");
        }
    }
}

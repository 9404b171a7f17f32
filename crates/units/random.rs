//! Random numbers that depend on names, not on the order of events.
//!
//! Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011) maps a key and a counter to four
//! 32-bit words. The key is the run's seed; the counter consists of the hash of the name of the object that draws, a purpose and a count.
//! So the draws of a stream do not change when another stream is added or draws more often.

use crate::math;

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// One block of Philox4x32 with ten rounds.
#[must_use]
pub const fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let mut c = counter;
    let mut k = key;
    let mut round = 0;
    while round < 10 {
        let p0 = (MULTIPLIERS[0] as u64) * (c[0] as u64);
        let p1 = (MULTIPLIERS[1] as u64) * (c[2] as u64);
        c = [(p1 >> 32) as u32 ^ c[1] ^ k[0], p1 as u32, (p0 >> 32) as u32 ^ c[3] ^ k[1], p0 as u32];
        k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
        round += 1;
    }
    c
}

/// Purpose of a stream. A number is never used for two purposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Purpose {
    /// Rank among events of equal time.
    Rank = 1,
    /// MAC back-off.
    Backoff = 2,
    /// Reception of a frame.
    Reception = 3,
    /// Start jitter of a flow.
    StartJitter = 4,
    /// Gaps between packets.
    Gap = 5,
    /// Packet or file sizes.
    Size = 6,
    /// Losses of a wired link, or above the MAC of a radio.
    LinkLoss = 7,
    /// Shadowing of a pair of nodes.
    Shadowing = 8,
    /// Placement of generated nodes and flows.
    Placement = 9,
    /// A queue's or AQM's decisions.
    Queue = 10,
    /// An agent's decisions.
    Agent = 11,
    /// A source's decisions.
    Source = 12,
    /// Arrival times of flows in a group.
    Arrival = 13,
    /// The decisions of an explicit-rate scheme's router code.
    Hop = 14,
    /// A node's routing protocol.
    Routing = 15,
    /// Fading of a pair of radios.
    Fading = 16,
    /// The decisions of a receiver of a flow over UDP.
    Receiver = 17,
    /// A controller's decisions.
    Controller = 18,
}

/// FNV-1a over the bytes of a name, then mixed: the identity of a stream.
#[must_use]
pub const fn name_hash(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut h: u64 = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < bytes.len() {
        h ^= bytes[i] as u64;
        h = h.wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    // The finaliser of MurmurHash3: similar names have unrelated hashes.
    h ^= h >> 33;
    h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^= h >> 33;
    h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}

/// A stream of random numbers of one name and one purpose: 2^48 blocks of four 32-bit words.
#[derive(Debug, Clone)]
pub struct Stream {
    key: [u32; 2],
    identity: [u32; 2],
    purpose: u16,
    count: u64,
    block: [u32; 4],
    left: u8,
}

impl Stream {
    /// The stream of `name` for `purpose` under `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str, purpose: Purpose) -> Self {
        Self::of_hash(seed, name_hash(name), purpose)
    }

    /// The stream of an already hashed name.
    #[must_use]
    pub const fn of_hash(seed: u64, hash: u64, purpose: Purpose) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            identity: [hash as u32, (hash >> 32) as u32],
            purpose: purpose as u16,
            count: 0,
            block: [0; 4],
            left: 0,
        }
    }

    /// The next 32 bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.left == 0 {
            let high = ((self.count >> 32) as u32 & 0xffff) | (u32::from(self.purpose) << 16);
            self.block = philox4x32([self.count as u32, high, self.identity[0], self.identity[1]], self.key);
            self.count += 1;
            self.left = 4;
        }
        self.left -= 1;
        self.block[3 - usize::from(self.left)]
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) | (u64::from(self.next_u32()) << 32)
    }

    /// An integer in `0..bound`, uniformly distributed (Lemire's method); 0 for a bound of 0.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        let mut product = u64::from(self.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound.max(1);
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// Skips a number of words. Blocks in between are not computed.
    pub fn skip(&mut self, words: u64) {
        let of_this_block = words.min(u64::from(self.left));
        self.left -= of_this_block as u8;
        let rest = words - of_this_block;
        self.count += rest / 4;
        for _ in 0..rest % 4 {
            self.next_u32();
        }
    }

    /// A real number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An exponential draw with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u is in (0, 1]: the logarithm is finite.
        -mean * math::ln(1.0 - self.uniform())
    }

    /// A standard normal draw (Box and Muller; the second value is discarded, so that each call is self-contained).
    pub fn normal(&mut self) -> f64 {
        let radius = math::sqrt(-2.0 * math::ln(1.0 - self.uniform()));
        radius * math::cos(core::f64::consts::TAU * self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Known answers published with Random123 (kat_vectors, philox4x32 10).
    #[test]
    fn philox_gives_the_published_words() {
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox4x32([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox4x32([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn fnv_is_the_published_one_before_mixing() {
        // The mixer is a bijection, so different FNV values stay different; spot values guard against drift.
        assert_ne!(name_hash("a"), name_hash("b"));
        assert_ne!(name_hash("1"), name_hash("11"));
        assert_eq!(name_hash("node"), name_hash("node"));
    }

    #[test]
    fn streams_of_other_names_or_purposes_differ() {
        let mut a = Stream::new(1, "a", Purpose::Backoff);
        let mut b = Stream::new(1, "b", Purpose::Backoff);
        let mut c = Stream::new(1, "a", Purpose::Gap);
        let mut d = Stream::new(2, "a", Purpose::Backoff);
        let first = a.next_u64();
        assert!(first != b.next_u64() && first != c.next_u64() && first != d.next_u64());
    }

    /// Means of 10^5 draws lie within five standard errors.
    #[test]
    fn draws_have_their_moments() {
        let mut s = Stream::new(7, "moments", Purpose::Size);
        let n = 100_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        let se = 5.0 / f64::from(n).sqrt();
        assert!((mean(&mut || s.uniform()) - 0.5).abs() < se * (1.0f64 / 12.0).sqrt());
        assert!((mean(&mut || s.exponential(2.0)) - 2.0).abs() < se * 2.0);
        assert!(mean(&mut || s.normal()).abs() < se);
        assert!((mean(&mut || s.normal().abs()) - 0.797_884_56).abs() < se);
        assert!((mean(&mut || f64::from(s.below(32))) - 15.5).abs() < se * 9.3);
    }

    proptest! {
        /// Skipping words is equal to drawing them, whatever is drawn before and after.
        #[test]
        fn skipping_is_drawing(skips in proptest::collection::vec((0u64..20, 0u32..9), 1..20)) {
            let (mut skipping, mut drawing) = (Stream::new(1, "x", Purpose::Reception), Stream::new(1, "x", Purpose::Reception));
            for (words, then) in skips {
                skipping.skip(words);
                (0..words).for_each(|_| _ = drawing.next_u32());
                for _ in 0..then {
                    prop_assert_eq!(skipping.next_u32(), drawing.next_u32());
                }
            }
        }

        #[test]
        fn bounded_draws_stay_below_their_bound(seed in any::<u64>(), bound in any::<u32>()) {
            let mut s = Stream::new(seed, "x", Purpose::Backoff);
            let draw = s.below(bound);
            prop_assert!(draw < bound.max(1));
        }
    }
}

//! The packets of a batch that a node holds: their vectors in echelon form.
//!
//! A packet is the sum of the batch's natives, each times a coefficient; the coefficients are its vector. A packet is innovative if its
//! vector is no combination of those that the node holds: Gaussian elimination, a step for each packet, decides.
//!
//! Every node that hears a packet asks this, so a step is cheap: a row is stored with its multiples by 1, x and x + 1, by those times x^2,
//! and so on. Any multiple is then the sum of four stored rows.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::random::Stream;

use super::gf256;

/// Coefficients that are handled together.
const BLOCK: usize = 32;
type Block = [u64; BLOCK / 8];
/// The longest vector, in blocks.
const MOST_BLOCKS: usize = 256 / BLOCK;
/// Multiples of a row that are stored: four times four.
const MULTIPLES: usize = 16;
/// No row.
const NONE: u8 = u8::MAX;

/// The packets that a node holds of a batch of K natives, K from 1 to 255.
///
/// At most K packets are stored: each is 16 multiples of its vector, whose length is rounded up to 32.
#[derive(Debug, Clone)]
pub struct Decoder {
    natives: u8,
    /// Row whose first coefficient other than 0, a one, is that of this native.
    pivots: Vec<u8>,
    /// Multiples of each block of each row: digit times x^(2 window) at 4 window + digit.
    rows: Vec<[Block; MULTIPLES]>,
}

impl Decoder {
    /// Nothing of a batch of so many natives (at least 1).
    #[must_use]
    pub fn new(natives: u8) -> Self {
        let natives = natives.max(1);
        Self { natives, pivots: vec![NONE; natives.into()], rows: Vec::new() }
    }

    /// All natives of a batch, as its source holds them.
    #[must_use]
    pub fn full(natives: u8) -> Self {
        let mut all = Self::new(natives);
        for native in 0..all.natives {
            all.add(&all.unit(native));
        }
        all
    }

    fn unit(&self, native: u8) -> Vec<u8> {
        (0..self.natives).map(|each| u8::from(each == native)).collect()
    }

    /// K.
    #[must_use]
    pub const fn natives(&self) -> u8 {
        self.natives
    }

    /// Number of packets that are stored, none of which is a combination of others.
    #[must_use]
    pub const fn rank(&self) -> u8 {
        (self.rows.len() / self.blocks()) as u8
    }

    /// True if the batch can be decoded.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.rank() == self.natives
    }

    const fn blocks(&self) -> usize {
        (self.natives as usize).div_ceil(BLOCK)
    }

    /// The blocks of a row, each with its multiples.
    fn row(&self, row: u8) -> &[[Block; MULTIPLES]] {
        let blocks = self.blocks();
        &self.rows[usize::from(row) * blocks..][..blocks]
    }

    /// Adds `c` times a row to a vector.
    #[inline(always)]
    fn multiply_add(&self, vector: &mut [Block], row: u8, c: u8) {
        // A batch of 32 at most has one block, and no loop.
        if let ([sum], Some(multiples)) = (&mut *vector, self.rows.get(usize::from(row))) {
            add_multiple(sum, multiples, c);
        } else {
            vector.iter_mut().zip(self.row(row)).for_each(|(sum, multiples)| add_multiple(sum, multiples, c));
        }
    }

    /// Takes from a vector what stored rows explain, until a native appears that no row begins with. `None`: nothing is left.
    fn eliminate(&self, vector: &mut [Block]) -> Option<u8> {
        for (native, &row) in (0..self.natives).zip(&self.pivots) {
            let c = coefficient(vector, native);
            if c != 0 {
                if row == NONE {
                    return Some(native);
                }
                self.multiply_add(vector, row, c);
            }
        }
        None
    }

    fn blocks_of(&self, vector: &[u8]) -> Option<[Block; MOST_BLOCKS]> {
        if vector.len() != usize::from(self.natives) {
            return None;
        }
        let mut blocks = [[0; BLOCK / 8]; MOST_BLOCKS];
        write(&mut blocks, vector);
        Some(blocks)
    }

    /// True if a packet with this vector would raise the rank. One of another length would not.
    #[must_use]
    pub fn innovative(&self, vector: &[u8]) -> bool {
        if self.is_full() {
            return false;
        }
        let Some(mut vector) = self.blocks_of(vector) else { return false };
        self.eliminate(&mut vector[..self.blocks()]).is_some()
    }

    /// A packet with this vector has come: true if it was innovative, and is stored.
    pub fn add(&mut self, vector: &[u8]) -> bool {
        if self.is_full() {
            return false;
        }
        let Some(mut vector) = self.blocks_of(vector) else { return false };
        let blocks = self.blocks();
        let vector = &mut vector[..blocks];
        let Some(pivot) = self.eliminate(vector) else { return false };
        self.pivots[usize::from(pivot)] = self.rank();
        let mut bytes = [0; MOST_BLOCKS * BLOCK];
        read(vector, &mut bytes);
        let bytes = &mut bytes[..blocks * BLOCK];
        gf256::scale(bytes, gf256::inverse(coefficient(vector, pivot)));
        write(vector, bytes);
        self.store(vector);
        true
    }

    /// Appends a vector with its multiples.
    fn store(&mut self, vector: &[Block]) {
        // Exactly: a batch in the middle of a mesh is one of many.
        self.rows.reserve_exact(vector.len());
        for block in vector {
            let (mut multiples, mut once) = ([[0; BLOCK / 8]; MULTIPLES], *block);
            for window in multiples.chunks_exact_mut(4) {
                let twice = once.map(times_x);
                window[1] = once;
                window[2] = twice;
                for word in 0..once.len() {
                    window[3][word] = once[word] ^ twice[word];
                }
                once = twice.map(times_x);
            }
            self.rows.push(multiples);
        }
    }

    /// The vector of a fresh combination of all that is stored, uniformly drawn, but never of zeros only; `None` where nothing is stored.
    #[must_use]
    pub fn combine(&self, random: &mut Stream) -> Option<Vec<u8>> {
        let rank = usize::from(self.rank());
        if rank == 0 {
            return None;
        }
        let mut factors = [0; 256];
        while factors[..rank].iter().all(|&c| c == 0) {
            for four in factors[..rank].chunks_mut(4) {
                four.copy_from_slice(&random.next_u32().to_le_bytes()[..four.len()]);
            }
        }
        let mut sum = [[0; BLOCK / 8]; MOST_BLOCKS];
        for (row, &c) in (0..self.rank()).zip(&factors) {
            self.multiply_add(&mut sum[..self.blocks()], row, c);
        }
        let mut vector = vec![0; self.natives.into()];
        read(&sum, &mut vector);
        Some(vector)
    }

    /// Forgets all packets.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.pivots.fill(NONE);
    }
}

/// Adds `c` times a block, of which the multiples are these.
#[inline(always)]
fn add_multiple(sum: &mut Block, multiples: &[Block; MULTIPLES], c: u8) {
    let c = usize::from(c);
    let [first, second] = [&multiples[c & 3], &multiples[4 | c >> 2 & 3]];
    let [third, fourth] = [&multiples[8 | c >> 4 & 3], &multiples[12 | c >> 6 & 3]];
    for word in 0..sum.len() {
        sum[word] ^= first[word] ^ second[word] ^ third[word] ^ fourth[word];
    }
}

/// The coefficient of a native.
fn coefficient(vector: &[Block], native: u8) -> u8 {
    let place = usize::from(native);
    (vector[place / BLOCK][place % BLOCK / 8] >> (place % 8 * 8)) as u8
}

/// Bytes as blocks.
fn write(blocks: &mut [Block], bytes: &[u8]) {
    let (eights, rest) = bytes.as_chunks();
    let words = blocks.as_flattened_mut();
    for (word, &eight) in words.iter_mut().zip(eights) {
        *word = u64::from_le_bytes(eight);
    }
    if let Some(word) = words.get_mut(eights.len()).filter(|_| !rest.is_empty()) {
        *word = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
}

/// Blocks as bytes, as many as there is room for.
fn read(blocks: &[Block], bytes: &mut [u8]) {
    for (word, bytes) in blocks.as_flattened().iter().zip(bytes.chunks_mut(8)) {
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
}

/// The product of x and each of eight numbers.
const fn times_x(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let carry = word >> 7 & ONES;
    ((word & (0x7f * ONES)) << 1) ^ (carry * (gf256::POLYNOMIAL as u64 & 0xff))
}

//! Arithmetic in GF(2^8): multiples of vectors, and inverses.
//!
//! The paper names the field's size only. Reading: its polynomial is x^8 + x^4 + x^3 + x^2 + 1 ([`POLYNOMIAL`]), as in RFC 6330; of it x is
//! a generator. Another polynomial gives other bytes and the same ranks on average.
//!
//! A byte is multiplied by c as the sum of the products of its bits, which are the same for a whole vector. Each bit is a comparison and a
//! mask for every byte, which compilers turn into instructions for sixteen bytes at a time or more.

/// The field's polynomial, a bit for each coefficient.
pub const POLYNOMIAL: u16 = 0x11d;

/// Products of a number and x^0 to x^7: what each bit of another factor adds.
type Powers = [u8; 8];

/// The product of a number and x.
const fn times_x(a: u8) -> u8 {
    let wide = (a as u16) << 1;
    (if wide > 0xff { wide ^ POLYNOMIAL } else { wide }) as u8
}

const fn powers_of(c: u8) -> Powers {
    let mut powers = [c; 8];
    let mut bit = 1;
    while bit < 8 {
        powers[bit] = times_x(powers[bit - 1]);
        bit += 1;
    }
    powers
}

static POWERS: [Powers; 256] = {
    let mut all = [[0; 8]; 256];
    let mut c = 0;
    while c < 256 {
        all[c] = powers_of(c as u8);
        c += 1;
    }
    all
};

static INVERSES: [u8; 256] = {
    let mut all = [0; 256];
    // x is a generator: x^i and x^(255 - i) are inverse.
    let (mut i, mut up) = (0, 1);
    let mut logs = [0; 256];
    let mut numbers = [1; 256];
    while i < 255 {
        (logs[up as usize], numbers[i]) = (i, up);
        up = times_x(up);
        i += 1;
    }
    let mut c = 1;
    while c < 256 {
        all[c] = numbers[(255 - logs[c]) % 255];
        c += 1;
    }
    all
};

/// The products of `c` and the powers of x.
fn powers(c: u8) -> &'static Powers {
    &POWERS[usize::from(c)]
}

/// The inverse of a number; 0 has none, and gives 0.
#[must_use]
pub fn inverse(a: u8) -> u8 {
    INVERSES[usize::from(a)]
}

/// Multiplies a vector by `c`.
pub fn scale(vector: &mut [u8], c: u8) {
    let powers = powers(c);
    for byte in vector {
        *byte = product(powers, *byte);
    }
}

/// The product as masks, for many bytes at a time.
#[inline(always)]
fn product(powers: &Powers, byte: u8) -> u8 {
    let mut product = 0;
    for (bit, &power) in powers.iter().enumerate() {
        product ^= if byte & 1 << bit != 0 { power } else { 0 };
    }
    product
}

//! Arithmetic in GF(2^8): against long division of polynomials, against the laws of a field, and rows both ways.

use airfair_schemes::more::gf256::{POLYNOMIAL, inverse, multiply, multiply_add, powers, scale};
use airfair_schemes::more::row::Row;
use proptest::prelude::*;

/// The product of two polynomials, then the remainder of a division.
fn by_division(a: u8, b: u8) -> u8 {
    let mut product: u16 =
        (0..8).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ u16::from(a) << bit);
    for degree in (8..16).rev() {
        if product >> degree & 1 == 1 {
            product ^= POLYNOMIAL << (degree - 8);
        }
    }
    product as u8
}

#[test]
fn products_are_those_of_polynomials() {
    for a in 0..=255 {
        for b in 0..=255 {
            assert_eq!(multiply(a, b), by_division(a, b), "{a} times {b}");
        }
    }
    // RFC 6330, 5.7.3: the powers of its generator begin so.
    let mut number = 1;
    let first: Vec<u8> = (0..10)
        .map(|_| {
            let now = number;
            number = multiply(number, 2);
            now
        })
        .collect();
    assert_eq!(first, [1, 2, 4, 8, 16, 32, 64, 128, 29, 58]);
    assert_eq!(powers(1), &[1, 2, 4, 8, 16, 32, 64, 128]);
}

#[test]
fn each_number_but_zero_has_an_inverse() {
    assert_eq!(inverse(0), 0);
    for a in 1..=255 {
        assert_eq!(multiply(a, inverse(a)), 1, "{a}");
    }
}

#[test]
fn rows_of_other_lengths() {
    let mut row = Row::new(vec![1, 2]);
    row.multiply_add(&Row::new(vec![1]), 3);
    assert_eq!((row.as_bytes(), row.len(), row.is_empty()), (&[1, 2][..], 2, false));
    let mut none = Row::zeros(0);
    none.multiply_add(&Row::zeros(0), 7);
    assert!(none.is_empty() && none.into_bytes().is_empty());
    let mut sum = [1, 1, 1];
    multiply_add(&mut sum, &[1, 1], 2);
    assert_eq!(sum, [3, 3, 1]);
}

proptest! {
    #[test]
    fn the_laws_of_a_field(a: u8, b: u8, c: u8) {
        prop_assert_eq!(multiply(a, b), multiply(b, a));
        prop_assert_eq!(multiply(a, multiply(b, c)), multiply(multiply(a, b), c));
        prop_assert_eq!(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c));
        prop_assert_eq!((multiply(a, 1), multiply(a, 0)), (a, 0));
    }

    /// The same bytes, by whatever way a row goes, and at every length and place in memory.
    #[test]
    fn rows_are_as_their_bytes(
        pairs in proptest::collection::vec(any::<(u8, u8)>(), 0..1500),
        c in prop_oneof![any::<u8>(), 0u8..3],
        skip in 0usize..40,
    ) {
        let (before, other): (Vec<u8>, Vec<u8>) = pairs.iter().skip(skip).copied().unzip();
        let sum: Vec<u8> = before.iter().zip(&other).map(|(a, b)| a ^ by_division(*b, c)).collect();
        let scaled: Vec<u8> = before.iter().map(|&a| by_division(a, c)).collect();
        let (mut portable, mut row) = (before.clone(), Row::new(before.clone()));
        multiply_add(&mut portable, &other, c);
        row.multiply_add(&Row::new(other), c);
        prop_assert_eq!(&portable, &sum);
        prop_assert_eq!(row.as_bytes(), &sum[..]);
        let (mut portable, mut row) = (before.clone(), Row::new(before));
        scale(&mut portable, c);
        row.scale(c);
        prop_assert_eq!(&portable, &scaled);
        prop_assert_eq!(row.into_bytes(), scaled);
    }
}

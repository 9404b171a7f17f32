//! Arithmetic in GF(2^8): against long division of polynomials, and by a table of RFC 6330.

use airfair_schemes::more::gf256::{inverse, scale};
use proptest::prelude::*;

use crate::matrix::by_division;

/// A product, as the multiple of a vector of one coefficient.
fn multiply(a: u8, b: u8) -> u8 {
    let mut vector = [a];
    scale(&mut vector, b);
    vector[0]
}

#[test]
fn products_are_those_of_polynomials() {
    for a in 0..=255 {
        for b in 0..=255 {
            assert_eq!(multiply(a, b), by_division(a, b), "{a} times {b}");
        }
    }
    // RFC 6330, 5.7.3: the powers of its generator begin so.
    let powers = std::iter::successors(Some(1), |&power| Some(multiply(power, 2)));
    assert_eq!(powers.take(10).collect::<Vec<u8>>(), [1, 2, 4, 8, 16, 32, 64, 128, 29, 58]);
}

#[test]
fn each_number_but_zero_has_an_inverse() {
    assert_eq!(inverse(0), 0);
    for a in 1..=255 {
        assert_eq!(multiply(a, inverse(a)), 1, "{a}");
    }
}

proptest! {
    #[test]
    fn the_laws_of_a_field(a: u8, b: u8, c: u8) {
        prop_assert_eq!(multiply(a, b), multiply(b, a));
        prop_assert_eq!(multiply(a, multiply(b, c)), multiply(multiply(a, b), c));
        prop_assert_eq!(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c));
        prop_assert_eq!((multiply(a, 1), multiply(a, 0)), (a, 0));
    }

    /// The same at every length and place in memory.
    #[test]
    fn a_multiple_is_that_of_each_coefficient(
        before in proptest::collection::vec(any::<u8>(), 0..300),
        c in prop_oneof![any::<u8>(), 0u8..3],
        skip in 0usize..40,
    ) {
        let skip = skip.min(before.len());
        let mut vector = before.clone();
        scale(&mut vector[skip..], c);
        prop_assert_eq!(&vector[..skip], &before[..skip]);
        let multiple: Vec<u8> = before[skip..].iter().map(|&a| by_division(a, c)).collect();
        prop_assert_eq!(&vector[skip..], &multiple[..]);
    }
}

//! Mathematical functions for simulation code: a pinned pure-Rust implementation with the same bits everywhere.
//!
//! The platform's own `ln`, `exp`, `pow` differ in the last bit for some inputs, and one bit near a threshold changes a simulation.
//! `clippy.toml` forbids them outside of this module.

/// Natural logarithm.
#[must_use]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Logarithm to base 10.
#[must_use]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// e to the power of `x`.
#[must_use]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// `x` to the power of `y`.
#[must_use]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cosine of `x` radians.
#[must_use]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Sine of `x` radians.
#[must_use]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Square root, correctly rounded: the bits of the processor's instruction.
#[must_use]
pub fn sqrt(x: f64) -> f64 {
    libm::sqrt(x)
}

/// The nearest integer; halves are rounded away from zero.
#[must_use]
pub fn round(x: f64) -> f64 {
    libm::round(x)
}

/// Complementary error function, 1 - erf(x).
#[must_use]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// Natural logarithm of the gamma function.
#[must_use]
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// The exact bits, so that a change of the library is detected at once: published results depend on them.
    #[test]
    fn the_bits_are_pinned() {
        assert_eq!(super::ln(0.3).to_bits(), 0xbff3_4378_fcbd_a724 - 3, "ln 0.3");
    }

    proptest! {
        /// The replacements of methods of the standard library return the same bits as these.
        #[test]
        fn as_the_standard_library(x in prop_oneof![any::<f64>(), -1e6..1e6, (-1000i32..1000).prop_map(|n| f64::from(n) / 2.0)]) {
            prop_assert_eq!(super::round(x).to_bits(), x.round().to_bits());
            let root = super::sqrt(x);
            prop_assert!(root.to_bits() == x.sqrt().to_bits() || x < 0.0 && root.is_nan());
        }
    }
}

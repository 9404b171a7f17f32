//! Quantities with units, random numbers, and mathematical functions with the same results on every platform.
//!
//! Quantities in scenarios are read from text with a unit (`"11 Mbit/s"`, `"20 us"`, `"367 m"`) and printed so that the text reads as the
//! same value. Times, rates, sizes and attowatts are integers; levels, ratios, lengths and speeds are `f64`.

#![no_std]

extern crate alloc;

/// Implements an operator of two values field by field: `fieldwise!(Sub::sub for Counts { sent, received })` for what has been counted
/// between two moments.
#[macro_export]
macro_rules! fieldwise {
    ($Operator:ident::$method:ident for $Type:ty { $($field:ident),+ $(,)? }) => {
        impl core::ops::$Operator for $Type {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                Self { $($field: core::ops::$Operator::$method(self.$field, other.$field)),+ }
            }
        }
    };
}

mod decimal;
pub mod fuzz;
pub mod math;
mod power;
mod quantity;
pub mod random;
mod rate;
mod time;

pub use power::{Attowatts, Db, Dbm};
pub use quantity::{Quantity, QuantityError, parse_shifted};
pub use rate::{Bytes, Rate};
pub use time::{Span, Time};

pub use length::{Meters, Speed};
mod length;

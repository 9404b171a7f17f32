//! Quantities with units, and the one module of mathematics that deciding code may use.
//!
//! Every quantity has a type, is read from text with its unit (`"11 Mbit/s"`, `"20 us"`, `"367 m"`), and prints itself so that the text is
//! read as the same value. Values that decide something are integers.

#![no_std]

extern crate alloc;

mod decimal;
pub mod math;
mod power;
mod quantity;
pub mod random;
mod rate;
mod time;

pub use power::{Attowatts, Db, Dbm};
pub use quantity::{Quantity, QuantityError};
pub use rate::{Bytes, Rate};
pub use time::{Span, Time};

pub use length::{Meters, Speed};
mod length;

//! MORE's laws.

mod decoder;
mod gf256;

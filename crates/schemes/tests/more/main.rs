//! MORE's laws.

mod gf256;

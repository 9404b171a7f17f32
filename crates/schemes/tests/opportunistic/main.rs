//! Parts that MORE and ExOR have in common.

mod expected;
mod losses;
mod networks;
mod probes;
mod random;
mod ratios;

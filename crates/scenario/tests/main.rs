//! All tests of the crate that use it from outside, in one program: what they share is compiled and linked once.

mod aodv;
mod bad;
mod building;
mod examples;
mod fuzz;
mod import;
mod links;
mod movement;
mod roundtrip;
mod schemes;
mod tcp;

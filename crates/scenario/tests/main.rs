//! All tests of the crate's public interface in one program, so that shared code is compiled and linked once.

mod aodv;
mod bad;
mod building;
mod categories;
mod dsdv;
mod examples;
mod fuzz;
mod import;
mod import_cases;
mod lies;
mod links;
mod movement;
mod olsr;
mod parameters;
mod roundtrip;
mod schemes;
mod selections;
mod tcp;
mod varying;

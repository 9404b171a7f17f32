//! Forged and mutated messages at C3L's controller.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_controller(data));

//! Forged and mutated messages at ExOR's station.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_agents("exor", data));

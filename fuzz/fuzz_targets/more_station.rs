//! Forged and mutated messages at MORE's station.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_agents("more", data));

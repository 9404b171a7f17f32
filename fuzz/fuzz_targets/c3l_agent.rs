//! Forged and mutated messages at C3L's agent.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_agents("c3l", data));

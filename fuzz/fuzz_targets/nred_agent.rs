//! Forged and mutated messages at NRED's agent.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_agents("nred", data));

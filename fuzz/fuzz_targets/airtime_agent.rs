//! Forged and mutated messages at the airtime allocator's agent.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_agents("airtime", data));

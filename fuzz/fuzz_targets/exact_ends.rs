//! Forged and mutated headers and reports at EXACT's source and receiver.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_ends("exact", data));

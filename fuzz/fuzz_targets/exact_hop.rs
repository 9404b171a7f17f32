//! Any packets and headers at EXACT's hop.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_hop("exact", data));

//! Any packets and headers at ATP's hop.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_hop("atp", data));

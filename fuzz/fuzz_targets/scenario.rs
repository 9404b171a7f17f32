//! Any bytes as a scenario file, read twice.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_scenario::fuzz::fuzz_scenario(data));

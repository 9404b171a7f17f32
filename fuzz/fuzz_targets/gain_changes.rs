//! Changes of a measured gain in CSV.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_scenario::fuzz::fuzz_gain_changes(data));

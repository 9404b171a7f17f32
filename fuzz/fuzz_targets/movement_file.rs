//! A movement file of ns-2 or BonnMotion.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_scenario::fuzz::fuzz_movement_file(data));

//! A list of files in CSV.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_scenario::fuzz::fuzz_file_list(data));

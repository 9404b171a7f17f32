//! Forged and mutated messages at DiffQ's queue.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_schemes::fuzz::fuzz_queue(data));

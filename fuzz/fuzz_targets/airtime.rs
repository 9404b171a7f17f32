//! The airtime allocator's announcement.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_wire::fuzz::fuzz_airtime(data));

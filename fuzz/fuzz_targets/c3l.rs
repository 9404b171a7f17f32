//! C3L's messages and header.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_wire::fuzz::fuzz_c3l(data));

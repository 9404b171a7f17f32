//! EXACT's header and report.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_wire::fuzz::fuzz_exact(data));

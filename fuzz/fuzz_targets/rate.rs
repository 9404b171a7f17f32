//! The transport with a rate: its header and the arrivals in its reports.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_wire::fuzz::fuzz_rate(data));

//! Any sequence of calls and segments at a TCP sender and receiver.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_transport::fuzz::fuzz_transport(data));

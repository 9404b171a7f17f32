//! Any sequence of calls and reports at a sender and a receiver of the transport with a rate.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_transport::fuzz::fuzz_rate(data));

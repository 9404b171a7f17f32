//! Forged and mutated messages at DSDV at a node.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_routing::fuzz::fuzz_dsdv(data));

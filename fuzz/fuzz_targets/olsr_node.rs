//! Forged and mutated messages at OLSR at a node.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_routing::fuzz::fuzz_olsr(data));

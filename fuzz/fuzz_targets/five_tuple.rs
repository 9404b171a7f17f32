//! Five-tuples of IP packets.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| airfair_wire::fuzz::fuzz_five_tuple(data));

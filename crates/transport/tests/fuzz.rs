//! The entry point of the fuzz target, with random input.

use airfair_transport::fuzz::fuzz_transport;
use airfair_units::random::{Purpose, Stream};

#[test]
fn noise_breaks_no_promise() {
    let mut random = Stream::new(7, "noise", Purpose::Source);
    let mut bytes = Vec::new();
    for _ in 0..100_000 {
        let len = random.below(300);
        bytes.clear();
        bytes.extend((0..len).map(|_| random.next_u32() as u8));
        fuzz_transport(&bytes);
    }
}

#[test]
fn long_noise_breaks_no_promise() {
    let mut random = Stream::new(8, "noise", Purpose::Source);
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..6000).map(|_| random.next_u32() as u8).collect();
        fuzz_transport(&bytes);
    }
}

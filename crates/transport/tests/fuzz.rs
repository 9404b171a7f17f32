//! The entry point of the fuzz target, with random input.

use airfair_transport::fuzz::{fuzz_rate, fuzz_transport};
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

#[test]
fn noise_breaks_no_promise_of_the_transport_with_a_rate() {
    let mut random = Stream::new(9, "noise", Purpose::Source);
    for (runs, len) in [(20_000, 300), (100, 6000)] {
        for _ in 0..runs {
            let bytes: Vec<u8> = (0..random.below(len)).map(|_| random.next_u32() as u8).collect();
            fuzz_rate(&bytes);
        }
    }
}

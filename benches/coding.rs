//! The cost of coding: of a packet of a batch of 32 at those that hear it.
//!
//! `bench-coding` prints a Markdown table. Times are wall times, the best of several in one run, of bytes that are in the cache.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::hint::black_box;
use std::time::Instant;

use airfair_schemes::more::decoder::Decoder;
use airfair_units::random::{Purpose, Stream};

/// Seconds of a call, the best of thirty rounds.
fn best(calls: u32, mut call: impl FnMut()) -> f64 {
    let rounds = (0..30).map(|_| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed().as_secs_f64() / f64::from(calls)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn main() {
    let (source, mut random) = (Decoder::full(32), Stream::new(1, "vectors", Purpose::Queue));
    let packets: Vec<Vec<u8>> = (0..1000).filter_map(|_| source.combine(&mut random)).collect();
    let mut half = Decoder::new(32);
    packets[..16].iter().for_each(|vector| _ = half.add(vector));
    let known: Vec<Vec<u8>> = (0..1000).filter_map(|_| half.combine(&mut random)).collect();
    let mut whole = Decoder::new(32);
    let batch = best(100, || {
        whole.clear();
        let mut vectors = packets.iter();
        while !whole.is_full() {
            whole.add(black_box(vectors.next().expect("enough")));
        }
    });
    let mut next = (0..1000).cycle();
    let mut at = || next.next().unwrap_or(0);
    println!("| what | ns |\n|---|---|");
    for (what, seconds) in [
        ("a packet of a batch of 32, from the first to the last, stored", batch / 32.0),
        (
            "whether a packet is innovative, 16 of 32 held: it is",
            best(5000, || _ = black_box(half.innovative(&packets[at()]))),
        ),
        ("the same: it is not", best(5000, || _ = black_box(half.innovative(&known[at()])))),
        ("a fresh combination of 16", best(5000, || _ = black_box(half.combine(&mut random)))),
    ] {
        println!("| {what} | {:.0} |", seconds * 1e9);
    }
}

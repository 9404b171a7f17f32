//! The cost of coding: payloads over GF(2^8) by the crate and in the portable way, beside a copy of as many bytes; and vectors at the
//! nodes.
//!
//! `bench-coding` prints a Markdown table. Times are wall times, the best of several in one run, of bytes that are in the cache.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::hint::black_box;
use std::time::Instant;

use airfair_schemes::more::decoder::Decoder;
use airfair_schemes::more::gf256;
use airfair_schemes::more::row::Row;
use airfair_units::random::{Purpose, Stream};

/// The payload of the paper's packets, bytes.
const PAYLOAD: usize = 1400;

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
    let bytes: Vec<u8> = (0..PAYLOAD).map(|i| (i * 7 + 3) as u8).collect();
    let (row, mut sum, mut plain) = (Row::new(bytes.clone()), Row::zeros(PAYLOAD), vec![0; PAYLOAD]);
    let copy = best(5000, || black_box(&mut plain[..]).copy_from_slice(black_box(&bytes)));
    let kept = best(5000, || black_box(&mut sum).multiply_add(black_box(&row), black_box(0xa7)));
    let portable =
        best(2000, || gf256::multiply_add(black_box(&mut plain), black_box(&bytes), black_box(0xa7)));
    let speed = |seconds: f64| PAYLOAD as f64 / seconds / 1e9;
    println!("| what | GB/s | part of a copy |\n|---|---|---|");
    for (what, seconds) in [
        ("a copy of 1400 B", copy),
        ("multiply-add of 1400 B over GF(2^8), by raptorq", kept),
        ("the same, portable", portable),
    ] {
        println!("| {what} | {:.1} | {:.3} |", speed(seconds), copy / seconds);
    }
    vectors();
}

/// The cost of a packet of a batch of 32 at those that hear it, without payloads.
fn vectors() {
    let (source, mut random) = (Decoder::full(32), Stream::new(1, "vectors", Purpose::Queue));
    let packets: Vec<Vec<u8>> =
        (0..1000).filter_map(|_| source.combine(&mut random)).map(|packet| packet.vector).collect();
    let mut half = Decoder::new(32, 0);
    packets[..16].iter().for_each(|vector| _ = half.add(vector, None));
    let known: Vec<Vec<u8>> =
        (0..1000).filter_map(|_| half.combine(&mut random)).map(|packet| packet.vector).collect();
    let mut whole = Decoder::new(32, 0);
    let batch = best(100, || {
        whole.clear();
        let mut vectors = packets.iter();
        while !whole.is_full() {
            whole.add(black_box(vectors.next().expect("enough")), None);
        }
    });
    let mut next = (0..1000).cycle();
    let mut at = || next.next().unwrap_or(0);
    println!("\n| what | ns |\n|---|---|");
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

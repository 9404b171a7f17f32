//! The decoder: against elimination on whole matrices, and its promises under any order of arrival.

use airfair_schemes::more::decoder::Decoder;
use airfair_units::random::{Purpose, Stream};
use proptest::prelude::*;

use crate::matrix::rank;

fn stream(seed: u64) -> Stream {
    Stream::new(seed, "decoder", Purpose::Queue)
}

#[test]
fn a_small_batch_by_hand() {
    let mut decoder = Decoder::new(3);
    assert!(decoder.combine(&mut stream(1)).is_none());
    assert!(decoder.add(&[0, 2, 0]));
    assert!(!decoder.add(&[0, 0, 0]), "zeros say nothing");
    assert!(!decoder.add(&[0, 5, 0]), "a multiple");
    assert!(decoder.add(&[1, 1, 0]));
    assert!(!decoder.add(&[1, 0, 0]), "the difference of the two");
    assert!(!decoder.add(&[1, 1]) && !decoder.add(&[1, 1, 1, 1]), "vectors of other lengths");
    assert_eq!((decoder.rank(), decoder.is_full()), (2, false));
    assert!(decoder.add(&[1, 1, 1]));
    assert!(!decoder.add(&[1, 2, 3]), "nothing is innovative any more");
    assert!(decoder.is_full() && decoder.rank() == 3);
    decoder.clear();
    assert_eq!((decoder.rank(), decoder.innovative(&[0, 5, 0])), (0, true));
    // What is heard first need not begin with the first native.
    for native in [2, 0, 1] {
        assert!(decoder.add(&[0, 1, 2].map(|each| u8::from(each == native))));
    }
    assert!(decoder.is_full());
    assert_eq!(Decoder::new(0).natives(), 1);
}

/// With K random packets a batch is decoded in 1 - 1/255 of all cases, nearly (a random matrix over GF(256) is regular): K + 0.004 packets.
#[test]
fn random_combinations_are_innovative() {
    let (mut random, source) = (stream(2), Decoder::full(32));
    let mut packets = 0;
    for _ in 0..1000 {
        let mut decoder = Decoder::new(32);
        while !decoder.is_full() {
            decoder.add(&source.combine(&mut random).unwrap());
            packets += 1;
        }
    }
    assert!((32_000..32_020).contains(&packets), "{packets} packets");
}

/// All bytes of a single row's factor are drawn but zero: a combination says something.
#[test]
fn a_combination_is_never_of_zeros() {
    let mut random = stream(3);
    let source = Decoder::full(1);
    let mut seen = [0; 256];
    for _ in 0..20_000 {
        seen[usize::from(source.combine(&mut random).unwrap()[0])] += 1;
    }
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|&count| (40..130).contains(&count)), "{seen:?}");
    // Of two rows one may be left out: each by a chance of 1 in 256.
    let pair = Decoder::full(2);
    for native in [0, 1] {
        let zeros = (0..20_000).filter(|_| pair.combine(&mut random).unwrap()[native] == 0).count();
        assert!((40..130).contains(&zeros), "{zeros}");
    }
}

/// Few distinct coefficients and few natives: many vectors are dependent.
fn vectors() -> impl Strategy<Value = (u8, Vec<Vec<u8>>)> {
    let coefficient = || prop_oneof![Just(0), Just(1), any::<u8>()];
    (1u8..35).prop_flat_map(move |natives| {
        let vector = proptest::collection::vec(coefficient(), usize::from(natives));
        (Just(natives), proptest::collection::vec(vector, 1..40))
    })
}

proptest! {
    /// After each packet the rank is that of the matrix of all; it never falls; `innovative` says before what `add` does.
    #[test]
    fn the_rank_is_that_of_the_matrix((natives, vectors) in vectors()) {
        let mut decoder = Decoder::new(natives);
        for (heard, vector) in (1..).zip(&vectors) {
            let before = decoder.rank();
            let innovative = decoder.innovative(vector);
            prop_assert_eq!(decoder.add(vector), innovative);
            prop_assert_eq!(decoder.rank(), before + u8::from(innovative));
            prop_assert_eq!(usize::from(decoder.rank()), rank(vectors[..heard].to_vec()));
            prop_assert!(!decoder.innovative(vector));
        }
    }

    /// Combinations of the packets that a node holds are not innovative to the node, and have no higher rank.
    #[test]
    fn combinations_stay_in_the_span((natives, vectors) in vectors(), seed: u64) {
        let (mut decoder, mut other) = (Decoder::new(natives), Decoder::new(natives));
        vectors.iter().for_each(|vector| _ = decoder.add(vector));
        let mut random = stream(seed);
        for _ in 0..2 * natives {
            if let Some(combination) = decoder.combine(&mut random) {
                prop_assert!(!decoder.innovative(&combination));
                other.add(&combination);
            }
        }
        prop_assert!(other.rank() <= decoder.rank());
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// From the source over two nodes with losses, in any order, packets twice and combinations of combinations: at every moment the rank
    /// is that of all that has arrived, and in the end the batch can be decoded.
    #[test]
    fn batches_come_out(natives in prop_oneof![9 => 1u8..70, 1 => Just(255)], seed: u64) {
        let mut random = stream(seed);
        let source = Decoder::full(natives);
        let [mut relay, mut sink] = [0, 1].map(|_| Decoder::new(natives));
        let (mut last, mut arrived) = (None, Vec::new());
        while !sink.is_full() {
            let from = if random.below(2) == 0 { &source } else { &relay };
            let heard = from.combine(&mut random).or(last.take());
            let Some(heard) = heard else { continue };
            let (relayed, arrives) = (random.below(3) > 0, random.below(2) > 0);
            if relayed {
                relay.add(&heard);
            }
            if arrives {
                let innovative = sink.innovative(&heard);
                prop_assert_eq!(sink.add(&heard), innovative);
                prop_assert!(!sink.add(&heard), "twice");
                arrived.push(heard.clone());
                if natives < 20 {
                    prop_assert_eq!(usize::from(sink.rank()), rank(arrived.clone()));
                }
            }
            last = Some(heard);
        }
        prop_assert_eq!(rank(arrived), usize::from(natives));
    }

    /// The order of arrival does not change the rank.
    #[test]
    fn order_changes_nothing(order in Just((0..24).collect::<Vec<usize>>()).prop_shuffle(), heard in 8usize..24, seed: u64) {
        let mut random = stream(seed);
        let source = Decoder::full(12);
        let packets: Vec<_> = (0..24).map(|_| source.combine(&mut random).unwrap()).collect();
        let mut decoder = Decoder::new(12);
        order[..heard].iter().for_each(|&i| _ = decoder.add(&packets[i]));
        let all: Vec<Vec<u8>> = order[..heard].iter().rev().map(|&i| packets[i].clone()).collect();
        prop_assert_eq!(usize::from(decoder.rank()), rank(all));
    }

    /// No bytes make it panic; a vector of another length says nothing.
    #[test]
    fn any_packet_is_handled(natives: u8, vector in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut decoder = Decoder::new(natives);
        let says = vector.len() == usize::from(natives.max(1)) && vector.iter().any(|&c| c != 0);
        prop_assert_eq!(decoder.innovative(&vector), says);
        prop_assert_eq!(decoder.add(&vector), says);
        prop_assert_eq!(decoder.rank(), u8::from(says));
    }
}

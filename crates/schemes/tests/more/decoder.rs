//! The decoder: against elimination on whole matrices, and its promises under any order of arrival.

use airfair_schemes::more::decoder::Decoder;
use airfair_schemes::more::gf256::{inverse, multiply};
use airfair_schemes::more::row::Row;
use airfair_units::random::{Purpose, Stream};
use proptest::prelude::*;

fn stream(seed: u64) -> Stream {
    Stream::new(seed, "decoder", Purpose::Queue)
}

/// The rank of a matrix, by elimination below and above every pivot.
fn rank(mut rows: Vec<Vec<u8>>) -> usize {
    let mut done = 0;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let Some(pivot) = (done..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
        rows.swap(done, pivot);
        let one = inverse(rows[done][column]);
        let pivot: Vec<u8> = rows[done].iter().map(|&a| multiply(a, one)).collect();
        for row in rows.iter_mut().skip(done + 1) {
            let c = row[column];
            row.iter_mut().zip(&pivot).for_each(|(a, &b)| *a ^= multiply(b, c));
        }
        done += 1;
    }
    done
}

fn payloads(natives: usize, bytes: usize, random: &mut Stream) -> Vec<Vec<u8>> {
    (0..natives).map(|_| (0..bytes).map(|_| random.next_u32() as u8).collect()).collect()
}

#[test]
fn a_small_batch_by_hand() {
    let mut decoder = Decoder::new(3, 1);
    assert!(decoder.combine(&mut stream(1)).is_none() && decoder.decode().is_none());
    let mut add = |vector: &[u8], payload: u8| decoder.add(vector, Some(&Row::new(vec![payload])));
    // Natives 10, 20, 30: 2 times 20 is 40, and 10 + 20 = 30 without carries is 30.
    assert!(add(&[0, 2, 0], 40));
    assert!(!add(&[0, 0, 0], 0), "zeros say nothing");
    assert!(!add(&[0, 5, 0], 5 * 20), "a multiple");
    assert!(add(&[1, 1, 0], 10 ^ 20));
    assert!(!add(&[1, 0, 0], 10), "the difference of the two");
    assert!(!add(&[1, 1], 9) && !add(&[1, 1, 1, 1], 9), "vectors of other lengths");
    assert!(add(&[1, 1, 1], 10 ^ 20 ^ 30));
    assert!(!add(&[1, 2, 3], 9), "nothing is innovative any more");
    assert!(decoder.is_full() && decoder.rank() == 3);
    let decoded: Vec<Vec<u8>> = decoder.decode().unwrap().into_iter().map(Row::into_bytes).collect();
    assert_eq!(decoded, [[10], [20], [30]]);
    decoder.clear();
    assert_eq!((decoder.rank(), decoder.innovative(&[0, 5, 0])), (0, true));
    for (native, payload) in [(2, 7), (0, 8), (1, 9)] {
        let vector = [0, 1, 2].map(|each| u8::from(each == native));
        assert!(decoder.add(&vector, Some(&Row::new(vec![payload]))));
    }
    assert_eq!(decoder.decode().unwrap(), [8, 9, 7].map(|byte| Row::new(vec![byte])));
}

/// One packet whose payload does not belong to its vector: who holds it spoils what it sends, and nearly all natives are wrong.
#[test]
fn one_garbage_packet_spoils_a_batch() {
    let mut random = stream(4);
    let (mut wrong, mut spoiled) = (0, 0);
    for _ in 0..100 {
        let natives = payloads(32, 16, &mut random);
        let source = Decoder::of(natives.clone());
        let (mut forwarder, mut decoder) = (Decoder::new(32, 16), Decoder::new(32, 16));
        let [vector, garbage] = [32, 16].map(|bytes| payloads(1, bytes, &mut random).remove(0));
        assert!(forwarder.add(&vector, Some(&Row::new(garbage))), "no vector looks like garbage");
        while !forwarder.is_full() {
            let good = source.combine(&mut random).unwrap();
            forwarder.add(&good.vector, good.payload.as_ref());
        }
        while !decoder.is_full() {
            let bad = forwarder.combine(&mut random).unwrap();
            decoder.add(&bad.vector, bad.payload.as_ref());
        }
        let decoded = decoder.decode().unwrap();
        let count = natives.iter().zip(&decoded).filter(|(native, row)| *native != row.as_bytes()).count();
        (wrong, spoiled) = (wrong + count, spoiled + usize::from(count > 0));
    }
    // Each native is right by a chance of 1 in 256.
    assert!(spoiled == 100 && (3150..=3200).contains(&wrong), "{spoiled} batches, {wrong} natives");
}

#[test]
fn payloads_of_other_lengths_are_not_stored() {
    let mut decoder = Decoder::new(2, 4);
    assert!(!decoder.add(&[1, 0], None) && !decoder.add(&[1, 0], Some(&Row::zeros(3))));
    assert!(decoder.add(&[1, 0], Some(&Row::zeros(4))));
    let mut without = Decoder::new(2, 0);
    assert!(!without.add(&[1, 0], Some(&Row::zeros(4))));
    assert!(without.add(&[1, 0], None) && without.add(&[1, 1], None) && without.decode().is_none());
    assert_eq!(without.combine(&mut stream(1)).unwrap().payload, None);
    assert_eq!(Decoder::new(0, 0).natives(), 1);
}

#[test]
fn a_source_fills_payloads_up() {
    let source = Decoder::of(vec![vec![1, 2, 3], vec![4], Vec::new()]);
    assert_eq!((source.natives(), source.payload_bytes(), source.rank()), (3, 3, 3));
    let decoded: Vec<Vec<u8>> = source.decode().unwrap().into_iter().map(Row::into_bytes).collect();
    assert_eq!(decoded, [[1, 2, 3], [4, 0, 0], [0, 0, 0]]);
    assert_eq!(Decoder::of(vec![vec![1]; 300]).rank(), 255);
}

/// With K random packets a batch is decoded in 1 - 1/255 of all cases, nearly (a random matrix over GF(256) is regular): K + 0.004 packets.
#[test]
fn random_combinations_are_innovative() {
    let (mut random, source) = (stream(2), Decoder::full(32));
    let mut packets = 0;
    for _ in 0..1000 {
        let mut decoder = Decoder::new(32, 0);
        while !decoder.is_full() {
            decoder.add(&source.combine(&mut random).unwrap().vector, None);
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
        seen[usize::from(source.combine(&mut random).unwrap().vector[0])] += 1;
    }
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|&count| (40..130).contains(&count)), "{seen:?}");
    // Of two rows one may be left out: each by a chance of 1 in 256.
    let pair = Decoder::full(2);
    for native in [0, 1] {
        let zeros = (0..20_000).filter(|_| pair.combine(&mut random).unwrap().vector[native] == 0).count();
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
        let mut decoder = Decoder::new(natives, 0);
        for (heard, vector) in (1..).zip(&vectors) {
            let before = decoder.rank();
            let innovative = decoder.innovative(vector);
            prop_assert_eq!(decoder.add(vector, None), innovative);
            prop_assert_eq!(decoder.rank(), before + u8::from(innovative));
            prop_assert_eq!(usize::from(decoder.rank()), rank(vectors[..heard].to_vec()));
            prop_assert!(!decoder.innovative(vector));
        }
    }

    /// Combinations of the packets that a node holds are not innovative to the node, and have no higher rank.
    #[test]
    fn combinations_stay_in_the_span((natives, vectors) in vectors(), seed: u64) {
        let (mut decoder, mut other) = (Decoder::new(natives, 0), Decoder::new(natives, 0));
        vectors.iter().for_each(|vector| _ = decoder.add(vector, None));
        let mut random = stream(seed);
        for _ in 0..2 * natives {
            if let Some(combination) = decoder.combine(&mut random) {
                prop_assert!(!decoder.innovative(&combination.vector));
                other.add(&combination.vector, None);
            }
        }
        prop_assert!(other.rank() <= decoder.rank());
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// From the source over two nodes with losses, in any order, packets twice and combinations of combinations: the natives come out.
    #[test]
    fn natives_come_out(natives in prop_oneof![9 => 1usize..70, 1 => Just(255)], bytes in 1usize..50, seed: u64) {
        let mut random = stream(seed);
        let sent = payloads(natives, bytes, &mut random);
        let source = Decoder::of(sent.clone());
        let [mut relay, mut sink] = [0, 1].map(|_| Decoder::new(natives as u8, bytes));
        let mut last = None;
        while !sink.is_full() {
            let from = if random.below(2) == 0 { &source } else { &relay };
            let heard = from.combine(&mut random).or(last.take());
            let Some(heard) = heard else { continue };
            let (relayed, arrived) = (random.below(3) > 0, random.below(2) > 0);
            if relayed {
                relay.add(&heard.vector, heard.payload.as_ref());
            }
            if arrived {
                let innovative = sink.innovative(&heard.vector);
                prop_assert_eq!(sink.add(&heard.vector, heard.payload.as_ref()), innovative);
                prop_assert!(!sink.add(&heard.vector, heard.payload.as_ref()), "twice");
            }
            last = Some(heard);
        }
        let decoded: Vec<Vec<u8>> = sink.decode().unwrap().into_iter().map(Row::into_bytes).collect();
        prop_assert_eq!(decoded, sent);
    }

    /// The order of arrival changes neither rank nor natives.
    #[test]
    fn order_changes_nothing(order in Just((0..24).collect::<Vec<usize>>()).prop_shuffle(), seed: u64) {
        let mut random = stream(seed);
        let sent = payloads(12, 5, &mut random);
        let source = Decoder::of(sent.clone());
        let packets: Vec<_> = (0..24).map(|_| source.combine(&mut random).unwrap()).collect();
        let mut decoder = Decoder::new(12, 5);
        order.iter().for_each(|&i| _ = decoder.add(&packets[i].vector, packets[i].payload.as_ref()));
        let all: Vec<Vec<u8>> = packets.iter().map(|packet| packet.vector.clone()).collect();
        prop_assert_eq!(usize::from(decoder.rank()), rank(all));
        if decoder.is_full() {
            let decoded: Vec<Vec<u8>> = decoder.decode().unwrap().into_iter().map(Row::into_bytes).collect();
            prop_assert_eq!(decoded, sent);
        }
    }

    /// No bytes make it panic.
    #[test]
    fn any_packet_is_handled(natives: u8, vector in proptest::collection::vec(any::<u8>(), 0..300), bytes in 0usize..4) {
        let mut decoder = Decoder::new(natives, 3);
        let innovative = decoder.innovative(&vector);
        let row = Row::zeros(bytes);
        prop_assert_eq!(decoder.add(&vector, Some(&row)), innovative && bytes == 3);
    }
}

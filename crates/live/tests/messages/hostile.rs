//! Packets of an attacker without a key, who has recorded all packets of a network.

use airfair_live::messages::{LARGEST_PACKET, Limits, Opened, Reason, Session};
use airfair_schemes::places::NodeId;
use airfair_units::{Span, Time};

use crate::air::{Random, converse, hears, meet, node, node_with, reason, seconds};

#[test]
fn every_bit_matters() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    let mut packets = meet(&mut a, &mut b, seconds(0));
    packets.push(a.seal(None, b"data").expect("short"));
    packets.push(a.seal(Some(NodeId(2)), &[0x55; 300]).expect("short"));
    let mut now = 1;
    for packet in &packets {
        for bit in 0..packet.len() * 8 {
            let mut changed = packet.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            now += 1;
            for node in [&mut a, &mut b, &mut node(2, 20)] {
                let opened = node.open(&changed, seconds(now / 100));
                assert!(
                    matches!(opened, Opened::Nothing(reason) if reason != Reason::Proven),
                    "bit {bit}: {opened:?}"
                );
            }
        }
    }
    for packet in &packets[4..] {
        assert!(hears(&mut b, packet, seconds(100)), "unharmed by what was refused");
    }
}

#[test]
fn every_length_matters() {
    let (mut a, mut b) = (node(1, 1), node(2, 2));
    meet(&mut a, &mut b, seconds(0));
    let packet = a.seal(None, &[1; 200]).expect("short");
    for length in 0..packet.len() {
        assert_eq!(reason(&mut b, &packet[..length], seconds(1)), Some(Reason::Malformed));
        assert_eq!(reason(&mut b, &packet[packet.len() - length..], seconds(1)), Some(Reason::Malformed));
        // With a length that fits.
        if length >= 36 + 16 {
            let mut cut = packet[..length].to_vec();
            cut[6..8].copy_from_slice(&((length - 52) as u16).to_be_bytes());
            assert_eq!(reason(&mut b, &cut, seconds(1)), Some(Reason::BadMac));
        }
    }
    for longer in 1..64 {
        let mut long = packet.clone();
        long.resize(packet.len() + longer, 0);
        assert_eq!(reason(&mut b, &long, seconds(1)), Some(Reason::Malformed));
    }
    assert_eq!(reason(&mut b, &vec![0; 65_535], seconds(1)), Some(Reason::Malformed));
    assert!(hears(&mut b, &packet, seconds(1)));
}

/// Sender, addressee, scope and kind of authentic packets are those that were sealed.
#[test]
fn names_cannot_be_changed() {
    let (mut a, mut b, mut c) = (node(1, 1), node(2, 2), node(3, 3));
    meet(&mut a, &mut b, seconds(0));
    meet(&mut c, &mut b, seconds(0));
    let packet = a.seal(Some(NodeId(3)), b"data").expect("short");
    let mut to_b = packet.clone();
    to_b[16..20].copy_from_slice(&2_u32.to_be_bytes());
    assert_eq!(reason(&mut b, &to_b, seconds(1)), Some(Reason::BadMac));
    let mut to_all = packet.clone();
    to_all[5] = 0;
    assert_eq!(reason(&mut b, &to_all, seconds(1)), Some(Reason::Malformed));
    to_all[16..20].fill(0);
    assert_eq!(reason(&mut b, &to_all, seconds(1)), Some(Reason::BadMac));
    for (sender, expected) in [(3, Reason::BadMac), (2, Reason::BadMac), (77, Reason::BadMac)] {
        let mut forged = packet.clone();
        forged[12..16].copy_from_slice(&u32::to_be_bytes(sender));
        assert_eq!(reason(&mut b, &forged, seconds(1)), Some(expected));
    }
    let message = a.seal(Some(NodeId(2)), &[9; 16]).expect("short");
    for kind in [2, 3] {
        let mut changed = message.clone();
        changed[4] = kind;
        assert_eq!(reason(&mut b, &changed, seconds(1)), Some(Reason::BadMac));
    }
    assert!(hears(&mut b, &packet, seconds(1)) && hears(&mut b, &message, seconds(1)));
}

/// Two nodes, one of which has started twice, and all packets they have sent.
struct Network {
    a: Session,
    b: Session,
    recorded: Vec<Vec<u8>>,
    now: Time,
    heard: u64,
}

impl Network {
    fn new() -> Self {
        // Every MAC is computed.
        let limits = Limits { per_second: u32::MAX, ..Limits::default() };
        let start = |me, seed| node_with(me, seed, &["one"], limits);
        let (mut old, mut b) = (start(1, 1), start(2, 2));
        let mut recorded = meet(&mut old, &mut b, Time(0));
        for length in [0, 1, 16, 32, 100, 1348] {
            let packet = old.seal(None, &vec![length as u8; length]).expect("fits");
            assert!(hears(&mut b, &packet, Time(0)));
            recorded.push(packet);
            // Suppressed by the attacker, who keeps it for later.
            recorded.push(old.seal(Some(NodeId(2)), &[1, 2, 3]).expect("fits"));
        }
        let mut a = start(1, 3);
        let first = a.seal(None, b"restart").expect("fits");
        recorded.extend(converse(&mut a, &mut b, first, seconds(1)));
        Self { a, b, recorded, now: seconds(2), heard: 0 }
    }

    /// Messages in both directions are heard, whatever happened before.
    fn talk(&mut self) {
        let Self { a, b, now, .. } = self;
        for _ in 0..2 {
            let (to_b, to_a) =
                (a.seal(None, b"data").expect("fits"), b.seal(Some(NodeId(1)), b"data").expect("fits"));
            assert!(hears(b, &to_b, *now) && hears(a, &to_a, *now), "{:?}", b.counts());
            self.recorded.extend([to_b, to_a]);
            self.heard += 2;
        }
        // The first ones stay.
        let excess = self.recorded.len().saturating_sub(500);
        let from = self.recorded.len().min(20);
        self.recorded.drain(from..from + excess);
    }
}

/// Makes a packet of `data` and of the recorded ones, and gives it to both nodes: neither hears a message, only an authentic packet is
/// answered, and no index is proven.
fn fuzz(network: &mut Network, data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut number =
        |count: u32| (0..count).fold(0, |sum, _| sum << 8 | usize::from(bytes.next().unwrap_or(0)));
    let (kind, which, other) = (number(1), number(2), number(2));
    let recorded = &network.recorded;
    let original = &recorded[which % recorded.len()];
    let mut packet = original.clone();
    match kind % 8 {
        0 => {}
        1 => packet.truncate(number(2) % packet.len()),
        2 => {
            for _ in 0..=number(1) % 4 {
                let at = number(2) % (packet.len() * 8);
                packet[at / 8] ^= 1 << (at % 8);
            }
        }
        // A header field.
        3 => {
            let (at, length) =
                [(4, 1), (5, 1), (8, 4), (12, 4), (16, 4), (20, 8), (28, 8), (36, 16)][number(1) % 8];
            for byte in packet.iter_mut().skip(at).take(length) {
                *byte = number(1) as u8;
            }
        }
        // The start of one and the end of another, with a length that fits.
        4 => {
            let other = &recorded[other % recorded.len()];
            packet.truncate(number(2) % packet.len());
            packet.extend_from_slice(&other[number(2) % other.len()..]);
            packet.truncate(LARGEST_PACKET);
            if let Ok(length) = u16::try_from(packet.len().saturating_sub(52))
                && packet.len() >= 8
            {
                packet[6..8].copy_from_slice(&length.to_be_bytes());
            }
        }
        // The counter moves on a little.
        5 => packet[35] = packet[35].wrapping_add(number(1) as u8),
        6 => {
            packet.resize((packet.len() + number(1)).min(LARGEST_PACKET + 1), 0xa5);
        }
        _ => packet = data.to_vec(),
    }
    let is_authentic = recorded.contains(&packet);
    for node in [&mut network.a, &mut network.b] {
        match node.open(&packet, network.now) {
            Opened::Message { .. } | Opened::Nothing(Reason::Proven) => panic!("accepted: {packet:02x?}"),
            Opened::Reply(_) => assert!(is_authentic, "answered: {packet:02x?}"),
            Opened::Nothing(_) => {}
        }
    }
}

fn attack(packets: u64) {
    let mut random = Random(packets);
    let mut network = Network::new();
    let mut data = [0; 80];
    for at in 0..packets {
        random.fill(&mut data);
        fuzz(&mut network, &data[..random.below(data.len() + 1)]);
        network.now = Time(network.now.0 + Span::from_micros(200).0);
        if at % 1000 == 0 {
            // A pause, as the attacker may use up the parts of both.
            network.now = Time(network.now.0 + Span::from_millis(100).0);
            network.talk();
        }
    }
    let (a, b) = (network.a.counts(), network.b.counts());
    assert_eq!(
        a.messages + b.messages,
        network.heard + 6,
        "what was sealed for them, and six of the first start"
    );
    assert_eq!([a, b].map(|node| node.of(Reason::NeighbourLimit) + node.of(Reason::UnknownLimit)), [0, 0]);
    assert!(a.of(Reason::BadMac) > packets / 20 && b.of(Reason::BadMac) > packets / 20, "{a:?}");
    let answers = a.challenges + a.replies + b.challenges + b.replies;
    assert!(answers < packets / 100 + 100, "{answers}");
    assert!(network.b.neighbours(network.now).count() == 1 && network.b.challenged() == 0);
}

#[test]
fn twenty_thousand_hostile_packets() {
    attack(20_000);
}

/// `cargo test --release -p airfair-live --test messages -- --ignored`
#[test]
#[ignore = "a million packets"]
fn a_million_hostile_packets() {
    attack(1_000_000);
}

//! Nodes and the packets between them.

use airfair_live::messages::{Keys, Limits, Opened, Reason, Session};
use airfair_schemes::places::NodeId;
use airfair_units::{Span, Time};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound.max(1) as u64) as usize
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            let number = self.number().to_le_bytes();
            part.copy_from_slice(&number[..part.len()]);
        }
    }
}

/// Secrets of 32 bytes that differ by their seed.
pub fn secret(seed: u8) -> [u8; 32] {
    std::array::from_fn(|at| seed.wrapping_mul(31).wrapping_add(at as u8))
}

pub fn keys(names: &[&str]) -> Keys {
    let secrets: Vec<[u8; 32]> = names
        .iter()
        .map(|name| secret(name.bytes().fold(0, |sum: u8, byte| sum.wrapping_mul(3).wrapping_add(byte))))
        .collect();
    let keys: Vec<(&str, &[u8])> =
        names.iter().zip(&secrets).map(|(name, secret)| (*name, &secret[..])).collect();
    Keys::new(&keys).expect("keys")
}

pub fn node_with(me: u32, seed: u64, names: &[&str], limits: Limits) -> Session {
    let mut random = Random(seed);
    Session::new(NodeId(me), b"mesh", keys(names), limits, move |bytes| random.fill(bytes))
}

/// A start of a node; each start has a seed of its own.
pub fn node(me: u32, seed: u64) -> Session {
    node_with(me, seed, &["one"], Limits::default())
}

pub fn seconds(n: u64) -> Time {
    Time(Span::from_secs(n).0)
}

pub fn millis(n: u64) -> Time {
    Time(Span::from_millis(n).0)
}

/// Sends a packet of `from`, and what answers it, back and forth; all these packets.
pub fn converse(from: &mut Session, to: &mut Session, first: Vec<u8>, now: Time) -> Vec<Vec<u8>> {
    let mut packets = vec![first];
    loop {
        let node = if packets.len() % 2 == 1 { &mut *to } else { &mut *from };
        match node.open(&packets[packets.len() - 1], now) {
            Opened::Reply(reply) => packets.push(reply),
            _ => return packets,
        }
        assert!(packets.len() < 10, "endless");
    }
}

/// Lets two nodes hear each other; the packets for that.
pub fn meet(a: &mut Session, b: &mut Session, now: Time) -> Vec<Vec<u8>> {
    let first = a.seal(None, b"hello").expect("short");
    let packets = converse(a, b, first, now);
    assert_eq!(packets.len(), 4, "message, challenge, reply with challenge, reply");
    packets
}

pub fn hears(to: &mut Session, packet: &[u8], now: Time) -> bool {
    matches!(to.open(packet, now), Opened::Message { .. })
}

/// The reason for which a packet gives nothing.
pub fn reason(to: &mut Session, packet: &[u8], now: Time) -> Option<Reason> {
    match to.open(packet, now) {
        Opened::Nothing(reason) => Some(reason),
        _ => None,
    }
}

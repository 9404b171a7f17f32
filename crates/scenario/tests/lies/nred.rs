//! Lies about suffering, to NRED.

use airfair_schemes::places::{Destination, NodeId};
use airfair_units::Span;
use airfair_wire::nred::Ncn;

use super::hosted::{Liar, Lie, Said};

const ALL: u32 = u32::MAX;
/// The largest `normalizedP_b` of an honest node in a full channel: 1 of an index of 240.
const HONEST: u32 = ALL / 240;
const LONG: u16 = u16::MAX;

/// Interval of honest notifications.
const USUAL: Span = Span::from_millis(200);
/// The largest rate of messages of a neighbour that a daemon reads.
const FLOOD: Span = Span::from_millis(10);

fn bytes(normalized: u32, lifetime_ms: u16) -> Vec<u8> {
    let mut bytes = vec![0; Ncn::wire_len()];
    Ncn { normalized, lifetime_ms }.encode(&mut bytes).expect("it fits");
    bytes
}

fn to_all(bytes: Vec<u8>) -> Vec<Said> {
    vec![Said { name: None, to: Destination::Broadcast, bytes }]
}

fn all(normalized: u32, lifetime_ms: u16) -> Vec<Said> {
    to_all(bytes(normalized, lifetime_ms))
}

/// The same in these names, to everybody.
fn by(names: impl Iterator<Item = NodeId>, normalized: u32, lifetime_ms: u16) -> Vec<Said> {
    let bytes = bytes(normalized, lifetime_ms);
    names.map(|name| Said { name: Some(name), to: Destination::Broadcast, bytes: bytes.clone() }).collect()
}

fn to_each(nodes: &[NodeId], normalized: u32, lifetime_ms: u16) -> Vec<Said> {
    let bytes = bytes(normalized, lifetime_ms);
    let to = |&node| Said { name: None, to: Destination::Neighbour(node), bytes: bytes.clone() };
    nodes.iter().map(to).collect()
}

/// Invented names.
fn invented(count: u32) -> impl Iterator<Item = NodeId> {
    (0..count).map(|number| NodeId(0x7000_0000 + number))
}

/// True in the first `on` of each `period` lies.
fn is_on(liar: &Liar, on: u64, period: u64) -> bool {
    liar.tick % period < on
}

const fn lie(name: &'static str, says: super::Says) -> Lie {
    Lie { name, every: USUAL, selfish: false, says }
}

pub const LIES: &[Lie] = &[
    lie("silence", |_, _| vec![]),
    Lie { selfish: true, ..lie("silence, own limits ignored", |_, _| vec![]) },
    lie("the largest notification", |_, _| all(ALL, 2000)),
    Lie { selfish: true, ..lie("the largest, own limits ignored", |_, _| all(ALL, 2000)) },
    lie("just below the largest", |_, _| all(ALL - 1, 2000)),
    lie("the longest lifetime", |_, _| all(ALL, LONG)),
    Lie { every: Span::from_secs(20), ..lie("the longest lifetime, once in 20 s", |_, _| all(ALL, LONG)) },
    lie("a lifetime of 0", |_, _| all(ALL, 0)),
    lie("suffering of 0", |_, _| all(0, LONG)),
    lie("a bit of suffering", |_, _| all(1, LONG)),
    lie("the most that honest nodes say", |_, _| all(HONEST, 2000)),
    Lie { selfish: true, ..lie("honest words, own limits ignored", |_, _| all(HONEST, 2000)) },
    lie("ten times the most of honest nodes", |_, _| all(10 * HONEST, 2000)),
    lie("the bits of NaN", |_, _| all(0x7fc0_0000, 2000)),
    lie("random numbers", |_, random| {
        let lifetime_ms = random.below(1 << 16) as u16;
        all(random.next_u32(), lifetime_ms)
    }),
    Lie { every: FLOOD, ..lie("a flood of the largest", |_, _| all(ALL, 2000)) },
    Lie { every: FLOOD, ..lie("a flood of noise", |_, _| to_all(vec![0; 8])) },
    lie("a tail of 1200 bytes", |_, _| to_all([bytes(ALL, 2000), vec![0; 1200]].concat())),
    lie("cut off", |_, _| to_all(bytes(ALL, 2000)[..7].to_vec())),
    lie("to each neighbour by itself", |liar, _| to_each(&liar.neighbours, ALL, 2000)),
    lie("to one neighbour", |liar, _| to_each(&liar.neighbours[..1.min(liar.neighbours.len())], ALL, 2000)),
    lie("all and nothing in turn", |liar, _| all(if is_on(liar, 1, 2) { ALL } else { 0 }, 2000)),
    lie("2 s of all, 2 s of nothing", |liar, _| all(if is_on(liar, 10, 20) { ALL } else { 0 }, 2000)),
    lie("1 s in ten", |liar, _| if is_on(liar, 5, 50) { all(ALL, 400) } else { vec![] }),
    lie("a burst a second, as time-outs", |liar, _| if is_on(liar, 1, 5) { all(ALL, 250) } else { vec![] }),
    lie("its first message again and again", |liar, _| {
        let first = liar.honest.first().or_else(|| liar.heard.values().next());
        first.map_or_else(Vec::new, |first| to_all(first.clone()))
    }),
    lie("what it hears, as its own", |liar, _| liar.heard.values().cloned().flat_map(to_all).collect()),
    lie("nothing, in two names", |_, _| by(invented(2), 0, LONG)),
    lie("the largest, in two names", |_, _| by(invented(2), ALL, LONG)),
    Lie { every: Span::from_secs(1), ..lie("the largest, in 64 names", |_, _| by(invented(64), ALL, LONG)) },
    lie("the largest, in each neighbour's name", |liar, _| by(liar.neighbours.iter().copied(), ALL, 2000)),
    lie("nothing, in each neighbour's name", |liar, _| by(liar.neighbours.iter().copied(), 0, 2000)),
];

//! Drives a protocol with hostile neighbours: mutated and forged messages, invented addresses, jumps in time, packets and links that break.
//! Any bytes are a course of events; only a violated guarantee of this crate panics.
//!
//! The guarantees: nothing panics; each packet number for which a hook has returned no next hop is returned once; timers end; a message
//! costs a bounded amount of work, whatever has arrived before ([`Routing::work`]), and so does a timer.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::Time;
use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use airfair_wire::Ipv4Addr;
use airfair_wire::aodv::{self, PrefixSize, Rerr, Rrep, Rreq, Unreachable};
use airfair_wire::dsdv::{Entry, Update};
use airfair_wire::olsr::{Body, Group, Hello, LinkCode, Message, Packet, Tc, Vtime};

use crate::{Adjacency, Context, Effect, NodeSetup, Protocol, Received, Routing, Undelivered};

/// Most timers that may be due at one moment, after any jump in time.
const MOST_TIMERS: u32 = 200_000;
/// Messages that are kept to be mutated.
const CORPUS: usize = 200;

/// The most that one call may cost, by [`Routing::work`].
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// A message, beside one for each 4 of its bytes.
    pub message: u64,
    /// A timer, or a broken link.
    pub timer: u64,
}

/// The work of the dearest calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Worst {
    /// Work for a message.
    pub message: u64,
    /// Work for a timer or a broken link.
    pub timer: u64,
    /// All work.
    pub total: u64,
    /// Packets that waited at the end.
    pub waiting: usize,
}

/// The address of a node: mostly one of nine neighbours, sometimes any.
fn address(input: &mut Input<'_>) -> Ipv4Addr {
    match input.byte() % 12 {
        0..=8 => Ipv4Addr::new(10, 0, 0, 1 + input.byte() % 9),
        9 => Ipv4Addr::new(10, 0, 0, 1),
        10 => Ipv4Addr::from(input.word().to_be_bytes()),
        _ => Ipv4Addr::new(255, 255, 255, 255),
    }
}

/// Neighbours or destinations that a message lists: a few, or very many that were invented.
fn listed(input: &mut Input<'_>, most: usize) -> Vec<Ipv4Addr> {
    if input.byte() < 230 {
        return (0..input.byte() % 8).map(|_| address(input)).collect();
    }
    let (first, step) = (input.word(), u32::from(input.byte()) | 1);
    (0..input.below(most) as u32)
        .map(|i| Ipv4Addr::from(first.wrapping_add(i * step).to_be_bytes()))
        .collect()
}

/// Forges a message of each protocol.
fn forged_olsr(input: &mut Input<'_>) -> Option<Vec<u8>> {
    let mut message = |_| {
        let body = if input.flag() {
            let mut group = |_| Group { code: LinkCode(input.byte() % 16), neighbours: listed(input, 300) };
            let groups = (0..3).map(&mut group).collect();
            Body::Hello(Hello { interval: Vtime(input.byte()), willingness: input.byte() % 8, groups })
        } else {
            Body::Tc(Tc { number: input.byte().into(), neighbours: listed(input, 300) })
        };
        let validity = Vtime(if input.flag() { 0x86 } else { input.byte() });
        let sequence = u16::from_be_bytes([input.byte(), input.byte()]);
        Message { validity, originator: address(input), ttl: input.byte(), hops: 0, sequence, body }
    };
    let messages = (0..2).map(&mut message).collect();
    let packet = Packet::new(1, messages)?;
    let mut bytes = vec![0; packet.wire_len()];
    packet.encode(&mut bytes).ok().map(|_| bytes)
}

fn forged_dsdv(input: &mut Input<'_>) -> Option<Vec<u8>> {
    let destinations = listed(input, Update::MOST);
    let number = input.number() as u32;
    let mut entry = |destination| Entry { destination, hops: input.byte().into(), number };
    let entries: Vec<Entry> = destinations.into_iter().map(&mut entry).collect();
    let update = Update::new(&entries)?;
    let mut bytes = vec![0; update.wire_len()];
    update.encode(&mut bytes).ok().map(|_| bytes)
}

fn forged_aodv(input: &mut Input<'_>) -> Option<Vec<u8>> {
    let (destination, originator, number) = (address(input), address(input), input.number() as u32);
    let message = match input.byte() % 4 {
        0 => aodv::Message::Rreq(Rreq {
            join: false,
            repair: false,
            gratuitous: input.flag(),
            destination_only: input.flag(),
            hops: input.byte(),
            id: input.word(),
            destination,
            destination_number: input.flag().then_some(number),
            originator: if input.flag() { originator } else { Ipv4Addr::from(input.word().to_be_bytes()) },
            originator_number: input.byte().into(),
        }),
        1 | 2 => aodv::Message::Rrep(Rrep {
            repair: false,
            acknowledge: input.flag(),
            prefix: PrefixSize::default(),
            hops: input.byte() % 3,
            destination,
            destination_number: number,
            originator,
            lifetime_ms: input.word(),
        }),
        _ => {
            let lost = listed(input, 255).into_iter().map(|destination| Unreachable { destination, number });
            aodv::Message::Rerr(Rerr::new(input.flag(), &lost.collect::<Vec<_>>())?)
        }
    };
    let mut bytes = vec![0; message.wire_len()];
    message.encode(&mut bytes).ok().map(|_| bytes)
}

/// A node under attack, two honest neighbours that give messages to mutate, and what the attackers have seen.
struct Scene<'p> {
    protocol: &'p dyn Protocol,
    nodes: Vec<Box<dyn Routing>>,
    random: Vec<Stream>,
    corpus: Vec<Vec<u8>>,
    now: Time,
    packets: u64,
    /// Numbers of packets that wait at the node under attack.
    waiting: BTreeSet<u64>,
    worst: Worst,
}

impl Scene<'_> {
    /// Calls a hook of a node; effects are checked, and messages kept.
    fn call<R>(
        &mut self,
        which: usize,
        at: Time,
        hook: impl FnOnce(&mut dyn Routing, &mut Context<'_>) -> R,
    ) -> (R, u64) {
        let mut out = Vec::new();
        let node = &mut *self.nodes[which];
        let before = node.work();
        let result = hook(node, &mut Context { now: at, random: &mut self.random[which], out: &mut out });
        let work = node.work() - before;
        self.worst.total += work;
        for effect in out {
            match effect {
                Effect::Send { bytes, .. } if self.corpus.len() < CORPUS => self.corpus.push(bytes),
                Effect::Send { bytes, .. } => self.corpus[(self.packets % CORPUS as u64) as usize] = bytes,
                Effect::Forward { packet, .. } | Effect::Drop { packet, .. } if which == 0 => {
                    assert!(self.waiting.remove(&packet), "{packet} was returned twice, or never given");
                }
                _ => {}
            }
        }
        (result, work)
    }

    /// A packet is given to a node: unless it has left, it waits until an effect returns it, which may be one of this call.
    fn packet(
        &mut self,
        which: usize,
        hook: impl FnOnce(&mut dyn Routing, u64, &mut Context<'_>) -> Option<Adjacency>,
    ) {
        self.packets += 1;
        let (number, now) = (self.packets, self.now);
        if which == 0 {
            self.waiting.insert(number);
        }
        let (hop, _) = self.call(which, now, |node, cx| hook(node, number, cx));
        if which == 0 && hop.is_some() {
            assert!(self.waiting.remove(&number), "{number} has a next hop and was returned");
        }
    }

    fn message(&mut self, input: &mut Input<'_>) -> Vec<u8> {
        if input.flag() {
            let forged = match self.protocol.name() {
                "OLSR" => forged_olsr(input),
                "DSDV" => forged_dsdv(input),
                _ => forged_aodv(input),
            };
            if let Some(bytes) = forged {
                return bytes;
            }
        }
        let mut bytes = input.of(&self.corpus).cloned().unwrap_or_default();
        let other = input.of(&self.corpus).cloned().unwrap_or_default();
        input.mutate(&mut bytes, &other);
        bytes
    }

    fn step(&mut self, input: &mut Input<'_>, bounds: &Bounds) {
        let wait = match input.byte() % 20 {
            0 => u64::from(input.word()) * 5,
            1..=3 => u64::from(input.word()) / 4,
            4..=9 => 0,
            _ => u64::from(input.word()) / 1000,
        };
        self.now = Time(self.now.0.saturating_add(wait));
        let which = if input.byte().is_multiple_of(4) { 1 + input.below(2) } else { 0 };
        let mut timers = 0;
        while self.nodes[which].deadline() <= self.now {
            let due = self.nodes[which].deadline();
            let (_, work) = self.call(which, due, |node, cx| node.on_timer(cx));
            self.worst.timer = self.worst.timer.max(work);
            assert!(work <= bounds.timer, "a timer costs {work}");
            timers += 1;
            assert!(timers < MOST_TIMERS, "timers do not end at {}", self.now.0);
        }
        let now = self.now;
        match input.byte() % 12 {
            0 => {
                let to = address(input);
                self.packet(which, |node, packet, cx| node.originate(packet, to, cx));
            }
            1 => {
                let ends = [address(input), address(input)];
                let from = Adjacency { neighbour: address(input), interface: u32::from(input.byte() % 2) };
                self.packet(which, |node, packet, cx| node.relay(packet, ends, from, cx));
            }
            2 => {
                let hop = Adjacency { neighbour: address(input), interface: u32::from(input.byte() % 3) };
                let ends = input.flag().then(|| [address(input), address(input)]);
                let (_, work) =
                    self.call(which, now, |node, cx| node.on_undelivered(hop, Undelivered::Data(ends), cx));
                assert!(work <= bounds.timer, "a broken link costs {work}");
            }
            _ => {
                let bytes = self.message(input);
                let neighbour = if input.byte() < 250 {
                    address(input)
                } else {
                    Ipv4Addr::from(input.word().to_be_bytes())
                };
                let from = Adjacency { neighbour, interface: u32::from(input.byte() % 2) };
                let received = Received { from, ttl: input.byte(), to_all: input.flag() };
                let (_, work) = self.call(which, now, |node, cx| node.on_message(&bytes, received, cx));
                self.worst.message = self.worst.message.max(work);
                let most = bounds.message + bytes.len() as u64 / 4;
                assert!(work <= most, "a message of {} bytes costs {work}", bytes.len());
            }
        }
    }
}

/// Drives a protocol for a number of steps, or to the end of the input.
///
/// # Panics
/// A guarantee is violated.
pub fn drive(protocol: &dyn Protocol, bounds: &Bounds, input: &mut Input<'_>, steps: usize) -> Worst {
    let setup = |n| NodeSetup { address: Ipv4Addr::new(10, 0, 0, n), interfaces: 2, wires_from: Some(1) };
    let mut scene = Scene {
        protocol,
        nodes: (1..=3).map(|n| protocol.state_machine(&setup(n))).collect(),
        random: (1..=3).map(|n| Stream::new(1, &format!("{n}"), Purpose::Routing)).collect(),
        corpus: vec![vec![0; 24]],
        now: Time(1),
        packets: 0,
        waiting: BTreeSet::new(),
        worst: Worst::default(),
    };
    for _ in 0..steps {
        if input.is_empty() {
            break;
        }
        scene.step(input, bounds);
    }
    let listed: BTreeSet<u64> = scene.nodes[0].waiting().into_iter().collect();
    assert_eq!(listed, scene.waiting);
    Worst { waiting: listed.len(), ..scene.worst }
}

/// The bounds of OLSR with its default parameters: up to [`AT_ONCE`](crate::olsr::AT_ONCE) links a message may cost a whole calculation, of
/// more links only twice in a HELLO interval.
pub const OLSR: Bounds = Bounds { message: 250_000, timer: 250_000 };
/// The bounds of DSDV: a message costs what it says, a timer at most the whole table several times.
pub const DSDV: Bounds = Bounds { message: 10, timer: 100_000 };
/// The bounds of AODV: a message costs what it says; now and then the whole table is searched for what has expired.
pub const AODV: Bounds = Bounds { message: 25_000, timer: 50_000 };

/// Any bytes as a course of events for OLSR.
pub fn fuzz_olsr(data: &[u8]) {
    drive(&crate::olsr::OlsrConfig::default(), &OLSR, &mut Input::new(data), usize::MAX);
}

/// Any bytes as a course of events for DSDV.
pub fn fuzz_dsdv(data: &[u8]) {
    drive(&crate::dsdv::DsdvConfig::default(), &DSDV, &mut Input::new(data), usize::MAX);
}

/// Any bytes as a course of events for AODV.
pub fn fuzz_aodv(data: &[u8]) {
    drive(&crate::aodv::AodvConfig::default(), &AODV, &mut Input::new(data), usize::MAX);
}

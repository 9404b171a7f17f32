//! The contract of `places::Forwarder`, driven by random calls, for every scheme in the registry that has one.
//!
//! Four nodes that all may hear each other, or only those beside them in a row. What a forwarder hears is a whole header, the front of
//! one, bytes that are none, or that of a flow that nobody here has. A header that was changed on its way and still reads as one (a frame
//! check finds such frames) may say anything: then a forwarder may hand up what it likes, and the host takes of it what exists, once. All
//! other rules hold then too.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Capability, Context, DeliveryRatios, Destination, FlowId,
    ForwarderContext, ForwarderEffects, HeardBroadcast, Holding, Interface, LoneExchange, Made, Medium,
    Message, NativePacket, NodeId, Timer,
};
use airfair_schemes::{ParamValue, Params, Scheme, SchemeEntry, registry};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use proptest::prelude::*;

const NODES: usize = 4;

/// The flows: source and destination.
const FLOWS: [(usize, usize); 3] = [(0, 3), (3, 0), (1, 3)];

/// True if two nodes are side by side in a row.
const fn beside(one: usize, other: usize) -> bool {
    one.abs_diff(other) == 1
}

/// The number of no flow.
const NONE: FlowId = FlowId(u32::MAX);

/// Most packets that a forwarder takes of a flow in a case, where it takes a new batch only when one has arrived.
const MOST: u32 = 1000;

/// Damage to a broadcast's header before others hear it.
#[derive(Debug, Clone, Copy)]
enum Harm {
    None,
    /// Only so many bytes of it arrive.
    Front(usize),
    /// A byte is another one. Only in networks in which anything may be said.
    Byte(usize, u8),
}

#[derive(Debug, Clone)]
enum Operation {
    /// The host offers packets of a flow as long as there is room, at most so many.
    Offer { flow: usize, packets: u32, bytes: u32 },
    /// A node wins access. Those of the mask hear what it sends.
    Access { node: usize, mask: u8, harm: Harm },
    /// The oldest message arrives, or is lost; those of the mask overhear it.
    Mail { mask: u8, lost: bool },
    /// Time passes.
    Later { ms: u64 },
    /// A node hears bytes that are no header.
    Garbage { node: usize, bytes: Vec<u8> },
    /// A node receives bytes that are no message.
    Noise { node: usize, bytes: Vec<u8> },
    /// A node hears what was sent before, from another node. Only in networks in which anything may be said.
    Again { node: usize, index: usize, from: u32 },
}

fn operation() -> impl Strategy<Value = Operation> {
    let node = 0..NODES;
    let harm = prop_oneof![
        6 => Just(Harm::None),
        1 => (0usize..40).prop_map(Harm::Front),
        1 => (0usize..60, 1u8..=255).prop_map(|(at, change)| Harm::Byte(at, change)),
    ];
    prop_oneof![
        2 => (0..FLOWS.len(), 1u32..20, 40u32..1500)
            .prop_map(|(flow, packets, bytes)| Operation::Offer { flow, packets, bytes }),
        12 => (node.clone(), any::<u8>(), harm)
            .prop_map(|(node, mask, harm)| Operation::Access { node, mask, harm }),
        4 => (any::<u8>(), prop::bool::weighted(0.3)).prop_map(|(mask, lost)| Operation::Mail { mask, lost }),
        4 => (1u64..150).prop_map(|ms| Operation::Later { ms }),
        1 => (node.clone(), prop::collection::vec(any::<u8>(), 0..100))
            .prop_map(|(node, bytes)| Operation::Garbage { node, bytes }),
        1 => (node.clone(), prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(node, bytes)| Operation::Noise { node, bytes }),
        1 => (node, any::<prop::sample::Index>(), 0u32..6)
            .prop_map(|(node, index, from)| Operation::Again { node, index: index.index(64), from }),
    ]
}

/// A node, with its timers.
struct Node {
    agent: Box<dyn Agent>,
    random: Stream,
    timers: BTreeMap<Timer, Time>,
}

impl Node {
    /// Node `i` of a network with these delivery ratios, before it has heard anything.
    fn start(scheme: &dyn Scheme, i: u32, ratios: &DeliveryRatios) -> (Self, AgentEffects) {
        let interface = Interface::radio(50);
        let mut random = Stream::new(1, &i.to_string(), Purpose::Agent);
        let (mut agent, mut out) = (scheme.agent(&interface).unwrap(), ForwarderEffects::default());
        let others: Vec<NodeId> = ratios.nodes.iter().copied().filter(|node| node.0 != i).collect();
        let exchange = LoneExchange { rate: interface.rate, ..LoneExchange::default() };
        let setup = AgentSetup {
            node: NodeId(i),
            rate: interface.rate,
            exchange,
            neighbours: &others,
            sense_margin: None,
        };
        let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut out.agent };
        agent.on_start(&setup, &mut context);
        if scheme.wants(&interface).has(Capability::DeliveryRatios) {
            let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut out };
            agent.forwarder().unwrap().on_delivery_ratios(ratios, &mut context);
        }
        (Self { agent, random, timers: BTreeMap::new() }, out.agent)
    }

    fn room(&mut self, flow: FlowId, to: NodeId) -> u32 {
        self.agent.forwarder().unwrap().room(flow, to)
    }
}

/// The network, its packets, and what was done so far.
struct Net {
    nodes: Vec<Node>,
    now: Time,
    overheard: bool,
    /// In a row a node hears those beside it only.
    row: bool,
    /// Headers may have been changed.
    anything: bool,
    /// Of each flow: packets that were taken, with their largest size.
    taken: [(u32, u32); FLOWS.len()],
    delivered: BTreeSet<(u32, u32)>,
    /// Packets that ordinary routing has and that have not arrived.
    routed: VecDeque<(u32, u32)>,
    /// Broadcasts of each flow that its destination has heard.
    brought: [u32; FLOWS.len()],
    whole: BTreeSet<(u32, u32)>,
    /// Packets of each batch of a flow that each node has told to hold.
    held: BTreeMap<(usize, u32, u32), u16>,
    /// Messages that tell of a whole batch, and the batches of which each node has received one.
    acknowledgements: BTreeMap<Vec<u8>, (u32, u32)>,
    acknowledged: BTreeSet<(usize, u32, u32)>,
    mail: VecDeque<(usize, Message)>,
    sent: Vec<Made>,
    /// Everything that forwarders have answered.
    log: String,
}

type Checked<T = ()> = Result<T, TestCaseError>;

impl Net {
    fn new(scheme: &dyn Scheme, ratios: &[f64], row: bool, anything: bool) -> Self {
        let nodes = (0..NODES as u32).map(NodeId);
        let link = |(at, &ratio): (usize, &f64)| (at / NODES, at % NODES, ratio);
        let known = DeliveryRatios::new(nodes, ratios.iter().enumerate().map(link));
        let mut net = Self {
            nodes: Vec::new(),
            now: Time::ZERO,
            overheard: scheme.wants(&Interface::radio(50)).has(Capability::Overheard),
            row,
            anything,
            taken: Default::default(),
            delivered: BTreeSet::new(),
            routed: VecDeque::new(),
            brought: Default::default(),
            whole: BTreeSet::new(),
            held: BTreeMap::new(),
            acknowledgements: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            mail: VecDeque::new(),
            sent: Vec::new(),
            log: String::new(),
        };
        for i in 0..NODES {
            let (node, out) = Node::start(scheme, i as u32, &known);
            net.nodes.push(node);
            net.of_agent(i, out);
        }
        net
    }

    fn of_agent(&mut self, i: usize, out: AgentEffects) {
        write!(self.log, "{i} {out:?}; ").unwrap();
        // Each replaces the earlier setting.
        self.nodes[i].timers.extend(out.timers);
        self.mail.extend(out.messages.into_iter().map(|message| (i, message)));
    }

    /// Calls a hook of a forwarder and carries out its effects.
    fn call<R>(
        &mut self,
        i: usize,
        hook: impl FnOnce(&mut Node, Time, &mut ForwarderEffects) -> R,
    ) -> Checked<R> {
        let mut out = ForwarderEffects::default();
        let answer = hook(&mut self.nodes[i], self.now, &mut out);
        write!(self.log, "{:?} {:?} {:?}; ", out.delivered, out.whole, out.routed).unwrap();
        let ForwarderEffects { agent, delivered, holds, whole, routed, .. } = out;
        prop_assert!(agent.messages.len() + agent.timers.len() < 64, "one call asks for much");
        if !self.anything {
            for (FlowId(flow), number) in delivered {
                prop_assert_eq!(FLOWS[flow as usize].1, i, "a packet is for another node");
                prop_assert!(number < self.taken[flow as usize].0, "{number} was not taken");
                prop_assert!(self.delivered.insert((flow, number)), "{flow}, {number}: a second time");
            }
            for Holding { flow: FlowId(flow), batch, packets, of } in holds {
                let held = self.held.entry((i, flow, batch)).or_default();
                prop_assert!(
                    *held < packets && packets <= of,
                    "{flow}, {batch}: {held}, then {packets} of {of}"
                );
                *held = packets;
            }
            for &(FlowId(flow), batch) in &whole {
                prop_assert_eq!(FLOWS[flow as usize].1, i);
                prop_assert!(self.whole.insert((flow, batch)), "{flow}, {batch}: whole a second time");
                let told = agent.messages.iter().map(|message| (message.bytes.clone(), (flow, batch)));
                self.acknowledgements.extend(told);
            }
            for (FlowId(flow), number) in routed {
                prop_assert!(number < self.taken[flow as usize].0, "{number} was not taken");
                self.routed.push_back((flow, number));
            }
            for flow in 0..FLOWS.len() {
                let (here, brought) = (self.here(flow), self.brought[flow]);
                prop_assert!(here <= brought, "{here} packets of {flow} by {brought} broadcasts");
            }
        }
        self.of_agent(i, agent);
        Ok(answer)
    }

    /// Packets of a flow that its destination has handed up.
    fn here(&self, flow: usize) -> u32 {
        self.delivered.range((flow as u32, 0)..(flow as u32 + 1, 0)).count() as u32
    }

    fn offer(&mut self, flow: usize, packets: u32, bytes: u32) -> Checked {
        let (from, to) = FLOWS[flow];
        let (id, to) = (FlowId(flow as u32), NodeId(to as u32));
        for _ in 0..packets {
            let room = self.nodes[from].room(id, to);
            if room == 0 {
                break;
            }
            let number = self.taken[flow].0;
            let packet = NativePacket { flow: id, to, number, bytes };
            self.call(from, |node, now, out| {
                let mut context = ForwarderContext { now, random: &mut node.random, out };
                node.agent.forwarder().unwrap().on_packet(&packet, &mut context);
            })?;
            self.taken[flow] = (number + 1, self.taken[flow].1.max(bytes));
            let left = self.nodes[from].room(id, to);
            prop_assert!(left + 1 >= room, "there was room for {room}, of which one took all but {left}");
            prop_assert!(number < MOST, "it takes packets without end");
        }
        Ok(())
    }

    /// A node has won access: what it makes.
    fn access(&mut self, i: usize) -> Checked<Option<Made>> {
        let now = self.now;
        let ready = self.nodes[i].agent.forwarder().unwrap().ready(now);
        let (made, routed) = self.call(i, |node, now, out| {
            let mut context = ForwarderContext { now, random: &mut node.random, out };
            let made = node.agent.forwarder().unwrap().make(&mut context);
            (made, !context.out.routed.is_empty())
        })?;
        write!(self.log, "{i} {ready:?} {made:?}; ").unwrap();
        prop_assert_eq!(ready.is_some(), made.is_some() || routed, "ready, and nothing made, or the reverse");
        let Some(made) = made else { return Ok(None) };
        prop_assert!((1..=2000).contains(&made.header.len()), "{} bytes of header", made.header.len());
        if !self.anything {
            let at = made.flow.0 as usize;
            let known = self.taken.get(at).copied();
            prop_assert!(known.is_some_and(|known| known.0 > 0), "{:?} has sent nothing", made.flow);
            prop_assert!(made.content <= known.unwrap().1, "{} bytes", made.content);
            let ended = self.acknowledged.contains(&(i, made.flow.0, made.batch));
            prop_assert!(!ended, "{made:?}: an acknowledgement was heard");
        }
        self.sent.push(made.clone());
        Ok(Some(made))
    }

    /// The nodes that may hear a node.
    fn hearers(&self, of: usize) -> impl Iterator<Item = usize> + use<> {
        let row = self.row;
        (0..NODES).filter(move |&i| i != of && (!row || beside(i, of)))
    }

    /// A node hears a broadcast of a flow, or bytes that are none.
    fn hear(&mut self, i: usize, from: u32, (flow, header): (FlowId, &[u8]), content: u32) -> Checked {
        if FLOWS.get(flow.0 as usize).is_some_and(|&(_, to)| to == i) {
            self.brought[flow.0 as usize] += 1;
        }
        self.call(i, |node, now, out| {
            let mut context = ForwarderContext { now, random: &mut node.random, out };
            let heard = HeardBroadcast { from: NodeId(from), header, content };
            node.agent.forwarder().unwrap().on_heard(&heard, &mut context);
        })
    }

    fn receive(&mut self, i: usize, from: usize, bytes: &[u8], to_me: bool) {
        let mut out = AgentEffects::default();
        let Node { agent, random, .. } = &mut self.nodes[i];
        let mut context = AgentContext { now: self.now, random, out: &mut out };
        agent.on_message(NodeId(from as u32), bytes, to_me, &mut context);
        if let Some(&(flow, batch)) = self.acknowledgements.get(bytes) {
            self.acknowledged.insert((i, flow, batch));
        }
        self.of_agent(i, out);
    }

    /// The oldest message arrives.
    fn mail(&mut self, mask: u8, lost: bool) {
        let Some((from, Message { to, bytes, .. })) = self.mail.pop_front() else { return };
        for i in (0..NODES).filter(|&i| i != from) {
            let in_mask = mask >> i & 1 == 1;
            let to_me = match to {
                Destination::Broadcast => true,
                Destination::Node(to) | Destination::Neighbour(to) => to.0 as usize == i,
            };
            let arrives = if to_me && to != Destination::Broadcast { !lost } else { in_mask };
            if arrives && (to_me || self.overheard) {
                self.receive(i, from, &bytes, to_me);
            }
        }
    }

    /// Time passes; timers fire in their order.
    fn later(&mut self, ms: u64) -> Checked {
        let end = self.now + Span::from_millis(ms);
        let mut fired = 0;
        loop {
            let timers = self.nodes.iter().enumerate();
            let next =
                timers.flat_map(|(i, node)| node.timers.iter().map(move |(&timer, &at)| (at, i, timer)));
            let Some((at, i, timer)) = next.min().filter(|&(at, ..)| at <= end) else { break };
            self.now = self.now.max(at);
            self.nodes[i].timers.remove(&timer);
            let mut out = AgentEffects::default();
            let Node { agent, random, .. } = &mut self.nodes[i];
            agent.on_timer(timer, &mut AgentContext { now: self.now, random, out: &mut out });
            self.of_agent(i, out);
            fired += 1;
            prop_assert!(fired < 10_000, "a timer fires without end");
        }
        self.now = end;
        Ok(())
    }

    fn carry_out(&mut self, operation: &Operation) -> Checked {
        match operation {
            &Operation::Offer { flow, packets, bytes } => self.offer(flow, packets, bytes)?,
            &Operation::Access { node, mask, harm } => {
                let Some(made) = self.access(node)? else { return Ok(()) };
                let mut header = made.header;
                match harm {
                    Harm::Front(bytes) => header.truncate(bytes),
                    Harm::Byte(at, change) if self.anything => {
                        let at = at % header.len();
                        header[at] ^= change;
                    }
                    Harm::None | Harm::Byte(..) => {}
                }
                for i in self.hearers(node).filter(|&i| mask >> i & 1 == 1) {
                    self.hear(i, node as u32, (made.flow, &header), made.content)?;
                }
            }
            &Operation::Mail { mask, lost } => self.mail(mask, lost),
            &Operation::Later { ms } => self.later(ms)?,
            Operation::Garbage { node, bytes } => {
                // No version of a header begins with this byte; where anything may be said, the bytes are what they are.
                let first = if self.anything { None } else { Some(0xff) };
                let bytes: Vec<u8> = first.into_iter().chain(bytes.iter().copied()).collect();
                self.hear(*node, 9, (NONE, &bytes), 100)?;
            }
            Operation::Noise { node, bytes } => {
                let first = if self.anything { None } else { Some(0xff) };
                let bytes: Vec<u8> = first.into_iter().chain(bytes.iter().copied()).collect();
                self.receive(*node, (*node + 1) % NODES, &bytes, true);
            }
            &Operation::Again { node, index, from } => {
                if let Some(made) = self.sent.get(index).filter(|_| self.anything).cloned() {
                    self.hear(node, from, (made.flow, &made.header), made.content)?;
                }
            }
        }
        Ok(())
    }

    /// A packet arrives by ordinary routing. False if none was on its way.
    fn arrive(&mut self) -> Checked<bool> {
        let Some((flow, number)) = self.routed.pop_front() else { return Ok(false) };
        // It comes whether or not the broadcasts of its flow have brought as much.
        self.brought[flow as usize] += 1;
        self.call(FLOWS[flow as usize].1, |node, now, out| {
            let mut context = ForwarderContext { now, random: &mut node.random, out };
            node.agent.forwarder().unwrap().on_routed(FlowId(flow), number, &mut context);
        })?;
        Ok(true)
    }

    /// On an air without losses everything arrives that was taken.
    fn finish(&mut self) -> Checked {
        let taken: u32 = self.taken.iter().map(|taken| taken.0).sum();
        for _ in 0..2000 {
            if self.delivered.len() == taken as usize {
                return Ok(());
            }
            for i in 0..NODES {
                if let Some(made) = self.access(i)? {
                    for other in self.hearers(i) {
                        self.hear(other, i as u32, (made.flow, &made.header), made.content)?;
                    }
                }
            }
            while !self.mail.is_empty() {
                self.mail(u8::MAX, false);
            }
            while self.arrive()? {}
            self.later(10)?;
        }
        prop_assert!(false, "{} of {taken} have arrived in 20 s: {:?}", self.delivered.len(), self.taken);
        Ok(())
    }
}

/// The schemes that have a forwarder.
fn schemes() -> impl Iterator<Item = &'static SchemeEntry> {
    registry().iter().filter(|entry| entry.places.contains(&"forwarder"))
}

/// With batches of this size, if the scheme has such.
fn with_batches(entry: &SchemeEntry, natives: u64) -> Params {
    let has = entry.params.iter().any(|param| param.name == "batch");
    Params(has.then(|| ("batch".to_string(), ParamValue::Integer(natives))).into_iter().collect())
}

fn run(
    scheme: &dyn Scheme,
    ratios: &[f64],
    [row, anything]: [bool; 2],
    operations: &[Operation],
) -> Checked<String> {
    let mut net = Net::new(scheme, ratios, row, anything);
    net.offer(0, 5, 1000)?;
    for operation in operations {
        net.carry_out(operation)?;
    }
    if !anything {
        net.finish()?;
    }
    Ok(net.log)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Rooms and answers agree, nothing is made after the acknowledgement of its batch was heard, each packet arrives once and in the end,
    /// and the same calls have the same answers.
    #[test]
    fn every_forwarder_keeps_the_contract(
        natives in 1u64..6,
        ratios in prop::collection::vec(0.2f64..=1.0, NODES * NODES),
        row in any::<bool>(),
        anything in any::<bool>(),
        operations in prop::collection::vec(operation(), 0..120),
    ) {
        let ratios: Vec<f64> = (0..NODES * NODES)
            .map(|i| (i / NODES, i % NODES, ratios[i]))
            .map(|(from, to, ratio)| match row {
                // As the air is in the end: where ratios are too small, forwarders earn too much, and DiffQ starves a flow.
                true => f64::from(beside(from, to)),
                false if from == to => 0.0,
                false => ratio,
            })
            .collect();
        for entry in schemes() {
            let scheme = (entry.build)(&with_batches(entry, natives)).expect("these are valid");
            let of = |error: TestCaseError| TestCaseError::fail(format!("{}: {error}", entry.name));
            let once = run(&*scheme, &ratios, [row, anything], &operations).map_err(of)?;
            let again = run(&*scheme, &ratios, [row, anything], &operations).map_err(of)?;
            prop_assert!(once == again, "{}: the same calls have other answers", entry.name);
        }
    }
}

/// A forwarder that hears nothing takes packets of a flow until there is no room, and there is room for other flows.
#[test]
fn room_ends() {
    for entry in schemes() {
        let scheme = (entry.build)(&Params::default()).expect("defaults are valid");
        let ratios: Vec<f64> = (0..NODES * NODES).map(|i| f64::from(i / NODES != i % NODES)).collect();
        let mut net = Net::new(&*scheme, &ratios, false, false);
        for flow in [0, 2] {
            net.offer(flow, MOST, 1000).unwrap();
            net.later(1000).unwrap();
            net.offer(flow, MOST, 1000).unwrap();
            assert!((1..200).contains(&net.taken[flow].0), "{}: {:?}", entry.name, net.taken);
        }
    }
}

/// Three nodes in a row, of which the ends hear each other now and then.
fn row(nodes: [u32; 3]) -> DeliveryRatios {
    let [near, far] = [0.6, 0.3];
    let links = [(0, 1, near), (0, 2, far), (1, 0, near), (1, 2, near), (2, 0, far), (2, 1, near)];
    DeliveryRatios::new(nodes.map(NodeId), links)
}

/// The first six headers of a batch of four packets from another node to node 1, or past it to node 2.
fn headers(scheme: &dyn Scheme, stranger: u32) -> Vec<Vec<u8>> {
    let (mut node, start) = Node::start(scheme, stranger, &row([stranger, 1, 2]));
    let Node { agent, random, .. } = &mut node;
    let mut out = ForwarderEffects { agent: start, ..ForwarderEffects::default() };
    for number in 0..4 {
        let mut context = ForwarderContext { now: Time::ZERO, random, out: &mut out };
        let to = NodeId(1 + stranger % 2);
        let packet = NativePacket { flow: FlowId(stranger), to, number, bytes: 1000 };
        agent.forwarder().unwrap().on_packet(&packet, &mut context);
    }
    let mut headers = Vec::new();
    for now in (0..100).map(|step| Time::ZERO + Span::from_millis(10 * step)) {
        // A rate may have to grant what is sent.
        for (timer, _) in std::mem::take(&mut out.agent.timers) {
            agent.on_timer(timer, &mut AgentContext { now, random, out: &mut out.agent });
        }
        let made = agent.forwarder().unwrap().make(&mut ForwarderContext { now, random, out: &mut out });
        headers.extend(made.map(|made| made.header));
    }
    headers.truncate(6);
    headers
}

/// Broadcasts of thousands of flows that a node has never heard of, for it and for others: what it keeps of them is bounded.
#[test]
fn what_strangers_leave_is_bounded() {
    const STRANGERS: u32 = 1500;
    for entry in schemes() {
        let limits = [("batch", 4), ("flows", 16)]
            .into_iter()
            .filter(|(name, _)| entry.params.iter().any(|param| param.name == *name))
            .map(|(name, value)| (name.to_string(), ParamValue::Integer(value)));
        let scheme = (entry.build)(&Params(limits.collect())).expect("these are valid");
        let (mut node, _) = Node::start(&*scheme, 1, &row([0, 1, 2]));
        let (mut now, mut heard) = (Time::ZERO, 0);
        let mut kept = |strangers: std::ops::Range<u32>| {
            let said =
                |stranger| headers(&*scheme, stranger).into_iter().map(move |header| (stranger, header));
            let said: Vec<(u32, Vec<u8>)> = strangers.flat_map(said).collect();
            heard += said.len();
            let memory = allocation_counter::measure(|| {
                for (from, header) in &said {
                    now += Span::from_millis(1);
                    let Node { agent, random, .. } = &mut node;
                    let mut out = ForwarderEffects::default();
                    let mut context = ForwarderContext { now, random, out: &mut out };
                    let heard = HeardBroadcast { from: NodeId(*from), header, content: 1000 };
                    agent.forwarder().unwrap().on_heard(&heard, &mut context);
                }
            });
            memory.bytes_current
        };
        let (first, more) = (kept(100..100 + STRANGERS), kept(100 + STRANGERS..100 + 2 * STRANGERS));
        assert!(heard as u32 > STRANGERS, "{}: strangers have sent {heard}", entry.name);
        assert!((1..200_000).contains(&first), "{}: {first} bytes", entry.name);
        assert!(more < 10_000, "{}: {more} bytes more for as many again", entry.name);
    }
}

/// The table of schemes says who has one: radios have, wires have not.
#[test]
fn forwarders_are_parts_of_agents_at_radios() {
    assert!(schemes().count() >= 2, "MORE, with DiffQ and without");
    for entry in schemes() {
        assert!(entry.places.contains(&"agent"), "{}", entry.name);
        let scheme = (entry.build)(&Params::default()).expect("defaults are valid");
        for interface in Interface::all_kinds() {
            let forwards = scheme.agent(&interface).is_some_and(|mut agent| agent.forwarder().is_some());
            let radio = interface.medium == Medium::Radio;
            assert_eq!(forwards, radio, "{}", entry.name);
        }
    }
    for entry in registry().iter().filter(|entry| !entry.places.contains(&"forwarder")) {
        let scheme = (entry.build)(&Params::default()).expect("defaults are valid");
        let agent = scheme.agent(&Interface::radio(50));
        assert!(agent.is_none_or(|mut agent| agent.forwarder().is_none()), "{}", entry.name);
    }
}

/// Nodes 0 and 3 are destinations of each other's flows and forward a packet besides. If packets went ahead of maps, neither would tell
/// what it has, and both would repeat their packets for ever.
#[test]
fn maps_are_not_kept_back_by_packets() {
    let mut ratios = [0.2; NODES * NODES];
    ratios[3] = 0.9824503811363695;
    ratios[4] = 0.8957211984231168;
    ratios[12] = 0.9258727775780174;
    let ratios: Vec<f64> =
        (0..NODES * NODES).map(|i| if i / NODES == i % NODES { 0.0 } else { ratios[i] }).collect();
    let access = |node, mask| Operation::Access { node, mask, harm: Harm::None };
    let operations = [
        Operation::Offer { flow: 1, packets: 2, bytes: 40 },
        Operation::Offer { flow: 2, packets: 1, bytes: 40 },
        access(0, 0),
        access(0, 0),
        Operation::Later { ms: 35 },
        access(3, 89),
        Operation::Later { ms: 65 },
        access(0, 0),
        access(0, 8),
        access(0, 88),
    ];
    let entry = schemes().find(|entry| entry.name == "diffq-exor").unwrap();
    let scheme = (entry.build)(&with_batches(entry, 2)).unwrap();
    run(&*scheme, &ratios, [false, false], &operations).unwrap();
}

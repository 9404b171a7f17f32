//! Drives what reads bytes of others (agents, forwarders, controllers, a queue with headers, both ends of a flow over UDP) with forged and
//! mutated messages. Any bytes are a course of events; only a violated guarantee of this crate panics.
//!
//! The guarantees: nothing panics; a call has a bounded number of effects; a queue returns each packet once; no gauge is infinite (NaN:
//! there is no value now). What a call costs is counted by who drives: its allocations, and
//! [`Controller::work`].

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::c3l::{
    Alive, Allocation, AllocationHead, FlowReport, Hello, LinkReport, Message as C3lMessage, Neighbour,
    Report, ReportHead, Share, Word,
};
use airfair_wire::nred::Ncn;

use crate::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Airtime, Arrived, Context, Controller, ControllerContext,
    ControllerEffects, ControllerSetup, DeliveryRatios, Ecn, Enqueued, FlowId, FlowSample, FlowSetup,
    ForwarderContext, ForwarderEffects, Header, Heard, HeardBroadcast, Interface, LinkSample, LoneExchange,
    NativePacket, NodeId, NodeSample, Packet, PacketClass, PacketId, Queue, QueueEffects, QueueView,
    ReceiverEffects, SourceEffects, Timer, UdpEnds,
};
use crate::{Params, Scheme, find};

/// Nodes of a scene: 1 is under attack, 2 is honest, any may be forged.
const NODES: u32 = 9;
/// Messages that are kept to be mutated.
const CORPUS: usize = 200;
/// Most effects of a kind that one call may have.
const MOST_EFFECTS: usize = 512;

/// A part of a scheme under attack. Each step is one event.
pub trait Target {
    /// The next event, chosen by the input.
    fn step(&mut self, input: &mut Input<'_>);

    /// Entries looked at so far, if the part counts them.
    fn work(&self) -> u64 {
        0
    }
}

/// Drives a part of a scheme to the end of the input.
pub fn run(target: &mut dyn Target, data: &[u8]) {
    let mut input = Input::new(data);
    while !input.is_empty() {
        target.step(&mut input);
    }
}

/// The scheme of this name with its defaults.
///
/// # Panics
/// There is none.
#[must_use]
pub fn scheme(name: &str) -> Box<dyn Scheme> {
    let entry = find(name).expect("a scheme of the registry");
    (entry.build)(&Params::default()).expect("the defaults are right")
}

/// A node: mostly one of the scene, sometimes any.
fn node(input: &mut Input<'_>) -> u32 {
    if input.byte() < 220 { 1 + u32::from(input.byte()) % NODES } else { input.word() }
}

/// Time passes: mostly little.
fn wait(input: &mut Input<'_>) -> Span {
    Span(match input.byte() % 16 {
        0 => u64::from(input.word()) * 4,
        1..=4 => u64::from(input.word()) / 4,
        5..=8 => 0,
        _ => u64::from(input.word()) / 1000,
    })
}

/// A forged message: of C3L, or an NCN.
fn forged(input: &mut Input<'_>) -> Vec<u8> {
    let (from, round) = (node(input), u16::from(input.byte()));
    let many = if input.byte() < 240 { 8 } else { 255 };
    let message = match input.byte() % 6 {
        0 => {
            let alive = |input: &mut Input<'_>| Alive {
                controller: node(input),
                freshness: input.word(),
                hops: input.byte(),
            };
            let controllers: Vec<Alive> = (0..input.byte() % 9).map(|_| alive(input)).collect();
            C3lMessage::Hello(Hello::new(input.flag(), round, from, controllers.into_iter()))
        }
        1 => C3lMessage::Word(Word { controller: from, freshness: input.word() }),
        2 => {
            let head = AllocationHead {
                controller: from,
                node: node(input),
                round,
                version: input.byte().into(),
                valid_ms: input.word(),
            };
            let count = input.below(many);
            let shares: Vec<Share> =
                (0..count).map(|_| Share { next_hop: node(input), share: input.word() }).collect();
            let mut parts = Allocation::parts(head, &shares);
            let at = input.below(parts.len());
            C3lMessage::Allocation(parts.swap_remove(at))
        }
        3 | 4 => {
            let counts = [(); 3].map(|()| input.below(many));
            let links: Vec<LinkReport> = (0..counts[0])
                .map(|_| LinkReport {
                    next_hop: node(input),
                    capacity: input.word(),
                    used: input.word(),
                    transmissions: input.byte().into(),
                    overloaded: input.flag(),
                })
                .collect();
            let flows: Vec<FlowReport> = (0..counts[1])
                .map(|_| FlowReport {
                    flow: node(input),
                    next_hop: node(input),
                    rate: input.word(),
                    demand: if input.flag() { u32::MAX } else { input.word() },
                })
                .collect();
            let heard: Vec<Neighbour> = (0..counts[2])
                .map(|_| Neighbour { node: node(input), hellos: input.byte(), probes: input.byte() })
                .collect();
            let head = ReportHead { node: from, round, version: input.byte().into() };
            let mut parts = Report::parts(head, &links, &flows, input.flag().then_some(&heard[..]));
            let at = input.below(parts.len());
            C3lMessage::Report(parts.swap_remove(at))
        }
        _ => {
            let ncn = Ncn { normalized: input.word(), lifetime_ms: input.word() as u16 };
            let mut bytes = vec![0; Ncn::wire_len()];
            return ncn.encode(&mut bytes).map_or_else(|_| Vec::new(), |_| bytes);
        }
    };
    let mut bytes = vec![0; message.wire_len()];
    message.encode(&mut bytes).map_or_else(|_| Vec::new(), |_| bytes)
}

/// Messages that have been seen.
#[derive(Default)]
struct Corpus {
    messages: Vec<Vec<u8>>,
    next: usize,
}

impl Corpus {
    fn add(&mut self, bytes: Vec<u8>) {
        if self.messages.len() < CORPUS {
            self.messages.push(bytes);
        } else {
            self.messages[self.next % CORPUS] = bytes;
            self.next += 1;
        }
    }

    fn draw(&self, input: &mut Input<'_>) -> Vec<u8> {
        let mut bytes = input.of(&self.messages).cloned().unwrap_or_default();
        let other = input.of(&self.messages).cloned().unwrap_or_default();
        input.mutate(&mut bytes, &other);
        bytes
    }
}

/// Timers that have been set.
#[derive(Default)]
struct Timers(BTreeMap<u16, Time>);

impl Timers {
    fn set(&mut self, timers: &[(Timer, Time)]) {
        assert!(timers.len() <= MOST_EFFECTS, "{} timers at once", timers.len());
        self.0.extend(timers.iter().map(|&(timer, at)| (timer.0, at)));
    }

    /// A timer that is due, with its time.
    fn take_due(&mut self, now: Time) -> Option<(Timer, Time)> {
        let (&timer, &at) =
            self.0.iter().filter(|(_, at)| **at <= now).min_by_key(|&(timer, at)| (*at, *timer))?;
        self.0.remove(&timer);
        Some((Timer(timer), at))
    }
}

fn check(gauges: &[(&'static str, f64)]) {
    assert!(gauges.iter().all(|(_, value)| !value.is_infinite()), "{gauges:?}");
}

/// Agents of two nodes; the second one is honest, and gives messages to mutate. Those of MORE and ExOR are forwarders as well.
pub struct Agents {
    agents: [Box<dyn Agent>; 2],
    random: [Stream; 2],
    timers: [Timers; 2],
    corpus: Corpus,
    /// Headers of forwarders' broadcasts.
    headers: Corpus,
    now: Time,
    next: u32,
}

impl Agents {
    /// The agents of a scheme; `None` if it has none.
    #[must_use]
    pub fn new(scheme: &dyn Scheme) -> Option<Self> {
        let radio = Interface::radio(50);
        let mut agents = Self {
            agents: [scheme.agent(&radio)?, scheme.agent(&radio)?],
            random: ["1", "2"].map(|name| Stream::new(1, name, Purpose::Agent)),
            timers: Default::default(),
            corpus: Corpus::default(),
            headers: Corpus::default(),
            now: Time(1),
            next: 0,
        };
        let names: Vec<NodeId> = (1..=NODES).map(NodeId).collect();
        let ratios = DeliveryRatios::new(
            names.iter().copied(),
            (0..9).flat_map(|a| (0..9).map(move |b| (a, b, if a + b == 3 { 0.0 } else { 0.5 }))),
        );
        for which in 0..2 {
            let setup = AgentSetup {
                node: NodeId(1 + which as u32),
                rate: Rate(11_000_000),
                exchange: LoneExchange { rate: Rate(11_000_000), ..LoneExchange::default() },
                neighbours: &names[2..],
            };
            agents.call(which, |agent, context| agent.on_start(&setup, context));
            agents.forward(which, |forwarder, context| forwarder.on_delivery_ratios(&ratios, context));
        }
        Some(agents)
    }

    fn call(&mut self, which: usize, hook: impl FnOnce(&mut dyn Agent, &mut AgentContext<'_>)) {
        let mut out = AgentEffects::default();
        let mut context = Context { now: self.now, random: &mut self.random[which], out: &mut out };
        hook(&mut *self.agents[which], &mut context);
        self.apply(which, out);
    }

    fn forward<R>(
        &mut self,
        which: usize,
        hook: impl FnOnce(&mut dyn crate::places::Forwarder, &mut ForwarderContext<'_>) -> R,
    ) -> Option<R> {
        let mut out = ForwarderEffects::default();
        let forwarder = self.agents[which].forwarder()?;
        let mut context = Context { now: self.now, random: &mut self.random[which], out: &mut out };
        let result = hook(forwarder, &mut context);
        for count in [out.delivered.len(), out.holds.len(), out.whole.len(), out.routed.len()] {
            assert!(count <= MOST_EFFECTS, "{count} effects at once");
        }
        let once: BTreeSet<(FlowId, u32)> = out.delivered.iter().copied().collect();
        assert_eq!(once.len(), out.delivered.len(), "a packet was handed up twice");
        self.apply(which, out.agent);
        Some(result)
    }

    fn apply(&mut self, which: usize, out: AgentEffects) {
        assert!(out.messages.len() <= MOST_EFFECTS && out.settings.len() <= MOST_EFFECTS);
        self.timers[which].set(&out.timers);
        out.messages.into_iter().for_each(|message| self.corpus.add(message.bytes));
        check(&self.agents[which].gauges());
    }

    fn sample(&mut self, which: usize, input: &mut Input<'_>) {
        let link = |input: &mut Input<'_>| LinkSample {
            waiting: input.byte().into(),
            arrived: input.byte().into(),
            sent: input.byte().into(),
            attempts: input.number() as u32,
            given_up: input.byte().into(),
            bytes: input.number() >> 8,
            ..LinkSample::new(NodeId(node(input)))
        };
        let mut links: Vec<LinkSample> = (0..input.byte() % 6).map(|_| link(input)).collect();
        links.sort_by_key(|link| link.neighbour);
        links.dedup_by_key(|link| link.neighbour);
        let flow = |input: &mut Input<'_>| FlowSample {
            flow: FlowId(node(input)),
            from: NodeId(node(input)),
            to: NodeId(node(input)),
            neighbour: NodeId(node(input)),
            packets: input.byte().into(),
            bytes: input.number() >> 8,
            stated: input.flag().then(|| Rate(input.number() >> 8)),
        };
        let mut flows: Vec<FlowSample> = (0..input.byte() % 6).map(|_| flow(input)).collect();
        flows.sort_by_key(|flow| flow.flow);
        let part = |input: &mut Input<'_>| Span::from_micros(u64::from(input.byte()) * 100);
        let airtime = Airtime {
            transmit: part(input),
            receive: part(input),
            busy: part(input),
            nav: part(input),
            idle: part(input),
        };
        let sum = [airtime.transmit, airtime.receive, airtime.busy, airtime.nav, airtime.idle];
        let sample = NodeSample {
            interval: Span(sum.iter().map(|span| span.0).sum()),
            airtime,
            retries: input.byte().into(),
            traffic: input.byte().into(),
            set_up: input.byte().into(),
            queue: QueueView { packets: input.byte().into(), bytes: 1000, limit_packets: 50 },
            links: &links,
            flows: &flows,
            ..NodeSample::default()
        };
        self.call(which, |agent, context| agent.on_sample(&sample, context));
    }
}

impl Target for Agents {
    fn step(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(wait(input));
        let which = usize::from(input.byte().is_multiple_of(4));
        // Each timer once: some set themselves again for the present moment.
        for _ in 0..8 {
            let Some((timer, _)) = self.timers[which].take_due(self.now) else { break };
            self.call(which, |agent, context| agent.on_timer(timer, context));
        }
        match input.byte() % 16 {
            0 => self.sample(which, input),
            1 => {
                let here = input.flag();
                self.call(which, |agent, context| agent.on_controller(here, context));
            }
            2 => {
                let mut nodes: Vec<NodeId> = (0..input.byte() % 9).map(|_| NodeId(node(input))).collect();
                nodes.sort_unstable();
                nodes.dedup();
                self.call(which, |agent, context| agent.on_neighbours(&nodes, context));
            }
            3 | 4 => {
                let (flow, to) =
                    (FlowId(1 + u32::from(input.byte() % 3)), NodeId(1 + u32::from(input.byte()) % NODES));
                self.next += 1;
                let packet = NativePacket { flow, to, number: self.next, bytes: 1000 };
                self.forward(which, |forwarder, context| {
                    if to.0 != 1 + which as u32 && forwarder.room(flow, to) > 0 {
                        forwarder.on_packet(&packet, context);
                    }
                });
            }
            5 | 6 => {
                let now = self.now;
                let made = self.forward(which, |forwarder, context| {
                    forwarder.ready(now)?;
                    forwarder.make(context)
                });
                if let Some(made) = made.flatten() {
                    self.headers.add(made.header);
                }
            }
            7..=10 => {
                let header = self.headers.draw(input);
                let heard = HeardBroadcast {
                    from: NodeId(node(input)),
                    header: &header,
                    content: input.number() as u32,
                };
                self.forward(which, |forwarder, context| forwarder.on_heard(&heard, context));
            }
            _ => {
                let bytes = if input.flag() { forged(input) } else { self.corpus.draw(input) };
                let (from, to_me) = (NodeId(node(input)), input.flag());
                self.call(which, |agent, context| agent.on_message(from, &bytes, to_me, context));
            }
        }
    }
}

/// A controller, with agents that report to it and attackers that forge reports.
pub struct Controllers {
    controller: Box<dyn Controller>,
    random: Stream,
    timers: Timers,
    corpus: Corpus,
    now: Time,
}

impl Controllers {
    /// The controller of a scheme; `None` if it has none.
    #[must_use]
    pub fn new(scheme: &dyn Scheme) -> Option<Self> {
        let controller = scheme.controller()?;
        let random = Stream::new(1, "controller", Purpose::Controller);
        let (timers, corpus) = (Timers::default(), Corpus::default());
        let mut all = Self { controller, random, timers, corpus, now: Time(1) };
        let setup = ControllerSetup { node: NodeId(1), neighbours: &[NodeId(2), NodeId(3)] };
        all.call(|controller, context| controller.on_start(&setup, context));
        Some(all)
    }

    fn call(&mut self, hook: impl FnOnce(&mut dyn Controller, &mut ControllerContext<'_>)) {
        let mut out = ControllerEffects::default();
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut out };
        hook(&mut *self.controller, &mut context);
        self.timers.set(&out.timers);
        out.messages.into_iter().for_each(|message| self.corpus.add(message.bytes));
    }
}

impl Target for Controllers {
    fn step(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(wait(input));
        while let Some((timer, _)) = self.timers.take_due(self.now) {
            self.call(|controller, context| controller.on_timer(timer, context));
            check(&self.controller.gauges());
        }
        let bytes = if input.byte() < 160 { forged(input) } else { self.corpus.draw(input) };
        // The node that the report names, since others are ignored.
        let named = bytes.get(4..8).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes);
        let from = NodeId(if input.byte() < 240 { named } else { node(input) });
        self.call(|controller, context| controller.on_message(from, &bytes, context));
        self.corpus.add(bytes);
    }

    fn work(&self) -> u64 {
        self.controller.work()
    }
}

/// A queue at a radio, labelled packets, and frames of neighbours with any headers.
pub struct Queues {
    queue: Box<dyn Queue>,
    random: Stream,
    now: Time,
    next: u32,
    stored: BTreeSet<PacketId>,
    /// Packets that the radio holds.
    left: Vec<PacketId>,
}

impl Queues {
    /// The queue of a scheme.
    #[must_use]
    pub fn new(scheme: &dyn Scheme) -> Self {
        Self {
            queue: scheme.queue(&Interface::radio(50)),
            random: Stream::new(1, "queue", Purpose::Queue),
            now: Time(1),
            next: 0,
            stored: BTreeSet::new(),
            left: Vec::new(),
        }
    }

    fn call<R>(&mut self, hook: impl FnOnce(&mut dyn Queue, &mut crate::places::QueueContext<'_>) -> R) -> R {
        let mut out = QueueEffects::default();
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut out };
        let result = hook(&mut *self.queue, &mut context);
        for (packet, _) in out.dropped {
            assert!(self.stored.remove(&packet), "{packet:?} was dropped twice, or never stored");
        }
        result
    }
}

impl Target for Queues {
    fn step(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(wait(input));
        match input.byte() % 12 {
            0..=2 => {
                self.next += 1;
                let packet = Packet {
                    id: PacketId(self.next),
                    flow: FlowId(input.byte().into()),
                    destination: NodeId(node(input)),
                    next_hop: NodeId(1 + u32::from(input.byte()) % NODES),
                    bytes: 40 + u32::from(input.byte()) * 5,
                    class: if input.flag() { PacketClass::Data } else { PacketClass::Ack },
                    ecn: Ecn::Ect,
                    labelled: input.byte() < 200,
                    enqueued: self.now,
                };
                self.stored.insert(packet.id);
                match self.call(|queue, context| queue.enqueue(packet, context)) {
                    Enqueued::Stored => {}
                    Enqueued::Refused(_) => assert!(self.stored.remove(&packet.id)),
                    Enqueued::Displaced(other, _) => assert!(self.stored.remove(&other), "{other:?}"),
                }
            }
            3 | 4 => {
                let head = self.call(|queue, context| queue.peek(context));
                // What is passed over is not named any more, whether or not there is another one.
                let passes = head.is_some() && input.flag();
                let named = if passes { self.call(|queue, context| queue.pass_over(context)) } else { head };
                let packet = self.queue.commit();
                if let (Some(packet), Some(named)) = (packet, named) {
                    assert_eq!(packet, named.packet);
                }
                assert!(packet.is_some() || named.is_none(), "{named:?} does not leave");
                if let Some(packet) = packet {
                    assert!(self.stored.remove(&packet.id), "{packet:?} left twice");
                    let mut header = Header::default();
                    self.queue.stamp(&packet, &mut header, self.now);
                    self.left.push(packet.id);
                }
            }
            5 => {
                let at = input.below(self.left.len());
                if at < self.left.len() {
                    let packet = self.left.swap_remove(at);
                    self.queue.on_finished(packet);
                }
            }
            6 => {
                let hops: Vec<u32> = (0..16).map(|_| u32::from(input.byte()) % NODES).collect();
                let mut hop = |to: NodeId| Some(hops[to.0 as usize % 16]).filter(|&hop| hop > 0).map(NodeId);
                self.queue.on_routes(&mut hop);
            }
            7 => {
                let to = NodeId(node(input));
                if let Some(packet) = self.queue.withdraw(to) {
                    assert!(self.stored.remove(&packet.id));
                }
            }
            _ => {
                let bytes: Vec<u8> = (0..16).map(|_| input.byte()).collect();
                let decoded = self.queue.header().and_then(|kind| (kind.decode)(&bytes));
                let any =
                    Header { supported: 1, unsupported: 0, fields: [(); 4].map(|()| input.number() as u32) };
                let header = decoded.unwrap_or(any);
                let heard =
                    Heard { from: NodeId(node(input)), destination: NodeId(node(input)), header: &header };
                self.queue.on_heard(&heard, self.now);
                assert!(self.queue.wakes_at(self.now).is_none_or(|at| at > self.now));
            }
        }
        assert_eq!(self.queue.view().packets as usize, self.stored.len());
        check(&self.queue.gauges());
    }
}

/// Both ends of a flow over UDP: any data at the receiver, any reports at the source.
pub struct Ends {
    ends: UdpEnds,
    random: Stream,
    timers: [Timers; 2],
    now: Time,
    headers: Vec<Header>,
}

impl Ends {
    /// The ends of a scheme; `None` if it has none.
    #[must_use]
    pub fn new(scheme: &dyn Scheme) -> Option<Self> {
        let mut all = Self {
            ends: scheme.udp()?,
            random: Stream::new(1, "ends", Purpose::Source),
            timers: Default::default(),
            now: Time(1),
            headers: vec![Header::default()],
        };
        let setup = FlowSetup {
            mss: Bytes(1000),
            headers: Bytes(60),
            initial_window: Bytes(4000),
            window_limit: Bytes(u64::MAX),
            rtt: None,
            syn_lost: false,
        };
        all.source(|source, context| source.on_start(&setup, context));
        Some(all)
    }

    fn source(
        &mut self,
        hook: impl FnOnce(&mut dyn crate::places::Source, &mut crate::places::SourceContext<'_>),
    ) {
        let mut out = SourceEffects::default();
        hook(&mut *self.ends.source, &mut Context { now: self.now, random: &mut self.random, out: &mut out });
        self.timers[0].set(&out.timers);
    }

    fn receiver(
        &mut self,
        hook: impl FnOnce(&mut dyn crate::places::Receiver, &mut crate::places::ReceiverContext<'_>),
    ) {
        let Some(receiver) = &mut self.ends.receiver else { return };
        let mut out = ReceiverEffects::default();
        hook(&mut **receiver, &mut Context { now: self.now, random: &mut self.random, out: &mut out });
        let loss = receiver.loss_events().unwrap_or_default();
        assert!((0.0..=1.0).contains(&loss.rate), "{loss:?}");
        assert!(out.reports.len() <= MOST_EFFECTS);
        self.timers[1].set(&out.timers);
        out.reports.into_iter().for_each(|header| self.keep(header));
    }

    fn keep(&mut self, header: Header) {
        if self.headers.len() >= 64 {
            self.headers.remove(0);
        }
        self.headers.push(header);
    }
}

impl Target for Ends {
    fn step(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(wait(input));
        for which in 0..2 {
            for _ in 0..8 {
                let Some((timer, _)) = self.timers[which].take_due(self.now) else { break };
                if which == 0 {
                    self.source(|source, context| source.on_timer(timer, context));
                } else {
                    self.receiver(|receiver, context| receiver.on_timer(timer, context));
                }
            }
        }
        let mut header = *input.of(&self.headers).unwrap_or(&Header::default());
        for field in &mut header.fields {
            *field = input.near(u64::from(*field)) as u32;
        }
        match input.byte() % 4 {
            0 => {
                let mut sent = Header::default();
                self.ends.source.stamp(&mut sent, self.now);
                self.keep(sent);
            }
            1 => self.source(|source, context| source.on_feedback(&header, context)),
            _ => {
                let ecn = if input.byte() < 230 { Ecn::Ect } else { Ecn::Ce };
                let data = Arrived { bytes: Bytes(input.number() >> 8), ecn, header };
                self.receiver(|receiver, context| receiver.on_data(&data, context));
            }
        }
        let allowance = self.ends.source.allowance(self.now);
        assert!(allowance.rate.is_none_or(|rate| rate.0 < 1 << 62), "{allowance:?}");
    }
}

/// Any bytes as a course of events for a scheme's agents, NRED's NCNs and MORE's and ExOR's broadcasts among them.
pub fn fuzz_agents(name: &str, data: &[u8]) {
    Agents::new(&*scheme(name)).iter_mut().for_each(|agents| run(agents, data));
}

/// Any bytes as a course of events for C3L's controller.
pub fn fuzz_controller(data: &[u8]) {
    Controllers::new(&*scheme("c3l")).iter_mut().for_each(|controller| run(controller, data));
}

/// Any bytes as a course of events for DiffQ's queue.
pub fn fuzz_queue(data: &[u8]) {
    run(&mut Queues::new(&*scheme("diffq")), data);
}

/// Any bytes as a course of events for TFRC's ends.
pub fn fuzz_ends(data: &[u8]) {
    Ends::new(&*scheme("tfrc")).iter_mut().for_each(|ends| run(ends, data));
}

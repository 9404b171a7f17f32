//! A node at its radio, driven by hand.

use airfair_schemes::opportunistic::{backpressure, probes};
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, DeliveryRatios, FlowId, Forwarder, ForwarderContext,
    ForwarderEffects, HeardBroadcast, Interface, LoneExchange, Made, NativePacket, NodeId, Timer,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};
use airfair_wire::diffq::{Trailer, Type};
use airfair_wire::probe::{Heard, List, Probe};

/// The timer of probes.
pub const PROBE: Timer = Timer(100);

/// A probe a second, of which the last one decides.
pub const PROBES: probes::ProbesConfig = probes::ProbesConfig {
    interval: Span::from_secs(1),
    window: 1,
    bytes: 1472,
    expiry: Span::from_secs(30),
    nodes: 8,
};

/// A node, its random numbers, and the effects of its last hook. Times are in microseconds.
pub struct Driven<S> {
    pub station: S,
    pub random: Stream,
    pub out: ForwarderEffects,
}

impl<S: Agent + Forwarder> Driven<S> {
    /// A node whose interface has started.
    pub fn new(station: S, node: u32) -> Self {
        let random = Stream::new(1, "station", Purpose::Agent);
        let mut driven = Self { station, random, out: ForwarderEffects::default() };
        let setup = AgentSetup {
            node: NodeId(node),
            rate: Rate(11_000_000),
            exchange: LoneExchange::default(),
            neighbours: &[],
            sense_margin: None,
        };
        driven.agent(0, |station, context| station.on_start(&setup, context));
        driven
    }

    /// The same, of which the simulator says that it and its only neighbour, 1 and 2, receive half of each other's packets.
    pub fn of_a_pair(station: S, node: u32) -> Self {
        let mut driven = Self::new(station, node);
        let ratios = DeliveryRatios::new([1, 2].map(NodeId), [(0, 1, 0.5), (1, 0, 0.5)]);
        driven.call(0, |station, context| station.on_delivery_ratios(&ratios, context));
        driven
    }

    pub fn call<R>(&mut self, us: u64, hook: impl FnOnce(&mut S, &mut ForwarderContext<'_>) -> R) -> R {
        self.out = ForwarderEffects::default();
        let now = Time::ZERO + Span::from_micros(us);
        hook(&mut self.station, &mut ForwarderContext { now, random: &mut self.random, out: &mut self.out })
    }

    pub fn agent(&mut self, us: u64, hook: impl FnOnce(&mut S, &mut AgentContext<'_>)) {
        let mut out = AgentEffects::default();
        let now = Time::ZERO + Span::from_micros(us);
        hook(&mut self.station, &mut AgentContext { now, random: &mut self.random, out: &mut out });
        self.out = ForwarderEffects { agent: out, ..ForwarderEffects::default() };
    }

    /// Time for which the last hook has set a timer.
    pub fn timer(&self, timer: Timer) -> Option<u64> {
        let set = self.out.agent.timers.iter().rfind(|(each, _)| *each == timer);
        set.map(|(_, at)| at.as_nanos() / 1000)
    }

    pub fn fire(&mut self, us: u64, timer: Timer) {
        self.agent(us, |station, context| station.on_timer(timer, context));
    }

    /// The host has a packet of a flow.
    pub fn take(&mut self, us: u64, flow: FlowId, to: u32, (number, bytes): (u32, u32)) {
        let packet = NativePacket { flow, to: NodeId(to), number, bytes };
        self.call(us, |station, context| station.on_packet(&packet, context));
    }

    pub fn receive(&mut self, us: u64, from: u32, bytes: &[u8]) {
        self.agent(us, |station, context| station.on_message(NodeId(from), bytes, true, context));
    }

    /// A probe of another node comes, with its list of this version: whom it hears, in 255ths.
    pub fn learn(&mut self, us: u64, from: u32, version: u16, heard: &[(u32, u8)]) {
        let heard = heard.iter().map(|&(node, ratio)| Heard { node, ratio });
        let probe = Probe::new(version, vec![List::new(from, version, 0, heard)]);
        let mut bytes = vec![0; probe.wire_len()];
        probe.encode(&mut bytes).unwrap();
        self.receive(us, from, &bytes);
    }

    pub fn make(&mut self, us: u64) -> Option<Made> {
        self.call(us, S::make)
    }

    pub fn hear(&mut self, us: u64, from: u32, made: &Made) {
        let heard = HeardBroadcast { from: NodeId(from), header: &made.header, content: made.content };
        self.call(us, |station, context| station.on_heard(&heard, context));
    }

    pub fn is_ready(&self, us: u64) -> bool {
        self.station.ready(Time::ZERO + Span::from_micros(us)).is_some()
    }

    pub fn level(&self, us: u64) -> Option<u8> {
        self.station.ready(Time::ZERO + Span::from_micros(us)).map(|level| level.0)
    }

    pub fn gauge(&self, wanted: &str) -> f64 {
        self.station.gauges().into_iter().find(|(name, _)| *name == wanted).unwrap().1
    }
}

/// DiffQ with these parameters.
pub fn diffq(set: &[(&str, ParamValue)]) -> backpressure::BackpressureConfig {
    let set = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    backpressure::BackpressureConfig::from_params(&set).unwrap()
}

/// A trailer that announces a backlog.
pub fn trailer(queue: u16) -> [u8; 16] {
    let trailer =
        Trailer { kind: Type::SourceRouted, written: 1, queue, flow: 7, sent_us: 0, longest: 0, number: 0 };
    let mut bytes = [0; 16];
    trailer.encode(&mut bytes).unwrap();
    bytes
}

/// The packets that node 1 makes in so many steps of 10 ms as the source of packets for node 2, of 1000 B and each a byte longer than the
/// last, by a scheme with these parameters, and its rate under DiffQ then. It hears nobody.
pub fn sent_by_a_source(
    name: &str,
    set: &[(&str, ParamValue)],
    packets: u32,
    steps: u64,
) -> (Vec<Made>, f64) {
    let set = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    let scheme = (find(name).unwrap().build)(&set).unwrap();
    let mut agent = scheme.agent(&Interface::radio(50)).unwrap();
    let mut random = Stream::new(1, "source", Purpose::Agent);
    let (mut out, mut now) = (ForwarderEffects::default(), Time::ZERO);
    let setup = AgentSetup {
        node: NodeId(1),
        rate: Rate(11_000_000),
        exchange: LoneExchange::default(),
        neighbours: &[],
        sense_margin: None,
    };
    agent.on_start(&setup, &mut AgentContext { now, random: &mut random, out: &mut out.agent });
    let forwarder = agent.forwarder().unwrap();
    let mut context = ForwarderContext { now, random: &mut random, out: &mut out };
    let ratios = DeliveryRatios::new([1, 2].map(NodeId), [(0, 1, 1.0), (1, 0, 1.0)]);
    forwarder.on_delivery_ratios(&ratios, &mut context);
    for number in 0..packets {
        let packet = NativePacket { flow: FlowId(1), to: NodeId(2), number, bytes: 1000 + number };
        forwarder.on_packet(&packet, &mut context);
    }
    let mut sent = Vec::new();
    for _ in 0..steps {
        now += Span::from_millis(10);
        for (timer, _) in std::mem::take(&mut out.agent.timers) {
            agent.on_timer(timer, &mut AgentContext { now, random: &mut random, out: &mut out.agent });
        }
        let mut context = ForwarderContext { now, random: &mut random, out: &mut out };
        sent.extend(agent.forwarder().unwrap().make(&mut context));
    }
    let rate = agent.gauges().into_iter().find(|(name, _)| *name == "rate_bps");
    (sent, rate.map_or(0.0, |(_, rate)| rate))
}

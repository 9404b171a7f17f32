//! The node as a network for its hosts: agents at its radios, their timers, and what they set.

use std::collections::BTreeMap;

use airfair_host::{
    AgentSlot, ArrivedPacket, Capabilities, HostEvent, Hosts, InterfaceCounters, LinkCounters, Meters, Net,
    Outgoing, Received, agents, indices,
};
use airfair_schemes::Scheme;
use airfair_schemes::places::{
    AgentSetup, Capability, FlowId, Interface, LoneExchange, NodeId, PacketClass, QueueView, Setting, Timer,
    Wants,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

indices! { /** A radio of the node, in the order of the devices' names. */ Radio }

indices! { /** The node itself; a flow that forwarders would carry: there are none. */ Only }

/// A node with the agents of a scheme at its radios.
pub struct Node {
    id: NodeId,
    hosts: Hosts<Self>,
    meters: Meters<Radio>,
    radios: Vec<AtRadio>,
    /// Events by time, rank and order.
    agenda: BTreeMap<(Time, u32, u64), HostEvent<Radio>>,
    scheduled: u64,
    set: Vec<(Radio, Setting)>,
    messages: Vec<Outgoing<Radio, Only>>,
}

/// A radio with the part of the scheme that is there.
#[derive(Debug, Clone)]
struct AtRadio {
    exchange: LoneExchange,
    interval: Span,
    /// Packets that wait, by next hop.
    waiting: Vec<(NodeId, u32)>,
}

/// A radio of a new node.
#[derive(Debug, Clone, Copy)]
pub struct NewRadio {
    /// As the scheme sees it.
    pub at: Interface,
    /// The exchange of a packet there.
    pub exchange: LoneExchange,
}

impl Node {
    /// A node with radios of these kinds, each with the scheme's agent. `seed`: another one at each start, and a larger one.
    #[must_use]
    pub fn new(id: NodeId, scheme: &dyn Scheme, radios: &[NewRadio], seed: u64) -> Self {
        let mut hosts = Hosts::default();
        let (mut at_radios, mut meters) = (Vec::new(), Meters::default());
        for (NewRadio { at, exchange }, number) in radios.iter().zip(0..) {
            let wants: Wants = scheme.wants(at);
            if let Some(agent) = scheme.agent(at) {
                let random = Stream::new(seed, &format!("radio {number}"), Purpose::Agent);
                let slot = AgentSlot::new(agent, wants.samples(), 0, random, number);
                let backlogs = wants.has(Capability::Backlogs);
                if wants.has(Capability::Links) {
                    meters.links.add(Radio(number), radios.len());
                }
                hosts.agents.add(
                    (Radio(number), radios.len()),
                    slot,
                    (backlogs, airfair_host::HeaderId::default()),
                );
            }
            let interval = wants.samples();
            at_radios.push(AtRadio { exchange: *exchange, interval, waiting: Vec::new() });
        }
        // Others remember the numbers of an earlier start.
        hosts.number_from(Only(0), seed);
        Self {
            id,
            hosts,
            meters,
            radios: at_radios,
            agenda: BTreeMap::new(),
            scheduled: 0,
            set: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// Starts the agent of a radio, whose counters count from these on.
    pub fn start(&mut self, radio: Radio, counted: InterfaceCounters, now: Time) {
        let exchange = self.radios[radio.0 as usize].exchange;
        let rate = exchange.rate;
        let setup = AgentSetup { node: self.id, rate, exchange, neighbours: &[], sense_margin: None };
        agents::start(self, radio, &setup, counted, now);
    }

    /// The time of the next event.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.agenda.first_key_value().map(|(&(at, ..), _)| at)
    }

    /// Removes the next event that is due.
    pub fn due(&mut self, now: Time) -> Option<HostEvent<Radio>> {
        let first = self.agenda.first_entry().filter(|event| event.key().0 <= now)?;
        Some(first.remove())
    }

    /// An interval of a radio's counters has ended.
    pub fn sample(&mut self, radio: Radio, counted: InterfaceCounters, now: Time) {
        agents::sample(self, radio, counted, now);
    }

    /// The counters of a radio cannot be read: the next sample is that of the next interval.
    pub fn skip_sample(&mut self, radio: Radio, now: Time) {
        let interval = self.radios[radio.0 as usize].interval;
        self.schedule(HostEvent::Sample(radio), now.saturating_add(interval), radio.0);
    }

    /// Packets have arrived at a radio for a neighbour, and so many bytes with them; of a flow, if they belong to one.
    pub fn arrived(
        &mut self,
        radio: Radio,
        neighbour: NodeId,
        (flow, class): (FlowId, PacketClass),
        counts: (u32, u64),
    ) {
        // No packet shows which nodes its flow's ends are.
        let nobody = NodeId(u32::MAX);
        let packet = ArrivedPacket { neighbour, flow, from: nobody, to: nobody, bytes: 0, class };
        self.meters.links.on_arrivals(radio, &packet, counts);
    }

    /// Packets wait at a radio for these neighbours.
    pub fn set_waiting(&mut self, radio: Radio, waiting: Vec<(NodeId, u32)>) {
        self.radios[radio.0 as usize].waiting = waiting;
    }

    /// The counters of a link are these.
    pub fn link_counters(&mut self, radio: Radio, neighbour: NodeId, counters: LinkCounters) {
        self.meters.links.on_counters(radio, neighbour, counters);
    }

    /// The driver sends frames to a neighbour with an exchange of its own.
    pub fn link_rate(&mut self, radio: Radio, link: (NodeId, LoneExchange), now: Time) {
        agents::link_rate(self, radio, link, now);
    }

    /// A timer of a radio's agent is due.
    pub fn timer(&mut self, radio: Radio, timer: (Timer, u32), now: Time) {
        agents::timer(self, radio, timer, now);
    }

    /// A message that has come over a radio.
    pub fn message(&mut self, radio: Radio, received: &Received<'_, Radio>, now: Time) {
        agents::message(self, radio, received, now);
    }

    /// The neighbours of a radio have changed.
    pub fn neighbours(&mut self, radio: Radio, nodes: &[NodeId], now: Time) {
        agents::neighbours(self, radio, nodes, now);
    }

    /// The number of the node.
    #[must_use]
    pub const fn number(&self) -> NodeId {
        self.id
    }

    /// Interval of the samples of a radio; zero: none.
    #[must_use]
    pub fn interval(&self, radio: Radio) -> Span {
        self.radios[radio.0 as usize].interval
    }

    /// Removes what agents have set since the last call, in their order.
    pub fn take_settings(&mut self) -> Vec<(Radio, Setting)> {
        std::mem::take(&mut self.set)
    }

    /// Removes the messages that agents have sent since the last call.
    pub fn take_messages(&mut self) -> Vec<Outgoing<Radio, Only>> {
        std::mem::take(&mut self.messages)
    }

    /// Inner values of a radio's agent, by name.
    #[must_use]
    pub fn gauges(&self, radio: Radio) -> Vec<(&'static str, f64)> {
        self.hosts.agents.gauges(radio)
    }

    /// Samples that a radio's agent has not had because the counters were wrong.
    #[must_use]
    pub fn bad_samples(&self, radio: Radio) -> u64 {
        self.hosts.agents.bad_samples(radio)
    }

    /// Capabilities that the scheme wants at a radio and this host lacks, and those that it estimates.
    ///
    /// # Errors
    /// The capabilities that it lacks.
    pub fn check(
        scheme: &dyn Scheme,
        at: &Interface,
        offered: &Capabilities,
    ) -> Result<Vec<Capability>, Vec<Capability>> {
        let wants = scheme.wants(at);
        offered.check(&wants)?;
        Ok(offered.estimated(&wants))
    }
}

impl Net for Node {
    type Radio = Radio;
    type Node = Only;
    type Flow = Only;
    type Packet = ();

    fn hosts(&mut self) -> &mut Hosts<Self> {
        &mut self.hosts
    }

    fn meters(&mut self) -> &mut Meters<Radio> {
        &mut self.meters
    }

    fn id(&self, _: Only) -> NodeId {
        self.id
    }

    fn node_of(&self, _: Radio) -> Only {
        Only(0)
    }

    fn radios(&self, _: Only) -> Vec<Radio> {
        (0..).map(Radio).take(self.radios.len()).collect()
    }

    fn send(&mut self, message: Outgoing<Radio, Only>, _: Time) -> bool {
        self.messages.push(message);
        true
    }

    fn apply(&mut self, radio: Radio, settings: &[Setting], _: Time) {
        self.set.extend(settings.iter().map(|&setting| (radio, setting)));
    }

    fn schedule(&mut self, event: HostEvent<Radio>, at: Time, rank: u32) {
        self.scheduled += 1;
        self.agenda.insert((at, rank, self.scheduled), event);
    }

    fn state(&self, _: Radio, _: Time) -> (QueueView, u32) {
        (QueueView::default(), 0)
    }

    fn backlogs(&self, radio: Radio) -> Vec<(NodeId, u32)> {
        self.radios[radio.0 as usize].waiting.clone()
    }

    fn waiting(&self, radio: Radio, see: &mut dyn FnMut(NodeId)) {
        for &(neighbour, packets) in &self.radios[radio.0 as usize].waiting {
            (0..packets).for_each(|_| see(neighbour));
        }
    }

    fn stated_rate(&self, _: Radio, _: FlowId) -> Option<Rate> {
        None
    }
}

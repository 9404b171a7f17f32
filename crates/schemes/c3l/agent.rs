//! The agent of a node's radio: HELLOs and probes (§III-B), the profile and reports (§III-A), shares of flows (§III-E).
//!
//! Readings, parameters where another one is worth a try:
//! - A HELLO is sent at the rate of data, a probe at the lowest one and 3 dB louder, each once in `hello_interval`, which varies by
//!   a tenth so that no two nodes stay in step. Both precede what waits.
//! - A HELLO names the live controllers (ours): a node reports to the nearest one.
//! - The first report is at a drawn time of the cycle. An allocation starts a cycle of the node: its report leaves shortly before
//!   the controller's next round, by `report_lead` of a cycle at most, and tells of nothing before the allocation. Reports at times of
//!   their own would tell of shares before the last ones, and the controller would correct what it has corrected already.
//! - The list of neighbours is in a report as long as the controller has not acknowledged its version.
//! - What arrives from others may be anything: what is no message, or has a wrong sender, is ignored and counted.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Db, Rate, Span, Time};
use airfair_wire::c3l::{
    Alive as WireAlive, Allocation, AnswerReport, FlowReport, Hello, LinkReport, Message as WireMessage,
    Neighbour as WireNeighbour, Report, ReportHead, Word,
};

use super::discovery::{self, Broadcast, Discovery};
use super::hop::bytes_per_second;
use super::known_controllers::{Alive, KnownControllers, KnownControllersConfig, freshness};
use super::links::{self, Links, NO_LIMIT, View};
use crate::places::{
    Agent, AgentContext, AgentSetup, Destination, FlowId, FlowShare, LoneExchange, Message, NodeId,
    NodeSample, SendRate, Setting, Timer, Transmit,
};
use crate::words;

const HELLO: Timer = Timer(1);
const PROBE: Timer = Timer(2);
const REPORT: Timer = Timer(3);
const DIVIDE: Timer = Timer(4);

words! {
    /// How far probes reach.
    pub enum ProbeReach {
        /// As far as their power takes them (§III-B: 3 dB).
        Power = "power",
        /// As far as the radio's signal is sensed at least, by what is known of the radio (ours): less does not find who is kept silent.
        Sense = "sense",
    }
}

/// Part of the interval by which broadcasts vary (ours), so that no two nodes send in step.
const JITTER: f64 = 0.1;

/// The parameters of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentConfig {
    /// The counts of neighbours.
    pub discovery: discovery::DiscoveryConfig,
    /// Power of probes above the radio's own.
    pub probe_power: Db,
    /// How far they reach.
    pub probe_reach: ProbeReach,
    /// The search for a controller.
    pub controllers: KnownControllersConfig,
    /// The node's links.
    pub links: links::LinksConfig,
    /// Time between two divisions of shares.
    pub epoch: Span,
    /// Part of a cycle by which a report precedes the controller's round at most.
    pub lead: f64,
    /// The first cycle of a controller; later ones are twice as long each until they are a whole one. As long as one: all are.
    pub first_cycle: Span,
    /// Cycles for which an allocation is valid.
    pub validity: u64,
    /// Time without a controller after which flows have no limit.
    pub unled: Span,
}

/// The last allocation.
#[derive(Debug, Clone, Copy)]
struct Allocated {
    controller: NodeId,
    round: u16,
    at: Time,
}

/// A time that a message gives, at most an hour: one from a broken controller is not to hold for ever.
const LONGEST: Span = Span::from_secs(3600);

/// The agent.
#[derive(Debug, Clone)]
pub struct NodeAgent {
    config: AgentConfig,
    me: NodeId,
    discovery: Discovery,
    controllers: KnownControllers,
    links: Links,
    /// A controller runs at this node.
    here: bool,
    hellos: u16,
    probes: u16,
    reports: u16,
    /// The controller of the last report, and the version of the list that it has.
    reported: Option<NodeId>,
    acknowledged: u16,
    allocated: Option<Allocated>,
    /// The last time at which a controller was known, or the start.
    led: Time,
    now: Time,
    ignored: u64,
    work: u64,
}

fn encoded(message: &WireMessage) -> Option<Vec<u8>> {
    let mut bytes = vec![0; message.wire_len()];
    message.encode(&mut bytes).ok().map(|_| bytes)
}

impl NodeAgent {
    /// An agent at an interface whose queue has this limit, packets.
    #[must_use]
    pub fn new(config: AgentConfig, limit: u32) -> Self {
        Self {
            config,
            me: NodeId(u32::MAX),
            discovery: Discovery::new(config.discovery),
            controllers: KnownControllers::new(config.controllers),
            links: Links::new(config.links, limit),
            here: false,
            hellos: 0,
            probes: 0,
            reports: 0,
            reported: None,
            acknowledged: 0,
            allocated: None,
            led: Time::ZERO,
            now: Time::ZERO,
            ignored: 0,
            work: 0,
        }
    }

    fn set_rates(&mut self, context: &mut AgentContext<'_>) {
        let settings = &mut context.out.settings;
        let before = settings.len();
        self.links.rates(context.now, |flow, rate| settings.push(Setting::FlowRate { flow, rate }));
        self.work += (settings.len() - before) as u64;
    }

    /// The time of the next broadcast of a kind.
    fn next_broadcast(&self, context: &mut AgentContext<'_>) -> Time {
        let around = 1.0 + JITTER * (2.0 * context.random.uniform() - 1.0);
        context.now + Span((self.config.discovery.interval.as_nanos() as f64 * around) as u64)
    }

    fn broadcast(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        let next = self.next_broadcast(context);
        context.out.timers.push((timer, next));
        let now = context.now;
        if self.here {
            self.controllers.own(self.me, freshness(now), now);
        }
        let probe = timer == PROBE;
        let sequence = if probe { &mut self.probes } else { &mut self.hellos };
        let alive = self.controllers.alive(now).map(|Alive { controller, freshness, hops }| WireAlive {
            controller: controller.0,
            freshness,
            hops,
        });
        // A probe reaches nodes that do not hear HELLOs; what those say is enough.
        let named = alive.filter(|_| !probe);
        let hello = WireMessage::Hello(Hello::new(probe, *sequence, self.me.0, named));
        *sequence = sequence.wrapping_add(1);
        let transmit = if probe {
            Transmit { rate: SendRate::Lowest, power_offset: self.config.probe_power }
        } else {
            Transmit { rate: SendRate::Data, power_offset: Db(0.0) }
        };
        if let Some(bytes) = encoded(&hello) {
            let transmit = Some(transmit);
            context.out.messages.push(Message { to: Destination::Broadcast, bytes, ahead: true, transmit });
        }
    }

    /// Are the controller's first cycles shorter?
    fn quick(&self) -> bool {
        self.config.first_cycle < self.config.links.cycle
    }

    /// The node knows of a controller from now on: neighbours are to know soon, and so is the controller of this node.
    fn found_controller(&self, context: &mut AgentContext<'_>) {
        let part = |span: Span, part: f64| Span((span.as_nanos() as f64 * part) as u64);
        let hello = part(self.config.discovery.interval, 0.1 * context.random.uniform());
        let report = part(self.config.first_cycle, 0.25 + 0.25 * context.random.uniform());
        context.out.timers.extend([(HELLO, context.now + hello), (REPORT, context.now + report)]);
    }

    fn report(&mut self, context: &mut AgentContext<'_>) {
        let now = context.now;
        let unheard = self.quick() && self.allocated.is_none();
        let next = if unheard { self.config.first_cycle } else { self.config.links.cycle };
        context.out.timers.push((REPORT, now.saturating_add(next)));
        self.discovery.refresh(now);
        let ended = self.links.end(now);
        let Some(controller) = self.controllers.nearest(now) else { return };
        if self.reported != Some(controller) {
            (self.reported, self.acknowledged) = (Some(controller), 0);
        }
        let links: Vec<LinkReport> = ended
            .iter()
            .map(|link| LinkReport {
                next_hop: link.to.0,
                capacity: bytes_per_second(link.goodput),
                used: bytes_per_second(link.used),
                transmissions: link.transmissions,
                overloaded: link.overloaded,
                lost: (127.0 * link.lost) as u8,
            })
            .collect();
        let of_link = |link: &links::Ended| {
            let next_hop = link.to.0;
            let report = move |&(flow, rate, demand): &(FlowId, Rate, Option<Rate>)| FlowReport {
                flow: flow.0,
                next_hop,
                rate: bytes_per_second(rate),
                demand: demand.map_or(u32::MAX, bytes_per_second),
            };
            link.flows.iter().map(report).collect::<Vec<_>>()
        };
        let flows: Vec<FlowReport> = ended.iter().flat_map(of_link).collect();
        let answers: Vec<AnswerReport> = ended
            .iter()
            .flat_map(|link| {
                let next_hop = link.to.0;
                link.answers.iter().map(move |&(flow, time)| AnswerReport { flow: flow.0, next_hop, time })
            })
            .collect();
        let version = self.discovery.version();
        let list: Vec<WireNeighbour> = self
            .discovery
            .list()
            .iter()
            .map(|heard| WireNeighbour { node: heard.node.0, hellos: heard.hellos, probes: heard.probes })
            .collect();
        let listed = (version != self.acknowledged).then_some(&list[..]);
        self.reports = self.reports.wrapping_add(1);
        let head = ReportHead { node: self.me.0, number: self.reports, version };
        // The last part leaves first.
        for part in Report::parts_with_answers(head, &links, &flows, &answers, listed).into_iter().rev() {
            if let Some(bytes) = encoded(&WireMessage::Report(part)) {
                let to = Destination::Node(controller);
                context.out.messages.push(Message { to, bytes, ahead: true, transmit: None });
            }
        }
    }

    fn allocation(&mut self, from: NodeId, allocation: &Allocation, context: &mut AgentContext<'_>) -> bool {
        let (head, now) = (allocation.head(), context.now);
        if head.node != self.me.0 || head.controller != from.0 || self.reported != Some(from) {
            return false;
        }
        let cycle = self.config.links.cycle;
        let last = self.allocated.filter(|last| last.controller == from);
        // An earlier one that was overtaken; a controller that has started anew counts from 1.
        let behind = last.map_or(0, |last| last.round.wrapping_sub(head.round));
        if (1..8).contains(&behind) && last.is_some_and(|last| now.since(last.at) < cycle) {
            return true;
        }
        let new = last.is_none_or(|last| last.round != head.round);
        self.allocated = Some(Allocated { controller: from, round: head.round, at: now });
        self.acknowledged = head.version;
        let valid = Span::from_millis(head.valid_ms.into()).min(LONGEST);
        self.work += allocation.links().len() as u64;
        for share in allocation.links() {
            let until = now.saturating_add(valid);
            let rate = if share.share == u32::MAX { NO_LIMIT } else { Rate(8 * u64::from(share.share)) };
            self.links.allocate(NodeId(share.next_hop), rate, until, now);
        }
        if new && !allocation.links().is_empty() {
            self.links.begin(now);
            // While the controller starts its rounds are nearer.
            let told = Span(valid.0 / self.config.validity.max(1));
            let cycle = if self.quick() { told.max(Span::from_millis(100)).min(cycle) } else { cycle };
            let lead = self.config.lead * (0.25 + 0.75 * context.random.uniform());
            let after = Span((cycle.as_nanos() as f64 * (1.0 - lead)) as u64);
            context.out.timers.push((REPORT, now.saturating_add(after)));
        }
        self.set_rates(context);
        true
    }

    fn hello(&mut self, from: NodeId, hello: &Hello, now: Time) -> bool {
        if hello.node != from.0 || from == self.me {
            return false;
        }
        let kind = if hello.probe { Broadcast::Probe } else { Broadcast::Hello };
        self.discovery.hear(from, kind, hello.sequence, now);
        // The list of neighbours is searched, and each controller named is compared with those that are known.
        self.work += (self.discovery.len() + hello.controllers().len()) as u64;
        for &WireAlive { controller, freshness, hops } in hello.controllers() {
            self.hear_of(Alive { controller: NodeId(controller), freshness, hops }, now);
        }
        true
    }

    /// Word of a controller has arrived. False if it is of one at this node: what others say of it is what it has said itself, or wrong.
    fn hear_of(&mut self, word: Alive, now: Time) -> bool {
        if word.controller != self.me {
            self.controllers.hear(word, now);
        }
        word.controller != self.me
    }
}

impl Agent for NodeAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = setup.node;
        if let (ProbeReach::Sense, Some(margin)) = (self.config.probe_reach, setup.sense_margin) {
            self.config.probe_power = Db(self.config.probe_power.0.max(margin.0));
        }
        self.links.start(setup.node, setup.exchange, context.now);
        let mut within =
            |span: Span| context.now + Span((span.as_nanos() as f64 * context.random.uniform()) as u64);
        let interval = self.config.discovery.interval;
        let (hello, probe) = (within(interval), within(interval));
        let (report, divide) = (within(self.config.links.cycle), within(self.config.epoch));
        context.out.timers.extend([(HELLO, hello), (PROBE, probe), (REPORT, report), (DIVIDE, divide)]);
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], context: &mut AgentContext<'_>) {
        if self.links.keep_exchanges(neighbours) {
            self.set_rates(context);
        }
    }

    fn on_link_rate(&mut self, neighbour: NodeId, exchange: LoneExchange, context: &mut AgentContext<'_>) {
        self.links.set_exchange(neighbour, exchange);
        self.set_rates(context);
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        self.now = context.now;
        self.links.answer(sample.answers, context.now);
        if self.links.sample(sample.links, sample.flows, context.now) {
            self.set_rates(context);
        }
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        let alone = self.controllers.nearest(context.now).is_none();
        let heeded = match WireMessage::decode(bytes) {
            Ok((WireMessage::Hello(hello), _)) => self.hello(from, &hello, context.now),
            Ok((WireMessage::Word(Word { controller, freshness }), _)) => {
                let word = Alive { controller: NodeId(controller), freshness, hops: 0 };
                word.controller == from && self.hear_of(word, context.now)
            }
            Ok((WireMessage::Allocation(allocation), _)) => {
                to_me && self.allocation(from, &allocation, context)
            }
            // For the controller at this node.
            Ok((WireMessage::Report(_), _)) => true,
            _ => false,
        };
        if self.quick() && alone && self.controllers.nearest(context.now).is_some() {
            self.found_controller(context);
        }
        self.work += 1;
        self.ignored += u64::from(!heeded);
    }

    fn on_controller(&mut self, here: bool, context: &mut AgentContext<'_>) {
        self.here = here;
        if here {
            self.controllers.own(self.me, freshness(context.now), context.now);
            // So the controller learns that its node makes it known.
            context.out.timers.push((REPORT, context.now));
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        match timer {
            HELLO | PROBE => self.broadcast(timer, context),
            REPORT => self.report(context),
            _ => {
                let now = context.now;
                if self.controllers.nearest(now).is_some() {
                    self.led = now;
                }
                self.links.set_unled(now.since(self.led) >= self.config.unled);
                self.links.divide(context.now);
                self.set_rates(context);
                context.out.timers.push((DIVIDE, context.now.saturating_add(self.config.epoch)));
            }
        }
    }

    /// Neighbours, flows, the sum of the valid shares of its links, the least scale of injection, whether a controller is known, and
    /// messages that were ignored.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let View { flows, allocated, stamped, scale } = self.links.view(self.now);
        vec![
            ("neighbours", self.discovery.len() as f64),
            ("flows", flows as f64),
            ("share_bps", allocated.map_or(f64::NAN, |share| share.0 as f64)),
            ("stamped_bps", stamped.0 as f64),
            ("scale", scale.unwrap_or(f64::NAN)),
            ("controller", f64::from(u8::from(self.controllers.nearest(self.now).is_some()))),
            ("ignored", self.ignored as f64),
        ]
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn share(&self, flow: FlowId) -> Option<FlowShare> {
        self.links.share_of(flow, self.now)
    }
}

//! Agents under attack. Those of MORE and ExOR are forwarders as well.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

use super::forged::{Corpus, forged};
use super::timers::Timers;
use super::{MOST_EFFECTS, NODES, Target, check, node, wait};
use crate::Scheme;
use crate::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Airtime, Context, DeliveryRatios, FlowId, FlowSample,
    ForwarderContext, ForwarderEffects, HeardBroadcast, Interface, LinkSample, LoneExchange, NativePacket,
    NodeId, NodeSample, QueueView,
};

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

/// Most entries that a call may make an agent look at: those of the message, each neighbour, flow or controller once; or, of a batch of 255
/// packets, its coefficients once for each packet that is held.
const MOST_WORK: u64 = 70_000;

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
                sense_margin: None,
            };
            agents.call(which, |agent, context| agent.on_start(&setup, context));
            agents.forward(which, |forwarder, context| forwarder.on_delivery_ratios(&ratios, context));
        }
        Some(agents)
    }

    fn call(&mut self, which: usize, hook: impl FnOnce(&mut dyn Agent, &mut AgentContext<'_>)) {
        let mut out = AgentEffects::default();
        let mut context = Context { now: self.now, random: &mut self.random[which], out: &mut out };
        let before = self.agents[which].work();
        hook(&mut *self.agents[which], &mut context);
        let work = self.agents[which].work() - before;
        assert!(work <= MOST_WORK, "a call looks at {work} entries");
        self.apply(which, out);
    }

    fn forward<R>(
        &mut self,
        which: usize,
        hook: impl FnOnce(&mut dyn crate::places::Forwarder, &mut ForwarderContext<'_>) -> R,
    ) -> Option<R> {
        let mut out = ForwarderEffects::default();
        let before = self.agents[which].work();
        let forwarder = self.agents[which].forwarder()?;
        let mut context = Context { now: self.now, random: &mut self.random[which], out: &mut out };
        let result = hook(forwarder, &mut context);
        let work = self.agents[which].work() - before;
        assert!(work <= MOST_WORK, "a call looks at {work} entries");
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
            15 => {
                let rate = Rate((1 + u64::from(input.byte())) * 1_000_000);
                let exchange = LoneExchange { rate, ..LoneExchange::default() };
                let neighbour = NodeId(node(input));
                self.call(which, |agent, context| agent.on_link_rate(neighbour, exchange, context));
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

    fn work(&self) -> u64 {
        self.agents[0].work()
    }
}

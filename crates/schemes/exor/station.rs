//! A node of ExOR at its radio: batches of its own flows, sizes of packets, the timer of its turns; what it sends is decided by
//! [`ExorNode`].
//!
//! Readings:
//! - The number of a batch is that of its first packet (`opportunistic::sources`).
//! - A node contends for access while its turn lasts. What a better node turns out to hold meanwhile is not sent; if nothing is left, the
//!   access is given up.
//! - A header whose rank is not that of the node that has sent it is garbage.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Bytes, Span, Time};
use airfair_wire::Flow;
use airfair_wire::exor::{ExorView, Nodes};

use super::node::{ExorConfig, ExorNode, Meaning, Sending};
use crate::opportunistic::backpressure::{self, Backlogged, Backpressure};
use crate::opportunistic::expected::{Expected, Pruning};
use crate::opportunistic::flows::Flows;
use crate::opportunistic::losses::Losses;
use crate::opportunistic::sources::{Carrier, Due, Sources};
use crate::opportunistic::{probes, ratios::Ratios};
use crate::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, DeliveryRatios, FlowId, Forwarder, ForwarderContext,
    ForwarderEffects, HeardBroadcast, Holding, Made, NativePacket, NodeId, Priority, Timer,
};

/// A batch that is not full is due.
const FLUSH: Timer = Timer(1);
/// The law of sources runs.
const STEP: Timer = Timer(2);
/// A turn begins.
const TURN: Timer = Timer(3);

/// The constants of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StationConfig {
    /// Packets of a batch.
    pub batch: u8,
    /// Time after which fewer packets are a batch.
    pub flush: Span,
    /// Which forwarders are left out.
    pub pruning: Pruning,
    /// Probes that measure delivery ratios; none: the simulator tells them.
    pub probes: Option<probes::ProbesConfig>,
    /// The node's own rules.
    pub node: ExorConfig,
    /// DiffQ, if it decides rates, order and levels.
    pub diffq: Option<backpressure::BackpressureConfig>,
}

/// Sizes of the packets of a batch that the node holds, as IP packets, bytes.
#[derive(Debug, Clone, Default)]
struct Sizes {
    batch: u32,
    of: Vec<u32>,
}

/// Counts of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    sent: u64,
    maps: u64,
    routed: u64,
    new: u64,
    known: u64,
    old: u64,
    garbage: u64,
}

/// A node of ExOR at its radio.
pub struct ExorStation {
    config: StationConfig,
    node: ExorNode,
    me: NodeId,
    ratios: Ratios,
    own: Sources<Nodes>,
    sizes: Flows<Sizes>,
    counts: Counts,
    /// Entries of maps, lists and flows that heard broadcasts have made it look at.
    work: u64,
    diffq: Option<Backpressure>,
}

/// The carrier of the node's own flows.
struct Own<'a> {
    node: &'a mut ExorNode,
    sizes: &'a mut Flows<Sizes>,
}

impl Carrier<Nodes> for Own<'_> {
    fn is_busy(&self, flow: &Flow) -> bool {
        self.node.map(flow).is_some()
    }

    fn begin(&mut self, due: &Due<'_, Nodes>, now: Time) -> bool {
        let begun = self.node.begin_as(due.first, due.flow.flow, due.sizes.len() as u8, due.list, now);
        self.sizes.make_room(&due.flow, |flow, _| self.node.map(flow).is_none());
        if begun && let Some(sizes) = self.sizes.entry(due.flow, now) {
            *sizes = Sizes { batch: due.first, of: due.sizes.clone() };
        }
        begun
    }
}

/// The list of a flow by losses.
fn listed(losses: &Losses, flow: &Flow, pruning: &Pruning) -> Option<Nodes> {
    let (from, to) = (NodeId(flow.source), NodeId(flow.destination));
    super::listed(&Expected::new(losses, from, to, pruning)?)
}

impl ExorStation {
    /// A node before its interface starts.
    #[must_use]
    pub fn new(config: StationConfig) -> Self {
        Self {
            config,
            node: ExorNode::new(0, config.node),
            me: NodeId(0),
            ratios: Ratios::new(config.probes),
            own: Sources::new(config.batch, config.flush),
            sizes: Flows::new(0, config.node.flows),
            counts: Counts::default(),
            work: 0,
            diffq: config.diffq.map(Backpressure::new),
        }
    }

    /// The flow that sends next, with its level.
    fn next(&self, now: Time) -> Option<(Flow, Priority)> {
        match &self.diffq {
            Some(diffq) => diffq.next(&self.node, now),
            None => self.node.next().map(|flow| (flow, Priority(0))),
        }
    }

    /// Lists of nodes by what probes have told since, for the batches that begin from now on.
    fn renew(&mut self, now: Time) {
        let Self { own, ratios, config, .. } = self;
        if own.is_empty() {
            return;
        }
        let losses = ratios.losses(now);
        own.renew(|flow| listed(&losses, flow, &config.pruning), |_, _| ());
    }

    /// Begins the batches and turns that are due, and sets the timers for the next.
    fn continue_batches(&mut self, now: Time, out: &mut AgentEffects) {
        let Self { own, node, sizes, .. } = self;
        let flush = own.begin(&mut Own { node, sizes }, now);
        node.tick(now);
        out.timers.extend(flush.map(|at| (FLUSH, at)));
        out.timers.extend(node.wakes_at().map(|at| (TURN, at)));
    }

    /// Notes the size of a packet of a batch at hand.
    fn note(&mut self, flow: Flow, (batch, packet): (u32, u8), bytes: u32, now: Time) {
        let packets = self.node.map(&flow).map_or(0, |(_, map)| map.ranks().len());
        let Some(sizes) = self.sizes.entry(flow, now) else { return };
        if sizes.batch != batch || sizes.of.len() != packets {
            *sizes = Sizes { batch, of: vec![0; packets] };
        }
        if let Some(size) = sizes.of.get_mut(usize::from(packet)) {
            *size = bytes;
        }
    }

    /// Size of a packet of a batch.
    fn size(&self, flow: &Flow, batch: u32, packet: u8) -> u32 {
        let sizes = self.sizes.get(flow).filter(|sizes| sizes.batch == batch);
        sizes.and_then(|sizes| sizes.of.get(usize::from(packet))).copied().unwrap_or(0)
    }

    /// Hands up a packet for this node.
    fn hand_up(&self, flow: &Flow, (batch, packet): (u32, u8), out: &mut ForwarderEffects) {
        let id = FlowId(flow.flow);
        out.delivered.push((id, batch.wrapping_add(packet.into())));
        if self.node.is_whole(flow) {
            out.whole.push((id, batch));
        }
    }

    /// Number of flows of which it keeps something.
    #[must_use]
    pub const fn kept(&self) -> usize {
        self.node.len() + self.sizes.len()
    }

    /// The node as an agent.
    #[must_use]
    pub fn boxed(self) -> Box<dyn Agent> {
        Box::new(self)
    }
}

impl Agent for ExorStation {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = setup.node;
        self.node = ExorNode::new(setup.node.0, self.config.node);
        self.sizes = Flows::new(setup.node.0, self.config.node.flows);
        self.ratios.start(setup.node, context);
        if let Some(diffq) = &mut self.diffq {
            context.out.timers.push((STEP, diffq.first_step(context.now, context.random)));
        }
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], _to_me: bool, context: &mut AgentContext<'_>) {
        self.ratios.on_message(from, bytes, context.now);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        if self.ratios.on_timer(timer, context) {
            self.renew(context.now);
        }
        if let (STEP, Some(diffq)) = (timer, &mut self.diffq) {
            context.out.timers.push((STEP, diffq.step(&mut self.node, context.now)));
        }
        self.continue_batches(context.now, context.out);
    }

    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        Some(self)
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let Counts { sent, maps, routed, new, known, old, garbage } = self.counts;
        let counts = [
            ("sent", sent),
            ("maps", maps),
            ("routed", routed),
            ("new", new),
            ("known", known),
            ("old", old),
            ("garbage", garbage),
        ];
        let mut gauges = vec![("backlog", f64::from(self.node.backlog_of(|_| true)))];
        gauges.extend(counts.map(|(name, count)| (name, count as f64)));
        if let Some(diffq) = &self.diffq {
            gauges.extend(["rate_bps", "trailers_garbage"].into_iter().zip(diffq.gauges()));
        }
        gauges.extend(self.ratios.gauges());
        gauges
    }

    fn work(&self) -> u64 {
        self.work
    }
}

impl Forwarder for ExorStation {
    fn on_delivery_ratios(&mut self, ratios: &DeliveryRatios, _context: &mut ForwarderContext<'_>) {
        self.ratios.set_given(ratios);
    }

    fn room(&self, flow: FlowId, to: NodeId) -> u32 {
        self.own.room(&Flow { flow: flow.0, source: self.me.0, destination: to.0 })
    }

    fn on_packet(&mut self, packet: &NativePacket, context: &mut ForwarderContext<'_>) {
        let flow = Flow { flow: packet.flow.0, source: self.me.0, destination: packet.to.0 };
        let Self { own, ratios, config, .. } = self;
        let list = || listed(&ratios.losses(context.now), &flow, &config.pruning);
        own.add(flow, (packet.number, packet.bytes), context.now, list);
        if let Some(diffq) = &mut self.diffq {
            diffq.start(flow, Bytes(packet.bytes.into()), context.now, context.random);
        }
        self.continue_batches(context.now, &mut context.out.agent);
    }

    fn on_heard(&mut self, heard: &HeardBroadcast<'_>, context: &mut ForwarderContext<'_>) {
        let now = context.now;
        let header = ExorView::decode(heard.header).ok();
        let is_senders = |header: &ExorView<'_>| header.nodes.get(header.rank) == Some(heard.from.0);
        let Some((header, rest)) = header.filter(|(header, _)| is_senders(header)) else {
            self.counts.garbage += 1;
            return;
        };
        let flow = header.flow;
        // Its map is merged with the node's, and the turns of all flows are looked at.
        self.work += (header.map().len() + header.nodes.len() + self.node.len()) as u64;
        if let Some(diffq) = &mut self.diffq {
            diffq.hear(heard.from, &flow, rest, now);
        }
        match self.node.heard(header, now).meaning {
            Meaning::Ignored => return,
            Meaning::Old => self.counts.old += 1,
            Meaning::Known => self.counts.known += 1,
            Meaning::New => {
                self.counts.new += 1;
                if let Some(packet) = header.packet() {
                    let at = (header.batch, packet);
                    if let Some([packets, of]) = self.node.held(&flow) {
                        context.out.holds.push(Holding { flow: FlowId(flow.flow), batch: at.0, packets, of });
                    }
                    if flow.destination == self.me.0 {
                        self.hand_up(&flow, at, context.out);
                    } else {
                        self.note(flow, at, heard.content, now);
                    }
                }
            }
        }
        self.continue_batches(now, &mut context.out.agent);
    }

    fn on_routed(&mut self, flow: FlowId, number: u32, context: &mut ForwarderContext<'_>) {
        match self.node.locate(flow.0, number) {
            Some((flow, batch, packet)) => {
                if self.node.routed(&flow, batch, packet, context.now) {
                    self.hand_up(&flow, (batch, packet), context.out);
                }
            }
            // Its batch has been forgotten.
            None => context.out.delivered.push((flow, number)),
        }
        self.continue_batches(context.now, &mut context.out.agent);
    }

    fn ready(&self, now: Time) -> Option<Priority> {
        self.next(now).map(|(_, priority)| priority)
    }

    fn make(&mut self, context: &mut ForwarderContext<'_>) -> Option<Made> {
        let now = context.now;
        let made = loop {
            let Some((flow, _)) = self.next(now) else { break None };
            match self.node.make(&flow, now) {
                Some(Sending::Broadcast(header)) => break Some((flow, header)),
                Some(Sending::Routed { batch, packet }) => {
                    self.counts.routed += 1;
                    context.out.routed.push((FlowId(flow.flow), batch.wrapping_add(packet.into())));
                }
                None => break None,
            }
        };
        self.continue_batches(now, &mut context.out.agent);
        let (flow, header) = made?;
        let content = header.packet().map_or(0, |packet| self.size(&flow, header.head.batch, packet));
        *if header.packet().is_some() { &mut self.counts.sent } else { &mut self.counts.maps } += 1;
        let mut bytes = vec![0; header.wire_len()];
        header.encode(&mut bytes).ok()?;
        if let Some(diffq) = &mut self.diffq {
            // A map alone is no packet that its source sends.
            if header.packet().is_some() {
                diffq.sent(&self.node, &flow, now);
            }
            let left = self.node.backlog_to(flow.destination);
            bytes.extend(diffq.trailer(&flow, left, now));
        }
        Some(Made { flow: FlowId(flow.flow), batch: header.head.batch, header: bytes, content })
    }
}

//! A node of MORE at its radio: batches of its own flows, acknowledgements, delivery ratios; what it sends is decided by [`MoreNode`].
//!
//! Readings:
//! - The number of a batch is that of its first native (`opportunistic::sources`): a destination knows whose natives it has decoded also
//!   after a batch whose acknowledgement is forged or whose forwarders have forgotten it.
//! - All packets of a batch are as long as its longest native, as shorter ones are filled up to be added.
//! - The acknowledgement goes by ordinary routing, ahead of what waits; nodes that pass it on or overhear it take note.
//! - The destination repeats an acknowledgement until it hears a packet of a later batch, first after `again`, then after twice that, up to
//!   a second, for `repeat`: it may be lost on the way after all nodes around the destination have heard it, which then send nothing that
//!   would tell the destination.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Bytes, Span, Time};
use airfair_wire::more::{Acknowledgement, CodedView, Flow, Forwarders};

use super::decoder::Decoder;
use super::forwarders;
use super::node::{Heard, Meaning, MoreConfig, MoreNode, next_gap};
use crate::opportunistic::backpressure::{self, Backlogged, Backpressure};
use crate::opportunistic::expected::{Expected, Pruning};
use crate::opportunistic::losses::Losses;
use crate::opportunistic::sources::{Carrier, Due, Sources};
use crate::opportunistic::{probes, ratios::Ratios};
use crate::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, DeliveryRatios, Destination, FlowId, Forwarder,
    ForwarderContext, HeardBroadcast, Holding, Made, Message, NativePacket, NodeId, Priority, Timer,
};

/// A batch that is not full is due.
const FLUSH: Timer = Timer(1);
/// The law of sources runs.
const STEP: Timer = Timer(2);
/// An acknowledgement is repeated.
const REPEAT: Timer = Timer(3);

/// The constants of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StationConfig {
    /// K, natives of a batch.
    pub natives: u8,
    /// Time after which fewer natives are a batch.
    pub flush: Span,
    /// Time for which an acknowledgement is repeated.
    pub repeat: Span,
    /// Which forwarders are left out.
    pub pruning: Pruning,
    /// The node's own rules.
    pub node: MoreConfig,
    /// Probes, if delivery ratios are measured.
    pub probes: Option<probes::ProbesConfig>,
    /// DiffQ, if it decides rates, order and levels.
    pub diffq: Option<backpressure::BackpressureConfig>,
}

/// Packets of a flow that the node has heard or sends.
#[derive(Debug, Clone, Copy)]
struct Content {
    flow: Flow,
    bytes: u32,
}

/// An acknowledgement that is repeated.
#[derive(Debug, Clone)]
struct Repeated {
    acknowledgement: Acknowledgement,
    next: Time,
    gap: Span,
    until: Time,
}

/// Counts of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    sent: u64,
    innovative: u64,
    dependent: u64,
    old: u64,
    garbage: u64,
}

/// A node of MORE at its radio.
pub struct MoreStation {
    config: StationConfig,
    node: MoreNode,
    me: NodeId,
    ratios: Ratios,
    own: Sources<Forwarders>,
    /// Sizes of the packets of flows, in the order of the flows.
    contents: Vec<Content>,
    /// In the order of their flows.
    repeated: Vec<Repeated>,
    counts: Counts,
    diffq: Option<Backpressure>,
}

impl MoreStation {
    /// A node before its interface starts.
    #[must_use]
    pub fn new(config: StationConfig) -> Self {
        Self {
            config,
            node: MoreNode::new(0, config.node),
            me: NodeId(0),
            ratios: Ratios::new(config.probes),
            own: Sources::new(config.natives, config.flush),
            contents: Vec::new(),
            repeated: Vec::new(),
            counts: Counts::default(),
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

    /// Lists of forwarders by what probes have told since. A batch at hand whose destination cannot be reached any more keeps its list.
    fn renew(&mut self, now: Time) {
        let Self { own, ratios, config, node, .. } = self;
        if own.is_empty() {
            return;
        }
        let losses = ratios.losses(now);
        own.renew(
            |flow| forwarders(&losses, flow, &config.pruning),
            |flow, new| node.set_forwarders(flow, new.clone()),
        );
    }

    /// Begins the next batches of the node's flows where that is due, and sets the timer for those that are not.
    fn begin(&mut self, now: Time, timers: &mut Vec<(Timer, Time)>) {
        let Self { own, node, contents, .. } = self;
        let next = own.begin(&mut Own { node, contents }, now);
        timers.extend(next.map(|next| (FLUSH, next)));
    }

    /// Repeats the acknowledgement of a batch from now on, or of none.
    fn repeat(&mut self, flow: &Flow, acknowledgement: Option<&Acknowledgement>, now: Time) {
        let StationConfig { repeat, node: MoreConfig { again, .. }, .. } = self.config;
        let new = acknowledgement.filter(|_| repeat > Span::ZERO).map(|&acknowledgement| Repeated {
            acknowledgement,
            next: now.saturating_add(again),
            gap: again.max(Span::from_millis(1)),
            until: now.saturating_add(repeat),
        });
        match (self.repeated.binary_search_by_key(flow, |it| it.acknowledgement.flow), new) {
            (Ok(at), Some(new)) => self.repeated[at] = new,
            (Ok(at), None) => _ = self.repeated.remove(at),
            (Err(at), Some(new)) if self.repeated.len() < self.config.node.flows => {
                self.repeated.insert(at, new)
            }
            (Err(_), _) => {}
        }
    }

    /// Sends the acknowledgements that are due again, and sets the timer for the next.
    fn repeat_due(&mut self, now: Time, out: &mut AgentEffects) {
        self.repeated.retain(|it| it.next < it.until);
        for it in self.repeated.iter_mut().filter(|it| it.next <= now) {
            it.gap = next_gap(it.gap);
            it.next = now.saturating_add(it.gap);
            if self.node.acknowledges_again(&it.acknowledgement, now) {
                out.messages.extend(message(&it.acknowledgement));
            }
        }
        out.timers.extend(self.next_repetition());
    }

    /// The timer of the acknowledgement that is repeated next.
    fn next_repetition(&self) -> Option<(Timer, Time)> {
        self.repeated.iter().map(|it| it.next).min().map(|at| (REPEAT, at))
    }

    /// Sizes of flows of which nothing is held are forgotten when there are twice as many sizes as flows may be known.
    fn forget_contents(&mut self) {
        let Self { contents, node, config, .. } = self;
        if contents.len() >= config.node.flows.saturating_mul(2) {
            contents.retain(|content| node.rank(&content.flow).is_some());
        }
    }

    /// Size of the packets of a flow.
    fn content(&self, flow: &Flow) -> u32 {
        let at = self.contents.binary_search_by_key(flow, |content| content.flow);
        at.map_or(0, |at| self.contents[at].bytes)
    }
}

/// Forwarders of a flow by losses.
fn forwarders(losses: &Losses, flow: &Flow, pruning: &Pruning) -> Option<Forwarders> {
    let (from, to) = (NodeId(flow.source), NodeId(flow.destination));
    let expected = Expected::new(losses, from, to, pruning)?;
    Some(forwarders::listed(&forwarders::forwarders(losses, &expected)))
}

/// The carrier of the node's own flows.
struct Own<'a> {
    node: &'a mut MoreNode,
    contents: &'a mut Vec<Content>,
}

impl Carrier<Forwarders> for Own<'_> {
    fn is_busy(&self, flow: &Flow) -> bool {
        self.node.rank(flow).is_some()
    }

    fn begin(&mut self, due: &Due<'_, Forwarders>, now: Time) -> bool {
        let held = Decoder::full(due.sizes.len() as u8);
        let begun = self.node.begin_as(due.first, due.flow, held, due.list.clone(), now);
        if begun {
            note(self.contents, due.flow, due.sizes.iter().copied().max().unwrap_or(0));
        }
        begun
    }
}

/// Notes the size of the packets of a flow.
fn note(contents: &mut Vec<Content>, flow: Flow, bytes: u32) {
    match contents.binary_search_by_key(&flow, |content| content.flow) {
        Ok(at) => contents[at].bytes = bytes,
        Err(at) => contents.insert(at, Content { flow, bytes }),
    }
}

/// The message that carries an acknowledgement to the source.
fn message(acknowledgement: &Acknowledgement) -> Option<Message> {
    let mut bytes = vec![0; Acknowledgement::wire_len()];
    acknowledgement.encode(&mut bytes).ok()?;
    let to = Destination::Node(NodeId(acknowledgement.flow.source));
    Some(Message { to, bytes, ahead: true, transmit: None })
}

impl Agent for MoreStation {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = setup.node;
        self.node = MoreNode::new(setup.node.0, self.config.node);
        self.ratios.start(setup.node, context);
        if let Some(diffq) = &mut self.diffq {
            context.out.timers.push((STEP, diffq.first_step(context.now, context.random)));
        }
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], _to_me: bool, context: &mut AgentContext<'_>) {
        if self.ratios.on_message(from, bytes, context.now) {
            return;
        }
        if let Ok((acknowledgement, _)) = Acknowledgement::decode(bytes) {
            self.node.acknowledged(&acknowledgement, context.now);
            self.begin(context.now, &mut context.out.timers);
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        if self.ratios.on_timer(timer, context) {
            self.renew(context.now);
        }
        match (timer, &mut self.diffq) {
            (STEP, Some(diffq)) => {
                context.out.timers.push((STEP, diffq.step(&mut self.node, context.now)));
            }
            (REPEAT, _) => self.repeat_due(context.now, context.out),
            _ => self.begin(context.now, &mut context.out.timers),
        }
    }

    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        Some(self)
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let Counts { sent, innovative, dependent, old, garbage } = self.counts;
        let backlog: u32 = self.node.backlogs().map(|(_, backlog)| backlog).sum();
        let mut gauges = vec![
            ("backlog", f64::from(backlog)),
            ("sent", sent as f64),
            ("innovative", innovative as f64),
            ("dependent", dependent as f64),
            ("old", old as f64),
            ("garbage", garbage as f64),
        ];
        if let Some(diffq) = &self.diffq {
            gauges.extend(["rate_bps", "trailers_garbage"].into_iter().zip(diffq.gauges()));
        }
        gauges.extend(self.ratios.gauges());
        gauges
    }

    fn work(&self) -> u64 {
        self.node.work
    }
}

impl Forwarder for MoreStation {
    fn on_delivery_ratios(&mut self, ratios: &DeliveryRatios, _context: &mut ForwarderContext<'_>) {
        self.ratios.set_given(ratios);
    }

    fn room(&self, flow: FlowId, to: NodeId) -> u32 {
        let flow = Flow { flow: flow.0, source: self.me.0, destination: to.0 };
        self.own.room(&flow)
    }

    fn on_packet(&mut self, packet: &NativePacket, context: &mut ForwarderContext<'_>) {
        let flow = Flow { flow: packet.flow.0, source: self.me.0, destination: packet.to.0 };
        let Self { own, ratios, config, .. } = self;
        let list = || forwarders(&ratios.losses(context.now), &flow, &config.pruning);
        own.add(flow, (packet.number, packet.bytes), context.now, list);
        if let Some(diffq) = &mut self.diffq {
            diffq.start(flow, Bytes(packet.bytes.into()), context.now, context.random);
        }
        self.begin(context.now, &mut context.out.agent.timers);
    }

    fn on_heard(&mut self, heard: &HeardBroadcast<'_>, context: &mut ForwarderContext<'_>) {
        let Ok((header, rest)) = CodedView::decode(heard.header) else {
            self.counts.garbage += 1;
            return;
        };
        if let Some(diffq) = &mut self.diffq {
            diffq.hear(heard.from, &header.flow, rest, context.now);
        }
        let Heard { meaning, acknowledge, .. } = self.node.heard(header, heard.from.0, context.now);
        let (flow, to_me) = (FlowId(header.flow.flow), header.flow.destination == self.me.0);
        match meaning {
            Meaning::Ignored => return,
            Meaning::Old => self.counts.old += 1,
            Meaning::Dependent => self.counts.dependent += 1,
            Meaning::Innovative | Meaning::Decodes => {
                self.counts.innovative += 1;
                if let Some((batch, rank, natives)) = self.node.rank(&header.flow) {
                    context.out.holds.push(Holding { flow, batch, packets: rank.into(), of: natives.into() });
                }
                if !to_me {
                    self.forget_contents();
                    note(&mut self.contents, header.flow, heard.content);
                }
            }
        }
        if meaning == Meaning::Decodes {
            let natives = header.vector().len() as u32;
            let first = header.batch;
            context.out.delivered.extend((0..natives).map(|native| (flow, first.wrapping_add(native))));
            context.out.whole.push((flow, first));
        }
        context.out.agent.messages.extend(acknowledge.as_ref().and_then(message));
        if to_me && meaning != Meaning::Old {
            self.repeat(&header.flow, acknowledge.as_ref(), context.now);
            context.out.agent.timers.extend(self.next_repetition());
        }
    }

    fn ready(&self, now: Time) -> Option<Priority> {
        self.next(now).map(|(_, priority)| priority)
    }

    fn make(&mut self, context: &mut ForwarderContext<'_>) -> Option<Made> {
        let (flow, _) = self.next(context.now)?;
        let coded = self.node.make(&flow, context.random)?;
        let mut header = vec![0; coded.wire_len()];
        coded.encode(&mut header).ok()?;
        if let Some(diffq) = &mut self.diffq {
            diffq.sent(&self.node, &flow, context.now);
            let left = self.node.backlog_to(flow.destination);
            header.extend(diffq.trailer(&flow, left, context.now));
        }
        self.counts.sent += 1;
        Some(Made { flow: FlowId(flow.flow), batch: coded.batch, header, content: self.content(&flow) })
    }
}

impl MoreStation {
    /// Number of flows, sizes and acknowledgements that it keeps of what others have sent.
    #[must_use]
    pub const fn kept(&self) -> usize {
        self.node.len() + self.contents.len() + self.repeated.len()
    }

    /// The node as an agent.
    #[must_use]
    pub fn boxed(self) -> Box<dyn Agent> {
        Box::new(self)
    }
}

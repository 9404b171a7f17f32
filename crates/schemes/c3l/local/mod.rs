//! The agent of `c3l-local` (§IV-B, figure 12, first bar): each node estimates the bandwidth of its radio by itself and divides its time
//! among the flows that pass it. No messages, no controller.
//!
//! Readings:
//! - The estimate is that of the interface, from the times that its MAC spent on the packets of a sample, and counts for all of its next
//!   hops.
//! - Rates that a law chooses for links (`on_link_rate`) are left out: times at the MAC show them, and before the first packet the estimate
//!   is that of a lone link at the nominal rate.
//! - What flows require is judged once an epoch by what their sources have stated last, or by what has arrived in a whole epoch
//!   (`sending`): then a flow of which nothing has arrived requires nothing. A flow that appears between has its part at once, and others
//!   keep what they require.

pub mod bandwidth;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span, Time};

use super::links::{PACKET, Sending, rate};
use super::shares::{self, Requirement};
use bandwidth::{Bandwidth, BandwidthConfig, LocalFlow, share_time};

use crate::places::{
    Agent, AgentContext, AgentSetup, FlowId, FlowShare, LoneExchange, NodeId, NodeSample, Setting, Timer,
};

const DIVIDE: Timer = Timer(1);

/// The parameters of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalConfig {
    /// The estimate.
    pub bandwidth: BandwidthConfig,
    /// Requirements of flows; δ is a part of the node's even rate.
    pub shares: shares::SharesConfig,
    /// The quantity that counts as the rate of a flow.
    pub sending: Sending,
    /// Part of the node's time that flows divide.
    pub time: f64,
    /// Time between two divisions.
    pub epoch: Span,
}

/// A flow that the node sends on.
#[derive(Debug, Clone, Copy)]
struct Flow {
    /// The next hop.
    to: NodeId,
    /// The rate that the flow's source states, if statements count.
    stated: Option<Rate>,
    /// Since requirements were judged.
    bytes: u64,
    /// It was there then.
    whole: bool,
    requirement: Requirement,
    share: Option<Rate>,
    seen: Time,
}

impl Flow {
    const fn new(to: NodeId, now: Time) -> Self {
        let requirement = Requirement::Infinite;
        Self { to, stated: None, bytes: 0, whole: false, requirement, share: None, seen: now }
    }
}

/// The agent.
#[derive(Debug, Clone)]
pub struct LocalAgent {
    config: LocalConfig,
    exchange: LoneExchange,
    bandwidth: Bandwidth,
    flows: BTreeMap<FlowId, Flow>,
    /// When requirements were judged; before the first time no flow is, since none was there for a whole epoch.
    judged: Time,
    delta: Rate,
}

impl LocalAgent {
    /// An agent that has seen nothing.
    #[must_use]
    pub const fn new(config: LocalConfig) -> Self {
        Self {
            config,
            exchange: LoneExchange { fixed: Span::ZERO, rts: Span::ZERO, rts_above: 0, rate: Rate(0) },
            bandwidth: Bandwidth::new(),
            flows: BTreeMap::new(),
            judged: Time::ZERO,
            delta: Rate(0),
        }
    }

    /// The estimate, or what a lone link has before the first packet.
    fn estimate(&self) -> f64 {
        self.bandwidth.get().unwrap_or_else(|| self.exchange.goodput(PACKET).0 as f64)
    }

    /// Judges what flows require, by what they have sent since the last time.
    fn judge(&mut self, now: Time) {
        let over = now.since(self.judged);
        let LocalConfig { shares, .. } = self.config;
        self.judged = now;
        self.flows.retain(|_, flow| now.since(flow.seen) < shares.expiry);
        for flow in self.flows.values_mut() {
            let bytes = core::mem::take(&mut flow.bytes);
            let sent = flow.stated.unwrap_or_else(|| rate(bytes, over));
            let whole = core::mem::replace(&mut flow.whole, true);
            if let Some(share) = flow.share.filter(|_| whole) {
                flow.requirement = Requirement::of(sent, share, self.delta, shares.consumed);
            }
        }
    }

    fn divide(&mut self, context: &mut AgentContext<'_>) {
        let (bandwidth, time) = (self.estimate(), self.config.time);
        let local: Vec<LocalFlow> =
            self.flows.values().map(|flow| LocalFlow { requirement: flow.requirement, bandwidth }).collect();
        let part = self.config.shares.delta / local.len().max(1) as f64;
        self.delta = Rate((bandwidth * time * part) as u64);
        let mut rates = Vec::new();
        share_time(&local, time, self.delta, &mut rates);
        for ((&flow, state), rate) in self.flows.iter_mut().zip(rates) {
            let rate = Rate(rate as u64);
            state.share = Some(rate);
            context.out.settings.push(Setting::FlowRate { flow, rate });
        }
    }
}

impl Agent for LocalAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.exchange = setup.exchange;
        let first = Span((self.config.epoch.as_nanos() as f64 * context.random.uniform()) as u64);
        context.out.timers.push((DIVIDE, context.now + first));
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        let used = &sample.link;
        let mean = |sum: u64| sum.checked_div(used.sent_packets);
        if let (Some(size), Some(access)) = (mean(used.sent_bytes), mean(used.access.0)) {
            self.bandwidth.delivered(&self.config.bandwidth, Bytes(size), Span(access));
        }
        let mut new = false;
        for seen in sample.flows {
            if !self.flows.contains_key(&seen.flow) {
                if self.flows.len() >= self.config.shares.most {
                    let oldest = self.flows.iter().min_by_key(|(_, flow)| flow.seen).map(|(&flow, _)| flow);
                    oldest.map(|oldest| self.flows.remove(&oldest));
                }
                new = true;
            }
            let flow = self.flows.entry(seen.flow).or_insert(Flow::new(seen.neighbour, context.now));
            flow.to = seen.neighbour;
            flow.stated = seen.stated.filter(|_| self.config.sending == Sending::Stated);
            flow.bytes += seen.bytes;
            flow.seen = context.now;
        }
        if new {
            self.divide(context);
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        self.judge(context.now);
        self.divide(context);
        context.out.timers.push((timer, context.now.saturating_add(self.config.epoch)));
    }

    /// The estimate and the number of flows.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        [("bandwidth_bps", self.estimate()), ("flows", self.flows.len() as f64)].into()
    }

    fn share(&self, flow: FlowId) -> Option<FlowShare> {
        let state = self.flows.get(&flow)?;
        Some(FlowShare { to: state.to, rate: state.share?, scale: 1.0, allocated: None })
    }
}

//! The agent of `c3l-local` (§IV-B, figure 12, first bar): each node estimates the bandwidth of its radio by itself and divides its time
//! among the flows that pass it. No messages, no controller.
//!
//! Reading: the estimate is that of the interface, from the times that its MAC spent on the packets of a sample, and counts for all of its
//! next hops.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span, Time};

use super::links::rate;
use super::local::{Bandwidth, BandwidthConfig, LocalFlow, share_time};
use super::shares::{self, Requirement};
use crate::places::{
    Agent, AgentContext, AgentSetup, FlowId, LoneExchange, NodeId, NodeSample, Setting, Timer,
};

const DIVIDE: Timer = Timer(1);

/// The parameters of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// The estimate.
    pub bandwidth: BandwidthConfig,
    /// Requirements of flows; δ is a part of the node's even rate.
    pub shares: shares::Config,
    /// Part of the node's time that flows divide.
    pub time: f64,
    /// Time between two divisions.
    pub epoch: Span,
}

/// A flow that the node sends on.
#[derive(Debug, Clone, Copy)]
struct Flow {
    bytes: u64,
    share: Option<Rate>,
    seen: Time,
}

/// The agent.
#[derive(Debug, Clone)]
pub struct LocalAgent {
    config: Config,
    exchange: LoneExchange,
    bandwidth: Bandwidth,
    flows: BTreeMap<(FlowId, NodeId), Flow>,
    divided: Time,
    delta: Rate,
}

impl LocalAgent {
    /// An agent that has seen nothing.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self {
            config,
            exchange: LoneExchange { fixed: Span::ZERO, rts: Span::ZERO, rts_above: 0, rate: Rate(0) },
            bandwidth: Bandwidth::new(),
            flows: BTreeMap::new(),
            divided: Time::ZERO,
            delta: Rate(0),
        }
    }

    /// The estimate, or what a lone link has before the first packet.
    fn estimate(&self) -> f64 {
        let packet = u32::try_from(self.config.bandwidth.packet.0).unwrap_or(u32::MAX);
        self.bandwidth.get().unwrap_or_else(|| self.exchange.goodput(packet).0 as f64)
    }

    fn divide(&mut self, context: &mut AgentContext<'_>) {
        let (now, bandwidth) = (context.now, self.estimate());
        let over = now.since(self.divided);
        let Config { shares, time, .. } = self.config;
        self.divided = now;
        self.flows.retain(|_, flow| now.since(flow.seen) < shares.expiry);
        let delta = self.delta;
        let local: Vec<LocalFlow> = self
            .flows
            .values_mut()
            .map(|flow| {
                let sent = rate(core::mem::take(&mut flow.bytes), over);
                let requirement = flow.share.map_or(Requirement::Infinite, |share| {
                    Requirement::of(sent, share, delta, shares.consumed)
                });
                LocalFlow { requirement, bandwidth }
            })
            .collect();
        self.delta = Rate((bandwidth * time * shares.delta / local.len().max(1) as f64) as u64);
        let mut rates = Vec::new();
        share_time(&local, time, self.delta, &mut rates);
        for ((&(flow, _), state), rate) in self.flows.iter_mut().zip(rates) {
            let rate = Rate(rate as u64);
            state.share = Some(rate);
            context.out.settings.push(Setting::FlowRate { flow, rate });
        }
    }
}

impl Agent for LocalAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.exchange = setup.exchange;
        self.divided = context.now;
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
            let key = (seen.flow, seen.neighbour);
            if !self.flows.contains_key(&key) {
                if self.flows.len() >= self.config.shares.most {
                    let oldest = self.flows.iter().min_by_key(|(_, flow)| flow.seen).map(|(&key, _)| key);
                    oldest.map(|oldest| self.flows.remove(&oldest));
                }
                new = true;
            }
            let flow = self.flows.entry(key).or_insert(Flow { bytes: 0, share: None, seen: context.now });
            flow.bytes += seen.bytes;
            flow.seen = context.now;
        }
        if new {
            self.divide(context);
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        self.divide(context);
        context.out.timers.push((timer, context.now.saturating_add(self.config.epoch)));
    }

    /// The estimate and the number of flows.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        [("bandwidth_bps", self.estimate()), ("flows", self.flows.len() as f64)].into()
    }
}

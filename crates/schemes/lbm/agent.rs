//! The agent beside an access point's radio: it measures, moves the threshold, and sets the marking probability [LBM §2].

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::Rate;

use super::Lbm;
use super::adaptation::Adaptation;
use super::load::{LinkRates, Load};
use crate::places::{
    Agent, AgentContext, AgentSetup, Direction, LoneExchange, NodeId, NodeSample, Probability, Setting,
};

/// LBM's agent.
#[derive(Debug, Clone)]
pub struct LbmAgent {
    lbm: Lbm,
    load: Load,
    nominal: Rate,
    rates: LinkRates,
    adaptation: Adaptation,
    /// The load in the last window.
    rho: f64,
    probability: f64,
    /// Moving average of the share of time in which others send to others.
    foreign: f64,
    /// Mean delay of the last window in s; not a number until a packet is acknowledged.
    delay_s: f64,
}

impl LbmAgent {
    /// An agent with a run's parameters.
    #[must_use]
    pub fn new(lbm: Lbm) -> Self {
        Self {
            load: Load {
                measure: lbm.measure,
                mean_packet: lbm.mean_packet,
                access_scale: lbm.access_scale,
                rate: Rate(0),
                downlink_only: lbm.downlink_only,
            },
            nominal: Rate(0),
            rates: LinkRates::default(),
            adaptation: Adaptation::new(&lbm),
            rho: 0.0,
            probability: 0.0,
            foreign: 0.0,
            delay_s: f64::NAN,
            lbm,
        }
    }
}

/// Weight of an interval in the average of foreign time.
const FOREIGN_WEIGHT: f64 = 0.1;

impl Agent for LbmAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _context: &mut AgentContext<'_>) {
        self.nominal = setup.rate;
        self.load.rate = setup.rate;
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], _context: &mut AgentContext<'_>) {
        self.rates.keep(neighbours);
        self.load.rate = self.rates.mean().unwrap_or(self.nominal);
    }

    fn on_link_rate(&mut self, neighbour: NodeId, exchange: LoneExchange, _context: &mut AgentContext<'_>) {
        self.rates.set(neighbour, exchange.rate);
        self.load.rate = self.rates.mean().unwrap_or(self.nominal);
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        let link = &sample.link;
        self.adaptation.update(link.sent_packets, link.delay);
        self.rho = self.load.of(sample.interval, link);
        self.probability = self.lbm.curve().probability(self.rho, self.adaptation.rho0());
        if self.lbm.most_foreign < 1.0 {
            self.foreign += FOREIGN_WEIGHT * (sample.foreign() - self.foreign);
            if self.foreign > self.lbm.most_foreign {
                self.probability = 0.0;
            }
        }
        if link.sent_packets > 0 {
            self.delay_s = link.delay.as_secs_f64() / link.sent_packets as f64;
        }
        let incoming = if self.lbm.downlink_only { 0.0 } else { self.probability };
        for (direction, p) in [(Direction::Outgoing, self.probability), (Direction::Incoming, incoming)] {
            context.out.settings.push(Setting::Probability(direction, Probability::new(p)));
        }
    }

    /// Load, threshold, marking probability and mean delay (s) of the last window, and the mean share of time in which others send to
    /// others; the delay stays while no packet is acknowledged.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("rho", self.rho),
            ("rho0", self.adaptation.rho0()),
            ("probability", self.probability),
            ("delay_s", self.delay_s),
            ("foreign", self.foreign),
        ]
    }
}

//! Where a node has delivery ratios from: the simulator, or probes on the air. A station forwards to it what it is called with, and asks
//! for losses.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Bytes, Db, Span, Time};
use airfair_wire::probe::Probe;

use super::losses::Losses;
use super::probes::{self, Probes};
use crate::places::{
    AgentContext, DeliveryRatios, Destination, Message, MessageKinds, NodeId, SendRate, Timer, Transmit,
};
use crate::{params, words};

/// The next probe is due. Stations number their own timers from 1 on.
const PROBE: Timer = Timer(100);

/// Headers of UDP and IP of a probe, bytes.
const HEADERS: u64 = 28;

/// Part of the interval by which a probe is early or late.
const JITTER: f64 = 0.1;

/// The most other nodes whose lists are stored.
const MOST_NODES: usize = 1024;

words! {
    /// Where delivery ratios come from.
    pub(crate) enum Origin {
        /// The simulator: the truth on a silent air.
        Given = "given",
        /// Measurements.
        Probes = "probes",
    }
}

params! {
    /// The parameters of delivery ratios, which all schemes that need them share.
    pub(crate) struct RatiosParameters {
        /// delivery ratios of the network: "given" by the simulator, for 1500 B on a silent air, or measured by "probes" on the air
        operator ratios: Origin = Origin::Given;
        /// mean time between two probes of a node (De Couto and others, MobiCom 2003), with ratios = "probes"
        paper probe_interval: Span = Span::from_secs(1), in Span::from_millis(10)..=Span::from_secs(60);
        /// probes over which a ratio is taken (De Couto and others: 10)
        paper probe_window: u64 = 10, in 1..=64;
        /// size of a probe as an IP packet; sent at the rate of data
        operator probe_size: Bytes = Bytes(1500), in Bytes(128)..=Bytes(1500);
        /// age at which what a node has measured does not count any more; at least three intervals
        operator probe_expiry: Span = Span::from_secs(30), in Span::from_millis(100)..=Span::from_secs(600);
    }
}

impl RatiosParameters {
    /// The constants of probes; none if ratios are given.
    pub(crate) fn probes(&self) -> Option<probes::ProbesConfig> {
        let config = probes::ProbesConfig {
            interval: self.probe_interval,
            window: self.probe_window as u32,
            bytes: self.probe_size.get().saturating_sub(HEADERS) as usize,
            expiry: self.probe_expiry.max(Span(self.probe_interval.0.saturating_mul(3))),
            nodes: MOST_NODES,
        };
        (self.ratios == Origin::Probes).then_some(config)
    }
}

/// Kinds of the messages of a scheme that sends probes alone: results count them.
pub(crate) static PROBES: MessageKinds = MessageKinds { names: &["probe"], of: |_| Some(0) };
/// Kinds of the messages of a scheme that sends acknowledgements.
pub(crate) static ACKNOWLEDGEMENTS: MessageKinds =
    MessageKinds { names: &["acknowledgement"], of: |_| Some(0) };
/// Kinds of the messages of a scheme that sends both.
pub(crate) static BOTH: MessageKinds = MessageKinds {
    names: &["probe", "acknowledgement"],
    of: |start| Some(usize::from(!Probe::is_one(start[0]))),
};

/// Delivery ratios at a node.
#[derive(Debug, Clone)]
pub struct Ratios {
    config: Option<probes::ProbesConfig>,
    given: DeliveryRatios,
    probes: Option<Probes>,
}

impl Ratios {
    /// Before the node's interface starts. Without constants of probes ratios are given by [`Self::set_given`].
    #[must_use]
    pub fn new(config: Option<probes::ProbesConfig>) -> Self {
        Self { config, given: DeliveryRatios::default(), probes: None }
    }

    /// The node's interface starts: the first probe follows within an interval.
    pub fn start(&mut self, me: NodeId, context: &mut AgentContext<'_>) {
        if let Some(config) = self.config {
            self.probes = Some(Probes::new(me, config));
            let first = Span((context.random.uniform() * config.interval.as_nanos() as f64) as u64);
            context.out.timers.push((PROBE, context.now.saturating_add(first)));
        }
    }

    /// Takes the ratios that the simulator gives.
    pub fn set_given(&mut self, ratios: &DeliveryRatios) {
        self.given = ratios.clone();
    }

    /// A timer of the agent has fired. True if it was that of probes: then a probe is sent, and lists of forwarders may be made anew.
    pub fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) -> bool {
        let (Some(config), Some(probes), PROBE) = (self.config, &mut self.probes, timer) else {
            return false;
        };
        let bytes = probes.probe(context.now);
        let transmit = Some(Transmit { rate: SendRate::Data, power_offset: Db(0.0) });
        context.out.messages.push(Message { to: Destination::Broadcast, bytes, ahead: true, transmit });
        let around = 1.0 + JITTER * (2.0 * context.random.uniform() - 1.0);
        let next = Span((config.interval.as_nanos() as f64 * around) as u64);
        context.out.timers.push((PROBE, context.now.saturating_add(next)));
        true
    }

    /// A message for the agent has arrived. True if it was a probe.
    pub fn on_message(&mut self, from: NodeId, bytes: &[u8], now: Time) -> bool {
        self.probes.as_mut().is_some_and(|probes| probes.hear(from, bytes, now))
    }

    /// The losses between all nodes, as far as the node knows.
    #[must_use]
    pub fn losses(&self, now: Time) -> Losses {
        self.probes.as_ref().map_or_else(|| Losses::of(&self.given), |probes| probes.losses(now))
    }

    /// The measurement by probes, if there is one.
    #[must_use]
    pub const fn probes(&self) -> Option<&Probes> {
        self.probes.as_ref()
    }

    /// Values for time series: probes sent, bytes of lists in them, nodes whose lists are known, and messages and lists that were refused.
    /// None where ratios are given.
    #[must_use]
    pub fn gauges(&self) -> Vec<(&'static str, f64)> {
        let Some(probes) = &self.probes else { return Vec::new() };
        let counts = probes.counts();
        vec![
            ("probes", counts.sent as f64),
            ("probe_list_bytes", counts.list_bytes as f64),
            ("probe_nodes", probes.len() as f64),
            ("probe_refused", counts.refused as f64),
        ]
    }
}

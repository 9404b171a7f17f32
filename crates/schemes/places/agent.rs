//! An agent: what runs beside a node, watches its counters and talks to neighbours.

use alloc::vec::Vec;

use airfair_units::{Rate, Span};

use super::{AgentContext, NodeId, QueueView, Timer};

/// Time in each of the five radio states. At one instant the first of these that holds counts: transmit, receive
/// (a decodable frame, whoever it is for, until its end), carrier busy, NAV, idle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Transmitting.
    pub transmit: Span,
    /// Receiving a decodable frame.
    pub receive: Span,
    /// Energy above the threshold, nothing decodable.
    pub busy: Span,
    /// Physically idle, reserved by NAV.
    pub nav: Span,
    /// Idle.
    pub idle: Span,
}

impl Airtime {
    fn states(&mut self) -> [&mut Span; 5] {
        [&mut self.transmit, &mut self.receive, &mut self.busy, &mut self.nav, &mut self.idle]
    }
}

/// What has come since an earlier count. That may have taken a time for another state than is known by now (a carrier that has turned
/// out to be a frame): the state that has got most is then counted shorter by it, so that the sum is the time between the counts.
impl core::ops::Sub for Airtime {
    type Output = Self;

    fn sub(mut self, mut earlier: Self) -> Self {
        let mut moved = 0;
        for (state, earlier) in self.states().into_iter().zip(earlier.states()) {
            moved += earlier.0.saturating_sub(state.0);
            state.0 = state.0.saturating_sub(earlier.0);
        }
        if moved > 0
            && let Some(most) = self.states().into_iter().max_by_key(|state| state.0)
        {
            most.0 = most.0.saturating_sub(moved);
        }
        self
    }
}

/// What an agent is told when its interface starts.
#[derive(Debug, Clone, Copy)]
pub struct AgentSetup<'a> {
    /// The node.
    pub node: NodeId,
    /// Rate of the radio's data frames.
    pub rate: Rate,
    /// Nodes that can decode it, in the natural order of their names ("n2" before "n10").
    pub neighbours: &'a [NodeId],
}

/// An interface's counters since its last sample.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeSample {
    /// Length of the interval: the five states add up to it.
    pub interval: Span,
    /// Radio states.
    pub airtime: Airtime,
    /// Part of `receive` spent on frames for this node; broadcasts are for nobody in particular.
    pub receive_own: Span,
    /// Responses that did not come: attempts that failed.
    pub retries: u32,
    /// Packets of flows, acknowledgements included, that left its queue or that it received for itself or to pass on.
    pub traffic: u32,
    /// Flows that are being set up: their static route passes the node, they have sent something, and none of it has arrived.
    pub set_up: u32,
    /// Its queue.
    pub queue: QueueView,
    /// What its link has carried; nothing unless [wanted](super::Wants::link_use).
    pub link: LinkUse,
}

/// Packets of flows, acknowledgements included, that a radio interface has sent and received; sizes are those of IP packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkUse {
    /// Sent and acknowledged by the next hop's MAC.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Received, to keep or to pass on.
    pub received_packets: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Times of those sent, from their arrival in the queue to the MAC's acknowledgement, added up.
    pub delay: Span,
    /// The part of `delay` that they spent as the MAC's first packet: contention, attempts, acknowledgement.
    pub access: Span,
}

impl core::ops::Sub for LinkUse {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            sent_packets: self.sent_packets - earlier.sent_packets,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
            received_packets: self.received_packets - earlier.received_packets,
            received_bytes: self.received_bytes - earlier.received_bytes,
            delay: Span(self.delay.0 - earlier.delay.0),
            access: Span(self.access.0 - earlier.access.0),
        }
    }
}

/// An agent: beside a radio interface of a node (NRED, LBM, C3L's node part, topology discovery). It hears its own channel.
pub trait Agent: Send {
    /// The interface starts. The first sample ends within one interval from now, at a moment drawn at random, so that no two agents
    /// march in step.
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>);

    /// Movement has changed which nodes can decode it: these can now, in the same order, in place of those of
    /// `on_start`.
    fn on_neighbours(&mut self, _neighbours: &[NodeId], _context: &mut AgentContext<'_>) {}

    /// An interval of the counters has ended: the interval that was [wanted](super::Wants::samples).
    fn on_sample(&mut self, _sample: &NodeSample, _context: &mut AgentContext<'_>) {}

    /// A message arrived, or was overheard (`to_me` is false), which happens only if [wanted](super::Wants::overheard).
    fn on_message(&mut self, _from: NodeId, _bytes: &[u8], _to_me: bool, _context: &mut AgentContext<'_>) {}

    /// A timer fired.
    fn on_timer(&mut self, _timer: Timer, _context: &mut AgentContext<'_>) {}

    /// Inner values that somebody may want to see over time, by name, such as a moving average: at each call the same names in the
    /// same order, and the same for every agent of a scheme that has any.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

//! An agent: what runs beside a node, watches its counters and talks to neighbours.

use airfair_units::Span;

use super::{Context, NodeId, QueueView, Timer};

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

/// A node's counters since its last sample.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeSample {
    /// Length of the interval: the five states add up to it.
    pub interval: Span,
    /// Radio states.
    pub airtime: Airtime,
    /// Part of `receive` spent on frames for this node.
    pub receive_own: Span,
    /// Frames that were sent again.
    pub retries: u32,
    /// Its queue.
    pub queue: QueueView,
}

/// A node's agent (NRED, LBM, C3L's node part, topology discovery).
pub trait Agent: Send {
    /// The node starts.
    fn on_start(&mut self, node: NodeId, context: &mut Context<'_>);

    /// An interval of the counters has ended.
    fn on_sample(&mut self, sample: &NodeSample, context: &mut Context<'_>);

    /// A message arrived, or was overheard (`to_me` is false).
    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut Context<'_>);

    /// A timer fired.
    fn on_timer(&mut self, timer: Timer, context: &mut Context<'_>);
}

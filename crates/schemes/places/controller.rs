//! A controller: code at one node that receives reports, late and with gaps, and distributes shares.

use alloc::vec::Vec;

use airfair_units::{Rate, Time};

use super::{ControllerContext, FlowId, NodeId, Timer};

/// The setup of a controller when it starts.
#[derive(Debug, Clone, Copy)]
pub struct ControllerSetup<'a> {
    /// The node at which it runs.
    pub node: NodeId,
    /// Nodes one hop away: at the far ends of the node's wires, and those that can decode its frames, in the natural order of their
    /// names. So a controller at a node without a radio, which has no agent, can make itself known.
    pub neighbours: &'a [NodeId],
}

/// A directed link as a controller names it: sender and receiver.
pub type LinkName = [NodeId; 2];

/// The links that a controller has found to be inhibited: their senders do not sense a node that disturbs their receivers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inhibition {
    /// The time of the round after which this holds.
    pub at: Time,
    /// The links that carry flows, each with the nodes that inhibit it, all in ascending order.
    pub links: Vec<(LinkName, Vec<NodeId>)>,
    /// True if nodes count that the receiver only senses; false: only those that it can receive.
    pub sensed: bool,
}

/// The limit of the rate that a controller has given to a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowLimit {
    /// The rate.
    pub rate: Rate,
    /// The links whose common capacity was used up when the flow got its rate, in ascending order; empty if the flow has what it asks for.
    pub links: Vec<LinkName>,
    /// The estimate of that capacity: 1 if it is what a lone link has.
    pub capacity: f64,
    /// Those of the links whose queues were built up at the last round, in ascending order.
    pub overloaded: Vec<LinkName>,
}

/// A central controller (C3L). A controller never blocks a node: silence means defaults.
///
/// Reports and shares are messages. Their bytes hold the time of a report and the lifetime of a share: messages may arrive late,
/// or never. A controller that is started again, or elsewhere, is a new one and knows nothing.
pub trait Controller: Send {
    /// The controller starts: timers may be set.
    fn on_start(&mut self, setup: &ControllerSetup<'_>, context: &mut ControllerContext<'_>);

    /// A message for the node arrived, such as a report. Messages between agents are among them; broadcasts are not.
    fn on_message(&mut self, from: NodeId, bytes: &[u8], context: &mut ControllerContext<'_>);

    /// A timer fired.
    fn on_timer(&mut self, timer: Timer, context: &mut ControllerContext<'_>);

    /// Inner values for time series, by name: the same names in the same order at each call.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Entries of messages and tables looked at so far: a measure of its work that depends on no clock and no machine.
    fn work(&self) -> u64 {
        0
    }

    /// The limit of a flow since the last round, for explanations; of a flow whose route is known in pieces, the piece with the smallest
    /// rate.
    fn limit(&self, _flow: FlowId) -> Option<FlowLimit> {
        None
    }

    /// The inhibited links as of the last round, for results; none before the first one, or if it does not look for them.
    fn inhibition(&self) -> Option<Inhibition> {
        None
    }
}

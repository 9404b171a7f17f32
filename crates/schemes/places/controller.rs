//! A controller: one place that hears reports, late and with gaps, and hands out allocations.

use alloc::vec::Vec;

use airfair_units::{Rate, Time};

use super::{Context, FlowId, NodeId, Timer};

/// A node's report as it arrived.
#[derive(Debug, Clone)]
pub struct Report {
    /// Who wrote it.
    pub from: NodeId,
    /// When it was written.
    pub written: Time,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A share that the controller gives to a flow; it travels as a message and expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// The flow.
    pub flow: FlowId,
    /// Its rate.
    pub rate: Rate,
    /// After this the node falls back to its default.
    pub expires: Time,
}

/// A central controller (C3L). It never blocks a node: silence means defaults.
pub trait Controller: Send {
    /// A report arrived.
    fn on_report(&mut self, report: &Report, context: &mut Context<'_>);

    /// A timer fired; allocations of this round, if any, are returned and sent as messages.
    fn on_timer(&mut self, timer: Timer, context: &mut Context<'_>) -> Vec<Allocation>;
}

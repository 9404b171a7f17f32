//! A link of a node in a cycle: its flows, its share, what has come for it and what got through.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::LinksConfig;
use crate::c3l::overload::{Injection, Overload};
use crate::c3l::shares::Shares;
use crate::places::{FlowId, NodeId};

/// The share of a link, and the rate of a flow, that nobody limits.
pub(in crate::c3l) const NO_LIMIT: Rate = Rate(u64::MAX);

/// A flow on a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// Bytes and packets since its rate was last measured, and when that was.
    pub(super) measured: (u64, u32, Time),
    /// Bytes in the cycle.
    pub(super) bytes: u64,
    /// The rate that the flow's source states, and true if the statement is newer than the last division.
    pub(super) stated: Option<(Rate, bool)>,
    pub(super) seen: Time,
    /// The last rate that the hop was told.
    pub(super) told: Option<Rate>,
}

/// A link.
#[derive(Debug, Clone)]
pub(super) struct LinkState {
    pub(super) flows: BTreeMap<FlowId, Flow>,
    pub(super) shares: Shares,
    /// The controller's share and the end of its validity.
    pub(super) share: Option<(Rate, Time)>,
    pub(super) overload: Overload,
    pub(super) injection: Injection,
    pub(super) waiting: u32,
    /// In the cycle: packets and bytes of flows, packets that the MAC has finished, transmissions.
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) finished: u64,
    /// In the cycle: packets that have arrived at the queue, and those that got through; packets that waited when it began.
    pub(super) arrived: u64,
    pub(super) through: u64,
    pub(super) waited: u32,
    pub(super) attempts: u64,
    /// Air that acknowledgements of flows have taken in the cycle.
    pub(super) answers: BTreeMap<FlowId, Span>,
    pub(super) used: Time,
    /// Mean size of flows' packets in the last cycle that had any.
    pub(super) size: Option<u32>,
}

/// A link in a cycle that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The next hop.
    pub to: NodeId,
    /// Goodput of the link alone.
    pub goodput: Rate,
    /// Rate of what its flows have sent.
    pub used: Rate,
    /// Transmissions of a packet, in 256ths.
    pub transmissions: u16,
    /// True if its queue was built up.
    pub overloaded: bool,
    /// Part of its packets that were lost, if that is told.
    pub lost: f64,
    /// The flows of the link, each with its rate and its requirement.
    pub flows: Vec<(FlowId, Rate, Option<Rate>)>,
    /// Air that the acknowledgements of flows take, microseconds a second.
    pub answers: Vec<(FlowId, u32)>,
}

impl LinkState {
    pub(super) fn new(config: &LinksConfig, now: Time) -> Self {
        Self {
            flows: BTreeMap::new(),
            shares: Shares::new(config.shares),
            share: None,
            overload: Overload::new(),
            injection: Injection::default(),
            waiting: 0,
            packets: 0,
            bytes: 0,
            finished: 0,
            arrived: 0,
            through: 0,
            waited: 0,
            attempts: 0,
            answers: BTreeMap::new(),
            used: now,
            size: None,
        }
    }

    /// The controller does not limit the link now.
    pub(super) fn free(&self, now: Time) -> bool {
        self.valid_share(now) == Some(NO_LIMIT)
    }

    /// Part of the packets of the cycle that the queue or the MAC has lost.
    pub(super) fn lost(&self) -> f64 {
        let waits = u64::from(self.waiting.saturating_sub(self.waited));
        let lost = self.arrived.saturating_sub(self.through + waits);
        if lost > 0 { (lost as f64 / self.arrived as f64).min(1.0) } else { 0.0 }
    }

    pub(super) fn valid_share(&self, now: Time) -> Option<Rate> {
        self.share.filter(|&(_, until)| now < until).map(|(share, _)| share)
    }

    pub(super) fn begin(&mut self) {
        self.overload = Overload::new();
        (self.packets, self.bytes, self.finished, self.attempts) = (0, 0, 0, 0);
        (self.arrived, self.through, self.waited) = (0, 0, self.waiting);
        self.answers.clear();
        self.flows.values_mut().for_each(|flow| flow.bytes = 0);
    }
}

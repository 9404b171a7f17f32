//! The agent of DiffQ at a radio: sizes by broadcast, calls of nodes that starve, or both. Each is ours, and each tells its messages from
//! the other's.

use alloc::vec::Vec;

use super::announcement::Announcer;
use super::starving::Caller;
use crate::places::{Agent, AgentContext, AgentSetup, NodeId, NodeSample};

/// The parts of an agent of DiffQ.
#[derive(Debug, Clone, Default)]
pub(super) struct DiffQAgent {
    /// It tells the sizes of queues.
    pub(super) announcer: Option<Announcer>,
    /// It calls, and hears calls.
    pub(super) caller: Option<Caller>,
}

impl Agent for DiffQAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _: &mut AgentContext<'_>) {
        self.caller.iter_mut().for_each(|caller| caller.start(setup.node));
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        self.caller.iter_mut().for_each(|caller| caller.sample(sample, context));
    }

    fn on_backlogs(&mut self, sizes: &[(NodeId, u32)], context: &mut AgentContext<'_>) {
        self.announcer.iter_mut().for_each(|announcer| announcer.announce(sizes, context));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], _: bool, context: &mut AgentContext<'_>) {
        if let Some(announcer) = &self.announcer {
            announcer.hear(from, bytes, context);
        }
        self.caller.iter_mut().for_each(|caller| caller.hear(bytes, context));
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.caller.iter().flat_map(Caller::gauges).collect()
    }

    fn work(&self) -> u64 {
        self.caller.as_ref().map_or(0, Caller::work)
    }
}

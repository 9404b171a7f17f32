//! What ends a run with an error that its scheme has made, and the boxes for effects of hooks.

use airfair_host::Firing;
use airfair_schemes::places::{AgentEffects, HopEffects, QueueEffects, SourceEffects};

/// The first error of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The agent at a node has sent a message to a node that does not exist.
    StrangeNode { node: u32 },
    /// The source of a flow has failed ([`SourceEffects::failed`]).
    FailedSource { flow: u32 },
}

/// Effects of hooks, one box for each place: a hook leaves nothing for the next.
#[derive(Debug, Default)]
pub(super) struct Effects {
    pub queue: QueueEffects,
    pub hop: HopEffects,
    pub source: SourceEffects,
    pub agent: AgentEffects,
    /// Timers that a hook has set.
    pub firings: Vec<Firing>,
}

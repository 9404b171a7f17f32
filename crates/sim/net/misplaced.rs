//! What a scheme's hook has asked for that its place cannot do: an error of the run. Each host looks after each hook, so that no effect
//! reaches another hook.

use airfair_schemes::places::Outbox;
use airfair_units::Time;

use super::Net;

/// Where a scheme stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Queue,
    Aqm,
    Hop,
    Agent,
    Source,
}

impl Place {
    /// Its name, and what its hooks may ask for beside their answers.
    pub(crate) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Queue => ("queue", "a queue may drop and mark packets that it stores"),
            Self::Aqm => ("aqm", "an AQM answers with a verdict and asks for nothing else"),
            Self::Hop => ("hop", "a hop may set timers"),
            Self::Agent => (
                "agent",
                "an agent may set timers, send messages to nodes of the scenario, and change settings",
            ),
            Self::Source => ("source", "a source may set timers"),
        }
    }
}

/// The first that was asked for in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Misplaced {
    pub place: Place,
    pub node: u32,
    /// A source's.
    pub flow: Option<u32>,
    /// What the hook has done, in words.
    pub effect: &'static str,
}

/// When a timer fires that a hook has set: a moment that has come already is the next one, so that time goes on.
pub(super) const fn due(at: Time, now: u64) -> u64 {
    if at.0 > now { at.0 } else { now.saturating_add(1) }
}

/// What lies in an outbox, in words.
fn effect(out: &Outbox) -> Option<&'static str> {
    let asked = [
        (out.messages.is_empty(), "sent a message"),
        (out.timers.is_empty(), "set a timer"),
        (out.settings.is_empty(), "changed a setting"),
        (out.dropped.is_empty(), "dropped a packet that a queue stores"),
        (out.marked.is_empty(), "marked a packet that a queue stores"),
    ];
    asked.iter().find(|asked| !asked.0).map(|asked| asked.1)
}

impl Net {
    /// A hook of a place at a node, or of a flow's source, is over and its effects are carried out: what is left was asked for in vain.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse_rest(&mut self, place: Place, node: u32, flow: Option<u32>) {
        if let Some(effect) = effect(&self.outbox) {
            self.misplaced.get_or_insert(Misplaced { place, node, flow, effect });
        }
        let Outbox { messages, timers, settings, dropped, marked } = &mut self.outbox;
        messages.clear();
        timers.clear();
        settings.clear();
        dropped.clear();
        marked.clear();
    }
}

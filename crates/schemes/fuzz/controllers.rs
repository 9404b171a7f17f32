//! A controller under attack.

use alloc::boxed::Box;

use airfair_units::Time;
use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};

use super::forged::{Corpus, forged};
use super::timers::Timers;
use super::{Target, check, node, wait};
use crate::Scheme;
use crate::places::{Context, Controller, ControllerContext, ControllerEffects, ControllerSetup, NodeId};

/// A controller, with agents that report to it and attackers that forge reports.
pub struct Controllers {
    controller: Box<dyn Controller>,
    random: Stream,
    timers: Timers,
    corpus: Corpus,
    now: Time,
}

impl Controllers {
    /// The controller of a scheme; `None` if it has none.
    #[must_use]
    pub fn new(scheme: &dyn Scheme) -> Option<Self> {
        let controller = scheme.controller()?;
        let random = Stream::new(1, "controller", Purpose::Controller);
        let (timers, corpus) = (Timers::default(), Corpus::default());
        let mut all = Self { controller, random, timers, corpus, now: Time(1) };
        let setup = ControllerSetup { node: NodeId(1), neighbours: &[NodeId(2), NodeId(3)] };
        all.call(|controller, context| controller.on_start(&setup, context));
        Some(all)
    }

    fn call(&mut self, hook: impl FnOnce(&mut dyn Controller, &mut ControllerContext<'_>)) {
        let mut out = ControllerEffects::default();
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut out };
        hook(&mut *self.controller, &mut context);
        self.timers.set(&out.timers);
        out.messages.into_iter().for_each(|message| self.corpus.add(message.bytes));
    }
}

impl Target for Controllers {
    fn step(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(wait(input));
        while let Some((timer, _)) = self.timers.take_due(self.now) {
            self.call(|controller, context| controller.on_timer(timer, context));
            check(&self.controller.gauges());
        }
        let bytes = if input.byte() < 160 { forged(input) } else { self.corpus.draw(input) };
        // The node that the report names, since others are ignored.
        let named = bytes.get(4..8).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes);
        let from = NodeId(if input.byte() < 240 { named } else { node(input) });
        self.call(|controller, context| controller.on_message(from, &bytes, context));
        self.corpus.add(bytes);
    }

    fn work(&self) -> u64 {
        self.controller.work()
    }
}

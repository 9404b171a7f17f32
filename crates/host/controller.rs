//! A controller at its node.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::places::{
    Controller, ControllerEffects, ControllerSetup, FlowId, FlowLimit, Inhibition, NodeId, Timer,
};
use airfair_units::Time;
use airfair_units::random::Stream;

use crate::slot::{Firing, Slot};

/// A controller with its host's state. After each call the caller sends the messages in `effects` and schedules the `firings`.
pub struct ControllerSlot(Slot<Box<dyn Controller>>);

impl ControllerSlot {
    /// A controller that has not started.
    #[must_use]
    pub fn new(controller: Box<dyn Controller>, random: Stream, rank: u32) -> Self {
        Self(Slot::new(controller, random, rank))
    }

    /// The rank of its timers.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.0.rank
    }

    /// Internal values of the controller, by name.
    #[must_use]
    pub fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.0.machine.gauges()
    }

    /// The inhibited links as of the last round.
    #[must_use]
    pub fn inhibition(&self) -> Option<Inhibition> {
        self.0.machine.inhibition()
    }

    /// The limit of a flow since the last round.
    #[must_use]
    pub fn limit(&self, flow: FlowId) -> Option<FlowLimit> {
        self.0.machine.limit(flow)
    }

    /// Calls the hook for the start.
    pub fn on_start(
        &mut self,
        setup: &ControllerSetup<'_>,
        now: Time,
        effects: &mut ControllerEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.0.call(now, effects, firings, |controller, context| controller.on_start(setup, context));
    }

    /// Calls the hook for a message.
    pub fn on_message(
        &mut self,
        (from, bytes): (NodeId, &[u8]),
        now: Time,
        effects: &mut ControllerEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.0.call(now, effects, firings, |controller, context| controller.on_message(from, bytes, context));
    }

    /// Calls the hook for a due timer.
    pub fn on_timer(
        &mut self,
        (timer, generation): (Timer, u32),
        now: Time,
        effects: &mut ControllerEffects,
        firings: &mut Vec<Firing>,
    ) {
        if self.0.timers.fires(timer, generation) {
            self.0.call(now, effects, firings, |controller, context| controller.on_timer(timer, context));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_schemes::places::{ControllerContext, ControllerMessage};
    use airfair_units::Span;
    use airfair_units::random::Purpose;
    use alloc::vec;

    const ROUND: Timer = Timer(1);

    /// A controller that every 8 s returns to each reporter of the round its report.
    #[derive(Default)]
    struct Mirror(Vec<(NodeId, Vec<u8>)>);

    impl Controller for Mirror {
        fn on_start(&mut self, _: &ControllerSetup<'_>, context: &mut ControllerContext<'_>) {
            context.out.timers.push((ROUND, context.now + Span::from_secs(8)));
        }

        fn on_message(&mut self, from: NodeId, bytes: &[u8], _: &mut ControllerContext<'_>) {
            self.0.push((from, bytes.to_vec()));
        }

        fn on_timer(&mut self, timer: Timer, context: &mut ControllerContext<'_>) {
            let shares = self.0.drain(..);
            let shares = shares.map(|(to, bytes)| ControllerMessage { to, bytes, ahead: true });
            context.out.messages.extend(shares);
            context.out.timers.push((timer, context.now + Span::from_secs(8)));
        }
    }

    #[test]
    fn rounds_follow_one_another_from_the_start() {
        let random = Stream::new(1, "controller", Purpose::Controller);
        let mut slot = ControllerSlot::new(Box::new(Mirror::default()), random, 3);
        let (mut effects, mut firings) = (ControllerEffects::default(), vec![]);
        slot.on_start(
            &ControllerSetup { node: NodeId(1), neighbours: &[] },
            Time::ZERO,
            &mut effects,
            &mut firings,
        );
        for round in 1..=3 {
            slot.on_message((NodeId(9), &[round]), Time(1), &mut effects, &mut firings);
            assert_eq!(effects.messages, []);
            let Firing { at, timer, generation } = firings.pop().expect("one round at a time");
            assert_eq!((at, firings.len()), (Time(u64::from(round) * 8_000_000_000), 0));
            slot.on_timer((timer, generation.wrapping_add(1)), at, &mut effects, &mut firings);
            assert_eq!(effects.messages, [], "another setting");
            slot.on_timer((timer, generation), at, &mut effects, &mut firings);
            let sent = effects.messages.pop().expect("a share");
            assert_eq!((sent.to, sent.bytes), (NodeId(9), vec![round]));
        }
    }
}

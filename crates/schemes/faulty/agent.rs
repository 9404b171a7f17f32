//! An agent whose messages are lost, late or false.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_units::{Span, Time};

use super::Faults;
use crate::places::{
    Agent, AgentContext, AgentSetup, FlowId, FlowShare, Forwarder, HeaderKind, Heard, LinkShare,
    LoneExchange, Message, NodeId, NodeSample, Timer,
};

/// The time of a late message. An agent that may be faulty has no timer of this number.
pub const LATE: Timer = Timer(u16::MAX);

/// An agent with faults.
pub struct FaultyAgent {
    inner: Box<dyn Agent>,
    faults: Faults,
    /// Messages that wait, with the times at which they leave, the next one last.
    late: Vec<(Time, Message)>,
}

impl FaultyAgent {
    /// An agent with these faults.
    #[must_use]
    pub fn new(inner: Box<dyn Agent>, faults: Faults) -> Self {
        Self { inner, faults, late: Vec::new() }
    }

    fn call(
        &mut self,
        context: &mut AgentContext<'_>,
        hook: impl FnOnce(&mut dyn Agent, &mut AgentContext<'_>),
    ) {
        let before = context.out.messages.len();
        hook(&mut *self.inner, context);
        let new = context.out.messages.get(before..).unwrap_or_default();
        if new.iter().any(self.faults.concerns) {
            self.spoil(before, context);
        }
    }

    /// Applies the faults to the messages from a place on.
    fn spoil(&mut self, from: usize, context: &mut AgentContext<'_>) {
        let (mut concerned, others): (Vec<_>, Vec<_>) =
            context.out.messages.drain(from..).partition(self.faults.concerns);
        context.out.messages.extend(others);
        if self.faults.lost > 0.0 && context.random.uniform() < self.faults.lost {
            return;
        }
        let late = self.faults.late;
        let part = if late > Span::ZERO { context.random.uniform() } else { 0.0 };
        let due = context.now.saturating_add(Span((late.as_nanos() as f64 * part) as u64));
        if let Some(lie) = &self.faults.messages {
            lie(&mut concerned);
        }
        self.late.extend(concerned.into_iter().rev().map(|message| (due, message)));
        self.late.sort_by_key(|&(due, _)| core::cmp::Reverse(due));
        self.send_due(context);
    }

    /// Sends the messages whose time has come.
    fn send_due(&mut self, context: &mut AgentContext<'_>) {
        while let Some((due, message)) = self.late.pop() {
            if due > context.now {
                context.out.timers.push((LATE, due));
                self.late.push((due, message));
                return;
            }
            context.out.messages.push(message);
        }
    }
}

impl Agent for FaultyAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_start(setup, context));
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_neighbours(neighbours, context));
    }

    fn on_link_rate(&mut self, neighbour: NodeId, exchange: LoneExchange, context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_link_rate(neighbour, exchange, context));
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_sample(sample, context));
    }

    fn on_backlogs(&mut self, sizes: &[(NodeId, u32)], context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_backlogs(sizes, context));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_message(from, bytes, to_me, context));
    }

    fn hears(&self) -> Option<&'static HeaderKind> {
        self.inner.hears()
    }

    fn on_header(&mut self, heard: &Heard<'_>, context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_header(heard, context));
    }

    fn on_controller(&mut self, here: bool, context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_controller(here, context));
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        if timer == LATE {
            self.send_due(context);
        } else {
            self.call(context, |inner, context| inner.on_timer(timer, context));
        }
    }

    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        self.inner.forwarder()
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.inner.gauges()
    }

    fn work(&self) -> u64 {
        self.inner.work()
    }

    fn share(&self, flow: FlowId) -> Option<FlowShare> {
        self.inner.share(flow)
    }

    fn link_share(&self, neighbour: NodeId) -> Option<LinkShare> {
        self.inner.link_share(neighbour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::{AgentEffects, Context, Destination};
    use airfair_units::random::{Purpose, Stream};
    use alloc::sync::Arc;
    use alloc::vec;

    /// Sends four messages at each timer, and sets the timer again.
    struct Talker;

    impl Agent for Talker {
        fn on_start(&mut self, _: &AgentSetup<'_>, _: &mut AgentContext<'_>) {}

        fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
            let message = |bytes: [u8; 2]| Message {
                to: Destination::Broadcast,
                bytes: bytes.to_vec(),
                ahead: false,
                transmit: None,
            };
            context.out.messages.extend([[1, 0], [2, 1], [1, 2], [1, 3]].map(message));
            context.out.timers.push((timer, context.now + Span(10)));
        }
    }

    struct Rig {
        agent: FaultyAgent,
        random: Stream,
    }

    impl Rig {
        fn new(faults: Faults) -> Self {
            let concerns = |message: &Message| message.bytes[0] == 1;
            let agent = FaultyAgent::new(Box::new(Talker), Faults { concerns, ..faults });
            Self { agent, random: Stream::new(1, "n", Purpose::Agent) }
        }

        /// The last bytes of the messages that leave at a timer, and the timers that are set.
        fn at(&mut self, timer: Timer, now: u64) -> (Vec<u8>, Vec<(Timer, Time)>) {
            let mut out = AgentEffects::default();
            self.agent
                .on_timer(timer, &mut Context { now: Time(now), random: &mut self.random, out: &mut out });
            (out.messages.iter().map(|message| message.bytes[1]).collect(), out.timers)
        }
    }

    /// All messages of a hook that faults concern are lost together, the other one never.
    #[test]
    fn so_many_are_lost() {
        let mut rig = Rig::new(Faults { lost: 0.25, ..Faults::default() });
        let left: Vec<_> = (0..2000).map(|now| rig.at(Timer(1), now).0).collect();
        let whole = left.iter().filter(|left| **left == [1, 0, 2, 3]).count();
        assert!((1420..=1580).contains(&whole), "{whole} of 2000");
        assert_eq!(left.iter().filter(|left| **left == [1]).count(), 2000 - whole);
    }

    /// Late ones leave at a timer of their own, in their order, whatever is made in the meantime.
    #[test]
    fn late_ones_leave_once_and_in_order() {
        let mut rig = Rig::new(Faults { late: Span(1000), ..Faults::default() });
        let (left, timers) = rig.at(Timer(1), 0);
        assert_eq!((left, timers.len()), (vec![1], 2));
        assert_eq!(timers[0], (Timer(1), Time(10)), "the agent's own");
        let (timer, due) = timers[1];
        assert!(timer == LATE && (1..=1000).contains(&due.0), "{due:?}");
        assert_eq!(rig.at(LATE, due.0 - 1), (vec![], vec![(LATE, due)]), "not before");
        assert_eq!(rig.at(LATE, due.0), (vec![0, 2, 3], vec![]));
    }

    #[test]
    fn a_lie_sees_what_it_concerns_and_may_add() {
        let lie = |messages: &mut Vec<Message>| {
            assert!(messages.iter().all(|message| message.bytes[0] == 1));
            messages[0].bytes[1] = 9;
            messages.push(messages[1].clone());
        };
        let mut rig = Rig::new(Faults { messages: Some(Arc::new(lie)), ..Faults::default() });
        assert_eq!(rig.at(Timer(1), 0).0, [1, 9, 2, 3, 2]);
    }
}

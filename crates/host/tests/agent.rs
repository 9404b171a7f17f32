//! An agent's slot: samples are differences of counters, timers fire once, messages are counted.

use std::sync::{Arc, Mutex};

use airfair_host::{AgentSlot, EndedMessage, Firing, InterfaceCounters};
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Airtime, Destination, Direction, LinkUse, LoneExchange,
    Message, NodeId, NodeSample, Probability, QueueView, Setting, Timer,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

/// An agent that stores its samples, and requests one effect of each kind in each hook.
#[derive(Clone, Default)]
struct Busy(Arc<Mutex<Vec<NodeSample<'static>>>>);

impl Busy {
    fn request_effects(context: &mut AgentContext<'_>) {
        context.out.timers.push((Timer(4), context.now + Span(50)));
        context.out.settings.push(Setting::Probability(Direction::Outgoing, Probability::ONE));
        context.out.messages.push(Message {
            to: Destination::Broadcast,
            bytes: vec![1],
            ahead: false,
            transmit: None,
        });
    }
}

impl Agent for Busy {
    fn on_start(&mut self, _: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        Self::request_effects(context);
    }
    fn on_sample(&mut self, sample: &NodeSample<'_>, _: &mut AgentContext<'_>) {
        self.0.lock().unwrap().push(NodeSample { links: &[], flows: &[], answers: &[], ..*sample });
    }
    fn on_timer(&mut self, _: Timer, context: &mut AgentContext<'_>) {
        Self::request_effects(context);
    }
    fn on_link_rate(&mut self, neighbour: NodeId, exchange: LoneExchange, context: &mut AgentContext<'_>) {
        assert_eq!((neighbour, exchange.rate), (NodeId(4), Rate(2_000_000)));
        Self::request_effects(context);
    }
}

fn slot(interval: Span) -> (AgentSlot, Busy) {
    let busy = Busy::default();
    let random = Stream::new(3, "agent", Purpose::Agent);
    (AgentSlot::new(Box::new(busy.clone()), interval, 3, random, 9), busy)
}

const VIEW: QueueView = QueueView { packets: 1, bytes: 2, limit_packets: 3 };

#[test]
fn a_sample_is_what_came_since_the_last() {
    let (mut slot, busy) = slot(Span(1_000));
    let (mut effects, mut firings) = (AgentEffects::default(), vec![]);
    let counted = |at: u64, more: u64| InterfaceCounters {
        at: Time(at),
        airtime: Some(Airtime { transmit: Span(more), idle: Span(at - more), ..Airtime::default() }),
        receive_own: Span(2 * more),
        retries: 3 * more,
        traffic: 4 * more,
        link: LinkUse { sent_packets: 5 * more, ..LinkUse::default() },
    };
    for (counted, set_up) in [(counted(700_000, 10), 1), (counted(1_700_000, 14), 0)] {
        let difference = slot.difference(counted).unwrap();
        let sample = NodeSample { set_up, queue: VIEW, ..difference };
        slot.on_sample(&sample, counted.at, &mut effects, &mut firings);
    }
    let samples = busy.0.lock().unwrap();
    let seen = |s: &NodeSample<'_>| {
        (s.interval, s.airtime.transmit, s.airtime.idle, s.receive_own, s.retries, s.traffic)
    };
    assert_eq!(seen(&samples[0]), (Span(700_000), Span(10), Span(699_990), Span(20), 30, 40));
    assert_eq!(seen(&samples[1]), (Span(1_000_000), Span(4), Span(999_996), Span(8), 12, 16));
    assert_eq!((samples[0].set_up, samples[1].set_up, samples[1].link.sent_packets), (1, 0, 20));
    assert_eq!(samples[1].queue, VIEW);
}

/// A frame of 15 ms that ends in an interval of 10 ms has begun in the one before: what is beyond the interval is in the next sample.
#[test]
fn a_long_frame_fills_more_than_one_sample() {
    let (mut slot, _) = slot(Span(10_000_000));
    let counted = |ms: u64, received: u64| InterfaceCounters {
        at: Time(1_000_000 * ms),
        airtime: Some(Airtime { idle: Span(1_000_000 * ms), ..Airtime::default() }),
        receive_own: Span(1_000_000 * received),
        ..InterfaceCounters::default()
    };
    let mut own = |ms, received| slot.difference(counted(ms, received)).unwrap().receive_own.0 / 1_000_000;
    assert_eq!([own(10, 0), own(20, 15), own(30, 15), own(40, 27), own(50, 27)], [0, 10, 5, 10, 2]);
    assert_eq!(slot.bad_samples(), 0);
}

/// The first interval ends at a random time, from 1 ns to one interval after the start; an agent without samples draws nothing.
#[test]
fn the_first_sample_is_at_a_random_moment() {
    let draw = Stream::new(3, "agent", Purpose::Agent).uniform();
    let (mut with, _) = slot(Span(1_000_000));
    assert_eq!(with.first_sample(Time::ZERO), Some(Time(1 + (draw * 1e6) as u64)));
    assert_eq!(with.interval(), Some(Span(1_000_000)));
    let (mut without, _) = slot(Span::ZERO);
    assert_eq!((without.first_sample(Time::ZERO), without.interval()), (None, None));
}

#[test]
fn effects_are_the_callers_and_timers_fire_once() {
    let (mut slot, _) = slot(Span::ZERO);
    let (mut effects, mut firings) = (AgentEffects::default(), vec![]);
    let setup = AgentSetup {
        node: NodeId(1),
        rate: Rate::from_mbps(2),
        exchange: LoneExchange::default(),
        neighbours: &[],
        sense_margin: None,
    };
    slot.on_start(&setup, Time(10), &mut effects, &mut firings);
    assert_eq!((effects.messages.len(), effects.settings.len(), effects.timers.len()), (1, 1, 0));
    let Firing { at, timer, generation } = firings.pop().unwrap();
    assert_eq!((at, slot.rank()), (Time(60), 9));
    slot.on_timer((timer, generation), at, &mut effects, &mut firings);
    assert_eq!((effects.messages.len(), firings.len()), (2, 1));
    slot.on_timer((timer, generation), at, &mut effects, &mut firings);
    assert_eq!((effects.messages.len(), firings.len()), (2, 1), "the timer has fired already");
}

/// The rate of a link reaches the agent, whose effects reach the caller.
#[test]
fn the_rate_of_a_link_is_handed_on() {
    let (mut slot, _) = slot(Span::ZERO);
    let (mut effects, mut firings) = (AgentEffects::default(), vec![]);
    let exchange = LoneExchange { rate: Rate(2_000_000), ..LoneExchange::default() };
    slot.on_link_rate((NodeId(4), exchange), Time(1), &mut effects, &mut firings);
    assert_eq!((effects.settings.len(), effects.messages.len()), (1, 1));
}

#[test]
fn messages_are_counted() {
    let (mut slot, _) = slot(Span::ZERO);
    let (mut effects, mut firings) = (AgentEffects::default(), vec![]);
    slot.count_sent();
    // Three neighbours, of which two received the message; later four nodes received one, more than there are neighbours then.
    let ended = |receivers| EndedMessage { receivers, routed: false, arrived: false };
    slot.count_ended(&ended(2));
    slot.on_neighbours(&[NodeId(1)], Time(1), &mut effects, &mut firings);
    slot.count_ended(&ended(4));
    slot.count_received();
    slot.on_message((NodeId(1), &[1], false), Time(1), &mut effects, &mut firings);
    let counts = slot.counts();
    assert_eq!((counts.sent, counts.missed, counts.received, counts.heard), (1, 1, 1, 1));
}

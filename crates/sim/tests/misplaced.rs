//! A scheme that asks for what its place cannot do ends the run with an error, and reaches no other hook; timers fire later than now.

use std::sync::{Arc, Mutex};

use crate::support::wires::{built, tcp};
use crate::support::{chain, dot11b, saturating};
use airfair_schemes::places::{
    Acked, Agent, AgentSetup, Allowance, Aqm, Backlog, Congestion, Context, Destination, Direction,
    DropReason, Enqueued, FlowSetup, Head, Header, HeaderKind, Hop, Interface, Message, NodeId, Packet,
    PacketId, Passage, Probability, Queue, QueueView, Setting, Source, Timer, Verdict,
};
use airfair_schemes::{Scheme, registry};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Span, Time};

/// What a hook asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    Timer,
    Message,
    Setting,
    Drop,
    Nowhere,
}

impl Asks {
    fn of(self, context: &mut Context<'_>) {
        let out = &mut *context.out;
        let message = |to| Message { to, bytes: vec![1; 8], ahead: true };
        match self {
            // In the past: wherever it arrives, it must not turn the clock back.
            Self::Timer => out.timers.push((Timer(9), Time(context.now.0.saturating_sub(1_000_000)))),
            Self::Message => out.messages.push(message(Destination::Broadcast)),
            Self::Setting => out.settings.push(Setting::Probability(Direction::Outgoing, Probability::ONE)),
            Self::Drop => out.dropped.push((PacketId(0), DropReason("strange"))),
            Self::Nowhere => out.messages.push(message(Destination::Node(NodeId(u32::MAX - 5)))),
        }
    }
}

/// Who asks, and the times at which foreign hooks were called.
#[derive(Clone)]
struct Strange {
    place: &'static str,
    asks: Asks,
    foreign: Arc<Mutex<Vec<u64>>>,
}

impl Strange {
    fn at(&self, place: &str, context: &mut Context<'_>) {
        let often = self.foreign.lock().unwrap().len() > 3;
        if self.place == place && context.now > Time(100_000_000) && !often {
            self.asks.of(context);
        }
    }

    fn timer(&self, timer: Timer, context: &Context<'_>) {
        if timer == Timer(9) {
            self.foreign.lock().unwrap().push(context.now.0);
        }
    }
}

impl Aqm for Strange {
    fn on_enqueue(&mut self, _: &Packet, _: &QueueView, context: &mut Context<'_>) -> Verdict {
        self.at("aqm", context);
        Verdict::Pass
    }

    fn on_dequeue(&mut self, _: &Packet, _: &QueueView, context: &mut Context<'_>) -> Verdict {
        self.at("aqm", context);
        Verdict::Pass
    }

    fn apply(&mut self, _: Setting) {
        assert_ne!(self.asks, Asks::Setting, "a setting of another place");
    }
}

impl Agent for Strange {
    fn on_start(&mut self, _: &AgentSetup<'_>, context: &mut Context<'_>) {
        context.out.timers.push((Timer(1), Time(200_000_000)));
    }

    fn on_timer(&mut self, timer: Timer, context: &mut Context<'_>) {
        self.timer(timer, context);
        self.at("agent", context);
    }

    fn on_message(&mut self, _: NodeId, _: &[u8], _: bool, _: &mut Context<'_>) {
        panic!("a message of another place");
    }
}

static KIND: HeaderKind = HeaderKind {
    name: "strange",
    wire_len: 4,
    encode: |_, _| None,
    decode: |_| None,
    keep: |_, _| (),
    answer: |header| *header,
};

impl Hop for Strange {
    fn header(&self) -> &'static HeaderKind {
        &KIND
    }

    fn on_start(&mut self, context: &mut Context<'_>) {
        context.out.timers.push((Timer(1), Time(200_000_000)));
    }

    fn on_arrival(&mut self, _: &Passage, _: Option<&mut Header>, _: Time) {}

    fn on_timer(&mut self, timer: Timer, _: Backlog, context: &mut Context<'_>) {
        self.timer(timer, context);
        self.at("hop", context);
    }
}

struct Law(Strange, Box<dyn Source>);

impl Source for Law {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut Context<'_>) {
        self.1.on_start(setup, context);
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut Context<'_>) {
        self.0.at("source", context);
        self.1.on_acked(acked, context);
    }

    fn on_congestion(&mut self, congestion: &Congestion, context: &mut Context<'_>) {
        self.1.on_congestion(congestion, context);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut Context<'_>) {
        self.0.timer(timer, context);
    }

    fn allowance(&self, now: Time) -> Allowance {
        self.1.allowance(now)
    }
}

struct Line(Strange, Box<dyn Queue>);

impl Queue for Line {
    fn enqueue(&mut self, packet: Packet, context: &mut Context<'_>) -> Enqueued {
        self.0.at("queue", context);
        self.1.enqueue(packet, context)
    }

    fn peek(&mut self, context: &mut Context<'_>) -> Option<Head> {
        self.1.peek(context)
    }

    fn commit(&mut self) -> Option<Packet> {
        self.1.commit()
    }

    fn requeue(&mut self, packet: Packet) {
        self.1.requeue(packet);
    }

    fn view(&self) -> QueueView {
        self.1.view()
    }
}

impl Scheme for Strange {
    fn queue(&self, interface: &Interface) -> Box<dyn Queue> {
        Box::new(Line(self.clone(), built("droptail", &[]).queue(interface)))
    }

    fn aqm(&self, _: &Interface) -> Option<Box<dyn Aqm>> {
        Some(Box::new(self.clone()))
    }

    fn hop(&self, _: &Interface) -> Option<Box<dyn Hop>> {
        Some(Box::new(self.clone()))
    }

    fn agent(&self, _: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(self.clone()))
    }

    fn source(&self) -> Option<Box<dyn Source>> {
        built("newreno", &[]).source().map(|law| Box::new(Law(self.clone(), law)) as Box<dyn Source>)
    }
}

/// What the run says, and when hooks were called with the timer.
fn asked(place: &'static str, asks: Asks) -> (Option<String>, Vec<u64>) {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 100.0, Traffic::Endless, 1);
    spec.duration = Span::from_millis(400);
    spec.flows[0].transport = tcp(TcpConfig::default());
    let strange = Strange { place, asks, foreign: Arc::default() };
    let mut world = World::new(&spec, "strange", Box::new(strange.clone()), 1).unwrap();
    drive::to_end(&mut world);
    assert_eq!(world.result().warnings.first().cloned(), world.fault());
    let foreign = strange.foreign.lock().unwrap().clone();
    (world.fault(), foreign)
}

#[test]
fn what_a_place_cannot_do_is_an_error_that_names_it() {
    let cases = [
        ("aqm", Asks::Timer, "set a timer"),
        ("aqm", Asks::Message, "sent a message"),
        ("aqm", Asks::Setting, "changed a setting"),
        ("aqm", Asks::Drop, "dropped a packet that a queue stores"),
        ("queue", Asks::Timer, "set a timer"),
        ("queue", Asks::Message, "sent a message"),
        ("queue", Asks::Setting, "changed a setting"),
        ("hop", Asks::Message, "sent a message"),
        ("hop", Asks::Setting, "changed a setting"),
        ("hop", Asks::Drop, "dropped a packet that a queue stores"),
        ("agent", Asks::Drop, "dropped a packet that a queue stores"),
        ("agent", Asks::Nowhere, "sent a message to a node that does not exist"),
    ];
    for (place, asks, effect) in cases {
        let (fault, foreign) = asked(place, asks);
        let fault = fault.unwrap_or_default();
        assert!(fault.starts_with(&format!("scheme strange: its {place} at node ")), "{fault}");
        assert!(fault.contains(&format!(" {effect}; ")), "{fault}");
        assert_eq!(foreign, [], "{place} {asks:?} reached another hook");
    }
    for (asks, effect) in [(Asks::Message, "sent a message"), (Asks::Setting, "changed a setting")] {
        let fault = asked("source", asks).0.unwrap_or_default();
        assert_eq!(fault, format!("scheme strange: its source of flow f {effect}; a source may set timers"));
    }
}

/// A timer that is set to the past fires once, a nanosecond later, wherever it may be set.
#[test]
fn a_timer_never_fires_before_it_was_set() {
    for place in ["source", "hop", "agent"] {
        let (fault, mut fired) = asked(place, Asks::Timer);
        // Two nodes have one each.
        fired.dedup();
        assert_eq!(fault, None);
        assert!(!fired.is_empty() && fired.is_sorted(), "{place}");
        if place != "source" {
            // Each sets it again when it fires, from 200 ms on.
            assert!(fired.starts_with(&[200_000_001, 200_000_002]), "{place} {:?}", &fired[..2]);
        }
    }
}

/// No scheme of the tree asks for what its place cannot do.
#[test]
fn the_trees_schemes_are_at_peace_with_their_places() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(500), 2);
    crate::support::flow(&mut spec, "t", 2, 0, Traffic::Endless);
    spec.flows[1].transport = tcp(TcpConfig::default());
    for entry in registry() {
        let mut world = World::new(&spec, entry.name, built(entry.name, &[]), 1).unwrap();
        drive::to_end(&mut world);
        assert_eq!(world.fault(), None, "{}", entry.name);
    }
}

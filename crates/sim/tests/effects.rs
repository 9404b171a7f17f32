//! Effects of a hook reach what they are meant for and nothing else; timers fire once, later than now. What a place does not have does
//! not compile: `airfair_schemes::places::Context`.

use std::sync::{Arc, Mutex};

use crate::support::wires::{built, tcp};
use crate::support::{chain, diffq_levels, dot11b, saturating, simulated_header, with_edca};
use airfair_schemes::places::{
    Acked, Agent, AgentContext, AgentSetup, Allowance, Backlog, Congestion, Destination, FlowSetup, Header,
    HeaderKind, Hop, HopContext, Interface, Message, NodeId, Passage, Source, SourceContext, Timer,
};
use airfair_schemes::{Scheme, registry};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Span, Time};

/// A timer that fires again and again, and the timers that each place sets to the past: numbers of their own.
const AGAIN: Timer = Timer(1);
const OF_SOURCE: Timer = Timer(10);
const OF_HOP: Timer = Timer(11);
const OF_AGENT: Timer = Timer(12);

/// A timer, when it was set, and for when.
type Setting = (Timer, Time, Time);

/// The place whose hook was called, the timer, and when.
type Firing = (&'static str, Timer, Time);

/// The places of a world, what they set, and when their timers fired.
#[derive(Clone, Default)]
struct Timers {
    set: Arc<Mutex<Vec<Setting>>>,
    fired: Arc<Mutex<Vec<Firing>>>,
    /// The agent sends a message to a node that does not exist.
    astray: bool,
}

impl Timers {
    /// Sets a timer to a moment in the past, the present, or the future: wherever it arrives, it must not turn the clock back.
    fn set(&self, timer: Timer, now: Time, out: &mut Vec<(Timer, Time)>) {
        let mut set = self.set.lock().unwrap();
        if now < Time(100_000_000) || set.iter().filter(|set| set.0 == timer).count() >= 9 {
            return;
        }
        let at = match set.len() % 3 {
            0 => Time(now.0 - 1_000_000),
            1 => now,
            _ => Time(now.0 + 77),
        };
        set.push((timer, now, at));
        out.push((timer, at));
    }

    fn fired(&self, place: &'static str, timer: Timer, now: Time) {
        if timer != AGAIN {
            self.fired.lock().unwrap().push((place, timer, now));
        }
    }
}

impl Agent for Timers {
    fn on_start(&mut self, _: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        context.out.timers.push((AGAIN, Time(200_000_000)));
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        self.fired("agent", timer, context.now);
        if self.astray {
            let to = Destination::Node(NodeId(u32::MAX - 5));
            context.out.messages.push(Message { to, bytes: vec![1; 8], ahead: true, transmit: None });
        }
        if timer == AGAIN {
            context.out.timers.push((AGAIN, context.now + Span::from_millis(5)));
            self.set(OF_AGENT, context.now, &mut context.out.timers);
        }
    }

    fn on_message(&mut self, _: NodeId, _: &[u8], _: bool, _: &mut AgentContext<'_>) {
        panic!("a message that nobody has sent");
    }
}

static KIND: HeaderKind = simulated_header("timers", 4);

impl Hop for Timers {
    fn header(&self) -> &'static HeaderKind {
        &KIND
    }

    fn on_start(&mut self, context: &mut HopContext<'_>) {
        context.out.timers.push((AGAIN, Time(200_000_000)));
    }

    fn on_arrival(&mut self, _: &Passage, _: Option<&mut Header>, _: Time) {}

    fn on_timer(&mut self, timer: Timer, _: Backlog, context: &mut HopContext<'_>) {
        self.fired("hop", timer, context.now);
        if timer == AGAIN {
            context.out.timers.push((AGAIN, context.now + Span::from_millis(5)));
            self.set(OF_HOP, context.now, &mut context.out.timers);
        }
    }
}

struct Law(Timers, Box<dyn Source>);

impl Source for Law {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.1.on_start(setup, context);
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        self.0.set(OF_SOURCE, context.now, &mut context.out.timers);
        self.1.on_acked(acked, context);
    }

    fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        self.1.on_congestion(congestion, context);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut SourceContext<'_>) {
        self.0.fired("source", timer, context.now);
    }

    fn allowance(&self, now: Time) -> Allowance {
        self.1.allowance(now)
    }
}

impl Scheme for Timers {
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

/// A world of two nodes with every place that sets timers, and what it says of its scheme.
fn run(timers: &Timers) -> Option<String> {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 100.0, Traffic::Endless, 1);
    spec.duration = Span::from_millis(400);
    spec.flows[0].transport = tcp(TcpConfig::default());
    let mut world = World::new(&spec, "timers", Box::new(timers.clone()), 1).unwrap();
    drive::to_end(&mut world);
    assert_eq!(world.result().warnings.first().cloned(), world.fault());
    world.fault()
}

/// Of each timer the last setting fires; a timer of the past or the present fires a nanosecond later.
#[test]
fn a_timer_fires_once_where_it_was_set_and_never_before() {
    let timers = Timers::default();
    assert_eq!(run(&timers), None);
    let (set, fired) = (timers.set.lock().unwrap(), timers.fired.lock().unwrap());
    let places = [("source", OF_SOURCE), ("hop", OF_HOP), ("agent", OF_AGENT)];
    assert!(fired.iter().all(|&(place, timer, _)| places.contains(&(place, timer))), "{fired:?}");
    for (place, timer) in places {
        let mut due: Vec<Time> =
            set.iter().filter(|set| set.0 == timer).map(|set| set.2.max(set.1 + Span(1))).collect();
        let mut at: Vec<Time> = fired.iter().filter(|fired| fired.1 == timer).map(|fired| fired.2).collect();
        due.sort_unstable();
        at.sort_unstable();
        assert_eq!((at.len(), at), (9, due), "{place}");
    }
}

#[test]
fn a_message_to_a_node_that_does_not_exist_ends_the_run() {
    let fault = run(&Timers { astray: true, ..Timers::default() }).unwrap_or_default();
    assert!(fault.starts_with("scheme timers: its agent at node "), "{fault}");
    assert!(
        fault.ends_with(" sent a message to a node that does not exist; expected a node of the scenario"),
        "{fault}"
    );
}

/// No scheme of the tree makes an error, by radios with as many levels as any has.
#[test]
fn the_trees_schemes_make_no_error() {
    let radio = with_edca(dot11b(250.0, 550.0), diffq_levels());
    let mut spec = chain(radio, 2, 200.0, saturating(500), 2);
    crate::support::flow(&mut spec, "t", 2, 0, Traffic::Endless);
    spec.flows[1].transport = tcp(TcpConfig::default());
    for entry in registry() {
        let mut world = World::new(&spec, entry.name, built(entry.name, &[]), 1).unwrap();
        drive::to_end(&mut world);
        assert_eq!(world.fault(), None, "{}", entry.name);
    }
}

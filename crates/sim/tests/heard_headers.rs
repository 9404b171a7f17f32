//! Headers that agents hear: WCP's bit of a congested neighbourhood as a toy, written by hops and read by everyone near.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Allowance, Backlog, Capability, FlowSetup, Header, HeaderKind, Heard,
    Hop, HopContext, Interface, Passage, Source, SourceContext, Timer, UdpEnds, Wants,
};
use airfair_sim::World;
use airfair_sim::spec::*;
use airfair_units::{Rate, Span, Time};

use crate::support::wires::finished;
use crate::support::{chain, dot11b, number_of, saturating, simulated_header};

static KIND: HeaderKind = simulated_header("congested", 8);

/// Nodes of the chain.
const NODES: usize = 4;

/// A header as an agent has heard it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word {
    at: u32,
    from: u32,
    destination: u32,
    /// The number of hops that have written, and the number of the last one.
    hops: u32,
    writer: u32,
}

#[derive(Default)]
struct Log {
    words: Mutex<Vec<Word>>,
    /// Timers that agents have set when they heard a header, and that have fired.
    fired: AtomicUsize,
    hops: AtomicUsize,
}

#[derive(Clone)]
struct Neighbourhood {
    log: Arc<Log>,
    /// The node whose interface has no hop.
    without_hop: Option<usize>,
    wanted: bool,
    me: u32,
}

impl Neighbourhood {
    fn new() -> Self {
        Self { log: Arc::default(), without_hop: None, wanted: true, me: 0 }
    }

    fn run(self, spec: &WorldSpec) -> (Vec<Word>, usize, String) {
        let log = Arc::clone(&self.log);
        let result = finished(World::new(spec, "neighbourhood", Box::new(self), 1).unwrap());
        let words = std::mem::take(&mut *log.words.lock().unwrap());
        (words, log.fired.load(Ordering::Relaxed), format!("{:?}", result.flows))
    }
}

impl Scheme for Neighbourhood {
    fn udp(&self) -> Option<UdpEnds> {
        Some(UdpEnds { source: Box::new(Steady), receiver: None })
    }
    /// Called for one node after the other, in their order, any number of times.
    fn hop(&self, _: &Interface) -> Option<Box<dyn Hop>> {
        let me = self.log.hops.fetch_add(1, Ordering::Relaxed) % NODES;
        let hop = Self { me: me as u32, ..self.clone() };
        (self.without_hop != Some(me)).then(|| Box::new(hop) as Box<dyn Hop>)
    }
    fn agent(&self, _: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(self.clone()))
    }
    fn wants(&self, _: &Interface) -> Wants {
        Wants::NONE.and_if(self.wanted, Capability::HeardHeaders)
    }
}

impl Hop for Neighbourhood {
    fn header(&self) -> &'static HeaderKind {
        &KIND
    }
    fn on_start(&mut self, _: &mut HopContext<'_>) {}
    fn on_arrival(&mut self, _: &Passage, header: Option<&mut Header>, _: Time) {
        if let Some(header) = header {
            header.fields[0] += 1;
            header.fields[1] = self.me;
        }
    }
    fn on_timer(&mut self, _: Timer, _: Backlog, _: &mut HopContext<'_>) {}
}

impl Agent for Neighbourhood {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _: &mut AgentContext<'_>) {
        self.me = number_of(setup.node);
    }
    fn hears(&self) -> Option<&'static HeaderKind> {
        Some(&KIND)
    }
    fn on_header(&mut self, heard: &Heard<'_>, context: &mut AgentContext<'_>) {
        let [hops, writer, ..] = heard.header.fields;
        let (from, destination) = (number_of(heard.from), number_of(heard.destination));
        self.log.words.lock().unwrap().push(Word { at: self.me, from, destination, hops, writer });
        context.out.timers.push((Timer(1), context.now + Span(1)));
    }
    fn on_timer(&mut self, _: Timer, _: &mut AgentContext<'_>) {
        self.log.fired.fetch_add(1, Ordering::Relaxed);
    }
}

/// A source at a constant rate whose datagrams carry the header.
struct Steady;

impl Source for Steady {
    fn on_start(&mut self, _: &FlowSetup, _: &mut SourceContext<'_>) {}
    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&KIND)
    }
    fn allowance(&self, _: Time) -> Allowance {
        Allowance { window: None, rate: Some(Rate(80_000)), quantum: None }
    }
}

/// Three hops of 200 m, of which each reaches the next: 0 to 3, ten packets a second.
fn scene() -> WorldSpec {
    chain(dot11b(250.0, 550.0), NODES - 1, 200.0, saturating(1000), 5)
}

/// Each agent hears its neighbours, as receivers of the frame and as others, with the header as that neighbour has written it.
#[test]
fn agents_hear_what_their_neighbours_write() {
    let (words, fired, _) = Neighbourhood::new().run(&scene());
    let heard: BTreeSet<_> = words.iter().map(|word| (word.at, word.from)).collect();
    assert_eq!(heard, BTreeSet::from([(0, 1), (1, 0), (1, 2), (2, 1), (3, 2)]));
    for word in &words {
        assert_eq!((word.destination, word.writer, word.hops), (3, word.from, word.from + 1), "{word:?}");
    }
    let of = |pair| words.iter().filter(|word| (word.at, word.from) == pair).count();
    assert!(
        (48..=52).contains(&of((1, 0))) && (48..=52).contains(&of((0, 1))),
        "50 packets: {} {}",
        of((1, 0)),
        of((0, 1))
    );
    assert!(fired > 200, "effects of the hook are carried out: {fired} of {}", words.len());
}

/// A header that the sender of the frame has not written is not passed, and without the want none is. Hearing changes nothing of flows.
#[test]
fn what_the_sender_has_not_written_is_not_heard() {
    let (words, ..) = Neighbourhood { without_hop: Some(1), ..Neighbourhood::new() }.run(&scene());
    let heard: BTreeSet<_> = words.iter().map(|word| (word.at, word.from)).collect();
    assert_eq!(heard, BTreeSet::from([(1, 0), (1, 2), (3, 2)]));
    let (words, fired, flows) = Neighbourhood { wanted: false, ..Neighbourhood::new() }.run(&scene());
    assert_eq!((words, fired), (vec![], 0));
    assert_eq!(flows, Neighbourhood::new().run(&scene()).2);
}

//! Nodes that starve (ours): when one calls, what others do, and what a source may send, with rates computed by hand.

use airfair_schemes::ParamValue::{self, Choice, Span as Length};
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Airtime, Allowance, Calls, Capability, Context,
    Destination, FlowSetup, Interface, LoneExchange, Medium, NodeId, NodeSample, Packet, PacketClass, Sent,
    Setting, Source, SourceContext, SourceEffects, Starving, Timer, Waiting,
};
use airfair_schemes::{Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::diffq::{Call, Sizes};

use super::{Node, build, labelled};

const SET: [(&str, ParamValue); 1] = [("calls", Length(Span::from_secs(1)))];
const SAMPLE: Span = Span::from_millis(100);

/// A node, number 1, that hears a busy channel.
struct Host {
    agent: Box<dyn Agent>,
    random: Stream,
    now: Time,
}

/// Effects of one sample: a call, if there is one, and what the queue is told.
type Told = (Option<Call>, Vec<Starving>);

impl Host {
    fn new() -> Self {
        Self::of(&SET)
    }

    fn of(set: &[(&str, ParamValue)]) -> Self {
        let agent = build("diffq", set).agent(&Interface::radio(50)).unwrap();
        let mut host = Self { agent, random: Stream::new(1, "agent", Purpose::Agent), now: Time::ZERO };
        let exchange = LoneExchange::default();
        host.hook(|agent, context| {
            let setup = AgentSetup {
                node: NodeId(1),
                rate: Rate::from_mbps(2),
                exchange,
                neighbours: &[],
                sense_margin: None,
            };
            agent.on_start(&setup, context);
        });
        host
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Agent, &mut AgentContext<'_>)) -> Told {
        let Self { agent, random, now } = self;
        let mut out = AgentEffects::default();
        hook(&mut **agent, &mut AgentContext { now: *now, random, out: &mut out });
        let call = out.messages.first().map(|message| {
            assert_eq!((message.to, message.ahead, out.messages.len()), (Destination::Broadcast, true, 1));
            Call::decode(&message.bytes).unwrap().0
        });
        let told = out.settings.iter().map(|setting| match setting {
            Setting::Starving(starving) => *starving,
            other => panic!("{other:?}"),
        });
        (call, told.collect())
    }

    /// A sample of 100 ms with 80 ms of use (times of NAV do not count), of which the node itself sends so much, and so many packets.
    fn sample(&mut self, own_ms: u64, traffic: u32) -> Told {
        self.now += SAMPLE;
        let transmit = Span::from_millis(own_ms);
        let receive = Span::from_millis(80 - own_ms);
        let airtime = Airtime {
            transmit,
            receive,
            idle: Span::from_millis(5),
            nav: Span::from_millis(15),
            ..Airtime::default()
        };
        let sample = NodeSample { interval: SAMPLE, airtime, traffic, ..NodeSample::default() };
        self.hook(|agent, context| agent.on_sample(&sample, context))
    }

    /// The last of these samples: one packet in each second, and else silence.
    fn samples(&mut self, number: u32, own_ms: u64) -> Told {
        (0..number).map(|i| self.sample(own_ms, u32::from(i % 10 == 0))).last().unwrap()
    }

    fn hears(&mut self, node: u32) -> Told {
        let mut bytes = [0; Call::WIRE_LEN];
        Call { node }.encode(&mut bytes).unwrap();
        self.hook(|agent, context| agent.on_message(NodeId(2), &bytes, true, context))
    }
}

/// A node calls once its flow has been there for 10 s, is silent for half a second, and it has had less than .1 of the use of the channel.
/// It repeats the call with each sample.
#[test]
fn a_node_that_starves_calls() {
    let mut host = Host::new();
    assert_eq!(host.samples(100, 4), (None, vec![]), "for 9.9 s");
    assert_eq!(host.sample(4, 1), (Some(Call { node: 1 }), vec![Starving::Trying]));
    let calls = [(); 6].map(|()| host.sample(4, 0).0.is_some());
    assert_eq!(calls, [true; 6]);
    for (own_ms, packets) in [(9, 0), (4, 1)] {
        let mut host = Host::new();
        host.sample(own_ms, 1);
        assert!((0..300).all(|_| host.sample(own_ms, packets).0.is_none()), "{own_ms} ms, {packets} packets");
    }
}

/// A call of 8 s is in vain if the share of 1/20 has not doubled by then, and a rest of 60 s follows, then one of 120 s. It has helped at
/// once if after 2 s the share is at least sqrt(1.5/20) = .274, and at the end if it is 2/20: the node says so for 300 s, and is limited
/// itself. A node that had nothing must have .02 then, more than its calls take.
#[test]
fn a_call_ends_in_vain_or_helps() {
    let mut host = Host::new();
    host.samples(101, 4);
    let until_silent = |host: &mut Host, own_ms: u64| {
        (0..4000).take_while(|i| !host.sample(own_ms, u32::from(i % 10 == 0)).1.is_empty()).count()
    };
    let until_call = |host: &mut Host| {
        (0..4000).take_while(|i| host.sample(4, u32::from(i % 10 == 0)).1.is_empty()).count()
    };
    assert_eq!(until_silent(&mut host, 7), 79, "7/80");
    assert_eq!(until_call(&mut host), 600);
    assert_eq!((until_silent(&mut host, 4), until_call(&mut host)), (79, 1200));
    assert_eq!(host.samples(19, 24).1, [Starving::Trying]);
    assert_eq!(host.samples(3, 24).1, [Starving::Helped]);
    let calls = [(); 6].map(|()| host.sample(24, 1).0);
    assert_eq!(calls.into_iter().flatten().collect::<Vec<_>>(), [Call { node: 1 }; 2], "every 0.3 s");
    assert_eq!(until_silent(&mut host, 40), 2991);
    for (before_ms, own_ms, told) in
        [(4, 7, vec![]), (4, 9, vec![Starving::Helped]), (0, 1, vec![]), (0, 2, vec![Starving::Helped])]
    {
        let mut host = Host::new();
        host.samples(101, before_ms);
        assert_eq!(host.samples(80, own_ms).1, told, "{before_ms}/80, then {own_ms}/80");
    }
}

/// A flow that begins after a pause of more than 20 s is new: the silence before it is none of a node that starves, nor is the first word
/// of it. One that pauses for less goes on.
#[test]
fn a_pause_is_no_silence_of_a_flow() {
    for (pause, calls) in [(150, true), (250, false)] {
        let mut host = Host::new();
        host.samples(150, 40);
        for _ in 0..pause {
            host.sample(0, 0);
        }
        let told: Vec<_> = (0..20).flat_map(|_| host.sample(0, 1).1).collect();
        assert_eq!(!told.is_empty(), calls, "{pause} {told:?}");
    }
}

/// A node that was helped and whose flows end says so no more after 20 s.
#[test]
fn a_hold_ends_with_its_flows() {
    let mut host = Host::new();
    host.samples(101, 1);
    assert_eq!(host.samples(50, 60).1, [Starving::Helped]);
    let held = (0..600).take_while(|_| !host.sample(0, 0).1.is_empty()).count();
    assert_eq!(held, 190, "the last packet came 0.9 s before");
}

/// A node tells its queue of each call that it hears, but of its own, and of those that it hears while it tries itself.
#[test]
fn a_node_obeys_unless_it_tries() {
    let mut host = Host::new();
    assert_eq!(host.hears(9), (None, vec![Starving::Near(NodeId(9))]));
    assert_eq!(host.hears(1), (None, vec![]));
    assert_eq!(host.samples(101, 4).1, [Starving::Trying]);
    assert_eq!(host.hears(9).1, []);
    assert_eq!(host.samples(40, 60).1, [Starving::Helped]);
    assert_eq!(host.hears(9).1, [Starving::Near(NodeId(9))]);
}

/// Sizes by broadcast and calls go side by side: each part takes its own messages.
#[test]
fn calls_and_sizes_go_together() {
    let set = [SET[0], ("sizes_by", Choice("broadcast"))];
    let mut host = Host::of(&set);
    assert_eq!(host.hears(9).1, [Starving::Near(NodeId(9))]);
    let message = Sizes::new([(5, 17)].into_iter());
    let mut bytes = vec![0; message.wire_len()];
    message.encode(&mut bytes).unwrap();
    let mut out = AgentEffects::default();
    let mut context = AgentContext { now: host.now, random: &mut host.random, out: &mut out };
    host.agent.on_message(NodeId(2), &bytes, true, &mut context);
    assert!(matches!(out.settings[..], [Setting::Backlog { packets: 17, .. }]));
    let wants = build("diffq", &set).wants(&Interface::radio(50));
    assert!(wants.has(Capability::Airtime) && wants.has(Capability::Backlogs) && wants.samples() == SAMPLE);
    assert!(build("diffq", &[]).agent(&Interface::radio(50)).is_none());
    let rare = Params(
        [("sizes_by", set[1].1), ("calls", set[0].1), ("announcement_interval", Length(Span::from_secs(1)))]
            .map(|(name, value)| (name.to_string(), value))
            .into(),
    );
    let error = (find("diffq").unwrap().build)(&rare).err().unwrap().to_string();
    assert!(error.contains("announcement_interval") && error.ends_with("expected at most 100 ms"), "{error}");
}

/// A call is for the node's own packets if it comes from where they go; acknowledgements that it sends, packets that it passes on, and the
/// next hop on the way are nothing in that sense: a relay may starve for the packets of its own flows.
#[test]
fn a_queue_tells_calls_apart() {
    let mut node = Node::new("diffq", &SET);
    let calls = |node: &mut Node, starving| {
        node.queue.apply(Setting::Starving(starving), node.now);
        node.queue.calls()
    };
    let own = Packet { own: true, ..labelled(1, 5, 2) };
    node.enqueue(Packet { class: PacketClass::Ack, ..own });
    node.enqueue(labelled(2, 5, 2));
    let now = Some(node.now);
    assert_eq!(calls(&mut node, Starving::Near(NodeId(2))), Calls { near: now, for_us: None });
    node.enqueue(own);
    node.after(Span::from_millis(7));
    let later = Some(node.now);
    assert_eq!(calls(&mut node, Starving::Near(NodeId(5))), Calls { near: now, for_us: later });
    assert_eq!(calls(&mut node, Starving::Near(NodeId(2))), Calls { near: later, for_us: later });
    assert_eq!(calls(&mut node, Starving::Near(NodeId(3))), Calls { near: later, for_us: later });
    assert_eq!(calls(&mut node, Starving::Trying), Calls { near: None, for_us: later });
    assert_eq!(calls(&mut node, Starving::Helped), Calls { near: later, for_us: later });
    node.after(Span::from_secs(11));
    let last = Some(node.now);
    assert_eq!(
        calls(&mut node, Starving::Near(NodeId(2))),
        Calls { near: last, for_us: later },
        "no packets of late"
    );
    let mut deaf = Node::new("diffq", &[]);
    assert_eq!(calls(&mut deaf, Starving::Helped), Calls::default());
}

/// Of sixteen destinations that of the oldest packet gives way to another.
#[test]
fn a_queue_knows_some_destinations() {
    let mut node = Node::new("diffq", &SET);
    for destination in (100..116).chain([100, 116]) {
        node.enqueue(Packet { own: true, ..labelled(destination, destination, destination) });
        node.after(Span::from_millis(1));
    }
    let for_us = |node: &mut Node, number| {
        let before = node.queue.calls().for_us;
        node.after(Span::from_millis(1));
        node.queue.apply(Setting::Starving(Starving::Near(NodeId(number))), node.now);
        node.queue.calls().for_us != before
    };
    assert_eq!([100, 101, 102, 116].map(|number| for_us(&mut node, number)), [true, false, true, true]);
}

/// A flow over UDP with packets of 1000 B at a radio of 2 Mbit/s.
struct Flow {
    source: Box<dyn Source>,
    now: Time,
    random: Stream,
    out: SourceEffects,
}

impl Flow {
    fn new(set: &[(&str, ParamValue)]) -> Self {
        let source = build("diffq", set).udp().unwrap().source;
        let random = Stream::new(1, "flow", Purpose::Source);
        let mut flow = Self { source, now: Time(3_000_000_000), random, out: SourceEffects::default() };
        let setup = FlowSetup {
            mss: Bytes(1000),
            headers: Bytes(40),
            initial_window: Bytes(4000),
            window_limit: Bytes(u64::MAX),
            rtt: None,
            syn_lost: false,
            link: None,
        };
        flow.hook(|source, context| source.on_start(&setup, context));
        flow
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Source, &mut SourceContext<'_>)) {
        let Self { source, now, random, out, .. } = self;
        hook(&mut **source, &mut Context { now: *now, random, out });
    }

    /// A packet leaves, and 10 ms later the step with 30 packets in the queue. Returns the new rate.
    fn step(&mut self, medium: Medium, near: Option<Time>, for_us: Option<Time>) -> u64 {
        let sent = Sent { bytes: Bytes(1000), in_flight: Bytes(0), retransmission: false };
        self.hook(|source, context| source.on_sent(&sent, context));
        self.now += Span::from_millis(10);
        let at = Some(Interface { medium, ..Interface::radio(50) });
        self.source.on_own_queue(&Waiting { all: 30, own: 30, at, calls: Calls { near, for_us } });
        self.hook(|source, context| source.on_timer(Timer(1), context));
        let Allowance { window, rate, .. } = self.source.allowance(self.now);
        assert_eq!(window, None);
        rate.unwrap().0
    }
}

/// While nobody calls the source has the rate of its first hop, whatever its queue. Once somebody does it begins at a twentieth of that,
/// though it has had more, and its queue lets that fall no further within 100 ms; a second after the call it is free again.
#[test]
fn a_source_is_limited_once_somebody_calls() {
    let mut flow = Flow::new(&SET);
    assert_eq!([0; 3].map(|_| flow.step(Medium::Radio, None, None)), [2_000_000; 3]);
    assert!(!flow.source.goes_by_own_queue());
    let called = flow.now;
    assert_eq!(flow.step(Medium::Radio, Some(called), None), 100_000);
    assert!(flow.source.goes_by_own_queue() && flow.source.doubles_timer());
    flow.now = called + Span::from_millis(980);
    assert!(flow.step(Medium::Radio, Some(called), None) < 100_000, "990 ms after");
    assert_eq!(flow.step(Medium::Radio, Some(called), None), 2_000_000, "1 s after");
}

/// A call for the source's own packets limits nothing, and while it counts no time-out doubles the next.
#[test]
fn a_source_hurries_if_its_receiver_calls() {
    let mut flow = Flow::new(&SET);
    let called = flow.now;
    assert_eq!(flow.step(Medium::Radio, None, Some(called)), 2_000_000);
    assert!(!flow.source.doubles_timer());
    flow.now = called + Span::from_secs(1);
    flow.step(Medium::Radio, None, Some(called));
    assert!(flow.source.doubles_timer());
}

/// At a wire, and without calls, the law limits: 100 kbit/s is halved; also if the flow was free at a radio before.
#[test]
fn a_source_at_a_wire_is_limited() {
    let mut flow = Flow::new(&SET);
    assert_eq!(flow.step(Medium::Wire, None, None), 50_000);
    assert_eq!(flow.step(Medium::Radio, None, Some(flow.now)), 2_000_000);
    flow.step(Medium::Wire, None, None);
    assert!(flow.source.goes_by_own_queue() && flow.source.doubles_timer());
    assert_eq!(Flow::new(&[]).step(Medium::Radio, None, None), 50_000);
}

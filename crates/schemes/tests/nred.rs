//! NRED against numbers computed by hand from the paper (Xu, Gerla, Qi, Shu, MobiCom 2003). W = 2 Mbit/s and C = 1000 B: W/C is
//! 250 packets a second.

#[path = "shared/hostile.rs"]
mod hostile_driver;

use std::collections::BTreeMap;

use airfair_schemes::nred::{
    Accounting, Detector, Heard, INCOMING, Nred, NredAgent, NredDrop, OUTGOING, Shares,
};
use airfair_schemes::places;
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Airtime, Aqm, AqmEffects, Capability, Context,
    Destination, Direction, DropReason, Ecn, FlowBytes, FlowId, LoneExchange, MarkReason, Medium, Message,
    NodeId, NodeSample, Packet, PacketClass, PacketId, Probability, QueueView, Setting, Timer, Verdict,
    Wants,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::nred::Ncn;
use proptest::prelude::*;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-3)
}

fn nred(set: &[(&'static str, ParamValue)]) -> Nred {
    let round = [("mean_packet", ParamValue::Bytes(Bytes(1000)))];
    let set = round.iter().chain(set).map(|(name, value)| ((*name).to_string(), *value));
    Nred::from_params(&Params(set.collect())).unwrap_or_else(|e| panic!("{e}"))
}

/// A sample of 100 ms: milliseconds of transmission, of reception of frames for this node, and idle; the rest is carrier sense.
fn sample(transmit: u64, own: u64, idle: u64) -> NodeSample<'static> {
    let ms = Span::from_millis;
    NodeSample {
        interval: ms(100),
        airtime: Airtime {
            transmit: ms(transmit),
            receive: ms(own),
            busy: ms(100 - transmit - own - idle),
            nav: Span::ZERO,
            idle: ms(idle),
        },
        receive_own: ms(own),
        traffic: 1,
        ..NodeSample::default()
    }
}

/// §5.1: U_busy = 0.6, U_tx = 0.2, U_rx = 0.1 are indices of 150, 50 and 25; with w_q = 0.2 the averages rise by a fifth of the indices,
/// then by a fifth of the difference.
#[test]
fn averages_move_by_a_fifth() {
    let mut accounting = Accounting::new(0.2, 250.0, false);
    accounting.update(&sample(20, 10, 40));
    let s = accounting.shares();
    assert!(near(s.total, 30.0) && near(s.tx, 10.0) && near(s.rx, 5.0), "{s:?}");
    accounting.update(&sample(20, 10, 40));
    let s = accounting.shares();
    assert!(near(s.total, 54.0) && near(s.tx, 18.0) && near(s.rx, 9.0), "{s:?}");
    accounting.update(&sample(0, 0, 100));
    let s = accounting.shares();
    assert!(near(s.total, 43.2) && near(s.own(), 14.4 + 7.2), "{s:?}");
    accounting.update(&NodeSample::default());
    assert_eq!(accounting.shares(), s, "an interval without length says nothing");
}

/// NAV counts as busy; frames for other nodes count as received only in the other reading.
#[test]
fn frames_for_others_are_the_neighbours_share() {
    let mut heard = sample(0, 30, 50);
    heard.receive_own = Span::from_millis(10);
    heard.airtime.busy = Span::from_millis(5);
    heard.airtime.nav = Span::from_millis(15);
    let (mut own, mut all) = (Accounting::new(1.0, 250.0, false), Accounting::new(1.0, 250.0, true));
    own.update(&heard);
    all.update(&heard);
    assert_eq!(own.shares(), Shares { total: 125.0, tx: 0.0, rx: 25.0 });
    assert_eq!(all.shares(), Shares { total: 125.0, tx: 0.0, rx: 75.0 });
}

/// Algorithm 5.1 with 100, 240 and 0.14: half way up, at 170, p_b is 0.07.
#[test]
fn p_b_rises_between_the_thresholds() {
    let detector = Detector::new(&nred(&[]));
    for (avg, p_b, normalized) in [
        (0.0, 0.0, 0.0),
        (99.9, 0.0, 0.0),
        (100.0, 0.0, 0.0),
        (170.0, 0.07, 0.07 / 170.0),
        (205.0, 0.105, 0.105 / 205.0),
        (240.0, 1.0, 1.0),
        (1000.0, 1.0, 1.0),
    ] {
        let c = detector.congestion(avg);
        assert!(near(c.p_b, p_b) && near(c.normalized, normalized), "avg {avg}: {c:?}");
    }
}

/// The four conditions of §5.2, each violated once.
#[test]
fn a_node_notifies_under_four_conditions() {
    let detector = Detector::new(&nred(&[]));
    let starved = Shares { total: 170.0, tx: 50.0, rx: 34.0 };
    let c = detector.congestion(starved.total);
    assert!(detector.should_notify(c, starved, true, 0.0));
    assert!(!detector.should_notify(detector.congestion(100.0), starved, true, 0.0), "(i)");
    assert!(!detector.should_notify(c, starved, false, 0.0), "(ii)");
    assert!(
        !detector.should_notify(c, Shares { rx: 35.0, ..starved }, true, 0.0),
        "(iii): 85 is half of 170"
    );
    assert!(!detector.should_notify(c, starved, true, c.normalized * 1.001), "(iv)");
    assert!(detector.should_notify(c, starved, true, c.normalized), "(iv) is about a larger one");
}

/// §5.2: the largest notification is kept, its sender may change it, and it is valid for its lifetime.
#[test]
fn the_largest_notification_holds() {
    let (a, b) = (NodeId(1), NodeId(2));
    let at = |s: u64| Time(s * 1_000_000_000);
    let mut heard = Heard::default();
    assert_eq!((heard.normalized(at(0)), heard.until()), (0.0, None));
    heard.take(a, 0.3, at(2), at(0));
    heard.take(b, 0.2, at(9), at(1));
    assert_eq!(
        (heard.normalized(at(1)), heard.until()),
        (0.3, Some(at(2))),
        "a smaller one of another is not kept"
    );
    heard.take(b, 0.3, at(9), at(1));
    assert_eq!(heard.until(), Some(at(2)), "nor an equal one");
    heard.take(b, 0.4, at(3), at(1));
    assert_eq!((heard.normalized(at(1)), heard.until()), (0.4, Some(at(3))));
    heard.take(b, 0.1, at(4), at(2));
    assert_eq!((heard.normalized(at(3)), heard.until()), (0.1, Some(at(4))), "its own sender lowers it");
    assert_eq!(heard.normalized(at(4)), 0.0, "it has expired");
    heard.take(a, 0.05, at(9), at(5));
    assert_eq!(heard.normalized(at(5)), 0.05, "after that any other is the largest");
    assert_eq!((heard.take_largest(), heard.take_largest()), (0.4, 0.0), "since the last look");
}

fn packet(class: PacketClass, ecn: Ecn) -> Packet {
    Packet {
        id: PacketId(0),
        flow: FlowId(0),
        destination: NodeId(1),
        next_hop: NodeId(1),
        bytes: 552,
        class,
        ecn,
        labelled: false,
        own: false,
        enqueued: Time::ZERO,
    }
}

/// The drop decision of an interface, with its random stream.
struct Interface {
    drop: NredDrop,
    random: Stream,
}

impl Interface {
    fn new(ecn: bool, p: f64) -> Self {
        let random = Stream::new(7, "nred", Purpose::Queue);
        let drop = NredDrop::new(&nred(&[("ecn", ParamValue::Flag(ecn))]), false);
        let mut new = Self { drop, random };
        new.set(Direction::Outgoing, p);
        new
    }

    fn set(&mut self, direction: Direction, p: f64) {
        self.drop.apply(Setting::Probability(direction, Probability::new(p)));
    }

    fn sends(&mut self, class: PacketClass, ecn: Ecn) -> Verdict {
        let mut context = Context { now: Time::ZERO, random: &mut self.random, out: &mut AqmEffects };
        self.drop.on_enqueue(&packet(class, ecn), &QueueView::default(), &mut context)
    }

    fn receives(&mut self) -> Verdict {
        let mut context = Context { now: Time::ZERO, random: &mut self.random, out: &mut AqmEffects };
        self.drop.on_receive(&packet(PacketClass::Data, Ecn::NotEct), &mut context)
    }

    /// Number of packets from the last drop, or from the start, to the next drop.
    fn gap(&mut self) -> usize {
        self.gap_within(usize::MAX).unwrap_or(usize::MAX)
    }

    /// The same among so many packets.
    fn gap_within(&mut self, packets: usize) -> Option<usize> {
        (1..=packets).find(|_| self.sends(PacketClass::Data, Ecn::NotEct) != Verdict::Pass)
    }
}

/// Algorithm 5.2 with p_b = 0.1: after a drop `count` is 1 at the next packet, so p_a is 1/9, 1/8, ..., 1: the gap is uniform on
/// 1..9. At first `count` is 0, p_a is 1/10, 1/9, ..., 1: uniform on 1..10. Three standard deviations of a share are
/// 0.0094 and 0.009 for 10,000 gaps; one draw in 17 of such a share lies outside of two.
#[test]
fn gaps_are_uniform() {
    let mut interface = Interface::new(false, 0.1);
    interface.gap();
    let mut seen = [0u32; 11];
    for _ in 0..10_000 {
        seen[interface.gap().min(10)] += 1;
    }
    assert_eq!((seen[0], seen[10]), (0, 0));
    for share in &seen[1..10] {
        assert!((f64::from(*share) / 1e4 - 1.0 / 9.0).abs() < 0.0125, "{seen:?}");
    }
    let mut first = [0u32; 12];
    for _ in 0..10_000 {
        interface.set(Direction::Outgoing, 0.0);
        assert_eq!(interface.sends(PacketClass::Data, Ecn::NotEct), Verdict::Pass);
        interface.set(Direction::Outgoing, 0.1);
        first[interface.gap().min(11)] += 1;
    }
    assert_eq!((first[0], first[11]), (0, 0));
    for share in &first[1..11] {
        assert!(
            (f64::from(*share) / 1e4 - 0.1).abs() < 0.012,
            "no congestion puts count back to -1: {first:?}"
        );
    }
}

#[test]
fn certainty_drops_everything_and_zero_nothing() {
    let mut interface = Interface::new(false, 1.0);
    for _ in 0..1000 {
        assert_eq!(interface.gap(), 1);
    }
    interface.set(Direction::Outgoing, 0.0);
    for _ in 0..1000 {
        assert_eq!(interface.sends(PacketClass::Data, Ecn::NotEct), Verdict::Pass);
    }
}

#[test]
fn the_two_queues_are_apart() {
    let mut interface = Interface::new(false, 0.0);
    interface.set(Direction::Incoming, 1.0);
    assert_eq!(interface.receives(), Verdict::Drop(DropReason(INCOMING)));
    assert_eq!(interface.sends(PacketClass::Data, Ecn::NotEct), Verdict::Pass);
    interface.set(Direction::Incoming, 0.0);
    interface.set(Direction::Outgoing, 1.0);
    assert_eq!(interface.receives(), Verdict::Pass);
    assert_eq!(interface.sends(PacketClass::Ack, Ecn::NotEct), Verdict::Drop(DropReason(OUTGOING)));
    assert_eq!(
        interface.sends(PacketClass::Control, Ecn::NotEct),
        Verdict::Pass,
        "control packets are exempt"
    );
}

/// §8: a mark in place of the drop, unless the probability is 1.
#[test]
fn marks_if_the_transport_supports_ecn() {
    let mut interface = Interface::new(true, 0.999_999);
    assert_eq!(interface.sends(PacketClass::Data, Ecn::Ect), Verdict::Mark(MarkReason(OUTGOING)));
    interface.set(Direction::Outgoing, 1.0);
    assert_eq!(interface.sends(PacketClass::Data, Ecn::Ect), Verdict::Drop(DropReason(OUTGOING)));
}

/// An agent with its timers and its present settings.
struct Node {
    agent: NredAgent,
    random: Stream,
    out: AgentEffects,
    now: Time,
    timers: BTreeMap<Timer, Time>,
    outgoing: f64,
    incoming: f64,
    sent: Vec<(Time, Message)>,
}

const NEIGHBOURS: [NodeId; 3] = [NodeId(1), NodeId(2), NodeId(3)];

impl Node {
    fn new(set: &[(&'static str, ParamValue)]) -> Self {
        let mut node = Self {
            agent: NredAgent::new(nred(set), false),
            random: Stream::new(3, "node", Purpose::Agent),
            out: AgentEffects::default(),
            now: Time::ZERO,
            timers: BTreeMap::new(),
            outgoing: 0.0,
            incoming: 0.0,
            sent: Vec::new(),
        };
        node.hook(|agent, context| {
            let setup = AgentSetup {
                node: NodeId(0),
                rate: Rate::from_kbps(2_000),
                exchange: LoneExchange::default(),
                neighbours: &NEIGHBOURS,
                sense_margin: None,
            };
            agent.on_start(&setup, context);
        });
        node
    }

    fn hook(&mut self, call: impl FnOnce(&mut NredAgent, &mut AgentContext<'_>)) {
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut self.out };
        call(&mut self.agent, &mut context);
        self.timers.extend(self.out.timers.drain(..));
        for setting in self.out.settings.drain(..) {
            match setting {
                Setting::Probability(Direction::Outgoing, p) => {
                    self.outgoing = p.numerator() as f64 / 4_294_967_296.0
                }
                Setting::Probability(Direction::Incoming, p) => {
                    self.incoming = p.numerator() as f64 / 4_294_967_296.0
                }
                other => panic!("{other:?}"),
            }
        }
        self.sent.extend(self.out.messages.drain(..).map(|message| (self.now, message)));
    }

    /// Advances by `intervals` of 100 ms with equal samples.
    fn run(&mut self, intervals: u64, each: NodeSample<'_>) {
        for _ in 0..intervals {
            let end = self.now + Span::from_millis(100);
            while let Some((&timer, &at)) = self.timers.iter().filter(|t| *t.1 <= end).min_by_key(|t| *t.1) {
                self.timers.remove(&timer);
                self.now = at;
                self.hook(|agent, context| agent.on_timer(timer, context));
            }
            self.now = end;
            self.hook(|agent, context| agent.on_sample(&each, context));
        }
    }

    fn receive_ncn(&mut self, from: u32, normalized: f64, lifetime_ms: u16) {
        let ncn = Ncn { normalized: (normalized * f64::from(u32::MAX)).round() as u32, lifetime_ms };
        let mut bytes = [0; Ncn::wire_len()];
        ncn.encode(&mut bytes).unwrap();
        self.hook(|agent, context| agent.on_message(NodeId(from), &bytes, false, context));
    }
}

/// Shares of a starved node in a channel that is busy for 68 % of the time (an index of 170), and of a node with most of the channel.
const STARVED: (u64, u64, u64) = (4, 2, 32);
const GREEDY: (u64, u64, u64) = (40, 8, 32);

fn of((transmit, own, idle): (u64, u64, u64)) -> NodeSample<'static> {
    sample(transmit, own, idle)
}

/// After 60 intervals the averages are 170, 10 and 5 to six digits: p_b is 0.07, normalizedP_b 0.07/170, one notification per second.
#[test]
fn a_starved_node_notifies_once_a_second() {
    let mut node = Node::new(&[]);
    node.run(60, of(STARVED));
    node.sent.clear();
    node.run(100, of(STARVED));
    assert_eq!(node.sent.len(), 10);
    let mut received = [0; 4];
    for pair in node.sent.windows(2) {
        assert_eq!(pair[1].0.since(pair[0].0), Span::from_secs(1));
    }
    for (_, message) in &node.sent {
        let Destination::Neighbour(NodeId(to)) = message.to else { panic!("{message:?}") };
        received[to as usize] += 1;
        assert!(message.ahead);
        let (ncn, rest) = Ncn::decode(&message.bytes).unwrap();
        assert_eq!((ncn.lifetime_ms, rest.len()), (2000, 0));
        assert!((f64::from(ncn.normalized) / f64::from(u32::MAX) - 0.07 / 170.0).abs() < 1e-8, "{ncn:?}");
    }
    assert_eq!(received[0], 0);
    node.run(1000, of(STARVED));
    for NodeId(n) in NEIGHBOURS {
        let to = |m: &(Time, Message)| m.1.to == Destination::Neighbour(NodeId(n));
        assert!(node.sent.iter().filter(|m| to(m)).count() > 20, "each neighbour has its turn");
    }
    assert_eq!((node.outgoing, node.incoming), (0.0, 0.0), "the node does not obey its own notification");
}

/// With mobile nodes the present neighbours count; a node without neighbours sends no notification.
#[test]
fn a_notification_is_sent_to_a_present_neighbour() {
    let mut node = Node::new(&[]);
    node.run(60, of(STARVED));
    node.hook(|agent, context| agent.on_neighbours(&[NodeId(7)], context));
    node.sent.clear();
    node.run(100, of(STARVED));
    assert_eq!(node.sent.len(), 10);
    assert!(node.sent.iter().all(|m| m.1.to == Destination::Neighbour(NodeId(7))));
    node.hook(|agent, context| agent.on_neighbours(&[], context));
    node.sent.clear();
    node.run(100, of(STARVED));
    assert_eq!(node.sent, []);
}

#[test]
fn no_notification_without_congestion_traffic_or_need() {
    let mut greedy = Node::new(&[]);
    greedy.run(200, of(GREEDY));
    assert_eq!(greedy.sent, []);
    let mut quiet = Node::new(&[]);
    quiet.run(200, sample(4, 2, 61));
    assert_eq!(quiet.sent, [], "an index of 97.5 is below min_th");
    let mut bystander = Node::new(&[]);
    bystander.run(200, NodeSample { traffic: 0, ..of(STARVED) });
    assert_eq!(bystander.sent, [], "no flow passes");
    let mut modest = Node::new(&[]);
    for _ in 0..200 {
        modest.receive_ncn(1, 0.07 / 170.0 + 1e-6, 2000);
        modest.run(1, of(STARVED));
    }
    assert_eq!(modest.sent, [], "another node has a larger normalizedP_b");
}

/// For condition (ii) a flow counts for `memory` after its last packet.
#[test]
fn a_silent_flow_is_remembered() {
    let mut node = Node::new(&[("memory", ParamValue::Span(Span::from_secs(10)))]);
    node.run(100, of(STARVED));
    node.sent.clear();
    node.run(300, NodeSample { traffic: 0, ..of(STARVED) });
    assert!((9..=11).contains(&node.sent.len()), "{}", node.sent.len());
}

/// Condition (ii): the receiver of a flow whose first SYN is lost is on its path, unless only packets count (`set_up = false`).
#[test]
fn a_flow_that_is_being_set_up_counts() {
    let waits = NodeSample { traffic: 0, set_up: 1, ..of(STARVED) };
    let mut node = Node::new(&[]);
    node.run(200, waits);
    assert!(node.sent.len() > 10, "{}", node.sent.len());
    let mut old = Node::new(&[("set_up", ParamValue::Flag(false))]);
    old.run(200, waits);
    assert_eq!(old.sent, []);
}

/// With the paper's numbers and C = 1030 B a channel that is always busy has an index of 2,000,000 / 8240 = 242.7: no share below
/// 0.989 of the time reaches max_th, and the paper's own scenes have at most 0.988. With 1000 B it is 250.
#[test]
fn a_full_channel_lies_just_below_or_above_max_th() {
    for (bytes, busy, all) in [(1030, 0.988, false), (1030, 1.0, true), (1000, 0.988, true)] {
        let nred = nred(&[("mean_packet", ParamValue::Bytes(Bytes(bytes)))]);
        let avg = busy * 2e6 / (8.0 * bytes as f64);
        assert_eq!(Detector::new(&nred).congestion(avg).p_b == 1.0, all, "{bytes} B, {busy}: {avg}");
    }
}

/// §5.3: the share is normalizedP_b times avg_tx and avg_rx: here 0.07/170 of 100 and of 20.
#[test]
fn the_greedy_drop_in_proportion_to_their_share() {
    let mut node = Node::new(&[]);
    node.run(100, of(GREEDY));
    assert_eq!((node.outgoing, node.incoming), (0.0, 0.0));
    node.receive_ncn(1, 0.07 / 170.0, 2000);
    assert!((node.outgoing - 0.07 / 170.0 * 100.0).abs() < 1e-6, "{}", node.outgoing);
    assert!((node.incoming - 0.07 / 170.0 * 20.0).abs() < 1e-6, "{}", node.incoming);
    node.run(19, of(GREEDY));
    assert!(node.outgoing > 0.0, "1.9 s later it holds");
    node.run(2, of(GREEDY));
    assert_eq!((node.outgoing, node.incoming), (0.0, 0.0), "after 2 s it does not");
    node.receive_ncn(1, 1.0, 2000);
    assert_eq!((node.outgoing, node.incoming), (1.0, 1.0), "beyond max_th everything is dropped");
}

/// Expiry needs no sample: the timer alone resets the probabilities.
#[test]
fn a_notification_expires_at_its_time() {
    let mut node = Node::new(&[("interval", ParamValue::Span(Span::from_secs(3600)))]);
    node.run(1, of(GREEDY));
    node.receive_ncn(1, 1.0, 150);
    assert_eq!(node.outgoing, 1.0);
    let (timer, at) = node
        .timers
        .iter()
        .map(|(t, at)| (*t, *at))
        .find(|t| t.1 == node.now + Span::from_millis(150))
        .unwrap();
    node.now = at;
    node.hook(|agent, context| agent.on_timer(timer, context));
    assert_eq!((node.outgoing, node.incoming), (0.0, 0.0));
}

/// Section 5.2 (iv): a node does not notify if it "received" a larger notification; its own notification is not a received one.
#[test]
fn its_own_notification_does_not_silence_a_node() {
    let mut heard = Heard::default();
    heard.take_own(NodeId(1), 0.5, Time(10), Time(0));
    assert_eq!((heard.held(), heard.take_largest()), (0.5, 0.0));
    heard.take(NodeId(2), 0.3, Time(10), Time(1));
    assert_eq!((heard.held(), heard.take_largest()), (0.5, 0.3));
}

#[test]
fn other_readings() {
    let mut node = Node::new(&[("obey_own", ParamValue::Flag(true)), ("broadcast", ParamValue::Flag(true))]);
    node.run(100, of(STARVED));
    assert!(
        node.sent.iter().all(|(_, message)| message.to == Destination::Broadcast) && !node.sent.is_empty()
    );
    assert!(node.outgoing > 0.0);
    // Messages that are no NCN are ignored.
    let before = (node.outgoing, node.incoming);
    node.hook(|agent, context| agent.on_message(NodeId(1), &[9; 20], true, context));
    node.hook(|agent, context| agent.on_message(NodeId(1), &[], true, context));
    assert_eq!((node.outgoing, node.incoming), before);
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let entry = find("nred").unwrap();
    let problem = |set: &[(&'static str, ParamValue)]| {
        (entry.build)(&Params(set.iter().map(|(name, value)| ((*name).to_string(), *value)).collect()))
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(problem(&[("min_th", ParamValue::Number(240.0))]), "min_th is not below max_th");
    let long = ("ncn_interval", ParamValue::Span(Span::from_millis(2001)));
    assert_eq!(problem(&[long]), "ncn_interval is above lifetime");
    assert!(problem(&[("max_p", ParamValue::Number(1.1))]).starts_with("max_p: expected"));
    assert!(problem(&[("mean_packet", ParamValue::Bytes(Bytes(0)))]).starts_with("mean_packet: expected"));
}

proptest! {
    /// For any samples and messages: averages are at most those of a full channel, probabilities within 0..=1 (by their type), and there is
    /// no message without congestion.
    #[test]
    fn any_life_keeps_the_bounds(
        steps in prop::collection::vec((0u64..=100, 0u64..=100, 0u64..=100, any::<bool>(), any::<u32>(), any::<u16>()), 1..80),
    ) {
        let mut node = Node::new(&[]);
        let mut highest = 0.0f64;
        for (a, b, c, heard, normalized, lifetime_ms) in steps {
            let transmit = a.min(100);
            let own = b.min(100 - transmit);
            let idle = c.min(100 - transmit - own);
            if heard {
                node.receive_ncn(1, f64::from(normalized) / f64::from(u32::MAX), lifetime_ms);
            }
            highest = highest.max(250.0 * (100 - idle) as f64 / 100.0);
            node.run(1, sample(transmit, own, idle));
            prop_assert!((0.0..=1.0).contains(&node.outgoing) && (0.0..=1.0).contains(&node.incoming));
        }
        if highest < 100.0 {
            prop_assert_eq!(&node.sent, &[]);
        }
    }
}

/// §5.1: the index is U W/C with a W of its own, whatever the radio's rate; twice the W gives twice the index. Shown by the gauges.
#[test]
fn gauges_are_averages_decisions_and_notifications() {
    let gauges = |node: &Node| node.agent.gauges().into_iter().collect::<BTreeMap<_, _>>();
    let mut node = Node::new(&[]);
    node.run(100, of(STARVED));
    let seen = gauges(&node);
    assert_eq!(seen.len(), 5);
    for (name, value) in
        [("avg", 170.0), ("avg_tx", 10.0), ("avg_rx", 5.0), ("p_b", 0.07), ("normalized_p_b", 0.0)]
    {
        assert!((seen[name] - value).abs() < 1e-6, "{name}: {}", seen[name]);
    }
    node.receive_ncn(1, 0.25, 2000);
    assert!((gauges(&node)["normalized_p_b"] - 0.25).abs() < 1e-9);

    let mut wide = Node::new(&[("bandwidth", ParamValue::Rate(Rate::from_kbps(4_000)))]);
    wide.run(100, of(STARVED));
    let seen = gauges(&wide);
    assert!((seen["avg"] - 340.0).abs() < 1e-6 && seen["p_b"] == 1.0, "{seen:?}");
}

/// The scheme's subscriptions, and the time of the first check: random in the first T_NCN.
#[test]
fn agents_start_at_random_times_and_subscribe_to_overheard_frames() {
    let scheme = (find("nred").expect("there").build)(&Params::default()).expect("its defaults");
    let radio = places::Interface::radio(50);
    let wire = places::Interface { medium: Medium::Wire, ..radio };
    let wants = scheme.wants(&radio);
    let wanted = [Capability::Airtime, Capability::NavTime, Capability::Overheard, Capability::Received];
    assert!(wanted.iter().all(|&it| wants.has(it)));
    let flag = |name: &str| Params([(name.to_string(), ParamValue::Flag(true))].into());
    let of = |set| (find("nred").expect("there").build)(&set).expect("a flag").wants(&radio);
    assert!(!of(flag("broadcast")).has(Capability::Overheard), "each neighbour is addressed");
    assert_eq!((wants.samples(), scheme.wants(&wire)), (Span::from_millis(100), Wants::NONE));
    let first: Vec<Time> = (1..=20)
        .map(|seed| {
            let mut agent = NredAgent::new(nred(&[]), false);
            let (mut random, mut out) = (Stream::new(seed, "node", Purpose::Agent), AgentEffects::default());
            let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut out };
            let setup = AgentSetup {
                node: NodeId(0),
                rate: Rate::from_kbps(2_000),
                exchange: LoneExchange::default(),
                neighbours: &NEIGHBOURS,
                sense_margin: None,
            };
            agent.on_start(&setup, &mut context);
            let [(_, at)] = out.timers[..] else { panic!("{:?}", out.timers) };
            at
        })
        .collect();
    let (least, most) = (first.iter().min().expect("twenty"), first.iter().max().expect("twenty"));
    assert!(*least < Time::ZERO + Span::from_millis(300), "{least:?}");
    assert!((Span::from_millis(700)..Span::from_secs(1)).contains(&most.since(Time::ZERO)), "{most:?}");
}

/// A notification of 1 means probability 1, also at a node that has hardly used the channel; a min_th of 0 causes no division of 0 by 0.
#[test]
fn the_ends_of_the_scale() {
    let mut idle = Node::new(&[]);
    idle.receive_ncn(1, 1.0, 2000);
    assert_eq!((idle.outgoing, idle.incoming), (1.0, 1.0));
    let from_zero = nred(&[("min_th", ParamValue::Number(0.0))]);
    assert_eq!(Detector::new(&from_zero).congestion(0.0).normalized, 0.0);
    let set = [("lifetime", ParamValue::Span(Span::from_secs(1)))];
    assert_eq!(nred(&set).lifetime, nred(&set).ncn_interval, "as long as T_NCN is long enough");
}

/// Forged, mutated and repeated NCNs, of neighbours and of others.
#[test]
fn any_notifications_cost_bounded_work() {
    let agents = airfair_schemes::fuzz::Agents::new(&*airfair_schemes::fuzz::scheme("nred"));
    let worst = hostile_driver::drive(&mut agents.unwrap(), 100_000);
    println!("{worst:?}");
    assert!(worst.allocations > 2 && worst.allocations < 500, "{worst:?}");
    assert!(worst.bytes < 200_000 && worst.kept < 1_000_000, "{worst:?}");
}

/// The greedy node has 100 + 20 of an index of 170. Of these it keeps 0.5 * 170 = 85: 35 are left of 120, so that it drops with 35/120 of
/// the paper's probabilities. With 0.75 it keeps 127.5, all that it has, and drops nothing even where p_b is 1.
#[test]
fn the_spared_part_is_not_dropped() {
    let mut node = Node::new(&[("spare", ParamValue::Number(0.5))]);
    node.run(100, of(GREEDY));
    node.receive_ncn(1, 0.07 / 170.0, 2000);
    assert!((node.outgoing - 0.07 / 170.0 * 100.0 * 35.0 / 120.0).abs() < 1e-6, "{}", node.outgoing);
    assert!((node.incoming - 0.07 / 170.0 * 20.0 * 35.0 / 120.0).abs() < 1e-6, "{}", node.incoming);
    let mut node = Node::new(&[("spare", ParamValue::Number(0.75))]);
    node.run(100, of(GREEDY));
    node.receive_ncn(1, 1.0, 2000);
    assert_eq!((node.outgoing, node.incoming), (0.0, 0.0));
}

/// With a silence of 500 ms as a condition a node with a small share and steady packets sends no notification; after five intervals without
/// a packet it does for the 3 s of recovery, in the first of which its checks come once a second.
#[test]
fn only_a_node_that_was_silent_suffers() {
    let (silence, recovery) = (Span::from_millis(500), Span::from_secs(3));
    let mut node =
        Node::new(&[("silence", ParamValue::Span(silence)), ("recovery", ParamValue::Span(recovery))]);
    let silent = NodeSample { traffic: 0, ..of(STARVED) };
    node.run(100, of(STARVED));
    node.run(4, silent);
    node.run(50, of(STARVED));
    assert_eq!(node.sent, [], "400 ms are no silence");
    node.run(5, silent);
    node.run(100, of(STARVED));
    assert_eq!(node.sent.len(), 3);
}

/// A node that three neighbours notify drops nothing where two are the most, until the notification of one is older than the time of
/// recovery.
#[test]
fn where_many_suffer_nothing_is_dropped() {
    let recovery = ParamValue::Span(Span::from_secs(1));
    let mut node = Node::new(&[("most_sufferers", ParamValue::Integer(2)), ("recovery", recovery)]);
    node.run(100, of(GREEDY));
    node.receive_ncn(1, 0.07 / 170.0, 20_000);
    node.run(5, of(GREEDY));
    node.receive_ncn(2, 0.06 / 170.0, 20_000);
    assert!(node.outgoing > 0.0);
    node.receive_ncn(3, 0.06 / 170.0, 20_000);
    assert_eq!(node.outgoing, 0.0);
    node.run(4, of(GREEDY));
    assert_eq!(node.outgoing, 0.0, "900 ms after the first");
    node.run(1, of(GREEDY));
    assert!(node.outgoing > 0.0);
}

/// Nor does it notify anybody then, though it suffers itself.
#[test]
fn where_many_suffer_nobody_notifies() {
    for (most, notifies) in [(2, false), (3, true)] {
        let mut node = Node::new(&[("most_sufferers", ParamValue::Integer(most))]);
        node.run(100, of(STARVED));
        node.sent.clear();
        for neighbour in 1..=3 {
            node.receive_ncn(neighbour, 0.01 / 170.0, 20_000);
        }
        node.run(20, of(STARVED));
        assert_eq!(!node.sent.is_empty(), notifies, "{most}");
    }
}

/// With a proof of 20 s a notified node goes on dropping while others use the air (24 % of the time here). Where nobody does, as if a
/// neighbour lied, it stops after 20 s, for a minute; after the next 20 s for two.
#[test]
fn a_notified_node_asks_for_a_proof() {
    let set = [("proof", ParamValue::Span(Span::from_secs(20)))];
    let quiet = sample(60, 8, 32);
    for (proof, each, drops) in [
        (&set[..], of(GREEDY), [true; 4]),
        (&set[..], quiet, [true, false, true, false]),
        (&[], quiet, [true; 4]),
    ] {
        let mut node = Node::new(proof);
        node.run(100, each);
        let mut seen = Vec::new();
        // From 10 s on it is notified each second; 5, 40, 85 and 150 s later.
        for second in 0..=150 {
            node.receive_ncn(1, 0.07 / 170.0, 2000);
            node.run(10, each);
            if [5, 40, 85, 150].contains(&second) {
                seen.push(node.outgoing > 0.0);
            }
        }
        assert_eq!(seen, drops, "{proof:?}");
    }
}

/// Others send to others for a fifth of the time. An access point with a limit of 0.03 then drops nothing; a node that is none does.
#[test]
fn an_access_point_in_foreign_air_drops_nothing() {
    for (access_point, most, drops) in [(true, 0.03, false), (true, 1.0, true), (false, 0.03, true)] {
        let mut node = Node::new(&[]);
        node.agent = NredAgent::new(nred(&[("most_foreign", ParamValue::Number(most))]), access_point);
        node.run(100, of(GREEDY));
        node.receive_ncn(1, 0.07 / 170.0, 2000);
        assert_eq!(node.outgoing > 0.0, drops, "{access_point} {most}");
    }
}

/// Two flows pass, one with three times as many bytes as the other: 1.5 and 0.5 of the mean, and with an exponent of 2 factors of 2.25
/// and 0.25. Of a local share of 0.5 that is all of the one, and 1/8 of the other. Its packets come after a drop, so that `count` is 1 and
/// Algorithm 5.2 has p_a = (1/8) / (1 - 1/8) = 1/7, here within four standard deviations of 7960 draws (0.0157).
#[test]
fn a_large_flow_is_dropped_more_than_a_small_one() {
    let mut interface = Interface::new(false, 0.0);
    interface.drop = NredDrop::new(&nred(&[("evenness", ParamValue::Number(2.0))]), false);
    let (mut sent, mut dropped) = ([0_u32; 2], [0_u32; 2]);
    for window in 0..4000 {
        for flow in [0, 0, 0, 1, 0, 0, 0, 1] {
            let mut context =
                Context { now: Time::ZERO, random: &mut interface.random, out: &mut AqmEffects };
            let packet = Packet { flow: FlowId(flow), ..packet(PacketClass::Data, Ecn::NotEct) };
            let verdict = interface.drop.on_enqueue(&packet, &QueueView::default(), &mut context);
            if window >= 20 {
                sent[flow as usize] += 1;
                dropped[flow as usize] += u32::from(verdict != Verdict::Pass);
            }
        }
        interface.set(Direction::Outgoing, 0.5);
    }
    assert_eq!(sent, [6 * 3980, 2 * 3980]);
    assert_eq!(dropped[0], sent[0]);
    let small = f64::from(dropped[1]) / f64::from(sent[1]);
    assert!((small - 1.0 / 7.0).abs() < 0.0157, "{small}");
}

/// A neighbour counts among those that suffer for the minute of its rest, where that is longer than recovery: with three of them
/// nothing is dropped until then.
#[test]
fn a_neighbour_at_rest_still_suffers() {
    let span = |seconds| ParamValue::Span(Span::from_secs(seconds));
    let mut node =
        Node::new(&[("most_sufferers", ParamValue::Integer(2)), ("recovery", span(1)), ("rest", span(60))]);
    node.run(100, of(GREEDY));
    for neighbour in 1..=3 {
        node.receive_ncn(neighbour, 0.07 / 170.0, 60_500);
    }
    node.run(599, of(GREEDY));
    assert_eq!(node.outgoing, 0.0, "59.9 s later");
    node.run(2, of(GREEDY));
    assert!(node.outgoing > 0.0);
}

/// With `answered` a flow of which no acknowledgement has passed is not dropped, however large the probability; after one all its packets
/// are.
#[test]
fn a_flow_without_acknowledgements_is_not_dropped() {
    let mut interface = Interface::new(false, 0.0);
    interface.drop = NredDrop::new(&nred(&[("answered", ParamValue::Flag(true))]), false);
    interface.set(Direction::Outgoing, 1.0);
    assert_eq!(interface.gap_within(1000), None);
    interface.set(Direction::Incoming, 0.0);
    let mut context = Context { now: Time::ZERO, random: &mut interface.random, out: &mut AqmEffects };
    interface.drop.on_receive(&packet(PacketClass::Ack, Ecn::NotEct), &mut context);
    interface.set(Direction::Outgoing, 1.0);
    assert_eq!(interface.gap_within(1000), Some(1));
}

/// A host that judges packets elsewhere counts the bytes of each flow instead: 1.5 and 0.5 of the mean are factors of 2.25 and 0.25. With
/// `answered` a flow has none until an acknowledgement of it has passed; in a cell the mean is spared.
#[test]
fn factors_follow_the_bytes_that_a_host_has_counted() {
    let flow = |data, answers| FlowBytes { data: [data, 0], answers: [answers, 0] };
    let evenness = ("evenness", ParamValue::Number(2.0));
    let answered = ("answered", ParamValue::Flag(true));
    let cell = ("cell", ParamValue::Number(0.8));
    for (set, access_point, expected) in [
        (vec![], false, [1.0, 1.0, 1.0]),
        (vec![evenness], false, [2.25, 0.25, 1.0]),
        (vec![evenness, answered], false, [2.25, 0.0, 0.0]),
        (vec![evenness, cell], true, [1.25, 0.0, 0.0]),
    ] {
        let mut drop = NredDrop::new(&nred(&set), access_point);
        for _ in 0..3 {
            drop.count_flow(FlowId(0), &flow(2900, 100));
            drop.count_flow(FlowId(1), &flow(1000, 0));
            drop.apply(Setting::Probability(Direction::Outgoing, Probability::new(0.5)));
        }
        let factors = [0, 1, FlowId::NONE.0].map(|flow| drop.flow_factor(FlowId(flow)));
        assert_eq!(factors, expected, "{set:?}");
    }
}

/// The access point of a cell that is notified sets its own probability, here 0.1, in either direction, however small the part of the
/// neighbourhood's queue above the spared one and however many suffer. It is set with the next sample, and for as long as the neighbour
/// counts as suffering: the 5 s of recovery. In foreign air, and at any other node, it is not.
#[test]
fn an_access_point_drops_by_its_own_rule() {
    let set = [
        ("cell", ParamValue::Number(0.1)),
        ("spare", ParamValue::Number(1.0)),
        ("most_sufferers", ParamValue::Integer(0)),
        ("most_foreign", ParamValue::Number(0.03)),
    ];
    for (access_point, foreign, expected) in [(true, 0, 0.1), (true, 20, 0.0), (false, 0, 0.0)] {
        let mut node = Node::new(&set);
        node.agent = NredAgent::new(nred(&set), access_point);
        let each = sample(50, 50 - foreign, 0);
        node.run(100, each);
        node.receive_ncn(1, 0.3, 2000);
        assert_eq!(node.outgoing, 0.0);
        node.run(1, each);
        let close = |p: f64| (p - expected).abs() < 1e-9; // a probability is a multiple of 2^-32
        assert!(close(node.outgoing) && close(node.incoming), "{}", node.outgoing);
        node.run(48, each);
        assert!(close(node.outgoing), "4.9 s later");
        node.run(1, each);
        assert_eq!(node.outgoing, 0.0, "5 s later");
    }
}

/// At the access point of a cell with an exponent of 2 a flow of 1.5 times the mean use has the factor 2.25 - 1 = 1.25, one of half of
/// the mean has none: of 0.8 all packets of the one are dropped, none of the other. A flow of which nothing is known yet is spared.
#[test]
fn in_a_cell_flows_up_to_the_mean_are_spared() {
    let mut interface = Interface::new(false, 0.0);
    let set = [("evenness", ParamValue::Number(2.0)), ("cell", ParamValue::Number(0.8))];
    interface.drop = NredDrop::new(&nred(&set), true);
    for window in 0..50 {
        for flow in [0, 0, 0, 1] {
            let mut context =
                Context { now: Time::ZERO, random: &mut interface.random, out: &mut AqmEffects };
            let packet = Packet { flow: FlowId(flow), ..packet(PacketClass::Data, Ecn::NotEct) };
            let verdict = interface.drop.on_enqueue(&packet, &QueueView::default(), &mut context);
            assert_eq!(verdict != Verdict::Pass, flow == 0 && window > 0, "window {window}, flow {flow}");
        }
        interface.set(Direction::Outgoing, 0.8);
    }
}

/// A node that has had 120 of an index of 170 does not suffer where little is 0.2, though its present share is 15 and below theta, until
/// its mean over 10 s has fallen below 34: 15 + 105 e^(-t/10 s) does after 10 s ln(105/19) = 17.1 s, and half a second later with the
/// averages.
#[test]
fn a_share_that_was_large_is_not_little_at_once() {
    let set = [("lasting", ParamValue::Span(Span::from_secs(10))), ("little", ParamValue::Number(0.2))];
    let mut node = Node::new(&set);
    node.run(1000, of(GREEDY));
    assert_eq!(node.sent, []);
    node.run(160, of(STARVED));
    assert_eq!(node.sent, []);
    node.run(40, of(STARVED));
    assert!(!node.sent.is_empty());
}

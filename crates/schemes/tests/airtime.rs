//! The airtime allocator against numbers computed by hand from its law.

#[path = "shared/hostile.rs"]
mod hostile_driver;

use std::iter::empty;

use airfair_schemes::airtime::{Airtime, AirtimeAgent, AirtimeQueue, Pair, level};
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Context, Destination, DropReason, Ecn, Enqueued, FlowId,
    FlowSample, LinkRate, LinkSample, LoneExchange, NodeId, NodeSample, Packet, PacketClass, PacketId, Queue,
    QueueEffects, Setting, WaitingQueue,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};
use airfair_wire::airtime::{Announcement, Link, State};
use proptest::prelude::*;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-3)
}

const fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

// ---- Shares ----

const KEEPS: Pair = Pair { used: 0.0, weight: 1.0, lends: false, short: false };

fn lender(used: f64) -> Pair {
    Pair { used, lends: true, ..KEEPS }
}

/// The middle row of three has six pairs around it, an outer row four: a sixth and a quarter.
#[test]
fn a_share_is_that_of_each_pair_around() {
    assert!(near(level([KEEPS; 6].iter(), 1.0), 1.0 / 6.0));
    assert!(near(level([KEEPS; 4].iter(), 0.8), 0.2));
    assert!(near(level([KEEPS, Pair { weight: 3.0, ..KEEPS }].iter(), 1.0), 0.25));
}

/// Of two pairs one uses 0.1 and lends: the other has 0.9.
#[test]
fn what_a_pair_lends_goes_to_the_others() {
    let pairs = [KEEPS, lender(0.1)];
    assert!(near(level(pairs.iter(), 1.0), 0.9));
    // One that uses its whole share lends nothing.
    assert!(near(level([KEEPS, lender(0.7)].iter(), 1.0), 0.5));
    // Of three the first lends at a third, the second at the level that follows.
    assert!(near(level([KEEPS, lender(0.4), lender(0.1)].iter(), 1.0), 0.5));
    assert!(near(level([lender(0.0)].iter(), 1.0), 1.0));
}

proptest! {
    /// Nothing is divided twice: what those that lend use, and the shares of the others, are what is divided; or all lend.
    #[test]
    fn shares_add_up(
        pairs in prop::collection::vec((0.0..1.0f64, 1.0..8.0f64, any::<bool>()), 1..40),
        divided in 0.05..1.0f64,
    ) {
        let pairs: Vec<Pair> =
            pairs.iter().map(|&(used, weight, lends)| Pair { used, weight, lends, short: false }).collect();
        let level = level(pairs.iter(), divided);
        let weights: f64 = pairs.iter().map(|pair| pair.weight).sum();
        prop_assert!(level >= divided / weights - 1e-9 && level <= divided + 1e-9);
        let kept = |pair: &Pair| {
            let share = level * pair.weight;
            if pair.lends { pair.used.min(share) } else { share }
        };
        let sum: f64 = pairs.iter().map(kept).sum();
        prop_assert!(sum <= divided + 1e-6, "{sum} of {divided}");
        prop_assert!(near(sum, divided) || near(level, divided), "{sum} of {divided}, level {level}");
    }
}

// ---- The queue ----

struct Port {
    queue: AirtimeQueue,
    random: Stream,
    next: u32,
    now: Time,
}

impl Port {
    fn new(limit: u32) -> Self {
        let random = Stream::new(1, "airtime", Purpose::Queue);
        Self { queue: AirtimeQueue::new(limit), random, next: 0, now: Time::ZERO }
    }

    fn offer(&mut self, to: u32, flow: u32, bytes: u32) -> Enqueued {
        let packet = Packet {
            id: PacketId(self.next),
            flow: FlowId(flow),
            destination: NodeId(to),
            next_hop: NodeId(to),
            bytes,
            class: PacketClass::Data,
            ecn: Ecn::NotEct,
            labelled: false,
            own: false,
            enqueued: self.now,
        };
        self.next += 1;
        let mut out = QueueEffects::default();
        self.queue.enqueue(packet, &mut Context { now: self.now, random: &mut self.random, out: &mut out })
    }

    fn pop(&mut self) -> Option<u32> {
        let mut out = QueueEffects::default();
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut out };
        self.queue.pop(&mut context).map(|packet| packet.id.0)
    }

    fn limit(&mut self, to: u32, mbps: u64, overhead: u32, burst: u32) {
        let rate = LinkRate { rate: Rate::from_mbps(mbps), overhead, burst };
        self.queue.apply(Setting::LinkRate { neighbour: NodeId(to), rate }, self.now);
    }
}

/// 1000 bytes and 250 of overhead take 10 ms at 1 Mbit/s. The bucket holds two of them, and one may begin as long as it is not empty.
#[test]
fn packets_leave_at_the_rate_of_their_link() {
    let mut port = Port::new(50);
    port.limit(2, 1, 250, 2500);
    for _ in 0..4 {
        port.offer(2, 1, 1000);
    }
    assert_eq!([port.pop(), port.pop(), port.pop()], [Some(0), Some(1), Some(2)]);
    assert_eq!((port.pop(), port.queue.wakes_at(port.now)), (None, Some(ms(10))));
    port.now = ms(9);
    assert_eq!(port.pop(), None);
    // Another neighbour does not wait with it.
    port.offer(3, 1, 1000);
    assert_eq!(port.pop(), Some(4));
    port.now = ms(10);
    assert_eq!((port.pop(), port.queue.view().packets, port.queue.wakes_at(port.now)), (Some(3), 0, None));
}

/// A rate that changes moves the packets that wait: what is owed is a number of bytes. None is none.
#[test]
fn a_rate_counts_at_once() {
    let mut port = Port::new(50);
    port.limit(2, 1, 0, 0);
    for _ in 0..3 {
        port.offer(2, 1, 1250);
    }
    assert_eq!((port.pop(), port.pop(), port.queue.wakes_at(port.now)), (Some(0), None, Some(ms(10))));
    port.limit(2, 10, 0, 0);
    assert_eq!((port.pop(), port.queue.wakes_at(port.now)), (None, Some(ms(1))));
    port.limit(2, 0, 0, 0);
    assert_eq!((port.pop(), port.pop(), port.pop()), (Some(1), Some(2), None));
}

/// With more flows than room the one whose turn is last loses its packet, whatever its number: no flow is always the one.
#[test]
fn no_flow_is_dropped_for_its_number() {
    for flows in [[1, 2, 3], [3, 2, 1], [2, 9, 5]] {
        let mut port = Port::new(2);
        let stored = flows.map(|flow| port.offer(2, flow, 1000));
        assert_eq!(stored[2], Enqueued::Refused(DropReason::QUEUE_FULL));
        assert_eq!([port.pop(), port.pop(), port.pop()], [Some(0), Some(1), None]);
    }
}

/// A thousand neighbours have rates one after the other: the last ones count.
#[test]
fn old_rates_make_room() {
    let mut port = Port::new(50);
    (0..1000).for_each(|to| port.limit(to, 1, 0, 0));
    for _ in 0..2 {
        port.offer(999, 1, 1250);
    }
    assert_eq!((port.pop(), port.pop(), port.queue.wakes_at(port.now)), (Some(0), None, Some(ms(10))));
}

/// A flow with a long queue does not keep another one waiting on the same link, and loses its first packet where there is no room.
#[test]
fn flows_of_a_link_take_turns() {
    let mut port = Port::new(4);
    for flow in [1, 1, 1, 2] {
        assert_eq!(port.offer(2, flow, 1000), Enqueued::Stored);
    }
    assert_eq!(port.offer(2, 2, 1000), Enqueued::Displaced(PacketId(0), DropReason::QUEUE_FULL));
    let order: Vec<_> = std::iter::from_fn(|| port.pop()).collect();
    // Flow 1 has a quantum of 1514 bytes first: two packets.
    assert_eq!(order, [1, 2, 3, 4]);
    assert_eq!(port.queue.view().packets, 0);
}

// ---- The agent ----

const PEER: u32 = 2;

struct Node {
    agent: AirtimeAgent,
    random: Stream,
    now: Time,
}

impl Node {
    fn new(set: &[(&'static str, ParamValue)]) -> Self {
        let set = set.iter().map(|&(name, value)| (name.to_string(), value)).collect();
        let config = Airtime::from_params(&Params(set)).unwrap_or_else(|e| panic!("{e}"));
        let mut node = Self {
            agent: AirtimeAgent::new(config),
            random: Stream::new(1, "n", Purpose::Agent),
            now: Time::ZERO,
        };
        // 1000 bytes at 8 Mbit/s take 1 ms, and 1 ms is fixed.
        let exchange = LoneExchange {
            fixed: Span::from_millis(1),
            rts: Span::ZERO,
            rts_above: u32::MAX,
            rate: Rate::from_mbps(8),
        };
        let neighbours = [NodeId(PEER)];
        let setup = AgentSetup {
            node: NodeId(1),
            rate: Rate::from_mbps(8),
            exchange,
            neighbours: &neighbours,
            sense_margin: None,
        };
        node.call(|agent, context| agent.on_start(&setup, context));
        node
    }

    fn call(&mut self, hook: impl FnOnce(&mut AirtimeAgent, &mut AgentContext<'_>)) -> AgentEffects {
        let mut out = AgentEffects::default();
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut out };
        hook(&mut self.agent, &mut context);
        out
    }

    /// A second with this many packets of 1000 bytes to the peer: what the agent sets and says.
    fn second(&mut self, packets: u32, attempts: u32, waiting: u32) -> (LinkRate, Announcement) {
        self.now = Time(self.now.0 + 1_000_000_000);
        let link = LinkSample {
            waiting,
            arrived: packets,
            sent: packets,
            attempts,
            bytes: 1000 * u64::from(packets),
            ..LinkSample::new(NodeId(PEER))
        };
        let flow = FlowSample {
            flow: FlowId(7),
            from: NodeId(1),
            to: NodeId(PEER),
            neighbour: NodeId(PEER),
            packets,
            bytes: 1000 * u64::from(packets),
            stated: None,
        };
        let (interval, links, flows) = (Span::from_secs(1), [link], [flow]);
        let mut sample =
            NodeSample { interval, counted: interval, links: &links, flows: &flows, ..NodeSample::default() };
        sample.airtime.idle = interval;
        let out = self.call(|agent, context| agent.on_sample(&sample, context));
        let [Setting::LinkRate { neighbour: NodeId(PEER), rate }] = out.settings[..] else {
            panic!("{:?}", out.settings)
        };
        let [message] = &out.messages[..] else { panic!("{:?}", out.messages) };
        assert_eq!((message.to, message.ahead), (Destination::Broadcast, true));
        (rate, Announcement::decode(&message.bytes).expect("an announcement").0)
    }

    fn hear(&mut self, from: u32, links: &[Link]) {
        self.hear_said(from, &Announcement::new(from, links.iter().copied(), empty(), empty()));
    }

    fn hear_said(&mut self, from: u32, said: &Announcement) {
        let mut bytes = vec![0; said.wire_len()];
        said.encode(&mut bytes).expect("room");
        self.call(|agent, context| agent.on_message(NodeId(from), &bytes, false, context));
    }
}

fn link(to: u32, used: f64, state: State) -> Link {
    Link { from: 0, to, used: (used * f64::from(u16::MAX)) as u16, flows: 1, state, spoiled: false }
}

/// 100 packets of 2 ms are 0.2 of a second. Alone the pair may have all of the air; with three others around it a quarter: 2 of 8 Mbit/s,
/// an overhead of 1000 bytes for the fixed millisecond, and 40 ms of bits in the bucket.
#[test]
fn a_share_becomes_a_rate() {
    let mut node = Node::new(&[]);
    let (rate, said) = node.second(100, 100, 1);
    assert_eq!(rate, LinkRate { rate: Rate::from_mbps(8), overhead: 1000, burst: 40_000 });
    let own = said.own()[0];
    assert_eq!((said.node(), own.to, own.flows, own.state), (1, PEER, 1, State::Keeps));
    assert!((f64::from(own.used) / 65_535.0 - 0.2).abs() < 1e-4);
    node.hear(3, &[4, 5, 6].map(|to| link(to, 0.1, State::Keeps)));
    let (rate, said) = node.second(100, 100, 1);
    assert_eq!(rate, LinkRate { rate: Rate::from_mbps(2), overhead: 1000, burst: 40_000 });
    // What it has heard it tells others.
    assert_eq!(
        said.heard().iter().map(|link| (link.from, link.to)).collect::<Vec<_>>(),
        [(3, 4), (3, 5), (3, 6)]
    );
    // Announcements of 5 s ago hold no longer.
    for _ in 0..4 {
        node.second(100, 100, 1);
    }
    assert_eq!(node.second(100, 100, 1).0.rate, Rate::from_mbps(8));
}

/// A node that hears the receiver of a link and not its sender learns of it from the receiver, who has heard the sender.
#[test]
fn receivers_tell_of_those_that_send_to_them() {
    let mut node = Node::new(&[]);
    node.hear(PEER, &[link(1, 0.3, State::Short)]);
    let (_, said) = node.second(100, 100, 1);
    let told = said.heard()[0];
    assert_eq!((told.from, told.to, told.state), (PEER, 1, State::Short));
    // Of a node that is not in hearing a link to node 3, which is: a pair around the node's own.
    let mut node = Node::new(&[]);
    let heard = [Link { from: 99, ..link(3, 0.3, State::Keeps) }];
    let said = Announcement::new(3, empty(), heard.into_iter(), empty());
    node.hear_said(3, &said);
    assert_eq!(node.second(100, 100, 1).0.rate, Rate::from_mbps(4));
}

/// A link that one hop more separates counts if its frames need many attempts, and nobody gives way to it. Only such links are told on.
#[test]
fn spoiled_links_farther_away_count() {
    let heard = |spoiled| {
        let far = Link { from: 8, spoiled, ..link(9, 0.05, State::Short) };
        Announcement::new(3, empty(), [far].into_iter(), empty())
    };
    for (set, spoiled, mbps) in [(true, true, 4), (true, false, 8), (false, true, 8)] {
        let mut node = Node::new(&[("spoiled", ParamValue::Flag(set)), ("relief", ParamValue::Number(0.1))]);
        node.hear_said(3, &heard(spoiled));
        let (rate, said) = node.second(100, 100, 1);
        assert_eq!(rate.rate, Rate::from_mbps(mbps));
        let far: Vec<_> = said.far().iter().map(|link| (link.from, link.to)).collect();
        assert_eq!(far, if set && spoiled { vec![(8, 9)] } else { vec![] });
    }
    // Of what the other end has heard from farther away likewise; a third node's tale from so far away is none.
    for (teller, mbps) in [(PEER, 4), (3, 8)] {
        let mut node = Node::new(&[("spoiled", ParamValue::Flag(true))]);
        let far = Link { from: 8, spoiled: true, ..link(9, 0.05, State::Keeps) };
        node.hear_said(teller, &Announcement::new(teller, empty(), empty(), [far].into_iter()));
        assert_eq!(node.second(100, 100, 1).0.rate, Rate::from_mbps(mbps));
    }
}

/// Three attempts for each packet: above 1.5 in the mean of some periods, each with a weight of 0.3. So are those without success.
#[test]
fn a_link_of_many_attempts_is_spoiled() {
    let mut node = Node::new(&[]);
    assert!(node.second(100, 300, 1).1.own()[0].spoiled);
    let mut node = Node::new(&[]);
    assert!(!node.second(100, 140, 1).1.own()[0].spoiled);
    assert!(node.second(0, 14, 1).1.own()[0].spoiled);
}

/// A packet takes one time of its link where retries are not charged, and as many as it has attempts where they are.
#[test]
fn a_packet_counts_once() {
    for (charges, expected) in [(false, 0.2), (true, 0.4)] {
        let mut node = Node::new(&[("charges_retries", ParamValue::Flag(charges))]);
        let used = node.second(100, 200, 1).1.own()[0].used;
        assert!((f64::from(used) / 65_535.0 - expected).abs() < 1e-4, "{used}");
    }
}

/// Both ends send data, the other one of three flows: by flows a quarter and half as much of three quarters for acknowledgements, of
/// what both need. What the other end lends is there to take; by pairs each leaves what the other uses.
#[test]
fn directions_share_by_flows() {
    let rate = |weight, state| {
        let mut node = Node::new(&[("weight", ParamValue::Choice(weight))]);
        node.hear(PEER, &[Link { flows: 3, ..link(1, 0.25, state) }]);
        node.second(100, 100, 1).0.rate.as_bps()
    };
    for (weight, state, expected) in [
        ("flows", State::Keeps, 8_000_000 * 5 / 12),
        ("flows", State::Lends, 6_000_000),
        ("pairs", State::Keeps, 6_000_000),
    ] {
        assert!(rate(weight, state).abs_diff(expected) < 1000, "{}", rate(weight, state));
    }
}

/// A link that is silent for longer than `memory` has no rate any more, which is said once.
#[test]
fn a_link_that_is_silent_is_forgotten() {
    let mut node = Node::new(&[("memory", ParamValue::Span(Span::from_secs(2)))]);
    node.hear(3, &[link(4, 0.1, State::Keeps)]);
    node.second(100, 100, 1);
    let links = [LinkSample::new(NodeId(PEER))];
    let mut settings = Vec::new();
    for _ in 0..5 {
        node.now = Time(node.now.0 + 1_000_000_000);
        let interval = Span::from_secs(1);
        let sample = NodeSample { interval, counted: interval, links: &links, ..NodeSample::default() };
        settings.push(node.call(|agent, context| agent.on_sample(&sample, context)).settings);
    }
    let none = LinkRate { rate: Rate(0), overhead: 0, burst: 0 };
    assert_eq!(settings[2], [Setting::LinkRate { neighbour: NodeId(PEER), rate: none }]);
    assert_eq!(settings[..2].iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
    assert!(settings[3].is_empty() && settings[4].is_empty());
}

/// By flows a pair with three has three quarters of what it shares with one that has one.
#[test]
fn flows_count_where_they_are_to() {
    let mut node = Node::new(&[("weight", ParamValue::Choice("flows"))]);
    node.hear(3, &[Link { flows: 3, ..link(4, 0.1, State::Keeps) }]);
    assert_eq!(node.second(100, 100, 1).0.rate, Rate::from_mbps(2));
}

/// The other direction takes of the share, and leaves half of it.
#[test]
fn both_directions_have_one_share() {
    for (back, expected) in [(0.0, 8_000_000), (0.25, 6_000_000), (0.9, 4_000_000)] {
        let mut node = Node::new(&[]);
        node.hear(PEER, &[link(1, back, State::Keeps)]);
        let rate = node.second(100, 100, 1).0.rate.as_bps();
        assert!(rate.abs_diff(expected) < 1000, "{rate}");
    }
}

/// Two attempts for each packet: half of the rate, if retries are charged.
#[test]
fn retries_take_air() {
    for (charges, least) in [(true, 4_000_000), (false, 8_000_000)] {
        let mut node = Node::new(&[("charges_retries", ParamValue::Flag(charges))]);
        (0..30).for_each(|_| drop(node.second(10, 20, 1)));
        let rate = node.second(10, 20, 1).0.rate.as_bps();
        assert!(rate.abs_diff(least) < 10_000, "{rate}");
    }
}

/// A pair of which nothing waits, and that uses less than 0.9 of its share, lends after three periods; one packet that waits takes it back.
#[test]
fn a_pair_lends_after_three_periods() {
    let mut node = Node::new(&[]);
    let states: Vec<State> = (0..4).map(|_| node.second(10, 10, 0).1.own()[0].state).collect();
    assert_eq!(states, [State::Keeps, State::Keeps, State::Lends, State::Lends]);
    assert_eq!(node.second(10, 10, 1).1.own()[0].state, State::Keeps);
}

/// With relief: beside a pair that is short and has less, a share falls by a tenth a second down to 0.6, and grows again when it is not.
#[test]
fn those_that_have_more_give_way() {
    let relief = [("relief", ParamValue::Number(0.1))];
    let mut node = Node::new(&relief);
    let short = [link(4, 0.05, State::Short)];
    let mut rates = Vec::new();
    for _ in 0..8 {
        node.hear(3, &short);
        rates.push(node.second(100, 100, 1).0.rate.as_bps() as f64 / 4e6);
    }
    let expected = [0.9, 0.81, 0.729, 0.6561, 0.6, 0.6, 0.6, 0.6];
    assert!(rates.iter().zip(expected).all(|(rate, expected)| (rate - expected).abs() < 1e-3), "{rates:?}");
    node.hear(3, &[link(4, 0.05, State::Keeps)]);
    assert!((node.second(100, 100, 1).0.rate.as_bps() as f64 / 4e6 - 0.62).abs() < 1e-3);
    // One that is short and has as much makes nobody give way.
    node.hear(3, &[link(4, 0.5, State::Short)]);
    assert!((node.second(100, 100, 1).0.rate.as_bps() as f64 / 4e6 - 0.64).abs() < 1e-3);
    // Without relief nobody does.
    let mut node = Node::new(&[]);
    node.hear(3, &short);
    assert_eq!(node.second(100, 100, 1).0.rate, Rate::from_mbps(4));
}

/// Packets that wait while less than 0.8 of the share is used, or many attempts: the pair is short.
#[test]
fn a_pair_that_cannot_use_its_share_is_short() {
    let state = |packets, attempts, waiting| {
        Node::new(&[("relief", ParamValue::Number(0.05))]).second(packets, attempts, waiting).1.own()[0].state
    };
    assert_eq!(state(100, 100, 1), State::Short);
    assert_eq!(state(100, 180, 0), State::Short);
    assert_eq!(state(100, 100, 0), State::Keeps);
    assert_eq!(state(450, 450, 1), State::Keeps);
}

/// A hundred pairs that a stranger invents with 255 flows each leave the pair its floor, 0.01 of the air, until they are out of date; no
/// announcement raises a rate above that of the link.
#[test]
fn forged_announcements_are_bounded() {
    let mut node = Node::new(&[("weight", ParamValue::Choice("flows"))]);
    for from in 100..110 {
        let forged: Vec<Link> =
            (0..32).map(|to| Link { flows: 255, ..link(1000 + to, 1.0, State::Short) }).collect();
        node.hear(from, &forged);
    }
    assert_eq!(node.second(100, 100, 1).0.rate.as_bps(), 80_000);
    (0..5).for_each(|_| drop(node.second(100, 100, 1)));
    assert_eq!(node.second(100, 100, 1).0.rate, Rate::from_mbps(8));
    node.hear(3, &[link(4, 0.0, State::Lends)]);
    assert!(node.second(100, 100, 1).0.rate <= Rate::from_mbps(8));
    // In the name of another node.
    let said = Announcement::new(9, [link(4, 1.0, State::Keeps)].into_iter(), empty(), empty());
    node.hear_said(3, &said);
    assert_eq!(node.second(100, 100, 1).0.rate, Rate::from_mbps(8));
}

#[test]
fn a_lifetime_below_the_period_is_refused() {
    let entry = find("airtime").expect("there");
    let set = |name: &str, value| Params([(name.to_string(), value)].into());
    assert!((entry.build)(&set("lifetime", ParamValue::Span(Span::from_millis(500)))).is_err());
}

/// Forged, mutated and repeated announcements, of neighbours and of others.
#[test]
fn any_announcements_cost_bounded_work() {
    let agents = airfair_schemes::fuzz::Agents::new(&*airfair_schemes::fuzz::scheme("airtime"));
    let worst = hostile_driver::drive(&mut agents.expect("an agent"), 100_000);
    println!("{worst:?}");
    assert!(worst.allocations > 2 && worst.allocations < 2_000, "{worst:?}");
    assert!(worst.bytes < 1_000_000 && worst.kept < 1_000_000, "{worst:?}");
}

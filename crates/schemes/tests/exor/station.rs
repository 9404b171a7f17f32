//! A node of ExOR at its radio, driven by hand: what it takes, makes and hands up, whatever it hears.

use airfair_schemes::exor::node::Config;
use airfair_schemes::exor::station::{Station, StationConfig};
use airfair_schemes::opportunistic::expected::Pruning;
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, DeliveryRatios, FlowId, Forwarder, ForwarderContext,
    ForwarderEffects, HeardBroadcast, Holding, LoneExchange, Made, NativePacket, NodeId, Timer,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};
use airfair_wire::exor::{BatchMap, Exor, Fragment, Head, Nodes};
use proptest::prelude::*;

const FLOWS: usize = 8;
const FLOW: FlowId = FlowId(7);

/// A node, its random numbers, and the effects of its last hook.
struct Driven {
    station: Station,
    random: Stream,
    out: ForwarderEffects,
}

impl Driven {
    /// A node of a pair that hear each other.
    fn new(node: u32) -> Self {
        let config = StationConfig {
            batch: 10,
            flush: Span::from_millis(100),
            pruning: Pruning::default(),
            probes: None,
            node: Config { flows: FLOWS, maps: 2, ..Config::default() },
            diffq: None,
        };
        let (station, random) = (Station::new(config), Stream::new(1, "station", Purpose::Agent));
        let mut driven = Self { station, random, out: ForwarderEffects::default() };
        let setup = AgentSetup {
            node: NodeId(node),
            rate: Rate(11_000_000),
            exchange: LoneExchange::default(),
            neighbours: &[],
        };
        driven.agent(0, |station, context| station.on_start(&setup, context));
        let ratios = DeliveryRatios::new([1, 2].map(NodeId), [(0, 1, 0.5), (1, 0, 0.5)]);
        driven.call(0, |station, context| station.on_delivery_ratios(&ratios, context));
        driven
    }

    fn call<R>(&mut self, us: u64, hook: impl FnOnce(&mut Station, &mut ForwarderContext<'_>) -> R) -> R {
        self.out = ForwarderEffects::default();
        let now = Time::ZERO + Span::from_micros(us);
        hook(&mut self.station, &mut ForwarderContext { now, random: &mut self.random, out: &mut self.out })
    }

    fn agent(&mut self, us: u64, hook: impl FnOnce(&mut Station, &mut AgentContext<'_>)) {
        let mut out = AgentEffects::default();
        let now = Time::ZERO + Span::from_micros(us);
        hook(&mut self.station, &mut AgentContext { now, random: &mut self.random, out: &mut out });
        self.out = ForwarderEffects { agent: out, ..ForwarderEffects::default() };
    }

    /// Time of the timer that begins the next turn.
    fn turn(&self) -> Option<u64> {
        let turn = self.out.agent.timers.iter().find(|(timer, _)| *timer == Timer(3));
        turn.map(|(_, at)| at.as_nanos() / 1000)
    }

    fn begin_turn(&mut self, us: u64) {
        self.agent(us, |station, context| station.on_timer(Timer(3), context));
    }

    fn make(&mut self, us: u64) -> Option<Made> {
        self.call(us, Station::make)
    }

    fn hear(&mut self, us: u64, from: u32, made: &Made) {
        let heard = HeardBroadcast { from: NodeId(from), header: &made.header, content: made.content };
        self.call(us, |station, context| station.on_heard(&heard, context));
    }

    fn gauge(&self, wanted: &str) -> f64 {
        self.station.gauges().into_iter().find(|(name, _)| *name == wanted).unwrap().1
    }
}

/// A batch of ten, of which the destination does not hear the last, which goes by routing.
#[test]
fn a_batch_from_source_to_destination() {
    let (mut source, mut destination) = (Driven::new(1), Driven::new(2));
    let (flow, to) = (FLOW, NodeId(2));
    let mut number = 0;
    while source.station.room(flow, to) > 0 {
        let packet = NativePacket { flow, to, number, bytes: 1000 + number };
        source.call(1, |station, context| station.on_packet(&packet, context));
        number += 1;
    }
    assert_eq!(number, 20, "a batch that is sent, and one that waits");
    assert!(source.station.ready(Time(1000)).is_some(), "its turn is at once");
    assert_eq!((source.gauge("backlog"), source.station.kept()), (10.0, 2), "a flow, and its sizes");
    for number in 0..10 {
        let now = 1 + 2000 * u64::from(number);
        let made = source.make(now).unwrap();
        assert_eq!((made.flow, made.batch, made.content), (flow, 0, 1000 + number), "each as long as it is");
        if number < 9 {
            destination.hear(now + 1000, 1, &made);
            assert_eq!(destination.out.delivered, [(flow, number)]);
            assert_eq!(
                destination.out.holds,
                [Holding { flow, batch: 0, packets: number as u16 + 1, of: 10 }]
            );
            assert!(destination.out.whole.is_empty());
            assert!(destination.station.ready(Time(now * 1000)).is_none(), "it is not its turn");
        }
    }
    assert!(source.station.ready(Time(20_000_000)).is_none() && source.make(20_000).is_none());
    // Packet 8 of 10 was heard at 17 ms: the destination's turn begins when the last one has had its time.
    let at = destination.turn().unwrap();
    assert!((18_500..19_100).contains(&at), "{at}");
    destination.begin_turn(at);
    assert!(destination.station.ready(Time(at * 1000)).is_some());
    for _ in 0..2 {
        let map = destination.make(at).unwrap();
        assert_eq!(map.content, 0);
        source.hear(at + 1, 2, &map);
    }
    assert!(destination.make(at).is_none(), "two maps");
    // Nine of ten: the last goes by routing, and a map follows.
    let at = source.turn().unwrap_or(at + 2);
    source.begin_turn(at);
    let map = source.make(at + 10).unwrap();
    assert_eq!((map.content, source.out.routed.as_slice()), (0, [(flow, 9)].as_slice()));
    destination.call(at + 20, |station, context| station.on_routed(flow, 9, context));
    assert_eq!(destination.out.delivered, [(flow, 9)]);
    assert_eq!((destination.out.whole.as_slice(), destination.out.holds.len()), ([(flow, 0)].as_slice(), 0));
    destination.call(at + 30, |station, context| station.on_routed(flow, 9, context));
    assert!(destination.out.delivered.is_empty(), "once");
    // The next map ends the batch at the source, and the next one begins with number 10.
    destination.begin_turn(at + 100_000);
    let map = destination.make(at + 100_000).unwrap();
    source.hear(at + 100_001, 2, &map);
    let made = source.make(at + 100_002).unwrap();
    assert_eq!((made.batch, made.content), (10, 1010));
    assert_eq!(source.gauge("sent"), 11.0);
}

/// A turn that has lost all of its packets to a better node while the radio contended gives the access up.
#[test]
fn an_access_for_a_turn_that_is_over_is_given_up() {
    let mut relay = Driven::new(5);
    let nodes = Nodes::new(&[2, 5, 1]).unwrap();
    let made = |rank, packet, ranks: [u8; 4]| {
        let fragment = Fragment { number: 0, size: 1 };
        let head = Head { flow: 7, batch: 0, rank, fragment, nodes: nodes.clone() };
        let header = Exor::new(head, packet, BatchMap::new(ranks.to_vec()).unwrap()).unwrap();
        let mut bytes = vec![0; header.wire_len()];
        header.encode(&mut bytes).unwrap();
        Made { flow: FLOW, batch: 0, header: bytes, content: 700 }
    };
    relay.hear(0, 1, &made(2, Some(3), [2; 4]));
    let at = relay.turn().unwrap();
    relay.begin_turn(at);
    assert!(relay.station.ready(Time(at * 1000)).is_some());
    relay.hear(at + 500, 2, &made(0, None, [2, 2, 2, 0]));
    assert!(relay.station.ready(Time(at * 1000 + 600_000)).is_none());
    assert_eq!(relay.make(at + 700), None);
    // In its next turn it has nothing but its map.
    let next = relay.turn().unwrap();
    relay.begin_turn(next);
    assert_eq!(relay.make(next).map(|made| made.content), Some(0));
    // A later batch: a packet is as long as it was heard.
    let mut later = made(2, Some(1), [2; 4]);
    later.header[8] = 4;
    later.content = 900;
    relay.hear(next + 1, 1, &later);
    let at = relay.turn().unwrap();
    relay.begin_turn(at);
    assert_eq!(relay.make(at).map(|made| (made.batch, made.content)), Some((4, 900)));
    // Whoever says that it has another's rank is not believed.
    relay.hear(next + 1, 1, &made(0, None, [0; 4]));
    assert_eq!(relay.gauge("garbage"), 1.0);
}

/// Headers of ten thousand flows that nobody has, and bytes that are no header: nothing panics, and what is kept is bounded.
#[test]
fn what_garbage_leaves_is_bounded() {
    let mut driven = Driven::new(2);
    for i in 0..10_000_u32 {
        let list = if i % 2 == 0 { [2, 9, 1] } else { [9, 2, 1] };
        let head = Head {
            flow: i,
            batch: i,
            rank: 2,
            fragment: Fragment { number: i as u8, size: (i >> 8) as u8 },
            nodes: Nodes::new(&list).unwrap(),
        };
        let header = Exor::new(head, Some(0), BatchMap::new(vec![i as u8; 100]).unwrap()).unwrap();
        let mut bytes = vec![0; header.wire_len()];
        header.encode(&mut bytes).unwrap();
        bytes.truncate(bytes.len() - usize::from(i % 7 == 0));
        driven.hear(u64::from(i), 1, &Made { flow: FLOW, batch: 0, header: bytes, content: 100 });
    }
    assert!(driven.station.kept() <= 2 * FLOWS, "{}", driven.station.kept());
    assert!(driven.gauge("garbage") > 1000.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damaged headers between two nodes that have a batch, in any order with their timers: nothing panics, and what is kept is bounded.
    #[test]
    fn damage_does_no_harm(
        events in proptest::collection::vec((any::<bool>(), 0usize..64, any::<u8>(), 0u64..9000, 0u32..30), 1..200),
    ) {
        let mut nodes = [Driven::new(1), Driven::new(2)];
        let (flow, to) = (FLOW, NodeId(2));
        let mut now = 0;
        for number in 0..20 {
            let packet = NativePacket { flow, to, number, bytes: 500 };
            nodes[0].call(now, |station, context| station.on_packet(&packet, context));
        }
        for (which, place, damage, wait, number) in events {
            now += wait;
            let (from, to) = if which { (0, 1) } else { (1, 0) };
            nodes[from].begin_turn(now);
            if let Some(mut made) = nodes[from].make(now) {
                if damage % 3 == 0 {
                    let place = place % made.header.len();
                    made.header[place] ^= damage;
                }
                nodes[to].hear(now, from as u32 + 1, &made);
            } else if damage % 2 == 0 {
                nodes[1].call(now, |station, context| station.on_routed(flow, number, context));
            } else {
                continue;
            }
        }
        prop_assert!(nodes.iter().all(|node| node.station.kept() <= 2 * FLOWS));
    }
}

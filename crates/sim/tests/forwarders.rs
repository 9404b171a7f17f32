//! Forwarders: packets of flows that broadcasts carry, made at the moment when the radio may send.

use std::collections::{BTreeSet, VecDeque};

use crate::support::{chain, conserved, diffq_levels, dot11b, flow, node, saturating, with_edca, world};
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Capability, DeliveryRatios, FlowId, Forwarder, ForwarderContext,
    HeardBroadcast, Holding, Interface, Made, Medium, NativePacket, NodeId, Priority, Timer, Wants,
};
use airfair_schemes::{Params, Scheme};
use airfair_sim::World;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Time};

/// A broadcast waits at each node until the radio may send; each node passes each packet on once.
#[derive(Clone, Default)]
struct Repeating {
    /// Each packet is announced so many times, but made only once: the other accesses find nothing.
    idle_accesses: u32,
    /// Level of its broadcasts.
    priority: u8,
    /// The flow's destination sends packets on by routes instead of taking them as they are.
    routed: bool,
    /// Header: garbage instead of flow and number.
    garbage: bool,
}

struct Repeater {
    law: Repeating,
    me: NodeId,
    to_send: VecDeque<(FlowId, u32, NodeId, u32)>,
    seen: BTreeSet<(FlowId, u32)>,
    announced: u32,
    ratios: Vec<f64>,
}

impl Agent for Repeater {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = setup.node;
        context.out.timers.push((Timer(0), Time(1_000_000_000)));
    }

    fn on_timer(&mut self, _timer: Timer, _context: &mut AgentContext<'_>) {
        self.announced += self.law.idle_accesses;
    }

    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        Some(self)
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        vec![("ratios", self.ratios.iter().sum())]
    }
}

impl Forwarder for Repeater {
    fn on_delivery_ratios(&mut self, ratios: &DeliveryRatios, _context: &mut ForwarderContext<'_>) {
        let nodes = ratios.nodes.len();
        let all = (0..nodes * nodes).map(|at| ratios.between(at / nodes, at % nodes));
        self.ratios = all.collect();
    }

    fn room(&self, _flow: FlowId, _to: NodeId) -> u32 {
        4_u32.saturating_sub(self.to_send.len() as u32)
    }

    fn on_packet(&mut self, packet: &NativePacket, context: &mut ForwarderContext<'_>) {
        assert!(self.to_send.len() < 4, "it has room");
        let NativePacket { flow, to, number, bytes } = *packet;
        self.seen.insert((flow, number));
        if self.law.routed {
            context.out.routed.push((flow, number));
            context.out.routed.push((flow, number));
            return;
        }
        self.to_send.push_back((flow, number, to, bytes));
    }

    fn on_heard(&mut self, heard: &HeardBroadcast<'_>, context: &mut ForwarderContext<'_>) {
        let header = heard.header;
        let word = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap());
        if self.law.garbage {
            context.out.delivered.push((FlowId(word(0)), word(4)));
            return;
        }
        let (flow, number, to, bytes) = (FlowId(word(0)), word(4), NodeId(word(8)), word(12));
        if !self.seen.insert((flow, number)) {
            return;
        }
        assert_eq!(heard.content, bytes);
        if to == self.me {
            // Twice, out of range, and of no flow: the host takes the first.
            context.out.delivered.extend([
                (flow, number),
                (flow, number),
                (flow, number + 1000),
                (FlowId(1), 0),
            ]);
            context.out.holds.push(Holding {
                flow,
                batch: number / 8,
                packets: 1 + (number % 8) as u16,
                of: 8,
            });
            if number % 8 == 7 {
                context.out.whole.push((flow, number / 8));
            }
        } else {
            self.to_send.push_back((flow, number, to, bytes));
        }
    }

    fn ready(&self, _now: Time) -> Option<Priority> {
        (self.announced > 0 || !self.to_send.is_empty()).then_some(Priority(self.law.priority))
    }

    fn make(&mut self, _context: &mut ForwarderContext<'_>) -> Option<Made> {
        if self.announced > 0 {
            self.announced -= 1;
            return None;
        }
        let (flow, number, to, bytes) = self.to_send.pop_front()?;
        let words = [flow.0, number, to.0, bytes];
        let header = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        Some(Made { flow, batch: number / 8, header, content: bytes })
    }
}

impl Scheme for Repeating {
    fn agent(&self, at: &Interface) -> Option<Box<dyn Agent>> {
        (at.medium == Medium::Radio).then(|| {
            Box::new(Repeater {
                law: self.clone(),
                me: NodeId(0),
                to_send: VecDeque::new(),
                seen: BTreeSet::new(),
                announced: 0,
                ratios: Vec::new(),
            }) as Box<dyn Agent>
        })
    }

    fn wants(&self, at: &Interface) -> Wants {
        let radio = at.medium == Medium::Radio;
        Wants::NONE
            .and_if(radio, Capability::LoneRadio)
            .and_if(radio, Capability::DeliveryRatios)
            .priorities_to(Priority(self.priority))
    }
}

fn run(spec: &WorldSpec, scheme: Repeating) -> RunResult {
    conserved(World::new(spec, "repeating", Box::new(scheme), 1).unwrap())
}

/// Every broadcast of a chain of two hops is sent twice, and all of the packets that it brings arrive in order and once.
#[test]
fn packets_go_by_broadcasts_and_arrive_once() {
    let spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(1000), 5);
    let result = run(&spec, Repeating::default());
    let flow = &result.flows[0];
    let counts = flow.forwarding.unwrap();
    assert!(flow.delivered_packets > 500, "{flow:?}");
    assert_eq!(counts.innovative, flow.delivered_packets);
    assert!(
        (counts.batches * 8).abs_diff(flow.delivered_packets) < flow.delivered_packets / 10,
        "{counts:?}"
    );
    let sent = |i: usize| result.stations[i].counters.sent.iter().sum::<u64>();
    assert_eq!(counts.broadcasts + counts.late, sent(0) + sent(1));
    assert!(sent(0).abs_diff(sent(1)) < sent(0) / 10, "each packet is sent once by each, but for collisions");
    assert_eq!(sent(2), 0, "the destination sends nothing");
    assert_eq!(flow.dropped_packets, 0);
    assert!(result.ends.forwarded.unwrap() > 0);
}

/// An access that finds nothing is given back: no frame, and the station goes on.
#[test]
fn an_access_may_find_nothing() {
    let radio = dot11b(250.0, 550.0);
    for radio in [radio.clone(), with_edca(radio, diffq_levels())] {
        let spec = chain(radio, 1, 200.0, saturating(1000), 3);
        let idle = |idle_accesses| run(&spec, Repeating { idle_accesses, ..Repeating::default() });
        let [with, without] = [idle(500), idle(0)].map(|result| {
            let frames: u64 = result.stations[0].counters.sent.iter().sum();
            assert!(frames >= result.flows[0].delivered_packets);
            assert!(frames <= result.flows[0].delivered_packets + 2);
            result.flows[0].delivered_packets
        });
        assert!(with + 50 < without, "they take back-offs: {with} of {without}");
        assert!(with > without / 2, "the station goes on: {with} of {without}");
    }
}

/// At a high level of EDCA a forwarder is served before its neighbour's at the lowest.
#[test]
fn the_level_of_a_forwarder_decides() {
    let mut spec = world(with_edca(dot11b(250.0, 550.0), diffq_levels()), 3);
    let [a, b] = [0, 1].map(|i| node(&mut spec, &i.to_string(), f64::from(i) * 50.0, 0.0));
    flow(&mut spec, "f", a, b, saturating(1000));
    let low = run(&spec, Repeating::default()).flows[0].delivered_packets;
    let high = run(&spec, Repeating { priority: 7, ..Repeating::default() }).flows[0].delivered_packets;
    assert!(high > low * 5 / 4, "a short back-off: {high} of {low}");
}

/// A packet that a forwarder hands to ordinary routing goes on by it each time, arrives once, and until then is at a forwarder.
#[test]
fn a_forwarder_may_pass_packets_to_routing() {
    let traffic = Traffic::ConstantRate { rate: Rate(800_000), packet: Bytes(1000), gap_jitter: 0.0 };
    let spec = chain(dot11b(250.0, 550.0), 2, 200.0, traffic, 3);
    let result = run(&spec, Repeating { routed: true, ..Repeating::default() });
    let flow = &result.flows[0];
    assert!(
        flow.delivered_packets + 4 >= flow.sent_packets && flow.sent_packets > 250,
        "{}",
        flow.delivered_packets
    );
    assert_eq!((flow.forwarding.unwrap().broadcasts, flow.hops), (0, None));
    let sent = |i: usize| result.stations[i].counters.sent.iter().sum::<u64>();
    let (first, relay) = (sent(0), sent(1) / 2);
    assert!(
        [first, relay].iter().all(|sent| sent.abs_diff(2 * flow.sent_packets) < 20),
        "{first} {relay}: the relay sends an acknowledgement for each"
    );
    assert_eq!(result.ends.forwarded, Some(flow.sent_packets - flow.delivered_packets));
}

/// Packets that are handed to routing and lost on the way are handed again, and arrive once.
#[test]
fn what_routing_loses_is_still_at_a_forwarder() {
    let traffic = Traffic::ConstantRate { rate: Rate(800_000), packet: Bytes(1000), gap_jitter: 0.0 };
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.frame_loss = 0.6;
    radio.mac.short_retry_limit = 1;
    radio.mac.long_retry_limit = 1;
    let result = run(&chain(radio, 1, 200.0, traffic, 3), Repeating { routed: true, ..Repeating::default() });
    let (flow, held) = (&result.flows[0], result.ends.forwarded.unwrap());
    assert!(held > 60 && flow.delivered_packets > 60, "{held} {}", flow.delivered_packets);
    assert_eq!((held + flow.delivered_packets, flow.dropped_packets), (flow.sent_packets, 0));
}

/// Beside a queue the forwarder takes turns: a flow over TCP and one of the forwarder leave a node, and both get something.
#[test]
fn queue_and_forwarder_take_turns() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 200.0, saturating(1000), 3);
    flow(&mut spec, "t", 0, 1, Traffic::Endless);
    spec.flows[1].transport = Transport::Tcp {
        config: TcpConfig::default(),
        law: "newreno".into(),
        params: Params::default(),
        pinned: true,
    };
    let result = run(&spec, Repeating::default());
    let [own, tcp] = [0, 1].map(|i| result.flows[i].goodput_bps);
    assert!(own > 0.4e6 && tcp > 0.4e6, "{own} {tcp}");
}

/// A flow of which an end has no forwarder goes by routes.
#[test]
fn flows_without_a_forwarder_at_an_end_are_routed() {
    let spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(1000), 1);
    let result = run(&spec, Repeating { garbage: true, ..Repeating::default() });
    assert!(result.flows[0].forwarding.is_some());
    let mut other = spec;
    other.flows[0].to = 0;
    assert!(run(&other, Repeating::default()).flows[0].forwarding.is_none());
}

/// Delivery ratios of broadcasts come in the order of names, whatever the order of the file.
#[test]
fn ratios_are_in_the_order_of_names() {
    let spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(1000), 1);
    let mut shuffled = spec.clone();
    shuffled.nodes.reverse();
    shuffled.flows[0].from = 2;
    shuffled.flows[0].to = 0;
    let [one, other] = [spec, shuffled].map(|spec| {
        let result = run(&spec, Repeating::default());
        (result.flows[0].delivered_bytes, result.flows[0].forwarding)
    });
    assert_eq!(one, other);
}

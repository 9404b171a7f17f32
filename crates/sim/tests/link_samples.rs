//! Samples by link and by flow, compared with what a trace of the same run counts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::support::routing::{aodv, constant};
use crate::support::wires::tcp;
use crate::support::{diffq_levels, dot11b, flow, id_of_name, node, number_of, with_edca, world};
use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, AnswerSample, Capability, FlowSample, Interface, LinkSample, Medium,
    NodeId, NodeSample, Wants,
};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::ids::StationIx;
use airfair_sim::record::{FrameKind, FrameView, Record};
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Span, Time};

/// A sample of a node: its time, packets in the queue, links, flows and answers.
type Sample = (Time, u32, Vec<LinkSample>, Vec<FlowSample>, Vec<AnswerSample>);
type Samples = Arc<Mutex<BTreeMap<u32, Vec<Sample>>>>;

#[derive(Clone)]
struct Counter(Samples, u32, bool);

impl Agent for Counter {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _: &mut AgentContext<'_>) {
        self.1 = number_of(setup.node);
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        let (links, flows, answers) = (sample.links.to_vec(), sample.flows.to_vec(), sample.answers.to_vec());
        let seen = (context.now, sample.queue.packets, links, flows, answers);
        self.0.lock().unwrap().entry(self.1).or_default().push(seen);
    }
}

impl Scheme for Counter {
    fn agent(&self, _: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(self.clone()))
    }

    fn wants(&self, at: &Interface) -> Wants {
        match at.medium {
            Medium::Wire => Wants::NONE,
            Medium::Radio => {
                Wants::NONE.samples_every(Span::from_millis(300)).and_if(self.2, Capability::Links)
            }
        }
    }
}

/// 0 - 1 with 2 and 3 behind 1: two flows of datagrams from 0, one of which is more than the air carries, and one over TCP from 3 to 1.
/// A good frame in five is lost.
fn star() -> WorldSpec {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.frame_loss = 0.2;
    radio.mac.backpressure = false;
    let mut spec = world(radio, 10);
    for (i, (x, y)) in [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (200.0, 200.0)].into_iter().enumerate() {
        node(&mut spec, &i.to_string(), x, y);
    }
    flow(&mut spec, "a", 0, 2, constant(100));
    flow(&mut spec, "b", 0, 3, constant(2000));
    flow(&mut spec, "t", 3, 1, Traffic::Endless);
    spec.flows[2].transport = tcp(TcpConfig::default());
    spec
}

/// Counts of a link from a trace: acknowledged, attempts, given up.
type Counted = BTreeMap<(u32, u32), [u64; 3]>;

/// Bytes of an ARP packet in a frame.
const ARP: u32 = 28 + 36;

/// Counts of the links for packets of flows until each node's last sample.
fn count(world: &mut World, until: &BTreeMap<u32, Time>) -> Counted {
    let mut links = Counted::new();
    // The data frame that a category of a station has sent last, and the number of frames with its packet; and the category of the last.
    let mut last: BTreeMap<(StationIx, Option<u8>), (FrameView, u64)> = BTreeMap::new();
    let mut sends = BTreeMap::new();
    for (at, record) in world.take_trace() {
        let (station, acked) = match record {
            Record::Start { frame } if frame.kind == FrameKind::Data => {
                let key = (frame.sender, frame.category);
                let before = last.get(&key).filter(|_| frame.retry).map_or(0, |sent| sent.1);
                last.insert(key, (frame, before + 1));
                sends.insert(frame.sender, frame.category);
                continue;
            }
            Record::Received { frame, at: station, .. } if frame.kind == FrameKind::Ack => (station, true),
            Record::NoResponse { at: station, given_up: true, .. } => (station, false),
            _ => continue,
        };
        let (frame, frames) = last[&(station, sends[&station])];
        if frame.bytes != ARP && frame.messages.is_none() && at <= until[&station.0] {
            let link = links.entry((station.0, frame.receiver.unwrap().0)).or_default();
            *link = [link[0] + u64::from(acked), link[1] + frames, link[2] + u64::from(!acked)];
        }
    }
    links
}

fn compare(spec: &WorldSpec) -> BTreeMap<u32, Vec<Sample>> {
    let samples = Samples::default();
    let mut world = World::new(spec, "counter", Box::new(Counter(Arc::clone(&samples), 0, true)), 1).unwrap();
    world.start_trace();
    drive::to_end(&mut world);
    let samples = std::mem::take(&mut *samples.lock().unwrap());
    let until = samples.iter().map(|(&node, samples)| (node, samples.last().unwrap().0)).collect();
    let links = count(&mut world, &until);
    let mut sampled = Counted::new();
    for (&node, samples) in &samples {
        for sample in samples {
            assert!(sample.2.is_sorted_by(|a, b| a.neighbour < b.neighbour));
            assert!(sample.3.is_sorted_by(|a, b| (a.flow, a.neighbour) < (b.flow, b.neighbour)));
            let waiting: u32 = sample.2.iter().map(|link| link.waiting).sum();
            assert!(waiting <= sample.1, "messages of ARP and routing wait elsewhere");
            for link in &sample.2 {
                let counts = [link.sent, link.attempts, link.given_up].map(u64::from);
                let sum = sampled.entry((node, number_of(link.neighbour))).or_default();
                *sum = [0, 1, 2].map(|i| sum[i] + counts[i]);
            }
        }
    }
    sampled.retain(|_, counts| *counts != [0; 3]);
    assert_eq!(sampled, links);
    samples
}

/// Over static routes: every count of every link, and what arrives is what waits, is sent, given up or dropped.
#[test]
fn samples_by_link_agree_with_the_trace() {
    let samples = compare(&star());
    let by_flow = |name: &str| -> u64 {
        let own = samples[&0].iter().flat_map(|sample| &sample.3).filter(|f| f.flow.0 == id_of_name(name));
        own.map(|sample| u64::from(sample.packets)).sum()
    };
    // Packets of 500 B at 100 kbit/s and 2 Mbit/s, the first at the start.
    let made =
        [25, 500].map(|a_second| 1 + samples[&0].last().unwrap().0.as_nanos() * a_second / 1_000_000_000);
    assert_eq!([by_flow("a"), by_flow("b")], made);
    let sum = |node: u32, neighbour: u32, what: fn(&LinkSample) -> u32| -> u32 {
        let links = samples[&node].iter().flat_map(|sample| &sample.2);
        links.filter(|link| number_of(link.neighbour) == neighbour).map(what).sum()
    };
    let bytes: u64 = samples[&0].iter().flat_map(|sample| &sample.2).map(|link| link.bytes).sum();
    assert_eq!(bytes, 528 * u64::from(sum(0, 1, |link| link.sent)));
    for node in 0..4 {
        let last = samples[&node].last().unwrap();
        let waiting: u32 = last.2.iter().map(|link| link.waiting).sum();
        assert_eq!(waiting, last.1, "all that waits in the queue");
    }
    assert!(samples[&0].last().unwrap().2[0].waiting > 40, "more than the air carries");
    assert!(sum(0, 1, |link| link.arrived) > sum(0, 1, |link| link.sent) + 1000, "dropped ones included");
    // At the relay: what it has received, to pass on; to 3 also acknowledgements.
    let flows: Vec<&FlowSample> = samples[&1].iter().flat_map(|sample| &sample.3).collect();
    let through = |name: &str, neighbour: u32| -> u32 {
        let own = flows.iter().filter(|f| f.flow.0 == id_of_name(name));
        let ends = |f: &FlowSample| (number_of(f.from), number_of(f.to), number_of(f.neighbour));
        own.inspect(|f| assert_eq!(ends(f), (0, neighbour, neighbour))).map(|f| f.packets).sum()
    };
    let (a, b) = (through("a", 2), through("b", 3));
    assert_eq!(flows.iter().filter(|f| f.flow.0 == id_of_name("t")).count(), 0, "no data of TCP");
    assert_eq!(sum(1, 2, |link| link.arrived), a);
    // Those that 1 sends to 3, for the data of t: all that arrives for 3 beside b; of 40 B each, or more with options.
    let answers: Vec<&AnswerSample> = samples[&1].iter().flat_map(|sample| &sample.4).collect();
    let (packets, bytes) =
        answers.iter().fold((0, 0), |(packets, bytes), a| (packets + a.packets, bytes + a.bytes));
    assert!(answers.iter().all(|a| a.flow.0 == id_of_name("t") && number_of(a.neighbour) == 3));
    assert_eq!(sum(1, 3, |link| link.arrived), b + packets);
    assert!(packets > 50 && (40..=60).contains(&(bytes / u64::from(packets))), "{packets} {bytes}");
    // The last segment of the handshake has no data either.
    let of = |node: u32| samples[&node].iter().flat_map(|sample| &sample.4).map(|a| a.packets).sum::<u32>();
    assert_eq!([0, 2, 3].map(of), [0, 0, 1]);
    let received = sum(0, 1, |link| link.sent);
    assert!(
        (received..=received + sum(0, 1, |link| link.given_up) + 1).contains(&(a + b)),
        "{received} {a} {b}"
    );
}

/// Over routes that a protocol finds, with the packets of the protocol and of ARP between those of flows; and with four categories.
#[test]
fn samples_by_link_agree_with_the_trace_over_found_routes_and_categories() {
    let mut spec = star();
    spec.radios[0].phy.frame_loss = 0.05;
    spec.routing = aodv(|_| ());
    spec.arp.prefilled = false;
    compare(&spec);
    let mut spec = star();
    spec.radios[0] = with_edca(spec.radios[0].clone(), diffq_levels());
    spec.flows[1].dscp = 46;
    compare(&spec);
}

/// Without the wish the lists are empty.
#[test]
fn nobody_else_gets_samples_by_link() {
    let samples = Samples::default();
    let scheme = Counter(Arc::clone(&samples), 0, false);
    let mut world = World::new(&star(), "counter", Box::new(scheme), 1).unwrap();
    drive::to_end(&mut world);
    let samples = samples.lock().unwrap();
    assert!(
        samples
            .values()
            .flatten()
            .all(|sample| { sample.2.is_empty() && sample.3.is_empty() && sample.4.is_empty() })
    );
    assert_eq!(samples.len(), 4);
}

/// A link that was not used has no packets.
#[test]
fn an_unused_link_counts_nothing() {
    let LinkSample { neighbour, waiting, arrived, sent, attempts, given_up, bytes } =
        LinkSample::new(NodeId(3));
    assert_eq!((neighbour, waiting, arrived, sent, attempts, given_up, bytes), (NodeId(3), 0, 0, 0, 0, 0, 0));
}

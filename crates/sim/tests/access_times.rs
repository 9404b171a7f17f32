//! `Hop::on_finished`: the packets that a link has finished, with the times of their access to the medium.

use std::sync::{Arc, Mutex};

use airfair_schemes::Scheme;
use airfair_schemes::explicit::QFCP;
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Backlog, Capability, Finished, FlowId, Header, HeaderKind, Hop,
    HopContext, Interface, LinkUse, Medium, NodeSample, PacketClass, Passage, Timer, Wants,
};
use airfair_sim::World;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Rate, Span, Time};

use crate::support::rig::no_back_off;
use crate::support::wires::{finished, link, tcp, wired};
use crate::support::{chain, dot11b, flow, id_of_name, saturating};

/// The packets finished at an interface, and its samples: ends and use of the link, summed.
#[derive(Debug, Default)]
struct Log {
    finished: Vec<(Time, Finished)>,
    samples: Vec<(Time, LinkUse)>,
}

/// Logs the ends of packets at interfaces whose queue has this limit; without a limit it wants none.
#[derive(Clone)]
struct Clerk {
    log: Arc<Mutex<Log>>,
    limit: Option<u32>,
    sampled: bool,
}

impl Clerk {
    fn here(&self, interface: &Interface) -> bool {
        interface.medium == Medium::Radio && Some(interface.limit_packets) == self.limit
    }
}

impl Scheme for Clerk {
    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        self.here(interface).then(|| Box::new(self.clone()) as Box<dyn Hop>)
    }
    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        (self.sampled && self.here(interface)).then(|| Box::new(self.clone()) as Box<dyn Agent>)
    }
    fn wants(&self, interface: &Interface) -> Wants {
        let here = self.here(interface);
        let sampled = self.sampled && here;
        let samples = if sampled { Span::from_millis(100) } else { Span::ZERO };
        Wants::NONE
            .and_if(here, Capability::AccessTimes)
            .and_if(sampled, Capability::LinkUse)
            .samples_every(samples)
    }
}

impl Hop for Clerk {
    fn header(&self) -> &'static HeaderKind {
        &QFCP
    }
    fn on_start(&mut self, _: &mut HopContext<'_>) {}
    fn on_arrival(&mut self, _: &Passage, _: Option<&mut Header>, _: Time) {}
    fn on_finished(&mut self, finished: &Finished, now: Time) {
        self.log.lock().unwrap().finished.push((now, *finished));
    }
    fn on_timer(&mut self, _: Timer, _: Backlog, _: &mut HopContext<'_>) {}
}

impl Agent for Clerk {
    fn on_start(&mut self, _: &AgentSetup<'_>, _: &mut AgentContext<'_>) {}
    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        let link = sample.link;
        let mut log = self.log.lock().unwrap();
        let mut sum = log.samples.last().map(|last| last.1).unwrap_or_default();
        sum.sent_packets += link.sent_packets;
        sum.sent_bytes += link.sent_bytes;
        sum.access += link.access;
        log.samples.push((context.now, sum));
    }
}

fn run(spec: &WorldSpec, limit: Option<u32>, sampled: bool) -> (String, Log) {
    let clerk = Clerk { log: Arc::default(), limit, sampled };
    let result = finished(World::new(spec, "clerk", Box::new(clerk.clone()), 1).unwrap());
    (format!("{result:?}"), std::mem::take(&mut *clerk.log.lock().unwrap()))
}

/// A relay of three hops with flows both ways: at each sample of an agent the sums over the packets acknowledged by then are those of the
/// link. Some packets are given up, which the hop learns as well.
#[test]
fn the_sums_are_those_of_the_link() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(1000), 10);
    flow(&mut spec, "back", 3, 0, Traffic::Endless);
    spec.flows[1].transport = tcp(TcpConfig::default());
    spec.radios[0].mac.short_retry_limit = 2;
    let limit = spec.radios[0].queue.packets;
    let mut only_one = spec.clone();
    // The first relay has a kind of its own, with another limit.
    only_one.radios.push(RadioSpec { queue: QueueSpec { packets: limit + 1 }, ..spec.radios[0].clone() });
    only_one.nodes[1].radios[0] = 1;
    let (_, log) = run(&only_one, Some(limit + 1), true);
    assert!(
        log.samples.len() > 90 && log.finished.len() > 500,
        "{} {}",
        log.samples.len(),
        log.finished.len()
    );
    for &(at, used) in &log.samples {
        let acknowledged = || {
            log.finished.iter().filter(|(end, finished)| *end <= at && finished.acknowledged).map(|end| end.1)
        };
        assert_eq!(acknowledged().count() as u64, used.sent_packets, "{at}");
        assert_eq!(acknowledged().map(|end| u64::from(end.bytes)).sum::<u64>(), used.sent_bytes, "{at}");
        let access = acknowledged().fold(Span::ZERO, |sum, end| sum + end.access);
        assert_eq!(access, used.access, "{at}");
    }
    let flows = [FlowId(id_of_name("f")), FlowId(id_of_name("back"))];
    assert!(log.finished.iter().all(|(_, end)| flows.contains(&end.flow) || end.class == PacketClass::Ack));
    assert!(log.finished.iter().any(|(_, end)| !end.acknowledged && end.access > Span::ZERO), "given up");
}

/// A lone packet that finds the medium silent for longer than DIFS: 500 B are a frame of 564 B, 411 us at 11 Mbit/s after 192 us of
/// preamble; the way of 100 m, 334 ns; SIFS 10 us; ACK 192 us and 14 B at 1 Mbit/s, 112 us: 917 us and 334 ns, since the simulator
/// gives the sender its ACK at the end of the ACK's transmission. The first packet is made at the start of the run, and DIFS of 50 us
/// comes before it.
#[test]
fn the_time_of_a_lone_packet_by_hand() {
    let mut spec = chain(no_back_off(dot11b(250.0, 550.0)), 1, 100.0, saturating(500), 1);
    let packet = airfair_units::Bytes(500);
    spec.flows[0].traffic = Traffic::ConstantRate { rate: Rate(40_000), packet, gap_jitter: 0.0 };
    let (_, log) = run(&spec, Some(spec.radios[0].queue.packets), false);
    assert_eq!(log.finished.len(), 10);
    for (number, (_, end)) in log.finished.iter().enumerate() {
        assert!(end.acknowledged);
        assert_eq!((end.bytes, end.class), (528, PacketClass::Data));
        assert_eq!(end.access, Span(917_334 + if number == 0 { 50_000 } else { 0 }));
    }
}

/// A hop that wants no ends, or all, changes nothing; at a wire there are none to have.
#[test]
fn learning_of_ends_changes_nothing() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(1000), 3);
    let other = wired(&mut spec, "a");
    spec.links.push(link((2, other), 10, Span::from_millis(1), 20));
    flow(&mut spec, "far", 0, other, saturating(700));
    let limit = spec.radios[0].queue.packets;
    let (with, log) = run(&spec, Some(limit), false);
    assert!(log.finished.len() > 100);
    assert!(with == run(&spec, None, false).0);
}

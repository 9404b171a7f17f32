//! LBM in a network: its places, its samples of the air, its effect on flows with and without ECN.

use crate::support::wires::*;
use crate::support::{dot11b, flow, node, saturating, world};
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Aqm, Capability, Interface, LinkUse, Medium, NodeSample, Wants,
};
use airfair_schemes::{ParamValue, Scheme};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::ids::StationIx;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::record::{FrameKind, Loss};
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};
use std::sync::{Arc, Mutex};

const HOST: usize = 0;
const AP: usize = 1;

/// host -- 10 ms -- ap ))) `stations` stations.
fn network(stations: usize, wire: Rate, seconds: u64) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), seconds);
    wired(&mut spec, "host");
    node(&mut spec, "ap", 0.0, 0.0);
    for i in 0..stations {
        node(&mut spec, &format!("s{i}"), 5.0 + i as f64, 0.0);
    }
    spec.links.push(LinkSpec { rate: wire, ..link((HOST, AP), 1, ms(10), 50) });
    spec
}

fn endless(spec: &mut WorldSpec, from: usize, to: usize, ecn: bool) {
    flow(spec, &format!("{from}-{to}"), from, to, Traffic::Endless);
    spec.flows.last_mut().unwrap().transport = tcp(TcpConfig { ecn, ..TcpConfig::default() });
}

fn run(spec: &WorldSpec, set: &[(&str, ParamValue)]) -> RunResult {
    finished(World::new(spec, "lbm", built("lbm", set), 1).unwrap())
}

/// Marks every load, at twice its share.
const STRICT: [(&str, ParamValue); 2] =
    [("rho0", ParamValue::Number(0.0)), ("alpha", ParamValue::Number(2.0))];

#[test]
fn downloads_and_uploads_are_marked_at_the_access_point() {
    let mut spec = network(2, Rate::from_mbps(100), 5);
    endless(&mut spec, HOST, 2, true);
    let marks = run(&spec, &STRICT).marks;
    assert!(marks["lbm-outgoing"] > 50 && !marks.contains_key("lbm-incoming"), "{marks:?}");
    endless(&mut spec, 3, HOST, true);
    let both = run(&spec, &STRICT);
    assert!(both.marks["lbm-outgoing"] > 50 && both.marks["lbm-incoming"] > 50, "{:?}", both.marks);
    assert!(both.drops.keys().all(|reason| !reason.starts_with("lbm")), "{:?}", both.drops);
    let one = run(&spec, &[STRICT[0], STRICT[1], ("downlink_only", ParamValue::Flag(true))]);
    assert!(one.marks["lbm-outgoing"] > 50 && !one.marks.contains_key("lbm-incoming"), "{:?}", one.marks);
}

/// Acknowledgements of a download arrive at the access point: with `mark_acks` they carry marks to the sender, whose window falls more
/// often. ARP and other control packets do not count as load.
#[test]
fn acknowledgements_take_marks_to_the_sender() {
    let mut spec = network(1, Rate::from_mbps(100), 20);
    endless(&mut spec, HOST, 2, true);
    let with = |mark_acks| {
        run(
            &spec,
            &[
                ("rho0", ParamValue::Number(0.0)),
                ("alpha", ParamValue::Number(0.1)),
                ("mark_acks", ParamValue::Flag(mark_acks)),
            ],
        )
    };
    let (data, both) = (with(false), with(true));
    assert!(!data.marks.contains_key("lbm-incoming") && both.marks["lbm-incoming"] > 20, "{:?}", both.marks);
    let goodput = |result: &RunResult| result.flows[0].goodput_bps;
    assert!(goodput(&both) < 0.95 * goodput(&data), "{} {}", goodput(&both), goodput(&data));
}

/// A flow without ECN is left alone, and the run gives a warning.
#[test]
fn packets_without_ecn_are_neither_marked_nor_dropped() {
    let mut spec = network(2, Rate::from_mbps(100), 5);
    endless(&mut spec, HOST, 2, false);
    let deaf = run(&spec, &[("rho0", ParamValue::Number(0.0)), ("alpha", ParamValue::Number(1000.0))]);
    assert!(
        deaf.marks.is_empty() && deaf.drops.keys().all(|reason| reason == "queue-full"),
        "{:?}",
        deaf.drops
    );
    assert!(deaf.warnings.iter().any(|w| w.contains("no flow uses ECN")), "{:?}", deaf.warnings);
    // Nor its acknowledgements: an ECN-Echo that no sender reads is not counted as a mark.
    let acks = run(&spec, &[STRICT[0], STRICT[1], ("mark_acks", ParamValue::Flag(true))]);
    assert!(acks.marks.is_empty(), "{:?}", acks.marks);
    endless(&mut spec, HOST, 3, true);
    assert!(run(&spec, &STRICT).warnings.is_empty());
}

/// A mesh has no access point; only the warning distinguishes it from drop-tail.
#[test]
fn without_an_access_point_it_acts_nowhere() {
    let mut spec = world(dot11b(100.0, 200.0), 2);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 5.0, 0.0));
    endless(&mut spec, a, b, true);
    let idle = run(&spec, &STRICT);
    assert!(idle.marks.is_empty());
    let why = "scheme lbm does nothing: it acts at access points (a node with a radio and a wired link) and at wired links, and here \
               there is none";
    assert!(idle.warnings.iter().any(|w| w == why), "{:?}", idle.warnings);
    assert!(idle.stations.iter().all(|station| station.messages.is_none()), "no agent");
    assert_eq!(idle.flows, crate::support::run(&spec, 1).flows);
}

/// Where the wire is the bottleneck RED marks instead of dropping, end to end: hardly a packet is lost, and the wire stays full.
#[test]
fn a_narrow_wire_has_red_with_ecn() {
    let mut spec = network(1, Rate::from_mbps(1), 30);
    // The queue is the host's own: limited, it would never be long enough for a mark.
    spec.links[0].local_limit = None;
    endless(&mut spec, HOST, 2, true);
    let red = run(&spec, &[]);
    assert!(red.marks["red-early"] > 5 && !red.marks.contains_key("lbm-outgoing"), "{:?}", red.marks);
    assert!(red.aggregate_goodput_bps() > 0.85e6, "{}", red.aggregate_goodput_bps());
    let wait = |r: &RunResult| r.queues.iter().find(|q| q.node == "host").unwrap().mean_packets;
    let tail = run(&spec, &[("wired_red", ParamValue::Flag(false))]);
    assert!(tail.marks.is_empty());
    assert!(wait(&red) < 15.0 && wait(&tail) > 2.0 * wait(&red), "{} {}", wait(&red), wait(&tail));
}

/// An agent that records its samples.
struct Listener(Arc<Mutex<Vec<(Interface, NodeSample<'static>)>>>, Interface);

impl Agent for Listener {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _context: &mut AgentContext<'_>) {
        assert_eq!(setup.rate, self.1.rate);
    }
    fn on_sample(&mut self, sample: &NodeSample<'_>, _context: &mut AgentContext<'_>) {
        self.0.lock().unwrap().push((self.1, NodeSample { links: &[], flows: &[], answers: &[], ..*sample }));
    }
}

struct Listening(Arc<Mutex<Vec<(Interface, NodeSample<'static>)>>>);

impl Scheme for Listening {
    fn wants(&self, interface: &Interface) -> Wants {
        match interface.medium {
            Medium::Radio => {
                let wants = Wants::NONE.samples_every(Span::from_millis(100));
                wants.and_if(interface.access_point, Capability::LinkUse)
            }
            Medium::Wire => Wants::NONE,
        }
    }
    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(Listener(Arc::clone(&self.0), *interface)))
    }
    fn aqm(&self, _interface: &Interface) -> Option<Box<dyn Aqm>> {
        None
    }
}

/// 500 B every 20 ms down, 300 B every 50 ms up, each alone on the air: 192 + 411 us for 564 B at 11 Mbit/s, SIFS, 304 us of ACK,
/// 917 us in all, and twice 17 ns of propagation. The first access is at once, so all of it is access.
#[test]
fn an_agent_is_told_what_the_link_carried() {
    let mut spec = network(1, Rate::from_mbps(100), 10);
    let constant =
        |bytes, bps| Traffic::ConstantRate { rate: Rate(bps), packet: Bytes(bytes), gap_jitter: 0.0 };
    flow(&mut spec, "down", HOST, 2, constant(500, 200_000));
    flow(&mut spec, "up", 2, HOST, constant(300, 48_000));
    spec.flows[1].start = Time(7_000_000);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut world = World::new(&spec, "listening", Box::new(Listening(Arc::clone(&heard))), 1).unwrap();
    drive::to_end(&mut world);
    let result = world.result();
    let heard = heard.lock().unwrap();
    let (mut at_ap, mut sum, mut last) = (0, LinkUse::default(), 0);
    for (interface, sample) in heard.iter() {
        assert_eq!((interface.medium, interface.limit_packets), (Medium::Radio, 50));
        assert_eq!(interface.rate, Rate::from_mbps(11));
        if !interface.access_point {
            assert_eq!(sample.link, LinkUse::default(), "it did not ask");
            continue;
        }
        at_ap += 1;
        let link = sample.link;
        last = link.sent_packets;
        sum.sent_packets += link.sent_packets;
        sum.sent_bytes += link.sent_bytes;
        sum.received_packets += link.received_packets;
        sum.received_bytes += link.received_bytes;
        sum.delay += link.delay;
        sum.access += link.access;
    }
    assert!((99..=100).contains(&at_ap) && last <= 6, "{at_ap} {last}");
    // The samples do not include the time after the last one, at most 100 ms.
    let (down, up) = (result.flows[0].delivered_packets, result.flows[1].delivered_packets);
    assert!(down - sum.sent_packets <= 6 && up - sum.received_packets <= 3, "{sum:?} {down} {up}");
    assert_eq!(sum.sent_bytes, 528 * sum.sent_packets);
    assert_eq!(sum.received_bytes, 328 * sum.received_packets);
    let mean = sum.delay.0 / sum.sent_packets;
    assert!((917_000..918_000).contains(&mean), "{mean}");
    assert_eq!(sum.access, sum.delay);
}

/// Links that are measured change nothing of the run, and their series agrees with the queue's: a packet's way takes at least its wait
/// and its exchange on the air.
#[test]
fn what_is_recorded_of_links_agrees_with_the_queue() {
    let mut spec = network(3, Rate::from_mbps(100), 5);
    for station in 2..5 {
        endless(&mut spec, HOST, station, true);
    }
    let plain = run(&spec, &[]);
    let mut world = World::new(&spec, "lbm", built("lbm", &[]), 1).unwrap();
    world.measure_links();
    world.sample(Span::from_millis(500));
    drive::to_end(&mut world);
    assert_eq!(world.result(), plain);
    let series = world.take_series().unwrap().queues;
    let queues = world.queues();
    let radio = queues.iter().position(|q| q == &("ap".to_string(), "default".to_string())).unwrap();
    let mut acknowledged = 0;
    for row in (radio..series.packets.len()).step_by(queues.len()) {
        acknowledged += series.acknowledged[row];
        // 1460 B with headers at 11 Mbit/s, SIFS and ACK: 192 + 1117 + 10 + 304 us; one packet more or less may be in the MAC.
        let least = series.mean_wait_s[row] + 0.001_6;
        assert!(series.mean_link_delay_s[row] > 0.9 * least, "row {row}");
        assert!(series.link_delay_deviation_s[row] >= 0.0);
    }
    let left: u64 = (radio..series.left.len()).step_by(queues.len()).map(|row| series.left[row]).sum();
    assert!(left - acknowledged <= 1 + plain.stations[0].counters.given_up, "{left} {acknowledged}");
    let wire = queues.iter().position(|q| q.0 == "host").unwrap();
    assert!((wire..series.packets.len()).step_by(queues.len()).all(|row| series.acknowledged[row] == 0));
    assert!(series.mean_link_delay_s[wire].is_nan());
}

/// Each attempt of a data frame is lost for itself: of some 4000 attempts a tenth, within five standard errors (0.024). Neither RTS nor
/// CTS nor ACK are, and with four attempts a packet one in 10,000 is given up.
#[test]
fn frame_loss_takes_attempts_of_data_frames() {
    let mut spec = world(dot11b(100.0, 200.0), 10);
    let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 5.0, 0.0));
    flow(&mut spec, "f", a, b, saturating(1000));
    spec.radios[0].mac.rts_threshold = Bytes(0);
    let whole = crate::support::run(&spec, 1);
    assert_eq!(whole.stations[b].counters.lost, [0; 9]);
    spec.radios[0].phy.frame_loss = 0.1;
    let run = crate::support::run(&spec, 1);
    let (sender, receiver) = (run.stations[a].counters, run.stations[b].counters);
    let noise = Loss::NAMES.iter().position(|name| *name == "noise").unwrap();
    let data = FrameKind::ALL.iter().position(|kind| *kind == FrameKind::Data).unwrap();
    let (lost, received) = (receiver.lost[noise], receiver.received[data]);
    let share = lost as f64 / (lost + received) as f64;
    assert!(lost + received > 2000 && (share - 0.1).abs() < 0.034, "{lost} {received}");
    assert_eq!((sender.no_cts, sender.no_ack), (0, lost));
    assert_eq!(sender.lost, [0; 9]);
    assert!(sender.given_up <= 5);
    assert_eq!(receiver.lost.iter().sum::<u64>(), lost);
    // A route that loses nine in ten is none.
    spec.radios[0].phy.frame_loss = 0.95;
    assert!(crate::support::run(&spec, 1).warnings[0].contains("no route"));
    assert!(
        (crate::support::make(&spec, 1).air().reach().delivery_ratio(StationIx(0), StationIx(1), 1000)
            - 0.05)
            .abs()
            < 1e-12
    );
}

/// As above, beside another station that both sense: it is not affected by the draws, and the same frames collide or not.
#[test]
fn frame_loss_leaves_interference_as_it_was() {
    let mut spec = crate::support::cell(dot11b(100.0, 200.0), 5, 500, 5);
    let collided = |spec: &WorldSpec| {
        let lost = crate::support::run(spec, 1).stations[0].counters.lost;
        lost.iter().enumerate().filter(|(i, _)| Loss::NAMES[*i] != "noise").map(|(_, n)| n).sum::<u64>()
    };
    let without = collided(&spec);
    spec.radios[0].phy.frame_loss = 1e-12;
    assert!(without > 50, "{without}");
    assert_eq!(collided(&spec), without, "a loss that never comes changes nothing");
}

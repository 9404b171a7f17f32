//! Delivery ratios by probes on the air, in worlds: what is measured beside what is given, and MORE by either.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::support::{conserved, dot11b, flow, id_of, node, number_of, saturating, world, world_with};
use airfair_schemes::opportunistic::expected::{Expected, Pruning};
use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::opportunistic::probes::ProbesConfig;
use airfair_schemes::opportunistic::ratios::Ratios;
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Capability, DeliveryRatios, FlowId, Forwarder, ForwarderContext,
    HeardBroadcast, Interface, Made, Medium, NativePacket, NodeId, Priority, Timer, Wants,
};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_units::{Span, Time};
use airfair_wire::probe::{Heard, List, Probe};

const CONFIG: ProbesConfig = ProbesConfig {
    interval: Span::from_secs(1),
    window: 10,
    bytes: 1472,
    expiry: Span::from_secs(30),
    nodes: 100,
};

/// The ratios at nodes after each of their probes: time, and losses as measured and as given.
type Log = Arc<Mutex<BTreeMap<u32, Vec<(f64, Losses, Losses)>>>>;

/// Probes, and carries nothing.
struct Prober {
    me: u32,
    measured: Ratios,
    given: Ratios,
    log: Log,
}

impl Agent for Prober {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = number_of(setup.node);
        self.measured.start(setup.node, context);
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], _to_me: bool, context: &mut AgentContext<'_>) {
        assert!(self.measured.on_message(from, bytes, context.now));
        assert!(!self.given.on_message(from, bytes, context.now));
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        assert!(self.measured.on_timer(timer, context) && !self.given.on_timer(timer, context));
        let losses =
            (context.now.as_secs_f64(), self.measured.losses(context.now), self.given.losses(context.now));
        self.log.lock().unwrap().entry(self.me).or_default().push(losses);
    }

    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        Some(self)
    }
}

impl Forwarder for Prober {
    fn on_delivery_ratios(&mut self, ratios: &DeliveryRatios, _context: &mut ForwarderContext<'_>) {
        self.given.set_given(ratios);
    }

    fn room(&self, _flow: FlowId, _to: NodeId) -> u32 {
        0
    }

    fn on_packet(&mut self, _packet: &NativePacket, _context: &mut ForwarderContext<'_>) {}

    fn on_heard(&mut self, _heard: &HeardBroadcast<'_>, _context: &mut ForwarderContext<'_>) {}

    fn ready(&self, _now: Time) -> Option<Priority> {
        None
    }

    fn make(&mut self, _context: &mut ForwarderContext<'_>) -> Option<Made> {
        None
    }
}

struct Probing {
    config: ProbesConfig,
    log: Log,
}

impl Scheme for Probing {
    fn agent(&self, at: &Interface) -> Option<Box<dyn Agent>> {
        (at.medium == Medium::Radio).then(|| {
            Box::new(Prober {
                me: 0,
                measured: Ratios::new(Some(self.config)),
                given: Ratios::new(None),
                log: Arc::clone(&self.log),
            }) as Box<dyn Agent>
        })
    }

    fn wants(&self, at: &Interface) -> Wants {
        let radio = at.medium == Medium::Radio;
        Wants::NONE.and_if(radio, Capability::LoneRadio).and_if(radio, Capability::DeliveryRatios)
    }
}

/// The ratios at each node over time.
fn probe(spec: &WorldSpec, config: ProbesConfig, seed: u64) -> BTreeMap<u32, Vec<(f64, Losses, Losses)>> {
    let log = Log::default();
    let mut world =
        World::new(spec, "probing", Box::new(Probing { config, log: Arc::clone(&log) }), seed).unwrap();
    drive::to_end(&mut world);
    drop(world);
    std::mem::take(&mut *log.lock().unwrap())
}

/// Nodes at these places; frames between those at most 250 m apart arrive but for the loss, and all sense each other.
fn places(loss: f64, places: &[(f64, f64)], seconds: u64) -> WorldSpec {
    let mut radio = dot11b(250.0, 5000.0);
    radio.phy.frame_loss = loss;
    radio.mac.local_limit = None;
    let mut spec = world(radio, seconds);
    for (i, &(x, y)) in places.iter().enumerate() {
        node(&mut spec, &i.to_string(), x, y);
    }
    spec
}

const LINE: [(f64, f64); 5] = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0), (800.0, 0.0)];
const DIAMOND: [(f64, f64); 4] = [(0.0, 0.0), (150.0, 130.0), (150.0, -130.0), (300.0, 0.0)];

/// A node goes away for good at a time, s.
fn dies(spec: &mut WorldSpec, node: usize, at: f64) {
    let [x, y, z] = spec.nodes[node].position;
    let knot = |seconds: f64, x: f64| Knot { at: Time((seconds * 1e9) as u64), position: [x, y, z] };
    spec.movement.paths.push(PathSpec {
        node,
        knots: [knot(at, x), knot(at + 0.1, x + 1e5)].into(),
        repeat_from: None,
    });
}

fn run_more(spec: &WorldSpec, ratios: &'static str, seed: u64) -> RunResult {
    run_scheme("more", spec, ratios, seed)
}

fn run_scheme(name: &str, spec: &WorldSpec, ratios: &'static str, seed: u64) -> RunResult {
    conserved(world_with(name, spec, &[("ratios", ParamValue::Choice(ratios))], seed))
}

/// A link that loses 0.3: of 64 probes as many arrive as the binomial distribution gives but once in ten thousand times, at both ends and
/// whoever tells it; the mean over separate windows is as near as their number says.
#[test]
fn probes_measure_what_a_link_loses() {
    let config = ProbesConfig { window: 64, expiry: Span::from_secs(300), ..CONFIG };
    let known = probe(&places(0.3, &LINE[..3], 900), config, 1);
    let deviation = (0.7 * 0.3 / 64.0_f64).sqrt();
    for (observer, log) in &known {
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
            let separate: Vec<f64> = (1..=12)
                .map(|window| {
                    let until = f64::from(window) * 70.0 + 50.0;
                    let last = log.iter().rev().find(|(at, ..)| *at < until).unwrap();
                    1.0 - last.1.loss(id_of(from), id_of(to))
                })
                .collect();
            assert!(separate.iter().all(|ratio| (ratio - 0.7).abs() < 3.9 * deviation), "{separate:?}");
            let mean = separate.iter().sum::<f64>() / 12.0;
            assert!(
                (mean - 0.7).abs() < 3.5 * deviation / 12.0_f64.sqrt(),
                "{from} to {to} by {observer}: {mean}"
            );
        }
        let (_, measured, given) = log.last().unwrap();
        assert_eq!(measured.loss(id_of(0), id_of(2)), 1.0);
        assert!((given.loss(id_of(0), id_of(1)) - 0.3).abs() < 1e-9);
    }
}

/// Forwarders by probes are those by the ratios given, of every pair of nodes: in a row each node between, in a diamond both relays.
#[test]
fn forwarders_are_those_given() {
    let nodes = |losses: &Losses, from: u32, to: u32| -> BTreeSet<u32> {
        let expected = Expected::new(losses, id_of(from), id_of(to), &Pruning::default()).unwrap();
        expected.shares().iter().map(|share| number_of(share.node)).collect()
    };
    for (spec, config) in [
        (places(0.2, &LINE, 60), CONFIG),
        (places(0.3, &DIAMOND, 300), ProbesConfig { window: 64, expiry: Span::from_secs(300), ..CONFIG }),
    ] {
        let count = spec.nodes.len() as u32;
        for (me, log) in probe(&spec, config, 2) {
            let (_, measured, given) = log.last().unwrap();
            for to in (0..count).filter(|&to| to != me) {
                assert_eq!(nodes(measured, me, to), nodes(given, me, to), "{me} to {to}");
            }
        }
    }
}

/// Nodes of a row know a path over four hops after half a window and an interval for each hop, and one that goes away is no forwarder after
/// a window and unknown after `expiry`.
#[test]
fn nodes_come_and_go() {
    let mut spec = places(0.0, &LINE, 120);
    dies(&mut spec, 2, 60.0);
    let known = probe(&spec, CONFIG, 3);
    let has_path = |losses: &Losses| losses.distances(id_of(4)).etx(id_of(0)) < f64::INFINITY;
    let log = &known[&0];
    let first = log.iter().find(|(_, measured, _)| has_path(measured)).unwrap().0;
    assert!((4.0..12.0).contains(&first), "{first}");
    let last = log.iter().rev().find(|(_, measured, _)| has_path(measured)).unwrap().0;
    assert!((62.0..80.0).contains(&last), "{last}");
    let remembered =
        log.iter().rev().find(|(_, measured, _)| measured.nodes().contains(&id_of(2))).unwrap().0;
    assert!((last..97.0).contains(&remembered), "{remembered}");
    assert!(
        log.iter().filter(|(at, ..)| *at > first && *at < 60.0).all(|(_, measured, _)| has_path(measured))
    );
}

/// MORE waits until it knows a path and then delivers about as much as by the ratios given; results tell probes and what they took.
#[test]
fn more_by_probes() {
    let mut spec = places(0.3, &LINE[..3], 60);
    flow(&mut spec, "f", 0, 2, saturating(1000));
    let [given, probes] = ["given", "probes"].map(|ratios| run_more(&spec, ratios, 1));
    let [all, some] = [&given, &probes].map(|result| result.flows[0].delivered_packets);
    assert!(some > all * 7 / 10 && some < all, "{some} of {all}");
    let kinds: Vec<_> = given.control.unwrap().into_iter().map(|kind| kind.kind).collect();
    assert_eq!(kinds, ["acknowledgement", "feedback"]);
    let control = probes.control.unwrap();
    let probe = control.iter().find(|kind| kind.kind == "probe").unwrap();
    // Three nodes, a probe a second, each in one frame of 1500 bytes and 36 of headers.
    assert!((175..185).contains(&probe.packets), "{probe:?}");
    assert_eq!(
        (probe.frames, probe.ip_bytes, probe.mac_bytes),
        (probe.packets, probe.packets * 1500, probe.packets * 1536)
    );
    assert!(control.iter().any(|kind| kind.kind == "acknowledgement" && kind.packets > 50), "{control:?}");
    let mut short = spec.clone();
    short.duration = Span::from_secs(4);
    let waiting = run_more(&short, "probes", 1);
    let forwarding = waiting.flows[0].forwarding.unwrap();
    assert_eq!((forwarding.broadcasts, waiting.flows[0].delivered_packets), (0, 0), "no list was made yet");
    assert!(waiting.ends.forwarded.unwrap() <= 32 + 50, "a batch, and a queue");
}

/// ExOR by probes, over a relay and with lists that are made anew: packets arrive about as by the ratios given.
#[test]
fn exor_by_probes() {
    let mut spec = places(0.3, &LINE[..3], 60);
    flow(&mut spec, "f", 0, 2, saturating(1000));
    let [given, probes] = ["given", "probes"].map(|ratios| run_scheme("exor", &spec, ratios, 1));
    let [all, some] = [&given, &probes].map(|result| result.flows[0].delivered_packets);
    assert!(some > all * 7 / 10 && some < all, "{some} of {all}");
    assert!(given.control.is_none());
    let control = probes.control.unwrap();
    let probe = control.iter().find(|kind| kind.kind == "probe").unwrap();
    assert!((175..185).contains(&probe.packets), "{control:?}");
}

/// A relay of two goes away: MORE by probes leaves it out and goes on by the other.
#[test]
fn more_leaves_out_a_relay_that_is_gone() {
    let mut spec = places(0.3, &DIAMOND, 90);
    flow(&mut spec, "f", 0, 3, saturating(1000));
    let whole = run_more(&spec, "probes", 1).flows[0].delivered_packets;
    // The other one passes acknowledgements on: static routes do not change.
    dies(&mut spec, 2, 30.0);
    let result = run_more(&spec, "probes", 1);
    let made = result.flows[0].forwarding.unwrap();
    assert!(
        result.flows[0].delivered_packets > whole * 6 / 10,
        "{} of {whole}",
        result.flows[0].delivered_packets
    );
    let each = made.broadcasts as f64 / result.flows[0].delivered_packets as f64;
    assert!(each < 4.0, "{each}: two hops that deliver 0.7");
}

/// The content of a node's probes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tells {
    Truth,
    /// All that any node sends arrives here, always.
    HearsAll,
    /// Bytes that are no lists.
    Garbage,
}

/// MORE by probes, at one node with lies.
struct Lying {
    more: Box<dyn Scheme>,
    liar: NodeId,
    tells: Tells,
    nodes: u32,
}

struct Liar {
    inner: Box<dyn Agent>,
    me: NodeId,
    liar: NodeId,
    tells: Tells,
    nodes: u32,
}

impl Agent for Liar {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = setup.node;
        self.inner.on_start(setup, context);
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        self.inner.on_message(from, bytes, to_me, context);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        self.inner.on_timer(timer, context);
        if self.me != self.liar || self.tells == Tells::Truth {
            return;
        }
        for message in &mut context.out.messages {
            let Ok((probe, _)) = Probe::decode(&message.bytes) else { continue };
            if self.tells == Tells::Garbage {
                message.bytes[3..].fill(0xab);
                continue;
            }
            let all = (0..self.nodes).map(|node| Heard { node: id_of(node).0, ratio: 255 });
            let mut lists = probe.lists().to_vec();
            for list in lists.iter_mut().filter(|list| list.node == self.me.0) {
                *list = List::new(list.node, list.version, list.age, all.clone());
            }
            let length = message.bytes.len();
            message.bytes = vec![0; length + 100];
            Probe::new(probe.sequence, lists).encode(&mut message.bytes).unwrap();
            message.bytes.truncate(length);
        }
    }

    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        self.inner.forwarder()
    }
}

impl Scheme for Lying {
    fn agent(&self, at: &Interface) -> Option<Box<dyn Agent>> {
        let Self { liar, tells, nodes, .. } = *self;
        let inner = self.more.agent(at)?;
        Some(Box::new(Liar { inner, me: NodeId(0), liar, tells, nodes }))
    }

    fn wants(&self, at: &Interface) -> Wants {
        self.more.wants(at)
    }
}

/// Packets delivered where a node tells this.
fn delivered_beside(spec: &WorldSpec, liar: u32, tells: Tells) -> u64 {
    let set = Params([("ratios".to_string(), ParamValue::Choice("probes"))].into());
    let more = (find("more").unwrap().build)(&set).unwrap();
    let scheme = Lying { more, liar: id_of(liar), tells, nodes: spec.nodes.len() as u32 };
    let mut world = World::new(spec, "lying", Box::new(scheme), 1).unwrap();
    drive::to_end(&mut world);
    world.result().flows[0].delivered_packets
}

/// A node beside the source of a row says that it hears everybody, or garbage: the flow passes it by. A relay that does so is used as if it
/// lost nothing, or not at all.
#[test]
fn lies_are_bounded() {
    let mut row = places(0.2, &[&LINE[..4], &[(0.0, 200.0)]].concat(), 60);
    flow(&mut row, "f", 0, 3, saturating(1000));
    let mut diamond = places(0.3, &DIAMOND, 60);
    flow(&mut diamond, "f", 0, 3, saturating(1000));
    for (spec, liar, least) in [(&row, 4, 0.9), (&diamond, 1, 0.7)] {
        let [truth, all, garbage] =
            [Tells::Truth, Tells::HearsAll, Tells::Garbage].map(|tells| delivered_beside(spec, liar, tells));
        assert!(truth > 1000, "{truth}");
        assert!(all as f64 > least * truth as f64, "hears all, {liar}: {all} of {truth}");
        assert!(garbage as f64 > least * truth as f64, "garbage, {liar}: {garbage} of {truth}");
    }
}

/// The order of nodes in the file changes nothing.
#[test]
fn order_changes_nothing() {
    let mut spec = places(0.3, &DIAMOND, 30);
    flow(&mut spec, "f", 0, 3, saturating(1000));
    let mut shuffled = spec.clone();
    shuffled.nodes.reverse();
    (shuffled.flows[0].from, shuffled.flows[0].to) = (3, 0);
    let [one, other] = [&spec, &shuffled].map(|spec| {
        let result = run_more(spec, "probes", 1);
        (result.flows[0].delivered_bytes, result.flows[0].forwarding, result.control)
    });
    assert!(one.0 > 0);
    assert_eq!(one, other);
}

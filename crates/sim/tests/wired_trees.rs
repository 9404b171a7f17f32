//! Trees of wires: results depend neither on the steps in which a world is advanced nor on how a link keeps what waits for it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::wires::{built, link, ms, tcp, us, wired};
use crate::support::{dot11b, world};
use airfair_schemes::Scheme;
use airfair_schemes::explicit::QFCP;
use airfair_schemes::places::{Backlog, Header, HeaderKind, Hop, HopContext, Interface, Passage, Timer};
use airfair_sim::World;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::measure::samples::Snapshot;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::record::Trace;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SCHEMES: [&str; 6] = ["droptail", "xcp", "xcp-b", "rcp", "qfcp", "red"];

/// A wire: Mbit/s, delay in us, packets that may wait.
type Drawn = (u64, u64, u32);

/// Trees of hosts at both ends of a line of routers, and who sends to whom.
#[derive(Debug, Clone)]
struct Net {
    scheme: &'static str,
    line: Vec<Drawn>,
    hosts: [Vec<Drawn>; 2],
    /// From and to which hosts, to the right or to the left, and what.
    flows: Vec<(usize, usize, bool, u8)>,
    /// A flow starts at this router of the line: what comes from its wire is not all that the next one carries.
    inner: Option<usize>,
    /// Every n-th packet is lost on the first wire of the line; 0: none.
    lossy: u32,
    looks: Vec<u64>,
    seed: u64,
}

fn drawn() -> impl Strategy<Value = Net> {
    let wire = || (1u64..40, 0u64..20_000, 2u32..60);
    let wires = move |most| proptest::collection::vec(wire(), 1..most);
    let flow = (0usize..4, 0usize..4, any::<bool>(), 0u8..4);
    (
        proptest::sample::select(SCHEMES.to_vec()),
        wires(4),
        wires(4),
        wires(4),
        proptest::collection::vec(flow, 1..6),
        proptest::option::weighted(0.3, 0usize..4),
        prop_oneof![4 => Just(0u32), 1 => 20u32..200],
        proptest::collection::vec(0u64..2_500_000_000, 0..6),
        any::<u64>(),
    )
        .prop_map(|(scheme, line, left, right, flows, inner, lossy, looks, seed)| Net {
            scheme,
            line,
            hosts: [left, right],
            flows,
            inner,
            lossy,
            looks,
            seed,
        })
}

fn traffic(kind: u8) -> (Transport, Traffic) {
    let config = TcpConfig { mss: 1000, ..TcpConfig::default() };
    let sizes = Sizes::Pareto { mean: Bytes(20_000), shape: 1.5, most: Bytes(1_000_000) };
    match kind {
        0 => (tcp(config), Traffic::Endless),
        1 => (tcp(config), Traffic::Arrivals { per_second: 20.0, sizes, count: 0 }),
        2 => (
            Transport::Udp,
            Traffic::Poisson { rate: Rate::from_mbps(3), packet: Bytes(700), exponential_sizes: true },
        ),
        _ => (
            Transport::Udp,
            Traffic::ConstantRate { rate: Rate::from_mbps(2), packet: Bytes(1200), gap_jitter: 0.1 },
        ),
    }
}

fn spec(net: &Net) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), 2);
    spec.warmup = ms(700);
    let routers: Vec<usize> = (0..=net.line.len()).map(|i| wired(&mut spec, &format!("r{i}"))).collect();
    let join = |spec: &mut WorldSpec, ends, (mbps, delay, packets): Drawn| {
        spec.links.push(link(ends, mbps, us(delay), packets));
    };
    for (ends, &wire) in routers.windows(2).zip(&net.line) {
        join(&mut spec, (ends[0], ends[1]), wire);
    }
    spec.links[0].loss_every = net.lossy;
    let mut hosts = [vec![], vec![]];
    for (side, router) in [(0, routers[0]), (1, routers[net.line.len()])] {
        for (i, &wire) in net.hosts[side].iter().enumerate() {
            let host = wired(&mut spec, &format!("h{side}{i}"));
            join(&mut spec, (host, router), wire);
            hosts[side].push(host);
        }
    }
    let mut add = |from: usize, to: usize, kind: u8| {
        let (transport, traffic) = traffic(kind);
        let id = format!("f{}", spec.flows.len());
        let (start, start_jitter, stop) = (Time::ZERO, ms(100), Time::NEVER);
        spec.flows.push(FlowSpec { id, from, to, transport, traffic, start, start_jitter, stop, dscp: 0 });
    };
    for &(from, to, back, kind) in &net.flows {
        let (from, to) = (hosts[0][from % hosts[0].len()], hosts[1][to % hosts[1].len()]);
        if back { add(to, from, kind) } else { add(from, to, kind) }
    }
    if let Some(inner) = net.inner {
        add(routers[inner % routers.len()], hosts[1][0], 2);
    }
    spec
}

/// Three wires of these rates, Mbit/s, in a row, and a flow over all of them.
fn line(seconds: u64, mbps: [u64; 3], delay: Span, (transport, traffic): (Transport, Traffic)) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), seconds);
    let nodes: Vec<usize> = (0..4).map(|i| wired(&mut spec, &format!("n{i}"))).collect();
    for (ends, mbps) in nodes.windows(2).zip(mbps) {
        spec.links.push(link((ends[0], ends[1]), mbps, delay, 1000));
    }
    let (start, start_jitter, stop) = (Time::ZERO, Span::ZERO, Time::NEVER);
    let flow =
        FlowSpec { id: "a".into(), from: 0, to: 3, transport, traffic, start, start_jitter, stop, dscp: 0 };
    spec.flows.push(flow);
    spec
}

/// All that can be seen of a run, at some moments and at the end.
fn seen(net: &Net, spec: &WorldSpec, looks: &[u64]) -> (Vec<(Snapshot, RunResult)>, Trace) {
    let mut world = World::new(spec, net.scheme, built(net.scheme, &[]), net.seed).unwrap();
    world.start_trace();
    let mut looks = looks.to_vec();
    looks.sort_unstable();
    let mut all = Vec::new();
    for at in looks.into_iter().chain([u64::MAX]) {
        world.advance(Time(at));
        all.push((world.snapshot(), RunResult { events: 0, ..world.result() }));
    }
    (all, world.take_trace())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    /// Counters, queues, inner values of hops, deliveries and drops with their times are those of a run without steps.
    #[test]
    fn steps_change_nothing(net in drawn()) {
        let spec = spec(&net);
        let (stepped, straight) = (seen(&net, &spec, &net.looks), seen(&net, &spec, &[]));
        prop_assert_eq!(stepped.0.last(), straight.0.last());
        prop_assert!(stepped.1 == straight.1, "traces differ");
    }

    /// A link whose departures are known ahead and one that takes each packet from a queue are the same link: a change to the same
    /// rate, after the end, makes the one the other.
    #[test]
    fn departures_known_ahead_are_those_of_a_queue(net in drawn()) {
        let ahead = spec(&net);
        let mut queued = ahead.clone();
        for link in &mut queued.links {
            link.rate_changes = vec![RateChange { at: Time(10_000_000_000), rate: link.rate }];
        }
        let (ahead, queued) = (seen(&net, &ahead, &net.looks), seen(&net, &queued, &net.looks));
        for (ahead, queued) in ahead.0.iter().zip(&queued.0) {
            prop_assert_eq!(&ahead.0, &queued.0);
            prop_assert_eq!(&ahead.1, &queued.1);
        }
        prop_assert!(ahead.1 == queued.1, "traces differ");
    }
}

/// Moments at which packets come from one wire to the next, a millisecond apart: they are still on the former.
#[test]
fn moments_belong_to_what_follows() {
    let mut spec = world(dot11b(100.0, 200.0), 1);
    spec.warmup = ms(20);
    let nodes: Vec<usize> = (0..4).map(|i| wired(&mut spec, &format!("n{i}"))).collect();
    for ends in nodes.windows(2) {
        spec.links.push(link((ends[0], ends[1]), 8, Span::ZERO, 10));
    }
    let packet = Bytes(1000 - 28);
    let rate = Rate::from_mbps(8 * packet.get() / 1000);
    for id in ["a", "b"] {
        spec.flows.push(FlowSpec {
            id: id.into(),
            from: 0,
            to: 3,
            transport: Transport::Udp,
            traffic: Traffic::ConstantRate { rate, packet, gap_jitter: 0.0 },
            start: Time::ZERO,
            start_jitter: Span::ZERO,
            stop: Time(40_000_000),
            dscp: 0,
        });
    }
    let mut world = World::new(&spec, "rcp", built("rcp", &[]), 1).unwrap();
    let on_wire = |at: u64| {
        world.advance(Time(at));
        world.result().ends.on_wire
    };
    let counts: Vec<u64> = (1..50).map(|n| n * 1_000_000).map(on_wire).collect();
    assert!(counts.contains(&3), "none on each wire: {counts:?}");
}

/// Calls of hops: interface, time, backlog, and true for an arrival, false for a timer.
type Calls = Vec<(u32, Time, Backlog, bool)>;

/// A hop that records its calls and sets timers at intervals of its own.
#[derive(Clone)]
struct Noting {
    /// Which of the interfaces it is, in the order of the nodes: even ones lead to the right.
    place: u32,
    places: Arc<AtomicU32>,
    calls: Arc<Mutex<Calls>>,
}

impl Noting {
    fn wake(&self, context: &mut HopContext<'_>) {
        let every = [ms(37), us(1900), ms(200)][self.place as usize / 2 % 3];
        context.out.timers.push((Timer(0), context.now.saturating_add(every)));
    }
}

impl Scheme for Noting {
    fn hop(&self, _interface: &Interface) -> Option<Box<dyn Hop>> {
        Some(Box::new(Self { place: self.places.fetch_add(1, Ordering::Relaxed), ..self.clone() }))
    }
}

impl Hop for Noting {
    fn header(&self) -> &'static HeaderKind {
        &QFCP
    }
    fn on_start(&mut self, context: &mut HopContext<'_>) {
        self.wake(context);
    }
    fn on_arrival(&mut self, passage: &Passage, _header: Option<&mut Header>, now: Time) {
        self.calls.lock().unwrap().push((self.place, now, passage.backlog, true));
    }
    fn on_timer(&mut self, _timer: Timer, backlog: Backlog, context: &mut HopContext<'_>) {
        self.calls.lock().unwrap().push((self.place, context.now, backlog, false));
        self.wake(context);
    }
}

/// A hop sees a packet only when the hops before it have seen it.
#[test]
fn hops_are_told_in_order() {
    let spec = line(2, [20, 5, 8], ms(5), traffic(2));
    let calls = Arc::new(Mutex::new(Calls::new()));
    let noting = Noting { place: 0, places: Arc::default(), calls: Arc::clone(&calls) };
    let mut world = World::new(&spec, "noting", Box::new(noting), 1).unwrap();
    drive::to_end(&mut world);
    let calls = calls.lock().unwrap().clone();
    let arrivals = |place: u32| {
        let arrivals = calls.iter().enumerate().filter(move |(_, t)| t.0 == place && t.3);
        arrivals.map(|(line, _)| line)
    };
    assert!(arrivals(4).count() > 700);
    assert!(calls.iter().any(|t| t.2.packets > 5), "nothing waits anywhere");
    for place in [2, 4] {
        assert!(arrivals(place - 2).zip(arrivals(place)).all(|(before, after)| before < after), "{place}");
    }
}

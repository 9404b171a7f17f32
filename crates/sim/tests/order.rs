//! The input of schemes does not depend on the file: every scheme of the registry, and one that reads all inputs, in worlds whose nodes,
//! flows and links are in another order, or beside one more node that is far away and idle.

use crate::support::random_world::*;
use crate::support::routing::{aodv, constant, dsdv, olsr};
use crate::support::wires::{built, link, ms, tcp, wired};
use crate::support::{dot11b, flow, node, simulated_header, world};
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Aqm, AqmContext, Backlog, Capability, Destination, Direction,
    DropReason, Header, HeaderKind, Hop, HopContext, Interface, Medium, Message, NodeId, NodeSample, Packet,
    Passage, Probability, QueueView, Setting, Timer, Verdict, Wants,
};
use airfair_schemes::{ParamValue, Scheme, SchemeEntry, registry};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::{ControlTraffic, RunResult};
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Decides by the numbers of nodes and flows that it is handed, and by the order of its neighbours.
struct Nosy;

/// The scheme's header: none of the scheme's flows has one.
static KIND: HeaderKind = simulated_header("nosy", 4);

struct NosyAqm {
    /// Value set by the agent.
    by: u64,
}

impl NosyAqm {
    fn verdict(&self, packet: &Packet) -> Verdict {
        let Packet { flow, destination, next_hop, .. } = *packet;
        let seen = [flow.0, destination.0, next_hop.0].into_iter().fold(self.by, |seen, number| {
            (seen ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
        });
        if seen % 7 == 0 { Verdict::Drop(DropReason("nosy")) } else { Verdict::Pass }
    }
}

impl Aqm for NosyAqm {
    fn on_enqueue(&mut self, packet: &Packet, _: &QueueView, _: &mut AqmContext<'_>) -> Verdict {
        self.verdict(packet)
    }

    fn on_receive(&mut self, packet: &Packet, _: &mut AqmContext<'_>) -> Verdict {
        self.verdict(packet)
    }

    fn apply(&mut self, setting: Setting) {
        if let Setting::Probability(_, by) = setting {
            self.by = by.numerator();
        }
    }
}

#[derive(Default)]
struct NosyAgent {
    me: u32,
    neighbours: Vec<NodeId>,
}

impl NosyAgent {
    fn settle(&self, number: u32, context: &mut AgentContext<'_>) {
        let by = Probability::new(f64::from(number ^ self.me) / f64::from(u32::MAX));
        context.out.settings.push(Setting::Probability(Direction::Outgoing, by));
    }
}

impl Agent for NosyAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = setup.node.0;
        self.neighbours = setup.neighbours.to_vec();
        context.out.timers.push((Timer(1), context.now + Span::from_millis(3)));
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], _: &mut AgentContext<'_>) {
        self.neighbours = neighbours.to_vec();
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        self.settle(sample.traffic, context);
    }

    fn on_message(&mut self, from: NodeId, _: &[u8], _: bool, context: &mut AgentContext<'_>) {
        self.settle(from.0, context);
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        context.out.timers.push((timer, context.now + Span::from_millis(7)));
        for (i, &neighbour) in
            self.neighbours.iter().enumerate().skip(usize::from(context.random.below(2) > 0))
        {
            let to =
                if i % 2 == 0 { Destination::Neighbour(neighbour) } else { Destination::Node(neighbour) };
            context.out.messages.push(Message {
                to,
                bytes: vec![i as u8; 5],
                ahead: i % 3 == 0,
                transmit: None,
            });
        }
    }
}

struct NosyHop(u64);

impl Hop for NosyHop {
    fn header(&self) -> &'static HeaderKind {
        &KIND
    }

    fn on_start(&mut self, context: &mut HopContext<'_>) {
        context.out.timers.push((Timer(0), context.now + Span::from_millis(5)));
    }

    fn on_arrival(&mut self, passage: &Passage, _: Option<&mut Header>, _: Time) {
        self.0 = self.0.wrapping_mul(3) ^ u64::from(passage.flow.0);
    }

    fn on_timer(&mut self, timer: Timer, _: Backlog, context: &mut HopContext<'_>) {
        context.out.timers.push((timer, context.now + Span::from_micros(500 + self.0 % 9_000)));
    }
}

impl Scheme for Nosy {
    fn aqm(&self, _: &Interface) -> Option<Box<dyn Aqm>> {
        Some(Box::new(NosyAqm { by: 0 }))
    }

    fn hop(&self, _: &Interface) -> Option<Box<dyn Hop>> {
        Some(Box::new(NosyHop(0)))
    }

    fn agent(&self, _: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::<NosyAgent>::default())
    }

    fn wants(&self, interface: &Interface) -> Wants {
        match interface.medium {
            Medium::Radio => {
                let wants = Wants::of(&[Capability::Overheard, Capability::Received]);
                wants.samples_every(Span::from_millis(10))
            }
            Medium::Wire => Wants::NONE,
        }
    }
}

/// Every scheme of the registry as it is, with as many levels as the radios have; those with few chances to show an order in a short run
/// once more, louder; the one above.
fn schemes(spec: &WorldSpec) -> Vec<(&'static str, Box<dyn Scheme>)> {
    let milliseconds = |ms| ParamValue::Span(Span::from_millis(ms));
    let loud = [
        ("interval", milliseconds(5)),
        ("ncn_interval", milliseconds(5)),
        ("lifetime", milliseconds(30)),
        ("weight", ParamValue::Number(0.9)),
        ("min_th", ParamValue::Number(0.1)),
        ("max_th", ParamValue::Number(200.0)),
        ("max_p", ParamValue::Number(1.0)),
        ("theta", ParamValue::Number(1.0)),
    ];
    let categories =
        spec.radios.iter().map(|radio| radio.mac.edca.as_ref().map_or(1, |edca| edca.categories.len()));
    let levels = [("levels", ParamValue::Integer(categories.min().unwrap_or(1) as u64))];
    let as_it_is = |entry: &SchemeEntry| {
        let has_levels = entry.params.iter().any(|param| param.name == levels[0].0);
        (entry.name, built(entry.name, if has_levels { &levels } else { &[] }))
    };
    let mut schemes: Vec<_> = registry().iter().map(as_it_is).collect();
    schemes.push(("nred", built("nred", &loud)));
    schemes.push(("fq-codel", built("fq-codel", &[("flows", ParamValue::Integer(2))])));
    schemes.push(("nosy", Box::new(Nosy)));
    schemes
}

fn finished(spec: &WorldSpec, (name, scheme): (&str, Box<dyn Scheme>), seed: u64) -> RunResult {
    let mut world = World::new(spec, name, scheme, seed).unwrap();
    drive::to_end(&mut world);
    by_name(world.result())
}

/// Lists by name; sums of floats depend on their order.
fn by_name(mut result: RunResult) -> RunResult {
    result.flows.sort_by(|a, b| a.id.cmp(&b.id));
    result.stations.sort_by(|a, b| a.node.cmp(&b.node));
    result.queues.sort_by(|a, b| (&a.node, &a.towards).cmp(&(&b.node, &b.towards)));
    if let Some(routing) = &mut result.routing {
        routing.flows.sort_by(|a, b| a.id.cmp(&b.id));
    }
    result.warnings.sort();
    result
}

/// The world of a draw, with static routes over radio and wires: TCP, moving nodes, routes found by AODV,
/// moving nodes with fading, routes found by DSDV and OLSR over radio and wires.
fn varied(drawn: &Draw, kind: u8) -> WorldSpec {
    let mut spec = build(drawn, Time::NEVER, Span::from_millis(120));
    // Links between the same two nodes are distinguished only by their order, so there must be one.
    let mut ends: Vec<[usize; 2]> = Vec::new();
    spec.links.retain(|link| {
        let [a, b] = link.ends;
        let ends_of = [a.min(b), a.max(b)];
        let new = !ends.contains(&ends_of);
        ends.push(ends_of);
        new
    });
    for (i, flow) in spec.flows.iter_mut().enumerate() {
        if i % 2 == 0 {
            flow.transport = tcp(TcpConfig::default());
            flow.traffic = match i % 3 {
                0 => Traffic::Endless,
                1 => Traffic::Web {
                    sizes: Sizes::Exponential { mean: Bytes(3000) },
                    pause: Span::from_millis(2),
                },
                _ => Traffic::File { size: Bytes(20_000) },
            };
        }
    }
    if kind == 3 {
        let coherence = Span::from_millis(3);
        spec.radios.iter_mut().for_each(|radio| {
            radio.fading = Some(FadingSpec { law: FadingLaw::Rayleigh, coherence });
        });
    }
    if kind == 1 || kind == 3 {
        let reach = scale(PROFILES[drawn.0]);
        for node in 0..spec.nodes.len() {
            let [x, y, z] = spec.nodes[node].position;
            let knot = |at: u64, x: f64| Knot { at: Time(at * 1_000_000), position: [x, y, z] };
            let knots = vec![knot(0, x), knot(60, x + 200.0 * reach), knot(120, x)].into();
            spec.movement.paths.push(PathSpec { node, knots, repeat_from: None });
        }
        spec.movement.interval = Span::from_millis(1);
    }
    spec.routing = match kind {
        2 => aodv(|_| {}),
        4 => {
            dsdv(|config| (config.period, config.start_jitter, config.settling_time) = (ms(20), ms(5), ms(5)))
        }
        5 => olsr(|config| {
            (config.hello_interval, config.tc_interval, config.max_jitter) = (ms(10), ms(15), ms(2));
        }),
        _ => spec.routing,
    };
    if kind == 2 {
        spec.links.clear();
    }
    spec
}

/// The same world with its nodes reversed and rotated, its flows, links and paths reversed, and each link's ends swapped.
fn shuffled(spec: &WorldSpec, turn: usize) -> WorldSpec {
    let n = spec.nodes.len();
    let place = |old: usize| (n - 1 - old + turn) % n;
    moved_to(spec, place)
}

fn moved_to(spec: &WorldSpec, place: impl Fn(usize) -> usize) -> WorldSpec {
    let mut other = spec.clone();
    for (old, node) in spec.nodes.iter().enumerate() {
        other.nodes[place(old)] = node.clone();
    }
    for link in &mut other.links {
        link.ends = [place(link.ends[1]), place(link.ends[0])];
    }
    for flow in &mut other.flows {
        (flow.from, flow.to) = (place(flow.from), place(flow.to));
    }
    for path in &mut other.movement.paths {
        path.node = place(path.node);
    }
    other.flows.reverse();
    other.links.reverse();
    other.movement.paths.reverse();
    other
}

/// The same world with one more node, the first in the list and by name, which neither hears nor is heard.
fn with_an_idle_node(spec: &WorldSpec) -> WorldSpec {
    let mut other = spec.clone();
    other.nodes.insert(
        0,
        NodeSpec { id: "0-far".into(), position: [9e6, 0.0, 0.0], located: true, radios: vec![0] },
    );
    other.links.iter_mut().for_each(|link| link.ends = link.ends.map(|end| end + 1));
    other.flows.iter_mut().for_each(|flow| (flow.from, flow.to) = (flow.from + 1, flow.to + 1));
    other.movement.paths.iter_mut().for_each(|path| path.node += 1);
    other
}

fn fast_dsdv() -> RoutingSpec {
    dsdv(|config| {
        (config.period, config.start_jitter, config.settling_time) = (ms(50), ms(50), ms(20));
        (config.hold_periods, config.trigger_on_new_number) = (1, false);
    })
}

fn fast_olsr() -> RoutingSpec {
    olsr(|config| {
        (config.hello_interval, config.tc_interval, config.max_jitter) = (ms(50), ms(100), ms(20));
        (config.neighbour_hold, config.topology_hold) = (ms(150), ms(300));
    })
}

fn of_droptail(spec: &WorldSpec, seed: u64) -> RunResult {
    finished(spec, ("droptail", built("droptail", &[])), seed)
}

/// Six nodes, each with wires to three others, one of them with a radio too: a protocol numbers the wires of a node, and draws its delays
/// by number.
#[test]
fn the_order_of_wires_means_nothing_to_a_routing_protocol() {
    let mut spec = world(dot11b(250.0, 550.0), 5);
    let nodes = ["n10", "n2", "n3", "a", "b", "c"].map(|id| wired(&mut spec, id));
    spec.nodes[nodes[2]].radios = vec![0];
    let near = node(&mut spec, "near", 100.0, 0.0);
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (1, 4), (2, 5)] {
        let wire = link((nodes[from], nodes[to]), 1 + from as u64, ms(2), 20);
        spec.links.push(LinkSpec { loss: 0.2, ..wire });
    }
    for (id, from, to) in [("x", nodes[0], nodes[4]), ("y", nodes[5], nodes[1]), ("z", near, nodes[3])] {
        flow(&mut spec, id, from, to, constant(200));
    }
    for routing in [fast_olsr(), fast_dsdv()] {
        spec.routing = routing;
        let one = of_droptail(&spec, 1);
        let upkeep = one.routing.as_ref().unwrap();
        assert!(upkeep.flows.iter().map(|flow| flow.lost).sum::<u64>() > 1, "{upkeep:?}");
        let mut other = spec.clone();
        other.links.reverse();
        assert_eq!(one, of_droptail(&other, 1), "{}", upkeep.protocol);
        other.links.rotate_left(4);
        for link in &mut other.links[..5] {
            link.ends.reverse();
        }
        assert_eq!(one, of_droptail(&other, 1), "{}", upkeep.protocol);
    }
}

/// Nodes whose messages have several receivers at one moment: a route that only exists, or is only missing, between two of them does not
/// count.
#[test]
fn the_order_of_nodes_means_nothing_to_the_upkeep_of_routes() {
    let mut radio = dot11b(250.0, 250.0);
    radio.phy.frame_loss = 0.4;
    let mut spec = world(radio, 10);
    for (i, id) in ["s", "a", "b", "c", "d"].into_iter().enumerate() {
        node(&mut spec, id, 120.0 * (i % 3) as f64, 120.0 * (i / 3) as f64);
    }
    for (id, from, to) in [("f1", 0, 2), ("f2", 2, 3), ("f3", 4, 0), ("f4", 3, 2), ("f5", 1, 3)] {
        flow(&mut spec, id, from, to, constant(20));
    }
    for routing in [fast_olsr(), fast_dsdv()] {
        spec.routing = routing;
        for seed in 1..=3 {
            let one = of_droptail(&spec, seed);
            let upkeep = one.routing.as_ref().unwrap();
            assert!(upkeep.flows.iter().map(|flow| flow.lost).sum::<u64>() > 5, "{upkeep:?}");
            for turn in 0..4 {
                assert_eq!(one.routing, of_droptail(&shuffled(&spec, turn), seed).routing);
            }
        }
    }
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn the_order_of_a_file_means_nothing(drawn in draw(), kind in 0u8..6, seed in any::<u64>(), turn in 0usize..8) {
        let spec = varied(&drawn, kind);
        let other = shuffled(&spec, turn);
        for (one, again) in schemes(&spec).into_iter().zip(schemes(&spec)) {
            let name = one.0;
            prop_assert_eq!(finished(&spec, one, seed), finished(&other, again, seed), "{}", name);
        }
    }

    #[test]
    fn an_idle_node_far_away_means_nothing(drawn in draw(), kind in 0u8..4, seed in any::<u64>()) {
        let spec = varied(&drawn, kind);
        let other = with_an_idle_node(&spec);
        for (one, again) in schemes(&spec).into_iter().zip(schemes(&spec)) {
            let name = one.0;
            let (mut one, mut other) = (finished(&spec, one, seed), finished(&other, again, seed));
            other.stations.retain(|station| station.node != "0-far");
            other.queues.retain(|queue| queue.node != "0-far");
            // Its agent has samples, and its routing sends Hello messages.
            (one.events, other.events) = (0, 0);
            (one.transmissions, other.transmissions) = (0, 0);
            // Its radio has a rate, and with an agent it makes itself known.
            (one.radio_rates_bps, other.radio_rates_bps) = (0, 0);
            for result in [&mut one, &mut other] {
                let heard = |of: &ControlTraffic| !["hello", "probe"].contains(&of.kind.as_str());
                result.control.iter_mut().for_each(|control| control.retain(heard));
            }
            one.warnings.clear();
            other.warnings.clear();
            prop_assert_eq!(one, other, "{}", name);
        }
    }
}

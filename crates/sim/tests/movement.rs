//! Nodes that move: what others hear of them, when, and that nothing is lost on the way.

use std::sync::{Arc, Mutex};

use crate::network::short_cut;
use crate::support::random_world::*;
use crate::support::*;
use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Destination, Interface, Message, NodeId, Timer,
};
use airfair_sim::World;
use airfair_sim::air::Relation;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::StationIx;
use airfair_sim::record::{FrameKind, FrameView, Record};
use airfair_sim::spec::*;
use airfair_units::{Attowatts, Bytes, Dbm, Rate, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A node's path: (seconds, x, y) knots.
fn moves(spec: &mut WorldSpec, node: usize, knots: &[(f64, f64, f64)], repeat_from: Option<usize>) {
    let z = spec.nodes[node].position[2];
    let knot = |&(at, x, y): &(f64, f64, f64)| Knot { at: Time((at * 1e9) as u64), position: [x, y, z] };
    spec.movement.paths.push(PathSpec { node, knots: knots.iter().map(knot).collect(), repeat_from });
}

fn at(seconds: f64) -> Time {
    Time((seconds * 1e9) as u64)
}

fn steady(bytes: u64, kbps: u64) -> Traffic {
    Traffic::ConstantRate { rate: Rate::from_kbps(kbps), packet: Bytes(bytes), gap_jitter: 0.0 }
}

/// Node 1 walks from 200 m to 300 m at 10 m/s and back after a rest; reception ends at 250 m, sensing at 280 m.
fn walk(traffic: Traffic) -> WorldSpec {
    let mut spec = chain(dot11b(250.0, 280.0), 1, 200.0, traffic, 30);
    moves(
        &mut spec,
        1,
        &[(2.0, 200.0, 0.0), (12.0, 300.0, 0.0), (15.0, 300.0, 0.0), (25.0, 200.0, 0.0)],
        None,
    );
    spec
}

#[test]
fn lists_follow_a_node() {
    let mut world = make(&walk(steady(100, 1)), 1);
    // 250 m is passed at 7 s, 280 m at 10 s; the refresh of that moment sees it at most a metre late.
    let heard =
        |world: &World| world.relations().map(|r| (r.from.0, r.to.0, r.receives())).collect::<Vec<_>>();
    for (seconds, receives) in [
        (0.0, Some(true)),
        (2.05, Some(true)),
        (6.95, Some(true)),
        (7.15, Some(false)),
        (9.95, Some(false)),
        (10.15, None),
        (14.0, None),
        (16.95, None),
        (17.15, Some(false)),
        (19.95, Some(false)),
        (20.15, Some(true)),
        (29.0, Some(true)),
    ] {
        world.advance(at(seconds));
        let expected: Vec<(u32, u32, bool)> =
            receives.into_iter().flat_map(|r| [(0, 1, r), (1, 0, r)]).collect();
        assert_eq!(heard(&world), expected, "{seconds} s");
    }
    // 200 metres are 200 refreshes of two lists, except where no station hears another: 20 m there and back.
    let renewed = world.air().renewed_lists();
    assert!((2 * 158..=2 * 164).contains(&renewed), "{renewed}");
}

#[test]
fn powers_are_those_of_the_place() {
    let mut world = make(&walk(steady(100, 1)), 1);
    world.advance(at(4.55));
    assert_eq!(world.air().position(StationIx(0)), Some([0.0; 3]));
    let place = world.air().position(StationIx(1)).unwrap()[0];
    // The last whole metre before 4.55 s.
    assert!((place - 225.0).abs() < 1e-4, "{place}");
    // Two-ray ground beyond its cross-over (86 m): 15 dBm + 40 log10(1.5) - 40 log10(225) = -72.04 dBm.
    let power = world.relations().next().unwrap().power.to_dbm().0;
    assert!((power + 72.043).abs() < 0.002, "{power}");
    // No path, no places.
    assert_eq!(
        make(&chain(dot11b(250.0, 280.0), 1, 200.0, saturating(500), 1), 1).air().position(StationIx(1)),
        None
    );
}

/// Deliveries stop and begin again within a refresh (0.1 s) of the moment at which the node passes 250 m, and two packets' time.
#[test]
fn reception_ends_and_begins_where_the_range_does() {
    let mut world = make(&walk(steady(1000, 1000)), 1);
    world.start_trace();
    drive::to_end(&mut world);
    let trace = world.take_trace();
    let delivered: Vec<f64> = trace
        .iter()
        .filter(|(_, r)| matches!(r, Record::Delivered { .. }))
        .map(|(at, _)| at.as_secs_f64())
        .collect();
    let last = delivered.iter().copied().filter(|&s| s < 13.0).fold(0.0, f64::max);
    let first = delivered.iter().copied().filter(|&s| s > 13.0).fold(f64::MAX, f64::min);
    assert!((6.95..7.12).contains(&last), "{last}");
    assert!((19.98..20.12).contains(&first), "{first}");
    // A packet for a node that has moved away is sent to it, given up, and not broadcast.
    let result = world.result();
    assert!(result.ends.dropped["retry-limit"] > 100, "{:?}", result.ends);
    assert!(
        !trace
            .iter()
            .any(|(_, r)| matches!(r, Record::Start { frame } if frame.kind == FrameKind::Broadcast))
    );
}

/// Frames of 12 ms at 100 m/s: a refresh falls into most of them. Each keeps, to its end, the power with which it began.
#[test]
fn a_frame_under_way_keeps_its_hearers() {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.data_rate = Rate::from_mbps(1);
    radio.mac.rts_threshold = Bytes(0);
    let mut spec = chain(radio, 1, 100.0, saturating(1472), 4);
    moves(&mut spec, 1, &[(0.5, 100.0, 0.0), (2.5, 300.0, 0.0)], None);
    let mut world = make(&spec, 1);
    world.start_trace();
    // The power between the two after each refresh, and when that was first seen.
    let mut powers: Vec<(u64, u64)> = Vec::new();
    while world.now() < at(4.0) {
        let next = world.next_deadline().map_or(at(4.0), |t| Time(t.0 + 1).min(at(4.0)));
        world.advance(next);
        let heard: Vec<Relation> = world.relations().filter(|r| r.from == StationIx(0)).collect();
        let power = heard.first().map_or(0, |r| r.power.0);
        if powers.last().is_none_or(|p| p.1 != power) {
            powers.push((world.now().0 - 1, power));
        }
    }
    // 2 s of way: at the first metre, then each 0.1 s.
    assert_eq!(powers.len(), 1 + 21, "{powers:?}");
    let mut across = 0;
    let mut seen = 0;
    let data = |frame: &FrameView| frame.sender.0 == 0 && frame.kind == FrameKind::Data;
    for (_, record) in world.take_trace() {
        let (frame, power, received) = match record {
            Record::Received { frame, signal, .. } if data(&frame) => (frame, signal.power.0, true),
            Record::Lost { frame, signal, .. } if data(&frame) => (frame, signal.power.0, false),
            _ => continue,
        };
        let (_, began) = *powers.iter().rev().find(|p| p.0 <= frame.start.0).unwrap();
        assert_eq!(power, began, "{frame:?}");
        // 250 m are as far as the preamble reaches.
        let reached = began >= powers.iter().rfind(|p| Attowatts(p.1).to_dbm().0 > -73.9).unwrap().1;
        assert_eq!(received, reached, "{frame:?} {began}");
        seen += 1;
        // A list is renewed at the end of the frame, not before.
        across += u32::from((0..=20).any(|i| {
            let refresh = at(0.51 + 0.1 * f64::from(i)).0;
            frame.start.0 < refresh && refresh < frame.end.0
        }));
        assert!(!powers.iter().any(|p| frame.start.0 < p.0 && p.0 < frame.end.0), "{frame:?}");
    }
    assert!(seen > 100 && across >= 10, "{seen} {across}");
}

/// `b` gets every frame of `a`, which loses many of the acknowledgements to `j`, whom it does not sense. The list of `a` is renewed about
/// every millisecond, so between most frames and their repetitions: `b` still knows what it has had.
#[test]
fn a_repetition_after_a_refresh_is_a_duplicate() {
    let mut radio = dot11b(250.0, 260.0);
    radio.phy.cutoff = Dbm(radio.phy.cutoff.0 - 20.0);
    let mut spec = world(radio, 2);
    let place = [("a", 0.0), ("b", 240.0), ("j", -300.0), ("k", -400.0)];
    let [a, b, j, k] = place.map(|(id, x)| node(&mut spec, id, x, 0.0));
    flow(&mut spec, "heard", a, b, saturating(1000));
    flow(&mut spec, "disturbs", j, k, saturating(1000));
    spec.movement.interval = Span::from_millis(1);
    spec.movement.distance_m = 0.0;
    moves(&mut spec, b, &[(0.0, 240.0, 0.0), (2.0, 240.0, 20.0)], None);
    let mut world = make(&spec, 1);
    drive::to_end(&mut world);
    let counters = world.result().stations[b].counters;
    let delivered = world.result().flows[0].delivered_packets;
    assert!(world.air().renewed_lists() > 1000 && delivered > 30, "{delivered} {counters:?}");
    assert!(counters.duplicates > 100, "{counters:?}");
    assert_eq!(counters.received_data(), delivered);
}

/// A node with a path of one place is a node without a path, event for event.
#[test]
fn who_stands_still_changes_nothing() {
    let spec = cell(dot11b(250.0, 550.0), 4, 700, 1);
    let mut still = spec.clone();
    for node in 0..spec.nodes.len() {
        let [x, y, _] = spec.nodes[node].position;
        moves(&mut still, node, &[(0.3, x, y)], None);
    }
    assert_eq!(run(&still, 5), run(&spec, 5));
}

/// Neighbours reported to an agent, with the time.
type Calls = Arc<Mutex<Vec<(f64, Vec<u32>)>>>;

struct Listener(Calls);

impl Agent for Listener {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _context: &mut AgentContext<'_>) {
        self.note(0.0, setup.neighbours);
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], context: &mut AgentContext<'_>) {
        self.note(context.now.as_secs_f64(), neighbours);
    }
}

impl Listener {
    fn note(&self, at: f64, neighbours: &[NodeId]) {
        self.0.lock().unwrap().push((at, neighbours.iter().copied().map(number_of).collect()));
    }
}

struct Listening(Calls);

impl Scheme for Listening {
    fn agent(&self, _at: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(Listener(Arc::clone(&self.0))))
    }
}

#[test]
fn agents_are_told_who_their_neighbours_are() {
    let calls = Calls::default();
    let spec = walk(steady(100, 1));
    let mut world = World::new(&spec, "listening", Box::new(Listening(Arc::clone(&calls))), 1).unwrap();
    drive::to_end(&mut world);
    let calls = calls.lock().unwrap();
    let mut rounded: Vec<(i64, &[u32])> =
        calls.iter().map(|(at, list)| ((at * 10.0).round() as i64, list.as_slice())).collect();
    rounded.sort_unstable();
    // Both at the start; then node 0 and node 1 lose each other, and find each other again.
    let (none, zero, one) = (&[][..], &[0][..], &[1][..]);
    assert_eq!(rounded, [(0, zero), (0, one), (71, none), (71, none), (200, zero), (200, one)]);
}

/// Where the signal is as strong as the noise a frame is locked on to, and none arrives; 15 dB above the noise all do.
#[test]
fn a_neighbour_is_who_is_reached() {
    for (dbm, of_0) in [(-94.9, vec![1]), (-80.0, vec![1, 2])] {
        let calls = Calls::default();
        let mut spec = short_cut(dbm);
        spec.nodes.iter_mut().enumerate().for_each(|(i, node)| node.id = i.to_string());
        let listening = Box::new(Listening(Arc::clone(&calls)));
        let mut world = World::new(&spec, "listening", listening, 1).unwrap();
        let decodable = world.air().neighbours(StationIx(0)).count();
        drive::to_end(&mut world);
        assert_eq!(decodable, 2);
        assert_eq!(calls.lock().unwrap()[0], (0.0, of_0), "{dbm}");
    }
}

/// Says something twice a millisecond for 0.3 s, to all who hear it.
struct Crier;

impl Agent for Crier {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        if setup.node == id_of(0) {
            context.out.timers.push((Timer(0), context.now + Span::from_millis(1)));
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        if context.now < at(0.3) {
            context.out.timers.push((timer, context.now + Span::from_micros(500)));
            let to = Destination::Broadcast;
            context.out.messages.push(Message { to, bytes: vec![7; 20], ahead: true, transmit: None });
        }
    }
}

struct Crying;

impl Scheme for Crying {
    fn agent(&self, _at: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(Crier))
    }
}

/// Consecutive frames, each of which takes longer to the farthest hearer (90 km, 300 us) than the pause between them: the list is never
/// silent when it should be renewed. All stations receive all frames nevertheless, once, and no frame stays on the air.
#[test]
fn lists_of_a_station_that_is_never_silent_are_renewed() {
    let mut radio = dot11b(120_000.0, 130_000.0);
    radio.phy.noise = Dbm(-200.0);
    radio.mac.cw_min = 3;
    let mut spec = world(radio, 1);
    for (i, x) in [0.0, 100.0, 40_000.0, 90_000.0].into_iter().enumerate() {
        node(&mut spec, &i.to_string(), x, 0.0);
    }
    spec.movement.interval = Span::from_millis(1);
    moves(&mut spec, 0, &[(0.0, 0.0, 0.0), (0.3, 0.0, 3000.0)], None);
    let mut world = World::new(&spec, "crying", Box::new(Crying), 1).unwrap();
    drive::to_end(&mut world);
    let result = world.result();
    let messages: Vec<_> = result.stations.iter().map(|s| s.messages.unwrap()).collect();
    let sent = messages[0].sent;
    assert!((590..=600).contains(&sent), "{sent}");
    assert_eq!(messages.iter().map(|m| m.heard).collect::<Vec<_>>(), [0, sent, sent, sent]);
    assert_eq!(messages[0].missed, 0);
    // 300 refreshes; what is far away hears no difference of a few metres, and some of a busy list fall together.
    let renewed = world.air().renewed_lists();
    assert!(renewed > 500, "{renewed}");
    assert_eq!((world.air().in_flight(), world.air().lists_waiting()), (0, 0));
    assert!((0..4).all(|station| world.air().power(StationIx(station)).0 == 0));
    let mut there = spec.clone();
    there.movement.paths.clear();
    there.nodes[0].position = [0.0, 3000.0, 0.0];
    assert!(world.relations().eq(make(&there, 1).relations()));
}

#[test]
fn a_path_that_contradicts_itself_is_refused() {
    let scheme =
        || (airfair_schemes::find("droptail").unwrap().build)(&airfair_schemes::Params::default()).unwrap();
    let error = |spec: &WorldSpec| World::new(spec, "droptail", scheme(), 1).err().unwrap();
    let base = chain(dot11b(250.0, 550.0), 1, 100.0, saturating(500), 1);
    let mut elsewhere = base.clone();
    moves(&mut elsewhere, 1, &[(1.0, 90.0, 0.0)], None);
    assert_eq!(error(&elsewhere), "the movement of node 1: it does not begin where the node stands");
    let mut back = base.clone();
    moves(&mut back, 1, &[(1.0, 100.0, 0.0), (0.5, 100.0, 0.0)], None);
    assert!(error(&back).ends_with("goes back in time"), "{}", error(&back));
    let mut matrix = base;
    matrix.radios[0].propagation = Propagation::Matrix;
    moves(&mut matrix, 1, &[(1.0, 100.0, 0.0)], None);
    assert!(error(&matrix).contains("measured gains"), "{}", error(&matrix));
}

/// Paths of some nodes of a random world: (node, [(tenths of a second, x, y)], whether it comes back).
type Paths = Vec<(usize, Vec<(u8, u16, u16)>, bool)>;

fn paths() -> impl Strategy<Value = Paths> {
    let knot = (0u8..9, 0u16..900, 0u16..500);
    proptest::collection::vec((0usize..12, proptest::collection::vec(knot, 1..6), any::<bool>()), 1..6)
}

/// A random world whose nodes move fast enough to matter in a fraction of a second.
fn moving(drawn: &Draw, paths: &Paths, stop: Time, duration: Span) -> WorldSpec {
    let mut spec = build(drawn, stop, duration);
    let scale = scale(PROFILES[drawn.0]);
    spec.movement.interval = Span::from_millis(3);
    let mut taken = Vec::new();
    for (node, knots, back) in paths {
        let node = node % spec.nodes.len();
        if taken.contains(&node) {
            continue;
        }
        taken.push(node);
        let [x, y, _] = spec.nodes[node].position;
        let mut all = vec![(0.01, x, y)];
        for &(gap, x, y) in knots {
            let seconds = all[all.len() - 1].0 + 0.01 + 0.02 * f64::from(gap);
            all.push((seconds, scale * f64::from(x), scale * f64::from(y)));
        }
        if *back {
            all.push((all[all.len() - 1].0 + 0.05, x, y));
        }
        moves(&mut spec, node, &all, back.then_some(0));
    }
    spec
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
    #![proptest_config(cases(150))]

    /// Whenever no list waits, all lists are those of a world that begins with all nodes at these positions.
    #[test]
    fn lists_are_those_of_the_places(drawn in draw(), paths in paths(), seed in any::<u64>(), look_at in 1u64..300_000_000) {
        let mut spec = moving(&drawn, &paths, Time::NEVER, Span::from_secs(1));
        // A station that receives any power senses it, and so is among the relations.
        spec.radios[0].phy.energy_detect = spec.radios[0].phy.cutoff;
        let mut world = make(&spec, seed);
        world.advance(Time(look_at));
        while world.air().lists_waiting() > 0 {
            let next = world.next_deadline().unwrap();
            world.advance(Time(next.0 + 1));
        }
        let mut there = spec.clone();
        there.movement.paths.clear();
        for (station, node) in (0..).zip(&mut there.nodes) {
            node.position = world.air().position(StationIx(station)).unwrap();
        }
        let fresh = make(&there, seed);
        prop_assert_eq!(world.relations().collect::<Vec<_>>(), fresh.relations().collect::<Vec<_>>());
        for station in 0..world.air().len() as u32 {
            let mut now: Vec<_> = world.air().neighbours(StationIx(station)).collect();
            let mut anew: Vec<_> = fresh.air().neighbours(StationIx(station)).collect();
            now.sort_unstable_by_key(|n| n.0);
            anew.sort_unstable_by_key(|n| n.0);
            prop_assert_eq!(now, anew);
        }
    }

    /// Conservation, and silence after the last frame, in every kind of world.
    #[test]
    fn nothing_is_lost_on_the_way(drawn in draw(), paths in paths(), seed in any::<u64>()) {
        let spec = moving(&drawn, &paths, Time(300_000_000), Span::from_secs(4));
        let mut world = make(&spec, seed);
        drive::to_end(&mut world);
        let result = world.result();
        let ends = &result.ends;
        let inside = ends.queued + ends.in_mac + ends.on_wire + ends.awaiting_arp;
        prop_assert_eq!(inside, 0, "{:?}", ends);
        prop_assert_eq!(ends.made, ends.delivered + ends.dropped.values().sum::<u64>());
        prop_assert_eq!(world.air().in_flight(), 0);
        for (station, s) in (0..).zip(&result.stations) {
            prop_assert_eq!(world.air().power(StationIx(station)).0, 0, "a silent air has no power");
            let a = s.airtime;
            let sum = a.transmit.0 + a.receive.0 + a.busy.0 + a.nav.0 + a.idle.0;
            prop_assert_eq!(sum, 4_000_000_000, "{} {:?}", s.node, a);
        }
    }

    /// The same result by every driver, and for any order of nodes and paths.
    #[test]
    fn movement_is_the_same_every_time(drawn in draw(), paths in paths(), seed in any::<u64>(), piece in 1u64..9_000_000) {
        let spec = moving(&drawn, &paths, Time::NEVER, Span::from_millis(150));
        let once = run(&spec, seed);
        let mut steps = make(&spec, seed);
        drive::by_deadline(&mut steps, |_| true);
        prop_assert_eq!(&steps.result(), &once);
        let mut pieces = make(&spec, seed);
        let mut at = 0;
        while at < 150_000_000 {
            at += piece;
            pieces.advance(Time(at));
        }
        prop_assert_eq!(&pieces.result(), &once);
        let n = spec.nodes.len();
        let mut turned = spec.clone();
        turned.nodes.reverse();
        turned.movement.paths.reverse();
        for path in &mut turned.movement.paths {
            path.node = n - 1 - path.node;
        }
        for link in &mut turned.links {
            link.ends = link.ends.map(|end| n - 1 - end);
        }
        for flow in &mut turned.flows {
            (flow.from, flow.to) = (n - 1 - flow.from, n - 1 - flow.to);
        }
        let (mut one, mut other) = (once, run(&turned, seed));
        for result in [&mut one, &mut other] {
            result.stations.sort_by(|a, b| a.node.cmp(&b.node));
            result.queues.sort_by(|a, b| (&a.node, &a.towards).cmp(&(&b.node, &b.towards)));
            result.warnings.sort();
        }
        prop_assert_eq!(one, other);
    }
}

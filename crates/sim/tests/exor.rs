//! ExOR in worlds: every packet arrives once, transmissions beside what delivery ratios give, no world stands still.

use crate::support::{conserved, diffq_levels, dot11b, flow, node, saturating, world, world_with};
use airfair_schemes::ParamValue;
use airfair_schemes::opportunistic::expected::{Expected, Pruning};
use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::places::NodeId;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::{FlowResult, ForwardCounts, RunResult};
use airfair_sim::spec::*;
use airfair_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

/// Nodes at these places, whose links have delivery ratios by losses of frames, and reach 250 m. No node is a hidden sender, since all
/// sense each other. One flow, from the first to the last.
fn lossy(loss: f64, positions: &[(f64, f64)], seconds: u64) -> WorldSpec {
    let mut radio = dot11b(250.0, 5000.0);
    radio.phy.frame_loss = loss;
    radio.mac.local_limit = None;
    let mut spec = world(radio, seconds);
    for (i, &(x, y)) in positions.iter().enumerate() {
        node(&mut spec, &i.to_string(), x, y);
    }
    flow(&mut spec, "f", 0, positions.len() - 1, saturating(1000));
    spec
}

const LINK: [(f64, f64); 2] = [(0.0, 0.0), (100.0, 0.0)];
const LINE: [(f64, f64); 3] = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0)];
const DIAMOND: [(f64, f64); 4] = [(0.0, 0.0), (200.0, 90.0), (200.0, -90.0), (400.0, 0.0)];
/// Two rows of three; diagonals of a square do not hear each other.
const MESH: [(f64, f64); 6] =
    [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (0.0, 200.0), (200.0, 200.0), (400.0, 200.0)];

/// The world's losses, and the nodes by their places.
fn losses(spec: &WorldSpec) -> Losses {
    let mut losses = Losses::new((0..spec.nodes.len() as u32).map(NodeId));
    let delivery = 1.0 - spec.radios[0].phy.frame_loss;
    for (a, from) in spec.nodes.iter().enumerate() {
        for (b, to) in spec.nodes.iter().enumerate().take(a) {
            let [dx, dy] = [0, 1].map(|axis| from.position[axis] - to.position[axis]);
            if dx * dx + dy * dy < 250.0 * 250.0 {
                losses.set_both(NodeId(a as u32), NodeId(b as u32), delivery);
            }
        }
    }
    losses
}

fn run_as(name: &str, spec: &WorldSpec, params: &[(&str, ParamValue)], seed: u64) -> RunResult {
    conserved(world_with(name, spec, params, seed))
}

fn counts(result: &RunResult) -> ForwardCounts {
    result.flows[0].forwarding.unwrap()
}

/// Transmissions that a run took: packets that arrived, broadcasts of packets, of maps, and packets handed to routing, as the nodes have
/// counted them.
fn taken(name: &str, spec: &WorldSpec) -> [f64; 4] {
    let mut world = world_with(name, spec, &[("levels", ParamValue::Integer(1))], 1);
    world.sample(spec.duration);
    drive::to_end(&mut world);
    let gauges = world.take_series().unwrap().agents;
    let sum = |wanted| {
        let at = gauges.names.iter().position(|&name| name == wanted).unwrap();
        gauges.values[at].iter().sum::<f64>()
    };
    [world.result().flows[0].delivered_packets as f64, sum("sent"), sum("maps"), sum("routed")]
}

/// Broadcasts of packets stay near the sum of z: a node that has missed the newest map sends what a better one holds already, and what goes
/// by routing is not broadcast.
#[test]
fn transmissions_are_near_what_ratios_say_and_below_the_best_path() {
    for (at, loss, gains) in [
        (&LINK[..], 0.4, false),
        (&LINE, 0.3, false),
        (&DIAMOND, 0.3, false),
        (&DIAMOND, 0.5, true),
        (&MESH, 0.3, false),
        (&MESH, 0.5, true),
    ] {
        let spec = lossy(loss, at, 60);
        let [delivered, sent, maps, routed] = taken("exor", &spec);
        let (losses, last) = (losses(&spec), NodeId(at.len() as u32 - 1));
        let z = Expected::new(&losses, NodeId(0), last, &Pruning::default()).unwrap().cost();
        let etx = losses.distances(last).etx(NodeId(0));
        let [sent, maps, routed] = [sent, maps, routed].map(|count| count / delivered);
        println!(
            "{} nodes, loss {loss}: {sent:.3} packets, {maps:.3} maps, {routed:.3} routed; z {z:.3}, path {etx:.3}",
            at.len()
        );
        assert!((0.9..1.25).contains(&(sent / z)), "{sent} {z}");
        assert!(!gains || sent < etx, "{sent} {etx}");
    }
}

/// Sources that end: what they have made arrives, each packet once, over lossy links and with routing that gives up at the first loss.
#[test]
fn every_packet_arrives_once() {
    for name in ["exor", "diffq-exor"] {
        for at in [&LINK[..], &LINE, &DIAMOND, &MESH] {
            for (loss, retries) in [(0.0, 7), (0.4, 7), (0.4, 1)] {
                let mut spec = lossy(loss, at, 60);
                spec.flows[0].stop = Time::ZERO + Span::from_secs(5);
                spec.radios[0].mac.short_retry_limit = retries;
                spec.radios[0].mac.long_retry_limit = retries;
                let result = run_as(name, &spec, &[("levels", ParamValue::Integer(1))], 1);
                let (ends, made) = (&result.ends, counts(&result));
                assert!(ends.made > 60, "{name} {} {loss}: {}", at.len(), ends.made);
                assert_eq!(ends.delivered, ends.made, "{name} {} {loss}: {ends:?}", at.len());
                // What comes after the stop is not counted.
                let flow = &result.flows[0];
                assert!(0 < made.innovative && made.innovative <= flow.delivered_packets, "{made:?}");
                assert!(made.batches * 32 <= flow.delivered_packets, "{made:?}");
            }
        }
    }
}

/// Flows that cross: nothing depends on the order of nodes and flows in the file, nor on a node that nobody hears.
#[test]
fn neither_order_nor_an_idle_node_changes_anything() {
    let mut spec = lossy(0.3, &MESH, 10);
    flow(&mut spec, "g", 5, 1, saturating(500));
    flow(&mut spec, "h", 3, 2, saturating(800));
    let mut shuffled = spec.clone();
    shuffled.nodes.reverse();
    shuffled.flows.reverse();
    for flow in &mut shuffled.flows {
        (flow.from, flow.to) = (5 - flow.from, 5 - flow.to);
    }
    let mut wider = spec.clone();
    node(&mut wider, "idle", 90_000.0, 0.0);
    for name in ["exor", "diffq-exor"] {
        let [one, mut other, third] = [&spec, &shuffled, &wider].map(|spec| {
            let result = run_as(name, spec, &[("levels", ParamValue::Integer(1))], 1);
            let of = |flow: &_| {
                let FlowResult { id, delivered_bytes, forwarding, .. } = flow;
                (id.clone(), *delivered_bytes, *forwarding)
            };
            result.flows.iter().map(of).collect::<Vec<_>>()
        });
        other.reverse();
        assert_eq!(one, other);
        assert_eq!(one, third);
        assert!(one.iter().all(|(_, bytes, _)| *bytes > 100_000), "{one:?}");
    }
}

/// Over DiffQ a source sends at its rate, and its broadcasts have levels.
#[test]
fn diffq_over_exor_paces_its_sources() {
    let mut spec = lossy(0.3, &LINE, 30);
    spec.radios[0].mac.edca = Some(diffq_levels());
    let goodput = |name, start: u64| {
        let slow = [("rate_start", ParamValue::Rate(Rate(start))), ("alpha", ParamValue::Rate(Rate(0)))];
        run_as(name, &spec, &slow, 1).flows[0].goodput_bps
    };
    let [all, slow, fast] = [("exor", 0), ("diffq-exor", 100_000), ("diffq-exor", 1_000_000)]
        .map(|(name, start)| goodput(name, start));
    assert!((70e3..101e3).contains(&slow), "{slow}");
    assert!(fast > 4.0 * slow && fast < all * 1.1, "{slow} {fast} {all}");
}

/// Nodes at places, and flows that end after 0.3 s.
fn random(nodes: &[(u16, u16)], flows: &[(usize, usize, u8)], loss: f64) -> WorldSpec {
    let mut radio = dot11b(250.0, 550.0);
    radio.phy.frame_loss = loss;
    let mut spec = world(radio, 60);
    for (i, &(x, y)) in nodes.iter().enumerate() {
        node(&mut spec, &i.to_string(), f64::from(x), f64::from(y));
    }
    for (i, &(from, to, kind)) in flows.iter().enumerate() {
        let (from, to) = (from % nodes.len(), to % nodes.len());
        if from == to {
            continue;
        }
        let traffic = match kind {
            0 => saturating(1000),
            rate => Traffic::Poisson {
                rate: Rate(u64::from(rate) * 200_000),
                packet: Bytes(700),
                exponential_sizes: true,
            },
        };
        flow(&mut spec, &format!("f{i}"), from, to, traffic);
        spec.flows.last_mut().unwrap().stop = Time::ZERO + Span::from_millis(300);
    }
    spec
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), ..ProptestConfig::default() })]

    /// No world stands still: after the end of its sources all that they have made arrives, unless no path leads to where it should.
    #[test]
    fn no_world_stands_still(
        nodes in proptest::collection::vec((0u16..700, 0u16..400), 3..9),
        flows in proptest::collection::vec((0usize..8, 0usize..8, 0u8..4), 1..4),
        loss in 0.0f64..0.6,
        diffq: bool,
    ) {
        let spec = random(&nodes, &flows, loss);
        let name = if diffq { "diffq-exor" } else { "exor" };
        let result = run_as(name, &spec, &[("levels", ParamValue::Integer(1))], 1);
        let losses = losses(&spec);
        let cut_off = |of: &FlowSpec| {
            losses.distances(NodeId(of.to as u32)).etx(NodeId(of.from as u32)).is_infinite()
        };
        let without_path = result.flows.iter().zip(&spec.flows).filter(|(_, of)| cut_off(of));
        let held: u64 = without_path.map(|(flow, _)| flow.sent_packets - flow.dropped_packets).sum();
        prop_assert_eq!(result.ends.forwarded, Some(held), "{:?}", result.ends);
        prop_assert_eq!(result.ends.inside(), held);
    }
}

/// Cases of a property: as many as the environment says, or this many.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

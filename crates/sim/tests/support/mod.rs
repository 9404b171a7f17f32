//! Small worlds for tests, written by hand.

pub mod datagrams;
pub mod random_world;
pub mod rig;
pub mod routing;
pub mod wires;

use airfair_routing::shortest::Metric;
use airfair_schemes::places::{HeaderKind, NodeId};
use airfair_schemes::{ParamValue, Params, find};
use airfair_sim::World;
use airfair_sim::air::propagation::gain_at;
use airfair_sim::engine::drive;
use airfair_sim::ids::PortIx;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::observe::capture::CaptureSpec;
use airfair_sim::spec::*;
use airfair_units::random::name_hash;
use airfair_units::{Bytes, Db, Dbm, Rate, Span, Time};

/// Two-ray ground at 914 MHz and 1.5 m, as ns-2 and ns-3 have it.
pub fn two_ray() -> Propagation {
    Propagation::TwoRayGround { frequency_hz: 914e6, antenna_height_m: 1.5 }
}

/// 802.11b at 11 Mbit/s with control frames at 1 Mbit/s, standard rules, reception and sense range in metres.
pub fn dot11b(range: f64, sense: f64) -> RadioSpec {
    let tx = 15.0;
    let at = |d: f64| Dbm(tx + gain_at(&two_ray(), d).0 - 0.0005);
    RadioSpec {
        name: "default".into(),
        channel: 1,
        phy: PhySpec {
            standard: Standard::Dot11b,
            data_rate: Rate(11_000_000),
            basic_rates: vec![Rate(1_000_000)],
            broadcast_rate: Rate(1_000_000),
            preamble: Preamble::Long,
            short_slot: false,
            protection: Protection::None,
            tx_power: Dbm(tx),
            preamble_detect: at(range),
            energy_detect: at(sense),
            cutoff: at(sense),
            noise: Dbm(-120.0),
            lock_on: LockOn::Preamble,
            lock_sinr: Db(4.0),
            preamble_detection: Span::from_micros(4),
            relock: None,
            interference: Interference::Sum,
            error_model: ErrorModel::Threshold,
            frame_loss: 0.0,
            capture: Db(10.0),
            sensitivity: Sensitivity::PreambleDetect,
        },
        mac: MacSpec {
            rts_threshold: Bytes(2347),
            rts_from_attempt: None,
            cw_min: 31,
            cw_max: 1023,
            edca: None,
            short_retry_limit: 7,
            long_retry_limit: 4,
            eifs: Eifs::LowestRate,
            eifs_on_energy: false,
            nav_reset: true,
            cts_needs_idle_nav: true,
            cts_needs_idle_carrier: false,
            eifs_as_nav: false,
            immediate_access: true,
            after_timeout: AfterTimeout::Difs,
            response_timeout: ResponseTimeout::PhyStart,
            coverage_class: 0,
            timeout_distance: TimeoutDistance::CoverageClass,
            sensing_delay: Span::from_micros(15),
            mac_queue: 1,
            backpressure: true,
            local_limit: Some(Span::from_millis(8)),
        },
        propagation: two_ray(),
        fading: None,
        queue: QueueSpec { packets: 50 },
        packet_loss: 0.0,
    }
}

/// Categories from (AIFSN, CWmin, CWmax, TXOP in us), the lowest priority first; packets have no QoS Control field.
pub fn edca_table(rows: &[(u8, u32, u32, u64)], countdown: Countdown, txop_end: TxopEnd) -> EdcaSpec {
    let category = |(i, &(aifsn, cw_min, cw_max, txop)): (usize, &(u8, u32, u32, u64))| CategorySpec {
        name: format!("c{i}"),
        aifsn,
        cw_min,
        cw_max,
        txop: Span::from_micros(txop),
    };
    EdcaSpec {
        categories: rows.iter().enumerate().map(category).collect(),
        countdown,
        qos_header: false,
        txop_end,
        category_of_dscp: [0; 64],
        tids: [0, 1, 2, 3, 4, 5, 6, 7],
    }
}

/// The eight levels of DiffQ (§5.5), the lowest first.
pub fn diffq_levels() -> EdcaSpec {
    let rows = [
        (7, 31, 1023, 0),
        (6, 31, 511, 0),
        (6, 31, 255, 0),
        (6, 31, 127, 0),
        (3, 15, 31, 0),
        (3, 7, 15, 0),
        (3, 3, 7, 0),
        (2, 1, 7, 0),
    ];
    edca_table(&rows, Countdown::Dcf, TxopEnd::Silent)
}

/// A radio with categories.
pub fn with_edca(mut radio: RadioSpec, edca: EdcaSpec) -> RadioSpec {
    radio.mac.edca = Some(edca);
    radio
}

/// 802.11a with the rules of the standard.
pub fn dot11a(mbps: u64, range: f64, sense: f64) -> RadioSpec {
    let mut radio = dot11b(range, sense);
    radio.phy.standard = Standard::Dot11a;
    radio.phy.data_rate = Rate::from_mbps(mbps);
    radio.phy.basic_rates = [6, 12, 24].map(Rate::from_mbps).to_vec();
    radio.phy.broadcast_rate = Rate::from_mbps(6);
    radio.mac.cw_min = 15;
    radio.mac.sensing_delay = Span::from_micros(6);
    radio
}

/// An empty world of one kind of radio.
pub fn world(radio: RadioSpec, seconds: u64) -> WorldSpec {
    WorldSpec {
        duration: Span::from_secs(seconds),
        warmup: Span::ZERO,
        radios: vec![radio],
        nodes: vec![],
        links: vec![],
        gains: vec![],
        gain_changes: vec![],
        movement: MovementSpec::default(),
        controllers: Vec::new(),
        schemes: vec![],
        flows: vec![],
        routing: RoutingSpec::Static(Metric::Hops),
        hop_limit: 64,
        arp: ArpSpec { prefilled: true, waiting_packets: 1, retry: Span::from_secs(1), attempts: 3 },
        headers: HeaderSpec { udp: 8, tcp: None, ip: 20, llc: 8, mac: 28, wired: 0 },
        memory_limit: Bytes(4_000_000_000),
    }
}

/// Scheme number of a node or flow with this name: half of the name's hash.
pub fn id_of_name(name: &str) -> u32 {
    name_hash(name) as u32 & 0x7fff_ffff
}

/// A node whose name is this number, as schemes know it.
pub fn id_of(number: u32) -> NodeId {
    NodeId(id_of_name(&number.to_string()))
}

/// The number, of the first hundred, that is the name of a node.
pub fn number_of(id: NodeId) -> u32 {
    (0..100).find(|&number| id_of(number) == id).unwrap()
}

pub fn node(spec: &mut WorldSpec, id: &str, x: f64, y: f64) -> usize {
    spec.nodes.push(NodeSpec { id: id.into(), position: [x, y, 0.0], located: true, radios: vec![0] });
    spec.nodes.len() - 1
}

pub fn flow(spec: &mut WorldSpec, id: &str, from: usize, to: usize, traffic: Traffic) {
    spec.flows.push(FlowSpec {
        id: id.into(),
        from,
        to,
        transport: Transport::Udp,
        traffic,
        start: Time::ZERO,
        start_jitter: Span::ZERO,
        stop: Time::NEVER,
        dscp: 0,
    });
}

pub fn saturating(bytes: u64) -> Traffic {
    Traffic::Saturating { packet: Bytes(bytes) }
}

/// A chain of `hops` hops with one flow over all of it.
pub fn chain(radio: RadioSpec, hops: usize, spacing: f64, traffic: Traffic, seconds: u64) -> WorldSpec {
    let mut spec = world(radio, seconds);
    for i in 0..=hops {
        node(&mut spec, &i.to_string(), spacing * i as f64, 0.0);
    }
    flow(&mut spec, "f", 0, hops, traffic);
    spec
}

/// `n` saturated stations on a small circle round one receiver.
pub fn cell(radio: RadioSpec, n: usize, payload: u64, seconds: u64) -> WorldSpec {
    let mut spec = world(radio, seconds);
    let hub = node(&mut spec, "hub", 0.0, 0.0);
    for i in 0..n {
        let angle = std::f64::consts::TAU * i as f64 / n as f64;
        #[expect(clippy::disallowed_methods, reason = "a layout, not a decision")]
        let (x, y) = (5.0 * angle.cos(), 5.0 * angle.sin());
        let station = node(&mut spec, &format!("s{i}"), x, y);
        flow(&mut spec, &format!("f{i}"), station, hub, saturating(payload));
    }
    spec
}

pub fn make(spec: &WorldSpec, seed: u64) -> World {
    let scheme = (find("droptail").unwrap().build)(&Params::default()).unwrap();
    World::new(spec, "droptail", scheme, seed).unwrap()
}

pub fn run(spec: &WorldSpec, seed: u64) -> RunResult {
    let mut world = make(spec, seed);
    drive::to_end(&mut world);
    world.result()
}

/// A world with a registered scheme, with those of the parameters that the scheme has.
pub fn world_with(name: &str, spec: &WorldSpec, params: &[(&str, ParamValue)], seed: u64) -> World {
    let known = find(name).unwrap().params.iter().map(|param| param.name);
    let set: Vec<_> =
        params.iter().filter(|(name, _)| known.clone().any(|it| it == *name)).cloned().collect();
    World::new(spec, name, wires::built(name, &set), seed).unwrap()
}

/// The result of a world at its end. Every packet has ended once, or is inside.
pub fn conserved(world: World) -> RunResult {
    let result = wires::finished(world);
    let ends = &result.ends;
    let dropped: u64 = ends.dropped.values().sum();
    assert_eq!(ends.made, ends.delivered + dropped + ends.inside(), "{ends:?}");
    result
}

/// A capture of all frames at all interfaces, with the table of frames.
pub fn everything(world: &World) -> CaptureSpec {
    CaptureSpec {
        interfaces: (0..world.queues().len() as u32).map(PortIx).collect(),
        snap_len: 0,
        errors: true,
        rows: true,
        node: None,
        from: Time::ZERO,
        until: Time::NEVER,
    }
}

/// A kind of header that has no bytes of a real packet; its answer is the header itself.
pub const fn simulated_header(name: &'static str, wire_len: u32) -> HeaderKind {
    HeaderKind {
        name,
        wire_len,
        trailer: false,
        queue: None,
        encode: |_, _| None,
        decode: |_| None,
        keep: |_, _| (),
        answer: |header| *header,
    }
}

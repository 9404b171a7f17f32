//! Explicit-rate schemes in a network: their headers cost their size and are bytes, hops share fairly, silent routers are noticed.

use crate::support::wires::*;
use crate::support::{dot11b, flow, node, world};
use airfair_schemes::explicit::QFCP;
use airfair_schemes::places::{
    Backlog, Capability, Header, HeaderKind, Hop, HopContext, Interface, OutputQueue, Passage, Source,
    SourceContext, Timer, Wants,
};
use airfair_schemes::{Params, Scheme};
use airfair_sim::World;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::PortIx;
use airfair_sim::measure::statistics::jain_index;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::observe::capture::CaptureSpec;
use airfair_sim::record::{Record, TcpCause};
use airfair_sim::spec::*;
use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::{Bytes, Span, Time};
use airfair_wire::congestion::{Congestion, Fields, Rates};
use airfair_wire::pcapng::Block;
use airfair_wire::{Ipv4, Tcp};

/// No options in the headers, every segment acknowledged.
fn plain() -> TcpConfig {
    TcpConfig {
        mss: 1000,
        initial_window: InitialWindow::Segments(2),
        delayed_ack: None,
        sack: false,
        fin: false,
        window_scale: 0,
        receive_window: 60_000_000,
        min_rto: Span::from_millis(200),
        ..TcpConfig::default()
    }
}

fn add(spec: &mut WorldSpec, id: &str, (from, to): (usize, usize), traffic: Traffic) {
    flow(spec, id, from, to, traffic);
    let config = TcpConfig { handshake: true, window_scale: 14, ..plain() };
    spec.flows.last_mut().unwrap().transport = tcp(config);
}

/// A chain of wired nodes whose links have these rates, Mbit/s, 5 ms and 300 packets each.
fn chain(mbps: &[u64], seconds: u64) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), seconds);
    wired(&mut spec, "n0");
    for (i, &mbps) in mbps.iter().enumerate() {
        let next = wired(&mut spec, &format!("n{}", i + 1));
        spec.links.push(link((next - 1, next), mbps, ms(5), 300));
    }
    spec
}

fn run(spec: &WorldSpec, scheme: &str) -> RunResult {
    finished(World::new(spec, scheme, built(scheme, &[]), 1).unwrap())
}

fn goodputs(result: &RunResult) -> Vec<f64> {
    result.flows.iter().map(|flow| flow.goodput_bps).collect()
}

/// A file over a wire of 8 Mbit/s and 10 ms, a byte per microsecond. TCP's headers are 40 B, QFCP's 16 more: SYN and SYN-ACK take 56 us
/// each, 984 B of data 1040, the last acknowledgement 56. The segment is 16 B shorter than TCP's, so one byte more needs another segment.
#[test]
fn the_header_costs_its_size() {
    let completion = |bytes: u64, scheme: &str| {
        let mut spec = chain(&[8], 2);
        spec.links[0].delay = Span::from_millis(10);
        spec.headers.tcp = Some(20);
        add(&mut spec, "file", (0, 1), Traffic::File { size: Bytes(bytes) });
        run(&spec, scheme).flows[0].completion_s.unwrap()
    };
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(near(completion(984, "qfcp"), 0.041_208), "{}", completion(984, "qfcp"));
    assert!(near(completion(984, "droptail"), 0.041_144), "40 + 40 + 1024 + 40 us");
    // The second segment leaves behind the first: 57 us of its own.
    assert!(near(completion(985, "qfcp"), 0.041_208 + 57e-6), "{}", completion(985, "qfcp"));
    assert!(near(completion(985, "droptail"), 0.041_145));
}

/// A cell and a wire: downloads and an upload.
fn cell(seconds: u64) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), seconds);
    let (host, ap) = (wired(&mut spec, "host"), node(&mut spec, "ap", 0.0, 0.0));
    spec.links.push(link((host, ap), 100, ms(20), 1000));
    for i in 0..4 {
        let station = node(&mut spec, &format!("s{i}"), 5.0 + i as f64, 0.0);
        let ends = if i % 2 == 0 { (host, station) } else { (station, host) };
        add(&mut spec, &format!("f{i}"), ends, Traffic::Endless);
    }
    spec
}

/// A scheme whose hops and header may be changed.
struct Changed {
    inner: Box<dyn Scheme>,
    kind: &'static HeaderKind,
    departures: bool,
}

struct ChangedHop {
    inner: Box<dyn Hop>,
    kind: &'static HeaderKind,
}

struct ChangedSource(Box<dyn Source>, &'static HeaderKind);

impl Scheme for Changed {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        self.inner.queue(interface)
    }
    fn source(&self) -> Option<Box<dyn Source>> {
        self.inner.source().map(|inner| Box::new(ChangedSource(inner, self.kind)) as Box<dyn Source>)
    }
    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        let kind = self.kind;
        self.inner.hop(interface).map(|inner| Box::new(ChangedHop { inner, kind }) as Box<dyn Hop>)
    }
    fn wants(&self, interface: &Interface) -> Wants {
        self.inner.wants(interface).and_if(self.departures, Capability::Departures)
    }
}

impl Hop for ChangedHop {
    fn header(&self) -> &'static HeaderKind {
        self.kind
    }
    fn on_start(&mut self, context: &mut HopContext<'_>) {
        self.inner.on_start(context);
    }
    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        self.inner.on_arrival(passage, header, now);
    }
    fn on_drop(&mut self, bytes: u32) {
        self.inner.on_drop(bytes);
    }
    fn on_receive(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        self.inner.on_receive(passage, header, now);
    }
    fn on_timer(&mut self, timer: Timer, backlog: Backlog, context: &mut HopContext<'_>) {
        self.inner.on_timer(timer, backlog, context);
    }
}

impl Source for ChangedSource {
    fn on_start(&mut self, setup: &airfair_schemes::places::FlowSetup, context: &mut SourceContext<'_>) {
        self.0.on_start(setup, context);
    }
    fn on_acked(&mut self, acked: &airfair_schemes::places::Acked, context: &mut SourceContext<'_>) {
        self.0.on_acked(acked, context);
    }
    fn on_congestion(&mut self, what: &airfair_schemes::places::Congestion, context: &mut SourceContext<'_>) {
        self.0.on_congestion(what, context);
    }
    fn header(&self) -> Option<&'static HeaderKind> {
        Some(self.1)
    }
    fn stamp(&mut self, header: &mut Header, now: Time) {
        self.0.stamp(header, now);
    }
    fn on_feedback(&mut self, header: &Header, context: &mut SourceContext<'_>) {
        self.0.on_feedback(header, context);
    }
    fn allowance(&self, now: Time) -> airfair_schemes::places::Allowance {
        self.0.allowance(now)
    }
    fn partial_ack(&self) -> airfair_schemes::places::PartialAck {
        self.0.partial_ack()
    }
}

fn changed(kind: &'static HeaderKind, departures: bool) -> Box<dyn Scheme> {
    Box::new(Changed { inner: built("qfcp", &[]), kind, departures })
}

/// Headers that become bytes at every hop change nothing; ones whose bytes lose something would.
#[test]
fn headers_are_bytes_at_every_hop() {
    static FORGETFUL: HeaderKind = HeaderKind {
        decode: |bytes| {
            let mut header = (QFCP.decode)(bytes)?;
            header.fields[0] &= 0xffff;
            Some(header)
        },
        ..QFCP
    };
    let spec = cell(5);
    let of = |kind: &'static HeaderKind, check: bool| {
        let mut world = World::new(&spec, "qfcp", changed(kind, false), 1).unwrap();
        if check {
            world.check_headers();
        }
        format!("{:?}", finished(world))
    };
    let unchecked = of(&QFCP, false);
    assert_eq!(of(&QFCP, true), unchecked);
    assert_eq!(of(&FORGETFUL, false), unchecked);
    assert_ne!(of(&FORGETFUL, true), unchecked, "the check can fail");
}

/// A hop that needs departures gets a queue of packets instead of a timetable: the run is the same.
#[test]
fn departures_known_ahead_change_nothing() {
    let mut spec = chain(&[20, 6, 20], 10);
    for i in 0..3_u32 {
        let (host, peer) = (wired(&mut spec, &format!("h{i}")), wired(&mut spec, &format!("p{i}")));
        spec.links.push(link((host, 0), 17, Span::ZERO, 300));
        spec.links.push(link((3, peer), 19, Span::ZERO, 300));
        let ends = if i == 2 { (peer, host) } else { (host, peer) };
        let sizes = Sizes::Exponential { mean: Bytes(3000) };
        add(&mut spec, &format!("f{i}"), ends, Traffic::Arrivals { per_second: 110.0, sizes, count: 0 });
    }
    // Files of few packets at random, and delays without a common measure: packets that follow acknowledgements come at the very
    // moments when others leave, and such ties may be broken either way.
    for (i, link) in spec.links.iter_mut().enumerate() {
        link.delay = Span(4_000_037 + 1_000_153 * i as u64);
    }
    spec.links[1].queue.packets = 8;
    let of = |heeds| {
        let mut result = finished(World::new(&spec, "qfcp", changed(&QFCP, heeds), 1).unwrap());
        result.events = 0;
        result
    };
    let (ahead, queued) = (of(false), of(true));
    assert!(ahead.drops["queue-full"] > 0, "there is something to differ in");
    assert_eq!(format!("{ahead:?}"), format!("{queued:?}"));
}

/// Three bottlenecks in a row, one flow over all, others over one each. Max-min: the link of 6 Mbit/s gives 2 to each of three
/// flows; that of 10 leaves 8 for its own flow; that of 8 leaves 6. Of each packet of 1040 B 984 are payload.
#[test]
fn a_parking_lot_is_shared_max_min() {
    let mut spec = chain(&[100, 10, 6, 8, 100], 30);
    // Windows of many segments: a part of one does not leave. Sources stand at the routers themselves, and shares by the router's law
    // need room for their windows there.
    for link in &mut spec.links {
        (link.delay, link.local_limit) = (Span::from_millis(25), None);
    }
    spec.warmup = Span::from_secs(10);
    spec.headers.tcp = Some(20);
    for (i, ends) in [(0, 5), (1, 2), (2, 3), (2, 3), (3, 4)].into_iter().enumerate() {
        add(&mut spec, &format!("f{i}"), ends, Traffic::Endless);
    }
    let result = run(&spec, "qfcp");
    for (goodput, share) in goodputs(&result).into_iter().zip([2e6, 8e6, 2e6, 2e6, 6e6]) {
        let expected = share * 984.0 / 1040.0;
        assert!((goodput / expected - 1.0).abs() < 0.05, "{goodput} instead of {expected}");
    }
    assert!(result.flows.iter().all(|flow| flow.fallbacks == 0), "all interfaces speak");
    // A source at a router may fill the queue there, and the run says so.
    assert!(result.warnings.iter().all(|warning| warning.contains("local_limit")), "{:?}", result.warnings);
}

/// Section III-B: the access point controls both directions; without it, uploads are unlimited.
#[test]
fn up_and_down_share_the_cell() {
    let spec = cell(30);
    let result = run(&spec, "qfcp");
    let with = jain_index(&goodputs(&result)).unwrap();
    assert!(with > 0.95, "{:?}", goodputs(&result));
    let without = jain_index(&goodputs(&run(&spec, "droptail"))).unwrap();
    assert!(without < with - 0.1, "{without} and {with}");
    assert!(result.flows.iter().all(|flow| flow.fallbacks == 0), "the radio's interfaces count, too");
}

/// The second of three links has an interface without the scheme: the SYN-ACK reports it, one round trip of 30 ms and a bit after the
/// start. From then on the flow is TCP's.
#[test]
fn a_silent_router_is_noticed_within_a_round_trip() {
    let mut spec = chain(&[20, 5, 20], 20);
    add(&mut spec, "f", (0, 3), Traffic::Endless);
    spec.schemes.push(NodeScheme { node: 1, scheme: "droptail".into(), params: Params::default() });
    let mut world = World::new(&spec, "qfcp", built("qfcp", &[]), 1).unwrap();
    world.start_trace();
    drive::to_end(&mut world);
    let fallbacks: Vec<u64> = world
        .take_trace()
        .iter()
        .filter(|(_, record)| matches!(record, Record::Tcp { cause: TcpCause::Fallback, .. }))
        .map(|&(at, _)| at.as_nanos())
        .collect();
    assert_eq!(fallbacks.len(), 1);
    assert!((30_000_000..31_000_000).contains(&fallbacks[0]), "{fallbacks:?}");
    let result = world.result();
    assert_eq!(result.flows[0].fallbacks, 1);
    assert_eq!(
        result.warnings,
        ["flow f: it passed interfaces that do not support its scheme, and used TCP's law"]
    );
    let tcp = goodputs(&run(&spec, "droptail"))[0];
    let qfcp = result.flows[0].goodput_bps;
    assert!((qfcp / tcp - 1.0).abs() < 0.05, "{qfcp} and {tcp}");
    spec.schemes.clear();
    assert_eq!(run(&spec, "qfcp").flows[0].fallbacks, 0);
}

/// A flow of the scheme in a network without the scheme, beside one of TCP: it takes no more than that.
#[test]
fn among_tcp_it_is_tcp() {
    let mut spec = chain(&[100, 5, 100], 60);
    spec.warmup = Span::from_secs(10);
    spec.links[1].queue.packets = 40;
    add(&mut spec, "qfcp", (0, 3), Traffic::Endless);
    add(&mut spec, "tcp", (0, 3), Traffic::Endless);
    if let Transport::Tcp { law, pinned, .. } = &mut spec.flows[0].transport {
        (*law, *pinned) = ("qfcp".into(), true);
    }
    let result = run(&spec, "droptail");
    assert_eq!(result.flows.iter().map(|flow| flow.fallbacks).collect::<Vec<_>>(), [1, 0]);
    let rates = goodputs(&result);
    assert!(jain_index(&rates).unwrap() > 0.9 && rates.iter().sum::<f64>() > 4.5e6, "{rates:?}");
}

/// The packets of a captured wire: congestion header and payload.
fn captured(spec: &WorldSpec, node: u32) -> Vec<(Congestion, usize)> {
    let mut world = World::new(spec, "qfcp", built("qfcp", &[]), 1).unwrap();
    let interfaces = (0..world.queues().len() as u32).map(PortIx).collect();
    let (from, until) = (Time::ZERO, Time::NEVER);
    world.capture(CaptureSpec {
        interfaces,
        snap_len: 0,
        errors: true,
        rows: false,
        node: None,
        from,
        until,
    });
    let mut file = Vec::new();
    while world.now() < world.end() {
        world.advance(world.now().saturating_add(Span::from_millis(100)));
        let of_node = world.take_captures(1).into_iter().filter(|(captured, _)| captured.0 == node);
        file.extend(of_node.flat_map(|(_, bytes)| bytes));
    }
    let (mut found, mut left) = (Vec::new(), &file[..]);
    while let (Some(block), rest) = Block::decode(left).expect("a block") {
        left = rest;
        let Block::Packet(packet) = block else { continue };
        let (ip, bytes) = Ipv4::decode(packet.data.get()).expect("an IP packet");
        assert_eq!(ip.protocol, airfair_wire::ipv4::Protocol::EXPERIMENTAL_2);
        let (congestion, bytes) = Congestion::decode(bytes).expect("a congestion header");
        assert_eq!(congestion.next, 6);
        Tcp::verify(ip.source, ip.destination, bytes).expect("TCP follows");
        let (_, payload) = Tcp::decode(bytes).expect("a segment");
        found.push((congestion, payload.len()));
    }
    found
}

/// A capture shows: the SYN leaves with the first share of the wire, a twentieth of 8 Mbit/s, the SYN-ACK echoes that, and data carry the
/// round-trip time of 20.112 ms.
#[test]
fn captures_show_the_header() {
    let mut spec = chain(&[8], 1);
    spec.links[0].delay = Span::from_millis(10);
    spec.headers.tcp = Some(20);
    add(&mut spec, "file", (0, 1), Traffic::File { size: Bytes(1500) });
    let rates = |request, feedback, rtt_us| Fields::Qfcp(Rates { rtt_us, request, feedback });
    let seen: Vec<_> =
        captured(&spec, 0).into_iter().map(|(c, payload)| (c.supported, c.fields, payload)).collect();
    let all = u32::MAX;
    assert_eq!(seen[..2], [(1, rates(50_000, 0, 0), 0), (1, rates(50_000, 50_000, 0), 0)]);
    assert_eq!(seen[2].1, rates(50_000, 0, 20_112));
    assert!(seen.iter().all(|(supported, fields, _)| *supported == 1 && *fields != rates(all, 0, 0)));
    assert_eq!(seen.iter().map(|packet| packet.2).sum::<usize>(), 1500);
}

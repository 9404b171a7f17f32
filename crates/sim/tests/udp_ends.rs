//! Sources and receivers of flows over UDP: pacing, headers, reports as packets, and which flows a scheme controls.

use std::sync::{Arc, Mutex};

use crate::support::wires::*;
use crate::support::{chain, dot11b, flow, saturating, simulated_header, world};
use airfair_schemes::places::{
    Allowance, Arrived, Ecn, FlowSetup, Header, HeaderKind, LossEvents, MOST_REPORT_BYTES, Receiver,
    ReceiverContext, ReceiverEffects, ReportBytes, Sent, Source, SourceContext, Timer, UdpEnds,
};
use airfair_schemes::{Params, Scheme};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::{FlowResult, RunResult};
use airfair_sim::record::{Content, Record};
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};

static DATA: HeaderKind = simulated_header("steady", 12);

/// The observations of both ends.
#[derive(Debug, Default)]
struct Log {
    setup: Option<FlowSetup>,
    sent: Vec<u64>,
    data: Vec<(u64, Arrived)>,
    /// Numbers of the reports that have arrived.
    reports: Vec<(u64, u32)>,
}

/// A source at a constant rate, and a receiver that reports each datagram at once, or every second.
#[derive(Clone)]
struct Steady {
    rate: Option<Rate>,
    epoch: Option<Span>,
    ecn: bool,
    log: Arc<Mutex<Log>>,
    count: u32,
    running: bool,
    ahead: bool,
    /// Reports have any length.
    lengths: bool,
}

impl Steady {
    fn new(rate: Rate) -> Self {
        Self {
            rate: Some(rate),
            epoch: None,
            ecn: false,
            log: Arc::default(),
            count: 0,
            running: false,
            ahead: false,
            lengths: false,
        }
    }

    /// Each report and each datagram numbers itself.
    fn next(&mut self) -> Header {
        self.count += 1;
        Header { fields: [self.count - 1, 0, 0, 0], ..Header::default() }
    }

    /// A report with its number, and bytes that depend on it.
    fn bytes_of(&self, number: u32) -> ReportBytes {
        let mut bytes: Vec<u8> = (0..self.length(number)).map(|at| (at as u32 * 7 + number) as u8).collect();
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        ReportBytes::new(&bytes).unwrap()
    }

    /// The length of a report: 30 bytes, or 4 to 255 in turn.
    fn length(&self, number: u32) -> usize {
        if self.lengths { 4 + number as usize % 252 } else { 30 }
    }
}

impl Scheme for Steady {
    fn udp(&self) -> Option<UdpEnds> {
        Some(UdpEnds { source: Box::new(self.clone()), receiver: Some(Box::new(self.clone())) })
    }
}

impl Source for Steady {
    fn on_start(&mut self, setup: &FlowSetup, _: &mut SourceContext<'_>) {
        self.log.lock().unwrap().setup = Some(*setup);
    }

    fn on_sent(&mut self, sent: &Sent, context: &mut SourceContext<'_>) {
        assert!(!sent.retransmission && sent.in_flight == Bytes(0));
        self.log.lock().unwrap().sent.push(context.now.0);
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&DATA)
    }

    fn stamp(&mut self, header: &mut Header, _: Time) {
        *header = self.next();
    }

    fn ecn_capable(&self) -> bool {
        self.ecn
    }

    fn on_report(&mut self, report: &[u8], context: &mut SourceContext<'_>) {
        let number = u32::from_be_bytes(report[..4].try_into().unwrap());
        assert_eq!(report, self.bytes_of(number).as_slice());
        self.log.lock().unwrap().reports.push((context.now.0, number));
    }

    fn allowance(&self, _: Time) -> Allowance {
        Allowance { window: None, rate: self.rate, quantum: None }
    }
}

impl Receiver for Steady {
    fn reports_go_ahead(&self) -> bool {
        self.ahead
    }

    fn on_data(&mut self, data: &Arrived, context: &mut ReceiverContext<'_>) {
        self.log.lock().unwrap().data.push((context.now.0, *data));
        let number = self.next().fields[0];
        let report = self.bytes_of(number);
        let ReceiverEffects { timers, reports } = context.out;
        match self.epoch {
            None => reports.push(report),
            Some(epoch) if !self.running => timers.push((Timer(3), context.now + epoch)),
            Some(_) => {}
        }
        self.running = true;
    }

    fn on_timer(&mut self, timer: Timer, context: &mut ReceiverContext<'_>) {
        let number = self.next().fields[0];
        context.out.reports.push(self.bytes_of(number));
        context.out.timers.push((timer, context.now + self.epoch.unwrap()));
    }

    fn loss_events(&self) -> Option<LossEvents> {
        self.epoch.map(|_| LossEvents { count: u64::from(self.count), rate: 0.125 })
    }
}

/// Two nodes with a wire of 10 Mbit/s and 1 ms, and a saturating flow of 1000 B.
fn pair(seconds: u64) -> WorldSpec {
    let mut spec = world(dot11b(250.0, 550.0), seconds);
    let ends = (wired(&mut spec, "a"), wired(&mut spec, "b"));
    spec.links.push(link(ends, 10, ms(1), 100));
    flow(&mut spec, "f", ends.0, ends.1, saturating(1000));
    spec
}

fn run(spec: &WorldSpec, scheme: &Steady) -> RunResult {
    finished(World::new(spec, "steady", Box::new(scheme.clone()), 1).unwrap())
}

fn balanced(result: &RunResult) {
    let ends = &result.ends;
    assert_eq!(ends.made, ends.delivered + ends.dropped.values().sum::<u64>() + ends.inside());
}

/// 80 kbit/s: 1000 B every 100 ms, from the first at the start. With 12 B of header a datagram has 1040 B, 832 us on the wire; a report
/// 58 B, 46.4 us. Both travel 1 ms.
#[test]
fn a_source_is_paced_and_its_packets_cost_their_headers() {
    let scheme = Steady::new(Rate::from_kbps(80));
    let result = run(&pair(2), &scheme);
    let log = scheme.log.lock().unwrap();
    let sent: Vec<u64> = (0..20).map(|n| n * 100_000_000).collect();
    assert_eq!(log.sent, sent);
    let arrived: Vec<u64> = log.data.iter().map(|data| data.0).collect();
    let expected: Vec<u64> = sent.iter().map(|at| at + 1_832_000).collect();
    assert_eq!(arrived, expected);
    let reports: Vec<(u64, u32)> = expected.iter().zip(0..).map(|(at, n)| (at + 1_046_400, n)).collect();
    assert_eq!(log.reports, reports);
    let numbers: Vec<u32> = log.data.iter().map(|data| data.1.header.fields[0]).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<u32>>());
    let (_, first) = log.data[0];
    assert_eq!((first.bytes, first.ecn), (Bytes(1000), Ecn::NotEct));
    assert_eq!((first.header.supported, first.header.unsupported), (0, 1), "a hop without the scheme");
    let FlowResult { sent_packets, delivered_packets, delivered_bytes, reports, hops, .. } = &result.flows[0];
    assert_eq!((*sent_packets, *delivered_packets, *delivered_bytes, *hops), (20, 20, 20_000, Some(1)));
    let reports = reports.as_ref().unwrap();
    assert_eq!((reports.sent, reports.received, reports.loss_events), (20, 20, None));
    assert_eq!(reports.loss_event_rate, None);
    assert_eq!((result.ends.made, result.ends.delivered), (40, 40));
    balanced(&result);
}

/// Reports of 4 to 255 bytes, as they are: each takes the time of its bytes and 28 B of headers on the wire, 0.8 us a byte, and 1 ms. They
/// overtake none, since each is sent 10 ms after the last.
#[test]
fn reports_are_bytes_of_any_length_up_to_the_most() {
    let scheme = Steady { lengths: true, ..Steady::new(Rate::from_kbps(800)) };
    let result = run(&pair(6), &scheme);
    let log = scheme.log.lock().unwrap();
    assert_eq!((log.data.len(), log.reports.len()), (600, 600));
    for (&(made, _), &(at, number)) in log.data.iter().zip(&log.reports) {
        let bytes = 28 + 4 + u64::from(number) % 252;
        assert_eq!(at - made, 1_000_000 + 800 * bytes, "report {number}");
    }
    assert_eq!(MOST_REPORT_BYTES, 255);
    balanced(&result);
}

/// The same by air over two hops, where reports of several lengths are on the way at once and some are lost: none arrives changed
/// (`on_report` compares).
#[test]
fn reports_by_air_arrive_unchanged_or_not_at_all() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(100), 10);
    spec.radios[0].packet_loss = 0.1;
    let scheme = Steady { lengths: true, ..Steady::new(Rate::from_kbps(160)) };
    let result = run(&spec, &scheme);
    let log = scheme.log.lock().unwrap();
    let reports = result.flows[0].reports.as_ref().unwrap();
    assert!(reports.received > 1000 && reports.received < reports.sent, "{reports:?}");
    assert_eq!(log.reports.len() as u64, reports.received);
    balanced(&result);
}

/// RFC 3390 for the initial window; no window limit.
#[test]
fn the_setup_of_a_flow_over_udp() {
    for (packet, initial) in [(500, 2000), (1000, 4000), (1460, 4380), (3000, 6000)] {
        let mut spec = pair(1);
        spec.flows[0].traffic = saturating(packet);
        let scheme = Steady::new(Rate::from_kbps(8));
        run(&spec, &scheme);
        let setup = scheme.log.lock().unwrap().setup.unwrap();
        assert_eq!((setup.mss, setup.initial_window), (Bytes(packet), Bytes(initial)));
        let kind = scheme.udp().unwrap().source.header().map_or(0, |kind| kind.wire_len);
        assert_eq!(setup.headers, Bytes(28 + u64::from(kind)), "UDP, IP and the law's");
        assert_eq!((setup.window_limit, setup.rtt, setup.syn_lost), (Bytes(u64::MAX), None, false));
    }
}

#[test]
fn an_epoch_s_report_comes_from_a_timer() {
    let mut spec = pair(5);
    spec.warmup = Span::from_millis(2500);
    let scheme = Steady { epoch: Some(Span::from_secs(1)), ..Steady::new(Rate::from_kbps(80)) };
    let result = run(&spec, &scheme);
    let times: Vec<u64> = scheme.log.lock().unwrap().reports.iter().map(|report| report.0).collect();
    let first = 1_832_000 + 1_046_400;
    assert_eq!(times, [1, 2, 3, 4].map(|n| n * 1_000_000_000 + first));
    // Those after the warm-up.
    let reports = result.flows[0].reports.as_ref().unwrap();
    assert_eq!((reports.sent, reports.received, reports.loss_event_rate), (2, 2, Some(0.125)));
    // Datagrams 25..49 and reports number themselves: 27 counts in that time.
    assert_eq!(reports.loss_events, Some(27));
}

#[test]
fn reports_can_be_lost() {
    let mut spec = pair(20);
    spec.links[0].loss = 0.3;
    let scheme = Steady::new(Rate::from_kbps(80));
    let result = run(&spec, &scheme);
    let reports = result.flows[0].reports.as_ref().unwrap();
    assert_eq!(reports.sent, result.flows[0].delivered_packets);
    assert!(reports.sent < 180 && reports.received < reports.sent * 9 / 10, "{reports:?}");
    assert_eq!(result.flows[0].dropped_packets, 200 - reports.sent, "a report has no payload");
    balanced(&result);
}

/// Reports use the air, as acknowledgements do.
#[test]
fn reports_use_the_air() {
    let spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(1000), 10);
    let scheme = Steady { ecn: true, ..Steady::new(Rate::from_kbps(400)) };
    let result = run(&spec, &scheme);
    let log = scheme.log.lock().unwrap();
    assert_eq!((log.sent.len(), log.data.len(), log.reports.len()), (500, 500, 500));
    let data = log.data[0].1;
    assert_eq!((data.ecn, data.header.unsupported), (Ecn::Ect, 2));
    // Two hops each way.
    let sent: u64 = result.stations.iter().map(|station| station.counters.sent[2]).sum();
    assert!((2000..2300).contains(&sent), "{sent}");
    balanced(&result);
}

/// Reports against a stream that fills every queue on their way: by air over three hops, and over two wires. Nothing is lost of them, and
/// every packet ends in one place.
#[test]
fn reports_can_go_ahead() {
    let by_air = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(100), 10);
    let mut by_wire = world(dot11b(250.0, 550.0), 10);
    let nodes = ["a", "b", "c"].map(|name| wired(&mut by_wire, name));
    by_wire.links.push(link((nodes[0], nodes[1]), 1, ms(1), 50));
    by_wire.links.push(link((nodes[1], nodes[2]), 2, ms(1), 50));
    flow(&mut by_wire, "f", nodes[0], nodes[2], saturating(100));
    for (mut spec, within) in [(by_air, 0.25), (by_wire, 0.05)] {
        let (from, to) = (spec.flows[0].from, spec.flows[0].to);
        flow(&mut spec, "full", to, from, Traffic::Endless);
        spec.radios[0].mac.local_limit = None;
        spec.links.iter_mut().for_each(|link| link.local_limit = None);
        spec.flows[1].transport = Transport::Tcp {
            config: TcpConfig::default(),
            law: "newreno".into(),
            params: Params::default(),
            pinned: true,
        };
        let slowest = |ahead| {
            let scheme = Steady { ahead, ..Steady::new(Rate::from_kbps(8)) };
            let result = run(&spec, &scheme);
            balanced(&result);
            let log = scheme.log.lock().unwrap();
            assert!(log.reports.len() > if ahead { 90 } else { 20 }, "{}", log.reports.len());
            let made: Vec<u64> = log.data.iter().map(|data| data.0).collect();
            let waits = log.reports.iter().map(|&(at, number)| at - made[number as usize]);
            waits.max().unwrap() as f64 / 1e9
        };
        let (ahead, behind) = (slowest(true), slowest(false));
        assert!(ahead < within && behind > 2.0 * ahead, "{ahead} {behind}");
    }
}

/// Without a rate nothing leaves; a rate above the wire's is limited by the node's queue, which loses nothing.
#[test]
fn no_rate_and_too_high_a_rate() {
    let result = run(&pair(1), &Steady { rate: None, ..Steady::new(Rate(0)) });
    assert_eq!(result.ends.made, 0);
    assert_eq!(run(&pair(1), &Steady::new(Rate(0))).ends.made, 0);
    let result = run(&pair(10), &Steady::new(Rate::from_mbps(100)));
    let goodput = result.flows[0].goodput_bps / 1e6;
    assert!((goodput / (10.0 * 1000.0 / 1040.0) - 1.0).abs() < 0.01, "{goodput}");
    assert_eq!(result.drops.len(), 0);
    balanced(&result);
}

/// An application with a rate of its own keeps it below the allowed rate, and is held to that above.
#[test]
fn an_application_s_rate_counts_below_the_allowed_one() {
    let mut spec = pair(10);
    let rate = Rate::from_kbps(40);
    spec.flows[0].traffic = Traffic::ConstantRate { rate, packet: Bytes(1000), gap_jitter: 0.0 };
    let plain = crate::support::run(&spec, 1);
    let scheme = Steady::new(Rate::from_kbps(80));
    let result = run(&spec, &scheme);
    assert_eq!(result.flows[0].sent_packets, plain.flows[0].sent_packets);
    let times: Vec<u64> = scheme.log.lock().unwrap().sent.clone();
    assert_eq!(times, (0..50).map(|n| n * 200_000_000).collect::<Vec<u64>>());
    let slow = Steady::new(Rate::from_kbps(10));
    let result = run(&spec, &slow);
    let times: Vec<u64> = slow.log.lock().unwrap().sent.clone();
    assert_eq!(times, (0..13).map(|n| n * 800_000_000).collect::<Vec<u64>>());
    // What it would have sent counts as offered.
    let offered = result.flows[0].offered_bytes.unwrap();
    assert!(offered.abs_diff(50_000) <= 2000, "{offered}");
    balanced(&result);
}

/// The flow starts and stops.
#[test]
fn a_stopped_flow_sends_nothing_more() {
    let mut spec = pair(10);
    (spec.flows[0].start, spec.flows[0].stop) = (Time(3_000_000_000), Time(5_000_000_000));
    let scheme = Steady::new(Rate::from_kbps(80));
    run(&spec, &scheme);
    let times = scheme.log.lock().unwrap().sent.clone();
    assert_eq!((times[0], times.len(), *times.last().unwrap()), (3_000_000_000, 20, 4_900_000_000));
}

/// The run's scheme controls flows over UDP that name no other; flows over TCP keep their law.
#[test]
fn the_run_s_scheme_controls_the_flows_over_udp() {
    let mut spec = pair(2);
    let (from, to) = (spec.flows[0].from, spec.flows[0].to);
    flow(&mut spec, "own", from, to, saturating(1000));
    let own = |pinned| Transport::ControlledUdp { law: "tfrc".into(), params: Params::default(), pinned };
    spec.flows[1].transport = own(true);
    flow(&mut spec, "t", from, to, Traffic::Endless);
    spec.flows[2].transport = tcp(TcpConfig::default());
    let scheme = Steady::new(Rate::from_kbps(80));
    let result = run(&spec, &scheme);
    assert_eq!(result.flows[0].sent_packets, 20);
    assert!(result.flows[1].reports.as_ref().unwrap().loss_events.is_some(), "its own: TFRC");
    assert!(result.flows[1].sent_packets > 20 && result.flows[2].sent_packets > 20);
    assert_eq!(result.flows[2].reports, None);
    spec.flows[1].transport = own(false);
    let result = run(&spec, &Steady::new(Rate::from_kbps(80)));
    assert_eq!(result.flows[1].sent_packets, 20);
    // A scheme without ends over UDP leaves a flow its own.
    let result = crate::support::run(&spec, 1);
    assert!(result.flows[1].reports.is_some() && result.flows[0].reports.is_none());
}

#[test]
fn laws_of_the_other_transport_are_refused() {
    let mut spec = pair(1);
    let law =
        |law: &str| Transport::ControlledUdp { law: law.into(), params: Params::default(), pinned: true };
    let error = |spec: &WorldSpec| {
        let world = World::new(spec, "droptail", built("droptail", &[]), 1);
        world.err().unwrap()
    };
    spec.flows[0].transport = law("cubic");
    assert_eq!(error(&spec), "flow f: cubic has no source for UDP");
    spec.flows[0].transport = law("nothing");
    assert_eq!(error(&spec), "flow f: no such scheme: nothing");
    let Transport::Tcp { config, params, .. } = tcp(TcpConfig::default()) else { return };
    spec.flows[0].transport = Transport::Tcp { config, law: "tfrc".into(), params, pinned: true };
    assert_eq!(error(&spec), "flow f: tfrc has no window law");
}

/// An IPv4 packet has at most 65,535 B: 28 B of headers and 16 B of TFRC leave 65,491 B, 40 B of headers and 20 B of XCP leave 65,475 B.
#[test]
fn packets_without_room_for_a_scheme_s_header_are_refused() {
    let error = |spec: &WorldSpec, scheme: &str| World::new(spec, scheme, built(scheme, &[]), 1).err();
    let mut spec = pair(1);
    let sized = |bytes: u64| Traffic::Saturating { packet: Bytes(bytes) };
    spec.flows[0].traffic = sized(65_492);
    assert_eq!(
        error(&spec, "tfrc").unwrap(),
        "flow f: a packet of 65492 B leaves no room for the header of tfrc, 16 B; expected at most \"65491 B\""
    );
    assert_eq!(error(&spec, "droptail"), None);
    spec.flows[0].traffic = sized(65_491);
    assert_eq!(error(&spec, "tfrc"), None);
    spec.flows[0].traffic = Traffic::Endless;
    let with_mss = |mss: u32| tcp(TcpConfig { mss, ..TcpConfig::default() });
    spec.flows[0].transport = with_mss(65_476);
    assert_eq!(
        error(&spec, "xcp").unwrap(),
        "flow f: an mss of 65476 B leaves no room for the header of xcp, 20 B; expected at most \"65475 B\""
    );
    assert_eq!(error(&spec, "cubic"), None);
    spec.flows[0].transport = with_mss(65_475);
    assert_eq!(error(&spec, "xcp"), None);
}

/// Exponential sizes are cut at what is left beside the header: no packet is longer than IPv4 allows.
#[test]
fn drawn_sizes_leave_room_for_a_header() {
    let mut spec = pair(20);
    spec.flows[0].traffic =
        Traffic::Poisson { rate: Rate::from_mbps(8), packet: Bytes(60_000), exponential_sizes: true };
    let scheme = Steady::new(Rate::from_mbps(9));
    let result = run(&spec, &scheme);
    assert!(result.flows[0].delivered_packets > 100);
    let log = scheme.log.lock().unwrap();
    assert_eq!(log.sent.len() as u64, result.flows[0].sent_packets);
    // More than a third of the draws are cut.
    assert_eq!(log.data.iter().map(|(_, data)| data.bytes.get()).max(), Some(65_507 - 12));
}

/// A scheme that controls flows over UDP alone does nothing for others, and says so.
#[test]
fn a_scheme_without_a_flow_is_warned_of() {
    let warnings = |spec: &WorldSpec, scheme: &str| {
        World::new(spec, scheme, built(scheme, &[]), 1).unwrap().result().warnings
    };
    let mut spec = pair(1);
    assert_eq!(warnings(&spec, "tfrc"), Vec::<String>::new());
    spec.flows[0].transport =
        Transport::ControlledUdp { law: "tfrc".into(), params: Params::default(), pinned: true };
    let own = "scheme tfrc is a law of flows over UDP, and every UDP flow names a scheme of its own: it does nothing";
    assert_eq!(warnings(&spec, "tfrc"), [own]);
    spec.flows[0].transport = tcp(TcpConfig::default());
    spec.flows[0].traffic = Traffic::Endless;
    let none = "scheme tfrc is a law of flows over UDP, and no flow runs UDP: it does nothing";
    assert_eq!(warnings(&spec, "tfrc"), [none]);
    assert_eq!(warnings(&spec, "few"), Vec::<String>::new());
}

/// With a routing protocol too: the route of the first packet is not known when the flow starts.
#[test]
fn routes_may_be_found() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(1000), 10);
    spec.routing = crate::support::routing::aodv(|_| ());
    let scheme = Steady::new(Rate::from_kbps(80));
    let result = run(&spec, &scheme);
    assert!(result.flows[0].delivered_packets >= 95, "{:?}", result.flows[0]);
    let reports = result.flows[0].reports.as_ref().unwrap();
    assert!(reports.received >= 95);
    balanced(&result);
}

/// A trace names reports by their numbers, from 0, in the direction back to the source.
#[test]
fn a_trace_has_reports() {
    let spec = pair(1);
    let scheme = Steady::new(Rate::from_kbps(80));
    let mut world = World::new(&spec, "steady", Box::new(scheme), 1).unwrap();
    world.start_trace();
    drive::to_end(&mut world);
    let reports: Vec<(usize, u32)> = world
        .take_trace()
        .into_iter()
        .filter_map(|(_, record)| match record {
            Record::Delivered { node, content: Content::Report, sequence, .. } => {
                Some((node.0 as usize, sequence))
            }
            _ => None,
        })
        .collect();
    assert_eq!(reports, (0..10).map(|n| (spec.flows[0].from, n)).collect::<Vec<_>>());
}

/// TFRC alone on a wire of 10 Mbit/s fills it; its loss events are those of the queue.
#[test]
fn tfrc_fills_a_wire() {
    let mut spec = world(dot11b(250.0, 550.0), 60);
    let [a, b, c] = ["a", "b", "c"].map(|id| wired(&mut spec, id));
    spec.links.push(link((a, b), 100, ms(5), 1000));
    spec.links.push(link((b, c), 10, ms(20), 100));
    flow(&mut spec, "f", a, c, saturating(1000));
    spec.warmup = Span::from_secs(20);
    let result = finished(World::new(&spec, "tfrc", built("tfrc", &[]), 1).unwrap());
    let full = 10e6 * 1000.0 / 1044.0;
    assert!(result.flows[0].goodput_bps > 0.98 * full, "{}", result.flows[0].goodput_bps);
    let reports = result.flows[0].reports.as_ref().unwrap();
    // Once a round-trip time of 50 ms and a queue of up to 84 ms.
    assert!((300..800).contains(&reports.sent) && reports.loss_events.unwrap() > 0, "{reports:?}");
    let rate = reports.loss_event_rate.unwrap();
    assert!((1e-5..1e-3).contains(&rate), "{rate}");
    balanced(&result);
}

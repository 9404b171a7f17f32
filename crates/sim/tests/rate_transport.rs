//! The transport with a rate in a network: sizes, what is lost is sent again, and which flows it carries.

use std::sync::{Arc, Mutex};

use crate::support::wires::*;
use crate::support::{dot11b, flow, saturating, simulated_header, world};
use airfair_schemes::places::{
    Allowance, Arrived, FlowSetup, HeaderKind, Receiver, ReceiverContext, ReportBytes, Sent, Source,
    SourceContext, UdpEnds,
};
use airfair_schemes::{Params, Scheme};
use airfair_sim::World;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};

static DATA: HeaderKind = simulated_header("paced", 12);

#[derive(Debug, Default)]
struct Log {
    setup: Option<FlowSetup>,
    /// Times of datagrams, and true for one that is sent again.
    sent: Vec<(u64, bool)>,
    arrived: u64,
    reports: u64,
}

/// A source at a constant rate, and a receiver that reports each datagram with three bytes of its own.
#[derive(Clone)]
struct Paced {
    rate: Rate,
    log: Arc<Mutex<Log>>,
}

impl Paced {
    fn new(rate: Rate) -> Self {
        Self { rate, log: Arc::default() }
    }
}

impl Scheme for Paced {
    fn rate(&self) -> Option<UdpEnds> {
        Some(UdpEnds { source: Box::new(self.clone()), receiver: Some(Box::new(self.clone())) })
    }
}

impl Source for Paced {
    fn on_start(&mut self, setup: &FlowSetup, _: &mut SourceContext<'_>) {
        self.log.lock().unwrap().setup = Some(*setup);
    }

    fn on_sent(&mut self, sent: &Sent, context: &mut SourceContext<'_>) {
        self.log.lock().unwrap().sent.push((context.now.0, sent.retransmission));
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&DATA)
    }

    fn on_report(&mut self, report: &[u8], _: &mut SourceContext<'_>) {
        assert_eq!(report, [1, 2, 3], "the law's part alone");
        self.log.lock().unwrap().reports += 1;
    }

    fn allowance(&self, _: Time) -> Allowance {
        Allowance { window: None, rate: Some(self.rate), quantum: None }
    }
}

impl Receiver for Paced {
    fn on_data(&mut self, _: &Arrived, context: &mut ReceiverContext<'_>) {
        self.log.lock().unwrap().arrived += 1;
        context.out.reports.extend(ReportBytes::new(&[1, 2, 3]));
    }
}

fn rated(payload: u64) -> Transport {
    let payload = Bytes(payload);
    Transport::Rate { law: "c3l".into(), params: Params::default(), pinned: false, payload }
}

/// Two nodes with a wire of 10 Mbit/s and 1 ms, and a flow with data without end over the transport with a rate.
fn pair(seconds: u64) -> WorldSpec {
    let mut spec = world(dot11b(250.0, 550.0), seconds);
    let ends = (wired(&mut spec, "a"), wired(&mut spec, "b"));
    spec.links.push(link(ends, 10, ms(1), 100));
    flow(&mut spec, "f", ends.0, ends.1, Traffic::Endless);
    spec.flows[0].transport = rated(1000);
    spec
}

fn run(spec: &WorldSpec, scheme: &Paced) -> RunResult {
    finished(World::new(spec, "paced", Box::new(scheme.clone()), 1).unwrap())
}

/// 80 kbit/s: 1000 B every 100 ms. A datagram has 28 B of UDP and IP, 8 B of the transport and 12 B of the law: 1048 B, 838.4 us on the
/// wire; a report 28 B, 14 B of arrivals without a gap and 3 B of the law: 45 B, 36 us. Both travel 1 ms.
#[test]
fn datagrams_and_reports_cost_their_headers() {
    let scheme = Paced::new(Rate::from_kbps(80));
    let result = run(&pair(2), &scheme);
    let log = scheme.log.lock().unwrap();
    let sent: Vec<_> = (0..20).map(|n| (n * 100_000_000, false)).collect();
    assert_eq!(log.sent, sent);
    assert_eq!((log.arrived, log.reports), (20, 20));
    assert_eq!(log.setup.unwrap().headers, Bytes(28 + 8 + 12));
    assert_eq!(log.setup.unwrap().mss, Bytes(1000));
    let flow = &result.flows[0];
    assert_eq!((flow.sent_packets, flow.delivered_packets, flow.delivered_bytes), (20, 20, 20_000));
    assert_eq!(flow.retransmissions, 0);
    // The round-trip time of each report, whole microseconds: 838.4 + 36 + 2000 us.
    assert_eq!((flow.round_trips, flow.round_trip_ns / 20_000), (20, 2874));
}

/// A wire that loses a tenth in each direction: the application gets all data in order, once; what is sent again uses the rate of the law.
#[test]
fn what_is_lost_is_sent_again_at_the_rate() {
    let mut spec = pair(60);
    spec.links[0].loss = 0.1;
    let scheme = Paced::new(Rate::from_kbps(800));
    let result = run(&spec, &scheme);
    let log = scheme.log.lock().unwrap();
    let flow = &result.flows[0];
    assert!((5995..=6001).contains(&log.sent.len()), "{}", log.sent.len());
    let again = log.sent.iter().filter(|sent| sent.1).count() as u64;
    assert_eq!((flow.sent_packets, flow.retransmissions), (log.sent.len() as u64, again));
    assert!((550..680).contains(&again), "{again}");
    // All but what the last gap holds up.
    let new = log.sent.len() as u64 - again;
    let delivered = flow.delivered_bytes / 1000;
    assert!(delivered <= new && delivered >= new - 40, "{delivered} of {new}");
    assert!(log.arrived >= delivered);
    assert_eq!(flow.delivered_packets, log.arrived);
    assert!(log.reports < log.arrived, "reports get lost");
}

/// Without data from the application nothing is sent, and after the last datagram its loss is noticed by the time-out.
#[test]
fn the_last_datagram_is_repaired_by_the_time_out() {
    let mut spec = pair(60);
    spec.links[0].loss = 0.5;
    spec.flows[0].traffic =
        Traffic::ConstantRate { rate: Rate::from_kbps(8), packet: Bytes(10_000), gap_jitter: 0.0 };
    let scheme = Paced::new(Rate::from_mbps(8));
    let result = run(&spec, &scheme);
    let log = scheme.log.lock().unwrap();
    let new = log.sent.iter().filter(|sent| !sent.1).count() as u64;
    assert_eq!(new, 6, "one each 10 s");
    assert!(result.flows[0].delivered_bytes >= 50_000, "{:?}", result.flows[0].delivered_bytes);
}

/// A scheme with a source for this transport and none for TCP carries flows over TCP by it, with segments as datagrams; not those that send
/// files, and not those that name a law.
#[test]
fn flows_over_tcp_are_carried_by_the_rate() {
    let mut spec = pair(10);
    let config = TcpConfig { mss: 700, ..TcpConfig::default() };
    spec.flows[0].transport = tcp(config);
    let (from, to) = (spec.flows[0].from, spec.flows[0].to);
    flow(&mut spec, "file", from, to, Traffic::File { size: Bytes(5000) });
    spec.flows[1].transport = tcp(config);
    flow(&mut spec, "own", from, to, Traffic::Endless);
    let Transport::Tcp { config, law, params, .. } = tcp(config) else { return };
    spec.flows[2].transport = Transport::Tcp { config, law, params, pinned: true };
    spec.flows[2].stop = Time(1_000_000_000);
    flow(&mut spec, "udp", from, to, saturating(500));
    spec.flows[3].stop = Time(1_000_000_000);
    let result = run(&spec, &Paced::new(Rate::from_kbps(560)));
    let reports: Vec<bool> = result.flows.iter().map(|flow| flow.reports.is_some()).collect();
    assert_eq!(reports, [true, false, false, false]);
    // 100 datagrams a second.
    assert!((998..=1000).contains(&result.flows[0].sent_packets), "{}", result.flows[0].sent_packets);
    assert_eq!(result.flows[0].delivered_bytes, 700 * result.flows[0].delivered_packets, "segments of 700 B");
    assert!(result.flows[1].files.as_ref().is_some_and(|files| files.finished == 1));
    assert!(result.flows[2].delivered_bytes > 100_000, "TCP");
}

/// A law that the scheme of a flow lacks is refused by name.
#[test]
fn a_scheme_without_a_source_for_it_is_refused() {
    let mut spec = pair(1);
    let (params, payload) = (Params::default(), Bytes(1000));
    spec.flows[0].transport = Transport::Rate { law: "tfrc".into(), params, pinned: true, payload };
    let error = World::new(&spec, "droptail", built("droptail", &[]), 1).err().unwrap();
    assert_eq!(error, "flow f: tfrc has no source for the transport with a rate");
}

/// The same run twice, and a flow that starts later beside it in another order of the file.
#[test]
fn the_order_of_flows_changes_nothing() {
    let mut spec = pair(20);
    spec.links[0].loss = 0.1;
    let (from, to) = (spec.flows[0].from, spec.flows[0].to);
    flow(&mut spec, "g", from, to, Traffic::Endless);
    spec.flows[1].transport = rated(300);
    spec.flows[1].start = Time::ZERO + Span::from_secs(3);
    let one = run(&spec, &Paced::new(Rate::from_kbps(400)));
    spec.flows.reverse();
    let other = run(&spec, &Paced::new(Rate::from_kbps(400)));
    let counts = |result: &RunResult, at: usize| {
        let flow = &result.flows[at];
        (flow.sent_packets, flow.retransmissions, flow.delivered_bytes)
    };
    assert_eq!((counts(&one, 0), counts(&one, 1)), (counts(&other, 1), counts(&other, 0)));
}

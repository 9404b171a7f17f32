//! The result of a run as `run --json` prints it. Each key is declared here once, with its type and where its value comes from;
//! `airfair.results` declares the same keys for Python, and a test compares both.
//!
//! Keys are written in the order of the fields; floats are the shortest decimals that read back as the same bits.

use std::collections::BTreeMap;
use std::time::Duration;

use airfair_scenario::Scenario;
use airfair_schemes::places;
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::delays::Delays;
use airfair_sim::measure::summary::{
    AllocationResult, CategoryResult, ControlTraffic, ControllerResult, DifferentialResult, FilesResult,
    FlowResult, FlowRoute, ForwardCounts, InhibitedLink, MessageCounts, PacketFates, QueueResult,
    ReportsResult, RoutingCounts, RoutingResult, RunResult, SizeClass, StationResult,
};
use airfair_sim::observe::windows::WindowFairness;
use airfair_sim::record::{FrameKind, Loss};
use airfair_units::Span;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::{Serialize, Serializer};

/// Declares objects of the result: their fields, each with its type and its value, and what they are made from.
macro_rules! objects {
    ($(
        $(#[$about:meta])*
        $object:ident $(<$life:lifetime>)? from $source:ident: $from:ty {
            $($(#[$rule:meta])* $field:ident: $type:ty = $value:expr;)*
        }
    )*) => { $(
        $(#[$about])*
        #[derive(Serialize)]
        pub(crate) struct $object $(<$life>)? {
            $($(#[$rule])* $field: $type,)*
        }

        impl $(<$life>)? From<$from> for $object $(<$life>)? {
            fn from($source: $from) -> Self {
                Self { $($field: $value,)* }
            }
        }
    )* };
}

/// All that the result of a run is made from.
struct Whole<'a> {
    scenario: &'a Scenario,
    run: &'a RunResult,
    delays: &'a Delays,
    windows: &'a [WindowFairness],
    wall: Duration,
    lateness: Option<&'a Lateness>,
    emulation: Option<&'a serde_json::Value>,
}

impl<'a> Whole<'a> {
    /// All stations, each with the knowledge whether a radio of the run has TXOPs.
    fn stations(&self) -> impl Iterator<Item = StationOf<'a>> + use<'a> {
        let mut categories = self
            .scenario
            .spec
            .radios
            .iter()
            .filter_map(|radio| radio.mac.edca.as_ref())
            .flat_map(|edca| &edca.categories);
        let has_txops = categories.any(|category| category.txop > Span::ZERO);
        self.run.stations.iter().map(move |result| StationOf { result, has_txops })
    }

    /// Control packets by kind, if the scheme names kinds.
    fn control(&self) -> Option<Vec<Control<'a>>> {
        let of = |traffic| ControlOf {
            traffic,
            seconds: self.run.duration_s - self.run.warmup_s,
            all_radios_bps: self.run.radio_rates_bps as f64,
            radios: self.run.stations.len(),
        };
        Some(self.run.control.as_ref()?.iter().map(|traffic| of(traffic).into()).collect())
    }
}

/// A kind of control packets in a run.
struct ControlOf<'a> {
    traffic: &'a ControlTraffic,
    seconds: f64,
    all_radios_bps: f64,
    radios: usize,
}

impl ControlOf<'_> {
    /// Bits of frames per second; none at the end of the warm-up.
    fn bps(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.traffic.mac_bytes as f64 * 8.0 / self.seconds)
    }
}

/// A station of a run.
struct StationOf<'a> {
    result: &'a StationResult,
    /// True if a radio of the run has an access category with a TXOP.
    has_txops: bool,
}

objects! {
    Run<'a> from of: &'a Whole<'a> {
        scenario: &'a str = &of.scenario.name;
        scheme: &'a str = &of.run.scheme;
        seed: u64 = of.run.seed;
        version: &'a str = env!("CARGO_PKG_VERSION");
        duration_s: f64 = of.run.duration_s;
        warmup_s: f64 = of.run.warmup_s;
        flows: Vec<Flow<'a>> = each(&of.run.flows);
        jain_index: Option<f64> = of.run.jain_index();
        log_utility: f64 = of.run.log_utility();
        aggregate_goodput_bps: f64 = of.run.aggregate_goodput_bps();
        min_goodput_bps: f64 = of.run.min_goodput_bps();
        starved_flows: usize = of.run.starved_flows();
        flows_below_1kbps: usize = of.run.flows_below_1kbps();
        mean_delay_s: Option<f64> = of.delays.mean_s();
        p99_delay_s: Option<f64> = of.delays.quantile_s(0.99);
        rtt_s: Option<f64> = of.run.rtt_s();
        retransmissions: u64 = of.run.retransmissions();
        loss_ratio: Option<f64> = of.run.loss_ratio();
        completion_s: Option<f64> = of.run.completion_s();
        drops: &'a BTreeMap<String, u64> = &of.run.drops;
        channel_utilisation: BTreeMap<String, f64> = of.run.channel_utilisation();
        // In an emulation programs send.
        warnings: Vec<&'a str> = warnings(of.scenario, of.run)
            .filter(|of_run| of.emulation.is_none() || !of_run.starts_with("there are no flows"))
            .collect();
        ends: Ends<'a> = (&of.run.ends).into();
        marks: &'a BTreeMap<String, u64> = &of.run.marks;
        queues: Vec<Queue<'a>> = each(&of.run.queues);
        stations: Vec<Station<'a>> = of.stations().map(Station::from).collect();
        #[serde(skip_serializing_if = "Vec::is_empty")]
        controllers: Vec<ControllerOfRun<'a>> = each(&of.run.controllers);
        #[serde(skip_serializing_if = "Option::is_none")]
        control: Option<Vec<Control<'a>>> = of.control();
        #[serde(skip_serializing_if = "Option::is_none")]
        inhibited_links: Option<Vec<Inhibited<'a>>> = of.run.inhibited.as_ref().map(|links| each(links));
        #[serde(skip_serializing_if = "Vec::is_empty")]
        allocations: Vec<AllocationOf<'a>> = each(&of.run.allocations);
        #[serde(skip_serializing_if = "Option::is_none")]
        routing: Option<Upkeep<'a>> = of.run.routing.as_ref().map(Upkeep::from);
        #[serde(skip_serializing_if = "Vec::is_empty")]
        window_jain: Vec<WindowJain> = each(of.windows);
        perf: Perf<'a> = of.into();
        #[serde(skip_serializing_if = "Option::is_none")]
        emulation: Option<&'a serde_json::Value> = of.emulation;
    }

    Flow<'a> from f: &'a FlowResult {
        id: &'a str = &f.id;
        src: &'a str = &f.src;
        dst: &'a str = &f.dst;
        goodput_bps: f64 = f.goodput_bps;
        delivered_bytes: u64 = f.delivered_bytes;
        sent_packets: u64 = f.sent_packets;
        retransmissions: u64 = f.retransmissions;
        fallbacks: u64 = f.fallbacks;
        mean_delay_s: Option<f64> = f.mean_delay_s();
        p99_delay_s: Option<f64> = f.p99_delay_s();
        completion_s: Option<f64> = f.completion_s;
        hops: Option<u16> = f.hops;
        delivered_packets: u64 = f.delivered_packets;
        dropped_packets: u64 = f.dropped_packets;
        loss_ratio: Option<f64> = f.loss_ratio();
        rtt_s: Option<f64> = f.rtt_s();
        offered_bytes: Option<u64> = f.offered_bytes;
        #[serde(skip_serializing_if = "Option::is_none")]
        files: Option<Files> = f.files.as_ref().map(Files::from);
        #[serde(skip_serializing_if = "Option::is_none")]
        feedback: Option<Feedback> = f.reports.as_ref().map(Feedback::from);
        #[serde(skip_serializing_if = "Option::is_none")]
        forwarding: Option<Forwarding> = f.forwarding.as_ref().map(Forwarding::from);
    }

    /// Transmissions of forwarders for a flow that they carry.
    Forwarding from f: &ForwardCounts {
        broadcasts: u64 = f.broadcasts;
        late: u64 = f.late;
        innovative: u64 = f.innovative;
        batches: u64 = f.batches;
    }

    /// The reports of a receiver of a flow over UDP.
    Feedback from r: &ReportsResult {
        sent: u64 = r.sent;
        received: u64 = r.received;
        loss_events: Option<u64> = r.loss_events;
        loss_event_rate: Option<f64> = r.loss_event_rate;
    }

    /// The files of a flow that sends many, each over a connection of its own.
    Files from f: &FilesResult {
        started: u64 = f.started;
        finished: u64 = f.finished;
        failed: u64 = f.failed;
        mean_completion_s: Option<f64> = f.completions.mean_s();
        p95_completion_s: Option<f64> = f.completions.quantile_s(0.95);
        by_size: Vec<FilesBySize> = each(&f.by_size);
    }

    FilesBySize from c: &SizeClass {
        from_bytes: u64 = c.from_bytes;
        finished: u64 = c.finished;
        mean_completion_s: f64 = c.mean_completion_s;
        p95_completion_s: f64 = c.p95_completion_s;
    }

    /// The queue of an output interface.
    Queue<'a> from q: &'a QueueResult {
        node: &'a str = &q.node;
        towards: &'a str = &q.towards;
        wired: bool = q.wired;
        packets: u64 = q.packets;
        mean_wait_s: Option<f64> = q.mean_wait_s;
        mean_packets: f64 = q.mean_packets;
        #[serde(skip_serializing_if = "Option::is_none")]
        routing: Option<Routing<'a>> = q.routing.as_ref().map(Routing);
        #[serde(skip_serializing_if = "Vec::is_empty")]
        differentials: Vec<QueueDifferential<'a>> = each(&q.differentials);
    }

    QueueDifferential<'a> from d: &'a DifferentialResult {
        to: &'a str = &d.to;
        packets: u64 = d.packets;
        mean_packets: f64 = d.mean_packets;
        #[serde(skip_serializing_if = "<[u64]>::is_empty")]
        levels: &'a [u64] = &d.levels;
    }

    /// The ends of all packets: `made` is the sum of all others.
    Ends<'a> from e: &'a PacketFates {
        made: u64 = e.made;
        delivered: u64 = e.delivered;
        dropped: &'a BTreeMap<String, u64> = &e.dropped;
        queued: u64 = e.queued;
        in_mac: u64 = e.in_mac;
        on_wire: u64 = e.on_wire;
        awaiting_arp: u64 = e.awaiting_arp;
        #[serde(skip_serializing_if = "Option::is_none")]
        awaiting_route: Option<u64> = e.awaiting_route;
        #[serde(skip_serializing_if = "Option::is_none")]
        forwarded: Option<u64> = e.forwarded;
    }

    Station<'a> from s: StationOf<'a> {
        node: &'a str = &s.result.node;
        radio: &'a str = &s.result.radio;
        airtime_ns: Airtime = (&s.result.airtime).into();
        sent: BTreeMap<&'static str, u64> = by_kind(&s.result.counters.sent, s.has_txops);
        received: BTreeMap<&'static str, u64> = by_kind(&s.result.counters.received, s.has_txops);
        lost: BTreeMap<&'static str, u64> = Loss::NAMES.into_iter().zip(s.result.counters.lost).collect();
        duplicates: u64 = s.result.counters.duplicates;
        no_cts: u64 = s.result.counters.no_cts;
        no_ack: u64 = s.result.counters.no_ack;
        cts_withheld: u64 = s.result.counters.cts_withheld;
        given_up: u64 = s.result.counters.given_up;
        nav_extended: u64 = s.result.counters.nav_extended;
        #[serde(skip_serializing_if = "Vec::is_empty")]
        categories: Vec<Category<'a>> = each(&s.result.categories);
        #[serde(skip_serializing_if = "Option::is_none")]
        messages: Option<Messages> = s.result.messages.as_ref().map(Messages::from);
        #[serde(skip_serializing_if = "Option::is_none")]
        routing: Option<Routing<'a>> = s.result.routing.as_ref().map(Routing);
    }

    /// A proactive routing protocol: its messages, and how well routes were maintained.
    Upkeep<'a> from r: &'a RoutingResult {
        protocol: &'static str = r.protocol;
        datagrams: u64 = r.datagrams;
        ip_bytes: u64 = r.ip_bytes;
        mac_bytes: u64 = r.mac_bytes;
        ip_bytes_per_node_s: Option<f64> = r.per_node_s(r.ip_bytes);
        mac_bytes_per_node_s: Option<f64> = r.per_node_s(r.mac_bytes);
        routes_lost: u64 = r.routes_lost;
        flows: Vec<RouteOfFlow<'a>> = each(&r.flows);
    }

    /// The route of a flow over time.
    RouteOfFlow<'a> from r: &'a FlowRoute {
        id: &'a str = &r.id;
        lost: u64 = r.lost;
        without_s: f64 = r.without_s;
        path: Option<&'a [String]> = r.path.as_deref();
    }

    /// An access category of a station.
    Category<'a> from c: &'a CategoryResult {
        name: &'a str = &c.name;
        sent: u64 = c.counters.sent;
        finished: u64 = c.counters.finished;
        no_response: u64 = c.counters.no_response;
        internal_collisions: u64 = c.counters.internal_collisions;
        given_up: u64 = c.counters.given_up;
    }

    /// Nanoseconds in each radio state; they add up to the run.
    Airtime from a: &places::Airtime {
        transmit: u64 = a.transmit.0;
        receive: u64 = a.receive.0;
        busy: u64 = a.busy.0;
        nav: u64 = a.nav.0;
        idle: u64 = a.idle.0;
    }

    /// A controller: where and when it ran, and its messages.
    ControllerOfRun<'a> from c: &'a ControllerResult {
        node: &'a str = &c.node;
        start_s: f64 = c.start_s;
        stop_s: Option<f64> = c.stop_s;
        sent: u64 = c.counts.sent;
        sent_bytes: u64 = c.counts.sent_bytes;
        received: u64 = c.counts.received;
        received_bytes: u64 = c.counts.received_bytes;
        lost: u64 = c.counts.lost;
    }

    /// A kind of control packets; `of_all_radios` and `of_one_radio`: its bit rate by the sum and the mean of the radios' data rates.
    Control<'a> from c: ControlOf<'a> {
        kind: &'a str = &c.traffic.kind;
        packets: u64 = c.traffic.packets;
        frames: u64 = c.traffic.frames;
        ip_bytes: u64 = c.traffic.ip_bytes;
        mac_bytes: u64 = c.traffic.mac_bytes;
        bps: Option<f64> = c.bps();
        of_all_radios: Option<f64> = c.bps().map(|bps| bps / c.all_radios_bps);
        of_one_radio: Option<f64> = c.bps().map(|bps| bps * c.radios as f64 / c.all_radios_bps);
    }

    /// An inhibited link, or one that a controller takes for it.
    Inhibited<'a> from l: &'a InhibitedLink {
        src: &'a str = &l.src;
        dst: &'a str = &l.dst;
        found: &'a [String] = &l.found;
        actual: &'a [String] = &l.actual;
        round_s: Option<f64> = l.round_s;
    }

    /// The rate that a controller has given a flow.
    AllocationOf<'a> from a: &'a AllocationResult {
        flow: &'a str = &a.flow;
        controller: &'a str = &a.controller;
        rate_bps: f64 = a.rate_bps;
        capacity: f64 = a.capacity;
        links: Vec<LinkEnds<'a>> = each(&a.links);
        overloaded: Vec<LinkEnds<'a>> = each(&a.overloaded);
    }

    /// A directed link.
    LinkEnds<'a> from l: &'a (String, String) {
        src: &'a str = &l.0;
        dst: &'a str = &l.1;
    }

    /// Messages of a station's agent.
    Messages from m: &MessageCounts {
        sent: u64 = m.sent;
        missed: u64 = m.missed;
        heard: u64 = m.heard;
        received: u64 = m.received;
    }

    /// Jain's index over the windows of one length.
    WindowJain from w: &WindowFairness {
        window_s: f64 = w.window.as_secs_f64();
        windows: u64 = w.windows;
        empty_windows: u64 = w.empty;
        mean: Option<f64> = w.mean;
        p10: Option<f64> = w.p10;
        min: Option<f64> = w.min;
    }

    /// The cost of the run: the only part that differs from run to run.
    Perf<'a> from of: &'a Whole<'a> {
        events: u64 = of.run.events;
        transmissions: u64 = of.run.transmissions;
        wall_s: f64 = of.wall.as_secs_f64();
        peak_rss_bytes: u64 = peak_rss_bytes();
        #[serde(skip_serializing_if = "Option::is_none")]
        lateness: Option<&'a Lateness> = of.lateness;
    }

    /// How late the deadlines of a paced run were handled.
    Lateness from l: &drive::Lateness {
        steps: u64 = l.steps();
        worst_s: f64 = l.worst().as_secs_f64();
        p50_s: f64 = l.quantile(0.5).as_secs_f64();
        p99_s: f64 = l.quantile(0.99).as_secs_f64();
        below_10us: u64 = l.below(Span::from_micros(10));
        below_100us: u64 = l.below(Span::from_micros(100)) - l.below(Span::from_micros(10));
        below_1ms: u64 = l.below(Span::from_millis(1)) - l.below(Span::from_micros(100));
        below_10ms: u64 = l.below(Span::from_millis(10)) - l.below(Span::from_millis(1));
        below_100ms: u64 = l.below(Span::from_millis(100)) - l.below(Span::from_millis(10));
        above: u64 = l.steps() - l.below(Span::from_millis(100));
    }
}

/// Counters of a routing protocol by the names that it gives them.
struct Routing<'a>(&'a RoutingCounts);

impl Serialize for Routing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.0.iter().copied())
    }
}

/// An object for each of several values.
fn each<'a, T, O: From<&'a T>>(values: &'a [T]) -> Vec<O> {
    values.iter().map(O::from).collect()
}

/// Counts by the kind of frame. CF-End, which only radios with TXOPs send, is present in runs with such radios.
fn by_kind(counts: &[u64], has_txops: bool) -> BTreeMap<&'static str, u64> {
    let counted = FrameKind::ALL.into_iter().zip(counts.iter().copied());
    let present = counted.filter(|&(kind, _)| kind != FrameKind::CfEnd || has_txops);
    present.map(|(kind, count)| (kind.name(), count)).collect()
}

/// Warnings to consider before using a run's numbers.
pub(crate) fn warnings<'a>(scenario: &'a Scenario, result: &'a RunResult) -> impl Iterator<Item = &'a str> {
    scenario.warnings.iter().chain(&result.warnings).map(String::as_str)
}

/// The result of a world up to its present, as JSON.
pub(crate) fn write(
    scenario: &Scenario,
    world: &World,
    wall: Duration,
    lateness: Option<&Lateness>,
    windows: &[WindowFairness],
) -> PyResult<String> {
    let run = world.result();
    let delays = run.delays();
    json(&Run::from(&Whole {
        scenario,
        run: &run,
        delays: &delays,
        windows,
        wall,
        lateness,
        emulation: None,
    }))
}

/// The result of an emulation, with the report on it.
#[cfg(target_os = "linux")]
pub(crate) fn write_emulated(
    scenario: &Scenario,
    world: &World,
    wall: Duration,
    report: &airfair_emulate::Report,
) -> PyResult<String> {
    let mut run = world.result();
    run.flows.extend(crate::emulation::flows_of(report));
    run.warnings.extend(crate::emulation::warnings_of(report));
    let value = serde_json::to_value(report).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    let (delays, emulation) = (run.delays(), Some(&value));
    let whole = Whole { scenario, run: &run, delays: &delays, windows: &[], wall, lateness: None, emulation };
    json(&Run::from(&whole))
}

/// A value as JSON on one line.
pub(crate) fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// Peak of the memory that the process has used, bytes; 0 where the system does not report it.
fn peak_rss_bytes() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        })
        .map_or(0, |kib| kib * 1024)
}

//! The result contract of `run --json`. Keys are written in the order of the fields; floats are the shortest decimals
//! that read back as the same bits.

use std::collections::BTreeMap;
use std::time::Duration;

use airfair_scenario::Scenario;
use airfair_sim::World;
use airfair_sim::engine::drive::Lateness;
use airfair_sim::measure::summary::{
    FilesResult, FlowResult, MessageCounts, PacketFates, QueueResult, RoutingCounts, RunResult, SizeClass,
    StationResult,
};
use airfair_sim::observe::windows::WindowFairness;
use airfair_sim::record::{FrameKind, Loss};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::{Serialize, Serializer};

#[derive(Serialize)]
struct Run<'a> {
    scenario: &'a str,
    scheme: &'a str,
    seed: u64,
    version: &'a str,
    duration_s: f64,
    warmup_s: f64,
    flows: Vec<Flow<'a>>,
    jain_index: Option<f64>,
    log_utility: f64,
    aggregate_goodput_bps: f64,
    min_goodput_bps: f64,
    starved_flows: usize,
    flows_below_1kbps: usize,
    mean_delay_s: Option<f64>,
    p99_delay_s: Option<f64>,
    rtt_s: Option<f64>,
    retransmissions: u64,
    loss_ratio: Option<f64>,
    completion_s: Option<f64>,
    drops: &'a BTreeMap<String, u64>,
    channel_utilisation: BTreeMap<String, f64>,
    warnings: Vec<&'a str>,
    ends: EndsJson<'a>,
    marks: &'a BTreeMap<String, u64>,
    queues: Vec<Queue<'a>>,
    stations: Vec<Station<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    window_jain: Vec<WindowJain>,
    perf: Perf<'a>,
}

#[derive(Serialize)]
struct Flow<'a> {
    id: &'a str,
    src: &'a str,
    dst: &'a str,
    goodput_bps: f64,
    delivered_bytes: u64,
    sent_packets: u64,
    retransmissions: u64,
    fallbacks: u64,
    mean_delay_s: Option<f64>,
    p99_delay_s: Option<f64>,
    completion_s: Option<f64>,
    hops: Option<u16>,
    delivered_packets: u64,
    dropped_packets: u64,
    loss_ratio: Option<f64>,
    rtt_s: Option<f64>,
    offered_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Files>,
}

/// Files of a flow that sends many, grouped.
#[derive(Serialize)]
struct Files {
    started: u64,
    finished: u64,
    failed: u64,
    mean_completion_s: Option<f64>,
    p95_completion_s: Option<f64>,
    by_size: Vec<SizeClassJson>,
}

#[derive(Serialize)]
struct SizeClassJson {
    from_bytes: u64,
    finished: u64,
    mean_completion_s: f64,
    p95_completion_s: f64,
}

impl From<&FilesResult> for Files {
    fn from(f: &FilesResult) -> Self {
        let class = |c: &SizeClass| SizeClassJson {
            from_bytes: c.from_bytes,
            finished: c.finished,
            mean_completion_s: c.mean_completion_s,
            p95_completion_s: c.p95_completion_s,
        };
        Self {
            started: f.started,
            finished: f.finished,
            failed: f.failed,
            mean_completion_s: f.completions.mean_s(),
            p95_completion_s: f.completions.quantile_s(0.95),
            by_size: f.by_size.iter().map(class).collect(),
        }
    }
}

/// A queue of an output interface.
#[derive(Serialize)]
struct Queue<'a> {
    node: &'a str,
    towards: &'a str,
    wired: bool,
    packets: u64,
    mean_wait_s: Option<f64>,
    mean_packets: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    routing: Option<Routing<'a>>,
}

impl<'a> From<&'a QueueResult> for Queue<'a> {
    fn from(q: &'a QueueResult) -> Self {
        Self {
            node: &q.node,
            towards: &q.towards,
            wired: q.wired,
            packets: q.packets,
            mean_wait_s: q.mean_wait_s,
            mean_packets: q.mean_packets,
            routing: q.routing.as_ref().map(Routing),
        }
    }
}

impl<'a> From<&'a FlowResult> for Flow<'a> {
    fn from(f: &'a FlowResult) -> Self {
        Self {
            id: &f.id,
            src: &f.src,
            dst: &f.dst,
            goodput_bps: f.goodput_bps,
            delivered_bytes: f.delivered_bytes,
            sent_packets: f.sent_packets,
            retransmissions: f.retransmissions,
            fallbacks: f.fallbacks,
            mean_delay_s: f.mean_delay_s(),
            p99_delay_s: f.p99_delay_s(),
            completion_s: f.completion_s,
            hops: f.hops,
            delivered_packets: f.delivered_packets,
            dropped_packets: f.dropped_packets,
            loss_ratio: f.loss_ratio(),
            rtt_s: f.rtt_s(),
            offered_bytes: f.offered_bytes,
            files: f.files.as_ref().map(Files::from),
        }
    }
}

/// Where every packet has ended: `made` is the sum of all others.
#[derive(Serialize)]
struct EndsJson<'a> {
    made: u64,
    delivered: u64,
    dropped: &'a BTreeMap<String, u64>,
    queued: u64,
    in_mac: u64,
    on_wire: u64,
    awaiting_arp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    awaiting_route: Option<u64>,
}

impl<'a> From<&'a PacketFates> for EndsJson<'a> {
    fn from(e: &'a PacketFates) -> Self {
        Self {
            made: e.made,
            delivered: e.delivered,
            dropped: &e.dropped,
            queued: e.queued,
            in_mac: e.in_mac,
            on_wire: e.on_wire,
            awaiting_arp: e.awaiting_arp,
            awaiting_route: e.awaiting_route,
        }
    }
}

#[derive(Serialize)]
struct Station<'a> {
    node: &'a str,
    radio: &'a str,
    airtime_ns: Airtime,
    sent: BTreeMap<&'static str, u64>,
    received: BTreeMap<&'static str, u64>,
    lost: BTreeMap<&'static str, u64>,
    duplicates: u64,
    no_cts: u64,
    no_ack: u64,
    cts_withheld: u64,
    given_up: u64,
    nav_extended: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Messages>,
    #[serde(skip_serializing_if = "Option::is_none")]
    routing: Option<Routing<'a>>,
}

/// What the routing of its node has sent over it, and done: counts by name.
struct Routing<'a>(&'a RoutingCounts);

impl Serialize for Routing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.0.iter().copied())
    }
}

/// Messages of its agent.
#[derive(Serialize)]
struct Messages {
    sent: u64,
    missed: u64,
    heard: u64,
    received: u64,
}

impl From<MessageCounts> for Messages {
    fn from(m: MessageCounts) -> Self {
        Self { sent: m.sent, missed: m.missed, heard: m.heard, received: m.received }
    }
}

/// Nanoseconds in each radio state; they add up to the run.
#[derive(Serialize)]
struct Airtime {
    transmit: u64,
    receive: u64,
    busy: u64,
    nav: u64,
    idle: u64,
}

impl<'a> From<&'a StationResult> for Station<'a> {
    fn from(s: &'a StationResult) -> Self {
        let (a, c) = (&s.airtime, &s.counters);
        let kinds =
            |counts: &[u64]| FrameKind::ALL.iter().map(|k| k.name()).zip(counts.iter().copied()).collect();
        Self {
            node: &s.node,
            radio: &s.radio,
            airtime_ns: Airtime {
                transmit: a.transmit.0,
                receive: a.receive.0,
                busy: a.busy.0,
                nav: a.nav.0,
                idle: a.idle.0,
            },
            sent: kinds(&c.sent),
            received: kinds(&c.received),
            lost: Loss::NAMES.into_iter().zip(c.lost).collect(),
            duplicates: c.duplicates,
            no_cts: c.no_cts,
            no_ack: c.no_ack,
            cts_withheld: c.cts_withheld,
            given_up: c.given_up,
            nav_extended: c.nav_extended,
            messages: s.messages.map(Messages::from),
            routing: s.routing.as_ref().map(Routing),
        }
    }
}

/// Jain's index over the windows of one length.
#[derive(Serialize)]
struct WindowJain {
    window_s: f64,
    windows: u64,
    empty_windows: u64,
    mean: Option<f64>,
    p10: Option<f64>,
    min: Option<f64>,
}

impl From<&WindowFairness> for WindowJain {
    fn from(w: &WindowFairness) -> Self {
        Self {
            window_s: w.window.as_secs_f64(),
            windows: w.windows,
            empty_windows: w.empty,
            mean: w.mean,
            p10: w.p10,
            min: w.min,
        }
    }
}

/// What the run cost: the only part that differs from run to run.
#[derive(Serialize)]
struct Perf<'a> {
    events: u64,
    transmissions: u64,
    wall_s: f64,
    peak_rss_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lateness: Option<&'a LatenessJson>,
}

/// How late a paced run was.
#[derive(Serialize)]
pub(crate) struct LatenessJson {
    steps: u64,
    worst_s: f64,
    below_10us: u64,
    below_100us: u64,
    below_1ms: u64,
    below_10ms: u64,
    below_100ms: u64,
    above: u64,
}

impl From<&Lateness> for LatenessJson {
    fn from(l: &Lateness) -> Self {
        let [below_10us, below_100us, below_1ms, below_10ms, below_100ms, above] = l.histogram;
        Self {
            steps: l.steps,
            worst_s: l.worst.as_secs_f64(),
            below_10us,
            below_100us,
            below_1ms,
            below_10ms,
            below_100ms,
            above,
        }
    }
}

/// What to look at before trusting a world's numbers.
pub(crate) fn warnings<'a>(scenario: &'a Scenario, result: &'a RunResult) -> impl Iterator<Item = &'a str> {
    scenario.warnings.iter().chain(&result.warnings).map(String::as_str)
}

/// A world's numbers up to its present.
pub(crate) fn write(
    scenario: &Scenario,
    world: &World,
    wall: Duration,
    lateness: Option<&LatenessJson>,
    windows: &[WindowFairness],
) -> PyResult<String> {
    let r: RunResult = world.result();
    let delays = r.delays();
    json(&Run {
        scenario: &scenario.name,
        scheme: &r.scheme,
        seed: r.seed,
        version: env!("CARGO_PKG_VERSION"),
        duration_s: r.duration_s,
        warmup_s: r.warmup_s,
        flows: r.flows.iter().map(Flow::from).collect(),
        jain_index: r.jain_index(),
        log_utility: r.log_utility(),
        aggregate_goodput_bps: r.aggregate_goodput_bps(),
        min_goodput_bps: r.min_goodput_bps(),
        starved_flows: r.starved_flows(),
        flows_below_1kbps: r.flows_below_1kbps(),
        mean_delay_s: delays.mean_s(),
        p99_delay_s: delays.quantile_s(0.99),
        rtt_s: r.rtt_s(),
        retransmissions: r.retransmissions(),
        loss_ratio: r.loss_ratio(),
        completion_s: r.completion_s(),
        drops: &r.drops,
        channel_utilisation: r.channel_utilisation(),
        warnings: warnings(scenario, &r).collect(),
        ends: (&r.ends).into(),
        marks: &r.marks,
        queues: r.queues.iter().map(Queue::from).collect(),
        stations: r.stations.iter().map(Station::from).collect(),
        window_jain: windows.iter().map(WindowJain::from).collect(),
        perf: Perf {
            events: r.events,
            transmissions: r.transmissions,
            wall_s: wall.as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
            lateness,
        },
    })
}

/// A value as JSON on one line.
pub(crate) fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// The most memory that the process has had; 0 where the system does not tell.
fn peak_rss_bytes() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        })
        .map_or(0, |kib| kib * 1024)
}

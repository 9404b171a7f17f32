//! The report on a run: counts, lateness, and the verdict. A contract for programs, as JSON: `Emulation` in docs/reference/python.md.

use airfair_units::{Span, Time};
use serde::Serialize;

use crate::bridge::{Bridge, Counts};
use crate::flows;
use crate::plan::Plan;
use crate::punctuality::{Punctuality, Verdict};
use crate::source::Edges;

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// `kept up`, `kept up but for pauses`, or `fell behind`.
    pub verdict: &'static str,
    /// The time from which on it was behind, if there is one.
    pub behind_from_s: Option<f64>,
    /// Seconds that the run has taken.
    pub wall_s: f64,
    /// Seconds that it took to make the nodes.
    pub set_up_s: f64,
    /// Processor time of the emulator.
    pub cpu_s: f64,
    /// Lateness of deliveries.
    pub lateness: Late,
    /// Pauses of the machine.
    pub pauses: Away,
    /// Times at which the clock has woken up.
    pub wake_ups: u64,
    /// Looks at which the world was too late to take frames.
    pub refused_looks: u64,
    /// Frames.
    pub frames: Counts,
    /// Frames that were lost by the emulation itself: `device_drops`, and `too_many` and `not_written` of the frames.
    pub faults: u64,
    /// Frames that the kernel has dropped at devices.
    pub device_drops: u64,
    /// True if this kernel holds packets back where a device is full, so that `device_drops` does not count what a stack has lost.
    pub devices_hold_back: bool,
    /// The reason why the emulator has no priority before other processes, if it has none.
    pub no_priority: Option<String>,
    /// TCP's congestion control in the nodes.
    pub congestion_control: String,
    /// True if programs in the nodes find the routes.
    pub own_routing: bool,
    /// Connections whose sources the emulator has run at the edge of the stacks, if the scheme has such sources.
    pub edges: Option<Edges>,
    /// True if counts of flows over time are missing, since there were too many.
    pub series_cut: bool,
    /// True if the user has ended it.
    pub interrupted: bool,
    /// Programs.
    pub programs: Vec<Program>,
    /// Flows of the stacks, in the order of their first packets.
    pub flows: Vec<Row>,
    /// Counts of the flows after the warm-up and over time, in the same order; results have them in the form of simulated flows.
    #[serde(skip)]
    pub counts: Vec<FlowCounts>,
    /// Packets of flows beyond the number that is told apart.
    pub packets_of_other_flows: u64,
}

/// Counts of a flow of the stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowCounts {
    /// True if data of an application were sent.
    pub has_data: bool,
    /// Bytes that its application had to send, if that is known.
    pub offered_bytes: Option<u64>,
    /// After the warm-up.
    pub measured: flows::Counts,
    /// Number of the first interval that is counted, and the counts.
    pub intervals: (usize, Vec<flows::Counts>),
}

/// Lateness of deliveries, seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Late {
    /// Number.
    pub deliveries: u64,
    /// Median.
    pub p50_s: f64,
    /// 99 % are not later.
    pub p99_s: f64,
    /// 99.9 % are not later.
    pub p999_s: f64,
    /// The worst.
    pub worst_s: f64,
}

/// Pauses of the machine, seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Away {
    /// Number.
    pub count: u64,
    /// The longest.
    pub longest_s: f64,
    /// All together.
    pub total_s: f64,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The node.
    pub node: String,
    /// The command.
    pub command: String,
    /// The exit status; none: it was still running at the end, or had not begun.
    pub status: Option<i32>,
    /// The reason why it could not be started.
    pub error: Option<String>,
}

/// A flow of the stacks, in one direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the flow in results: protocol, nodes and ports.
    pub id: String,
    /// Source.
    pub src: String,
    /// Destination.
    pub dst: String,
    /// `tcp`, `udp`, `icmp`, `icmpv6`, or the number of the protocol.
    pub protocol: String,
    /// Source's address.
    pub src_address: String,
    /// Destination's address.
    pub dst_address: String,
    /// Source's port, 0 where the protocol has none.
    pub src_port: u16,
    /// Destination's port.
    pub dst_port: u16,
    /// Bits of the application per second that have arrived after the warm-up; bytes of TCP count once.
    pub goodput_bps: f64,
    /// Packets that the source's stack has sent.
    pub sent_packets: u64,
    /// Packets that have arrived at the destination's stack.
    pub arrived_packets: u64,
    /// Bytes of the application that the source's stack has sent, repetitions included.
    pub sent_bytes: u64,
    /// Bytes of the application that have arrived; bytes of TCP count once.
    pub arrived_bytes: u64,
    /// Packets that have arrived with a congestion mark.
    pub marked_packets: u64,
    /// The first packet's time, seconds since the start of the run.
    pub first_s: f64,
    /// The last arrival's time.
    pub last_s: Option<f64>,
}

fn seconds(of: Span) -> f64 {
    of.as_secs_f64()
}

impl From<&Punctuality> for Late {
    fn from(of: &Punctuality) -> Self {
        let of = of.lateness();
        let quantile = |part| seconds(of.quantile(part));
        Self {
            deliveries: of.steps(),
            p50_s: quantile(0.5),
            p99_s: quantile(0.99),
            p999_s: quantile(0.999),
            worst_s: seconds(of.worst()),
        }
    }
}

impl From<&Punctuality> for Away {
    fn from(of: &Punctuality) -> Self {
        let of = of.pauses();
        Self { count: of.count, longest_s: seconds(of.longest), total_s: seconds(of.total) }
    }
}

/// Rows of the flows of a bridge, for a run until a time.
#[must_use]
pub fn rows(bridge: &Bridge, plan: &Plan, until: Time) -> Vec<Row> {
    use airfair_wire::ipv4::Protocol;
    let name = |node: airfair_sim::ids::NodeIx| plan.nodes[node.0 as usize].name.clone();
    let protocol = |of: &flows::Flow| match of.tuple.protocol {
        Protocol::TCP => "tcp".to_string(),
        Protocol::UDP => "udp".to_string(),
        Protocol(1) => "icmp".to_string(),
        Protocol(58) => "icmpv6".to_string(),
        Protocol(number) => number.to_string(),
    };
    let id = |of: &flows::Flow| {
        let six = !of.tuple.source.is_ipv4() && of.tuple.protocol != Protocol(58);
        let version = if six { "6" } else { "" };
        let port = |port: u16| if port == 0 { String::new() } else { format!(":{port}") };
        let [from, to] = of.ends.map(name);
        let [from_port, to_port] = [of.tuple.source_port, of.tuple.destination_port].map(port);
        format!("{}{version} {from}{from_port} > {to}{to_port}", protocol(of))
    };
    let of_bridge = bridge.flows();
    let row = |of: &flows::Flow| Row {
        id: id(of),
        src: name(of.ends[0]),
        dst: name(of.ends[1]),
        protocol: protocol(of),
        src_address: of.tuple.source.to_string(),
        dst_address: of.tuple.destination.to_string(),
        src_port: of.tuple.source_port,
        dst_port: of.tuple.destination_port,
        goodput_bps: of.goodput_bps(of_bridge.warmup(), until),
        sent_packets: of.sent_packets,
        arrived_packets: of.arrived_packets,
        sent_bytes: of.sent_bytes,
        arrived_bytes: of.arrived_bytes,
        marked_packets: of.marked_packets,
        first_s: of.first.0 as f64 / 1e9,
        last_s: of.last.map(|last| last.0 as f64 / 1e9),
    };
    of_bridge.all().iter().map(row).collect()
}

/// Counts of the flows of a bridge, in the same order, for a run until a time. Those over time are taken.
pub fn counts(bridge: &mut Bridge, until: Time) -> Vec<FlowCounts> {
    let over_time = bridge.take_intervals();
    let (flows, warmup) = (bridge.flows(), bridge.flows().warmup());
    let of = |(flow, intervals): (&flows::Flow, (usize, Vec<flows::Counts>))| FlowCounts {
        has_data: flow.has_data(),
        offered_bytes: flow.offered_bytes(warmup, until),
        measured: flow.measured,
        intervals,
    };
    flows.all().iter().zip(over_time).map(of).collect()
}

/// The verdict in words, and the time from which on the run was behind. Frames that the emulation has lost are none of the scenario's.
#[must_use]
pub fn verdict(punctuality: &Punctuality, faults: u64, length: Span) -> (&'static str, Option<f64>) {
    match punctuality.verdict(length) {
        Verdict::FellBehind { from } => ("fell behind", from.map(|from| from.0 as f64 / 1e9)),
        _ if faults > 0 => ("fell behind", None),
        Verdict::KeptUpBut => ("kept up but for pauses", None),
        Verdict::KeptUp => ("kept up", None),
    }
}

//! The report on a run: counts, lateness, and the verdict. A contract for programs, as JSON: docs/reference/json.md.

use std::collections::BTreeMap;

use airfair_units::{Span, Time};
use serde::Serialize;

use crate::bridge::{Bridge, Counts};
use crate::plan::Plan;
use crate::punctuality::{Punctuality, Verdict};

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
    pub frames: Frames,
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
    /// True if the user has ended it.
    pub interrupted: bool,
    /// Programs.
    pub programs: Vec<Program>,
    /// Flows of the stacks, in the order of their first packets.
    pub flows: Vec<Row>,
    /// Packets of flows beyond the number that is told apart.
    pub packets_of_other_flows: u64,
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

/// Frames of the stacks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frames {
    /// Read from devices.
    pub read: u64,
    /// Of those, for a group.
    pub to_groups: u64,
    /// Written to devices.
    pub written: u64,
    /// Written with a congestion mark that they did not have as they entered.
    pub marked: u64,
    /// Acknowledgements that a scheme has let echo congestion.
    pub echoed: u64,
    /// For a station that no node has.
    pub unknown_station: u64,
    /// No frame that the air can carry.
    pub refused: u64,
    /// Lost since too many were inside.
    pub too_many: u64,
    /// Refused by a device that is up.
    pub not_written: u64,
    /// Dropped in the scenario, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
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

impl From<&Counts> for Frames {
    fn from(of: &Counts) -> Self {
        Self {
            read: of.read,
            to_groups: of.groups,
            written: of.written,
            marked: of.marked,
            echoed: of.echoed,
            unknown_station: of.unknown_station,
            refused: of.refused,
            too_many: of.too_many,
            not_written: of.not_written,
            dropped: of.dropped.clone(),
        }
    }
}

/// Rows of the flows of a bridge, for a run until a time.
#[must_use]
pub fn rows(bridge: &Bridge, plan: &Plan, until: Time) -> Vec<Row> {
    use airfair_wire::ipv4::Protocol;
    let name = |node: airfair_sim::ids::NodeIx| plan.nodes[node.0 as usize].name.clone();
    let flows = bridge.flows();
    let row = |of: &crate::flows::Flow| Row {
        src: name(of.ends[0]),
        dst: name(of.ends[1]),
        protocol: match of.tuple.protocol {
            Protocol::TCP => "tcp".to_string(),
            Protocol::UDP => "udp".to_string(),
            Protocol(1) => "icmp".to_string(),
            Protocol(58) => "icmpv6".to_string(),
            Protocol(number) => number.to_string(),
        },
        src_address: of.tuple.source.to_string(),
        dst_address: of.tuple.destination.to_string(),
        src_port: of.tuple.source_port,
        dst_port: of.tuple.destination_port,
        goodput_bps: flows.goodput_bps(of, until),
        sent_packets: of.sent_packets,
        arrived_packets: of.arrived_packets,
        sent_bytes: of.sent_bytes,
        arrived_bytes: of.arrived_bytes,
        marked_packets: of.marked_packets,
        first_s: of.first.0 as f64 / 1e9,
        last_s: of.last.map(|last| last.0 as f64 / 1e9),
    };
    flows.all().iter().map(row).collect()
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

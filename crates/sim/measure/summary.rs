//! Results of a run: the result contract, as plain data.

use std::collections::BTreeMap;

pub use airfair_host::{ControlTraffic, ControllerCounts, ForwardCounts, MessageCounts};
use airfair_schemes::places::Airtime;
use airfair_units::math;

use super::delays::Delays;
use super::statistics::jain_index;
use crate::record::FrameKind;

/// Counters of a station.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// Frames sent, by [`FrameKind::ALL`].
    pub sent: [u64; FrameKind::ALL.len()],
    /// Received frames that were addressed to this station, by kind.
    pub received: [u64; FrameKind::ALL.len()],
    /// Lost frames that were addressed to this station, by [`crate::record::Loss::NAMES`].
    pub lost: [u64; 9],
    /// Data packets dropped as duplicates.
    pub duplicates: u64,
    /// CTS that were not received.
    pub no_cts: u64,
    /// ACKs that were not received.
    pub no_ack: u64,
    /// RTS left unanswered because the NAV was set.
    pub cts_withheld: u64,
    /// Packets given up at the retry limit.
    pub given_up: u64,
    /// Receptions that confirmed a NAV which an RTS had set provisionally.
    pub nav_extended: u64,
}

/// Counters of an access category of a station.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CategoryCounters {
    /// Data frames sent, retries included.
    pub sent: u64,
    /// Packets finished: acknowledged, or sent as a broadcast.
    pub finished: u64,
    /// Frames to which no response came.
    pub no_response: u64,
    /// Accesses lost to a higher category of the same station.
    pub internal_collisions: u64,
    /// Packets given up at the retry limit.
    pub given_up: u64,
}

/// Results of an access category of a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryResult {
    /// Name of the category.
    pub name: String,
    /// The counters of the category.
    pub counters: CategoryCounters,
}

impl StationCounters {
    /// Received data frames that were addressed to this station, without duplicates.
    #[must_use]
    pub fn received_data(&self) -> u64 {
        let data = FrameKind::ALL.iter().zip(self.received).filter(|(kind, _)| **kind == FrameKind::Data);
        data.map(|(_, n)| n).sum::<u64>() - self.duplicates
    }
}

/// Results of a flow, from its start (or the warm-up's end) to its stop (or the end of the run).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowResult {
    /// Name of the flow.
    pub id: String,
    /// Source node.
    pub src: String,
    /// Destination node.
    pub dst: String,
    /// Bytes that its application had to send; `None` if unlimited, 0 if the flow has no traffic.
    pub offered_bytes: Option<u64>,
    /// Goodput: rate of bytes delivered to the application, each counted once, for TCP in order.
    pub goodput_bps: f64,
    /// Bytes delivered to the application, each counted once.
    pub delivered_bytes: u64,
    /// Packets that the source made.
    pub sent_packets: u64,
    /// Packets that the destination has received.
    pub delivered_packets: u64,
    /// Packets with payload that were dropped.
    pub dropped_packets: u64,
    /// Segments retransmitted (UDP: 0).
    pub retransmissions: u64,
    /// Round trips measured by the transport (UDP: 0), of segments that were sent once.
    pub round_trips: u64,
    /// Sum of the measured round trips, ns.
    pub round_trip_ns: u64,
    /// Connections that have found routers which do not support their scheme, and use TCP's law since.
    pub fallbacks: u64,
    /// Transmissions of forwarders for the flow, if they carry it.
    pub forwarding: Option<ForwardCounts>,
    /// One-way delays of the delivered packets.
    pub delays: Delays,
    /// Completion time of a finite flow, s after its start.
    pub completion_s: Option<f64>,
    /// Hops of the last packet that has arrived, in the warm-up or later; if none has, those of the static route.
    pub hops: Option<u16>,
    /// Counters of files, if the flow sends files over connections of their own.
    pub files: Option<FilesResult>,
    /// Reports of the receiver, if a scheme has one at the destination of the flow.
    pub reports: Option<ReportsResult>,
}

/// Reports of the receiver of a flow over UDP, from the warm-up's end on.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportsResult {
    /// Reports that the receiver has sent.
    pub sent: u64,
    /// Reports that the source has received.
    pub received: u64,
    /// Loss events that the receiver has observed; `None` if its scheme counts none.
    pub loss_events: Option<u64>,
    /// Mean over the reports of the estimated loss event rate.
    pub loss_event_rate: Option<f64>,
}

/// Results of a queue from the warm-up's end on.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueResult {
    /// Node of the queue.
    pub node: String,
    /// The radio that it feeds, or the node at the far end of its wired link.
    pub towards: String,
    /// True if it feeds a wired link.
    pub wired: bool,
    /// Packets that have left the queue.
    pub packets: u64,
    /// Mean time that they spent in the queue, s.
    pub mean_wait_s: Option<f64>,
    /// Mean number of packets in the queue (by Little's law, from packets that have left).
    pub mean_packets: f64,
    /// Routing messages sent over the wired link, with a routing protocol.
    pub routing: Option<RoutingCounts>,
    /// Next hops, in the order of their names, if the queue compares itself with theirs and packets have left.
    pub differentials: Vec<DifferentialResult>,
}

/// Packets that have left a queue which compares itself with that of the next hop.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferentialResult {
    /// Next hop.
    pub to: String,
    /// Packets that have left for it.
    pub packets: u64,
    /// Mean of the packets by which the queue of their destination was longer here, as far as the queue knew.
    pub mean_packets: f64,
    /// Packets at each level of the radio, from the lowest on; empty if the queue gives no levels.
    pub levels: Vec<u64>,
}

/// Files of a flow over the whole run, warm-up included.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesResult {
    /// Files started.
    pub started: u64,
    /// Files delivered and acknowledged.
    pub finished: u64,
    /// Files not delivered completely: TCP has given up their connections.
    pub failed: u64,
    /// Completion times of finished files.
    pub completions: Delays,
    /// Finished files by size.
    pub by_size: Vec<SizeClass>,
}

/// Files of similar size.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeClass {
    /// Smallest size of the class, bytes; the largest is twice this less one.
    pub from_bytes: u64,
    /// Number of finished files.
    pub finished: u64,
    /// Mean completion time, s.
    pub mean_completion_s: f64,
    /// Time that 95 % of the completion times do not exceed, s.
    pub p95_completion_s: f64,
}

/// Ends of all packets that were made, over the whole run, warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PacketFates {
    /// Packets made by sources, or injected.
    pub made: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Packets in a queue at the end.
    pub queued: u64,
    /// Packets in a MAC at the end.
    pub in_mac: u64,
    /// Packets on a wired link at the end.
    pub on_wire: u64,
    /// Packets that wait for ARP at the end.
    pub awaiting_arp: u64,
    /// Packets that wait for a route at the end, with a routing protocol.
    pub awaiting_route: Option<u64>,
    /// At a forwarder's source, or on its way by broadcasts; only if forwarders carry flows.
    pub forwarded: Option<u64>,
}

impl PacketFates {
    /// Packets that have not ended at the end of the run.
    #[must_use]
    pub fn inside(&self) -> u64 {
        self.queued
            + self.in_mac
            + self.on_wire
            + self.awaiting_arp
            + self.awaiting_route.unwrap_or(0)
            + self.forwarded.unwrap_or(0)
    }
}

/// Counters of a routing protocol at an interface, over the whole run.
///
/// Counts by the names that the protocol gives them: messages sent, own and forwarded, by kind ([`airfair_routing::Protocol::kinds`]); then
/// the node's counters ([`airfair_routing::Routing::counters`]), reported with the node's first interface and 0 with others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoutingCounts(pub Vec<(&'static str, u64)>);

impl RoutingCounts {
    /// The count of a name; 0 for a name that the protocol does not have.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.0.iter().find(|count| count.0 == name).map_or(0, |count| count.1)
    }
}

/// A proactive routing protocol from the warm-up's end on: its messages, and how well routes were maintained.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutingResult {
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Length of the measured time, s.
    pub seconds: f64,
    /// Number of nodes.
    pub nodes: usize,
    /// Datagrams sent by all nodes.
    pub datagrams: u64,
    /// Their bytes as IP packets.
    pub ip_bytes: u64,
    /// Their bytes as frames, with LLC, MAC header and FCS, or with a wire's framing.
    pub mac_bytes: u64,
    /// Routes lost in the tables of all nodes: the destination had a next hop, and had none afterwards.
    pub routes_lost: u64,
    /// Routes of the flows, in the order of the scenario.
    pub flows: Vec<FlowRoute>,
}

/// The route of a flow from its source to its destination, from its start (or the warm-up's end) to its stop (or the end of the run).
#[derive(Debug, Clone, PartialEq)]
pub struct FlowRoute {
    /// Name of the flow.
    pub id: String,
    /// Number of losses of the route: the next hops that nodes knew led to the destination, and did not afterwards.
    pub lost: u64,
    /// Time in which they did not lead to the destination, s.
    pub without_s: f64,
    /// Nodes to which they lead now, from the source to the destination; `None` without a route.
    pub path: Option<Vec<String>>,
}

impl RoutingResult {
    /// A number of all nodes, per node and second.
    #[must_use]
    pub fn per_node_s(&self, total: u64) -> Option<f64> {
        let node_seconds = self.seconds * self.nodes as f64;
        (node_seconds > 0.0).then(|| total as f64 / node_seconds)
    }
}

/// Results of a station over the whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct StationResult {
    /// Node of the station.
    pub node: String,
    /// Radio of the station.
    pub radio: String,
    /// Time in each radio state; the five add up to the run in nanoseconds.
    pub airtime: Airtime,
    /// Counters of frames sent, received and lost.
    pub counters: StationCounters,
    /// Results of its access categories, the lowest priority first; none with the DCF.
    pub categories: Vec<CategoryResult>,
    /// Counters of its agent's messages, if the scheme has agents.
    pub messages: Option<MessageCounts>,
    /// Counters of its routing, with a routing protocol.
    pub routing: Option<RoutingCounts>,
}

/// A controller of the run's scheme.
#[derive(Debug, Clone, PartialEq)]
pub struct ControllerResult {
    /// The node at which it ran.
    pub node: String,
    /// The controller's start, s.
    pub start_s: f64,
    /// The controller's stop, s; none if it runs to the end.
    pub stop_s: Option<f64>,
    /// Messages of the controller.
    pub counts: ControllerCounts,
}

/// A link that carries flows, and nodes with traffic that inhibit it: its receiver hears them, and its sender does not sense them.
#[derive(Debug, Clone, PartialEq)]
pub struct InhibitedLink {
    /// Sender.
    pub src: String,
    /// Receiver.
    pub dst: String,
    /// Nodes that the controllers found at their last rounds, in the order of their names.
    pub found: Vec<String>,
    /// Nodes that do so by the power that arrives at the end of the run, in the order of their names.
    pub actual: Vec<String>,
    /// Time of the last round of the controllers that know the link, s; none if none knows it.
    pub round_s: Option<f64>,
}

/// The rate that a controller has given a flow at its last round, and the links whose common capacity was used up then.
#[derive(Debug, Clone, PartialEq)]
pub struct AllocationResult {
    /// The flow.
    pub flow: String,
    /// Node of the controller.
    pub controller: String,
    /// The rate, bit/s.
    pub rate_bps: f64,
    /// Estimate of the capacity: 1 if it is what a lone link has.
    pub capacity: f64,
    /// Sender and receiver of each of the links, in their order; empty if the flow has what it asks for.
    pub links: Vec<(String, String)>,
    /// Those of the links whose queues were built up.
    pub overloaded: Vec<(String, String)>,
}

/// Results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Name of the scheme.
    pub scheme: String,
    /// Seed of the run.
    pub seed: u64,
    /// Length of the run, s.
    pub duration_s: f64,
    /// Length of the warm-up, s.
    pub warmup_s: f64,
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowResult>,
    /// Drops by reason over the whole run.
    pub drops: BTreeMap<String, u64>,
    /// Packets marked instead of dropped, by reason, over the whole run.
    pub marks: BTreeMap<String, u64>,
    /// Ends of all packets.
    pub ends: PacketFates,
    /// Results of every output interface's queue.
    pub queues: Vec<QueueResult>,
    /// Results of every station.
    pub stations: Vec<StationResult>,
    /// Controllers, in the order of their nodes' names and of their starts.
    pub controllers: Vec<ControllerResult>,
    /// Messages by kind, if the scheme names kinds; the last one are flows' reports.
    pub control: Option<Vec<ControlTraffic>>,
    /// Data rate of each radio, summed, bit/s.
    pub radio_rates_bps: u64,
    /// Links that are inhibited, or that a controller takes for it, in the order of their senders and receivers; none without a controller
    /// that looks for them.
    pub inhibited: Option<Vec<InhibitedLink>>,
    /// The rates that the controllers that run at the end have given flows, in the order of the flows.
    pub allocations: Vec<AllocationResult>,
    /// Results of routing, with a proactive protocol.
    pub routing: Option<RoutingResult>,
    /// Warnings to consider before using the results.
    pub warnings: Vec<String>,
    /// Number of events handled.
    pub events: u64,
    /// Frames sent on the air.
    pub transmissions: u64,
}

/// A flow is starved below this share of the mean goodput of its run...
const STARVED_SHARE_OF_MEAN: f64 = 0.01;

/// ...unless its goodput is at least this share of its offered load.
const STARVED_SHARE_OF_OFFERED: f64 = 0.5;

/// Share of `lost` in `lost + arrived`; `None` for none.
fn loss_ratio(lost: u64, arrived: u64) -> Option<f64> {
    let ended = lost + arrived;
    (ended > 0).then(|| lost as f64 / ended as f64)
}

fn mean_s(sum_ns: u128, count: u64) -> Option<f64> {
    (count > 0).then(|| sum_ns as f64 / count as f64 / 1e9)
}

impl FlowResult {
    /// True if its application had data to send in the measured time, or data sent earlier were delivered in it.
    #[must_use]
    pub fn has_traffic(&self) -> bool {
        self.offered_bytes != Some(0) || self.delivered_bytes > 0
    }

    /// Mean one-way delay, s.
    #[must_use]
    pub fn mean_delay_s(&self) -> Option<f64> {
        self.delays.mean_s()
    }

    /// 99th percentile of the one-way delays, s.
    #[must_use]
    pub fn p99_delay_s(&self) -> Option<f64> {
        self.delays.quantile_s(0.99)
    }

    /// Mean round-trip time measured by its TCP, s.
    #[must_use]
    pub fn rtt_s(&self) -> Option<f64> {
        mean_s(self.round_trip_ns.into(), self.round_trips)
    }

    /// Share of dropped packets among its packets with payload that have ended.
    #[must_use]
    pub fn loss_ratio(&self) -> Option<f64> {
        loss_ratio(self.dropped_packets, self.delivered_packets)
    }

    /// True if the flow is starved beside flows with this mean goodput: its goodput is below 1 % of the mean and below half of its offered
    /// load; or it is zero although load was offered.
    #[must_use]
    pub fn is_starved(&self, mean_goodput_bps: f64) -> bool {
        let got = self.delivered_bytes as f64;
        let little = self.goodput_bps < STARVED_SHARE_OF_MEAN * mean_goodput_bps;
        let unserved =
            self.offered_bytes.is_none_or(|offered| got < STARVED_SHARE_OF_OFFERED * offered as f64);
        self.has_traffic() && (self.delivered_bytes == 0 || (little && unserved))
    }
}

/// Fairness refers to flows that have traffic in the measured time.
impl RunResult {
    fn competing(&self) -> impl Iterator<Item = &FlowResult> {
        self.flows.iter().filter(|flow| flow.has_traffic())
    }

    /// Goodputs, sorted, so that sums do not depend on the order of the flows in a file.
    fn goodputs(&self) -> Vec<f64> {
        let mut goodputs: Vec<f64> = self.competing().map(|f| f.goodput_bps).collect();
        goodputs.sort_by(f64::total_cmp);
        goodputs
    }

    /// Jain's index of the goodputs; `None` where nothing was delivered.
    #[must_use]
    pub fn jain_index(&self) -> Option<f64> {
        jain_index(&self.goodputs())
    }

    /// Sum of ln(goodput in kbit/s), a flow below 1 kbit/s counted as 1 kbit/s.
    #[must_use]
    pub fn log_utility(&self) -> f64 {
        self.goodputs().iter().map(|g| math::ln((g / 1000.0).max(1.0))).fold(0.0, |sum, x| sum + x)
    }

    /// Sum of the goodputs.
    #[must_use]
    pub fn aggregate_goodput_bps(&self) -> f64 {
        self.goodputs().iter().fold(0.0, |sum, x| sum + x)
    }

    /// Mean of the goodputs; 0 without flows.
    #[must_use]
    pub fn mean_goodput_bps(&self) -> f64 {
        self.aggregate_goodput_bps() / self.competing().count().max(1) as f64
    }

    /// The smallest goodput; 0 without flows.
    #[must_use]
    pub fn min_goodput_bps(&self) -> f64 {
        self.goodputs().into_iter().reduce(f64::min).unwrap_or(0.0)
    }

    /// Number of starved flows ([`FlowResult::is_starved`]).
    #[must_use]
    pub fn starved_flows(&self) -> usize {
        let mean = self.mean_goodput_bps();
        self.flows.iter().filter(|flow| flow.is_starved(mean)).count()
    }

    /// Number of flows below 1 kbit/s.
    #[must_use]
    pub fn flows_below_1kbps(&self) -> usize {
        self.goodputs().iter().filter(|&&g| g < 1000.0).count()
    }

    /// One-way delays of the delivered packets of all flows.
    #[must_use]
    pub fn delays(&self) -> Delays {
        let mut all = Delays::default();
        self.flows.iter().for_each(|flow| all.merge(&flow.delays));
        all
    }

    /// Mean of all round trips measured by TCP, s.
    #[must_use]
    pub fn rtt_s(&self) -> Option<f64> {
        let sum = self.flows.iter().map(|flow| u128::from(flow.round_trip_ns)).sum();
        mean_s(sum, self.flows.iter().map(|flow| flow.round_trips).sum())
    }

    /// Segments retransmitted, of all flows.
    #[must_use]
    pub fn retransmissions(&self) -> u64 {
        self.flows.iter().map(|flow| flow.retransmissions).sum()
    }

    /// Share of dropped packets among all packets with payload that have ended.
    #[must_use]
    pub fn loss_ratio(&self) -> Option<f64> {
        let count = |of: fn(&FlowResult) -> u64| self.flows.iter().map(of).sum();
        loss_ratio(count(|flow| flow.dropped_packets), count(|flow| flow.delivered_packets))
    }

    /// Mean completion time of finished files, over the whole run, s.
    #[must_use]
    pub fn completion_s(&self) -> Option<f64> {
        let files = self.flows.iter().filter_map(|flow| flow.files.as_ref());
        let mut all = Delays::default();
        files.for_each(|files| all.merge(&files.completions));
        all.mean_s()
    }

    /// For each node with a radio: the share of time in which its medium is physically busy, own transmissions included (of the busiest of
    /// its radios).
    #[must_use]
    pub fn channel_utilisation(&self) -> BTreeMap<String, f64> {
        let mut shares = BTreeMap::new();
        for s in &self.stations {
            let a = &s.airtime;
            let busy = a.transmit.0 + a.receive.0 + a.busy.0;
            let all = busy + a.nav.0 + a.idle.0;
            let share = if all == 0 { 0.0 } else { busy as f64 / all as f64 };
            let entry = shares.entry(s.node.clone()).or_insert(0.0f64);
            *entry = entry.max(share);
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(goodput_bps: f64, offered_bytes: Option<u64>) -> FlowResult {
        FlowResult {
            id: String::new(),
            src: String::new(),
            dst: String::new(),
            offered_bytes,
            goodput_bps,
            // Over ten seconds.
            delivered_bytes: (goodput_bps * 10.0 / 8.0) as u64,
            ..FlowResult::default()
        }
    }

    fn run(flows: Vec<FlowResult>) -> RunResult {
        RunResult {
            scheme: String::new(),
            seed: 1,
            duration_s: 10.0,
            warmup_s: 0.0,
            flows,
            drops: BTreeMap::new(),
            marks: BTreeMap::new(),
            ends: PacketFates::default(),
            queues: vec![],
            controllers: Vec::new(),
            stations: vec![],
            control: None,
            radio_rates_bps: 0,
            inhibited: None,
            allocations: Vec::new(),
            routing: None,
            warnings: vec![],
            events: 0,
            transmissions: 0,
        }
    }

    /// Starved: below 1 % of the mean and below half of the offered load, or nothing of the load. With a mean of 1 Mbit/s, 1 % is 10
    /// kbit/s.
    #[test]
    fn starved_by_hand() {
        let mean = 1e6;
        assert!(flow(9_999.0, None).is_starved(mean));
        assert!(!flow(10_000.0, None).is_starved(mean));
        // 8 kbit/s for 10 s are 10,000 bytes: half of 20,000.
        assert!(!flow(8_000.0, Some(20_000)).is_starved(mean));
        assert!(flow(8_000.0, Some(20_001)).is_starved(mean));
        assert!(flow(0.0, Some(1)).is_starved(mean));
        assert!(flow(0.0, None).is_starved(0.0), "with a mean of 0 every backlogged flow is starved");
        assert!(!flow(0.0, Some(0)).is_starved(mean), "a flow without traffic is not starved");
    }

    /// 4, 4 and 0 Mbit/s: 64 / (3 x 32) = 2/3. Without traffic of the third flow, the other two are perfectly fair.
    #[test]
    fn a_flow_without_traffic_does_not_count() {
        let three = run(vec![flow(4e6, None), flow(0.0, None), flow(4e6, None)]);
        assert!((three.jain_index().unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let (starved, low, least) =
            (three.starved_flows(), three.flows_below_1kbps(), three.min_goodput_bps());
        assert_eq!((starved, low, least), (1, 1, 0.0));
        let two = run(vec![flow(4e6, None), flow(0.0, Some(0)), flow(4e6, None)]);
        assert_eq!(two.jain_index(), Some(1.0));
        assert_eq!((two.starved_flows(), two.flows_below_1kbps(), two.min_goodput_bps()), (0, 0, 4e6));
        assert_eq!((two.mean_goodput_bps(), two.aggregate_goodput_bps()), (4e6, 8e6));
        // ln 4000 for each.
        assert!((two.log_utility() - 16.588).abs() < 1e-3);
    }

    /// Sent before the measured time and delivered in it: no bit of the total is lost.
    #[test]
    fn what_is_left_from_before_counts() {
        let late = run(vec![flow(2e6, Some(0)), flow(2e6, None)]);
        assert_eq!((late.aggregate_goodput_bps(), late.jain_index()), (4e6, Some(1.0)));
    }

    #[test]
    fn nothing_delivered_is_not_fair() {
        let none = run(vec![flow(0.0, None), flow(0.0, Some(5))]);
        assert_eq!((none.jain_index(), none.starved_flows(), none.log_utility()), (None, 2, 0.0));
        let idle = run(vec![flow(0.0, Some(0))]);
        assert_eq!((idle.jain_index(), idle.starved_flows(), idle.min_goodput_bps()), (None, 0, 0.0));
    }
}

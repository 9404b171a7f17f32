//! The numbers of a run: the result contract, as plain data.

use std::collections::BTreeMap;

use airfair_schemes::places::Airtime;
use airfair_units::math;

use super::statistics::jain_index;
use crate::air::StationCounters;

/// A flow's numbers, from its start (or the warm-up's end) to its stop (or the end of the run).
#[derive(Debug, Clone, PartialEq)]
pub struct FlowResult {
    /// Its name.
    pub id: String,
    /// Source node.
    pub src: String,
    /// Destination node.
    pub dst: String,
    /// Bytes delivered to the application (each once, for TCP in order), as a rate.
    pub goodput_bps: f64,
    /// The same as a count.
    pub delivered_bytes: u64,
    /// Packets that the source made.
    pub sent_packets: u64,
    /// Packets that the destination got.
    pub delivered_packets: u64,
    /// Packets sent again by the transport (UDP: none).
    pub retransmissions: u64,
    /// Connections that have met routers which do not speak their scheme, and follow TCP's law since.
    pub fallbacks: u64,
    /// Mean one-way delay.
    pub mean_delay_s: Option<f64>,
    /// The delay that 99 % of the packets do not exceed.
    pub p99_delay_s: Option<f64>,
    /// When a finite flow was complete, after its start.
    pub completion_s: Option<f64>,
    /// Hops of the last packet delivered.
    pub hops: Option<u16>,
    /// Files, each over a connection of its own, where the flow sends such.
    pub files: Option<FilesResult>,
}

/// A queue's numbers from the warm-up's end on.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueResult {
    /// Its node.
    pub node: String,
    /// The radio that it feeds, or the node at the far end of its wired link.
    pub towards: String,
    /// Whether it feeds a wired link.
    pub wired: bool,
    /// Packets that have left it.
    pub packets: u64,
    /// Mean time that they spent in it.
    pub mean_wait_s: Option<f64>,
    /// Mean number of packets in it (Little's law: those that have left count).
    pub mean_packets: f64,
}

/// Files of a flow over the whole run, warm-up included.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesResult {
    /// Begun.
    pub started: u64,
    /// Delivered and acknowledged.
    pub finished: u64,
    /// Mean completion time of those, and the time that 95 % of them do not exceed.
    pub mean_completion_s: Option<f64>,
    /// See `mean_completion_s`.
    pub p95_completion_s: Option<f64>,
    /// By size.
    pub by_size: Vec<SizeClass>,
}

/// Files of similar size.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeClass {
    /// From this size on, bytes, to twice this size less one.
    pub from_bytes: u64,
    /// How many were finished.
    pub finished: u64,
    /// Mean completion time, and the time that 95 % of them do not exceed.
    pub mean_completion_s: f64,
    /// See `mean_completion_s`.
    pub p95_completion_s: f64,
}

/// Where every packet that was made has ended, over the whole run, warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ends {
    /// Made by sources or injected.
    pub made: u64,
    /// Delivered.
    pub delivered: u64,
    /// Dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Waiting in a queue at the end.
    pub queued: u64,
    /// In a MAC's hands at the end.
    pub in_mac: u64,
    /// On a wired link at the end.
    pub on_wire: u64,
    /// Waiting for ARP at the end.
    pub awaiting_arp: u64,
    /// Waiting for a route at the end, where routes are found while the world runs.
    pub awaiting_route: Option<u64>,
}

impl Ends {
    /// Packets that are somewhere inside at the end.
    #[must_use]
    pub fn inside(&self) -> u64 {
        self.queued + self.in_mac + self.on_wire + self.awaiting_arp + self.awaiting_route.unwrap_or(0)
    }
}

/// What the routing protocol of a station's node has done over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoutingCounts {
    /// Route requests that the station sent, its own and others'.
    pub rreq: u64,
    /// Route replies that it sent or passed on.
    pub rrep: u64,
    /// Route errors that it sent.
    pub rerr: u64,
    /// Acknowledgements of replies that it sent.
    pub rrep_ack: u64,
    /// Hello messages that it sent.
    pub hello: u64,
    /// Searches for routes that the node has begun; with its first station.
    pub discoveries: u64,
    /// Those that found nothing; with its first station.
    pub failed: u64,
    /// Links with valid routes that broke; with its first station.
    pub breaks: u64,
}

/// Messages of a station's agent over the whole run. A message to one neighbour is for all that overhear it as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages that it sent.
    pub sent: u64,
    /// Neighbours that did not hear them, message by message.
    pub missed: u64,
    /// Messages of others that it heard, overheard ones included, each once.
    pub heard: u64,
    /// Messages addressed to it alone.
    pub received: u64,
}

/// A station's numbers over the whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct StationResult {
    /// Its node.
    pub node: String,
    /// Its radio.
    pub radio: String,
    /// Time in each radio state; the five add up to the run in nanoseconds.
    pub airtime: Airtime,
    /// What it sent, received and lost.
    pub counters: StationCounters,
    /// Messages of its agent, where the scheme has agents.
    pub messages: Option<MessageCounts>,
    /// What its routing has done, where routes are found while the world runs.
    pub routing: Option<RoutingCounts>,
}

/// A run's numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// The scheme's name.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// Length of the run.
    pub duration_s: f64,
    /// What was cut off.
    pub warmup_s: f64,
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowResult>,
    /// Drops by reason over the whole run.
    pub drops: BTreeMap<String, u64>,
    /// Packets marked instead of dropped, by reason, over the whole run.
    pub marks: BTreeMap<String, u64>,
    /// Where every packet has ended.
    pub ends: Ends,
    /// Queues of every output interface.
    pub queues: Vec<QueueResult>,
    /// Stations.
    pub stations: Vec<StationResult>,
    /// What one should look at before trusting the numbers.
    pub warnings: Vec<String>,
    /// Events handled.
    pub events: u64,
    /// Frames sent on the air.
    pub transmissions: u64,
}

impl RunResult {
    /// Sorted, so that sums do not depend on the order of the flows in a file.
    fn goodputs(&self) -> Vec<f64> {
        let mut goodputs: Vec<f64> = self.flows.iter().map(|f| f.goodput_bps).collect();
        goodputs.sort_by(f64::total_cmp);
        goodputs
    }

    /// Jain's index of the goodputs.
    #[must_use]
    pub fn jain_index(&self) -> f64 {
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

    /// The smallest goodput; 0 without flows.
    #[must_use]
    pub fn min_goodput_bps(&self) -> f64 {
        self.goodputs().into_iter().reduce(f64::min).unwrap_or(0.0)
    }

    /// Flows below 1 % of the mean goodput of the run.
    #[must_use]
    pub fn starved_flows(&self) -> usize {
        let goodputs = self.goodputs();
        let mean = goodputs.iter().sum::<f64>() / goodputs.len().max(1) as f64;
        goodputs.iter().filter(|&&g| g < 0.01 * mean).count()
    }

    /// Flows below 1 kbit/s.
    #[must_use]
    pub fn flows_below_1kbps(&self) -> usize {
        self.goodputs().iter().filter(|&&g| g < 1000.0).count()
    }

    /// For each node with a radio: the share of time in which its medium is physically busy, own transmissions included
    /// (the busiest of its radios).
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

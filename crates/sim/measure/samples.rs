//! Counters of the parts of a world at a moment, as values.

use airfair_schemes::places::Airtime;
use airfair_units::{Span, Time};

/// Counters of a flow from the start of the run to a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FlowSample {
    /// Bytes delivered to the application.
    pub delivered_bytes: u64,
    /// Packets with payload that have arrived.
    pub delivered_packets: u64,
    /// Packets with payload that the source has made.
    pub sent_packets: u64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Congestion window, bytes; of an open connection, unless the flow sends files.
    pub window_bytes: Option<u64>,
    /// Smoothed round-trip time.
    pub rtt: Option<Span>,
}

/// State and counters of a queue at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueSample {
    /// Packets that wait.
    pub packets: u64,
    /// Packets that have left since the start of the run.
    pub left: u64,
    /// Sum of their waiting times.
    pub waited: Span,
    /// Packets of flows acknowledged by the next hop's MAC since the measurement began ([`crate::World::measure_links`]).
    pub acknowledged: u64,
    /// Sum of their times from arrival in the queue to the acknowledgement.
    pub link_delay: Span,
    /// Sum of the squares of these times, ns².
    pub link_delay_squares: u128,
}

/// Counters of a station from the start of the run to a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StationSample {
    /// Time in each radio state.
    pub airtime: Airtime,
    /// Frames sent.
    pub frames: u64,
    /// CTS and ACK that were not received.
    pub no_answer: u64,
    /// Packets given up.
    pub given_up: u64,
    /// Packets in its MAC.
    pub held: u64,
}

/// Internal values, by name, of an agent, a controller, a hop or a queue, with the index of its station, of itself, or of its queue.
pub type Gauges = (usize, Vec<(&'static str, f64)>);

/// State of a world at a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowSample>,
    /// Queues, in the order of [`crate::World::queues`].
    pub queues: Vec<QueueSample>,
    /// Stations, in the order of [`crate::World::stations`].
    pub stations: Vec<StationSample>,
    /// Internal values of the stations' agents, by name, for those that have any.
    pub agents: Vec<Gauges>,
    /// Internal values of controllers, by their places in the results, for those that have any.
    pub controllers: Vec<Gauges>,
    /// Internal values of the hops at queues, for those that have any.
    pub hops: Vec<Gauges>,
    /// Internal values of the queues themselves, for those that have any.
    pub queue_gauges: Vec<Gauges>,
}

/// Progress of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowProgress {
    /// Start of the flow, jitter included.
    pub start: Time,
    /// Stop of the flow, at the latest the end of the run.
    pub stop: Time,
    /// True if its only file is complete.
    pub complete: bool,
    /// Bytes delivered to the application since the start of the run.
    pub delivered_bytes: u64,
}

//! What parts of a world have counted by a moment, as values.

use airfair_schemes::places::Airtime;
use airfair_units::{Span, Time};

/// A flow at a moment, counted from the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FlowSample {
    /// Bytes that have reached the application.
    pub delivered_bytes: u64,
    /// Packets with payload that have arrived.
    pub delivered_packets: u64,
    /// Packets with payload that the source has made.
    pub sent_packets: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Congestion window now, bytes; of a connection that lives, unless the flow sends files.
    pub window_bytes: Option<u64>,
    /// Smoothed round-trip time now.
    pub rtt: Option<Span>,
}

/// A queue at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueSample {
    /// Packets that wait now.
    pub packets: u64,
    /// Packets that have left it since the start of the run.
    pub left: u64,
    /// Time that those have waited.
    pub waited: Span,
    /// Packets of flows that the next hop's MAC has acknowledged, since the link is measured ([`crate::World::measure_links`]).
    pub acknowledged: u64,
    /// Times of those from their arrival in the queue to the acknowledgement, added up.
    pub link_delay: Span,
    /// Their squares, ns².
    pub link_delay_squares: u128,
}

/// A station at a moment, counted from the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StationSample {
    /// Time in each radio state.
    pub airtime: Airtime,
    /// Frames sent.
    pub frames: u64,
    /// CTS and ACK that did not come.
    pub no_answer: u64,
    /// Packets given up.
    pub given_up: u64,
    /// Packets that its MAC holds now, taken from the queue.
    pub held: u64,
}

/// Inner values, by name, of what stands at a station or a queue, with the index of that.
pub type Gauges = (usize, Vec<(&'static str, f64)>);

/// Everything at a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowSample>,
    /// Queues, in the order of [`crate::World::queues`].
    pub queues: Vec<QueueSample>,
    /// Stations, in the order of [`crate::World::stations`].
    pub stations: Vec<StationSample>,
    /// Inner values of the stations' agents, by name, for those that have any.
    pub agents: Vec<Gauges>,
    /// Inner values of the hops at queues, for those that have any.
    pub hops: Vec<Gauges>,
}

/// How far a flow has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowProgress {
    /// When it starts, jitter included.
    pub start: Time,
    /// When it stops, at the latest the end of the run.
    pub stop: Time,
    /// Whether its only file is complete.
    pub complete: bool,
    /// Bytes that have reached the application since the start of the run.
    pub delivered_bytes: u64,
}

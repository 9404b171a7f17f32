//! Time series: differences of monotone counters over intervals.
//!
//! Sampling does not affect the run: a world that is advanced in steps behaves as one that runs to its end. Rows are stored as columns: all
//! flows (queues, stations) of the first interval, then all of the second.

use airfair_units::{Span, Time};

use super::{Observer, WorldView};
use crate::measure::samples::{Gauges, Snapshot};

/// A row for each interval and flow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowSeries {
    /// Bytes delivered to the application in the interval.
    pub delivered_bytes: Vec<u64>,
    /// Packets with payload that arrived.
    pub delivered_packets: Vec<u64>,
    /// Packets with payload that the source made.
    pub sent_packets: Vec<u64>,
    /// Segments retransmitted.
    pub retransmissions: Vec<u64>,
    /// Congestion window at the end of the interval, bytes; NaN where there is none.
    pub window_bytes: Vec<f64>,
    /// Smoothed round-trip time at the end of the interval, s; NaN where there is none.
    pub rtt_s: Vec<f64>,
}

/// A row for each interval and queue.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueueSeries {
    /// Packets that waited at the end of the interval.
    pub packets: Vec<u64>,
    /// Packets that left in the interval.
    pub left: Vec<u64>,
    /// Mean waiting time of those packets, s; NaN if none left.
    pub mean_wait_s: Vec<f64>,
    /// Packets of flows acknowledged by the next hop's MAC; 0 for a wire, or a link that is not measured.
    pub acknowledged: Vec<u64>,
    /// Mean time from arrival in the queue to the acknowledgement, s; NaN without such packets.
    pub mean_link_delay_s: Vec<f64>,
    /// Standard deviation of that time, s.
    pub link_delay_deviation_s: Vec<f64>,
}

/// A row for each interval and station.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChannelSeries {
    /// Time in each radio state, s; the five add up to the interval.
    pub transmit_s: Vec<f64>,
    /// See `transmit_s`.
    pub receive_s: Vec<f64>,
    /// See `transmit_s`.
    pub busy_s: Vec<f64>,
    /// See `transmit_s`.
    pub nav_s: Vec<f64>,
    /// See `transmit_s`.
    pub idle_s: Vec<f64>,
    /// Frames sent in the interval.
    pub frames: Vec<u64>,
    /// CTS and ACK that were not received.
    pub no_answer: Vec<u64>,
    /// Packets given up at the retry limit.
    pub given_up: Vec<u64>,
    /// Packets in its MAC at the end of the interval.
    pub held: Vec<u64>,
}

/// A row for each interval and place with internal values: a station by its agent, a controller, a queue by its hop or by
/// itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GaugeSeries {
    /// Indices of those stations, controllers or queues.
    pub places: Vec<usize>,
    /// Names of the values.
    pub names: Vec<&'static str>,
    /// A column for each name: the values at the end of the interval, NaN for a place that has none of that name.
    pub values: Vec<Vec<f64>>,
}

impl GaugeSeries {
    /// Names and places are those at the start: every name that a place has, since nodes may have schemes of their own.
    fn new(gauges: &[Gauges]) -> Self {
        let mut names: Vec<&'static str> = Vec::new();
        for &(name, _) in gauges.iter().flat_map(|(_, gauges)| gauges) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let places = gauges.iter().map(|&(place, _)| place).collect();
        Self { places, values: vec![Vec::new(); names.len()], names }
    }

    /// Adds a row; missing values are NaN.
    fn add(&mut self, gauges: &[Gauges]) {
        for &place in &self.places {
            let gauges = gauges.iter().find(|(other, _)| *other == place);
            for (name, column) in self.names.iter().zip(&mut self.values) {
                let value = gauges.and_then(|(_, gauges)| gauges.iter().find(|(other, _)| other == name));
                column.push(value.map_or(f64::NAN, |&(_, value)| value));
            }
        }
    }
}

/// Time series of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// End of each interval, s since the start of the run; the last interval may be shorter.
    pub end_s: Vec<f64>,
    /// Series of flows.
    pub flows: FlowSeries,
    /// Series of queues.
    pub queues: QueueSeries,
    /// Series of stations.
    pub channel: ChannelSeries,
    /// Internal values of agents.
    pub agents: GaugeSeries,
    /// Internal values of controllers; NaN while one does not run.
    pub controllers: GaugeSeries,
    /// Internal values of hops.
    pub hops: GaugeSeries,
    /// Internal values of queues.
    pub queue_gauges: GaugeSeries,
}

/// Observer that samples a world at the end of each interval.
#[derive(Debug)]
pub(crate) struct Sampler {
    interval: Span,
    /// Start and end of the present interval.
    from: Time,
    next: Time,
    last: Snapshot,
    series: Series,
}

fn seconds(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e9
}

/// Mean and standard deviation, s, of `n` times from their sum, ns, and the sum of their squares, ns²; NaN for none.
fn moments(n: u64, sum: u64, squares: u128) -> (f64, f64) {
    let mean = sum as f64 / n as f64;
    // n² times the variance, exact: times of a run are far below 2^64 ns.
    let scaled = u128::from(n).saturating_mul(squares).saturating_sub(u128::from(sum) * u128::from(sum));
    (mean / 1e9, (scaled as f64).sqrt() / n as f64 / 1e9)
}

impl Sampler {
    /// Intervals from the present of `world` on. An interval of zero counts as one nanosecond.
    pub(crate) fn new(world: &WorldView<'_>, interval: Span) -> Self {
        let interval = interval.max(Span(1));
        let next = world.now.saturating_add(interval).min(world.run.end);
        let last = world.snapshot();
        let series = Series {
            agents: GaugeSeries::new(&last.agents),
            controllers: GaugeSeries::new(&last.controllers),
            hops: GaugeSeries::new(&last.hops),
            queue_gauges: GaugeSeries::new(&last.queue_gauges),
            ..Series::default()
        };
        Self { interval, from: world.now, next, last, series }
    }

    /// Series of the completed intervals, and of the one that has begun: a run may be ended early.
    pub(crate) fn finish(mut self, world: &WorldView<'_>) -> Series {
        if self.next != Time::NEVER && world.now > self.from {
            self.next = world.now;
            self.moment_reached(world);
        }
        self.series
    }
}

impl Observer for Sampler {
    /// End of the present interval.
    fn next_moment(&self) -> Time {
        self.next
    }

    fn moment_reached(&mut self, world: &WorldView<'_>) {
        if world.now < self.next {
            return;
        }
        let (now, then) = (world.snapshot(), std::mem::take(&mut self.last));
        self.series.end_s.push(world.now.as_secs_f64());
        for (now, then) in now.flows.iter().zip(&then.flows) {
            let flows = &mut self.series.flows;
            flows.delivered_bytes.push(now.delivered_bytes - then.delivered_bytes);
            flows.delivered_packets.push(now.delivered_packets - then.delivered_packets);
            flows.sent_packets.push(now.sent_packets - then.sent_packets);
            flows.retransmissions.push(now.retransmissions - then.retransmissions);
            flows.window_bytes.push(now.window_bytes.map_or(f64::NAN, |bytes| bytes as f64));
            flows.rtt_s.push(now.rtt.map_or(f64::NAN, Span::as_secs_f64));
        }
        for (now, then) in now.queues.iter().zip(&then.queues) {
            let queues = &mut self.series.queues;
            let left = now.left - then.left;
            queues.packets.push(now.packets);
            queues.left.push(left);
            queues.mean_wait_s.push(seconds(Span(now.waited.0 - then.waited.0)) / left as f64);
            let acknowledged = now.acknowledged - then.acknowledged;
            let (mean, deviation) = moments(
                acknowledged,
                now.link_delay.0 - then.link_delay.0,
                now.link_delay_squares - then.link_delay_squares,
            );
            queues.acknowledged.push(acknowledged);
            queues.mean_link_delay_s.push(mean);
            queues.link_delay_deviation_s.push(deviation);
        }
        for (now, then) in now.stations.iter().zip(&then.stations) {
            let channel = &mut self.series.channel;
            // A carrier that turns out to be a frame moves from one state to another.
            let airtime = now.airtime - then.airtime;
            channel.transmit_s.push(seconds(airtime.transmit));
            channel.receive_s.push(seconds(airtime.receive));
            channel.busy_s.push(seconds(airtime.busy));
            channel.nav_s.push(seconds(airtime.nav));
            channel.idle_s.push(seconds(airtime.idle));
            channel.frames.push(now.frames - then.frames);
            channel.no_answer.push(now.no_answer - then.no_answer);
            channel.given_up.push(now.given_up - then.given_up);
            channel.held.push(now.held);
        }
        self.series.agents.add(&now.agents);
        self.series.controllers.add(&now.controllers);
        self.series.hops.add(&now.hops);
        self.series.queue_gauges.add(&now.queue_gauges);
        (self.last, self.from) = (now, world.now);
        let next = self.next.saturating_add(self.interval).min(world.run.end);
        self.next = if next > world.now { next } else { Time::NEVER };
    }
}

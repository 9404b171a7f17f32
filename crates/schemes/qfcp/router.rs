//! The router's part (§II, equations 1, 2 and 6): one fair share R for each output interface, the same for all flows.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Rate, Span, Time};

use super::capacity::{Capacity, Observed};
use super::header::{self, KIND};
use crate::places::{Backlog, Finished, Header, HeaderKind, Hop, HopContext, PacketClass, Passage, Timer};
use crate::words;

/// The end of a control interval.
const INTERVAL: Timer = Timer(0);

/// The longest round-trip time that moves T, us.
const LONGEST_RTT_US: u32 = 10_000_000;

/// Least numerator of equation 2, as a part of C.
const LEAST_SHARE: f64 = 0.01;

/// A packet, bytes.
const ONE_PACKET: f64 = 1500.0;

/// The excess of packets given up that is no accident.
const MANY_GIVEN_UP: f64 = 4.0;

words! {
    /// R(t - T) of equation 1: `docs/schemes/qfcp.md` compares how R swings.
    pub enum Divisor {
        /// The share in force while y was measured.
        InForce = "in-force",
        /// The share one interval earlier.
        Previous = "previous",
        /// The mean of both.
        Mean = "mean",
    }
}

impl Divisor {
    /// Bytes/s, from the share in force and the one an interval earlier.
    fn of(self, in_force: u32, previous: u32) -> f64 {
        match self {
            Self::InForce => f64::from(in_force),
            Self::Previous => f64::from(previous),
            Self::Mean => f64::midpoint(f64::from(in_force), f64::from(previous)),
        }
    }
}

/// The constants of a router.
#[derive(Debug, Clone, Copy)]
pub struct RouterConfig {
    /// The constant beta.
    pub beta: f64,
    /// Weight of a packet's RTT in T, as a part of 2^16.
    pub rtt_gain: i64,
    /// Bounds of T.
    pub intervals: (Span, Span),
    /// T at the start.
    pub first_interval: Span,
    /// R at the start, as a part of C.
    pub initial_share: f64,
    /// True if drops count in equation 4 as they do in equation 2.
    pub drops_are_busy: bool,
    /// The divisor of y in equation 1.
    pub divisor: Divisor,
    /// Bytes that each packet of q counts as in equation 2; `None`: its own.
    pub packet: Option<f64>,
    /// Largest factor by which R rises in an interval.
    pub rise: f64,
    /// True if the hop speaks for the interfaces from which it receives: they count as ones with support.
    pub speaks_for_stations: bool,
    /// How long the hop leaves control to TCP after a packet of a sender that states interfaces without support; 0: it never does.
    pub yields_for: Span,
    /// Share of the packets that the MAC gives up above which the hop yields: the air is not the cell's alone. 1: it never does.
    pub most_given_up: f64,
}

/// QFCP beside an output interface.
#[derive(Debug, Clone)]
pub struct QfcpRouter {
    config: RouterConfig,
    capacity: Capacity,
    /// R, bytes/s: the rate to which headers are lowered.
    share: u32,
    /// R one interval earlier, bytes/s.
    previous: u32,
    /// T in 1/256 us.
    interval: i64,
    /// The beginning of the present interval.
    began: Time,
    /// Bytes that have arrived in it for sending, dropped ones included.
    arrived: u64,
    /// Bytes received through the interface in it.
    received: u64,
    dropped: u64,
    dropped_packets: u32,
    /// The end of the time for which the hop leaves control to TCP.
    yields_until: Option<Time>,
    /// Packets that the MAC has given up, less `most_given_up` for each packet that it has finished.
    given_up: f64,
    /// The least backlog at an arrival in it.
    least: Option<Backlog>,
    /// The backlog at its beginning, bytes.
    backlog_before: u64,
    /// y and N of the last interval, for gauges.
    input: f64,
    flows: f64,
}

impl QfcpRouter {
    /// A router before its first packet.
    #[must_use]
    pub fn new(config: RouterConfig, capacity: Capacity) -> Self {
        let share = header_rate(config.initial_share * capacity.bytes_per_second());
        Self {
            config,
            capacity,
            share,
            previous: share,
            interval: us(config.first_interval),
            began: Time::ZERO,
            arrived: 0,
            received: 0,
            dropped: 0,
            dropped_packets: 0,
            yields_until: None,
            given_up: 0.0,
            least: None,
            backlog_before: 0,
            input: 0.0,
            flows: 1.0,
        }
    }

    /// The control interval T.
    fn interval(&self) -> Span {
        let (least, most) = self.config.intervals;
        Span((self.interval.unsigned_abs() * 1000) >> 8).max(least).min(most)
    }

    /// Control is left to TCP from now on, for as long as is configured.
    fn begin_to_yield(&mut self, now: Time) {
        if self.config.yields_for > Span::ZERO {
            self.yields_until = Some(now.saturating_add(self.config.yields_for));
        }
    }

    /// True while control is left to TCP.
    fn yields(&self) -> bool {
        self.yields_until.is_some()
    }

    /// A packet of either direction: T moves towards its round-trip time, its request is lowered to R.
    #[inline]
    fn stamp(&mut self, class: PacketClass, header: Option<&mut Header>, now: Time) {
        let Some(header) = header else { return };
        // A hop that yields is itself one of the interfaces without support.
        let states = class == PacketClass::Data && header.unsupported > u8::from(self.yields());
        if states {
            self.begin_to_yield(now);
        }
        if let Some(rtt) = header::rtt_us(header).filter(|&rtt| rtt <= LONGEST_RTT_US) {
            self.interval += (((i64::from(rtt) << 8) - self.interval) * self.config.rtt_gain) >> 16;
        }
        if !self.yields() {
            header::grant(header, self.share);
        }
    }

    /// Ends a control interval of `seconds`: C by equation 4, N by 1, R by 2 and 6. `least` is the least backlog at an arrival in it.
    fn end_interval(&mut self, seconds: f64, least: Backlog, now: Backlog) {
        // Carried: the bytes that the queue accepted, less the growth of the backlog, and the bytes received.
        let admitted = self.arrived.saturating_sub(self.dropped);
        let carried = admitted
            .saturating_add(self.backlog_before)
            .saturating_sub(now.bytes)
            .saturating_add(self.received);
        let drops = if self.config.drops_are_busy { self.dropped_packets } else { 0 };
        self.capacity.update(&Observed {
            output: carried as f64 / seconds,
            busy: least.packets.saturating_add(drops) >= 1,
            used: carried > 0,
        });
        self.input = (self.arrived.saturating_add(self.received)) as f64 / seconds;
        // Equation 1.
        self.flows = (self.input / self.config.divisor.of(self.share, self.previous)).max(1.0);
        let capacity = self.capacity.bytes_per_second();
        // Equation 6.
        let virtual_queue = match self.config.packet {
            Some(size) => size * (f64::from(least.packets) + f64::from(self.dropped_packets)),
            None => least.bytes as f64 + self.dropped as f64,
        };
        // Equation 2.
        let left = (capacity - self.config.beta * virtual_queue / seconds).max(LEAST_SHARE * capacity);
        // A share of less than a packet an interval may rise to that at once: what is `rise` times next to nothing stays next to nothing.
        let most = self.config.rise * f64::from(self.share).max(ONE_PACKET / seconds);
        self.previous = core::mem::replace(&mut self.share, header_rate((left / self.flows).min(most)));
    }
}

/// A rate as headers carry it: at least 1 byte/s, below the value that means no limit.
fn header_rate(bytes_per_second: f64) -> u32 {
    (bytes_per_second as u32).clamp(1, u32::MAX - 1)
}

fn us(span: Span) -> i64 {
    i64::try_from((span.0 << 8) / 1000).unwrap_or(i64::MAX)
}

impl Hop for QfcpRouter {
    fn header(&self) -> &'static HeaderKind {
        &KIND
    }

    fn on_start(&mut self, context: &mut HopContext<'_>) {
        self.began = context.now;
        context.out.timers.push((INTERVAL, context.now.saturating_add(self.interval())));
    }

    #[inline]
    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        self.arrived += u64::from(passage.bytes);
        self.least = Some(self.least.map_or(passage.backlog, |least| smaller(least, passage.backlog)));
        self.stamp(passage.class, header, now);
    }

    fn supports(&self) -> bool {
        !self.yields()
    }

    /// A call would wait in the queue of the bulk flows.
    fn wants_one_queue(&self) -> bool {
        false
    }

    fn on_drop(&mut self, bytes: u32) {
        self.dropped += u64::from(bytes);
        self.dropped_packets = self.dropped_packets.saturating_add(1);
    }

    fn on_receive(&mut self, passage: &Passage, mut header: Option<&mut Header>, now: Time) {
        self.received += u64::from(passage.bytes);
        if let Some(header) =
            header.as_deref_mut().filter(|_| self.config.speaks_for_stations && !self.yields())
        {
            header.supported = header.supported.saturating_add(1);
        }
        self.stamp(passage.class, header, now);
    }

    fn on_finished(&mut self, finished: &Finished, now: Time) {
        let failed = f64::from(u8::from(!finished.acknowledged));
        self.given_up = (self.given_up + failed - self.config.most_given_up).clamp(0.0, MANY_GIVEN_UP);
        if self.given_up >= MANY_GIVEN_UP - 1.0 && failed > 0.0 {
            self.begin_to_yield(now);
        }
    }

    fn on_rate(&mut self, rate: Rate) {
        self.capacity.set_rate(rate.as_bps() as f64 / 8.0);
    }

    fn on_timer(&mut self, _timer: Timer, backlog: Backlog, context: &mut HopContext<'_>) {
        let seconds = context.now.since(self.began).0.max(1) as f64 / 1e9;
        let least = self.least.map_or(backlog, |least| smaller(least, backlog));
        self.end_interval(seconds, least, backlog);
        self.yields_until = self.yields_until.filter(|&until| context.now < until);
        (self.arrived, self.received, self.dropped, self.dropped_packets) = (0, 0, 0, 0);
        (self.least, self.backlog_before, self.began) = (None, backlog.bytes, context.now);
        context.out.timers.push((INTERVAL, context.now.saturating_add(self.interval())));
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("capacity_bps", 8.0 * self.capacity.bytes_per_second()),
            ("fair_share_bps", 8.0 * f64::from(self.share)),
            ("flows", self.flows),
            ("input_bps", 8.0 * self.input),
            ("interval_s", self.interval().0 as f64 / 1e9),
        ]
    }
}

/// The smaller of two backlogs, packets and bytes apart: both fall and rise together but for the sizes of packets.
#[inline]
fn smaller(a: Backlog, b: Backlog) -> Backlog {
    Backlog { packets: a.packets.min(b.packets), bytes: a.bytes.min(b.bytes) }
}

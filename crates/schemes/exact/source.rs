//! The source: the rate of the last report at once, and the safety window.

use airfair_units::{Rate, Span, Time};

use super::header::{STAMP, read_report, start};
use crate::explicit::{Rtt, RttChoice};
use crate::places::{Allowance, FlowSetup, Header, HeaderKind, Sent, Source, SourceContext};

/// The round-trip time before one is measured: a packet in it is the first rate; open in the texts.
const FIRST_ROUND_TRIP: Span = Span::from_secs(1);
/// The rate of a source whose safety window is full, packets/s; open in the texts.
const PROBES: u64 = 1;
/// Packets that the safety window has beside its round trips; open in the texts.
const SPARE: f64 = 4.0;

/// The constants of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SourceConfig {
    /// kappa.
    pub safety: f64,
}

/// The source of a flow.
#[derive(Debug, Clone)]
pub struct ExactSource {
    config: SourceConfig,
    /// Mean payload, and what headers add to it, bytes.
    payload: u64,
    headers: u64,
    /// The largest rate that has a use, bytes/s of IP packets: that of the first hop's link.
    wish: u32,
    /// The rate, bytes/s of IP packets; `None` before the first report.
    rate: Option<u32>,
    /// The number of the next packet, and of the newest that was reported.
    next: u32,
    reported: Option<u32>,
    round_trip: Rtt,
    /// The packet whose round-trip time is measured: its number and departure.
    timed: Option<(u32, Time)>,
}

impl ExactSource {
    /// A source before its flow starts.
    #[must_use]
    pub const fn new(config: SourceConfig) -> Self {
        Self {
            config,
            payload: 1,
            headers: 0,
            wish: u32::MAX,
            rate: None,
            next: 0,
            reported: None,
            round_trip: Rtt::new(RttChoice::Smoothed),
            timed: None,
        }
    }

    fn packet(&self) -> u64 {
        self.payload + self.headers
    }

    /// Packets that have left since the newest that was reported.
    fn unreported(&self) -> u32 {
        match self.reported {
            Some(reported) => self.next.wrapping_sub(reported).wrapping_sub(1),
            None => self.next,
        }
    }

    /// The safety window is full: nothing was heard of more than it may hold.
    fn is_full(&self) -> bool {
        let Some(rate) = self.rate else { return self.next > 0 };
        let round_trip = self.round_trip.get().unwrap_or(FIRST_ROUND_TRIP).as_secs_f64();
        let most = self.config.safety * f64::from(rate) * round_trip / self.packet() as f64 + SPARE;
        f64::from(self.unreported()) >= most
    }

    /// The rate at which it may send, bytes/s of IP packets.
    fn current(&self) -> u32 {
        let slow = u32::try_from(PROBES * self.packet()).unwrap_or(u32::MAX);
        match self.rate {
            Some(rate) if !self.is_full() => rate.max(slow),
            _ => slow,
        }
    }
}

impl Source for ExactSource {
    fn on_start(&mut self, setup: &FlowSetup, _: &mut SourceContext<'_>) {
        (self.payload, self.headers) = (setup.mss.get().max(1), setup.headers.get());
        let link = setup.link.map_or(u64::MAX, |link| link.as_bps() / 8);
        self.wish = u32::try_from(link).unwrap_or(u32::MAX);
    }

    fn on_sent(&mut self, _: &Sent, context: &mut SourceContext<'_>) {
        // The packet has the number before `next`, since its header was filled before.
        self.timed.get_or_insert((self.next.wrapping_sub(1), context.now));
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&STAMP)
    }

    fn stamp(&mut self, header: &mut Header, _: Time) {
        start(header, self.wish, self.current(), self.next);
        self.next = self.next.wrapping_add(1);
    }

    fn on_report(&mut self, report: &[u8], context: &mut SourceContext<'_>) {
        let Some(feedback) = read_report(report) else { return };
        // Of a packet that has not left, or an old report that was overtaken.
        let age = self.next.wrapping_sub(feedback.sequence).wrapping_sub(1);
        if age > self.unreported() {
            return;
        }
        if let Some((number, at)) =
            self.timed.filter(|timed| feedback.sequence.wrapping_sub(timed.0) < 1 << 31)
        {
            // A later report tells nothing of the timed packet, which may be lost.
            if number == feedback.sequence {
                self.round_trip.observe(context.now.since(at));
            }
            self.timed = None;
        }
        self.reported = Some(feedback.sequence);
        self.rate = Some(feedback.explicit_rate.min(self.wish));
    }

    fn allowance(&self, _: Time) -> Allowance {
        let bits = u128::from(self.current()) * 8 * u128::from(self.payload) / u128::from(self.packet());
        let rate = Rate(u64::try_from(bits).unwrap_or(u64::MAX).max(1));
        Allowance { window: None, rate: Some(rate), quantum: None }
    }
}

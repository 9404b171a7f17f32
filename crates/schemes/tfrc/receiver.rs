//! The receiver's part: the loss event rate, the receive rate, and reports once a round-trip time [RFC 5348 §6].

use alloc::collections::VecDeque;

use airfair_units::{Span, Time};

use super::equation::Path;
use super::header::{Data, Report};
use super::history::{History, Rules};
use crate::places::{Arrived, Ecn, LossEvents, Receiver as Place, ReceiverContext, Timer};

/// The feedback timer.
pub(crate) const FEEDBACK: Timer = Timer(1);

/// Expiries of the feedback timer that are kept for the receive rate.
const EXPIRIES: usize = 16;

/// The least X_target after the first loss event, packets in a round-trip time [§6.3.1].
const LEAST_TARGET: f64 = 0.5;

/// The constants of a receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReceiverConfig {
    /// The rules of the loss history.
    pub rules: Rules,
    /// The rate after the first loss event, as a part of the largest receive rate [§6.3.1].
    pub first_share: f64,
    /// b and the least t_RTO of the equation [§3.1].
    pub per_ack: f64,
    /// See `per_ack`, s.
    pub least_rto: f64,
}

/// TFRC's receiver.
#[derive(Debug, Clone)]
pub struct Receiver {
    config: ReceiverConfig,
    history: History,
    /// R_m, the sender's round-trip time as the last packet has it.
    rtt: Option<Span>,
    /// Packets and bytes received.
    packets: u64,
    bytes: u64,
    /// Time of sending, us, and arrival of the last packet.
    last: (u32, Time),
    /// Expiries of the feedback timer, early ones too, with the bytes received by then; the newest last.
    expiries: VecDeque<(Time, u64)>,
    /// The feedback timer is set.
    running: bool,
    /// Data has arrived since the last report.
    unreported: bool,
    /// The largest X_recv so far, bytes/s.
    most_received: f64,
}

impl Receiver {
    /// A receiver that has received nothing.
    #[must_use]
    pub fn new(config: ReceiverConfig) -> Self {
        Self {
            config,
            history: History::new(config.rules),
            rtt: None,
            packets: 0,
            bytes: 0,
            last: (0, Time::ZERO),
            expiries: VecDeque::with_capacity(EXPIRIES),
            running: false,
            unreported: false,
            most_received: 0.0,
        }
    }

    /// X_recv, bytes/s: since the newest expiry that is at least a round-trip time old, or else since the first [§6.2, step 2].
    fn received(&self, now: Time) -> f64 {
        let rtt = self.rtt.unwrap_or(Span::ZERO).max(Span(1));
        let old = self.expiries.iter().rev().find(|expiry| now.since(expiry.0) >= rtt);
        let Some(&(since, bytes)) = old.or(self.expiries.front()) else { return 0.0 };
        let span = now.since(since);
        if span == Span::ZERO { 0.0 } else { (self.bytes - bytes) as f64 / span.as_secs_f64() }
    }

    /// The length of the interval before the first loss event: that at which the equation gives X_target [§6.3.1]. `received`: the
    /// largest receive rate; `segment`: the mean payload of a packet.
    fn first_interval(config: &ReceiverConfig, received: f64, segment: f64, rtt: Span) -> f64 {
        let rtt = rtt.as_secs_f64().max(1e-6);
        let path = Path { segment, rtt, least_rto: config.least_rto, per_ack: config.per_ack };
        let target = (config.first_share * received).max(LEAST_TARGET * segment / rtt);
        1.0 / path.loss(target)
    }

    fn note_expiry(&mut self, at: Time, bytes: u64) {
        if self.expiries.len() == EXPIRIES {
            self.expiries.pop_front();
        }
        self.expiries.push_back((at, bytes));
    }

    /// Sends a report, and sets the feedback timer if the round-trip time is known [§6.2].
    fn report(&mut self, context: &mut ReceiverContext<'_>) {
        let now = context.now;
        let received = self.received(now);
        self.most_received = self.most_received.max(received);
        let (sent_us, at) = self.last;
        let loss = self.history.loss_event_rate();
        let report = Report { sent_us, delay: now.since(at), received, loss };
        context.out.reports.extend(report.encode());
        self.unreported = false;
        self.note_expiry(now, self.bytes);
        self.running = self.rtt.is_some();
        if let Some(rtt) = self.rtt {
            context.out.timers.push((FEEDBACK, now.saturating_add(rtt)));
        }
    }

    /// Data arrives while the feedback timer is not set, since it expired without data. It would have expired each round-trip time since:
    /// it is set to the next of these times [§6.2].
    fn resume(&mut self, bytes_before: u64, context: &mut ReceiverContext<'_>) {
        let (Some(rtt), Some(&(last, _))) = (self.rtt, self.expiries.back()) else { return };
        let passed = context.now.since(last).0 / rtt.0.max(1);
        let missed = last.saturating_add(Span(passed.saturating_mul(rtt.0)));
        if passed > 0 {
            self.note_expiry(missed, bytes_before);
        }
        self.running = true;
        context.out.timers.push((FEEDBACK, missed.saturating_add(rtt)));
    }
}

impl Place for Receiver {
    fn on_data(&mut self, arrived: &Arrived, context: &mut ReceiverContext<'_>) {
        let (data, now) = (Data::read(arrived.header.fields), context.now);
        let (first, bytes_before) = (self.packets == 0, self.bytes);
        self.rtt = data.rtt.or(self.rtt);
        self.packets += 1;
        self.bytes += arrived.bytes.get();
        self.last = (data.sent_us, now);
        self.unreported = true;
        let before = self.history.loss_event_rate();
        let rtt = self.rtt.unwrap_or(Span::ZERO);
        let most = self.most_received.max(self.received(now));
        let (config, segment) = (self.config, self.bytes as f64 / self.packets as f64);
        let mut first_interval = || Self::first_interval(&config, most, segment.max(1.0), rtt);
        let packet = (data.sequence, arrived.ecn == Ecn::Ce);
        let event = self.history.add(packet, now, rtt, &mut first_interval);
        if first || self.rtt.is_none() || (event && self.history.loss_event_rate() > before) {
            self.report(context);
        } else if !self.running {
            self.resume(bytes_before, context);
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut ReceiverContext<'_>) {
        if timer != FEEDBACK || !self.running {
            return;
        }
        if self.unreported {
            self.report(context);
        } else {
            self.running = false;
            self.note_expiry(context.now, self.bytes);
        }
    }

    fn loss_events(&self) -> Option<LossEvents> {
        Some(LossEvents { count: self.history.events(), rate: self.history.loss_event_rate() })
    }
}

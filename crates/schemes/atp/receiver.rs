//! The receiver: the average of the delays that packets bring, and a report of the rate each epoch.

use airfair_units::{Span, Time};

use super::Collate;
use super::header::{delay, is_probe, report};
use crate::places::{Arrived, Receiver, ReceiverContext, Timer};

/// The end of an epoch.
const EPOCH: Timer = Timer(1);

/// The constants of a receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReceiverConfig {
    /// E.
    pub epoch: Span,
    /// beta, weight of the old average.
    pub beta: f64,
    /// The delay of which the rate is reported.
    pub collate: Collate,
}

/// The receiver of a flow.
#[derive(Debug, Clone)]
pub struct AtpReceiver {
    config: ReceiverConfig,
    /// Average delay, s.
    average: Option<f64>,
    /// Largest delay of the epoch, s.
    largest: f64,
    /// A packet has arrived since the last report.
    fresh: bool,
    started: bool,
    number: u16,
}

impl AtpReceiver {
    /// A receiver that has received nothing.
    #[must_use]
    pub const fn new(config: ReceiverConfig) -> Self {
        Self { config, average: None, largest: 0.0, fresh: false, started: false, number: 0 }
    }

    /// The delay of which the rate is reported, s.
    fn delay(&self) -> Option<f64> {
        match self.config.collate {
            Collate::Average => self.average,
            Collate::Largest => Some(self.largest).filter(|&largest| largest > 0.0),
        }
    }

    fn report(&mut self, context: &mut ReceiverContext<'_>) {
        // Without a node that stamps packets the path has no limit.
        let rate = self.delay().map_or(f64::INFINITY, |delay| 1.0 / delay);
        context.out.reports.extend(report(self.number, rate));
        self.number = self.number.wrapping_add(1);
        (self.fresh, self.largest) = (false, 0.0);
    }

    fn next_epoch(&mut self, after: Span, context: &mut ReceiverContext<'_>) {
        let now: Time = context.now;
        context.out.timers.push((EPOCH, now.saturating_add(after)));
    }
}

impl Receiver for AtpReceiver {
    fn on_data(&mut self, data: &Arrived, context: &mut ReceiverContext<'_>) {
        if is_probe(&data.header) {
            // The source does not know its path, which may be another one than before.
            self.average = None;
        }
        if let Some(delay) = delay(&data.header) {
            // No source sends less than a packet an epoch.
            let (beta, new) = (self.config.beta, delay.min(self.config.epoch).as_secs_f64());
            self.average = Some(self.average.map_or(new, |old| beta * old + (1.0 - beta) * new));
            self.largest = self.largest.max(new);
        }
        self.fresh = true;
        if is_probe(&data.header) || !self.started {
            self.report(context);
        }
        if !self.started {
            self.started = true;
            let part = context.random.uniform();
            self.next_epoch(Span((self.config.epoch.0 as f64 * part) as u64 + 1), context);
        }
    }

    /// Epochs go on while nothing arrives, so that flows that were spread over an epoch stay so.
    fn on_timer(&mut self, _: Timer, context: &mut ReceiverContext<'_>) {
        if self.fresh {
            self.report(context);
        }
        self.next_epoch(self.config.epoch, context);
    }
}

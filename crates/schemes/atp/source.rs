//! The source: probing, then at a rate that follows the reports.

use airfair_units::{Rate, Span, Time};

use super::header::{STAMP, read_report, start};
use crate::places::{Allowance, FlowSetup, Header, HeaderKind, Sent, Source, SourceContext, Timer};

/// The end of an epoch without a report.
const EMPTY: Timer = Timer(1);

/// Empty epochs in a row after which a source probes again; from memory of the paper.
const MOST_EMPTY: u8 = 3;

/// The constants of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SourceConfig {
    /// E.
    pub epoch: Span,
    /// k.
    pub damping: f64,
    /// phi.
    pub tolerance: f64,
}

/// The source of a flow.
#[derive(Debug, Clone)]
pub struct AtpSource {
    config: SourceConfig,
    /// S, packets/s; while the source probes, one an epoch.
    rate: f64,
    /// The largest rate that has a use, packets/s: that of the first hop's link.
    most: f64,
    probing: bool,
    empty: u8,
    /// A packet has left since the last report or the last empty epoch.
    sent: bool,
    /// The number of the last report.
    number: Option<u16>,
    /// Mean payload, bytes.
    payload: u64,
}

impl AtpSource {
    /// A source before its flow starts.
    #[must_use]
    pub const fn new(config: SourceConfig) -> Self {
        Self {
            config,
            rate: 0.0,
            most: f64::INFINITY,
            probing: true,
            empty: 0,
            sent: false,
            number: None,
            payload: 1,
        }
    }

    /// S, packets/s.
    #[must_use]
    pub const fn packets_per_second(&self) -> f64 {
        self.rate
    }

    /// The least rate, one packet an epoch: without packets no report comes.
    fn least(&self) -> f64 {
        1.0 / self.config.epoch.as_secs_f64()
    }

    fn probe(&mut self) {
        (self.probing, self.empty, self.rate) = (true, 0, self.least());
        // Whatever number a report had: the next one counts.
        self.number = None;
    }

    fn wait(&self, epochs: f64, context: &mut SourceContext<'_>) {
        let wait = Span((self.config.epoch.0 as f64 * epochs) as u64);
        context.out.timers.push((EMPTY, context.now.saturating_add(wait)));
    }
}

impl Source for AtpSource {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.payload = setup.mss.get().max(1);
        let whole = (self.payload + setup.headers.get()) as f64 * 8.0;
        self.most = setup.link.map_or(f64::INFINITY, |link| link.as_bps() as f64 / whole);
        self.probe();
        self.wait(1.5, context);
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&STAMP)
    }

    fn stamp(&mut self, header: &mut Header, _: Time) {
        start(header, self.probing);
    }

    fn on_sent(&mut self, _: &Sent, _: &mut SourceContext<'_>) {
        self.sent = true;
    }

    fn on_report(&mut self, report: &[u8], context: &mut SourceContext<'_>) {
        let Some((number, reported)) = read_report(report) else { return };
        // One that was overtaken by a later one.
        if self.number.is_some_and(|last| last.wrapping_sub(number) < 1 << 15) {
            return;
        }
        self.number = Some(number);
        let reported = reported.min(self.most).max(self.least());
        if self.probing || reported < self.rate {
            self.rate = reported;
        } else if reported > self.rate * (1.0 + self.config.tolerance) {
            self.rate += (reported - self.rate) / self.config.damping;
        }
        (self.probing, self.empty, self.sent) = (false, 0, false);
        self.wait(1.5, context);
    }

    fn on_timer(&mut self, _: Timer, context: &mut SourceContext<'_>) {
        // An epoch in which nothing was sent shows nothing.
        if core::mem::take(&mut self.sent) {
            self.empty += 1;
            if self.probing || self.empty >= MOST_EMPTY {
                self.probe();
            } else {
                self.rate = (self.rate / 2.0).max(self.least());
            }
        }
        self.wait(1.0, context);
    }

    fn allowance(&self, _: Time) -> Allowance {
        let bits = self.rate * (self.payload * 8) as f64;
        Allowance { window: None, rate: Some(Rate(bits as u64).max(Rate(1))), quantum: None }
    }
}

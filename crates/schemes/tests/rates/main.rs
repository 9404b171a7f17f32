//! Schemes whose sources are paced by what routers write into packets: ATP and EXACT.

mod atp;
mod exact;
mod hostile;
#[path = "../shared/hostile.rs"]
mod hostile_driver;

use airfair_schemes::places::{
    Arrived, Context, Ecn, FlowSetup, Header, HopContext, HopEffects, Receiver, ReceiverEffects, ReportBytes,
    Sent, Source, SourceEffects, Timer,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};

/// Payload of every datagram, bytes.
const PAYLOAD: u64 = 1000;

/// Milliseconds as a moment.
const fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// The ends of a flow with their timers, and a path of the caller's.
struct Flow {
    source: Box<dyn Source>,
    receiver: Box<dyn Receiver>,
    random: Stream,
    /// The present settings of the timers of both, by number.
    source_timers: Vec<(Timer, Time)>,
    receiver_timers: Vec<(Timer, Time)>,
    /// The last datagram left then.
    last: Option<Time>,
}

fn set(timers: &mut Vec<(Timer, Time)>, new: Vec<(Timer, Time)>) {
    for (timer, due) in new {
        timers.retain(|old| old.0 != timer);
        timers.push((timer, due));
    }
}

impl Flow {
    fn new(scheme: &dyn airfair_schemes::Scheme, link: Option<Rate>, seed: u64, now: Time) -> Self {
        let ends = scheme.rate().expect("a source");
        let mut flow = Self {
            source: ends.source,
            receiver: ends.receiver.expect("a receiver"),
            random: Stream::new(seed, "flow", Purpose::Source),
            source_timers: vec![],
            receiver_timers: vec![],
            last: None,
        };
        let setup = FlowSetup {
            mss: Bytes(PAYLOAD),
            headers: Bytes(0),
            initial_window: Bytes(4000),
            window_limit: Bytes(u64::MAX),
            rtt: None,
            syn_lost: false,
            link,
        };
        flow.on_source(now, |source, context| source.on_start(&setup, context));
        flow
    }

    fn on_source(
        &mut self,
        now: Time,
        hook: impl FnOnce(&mut dyn Source, &mut airfair_schemes::places::SourceContext<'_>),
    ) {
        let mut out = SourceEffects::default();
        hook(&mut *self.source, &mut Context { now, random: &mut self.random, out: &mut out });
        set(&mut self.source_timers, out.timers);
    }

    /// The rate of payload, packets/s.
    fn packets_per_second(&self, now: Time) -> f64 {
        self.source.allowance(now).rate.map_or(0.0, |rate| rate.as_bps() as f64 / (8 * PAYLOAD) as f64)
    }

    /// The time of the next datagram.
    fn due(&self, now: Time) -> Time {
        let rate = self.source.allowance(now).rate.expect("a rate");
        self.last.map_or(now, |last| last.saturating_add(rate.time_for(Bytes(PAYLOAD))))
    }

    /// A datagram leaves; its header.
    fn leave(&mut self, now: Time) -> Header {
        let mut header = Header::default();
        self.source.stamp(&mut header, now);
        self.last = Some(now);
        let sent = Sent { bytes: Bytes(PAYLOAD), in_flight: Bytes(0), retransmission: false };
        self.on_source(now, |source, context| source.on_sent(&sent, context));
        header
    }

    fn on_receiver(
        &mut self,
        now: Time,
        hook: impl FnOnce(&mut dyn Receiver, &mut airfair_schemes::places::ReceiverContext<'_>),
    ) -> Vec<ReportBytes> {
        let mut out = ReceiverEffects::default();
        hook(&mut *self.receiver, &mut Context { now, random: &mut self.random, out: &mut out });
        set(&mut self.receiver_timers, out.timers);
        out.reports
    }

    /// A datagram arrives; the reports that follow.
    fn arrive(&mut self, header: Header, now: Time) -> Vec<ReportBytes> {
        let data = Arrived { bytes: Bytes(PAYLOAD), ecn: Ecn::NotEct, header };
        self.on_receiver(now, |receiver, context| receiver.on_data(&data, context))
    }

    fn report(&mut self, report: &[u8], now: Time) {
        self.on_source(now, |source, context| source.on_report(report, context));
    }

    /// The due time of the next timer.
    fn next_timer(&self) -> Time {
        let due = |timers: &[(Timer, Time)]| timers.iter().map(|timer| timer.1).min().unwrap_or(Time::NEVER);
        due(&self.source_timers).min(due(&self.receiver_timers))
    }

    /// Fires the timers that are due; the reports that follow.
    fn fire(&mut self, now: Time) -> Vec<ReportBytes> {
        let take = |timers: &mut Vec<(Timer, Time)>| -> Vec<Timer> {
            let due = timers.iter().filter(|timer| timer.1 <= now).map(|timer| timer.0).collect();
            timers.retain(|timer| timer.1 > now);
            due
        };
        let (of_source, of_receiver) = (take(&mut self.source_timers), take(&mut self.receiver_timers));
        for timer in of_source {
            self.on_source(now, |source, context| source.on_timer(timer, context));
        }
        of_receiver
            .into_iter()
            .flat_map(|timer| self.on_receiver(now, |receiver, context| receiver.on_timer(timer, context)))
            .collect()
    }
}

/// A hop's hooks with effects.
fn hop_start(hop: &mut dyn airfair_schemes::places::Hop) {
    let mut out = HopEffects::default();
    let mut random = Stream::new(1, "hop", Purpose::Source);
    let mut context: HopContext<'_> = Context { now: Time::ZERO, random: &mut random, out: &mut out };
    hop.on_start(&mut context);
}

/// Seconds as a span.
fn secs(s: f64) -> Span {
    Span((s * 1e9) as u64)
}

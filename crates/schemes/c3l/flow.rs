//! Both ends of a flow (§III-E): a source that sends at the smallest allocation of its path, and the receiver's control packets once an
//! epoch, which precede all that waits.
//!
//! Readings, parameters where another one is worth a try:
//! - The first rate is `first_rate`: no node has stamped a packet yet. The first packet is reported at once, so that the second epoch has
//!   an allocation already.
//! - Without feedback for `feedback_expiry` a source sends at `first_rate`, or slower if it did: silence may be congestion.
//! - An allocation counts packets with their IP header and this scheme's, since nodes see these; a source divides their part off, as the
//!   host counts them.
//! - Never below `rate_min`: a source without packets would get no feedback.
//! - A source that uses its allocation states that allocation, one that sends less states what it sends (the paper has nodes know the
//!   sending rate of a flow; see `links`). It uses the allocation if it was idle for less than 2 % of the time, an epoch at least.
//! - Over TCP (ours: the paper leaves reliability out) the rate is that of new data and of what is repeated. By [`Backstop::None`] there is
//!   no congestion window. With NewReno's beside the rate, a flow that loses packets, because its share is more than its path can carry,
//!   stops filling the path with repetitions: see the measurement at [`Backstop`].
//! - Where no node stamps packets (`unstamped`, ours), no radio is on the path: the source is not held at `first_rate`, but by the window
//!   alone over TCP, by `rate_max` over UDP; so is one whose packets each node stamps with no limit (`aside`, `unled`).

use airfair_units::{Bytes, Rate, Span, Time};

use super::header::{NO_LIMIT, STAMP, allocation, read_report, report, sequence, stamped, start};
use super::hop::bytes_per_second;
use crate::newreno;
use crate::params::Params;
use crate::places::{
    Acked, Allowance, Arrived, Congestion, FlowSetup, Header, HeaderKind, Idle, Receiver as ReceiverPlace,
    ReceiverContext, Source, SourceContext, Spurious, Timer,
};
use crate::reno::Reno;
use crate::words;

words! {
    /// The window of a source over TCP, beside its rate.
    ///
    /// Measured with constant rates, 0.6 of the max-min optimum for each flow, so that only the transport matters: without a window the
    /// least flow of a mesh map of 155 nodes carries 0.05 of its optimum, in a grid of 64 nodes nothing, behind a hidden sender 0.04; with
    /// NewReno's window 0.49, 0.60 and 0.60.
    pub enum Backstop {
        /// None: the rate is the only limit.
        None = "none",
        /// NewReno's congestion window.
        NewReno = "newreno",
    }
}

/// The feedback has expired.
const EXPIRE: Timer = Timer(1);
/// The end of an epoch.
const EPOCH: Timer = Timer(1);

/// The constants of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SourceConfig {
    /// The first rate, and the largest one without feedback.
    pub first: Rate,
    /// The least and the largest rate.
    pub rates: [Rate; 2],
    /// Time without feedback after which it does not count any more.
    pub expiry: Span,
    /// Time over which a source judges whether it uses its rate.
    pub epoch: Span,
    /// The window over TCP.
    pub backstop: Backstop,
    /// The least window over TCP, segments: losses do not take more from a source that sends at an allocation.
    pub least_window: u64,
    /// True if time-outs double the timer of a source with an allocation.
    pub doubles: bool,
    /// True if a source whose packets no node stamps has no rate.
    pub unstamped: bool,
}

/// A source.
#[derive(Debug, Clone)]
pub struct C3lSource {
    config: SourceConfig,
    /// The window beside the rate; none over UDP.
    window: Option<Reno>,
    /// The source had data to send whenever it did not: it would use a larger share.
    backlogged: bool,
    /// No node limits the flow: none has stamped what the receiver has told of last, or each with no limit.
    free: bool,
    /// The flow is free by the stamps of nodes, of which it has heard of late.
    lifted: bool,
    /// Mean payload, and what headers add to it, bytes.
    payload: u64,
    headers: u64,
    /// Rate of payload.
    rate: Rate,
    sent: Sent,
    sequence: u32,
    epoch: Option<u16>,
    heard: Time,
}

/// Does a source use its rate?
#[derive(Debug, Clone, Copy)]
struct Sent {
    last: Option<Time>,
    /// Since the last judgement: the time for which the rate kept the source from sending, the whole time, packets.
    busy: Span,
    whole: Span,
    packets: u64,
    /// The rate of its payload at the last judgement, if it did not use all.
    less: Option<Rate>,
}

impl Sent {
    const fn new() -> Self {
        Self { last: None, busy: Span::ZERO, whole: Span::ZERO, packets: 0, less: None }
    }

    /// A packet of `payload` bytes leaves at this rate; a judgement takes at least `least`. Returns the rate to state.
    fn leave(&mut self, payload: u64, rate: Rate, least: Span, now: Time) -> Rate {
        let gap = self.last.map_or(Span::ZERO, |last| now.since(last));
        self.last = Some(now);
        self.busy += gap.min(rate.time_for(Bytes(payload)));
        self.whole += gap;
        self.packets += 1;
        if self.whole >= least {
            let used = u128::from(self.busy.as_nanos()) * 50 >= u128::from(self.whole.as_nanos()) * 49;
            let bits = u128::from(self.packets) * u128::from(payload) * 8_000_000_000;
            let sent = Rate((bits / u128::from(self.whole.as_nanos().max(1))) as u64);
            self.less = if used { None } else { Some(sent) };
            (self.busy, self.whole, self.packets) = (Span::ZERO, Span::ZERO, 0);
        }
        self.less.map_or(rate, |less| less.min(rate))
    }
}

impl C3lSource {
    /// The source of a TCP flow before it starts.
    #[must_use]
    pub fn over_tcp(config: SourceConfig) -> Self {
        let window = match config.backstop {
            Backstop::None => None,
            Backstop::NewReno => newreno::from_params(&Params::default()).ok(),
        };
        Self { window, ..Self::new(config) }
    }

    /// A source before its flow starts.
    #[must_use]
    pub const fn new(config: SourceConfig) -> Self {
        let rate = config.first;
        Self {
            config,
            window: None,
            backlogged: false,
            free: false,
            lifted: false,
            payload: 1,
            headers: 0,
            rate,
            sent: Sent::new(),
            sequence: 0,
            epoch: None,
            heard: Time::ZERO,
        }
    }

    /// The rate of payload of an allocation.
    fn payload_rate(&self, allocation: Rate) -> Rate {
        let [least, most] = self.config.rates;
        let whole = u128::from(self.payload) + u128::from(self.headers);
        let rate = u128::from(allocation.0) * u128::from(self.payload) / whole.max(1);
        Rate(u64::try_from(rate).unwrap_or(u64::MAX)).min(most).max(least)
    }

    /// Sends at an allocation, bytes/s, from now on, if a node has stamped one.
    fn follow(&mut self, allocation: Option<u32>, now: Time) {
        let Some(bytes) = allocation else {
            (self.free, self.lifted) = (self.config.unstamped, false);
            return;
        };
        (self.heard, self.free) = (now, bytes >= NO_LIMIT);
        self.lifted = self.free;
        self.rate = self.payload_rate(Rate(8 * u64::from(bytes)));
    }
}

impl Source for C3lSource {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.window.iter_mut().for_each(|window| window.on_start(setup, context));
        self.payload = setup.mss.get().max(1);
        self.headers = setup.headers.get();
        self.rate = self.payload_rate(self.config.first);
        // Over TCP the window is enough until a node says more.
        self.free = self.config.unstamped && self.window.is_some();
        self.heard = context.now;
        context.out.timers.push((EXPIRE, context.now.saturating_add(self.config.expiry)));
    }

    fn header(&self) -> Option<&'static HeaderKind> {
        Some(&STAMP)
    }

    fn stamp(&mut self, header: &mut Header, now: Time) {
        let used = self.sent.leave(self.payload, self.rate, self.config.epoch, now);
        // What the window holds back is wanted all the same.
        let payload = if self.window.is_some() && self.backlogged { self.rate } else { used };
        let whole = u128::from(self.payload) + u128::from(self.headers);
        let rate = u128::from(payload.0) * whole / u128::from(self.payload);
        start(header, bytes_per_second(Rate(u64::try_from(rate).unwrap_or(u64::MAX))), self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
    }

    fn on_feedback(&mut self, header: &Header, context: &mut SourceContext<'_>) {
        // No data has arrived yet.
        if header.supported > 0 {
            self.follow(allocation(header), context.now);
        }
    }

    fn on_report(&mut self, report: &[u8], context: &mut SourceContext<'_>) {
        let Some(feedback) = read_report(report) else { return };
        // An earlier report that was overtaken.
        if self.epoch.is_some_and(|last| last.wrapping_sub(feedback.epoch) < 1 << 15) {
            return;
        }
        self.epoch = Some(feedback.epoch);
        self.follow(stamped(feedback.allocation), context.now);
    }

    fn on_acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        if let Some(sample) = acked.rate_sample {
            self.backlogged = !sample.app_limited;
        }
        self.window.iter_mut().for_each(|window| window.on_acked(acked, context));
    }

    fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        self.window.iter_mut().for_each(|window| window.on_congestion(congestion, context));
    }

    fn on_spurious(&mut self, spurious: &Spurious, context: &mut SourceContext<'_>) {
        self.window.iter_mut().for_each(|window| window.on_spurious(spurious, context));
    }

    fn on_recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        self.window.iter_mut().for_each(|window| window.on_recovered(in_flight, context));
    }

    fn on_idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
        self.window.iter_mut().for_each(|window| window.on_idle(idle, context));
    }

    fn doubles_timer(&self) -> bool {
        // A source whose time-outs have doubled learns too late of limits that return.
        self.config.doubles || (self.free && !self.lifted)
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.window.as_ref().and_then(Source::ssthresh)
    }

    fn on_timer(&mut self, _: Timer, context: &mut SourceContext<'_>) {
        let due = self.heard.saturating_add(self.config.expiry);
        if due > context.now {
            context.out.timers.push((EXPIRE, due));
            return;
        }
        self.rate = self.rate.min(self.payload_rate(self.config.first));
        if self.config.unstamped && self.window.is_some() {
            // Without feedback for a while no controller is there who could bring limits back.
            (self.free, self.lifted) = (true, false);
        }
        context.out.timers.push((EXPIRE, context.now.saturating_add(self.config.expiry)));
    }

    fn allowance(&self, now: Time) -> Allowance {
        let Some(window) = &self.window else {
            let rate = if self.free { self.config.rates[1] } else { self.rate };
            return Allowance { window: None, rate: Some(rate), quantum: None };
        };
        let allowance = window.allowance(now);
        if self.free {
            return allowance;
        }
        let least = Bytes(self.config.least_window.saturating_mul(self.payload));
        Allowance {
            window: allowance.window.map(|window| window.max(least)),
            rate: Some(self.rate),
            ..allowance
        }
    }
}

/// A receiver over UDP.
#[derive(Debug, Clone)]
pub struct Receiver {
    epoch: Span,
    /// The packet with the largest sequence number so far.
    last: Option<Header>,
    /// Payload since the last report.
    bytes: u64,
    since: Time,
    count: u16,
    running: bool,
}

impl Receiver {
    /// A receiver that reports once an epoch.
    #[must_use]
    pub const fn new(epoch: Span) -> Self {
        Self { epoch, last: None, bytes: 0, since: Time::ZERO, count: 0, running: false }
    }

    fn report(&mut self, context: &mut ReceiverContext<'_>) {
        let Some(last) = &self.last else { return };
        let nanos = u128::from(context.now.since(self.since).as_nanos().max(1));
        let received = u128::from(self.bytes) * 1_000_000_000 / nanos;
        let received = u32::try_from(received).unwrap_or(u32::MAX);
        context.out.reports.extend(report(last, self.count, received));
        self.count = self.count.wrapping_add(1);
        (self.bytes, self.since) = (0, context.now);
    }
}

impl ReceiverPlace for Receiver {
    fn reports_go_ahead(&self) -> bool {
        true
    }

    fn on_data(&mut self, data: &Arrived, context: &mut ReceiverContext<'_>) {
        let newer = |last: &Header| sequence(&data.header).wrapping_sub(sequence(last)) < 1 << 31;
        if self.last.as_ref().is_none_or(newer) {
            self.last = Some(data.header);
        }
        if !self.running {
            // After a silence, too, the source is not to wait for an epoch.
            self.running = true;
            self.report(context);
            context.out.timers.push((EPOCH, context.now.saturating_add(self.epoch)));
        }
        self.bytes += data.bytes.get();
    }

    fn on_timer(&mut self, _: Timer, context: &mut ReceiverContext<'_>) {
        self.running = self.bytes > 0;
        if self.running {
            self.report(context);
            context.out.timers.push((EPOCH, context.now.saturating_add(self.epoch)));
        }
    }
}

//! The window laws of TCP by their public interface: scripted events with numbers computed by hand from the RFCs and papers, average
//! windows against RFC 9438's tables, and properties under arbitrary events.
//!
//! Segments of 1000 bytes, so that bytes read as thousandths of a segment.

mod bbr;
mod cubic;
mod few;
mod path;
mod properties;
mod reno;
mod vegas;

use airfair_schemes::places::{
    Acked, Congestion, CongestionCause, FlowSetup, Idle, Sent, Source, SourceContext, SourceEffects, Spurious,
};
use airfair_schemes::{ParamError, ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};

/// A segment in bytes.
pub(crate) const MSS: u64 = 1000;

/// An initial window of ten segments, a very large limit, no round-trip time.
pub(crate) fn setup() -> FlowSetup {
    FlowSetup {
        mss: Bytes(MSS),
        headers: Bytes(40),
        initial_window: Bytes(10_000),
        window_limit: Bytes(1 << 40),
        rtt: None,
        syn_lost: false,
        link: None,
    }
}

/// An acknowledgement of `bytes` that may raise the window; everything else is zero.
pub(crate) fn ack(bytes: u64) -> Acked {
    Acked {
        bytes: Bytes(bytes),
        cumulative: Bytes(bytes),
        lost: Bytes(0),
        prior_in_flight: Bytes(0),
        in_flight: Bytes(0),
        rtt: None,
        rate_sample: None,
        round_ended: false,
        window_limited: true,
        in_recovery: false,
        sent_at: Time::ZERO,
    }
}

/// Milliseconds.
pub(crate) fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

/// A law, the time, and the context of its hooks.
pub(crate) struct Flow {
    pub(crate) law: Box<dyn Source>,
    pub(crate) now: Time,
    random: Stream,
    out: SourceEffects,
}

/// The law of this name with these parameters.
pub(crate) fn build(name: &str, params: &[(&str, ParamValue)]) -> Result<Box<dyn Source>, ParamError> {
    let params = Params(params.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    let scheme = (find(name).expect("in the registry").build)(&params)?;
    Ok(scheme.source().expect("fills the source"))
}

impl Flow {
    pub(crate) fn with_seed(name: &str, params: &[(&str, ParamValue)], setup: &FlowSetup, seed: u64) -> Self {
        let law = build(name, params).expect("good parameters");
        let random = Stream::new(seed, "flow", Purpose::Source);
        let mut flow = Self { law, now: Time(1_000_000_000), random, out: SourceEffects::default() };
        flow.hook(|law, context| law.on_start(setup, context));
        flow
    }

    pub(crate) fn new(name: &str, params: &[(&str, ParamValue)], setup: &FlowSetup) -> Self {
        Self::with_seed(name, params, setup, 1)
    }

    pub(crate) fn hook(&mut self, f: impl FnOnce(&mut dyn Source, &mut SourceContext<'_>)) {
        let mut context = SourceContext { now: self.now, random: &mut self.random, out: &mut self.out };
        f(&mut *self.law, &mut context);
        assert!(self.out.is_empty(), "a window law has no effects but its allowance");
    }

    pub(crate) fn after(&mut self, span: Span) -> &mut Self {
        self.now += span;
        self
    }

    pub(crate) fn acked(&mut self, acked: Acked) -> u64 {
        self.hook(|law, context| law.on_acked(&acked, context));
        self.window()
    }

    pub(crate) fn ack(&mut self, bytes: u64) -> u64 {
        self.acked(ack(bytes))
    }

    pub(crate) fn congestion(&mut self, cause: CongestionCause, in_flight: u64) -> u64 {
        self.congested(Congestion {
            cause,
            in_flight: Bytes(in_flight),
            pipe: Bytes(in_flight),
            repeated: false,
        })
    }

    pub(crate) fn congested(&mut self, congestion: Congestion) -> u64 {
        self.hook(|law, context| law.on_congestion(&congestion, context));
        self.window()
    }

    pub(crate) fn spurious(&mut self, cause: CongestionCause, in_flight: u64, acked: u64) -> u64 {
        let spurious = Spurious { cause, in_flight: Bytes(in_flight), acked: Bytes(acked) };
        self.hook(|law, context| law.on_spurious(&spurious, context));
        self.window()
    }

    pub(crate) fn sent(&mut self, bytes: u64, in_flight: u64, retransmission: bool) {
        let sent = Sent { bytes: Bytes(bytes), in_flight: Bytes(in_flight), retransmission };
        self.hook(|law, context| law.on_sent(&sent, context));
    }

    pub(crate) fn recovered(&mut self, in_flight: u64) -> u64 {
        self.hook(|law, context| law.on_recovered(Bytes(in_flight), context));
        self.window()
    }

    pub(crate) fn idle(&mut self) -> u64 {
        self.hook(|law, context| law.on_idle(&Idle { span: ms(2000), rto: ms(1000) }, context));
        self.window()
    }

    /// cwnd in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.law.allowance(self.now).window.expect("a window law").get()
    }

    /// ssthresh in bytes.
    pub(crate) fn threshold(&self) -> u64 {
        self.law.ssthresh().expect("a law with slow start").get()
    }

    /// Pacing rate in bit/s.
    pub(crate) fn rate(&self) -> u64 {
        self.law.allowance(self.now).rate.expect("a paced law").as_bps()
    }

    /// Send quantum in bytes.
    pub(crate) fn quantum(&self) -> u64 {
        self.law.allowance(self.now).quantum.expect("a paced law").get()
    }
}

/// Checks that the parameter accepts `good` and refuses `bad` with an error that names it.
pub(crate) fn range(scheme: &str, name: &str, good: &[ParamValue], bad: &[ParamValue]) {
    for &value in good {
        assert!(build(scheme, &[(name, value)]).is_ok(), "{scheme}.{name} = {value:?}");
    }
    for &value in bad {
        let error = build(scheme, &[(name, value)]).err().expect("refused");
        if let Some(pair) = error.pair {
            assert!([pair.low, pair.high].contains(&name), "{error}");
            continue;
        }
        assert_eq!(error.name, name);
        assert!(error.problem.starts_with("expected "), "{}", error.problem);
    }
}

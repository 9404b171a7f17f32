//! The law of a sender whose path has routers without support for its scheme: TCP's, until all of them support it.
//!
//! A router without support leaves a header unchanged, so the sender would never learn of a bottleneck there. Interfaces with support
//! increment a count in the header, all routers decrement IP's time to live, and the receiver reports the difference (as RFC 4782 section 3
//! does for Quick-Start). So the first acknowledgement after such a router has joined the path ends the scheme's control: within one round
//! trip, and the other way round within the time between two packets with a header. The law is NewReno's with its defaults. Before the
//! first segment it begins as for any connection; later it continues with half of the present window, as after a loss, or in slow start
//! ([`Fallback::in_slow_start`]).

use airfair_units::{Bytes, Time};

use crate::newreno;
use crate::params::Params;
use crate::places::{Acked, Congestion, FlowSetup, Idle, Source, SourceContext, Spurious};
use crate::reno::Reno;

/// TCP's law, idle or in charge.
#[derive(Debug, Clone, Default)]
pub struct Fallback {
    setup: Option<FlowSetup>,
    law: Option<Reno>,
    /// True if the last feedback counted interfaces without support.
    unsupported: bool,
    fell_back: bool,
    /// True if the law begins in slow start also under way, the first time.
    slow_start: bool,
}

impl Fallback {
    /// A law that begins in slow start also under way, the first time: neither a grant nor a window that followed grants shows what routers
    /// without support carry, so ssthresh is as high as at the start of a connection (RFC 5681 section 3.1).
    #[must_use]
    pub fn in_slow_start() -> Self {
        Self { slow_start: true, ..Self::default() }
    }

    /// True if TCP's law is in charge.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.law.is_some()
    }

    /// True if TCP's law has ever been in charge.
    #[must_use]
    pub fn fell_back(&self) -> bool {
        self.fell_back
    }

    /// The connection is established.
    pub fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.setup = Some(*setup);
        if self.unsupported {
            self.begin(setup, None, context);
        }
    }

    /// Feedback: the number of interfaces of the path without support; `window` is the sender's in bytes.
    pub fn on_feedback(&mut self, unsupported: u8, window: u64, context: &mut SourceContext<'_>) {
        self.unsupported = unsupported > 0;
        match (self.unsupported, self.law.is_some(), self.setup) {
            (true, false, Some(setup)) => self.begin(&setup, Some(window), context),
            (false, true, _) => self.law = None,
            _ => {}
        }
    }

    fn begin(&mut self, setup: &FlowSetup, window: Option<u64>, context: &mut SourceContext<'_>) {
        let Ok(mut law) = newreno::from_params(&Params::default()) else { return };
        law.on_start(setup, context);
        match window.map(|window| window / 2) {
            // Later on the path has met congestion.
            Some(half) if self.slow_start && !self.fell_back => law.start_from(half),
            Some(half) => law.resume_from(half),
            None => {}
        }
        self.law = Some(law);
        self.fell_back = true;
    }

    /// The window of TCP's law in bytes, while it is in charge.
    #[must_use]
    pub fn window(&self, now: Time) -> Option<u64> {
        self.law.as_ref().and_then(|law| law.allowance(now).window).map(Bytes::get)
    }

    /// The slow-start threshold of TCP's law, while it is in charge.
    #[must_use]
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.law.as_ref().and_then(Source::ssthresh)
    }

    /// See [`Source::on_acked`]. The window of TCP's law grows only while it is at most `granted`, the scheme's, in bytes.
    pub fn on_acked(&mut self, acked: &Acked, granted: u64, context: &mut SourceContext<'_>) {
        let Some(window) = self.window(context.now) else { return };
        let acked = Acked { window_limited: acked.window_limited && window <= granted, ..*acked };
        self.law.iter_mut().for_each(|law| law.on_acked(&acked, context));
    }

    /// See [`Source::on_congestion`].
    pub fn on_congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        self.law.iter_mut().for_each(|law| law.on_congestion(congestion, context));
    }

    /// See [`Source::on_spurious`].
    pub fn on_spurious(&mut self, spurious: &Spurious, context: &mut SourceContext<'_>) {
        self.law.iter_mut().for_each(|law| law.on_spurious(spurious, context));
    }

    /// See [`Source::on_recovered`].
    pub fn on_recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        self.law.iter_mut().for_each(|law| law.on_recovered(in_flight, context));
    }

    /// See [`Source::on_idle`].
    pub fn on_idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
        self.law.iter_mut().for_each(|law| law.on_idle(idle, context));
    }
}

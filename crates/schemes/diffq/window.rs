//! The window of a source over TCP by its path (ours). DiffQ-TCP has none (§6.1), and what a source without a window has sent fills the
//! relays; but a window that fits a mesh costs a path over cables nearly all.
//!
//! The receiver counts the hops of the path, those with a queue of DiffQ and those without, and its acknowledgements carry both numbers and
//! the longest queue of DiffQ on the way ([`trailer`]); the SYN's already, so that a source knows its path before its first data.
//!
//! | path | window |
//! |---|---|
//! | all hops have DiffQ, and somebody calls | W ← min(2W, W · baseRTT / RTT + α), once a round trip: α segments wait on the way |
//! | some have, or nobody calls | that of NewReno, less half of what the longest limited queue holds above α segments, once a round trip |
//! | none has | that of NewReno, and no pacing: DiffQ steps aside |
//!
//! Source of the first: Wei, Jin, Low, Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance", IEEE/ACM Transactions on
//! Networking 14(6), 2006, the window control of section IV with γ = 1. In a mesh the round trip is short beside the waiting, and α = 2 is
//! a window of about three segments. On a mixed path round trips say nothing of DiffQ's queues: a flow of TCP that fills the queue of a
//! cable on the way would leave such a window no share (measured: a twelfth), so there the queues themselves are looked at.
//!
//! While somebody calls, a loss on a path of DiffQ's queues changes no window (§6.1 switches loss-based control off). Where nobody does
//! such windows, which losses do not close, cost a mesh of bad links a seventh of what it carries. No window is smaller than
//! [`LEAST`] segments: one that a relay's losses or a long queue push down still has a segment to repair the other with. The exception is
//! a path of radios alone while nobody calls: there it is NewReno's, as without DiffQ; a source at a wire hears no calls, and on its path
//! the two segments keep a starved flow from waiting for long time-outs (measured: access-point .05 and .20 of the fair rate).

use airfair_units::{Bytes, Rate, Span, Time};

use super::trailer::{self, Path};
use crate::places::{Acked, Allowance, Congestion, FlowSetup, Header, Idle, Source, SourceContext, Spurious};
use crate::reno::Reno;

/// The smallest window where a queue is DiffQ's, segments.
pub const LEAST: f64 = 2.0;

/// The window of a flow.
#[derive(Debug, Clone)]
pub struct PathWindow {
    /// α, segments.
    segments: f64,
    mss: f64,
    /// The path, as far as the receiver has counted it.
    path: Option<Path>,
    /// Nobody near calls, and the source is not limited.
    free: bool,
    /// W where all hops have DiffQ, bytes.
    window: f64,
    /// The smallest round-trip time, and that of the present round trip.
    base: Option<Span>,
    round: Option<Span>,
    /// NewReno, for paths with hops that have no DiffQ, and while nobody calls.
    tcp: Reno,
    /// The most that the queues of DiffQ on such a path allow, bytes.
    allowed: f64,
    /// The shortest of the longest queues that acknowledgements of the present round trip have named: what bursts add is left out.
    longest: Option<u32>,
}

impl PathWindow {
    /// A window that keeps so many segments waiting; `tcp`: NewReno; `free`: no limit until somebody calls.
    #[must_use]
    pub fn new(segments: u32, tcp: Reno, free: bool) -> Self {
        Self {
            segments: f64::from(segments),
            mss: 1.0,
            path: None,
            free,
            window: 1.0,
            base: None,
            round: None,
            tcp,
            allowed: f64::MAX,
            longest: None,
        }
    }

    /// True on a path without a queue of DiffQ.
    #[must_use]
    pub fn steps_aside(&self) -> bool {
        self.path.is_some_and(|path| path.with == 0)
    }

    /// True if NewReno has a part in the window.
    fn has_tcp(&self) -> bool {
        self.free || self.path.is_some_and(|path| path.without > 0)
    }

    /// NewReno, where it has a part in the window. What happens while another window is in force it is not told.
    fn tcp_in_force(&mut self) -> Option<&mut Reno> {
        self.has_tcp().then_some(&mut self.tcp)
    }

    /// The source is limited or not. Where that puts NewReno in the place of W, NewReno goes on from W; W begins anew each time.
    pub fn set_free(&mut self, free: bool) {
        let had_tcp = self.has_tcp();
        self.free = free;
        match (had_tcp, self.has_tcp()) {
            (true, false) => self.window = self.alpha().max(self.least()),
            (false, true) => {
                self.tcp.resume_from(self.window as u64);
                self.allowed = f64::MAX;
            }
            _ => {}
        }
    }

    fn alpha(&self) -> f64 {
        self.segments * self.mss
    }

    /// The smallest window, bytes.
    fn least(&self) -> f64 {
        LEAST * self.mss
    }

    /// NewReno's window, bytes.
    fn of_tcp(&self, now: Time) -> f64 {
        self.tcp.allowance(now).window.map_or(f64::MAX, |window| window.get() as f64)
    }

    /// The flow starts.
    pub fn start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.mss = setup.mss.get() as f64;
        self.window = self.alpha().max(self.least());
        self.tcp.on_start(setup, context);
    }

    /// An acknowledgement has told of the path.
    pub fn heard(&mut self, header: &Header) {
        let Some(path) = trailer::path(header) else { return };
        let hops = |path: Path| (path.with, path.without);
        if self.path.is_some_and(|before| hops(before) != hops(path)) {
            // Another path has a round-trip time of its own.
            (self.base, self.round) = (None, None);
        }
        self.path = Some(path);
        self.longest = Some(self.longest.map_or(path.longest, |least| least.min(path.longest)));
    }

    /// Data was acknowledged.
    pub fn acked(&mut self, acked: &Acked, context: &mut SourceContext<'_>) {
        if self.has_tcp() {
            // What another window has let pass is no reason to grow.
            let rules = self.steps_aside() || self.of_tcp(context.now) <= self.allowed.max(self.least());
            let acked = Acked { window_limited: acked.window_limited && rules, ..*acked };
            self.tcp.on_acked(&acked, context);
        }
        if let Some(rtt) = acked.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.round = Some(self.round.map_or(rtt, |least| least.min(rtt)));
        }
        if !acked.round_ended {
            return;
        }
        let (round, longest) = (self.round.take(), self.longest.take());
        if self.has_tcp() {
            // A round trip without word of the queues allows nothing more.
            longest.into_iter().for_each(|longest| self.allow(longest, context.now));
        } else if let (Some(base), Some(round)) = (self.base, round) {
            self.follow(base, round, acked.window_limited);
        }
    }

    /// A round trip is over in which the longest queue of DiffQ had so many packets.
    fn allow(&mut self, longest: u32, now: Time) {
        let window = self.of_tcp(now).min(self.allowed);
        let excess = f64::from(longest) * self.mss - self.alpha();
        if excess > 0.0 {
            self.allowed = (window - (excess / 2.0).max(self.mss)).max(self.least());
        } else if self.allowed < self.of_tcp(now) {
            self.allowed += self.mss;
        } else {
            self.allowed = f64::MAX;
        }
    }

    /// A round trip is over that has taken `round`. A window that was not full does not grow.
    fn follow(&mut self, base: Span, round: Span, was_full: bool) {
        let part = base.as_nanos() as f64 / round.as_nanos().max(1) as f64;
        let most = if was_full { 2.0 * self.window } else { self.window };
        self.window = (self.window * part + self.alpha()).min(most).max(self.least());
    }

    /// Congestion was noticed.
    pub fn congestion(&mut self, congestion: &Congestion, context: &mut SourceContext<'_>) {
        if let Some(tcp) = self.tcp_in_force() {
            tcp.on_congestion(congestion, context);
        }
    }

    /// The last congestion was none.
    pub fn spurious(&mut self, spurious: &Spurious, context: &mut SourceContext<'_>) {
        if let Some(tcp) = self.tcp_in_force() {
            tcp.on_spurious(spurious, context);
        }
    }

    /// Fast recovery is over.
    pub fn recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        if let Some(tcp) = self.tcp_in_force() {
            tcp.on_recovered(in_flight, context);
        }
    }

    /// The source was silent.
    pub fn idle(&mut self, idle: &Idle, context: &mut SourceContext<'_>) {
        self.tcp.on_idle(idle, context);
    }

    /// The slow-start threshold of NewReno, where its window is in force.
    #[must_use]
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.tcp.ssthresh().filter(|_| self.has_tcp())
    }

    /// The limits: the window, and this rate unless DiffQ steps aside.
    #[must_use]
    pub fn allowance(&self, rate: Option<Rate>, now: Time) -> Allowance {
        if self.steps_aside()
            || (self.free && self.allowed == f64::MAX && self.path.is_none_or(|path| path.without == 0))
        {
            return self.tcp.allowance(now);
        }
        let bytes =
            if self.has_tcp() { self.of_tcp(now).min(self.allowed).max(self.least()) } else { self.window };
        Allowance { window: Some(Bytes(bytes as u64)), rate, quantum: None }
    }
}

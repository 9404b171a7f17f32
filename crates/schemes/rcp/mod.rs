//! RCP: one rate for all flows of an output interface, written into each packet; senders send at that rate.
//!
//! N. Dukkipati, M. Kobayashi, R. Zhang-Shen, N. McKeown, "Processor Sharing Flows in the Internet", IWQoS 2005. Places: a [`Hop`] at
//! each output interface, and the [`Source`] of each flow.
//!
//! | file | what |
//! |---|---|
//! | `header` | RTT, requested and granted rate, the echo: 16 bytes in each packet, those of QFCP |
//! | `router` | the rate |
//! | `sender` | pacing at the least rate of the path |
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | R | gauge `rate_bps`; `initial_share` | part of C at the start | 0.05 |
//! | T | `slot`, `min_interval` | time | min(d, 10 ms) |
//! | d | gauge `rtt_s`; `first_rtt` | time | 200 ms at the start |
//! | C | a wire's rate; `radio_capacity`; `gamma` | bytes/s inside | all of it |
//! | y | gauge `input_bps` | bytes/s inside | |
//! | q | the backlog at the end of T | bytes | |
//! | alpha, beta | `alpha`, `beta` | | 0.4, 1 |
//!
//! Every T: `R <- R (1 + (T/d) (alpha (C - y) - beta q/d) / C)`, kept between `min_packet` in d and C.
//!
//! Checked against the authors' public ns-2 code: the law, alpha and beta of its scripts, the form of the bounds, gamma in the place
//! of C, d's average (gain T/d; where the mean of an interval is smaller, that times R/C and mean/d) and its 200 ms at the start.
//! Not verified against the paper's text: the slot of 10 ms, R at the start (a comment of that code), the rules of a silent flow.
//!
//! Readings, each a parameter where another is worth a try:
//! - **A sender paces** its payload at R; headers are extra, and the law counts them as traffic, so that R is the rate of payload.
//! - **Data in flight** is at most `window` times the product of R and the smoothed round-trip time, two segments at least: a limit for
//!   the time in which feedback is lost. The paper has no window.
//! - **The start**: the SYN requests a rate, data leaves at it one round trip later. Without handshake the initial window requests it.
//! - **After a silence** longer than a time-out, or a time-out, one segment requests a rate again: the paper has a packet of its own
//!   for that.
//! - **Loss** is repaired and does not lower the rate.
//! - **When**: a packet is stamped as it arrives; the authors' ns-2 code stamps it at its departure, later by its wait in a
//!   queue that the law keeps short.
//! - **An interval without packets** is one with y = 0; d stays.
//! - **A radio** has no known capacity: C is `radio_capacity`, the rate of its data frames by default, which no traffic reaches; so the
//!   queue stands where `alpha (C - y) = beta q/d`.
//! - **Routers without support for RCP**: see [`explicit`](crate::explicit); TCP's window rules beside the rate.

pub mod header;
mod router;
mod sender;

pub use router::{RcpRouter, RouterConfig};
pub use sender::{RcpSender, SenderConfig};

use alloc::boxed::Box;

use airfair_units::{Bytes, Rate, Span, math};

use crate::explicit::{FASTEST, INTERVALS, RttChoice, WithFallback, requested};
use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{Hop, Interface, Medium, Source};
use crate::scheme::Scheme;

params! {
    /// The parameters of RCP.
    pub(crate) struct RcpParameters {
        /// part of the spare rate that is handed out in a round trip; the authors' later scripts have 0.4, the paper of 2005 has 0.1
        paper alpha: f64 = 0.4, in 0.0..=10.0;
        /// part of the queue that is drained in a round trip; checked against the authors' scripts
        paper beta: f64 = 1.0, in 0.0..=10.0;
        /// part of the capacity that is aimed at; the authors' code has it, 0.95 to 1
        paper gamma: f64 = 1.0, in 0.01..=1.0;
        /// largest T; not verified
        paper slot: Span = Span::from_millis(10), in INTERVALS;
        /// least T and d: shorter round trips are controlled this often; ours
        operator min_interval: Span = Span::from_millis(1), in INTERVALS;
        /// d before a packet has reported its round-trip time; checked against the authors' code
        reading first_rtt: Span = Span::from_millis(200), in INTERVALS;
        /// R at the start, as a part of C; a comment of the authors' code, else not verified
        reading initial_share: f64 = 0.05, in 0.0001..=1.0;
        /// R is at least this much in d: a bound of the authors' code, whose factor in a port of it is 0.01 of a packet by default; the
        /// value is ours, a packet
        reading min_packet: Bytes = Bytes(1000), in Bytes(1)..=Bytes(65_535);
        /// the capacity that a radio is assumed to have; 0: the rate of its data frames, which no traffic ever reaches. Ours: RCP does
        /// not know shared links
        operator radio_capacity: Rate = Rate(0), in Rate(0)..=FASTEST;
        /// the rate that a sender requests; 0: without a limit
        operator request: Rate = Rate(0), in Rate(0)..=FASTEST;
        /// most in flight, as a multiple of what the granted rate fills in a round trip; 0: no limit. Ours
        reading window: f64 = 2.0, in 0.0..=1000.0;
        /// the round-trip time that a sender reports, and that of its window: smoothed, latest, or the least so far; not verified
        reading rtt: RttChoice = RttChoice::Smoothed;
    }
}

/// RCP with the parameters of a run.
#[derive(Debug, Clone)]
pub struct Rcp {
    router: RouterConfig,
    sender: SenderConfig,
    radio_capacity: Rate,
}

impl Rcp {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let set = RcpParameters::read(params)?;
        if set.min_interval > set.slot {
            return Err(ParamError::above("min_interval", "slot"));
        }
        let router = RouterConfig {
            alpha: set.alpha,
            beta: set.beta,
            target: set.gamma,
            slot: set.slot,
            least_interval: set.min_interval,
            first_rtt: set.first_rtt,
            initial_share: set.initial_share,
            least: set.min_packet.get() as f64,
        };
        let sender = SenderConfig {
            request: requested(set.request),
            window: (set.window > 0.0).then(|| (math::round(set.window * 256.0) as u32).max(1)),
            rtt: set.rtt,
        };
        Ok(Self { router, sender, radio_capacity: set.radio_capacity })
    }
}

impl Scheme for Rcp {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(WithFallback::new(RcpSender::new(self.sender))))
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        let known = interface.medium == Medium::Radio && self.radio_capacity > Rate(0);
        let rate = if known { self.radio_capacity } else { interface.rate };
        Some(Box::new(RcpRouter::new(self.router, rate.as_bps() as f64 / 8.0)))
    }
}

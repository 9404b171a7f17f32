//! RCP: one rate for all flows of an output interface, written into each packet; senders send at that rate.
//!
//! N. Dukkipati, M. Kobayashi, R. Zhang-Shen, N. McKeown, "Processor Sharing Flows in the Internet", IWQoS 2005. Places: a [`Hop`] at
//! each output interface, and the [`Source`] of each flow.
//!
//! | file | what |
//! |---|---|
//! | `header` | RTT, wished and granted rate, the echo: 16 bytes in each packet, those of QFCP |
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
//! | q | what waits at the end of T | bytes | |
//! | alpha, beta | `alpha`, `beta` | | 0.4, 1 |
//!
//! Every T: `R <- R (1 + (T/d) (alpha (C - y) - beta q/d) / C)`, kept between `min_packet` in d and C.
//!
//! Checked against the authors' public ns-2 code: the law, alpha and beta of its scripts, the form of the bounds, gamma in the place
//! of C, d's average (gain T/d; where the mean of an interval is smaller, that times R/C and mean/d) and its 200 ms at the start.
//! Not verified against the paper's text: the slot of 10 ms, R at the start (a comment of that code), what a silent flow does.
//!
//! Readings, each a parameter where another is worth a try:
//! - **A sender paces** its payload at R; headers come on top and the law takes them for traffic, so that R is the rate of payload.
//! - **What is in flight** is at most `window` times what R fills in a smoothed round trip, two segments at least: a net for the time
//!   in which feedback is lost. The paper knows no window.
//! - **The start**: the SYN asks, data leave at the returned rate one round trip later. Without handshake the initial window asks.
//! - **After a silence** longer than a time-out, or a time-out, one segment asks again: the paper has a packet of its own for that.
//! - **Loss** is repaired and slows nobody down.
//! - **When**: a packet is stamped as it arrives; the authors' ns-2 code does it as it departs, which differs by its wait in a
//!   queue that the law keeps short.
//! - **An interval without packets** is one with y = 0; d stays.
//! - **A radio** has no known capacity: C is `radio_capacity`, the rate of its data frames by default, which no traffic reaches; so the
//!   queue stands where `alpha (C - y) = beta q/d`.
//! - **Routers that do not speak RCP**: see [`explicit`](crate::explicit); TCP's window rules beside the rate.

pub mod header;
mod router;
mod sender;

pub use router::{Router, RouterConfig};
pub use sender::{Sender, SenderConfig};

use alloc::boxed::Box;

use airfair_units::{Bytes, Rate, Span, math};

use crate::explicit::{RttChoice, bytes_per_second};
use crate::params::{ParamDoc, ParamError, ParamKind, Params};
use crate::places::{Hop, Interface, Medium, Source};
use crate::scheme::Scheme;

const ALPHA: ParamDoc = ParamDoc {
    name: "alpha",
    doc: "part of the spare rate that is handed out in a round trip; the authors' later scripts have 0.4, the paper of 2005 has 0.1",
    kind: ParamKind::Number,
    default: "0.4",
};
const BETA: ParamDoc = ParamDoc {
    name: "beta",
    doc: "part of the queue that is drained in a round trip; checked against the authors' scripts",
    kind: ParamKind::Number,
    default: "1",
};
const GAMMA: ParamDoc = ParamDoc {
    name: "gamma",
    doc: "part of the capacity that is aimed at; the authors' code has it, 0.95 to 1",
    kind: ParamKind::Number,
    default: "1",
};
const SLOT: ParamDoc =
    ParamDoc { name: "slot", doc: "largest T; not verified", kind: ParamKind::Span, default: "10 ms" };
const MIN_INTERVAL: ParamDoc = ParamDoc {
    name: "min_interval",
    doc: "least T and d: shorter round trips are controlled this often; ours",
    kind: ParamKind::Span,
    default: "1 ms",
};
const FIRST_RTT: ParamDoc = ParamDoc {
    name: "first_rtt",
    doc: "d before a packet has told its round-trip time; checked against the authors' code",
    kind: ParamKind::Span,
    default: "200 ms",
};
const INITIAL_SHARE: ParamDoc = ParamDoc {
    name: "initial_share",
    doc: "R at the start, as a part of C; a comment of the authors' code, else not verified",
    kind: ParamKind::Number,
    default: "0.05",
};
const MIN_PACKET: ParamDoc = ParamDoc {
    name: "min_packet",
    doc: "R is at least so much in d: a bound of the authors' code, whose factor in a port of it is 0.01 of a packet by default; the \
          value is ours, a packet",
    kind: ParamKind::Bytes,
    default: "1000 B",
};
const RADIO_CAPACITY: ParamDoc = ParamDoc {
    name: "radio_capacity",
    doc: "what is taken for the capacity of a radio; 0: the rate of its data frames, which no traffic ever reaches. Ours: RCP does \
          not know shared links",
    kind: ParamKind::Rate,
    default: "0 bit/s",
};
const REQUEST: ParamDoc = ParamDoc {
    name: "request",
    doc: "the rate that a sender asks for; 0: all that there is",
    kind: ParamKind::Rate,
    default: "0 bit/s",
};
const WINDOW: ParamDoc = ParamDoc {
    name: "window",
    doc: "most in flight, as a multiple of what the granted rate fills in a round trip; 0: no limit. Ours",
    kind: ParamKind::Number,
    default: "2",
};
const RTT: ParamDoc = ParamDoc {
    name: "rtt",
    doc: "the round-trip time that a sender tells, and that of its window: smoothed, latest, or the least so far; not verified",
    kind: ParamKind::Choice(RttChoice::NAMES),
    default: "smoothed",
};

/// The parameters.
pub const PARAMS: &[ParamDoc] = &[
    ALPHA,
    BETA,
    GAMMA,
    SLOT,
    MIN_INTERVAL,
    FIRST_RTT,
    INITIAL_SHARE,
    MIN_PACKET,
    RADIO_CAPACITY,
    REQUEST,
    WINDOW,
    RTT,
];

/// RCP, set up.
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
        let fastest = Rate(8 * u64::from(u32::MAX));
        let span = Span(100_000)..=Span::from_secs(100);
        let router = RouterConfig {
            alpha: params.number(&ALPHA, 0.0..=10.0)?,
            beta: params.number(&BETA, 0.0..=10.0)?,
            target: params.number(&GAMMA, 0.01..=1.0)?,
            slot: params.span(&SLOT, span.clone())?,
            least_interval: params.span(&MIN_INTERVAL, span.clone())?,
            first_rtt: params.span(&FIRST_RTT, span)?,
            initial_share: params.number(&INITIAL_SHARE, 0.0001..=1.0)?,
            least: params.bytes(&MIN_PACKET, Bytes(1)..=Bytes(65_535))?.get() as f64,
        };
        if router.least_interval > router.slot {
            return Err(ParamError { name: MIN_INTERVAL.name, problem: "expected at most slot".into() });
        }
        let request = params.rate(&REQUEST, Rate(0)..=fastest)?;
        let window = params.number(&WINDOW, 0.0..=1000.0)?;
        let sender = SenderConfig {
            request: if request == Rate(0) { u32::MAX } else { bytes_per_second(request) },
            window: (window > 0.0).then(|| (math::round(window * 256.0) as u32).max(1)),
            rtt: RttChoice::named(params.choice(&RTT)?),
        };
        Ok(Self { router, sender, radio_capacity: params.rate(&RADIO_CAPACITY, Rate(0)..=fastest)? })
    }
}

impl Scheme for Rcp {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(Sender::new(self.sender)))
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        let known = interface.medium == Medium::Radio && self.radio_capacity > Rate(0);
        let rate = if known { self.radio_capacity } else { interface.rate };
        Some(Box::new(Router::new(self.router, rate.as_bps() as f64 / 8.0)))
    }
}

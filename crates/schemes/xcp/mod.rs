//! XCP: routers write into each packet the change of its flow's window, from spare capacity and a standing queue.
//!
//! D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002; A. Falk and others,
//! draft-falk-xcp-spec-03 (2007). Places: a [`Hop`] at each output interface, and the [`Source`] of each flow.
//!
//! | file | what | section of the paper |
//! |---|---|---|
//! | `header` | round-trip time, round-trip time over window, requested change, echoed change: 20 bytes in each packet | 3.1 |
//! | `efficiency` | the change of all traffic: `phi = alpha d (C - y) - beta Q` | 3.5.1 |
//! | `fairness` | the share of each packet | 3.5.2 |
//! | `router` | sums, control interval, standing queue | 3.5 |
//! | `sender` | the window | 3.2 |
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | d | gauge `interval_s`; `first_interval`, `min_interval`, `max_interval` | time | the mean RTT, by bytes |
//! | C | a wire's rate; `radio_capacity` | bytes/s inside | |
//! | y | gauge `input_bps` | bytes/s inside | |
//! | Q | gauge `standing_queue_bytes` | bytes | |
//! | phi | gauge `change_bps`, as a rate | bytes in d | |
//! | alpha, beta, gamma | `alpha`, `beta`, `gamma` | | 0.4, 0.226, 0.1 |
//! | rtt_i, cwnd_i, s_i | header, `X = rtt/cwnd`; the packet's size on the link | us, ps a byte; bytes | |
//!
//! Every d, with sums over the packets of the interval that has ended and that reported their round-trip time:
//! - `d = sum rtt_i X_i s_i / sum X_i s_i`, `h = max(0, gamma y d - |phi|)`;
//! - `xi_p = (h + max(phi, 0)) / (d sum X_i s_i)`, `xi_n = (h + max(-phi, 0)) / (d sum s_i)`.
//!
//! Packet i of the next interval has its request lowered to `xi_p rtt_i X_i s_i - xi_n rtt_i s_i`.
//!
//! Checked against the draft, ns-2.35 or the paper's analysis: d, phi, h, both xi, the three constants, Q, X in the header. Not verified
//! against the paper's text: the first round trip and losses.
//!
//! Readings, each a parameter where another is worth a try:
//! - **The request** is the difference to the largest window of the flow, divided among the packets of a window (`request`).
//! - **SYN and first packets** whose sender has no round-trip time count as traffic, but in no sum, and get nothing.
//! - **Acknowledgements**, and packets of other schemes, count as traffic (y), but in no sum, and get nothing; h is a part of the
//!   traffic that can get a share. The paper has flows of XCP alone.
//! - **An interval without such packets** is followed by one that grants nothing, of `first_interval` (checked against ns-2.35, which
//!   does the same with 50 ms).
//! - **Q** is the least backlog of `max(2 ms, (d - q/C)/2)`, with a clock of its own (checked against ns-2.35). The packet in
//!   transmission is not counted.
//! - **Where packets get their share** (`feedback_at`): on arrival. The draft and ns-2 grant it at departure, one queueing delay later.
//! - **cwnd** is bytes of payload, a router's bytes are those of the link: headers are 4 % of 1000 bytes, which alpha takes.
//! - **Loss**: half of the window at three duplicates or a mark, one segment at a time-out, and feedback continues (as QFCP's paper
//!   says in section II; the draft continues with TCP's rules). After a silence longer than a time-out the window is at most the
//!   initial one.
//! - **Positive feedback** counts whether the window was full or not.
//! - **A radio** has no known capacity: C is `radio_capacity`, the rate of its data frames by default, which no traffic reaches; so the
//!   queue stands where `alpha d (C - y) = beta Q`. XCP-b is made for that.
//! - **Routers without support for XCP**: see [`explicit`](crate::explicit); TCP's law alone applies.
//!
//! The first ns-2 code also has, off by default: `xi_factor` 1.1, `budgets` that shrink as packets take them, and
//! `per_packet` counting.

mod efficiency;
mod fairness;
pub mod header;
mod router;
mod sender;

pub use efficiency::{Efficiency, KnownCapacity, Observed};
pub use fairness::{Fairness, FairnessConfig};
pub use router::{RouterConfig, XcpRouter};
pub use sender::{SenderConfig, XcpSender};

use alloc::boxed::Box;

use airfair_units::{Rate, Span};

use crate::explicit::{FASTEST, INTERVALS, RttChoice, WithFallback, bytes_per_second};
use crate::params::{ParamError, Params};
use crate::places::{Capability, Hop, Interface, Medium, Source, Wants};
use crate::scheme::Scheme;
use crate::{params, words};

words! {
    /// The moment at which a packet gets its feedback.
    pub enum FeedbackAt {
        /// When the packet arrives at the interface.
        Arrival = "arrival",
        /// When the packet leaves the queue, as in ns-2.35.
        Departure = "departure",
    }
}

params! {
    /// The parameters that XCP-b has as well.
    pub(crate) struct Common {
        /// part of the spare rate that is granted in a round trip; checked against the paper's analysis and ns-2.35
        paper alpha: f64 = 0.4, in 0.0..=10.0;
        /// part of the standing queue that is drained in a round trip, alpha^2 sqrt(2); checked against the paper's analysis and ns-2.35
        paper beta: f64 = 0.226, in 0.0..=10.0;
        /// part of the traffic that is shuffled in a round trip, less the change that is granted anyway; checked against ns-2.35
        paper gamma: f64 = 0.1, in 0.0..=1.0;
        /// control interval before a packet has reported its round-trip time, and after an interval in which none has; ours, ns-2.35 has
        /// 50 ms
        reading first_interval: Span = Span::from_millis(100), in INTERVALS;
        /// least control interval: shorter round trips count as this; checked against ns-2.35
        operator min_interval: Span = Span::from_millis(1), in INTERVALS;
        /// largest control interval; ours, ns-2.35 counts no round-trip time above 1 s
        operator max_interval: Span = Span::from_secs(10), in INTERVALS;
        /// when a packet gets its share: on arrival, or at departure as in ns-2.35, one queueing delay later (and slower to simulate)
        reading feedback_at: FeedbackAt = FeedbackAt::Arrival;
        /// factor on both xi; the first ns-2 code has 1.1 together with `budgets`
        reading xi_factor: f64 = 1.0, in 0.0..=10.0;
        /// the change of an interval is bounded: the shares of packets reduce a budget, as in ns-2.35. The paper divides by the traffic of
        /// the interval before and bounds nothing
        reading budgets: bool = false;
        /// each packet counts the same whatever its size, as in ns-2.35's sums of X
        reading per_packet: bool = false;
        /// the rate that a sender requests; 0: what its largest window allows. Ours
        operator request: Rate = Rate(0), in Rate(0)..=FASTEST;
        /// the round-trip time that a sender reports: smoothed, latest, or the least so far. The draft smooths
        reading rtt: RttChoice = RttChoice::Smoothed;
    }
}

params! {
    /// The parameters of XCP.
    pub(crate) struct XcpParameters {
        ..common: Common;
        /// the capacity that a radio is assumed to have; 0: the rate of its data frames, which no traffic ever reaches. Ours: XCP does
        /// not know shared links
        operator radio_capacity: Rate = Rate(0), in Rate(0)..=FASTEST;
    }
}

/// XCP with the parameters of a run.
#[derive(Debug, Clone)]
pub struct Xcp {
    router: RouterConfig,
    sender: SenderConfig,
    alpha: f64,
    beta: f64,
    radio_capacity: Rate,
}

impl Xcp {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let set = XcpParameters::read(params)?;
        Ok(Self {
            router: set.common.router()?,
            sender: set.common.sender(),
            alpha: set.common.alpha,
            beta: set.common.beta,
            radio_capacity: set.radio_capacity,
        })
    }
}

impl Common {
    /// The configuration of routers; an error for intervals in the wrong order.
    pub(crate) fn router(&self) -> Result<RouterConfig, ParamError> {
        if self.min_interval > self.max_interval {
            return Err(ParamError::above("min_interval", "max_interval"));
        }
        Ok(RouterConfig {
            fairness: FairnessConfig {
                gamma: self.gamma,
                xi_factor: self.xi_factor,
                budgets: self.budgets,
                per_packet: self.per_packet,
            },
            first_interval: self.first_interval,
            intervals: (self.min_interval, self.max_interval),
            at_departure: self.feedback_at == FeedbackAt::Departure,
        })
    }

    /// The configuration of senders.
    pub(crate) fn sender(&self) -> SenderConfig {
        SenderConfig {
            request: (self.request > Rate(0)).then(|| bytes_per_second(self.request)),
            rtt: self.rtt,
        }
    }
}

impl Scheme for Xcp {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(WithFallback::new(XcpSender::new(self.sender))))
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        let known = interface.medium == Medium::Radio && self.radio_capacity > Rate(0);
        let rate = if known { self.radio_capacity } else { interface.rate };
        let efficiency =
            KnownCapacity { alpha: self.alpha, beta: self.beta, capacity: rate.as_bps() as f64 / 8.0 };
        Some(Box::new(XcpRouter::new(self.router, efficiency)))
    }

    fn wants(&self, _interface: &Interface) -> Wants {
        Wants::NONE.and_if(self.router.at_departure, Capability::Departures)
    }
}

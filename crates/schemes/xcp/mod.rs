//! XCP: routers tell each flow by how much to change its window, from spare capacity and a standing queue.
//!
//! D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002; A. Falk and others,
//! draft-falk-xcp-spec-03 (2007). Places: a [`Hop`] at each output interface, and the [`Source`] of each flow.
//!
//! | file | what | section of the paper |
//! |---|---|---|
//! | `header` | round-trip time, that over the window, wished change, echoed change: 20 bytes in each packet | 3.1 |
//! | `efficiency` | how much all traffic shall change: `phi = alpha d (C - y) - beta Q` | 3.5.1 |
//! | `fairness` | which packet gets how much of it | 3.5.2 |
//! | `router` | sums, control interval, standing queue | 3.5 |
//! | `sender` | the window | 3.2 |
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | d | gauge `interval_s`; `first_interval`, `min_interval`, `max_interval` | time | the mean RTT, by bytes |
//! | C | a wire's rate; `radio_capacity` | bytes/s inside | |
//! | y | gauge `input_bps` | bytes/s inside | |
//! | Q | gauge `standing_queue_bytes`; `min_queue_interval` | bytes | |
//! | phi | gauge `change_bps`, as a rate | bytes in d | |
//! | alpha, beta, gamma | `alpha`, `beta`, `gamma` | | 0.4, 0.226, 0.1 |
//! | rtt_i, cwnd_i, s_i | header, `X = rtt/cwnd`; the packet's size on the link | us, ps a byte; bytes | |
//!
//! Every d, with sums over the packets of the interval that has ended and told their round-trip time:
//! - `d = sum rtt_i X_i s_i / sum X_i s_i`, `h = max(0, gamma y d - |phi|)`;
//! - `xi_p = (h + max(phi, 0)) / (d sum X_i s_i)`, `xi_n = (h + max(-phi, 0)) / (d sum s_i)`.
//!
//! Packet i of the next interval has its wish lowered to `xi_p rtt_i X_i s_i - xi_n rtt_i s_i`.
//!
//! Checked against the draft, ns-2.35 or the paper's analysis: d, phi, h, both xi, the three constants, Q, X in the header. Not verified
//! against the paper's text: how the first round trip and losses go.
//!
//! Readings, each a parameter where another is worth a try:
//! - **The wish** is what is missing to the largest window that the flow may have, over the packets of a window (`wish`).
//! - **SYN and first packets** whose sender knows no round-trip time count as traffic, take part in no sum and get nothing.
//! - **Acknowledgements**, and packets of others, count as traffic (y), take part in no sum and get nothing; h is a part of the traffic
//!   that can get something. The paper knows flows of XCP alone.
//! - **An interval without such packets** is followed by one that grants nothing, of `first_interval` (checked against ns-2.35, which
//!   does the same with 50 ms).
//! - **Q** is the least backlog of `max(2 ms, (d - q/C)/2)`, with a clock of its own (checked against ns-2.35). The packet that is being
//!   sent is no part of it.
//! - **Where packets get their share** (`feedback_at`): on arrival. The draft and ns-2 do it at departure, one queueing delay later.
//! - **cwnd** is bytes of payload, a router's bytes are those of the link: headers are 4 % of 1000 bytes, which alpha takes.
//! - **Loss**: half of the window at three duplicates or a mark, one segment at a time-out, and feedback goes on (QFCP's paper,
//!   section II, says so; the draft hands over to TCP's rules). After a silence longer than a time-out the window is at most the
//!   initial one.
//! - **Positive feedback** counts whether the window was full or not.
//! - **A radio** has no known capacity: C is `radio_capacity`, the rate of its data frames by default, which no traffic reaches; so the
//!   queue stands where `alpha d (C - y) = beta Q`. XCP-b is made for that.
//! - **Routers that do not speak XCP**: see [`explicit`](crate::explicit); TCP's law alone rules.
//!
//! The first ns-2 code also has, off by default: `xi_factor` 1.1, `budgets` that shrink as they are handed out, and
//! `per_packet` counting.

mod efficiency;
mod fairness;
pub mod header;
mod router;
mod sender;

pub use efficiency::{Efficiency, Known, Seen};
pub use fairness::{Fairness, FairnessConfig};
pub use router::{Router, RouterConfig};
pub use sender::{Sender, SenderConfig};

use alloc::boxed::Box;

use airfair_units::{Rate, Span};

use crate::explicit::{RttChoice, bytes_per_second};
use crate::params::{ParamDoc, ParamError, ParamKind, Params};
use crate::places::{Hop, Interface, Medium, Source, Wants};
use crate::scheme::Scheme;

pub(crate) const ALPHA: ParamDoc = ParamDoc {
    name: "alpha",
    doc: "part of the spare rate that is handed out in a round trip; checked against the paper's analysis and ns-2.35",
    kind: ParamKind::Number,
    default: "0.4",
};
pub(crate) const BETA: ParamDoc = ParamDoc {
    name: "beta",
    doc: "part of the standing queue that is drained in a round trip, alpha^2 sqrt(2); checked against the paper's analysis and \
          ns-2.35",
    kind: ParamKind::Number,
    default: "0.226",
};
pub(crate) const GAMMA: ParamDoc = ParamDoc {
    name: "gamma",
    doc: "part of the traffic that is shuffled in a round trip, less what is handed out anyway; checked against ns-2.35",
    kind: ParamKind::Number,
    default: "0.1",
};
const RADIO_CAPACITY: ParamDoc = ParamDoc {
    name: "radio_capacity",
    doc: "what is taken for the capacity of a radio; 0: the rate of its data frames, which no traffic ever reaches. Ours: XCP does \
          not know shared links",
    kind: ParamKind::Rate,
    default: "0 bit/s",
};
pub(crate) const FIRST_INTERVAL: ParamDoc = ParamDoc {
    name: "first_interval",
    doc: "control interval before a packet has told its round-trip time, and after one in which none has; ours, ns-2.35 has 50 ms",
    kind: ParamKind::Span,
    default: "100 ms",
};
pub(crate) const MIN_INTERVAL: ParamDoc = ParamDoc {
    name: "min_interval",
    doc: "least control interval: shorter round trips count as this; checked against ns-2.35",
    kind: ParamKind::Span,
    default: "1 ms",
};
pub(crate) const MAX_INTERVAL: ParamDoc = ParamDoc {
    name: "max_interval",
    doc: "largest control interval; ours, ns-2.35 counts no round-trip time above 1 s",
    kind: ParamKind::Span,
    default: "10 s",
};
const MIN_QUEUE_INTERVAL: ParamDoc = ParamDoc {
    name: "min_queue_interval",
    doc: "least time over which a queue has to stand in order to count; checked against ns-2.35",
    kind: ParamKind::Span,
    default: "2 ms",
};
pub(crate) const FEEDBACK_AT: ParamDoc = ParamDoc {
    name: "feedback_at",
    doc: "when a packet gets its share: on arrival, or at departure as in ns-2.35, one queueing delay later (and slower to simulate)",
    kind: ParamKind::Choice(&["arrival", "departure"]),
    default: "arrival",
};
pub(crate) const XI_FACTOR: ParamDoc = ParamDoc {
    name: "xi_factor",
    doc: "on both xi; the first ns-2 code has 1.1 together with `budgets`",
    kind: ParamKind::Number,
    default: "1",
};
pub(crate) const BUDGETS: ParamDoc = ParamDoc {
    name: "budgets",
    doc: "what an interval hands out is bounded: what packets take shrinks what is left, as in ns-2.35. The paper divides by what \
          passed in the interval before and bounds nothing",
    kind: ParamKind::Flag,
    default: "false",
};
pub(crate) const PER_PACKET: ParamDoc = ParamDoc {
    name: "per_packet",
    doc: "each packet counts the same whatever its size, as in ns-2.35's sums of X",
    kind: ParamKind::Flag,
    default: "false",
};
pub(crate) const WISH: ParamDoc = ParamDoc {
    name: "wish",
    doc: "the rate that a sender wishes to reach; 0: as much as its largest window holds. Ours",
    kind: ParamKind::Rate,
    default: "0 bit/s",
};
pub(crate) const RTT: ParamDoc = ParamDoc {
    name: "rtt",
    doc: "the round-trip time that a sender tells: smoothed, latest, or the least so far. The draft smooths",
    kind: ParamKind::Choice(RttChoice::NAMES),
    default: "smoothed",
};

/// The parameters.
pub const PARAMS: &[ParamDoc] = &[
    ALPHA,
    BETA,
    GAMMA,
    RADIO_CAPACITY,
    FIRST_INTERVAL,
    MIN_INTERVAL,
    MAX_INTERVAL,
    MIN_QUEUE_INTERVAL,
    FEEDBACK_AT,
    XI_FACTOR,
    BUDGETS,
    PER_PACKET,
    WISH,
    RTT,
];

/// XCP, set up.
#[derive(Debug, Clone)]
pub struct Xcp {
    router: RouterConfig,
    sender: SenderConfig,
    alpha: f64,
    beta: f64,
    least_queue_interval: Span,
    radio_capacity: Rate,
}

impl Xcp {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Ok(Self {
            router: router(params)?,
            sender: sender(params)?,
            alpha: params.number(&ALPHA, 0.0..=10.0)?,
            beta: params.number(&BETA, 0.0..=10.0)?,
            least_queue_interval: params.span(&MIN_QUEUE_INTERVAL, SPANS)?,
            radio_capacity: params.rate(&RADIO_CAPACITY, Rate(0)..=FASTEST)?,
        })
    }
}

/// What intervals may be.
const SPANS: core::ops::RangeInclusive<Span> = Span(100_000)..=Span(100_000_000_000);
/// The largest rate that parameters take.
const FASTEST: Rate = Rate(8 * u32::MAX as u64);

/// The parameters of a router that XCP-b has as well.
pub(crate) fn router(params: &Params) -> Result<RouterConfig, ParamError> {
    let intervals = (params.span(&MIN_INTERVAL, SPANS)?, params.span(&MAX_INTERVAL, SPANS)?);
    if intervals.0 > intervals.1 {
        return Err(ParamError { name: MIN_INTERVAL.name, problem: "expected at most max_interval".into() });
    }
    Ok(RouterConfig {
        fairness: FairnessConfig {
            gamma: params.number(&GAMMA, 0.0..=1.0)?,
            xi_factor: params.number(&XI_FACTOR, 0.0..=10.0)?,
            budgets: params.flag(&BUDGETS)?,
            per_packet: params.flag(&PER_PACKET)?,
        },
        first_interval: params.span(&FIRST_INTERVAL, SPANS)?,
        intervals,
        at_departure: params.choice(&FEEDBACK_AT)? == "departure",
    })
}

/// The parameters of a sender that XCP-b has as well.
pub(crate) fn sender(params: &Params) -> Result<SenderConfig, ParamError> {
    let wish = params.rate(&WISH, Rate(0)..=FASTEST)?;
    Ok(SenderConfig {
        wish: (wish > Rate(0)).then(|| bytes_per_second(wish)),
        rtt: RttChoice::named(params.choice(&RTT)?),
    })
}

impl Scheme for Xcp {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(Sender::new(self.sender)))
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        let known = interface.medium == Medium::Radio && self.radio_capacity > Rate(0);
        let rate = if known { self.radio_capacity } else { interface.rate };
        let efficiency = Known {
            alpha: self.alpha,
            beta: self.beta,
            capacity: rate.as_bps() as f64 / 8.0,
            least_queue_interval: self.least_queue_interval,
        };
        Some(Box::new(Router::new(self.router, efficiency)))
    }

    fn wants(&self, _interface: &Interface) -> Wants {
        Wants { departures: self.router.at_departure, ..Wants::default() }
    }
}

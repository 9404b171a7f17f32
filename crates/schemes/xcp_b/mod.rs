//! XCP-b ("blind"): XCP for links whose capacity nobody knows, such as a cell of 802.11.
//!
//! F. Abrantes, M. Ricardo, "XCP for Shared-Access Multi-Rate Media", ACM CCR 36(3), 2006, and the same authors, IEEE Transactions on
//! Mobile Computing 10(1), 2011. Places: a [`Hop`] at each output interface, and XCP's [`Source`].
//!
//! Header, sender, fairness controller and control interval are XCP's (see [`xcp`]): routers of both may stand on one path.
//! The law for phi is another one (`efficiency`): spare capacity is read from the speed of the queue.
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | q_k | the least that waited in interval k; `queue` | bytes | |
//! | kappa | `target`, in packets of `packet_size` | packets | 3 |
//! | n | `patience` | intervals | 2 |
//! | chi | `chi` | part of the buffer B | 0.1 |
//! | B | the queue's limit in packets of `packet_size` | bytes | |
//! | alpha, beta, gamma | as in XCP | | 0.4, 0.226, 0.1 |
//!
//! - Busy (`q_k > 0`, or 0 in less than n intervals in a row): `phi = -alpha (q_k - q_(k-1)) - beta (q_k - kappa)`.
//! - Idle (`q_k = 0` in n intervals in a row): `phi = chi B`.
//!
//! A public summary confirms: the speed of the queue in the place of C - y, a fixed amount while the link is under-used, a queue target
//! above zero, a late reaction, and the bound `chi <= 1/(5 - alpha - beta)`. **Not verified** against the papers: kappa, n, the base of
//! chi, and all that follows.
//!
//! Readings, ours:
//! - What is dropped counts as growth of the queue: at a full queue `q_k - q_(k-1)` is 0 whatever arrives.
//! - q is the least of an interval, as XCP's Q is the least of half a round trip, the packet that is being sent left out. What waits at its
//!   end (`queue = "end"`) may be a clump on a link that is idle at times: flows with other round-trip times then use 80 % of it
//!   for minutes.
//! - Losses are answered as in XCP; QFCP's paper depends on that (its figure 3).

mod efficiency;

pub use efficiency::Blind;

use alloc::boxed::Box;

use airfair_units::Bytes;

use crate::params::{ParamDoc, ParamError, ParamKind, Params};
use crate::places::{Hop, Interface, Source, Wants};
use crate::scheme::Scheme;
use crate::xcp::{self, Router, RouterConfig, Sender, SenderConfig};

const QUEUE: ParamDoc = ParamDoc {
    name: "queue",
    doc: "q: the least that waited in a control interval, or what waits at its end; packets that come in clumps make a queue at the end of \
          intervals in which the link was idle. Not verified",
    kind: ParamKind::Choice(&["least", "end"]),
    default: "least",
};
const TARGET: ParamDoc = ParamDoc {
    name: "target",
    doc: "kappa: the queue that is aimed at, packets; not verified",
    kind: ParamKind::Number,
    default: "3",
};
const PATIENCE: ParamDoc = ParamDoc {
    name: "patience",
    doc: "n: the link counts as idle when q was 0 in so many control intervals in a row; not verified",
    kind: ParamKind::Integer,
    default: "2",
};
const CHI: ParamDoc = ParamDoc {
    name: "chi",
    doc: "part of the buffer that is handed out in an interval while the link is idle; at most 1/(5 - alpha - beta), or the queue may \
          overflow (the bound is checked against a summary, the base is not verified)",
    kind: ParamKind::Number,
    default: "0.1",
};
const PACKET_SIZE: ParamDoc = ParamDoc {
    name: "packet_size",
    doc: "the size of a packet in `target` and in the buffer; ours",
    kind: ParamKind::Bytes,
    default: "1000 B",
};

/// The parameters.
pub const PARAMS: &[ParamDoc] = &[
    xcp::ALPHA,
    xcp::BETA,
    xcp::GAMMA,
    QUEUE,
    TARGET,
    PATIENCE,
    CHI,
    PACKET_SIZE,
    xcp::FIRST_INTERVAL,
    xcp::MIN_INTERVAL,
    xcp::MAX_INTERVAL,
    xcp::FEEDBACK_AT,
    xcp::XI_FACTOR,
    xcp::BUDGETS,
    xcp::PER_PACKET,
    xcp::WISH,
    xcp::RTT,
];

/// XCP-b, set up.
#[derive(Debug, Clone)]
pub struct XcpB {
    router: RouterConfig,
    sender: SenderConfig,
    alpha: f64,
    beta: f64,
    least: bool,
    chi: f64,
    target: f64,
    patience: u32,
    packet_size: Bytes,
}

impl XcpB {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Ok(Self {
            router: xcp::router(params)?,
            sender: xcp::sender(params)?,
            alpha: params.number(&xcp::ALPHA, 0.0..=10.0)?,
            beta: params.number(&xcp::BETA, 0.0..=10.0)?,
            least: params.choice(&QUEUE)? == "least",
            chi: params.number(&CHI, 0.0..=1.0)?,
            target: params.number(&TARGET, 0.0..=1e6)?,
            patience: params.integer(&PATIENCE, 1..=1000)? as u32,
            packet_size: params.bytes(&PACKET_SIZE, Bytes(1)..=Bytes(65_535))?,
        })
    }
}

impl Scheme for XcpB {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(Sender::new(self.sender)))
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        let packet = self.packet_size.get() as f64;
        let efficiency = Blind {
            alpha: self.alpha,
            beta: self.beta,
            least: self.least,
            target: self.target * packet,
            idle_change: self.chi * f64::from(interface.limit_packets) * packet,
            patience: self.patience,
            before: 0,
            empty: 0,
        };
        Some(Box::new(Router::new(self.router, efficiency)))
    }

    fn wants(&self, _interface: &Interface) -> Wants {
        Wants { departures: self.router.at_departure, ..Wants::default() }
    }
}

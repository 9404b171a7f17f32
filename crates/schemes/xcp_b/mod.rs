//! XCP-b ("blind"): XCP for links of unknown capacity, such as a cell of 802.11.
//!
//! F. Abrantes, M. Ricardo, "XCP for Shared-Access Multi-Rate Media", ACM CCR 36(3), 2006, and the same authors, IEEE Transactions on
//! Mobile Computing 10(1), 2011. Places: a [`Hop`] at each output interface, and XCP's [`Source`].
//!
//! Header, sender, fairness controller and control interval are XCP's (see [`xcp`](crate::xcp)): routers of both may stand on one path.
//! The law for phi is another one (`efficiency`): spare capacity is read from the speed of the queue.
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | q_k | the least backlog in interval k; `queue` | bytes | |
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

use crate::explicit::WithFallback;
use crate::params::{ParamError, Params};
use crate::places::{Capability, Hop, Interface, Source, Wants};
use crate::scheme::Scheme;
use crate::xcp::{Common, RouterConfig, SenderConfig, XcpRouter, XcpSender};
use crate::{params, words};

words! {
    /// The queue q of a control interval.
    pub enum QueueAt {
        /// The least backlog of the interval.
        Least = "least",
        /// The backlog at the end of the interval.
        End = "end",
    }
}

params! {
    /// The parameters of XCP-b.
    pub(crate) struct XcpBParameters {
        ..common: Common;
        /// q: the least backlog in a control interval, or the backlog at its end; packets that arrive in bursts make a queue at the end
        /// of intervals in which the link was idle. Not verified
        reading queue: QueueAt = QueueAt::Least;
        /// kappa: the target of the queue, packets; not verified
        paper target: f64 = 3.0, in 0.0..=1e6;
        /// n: the link counts as idle when q was 0 in this many control intervals in a row; not verified
        paper patience: u64 = 2, in 1..=1000;
        /// part of the buffer that is granted in an interval while the link is idle; at most 1/(5 - alpha - beta), or the queue may
        /// overflow (the bound is checked against a summary, the base is not verified)
        paper chi: f64 = 0.1, in 0.0..=1.0;
        /// the size of a packet in `target` and in the buffer; ours
        reading packet_size: Bytes = Bytes(1000), in Bytes(1)..=Bytes(65_535);
    }
}

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
        let set = XcpBParameters::read(params)?;
        Ok(Self {
            router: set.common.router()?,
            sender: set.common.sender(),
            alpha: set.common.alpha,
            beta: set.common.beta,
            least: set.queue == QueueAt::Least,
            chi: set.chi,
            target: set.target,
            patience: set.patience as u32,
            packet_size: set.packet_size,
        })
    }
}

impl Scheme for XcpB {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(WithFallback::new(XcpSender::new(self.sender))))
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
        Some(Box::new(XcpRouter::new(self.router, efficiency)))
    }

    fn wants(&self, _interface: &Interface) -> Wants {
        Wants::NONE.and_if(self.router.at_departure, Capability::Departures)
    }
}

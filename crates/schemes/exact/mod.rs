//! EXACT: routers write into each packet the rate that they allow its flow, by the bandwidth that they measure to each neighbour.
//!
//! K. Chen, K. Nahrstedt, N. Vaidya, "The utility of explicit rate-based flow control in mobile ad hoc networks", WCNC 2004; technical
//! report UIUCDCS-R-2002-2286, 2002. Places: a [`Hop`] at each output interface, and [`Source`](crate::places::Source) and
//! [`Receiver`](crate::places::Receiver) of each flow, over the transport with a rate (reliable, as in the paper) or over UDP (not).
//!
//! | file | what |
//! |---|---|
//! | `header` | explicit and current rate, 16 bytes in each packet; the report of each packet |
//! | `bandwidth` | the bandwidth to each neighbour |
//! | `shares` | the division among flows, as a function |
//! | `router` | the flows of an interface, and the stamp |
//! | `receiver` | the report |
//! | `source` | the rate, and the safety window |
//! | `presets` | the law as it is known, and what an operator should take |
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | b | `Bandwidths::to` | bytes/s: a packet over the time from the head of the queue to its acknowledgement | |
//! | ER, CR | the header's rates | bytes/s of IP packets | |
//! | U | `utilisation` | part of the time that a node divides | 1 |
//! | kappa | `safety` | rates times round-trip times that may be on their way | 2 |
//!
//! No full text of the papers could be read: abstracts and introductions, and what other papers say of it. Sure is what travels and that
//! sources follow it at once; the division is called "proportional max-min fair" and no more. Where the text is open:
//! - **Bandwidth**: the moving average of the time that a success takes beyond its bits at the link's rate, so that sizes may differ. With
//!   `charges_given_up` the time of packets that the MAC gives up counts with the next success. A neighbour to which nothing has succeeded
//!   for 10 s counts as clean air: with the least such time that the interface has measured.
//! - **Division** (`share`): the time of the node in equal parts, so that a flow has a rate in proportion to its bandwidth, or equal rates.
//!   A flow that is limited elsewhere takes no more than `growth` times its current rate of it; what a flow is told is its part if it
//!   wanted all: so it can grow within a round trip.
//! - **Start**: one packet, and the rate that the path allows a round trip later. The wish is the rate of the first hop's link.
//! - **Current rate**: the one that the source may use. A source whose application has less to send holds its part all the same: it cannot
//!   tell that from a queue of its node that has no room, and a source that stated less would lose its part to those that fill the queue.
//! - **Safety window**: a source whose unreported packets exceed `safety` round trips and four packets sends one packet a second: the path
//!   may be broken.
//! - A flow whose packets have stopped leaves the table after a second, or five of its intervals if that is longer.

mod bandwidth;
pub mod header;
mod presets;
mod receiver;
mod router;
mod shares;
mod source;

pub use bandwidth::Bandwidths;
pub use presets::PRESETS;
pub use receiver::ExactReceiver;
pub use router::ExactRouter;
pub use shares::{Demand, level};
pub use source::{ExactSource, SourceConfig};

use alloc::boxed::Box;

use crate::params::{ParamError, Params};
use crate::places::{Capability, Hop, Interface, Medium, UdpEnds, Wants};
use crate::scheme::Scheme;
use crate::{params, words};

words! {
    /// The quantity of which flows have equal parts.
    pub enum Share {
        /// The time of the node.
        Time = "time",
        /// The rate.
        Rate = "rate",
    }
}

params! {
    /// The parameters of EXACT.
    pub struct ExactParameters {
        /// U, part of its time that a node divides among flows; the texts name no other than all
        paper utilisation: f64 = 1.0, in 0.1..=1.0;
        /// kappa, a source stops when more is on its way than this many round trips at its rate, and four packets; 1.5 to 4, open in the
        /// texts
        reading safety: f64 = 2.0, in 1.0..=16.0;
        /// equal parts of the time of a node, or equal rates: "proportional max-min" in the texts
        reading share: Share = Share::Time;
        /// the time of packets that the MAC gives up counts with the next success; in the texts each success counts alone
        reading charges_given_up: bool = false;
        /// a flow that is limited elsewhere is reckoned with this many times its rate, so that it can grow; open in the texts
        reading growth: f64 = 1.1, in 1.0..=4.0;
    }
}

/// EXACT with the parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct Exact(ExactParameters);

impl Exact {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Ok(Self(ExactParameters::read(params)?))
    }
}

impl Scheme for Exact {
    fn udp(&self) -> Option<UdpEnds> {
        let config = SourceConfig { safety: self.0.safety };
        Some(UdpEnds { source: Box::new(ExactSource::new(config)), receiver: Some(Box::new(ExactReceiver)) })
    }

    fn rate(&self) -> Option<UdpEnds> {
        self.udp()
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        Some(Box::new(ExactRouter::new(&self.0, interface)))
    }

    fn wants(&self, interface: &Interface) -> Wants {
        match interface.medium {
            Medium::Radio => Wants::of(&[Capability::AccessTimes]),
            Medium::Wire => Wants::NONE,
        }
    }
}

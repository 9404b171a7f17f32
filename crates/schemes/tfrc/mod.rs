//! TFRC: a flow over UDP sends at the rate of a TCP flow with the same loss event rate and round-trip time.
//!
//! Source: Floyd, Handley, Padhye, Widmer, "TCP Friendly Rate Control (TFRC): Protocol Specification", RFC 5348 (2008). `tfrc-ecn`:
//! Warrier, Ha, Wason, Rhee, "DiffQ: Differential Backlog Congestion Control for Wireless Multi-hop Networks", §6.1.
//! Places: source and receiver over UDP; `tfrc-ecn` also the AQM.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | X, X_inst | `TfrcSender::allowed`, `TfrcSender::rate` | bytes of payload a second |
//! | X_Bps, X_recv_set | `TfrcSender::by_equation`, `TfrcSender::received` | bytes/s |
//! | p | `History::loss_event_rate` | loss events a packet |
//! | R, R_m | `Path::rtt`, `Receiver::rtt` | s, ns |
//! | s | `Path::segment` | bytes of payload, the mean of the flow |
//! | I_i, w_i, DF_i, DF | `History` | packets, numbers |
//!
//! | file | contents |
//! |---|---|
//! | `equation` | §3.1, the throughput equation and its inverse |
//! | `header` | §3.2, data packets and reports |
//! | `sender` | §4 and §8.2.1, the allowed rate |
//! | `history` | §5, loss events and their rate |
//! | `receiver` | §6, reports |
//! | `marking` | the marks of `tfrc-ecn` |
//!
//! Readings: the open interval holds the packets from the start of its event to the newest one. A report that another has overtaken is
//! ignored. A packet that arrives after it was declared lost stays lost. A packet without the sender's round-trip time is reported at once.
//! W_init/R follows the smoothed R. A sender that waits for room in its node's queue is limited by its data.

pub mod equation;
pub mod header;
pub mod history;
mod marking;
mod receiver;
mod sender;

use alloc::boxed::Box;

use airfair_units::Span;

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{Aqm, Interface, UdpEnds};
use crate::scheme::Scheme;

pub use marking::Marking;
pub use receiver::{Receiver, ReceiverConfig};
pub use sender::{SenderConfig, TfrcSender};

params! {
    /// The parameters that both schemes have.
    pub(crate) struct Common {
        /// t_mbi, the longest time between two packets (RFC 5348 section 4.3)
        paper longest_gap: Span = Span::from_secs(64), in Span::from_secs(1)..=Span::from_secs(1000);
        /// b, packets that TCP acknowledges with one acknowledgement (section 3.1: 1)
        paper per_ack: f64 = 1.0, in 1.0..=2.0;
        /// the least t_RTO of the equation; section 3.1 sets t_RTO to 4 R and names "1 s" as the other choice
        reading least_rto: Span = Span::ZERO, in Span::ZERO..=Span::from_secs(10);
        /// q, the weight of the old round-trip time in the mean (section 4.3)
        paper rtt_weight: f64 = 0.9, in 0.0..=0.999;
        /// the rate follows the last round-trip time by its root, so that it oscillates less (section 4.5, optional; on in ns-2)
        paper damping: bool = true;
        /// q2, the weight of the old mean in that (section 4.5)
        paper damping_weight: f64 = 0.9, in 0.0..=0.999, if damping;
        /// n, loss intervals in the mean (section 5.4)
        paper intervals: u64 = 8, in 2..=64;
        /// older loss intervals count less while the open one is long (section 5.5, optional; on in ns-2)
        paper discounting: bool = true;
        /// THRESHOLD, the least weight of older intervals in that (section 5.5)
        paper least_discount: f64 = 0.25, in 0.01..=1.0, if discounting;
        /// rate after the first loss event, as a part of the largest receive rate: 1 (section 6.3.1), which is half of what the sender
        /// may have sent
        reading first_share: f64 = 1.0, in 0.01..=1.0;
    }
}

params! {
    /// The parameters of TFRC.
    pub(crate) struct TfrcParameters {
        ..common: Common;
        /// NDUPACK, later packets after which a missing one is lost (section 5.1)
        paper reordering: u64 = 3, in 1..=64;
        /// packets can be marked, and marks are losses (section 5)
        operator ecn: bool = false;
    }
}

params! {
    /// The parameters of `tfrc-ecn`.
    pub(crate) struct EcnParameters {
        ..common: Common;
        /// a packet is marked when the queue holds more than this part of its limit (DiffQ section 6.1)
        paper mark_above: f64 = 0.75, in 0.0..=1.0;
    }
}

/// Sender and receiver of every flow over UDP, and the marking of interfaces.
#[derive(Debug, Clone, Copy)]
pub struct Tfrc {
    sender: SenderConfig,
    receiver: ReceiverConfig,
    /// The part of a queue's limit above which `tfrc-ecn` marks.
    mark_above: Option<f64>,
}

impl Tfrc {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let TfrcParameters { common, reordering, ecn } = TfrcParameters::read(params)?;
        Ok(Self::new(&common, ecn, Some(reordering), None))
    }

    /// `tfrc-ecn` with these parameters: no loss is a loss event, marks are.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn with_marks(params: &Params) -> Result<Self, ParamError> {
        let EcnParameters { common, mark_above } = EcnParameters::read(params)?;
        Ok(Self::new(&common, true, None, Some(mark_above)))
    }

    /// `reordering`: NDUPACK, if losses are loss events.
    fn new(set: &Common, ecn: bool, reordering: Option<u64>, mark_above: Option<f64>) -> Self {
        let (per_ack, least_rto) = (set.per_ack, set.least_rto.as_secs_f64());
        let sender = SenderConfig {
            longest_gap: set.longest_gap.as_secs_f64(),
            per_ack,
            least_rto,
            rtt_weight: set.rtt_weight,
            root_weight: set.damping.then_some(set.damping_weight),
            ecn,
        };
        let rules = history::Rules {
            reordering: reordering.unwrap_or(3) as u32,
            intervals: set.intervals as usize,
            least_discount: set.discounting.then_some(set.least_discount),
            by_loss: reordering.is_some(),
            by_mark: ecn,
        };
        let receiver = ReceiverConfig { rules, first_share: set.first_share, per_ack, least_rto };
        Self { sender, receiver, mark_above }
    }
}

impl Scheme for Tfrc {
    fn udp(&self) -> Option<UdpEnds> {
        Some(UdpEnds {
            source: Box::new(TfrcSender::new(self.sender)),
            receiver: Some(Box::new(Receiver::new(self.receiver))),
        })
    }

    fn aqm(&self, interface: &Interface) -> Option<Box<dyn Aqm>> {
        Some(Box::new(Marking::new(self.mark_above?, interface.limit_packets)))
    }
}

//! The receiver of a flow over UDP: observations at the flow's destination, and the reports that return them to the source.

use alloc::boxed::Box;

use airfair_units::Bytes;

use super::{Ecn, Header, ReceiverContext, Source, Timer};

/// A datagram that has arrived at the destination of its flow. Sequence number, time of sending and what else a receiver needs of a
/// source are fields of the header, so that they cost bytes and mean the same on a real network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Payload.
    pub bytes: Bytes,
    /// The packet's ECN bits.
    pub ecn: Ecn,
    /// The header that the source has filled and hops have changed; empty if the source has none. `unsupported` is set.
    pub header: Header,
}

/// Loss events, as a receiver has estimated them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LossEvents {
    /// Number of loss events so far.
    pub count: u64,
    /// The present loss event rate, 0..=1.
    pub rate: f64,
}

/// The receiver's half of a scheme for flows over UDP: one at the destination of each flow, beside the flow's [`Source`]. A report is a
/// packet of its own (`ReceiverEffects::reports`): it uses the air, waits in queues and may be lost, so that its bytes have to hold all
/// that the source needs ([`Source::on_report`]).
pub trait Receiver: Send {
    /// True if its reports precede the packets that wait, at every hop; hops and AQMs on their way do not see them. Called once.
    fn reports_go_ahead(&self) -> bool {
        false
    }

    /// A datagram arrived, in whatever order the network delivers.
    fn on_data(&mut self, data: &Arrived, context: &mut ReceiverContext<'_>);

    /// A timer fired, such as the end of an epoch.
    fn on_timer(&mut self, _timer: Timer, _context: &mut ReceiverContext<'_>) {}

    /// The receiver's loss events, for results; `None` if it does not count them.
    fn loss_events(&self) -> Option<LossEvents> {
        None
    }
}

/// Both ends of a flow over UDP, or over the transport with a rate, under a scheme.
pub struct UdpEnds {
    /// The source of the flow: its packets leave at the rate of its allowance.
    pub source: Box<dyn Source>,
    /// The receiver at the flow's destination, if the scheme has one.
    pub receiver: Option<Box<dyn Receiver>>,
}

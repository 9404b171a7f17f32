//! The marking probability of a load, and the marks [LBM §2.2].

use airfair_units::math;
use airfair_units::random::Stream;

use crate::places::{
    Aqm, Context, Direction, Ecn, MarkReason, Packet, Probability, QueueView, Setting, Verdict,
};

/// Name of marks of outgoing packets.
pub const OUTGOING: &str = "lbm-outgoing";
/// Name of marks of received packets.
pub const INCOMING: &str = "lbm-incoming";

/// `min{(alpha (rho - rho_0))^k, 1}`, 0 up to rho_0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Slope.
    pub alpha: f64,
    /// k: 1 is the paper's.
    pub exponent: f64,
}

impl Curve {
    /// The marking probability of a load.
    #[must_use]
    pub fn probability(&self, rho: f64, rho0: f64) -> f64 {
        let over = self.alpha * (rho - rho0);
        if over <= 0.0 {
            return 0.0;
        }
        // A linear one is exact.
        let p = if self.exponent == 1.0 { over } else { math::pow(over, self.exponent) };
        p.min(1.0)
    }
}

/// The AQM of an access point's radio: marks, and never drops.
#[derive(Debug, Clone, Default)]
pub struct LbmMark {
    outgoing: Probability,
    incoming: Probability,
}

/// A packet is marked if it can be, is not yet, and the draw says so.
#[inline]
fn judge(p: Probability, name: &'static str, packet: &Packet, random: &mut Stream) -> Verdict {
    if packet.ecn == Ecn::Ect && p > Probability::ZERO && u64::from(random.next_u32()) < p.numerator() {
        Verdict::Mark(MarkReason(name))
    } else {
        Verdict::Pass
    }
}

impl Aqm for LbmMark {
    #[inline]
    fn on_enqueue(&mut self, packet: &Packet, _queue: &QueueView, context: &mut Context<'_>) -> Verdict {
        judge(self.outgoing, OUTGOING, packet, context.random)
    }

    #[inline]
    fn on_receive(&mut self, packet: &Packet, context: &mut Context<'_>) -> Verdict {
        judge(self.incoming, INCOMING, packet, context.random)
    }

    fn judges_received(&self) -> bool {
        true
    }

    fn apply(&mut self, setting: Setting) {
        match setting {
            Setting::Probability(Direction::Outgoing, p) => self.outgoing = p,
            Setting::Probability(Direction::Incoming, p) => self.incoming = p,
            _ => {}
        }
    }
}

//! The marking probability of a load, and the marks [LBM §2.2].

use airfair_units::math;
use airfair_units::random::Stream;

use crate::flow_use::FlowUse;
use crate::places::{
    Aqm, AqmContext, Direction, Ecn, FlowBytes, FlowId, MarkReason, Packet, PacketClass, Probability,
    QueueView, Setting, Verdict,
};

/// Name of marks of outgoing packets.
pub const OUTGOING: &str = "lbm-outgoing";
/// Name of marks of received packets.
pub const INCOMING: &str = "lbm-incoming";

/// The marking curve `min{(alpha (rho - rho_0))^k, 1}`; 0 up to rho_0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// The slope alpha.
    pub alpha: f64,
    /// The exponent k; the paper's is 1.
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
    mark_acks: bool,
    /// The exponent of a flow's rate in its marking probability.
    evenness: f64,
    /// By flow: the factor of the marking probability.
    flows: FlowUse<f64>,
    outgoing: Probability,
    incoming: Probability,
}

/// The factor of a flow's marking probability: `(rate / mean rate)^evenness`.
fn factor(rate: f64, mean: f64, evenness: f64) -> f64 {
    math::pow(rate / mean.max(f64::MIN_POSITIVE), evenness)
}

impl LbmMark {
    /// An AQM; with `mark_acks` acknowledgements are marked too: they echo the mark to the sender of the data.
    #[must_use]
    pub fn new(mark_acks: bool, evenness: f64) -> Self {
        Self { mark_acks, evenness, ..Self::default() }
    }

    /// The probability of a packet's flow, where flows differ.
    #[inline]
    fn of_flow(&mut self, p: Probability, direction: Direction, packet: &Packet) -> Probability {
        if self.evenness == 0.0 || packet.class != PacketClass::Data {
            return p;
        }
        let factor = self.flows.add(packet.flow, direction, packet.bytes).unwrap_or(1.0);
        Probability::new(factor * p.numerator() as f64 / Probability::ONE.numerator() as f64)
    }

    /// Marks a packet that can be marked and is not yet, by a draw.
    #[inline]
    fn judge(&self, p: Probability, name: &'static str, packet: &Packet, random: &mut Stream) -> Verdict {
        let verdict = match packet.class {
            _ if packet.ecn == Ecn::Ect => Verdict::Mark(MarkReason(name)),
            PacketClass::Ack if self.mark_acks => Verdict::Echo(MarkReason(name)),
            _ => return Verdict::Pass,
        };
        let drawn = p > Probability::ZERO && u64::from(random.next_u32()) < p.numerator();
        if drawn { verdict } else { Verdict::Pass }
    }
}

impl Aqm for LbmMark {
    #[inline]
    fn on_enqueue(&mut self, packet: &Packet, _queue: &QueueView, context: &mut AqmContext<'_>) -> Verdict {
        let p = self.of_flow(self.outgoing, Direction::Outgoing, packet);
        self.judge(p, OUTGOING, packet, context.random)
    }

    #[inline]
    fn on_receive(&mut self, packet: &Packet, context: &mut AqmContext<'_>) -> Verdict {
        let p = self.of_flow(self.incoming, Direction::Incoming, packet);
        self.judge(p, INCOMING, packet, context.random)
    }

    fn apply(&mut self, setting: Setting) {
        match setting {
            // The agent sets it once an interval.
            Setting::Probability(Direction::Outgoing, p) => {
                self.outgoing = p;
                if self.evenness > 0.0 {
                    let evenness = self.evenness;
                    self.flows.end_window(|rate, mean| factor(rate, mean, evenness));
                }
            }
            Setting::Probability(Direction::Incoming, p) => self.incoming = p,
            Setting::Backlog { .. }
            | Setting::LinkRate { .. }
            | Setting::FlowRate { .. }
            | Setting::Starving(_) => {}
        }
    }

    fn count_flow(&mut self, flow: FlowId, used: &FlowBytes) {
        if self.evenness > 0.0 && used.data != [0, 0] {
            self.flows.add_bytes(flow, used.data);
        }
    }

    fn flow_factor(&self, flow: FlowId) -> f64 {
        if self.evenness == 0.0 { 1.0 } else { self.flows.value(flow).unwrap_or(1.0) }
    }
}

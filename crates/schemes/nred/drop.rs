//! A node's own share of the drops, separately for packets that it sends and packets that it receives [NRED §5.3].

use airfair_units::math;
use airfair_units::random::Stream;

use super::Nred;
use crate::flow_use::FlowUse;
use crate::places::{
    Aqm, AqmContext, Direction, DropReason, FlowBytes, FlowId, MarkReason, Packet, PacketClass, Probability,
    QueueView, Setting, Verdict,
};

/// Name of drops and marks of outgoing packets.
pub const OUTGOING: &str = "nred-outgoing";
/// Name of drops and marks of received packets.
pub const INCOMING: &str = "nred-incoming";

/// The local share of p_b of one direction: `normalizedP_b avg_tx`, or `normalizedP_b avg_rx`; all where normalizedP_b is 1.
pub(super) fn local_share(normalized_p_b: f64, avg: f64) -> Probability {
    Probability::new(if normalized_p_b < 1.0 { normalized_p_b * avg } else { 1.0 })
}

/// One of the two queues of the simplified model (figure 4).
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    /// The local share of p_b ([`local_share`]).
    p_b: Probability,
    /// Packets since the last drop; `None` is the paper's -1.
    count: Option<u32>,
}

/// By flow: the use of the node, and the factor of the local share of p_b.
type Flows = FlowUse<f64>;

impl Side {
    /// Algorithm 5.2 for a packet: whether it is dropped. `p_a = p_b / (1 - count p_b)`, compared without a division:
    /// `draw (1 - count p_b) < p_b`.
    /// `factor` multiplies p_b: 1 where flows do not differ.
    fn drops(&mut self, factor: f64, random: &mut Stream) -> bool {
        if self.p_b == Probability::ZERO {
            self.count = None;
            return false;
        }
        let count = self.count.map_or(0, |count| count.saturating_add(1));
        self.count = Some(count);
        let one = Probability::ONE.numerator();
        let p_b = if factor == 1.0 {
            self.p_b.numerator()
        } else {
            Probability::new(factor * self.p_b.numerator() as f64 / one as f64).numerator()
        };
        let left = one.saturating_sub(u64::from(count).saturating_mul(p_b));
        // A draw from [0, 1) with 32 bits below p_a has the probability p_a, as the paper's "random([0, 1]) <= p_a".
        // draw < 2^32, left <= 2^32, p_b < 2^32 in the second test: all products fit.
        let dropped = left <= p_b || u64::from(random.next_u32()) * left < p_b << 32;
        if dropped {
            self.count = Some(0);
        }
        dropped
    }
}

/// The AQM of an interface.
#[derive(Debug, Clone)]
pub struct NredDrop {
    ecn: bool,
    /// The exponent of a flow's use in its drop probability.
    evenness: f64,
    /// True if flows without acknowledgements are not dropped.
    answered: bool,
    /// True at an access point whose flows share its cell: those with the mean use or less are not dropped.
    cell: bool,
    outgoing: Side,
    incoming: Side,
    flows: Flows,
}

impl NredDrop {
    /// An AQM that passes all packets until the agent sets a probability.
    #[must_use]
    pub fn new(nred: &Nred, access_point: bool) -> Self {
        let cell = access_point && nred.cell > 0.0;
        // In a cell a flow that starves counts for as long as a node that starves.
        let windows = u32::try_from(nred.recovery.0 / nred.interval.0.max(1)).unwrap_or(u32::MAX);
        Self {
            ecn: nred.ecn,
            evenness: nred.evenness,
            answered: nred.answered,
            cell,
            outgoing: Side::default(),
            incoming: Side::default(),
            flows: if cell { Flows::keeping(windows) } else { Flows::default() },
        }
    }

    /// Adds a packet to its flow's use of the node, and returns the factor of the flow's drop probability.
    #[inline]
    fn factor(&mut self, direction: Direction, packet: &Packet) -> f64 {
        if !self.differs() || packet.class == PacketClass::Control {
            return 1.0;
        }
        let factor = self.flows.add(packet.flow, direction, packet.bytes);
        if packet.class == PacketClass::Ack {
            self.flows.answer(packet.flow);
        }
        self.spared_or(packet.flow, factor)
    }

    /// True if flows differ.
    const fn differs(&self) -> bool {
        self.evenness != 0.0 || self.answered
    }

    /// The factor of a flow, none if nothing is known of it yet; 0 where flows without acknowledgements are spared and it has none.
    fn spared_or(&self, flow: FlowId, factor: Option<f64>) -> f64 {
        if self.answered && !self.flows.answered(flow) {
            return 0.0;
        }
        factor.unwrap_or(if self.cell { 0.0 } else { 1.0 })
    }

    fn judge(
        side: &mut Side,
        name: &'static str,
        ecn: bool,
        factor: f64,
        packet: &Packet,
        random: &mut Stream,
    ) -> Verdict {
        if packet.class == PacketClass::Control || !side.drops(factor, random) {
            Verdict::Pass
        } else if ecn && side.p_b < Probability::ONE {
            Verdict::Mark(MarkReason(name))
        } else {
            Verdict::Drop(DropReason(name))
        }
    }
}

impl Aqm for NredDrop {
    #[inline]
    fn on_enqueue(&mut self, packet: &Packet, _queue: &QueueView, context: &mut AqmContext<'_>) -> Verdict {
        let factor = self.factor(Direction::Outgoing, packet);
        Self::judge(&mut self.outgoing, OUTGOING, self.ecn, factor, packet, context.random)
    }

    #[inline]
    fn on_receive(&mut self, packet: &Packet, context: &mut AqmContext<'_>) -> Verdict {
        let factor = self.factor(Direction::Incoming, packet);
        Self::judge(&mut self.incoming, INCOMING, self.ecn, factor, packet, context.random)
    }

    fn apply(&mut self, setting: Setting) {
        match setting {
            Setting::Probability(Direction::Outgoing, p) => {
                self.outgoing.p_b = p;
                if self.differs() {
                    let (evenness, spared) = (self.evenness, if self.cell { 1.0 } else { 0.0 });
                    let factor = |bytes: f64, mean: f64| math::pow(bytes / mean.max(1.0), evenness);
                    self.flows.end_window(|bytes, mean| (factor(bytes, mean) - spared).max(0.0));
                }
            }
            Setting::Probability(Direction::Incoming, p) => self.incoming.p_b = p,
            Setting::Backlog { .. }
            | Setting::LinkRate { .. }
            | Setting::FlowRate { .. }
            | Setting::Starving(_) => {}
        }
    }

    fn count_flow(&mut self, flow: FlowId, used: &FlowBytes) {
        if !self.differs() {
            return;
        }
        let FlowBytes { data, answers } = *used;
        self.flows.add_bytes(flow, [data[0].saturating_add(answers[0]), data[1].saturating_add(answers[1])]);
        if answers != [0, 0] {
            self.flows.answer(flow);
        }
    }

    fn flow_factor(&self, flow: FlowId) -> f64 {
        if !self.differs() {
            return 1.0;
        }
        self.spared_or(flow, self.flows.value(flow))
    }
}
